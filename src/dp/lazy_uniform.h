/* SPDX-License-Identifier: Apache-2.0 */
/* lazy_uniform.h: a uniform real number on [0,1), known to as many bits as a decision needs.
 * layer: dp */
#ifndef CAUCUS_DP_LAZY_UNIFORM_H
#define CAUCUS_DP_LAZY_UNIFORM_H

#include <caucus/samplers.h>

#include "num/int128.h"

/* Bits beyond 64*20 would be needed with probability below 2^-1000. */
#define CAUCUS_LAZY_LIMBS 20

typedef struct caucus_lazy {
    const caucus_stream *stream; /* further limbs are the digits of its word at `place` (rng/words.h) */
    uint64_t place;
    unsigned limbs;                   /* known so far, at least 1 */
    uint64_t limb[CAUCUS_LAZY_LIMBS]; /* most significant first: U = sum limb[i] * 2^(-64(i+1)) */
} caucus_lazy;

/** The real number that stands at `place` of a stream, where `word` is. */
void caucus_lazy_begin(caucus_lazy *u, const caucus_stream *stream, uint64_t place, uint64_t word);

/** Draw one more limb. Aborts when there are CAUCUS_LAZY_LIMBS. */
void caucus_lazy_more(caucus_lazy *u);

/** Exactly: is U < exp(-a/b)? Draws more bits of U if those known leave it open; what was decided stays true.
 *  In:   b  1 .. 2^119 - 1.
 *  Cost: microseconds. */
bool caucus_lazy_below_exp(caucus_lazy *u, caucus_u128 a, caucus_u128 b);

/** exp(-a/b) as a fraction of n limbs, most significant first, a > 0:
 *  exp(-a/b)*2^(64n) lies in (ret - 1, ret + 2). n from 1 to CAUCUS_LAZY_LIMBS. */
void caucus_exp_limbs(caucus_u128 a, caucus_u128 b, unsigned n, uint64_t *ret);

#endif
