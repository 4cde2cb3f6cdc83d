/* SPDX-License-Identifier: Apache-2.0 */
/* plan_asked.h: settings of a plan that are no fields of a scenario, from words.
 * layer: show */
#ifndef CAUCUS_SHOW_PLAN_ASKED_H
#define CAUCUS_SHOW_PLAN_ASKED_H

#include "scenario/scenario.h"

#include <caucus/asked.h>
#include <stdio.h>

/** Read `convex` ("1,0.5": gradients up to 1, smoothness 0.5), `grid` or `federation` into the settings, which borrow a
 *  federation's text.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (the error says what is accepted, behind the text; or there is no such name). */
caucus_status caucus_plan_extra(const char *name, const char *text, caucus_settings *settings,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Whether a plan was refused for one of these three; then the error's field becomes the name that people know, and
 *  the text goes on behind a colon. */
bool caucus_plan_extra_refused(caucus_error *error);

/** A complaint's line in an error, for those who hand errors on: the text begins with a colon or goes on behind the
 *  field's name; what does not fit into it is the hint. Returns: the status. */
caucus_status caucus_asked_refuse(caucus_error *ret_error, caucus_status status, const caucus_complaint *complaint);

/** Set a field of the scenario from words; false: no field is called so. */
bool caucus_asked_set(caucus_scenario *scenario, const caucus_named *setting, caucus_status *ret_status,
                      caucus_error *ret_error);

/** Print into memory: *ret ends in a zero that is not counted. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_asked_print(void (*print)(FILE *out, const void *what), const void *what, char **ret,
                                 size_t *ret_size) CAUCUS_MUST_CHECK;

#endif
