/* SPDX-License-Identifier: Apache-2.0 */
/* growth.c: how a threshold grows with the number of checks, in integers. See growth.h.
 *
 * caucus_log_wide_public(N) gives H with 0 < H - (-ln(N/2^128)) < 2^-112, in units of 2^-120. So for a whole number
 * N >= 2
 *     ln N    = 128 ln 2 - H(N)            to 2^-111, since ln 2 is rounded up by less than a unit;
 *     ln ln N = 8 ln 2 - H(v)              for v = ln N in units of 2^-120: ln(v/2^120) = ln(v/2^128) + 8 ln 2.
 * Both are far finer than the unit of 2^-40 in which their sum is rounded up. */
#include "dp/growth.h"

#include "dp/log_wide.h"

#define FRACTION 40 /* bits of the fixed-point sum; it is below 2^6 */

/* ln n + 2 ln ln n in units of 2^-40, rounded up; 0 where it is below 0. n >= 2. */
static uint64_t double_log(uint64_t n) {
    const caucus_u128 log = 128 * caucus_log_two_up - caucus_log_wide_public(n).high;
    const caucus_u128 twice = 2 * caucus_log_wide_public(log).high, sum = log + 16 * caucus_log_two_up;
    return sum <= twice ? 0 : (uint64_t)((sum - twice) >> (CAUCUS_LOG_WIDE_FRACTION - FRACTION)) + 1;
}

int64_t caucus_growth(caucus_rational rate, uint64_t check) {
    const caucus_u128 top = (caucus_u128)double_log(check + 1) * rate.den, under = (caucus_u128)rate.num << FRACTION;
    const caucus_u128 steps = top / under + (top % under != 0);
    return steps < (caucus_u128)CAUCUS_GROWTH_MAX ? (int64_t)steps : CAUCUS_GROWTH_MAX;
}
