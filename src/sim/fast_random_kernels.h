/* SPDX-License-Identifier: Apache-2.0 */
/* fast_random_kernels.h: the inner loops of fast_random, and how one source becomes several variants.
 * layer: sim
 *
 * Private to fast_random.c and fast_random_kernels.c. */
#ifndef CAUCUS_SIM_FAST_RANDOM_KERNELS_H
#define CAUCUS_SIM_FAST_RANDOM_KERNELS_H

#include "sim/fast_random.h"

/* A block of normals: 16 Box-Muller pairs, the cosines first, then the sines. One vector of AVX-512, two of AVX2. */
#define CAUCUS_FAST_PAIRS 16u
#define CAUCUS_FAST_BLOCK (2u * CAUCUS_FAST_PAIRS)

/* The two key words of one 2^32 window of draws. */
typedef struct caucus_fast_words {
    uint32_t a, b;
} caucus_fast_words;

struct caucus_fast_kernels {
    const char *name;
    void (*uniform)(caucus_fast_words key, uint32_t first, size_t count, float *restrict ret);
    void (*bernoulli)(caucus_fast_words key, uint32_t first, size_t count, const uint32_t *restrict threshold,
                      float *restrict ret);
    /* Pairs first .. first + 16*blocks - 1, as blocks*32 normals; `radius` and `angle` key the two uniforms of a
     * pair. */
    void (*normal)(caucus_fast_words radius, caucus_fast_words angle, uint32_t first, size_t blocks,
                   float *restrict ret);
    void (*clamp)(const float *restrict normal, size_t count, const float *restrict mean,
                  const float *restrict deviation, float *restrict ret);
    void (*exponential)(const float *restrict normal, size_t count, const float *restrict mean,
                        const float *restrict deviation, float *restrict ret);
    void (*complement)(float weight, size_t count, float *restrict value);
    double (*sum)(const float *restrict value, size_t count);
};

#endif
