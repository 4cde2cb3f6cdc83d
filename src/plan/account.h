/* SPDX-License-Identifier: Apache-2.0 */
/* account.h: pieces of the accountant. It reads a plan's integers and nothing that a calibrator computed.
 * layer: plan */
#ifndef DP_ACCOUNT_H
#define DP_ACCOUNT_H

#include "plan/plan.h"

#include <math.h>

/* Every operation of the accountant is followed by up(): a correctly rounded result is at most half a unit in the
 * last place below the true one, so the next number above it is not below the truth. Amounts are never negative. */
static inline long double account_up(long double x) {
    return x > 0 ? nextafterl(x, (long double)INFINITY) : 0;
}

/* count * sensitivity * rate, rounded up. */
static inline long double account_cost(uint64_t count, int64_t sensitivity, caucus_rational rate) {
    long double x = account_up(account_up((long double)count) * account_up((long double)sensitivity));
    return account_up(account_up(x * account_up((long double)rate.num)) / (long double)rate.den);
}

/* The smallest double not below x. */
static inline double account_double(long double x) {
    double y = (double)x;
    return (long double)y >= x ? y : nextafter(y, INFINITY);
}

/* A rate or variance as samplers take it: lowest terms not required, den in 1..2^56, num at least 1. */
static inline bool account_usable(caucus_rational r) {
    return r.num >= 1 && r.den >= 1 && r.den <= CAUCUS_DEN_MAX;
}

/* What one record loses: purely, and as zCDP (rho), if the plan has a delta. */
typedef struct account_loss {
    long double pure; /* INFINITY if there is none */
    long double rho;
    long double pure_part; /* of a mixed accounting: composed purely with rho */
} account_loss;

/* The epsilon of a loss: pure if that is within what was asked, or if there is no delta, or if it is smaller. */
double caucus_account_epsilon(const caucus_settings *s, const account_loss *loss, caucus_guarantee *guarantee);

caucus_status caucus_account_stoch(const caucus_plan *plan, caucus_guarantee *ret,
                                   caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
