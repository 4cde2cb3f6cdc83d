/* SPDX-License-Identifier: Apache-2.0 */
/* stoch.h: where the phases of stoch are, and what phase p of a plan does.
 * layer: plan
 *
 * Phases double, from first-phase F on, up to the longest W: len_p = min(2^(p-1) F, W); without a longest phase
 * len_p = 2^(p-1). The last one ends with the run. Phase p >= 2 learns from the losses of phase p - 1. As soon as two
 * phases in a row have W rounds all later ones are alike, so a plan describes only those before, and one for all of
 * the rest: a run of any length has a short plan.
 *
 * Unit client: phases end after 1, g, g^2, .. rounds, and phase p learns from all rounds before it. */
#ifndef CAUCUS_PLAN_STOCH_H
#define CAUCUS_PLAN_STOCH_H

#include "plan/plan.h"

/** Whether phases grow by settings.growth. */
static inline bool caucus_stoch_grows(const caucus_settings *s) {
    return s->growth != CAUCUS_GROWTH_AUTO;
}
/** The length of phase p >= 1 if the run does not end before. */
uint64_t caucus_stoch_length(const caucus_settings *s, uint64_t p);
/** The first round of phase p >= 1, counted from 1. */
uint64_t caucus_stoch_first(const caucus_settings *s, uint64_t p);
/** P, the phases of a run: the last is the one that holds round T. */
uint64_t caucus_stoch_phases(const caucus_settings *s);
/** How many phases from the second on are described: up to the first that plays W rounds and learns from W. */
uint32_t caucus_stoch_described(const caucus_settings *s);
/** Where a phase whose number is that of an entry is: first, length, samples. */
void caucus_stoch_extent(const caucus_settings *s, uint64_t p, caucus_stoch_phase *ret);

/** Losses of a client that phase p >= 2 learns from: those of the phase before, or of `age` phases before that one
 *  (past_phases); unit client: all so far. */
uint64_t caucus_stoch_samples(const caucus_settings *s, uint64_t p, uint32_t age);

/** The last phase there can be: P, or of a run without an end the last whose rounds have numbers. */
static inline uint64_t caucus_stoch_last(const caucus_plan *plan) {
    const bool endless = plan->settings.rounds == CAUCUS_ROUNDS_ENDLESS;
    return endless ? CAUCUS_ROUNDS_ENDLESS / plan->settings.longest_phase : plan->stoch.phases;
}

/** The entry that describes phase p >= 2. */
static inline const caucus_stoch_phase *caucus_stoch_phase_of(const caucus_plan *plan, uint64_t p) {
    const uint32_t last = plan->stoch.described - 1;
    return &plan->stoch.phase[p - 2 < last ? p - 2 : last];
}

/** Rounds that phase p >= 2 really plays: fewer than its length if the run ends in it. */
uint64_t caucus_stoch_played(const caucus_plan *plan, uint64_t p);
/** How many phases entry i stands for. */
uint64_t caucus_stoch_repeats(const caucus_plan *plan, uint32_t i);
/** T1, the most trees of any phase. */
uint32_t caucus_stoch_trees(const caucus_plan *plan);

/** Whether what earlier phases sent is left out of a choice (docs/PRIVACY.md, statement 14). */
static inline bool caucus_stoch_forgets(const caucus_plan *plan) {
    return plan->settings.longest_phase != 0;
}

/** W of `changes` (settings.longest_phase = auto), and the bound per round that it gives, loss units. */
uint64_t caucus_stoch_longest(const caucus_settings *s, double *ret_bound);

#endif
