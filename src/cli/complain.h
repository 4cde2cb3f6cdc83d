/* SPDX-License-Identifier: Apache-2.0 */
/* complain.h: the one line with which a verb fails.
 * layer: cli
 *
 * Below the program an error names a field ("epsilon") and hints at fields in single quotes ('deadline'). Here they get
 * the names under which this verb takes them (--epsilon), from its table of options; a field that is not in the table
 * is none of this command line and stays as it is. */
#ifndef CAUCUS_CLI_COMPLAIN_H
#define CAUCUS_CLI_COMPLAIN_H

#include "cli/exit_codes.h"
#include "cli/options.h"
#include "num/error_line.h"
#include "scenario/scenario.h"

/** Put --names in the place of 'names' in the error's hint. */
void caucus_complain_name(const caucus_option *options, caucus_error *error);

/** "text: what the system said — hint", with --names in the hint. */
void caucus_complain_line(const caucus_option *options, caucus_status status, const caucus_error *error,
                          char ret[CAUCUS_ERROR_LINE_BYTES]);

/** "caucus VERB: --field text: what the system said — hint" on standard error. Returns: the exit code of the status. */
int caucus_complain(const char *verb, const caucus_option *options, caucus_status status, const caucus_error *error);

/** The line of a complaint about settings: "FILE:LINE: field: …" or "caucus VERB: --field …". Returns: the exit
 *  code. */
int caucus_complain_scenario(const char *verb, caucus_status status, const caucus_complaint *complaint);

/** "caucus VERB: out of memory" on standard error. Returns: CAUCUS_EXIT_FAILED. */
int caucus_complain_memory(const char *verb);

#endif
