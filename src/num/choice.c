/* SPDX-License-Identifier: Apache-2.0 */
/* choice.c: see choice.h. */
#include "num/choice.h"

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
    return caucus_choice_refuse(table, count, field, quoted, ret_error);
}
