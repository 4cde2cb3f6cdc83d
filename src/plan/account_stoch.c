/* SPDX-License-Identifier: Apache-2.0 */
/* account_stoch.c: the accountant for Fed-DP-OPE-Stoch.
 *
 * A loss is in one vertex of one tree of one phase, so the guarantee is the worst vertex. At depth h of tree j it moves
 * coordinates of V by at most W_h and meets 2^(j-h) leaves:
 *   trust coordinator   a selection costs 2*rate*W_h; as zCDP an eighth (exponential) or half of that squared;
 *   trust paper-local   the choice costs the same (report-noisy-min with this client's noise); the message d*rate*W_h;
 *   trust nobody        one message: a vote 2*rate*W_0, K-norm rate*W_h, Laplace d*rate*W_h, Gaussian (as zCDP)
 *                       d*W_h^2/(2 variance).
 *   unit client         one selection, or one message, in every phase, of means that a client moves by G: they add up.
 *   show-loss           and G*rate for the look at the loss of the expert in force, added after everything else (unit
 *                       client: for each look);
 *   evaluate            the plan says what a selection costs, f*rate*W; each selection is held to it when it is made.
 * With weights on earlier phases a sample also enters later selections at w_a times its size; those costs add. What a
 * client sends covers what is chosen from it: choices are post-processing of messages. */
#include "plan/account.h"

#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"
#include "plan/stoch/look.h"
#include "plan/zcdp.h"

#include <inttypes.h>

static caucus_status refuse(caucus_error *ret_error, uint64_t i, const char *what) {
    return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "phase", "%" PRIu64 ": %s", i + 2, what);
}

/* A phase must use every sample at most once and only the samples there are. */
static caucus_status check_layout(const caucus_plan *plan, uint64_t i, caucus_error *ret_error) {
    const caucus_stoch_phase *phase = &plan->stoch.phase[i];
    caucus_stoch_phase due;
    caucus_stoch_extent(&plan->settings, i + 2, &due);
    if (phase->first != due.first || phase->samples != due.samples || phase->length != due.length ||
        phase->trees > CAUCUS_TREES_MAX)
        return refuse(ret_error, i, "not where the phases of these settings are");
    const uint64_t trees = phase->trees, b = phase->batch;
    if (trees == 0 ? b > phase->samples : (b * trees * (trees + 5) > 4 * phase->samples || b % ((uint64_t)1 << trees)))
        return refuse(ret_error, i, "uses more samples than it has");
    if (caucus_settings_means(&plan->settings) && (trees > 0 || plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX))
        return refuse(ret_error, i, "trees or convex losses with a unit that takes means: there is none of them");
    if (caucus_evaluates_some(&plan->settings) &&
        (trees > 0 || phase->least < 1 || phase->select_budget.num >> 62 != 0))
        return refuse(ret_error, i, "trees, or no usable budget, where clients evaluate some experts only");
    for (uint32_t h = 1; h <= trees; h++)
        if (phase->clamp[h] < 0 || phase->clamp[h] > plan->stoch.gradient_hi - plan->stoch.gradient_lo)
            return refuse(ret_error, i, "a clamp outside the gradient's range");
    return CAUCUS_OK;
}

static int64_t sensitivity(const caucus_plan *plan, const caucus_stoch_phase *phase, uint32_t h) {
    if (h == 0)
        return plan->stoch.gradient_hi - plan->stoch.gradient_lo;
    if (plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_LINEAR)
        return 0; /* the client adds 0 at right vertices */
    return phase->clamp[h] * ((int64_t)2 << h);
}

