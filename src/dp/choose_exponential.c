/* SPDX-License-Identifier: Apache-2.0 */
/* choose_exponential.c: the exponential mechanism by inversion of the sum of its weights (choose.h;
 * docs/PRIVACY.md, statement 4).
 *
 * Weights in fixed point: w_n*2^F lies in (W - a, W + b) (live: exp_wide.h, F = 96, a = 1, b = 2). With L_n = W_0 + ...
 * + W_n, the true sum up to n lies in (L_n - a(n+1), L_n + b(n+1)); d is below 2^32, so sums fit 128 bits. U is known
 * to 128 bits, N, so that U times the total lies in [low, high),
 *     low = mulhi(N, L - a*d),   high = mulhi(N, L + b*d) + 4   (3 for what mulhi leaves out, 1 for the rest of U).
 * Expert n has surely lost to a later one if L_n + b(n+1) <= low, and surely not if L_n - a(n+1) >= high; in between,
 * 128 bits do not decide, and choose_plain.c does. The last sum is the total, which U times the total cannot reach.
 *
 * Experts are taken in at most 256 groups of equal length: the first pass computes every weight and keeps the sums of
 * groups, the second finds the group, the third computes the weights of that group again. So nothing is allocated and
 * d + d/256 + 1 weights are computed, whatever the scores are. Which group it is becomes known with the expert. */
#include "dp/choose.h"

#include "dp/exp_quick.h"
#include "dp/exp_wide.h"
#include "num/vector.h"
#include "rng/words.h"

#include <assert.h>
#include <sodium.h>

#define GROUPS 256u

/* How weights are computed: exactly enough for everybody, or quickly for those who have nothing to hide. */
typedef struct scale {
    caucus_ratio rate;
    bool quickly;
    uint32_t below, above; /* a and b of a weight */
} scale;

static inline caucus_u128 weight(const scale *s, uint64_t gap) {
    return s->quickly ? caucus_exp_quick(gap, &s->rate) : caucus_exp_wide(gap, &s->rate);
}

/* U times the total. */
typedef struct target {
    caucus_u128 low, high;
} target;

/* How many of the sums have surely been passed, and whether one may or may not have been. */
typedef struct passing {
    uint64_t passed;
    caucus_u128 base; /* the sum up to the last that was passed */
    uint64_t open;
} passing;

/* The next sum, of `count` weights. */
static inline void pass(passing *p, const scale *s, const target *t, caucus_u128 sum, uint64_t count) {
    uint64_t over = caucus_mask(sum + (caucus_u128)count * s->above <= t->low);
    uint64_t under = caucus_mask(sum >= t->high + (caucus_u128)count * s->below);
    p->passed += over & 1;
    p->base = (p->base & ~CAUCUS_WIDE(over, over)) | (sum & CAUCUS_WIDE(over, over));
    p->open |= ~(over | under);
}

/* The winner, or d if the bits do not decide. */
static uint32_t winner_of(const caucus_scores *c, const scale *s, caucus_u128 n_bits) {
    caucus_u128 group[GROUPS];
    uint32_t size = (uint32_t)(((uint64_t)c->d + GROUPS - 1) / GROUPS), groups = 0;
    caucus_u128 total = 0;
    for (uint32_t start = 0; start < c->d; start += size) {
        uint32_t end = c->d - start < size ? c->d : start + size;
        caucus_u128 sum = 0;
        for (uint32_t n = start; n < end; n++)
            sum += weight(s, caucus_scores_gap(c, n));
        group[groups++] = sum;
        total += sum;
        if (end == c->d)
            break;
    }
    target t = {caucus_mulhi_wide(n_bits, total - (caucus_u128)c->d * s->below),
                caucus_mulhi_wide(n_bits, total + (caucus_u128)c->d * s->above) + 4};
    passing all = {0}, within;
    caucus_u128 sum = 0;
    for (uint32_t k = 0; k + 1 < groups; k++) {
        sum += group[k];
        pass(&all, s, &t, sum, (uint64_t)(k + 1) * size);
    }
    uint32_t start = (uint32_t)all.passed * size;
    within = (passing){.base = all.base};
    sum = all.base;
    for (uint32_t i = 0; i + 1 < size; i++) { /* the last of the last group may be shorter: its sums stop at d - 1 */
        uint64_t n = (uint64_t)start + i, beyond = caucus_mask(n + 1 >= c->d);
        uint64_t gap = caucus_scores_gap(c, (uint32_t)caucus_pick(beyond, c->d - 1, n));
        passing before = within;
        sum += weight(s, gap) & ~CAUCUS_WIDE(beyond, beyond);
        pass(&within, s, &t, sum, n + 1);
        within.passed = caucus_pick(beyond, before.passed, within.passed);
        within.open = caucus_pick(beyond, before.open, within.open);
    }
    sodium_memzero(group, groups * sizeof *group);
    return (all.open | within.open) != 0 ? c->d : start + (uint32_t)within.passed;
}

uint32_t caucus_select_exponential(caucus_stream *stream, const int64_t *score, uint32_t d, caucus_rational rate) {
    assert(d >= 1 && rate.den >= 1);
    caucus_scores choice = {score, d, caucus_vector_min_i64(score, d), rate};
    scale s = {.rate = caucus_ratio_prepare(rate.num, rate.den), .below = 1, .above = 2};
    uint64_t word = caucus_word(stream), place = caucus_stream_drawn(stream) - 1;
    caucus_u128 bits = CAUCUS_WIDE(word, caucus_stream_digit(stream, 1, place));
    uint32_t winner = d;
    if (stream->seeded) {
        scale quick = {s.rate, true, CAUCUS_EXP_QUICK_ERROR, CAUCUS_EXP_QUICK_ERROR};
        winner = winner_of(&choice, &quick, bits);
    }
    if (winner == d)
        winner = winner_of(&choice, &s, bits);
    if (winner == d)
        winner = caucus_choose_exponential_plain(&choice, stream, place, word);
    return winner;
}
