/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h: from settings to the integers of a plan.
 * layer: plan
 *
 * The calibrators compute in double precision and write integers, rounded towards privacy; the
 * accountant (account.c) then judges those integers without looking at anything computed here. */
#ifndef DP_CALIBRATE_H
#define DP_CALIBRATE_H

#include "plan/plan.h"

#include "num/int128.h"

/* Calibrators aim this much below what was asked, so that the accountant, which rounds every step up,
 * never refuses a plan for its own rounding. */
#define CALIBRATE_SLACK 0x1p-40

/* The largest rate k/2^56 (fewer bits above 64) not above `value`; CAUCUS_E_INFEASIBLE if that is 0 or its
 * noise could leave 62 bits. The error names epsilon, which made it. */
caucus_status caucus_calibrate_rate(double value, double epsilon, caucus_rational *ret,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* Public facts about an svt run, in units of the range of one loss (of one block's mean, unit client-block). */
typedef struct svt_facts {
    double clients, experts;
    double checks;     /* M */
    double block_cost; /* most that one block can cost one client: N, or 1 for means */
    double lstar;      /* L*, per client */
    double per_unit;   /* loss units of one unit: hi - lo, times N for means */
} svt_facts;
svt_facts caucus_calibrate_svt_facts(const caucus_settings *s);

/* Fed-SVT before rounding to integers. */
typedef struct svt_real {
    double margin;            /* g */
    uint32_t switches;        /* kappa */
    double epsilon_threshold; /* eps_AT */
    double eta;               /* of every selection (constant eta) */
    double rho_zcdp;          /* what all selections may spend; 0: accounted purely */
    double threshold;         /* L */
    double bound;             /* regret per client in units, with probability 1 - rho */
} svt_real;

/* checks >= 1. The tight calibration: the plan with the smallest bound, pure or (delta > 0) by zCDP.
 * Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_calibrate_svt_real(const caucus_settings *s, svt_real *ret) CAUCUS_MUST_CHECK;

/* Fill plan->svt, plan->stoch (family.h). */
caucus_status caucus_calibrate_svt(caucus_plan *plan, caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_calibrate_stoch(caucus_plan *plan, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* What the decisions of one phase may cost a record: purely, or as zCDP; each needs only one of the two. */
typedef struct caucus_spend {
    double epsilon, rho;
} caucus_spend;

/* Calibrate every phase of stoch, which has its place, for the select, message and weights now in the plan.
 * In:      spend  [described], or one where all phases may spend the same (`alike`). */
caucus_status caucus_calibrate_phases(caucus_plan *plan, const caucus_spend *spend, bool alike,
                                      caucus_error *ret_error) CAUCUS_MUST_CHECK;
/* plan/stoch/unit_client.c: growth and phases of unit client; select and message are resolved. */
caucus_status caucus_calibrate_client(caucus_plan *plan, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* Of unit client, how what may be spent in all is split over the decisions, which are made from places that are set:
 * purely or as zCDP, evenly or by the rounds that are played with each; Gaussian noise takes its rho, all others their
 * epsilon.
 * In:      rho  what may be spent in all as zCDP.
 * Out:     ret  [described]. */
typedef struct caucus_split {
    bool zcdp, even;
    bool exponential; /* the decisions are made by the exponential mechanism */
} caucus_split;
void caucus_calibrate_split(const caucus_plan *plan, const caucus_split *how, double rho, caucus_spend *ret);

/* Noise of the clients in one phase (trust nobody and paper-local); batch, trees and clamps are set. Gaussian noise is
 * made for spend.rho, all other for spend.epsilon. */
caucus_status caucus_calibrate_messages(const caucus_plan *plan, caucus_stoch_phase *phase, caucus_spend spend,
                                        caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* b_max: the largest root batch with which T1 = trees >= 1 trees fit n samples; 0 if none does. */
uint64_t caucus_calibrate_batch(uint64_t samples, uint32_t trees);

/* W_h: how far one sample at depth h moves a coordinate of V, from the clamps of a phase. */
int64_t caucus_calibrate_sensitivity(const caucus_plan *plan, const caucus_stoch_phase *phase, uint32_t depth);

/* Fill the bound of a calibrated plan (docs/PRIVACY.md, "Bounds"). */
caucus_status caucus_bounds_stoch(caucus_plan *plan) CAUCUS_MUST_CHECK;

/* B_p: excess loss per round of a phase in expectation, loss units; NAN if none is proved. */
double caucus_bounds_stoch_phase(const caucus_plan *plan, const caucus_stoch_phase *phase);

/* The bound of a whole stoch plan, uncapped; NAN if none is proved. Uses phase->error. */
double caucus_bounds_stoch_total(const caucus_plan *plan);
/* The same of the first `rounds` rounds, whatever the plan's own number is, with so many changes: uncapped. */
double caucus_bounds_stoch_after(const caucus_plan *plan, uint64_t rounds, double changes);

/* What a decision is made from, over all devices that reported: of sums, `mass` and `spread` are the number of losses;
 * of means, `mass` is the number of devices with losses and `spread` the sum of 1/n_i over them. */
typedef struct caucus_stoch_counted {
    double mass, spread;
} caucus_stoch_counted;
/* B of phase p >= 2 of a run at the devices' own pace whose decision was made from counts that are known
 * (docs/PRIVACY.md, "At their own pace"), loss units; the range where nothing was counted, NAN where nothing is proved.
 * In:      at [ages]  the newest first; 1 <= ages <= the phases that a choice looks back to. */
double caucus_bounds_stoch_counted(const caucus_plan *plan, uint64_t p, const caucus_stoch_counted *at, uint32_t ages);
/* What rounding to the grid adds per loss, loss units. */
double caucus_bounds_stoch_rounding(const caucus_plan *plan);

/* What one change of the losses' distribution costs at most, where there is a longest phase. */
double caucus_bounds_stoch_change(const caucus_plan *plan);

/* Sums that a wrap could reach (docs/PRIVACY.md, "The grid"): CAUCUS_OK or CAUCUS_E_OVERFLOW. */
caucus_status caucus_plan_limits(const caucus_plan *plan, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/* For the limits of a family: whether a sum stays within 62 bits, and the refusal that names what does not. */
bool caucus_plan_limits_fit(caucus_u128 value);
caucus_status caucus_plan_limits_refuse(const caucus_plan *plan, const char *what,
                                        caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
