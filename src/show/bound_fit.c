/* SPDX-License-Identifier: Apache-2.0 */
/* bound_fit.c: premises of bounds against classes of adversaries. See bound_fit.h. */
#include "show/bound_fit.h"

#include <math.h>
#include <stddef.h>

#include "num/choice.h"
#include "num/grid.h"
#include "plan/calibrate.h"
#include "plan/family.h"

CAUCUS_CHOICE_WORDS(premise, CAUCUS_PREMISE_LIST)

caucus_premise caucus_premise_of(const caucus_plan *plan) {
    if (plan->bound_kind == CAUCUS_BOUND_NONE)
        return CAUCUS_PREMISE_COUNT;
    if (plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        return CAUCUS_PREMISE_SMOOTH;
    switch (caucus_knowledge_of(plan->settings.algorithm)) {
    case CAUCUS_KNOWLEDGE_REALIZABLE:
        return CAUCUS_PREMISE_REALIZABLE;
    case CAUCUS_KNOWLEDGE_IID:
        if (plan->settings.pace == CAUCUS_PACE_OWN)
            return CAUCUS_PREMISE_OWN_PACE;
        return plan->settings.longest_phase != 0 ? CAUCUS_PREMISE_SEGMENTS : CAUCUS_PREMISE_IID;
    case CAUCUS_KNOWLEDGE_DRIFTING: /* what a plan adds to a family's premise, and no family's own */
    case CAUCUS_KNOWLEDGE_ANY:
    case CAUCUS_KNOWLEDGE_ADAPTIVE:
    case CAUCUS_KNOWLEDGE_COUNT:
        break;
    }
    return CAUCUS_PREMISE_ANY;
}

/* What a loss of 0 costs on the grid in all, over all clients, against the floor m*L* of the scores: a range that
 * begins below 0 makes even the best expert cost something. A mean over a block of equal losses is that loss. */
static bool within_lstar(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    if (s->lo >= 0)
        return true; /* a loss of 0 costs nothing */
    const caucus_grid grid = {.lo = s->lo, .hi = s->hi, .steps = plan->grid};
    const uint64_t records = s->unit == CAUCUS_UNIT_CLIENT_BLOCK ? plan->svt.blocks : s->rounds;
    caucus_clips clips = {0};
    const uint64_t each = (uint64_t)caucus_grid_loss(&grid, 0, &clips);
    return records * s->clients * each <= (uint64_t)plan->svt.score_floor; /* below 2^62: settings.c */
}

/* shifting: independent draws within each of its segments, and no more changes than the plan reckons with. */
static bool within_changes(const caucus_plan *plan, const caucus_adversary_settings *adversary) {
    const caucus_settings *s = &plan->settings;
    const bool alike = !(adversary->spread > 0) || s->clients == 1;
    const double changes = adversary->segments > 1 ? (double)(adversary->segments - 1) : 0;
    return adversary->kind == CAUCUS_ADVERSARY_SHIFTING && alike && changes <= s->changes * (double)s->rounds / 1000;
}

/* Unit client: clients may have laws of their own, as long as they draw apart from one another; but not where each
 * expert is judged by those who have evaluated it. */
static bool own_laws(const caucus_plan *plan, const caucus_adversary_settings *adversary) {
    return plan->settings.unit == CAUCUS_UNIT_CLIENT && plan->settings.evaluate == 0 &&
           caucus_adversary_kind_has_means(adversary->kind) && adversary->spread > 0;
}

caucus_bound_fit caucus_bound_fit_of(const caucus_plan *plan, const caucus_adversary_settings *adversary) {
    const caucus_premise premise = caucus_premise_of(plan);
    if (premise == CAUCUS_PREMISE_REALIZABLE && caucus_settings_cycles(&plan->settings) > 1)
        return CAUCUS_BOUND_FIT_NONE; /* it is about one cycle, and what is measured is the run */
    if (premise == CAUCUS_PREMISE_COUNT || caucus_plan_is_endless(plan)) /* about a stretch, not what was played */
        return CAUCUS_BOUND_FIT_NONE;
    if (premise == CAUCUS_PREMISE_ANY)
        return CAUCUS_BOUND_FIT_HOLDS; /* adaptive sees earlier blocks alone; all others are fixed in advance */
    if (adversary->kind == CAUCUS_ADVERSARY_LOSSES)
        return CAUCUS_BOUND_FIT_UNKNOWN;
    const caucus_adversary_class is = caucus_adversary_class_of(adversary);
    bool holds = false; /* SMOOTH: cross-entropy, the one convex adversary, does not keep to its clamps (convex.h) */
    if (premise == CAUCUS_PREMISE_REALIZABLE)
        holds = is.faultless && within_lstar(plan);
    else if (premise == CAUCUS_PREMISE_IID ||
             premise == CAUCUS_PREMISE_SEGMENTS) /* one client has no others to be independent of */
        holds = is.iid_rounds && (is.iid_clients || plan->settings.clients == 1 || own_laws(plan, adversary));
    if (premise == CAUCUS_PREMISE_SEGMENTS && !holds)
        holds = within_changes(plan, adversary);
    return holds ? CAUCUS_BOUND_FIT_HOLDS : CAUCUS_BOUND_FIT_FAILS;
}

/* Realizable losses of a run without an end; a range that begins below 0 would cost something in every round. */
static caucus_bound_fit fit_of_growing(const caucus_plan *plan, const caucus_adversary_settings *adversary) {
    if (plan->settings.lo < 0)
        return CAUCUS_BOUND_FIT_NONE;
    if (adversary->kind == CAUCUS_ADVERSARY_LOSSES)
        return CAUCUS_BOUND_FIT_UNKNOWN;
    return caucus_adversary_class_of(adversary).faultless ? CAUCUS_BOUND_FIT_HOLDS : CAUCUS_BOUND_FIT_FAILS;
}

/* stoch without an end: draws from one distribution that changes between the adversary's segments, or for losses of
 * one's own as often as the plan reckons with. */
static caucus_bound_fit fit_of_phases(const caucus_plan *plan, const caucus_adversary_settings *adversary,
                                      double *ret_changes) {
    const caucus_adversary_class is = caucus_adversary_class_of(adversary);
    const bool alone = plan->settings.clients == 1;
    *ret_changes = 0;
    if (adversary->kind == CAUCUS_ADVERSARY_LOSSES) {
        *ret_changes = plan->settings.changes * (double)adversary->rounds / 1000;
        return CAUCUS_BOUND_FIT_UNKNOWN;
    }
    if (adversary->kind == CAUCUS_ADVERSARY_SHIFTING) {
        *ret_changes = adversary->segments > 1 ? (double)(adversary->segments - 1) : 0;
        return adversary->spread > 0 && !alone ? CAUCUS_BOUND_FIT_FAILS : CAUCUS_BOUND_FIT_HOLDS;
    }
    return is.iid_rounds && (is.iid_clients || alone) ? CAUCUS_BOUND_FIT_HOLDS : CAUCUS_BOUND_FIT_FAILS;
}

static caucus_played_bound capped(caucus_bound_fit fit, double uncapped, double all) {
    return (caucus_played_bound){fit, uncapped < all ? uncapped : all, uncapped};
}

caucus_played_bound caucus_bound_played(const caucus_run_result *result, const caucus_adversary_settings *adversary) {
    const caucus_plan *plan = result->plan;
    const caucus_settings *s = &plan->settings;
    const double range = s->hi - s->lo, all = (double)adversary->rounds * range;
    const bool proved = plan->bound_kind != CAUCUS_BOUND_NONE;
    double changes = 0;
    if (proved && caucus_settings_grow(s))
        return capped(fit_of_growing(plan, adversary), caucus_svt_bound_after(plan, adversary->rounds), all);
    if (proved && s->pace == CAUCUS_PACE_OWN && result->done > 0 && !isnan(result->trial[0].bound))
        return capped(fit_of_phases(plan, adversary, &changes), caucus_run_bound(result).mean,
                      caucus_run_mean_u64(result, offsetof(caucus_trial_result, losses)) / s->clients * range);
    if (proved && s->pace != CAUCUS_PACE_OWN && caucus_plan_is_endless(plan) &&
        caucus_premise_of(plan) == CAUCUS_PREMISE_SEGMENTS) {
        const caucus_bound_fit fit = fit_of_phases(plan, adversary, &changes);
        return capped(fit, caucus_bounds_stoch_after(plan, adversary->rounds, changes), all);
    }
    if (proved && caucus_plan_is_endless(plan) && s->renew != 0 && plan->bound_kind == CAUCUS_BOUND_EXPECTATION) {
        const uint64_t cycles = (adversary->rounds + s->renew - 1) / s->renew;
        return capped(CAUCUS_BOUND_FIT_HOLDS, plan->bound_uncapped * (double)cycles, all); /* hedge: fixed in advance */
    }
    return (caucus_played_bound){caucus_bound_fit_of(plan, adversary), plan->bound, plan->bound_uncapped};
}
