/* SPDX-License-Identifier: Apache-2.0 */
/* clock_jumps.c: preloaded into a process: the time of day jumps by up to ten years at every look; or, if CLOCK_OFFSET
 * names a file, it is as many seconds off as the file says at that moment. The monotonic clock is left alone. Built and
 * used by clock.sh, clock_tls.sh and tools/soak. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* 0 where it cannot be read, or is being written. */
static time_t offset_in(const char *path) {
    char text[32] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, text, sizeof text - 1) < 0)
            text[0] = '\0';
        (void)close(file);
    }
    return (time_t)atoll(text);
}

/* A different jump each time, both ways. */
static time_t jump(void) {
    const char *path = getenv("CLOCK_OFFSET");
    if (path)
        return offset_in(path);
    static unsigned long state = 88172645463325252UL;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (time_t)(state % 630720000UL) - 315360000;
}

int clock_gettime(clockid_t clock, struct timespec *ret) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, ret);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        ret->tv_sec += jump();
    return code;
}

time_t time(time_t *ret) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone) {
    (void)zone;
    ret->tv_sec = time(NULL);
    ret->tv_usec = 0;
    return 0;
}
