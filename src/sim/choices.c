/* SPDX-License-Identifier: Apache-2.0 */
/* choices.c: see choices.h. */
#include "sim/choices.h"

/* Kept changes are at least this far apart once some are left out: then there are at most CAUCUS_CHOICES of them. */
static uint64_t gap_of(uint64_t rounds) {
    return (rounds - 1) / (CAUCUS_CHOICES - 1) + 1;
}

static void put(caucus_choices *c, uint64_t round, uint64_t gap, uint32_t expert) {
    if (c->count > 0 && round - c->before[c->count - 1] < gap)
        return;
    c->before[c->count] = round;
    c->expert[c->count] = expert;
    c->count++;
}

void caucus_choices_add(caucus_choices *c, uint64_t round, uint64_t rounds, uint32_t expert) {
    const uint64_t gap = gap_of(rounds);
    if (c->count == CAUCUS_CHOICES && !c->thinned) {
        const caucus_choices all = *c;
        *c = (caucus_choices){.thinned = 1};
        for (uint32_t i = 0; i < all.count; i++)
            put(c, all.before[i], gap, all.expert[i]);
    }
    put(c, round, c->thinned ? gap : 0, expert);
}

uint32_t caucus_choices_at(const caucus_choices *c, uint64_t round) {
    uint32_t expert = UINT32_MAX;
    for (uint32_t i = 0; i < c->count && c->before[i] <= round; i++)
        expert = c->expert[i];
    return expert;
}
