/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_stoch.c: phases, trees and rates of Fed-DP-OPE-Stoch.
 *
 * Phase p >= 2 learns from the losses of the phase before (stoch.h says where phases are). With T1 = 0 it makes one
 * selection from all of them; with T1 >= 1 it walks trees 1..T1, tree j with 2^j leaves, root batch b and b >> h
 * samples at a right vertex of depth h: b T1 (T1+5)/4 samples in all, b a multiple of 2^T1.
 *
 * One sample at depth h moves a coordinate of V by at most W_h (W_0 = R, W_h = 2^(h+1) C_h, C_h the clamp on gradient
 * differences) and meets 2^(j-h) selections, each of which costs 2*rate*W_h. A sample is in one vertex of one
 * tree of one phase, so costs do not add over trees or phases:
 *     pure: 2^(j-h) 2 rate W_h <= epsilon;    zCDP: 2^(j-h) c (2 rate W_h)^2 <= rho(epsilon, delta),
 * c = 1/8 (exponential) or 1/2 (others). Each depth needs only one of the two, so rate_j is the smallest over h of the
 * larger. With past_phases a sample of age a enters with weight w_a, and the sums run over ages.
 * T1 is chosen per phase from public numbers only, by the bound. docs/PRIVACY.md, "Selections", "Trees".
 * Unit client: a record is in all phases, so that their costs add: plan/stoch/unit_client.c. */
#include "plan/calibrate.h"

#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"
#include "plan/stoch/look.h"
#include "plan/zcdp.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t caucus_calibrate_batch(uint64_t samples, uint32_t trees) {
    uint64_t right_batches = (4 * samples >> trees) / (trees * (trees + 5));
    return right_batches << trees;
}

int64_t caucus_calibrate_sensitivity(const caucus_plan *plan, const caucus_stoch_phase *phase, uint32_t depth) {
    if (depth == 0)
        return plan->stoch.gradient_hi - plan->stoch.gradient_lo;
    return phase->clamp[depth] * ((int64_t)2 << depth);
}

static caucus_status layout(caucus_plan *plan, caucus_error *ret_error) {
    caucus_stoch_plan *stoch = &plan->stoch;
    const bool linear = plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_LINEAR;
    double bound;
    if (plan->settings.longest_phase == CAUCUS_PHASE_AUTO) /* from here on a plan like any other with that length */
        plan->settings.longest_phase = caucus_stoch_longest(&plan->settings, &bound);
    stoch->gradient_lo = linear ? 0 : -plan->grid;
    stoch->gradient_hi = plan->grid;
    stoch->phases = caucus_stoch_phases(&plan->settings);
    stoch->described = caucus_stoch_described(&plan->settings);
    if (stoch->phases == 1)
        return CAUCUS_OK;
    stoch->phase = calloc(stoch->described, sizeof *stoch->phase);
    if (!stoch->phase)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%u phases", stoch->described);
    for (uint32_t i = 0; i < stoch->described; i++)
        caucus_stoch_extent(&plan->settings, i + 2, &stoch->phase[i]);
    return caucus_plan_limits(plan, ret_error); /* a longest phase found just now has not been looked at */
}

/* C_h = min(R, ceil(beta*D_h) + 1) in grid steps, D_h <= 2^(2-h); the 1 covers the rounding of two gradients. Linear
 * losses have the same gradient everywhere: 0. */
static void set_clamps(const caucus_plan *plan, caucus_stoch_phase *phase) {
    const caucus_settings *s = &plan->settings;
    const int64_t width = plan->stoch.gradient_hi - plan->stoch.gradient_lo;
    const double beta = s->smoothness / s->lipschitz * (double)plan->grid;
    for (uint32_t h = 1; h <= CAUCUS_TREES_MAX && s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX; h++) {
        const double clamp = ceil(ldexp(beta, 2 - (int)h)) + 1;
        phase->clamp[h] = clamp < (double)width ? (int64_t)clamp : width;
    }
}

