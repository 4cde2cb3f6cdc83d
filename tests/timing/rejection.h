/* SPDX-License-Identifier: Apache-2.0 */
/* rejection.h: selections that stop as soon as they can, kept so that the timing test has something to find.
 *
 * These are exact too, and this is how caucus selected until it was seen that time alone tells scores: the exponential
 * mechanism draws experts until a coin accepts one, permute-and-flip visits them in random order. The scalar samplers
 * of samplers.h (caucus_geometric, caucus_knorm) play the same part for noise. */
#ifndef CAUCUS_TESTS_REJECTION_H
#define CAUCUS_TESTS_REJECTION_H

#include "dp/exponential_draw.h"
#include "num/vector.h"

/* True with probability e^(-rate*(score-smallest)). */
static bool rejection_accept(caucus_stream *stream, int64_t score, int64_t smallest, uint64_t num,
                             const caucus_divisor *den) {
    uint64_t gap = (uint64_t)score - (uint64_t)smallest;
    return gap == 0 || caucus_exp_coin(stream, (caucus_u128)gap * num, den);
}

static uint32_t rejection_exponential(caucus_stream *stream, const int64_t *score, uint32_t d, caucus_rational rate) {
    int64_t smallest = caucus_vector_min_i64(score, d);
    caucus_divisor den = caucus_divisor_prepare(rate.den);
    for (;;) {
        uint32_t n = (uint32_t)caucus_uniform(stream, d);
        if (rejection_accept(stream, score[n], smallest, rate.num, &den))
            return n;
    }
}

static uint32_t rejection_flip(caucus_stream *stream, const int64_t *score, uint32_t d, caucus_rational rate,
                               uint32_t *scratch) {
    int64_t smallest = caucus_vector_min_i64(score, d);
    caucus_divisor den = caucus_divisor_prepare(rate.den);
    for (uint32_t i = 0; i < d; i++)
        scratch[i] = i;
    for (uint32_t left = d; left > 1; left--) {
        uint32_t i = (uint32_t)caucus_uniform(stream, left);
        uint32_t n = scratch[i];
        if (rejection_accept(stream, score[n], smallest, rate.num, &den))
            return n;
        scratch[i] = scratch[left - 1];
    }
    return scratch[0];
}

#endif
