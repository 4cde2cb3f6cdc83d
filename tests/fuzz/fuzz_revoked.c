/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_revoked.c: any bytes as the list of revoked certificates.
 *
 * A list that is taken must refuse whoever stands in it: every line that is not blank or a remark, read here once more
 * in another way. One that is not taken lets nobody in, and leaves the list before it in force; a list of indices and
 * remarks is taken. */
#define _GNU_SOURCE /* memfd_create */
#include "net/revoked.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const uint8_t *data, size_t size) {
    int fd = memfd_create("revoked", MFD_CLOEXEC);
    if (fd < 0 || (size > 0 && write(fd, data, size) != (ssize_t)size))
        abort();
    return fd;
}

/* One line of a list that was taken. */
static void check_line(caucus_revoked *list, const char *line, size_t length) {
    char digits[CAUCUS_SERIAL_BYTES + 4] = "", *p = digits;
    const char *remark = memchr(line, '#', length);
    bool hex = false, other = false, over = false;
    length = remark ? (size_t)(remark - line) : length;
    for (size_t i = 0; i < length; i++) {
        if (isspace((unsigned char)line[i])) {
            over = over || p > digits || other;
            continue;
        }
        if (over)
            abort(); /* two numbers in a line */
        if (p == digits + sizeof digits - 1 || line[i] == '\0')
            abort(); /* no number is as long, and a zero byte is none */
        hex = hex || !isdigit((unsigned char)line[i]);
        other = other || line[i] == ':';
        if (line[i] != ':')
            *p++ = (char)toupper((unsigned char)line[i]);
    }
    *p = '\0';
    if (digits[0] == '\0' && !other)
        return;
    const char *serial = strncmp(digits, "0X", 2) == 0 ? digits + 2 : digits;
    bool index = !hex && strlen(digits) <= 8;
    if ((index ? caucus_revoked_ask(list, (uint32_t)strtoul(digits, NULL, 10), "none")
               : caucus_revoked_ask(list, 0, serial)) != CAUCUS_REVOKED_YES)
        abort();
}

/* Nothing but blanks, remarks and indices without a zero before them. */
static bool is_plain(const uint8_t *data, size_t size) {
    for (size_t at = 0; at < size; at++) { /* one line each time */
        size_t digits = 0;
        while (at < size && (data[at] == ' ' || data[at] == '\t'))
            at++;
        if (at < size && data[at] == '0')
            return false;
        for (; at < size && isdigit(data[at]); at++)
            digits++;
        while (at < size && (data[at] == ' ' || data[at] == '\t'))
            at++;
        if (digits > 8 || (at < size && data[at] != '#' && data[at] != '\n'))
            return false;
        for (; at < size && data[at] != '\n'; at++)
            if (data[at] == '\0')
                return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = file_of(data, size);
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    caucus_revoked *list = NULL;
    caucus_error error;
    caucus_status status = caucus_revoked_open(path, &list, &error);
    if (status == CAUCUS_OK) {
        for (size_t at = 0; at < size;) {
            const uint8_t *end = memchr(data + at, '\n', size - at);
            size_t length = end ? (size_t)(end - data) - at : size - at;
            const uint8_t *cut = memchr(data + at, '\r', length); /* the end of a line elsewhere */
            check_line(list, (const char *)data + at, cut ? (size_t)(cut - data) - at : length);
            at += length + 1;
        }
    } else {
        if (is_plain(data, size))
            abort();
        /* The list of a coordinator that runs is replaced by this one. */
        int good = file_of((const uint8_t *)"7\n", 2);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", good);
        if (status != CAUCUS_E_FORMAT || caucus_revoked_open(path, &list, &error) != CAUCUS_OK ||
            caucus_revoked_ask(list, 1, "none") != CAUCUS_REVOKED_NO || write(good, data, size) != (ssize_t)size ||
            caucus_revoked_ask(list, 1, "none") == CAUCUS_REVOKED_NO ||
            caucus_revoked_ask(list, 7, "none") != CAUCUS_REVOKED_YES)
            abort();
        (void)close(good);
    }
    caucus_revoked_close(list);
    (void)close(fd);
    return 0;
}
