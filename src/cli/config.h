/* SPDX-License-Identifier: Apache-2.0 */
/* config.h: options from a file, `--config FILE`: the same words as flags, and a flag wins.
 *
 *     plan: /etc/caucus/plan.yaml
 *     deadline: 60
 *     insecure: true */
#ifndef CAUCUS_CLI_CONFIG_H
#define CAUCUS_CLI_CONFIG_H

#include "cli/options.h"

#include <stdbool.h>

#define CAUCUS_CONFIG_PLACE_BYTES 256

/** Read a file and hand over each option that is in it and was not given as a flag.
 *  In:      given  as told: value[i] of option i, NULL if no flag gave it.
 *  Returns: 0, or an exit code; it has said why, with file and line. What `take` was handed lives until the program
 *           ends. */
int caucus_config_read(const char *verb, const caucus_option *options, const char *path, const char *const *value,
                       caucus_option_taker take, void *user);

/** Where an option's value stands, "serve.yaml:3", for complaints. False: it came as a flag, or not at all. */
bool caucus_config_place(const char *option, char ret[CAUCUS_CONFIG_PLACE_BYTES]);

/** Complain of an option's value: "caucus VERB: --deadline x: WHY", or "serve.yaml:3: deadline x: WHY".
 *  Returns: CAUCUS_EXIT_USAGE. value: NULL if it has nothing to do with it. */
int caucus_config_refuse(const char *verb, const char *option, const char *value, const char *format, ...)
    CAUCUS_PRINTF(4, 5);

#endif
