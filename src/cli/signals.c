/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c: see signals.h. */
#include "cli/signals.h"

#include "cli/exit_codes.h"
#include "store/clock.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

volatile int caucus_stop;

/* timeout(1) and shells send a signal to the process and then to its group: both mean one request. */
#define SAME_REQUEST_MS 500

bool caucus_signal_again(void) {
    static int64_t first; /* when the first one came; clocks do not stand at 0 */
    int64_t now = caucus_clock_ms();
    int64_t none = 0;
    if (__atomic_compare_exchange_n(&first, &none, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;
    return now - none > SAME_REQUEST_MS; /* a failed exchange has put the first one's time into none */
}

static void on_signal(int number) {
    (void)number;
    __atomic_store_n(&caucus_stop, 1, __ATOMIC_RELAXED);
    if (caucus_signal_again())
        _exit(CAUCUS_EXIT_FAILED);
}

void caucus_on_signal(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler}; /* without SA_RESTART: a signal ends waiting */
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void caucus_on_signals(void (*handler)(int)) {
    caucus_on_signal(SIGINT, handler);
    caucus_on_signal(SIGTERM, handler);
}

void caucus_stop_on_signals(void) {
    caucus_on_signals(on_signal);
}

bool caucus_stopped(void) {
    return __atomic_load_n(&caucus_stop, __ATOMIC_RELAXED) != 0;
}