/* A sample of the phase before phase[i]: what the selections of phases i, i+1, .. cost it (root-only if past > 1). */
static caucus_status selections(const caucus_plan *plan, uint64_t i, uint32_t j, uint32_t h, account_loss *ret,
                                caucus_error *ret_error) {
    const caucus_stoch_plan *stoch = &plan->stoch;
    const bool local = plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL;
    const uint64_t leaves = (uint64_t)1 << (j - h);
    *ret = (account_loss){0};
    for (uint64_t a = 0; a < stoch->past && i + a + 1 < stoch->phases; a++) {
        const caucus_stoch_phase *phase = caucus_stoch_phase_of(plan, i + a + 2);
        const int64_t w = sensitivity(plan, phase, h);
        const bool some = caucus_evaluates_some(&plan->settings);
        const caucus_rational rate = local  ? phase->leaf_noise[j].parameter
                                     : some ? phase->select_budget
                                            : phase->select_rate[j];
        if (!account_usable(rate) || (local && phase->leaf_noise[j].kind != CAUCUS_NOISE_LAPLACE))
            return refuse(ret_error, i + a, "no usable rate");
        if (stoch->past_weights[a] > (uint64_t)1 << 16 || (stoch->past > 1 && phase->trees > 0))
            return refuse(ret_error, i + a, "weights on earlier phases that no plan has");
        const long double one =
            some ? account_cost(stoch->past_weights[a], 1, rate) : account_cost(2 * stoch->past_weights[a], w, rate);
        const long double share = !local && stoch->select == CAUCUS_SELECT_EXPONENTIAL ? 0.125L : 0.5L;
        ret->pure = account_up(ret->pure + account_up(one * (long double)leaves));
        ret->rho = account_up(ret->rho + account_up(account_up(one * one) * (long double)leaves) * share);
    }
    return CAUCUS_OK;
}

/* What all leaf messages of the paper's local noise cost a sample. */
static account_loss paper_messages(const caucus_plan *plan, const caucus_stoch_phase *phase, uint32_t j, uint32_t h) {
    const uint64_t leaves = (uint64_t)1 << (j - h), d = plan->settings.experts;
    const long double one =
        account_cost(1, sensitivity(plan, phase, h), phase->leaf_noise[j].parameter); /* per scalar */
    return (account_loss){
        .pure = account_up(one * account_up((long double)(leaves * d))),
        .rho = account_up(account_up(account_up(one * one) * account_up((long double)(leaves * d))) / 2),
    };
}

static caucus_status message(const caucus_plan *plan, uint64_t i, uint32_t h, account_loss *ret,
                             caucus_error *ret_error) {
    const caucus_stoch_phase *phase = &plan->stoch.phase[i];
    const int64_t w = sensitivity(plan, phase, h);
    const uint64_t d = plan->settings.experts;
    const caucus_message kind = plan->stoch.message;
    *ret = (account_loss){0};
    if (kind == CAUCUS_MESSAGE_VOTE || kind == CAUCUS_MESSAGE_SHORTLIST) {
        if (!account_usable(phase->vote_rate) || phase->trees > 0)
            return refuse(ret_error, i, "no usable vote rate");
        ret->pure = account_cost(2, w, phase->vote_rate);
        if (kind == CAUCUS_MESSAGE_SHORTLIST) {
            if (phase->shortlist_noise.kind != CAUCUS_NOISE_KNORM || !account_usable(phase->shortlist_noise.parameter))
                return refuse(ret_error, i, "no usable shortlist noise");
            ret->pure = account_up(ret->pure + account_cost(1, w, phase->shortlist_noise.parameter));
        }
        ret->pure_part = ret->pure;
        return CAUCUS_OK;
    }
    if (w == 0)
        return CAUCUS_OK;
    const caucus_noise *noise = &phase->vertex_noise[h];
    if (!account_usable(noise->parameter))
        return refuse(ret_error, i, "no usable noise");
    if (noise->kind == CAUCUS_NOISE_KNORM && kind == CAUCUS_MESSAGE_KNORM) {
        ret->pure = ret->pure_part = account_cost(1, w, noise->parameter);
    } else if (noise->kind == CAUCUS_NOISE_LAPLACE && kind == CAUCUS_MESSAGE_LAPLACE_D) {
        ret->pure = ret->pure_part = account_cost(d, w, noise->parameter);
    } else if (noise->kind == CAUCUS_NOISE_GAUSSIAN && kind == CAUCUS_MESSAGE_GAUSS && plan->settings.delta > 0 &&
               noise->parameter.num <= CAUCUS_DEN_MAX) { /* what the exact sampler takes */
        const caucus_rational inverse = {noise->parameter.den, noise->parameter.num};
        ret->pure = (long double)INFINITY;
        ret->rho = account_up(account_up(account_cost(d, w, inverse) * account_up((long double)w)) / 2);
    } else {
        return refuse(ret_error, i, "noise of another kind than its message");
    }
    return CAUCUS_OK;
}

