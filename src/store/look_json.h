/* SPDX-License-Identifier: Apache-2.0 */
/* look_json.h: what was shown of the losses of a phase, as JSON: in the coordinator's status and summary, and in the
 * results of simulations.
 * layer: store */
#ifndef CAUCUS_STORE_LOOK_JSON_H
#define CAUCUS_STORE_LOOK_JSON_H

#include <caucus/coordinator.h>

#include "store/json.h"

/** One object in one line; NULL: null. `key` is NULL within a list. The expert is looked up in the plan's names. */
void caucus_look_json(caucus_json *json, const char *key, const caucus_look *look, const caucus_plan *plan);
/** The object alone, as text: the same bytes that caucus_look_json() writes after its key. */
#define CAUCUS_LOOK_BYTES 512
void caucus_look_text(const caucus_look *look, const caucus_plan *plan, char ret[CAUCUS_LOOK_BYTES]);
/** "0.312 (0.29 to 0.34)": for people, with as many digits as the interval has. */
#define CAUCUS_LOOK_WORDS_BYTES 96
void caucus_look_words(const caucus_look *look, char ret[CAUCUS_LOOK_WORDS_BYTES]);

#endif
