/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h: what changes from one plan to another, privacy first.
 * layer: show */
#ifndef CAUCUS_SHOW_COMPARE_H
#define CAUCUS_SHOW_COMPARE_H

#include "plan/plan.h"

#include <stdio.h>

/* What the second plan promises, beside the first. X(NAME, "word") */
#define CAUCUS_COMPARED_LIST(X)                                                                                        \
    X(SAME, "same")                                                                                                    \
    X(MORE, "more")                                                                                                    \
    X(LESS, "less")                                                                                                    \
    X(MIXED, "mixed")                                                                                                  \
    X(UNITS, "units-differ") /* the promises are about different things: their epsilons cannot be compared */

typedef enum caucus_compared {
#define CAUCUS_ENUM_COMPARED(name, word) CAUCUS_COMPARED_##name,
    CAUCUS_COMPARED_LIST(CAUCUS_ENUM_COMPARED)
#undef CAUCUS_ENUM_COMPARED
} caucus_compared;

/* One thing that differs. */
typedef struct caucus_change {
    const char *section;  /* "privacy", "regret", "traffic", "settings", "mechanism" */
    char *what;           /* a key: "epsilon_choices", "rounds", "svt.select_rate.3" */
    char *before, *after; /* NULL: only the other plan has it */
} caucus_change;

typedef struct caucus_plan_comparison {
    const caucus_plan *plan[2];
    const char *file[2];
    caucus_compared privacy;
    caucus_change *change; /* [count], by section */
    size_t count;
} caucus_plan_comparison;

/** Compare. The plans and names are borrowed. Free *ret with caucus_compare_free().
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_compare_make(const caucus_plan *const plan[2], const char *const file[2],
                                  caucus_plan_comparison *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_compare_free(caucus_plan_comparison *comparison);

/** For people, in lines of at most `width` columns where words allow it; and one JSON object
 *  (docs/schemas/compare.json). */
void caucus_compare_print(FILE *out, const caucus_plan_comparison *comparison, int width);
void caucus_compare_json(FILE *out, const caucus_plan_comparison *comparison);

#endif
