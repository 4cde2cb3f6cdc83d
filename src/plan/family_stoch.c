/* SPDX-License-Identifier: Apache-2.0 */
/* family_stoch.c: stoch and limited-updates in the plan: their limits and their text. Calibration, accountant and
 * bounds are in calibrate_stoch.c, account_stoch.c and bounds_stoch.c.
 *
 * Limits: m*b*(G + sum of clamps) for a leaf; with weights on earlier phases m*R*sum_a w_a n_a, n_a the losses of the
 * phase of age a: at most W, so that a run with a longest phase may be of any length; and for noisy messages
 * the noise as well, up to a tail of probability e^-60. docs/PRIVACY.md, "The grid".
 * Also here: the K-norm sampler keeps about e^(-rate*d/2) of its tries, which must not be few. */
#include "plan/account.h"
#include "plan/calibrate.h"
#include "plan/family.h"
#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"
#include "plan/stoch/look.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Grid steps that one draw of a noise vector of dimension d exceeds with negligible probability. */
static double noise_reach(const caucus_noise *noise, double d) {
    const double parameter = caucus_rational_double(noise->parameter);
    switch (noise->kind) {
    case CAUCUS_NOISE_KNORM:
        return (d + 12 * sqrt(d) + 80) / parameter;
    case CAUCUS_NOISE_GAUSSIAN:
        return sqrt(2 * (log(d) + 60) * parameter);
    case CAUCUS_NOISE_NONE:
        return 0;
    default:
        return (log(d) + 60) / parameter;
    }
}

/* K-norm noise at a rate that is large per grid step: only a very coarse grid gets there. */
static bool knorm_is_slow(const caucus_noise *noise, uint32_t dimension) {
    return noise->kind == CAUCUS_NOISE_KNORM && caucus_rational_double(noise->parameter) * dimension > 16;
}

static caucus_status phase_limits(const caucus_plan *plan, const caucus_stoch_phase *phase, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    caucus_u128 one = (caucus_u128)(uint64_t)plan->grid * phase->batch;
    for (uint32_t h = 1; h <= phase->trees && h <= CAUCUS_TREES_MAX; h++)
        one += (caucus_u128)(uint64_t)phase->clamp[h] * phase->batch;
    if (!caucus_plan_limits_fit(one) || !caucus_plan_limits_fit(one * s->clients))
        return caucus_plan_limits_refuse(plan, "sums of a phase", ret_error);
    for (uint32_t h = 0; h <= CAUCUS_TREES_MAX; h++)
        if (knorm_is_slow(&phase->vertex_noise[h], s->experts) ||
            knorm_is_slow(&phase->shortlist_noise, CAUCUS_SHORTLIST))
            return caucus_fail(
                ret_error, CAUCUS_E_INFEASIBLE, "grid",
                "%lld steps are too few for K-norm noise at epsilon %g with %u experts: use a finer grid",
                (long long)plan->grid, s->epsilon, s->experts);
    double noise = 0;
    for (uint32_t h = 0; h <= CAUCUS_TREES_MAX; h++)
        noise += noise_reach(&phase->vertex_noise[h], s->experts) + noise_reach(&phase->leaf_noise[h], s->experts);
    noise += noise_reach(&phase->shortlist_noise, CAUCUS_SHORTLIST);
    if (!((noise + (double)one) * s->clients < 0x1p62))
        return caucus_plan_limits_refuse(plan, "noisy messages", ret_error);
    return CAUCUS_OK;
}

/* past_phases: the score of the phase that has most behind it: the last, or with a longest phase one that has full
 * phases alone behind it. */
static caucus_status past_limits(const caucus_plan *plan, caucus_error *ret_error) {
    const caucus_stoch_plan *stoch = &plan->stoch;
    const uint32_t most = sizeof stoch->past_weights / sizeof stoch->past_weights[0];
    caucus_u128 sum = 0;
    for (uint32_t a = 0; a < stoch->past && a < most && a + 2 <= stoch->phases; a++) {
        if (stoch->past_weights[a] >> 32 != 0)
            return caucus_plan_limits_refuse(plan, "weighted scores", ret_error);
        sum += (caucus_u128)stoch->past_weights[a] * caucus_stoch_length(&plan->settings, stoch->phases - 1 - a);
    }
    const caucus_u128 width = (caucus_u128)(uint64_t)(stoch->gradient_hi - stoch->gradient_lo);
    if (!caucus_plan_limits_fit(sum) || !caucus_plan_limits_fit(sum * plan->settings.clients) ||
        !caucus_plan_limits_fit(sum * plan->settings.clients * width))
        return caucus_plan_limits_refuse(plan, "weighted scores", ret_error);
    return CAUCUS_OK;
}

