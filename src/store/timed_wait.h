/* SPDX-License-Identifier: Apache-2.0 */
/* timed_wait.h: to wait for a condition, but not for ever.
 * layer: store
 *
 * By the monotonic clock, which a condition has to be told when it is made: somebody who sets the time of day neither
 * ends a wait nor makes it last. */
#ifndef CAUCUS_STORE_TIMED_WAIT_H
#define CAUCUS_STORE_TIMED_WAIT_H

#include "store/clock.h"

#include <pthread.h>
#include <stdbool.h>

/** Make a condition for caucus_timed_wait(); it is destroyed with pthread_cond_destroy(). It cannot fail: Linux has the
 *  clock, and neither object has memory of its own. */
static inline void caucus_timed_init(pthread_cond_t *ret) {
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(ret, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

/** Wait until the condition is signalled, or caucus_clock_ns() is `until_ns`; with `lock` held, as ever it may also
 *  return for no reason.
 *  Returns: false if it is that late. */
static inline bool caucus_timed_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_ns) {
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
                                   .tv_nsec = (long)(until_ns % 1000000000u)};
    return pthread_cond_timedwait(condition, lock, &until) == 0;
}

#endif
