/* SPDX-License-Identifier: Apache-2.0 */
/* fast_random.h: simulated data at memory speed: a counter-based generator and the laws drawn from it.
 * layer: sim
 *
 * NOT for noise: mechanisms draw from <caucus/rng.h>. This one makes losses, billions of them, and is bound by how
 * fast they can be made, so it trades cryptographic strength for vector code.
 *
 * Draw number e of a key is a pure function of (key, e): rows can be made in any order by any thread. The key and
 * the upper 32 bits of e are hashed to two 32-bit words a, b; the lower 32 bits c go through
 *      c ^ a -> shift-xor -> multiply -> shift-xor -> + b -> multiply -> shift-xor -> multiply -> shift-xor,
 * a keyed bijection of 32 bits (two key words, three multiplications: the constants are those of Wellons' triple32,
 * found by search for least avalanche bias). tests/sim/test_fast_random.c checks moments, chi-squares and
 * correlations between neighbouring draws and neighbouring keys.
 *
 * Every result is the same bit for bit on every machine and compiler: integer operations and IEEE + - * only, no
 * libm, no fused multiply-add. The same source is compiled for plain x86-64, AVX2 and AVX-512 and picked at run
 * time. */
#ifndef CAUCUS_SIM_FAST_RANDOM_H
#define CAUCUS_SIM_FAST_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Names a stream of draws. */
typedef struct caucus_fast_key {
    uint64_t bits;
} caucus_fast_key;

/* Callers that pass per-draw parameters prepare tables of this many extra entries, so that a run of draws that wraps
 * around d experts is one straight loop. */
#define CAUCUS_FAST_RUN 1024u

/** The key of a seed, and the child of a key (trial, client, purpose ...): children of different parents or with
 *  different labels are unrelated. */
caucus_fast_key caucus_fast_seed(uint64_t seed);
caucus_fast_key caucus_fast_child(caucus_fast_key key, uint64_t label);

/** One draw of 64 bits; one in [0,1) with 53 bits; one in 0 .. bound-1 (bias below bound/2^64). For constants, not
 *  loops. */
uint64_t caucus_fast_bits(caucus_fast_key key, uint64_t index);
double caucus_fast_double(caucus_fast_key key, uint64_t index);
uint32_t caucus_fast_below(caucus_fast_key key, uint64_t index, uint32_t bound);

/** A uniform permutation of 0 .. n-1. */
void caucus_fast_permutation(caucus_fast_key key, uint32_t n, uint32_t *ret);

/** Draws number first .. first+count-1 of a key. Different laws of one key are not independent of each other: give
 *  each its own child key. */
/* Uniform on {0, 1, ..., 2^24-1}/2^24. */
void caucus_fast_uniform(caucus_fast_key key, uint64_t first, size_t count, float *ret);
/* 1 with probability threshold[k]/2^32, else 0, for the k-th of them. */
void caucus_fast_bernoulli(caucus_fast_key key, uint64_t first, size_t count, const uint32_t *threshold, float *ret);
/* Standard normal (Box-Muller), up to 6.66 in absolute value, computed within 2^-20 of its uniforms' exact image. */
void caucus_fast_normal(caucus_fast_key key, uint64_t first, size_t count, float *ret);
/* mean[k] + deviation[k]*normal, clamped to [0,1]; count <= CAUCUS_FAST_RUN. */
void caucus_fast_normal_clamped(caucus_fast_key key, uint64_t first, size_t count, const float *mean,
                                const float *deviation, float *ret);
/* e^(mean[k] + deviation[k]*normal), for exponents in [-80, 80]; count <= CAUCUS_FAST_RUN. */
void caucus_fast_lognormal(caucus_fast_key key, uint64_t first, size_t count, const float *mean, const float *deviation,
                           float *ret);

/** value[0] + ... + value[count-1] as doubles, in an order that does not depend on the machine. */
double caucus_fast_sum(const float *value, size_t count);

/** value[k] = max(0, 1 - weight*value[k]). */
void caucus_fast_complement(float weight, size_t count, float *value);

/* The variants this machine can run, for tests and benchmarks: every one gives the same bits. */
typedef struct caucus_fast_kernels caucus_fast_kernels;
/** Variant `index`: 0 is the portable one; NULL past the last. */
const caucus_fast_kernels *caucus_fast_variant(size_t index);
const char *caucus_fast_variant_name(const caucus_fast_kernels *kernels);
/** Make all functions above use a variant; NULL = the best, as at the start. Not for use while other threads draw. */
void caucus_fast_use(const caucus_fast_kernels *kernels);

#endif
