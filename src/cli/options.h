/* SPDX-License-Identifier: Apache-2.0 */
/* options.h: command lines, for every verb.
 * layer: cli
 *
 * `--name value`, `--name=value`, and `--name` alone for yes/no options (which also take =true and =false). `--` ends
 * the options. An unknown option is refused with the nearest known one. */
#ifndef CAUCUS_CLI_OPTIONS_H
#define CAUCUS_CLI_OPTIONS_H

#include "cli/exit_codes.h"

#include <stdbool.h>
#include <stddef.h>

/* --pace of join and up, in milliseconds: a day. */
#define CAUCUS_PACE_MAX 86400000.0

typedef struct caucus_option {
    const char *name;     /* without dashes; NULL ends a table */
    const char *argument; /* what help calls its value; NULL: yes or no */
    const char *fallback; /* its default, for help; NULL: none */
    const char *help;
} caucus_option;

/* Takes an option's value ("true" for a yes/no option alone), or a word that is no option (index = SIZE_MAX).
 * Returns: 0 to go on, else an exit code; it has said why. */
typedef int (*caucus_option_taker)(void *user, size_t index, const char *value);

#define CAUCUS_OPTIONS_HELP (-1)
/** Go through argv[1..].
 *  Returns: 0, the taker's exit code, CAUCUS_EXIT_USAGE (said on stderr), or CAUCUS_OPTIONS_HELP if --help (or -h)
 *           stands anywhere before `--`. */
int caucus_options_parse(const char *verb, const caucus_option *options, int argc, char **argv,
                         caucus_option_taker take, void *user);

/** Print options first .. first+count-1 as lines of help: "  --epsilon E   what it is (1)". */
void caucus_options_help(const caucus_option *options, size_t first, size_t count);

#endif
