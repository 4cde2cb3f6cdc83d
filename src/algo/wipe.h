/* SPDX-License-Identifier: Apache-2.0 */
/* wipe.h: free what held losses, sums or noise. */
#ifndef CAUCUS_ALGO_WIPE_H
#define CAUCUS_ALGO_WIPE_H

#include <sodium.h>
#include <stdlib.h>

/* NULL is allowed. */
static inline void caucus_wipe_free(void *memory, size_t bytes) {
    if (memory)
        sodium_memzero(memory, bytes);
    free(memory);
}

#endif
