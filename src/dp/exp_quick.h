/* SPDX-License-Identifier: Apache-2.0 */
/* exp_quick.h: e^(-rate*gap) to about 52 binary places, for draws whose time hides nothing.
 * layer: dp
 *
 * As exp_wide.h in 64 bits, with a table that is indexed. x in units of 2^-57 (held at 2^64 - 1, that is 128),
 * q = floor(x/ln 2) or one less, f = x - q*ln 2 < 0.7 = i/64 + h, h < 2^-6:
 *   e^-x = 2^-q * e^(-i/64) * (1 - h + h^2/2 - ... - h^7/7! + (below h^8/8! < 2^-63)).
 * Error. x is short by less than 3 units (the multiplier, cut to 64 bits, by 2^-63*x < 2; the shift), q*ln 2 by at most
 * 185: f is off by less than 188 units, below 2^-49. The series: eight steps, each off by less than 3*2^-63. So a
 * weight is off by less than 2^-48.9, and in units of 2^-63, as it is returned, by less than 2^14.1 + 1 <
 * CAUCUS_EXP_QUICK_ERROR. */
#ifndef CAUCUS_DP_EXP_QUICK_H
#define CAUCUS_DP_EXP_QUICK_H

#include "dp/wide.h"

#define CAUCUS_EXP_QUICK_ERROR 32768u /* in units of 2^-63, either way */
#define CAUCUS_EXP_QUICK_ROWS 45

extern const uint64_t caucus_exp_quick_table[CAUCUS_EXP_QUICK_ROWS]; /* e^(-i/64) * 2^64, rounded down; 1 as 2^64 - 1 */

static inline uint64_t caucus_exp_quick(uint64_t gap, const caucus_ratio *rate) {
    int right = 7 - rate->exponent;
    caucus_u128 product = (caucus_u128)gap * (uint64_t)(rate->multiplier >> 64) >> (right > 0 ? right : 0);
    if (product >> 64 != 0)
        return 0;
    uint64_t x = (uint64_t)product;
    uint64_t q = (uint64_t)((caucus_u128)x * 0x5c551d94ae0bf85du >> 64) >> 55; /* 1/ln 2 in units of 2^-62 */
    uint64_t f = x - q * 0x0162e42fefa39ef3u;                                  /* ln 2 in units of 2^-57 */
    uint64_t eta = f << 13;                                                    /* h in units of 2^-70 */
    uint64_t sum = 0x0006806806806806u;                                        /* 1/7! in units of 2^-63 */
    static const uint64_t term[7] = {0x8000000000000000u, 0x8000000000000000u, 0x4000000000000000u, 0x1555555555555555u,
                                     0x0555555555555555u, 0x0111111111111111u, 0x002d82d82d82d82du}; /* 1/k! */
    for (unsigned k = 7; k-- > 0;)
        sum = term[k] - ((uint64_t)((caucus_u128)eta * sum >> 64) >> 6);
    return (uint64_t)((caucus_u128)sum * caucus_exp_quick_table[f >> 51] >> 64) >> (q < 63 ? q : 63);
}

#endif
