/* SPDX-License-Identifier: Apache-2.0 */
/* asked.h: plans that are asked for in words, and how a plan looks to people.
 * layer: show
 *
 * In the library caucus-sim, and experimental: what is here may still change before 1.0. It is what a binding for
 * another language needs so as to say what the program says: a setting is a name and a text, as it would be written
 * behind a flag of `caucus plan`, and is read, checked and refused by the same code, in the same words. */
#ifndef CAUCUS_ASKED_H
#define CAUCUS_ASKED_H

#include <caucus/plan.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A setting in words: {"epsilon", "0.5"}, {"front-load", "true"}, {"names", "small,large"}.
 *  Fixed: a word and its text are all that a flag is, and callers write arrays of them. */
typedef struct caucus_named {
    const char *name;  /* as in files and, behind two dashes, on the command line */
    const char *value; /* as written there */
} caucus_named;

/** A plan from the settings that `caucus plan` takes; what is not given has the program's default. No algorithm is one:
 *  either it is named, or `losses-are` (iid, drifting, realizable, any or adaptive) chooses it.
 *  Out:     *ret  free with caucus_plan_free(); written only on success.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (given twice, or empty), CAUCUS_E_MEMORY, or what caucus_plan_new() says. The
 *           error's field is the setting's name; its text goes on behind the name as the program's line does behind
 *           the flag ("0: must be above 0"), or begins with a colon. */
CAUCUS_API caucus_status caucus_plan_ask(const caucus_named *setting, size_t settings, caucus_plan **ret,
                                         caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Ways to show a plan. */
typedef enum caucus_plan_view {
    CAUCUS_PLAN_VIEW_TEXT = 0, /* one screen for people, with a quick simulation: about a second at most */
    CAUCUS_PLAN_VIEW_EXPLAIN,  /* how every number came about */
    CAUCUS_PLAN_VIEW_JSON      /* every setting and integer, and what follows from them (docs/schemas/plan.json) */
} caucus_plan_view;

/** What `caucus plan` prints of a plan.
 *  Out:     *ret  ends in a zero that is not counted in *ret_size; freed by the caller with free().
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_plan_show(const caucus_plan *plan, caucus_plan_view view, char **ret, size_t *ret_size,
                                          caucus_error *ret_error) CAUCUS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
