/* SPDX-License-Identifier: Apache-2.0 */
/* adversary_order.c: losses of 0 and 1 that follow a hidden order, a hidden expert or what was announced: halving,
 * creeping, lower-bound-realizable and adaptive.
 * layer: sim
 *
 * The lower bound's number of elements (docs/PRIVACY.md, "Lower-bound loss sequences"): the paper's k = ln d/(2 m
 * epsilon) rounds need not be whole and vanishes for large m, so loss is given to floor(ln d/(2 epsilon)) single
 * (round, client) pairs at the end; the proof is the same with m*k replaced by this number. */
#include "sim/adversary_impl.h"

#include <math.h>
#include <stdio.h>

typedef caucus_adversary_trial trial_t;

/* Both conditions of the lower bound: at least one element carries loss, and there are as many as needed. */
static caucus_status check_lower_bound(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                                       caucus_error *ret_error) {
    const double epsilon = settings->epsilon;
    if (!(epsilon > 0) || isinf(epsilon))
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "epsilon", "%g (accepted by lower-bound-realizable: above 0)",
                           epsilon);
    double log_experts = log((double)adversary->experts), elements = floor(log_experts / (2 * epsilon));
    if (elements < 1) {
        char more[48] = "";
        if (exp(2 * epsilon) <= CAUCUS_ADVERSARY_EXPERTS_MAX)
            snprintf(more, sizeof more, ", or at least %.0f experts", ceil(exp(2 * epsilon)));
        return caucus_fail(
            ret_error, CAUCUS_E_INFEASIBLE, "epsilon",
            "%g leaves lower-bound-realizable no loss with %u experts — feasible: at most ln(%u)/2 = %.4f%s", epsilon,
            adversary->experts, adversary->experts, floor(log_experts / 2 * 1e4) / 1e4, more);
    }
    double available = (double)adversary->clients * (double)adversary->rounds;
    if (elements > available)
        return caucus_fail(
            ret_error, CAUCUS_E_INFEASIBLE, "epsilon",
            "%g asks for %.0f losses, clients × rounds is %.0f — feasible: at least ln(%u)/(2 × %.0f) = %.4f", epsilon,
            elements, available, adversary->experts, available, ceil(log_experts / (2 * available) * 1e4) / 1e4);
    adversary->elements = (uint64_t)elements;
    return CAUCUS_OK;
}

/* Block r = 1, 2, ... leaves ceil(keep/2) of the experts good, the first of the hidden order, until one is left. */
static void fill_halving(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const uint32_t d = trial->adversary->experts, blocks = 32u - (uint32_t)__builtin_clz(d - 1); /* ceil(log2 d) */
    (void)client; /* all clients see the same */
    uint64_t length = trial->adversary->rounds / (blocks + 1);
    length = length == 0 ? 1 : length;
    for (size_t row = 0; row < count; row++) {
        uint64_t block = (first + row) / length;
        uint32_t keep = d;
        for (uint32_t r = 0; r <= block && r < blocks; r++)
            keep = keep / 2 + keep % 2;
        for (uint32_t n = 0; n < d; n++)
            ret[row * d + n] = block < blocks && trial->rank[n] >= keep ? 1.0f : 0.0f;
    }
}

/* At round t experts 0 .. floor(t/T*(d-1)) of the hidden order are bad; the last one never is. */
static void fill_creeping(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const uint32_t d = trial->adversary->experts;
    (void)client;
    for (size_t row = 0; row < count; row++) {
        uint32_t bad = (uint32_t)((first + row) * (uint64_t)(d - 1) / trial->adversary->rounds);
        for (uint32_t n = 0; n < d; n++)
            ret[row * d + n] = trial->rank[n] <= bad ? 1.0f : 0.0f;
    }
}

static void fill_lower_bound(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const caucus_adversary *adversary = trial->adversary;
    const uint32_t d = adversary->experts;
    uint64_t quiet = adversary->clients * adversary->rounds - adversary->elements;
    for (size_t row = 0; row < count; row++) {
        uint64_t element = (first + row) * adversary->clients + (client - 1);
        for (uint32_t n = 0; n < d; n++)
            ret[row * d + n] = element >= quiet && n != trial->hidden ? 1.0f : 0.0f;
    }
}

static void fill_adaptive(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const uint32_t d = trial->adversary->experts;
    (void)client, (void)first;
    for (size_t row = 0; row < count; row++)
        for (uint32_t n = 0; n < d; n++)
            ret[row * d + n] = n == trial->before ? 1.0f : 0.0f;
}

static bool draw_nobody(trial_t *trial) {
    trial->before = UINT32_MAX;
    return true;
}

void caucus_adversary_tell(trial_t *trial, uint32_t expert) {
    trial->before = expert;
}

static bool draw_rank(trial_t *trial) {
    return caucus_adversary_draw_order(trial, trial->adversary->experts, &trial->rank);
}

const caucus_adversary_ops caucus_adversary_HALVING = {
    .class = {.faultless = true},
    .highest = 1,
    .draw = draw_rank,
    .fill = fill_halving,
};

const caucus_adversary_ops caucus_adversary_CREEPING = {
    .class = {.faultless = true},
    .highest = 1,
    .draw = draw_rank,
    .fill = fill_creeping,
};

const caucus_adversary_ops caucus_adversary_LOWER_BOUND_REALIZABLE = {
    .class = {.faultless = true},
    .highest = 1,
    .check = check_lower_bound,
    .draw = caucus_adversary_draw_hidden,
    .fill = fill_lower_bound,
};

const caucus_adversary_ops caucus_adversary_ADAPTIVE = {
    .highest = 1,
    .follows = true,
    .draw = draw_nobody,
    .fill = fill_adaptive,
};
