/* SPDX-License-Identifier: Apache-2.0 */
/* int128.h: 128-bit integers, the one place that names them.
 * layer: num
 *
 * They are an extension of gcc and clang on 64-bit machines; `__extension__` keeps -Wpedantic quiet about this one use.
 * They never appear in an installed header: what is public fits 64 bits. */
#ifndef CAUCUS_NUM_INT128_H
#define CAUCUS_NUM_INT128_H

#include <stdint.h>

__extension__ typedef unsigned __int128 caucus_u128;
__extension__ typedef __int128 caucus_i128;

/** Bits that n is written with: 0 for 0. */
static inline unsigned caucus_bit_length(caucus_u128 n) {
    uint64_t high = (uint64_t)(n >> 64), low = (uint64_t)n;
    if (high != 0)
        return 128 - (unsigned)__builtin_clzll(high);
    return low == 0 ? 0 : 64 - (unsigned)__builtin_clzll(low);
}

#endif
