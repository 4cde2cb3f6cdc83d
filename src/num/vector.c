/* SPDX-License-Identifier: Apache-2.0 */
/* vector.c: the integer kernels. Written so that a compiler vectorises them; no intrinsics.
 * layer: num */
#include "num/vector.h"

#include "num/clones.h"

#include <assert.h>

/* The kernels are static: a function with clones that is seen outside its file is exported from a shared library
 * whatever its visibility says. The public names below only jump to them. */

/* Wraps instead of being undefined. */
static inline __attribute__((always_inline)) int64_t plus(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

CAUCUS_CLONES static void add_i64(int64_t *acc, const int64_t *x, size_t n) {
    int64_t *restrict a = acc;
    const int64_t *restrict b = x;
    for (size_t i = 0; i < n; i++)
        a[i] = plus(a[i], b[i]);
}

CAUCUS_CLONES static void add_clamped_i64(int64_t *acc, const int64_t *x, size_t n, int64_t lo, int64_t hi) {
    assert(lo <= hi);
    int64_t *restrict a = acc;
    const int64_t *restrict b = x;
    for (size_t i = 0; i < n; i++) {
        int64_t v = b[i] > lo ? b[i] : lo;
        a[i] = plus(a[i], v < hi ? v : hi);
    }
}

CAUCUS_CLONES static int64_t min_i64(const int64_t *x, size_t n) {
    assert(n >= 1);
    int64_t smallest = x[0];
    for (size_t i = 1; i < n; i++)
        smallest = x[i] < smallest ? x[i] : smallest;
    return smallest;
}

void caucus_vector_add_i64(int64_t *acc, const int64_t *x, size_t n) {
    add_i64(acc, x, n);
}

void caucus_vector_add_clamped_i64(int64_t *acc, const int64_t *x, size_t n, int64_t lo, int64_t hi) {
    add_clamped_i64(acc, x, n, lo, hi);
}

int64_t caucus_vector_min_i64(const int64_t *x, size_t n) {
    return min_i64(x, n);
}

void caucus_vector_add_i64_ref(int64_t *acc, const int64_t *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        acc[i] = plus(acc[i], x[i]);
}

void caucus_vector_add_clamped_i64_ref(int64_t *acc, const int64_t *x, size_t n, int64_t lo, int64_t hi) {
    for (size_t i = 0; i < n; i++) {
        int64_t v = x[i];
        if (v < lo)
            v = lo;
        if (v > hi)
            v = hi;
        acc[i] = plus(acc[i], v);
    }
}

int64_t caucus_vector_min_i64_ref(const int64_t *x, size_t n) {
    assert(n >= 1);
    int64_t smallest = x[0];
    for (size_t i = 1; i < n; i++)
        if (x[i] < smallest)
            smallest = x[i];
    return smallest;
}
