/* SPDX-License-Identifier: Apache-2.0 */
/* dress_streams.c: standard output and standard error as streams whose lines fit. See dress.h. */
#define _GNU_SOURCE /* fopencookie */
#include "cli/terminal/dress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    caucus_dress out, err;
    FILE *plain;      /* standard output as it was; NULL: it is still that */
    caucus_text line; /* of standard output, as far as it has come */
} dressed;

static bool needs(const caucus_dress *dress) {
    return dress->width > 0 || dress->ascii || dress->coloured;
}

/* Lines that are complete go out with the stream's buffer: on a terminal at once, elsewhere when that is full or
 * flushed. */
static ssize_t take(void *user, const char *bytes, size_t size) {
    (void)user;
    for (size_t done = 0; done < size;) {
        const char *end = memchr(bytes + done, '\n', size - done);
        const size_t part = end != NULL ? (size_t)(end - bytes) - done : size - done;
        caucus_text_put(&dressed.line, bytes + done, part);
        done += part + (end != NULL);
        if (end == NULL)
            break;
        caucus_text fit = {0};
        if (dressed.line.length > 0)
            caucus_dress_line(&dressed.out, dressed.line.data, dressed.line.length, &fit);
        caucus_text_put(&fit, "\n", 1);
        const bool good = !fit.failed && fwrite(fit.data, 1, fit.length, dressed.plain) == fit.length;
        caucus_text_free(&fit);
        caucus_text_free(&dressed.line);
        if (!good)
            return 0; /* the stream's error, which is looked for at the end */
    }
    return dressed.line.failed || fflush(dressed.plain) != 0 ? 0 : (ssize_t)size;
}

void caucus_dress_streams(bool terminals, caucus_color when) {
    dressed.out = caucus_dress_of(STDOUT_FILENO, terminals, when);
    dressed.err = caucus_dress_of(STDERR_FILENO, terminals, when);
    if (!needs(&dressed.out))
        return;
    FILE *fits = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take});
    if (fits == NULL)
        return; /* without memory lines are as they were */
    (void)setvbuf(fits, NULL, terminals && isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF, BUFSIZ);
    dressed.plain = stdout;
    stdout = fits;
}

void caucus_dress_end(void) {
    if (dressed.plain == NULL)
        return;
    (void)fflush(stdout);
    if (dressed.line.length > 0)
        (void)fwrite(dressed.line.data, 1, dressed.line.length, dressed.plain);
    (void)fflush(dressed.plain);
    caucus_text_free(&dressed.line);
}

void caucus_dress_data(void) {
    if (dressed.plain == NULL)
        return;
    FILE *fits = stdout;
    caucus_dress_end();
    stdout = dressed.plain;
    dressed.plain = NULL;
    (void)fclose(fits);
}

const caucus_dress *caucus_dress_stderr(void) {
    return needs(&dressed.err) ? &dressed.err : NULL;
}
