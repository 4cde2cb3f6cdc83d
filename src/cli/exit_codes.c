/* SPDX-License-Identifier: Apache-2.0 */
/* exit_codes.c: see exit_codes.h. */
#include "cli/exit_codes.h"

int caucus_exit_code(caucus_status status) {
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
    case CAUCUS_E_MISMATCH:
    case CAUCUS_E_REFUSED:
    case CAUCUS_E_ROLLED_BACK:
    case CAUCUS_E_OVER:
    case CAUCUS_E_BUDGET:
        return CAUCUS_EXIT_REFUSED; /* those for which caucus_status_is_final() holds */
    case CAUCUS_E_ORDER:
    case CAUCUS_E_DUPLICATE:
    case CAUCUS_E_MEMORY:
    case CAUCUS_E_RANDOM:
    case CAUCUS_E_IO:
    case CAUCUS_E_CHANGED:
    case CAUCUS_E_EXPIRED: /* or not valid yet: the clock may be to blame, and a restart after it was set helps */
    case CAUCUS_E_BUSY:
    case CAUCUS_E_FULL:
    case CAUCUS_E_SAVE:
    case CAUCUS_E_NETWORK:
    case CAUCUS_E_PROGRAM:
    case CAUCUS_E_LATER:
    case CAUCUS_E_STOPPED:
    case CAUCUS_STATUS_COUNT:
        break;
    }
    return CAUCUS_EXIT_FAILED;
}
