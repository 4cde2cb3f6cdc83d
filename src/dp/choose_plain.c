/* SPDX-License-Identifier: Apache-2.0 */
/* choose_plain.c: permute-and-flip and the exponential mechanism by comparisons of as many digits as they take.
 *
 * Permute-and-flip: n beats k if -ln U - rate*g_n > -ln V - rate*g_k, g the gaps to the smallest score, that is
 *     U < V * e^(-rate*(g_n - g_k))  if g_n >= g_k,      U * e^(-rate*(g_k - g_n)) < V  otherwise.
 * With m limbs known U is in [N, N+1)/2^(64m), the power in (e-1, e+2)/2^(64m) (lazy_uniform.h), and products are cut
 * to m limbs: V*power lies in [P, P + 5), units of 2^(-64m), P = floor(M * max(e-1, 0)), since
 *     (M+1)(e+2) - M(e-1) = 3M + e + 2 < 4*2^(64m) + 2, and one for the floor.
 * Equality has probability 0, and each further limb leaves the question open with probability below 2^-60.
 *
 * Exponential mechanism: weights to m limbs, their sums in m+1 (the number of experts is below 2^32). With L_n the sum
 * of the lower ends max(e-1, 0) up to n, W_n = w_0 + ... + w_n lies in [L_n, L_n + 3(n+1)], and U*W_(d-1) between
 * floor(N*L_(d-1)) and floor((N+1)*(L_(d-1) + 3d)) + 1. */
#include "dp/choose.h"

#include "dp/limbs.h"
#include "rng/words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LIMBS CAUCUS_LAZY_LIMBS
#define SUM_LIMBS (LIMBS + 1)

/* x += y*2^0 for a small y; limbs most significant first, x has m. Does not overflow where it is used. */
static void add_small(uint64_t *x, unsigned m, uint64_t y) {
    for (unsigned i = m; i-- > 0 && y != 0;)
        y = __builtin_add_overflow(x[i], y, &x[i]);
}

static void subtract_one(uint64_t *x, unsigned m) { /* not below 0 */
    uint64_t any = 0;
    for (unsigned i = 0; i < m; i++)
        any |= x[i];
    for (unsigned i = m; any != 0 && i-- > 0 && x[i]-- == 0;)
        continue;
}