static caucus_status limits(const caucus_plan *plan, caucus_error *ret_error) {
    if (plan->stoch.described > 64 || (plan->stoch.phases > 1 && (!plan->stoch.phase || plan->stoch.described < 1)))
        return caucus_plan_limits_refuse(plan, "phases", ret_error);
    caucus_status status = past_limits(plan, ret_error);
    for (uint32_t i = 0; status == CAUCUS_OK && i < plan->stoch.described; i++)
        status = phase_limits(plan, &plan->stoch.phase[i], ret_error);
    return status;
}

/* Only what the plan's trust and message use; the rest is zero in every plan. */
static void walk_phase(caucus_walker *w, const caucus_plan *plan, uint64_t number, caucus_stoch_phase *phase) {
    const bool all = w->keys_only;
    const uint32_t trees = phase->trees, first = trees > 0 ? 1 : 0;
    const bool nobody = plan->settings.trust == CAUCUS_TRUST_NOBODY;
    const bool votes = plan->stoch.message == CAUCUS_MESSAGE_VOTE || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST;
    char key[32];
    (void)snprintf(key, sizeof key, "phase-%" PRIu64, number);
    w->open(w, key);
    caucus_walk_u64(w, "first", &phase->first);
    caucus_walk_u64(w, "length", &phase->length);
    caucus_walk_u64(w, "samples", &phase->samples);
    caucus_walk_u32(w, "trees", &phase->trees);
    caucus_walk_u64(w, "batch", &phase->batch);
    if (all || trees > 0) {
        w->list(w, "clamps", trees);
        for (uint32_t h = 1; h <= trees; h++)
            caucus_walk_steps(w, NULL, &phase->clamp[h], true);
    }
    const bool some = caucus_evaluates_some(&plan->settings);
    if (all || some) {
        caucus_walk_rate(w, "select-budget", &phase->select_budget);
        caucus_walk_u64(w, "least-evaluations", &phase->least);
    }
    if (all || (plan->settings.trust == CAUCUS_TRUST_COORDINATOR && !some)) {
        w->list(w, "select-rates", trees + 1 - first);
        for (uint32_t j = first; j <= trees; j++)
            caucus_walk_rate(w, NULL, &phase->select_rate[j]);
    }
    if (all || plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL) {
        w->list(w, "leaf-noises", trees + 1 - first);
        for (uint32_t j = first; j <= trees; j++)
            caucus_walk_noise(w, NULL, &phase->leaf_noise[j]);
    }
    if (all || (nobody && votes)) {
        caucus_walk_rate(w, "vote-rate", &phase->vote_rate);
        if (all || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST)
            caucus_walk_noise(w, "shortlist-noise", &phase->shortlist_noise);
    }
    if (all || (nobody && !votes)) {
        w->list(w, "vertex-noises", trees + 1);
        for (uint32_t h = 0; h <= trees; h++)
            caucus_walk_noise(w, NULL, &phase->vertex_noise[h]);
    }
    w->close(w);
}

static void walk(caucus_walker *w, caucus_plan *plan) {
    caucus_stoch_plan *stoch = &plan->stoch;
    w->open(w, "stoch");
    caucus_walk_select(w, "select", &stoch->select);
    caucus_walk_message(w, "message", &stoch->message);
    w->list(w, "gradient", 2);
    caucus_walk_steps(w, NULL, &stoch->gradient_lo, false);
    caucus_walk_steps(w, NULL, &stoch->gradient_hi, false);
    w->list(w, "past-weights", stoch->past);
    for (uint32_t a = 0; a < stoch->past; a++)
        w->value(w, NULL,
                 &(caucus_value){
                     .kind = CAUCUS_VALUE_WHOLE, .tuned = true, .most = UINT64_MAX, .whole = &stoch->past_weights[a]});
    if (w->keys_only || plan->settings.show_loss > 0) {
        caucus_walk_noise(w, "show-noise", &stoch->show_noise);
        caucus_walk_steps(w, "show-reach", &stoch->show_reach, true);
    }
    caucus_walk_u64(w, "phases", &stoch->phases);
    for (uint64_t p = 2; p < 2 + (uint64_t)stoch->described; p++)
        walk_phase(w, plan, p, &stoch->phase[p - 2]);
    if (w->keys_only)
        walk_phase(w, plan, 2, &(caucus_stoch_phase){0});
    w->close(w);
}

static void free_part(caucus_plan *plan) {
    free(plan->stoch.phase);
}

static uint64_t blocks(const caucus_plan *plan) {
    return plan->stoch.phases;
}

