/* SPDX-License-Identifier: Apache-2.0 */
/* story.h: what happened in a run, beyond its regret: which expert was in force and for how long, what it cost.
 * layer: show */
#ifndef CAUCUS_SHOW_STORY_H
#define CAUCUS_SHOW_STORY_H

#include "show/output.h"

typedef struct caucus_story {
    double loss, best_loss;   /* per client, means over trials; the best expert's (or mixture's) in hindsight */
    bool experts;             /* experts are played, not mixtures: what follows means something */
    uint32_t ended_with_best; /* trials whose last expert was the best in hindsight */
    double share_of_last; /* of the rounds, in all stretches of the last expert, on average; from the trial's record */
    double rounds_in_force; /* of the last expert, up to the end, on average */
    bool limited;           /* the plan allows so many switches in all */
    uint32_t ran_out;       /* trials in which all of them were made */
    double clipped_share;   /* of all losses, those outside their range or not a number; NAN: of gradients */
} caucus_story;

/** Of the complete trials; at least one. */
caucus_story caucus_story_of(const caucus_run *run, const caucus_run_result *result);

/** A paragraph for each of a few runs, in lines of at most outcome->width columns, or 120; a row for each of many. */
void caucus_story_print(FILE *out, const caucus_outcome *outcome);

#endif
