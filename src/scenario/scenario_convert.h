/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_convert.h: one text of one field into a value; a refusal says where it was written and what is accepted.
 * layer: scenario */
#ifndef CAUCUS_SCENARIO_SCENARIO_CONVERT_H
#define CAUCUS_SCENARIO_SCENARIO_CONVERT_H

#include "scenario/scenario.h"

/* One text of a scenario on its way to a value. */
typedef struct caucus_scenario_text {
    const caucus_scenario *scenario;
    caucus_scenario_field field;
    const char *text;
    caucus_complaint *complaint;
} caucus_scenario_text;

/** Value number `i` of a field, or its default (text NULL if it has none). */
caucus_scenario_text caucus_scenario_text_of(const caucus_scenario *scenario, caucus_scenario_field field, size_t i,
                                             caucus_complaint *complaint);

/** "scenario.yaml:7: epsilon: 0 — must be ..." or, behind the name of a flag, " 0: must be ...". Returns:
 *  CAUCUS_E_RANGE. */
caucus_status caucus_scenario_refuse(const caucus_scenario_text *t, const char *format, ...) CAUCUS_PRINTF(2, 3);

caucus_status caucus_scenario_whole(const caucus_scenario_text *t, uint64_t least, uint64_t most,
                                    uint64_t *ret) CAUCUS_MUST_CHECK;
/** A number; NaN is refused, "infinite" (inf, infinity) is taken if allowed. */
caucus_status caucus_scenario_real(const caucus_scenario_text *t, bool infinite, double *ret) CAUCUS_MUST_CHECK;
/** Above 0, or infinite; the refusal says how to write that. */
caucus_status caucus_scenario_epsilon(const caucus_scenario_text *t, double *ret) CAUCUS_MUST_CHECK;
caucus_status caucus_scenario_pair(const caucus_scenario_text *t, bool infinite, double *ret_first,
                                   double *ret_second) CAUCUS_MUST_CHECK;
/** The names of a scenario, read from their file if they are in one, and checked: the field's text is then the list
 *  with commas. Called wherever the field is set. */
caucus_status caucus_scenario_read_names(caucus_scenario *scenario, caucus_complaint *ret) CAUCUS_MUST_CHECK;
caucus_status caucus_scenario_switch(const caucus_scenario_text *t, bool *ret) CAUCUS_MUST_CHECK;

#endif
