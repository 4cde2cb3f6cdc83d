/* SPDX-License-Identifier: Apache-2.0 */
/* family_svt.c: svt and sparse-vector in the plan: what they cost, what they are proved to keep to, their text.
 *
 * The accountant. One record changes q of one epoch and all later scores, each by at most G. An epoch is
 * max(G*rate_T, G*rate_Q)-DP (lemma AT), epochs compose in parallel, selection k costs 2*G*rate_k:
 *     pure: G*max(rate_T, rate_Q) + sum_k 2*G*rate_k;    zCDP of the selections: sum_k (2*G*rate_k)^2/8.
 * docs/PRIVACY.md, "The accountant".
 *
 * The bound holds with probability 1 - rho.
 * (i) A false alarm (a switch although q is below threshold - c) has total probability at most rho_c. (ii) All kappa+1
 * threshold noises stay small with probability 1 - rho_a. (iii) Without false alarms every switch raises the
 * dropped expert's score by g/eta, so there are at most kappa switches with probability 1 - rho_Z (renewal.c).
 * (iv) While no check fires q is at most threshold + noise, and the block that fires adds at most m*N. So
 *     regret per client <= (kappa+1) [N + (threshold + noise)/m].
 * Where thresholds grow, (i) holds for all checks there will ever be, and (iv) for the largest threshold so far.
 * Geometric noise (tight): P(nu > c + xi) <= e^(-c rate)/2 and a geometric xi is below ln((kappa+1)/rho_a)/rate.
 * Laplace noise (paper): with c_Q = ln(M/(2 r))/rate_Q and c_T = ln((kappa+1)/(2 r))/rate_T, r = rho/8, none of the
 * four tails (either sign, either noise) exceeds its c except with probability 4r = rho/2; the margin
 * that the threshold leaves beyond c_Q + c_T must then make kappa switches enough with probability 1 - rho/2.
 * docs/PRIVACY.md, "Bounds". */
#include "dp/growth.h"
#include "plan/account.h"
#include "plan/calibrate.h"
#include "plan/family.h"
#include "plan/renewal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static bool threshold_noise(const caucus_noise *noise) {
    return (noise->kind == CAUCUS_NOISE_GEOMETRIC || noise->kind == CAUCUS_NOISE_LAPLACE) &&
           account_usable(noise->parameter);
}

/* What a record costs in all checks of all epochs: Lemma AT. */
static long double threshold_cost(const caucus_plan *plan) {
    return fmaxl(account_cost(1, plan->grid, plan->svt.threshold_noise.parameter),
                 account_cost(1, plan->grid, plan->svt.check_noise.parameter));
}

static caucus_status account(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const caucus_svt_plan *svt = &plan->svt;
    const uint64_t checks =
        caucus_settings_grow(s)
            ? caucus_settings_most_blocks(s, plan->grid)
            : (caucus_settings_cycle(s) - 1) / s->interval; /* cycles use different losses: one pays for all */
    if (svt->checks != checks || svt->blocks != caucus_settings_blocks(s))
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "interval",
                           "the plan has %" PRIu64 " checks, the settings %" PRIu64, svt->checks, checks);
    if (svt->switches == 0)
        return CAUCUS_OK; /* nothing is ever announced but the first expert */
    if (!threshold_noise(&svt->threshold_noise) || !threshold_noise(&svt->check_noise) || !svt->select_rate ||
        !svt->threshold)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "threshold", "noise of another kind than a check may use");
    const long double at = threshold_cost(plan);
    account_loss loss = {.pure = at, .pure_part = at};
    for (uint32_t k = 0; k < svt->switches; k++) {
        if (!account_usable(svt->select_rate[k]))
            return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "select_rate", "rate %u is no rate", k);
        const long double eta = account_cost(2, plan->grid, svt->select_rate[k]);
        loss.pure = account_up(loss.pure + eta);
        loss.rho = account_up(loss.rho + account_up(eta * eta) / 8);
    }
    ret->epsilon_choices = caucus_account_epsilon(s, &loss, ret);
    return CAUCUS_OK;
}

