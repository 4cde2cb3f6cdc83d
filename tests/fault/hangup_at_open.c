/* SPDX-License-Identifier: Apache-2.0 */
/* hangup_at_open.c: preloaded into a process: it gets SIGHUP at the moment when it opens the file that HANGUP_AT names.
 * Built and used by hangup.sh. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int open(const char *path, int flags, ...) {
    static int (*real)(const char *, int, ...);
    const char *at = getenv("HANGUP_AT");
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "open");
    if (at && strcmp(at, path) == 0)
        (void)raise(SIGHUP);
    return real(path, flags, mode);
}
