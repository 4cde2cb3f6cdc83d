/* SPDX-License-Identifier: Apache-2.0 */
/* choices.h: which expert was in force when, in one trial: a record of fixed size.
 * layer: sim
 *
 * Every change is kept, up to CAUCUS_CHOICES of them. Of a trial with more, those are kept that are at least 1/63 of
 * the run apart: what is kept is true (from that round on this expert was in force), and what lies between is left
 * out. So the record covers the whole run, and a trial's result has a fixed size, which can be saved and sent. */
#ifndef CAUCUS_SIM_CHOICES_H
#define CAUCUS_SIM_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

#define CAUCUS_CHOICES 64

typedef struct caucus_choices {
    uint32_t count;                  /* entries; 0 where a mixture is played */
    uint32_t thinned;                /* 1: changes have been left out, 0: none */
    uint64_t before[CAUCUS_CHOICES]; /* rounds (or slots) before this expert came into force, rising */
    uint32_t expert[CAUCUS_CHOICES];
} caucus_choices;

/** From now on, after `round` of `rounds` rounds, `expert` is in force. Rounds rise from call to call. */
void caucus_choices_add(caucus_choices *choices, uint64_t round, uint64_t rounds, uint32_t expert);

/** Which expert is in force in the round after `round` of them; UINT32_MAX where there is no entry. */
uint32_t caucus_choices_at(const caucus_choices *choices, uint64_t round);

#endif
