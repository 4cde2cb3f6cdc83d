/* SPDX-License-Identifier: Apache-2.0 */
/* checked.h: integer arithmetic that says when it does not fit.
 * layer: num
 *
 * The checked functions return true and write the result if it fits, and return false and write
 * nothing otherwise. Saturating sums stop at +-2^62, the room every plan leaves (docs/PRIVACY.md,
 * "The grid"). */
#ifndef CAUCUS_NUM_CHECKED_H
#define CAUCUS_NUM_CHECKED_H

#include "num/int128.h"

#include <stdbool.h>
#include <stdint.h>

/** Sums, scores and noise stay within +-2^62, so that any two of them can be added. */
#define CAUCUS_SUM_MAX ((int64_t)1 << 62)

static inline bool caucus_mul_u64(uint64_t a, uint64_t b, uint64_t *ret) {
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *ret = product;
    return true;
}

static inline bool caucus_add_wide(caucus_u128 a, caucus_u128 b, caucus_u128 *ret) {
    caucus_u128 sum = a + b;
    if (sum < a)
        return false;
    *ret = sum;
    return true;
}

/** a+b, held within +-2^62. */
static inline int64_t caucus_add_saturating(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? -CAUCUS_SUM_MAX : CAUCUS_SUM_MAX;
    if (sum > CAUCUS_SUM_MAX)
        return CAUCUS_SUM_MAX;
    return sum < -CAUCUS_SUM_MAX ? -CAUCUS_SUM_MAX : sum;
}

/** a+b, held at UINT64_MAX. */
static inline uint64_t caucus_add_saturating_u64(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
