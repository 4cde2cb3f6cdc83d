/* SPDX-License-Identifier: Apache-2.0 */
/* clones.h: one source of a kernel, compiled for several instruction sets, chosen when the program starts.
 * layer: num
 *
 * The kernels hold integers, or floats used only by operations that IEEE 754 fixes, so every clone gives
 * the same bits. gcc alone knows the attribute in C; its resolvers run before a sanitizer is ready. */
#ifndef CAUCUS_NUM_CLONES_H
#define CAUCUS_NUM_CLONES_H

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) &&                       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAUCUS_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CAUCUS_CLONES
#endif

#endif
