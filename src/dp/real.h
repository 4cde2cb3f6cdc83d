/* SPDX-License-Identifier: Apache-2.0 */
/* real.h: exact draws from uniform real numbers, by work that does not depend on the draw.
 * layer: dp
 *
 * Each draw takes one place of a stream, which stands for a uniform real number U in [0,1) (rng/words.h). The draw is a
 * function of that real number alone, so its law is exact and its map from stream to value needs no mention of how it
 * was computed:
 *     floor(-ln(U)/rate)   is geometric with ratio e^-rate;
 *     floor(U*n)           is uniform on 0..n-1.
 * 128 bits of U decide nearly always, and are used always: what it takes does not depend on U. Where they leave the
 * answer open more digits are drawn and the question is answered by comparisons alone, which takes longer. That happens
 * with probability below scale*2^-110 or n*2^-127.
 * A seeded stream is not private (rng.h), so the time of its draws hides nothing: 64 bits are tried first. Same
 * value. */
#ifndef CAUCUS_DP_REAL_H
#define CAUCUS_DP_REAL_H

#include "dp/exponential_draw.h"
#include "dp/log_wide.h"

/* A stream and, if its draws must not be timed, its second digits. */
typedef struct caucus_reals {
    caucus_stream *stream, second;
} caucus_reals;

/** Borrows the stream, which moves on with every draw. */
void caucus_reals_open(caucus_reals *ret_reals, caucus_stream *stream);
void caucus_reals_wipe(caucus_reals *reals);

/* 1/rate prepared for many draws. */
typedef struct caucus_steps {
    caucus_rational rate;
    caucus_ratio inverse;     /* den/num; of seeded streams only where 64 bits are never enough */
    unsigned shift;           /* (grains * inverse) >> shift counts whole steps of rate */
    caucus_inversion quickly; /* for 64 bits: for seeded streams only */
} caucus_steps;

/** For draws from streams that are seeded, or from others. */
caucus_steps caucus_steps_prepare(caucus_rational rate, bool seeded);

/** floor(-ln(U)/rate). Below 2^62: a larger one aborts (samplers.h). */
int64_t caucus_real_geometric(caucus_reals *reals, const caucus_steps *steps);

/** The difference of two geometrics, which has P(y) ~ e^(-rate*|y|): two places, no rejection. */
int64_t caucus_real_laplace(caucus_reals *reals, const caucus_steps *steps);

/** The radius r of a K-norm vector of dimension n >= 1: P(r) ~ (2r+1)^n e^(-rate*r) (knorm.c). Tries until one is kept;
 *  a try takes n+1 geometrics and n uniforms, kept or not, and the number of tries does not depend on the radius that
 *  is kept. The vector is then n times floor(U*(2r+1)) - r. */
uint64_t caucus_real_knorm_radius(caucus_reals *reals, const caucus_steps *steps, size_t n);

/** floor(U*n), n >= 1. */
uint64_t caucus_real_uniform(caucus_reals *reals, uint64_t n);

/** The same maps, plainly: nothing but comparisons of as many digits as they take. The reference that the others are
 *  tested against, and what they turn to when 128 bits do not decide. U stands at `place` of the stream, where `word`
 *  is. */
int64_t caucus_real_geometric_plain(const caucus_stream *stream, uint64_t place, uint64_t word, caucus_rational rate);
uint64_t caucus_real_uniform_plain(const caucus_stream *stream, uint64_t place, uint64_t word, uint64_t n);

#endif
