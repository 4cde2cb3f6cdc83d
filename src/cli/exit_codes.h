/* SPDX-License-Identifier: Apache-2.0 */
/* exit_codes.h: how the program ends, in one table for every verb.
 * layer: cli
 *
 *   0  done
 *   1  failed: the machine, the network, another program, the clock, or a check that did not hold (an audit that is
 *      refuted among them). Starting again may help.
 *   2  the input or the command line is wrong. Starting again does not help.
 *   3  refused for good: revoked, rolled back, a run that is over, a budget that does not allow
 *      it, a state or a coordinator of another plan. Starting
 *      again does not help, and neither does another command line.
 *
 * A unit for systemd restarts with RestartPreventExitStatus=2 3. Documented in man/caucus.1 and docs/OPERATIONS.md. */
#ifndef CAUCUS_CLI_EXIT_CODES_H
#define CAUCUS_CLI_EXIT_CODES_H

#include <caucus/status.h>

enum { CAUCUS_EXIT_DONE = 0, CAUCUS_EXIT_FAILED = 1, CAUCUS_EXIT_USAGE = 2, CAUCUS_EXIT_REFUSED = 3 };

/** The exit code of a verb that ends with this status. */
int caucus_exit_code(caucus_status status);

/** At the end of the program: write what standard output still holds. A full disk or a closed pipe is a failure even if
 *  everything before went well. Returns: the code to end with. */
int caucus_exit_finish(const char *program, int code);

#endif
