/* SPDX-License-Identifier: Apache-2.0 */
/* out_dir.h: a directory of results, written whole or not at all, and what a stopped simulation leaves in it.
 * layer: show
 *
 * Every file is written under another name, synced and renamed, so that a reader never sees half of one.
 *   results.json  trials.csv  curves.csv  choices.csv    the results (output.h)
 *   unfinished.csv                          only while a simulation is under way or was stopped: every complete trial
 * to the last bit, so that going on gives the very bytes of an undisturbed run */
#ifndef CAUCUS_SHOW_OUT_DIR_H
#define CAUCUS_SHOW_OUT_DIR_H

#include "show/output.h"

/** Make the directory and its parents where missing. *ret_made says whether the last one is new.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_FULL, CAUCUS_E_IO. */
caucus_status caucus_out_dir_make(const char *directory, bool *ret_made, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Write the result files. */
caucus_status caucus_out_dir_write(const char *directory, const caucus_outcome *outcome,
                                   caucus_error *ret_error) CAUCUS_MUST_CHECK;

bool caucus_out_dir_unfinished(const char *directory);

/** Save the complete trials of all `count` runs (results beyond outcome->count have none). */
caucus_status caucus_unfinished_save(const char *directory, const caucus_run *runs, size_t count,
                                     const caucus_outcome *outcome, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* Trials loaded for one run. */
typedef struct caucus_unfinished {
    caucus_trial_result *trial; /* [done] */
    uint32_t done;
} caucus_unfinished;

/** Load what was saved for the same runs (any number of trials).
 *  Out:     ret [count], zeroed by the caller; free each ->trial.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_FULL, CAUCUS_E_IO, CAUCUS_E_FORMAT (file, line),
 *           CAUCUS_E_CONFLICT (other settings), CAUCUS_E_MEMORY. */
caucus_status caucus_unfinished_load(const char *directory, const caucus_run *runs, size_t count,
                                     caucus_unfinished *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

void caucus_unfinished_remove(const char *directory);

#endif
