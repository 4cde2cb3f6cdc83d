/* SPDX-License-Identifier: Apache-2.0 */
/* choice.c: see choice.h. */
#include "num/choice.h"

#include "num/nearest.h"

#include <stdio.h>
#include <string.h>

caucus_status caucus_choice_refuse(const caucus_choice *table, size_t count, const char *field, const char *what,
                                   caucus_error *ret_error) {
    char words[208] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof words; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", i == 0 ? "" : ", ", table[i].word);
    return caucus_fail(ret_error, CAUCUS_E_RANGE, field, "%s (accepted: %s)", what, words);
}

typedef struct words {
    const caucus_choice *table;
    size_t count;
} words;

static const char *word_at(const void *user, size_t i) {
    const words *known = user;
    return i < known->count ? known->table[i].word : NULL;
}

caucus_status caucus_choice_parse(const caucus_choice *table, size_t count, const char *field, const char *word,
                                  size_t *ret, caucus_error *ret_error) {
    for (size_t i = 0; word != NULL && i < count; i++) {
        if (strcmp(word, table[i].word) == 0) {
            *ret = i;
            return CAUCUS_OK;
        }
    }
    char quoted[36];
    (void)snprintf(quoted, sizeof quoted, "'%.32s'", word != NULL ? word : "");
    const caucus_status status = caucus_choice_refuse(table, count, field, quoted, ret_error);
    const words known = {table, count};
    const char *meant = word != NULL ? caucus_nearest(word, word_at, &known) : NULL;
    if (meant == NULL)
        return status;
    char hint[64];
    (void)snprintf(hint, sizeof hint, "did you mean %s?", meant);
    return caucus_fail_hint(ret_error, status, hint);
}
