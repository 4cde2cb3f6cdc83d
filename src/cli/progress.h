/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h: a bar on standard error, for people who wait.
 * layer: cli
 *
 * Drawn only on a terminal, and only once something has taken half a second. Of several ranks none has a terminal,
 * mpirun stands between: rank 0 then prints a line now and then (caucus_progress_by_lines). */
#ifndef CAUCUS_CLI_PROGRESS_H
#define CAUCUS_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/** Set once, before the first bar. */
extern bool caucus_progress_by_lines;

typedef struct caucus_progress_bar {
    const char *label; /* borrowed */
    int label_width;   /* columns kept for it, so that bars stand under each other */
    double start, drawn;
    bool terminal, lines, shown, ascii;
} caucus_progress_bar;

void caucus_progress_begin(caucus_progress_bar *ret, const char *label, int label_width);
/** Fits caucus_run.progress: user is the caucus_progress_bar. */
void caucus_progress_update(void *user, uint64_t done, uint64_t total);
/** End the bar's line, if one was drawn. */
void caucus_progress_end(caucus_progress_bar *progress);

#endif
