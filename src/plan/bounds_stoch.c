/* SPDX-License-Identifier: Apache-2.0 */
/* bounds_stoch.c: the expected regret of Fed-DP-OPE-Stoch, before a run.
 *
 * Per phase, with n samples of each of m clients (loss units; R = width of a gradient coordinate):
 *     B_p = statistical + selection + smoothness.
 * Statistical: R sqrt(ln d/(2 m n)) for a fixed gradient (Hoeffding, a maximum over d), and for convex losses
 * 2 sqrt(2 ln(2d) (R^2/4 + 16 beta^2)/(m b)). Smoothness: 2 beta (T1 = 0) or 8 beta/(2^(T1+1) - 1), from the
 * Frank-Wolfe recursion h <= 2/(K(K+1)) sum_k k (2e + a_k) + 8 beta/(K+1). Selection: a = E[score of the chosen -
 * best]/(m b): exponential ln d/rate; permute-and-flip (H_d - 1)/rate; noise on every coordinate inf_u [ln d + ln E
 * e^(uZ)]/u. Any u gives a valid bound, so the infimum is searched without proof. Regret against the best realised
 * loss: E <= R len_1 + sum_p len_p min(R, B_p) + R sqrt(T ln d/(2m)). Votes have no bound of this kind. With a longest
 * phase W, against the best of each of S segments: (A+1) W R (S-1) more, A the phases that a choice looks back to, and
 * R sqrt(S T ln d/(2m)) for the last term. docs/PRIVACY.md, "Bounds" and "Phases with a longest length".
 * Unit client at own pace: phases are of slots, a slot is n losses of every device, and a decision comes `grace` after
 * the end of what it is made from; until then the one before it is played. */
#include "plan/calibrate.h"

#include "plan/bounds_noise.h"
#include "plan/message_weight.h"
#include "plan/pace/pace.h"
#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"

#include <math.h>

/* Loss units of one grid step of a gradient. */
static double step_of(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const double unit = s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR ? s->hi - s->lo : s->lipschitz;
    return unit / (double)plan->grid;
}

static double width_of(const caucus_plan *plan) {
    return (double)(plan->stoch.gradient_hi - plan->stoch.gradient_lo) * step_of(plan);
}

/* Losses of a client in one round of a phase: where phases are counted in slots, those that count of a slot. */
static double losses_of(const caucus_plan *plan) {
    return caucus_pace_by_question(&plan->settings) ? (double)plan->settings.most : 1;
}

/* How many records of a client enter its V: its losses, or one mean. */
static double records_of(const caucus_plan *plan, double samples) {
    return caucus_settings_means(&plan->settings) ? 1 : samples;
}

/* E[score of the chosen - best] in units of 1/rate. */
static double selection_factor(const caucus_plan *plan) {
    const double d = plan->settings.experts;
    if (plan->stoch.select == CAUCUS_SELECT_EXPONENTIAL)
        return log(d);
    if (plan->stoch.select == CAUCUS_SELECT_NOISY_MIN) {
        const caucus_noise unit = {CAUCUS_NOISE_LAPLACE, {1, 1}};
        return caucus_bounds_noise_max(log(d), d, &(noise_term){.noise = &unit, .factor = 1, .copies = 1}, 1, 0);
    }
    if (d > 1000) /* H_d <= ln d + Euler's constant + 1/(2d), closely */
        return log(d) + 0.57721566490153287 + 1 / (2 * d) - 1;
    double harmonic = 0;
    for (uint32_t n = plan->settings.experts; n >= 2; n--)
        harmonic += 1.0 / n;
    return harmonic;
}

/* Error of the selections of tree j in grid steps of summed V (trust coordinator, paper-local) or of its noisy
 * increments (trust nobody: at most one vertex of every depth on the path). */
static double leaf_error(const caucus_plan *plan, const caucus_stoch_phase *phase, uint32_t j, double factor) {
    const caucus_settings *s = &plan->settings;
    if (s->trust == CAUCUS_TRUST_COORDINATOR)
        return factor / caucus_rational_double(phase->select_rate[j]);
    const double d = s->experts;
    noise_term terms[CAUCUS_TREES_MAX + 1];
    uint32_t count = 0;
    if (s->trust == CAUCUS_TRUST_PAPER_LOCAL)
        terms[count++] = (noise_term){&phase->leaf_noise[j], 1, s->clients};
    else
        for (uint32_t h = 0; h <= j; h++)
            terms[count++] = (noise_term){&phase->vertex_noise[h], 1, s->clients};
    return caucus_bounds_noise_max(log(d), d, terms, count, 0);
}