/* What all uses of one sample weigh: sum of w_a and of w_a^2 over the ages it can reach. */
static void past_sums(const caucus_stoch_plan *stoch, double *ret_sum, double *ret_squares) {
    *ret_sum = *ret_squares = 0;
    for (uint32_t a = 0; a < stoch->past; a++) {
        const double w = (double)stoch->past_weights[a];
        *ret_sum += w;
        *ret_squares += w * w;
    }
}

/* The selection rate of tree j in a phase, before rounding. */
static double rate_of(const caucus_plan *plan, const caucus_stoch_phase *phase, uint32_t j, caucus_spend spend) {
    const caucus_settings *s = &plan->settings;
    if (s->calibration ==
        CAUCUS_CALIBRATION_PAPER) { /* Lap(4 alpha 2^j/eps); delta: alpha 2^(T1/2) ln(2^(p-1)/delta)/eps */
        const double scale = s->delta > 0 ? ldexp(1, (int)phase->trees / 2) * (phase->trees % 2 ? sqrt(2) : 1) *
                                                log((double)phase->first / s->delta)
                                          : ldexp(4, (int)j);
        return s->epsilon / (scale * (double)plan->grid);
    }
    double weights, squares, least = INFINITY;
    past_sums(&plan->stoch, &weights, &squares);
    const double c = plan->stoch.select == CAUCUS_SELECT_EXPONENTIAL ? 0.125 : 0.5;
    for (uint32_t h = 0; h <= j; h++) {
        const double w = (double)caucus_calibrate_sensitivity(plan, phase, h), leaves = ldexp(1, (int)(j - h));
        const double pure = spend.epsilon / (2 * leaves * w * weights);
        if (w > 0)
            least = fmin(least, fmax(pure, sqrt(spend.rho / (4 * c * leaves * squares)) / w));
    }
    return least;
}

/* Few evaluations: how far a loss moves a score is known when it is known who has reported, so the plan says what a
 * selection may cost, f*rate*W, and the coordinator works out the rate (evaluate.h). The same formula as above with the
 * rate in units of 1/(f*W). */
static caucus_status set_budget(const caucus_plan *plan, caucus_stoch_phase *phase, caucus_spend spend,
                                caucus_error *ret_error) {
    const double c = plan->stoch.select == CAUCUS_SELECT_EXPONENTIAL ? 0.125 : 0.5;
    double weights, squares;
    past_sums(&plan->stoch, &weights, &squares);
    phase->least = caucus_evaluate_floor(&plan->settings, phase->samples);
    const double budget = fmax(spend.epsilon / weights, sqrt(spend.rho / (c * squares)));
    return caucus_calibrate_rate(budget, plan->settings.epsilon, &phase->select_budget, ret_error);
}

/* Calibrate one phase with T1 = trees (known to fit). */
static caucus_status set_phase(const caucus_plan *plan, caucus_stoch_phase *phase, uint32_t trees, caucus_spend spend,
                               caucus_error *ret_error) {
    caucus_stoch_phase done = {
        .first = phase->first, .length = phase->length, .samples = phase->samples, .trees = trees};
    done.batch = trees ? caucus_calibrate_batch(phase->samples, trees) : phase->samples;
    done.vote_rate = done.shortlist_noise.parameter = done.select_budget = (caucus_rational){0, 1};
    for (uint32_t j = 0; j <= CAUCUS_TREES_MAX; j++)
        done.select_rate[j] = done.leaf_noise[j].parameter = done.vertex_noise[j].parameter = (caucus_rational){0, 1};
    set_clamps(plan, &done);
    caucus_status status = CAUCUS_OK;
    const bool some = caucus_evaluates_some(&plan->settings), nobody = plan->settings.trust == CAUCUS_TRUST_NOBODY;
    if (nobody)
        status = caucus_calibrate_messages(plan, &done, spend, ret_error);
    else if (some)
        status = set_budget(plan, &done, spend, ret_error);
    for (uint32_t j = trees ? 1 : 0; j <= trees && status == CAUCUS_OK && !nobody && !some; j++) {
        caucus_rational rate = {0, 1};
        status = caucus_calibrate_rate(rate_of(plan, &done, j, spend), plan->settings.epsilon, &rate, ret_error);
        if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR)
            done.select_rate[j] = rate;
        else
            done.leaf_noise[j] = (caucus_noise){CAUCUS_NOISE_LAPLACE, rate};
    }
    if (status == CAUCUS_OK)
        *phase = done;
    return status;
}

