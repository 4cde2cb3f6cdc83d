/* SPDX-License-Identifier: Apache-2.0 */
/* weights.h: the Frank-Wolfe iterate as integer counts.
 * layer: num
 *
 * With step 2/(k+1) towards the vertex e_(w_k) at step k = 1, 2, ..., the iterate after K steps is
 *     x_(K+1) = 2/(K(K+1)) * sum_k k * e_(w_k):
 * step k multiplies what was there by (k-1)/(k+1), so an earlier step j keeps the weight 2j/(k(k+1)). The
 * first step has size 1 and forgets where it started. So the counts `sum of k with w_k = n` over the mass
 * K(K+1)/2 are the iterate exactly, and an expert is drawn from it with one uniform integer. The paper,
 * algorithm DP-FW; docs/PAPER.md. */
#ifndef CAUCUS_NUM_WEIGHTS_H
#define CAUCUS_NUM_WEIGHTS_H

#include <caucus/status.h>

typedef struct caucus_weights {
    uint64_t *count; /* [d] */
    uint32_t d;
    uint32_t steps; /* K */
} caucus_weights;

/** No steps yet. d >= 1. Returns: CAUCUS_OK, CAUCUS_E_MEMORY (then *ret is all zero). */
caucus_status caucus_weights_init(caucus_weights *ret, uint32_t d) CAUCUS_MUST_CHECK;
void caucus_weights_free(caucus_weights *weights);

/** Back to no steps. */
void caucus_weights_reset(caucus_weights *weights);

/** One more step, towards expert n < d. */
void caucus_weights_push(caucus_weights *weights, uint32_t n);

/** K(K+1)/2, the sum of all counts; 0 before the first step. */
uint64_t caucus_weights_mass(const caucus_weights *weights);

/** Experts with a count above 0. O(d). */
uint32_t caucus_weights_support(const caucus_weights *weights);

/** Coordinate n of the iterate, by one division (steps >= 1). */
double caucus_weights_value(const caucus_weights *weights, uint32_t n);

/** The expert that owns u, 0 <= u < mass, when the counts are laid end to end: drawn from x if u is uniform. O(d). */
uint32_t caucus_weights_at(const caucus_weights *weights, uint64_t u);

#endif