static int compare(const uint64_t *x, const uint64_t *y, unsigned m) {
    for (unsigned i = 0; i < m; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Is x + y <= z? x, z of m limbs, y small. */
static bool at_most(const uint64_t *x, uint64_t y, const uint64_t *z, unsigned m) {
    uint64_t sum[SUM_LIMBS + 1];
    sum[0] = 0;
    memcpy(sum + 1, x, m * sizeof *x);
    add_small(sum, m + 1, y);
    return sum[0] == 0 && compare(sum + 1, z, m) <= 0;
}

/* 1 or -1 as U < V*e^(-rate*gap) or above, 0 if the limbs of the two do not tell. gap > 0. */
static int scaled_compare(const caucus_lazy *u, const caucus_lazy *v, uint64_t gap, caucus_rational rate) {
    unsigned m = u->limbs;
    uint64_t e[LIMBS], product[2 * LIMBS];
    caucus_exp_limbs((caucus_u128)gap * rate.num, rate.den, m, e);
    subtract_one(e, m);
    caucus_limbs_multiply(v->limb, m, e, m, product);
    if (at_most(u->limb, 1, product, m))
        return 1;
    return at_most(product, 5, u->limb, m) ? -1 : 0;
}

static void same_limbs(caucus_lazy *u, caucus_lazy *v) {
    while (u->limbs < v->limbs)
        caucus_lazy_more(u);
    while (v->limbs < u->limbs)
        caucus_lazy_more(v);
}

bool caucus_choose_beats(const caucus_scores *choice, uint32_t n, caucus_lazy *u, uint32_t k, caucus_lazy *v) {
    uint64_t g_n = caucus_scores_gap(choice, n), g_k = caucus_scores_gap(choice, k);
    for (same_limbs(u, v);; caucus_lazy_more(u), caucus_lazy_more(v)) {
        int sign;
        if (g_n == g_k || choice->rate.num == 0)
            sign = -compare(u->limb, v->limb, u->limbs); /* the lower number wins; equal limbs do not tell */
        else if (g_n > g_k)
            sign = scaled_compare(u, v, g_n - g_k, choice->rate);
        else
            sign = -scaled_compare(v, u, g_k - g_n, choice->rate);
        if (sign != 0)
            return sign > 0;
    }
}

uint32_t caucus_choose_flip_plain(const caucus_scores *choice, caucus_stream *stream) {
    caucus_lazy best, now;
    uint32_t winner = 0;
    uint64_t start = caucus_stream_drawn(stream);
    caucus_lazy_begin(&best, stream, start, caucus_word(stream));
    for (uint32_t n = 1; n < choice->d; n++) {
        caucus_lazy_begin(&now, stream, start + n, caucus_word(stream));
        if (caucus_choose_beats(choice, n, &now, winner, &best)) {
            winner = n;
            best = now;
        }
    }
    return winner;
}

/* The lower end of w_n to m limbs, added to a sum of m+1. */
static void add_weight(const caucus_scores *choice, uint32_t n, unsigned m, uint64_t *sum) {
    uint64_t gap = caucus_scores_gap(choice, n), e[SUM_LIMBS];
    if (gap == 0 || choice->rate.num == 0) {
        sum[0]++; /* exactly 1 */
        return;
    }
    caucus_exp_limbs((caucus_u128)gap * choice->rate.num, choice->rate.den, m, e + 1);
    e[0] = 0;
    subtract_one(e, m + 1);
    unsigned carry = 0;
    for (unsigned i = m + 1; i-- > 0;) {
        caucus_u128 part = (caucus_u128)sum[i] + e[i] + carry;
        sum[i] = (uint64_t)part;
        carry = (unsigned)(part >> 64);
    }
}

/* U*total with m limbs known of U, from below and above, as m+1 limbs. */
static void target(const uint64_t *u, unsigned m, const uint64_t *total, uint32_t d, uint64_t *ret_low,
                   uint64_t *ret_high) {
    uint64_t product[LIMBS + SUM_LIMBS], next[SUM_LIMBS + 1], most[SUM_LIMBS];
    caucus_limbs_multiply(u, m, total, m + 1, product);
    memcpy(ret_low, product, (m + 1) * sizeof *ret_low);
    memcpy(most, total, (m + 1) * sizeof *most);
    add_small(most, m + 1, 3 * (uint64_t)d);
    next[0] = 0; /* u + 1 may be 2^(64m) */
    memcpy(next + 1, u, m * sizeof *u);
    add_small(next, m + 1, 1);
    uint64_t wide[2 * SUM_LIMBS];
    caucus_limbs_multiply(next, m + 1, most, m + 1, wide);
    memcpy(ret_high, wide + 1, (m + 1) * sizeof *ret_high);
    add_small(ret_high, m + 1, 1);
}

/* The winner, or d if m limbs do not tell. */
static uint32_t winner_of(const caucus_scores *choice, const uint64_t *u, unsigned m) {
    uint64_t total[SUM_LIMBS] = {0}, sum[SUM_LIMBS] = {0}, low[SUM_LIMBS], high[SUM_LIMBS];
    for (uint32_t n = 0; n < choice->d; n++)
        add_weight(choice, n, m, total);
    target(u, m, total, choice->d, low, high);
    for (uint32_t n = 0; n + 1 < choice->d; n++) {
        add_weight(choice, n, m, sum);
        if (compare(high, sum, m + 1) <= 0)
            return n; /* U*total < high <= W_n */
        if (!at_most(sum, 3 * ((uint64_t)n + 1), low, m + 1))
            return choice->d;
    }
    return choice->d - 1;
}

uint32_t caucus_choose_exponential_plain(const caucus_scores *choice, const caucus_stream *stream, uint64_t place,
                                         uint64_t word) {
    caucus_lazy u;
    caucus_lazy_begin(&u, stream, place, word);
    for (;;) {
        uint32_t winner = winner_of(choice, u.limb, u.limbs);
        if (winner < choice->d)
            return winner;
        caucus_lazy_more(&u);
    }
}
