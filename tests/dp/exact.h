/* SPDX-License-Identifier: Apache-2.0 */
/* exact.h: helpers of the exact privacy tests (test_exact_*.c).
 *
 * These tests do not sample: they compute the probability of every transcript of a mechanism, for every
 * pair of neighbouring inputs on a tiny grid, and look at the largest |ln(P/P')|. Noise laws are closed
 * forms of the very rationals a plan holds; the only truncated sum is the one over the threshold's noise,
 * whose relative tail is below 1e-20 (see exact_checks). The chi-square at the end ties a computed law to
 * the code that draws from it. */
#ifndef CAUCUS_TESTS_EXACT_H
#define CAUCUS_TESTS_EXACT_H

#include "stat/chi_square.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <caucus/plan.h>
#include <caucus/select.h>
#include <caucus/threshold.h>

#include "dp/laws.h"

/* What rounding in long double may add to a computed epsilon. */
#define EXACT_SLACK 1e-9L
/* False-alarm rate of every statistical assertion here (seeds are fixed, so a pass stays a pass). */
#define EXACT_P_VALUE 1e-6

static inline long double exact_rate(caucus_rational r) {
    return (long double)r.num / (long double)r.den;
}

/* P(noise = y). */
static inline long double exact_pmf(const caucus_noise *noise, int64_t y) {
    long double r = exact_rate(noise->parameter);
    switch (noise->kind) {
    case CAUCUS_NOISE_GEOMETRIC:
        return y < 0 ? 0 : -expm1l(-r) * expl(-r * (long double)y);
    case CAUCUS_NOISE_LAPLACE:
        return tanhl(r / 2) * expl(-r * fabsl((long double)y));
    default:
        return y == 0;
    }
}

/* P(noise > y). */
static inline long double exact_above(const caucus_noise *noise, int64_t y) {
    long double r = exact_rate(noise->parameter);
    switch (noise->kind) {
    case CAUCUS_NOISE_GEOMETRIC:
        return y < 0 ? 1 : expl(-r * (long double)(y + 1));
    case CAUCUS_NOISE_LAPLACE:
        return y < 0 ? 1 - expl(r * (long double)y) / (1 + expl(-r)) : expl(-r * (long double)(y + 1)) / (1 + expl(-r));
    default:
        return y < 0;
    }
}

/* P(noise <= y), without cancellation where it is small. */
static inline long double exact_not_above(const caucus_noise *noise, int64_t y) {
    long double r = exact_rate(noise->parameter);
    switch (noise->kind) {
    case CAUCUS_NOISE_GEOMETRIC:
        return y < 0 ? 0 : -expm1l(-r * (long double)(y + 1));
    case CAUCUS_NOISE_LAPLACE:
        return y < 0 ? expl(r * (long double)y) / (1 + expl(-r)) : 1 - expl(-r * (long double)(y + 1)) / (1 + expl(-r));
    default:
        return y >= 0;
    }
}

/* The probability that n checks against one noisy threshold, q[i] + fresh noise > threshold + noise, give exactly
 * the verdicts fired[i]. All factors are log-concave in the threshold's noise z with kinks at 0 and q[i] - threshold,
 * and beyond the outermost kinks the summand falls at least like e^(-rate*|z|): going 50/rate further leaves a
 * relative tail below 1e-20. */
static inline long double exact_checks(const caucus_noise *threshold_noise, const caucus_noise *check_noise,
                                       int64_t threshold, const int64_t *q, const bool *fired, size_t n) {
    int64_t from = 0, to = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t kink = q[i] - threshold;
        from = kink < from ? kink : from;
        to = kink > to ? kink : to;
    }
    if (threshold_noise->kind == CAUCUS_NOISE_NONE) {
        from = to = 0;
    } else {
        int64_t reach = (int64_t)ceill(50 / exact_rate(threshold_noise->parameter)) + 2;
        from = threshold_noise->kind == CAUCUS_NOISE_GEOMETRIC ? 0 : from - reach;
        to += reach;
    }
    long double sum = 0;
    for (int64_t z = from; z <= to; z++) {
        long double p = exact_pmf(threshold_noise, z);
        for (size_t i = 0; i < n && p > 0; i++) {
            int64_t need = threshold + z - q[i];
            p *= fired[i] ? exact_above(check_noise, need) : exact_not_above(check_noise, need);
        }
        sum += p;
    }
    return sum;
}

/* One epoch as it should be: nothing fires before the last check, which fires or not. */
static inline long double exact_epoch(const caucus_noise *threshold_noise, const caucus_noise *check_noise,
                                      int64_t threshold, const int64_t *q, size_t n, bool last) {
    bool fired[64] = {false};
    assert_true(n <= 64);
    if (n > 0) {
        fired[n - 1] = last;
    }
    return exact_checks(threshold_noise, check_noise, threshold, q, fired, n);
}

/* |ln(p/q)|: 0 if both are impossible, infinite if only one is. */
static inline long double exact_ratio(long double p, long double q) {
    if (p <= 0 || q <= 0) {
        return p <= 0 && q <= 0 ? 0 : (long double)INFINITY;
    }
    return fabsl(logl(p) - logl(q));
}

static inline void exact_raise(long double *max, long double value) {
    if (value > *max || isnan(value)) {
        *max = value;
    }
}