/* Which T1 a phase may use: explicit or the paper's 1 where they fit, else 0; auto: whatever fits, convex losses
 * only. */
static void tree_range(const caucus_plan *plan, uint64_t samples, uint32_t *ret_first, uint32_t *ret_last) {
    const caucus_settings *s = &plan->settings;
    const bool votes = plan->stoch.message == CAUCUS_MESSAGE_VOTE || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST;
    *ret_first = *ret_last = 0;
    if (caucus_settings_means(s) || (s->trust == CAUCUS_TRUST_NOBODY && votes))
        return;
    if (s->trees != CAUCUS_TREES_AUTO || s->calibration == CAUCUS_CALIBRATION_PAPER) {
        const uint32_t wanted = s->trees == CAUCUS_TREES_AUTO ? 1 : (uint32_t)s->trees;
        *ret_first = *ret_last = wanted > 0 && caucus_calibrate_batch(samples, wanted) > 0 ? wanted : 0;
        return;
    }
    while (s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX && *ret_last < CAUCUS_TREES_MAX &&
           caucus_calibrate_batch(samples, *ret_last + 1) > 0)
        ++*ret_last;
}

caucus_status caucus_calibrate_phases(caucus_plan *plan, const caucus_spend *spend, bool alike,
                                      caucus_error *ret_error) {
    caucus_stoch_plan *stoch = &plan->stoch;
    for (uint32_t i = 0; i < stoch->described; i++) {
        caucus_stoch_phase *phase = &stoch->phase[i], best = *phase;
        uint32_t first, last;
        tree_range(plan, phase->samples, &first, &last);
        double least = INFINITY;
        for (uint32_t trees = first; trees <= last; trees++) {
            caucus_status status = set_phase(plan, phase, trees, spend[alike ? 0 : i], ret_error);
            if (status != CAUCUS_OK)
                return status;
            phase->error = caucus_bounds_stoch_phase(plan, phase);
            if (trees == first || phase->error < least) {
                best = *phase;
                least = phase->error;
            }
        }
        *phase = best;
    }
    return CAUCUS_OK;
}

/* Integer weights w_a = 2^16 gamma^a, as long as they are not 0 and some sample reaches age a. */
static void set_weights(caucus_stoch_plan *stoch, double gamma) {
    memset(stoch->past_weights, 0, sizeof stoch->past_weights);
    stoch->past = 1;
    stoch->past_weights[0] = gamma > 0 ? 1u << 16 : 1;
    const uint32_t most = sizeof stoch->past_weights / sizeof stoch->past_weights[0];
    for (uint32_t a = 1; gamma > 0 && a < most && a + 1 < stoch->phases; a++) {
        stoch->past_weights[a] = (uint64_t)floor(0x1p16 * pow(gamma, (double)a));
        if (stoch->past_weights[a] == 0)
            break;
        stoch->past = a + 1;
    }
}

/* Try every way of selecting that the settings leave open, and keep the one with the smallest bound. */
static caucus_status search(caucus_plan *plan, caucus_error *ret_error) {
    static const double gammas[] = {0, 0.25, 0.5, 0.7, 0.8, 0.9};
    const caucus_settings *s = &plan->settings;
    const double whole = s->delta > 0 ? caucus_zcdp_rho(caucus_look_left(s) * (1 - CALIBRATE_SLACK), s->delta) : 0;
    const caucus_spend spend = {/* a record is in one phase, which may spend all; a variance takes off its own slack */
                                .epsilon = caucus_look_left(s),
                                .rho = s->trust == CAUCUS_TRUST_NOBODY ? whole : whole * (1 - CALIBRATE_SLACK)};
    const bool open = s->select == CAUCUS_SELECT_AUTO && s->trust == CAUCUS_TRUST_COORDINATOR &&
                      s->calibration == CAUCUS_CALIBRATION_TIGHT && s->delta > 0;
    caucus_select best_select = plan->stoch.select;
    double least = INFINITY, best_gamma = 0;
    for (int other = 0; other <= (open ? 1 : 0); other++) {
        plan->stoch.select = open ? (other ? CAUCUS_SELECT_EXPONENTIAL : CAUCUS_SELECT_FLIP) : plan->stoch.select;
        for (size_t i = 0; i < (s->past_phases ? sizeof gammas / sizeof gammas[0] : 1); i++) {
            set_weights(&plan->stoch, gammas[i]);
            caucus_status status = caucus_plan_limits(plan, NULL);
            if (status == CAUCUS_OK)
                status = caucus_calibrate_phases(plan, &spend, true, ret_error);
            else if (i > 0)
                continue; /* weights this large would overflow the sums: smaller ones remain */
            else
                status = caucus_plan_limits(plan, ret_error);
            if (status != CAUCUS_OK)
                return status;
            const double total = caucus_bounds_stoch_total(plan);
            if (total < least) {
                least = total;
                best_gamma = gammas[i];
                best_select = plan->stoch.select;
            }
        }
    }
    plan->stoch.select = best_select;
    set_weights(&plan->stoch, best_gamma);
    return caucus_calibrate_phases(plan, &spend, true, ret_error);
}

