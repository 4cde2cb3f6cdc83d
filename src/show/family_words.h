/* SPDX-License-Identifier: Apache-2.0 */
/* family_words.h: how the plans of a family of algorithms are told: one table of operations per family (plan/family.h).
 * layer: show */
#ifndef CAUCUS_SHOW_FAMILY_WORDS_H
#define CAUCUS_SHOW_FAMILY_WORDS_H

#include "plan/family.h"
#include "show/plan_facts.h"
#include "store/json.h"

#include <stdio.h>

/* Steps of an explanation, numbered as they are told. */
typedef struct caucus_explainer {
    FILE *out;
    const caucus_plan *plan;
    unsigned step;
} caucus_explainer;

/** The next step: "  3. text   ("Section")", a section of docs/PRIVACY.md; and a further line of it. */
void caucus_explain_say(caucus_explainer *e, const char *section, const char *format, ...) CAUCUS_PRINTF(3, 4);
void caucus_explain_more(caucus_explainer *e, const char *format, ...) CAUCUS_PRINTF(2, 3);
/** The accountant's word, the same for all. */
void caucus_explain_account(caucus_explainer *e);

typedef struct caucus_family_words {
    caucus_knowledge assumes; /* what its bounds assume of the losses; they hold for any if it is ANY */
    bool recommended;         /* compared by `plan --recommend` */
    bool means;               /* unit client-block: its scores are sums of blocks' means, not of phases' */

    /* The lines of the plan's one screen about noise. `width`: its columns, 0: as wide as tables are. */
    void (*print)(FILE *out, const caucus_plan *plan, int width);
    /* Why no bound is proved, where none is. */
    const char *(*why_none)(const caucus_plan *plan);
    /* The steps of the derivation after "The grid", the accountant's among them. */
    void (*explain)(caucus_explainer *e);
    /* The section of docs/PRIVACY.md that proves what its plans promise. */
    const char *(*proof)(const caucus_plan *plan);
    /* The JSON object "meaning": what the integers mean, as real numbers in loss units. NULL: nothing. */
    void (*meaning)(caucus_json *json, const caucus_plan *plan);
    /* Reports, scalars and memory (`ret` comes zeroed; bytes and the machines themselves are added for all). */
    void (*traffic)(const caucus_plan *plan, caucus_plan_traffic *ret);
    /* Switches after which the expert in force stays to the end of the run; 0: there is no such number. */
    uint64_t (*most_switches)(const caucus_plan *plan);
    /* The number of clients from which on privacy costs nothing, 0 if it does not here. NULL: it always does. */
    double (*free_from)(const caucus_plan *plan);
} caucus_family_words;

/* In the table of a family: the operations that every family has, each of them a static function of that name in the
 * family's file. A family that lacks one does not compile. */
#define CAUCUS_FAMILY_WORDS                                                                                            \
    .print = print, .why_none = why_none, .explain = explain, .proof = proof, .traffic = traffic,                      \
    .most_switches = most_switches

const caucus_family_words *caucus_family_words_of(caucus_family family);

#endif
