/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c: see ranks.h. */
#include "cli/ranks.h"

#include <stdio.h>

int caucus_cli_agree_code(const caucus_ranks *ranks, int code) {
    if (!caucus_ranks_any(ranks, code != 0))
        return 0;
    return code != 0 ? code : CAUCUS_RANKS_EXIT_ELSEWHERE;
}

int caucus_cli_share_code(const caucus_ranks *ranks, int code) {
    return caucus_cli_agree_code(ranks, caucus_ranks_first(ranks) ? code : 0);
}

const char *caucus_cli_gone(const caucus_ranks *ranks) {
    static char text[40];
    int64_t rank = ranks != NULL ? ranks->gone() : -1;
    if (rank < 0)
        return "";
    (void)snprintf(text, sizeof text, "rank %lld is gone, ", (long long)rank);
    return text;
}
