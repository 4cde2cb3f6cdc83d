/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h: settings of a run at the devices' own pace (pace: own): what they must be, and what follows from them.
 * layer: plan */
#ifndef CAUCUS_PLAN_PACE_PACE_H
#define CAUCUS_PLAN_PACE_PACE_H

#include <caucus/settings.h>
#include <stdbool.h>

/* A phase lasts as long as a device's slot: a second to a year. */
#define CAUCUS_PHASE_TIME_MAX (366u * 86400u)
/* Losses that an item counts at most. */
#define CAUCUS_MOST_MAX (1u << 20)

/* The last slot that a run may begin with. */
#define CAUCUS_START_MAX ((uint64_t)1 << 40)

/** Check the settings of a pace and fill in what follows: the grace that is left open, and the phases, which are all
 *  alike: an item holds at most `most` losses, so calibration, accountant and bounds see phases of `most` rounds. Of
 *  unit client phases grow as they do in step, and are counted in slots.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE, CAUCUS_E_INFEASIBLE; the error names the field. */
caucus_status caucus_settings_pace(caucus_settings *settings, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Unit client at own pace: question p of K ends g^(p-1) slots after the run's start, an item answers one question and
 *  has its number, and the run ends after `rounds` slots (docs/PRIVACY.md, statement 32). */
static inline bool caucus_pace_by_question(const caucus_settings *settings) {
    return settings->pace == CAUCUS_PACE_OWN && settings->unit == CAUCUS_UNIT_CLIENT;
}
/** Of a plan's settings of that kind: the first slot after those that question p >= 1 is about; and how many of the
 *  questions 1 .. K are over when `slot` begins. */
uint64_t caucus_pace_question_end(const caucus_settings *settings, uint64_t question);
uint64_t caucus_pace_questions_over(const caucus_settings *settings, uint64_t slot);
/** Whether the run is over when `slot` begins: never where it has no end. */
bool caucus_pace_over(const caucus_settings *settings, uint64_t slot);
/** Decisions that have been made `slots` slots after the start, where everybody answers in time: one a slot, or those
 *  of the questions that are over. */
uint64_t caucus_pace_decisions(const caucus_settings *settings, uint64_t slots);

#endif
