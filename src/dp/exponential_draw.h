/* SPDX-License-Identifier: Apache-2.0 */
/* exponential_draw.h: exact inversion with lazy refinement, the fast way to draws that involve exp.
 * layer: dp
 *
 * For U uniform on [0,1), E = -ln U is exponential, floor(E/rate) is geometric, and E > a/b has
 * probability exp(-a/b). One word W fixes U to [W, W+1)/2^64, and E to an interval computed in integers, with a
 * proved bound on every truncation. If the whole interval gives the same answer, that is the answer;
 * otherwise (rarely) further digits of the same U (rng/words.h) are looked at and the question is settled exactly
 * (lazy_uniform.h). Either way the answer is a function of the real number U alone: the law is exact.
 *
 * Fixed point: E in units of 2^-58 (called ulp), so that 64*ln 2 < 64 fits a word.
 *   W = 2^(63-c) * (1 + ...), c leading zeros; m = W << c; x = m/2^64 in [1/2, 1).
 *   x = x_i * (1+z) with x_i = (512+i)/1024, i the nine bits of m after the first, and
 *   z = y/(512+i), y in [0,1) the 54 bits after those, as a fraction. So 0 <= z < 2^-9 and
 *   E(W) := -ln(W/2^64) = c*ln 2 - ln x_i - ln(1+z).
 *
 * Error of caucus_minus_log. Let u = 2^-64.
 *   Z = mulhi(y, reciprocal_i) for 512*z: the reciprocal is short by at most u (relative to 1), the product is
 *     truncated: 512*z - 2u < Z <= 512*z. Let w = Z/512 (a real number), w <= z.
 *   q(w) = w - w^2/2 + w^3/3 - w^4/4 + w^5/5 by Horner, 0 <= q(w) - ln(1+w) <= w^6/6 < 2^-54/6 = 2.67 ulp:
 *     s4 = mulhi(Z, floor(2^64/5)) >> 9      = w/5           + (-1.01u, 0]
 *     t4 = 1/4 - s4                          = 1/4 - w/5     + [0, 1.01u)
 *     s3 = mulhi(Z, t4) >> 9                 = w*(1/4-w/5)   + (-1.01u, .01u)
 *     t3 = floor(2^64/3) - s3                                + (-1.01u, 1.01u)
 *     s2 = mulhi(Z, t3) >> 9                                 + (-1.01u, .01u)
 *     t2 = 1/2 - s2                                          + (-.01u, 1.01u)
 *     s1 = mulhi(Z, mulhi(Z, t2)) >> 9                       + (-1.01u, .01u)
 *                                              (the inner one is off by < 2.01u, times 2^-9)
 *     L  = Z - s1                            = 512*q(w)      + (-.01u, 1.01u)
 *     since a factor w < 2^-9 shrinks an earlier error to below .005u, a shift by 9 adds (-1u, 0] and the mulhi before
 *     it (-.002u, 0].
 *   l = L >> 15, in ulp (2^-73 to 2^-58): truncation (-1, 0]; the errors above are divided by 2^15.
 *   Passing from w to z: ln(1+z) - ln(1+w) <= z - w < 2u/512, nothing in ulp.
 *   So l - ln(1+z) lies in (-1.001, 2.671) ulp.
 *   The table has ceil(c*ln 2) + 3 and ceil(-ln x_i), each rounding in [0, 1).
 *   Together: H := octave_c + minus_log_i - l satisfies  0 < H - E(W) < 3 + 2 + 1.001 < 6.01 ulp.
 *   The rest of U: E(W) - 1/W < E <= E(W), and 1/W <= 2^(c-63) = 2^(c-5) ulp <= (2^c >> 5) + 1 ulp.
 *   So  H - d < E < H  with  d = 8 + (2^c >> 5) ulp. */
#ifndef CAUCUS_DP_EXPONENTIAL_DRAW_H
#define CAUCUS_DP_EXPONENTIAL_DRAW_H

#include "dp/lazy_uniform.h"
#include "rng/words.h"

#include <caucus/samplers.h>

#define CAUCUS_LOG_BITS 9
#define CAUCUS_LOG_ROWS (1 << CAUCUS_LOG_BITS)
#define CAUCUS_LOG_FRACTION 58 /* E is counted in 2^-58 */
/* Words below this leave so few bits that the slow way is taken at once. */
#define CAUCUS_WORD_TINY ((uint64_t)1 << 32)

