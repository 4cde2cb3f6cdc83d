/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_client.c: few evaluations with unit client: how many clients have evaluated an expert, and the bound.
 *
 * A decision is made from the means of all rounds so far. In n rounds expert y is evaluated at least N times, N the
 * sum of floor(len m k/d) over their phases; a client evaluates it at most once in a round, so at least N/n clients
 * do. That holds for all permutations, and is far too little for nearly all of them. If they are drawn at random, a
 * client evaluates y in round t with a probability q_t, independently over rounds, mu = sum_t q_t >= N/m; and over
 * clients the numbers of evaluations n_i are negatively associated (a permutation in each round, independent rounds,
 * sums), so that the bounds of Chernoff in the form of Hoeffding, e^(-m KL), hold for sums of monotone functions of
 * them with values in 0..1:
 *     clients with n_i >= 1:         each with probability 1 - prod_t (1 - q_t) >= 1 - e^-mu;
 *     S = sum of 1/n_i over those:   1/n <= min(1, 2/(n + 1)), whose mean is at most 2(1 - e^-mu)/mu
 *                                    (E 1/(n + 1) = integral over 0..1 of E z^n <= integral of e^(-mu(1 - z))).
 * All experts, decisions and both tails together leave these bounds with a probability of 2^-20 at most, which costs
 * R 2^-20 a round. The mean of c clients' means has the variance proxy R^2/4 S/c^2, at most R^2/4 1/c.
 * docs/PRIVACY.md, "Few evaluations". */
#include "plan/stoch/evaluate.h"

#include "num/int128.h"
#include "plan/stoch.h"

#include <math.h>

#define OUTSIDE 0x1p-20 /* probability of permutations that the bound does not speak about */
#define DECISIONS 64.0  /* more than a run of unit client has */

/* N: evaluations of an expert in the first n rounds, at least. */
static uint64_t evaluations(const caucus_settings *s, uint64_t n) {
    uint64_t all = 0;
    for (uint64_t p = 1, left = n; left > 0; p++) {
        const uint64_t length = caucus_stoch_length(s, p), here = length < left ? length : left;
        all += (uint64_t)((caucus_u128)here * s->clients * caucus_evaluate_k(s) / s->experts);
        left -= here;
    }
    return all;
}

/* What the exponent m KL has to reach. */
static double exponent(const caucus_settings *s) {
    return log(2 * DECISIONS * s->experts / OUTSIDE);
}

/* KL(x, 1 - e^-mu) for x below 1 - e^-mu. */
static double below(double x, double mu) {
    const double in = x > 0 ? x * (log(x) - log1p(-exp(-mu))) : 0;
    return in + (x < 1 ? (1 - x) * (log1p(-x) + mu) : 0);
}

/* KL(x, a) for x above a. */
static double above(double x, double a) {
    return x * log(x / a) + (x < 1 ? (1 - x) * (log1p(-x) - log1p(-a)) : 0);
}

uint64_t caucus_evaluate_client_least(const caucus_settings *s, uint64_t n) {
    const uint64_t all = evaluations(s, n), m = s->clients, sure = (all + n - 1) / n;
    const double mu = (double)all / (double)m, enough = exponent(s);
    uint64_t few = 0, many = (uint64_t)((double)m * -expm1(-mu)); /* so few with a negligible probability, or not */
    if (many == 0 || (double)m * below(0, mu) < enough)
        return sure;
    while (many - few > 1) {
        const uint64_t middle = few + (many - few) / 2;
        if ((double)m * below((double)middle / (double)m, mu) >= enough)
            few = middle;
        else
            many = middle;
    }
    return few + 1 > sure ? few + 1 : sure;
}

/* S/m, at most. */
static double spread_of(const caucus_settings *s, uint64_t n) {
    const double m = s->clients, mu = (double)evaluations(s, n) / m, enough = exponent(s);
    const double mean = mu > 0 ? -2 * expm1(-mu) / mu : 1;
    if (mean >= 1 || m * above(1, mean) < enough)
        return 1;
    double low = mean, high = 1;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (m * above(middle, mean) >= enough)
            high = middle;
        else
            low = middle;
    }
    return high;
}

double caucus_evaluate_client_error(const caucus_plan *plan, const caucus_stoch_phase *phase, double factor) {
    const caucus_settings *s = &plan->settings;
    const double range = s->hi - s->lo, c = (double)caucus_evaluate_client_least(s, phase->samples);
    if (!(c > 0))
        return range; /* some experts are not even looked at */
    const double spread = fmin(1 / c, (double)s->clients * spread_of(s, phase->samples) / (c * c));
    const double selection =
        factor * (double)caucus_evaluate_factor(plan) / (caucus_rational_double(phase->select_budget) * c);
    return range * (sqrt(log((double)s->experts) * spread / 2) + selection + OUTSIDE);
}
