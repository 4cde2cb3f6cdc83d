/* SPDX-License-Identifier: Apache-2.0 */
/* simulation_plot.h: the results of a simulation as one picture, drawn by gnuplot.
 * layer: study */
#ifndef CAUCUS_STUDY_SIMULATION_PLOT_H
#define CAUCUS_STUDY_SIMULATION_PLOT_H

#include "num/text.h"
#include "show/output.h"

/* Colours that tell lines and strips apart. */
#define CAUCUS_PLOT_SHADES 7
extern const char *const caucus_plot_shade[CAUCUS_PLOT_SHADES];

typedef enum caucus_plot_kind { CAUCUS_PLOT_SVG, CAUCUS_PLOT_PNG } caucus_plot_kind;

/** The kind that a file's name asks for, by how it ends. Returns: false if it is neither .svg nor .png. */
bool caucus_plot_kind_of(const char *path, caucus_plot_kind *ret);

/** Before anything is played: whether there is room for all runs in one picture, and gnuplot to draw it.
 *  In:      run, plan  [count]
 *  Returns: CAUCUS_OK, CAUCUS_E_CONFLICT, CAUCUS_E_PROGRAM, CAUCUS_E_IO, CAUCUS_E_MEMORY. */
caucus_status caucus_plot_check(const caucus_run *run, caucus_plan *const *plan, size_t count,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** A picture of up to four panels, one above the other:
 *    regret over rounds with a band of one standard deviation, a line per run (at most PLOT_RUNS of them);
 *    of several runs the share of trials in which the best expert in hindsight is in force, over rounds;
 *    experts over rounds as strips (simulation_strips.h);
 *    if numbers are swept: the regret at the end over the values of the one that has most of them, a line for each kind
 *    of run and each value of the others.
 *  Runs without a complete trial are left out.
 *  Out:     the bytes of the file, appended.
 *  Returns: CAUCUS_OK, CAUCUS_E_CONFLICT (nothing to draw), CAUCUS_E_PROGRAM, CAUCUS_E_IO, CAUCUS_E_MEMORY. */
caucus_status caucus_plot_simulation(const caucus_outcome *outcome, caucus_plot_kind kind, caucus_text *ret,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
