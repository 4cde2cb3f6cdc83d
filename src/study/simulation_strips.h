/* SPDX-License-Identifier: Apache-2.0 */
/* simulation_strips.h: experts over rounds as strips, a panel of a simulation's picture (simulation_plot.h).
 * layer: study */
#ifndef CAUCUS_STUDY_SIMULATION_STRIPS_H
#define CAUCUS_STUDY_SIMULATION_STRIPS_H

#include "num/text.h"
#include "show/output.h"

/** A strip for each trial that is shown: of one run its first ones, of several runs the first one of each. Colours are
 *  experts, those longest in force, where an expert is the same one in all strips (experts have names, losses are a
 *  file's, or there is one run only); else they are what an expert was to its own trial: the best in hindsight, the one
 *  in force at the end.
 *  In:      runs with a complete trial each, that play experts.
 *  Out:     commands for gnuplot, appended.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_plot_strips(caucus_text *ret, const caucus_outcome *outcome,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
