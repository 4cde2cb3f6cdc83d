/* SPDX-License-Identifier: Apache-2.0 */
/* values.h: what can stand after an option, for shells that complete it. */
#ifndef CAUCUS_CLI_COMPLETION_VALUES_H
#define CAUCUS_CLI_COMPLETION_VALUES_H

#include "cli/options.h"

typedef enum caucus_completion_kind {
    CAUCUS_VALUES_NONE,  /* the option is yes or no: nothing stands after it */
    CAUCUS_VALUES_FREE,  /* a number, a name, an address: nothing can be proposed */
    CAUCUS_VALUES_FILES, /* a file or a folder */
    CAUCUS_VALUES_WORDS,
} caucus_completion_kind;

caucus_completion_kind caucus_values_of(const char *verb, const caucus_option *option);

/** Word number i of those that the option takes, NULL after the last. */
const char *caucus_values_word(const char *verb, const caucus_option *option, unsigned i);

/** Word number i of those that a verb takes first, NULL after the last. Of a verb without any, files stand there. */
const char *caucus_values_first(const char *verb, unsigned i);

#endif
