/* SPDX-License-Identifier: Apache-2.0 */
/* losses.h: losses that lie in memory, where a file would otherwise hold them.
 * layer: data
 *
 * In the library caucus-sim, and experimental: what is here may still change before 1.0. */
#ifndef CAUCUS_LOSSES_H
#define CAUCUS_LOSSES_H

#include <caucus/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Losses of some clients: clients x rounds x experts, row by row without gaps, as NumPy's arrays in C order are.
 *  Set up by caucus_loss_array_init(), then filled in; the struct grows at its end. */
typedef struct caucus_loss_array {
    size_t size;        /* of this struct, as the caller knows it; set by caucus_loss_array_init() */
    const void *values; /* float or double, borrowed; need not be aligned */
    bool wide;          /* double rather than float */
    uint32_t clients;   /* 1 or more */
    uint32_t experts;   /* 1 or more */
    uint64_t rounds;    /* 1 or more */
} caucus_loss_array;
/** Zeros, and the size. */
CAUCUS_API void caucus_loss_array_init(caucus_loss_array *ret);

#ifdef __cplusplus
}
#endif
#endif