static caucus_status account_vertex(const caucus_plan *plan, uint64_t i, uint32_t j, uint32_t h, caucus_guarantee *ret,
                                    caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    account_loss loss;
    if (s->trust == CAUCUS_TRUST_NOBODY) {
        caucus_status status = message(plan, i, h, &loss, ret_error);
        if (status == CAUCUS_OK) {
            ret->epsilon_messages = fmax(ret->epsilon_messages, caucus_account_epsilon(s, &loss, ret));
            ret->epsilon_choices = ret->epsilon_messages;
        }
        return status;
    }
    caucus_status status = selections(plan, i, j, h, &loss, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_settings left = *s; /* what a look costs is added after the conversion, so it is not there to convert */
    left.epsilon = caucus_look_left(s);
    ret->epsilon_choices = fmax(ret->epsilon_choices, caucus_account_epsilon(&left, &loss, ret));
    if (s->trust == CAUCUS_TRUST_PAPER_LOCAL) {
        loss = paper_messages(plan, &plan->stoch.phase[i], j, h);
        ret->epsilon_messages = fmax(ret->epsilon_messages, caucus_account_epsilon(s, &loss, ret));
    }
    return CAUCUS_OK;
}

/* Unit client: the record is all that a client ever reports, so what its messages, or the selections made from them,
 * cost adds up over the phases: purely, and as zCDP, where a pure mechanism of cost e is e^2/2-zCDP. */
static caucus_status account_client(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const bool nobody = s->trust == CAUCUS_TRUST_NOBODY;
    account_loss all = {0};
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        account_loss one;
        caucus_status status = check_layout(plan, i, ret_error);
        if (status == CAUCUS_OK)
            status = nobody ? message(plan, i, 0, &one, ret_error) : selections(plan, i, 0, 0, &one, ret_error);
        if (status != CAUCUS_OK)
            return status;
        if (nobody && plan->stoch.message != CAUCUS_MESSAGE_GAUSS)
            one.rho = account_up(account_up(one.pure * one.pure) / 2);
        all.pure = account_up(all.pure + one.pure);
        all.rho = account_up(all.rho + one.rho);
    }
    caucus_settings left = *s; /* as above */
    left.epsilon = caucus_look_left(s);
    ret->epsilon_choices = caucus_account_epsilon(&left, &all, ret);
    if (nobody)
        ret->epsilon_messages = ret->epsilon_choices;
    return CAUCUS_OK;
}

/* What the looks at the loss of the expert in force cost is added to what the choices cost. */
static caucus_status add_look(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error) {
    long double look = 0;
    caucus_status status = caucus_look_account(plan, &look, ret_error);
    if (status == CAUCUS_OK && look > 0 && plan->stoch.described > 0)
        ret->epsilon_choices = account_double(account_up((long double)ret->epsilon_choices + look));
    return status;
}

caucus_status caucus_account_stoch(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const caucus_stoch_plan *stoch = &plan->stoch;
    const int64_t lo = s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR ? 0 : -plan->grid;
    const uint64_t phases = caucus_stoch_phases(s);
    if (stoch->gradient_lo != lo || stoch->gradient_hi != plan->grid || stoch->past < 1 || stoch->past > 40 ||
        stoch->phases != phases || stoch->described != caucus_stoch_described(s) || (phases > 1 && !stoch->phase) ||
        (stoch->past > 1 && s->trust != CAUCUS_TRUST_COORDINATOR)) /* weighing local noise again is not accounted for */
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "phase", "phases or gradient range that no plan has");
    if (s->unit == CAUCUS_UNIT_CLIENT && (stoch->past > 1 || !caucus_stoch_grows(s)))
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "growth", "none, or weights on earlier phases");
    if (s->unit == CAUCUS_UNIT_CLIENT) {
        caucus_status status = account_client(plan, ret, ret_error);
        return status == CAUCUS_OK ? add_look(plan, ret, ret_error) : status;
    }
    if (s->trust != CAUCUS_TRUST_COORDINATOR)
        ret->epsilon_messages = 0;
    for (uint32_t i = 0; i < stoch->described; i++) { /* the last entry speaks for every later phase */
        const uint32_t trees = stoch->phase[i].trees;
        caucus_status status = check_layout(plan, i, ret_error);
        for (uint32_t j = trees ? 1 : 0; status == CAUCUS_OK && j <= trees; j++)
            for (uint32_t h = 0; status == CAUCUS_OK && h <= j; h++)
                status = account_vertex(plan, i, j, h, ret, ret_error);
        if (status != CAUCUS_OK)
            return status;
    }
    return add_look(plan, ret, ret_error);
}
