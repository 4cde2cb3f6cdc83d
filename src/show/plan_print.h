/* SPDX-License-Identifier: Apache-2.0 */
/* plan_print.h: a plan for people and for programs.
 * layer: show */
#ifndef CAUCUS_SHOW_PLAN_PRINT_H
#define CAUCUS_SHOW_PLAN_PRINT_H

#include "plan/plan.h"
#include "show/choice/quick.h"
#include <caucus/plan_file.h>

#include <stdio.h>

typedef struct caucus_plan_report {
    const caucus_plan *plan;
    caucus_knowledge known; /* CAUCUS_KNOWLEDGE_COUNT: not said */
    caucus_plan_traffic traffic;
    caucus_quick quick;
    int width; /* columns of the screen it is printed on, 0: as wide as its tables are */
} caucus_plan_report;

/** Everything about a plan that has to be computed or played.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_plan_report_make(const caucus_plan *plan, caucus_knowledge known, caucus_plan_report *ret,
                                      caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** One screen. */
void caucus_plan_print(FILE *out, const caucus_plan_report *report);
/** One JSON object: every setting and integer of the plan (fractions as "num/den"), and what follows from them. */
void caucus_plan_print_json(FILE *out, const caucus_plan_report *report);
/** The derivation, step by step, with the numbers put in; each step names its section of docs/PRIVACY.md. */
void caucus_plan_explain(FILE *out, const caucus_plan *plan);

#endif
