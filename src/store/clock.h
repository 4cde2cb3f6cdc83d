/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h: the monotonic clock: somebody who sets the time of day changes nothing.
 * layer: store
 *
 * The layers below never read a clock. */
#ifndef CAUCUS_STORE_CLOCK_H
#define CAUCUS_STORE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t caucus_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists on every Linux */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline int64_t caucus_clock_ms(void) {
    return (int64_t)(caucus_clock_ns() / 1000000u);
}

static inline double caucus_clock_seconds(void) {
    return (double)caucus_clock_ns() * 1e-9;
}

#endif
