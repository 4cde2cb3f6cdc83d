/* SPDX-License-Identifier: Apache-2.0 */
/* vector.h: sums over vectors of integers, the coordinator's and the simulator's inner loops.
 * layer: num
 *
 * Integer sums commute, so any order, width or number of threads gives the same bits. Each kernel stands
 * beside the plain loop it is tested against. Plans bound every sum by 2^62 (docs/PRIVACY.md, "The
 * grid"); a sum that leaves 64 bits all the same wraps, in both versions alike. */
#ifndef CAUCUS_NUM_VECTOR_H
#define CAUCUS_NUM_VECTOR_H

#include <stddef.h>
#include <stdint.h>

/** acc[i] += x[i]. acc and x do not overlap; any alignment a type allows. */
void caucus_vector_add_i64(int64_t *acc, const int64_t *x, size_t n);

/** acc[i] += min(max(x[i], lo), hi), lo <= hi: a report enters within its public range, whoever sent it. */
void caucus_vector_add_clamped_i64(int64_t *acc, const int64_t *x, size_t n, int64_t lo, int64_t hi);

/** The smallest of n >= 1 values. */
int64_t caucus_vector_min_i64(const int64_t *x, size_t n);

void caucus_vector_add_i64_ref(int64_t *acc, const int64_t *x, size_t n);
void caucus_vector_add_clamped_i64_ref(int64_t *acc, const int64_t *x, size_t n, int64_t lo, int64_t hi);
int64_t caucus_vector_min_i64_ref(const int64_t *x, size_t n);

#endif
