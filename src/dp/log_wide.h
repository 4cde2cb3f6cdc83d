/* SPDX-License-Identifier: Apache-2.0 */
/* log_wide.h: -ln U from 128 random bits, by the same instructions and addresses whatever the bits are.
 * layer: dp
 *
 * The bits are an integer N, and U lies in [N, N+1)/2^128. Unit of the result: g = 2^-120 ("grain"), since
 * 128*ln 2 < 128 = 2^127 g.
 *   c leading zeros of N, m = N << c, x = m/2^128 in [1/2, 1); i the seven bits of m after the first.
 *   First factor:  r = floor(2^23/(129+i)); since x < (129+i)/256, y := x*r/2^15 < 1, and y >= (128+i)/256 * r/2^15
 *                  > 1 - 1/(129+i) - 2^-15 > 1 - 2^-7.   z1 = 1 - y in (0, 2^-7).
 *   Second factor: j the first seven bits of z1*2^7, t = j/2^14 <= z1.   z = 1 - y*(1+t) = z1 - t + z1*t in [0, 2^-13).
 *   E(N) := -ln(N/2^128) = c*ln 2 + ln(r/2^15) + ln(1+t) - ln(1-z).
 *   -ln(1-z) = z + z^2*(1/2 + z*(1/3 + z*(1/4 + ... + z*(1/8)))) + (below z^9/9*(1+2^-12) < 2^-120 = 1 g).
 *
 * Error, every step being short (never above):
 *   Z1 = floor(z1 * 2^135)                   short by < 1 unit of 2^-135
 *   Z  = z * 2^141                           short by < 2^6 (from Z1) + 2*2^7 (Z1*j cut by 2^8) < 2^9, so z by < 2^-132
 *   a7 .. a4 in 64 bits                      each short by < 2.01 * 2^-64 (constant, shift, and 2^-13 of what is
 *   inside)
 *   b3 = 1/3 + z*a4                          short by < 2^-13 * 2.01 * 2^-64 + 2^-126 < 2^-75.9
 *   b2 = 1/2 + z*b3                          short by < 2^-88.9 + 2^-126
 *   z^2*b2 in units of 2^-141                short by < 2^-26 * 2^-88.8 + 2^-139 < 2^-114.7 < 41 g
 *   L = (Z + z^2*b2) >> 21                   short by < 1 g more
 *   so L is short of -ln(1-z) by less than 41 + 1 + 1 + 1 = 44 g.
 *   The tables are rounded up: 0 <= excess < 1 + 1 + 127 (c times the excess of ln 2) = 129 g.
 *   H := tables + L + 44 g:  0 < H - E(N) < 44 + 129 = 173 g < 256 g = 2^-112.
 *   The rest of U: E(N) - 1/N < E <= E(N), and 1/N <= 2^(c-127) = 2^(c-7) g <= (2^c >> 7) + 1 g.
 *   So  H - slack < E < H  with  slack = 257 + (2^c >> 7) g.   For N = 0, E is above H - slack of N = 1, and H is all
 *   ones. */
#ifndef CAUCUS_DP_LOG_WIDE_H
#define CAUCUS_DP_LOG_WIDE_H

#include "dp/wide.h"

#include <string.h>

#define CAUCUS_LOG_WIDE_ROWS 128
#define CAUCUS_LOG_WIDE_FRACTION 120

extern const uint16_t caucus_log_factors[CAUCUS_LOG_WIDE_ROWS];    /* r */
extern const caucus_u128 caucus_log_firsts[CAUCUS_LOG_WIDE_ROWS];  /* ln(r/2^15) */
extern const caucus_u128 caucus_log_seconds[CAUCUS_LOG_WIDE_ROWS]; /* ln(1+t) */
extern const caucus_u128 caucus_log_two_up;

/* -ln U lies in (low, high), in grains. */
typedef struct caucus_log_bounds {
    caucus_u128 low, high;
} caucus_log_bounds;

/** z*a in units of 2^-64, for z = zeta/2^77. */
static inline uint64_t caucus_log_times(uint64_t zeta, uint64_t a) {
    return (uint64_t)((caucus_u128)zeta * a >> 64) >> 13;
}

/** -ln(1-z) in grains for z = Z/2^141, short by less than 44. */
static inline caucus_u128 caucus_log_series(caucus_u128 Z) {
    uint64_t zeta = (uint64_t)(Z >> 64);
    uint64_t a7 = UINT64_MAX / 7 + caucus_log_times(zeta, (uint64_t)1 << 61);
    uint64_t a6 = UINT64_MAX / 6 + caucus_log_times(zeta, a7);
    uint64_t a5 = UINT64_MAX / 5 + caucus_log_times(zeta, a6);
    uint64_t a4 = ((uint64_t)1 << 62) + caucus_log_times(zeta, a5);
    caucus_u128 b3 = ~(caucus_u128)0 / 3 + (caucus_mulhi_wide(Z, (caucus_u128)a4 << 64) >> 13);
    caucus_u128 b2 = ((caucus_u128)1 << 127) + (caucus_mulhi_wide(Z, b3) >> 13);
    caucus_u128 square = caucus_mulhi_wide(Z, caucus_mulhi_wide(Z, b2)) >> 13;
    return (Z + square) >> 21;
}

