/* SPDX-License-Identifier: Apache-2.0 */
/* wipe.h: free what held losses, sums or noise. */
#ifndef CAUCUS_ALGO_WIPE_H
#define CAUCUS_ALGO_WIPE_H

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* NULL is allowed. */
static inline void caucus_wipe_free(void *memory, size_t bytes) {
    if (memory)
        sodium_memzero(memory, bytes);
    free(memory);
}

/* `more` bytes instead of `room`, of which the first `used` are kept; not realloc(), which would leave what is freed as
 * it was. Returns: the new memory; NULL: there is none, and the old one is as it was. */
static inline void *caucus_wipe_grow(void *memory, size_t used, size_t room, size_t more) {
    void *grown = malloc(more);
    if (!grown)
        return NULL;
    if (used > 0)
        memcpy(grown, memory, used);
    caucus_wipe_free(memory, room);
    return grown;
}

#endif
