/* SPDX-License-Identifier: Apache-2.0 */
/* simulation_sweep.h: which number the runs of a simulation sweep, and what to call each run.
 * layer: study */
#ifndef CAUCUS_STUDY_SIMULATION_SWEEP_H
#define CAUCUS_STUDY_SIMULATION_SWEEP_H

#include "show/output.h"

#define CAUCUS_SWEEP_NAME_BYTES 160

typedef struct caucus_sweep_found {
    bool found;       /* a number differs among runs that are otherwise alike */
    const char *what; /* for an axis: "clients" */
    bool logarithmic; /* positive values that span more than a factor of 20 */
    double *x;        /* [count of runs] */
    size_t *line;     /* [count of runs]: runs of one line are alike but for the number */
    size_t lines;
    char (*name)[CAUCUS_SWEEP_NAME_BYTES]; /* [lines] */
} caucus_sweep_found;

/** Returns: CAUCUS_OK, also if nothing was found; CAUCUS_E_MEMORY. */
caucus_status caucus_sweep_find(const caucus_outcome *outcome, caucus_sweep_found *ret,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_sweep_free(caucus_sweep_found *sweep);

/** What tells run i from the others: its algorithm, and each setting in which runs differ. */
void caucus_sweep_name(const caucus_outcome *outcome, size_t i, char ret[CAUCUS_SWEEP_NAME_BYTES]);

#endif
