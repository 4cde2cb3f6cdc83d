/* SPDX-License-Identifier: Apache-2.0 */
/* bound_fit.h: whether a plan's proven bound holds for the losses of an adversary.
 * layer: show
 *
 * A bound is a theorem with a premise (docs/PRIVACY.md, "Bounds"): svt assumes that some expert loses
 * at most L* in all at every client, stoch that losses are independent draws from one distribution, over rounds and
 * over clients (with a longest phase: that it changes no more often than was said), hedge only that they are fixed in
 * advance. Where the premise does not hold the number says nothing, and runs do go above it; so nothing is shown as
 * proven unless the adversary's class (adversary.h) implies the premise. */
#ifndef CAUCUS_SHOW_BOUND_FIT_H
#define CAUCUS_SHOW_BOUND_FIT_H

#include "plan/plan.h"
#include "show/plan_facts.h"
#include "sim/run.h"

typedef enum caucus_bound_fit {
    CAUCUS_BOUND_FIT_HOLDS,   /* the premise holds */
    CAUCUS_BOUND_FIT_UNKNOWN, /* the losses are somebody's own: the bound is conditional */
    CAUCUS_BOUND_FIT_FAILS,   /* the premise is not implied */
    CAUCUS_BOUND_FIT_NONE     /* nothing is proved for this plan */
} caucus_bound_fit;

caucus_bound_fit caucus_bound_fit_of(const caucus_plan *plan, const caucus_adversary_settings *adversary);

/** Whether plan->bound may be shown as proven for these losses. */
static inline bool caucus_bound_holds(const caucus_plan *plan, const caucus_adversary_settings *adversary) {
    return caucus_bound_fit_of(plan, adversary) == CAUCUS_BOUND_FIT_HOLDS;
}

/* What is proved of the rounds that were played. */
typedef struct caucus_played_bound {
    caucus_bound_fit fit;
    double value, uncapped; /* where the fit is not NONE */
} caucus_played_bound;

/** The plan's bound, where it is about the whole run; of a run without an end, for as much of it as the adversary has
 *  rounds: svt and stoch have a bound for any number of rounds, stoch with the changes that there were; cycles of hedge
 *  add up, since theirs holds on average; at the devices' own pace it is that of the counts that were seen, on average
 *  over trials (sim/slot/slot_regret.h). Cycles of svt, each with its own probability, have no bound of what was
 *  played: NONE, although plan->bound may be finite. */
caucus_played_bound caucus_bound_played(const caucus_run_result *result, const caucus_adversary_settings *adversary);

/* What a plan's bound assumes. X(NAME, "word", "one line") */
#define CAUCUS_PREMISE_LIST(X)                                                                                         \
    X(REALIZABLE, "realizable", "some expert loses at most L* in all at every client")                                 \
    X(IID, "iid", "losses are independent draws from one distribution, over rounds and clients")                       \
    X(ANY, "any", "losses are fixed in advance, and may be anything")                                                  \
    X(SMOOTH, "iid-smooth", "losses are such draws, and their gradients and smoothness keep to the clamps")            \
    X(SEGMENTS, "segments", "losses are independent draws from a distribution that changes as often as said")          \
    X(OWN_PACE, "own-pace", "draws are independent, alike in a segment, and tell nothing of how many a device sees")
typedef enum caucus_premise {
#define CAUCUS_PREMISE_ENUM(name, word, help) CAUCUS_PREMISE_##name,
    CAUCUS_PREMISE_LIST(CAUCUS_PREMISE_ENUM)
#undef CAUCUS_PREMISE_ENUM
        CAUCUS_PREMISE_COUNT
} caucus_premise;

/** CAUCUS_PREMISE_COUNT if nothing is proved for the plan. */
caucus_premise caucus_premise_of(const caucus_plan *plan);
const char *caucus_premise_word(caucus_premise premise);
const char *caucus_premise_help(caucus_premise premise);

#endif
