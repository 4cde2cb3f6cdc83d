/* SPDX-License-Identifier: Apache-2.0 */
/* plan_pairs.h: a plan as a list of keys and values, as its file has them.
 * layer: show */
#ifndef CAUCUS_SHOW_PLAN_PAIRS_H
#define CAUCUS_SHOW_PLAN_PAIRS_H

#include "plan/plan.h"

typedef struct caucus_plan_pair {
    char *key, *value; /* "settings.rounds", "512"; entries of a list have numbers from 1: "svt.select-rate.1" */
} caucus_plan_pair;

typedef struct caucus_plan_pairs {
    caucus_plan_pair *pair;
    size_t count;
} caucus_plan_pairs;

/** Every setting, defaults too, and every integer of the mechanisms. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_plan_pairs_make(const caucus_plan *plan, caucus_plan_pairs *ret,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_plan_pairs_free(caucus_plan_pairs *pairs);
/** Its value, or NULL. `near`: where it is looked for first. */
const char *caucus_plan_pairs_find(const caucus_plan_pairs *pairs, const char *key, size_t near);

#endif
