/* SPDX-License-Identifier: Apache-2.0 */
/* given.h: the values of a verb's options, as they were given by flags or a file, and how they are read.
 * layer: cli
 *
 * For verbs that collect all values before they look at any of them. What is wrong is said on standard error, with the
 * flag, or the file and line, that it came from. */
#ifndef CAUCUS_CLI_GIVEN_H
#define CAUCUS_CLI_GIVEN_H

#include "cli/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct caucus_given {
    const char *verb;
    const caucus_option *options; /* the verb's table */
    const char **value;           /* [options]: NULL: not given */
} caucus_given;

/** Keep the value of option `index`, as caucus_option_taker is called; a word that is no option is refused, as is an
 *  option that is given twice. Returns: 0, or an exit code. */
int caucus_given_take(const caucus_given *given, size_t index, const char *value);

/** Whether a yes/no option is given, and says yes. */
bool caucus_given_on(const caucus_given *given, size_t option);

/** A whole number, or one of some words, whose position becomes *ret; `all` names them for the complaint. *ret stays as
 *  it is if the option was not given. Returns: false if the value is wrong. */
bool caucus_given_number(const caucus_given *given, size_t option, uint64_t least, uint64_t most, uint64_t *ret);
bool caucus_given_word(const caucus_given *given, size_t option, const char *const *words, const char *all,
                       size_t *ret);
/** --format and --log-format: text or json. */
bool caucus_given_json(const caucus_given *given, size_t option, bool *ret);
/** --log-level: a caucus_log_level. */
bool caucus_given_log_level(const caucus_given *given, size_t option, size_t *ret);

/** What a listener needs: certificates, or leave to work without them, and not both. `maker`: the command that makes
 *  some to try. */
typedef struct caucus_given_listener {
    size_t cert, key, client_ca, insecure;
    const char *maker;
} caucus_given_listener;
bool caucus_given_certificates(const caucus_given *given, const caucus_given_listener *listener);

#endif
