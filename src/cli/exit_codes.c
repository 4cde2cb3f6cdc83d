/* SPDX-License-Identifier: Apache-2.0 */
/* exit_codes.c: see exit_codes.h. */
#include "cli/exit_codes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int caucus_exit_code(caucus_status status) {
    if (caucus_status_is_final(status))
        return CAUCUS_EXIT_REFUSED;
    switch (status) {
    case CAUCUS_OK:
        return CAUCUS_EXIT_DONE;
    case CAUCUS_E_RANGE:
    case CAUCUS_E_INFEASIBLE:
    case CAUCUS_E_OVERFLOW:
    case CAUCUS_E_FORMAT:
    case CAUCUS_E_PATH:
    case CAUCUS_E_EXISTS:
    case CAUCUS_E_CONFLICT:
        return CAUCUS_EXIT_USAGE;
    default: /* E_EXPIRED too: the clock may be to blame, and a restart after it was set helps */
        return CAUCUS_EXIT_FAILED;
    }
}

int caucus_exit_finish(const char *program, int code) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "%s: writing the output: %s\n", program, strerror(errno));
    return code == CAUCUS_EXIT_DONE ? CAUCUS_EXIT_FAILED : code;
}