/* The mean over a phase's selections, with the Frank-Wolfe weights k. */
static double mean_leaf_error(const caucus_plan *plan, const caucus_stoch_phase *phase) {
    const double factor = plan->settings.trust == CAUCUS_TRUST_COORDINATOR ? selection_factor(plan) : 0;
    if (phase->trees == 0)
        return leaf_error(plan, phase, 0, factor);
    double sum = 0, mass = 0;
    for (uint32_t j = 1; j <= phase->trees; j++) {
        const double first = ldexp(1, (int)j) - 1, last = ldexp(2, (int)j) - 2; /* leaves first..last of all */
        const double weight = (first + last) / 2 * (last - first + 1);
        sum += weight * leaf_error(plan, phase, j, factor);
        mass += weight;
    }
    return sum / mass;
}

/* One selection from weighted sums of linear losses: what is counted at each age, over all clients. */
static double selection_error(const caucus_plan *plan, const caucus_stoch_phase *phase, const caucus_stoch_counted *at,
                              uint32_t ages) {
    const uint64_t *weight = plan->stoch.past_weights;
    double mass = 0, spread = 0;
    for (uint32_t a = 0; a < ages; a++)
        mass += (double)weight[a] * at[a].mass;
    for (uint32_t a = 0; a < ages; a++) {
        const double share = (double)weight[a] / mass;
        spread += share * share * at[a].spread;
    }
    return width_of(plan) * sqrt(log((double)plan->settings.experts) * spread / 2) +
           mean_leaf_error(plan, phase) * step_of(plan) / mass;
}

/* The same of clients in step, who all have the len_(p-1-a) losses of age a. */
static double linear_root(const caucus_plan *plan, const caucus_stoch_phase *phase, uint64_t p) {
    const caucus_settings *s = &plan->settings;
    caucus_stoch_counted at[CAUCUS_PAST_PHASES];
    uint32_t ages = 0;
    for (; ages < plan->stoch.past && ages + 1 < p; ages++) {
        const double n = (double)caucus_stoch_samples(s, p, ages) * losses_of(plan), records = records_of(plan, n);
        at[ages] = (caucus_stoch_counted){s->clients * records, s->clients * records * records / n};
    }
    return selection_error(plan, phase, at, ages);
}

/* The same for noisy sums, which the coordinator averages over phases unless it forgets: noise and sampling error in
 * one exponential moment, with the integer weights that are really used. */
static double linear_messages(const caucus_plan *plan, const caucus_stoch_phase *phase) {
    const double m = plan->settings.clients, d = plan->settings.experts;
    const uint64_t last = (uint64_t)(phase - plan->stoch.phase);
    noise_term terms[64];
    uint32_t count = 0;
    double mass = 0, variance = 0;
    for (uint64_t i = caucus_stoch_forgets(plan) ? last : 0; i <= last; i++) {
        const caucus_stoch_phase *q = &plan->stoch.phase[i];
        const double samples = (double)q->samples * losses_of(plan), records = records_of(plan, samples);
        const double weight =
            (double)caucus_message_weight(plan->grid, &q->vertex_noise[0], (uint64_t)records, plan->settings.experts);
        terms[count++] = (noise_term){&q->vertex_noise[0], weight, m};
        mass += weight * records;
        variance += weight * weight * records * records / samples; /* of means: records = 1 */
        if (caucus_stoch_grows(&plan->settings)) /* this mean holds the losses of the earlier ones, too */
            variance += 2 * weight * (mass - weight) / samples;
    }
    const double width = (double)(plan->stoch.gradient_hi - plan->stoch.gradient_lo);
    const double error = caucus_bounds_noise_max(log(d), d, terms, count, m * variance * width * width / 4);
    return error * step_of(plan) / (m * mass);
}