/* Of a noise threshold, in grid units, that the proof adds to L; NAN if the plan leaves too small a margin.
 * Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
static caucus_status paper_noise(const caucus_plan *plan, const svt_facts *f, double *ret) {
    const caucus_svt_plan *svt = &plan->svt;
    const double r = plan->settings.rho / 8;
    /* Whole numbers of grid steps: for them the discrete Laplace tail is at most half the exponential. */
    const double cq = ceil(log(f->checks / (2 * r)) / caucus_rational_double(svt->check_noise.parameter));
    const double ct =
        ceil(log((svt->switches + 1.0) / (2 * r)) / caucus_rational_double(svt->threshold_noise.parameter));
    const double eta = 2 * caucus_rational_double(svt->select_rate[0]); /* per grid step */
    double margin = eta * ((double)(svt->threshold[0] - svt->score_floor) - cq - ct);
    margin = margin < 16 ? margin : 16; /* a larger margin is also a margin of 16 */
    *ret = NAN;
    if (!(margin >= RENEWAL_MARGIN_MIN))
        return CAUCUS_OK;
    uint32_t enough = 0;
    const caucus_status status =
        caucus_renewal_switches(plan->settings.experts, plan->settings.rho / 2, margin, &enough);
    const double needed = enough < f->checks ? enough : f->checks;
    if (status == CAUCUS_OK && needed <= svt->switches)
        *ret = cq + ct;
    return status;
}

int64_t caucus_svt_threshold(const caucus_plan *plan, uint32_t switches, uint64_t check) {
    const caucus_svt_plan *svt = &plan->svt;
    const int64_t begins = svt->threshold[switches];
    return caucus_settings_grow(&plan->settings) ? begins + caucus_growth(svt->check_noise.parameter, check) : begins;
}

/* (kappa + 1) epochs, each of which costs L at the run's last check, and the noise of the check that ends it. */
static double bound_at(const caucus_plan *plan, uint64_t checks, double noise, double all) {
    const svt_facts f = caucus_calibrate_svt_facts(&plan->settings);
    const double grid = (double)plan->grid, threshold = (double)caucus_svt_threshold(plan, 0, checks);
    return (plan->svt.switches + 1.0) * (f.block_cost + (threshold + noise) / (grid * f.clients)) * f.per_unit +
           all / grid;
}

/* Tight calibration. */
static double check_noise(const caucus_plan *plan) {
    return log((plan->svt.switches + 1.0) / (plan->settings.rho / 4)) /
           caucus_rational_double(plan->svt.check_noise.parameter);
}

double caucus_svt_bound_after(const caucus_plan *plan, uint64_t rounds) {
    const caucus_settings *s = &plan->settings;
    if (!caucus_settings_grow(s) || plan->bound_kind == CAUCUS_BOUND_NONE)
        return NAN;
    return bound_at(plan, (rounds + s->interval - 1) / s->interval, check_noise(plan),
                    (double)rounds * (s->hi - s->lo));
}

static caucus_status bound(caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const caucus_svt_plan *svt = &plan->svt;
    const svt_facts f = caucus_calibrate_svt_facts(s);
    const bool grows = caucus_settings_grow(s);
    /* The bound is for a cycle; where thresholds grow, for the nominal rounds. */
    const double all = (double)(grows ? s->nominal_rounds : caucus_settings_cycle(s)) * (s->hi - s->lo);
    plan->bound_kind = CAUCUS_BOUND_PROBABILITY;
    plan->bound = plan->bound_uncapped = all;
    if (svt->checks == 0)
        return CAUCUS_OK;
    double noise;
    caucus_status status = CAUCUS_OK;
    if (s->front_load && s->calibration == CAUCUS_CALIBRATION_TIGHT)
        noise = NAN; /* the renewal proof needs a constant eta */
    else if (s->calibration == CAUCUS_CALIBRATION_PAPER)
        status = paper_noise(plan, &f, &noise);
    else
        noise = check_noise(plan);
    if (status != CAUCUS_OK || isnan(noise)) {
        plan->bound_kind = CAUCUS_BOUND_NONE;
        return status;
    }
    plan->bound_uncapped = bound_at(plan, (uint64_t)f.checks, noise, all);
    plan->bound = plan->bound_uncapped < all ? plan->bound_uncapped : all;
    return CAUCUS_OK;
}