/* Vectors of the compiler, so that reading a whole table is cheap: a row of it, or eight of the factors. */
typedef uint32_t caucus_log_words __attribute__((vector_size(16)));
typedef uint16_t caucus_log_lanes __attribute__((vector_size(16)));

/** The row of a table, all of whose rows are read: which one was wanted shows in no address. (Addresses show even to
 *  whoever only takes the time of very many draws: docs/PRIVACY.md, "Side channels".) */
static inline __attribute__((always_inline)) caucus_u128 caucus_log_row_of(const caucus_u128 *table, uint64_t index) {
    uint32_t i = (uint32_t)index;
    caucus_log_words wanted = {i, i, i, i}, even = {0, 0, 0, 0}, odd = {1, 1, 1, 1}, found = {0}, row[2];
    for (unsigned k = 0; k < CAUCUS_LOG_WIDE_ROWS; k += 2) {
        memcpy(row, &table[k], sizeof row);
        found |= (row[0] & (caucus_log_words)(even == wanted)) | (row[1] & (caucus_log_words)(odd == wanted));
        even += 2;
        odd += 2;
    }
    caucus_u128 value;
    memcpy(&value, &found, sizeof value);
    return value;
}

/** The same for a factor. */
static inline __attribute__((always_inline)) uint64_t caucus_log_factor_of(uint64_t index) {
    uint16_t i = (uint16_t)index;
    caucus_log_lanes wanted = {i, i, i, i, i, i, i, i}, number = {0, 1, 2, 3, 4, 5, 6, 7}, found = {0}, factors;
    for (unsigned k = 0; k < CAUCUS_LOG_WIDE_ROWS; k += 8) {
        memcpy(&factors, &caucus_log_factors[k], sizeof factors);
        found |= factors & (caucus_log_lanes)(number == wanted);
        number += 8;
    }
    uint64_t half[2];
    memcpy(half, &found, sizeof half);
    uint64_t word = half[0] | half[1];
    word |= word >> 32;
    return (word | word >> 16) & UINT16_MAX;
}

/** Bounds of -ln U. `secret`, known when compiled, says that n must not show: the tables are then read whole. */
static inline __attribute__((always_inline)) caucus_log_bounds caucus_log_wide_of(caucus_u128 n, bool secret) {
    unsigned c = caucus_clz_wide(n);
    caucus_u128 m = caucus_shift_left(n | (caucus_u128)(n == 0), c);
    uint64_t i = (uint64_t)(m >> 120) & (CAUCUS_LOG_WIDE_ROWS - 1);
    uint64_t factor = secret ? caucus_log_factor_of(i) : caucus_log_factors[i];
    /* 2^143 - m*r has at most 136 bits: all but its last 8. */
    caucus_u128 lower = (caucus_u128)(uint64_t)m * factor;
    caucus_u128 upper = (m >> 64) * factor + (lower >> 64); /* in 2^64 */
    uint64_t last = 0 - (uint64_t)lower;
    caucus_u128 rest = ((caucus_u128)1 << 79) - upper - (last != 0);
    caucus_u128 Z1 = rest << 56 | last >> 8;
    uint64_t j = (uint64_t)(Z1 >> 121);
    caucus_u128 Z = ((Z1 - ((caucus_u128)j << 121)) << 6) + (Z1 >> 8) * j;
    caucus_u128 first = secret ? caucus_log_row_of(caucus_log_firsts, i) : caucus_log_firsts[i];
    caucus_u128 second = secret ? caucus_log_row_of(caucus_log_seconds, j) : caucus_log_seconds[j];
    caucus_u128 high = c * caucus_log_two_up + first + second + caucus_log_series(Z) + 44;
    caucus_u128 slack = 257 + (caucus_shift_left(1, c) >> 7);
    caucus_log_bounds bounds = {high - slack, high | caucus_mask_wide(n == 0)};
    bounds.low &= ~caucus_mask_wide(high < slack); /* E > 0 */
    return bounds;
}

/** For random bits that become noise. */
static inline caucus_log_bounds caucus_log_wide(caucus_u128 n) {
    return caucus_log_wide_of(n, true);
}

/** For numbers that everybody may know, and for seeded streams: the same bounds, in less time. */
static inline caucus_log_bounds caucus_log_wide_public(caucus_u128 n) {
    return caucus_log_wide_of(n, false);
}

#endif
