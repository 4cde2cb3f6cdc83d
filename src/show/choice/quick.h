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
    double epsilon;  /* with which they were (caucus_scale_epsilon()) */
    caucus_adversary_kind adversary;
    caucus_summary regret; /* per client, loss units; where losses drift, against the best expert between changes; at
                              the devices' own pace per 1,000 losses and against what its bound is against: the best
                              of each segment on average over devices (means), or on all losses (event) */
    double switches;
    double scalars, bytes; /* upwards per client */
} caucus_quick;

/* Losses that a quick simulation may draw: about a second on two cores. */
#define CAUCUS_QUICK_LOSSES 4e8

/** Cut a run down until three trials of it cost at most `losses`: rounds first, to a power of two and no fewer than
 *  `least`, then clients. Trials are then as many as fit, at most 20. Where a single client is still too much (a
 *  million experts), it plays fewer rounds than that, no fewer than a sixteenth of them, and in the end fewer trials.
 *  In:      each  what a round of one client costs. */
void caucus_scale_cut(caucus_scale *scale, double each, uint64_t least, double losses);

/** The epsilon with which fewer clients have the noise of the fleet asked about. A trusted coordinator adds noise once,
 *  to sums over m clients: in the mean it goes with 1/(m epsilon), for selections, checks and draws alike, so epsilon
 *  grows by m/m'. Where each client adds its own, to each message, that of the mean goes with 1/(epsilon sqrt(m)), and
 *  epsilon grows by the root.
 *  That is exact for knorm and laplace-d; for gauss and whatever is accounted for by zCDP as long as rho goes with
 *  epsilon^2 (a large epsilon has more noise than that); for votes as long as a vote says little (it cannot say more
 *  than all). At most what settings accept. What fewer clients learn from fewer losses is not scaled: an estimate. */
double caucus_scale_epsilon(const caucus_scale *scale, const caucus_settings *settings);
/** Whether settings do not accept so large an epsilon: then there is more noise than the fleet has. */
bool caucus_scale_capped(const caucus_scale *scale, const caucus_settings *settings);

/** Settings of the size that is played: what was chosen for the size asked about stays, as far as it fits; epsilon is
 *  caucus_scale_epsilon().
 *  In:      own  the losses are somebody's own; those of the simulator lie in [0,1], and mechanisms see losses divided
 *                by their range, so that range and L* are divided by it. */
caucus_settings caucus_scale_settings(const caucus_scale *scale, const caucus_plan *plan, bool own);

/** Note what trials have shown; `range` is what a loss of theirs is worth. */
void caucus_quick_note(caucus_quick *quick, const caucus_run *run, const caucus_run_result *result, double range);

/** Play a few trials of a plan, at its own size or a smaller one.
 *  Returns: CAUCUS_OK, also when nothing is played; CAUCUS_E_MEMORY. */
caucus_status caucus_plan_quick(const caucus_plan *plan, caucus_knowledge known, double losses, caucus_quick *ret,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
