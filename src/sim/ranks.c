/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c: what ranks decide together. See ranks.h. */
#include "sim/ranks.h"
#include "num/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t caucus_ranks_threads(const caucus_ranks *ranks, uint32_t asked) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (asked > 0)
        return asked;
    return ranks != NULL ? ranks->threads : cores > 0 ? (uint32_t)cores : 1;
}

bool caucus_ranks_any(const caucus_ranks *ranks, bool here) {
    int64_t count = here;
    if (ranks == NULL)
        return here;
    return ranks->sum(&count, 1) != CAUCUS_OK || count > 0;
}

void caucus_ranks_name(caucus_error *error, uint32_t rank) {
    char name[32];
    size_t used = strlen(error->text), more = (size_t)snprintf(name, sizeof name, " (rank %u)", rank);
    if (used + more < sizeof error->text)
        memcpy(error->text + used, name, more + 1);
}

/* Rank `from`'s error to everybody. */
static caucus_status spread_error(const caucus_ranks *ranks, uint32_t from, caucus_error *error) {
    int64_t words[(sizeof *error + 7) / 8] = {0};
    if (ranks->rank == from)
        memcpy(words, error, sizeof *error);
    caucus_status status = ranks->sum(words, sizeof words / sizeof words[0]);
    if (status == CAUCUS_OK)
        memcpy(error, words, sizeof *error);
    return status;
}

caucus_status caucus_ranks_agree(const caucus_ranks *ranks, caucus_status status, caucus_error *error) {
    if (ranks == NULL)
        return status;
    int64_t *each = calloc(ranks->size, sizeof *each);
    if (each == NULL) { /* whoever has no memory for this cannot go on with the others */
        ranks->give_up();
        return caucus_fail_memory(error, "");
    }
    each[ranks->rank] = (int64_t)status;
    caucus_status asked = ranks->sum(each, ranks->size);
    uint32_t from = 0;
    while (asked == CAUCUS_OK && from < ranks->size && each[from] == CAUCUS_OK)
        from++;
    caucus_status found = asked == CAUCUS_OK && from < ranks->size ? (caucus_status)each[from] : asked;
    free(each);
    if (found == CAUCUS_OK || asked != CAUCUS_OK)
        return status != CAUCUS_OK ? status : found;
    asked = spread_error(ranks, from, error);
    if (asked != CAUCUS_OK)
        return status != CAUCUS_OK ? status : asked;
    if (from > 0)
        caucus_ranks_name(error, from);
    return found;
}
