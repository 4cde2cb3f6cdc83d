/* SPDX-License-Identifier: Apache-2.0 */
/* clean_stderr.c: see clean_stderr.h. */
#define _GNU_SOURCE /* fopencookie */
#include "cli/clean_stderr.h"

#include "cli/terminal/dress.h"
#include "num/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES 4000 /* a pipe that takes any takes that many at once */
#define PATIENCE_MS 5000

static FILE *terminal;

static void put(const char *bytes, size_t size) {
    while (size > 0) {
        struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
        if (poll(&room, 1, PATIENCE_MS) == 0)
            return; /* nobody reads it: a program that ends must not wait for that */
        ssize_t n = write(STDERR_FILENO, bytes, size);
        if (n < 0 && errno != EINTR)
            return; /* nobody is left to tell */
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

/* The stream has no buffer, so that this is one call of fprintf() or fputs(). */
static ssize_t take(void *user, const char *bytes, size_t size) {
    (void)user;
    char piece[PIECE_BYTES + 1];
    size_t text = size > 0 && bytes[size - 1] == '\n' ? size - 1 : size;
    for (size_t done = 0; done < text || done == 0;) {
        size_t part = text - done < PIECE_BYTES ? text - done : PIECE_BYTES;
        while (done + part < text && part > PIECE_BYTES / 2 && ((unsigned char)bytes[done + part] & 0xc0u) == 0x80u)
            part--; /* no character is cut in two */
        memcpy(piece, bytes + done, part);
        caucus_printable_bytes(piece, part);
        done += part;
        size_t end = part;
        caucus_text fit = {0};
        const caucus_dress *dress = caucus_dress_stderr();
        if (dress != NULL && dress->width > 0 && part < text)
            dress = NULL; /* a line of more is as it is */
        if (dress != NULL && part > 0)
            caucus_dress_line(dress, piece, part, &fit);
        if (fit.data != NULL && !fit.failed) {
            put(fit.data, fit.length);
            end = 0;
        }
        caucus_text_free(&fit);
        if (done == text && text < size)
            piece[end++] = '\n';
        put(piece, end);
        if (part == 0)
            break;
    }
    return (ssize_t)size;
}

void caucus_clean_stderr(void) {
    FILE *clean = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take});
    if (!clean)
        return; /* without memory remarks are as they were */
    (void)setvbuf(clean, NULL, _IONBF, 0);
    terminal = stderr;
    stderr = clean;
}

FILE *caucus_terminal(void) {
    return terminal ? terminal : stderr;
}

void caucus_keep_standard_files(void) {
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        (void)close(fd);
}
