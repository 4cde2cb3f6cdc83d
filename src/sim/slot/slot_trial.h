/* SPDX-License-Identifier: Apache-2.0 */
/* slot_trial.h: one trial of a run at the devices' own pace.
 * layer: sim */
#ifndef CAUCUS_SIM_SLOT_TRIAL_H
#define CAUCUS_SIM_SLOT_TRIAL_H

#include "sim/trial.h"

/** caucus_trial_play() of a plan with pace own. The adversary's rounds are slots of CAUCUS_SLOT_ROWS rows (activity.h);
 *  regret is of all losses that devices saw, per client. A watch is told the slot, from 0, in which it is heard. */
caucus_status caucus_slot_trial_play(const caucus_plan *plan, const caucus_adversary *adversary, uint64_t seed,
                                     uint32_t number, const volatile int *stop, caucus_trial_watch watch, void *user,
                                     caucus_trial_result *ret) CAUCUS_MUST_CHECK;

#endif
