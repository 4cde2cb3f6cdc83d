/* SPDX-License-Identifier: Apache-2.0 */
/* simulation_plot.h: the results of a simulation as one picture, drawn by gnuplot.
 * layer: study */
#ifndef CAUCUS_STUDY_SIMULATION_PLOT_H
#define CAUCUS_STUDY_SIMULATION_PLOT_H

#include "num/text.h"
#include "show/output.h"

typedef enum caucus_plot_kind { CAUCUS_PLOT_SVG, CAUCUS_PLOT_PNG } caucus_plot_kind;

/** The kind that a file's name asks for, by how it ends. Returns: false if it is neither .svg nor .png. */
bool caucus_plot_kind_of(const char *path, caucus_plot_kind *ret);

/** Whether gnuplot is there to draw it. Returns: CAUCUS_OK, CAUCUS_E_PROGRAM. */
caucus_status caucus_plot_check(caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** A picture of up to four panels, one above the other:
 *    regret over rounds with a band of one standard deviation, a line per run (at most PLOT_RUNS of them);
 *    of several runs the share of trials in which the best expert in hindsight is in force, over rounds;
 *    experts over rounds, by name, as strips: of one run its first trials; of several runs the first trial of each, if
 *    an expert is the same one in all of them (experts have names, or losses are a file's);
 *    if one number is swept: the regret at the end over its values, a line for each kind of run.
 *  Runs without a complete trial are left out.
 *  Out:     the bytes of the file, appended.
 *  Returns: CAUCUS_OK, CAUCUS_E_CONFLICT (nothing to draw), CAUCUS_E_PROGRAM, CAUCUS_E_IO, CAUCUS_E_MEMORY. */
caucus_status caucus_plot_simulation(const caucus_outcome *outcome, caucus_plot_kind kind, caucus_text *ret,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
