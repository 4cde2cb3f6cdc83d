/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h: what somebody probably meant to type.
 * layer: num */
#ifndef CAUCUS_NUM_NEAREST_H
#define CAUCUS_NUM_NEAREST_H

#include <stddef.h>

/** The candidate nearest to `word` in edits (insert, drop, replace, swap neighbours), or NULL if more than a third of
 *  its letters would be wrong.
 *  In:      candidate(user, i) for i = 0, 1, ...; NULL ends the list. */
const char *caucus_nearest(const char *word, const char *(*candidate)(const void *user, size_t i), const void *user);

/** " — did you mean 'json'?" for a message that ends there, or "" if no word is near; `words` end with NULL. */
typedef struct caucus_meant {
    char text[64];
} caucus_meant;
caucus_meant caucus_meant_of(const char *word, const char *const *words);

#endif
