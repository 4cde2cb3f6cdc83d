/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_rate.c: rounding a rate to the pair of integers that a sampler takes.
 *
 * A rate is rounded down, which means more noise. Doubles carry 53 bits, so a value computed in a few operations
 * may be too large by a few parts in 2^53; CALIBRATE_SLACK takes that off first. docs/PRIVACY.md,
 * "Budgets are rationals". */
#include "plan/calibrate.h"

#include <math.h>

/* Noise of rate r is above x with probability e^(-r*x). Sums leave 2^61 for noise: at r >= 1000*ln 2/2^61 it exceeds
 * that with probability below 2^-1000, which is never. 1000*ln 2 is 693.2, below 2^10: this is enough with room. */
#define RATE_MIN 0x1p-51

caucus_status caucus_calibrate_rate(double value, double epsilon, caucus_rational *ret, caucus_error *ret_error) {
    value *= 1 - CALIBRATE_SLACK;
    /* What is suggested must itself be feasible: printing two digits may round it down by up to 5 %, hence the 1.06. */
    if (!(value >= RATE_MIN)) /* also refuses NaN */
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "epsilon",
                           "%g needs noise so large that 62 bits cannot hold it (rate %.3g per grid step) — feasible: "
                           "from about %.2g",
                           epsilon, value, epsilon * RATE_MIN / value * 1.06);
    int exponent;
    (void)frexp(value, &exponent); /* value < 2^exponent */
    unsigned bits = exponent <= 6 ? 56 : exponent < 62 ? (unsigned)(62 - exponent) : 0;
    caucus_status status = caucus_rational_floor(value, bits, ret);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "epsilon", "%g gives the rate %.3g, above 2^62", epsilon,
                           value);
    return CAUCUS_OK;
}