static caucus_status limits(const caucus_plan *plan, caucus_error *ret_error) {
    const caucus_svt_plan *svt = &plan->svt;
    for (uint32_t k = 0; svt->threshold && k < svt->switches; k++)
        if (svt->threshold[k] < 0 || svt->threshold[k] >= (int64_t)1 << 61)
            return caucus_plan_limits_refuse(plan, "a threshold", ret_error);
    if (caucus_settings_grow(&plan->settings) && caucus_settings_most_blocks(&plan->settings, plan->grid) == 0)
        return caucus_plan_limits_refuse(plan, "sums of losses", ret_error);
    if (svt->score_floor < 0 || svt->score_floor >= (int64_t)1 << 62)
        return caucus_plan_limits_refuse(plan, "the score's floor", ret_error);
    return CAUCUS_OK;
}

static void walk(caucus_walker *w, caucus_plan *plan) {
    caucus_svt_plan *svt = &plan->svt;
    w->open(w, "svt");
    caucus_walk_u64(w, "blocks", &svt->blocks);
    caucus_walk_u64(w, "checks", &svt->checks);
    caucus_walk_u32(w, "switches", &svt->switches);
    caucus_walk_noise(w, "threshold-noise", &svt->threshold_noise);
    caucus_walk_noise(w, "check-noise", &svt->check_noise);
    w->list(w, "thresholds", svt->switches);
    for (uint32_t k = 0; k < svt->switches; k++)
        caucus_walk_steps(w, NULL, &svt->threshold[k], true);
    w->list(w, "select-rates", svt->switches);
    for (uint32_t k = 0; k < svt->switches; k++)
        caucus_walk_rate(w, NULL, &svt->select_rate[k]);
    caucus_walk_steps(w, "score-floor", &svt->score_floor, true);
    w->close(w);
}

static void free_part(caucus_plan *plan) {
    free(plan->svt.threshold);
    free(plan->svt.select_rate);
}

static uint64_t blocks(const caucus_plan *plan) {
    return plan->svt.blocks;
}

static uint64_t selections(const caucus_plan *plan) {
    return caucus_settings_cycles(&plan->settings) * plan->svt.switches;
}

/* Where the run renews itself all rates are alike: front-load is refused. */
static bool select_rate(const caucus_plan *plan, uint64_t selection, caucus_rational *ret) {
    *ret = plan->svt.select_rate[selection % plan->svt.switches];
    return true;
}

/* Group privacy over the records of the blocks of a cycle that are used: all but the last; cycles add up. Thresholds
 * are pure also where selections are by zCDP. */
static caucus_device_cost device(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const double blocks_used = (double)plan->svt.checks, cycles = (double)caucus_settings_cycles(s);
    const double records = s->unit == CAUCUS_UNIT_CLIENT_BLOCK ? blocks_used : blocks_used * (double)s->interval;
    long double record = threshold_cost(plan);
    for (uint32_t k = 0; k < plan->svt.switches; k++)
        record = account_up(record + account_cost(2, plan->grid, plan->svt.select_rate[k]));
    return (caucus_device_cost){.linear = records * cycles,
                                .square = records * records * cycles,
                                .pure = plan->svt.epsilon_threshold,
                                .record = account_double(record)};
}

const caucus_plan_ops caucus_plan_svt = {
    .variant = {{CAUCUS_ALGORITHM_SVT, "Fed-SVT", .alone = false},
                {CAUCUS_ALGORITHM_SPARSE_VECTOR, "Sparse-Vector", .alone = true}},
    .checks = true,
    .options = CAUCUS_OPTION_RHO | CAUCUS_OPTION_LSTAR | CAUCUS_OPTION_PROTOCOL | CAUCUS_OPTION_FRONT_LOAD |
               CAUCUS_OPTION_INTERVAL | CAUCUS_OPTION_PAPER | CAUCUS_OPTION_CLIENT_BLOCK | CAUCUS_OPTION_RENEW |
               CAUCUS_OPTION_NOMINAL,
    CAUCUS_FAMILY_PLAN(caucus_calibrate_svt, bound, account),
    .limits = limits,
    .free_part = free_part,
    .select_rate = select_rate,
    .device = device,
};
