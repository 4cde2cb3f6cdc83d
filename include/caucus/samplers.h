/* SPDX-License-Identifier: Apache-2.0 */
/* samplers.h: exact draws from discrete laws, in integers only.
 * layer: dp
 *
 * Given uniform bits each function has exactly the law written beside it: no floating point, no
 * modulo bias, no truncated tail. The scalar draws follow Canonne, Kamath and Steinke (2020); the
 * `_fill` versions make many draws at once by exact inversion (docs/PRIVACY.md, statement 3) and have the
 * same law, though not the same draws.
 * Parameters out of range are caller bugs (assert): plans have been checked before. */
#ifndef CAUCUS_SAMPLERS_H
#define CAUCUS_SAMPLERS_H

#include <caucus/rational.h>
#include <caucus/rng.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Uniform on 0..n-1, n >= 1. */
CAUCUS_API uint64_t caucus_uniform(caucus_stream *stream, uint64_t n);

/** True with probability a/b, b >= 1, a <= b. */
CAUCUS_API bool caucus_bernoulli(caucus_stream *stream, uint64_t a, uint64_t b);

/** True with probability exp(-a/b), b >= 1. Cost: about a/b coins where a > b. */
CAUCUS_API bool caucus_bernoulli_exp(caucus_stream *stream, uint64_t a, uint64_t b);

/** P(y) = (1-e^-rate) e^(-rate*y), y = 0, 1, ...; rate > 0, den <= CAUCUS_DEN_MAX. Result < 2^62: a larger one aborts,
 *  which has probability e^(-rate*2^62), below 2^-1000 for rate >= 2^-52 (plans keep far away from that). */
CAUCUS_API int64_t caucus_geometric(caucus_stream *stream, caucus_rational rate);
CAUCUS_API void caucus_geometric_fill(caucus_stream *stream, caucus_rational rate, int64_t *ret, size_t n);

/** P(y) ~ e^(-rate*|y|), y any integer. */
CAUCUS_API int64_t caucus_laplace(caucus_stream *stream, caucus_rational rate);
CAUCUS_API void caucus_laplace_fill(caucus_stream *stream, caucus_rational rate, int64_t *ret, size_t n);

/** P(y) ~ e^(-y^2/(2*variance)), y any integer; variance > 0, variance.num <= 2^56 after reduction. */
CAUCUS_API int64_t caucus_gaussian(caucus_stream *stream, caucus_rational variance);
CAUCUS_API void caucus_gaussian_fill(caucus_stream *stream, caucus_rational variance, int64_t *ret, size_t n);

/** The l-infinity K-norm law on Z^d: P(z) ~ e^(-rate * max_n |z_n|). Scalar reference and bulk version. */
CAUCUS_API void caucus_knorm(caucus_stream *stream, caucus_rational rate, int64_t *ret, size_t d);
CAUCUS_API void caucus_knorm_fill(caucus_stream *stream, caucus_rational rate, int64_t *ret, size_t d);
/* Its cost grows as e^(rate*d/2): meant for rate*d of order 1. */

#ifdef __cplusplus
}
#endif
#endif
