/* SPDX-License-Identifier: Apache-2.0 */
/* recommend.h: which algorithm, which mode and which trust, and why.
 * layer: show
 *
 * Everything that fits the settings is planned and played, against losses of each kind that may be known or against
 * somebody's own; the advice then follows from what was seen beside what is proved for such losses. All candidates of
 * one table meet the very same losses, and where the run is too large to be played quickly all of them are played
 * shorter, or with fewer clients, and that is said. */
#ifndef CAUCUS_SHOW_CHOICE_RECOMMEND_H
#define CAUCUS_SHOW_CHOICE_RECOMMEND_H

#include "show/plan_facts.h"

#include <stdio.h>

/* What is asked. */
typedef struct caucus_question {
    caucus_settings settings; /* algorithm is ignored; trust CAUCUS_TRUST_COUNT: compare coordinator and nobody. What
                                 belongs to one algorithm (lstar, ...) is used where it applies */
    caucus_knowledge known;   /* CAUCUS_KNOWLEDGE_COUNT: each of them */
    bool interval_open;       /* nobody has said an interval: auto where there is one */
    /* Somebody's own losses, from a file or in memory; both NULL: simulated ones. */
    const char *losses;
    const caucus_loss_array *array;
    bool clients_open, experts_open, rounds_open; /* with own losses: as many as they have */
    bool range_open; /* nobody has stated one: commands to type next may have another (caucus_comparison_range()) */
    int width;       /* columns of the screen that the answer is shown on; 0: as wide as it is */
} caucus_question;

/** Compare and print.
 *  In:      text, json  where to; either may be NULL.
 *  Returns: CAUCUS_OK; CAUCUS_E_RANGE, CAUCUS_E_INFEASIBLE (nothing fits: why the first candidate does not),
 *           CAUCUS_E_CONFLICT; CAUCUS_E_MEMORY; what own losses are refused for (sim/adversary.h).
 *  Privacy: own losses are read as they are: what is printed is NOT PRIVATE.
 *  Cost:    about 10 seconds on two cores, whatever the size. */
caucus_status caucus_recommend(FILE *text, FILE *json, const caucus_question *question,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
