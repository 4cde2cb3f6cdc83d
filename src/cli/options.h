/* SPDX-License-Identifier: Apache-2.0 */
/* options.h: command lines, for every verb.
 * layer: cli
 *
 * `--name value`, `--name=value`, and `--name` alone for yes/no options (which also take =true and =false). `--` ends
 * the options. An unknown option is refused with the nearest known one. */
#ifndef CAUCUS_CLI_OPTIONS_H
#define CAUCUS_CLI_OPTIONS_H

#include "cli/exit_codes.h"

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>

/* --delay of join and up, in milliseconds: a day. */
#define CAUCUS_DELAY_MAX 86400000.0

typedef struct caucus_option {
    const char *name;     /* without dashes; NULL ends a table */
    const char *argument; /* what help calls its value; NULL: yes or no */
    const char *fallback; /* its default, for help; NULL: none */
    const char *help;
} caucus_option;

/* A verb may have its options in one list, OPTION_LIST(X) of X(NAME, "word", "VALUE", "default", "help"), from which
 * these make the numbers OPTION_NAME and the rows of the table. */
#define CAUCUS_OPTION_NUMBER(NAME, word, argument, fallback, help) OPTION_##NAME,
#define CAUCUS_OPTION_ROW(NAME, word, argument, fallback, help) {word, argument, fallback, help},

/* The help of --config; `example`: a line of such a file. */
#define CAUCUS_CONFIG_HELP(example) "options from a file, the same words, one per line (" example "); a flag wins"

/** How a verb calls itself in front of what it says: "caucus join"; or the name of a program that is this verb alone
 *  ("caucus-client"), once caucus_program_is() has said so. Both are there until the next call. */
const char *caucus_program(const char *verb);
void caucus_program_is(const char *name);

/* Takes an option's value ("true" for a yes/no option alone), or a word that is no option (index = SIZE_MAX).
 * Returns: 0 to go on, else an exit code; it has said why. */
typedef int (*caucus_option_taker)(void *user, size_t index, const char *value);

#define CAUCUS_OPTIONS_HELP (-1)
/** Go through argv[1..].
 *  Returns: 0, the taker's exit code, CAUCUS_EXIT_USAGE (said on stderr), or CAUCUS_OPTIONS_HELP if --help (or -h)
 *           stands anywhere before `--`. */
int caucus_options_parse(const char *verb, const caucus_option *options, int argc, char **argv,
                         caucus_option_taker take, void *user);

/** From now on caucus_options_parse() shows its table to `see` and returns CAUCUS_EXIT_USAGE, saying nothing, so that a
 *  verb ends where it has begun. NULL: it parses again. */
void caucus_options_watch(void (*see)(const char *verb, const caucus_option *options));

/** Is the verb over with what caucus_options_parse() returned? Help that was asked for is printed by `help`.
 *  Out:     *code: what to exit with, if so. */
bool caucus_options_over(int *code, void (*help)(void));

/** Print options first .. first+count-1 as lines of help: "  --epsilon E   what it is (1)". */
void caucus_options_help(const caucus_option *options, size_t first, size_t count);

/** The help of a verb with one list of options: its text, then all of them. */
void caucus_options_page(const char *text, const caucus_option *options, size_t count);

/* A verb with one page of help and one list of options. */
typedef struct caucus_small_verb {
    const char *name, *help; /* help: what stands above the options */
    const caucus_option *options;
    caucus_option_taker take;
    const char *word; /* what the one word beside the options is ("plan"); NULL: `take` is given such words, too */
} caucus_small_verb;
/** caucus_options_parse(), and the page of help if it was asked for.
 *  Out:     *ret_word: the word, if there is one; *ret_code: what to exit with, if the verb is over.
 *  Returns: whether it is. */
bool caucus_small_verb_over(const caucus_small_verb *verb, int argc, char **argv, void *user, const char **ret_word,
                            int *ret_code);

/* A section of help: an empty line, its title ("": the one before goes on), options first .. end-1, and lines below
 * them or NULL. */
typedef struct caucus_option_section {
    const char *title;
    size_t first, end;
    const char *below;
} caucus_option_section;
/** Print sections up to one without a title. */
void caucus_options_sections(const caucus_option *options, const caucus_option_section *sections);

/** "caucus VERB: what is wrong with the command line" on standard error. Returns: CAUCUS_EXIT_USAGE. */
int caucus_usage(const char *verb, const char *format, ...) CAUCUS_PRINTF(2, 3);

/** The one word beside the options that a verb takes ("scenario file"). Returns: 0, or CAUCUS_EXIT_USAGE if there was
 *  one already; it has said so. */
int caucus_take_word(const char *verb, const char *what, const char *value, const char **ret);
/** The value of --format; NULL: it was not given, which is text. Returns: 0, or CAUCUS_EXIT_USAGE; it has said why. */
int caucus_take_format(const char *verb, const char *value, bool *ret_json);
/** The value of a yes/no option. Returns: 0, or CAUCUS_EXIT_USAGE; it has said why. */
int caucus_take_switch(const char *verb, const char *option, const char *value, bool *ret);

#endif
