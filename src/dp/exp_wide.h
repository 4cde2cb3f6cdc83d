/* SPDX-License-Identifier: Apache-2.0 */
/* exp_wide.h: e^(-rate*gap) to 96 binary places, by the same instructions whatever the gap is.
 * layer: dp
 *
 * Neither branches nor loops nor addresses depend on the gap: tables are read whole, with masks.
 *   x = rate*gap as X in grains of 2^-120; from x = 128 on it is held at 2^127 - 1, which gives 0 places anyway.
 *   q = floor(x/ln 2) or one less, f = x - q*ln 2 in [0, 0.7);  f = a/16 + b/256 + h, h < 2^-8:
 *   e^-x = 2^-q * e^(-a/16) * e^(-b/256) * e^-h,   e^-h = 1 - h + h^2/2 - ... - h^11/11! + (below h^12/12! < 2^-124).
 *
 * Error. Rates: multiplier within 1 of 2^127 or more, so X is short of x by less than 2^-127*x + 1 < 2 grains.
 *   q*ln 2 is short by at most 185 grains (ln 2 rounded down), so f is in excess by at most 185 and short by at most 2.
 *   q: X>>64 and 1/ln 2 are rounded down: x/ln 2 is short by less than 2^-56*1.5 + 2^-62*128 + 2^-54 < 2^-53 (the last
 *     from the shift of the product), so f < ln 2 + 2^-53 < 0.7 and a <= 11.
 *   e^-h, in units of 2^-127: terms of k >= 7 in 64 bits, each step off by less than 3 * 2^-63; times h^7 < 2^-56:
 *     below 2^-117. Terms of k < 7 in 128 bits: each step off by less than 5 units, times h^k; all below 2^-123. The
 *     series is cut by 2^-124. Together below 2^-116.9.
 *   Two products with table entries: below 5 units of 2^-127 each.
 *   Together: relative error below 185*2^-120 + 2*2^-120 + 2^-116.8 < 2^-112, either way.
 *   Shifting to 2^-96 drops less than 1. So  e^(-rate*gap) * 2^96 lies in (W - 1, W + 2)  where W is what is returned.
 *   (Held at 2^127 - 1: W = 0 and the truth is between 0 and e^-128 * 2^96 < 1.) */
#ifndef CAUCUS_DP_EXP_WIDE_H
#define CAUCUS_DP_EXP_WIDE_H

#include "dp/wide.h"

#define CAUCUS_EXP_WIDE_FRACTION 96
#define CAUCUS_EXP_COARSE 12
#define CAUCUS_EXP_FINE 16
#define CAUCUS_EXP_TERMS 12
#define CAUCUS_EXP_NARROW 7 /* from this power on 64 bits are enough */

extern const caucus_u128 caucus_exp_coarse[CAUCUS_EXP_COARSE], caucus_exp_fine[CAUCUS_EXP_FINE];
extern const caucus_u128 caucus_exp_series[CAUCUS_EXP_TERMS], caucus_log_two_down;
extern const uint64_t caucus_log_two_inverse;

/** table[index] of a table of n, reading all of it. */
static inline caucus_u128 caucus_read_all(const caucus_u128 *table, unsigned n, uint64_t index) {
    caucus_u128 value = 0;
    for (unsigned i = 0; i < n; i++)
        value |= table[i] & caucus_mask_wide(i == index);
    return value;
}

/** rate*gap in grains of 2^-120, held at 2^127 - 1. The exponent of the rate is public, the gap is not. */
static inline caucus_u128 caucus_exp_argument(uint64_t gap, const caucus_ratio *rate) {
    caucus_u128 lower = (caucus_u128)gap * (uint64_t)rate->multiplier;
    caucus_u128 upper = (caucus_u128)gap * (uint64_t)(rate->multiplier >> 64) + (lower >> 64); /* in 2^64 */
    int right = 8 - rate->exponent; /* -56 .. 71; from 2^8 on every gap but 0 is beyond the end, as it is at 0 */
    if (right < 0)
        right = 0;
    caucus_u128 over, x;
    if (right >= 64) {
        x = upper >> (right - 64);
        over = x >> 127;
    } else {
        x = upper << (64 - right) | (uint64_t)lower >> right;
        over = upper >> (63 + right);
    }
    return (x | caucus_mask_wide(over != 0)) & ~((caucus_u128)1 << 127);
}

/** e^-h * 2^127 for h = eta/2^136. */
static inline caucus_u128 caucus_exp_tail(caucus_u128 eta) {
    uint64_t eta_high = (uint64_t)(eta >> 64);
    uint64_t narrow = (uint64_t)(caucus_exp_series[CAUCUS_EXP_TERMS - 1] >> 64);
    for (unsigned k = CAUCUS_EXP_TERMS - 1; k-- > CAUCUS_EXP_NARROW;)
        narrow = (uint64_t)(caucus_exp_series[k] >> 64) - ((uint64_t)((caucus_u128)eta_high * narrow >> 64) >> 8);
    caucus_u128 sum = (caucus_u128)narrow << 64;
    for (unsigned k = CAUCUS_EXP_NARROW; k-- > 0;)
        sum = caucus_exp_series[k] - (caucus_mulhi_wide(eta, sum) >> 8);
    return sum;
}

static inline caucus_u128 caucus_exp_wide(uint64_t gap, const caucus_ratio *rate) {
    caucus_u128 x = caucus_exp_argument(gap, rate);
    /* (X >> 64) is in 2^-56, the inverse in 2^-62: the product's upper word in 2^-54. */
    uint64_t q = (uint64_t)((x >> 64) * caucus_log_two_inverse >> 64) >> 54;
    caucus_u128 f = x - q * caucus_log_two_down;
    caucus_u128 tail = caucus_exp_tail(f << 16); /* the 112 bits of h stay, those of a and b are shifted out */
    caucus_u128 coarse = caucus_read_all(caucus_exp_coarse, CAUCUS_EXP_COARSE, (uint64_t)(f >> 116));
    caucus_u128 fine = caucus_read_all(caucus_exp_fine, CAUCUS_EXP_FINE, (uint64_t)(f >> 112) & 15);
    caucus_u128 value = caucus_mulhi_wide(caucus_mulhi_wide(tail, coarse), fine);
    return caucus_shift_right(value, (unsigned)q + 127 - CAUCUS_EXP_WIDE_FRACTION);
}

#endif
