/* SPDX-License-Identifier: Apache-2.0 */
/* look.h: a private look at how well a run of stoch does: the loss of the expert in force, phase by phase.
 * layer: plan
 *
 * With each decision the loss of x, the expert in force before it, is shown: coordinate x of the sum of the reports
 * that the decision is taken from, over a public number. docs/PRIVACY.md, statement 20.
 *   trust coordinator  `show-loss: E0`: the coordinator adds two-sided geometric noise of rate E0/G to that one sum,
 *                      and selections have epsilon - E0; unit client: a record is in the figures of all K decisions,
 *                      each of which is of everything so far, so that each has E0/K;
 *   trust nobody       knorm, laplace-d and gauss, in step and without trees: the sum of what clients sent is private
 *                      already, so it costs nothing and needs no setting.
 * Which figures are shown follows from public integers: those whose interval is at most half of the range to either
 * side. */
#ifndef CAUCUS_PLAN_LOOK_H
#define CAUCUS_PLAN_LOOK_H

#include "plan/plan.h"

/* Trust nobody: the sum of fewer messages is not near enough to a normal law for its interval. */
#define CAUCUS_LOOK_CLIENTS 20u
/* An interval holds what it is about with this probability at least. */
#define CAUCUS_LOOK_CONFIDENCE 0.95

/** What selections may cost: epsilon, without what a look costs. */
static inline double caucus_look_left(const caucus_settings *s) {
    return s->epsilon - s->show_loss;
}

/** How many figures a record is in: one, or K. */
static inline uint32_t caucus_look_times(const caucus_plan *plan) {
    return plan->settings.unit == CAUCUS_UNIT_CLIENT && plan->stoch.described > 1 ? plan->stoch.described : 1;
}

/** Whether the run shows anything. */
bool caucus_look_shows(const caucus_plan *plan);

/** Fill show_noise and show_reach. Returns: CAUCUS_OK, CAUCUS_E_INFEASIBLE (no phase would show anything, too). */
caucus_status caucus_look_calibrate(caucus_plan *plan, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The accountant: what the looks cost a record, G*rate for each that it is in, rounded up; 0 where none is paid for.
 *  Returns: CAUCUS_OK, CAUCUS_E_INFEASIBLE (noise that no plan has). */
caucus_status caucus_look_account(const caucus_plan *plan, long double *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Losses (or means) behind the figure of a phase if everybody answers; few evaluations: the fewest there can be. */
uint64_t caucus_look_divisor(const caucus_plan *plan, const caucus_stoch_phase *phase);
/** Whether the figure of a phase is shown: `divisor` losses or means of `answers` clients are behind it. Sums and
 *  products of IEEE doubles, or integers: the same on every machine. */
bool caucus_look_wanted(const caucus_plan *plan, const caucus_stoch_phase *phase, uint64_t divisor, uint32_t answers);
/** The first phase, from 0, whose figure is shown if everybody answers; UINT32_MAX: none is. */
uint32_t caucus_look_first(const caucus_plan *plan);
/** Half the width of its interval, in the units of the losses. For people. */
double caucus_look_half(const caucus_plan *plan, const caucus_stoch_phase *phase, uint64_t divisor, uint32_t answers);
/** A sum over its divisor, in the units of the losses. For people. */
double caucus_look_loss(const caucus_plan *plan, int64_t sum, uint64_t divisor);

#endif
