/* SPDX-License-Identifier: Apache-2.0 */
/* fast_random.c: keys, single draws, and runs of draws cut into pieces the vector loops take.
 * layer: sim
 *
 * A run is cut where the lower 32 bits of its counter wrap; normals are further cut to whole blocks of 32. */
#include "sim/fast_random.h"
#include "num/int128.h"
#include "sim/fast_random_kernels.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

/* Which of a key's word pairs a law uses. */
enum { LANE_WORD = 1, LANE_UNIFORM, LANE_RADIUS, LANE_ANGLE };

static _Atomic(const caucus_fast_kernels *) chosen;

static const caucus_fast_kernels *kernels_in_use(void) {
    const caucus_fast_kernels *kernels = atomic_load_explicit(&chosen, memory_order_acquire);
    if (kernels == NULL) {
        /* Threads that race here store the same pointer. */
        for (size_t i = 0; caucus_fast_variant(i) != NULL; i++)
            kernels = caucus_fast_variant(i);
        atomic_store_explicit(&chosen, kernels, memory_order_release);
    }
    return kernels;
}

void caucus_fast_use(const caucus_fast_kernels *kernels) {
    atomic_store_explicit(&chosen, kernels, memory_order_release);
}

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014; Stafford's variant 13): a bijection of 64 bits. */
static uint64_t mix64(uint64_t x) {
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x;
}

/* Two rounds with the label mixed first: keys k, k' and labels l, l' that differ by small numbers do not meet. */
static uint64_t combine(uint64_t key, uint64_t label) {
    return mix64(mix64(key + UINT64_C(0x9e3779b97f4a7c15)) ^ mix64(label * UINT64_C(0xd1342543de82ef95) + 1));
}

caucus_fast_key caucus_fast_seed(uint64_t seed) {
    return (caucus_fast_key){mix64(seed + UINT64_C(0x632be59bd9b4e019))};
}

caucus_fast_key caucus_fast_child(caucus_fast_key key, uint64_t label) {
    return (caucus_fast_key){combine(key.bits, label)};
}

static uint64_t lane_key(caucus_fast_key key, uint64_t lane) {
    return key.bits ^ lane * UINT64_C(0xa0761d6478bd642f);
}

static caucus_fast_words words_of(caucus_fast_key key, uint64_t lane, uint64_t window) {
    uint64_t bits = combine(lane_key(key, lane), window);
    return (caucus_fast_words){(uint32_t)bits, (uint32_t)(bits >> 32)};
}

uint64_t caucus_fast_bits(caucus_fast_key key, uint64_t index) {
    return combine(lane_key(key, LANE_WORD), index);
}

double caucus_fast_double(caucus_fast_key key, uint64_t index) {
    return (double)(caucus_fast_bits(key, index) >> 11) * 0x1p-53;
}

uint32_t caucus_fast_below(caucus_fast_key key, uint64_t index, uint32_t bound) {
    assert(bound > 0);
    return (uint32_t)(((caucus_u128)caucus_fast_bits(key, index) * bound) >> 64);
}

void caucus_fast_permutation(caucus_fast_key key, uint32_t n, uint32_t *ret) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = caucus_fast_below(key, i, i + 1);
        ret[i] = ret[j];
        ret[j] = i;
    }
}

/* How many of count draws from `first` on stay in its window of 2^32. */
static size_t within_window(uint64_t first, uint64_t count) {
    uint64_t left = (UINT64_C(1) << 32) - (first & UINT32_MAX);
    return (size_t)(count < left ? count : left);
}

void caucus_fast_uniform(caucus_fast_key key, uint64_t first, size_t count, float *ret) {
    const caucus_fast_kernels *kernels = kernels_in_use();
    while (count > 0) {
        size_t piece = within_window(first, count);
        kernels->uniform(words_of(key, LANE_UNIFORM, first >> 32), (uint32_t)first, piece, ret);
        first += piece;
        ret += piece;
        count -= piece;
    }
}