typedef struct caucus_log_row {
    uint64_t reciprocal, minus_log;
} caucus_log_row;
extern const caucus_log_row caucus_log_table[CAUCUS_LOG_ROWS];
extern const uint64_t caucus_log_octave[64];

static inline uint64_t caucus_mulhi(uint64_t a, uint64_t b) {
    return (uint64_t)((caucus_u128)a * b >> 64);
}

/** H of the proof above, for word >= 1. *ret_slack = d: H - d < E < H. */
static inline uint64_t caucus_minus_log(uint64_t word, uint64_t *ret_slack) {
    unsigned c = (unsigned)__builtin_clzll(word);
    uint64_t m = word << c;
    const caucus_log_row *row = &caucus_log_table[m >> (63 - CAUCUS_LOG_BITS) & (CAUCUS_LOG_ROWS - 1)];
    uint64_t z = caucus_mulhi(m << (1 + CAUCUS_LOG_BITS), row->reciprocal);
    uint64_t t4 = ((uint64_t)1 << 62) - (caucus_mulhi(z, UINT64_MAX / 5) >> CAUCUS_LOG_BITS);
    uint64_t t3 = UINT64_MAX / 3 - (caucus_mulhi(z, t4) >> CAUCUS_LOG_BITS);
    uint64_t t2 = ((uint64_t)1 << 63) - (caucus_mulhi(z, t3) >> CAUCUS_LOG_BITS);
    uint64_t l = z - (caucus_mulhi(z, caucus_mulhi(z, t2)) >> CAUCUS_LOG_BITS);
    *ret_slack = 8 + (((uint64_t)1 << c) >> 5);
    return caucus_log_octave[c] + row->minus_log - (l >> (64 + CAUCUS_LOG_BITS - CAUCUS_LOG_FRACTION));
}

/* 1/rate prepared for many draws: multiplier/2^k, 2^63 <= multiplier < 2^64, above den/num by at most one
 * unit of the multiplier; shift = k - 6 so that (E in ulp)*multiplier >> 64 >> shift counts whole steps of rate. */
typedef struct caucus_inversion {
    caucus_rational rate;
    uint64_t multiplier;
    unsigned shift; /* 1 .. 63 */
    uint64_t mask;  /* 2^shift - 1 */
    bool scalar;    /* rate above 44 or below 2^-56: not worth it, use the scalar sampler */
} caucus_inversion;

caucus_inversion caucus_inversion_prepare(caucus_rational rate);

/** The exact floor(-ln(U)/rate) for a U that begins with `word`, the last one read. Looks at
 *  further digits of it (rng/words.h). */
int64_t caucus_inversion_slow(const caucus_stream *stream, const caucus_inversion *inv, uint64_t word);

/** One geometric. With P = E * multiplier (E in ulp) and h = mulhi(H, multiplier):
 *  E*2^(k+58)*den/num <= P < 2^64*(h+1), and it is above 2^64*(h - 1 - d) because E > H - d and the multiplier is too
 *  large by at most 1. So if the low `shift` bits of h are at least d + 1, all of the interval has the floor
 *  h >> shift. */
static inline int64_t caucus_inversion_draw(caucus_stream *stream, const caucus_inversion *inv) {
    uint64_t word = caucus_word(stream);
    if (__builtin_expect(word >= CAUCUS_WORD_TINY, 1)) {
        uint64_t slack, high = caucus_minus_log(word, &slack);
        uint64_t h = caucus_mulhi(high, inv->multiplier);
        if (__builtin_expect((h & inv->mask) > slack, 1)) {
            return (int64_t)(h >> inv->shift);
        }
    }
    return caucus_inversion_slow(stream, inv, word);
}

/* A denominator prepared for many comparisons of E with a/b: inverse = floor(2^(63+bits)/b), at most 2^64 - 1,
 * where 2^(bits-1) <= b < 2^bits. */
typedef struct caucus_divisor {
    caucus_u128 b;
    uint64_t inverse;
    unsigned bits;
} caucus_divisor;

/** b from 1 to 2^119 - 1. */
caucus_divisor caucus_divisor_prepare(caucus_u128 b);

/** True with probability exp(-a/b): caucus_bernoulli_exp_wide by inversion, one word nearly always. */
bool caucus_exp_coin(caucus_stream *stream, caucus_u128 a, const caucus_divisor *divisor);

#endif
