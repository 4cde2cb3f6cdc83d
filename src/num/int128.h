/* SPDX-License-Identifier: Apache-2.0 */
/* int128.h: 128-bit integers, the one place that names them.
 * layer: num
 *
 * They are an extension of gcc and clang on 64-bit machines; `__extension__` keeps -Wpedantic quiet about this one use.
 * They never appear in an installed header: what is public fits 64 bits. */
#ifndef CAUCUS_NUM_INT128_H
#define CAUCUS_NUM_INT128_H

__extension__ typedef unsigned __int128 caucus_u128;
__extension__ typedef __int128 caucus_i128;

#endif
