/* SPDX-License-Identifier: Apache-2.0 */
/* quick.h: a few trials of a run, and of a smaller run where its own size would take long.
 * layer: show
 *
 * How much is played depends on the settings alone, and the seed is fixed: the same plan gives the same numbers
 * everywhere. */
#ifndef CAUCUS_SHOW_CHOICE_QUICK_H
#define CAUCUS_SHOW_CHOICE_QUICK_H

#include "show/plan_facts.h"

/* What is played of the run that is asked about. */
typedef struct caucus_scale {
    uint32_t clients, trials;
    uint64_t rounds;     /* at the devices' own pace: phases */
    bool shorter, fewer; /* fewer rounds, fewer clients than asked about */
} caucus_scale;

static inline bool caucus_scale_is_smaller(const caucus_scale *scale) {
    return scale->shorter || scale->fewer;
}

typedef struct caucus_quick {
    bool done; /* false: there is no end, or no plan at the size that could be played */
    caucus_scale scale;
    uint32_t trials; /* that were played */
    caucus_adversary_kind adversary;
    caucus_summary regret; /* per client, loss units; where losses drift, against the best expert between changes */
    double switches;
    double scalars, bytes; /* upwards per client */
} caucus_quick;

/* Losses that a quick simulation may draw: about a second on two cores. */
#define CAUCUS_QUICK_LOSSES 4e8

/** Cut a run down until three trials of it cost at most `losses`: rounds first, to a power of two and no fewer than
 *  `least`, then clients. Trials are then as many as fit, at most 20.
 *  In:      each  what a round of one client costs. */
void caucus_scale_cut(caucus_scale *scale, double each, uint64_t least, double losses);

/** Settings of the size that is played: what was chosen for the size asked about stays, as far as it fits.
 *  In:      own  the losses are somebody's own; those of the simulator lie in [0,1], and mechanisms see losses divided
 *                by their range, so that range and L* are divided by it. */
caucus_settings caucus_scale_settings(const caucus_scale *scale, const caucus_settings *settings, bool own);

/** Note what trials have shown; `range` is what a loss of theirs is worth. */
void caucus_quick_note(caucus_quick *quick, const caucus_run *run, const caucus_run_result *result, double range);

/** Play a few trials of a plan, at its own size or a smaller one.
 *  Returns: CAUCUS_OK, also when nothing is played; CAUCUS_E_MEMORY. */
caucus_status caucus_plan_quick(const caucus_plan *plan, caucus_knowledge known, double losses, caucus_quick *ret,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
