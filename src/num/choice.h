/* SPDX-License-Identifier: Apache-2.0 */
/* choice.h: settings with a few values, each of which has a word that people write and a line of help.
 * layer: num
 *
 * A choice is a list X(NAME, "word", "help") in some header (CAUCUS_TRUST_LIST, CAUCUS_ADVERSARY_LIST, ...), from which
 * its enum is made. One source file defines its functions from the same list:
 *
 *     CAUCUS_CHOICE_WORDS(trust, CAUCUS_TRUST_LIST)     trust_choices[], caucus_trust_word(), caucus_trust_help()
 *     CAUCUS_CHOICE_PARSE(trust, "trust")               caucus_trust_parse(), whose error names the field "trust" */
#ifndef CAUCUS_NUM_CHOICE_H
#define CAUCUS_NUM_CHOICE_H

#include <caucus/status.h>
#include <stddef.h>

typedef struct caucus_choice {
    const char *word, *help;
} caucus_choice;

/* One row of a table. */
#define CAUCUS_CHOICE(name, word, help) {word, help},

/** Of a value; "?" if it is none. */
static inline const char *caucus_choice_word(const caucus_choice *table, size_t count, size_t value) {
    return value < count ? table[value].word : "?";
}
static inline const char *caucus_choice_help(const caucus_choice *table, size_t count, size_t value) {
    return value < count ? table[value].help : "?";
}

/** The value of a word (NULL is none).
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (the error names `field` and lists the words). */
caucus_status caucus_choice_parse(const caucus_choice *table, size_t count, const char *field, const char *word,
                                  size_t *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** "what (accepted: a, b, c)". Returns: CAUCUS_E_RANGE. */
caucus_status caucus_choice_refuse(const caucus_choice *table, size_t count, const char *field, const char *what,
                                   caucus_error *ret_error);

#define CAUCUS_CHOICE_WORDS(type, LIST)                                                                                \
    static const caucus_choice type##_choices[] = {LIST(CAUCUS_CHOICE)};                                               \
    static const size_t type##_count = sizeof type##_choices / sizeof type##_choices[0];                               \
    const char *caucus_##type##_word(caucus_##type value) {                                                            \
        return caucus_choice_word(type##_choices, type##_count, (size_t)value);                                        \
    }                                                                                                                  \
    const char *caucus_##type##_help(caucus_##type value) {                                                            \
        return caucus_choice_help(type##_choices, type##_count, (size_t)value);                                        \
    }

#define CAUCUS_CHOICE_PARSE(type, field)                                                                               \
    caucus_status caucus_##type##_parse(const char *word, caucus_##type *ret, caucus_error *ret_error) {               \
        size_t index = 0;                                                                                              \
        caucus_status status = caucus_choice_parse(type##_choices, type##_count, field, word, &index, ret_error);      \
        if (status == CAUCUS_OK)                                                                                       \
            *ret = (caucus_##type)index;                                                                               \
        return status;                                                                                                 \
    }

#endif