/* Trees 1 .. T1 have 2^(T1+1) - 2 leaves together; without trees there is one. */
static uint64_t leaves_of(const caucus_stoch_phase *phase) {
    return phase->trees > 0 ? ((uint64_t)2 << phase->trees) - 2 : 1;
}

/* One in every leaf of every phase but the first. */
static uint64_t selections(const caucus_plan *plan) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < plan->stoch.described; i++)
        sum += caucus_stoch_repeats(plan, i) * leaves_of(&plan->stoch.phase[i]);
    return sum;
}

/* Where clients evaluate some experts only: the rate if everybody reports; of means it depends on who does what. */
static bool some_rate(const caucus_plan *plan, const caucus_stoch_phase *phase, caucus_rational *ret) {
    const caucus_settings *s = &plan->settings;
    const uint64_t least = caucus_evaluate_least(s, phase->samples);
    const bool more = (caucus_u128)phase->samples * s->clients * s->evaluate % s->experts != 0;
    const uint64_t width = least == 0 ? (uint64_t)plan->grid : caucus_evaluate_width(plan, least, least + more);
    return s->unit == CAUCUS_UNIT_EVENT && caucus_evaluate_rate(plan, phase->select_budget, width, ret);
}

/* Phase by phase; in a phase tree j makes 2^j selections, those of trees 1 .. j-1 before it 2^j - 2. */
static bool select_rate(const caucus_plan *plan, uint64_t selection, caucus_rational *ret) {
    if (plan->settings.trust != CAUCUS_TRUST_COORDINATOR)
        return false;
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        const caucus_stoch_phase *phase = &plan->stoch.phase[i];
        const uint64_t leaves = leaves_of(phase), all = caucus_stoch_repeats(plan, i) * leaves;
        if (selection >= all) {
            selection -= all;
            continue;
        }
        if (caucus_evaluates_some(&plan->settings))
            return some_rate(plan, phase, ret);
        selection %= leaves;
        uint32_t tree = phase->trees > 0 ? 1 : 0;
        while (tree > 0 && selection >= ((uint64_t)2 << tree) - 2)
            tree++;
        *ret = phase->select_rate[tree];
        return true;
    }
    return false;
}

/* What a record costs where delta is not used: selections and messages are pure by themselves, but Gaussian noise,
 * which is refused without a delta and leaves 0. */
static double pure_record(const caucus_plan *plan) {
    caucus_plan pure = *plan;
    caucus_guarantee g = {.epsilon_messages = 0};
    pure.settings.delta = 0;
    return caucus_account_stoch(&pure, &g, NULL) == CAUCUS_OK ? fmax(g.epsilon_choices, g.epsilon_messages) : 0;
}

/* A record is in the decisions of one phase. With n losses in it a device moves them n times as far as one loss does
 * (under client-block the whole phase is one record); phases add up. The losses of the last phase are never used. Under
 * unit client the record is the device. */
static caucus_device_cost device(const caucus_plan *plan) {
    const bool means = caucus_settings_means(&plan->settings);
    caucus_device_cost cost = {.linear = 0, .record = pure_record(plan)};
    long double look = 0;
    if (caucus_look_account(plan, &look, NULL) == CAUCUS_OK)
        cost.pure = account_double(look);
    if (plan->settings.unit == CAUCUS_UNIT_CLIENT) {
        cost.linear = cost.square = 1;
        return cost;
    }
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        const double n = means ? 1 : (double)plan->stoch.phase[i].samples;
        const double times = (double)caucus_stoch_repeats(plan, i);
        cost.linear += times * n;
        cost.square += times * n * n;
    }
    return cost;
}

const caucus_plan_ops caucus_plan_stoch = {
    .variant = {{CAUCUS_ALGORITHM_STOCH, "Fed-DP-OPE-Stoch", .alone = false},
                {CAUCUS_ALGORITHM_LIMITED_UPDATES, "Limited Updates", .alone = true}},
    .options = CAUCUS_OPTION_SELECT | CAUCUS_OPTION_TRUST | CAUCUS_OPTION_TREES | CAUCUS_OPTION_CONVEX |
               CAUCUS_OPTION_PAST_PHASES | CAUCUS_OPTION_PAPER | CAUCUS_OPTION_CLIENT_BLOCK |
               CAUCUS_OPTION_LONGEST_PHASE | CAUCUS_OPTION_OWN_PACE | CAUCUS_OPTION_EVALUATE | CAUCUS_OPTION_CLIENT |
               CAUCUS_OPTION_SHOW_LOSS,
    .phases = true,
    CAUCUS_FAMILY_PLAN(caucus_calibrate_stoch, caucus_bounds_stoch, caucus_account_stoch),
    .limits = limits,
    .free_part = free_part,
    .select_rate = select_rate,
    .device = device,
};
