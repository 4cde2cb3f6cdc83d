/* SPDX-License-Identifier: Apache-2.0 */
/* draws.h: what the scalar samplers share.
 * layer: dp */
#ifndef CAUCUS_DP_DRAWS_H
#define CAUCUS_DP_DRAWS_H

#include <caucus/samplers.h>

#include "num/int128.h"

/* Results stay below 2^62, so that a noisy sum can never overflow int64. */
#define CAUCUS_DRAW_LIMIT ((int64_t)1 << 62)

/** Uniform on 0..n-1, n >= 1. */
caucus_u128 caucus_uniform_wide(caucus_stream *stream, caucus_u128 n);

/** True with probability a/b, b >= 1, a <= b. */
bool caucus_bernoulli_wide(caucus_stream *stream, caucus_u128 a, caucus_u128 b);

/** True with probability exp(-a/b) for a <= b, 1 <= b < 2^119. */
bool caucus_bernoulli_exp_unit(caucus_stream *stream, caucus_u128 a, caucus_u128 b);

/** True with probability exp(-a/b), 1 <= b < 2^119 (room for b*k in the series). */
bool caucus_bernoulli_exp_wide(caucus_stream *stream, caucus_u128 a, caucus_u128 b);

/* The discrete Gaussian with variance p/q (in lowest terms) by rejection from a discrete Laplace of rate 1/t. */
typedef struct caucus_gaussian_proposal {
    uint64_t p, q, t;
    caucus_u128 b; /* 2*p*q*t^2 < 2^116 */
} caucus_gaussian_proposal;

caucus_gaussian_proposal caucus_gaussian_prepare(caucus_rational variance);
/** A proposal y is kept with probability exp(-D^2/b), D = ||y|*t*q - p|. */
caucus_u128 caucus_gaussian_distance(const caucus_gaussian_proposal *g, int64_t y);
bool caucus_gaussian_accept(caucus_stream *stream, const caucus_gaussian_proposal *g, caucus_u128 distance);

/** True with the probability that turns a sum r of d+1 geometrics into a layer of the K-norm law. */
bool caucus_knorm_accept(caucus_stream *stream, uint64_t r, size_t d);

#endif
