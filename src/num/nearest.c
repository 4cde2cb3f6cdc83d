/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c: edit distance for suggestions. See nearest.h. */
#include "num/nearest.h"

#include <stdio.h>
#include <string.h>

/* Longer words than this are nobody's typing error; it bounds the table below. */
enum { WORD_MAX = 32 };

/* The usual table, three rows of it (a swap looks two rows back). */
static size_t distance(const char *a, size_t la, const char *b, size_t lb) {
    size_t row[3][WORD_MAX + 1] = {{0}};
    for (size_t j = 0; j <= lb; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[la % 3][lb];
}

const char *caucus_nearest(const char *word, const char *(*candidate)(const void *user, size_t i), const void *user) {
    const char *found = NULL;
    size_t best = WORD_MAX, length = strnlen(word, WORD_MAX + 1);
    if (length > WORD_MAX)
        return NULL;
    for (size_t i = 0;; i++) {
        const char *name = candidate(user, i);
        if (name == NULL)
            return found;
        size_t name_length = strnlen(name, WORD_MAX + 1);
        if (name_length > WORD_MAX)
            continue;
        size_t edits = distance(word, length, name, name_length);
        if (edits < best && 3 * edits <= name_length) {
            best = edits;
            found = name;
        }
    }
}

static const char *listed(const void *user, size_t i) {
    const char *const *words = user;
    return words[i];
}

caucus_meant caucus_meant_of(const char *word, const char *const *words) {
    caucus_meant ret = {""};
    const char *meant = caucus_nearest(word, listed, words);
    if (meant != NULL)
        (void)snprintf(ret.text, sizeof ret.text, " — did you mean '%s'?", meant);
    return ret;
}
