/* SPDX-License-Identifier: Apache-2.0 */
/* growth.h: how a threshold grows with the number of checks, where a run has no end.
 * layer: dp
 *
 * Check n fires although its cost is c_n below the threshold with probability at most e^(-c_n rate)/2. With
 *     c_n = (ln(C/(2 rho)) + ln(n+1) + 2 ln ln(n+1))/rate,   C = 2.1098 > sum over n >= 2 of 1/(n ln^2 n)
 * that is rho/(C (n+1) ln^2(n+1)), and all checks together stay below rho, however many there are. Privacy does not
 * depend on it: any public thresholds do (docs/PRIVACY.md, statement 17). */
#ifndef CAUCUS_DP_GROWTH_H
#define CAUCUS_DP_GROWTH_H

#include <caucus/rational.h>

#define CAUCUS_GROWTH_CONSTANT 2.1098
#define CAUCUS_GROWTH_MAX ((int64_t)1 << 61)

/** (ln(n+1) + 2 ln ln(n+1))/rate, the part of c_n that grows, in whole steps: rounded up, at least 0 (it would be just
 *  below at n = 1), at most CAUCUS_GROWTH_MAX. check: n, 1 to 2^63. rate above 0, den <= CAUCUS_DEN_MAX. */
int64_t caucus_growth(caucus_rational rate, uint64_t check);

#endif