/* The law of P(argmin = n) under noisy-min with independent discrete Laplace noise and a uniform tie-break:
 * sum over the winner's noisy score v of f(v - s_n) * integral_0^1 prod_(j != n) (P(v_j > v) + P(v_j = v) u) du.
 * d <= 4. Truncated 50/rate beyond the outermost scores: relative tail below 1e-20 as above. */
static inline void exact_noisy_min_law(const int64_t *score, uint32_t d, caucus_rational rate, long double *ret) {
    caucus_noise noise = {CAUCUS_NOISE_LAPLACE, rate};
    int64_t lo = score[0], hi = score[0], reach = (int64_t)ceill(50 / exact_rate(rate)) + 2;
    for (uint32_t n = 1; n < d; n++) {
        lo = score[n] < lo ? score[n] : lo;
        hi = score[n] > hi ? score[n] : hi;
    }
    for (uint32_t n = 0; n < d; n++) {
        long double sum = 0;
        for (int64_t v = lo - reach; v <= hi + reach; v++) {
            long double poly[5] = {1, 0, 0, 0, 0}; /* coefficients of the product, a polynomial in u */
            for (uint32_t j = 0, degree = 0; j < d; j++) {
                if (j == n) {
                    continue;
                }
                long double above = exact_above(&noise, v - score[j]), equal = exact_pmf(&noise, v - score[j]);
                degree++;
                for (uint32_t k = degree; k > 0; k--) {
                    poly[k] = poly[k] * above + poly[k - 1] * equal;
                }
                poly[0] *= above;
            }
            long double integral = 0;
            for (uint32_t k = 0; k < d; k++) {
                integral += poly[k] / (long double)(k + 1);
            }
            sum += exact_pmf(&noise, v - score[n]) * integral;
        }
        ret[n] = sum;
    }
}

/* Law of a selection of either kind a plan can hold. */
static inline void exact_select_law(caucus_select select, const int64_t *score, uint32_t d, caucus_rational rate,
                                    long double *ret) {
    switch (select) {
    case CAUCUS_SELECT_FLIP:
        caucus_select_flip_law(score, d, rate, ret);
        break;
    case CAUCUS_SELECT_EXPONENTIAL:
        caucus_select_exponential_law(score, d, rate, ret);
        break;
    case CAUCUS_SELECT_NOISY_MIN:
        exact_noisy_min_law(score, d, rate, ret);
        break;
    default:
        fail_msg("select %d is not a mechanism", (int)select);
    }
}

/* p-value of observed counts against a law; cells with fewer than 5 expected are pooled. An observation where the law
 * says impossible gives 0. */
static inline double exact_chi2(const uint64_t *count, const long double *law, size_t cells, uint64_t n) {
    double statistic = 0, rest_expected = 0, rest_count = 0;
    int used = 0;
    for (size_t i = 0; i < cells; i++) {
        double expected = (double)(law[i] * (long double)n), seen = (double)count[i];
        if (law[i] <= 0 && count[i] > 0) {
            return 0;
        }
        if (expected < 5) {
            rest_expected += expected;
            rest_count += seen;
            continue;
        }
        statistic += (seen - expected) * (seen - expected) / expected;
        used++;
    }
    if (rest_expected >= 5) {
        statistic += (rest_count - rest_expected) * (rest_count - rest_expected) / rest_expected;
        used++;
    }
    return used > 1 ? chi_square_tail(statistic, used - 1) : 1;
}

/* A plan or a failed test that says why. */
static inline caucus_plan *exact_plan(const caucus_settings *settings) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    caucus_status status = caucus_plan_new(settings, &plan, &error);
    if (status != CAUCUS_OK) {
        fail_msg("no plan: %s: %s (%s)", error.field, error.text, caucus_status_text(status));
    }
    return plan;
}

/* Two experts on a grid of two steps: the smallest world in which everything can happen. */
static inline void exact_settings(caucus_settings *ret, caucus_algorithm algorithm, caucus_trust trust,
                                  double epsilon) {
    caucus_settings_init(ret);
    ret->algorithm = algorithm;
    ret->trust = trust;
    ret->epsilon = epsilon;
    ret->experts = 2;
    ret->clients = 1;
    ret->grid = 2;
}

/* Report and assert a measured epsilon: never above the claim, and not far below it either, or the test has no
 * power. */
static inline void exact_assert(const char *what, long double measured, long double claim, long double power) {
    printf("  %-58s measured %.6Lf of %.6Lf\n", what, measured, claim);
    if (!(measured <= claim + EXACT_SLACK)) {
        fail_msg("%s: %.9Lf exceeds the claimed %.9Lf", what, measured, claim);
    }
    if (!(measured >= power * claim)) {
        fail_msg("%s: only %.6Lf of %.6Lf reached: the test has lost its power", what, measured, claim);
    }
}

/* A broken mechanism must be seen to be broken, by a clear margin. */
static inline void exact_assert_broken(const char *what, long double measured, long double claim, long double factor) {
    printf("  %-58s measured %.6Lf for %.6Lf (broken, as it should be)\n", what, measured, claim);
    if (!(measured >= factor * claim)) {
        fail_msg("%s: %.6Lf does not exceed %.3Lf times the claimed %.6Lf: the control was not caught", what, measured,
                 factor, claim);
    }
}

#endif
