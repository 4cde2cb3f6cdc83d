/* SPDX-License-Identifier: Apache-2.0 */
/* convex.c: value and gradient of the mixture's cross-entropy, in pieces so that nothing is allocated.
 * layer: sim */
#include "sim/convex.h"
#include "sim/adversary_impl.h"

#include <assert.h>
#include <math.h>

#define QUANTILE 14.0 /* of d*y_n, above 0.999: tests/sim/test_adversary.c bounds what is clipped */

double caucus_convex_scale(uint32_t experts) {
    return log((double)experts / CAUCUS_CONVEX_MIXING);
}

double caucus_convex_gain(uint32_t experts) {
    const double s = CAUCUS_CONVEX_MIXING;
    return 1.0 + log(1.0 - s + s / (double)experts) / caucus_convex_scale(experts);
}

void caucus_convex_clamps(uint32_t experts, double *ret_alpha, double *ret_beta) {
    const double s = CAUCUS_CONVEX_MIXING;
    double alpha = (1.0 - s) / s * fmin((double)experts, QUANTILE) / caucus_convex_scale(experts);
    *ret_alpha = alpha;
    *ret_beta = alpha / 2.0;
}

void caucus_adversary_smoothness(const caucus_adversary *adversary, double *ret_alpha, double *ret_beta) {
    caucus_convex_clamps(adversary->experts, ret_alpha, ret_beta);
}

/* (1-s)x + s/d */
static double predicted(double x, uint32_t experts) {
    const double s = CAUCUS_CONVEX_MIXING;
    return (1.0 - s) * x + s / (double)experts;
}

static void check(const caucus_adversary_trial *trial, uint32_t client, uint64_t round) {
    const caucus_adversary *adversary = trial->adversary;
    assert(adversary->convex);
    assert(client >= 1 && client <= adversary->clients && round < adversary->rounds);
    (void)adversary, (void)client, (void)round;
}

double caucus_adversary_value(const caucus_adversary_trial *trial, uint32_t client, uint64_t round, const double *x) {
    check(trial, client, round);
    const uint32_t d = trial->adversary->experts;
    float score[CAUCUS_FAST_RUN];
    double total = 0, cost = 0;
    for (uint32_t first = 0; first < d; first += CAUCUS_FAST_RUN) {
        uint32_t count = d - first < CAUCUS_FAST_RUN ? d - first : CAUCUS_FAST_RUN;
        caucus_adversary_scores(trial, client, round, first, count, score);
        total += caucus_fast_sum(score, count);
        for (uint32_t k = 0; k < count; k++)
            cost -= (double)score[k] * log(predicted(x[first + k], d));
    }
    return cost / (total * caucus_convex_scale(d));
}

void caucus_adversary_gradient(const caucus_adversary_trial *trial, uint32_t client, uint64_t round, const double *x,
                               double *ret) {
    check(trial, client, round);
    const uint32_t d = trial->adversary->experts;
    float score[CAUCUS_FAST_RUN];
    double total = 0;
    for (uint32_t first = 0; first < d; first += CAUCUS_FAST_RUN) {
        uint32_t count = d - first < CAUCUS_FAST_RUN ? d - first : CAUCUS_FAST_RUN;
        caucus_adversary_scores(trial, client, round, first, count, score);
        total += caucus_fast_sum(score, count);
        for (uint32_t k = 0; k < count; k++)
            ret[first + k] = (double)score[k] / predicted(x[first + k], d);
    }
    const double factor = -(1.0 - CAUCUS_CONVEX_MIXING) / (total * caucus_convex_scale(d));
    for (uint32_t n = 0; n < d; n++)
        ret[n] *= factor;
}