/* B_p of phase p, which `phase` describes. */
static double error_at(const caucus_plan *plan, const caucus_stoch_phase *phase, uint64_t p) {
    const caucus_settings *s = &plan->settings;
    const double m = s->clients, d = s->experts, b = (double)phase->batch;
    const double width = width_of(plan), beta = s->smoothness;
    const bool votes = plan->stoch.message == CAUCUS_MESSAGE_VOTE || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST;
    if (s->trust == CAUCUS_TRUST_NOBODY && votes)
        return NAN;
    if (caucus_evaluates_some(s))
        return caucus_evaluate_error(plan, phase, p, selection_factor(plan));
    if (s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR && phase->trees == 0)
        return s->trust == CAUCUS_TRUST_NOBODY ? linear_messages(plan, phase) : linear_root(plan, phase, p);
    const double selection = mean_leaf_error(plan, phase) * step_of(plan) / (m * b);
    if (s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR || (beta <= 0 && phase->trees == 0))
        return width * sqrt(log(d) / (2 * m * b)) + selection;
    const double e = sqrt(2 * log(2 * d) * (width * width / 4 + 16 * beta * beta) / (m * b));
    return 2 * e + selection + (phase->trees ? 8 * beta / (ldexp(2, (int)phase->trees) - 1) : 2 * beta);
}

/* The last entry stands for phases of equal length; with weights the first of them still have shorter ones behind them.
 * Its error is that of the others. */
double caucus_bounds_stoch_phase(const caucus_plan *plan, const caucus_stoch_phase *phase) {
    const uint32_t i = (uint32_t)(phase - plan->stoch.phase);
    uint64_t p = i + 2;
    if (i + 1 == plan->stoch.described)
        p = p + plan->stoch.past <= plan->stoch.phases ? p + plan->stoch.past - 1 : plan->stoch.phases;
    return error_at(plan, phase, p);
}

/* As many of the rounds that are left as a phase has. */
static double take(uint64_t *left, uint64_t length) {
    const uint64_t taken = *left < length ? *left : length;
    *left -= taken;
    return (double)taken;
}

/* R len_1 + sum_p len_p min(R, B_p) over the phases from the second on, as far as `rounds` go. */
static double excess(const caucus_plan *plan, uint64_t rounds) {
    const caucus_stoch_plan *stoch = &plan->stoch;
    const double width = width_of(plan);
    uint64_t left = rounds, p = 2;
    double total = width * take(&left, caucus_stoch_length(&plan->settings, 1));
    for (uint32_t i = 0; i < stoch->described; i++) {
        const caucus_stoch_phase *phase = &stoch->phase[i];
        if (isnan(phase->error))
            return NAN;
        if (i + 1 < stoch->described) {
            total += take(&left, phase->length) * fmin(width, phase->error);
            p++;
            continue;
        }
        for (; p < stoch->phases && p < (uint64_t)i + 1 + stoch->past; p++) /* of equal length, but not yet behind */
            total += take(&left, phase->length) * fmin(width, error_at(plan, phase, p));
        total += (double)left * fmin(width, phase->error);
    }
    return total;
}

/* How often the losses may change, per round; 0 without a longest phase. */
static double changes_of(const caucus_settings *s) {
    return s->longest_phase != 0 ? s->changes / 1000 : 0;
}

/* What rounding adds per round, in grid steps. It moves a gradient, and the mean of a block, by half a step, a
 * difference of gradients by a whole one, and an excess by twice that; averages over phases are kept to 2^-16 of a
 * step. Scores that are scaled to one number of evaluations are rounded once more. */
static double rounding_of(const caucus_plan *plan) {
    const double means = caucus_settings_means(&plan->settings) ? 1 : 0;
    return 1 + means + (caucus_evaluates_some(&plan->settings) ? 1 : 0) + 2.0 * caucus_stoch_trees(plan) + 0x1p-15;
}

/* A run without an end: phases of W rounds, per 1,000 rounds, and `changes` changes; against the best in expectation of
 * each segment. */
static double endless_total(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const double width = width_of(plan), error = plan->stoch.phase[plan->stoch.described - 1].error;
    if (isnan(error)) /* votes; fmin would take the other one */
        return NAN;
    return 1000 * (fmin(width, error) + step_of(plan) * rounding_of(plan)) +
           caucus_bounds_stoch_change(plan) * s->changes;
}

