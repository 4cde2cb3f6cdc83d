/* stop.c: see stop.h. */
#include "cli/stop.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

enum { EXIT_STOPPED = 1 };

volatile int caucus_stop;

static void on_signal(int number) {
    (void)number;
    if (__atomic_exchange_n(&caucus_stop, 1, __ATOMIC_RELAXED) != 0)
        _exit(EXIT_STOPPED);
}

void caucus_stop_on_signals(void) {
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool caucus_stopped(void) {
    return __atomic_load_n(&caucus_stop, __ATOMIC_RELAXED) != 0;
}
