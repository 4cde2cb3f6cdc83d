/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_pace.h: the fields of a run at the devices' own pace, for scenario_resolve.c.
 * layer: scenario */
#ifndef CAUCUS_SCENARIO_SCENARIO_PACE_H
#define CAUCUS_SCENARIO_SCENARIO_PACE_H

#include "scenario/scenario.h"

/** pace, phase-time, grace, most and start into settings.
 *  Returns: CAUCUS_OK or the refusal, which the complaint explains; *ret is written only on success. */
caucus_status caucus_scenario_pace(const caucus_scenario *scenario, caucus_settings *ret,
                                   caucus_complaint *ret_complaint) CAUCUS_MUST_CHECK;
/** play, in phases, or the rounds of a run that has an end, in slots, as rows of an adversary (sim/slot/activity.h). */
caucus_status caucus_scenario_slots(const caucus_scenario *scenario, const size_t at[CAUCUS_FIELD_COUNT],
                                    const caucus_settings *settings, uint64_t *ret_rows,
                                    caucus_complaint *ret_complaint) CAUCUS_MUST_CHECK;
/** activity, once the adversary's kind, rounds and segments are there; what cannot be played at this pace is
 *  refused. */
caucus_status caucus_scenario_activity(const caucus_scenario *scenario, const size_t at[CAUCUS_FIELD_COUNT],
                                       caucus_adversary_settings *ret,
                                       caucus_complaint *ret_complaint) CAUCUS_MUST_CHECK;

#endif
