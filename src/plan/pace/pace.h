/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h: settings of a run at the devices' own pace (pace: own): what they must be, and what follows from them.
 * layer: plan */
#ifndef CAUCUS_PLAN_PACE_PACE_H
#define CAUCUS_PLAN_PACE_PACE_H

#include <caucus/settings.h>

/* A phase lasts as long as a device's slot: a second to a year. */
#define CAUCUS_PHASE_TIME_MAX (366u * 86400u)
/* Losses that an item counts at most. */
#define CAUCUS_MOST_MAX (1u << 20)

/** Check the settings of a pace and fill in what follows: the grace that is left open, and the phases, which are all
 *  alike: an item holds at most `most` losses, so calibration, accountant and bounds see phases of `most` rounds.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE, CAUCUS_E_INFEASIBLE; the error names the field. */
caucus_status caucus_settings_pace(caucus_settings *settings, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
