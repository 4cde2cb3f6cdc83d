/* SPDX-License-Identifier: Apache-2.0 */
/* line_thread.h: the thread that listens to a line to NATS and speaks on it, from its start to its end.
 * layer: relay */
#ifndef CAUCUS_RELAY_LINE_THREAD_H
#define CAUCUS_RELAY_LINE_THREAD_H

#include "num/error_line.h"
#include "relay/line.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* All zeros: it is not running. */
typedef struct caucus_line_thread {
    pthread_t thread;
    bool running;
    _Atomic bool ending; /* it is to return: look at it after every wait */
} caucus_line_thread;

/** Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
static inline caucus_status caucus_line_thread_start(caucus_line_thread *t, void *(*run)(void *), void *user,
                                                     caucus_error *ret_error) {
    atomic_store(&t->ending, false);
    const int failed = pthread_create(&t->thread, NULL, run, user);
    t->running = failed == 0;
    return failed == 0 ? CAUCUS_OK
                       : caucus_fail_os(ret_error, CAUCUS_E_MEMORY, failed, "nats", "cannot start a thread");
}

/** Tell it to end, wake it where it waits for the line, and wait for its end. */
static inline void caucus_line_thread_end(caucus_line_thread *t, caucus_line *line) {
    if (!t->running)
        return;
    atomic_store(&t->ending, true);
    caucus_line_wake(line);
    pthread_join(t->thread, NULL);
    t->running = false;
}

#endif
