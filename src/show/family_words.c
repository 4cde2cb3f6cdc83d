/* SPDX-License-Identifier: Apache-2.0 */
/* family_words.c: see family_words.h. */
#include "show/family_words.h"

#define DECLARE(NAME, name) extern const caucus_family_words caucus_words_##name;
CAUCUS_FAMILY_LIST(DECLARE)
#undef DECLARE

static const caucus_family_words *const words[CAUCUS_FAMILY_COUNT] = {
#define ENTRY(NAME, name) &caucus_words_##name,
    CAUCUS_FAMILY_LIST(ENTRY)
#undef ENTRY
};

const caucus_family_words *caucus_family_words_of(caucus_family family) {
    return words[family];
}