void caucus_fast_bernoulli(caucus_fast_key key, uint64_t first, size_t count, const uint32_t *threshold, float *ret) {
    const caucus_fast_kernels *kernels = kernels_in_use();
    while (count > 0) {
        size_t piece = within_window(first, count);
        kernels->bernoulli(words_of(key, LANE_UNIFORM, first >> 32), (uint32_t)first, piece, threshold, ret);
        first += piece;
        threshold += piece;
        ret += piece;
        count -= piece;
    }
}

/* Whole blocks: block q holds draws 32q .. 32q+31, made of pairs 16q .. 16q+15. */
static void normal_blocks(const caucus_fast_kernels *kernels, caucus_fast_key key, uint64_t block, size_t blocks,
                          float *ret) {
    while (blocks > 0) {
        uint64_t pair = block * CAUCUS_FAST_PAIRS;
        size_t piece = within_window(pair, (uint64_t)blocks * CAUCUS_FAST_PAIRS) / CAUCUS_FAST_PAIRS;
        kernels->normal(words_of(key, LANE_RADIUS, pair >> 32), words_of(key, LANE_ANGLE, pair >> 32), (uint32_t)pair,
                        piece, ret);
        block += piece;
        ret += piece * CAUCUS_FAST_BLOCK;
        blocks -= piece;
    }
}

void caucus_fast_normal(caucus_fast_key key, uint64_t first, size_t count, float *ret) {
    const caucus_fast_kernels *kernels = kernels_in_use();
    while (count > 0) {
        size_t skip = (size_t)(first % CAUCUS_FAST_BLOCK), piece;
        if (skip == 0 && count >= CAUCUS_FAST_BLOCK) {
            piece = count - count % CAUCUS_FAST_BLOCK;
            normal_blocks(kernels, key, first / CAUCUS_FAST_BLOCK, piece / CAUCUS_FAST_BLOCK, ret);
        } else {
            float block[CAUCUS_FAST_BLOCK];
            normal_blocks(kernels, key, first / CAUCUS_FAST_BLOCK, 1, block);
            piece = CAUCUS_FAST_BLOCK - skip < count ? CAUCUS_FAST_BLOCK - skip : count;
            memcpy(ret, block + skip, piece * sizeof *ret);
        }
        first += piece;
        ret += piece;
        count -= piece;
    }
}

/* Normals first .. first+count-1 in whole blocks in `buffer`; returns where the first of them is. */
#define COVER (CAUCUS_FAST_RUN + 2 * CAUCUS_FAST_BLOCK)
static const float *normal_cover(const caucus_fast_kernels *kernels, caucus_fast_key key, uint64_t first, size_t count,
                                 float *buffer) {
    assert(count <= CAUCUS_FAST_RUN);
    size_t skip = (size_t)(first % CAUCUS_FAST_BLOCK);
    size_t blocks = (skip + count + CAUCUS_FAST_BLOCK - 1) / CAUCUS_FAST_BLOCK;
    normal_blocks(kernels, key, first / CAUCUS_FAST_BLOCK, blocks, buffer);
    return buffer + skip;
}

void caucus_fast_normal_clamped(caucus_fast_key key, uint64_t first, size_t count, const float *mean,
                                const float *deviation, float *ret) {
    const caucus_fast_kernels *kernels = kernels_in_use();
    _Alignas(64) float buffer[COVER];
    kernels->clamp(normal_cover(kernels, key, first, count, buffer), count, mean, deviation, ret);
}

void caucus_fast_lognormal(caucus_fast_key key, uint64_t first, size_t count, const float *mean, const float *deviation,
                           float *ret) {
    const caucus_fast_kernels *kernels = kernels_in_use();
    _Alignas(64) float buffer[COVER];
    kernels->exponential(normal_cover(kernels, key, first, count, buffer), count, mean, deviation, ret);
}

double caucus_fast_sum(const float *value, size_t count) {
    return kernels_in_use()->sum(value, count);
}

void caucus_fast_complement(float weight, size_t count, float *value) {
    kernels_in_use()->complement(weight, count, value);
}
