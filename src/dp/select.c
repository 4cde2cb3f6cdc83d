/* SPDX-License-Identifier: Apache-2.0 */
/* select.c: choose one of d experts from integer scores, privately.
 * layer: dp
 *
 * The exponential mechanism and permute-and-flip are in choose_*.c, in one pass of fixed work (choose.h); noisy-min is
 * here (docs/PRIVACY.md, statement 6).
 * The laws beside them are for tests and audits only. */
#include <caucus/select.h>

#include "dp/laws.h"
#include "dp/wide.h"
#include "num/checked.h"
#include "num/vector.h"

#include <assert.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>

#define BATCH 256

/* The smallest value so far is kept by masks: how often it is beaten depends on the scores, and a branch that the
 * processor guesses wrongly takes longer. A tie alone is a branch: it has to draw. */
uint32_t caucus_select_noisy_min(caucus_stream *stream, const int64_t *score, uint32_t d, caucus_rational rate) {
    assert(d >= 1 && rate.num >= 1);
    int64_t noise[BATCH];
    uint64_t best = 0, ties = 0;
    caucus_i128 least = (caucus_i128)1 << 100; /* wide: score and noise may each use 63 bits */
    for (uint32_t start = 0; start < d; start += BATCH) {
        uint32_t part = d - start < BATCH ? d - start : BATCH;
        caucus_laplace_fill(stream, rate, noise, part);
        for (uint32_t i = 0; i < part; i++) {
            caucus_i128 value = (caucus_i128)score[start + i] + noise[i];
            uint64_t n = (uint64_t)start + i, less = caucus_mask(value < least);
            caucus_u128 moves = ((caucus_u128)least ^ (caucus_u128)value) & CAUCUS_WIDE(less, less);
            /* The k-th of k equals is kept with probability 1/k: uniform in the end. */
            if (__builtin_expect(value == least, 0) && caucus_uniform(stream, ++ties) == 0)
                best = n;
            best = caucus_pick(less, n, best);
            ties = caucus_pick(less, 1, ties);
            least = (caucus_i128)((caucus_u128)least ^ moves);
        }
    }
    sodium_memzero(noise, sizeof noise);
    return (uint32_t)best;
}

uint32_t caucus_select_min(caucus_stream *stream, const int64_t *score, uint32_t d) {
    assert(d >= 1);
    int64_t smallest = caucus_vector_min_i64(score, d);
    uint32_t ties = 0;
    for (uint32_t n = 0; n < d; n++)
        ties += score[n] == smallest;
    uint64_t skip = ties > 1 ? caucus_uniform(stream, ties) : 0;
    for (uint32_t n = 0;; n++)
        if (score[n] == smallest && skip-- == 0)
            return n;
}

/* ret[n] = e^(-rate*(score[n]-min)). */
static void acceptance(const int64_t *score, uint32_t d, caucus_rational rate, long double *ret) {
    int64_t smallest = caucus_vector_min_i64(score, d);
    for (uint32_t n = 0; n < d; n++) {
        uint64_t gap = (uint64_t)score[n] - (uint64_t)smallest;
        ret[n] = expl(-(long double)gap * (long double)rate.num / (long double)rate.den);
    }
}

void caucus_select_exponential_law(const int64_t *score, uint32_t d, caucus_rational rate, long double *ret) {
    assert(d >= 1 && rate.den >= 1);
    acceptance(score, d, rate, ret);
    long double total = 0;
    for (uint32_t n = 0; n < d; n++)
        total += ret[n];
    for (uint32_t n = 0; n < d; n++)
        ret[n] /= total;
}

/* Node and weight number i of the Gauss-Legendre rule of an order on [0, 1], by Newton's method. */
static void legendre(unsigned order, unsigned i, long double *ret_node, long double *ret_weight) {
    const long double pi = 3.14159265358979323846264338327950288L;
    long double x = cosl(pi * ((long double)i + 0.75L) / ((long double)order + 0.5L)), slope = 1;
    for (int round = 0; round < 20; round++) {
        long double p = 1, before = 0;
        for (unsigned k = 1; k <= order; k++) {
            long double next = ((2 * (long double)k - 1) * x * p - ((long double)k - 1) * before) / (long double)k;
            before = p;
            p = next;
        }
        slope = (long double)order * (x * p - before) / (x * x - 1);
        long double step = p / slope;
        x -= step;
        if (fabsl(step) < 2e-19L)
            break;
    }
    *ret_node = (1 - x) / 2;
    *ret_weight = 1 / ((1 - x * x) * slope * slope);
}

/* P(x) = w_x * integral over t in [0,1] of prod_(y != x) (1 - w_y t): give every expert a uniform arrival time t;
 * x wins if it accepts and everybody who came before declined. The integrand has degree d-1, for which a rule of
 * order d/2 is exact (weights are positive: nothing cancels); beyond d = 1024 the order grows like sqrt(d), enough
 * for e^(-dt), the steepest integrand there is. Good to 1e-15 for small d, 1e-12 for thousands (end nodes). */
void caucus_select_flip_law(const int64_t *score, uint32_t d, caucus_rational rate, long double *ret) {
    assert(d >= 1 && rate.den >= 1);
    long double *w = malloc(d * sizeof *w);
    for (uint32_t n = 0; n < d; n++)
        ret[n] = w != NULL ? 0 : (long double)NAN;
    if (w == NULL)
        return;
    acceptance(score, d, rate, w);
    unsigned exact = d / 2 + 1, enough = 384 + 4 * (unsigned)sqrt((double)d);
    unsigned order = exact < enough ? exact : enough;
    for (unsigned i = 0; i < order; i++) {
        long double t, weight;
        legendre(order, i, &t, &weight);
        long double product = weight;
        for (uint32_t n = 0; n < d; n++)
            product *= 1 - w[n] * t;
        for (uint32_t n = 0; n < d; n++)
            ret[n] += product / (1 - w[n] * t);
    }
    for (uint32_t n = 0; n < d; n++)
        ret[n] *= w[n];
    free(w);
}