static void resolve(caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const bool paper = s->calibration == CAUCUS_CALIBRATION_PAPER;
    plan->stoch.select = s->select != CAUCUS_SELECT_AUTO ? s->select
                         : paper                         ? CAUCUS_SELECT_NOISY_MIN
                                                         : CAUCUS_SELECT_FLIP;
    plan->stoch.message = s->message;
    /* auto: votes where no phase can have trees; else noisy sums, of which trees are made. If the search then finds
     * that no phase takes trees, caucus_calibrate_stoch() goes over to votes. */
    if (s->message == CAUCUS_MESSAGE_AUTO)
        plan->stoch.message =
            s->trust == CAUCUS_TRUST_NOBODY && s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR && s->trees <= 0
                ? CAUCUS_MESSAGE_VOTE
                : CAUCUS_MESSAGE_KNORM;
    if (plan->stoch.message == CAUCUS_MESSAGE_VOTE && s->message == CAUCUS_MESSAGE_AUTO &&
        (s->epsilon >= 3 || s->experts >= 500))
        plan->stoch.message = CAUCUS_MESSAGE_SHORTLIST;
}

/* The losses of the longest phase that is learnt from; of one round, where there is one phase only. */
static uint64_t most_samples(const caucus_plan *plan) {
    return plan->stoch.described > 0 ? plan->stoch.phase[plan->stoch.described - 1].samples : 0;
}

caucus_status caucus_calibrate_stoch(caucus_plan *plan, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    if (s->unit == CAUCUS_UNIT_CLIENT_BLOCK && s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        return caucus_fail(
            ret_error, CAUCUS_E_INFEASIBLE, "unit",
            "client-block with convex losses, whose gradients have no mean over a block (accepted: event)");
    if (s->unit == CAUCUS_UNIT_CLIENT) {
        resolve(plan);
        set_weights(&plan->stoch, 0);
        const caucus_status made = caucus_calibrate_client(plan, ret_error);
        return made == CAUCUS_OK ? caucus_look_calibrate(plan, ret_error) : made;
    }
    caucus_status status = layout(plan, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (s->trees > 0 && caucus_calibrate_batch(most_samples(plan), (uint32_t)s->trees) == 0)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "trees",
                           "%d trees fit no phase of %" PRIu64 " rounds (accepted: fewer, or auto)", s->trees,
                           s->rounds);
    resolve(plan);
    status = search(plan, ret_error);
    if (status == CAUCUS_OK && s->trust == CAUCUS_TRUST_NOBODY && s->message == CAUCUS_MESSAGE_AUTO &&
        caucus_stoch_trees(plan) == 0 &&
        plan->stoch.message == CAUCUS_MESSAGE_KNORM) { /* convex losses that need no trees: vote after all */
        plan->stoch.message = s->epsilon >= 3 || s->experts >= 500 ? CAUCUS_MESSAGE_SHORTLIST : CAUCUS_MESSAGE_VOTE;
        status = search(plan, ret_error);
    }
    return status == CAUCUS_OK ? caucus_look_calibrate(plan, ret_error) : status;
}
