/* SPDX-License-Identifier: Apache-2.0 */
/* output.h: results of runs as a table for people, as JSON and as CSV.
 * layer: show
 *
 * Everything but `seconds` is a function of the settings: the same bytes for any number of threads. Numbers are the
 * shortest decimal that reads back as the same double. */
#ifndef CAUCUS_SHOW_OUTPUT_H
#define CAUCUS_SHOW_OUTPUT_H

#include "show/choice/history.h"
#include "sim/run.h"

#include <stdio.h>

/* Runs with their results, in order; the caller owns both. */
typedef struct caucus_outcome {
    const caucus_run *run;
    const caucus_run_result *result; /* only results of runs that were begun */
    size_t count;
    int width;                     /* columns of the screen that tables are printed on; 0: as wide as they are */
    bool unnamed;                  /* nobody has named an algorithm: the table's first line says which one was played */
    const caucus_history *history; /* what somebody's own losses say of premises; NULL: nobody has looked */
} caucus_outcome;

/** JSON with a member "runs", one object per run (docs/schemas/simulate.json). NaN and infinite are null. A run that
 *  was stopped has "done" below "trials", and only its complete trials are counted. "bound" is null unless the losses
 *  are known to be what it assumes, "bound_assumes" (bound_fit.h). */
void caucus_output_json(FILE *out, const caucus_outcome *outcome);

/** One line per run and trial; infinite epsilon is "inf". */
void caucus_output_trials(FILE *out, const caucus_outcome *outcome);

/** Mean and standard deviation of the regret so far, CAUCUS_CURVE_POINTS lines per run. */
void caucus_output_curves(FILE *out, const caucus_outcome *outcome);

/** Which expert was in force from which round on, one line per run, trial and change (sim/choices.h). */
void caucus_output_choices(FILE *out, const caucus_outcome *outcome);

/** The table for people, with its remarks. */
void caucus_output_table(FILE *out, const caucus_outcome *outcome);

/** Its first lines (output_head.c): NOT PRIVATE, what is weak (caucus_plan_weaknesses()), the unit of epsilon and what
 *  it comes to for a whole client. */
void caucus_output_head(FILE *out, const caucus_outcome *outcome);

/** Where nobody has named an algorithm: "; svt on realizable losses, since no algorithm was named". */
typedef struct caucus_unnamed_words {
    char text[128];
} caucus_unnamed_words;
caucus_unnamed_words caucus_output_unnamed(const caucus_run *run);

/** What a reader of any format must know: how many losses were not a number or outside their range, and which premises
 *  somebody's own losses refute; or nothing. */
void caucus_output_remarks(FILE *out, const caucus_outcome *outcome);

/** Look at the losses of runs on somebody's own, for caucus_outcome.history: *ret is NULL if they are another's.
 *  In:      run, adversary  of the first run, whose range and L* are those of all.
 *           found           where the answer is kept, by the caller.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY, CAUCUS_E_CHANGED. */
caucus_status caucus_outcome_look(const caucus_run *run, const caucus_adversary *adversary, caucus_history *found,
                                  const caucus_history **ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
