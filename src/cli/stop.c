/* SPDX-License-Identifier: Apache-2.0 */
/* stop.c: see stop.h. */
#include "cli/stop.h"

#include "cli/exit_codes.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

volatile int caucus_stop;

static void on_signal(int number) {
    (void)number;
    if (__atomic_exchange_n(&caucus_stop, 1, __ATOMIC_RELAXED) != 0)
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