double caucus_bounds_stoch_change(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const bool own = s->pace == CAUCUS_PACE_OWN; /* a decision comes `grace` after the end of what it is made from */
    const double late = own ? (double)s->grace / (double)s->phase_time : 0;
    return width_of(plan) * (plan->stoch.past + 1.0 + late) * (double)s->longest_phase;
}

double caucus_bounds_stoch_after(const caucus_plan *plan, uint64_t rounds, double changes) {
    const caucus_settings *s = &plan->settings;
    double total = excess(plan, rounds);
    if (isnan(total))
        return NAN;
    /* A change makes the phase that it falls into, and those that learn from it, wrong. */
    if (changes > 0)
        total += caucus_bounds_stoch_change(plan) * changes;
    total += width_of(plan) * sqrt((1 + changes) * (double)rounds * log((double)s->experts) / (2 * (double)s->clients));
    return total + (double)rounds * step_of(plan) * rounding_of(plan);
}

/* Unit client at own pace: the excess of a slot, over all slots, times the losses of a slot. */
static double questions_total(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const double width = width_of(plan), late = (double)s->grace / (double)s->phase_time;
    const double losses = (double)s->rounds * losses_of(plan);
    double slots = width * (double)(plan->stoch.described > 0 ? caucus_stoch_length(s, 1) : s->rounds), before = width;
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        const caucus_stoch_phase *phase = &plan->stoch.phase[i];
        if (isnan(phase->error))
            return NAN;
        const double error = fmin(width, phase->error);
        slots += late * before + ((double)phase->length - late) * error;
        before = error;
    }
    return slots * losses_of(plan) + width * sqrt(losses * log((double)s->experts) / (2 * (double)s->clients)) +
           losses * step_of(plan) * rounding_of(plan);
}

double caucus_bounds_stoch_total(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    if (caucus_pace_by_question(s))
        return questions_total(plan);
    if (caucus_plan_is_endless(plan))
        return endless_total(plan);
    return caucus_bounds_stoch_after(plan, s->rounds, changes_of(s) * (double)s->rounds);
}

double caucus_bounds_stoch_counted(const caucus_plan *plan, uint64_t p, const caucus_stoch_counted *at, uint32_t ages) {
    const caucus_settings *s = &plan->settings;
    const caucus_stoch_phase *phase = caucus_stoch_phase_of(plan, p);
    const bool votes = plan->stoch.message == CAUCUS_MESSAGE_VOTE || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST;
    double mass = 0;
    for (uint32_t a = 0; a < ages; a++)
        mass += at[a].mass;
    if (s->trust == CAUCUS_TRUST_NOBODY && (votes || !caucus_stoch_forgets(plan)))
        return NAN;
    if (!(mass > 0))
        return width_of(plan);
    if (s->trust == CAUCUS_TRUST_COORDINATOR)
        return selection_error(plan, phase, at, ages);
    /* Noise is drawn by every device, whether it has seen anything or not. */
    const double width = (double)(plan->stoch.gradient_hi - plan->stoch.gradient_lo), d = s->experts;
    const noise_term noise = {&phase->vertex_noise[0], 1, s->clients};
    return caucus_bounds_noise_max(log(d), d, &noise, 1, at[0].spread * width * width / 4) * step_of(plan) / at[0].mass;
}

double caucus_bounds_stoch_rounding(const caucus_plan *plan) {
    return step_of(plan) * rounding_of(plan);
}

caucus_status caucus_bounds_stoch(caucus_plan *plan) {
    const double rounds = caucus_plan_is_endless(plan) ? 1000 : (double)plan->settings.rounds * losses_of(plan);
    const double all = rounds * (plan->settings.hi - plan->settings.lo);
    const double total = caucus_bounds_stoch_total(plan);
    plan->bound_kind = isnan(total) ? CAUCUS_BOUND_NONE : CAUCUS_BOUND_EXPECTATION;
    plan->bound_uncapped = isnan(total) ? all : total;
    plan->bound = plan->bound_uncapped < all ? plan->bound_uncapped : all;
    return CAUCUS_OK;
}
