/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h: Ctrl-C and SIGTERM as a flag: finish what can be finished, then say how to go on. */
#ifndef CAUCUS_CLI_SIGNALS_H
#define CAUCUS_CLI_SIGNALS_H

#include <stdbool.h>

/** The flag, for what runs on threads; 0 until a signal came. */
extern volatile int caucus_stop;

/** What a signal does from here on: a function, SIG_DFL or SIG_IGN. `_signals`: Ctrl-C and SIGTERM. */
void caucus_on_signal(int number, void (*handler)(int));
void caucus_on_signals(void (*handler)(int));

/** For a handler: is this signal a second request to stop? The first is not, nor is what comes within half a second of
 *  it: timeout(1), for one, signals a process and then its whole group. */
bool caucus_signal_again(void);

/** From here on a signal sets the flag; a second request (see above) ends the program at once. */
void caucus_stop_on_signals(void);

/** Has one come? */
bool caucus_stopped(void);

#endif
