/* SPDX-License-Identifier: Apache-2.0 */
/* slot_regret.h: regret of a trial at the devices' own pace, and what is proved of it for the counts that were seen.
 * layer: sim
 *
 * Where devices see different numbers of losses, "the best expert" has two meanings, and the bound is about the one
 * that the decisions follow (docs/PRIVACY.md, "At their own pace"):
 *   sums (event)          the best on all losses, each counting the same;
 *   means (client-block,  the best on average over devices, each device weighing the same in every slot in which it saw
 *          client)        anything, however much that was.
 * Both are measured, against the best expert of every segment, per client: the second as the average over devices and
 * slots, times the losses of a client. The bound adds up B of the decision in force over the losses that were played,
 * with true counts; a decision from another segment than the losses' counts as wrong; nothing is decided at first. */
#ifndef CAUCUS_SIM_SLOT_REGRET_H
#define CAUCUS_SIM_SLOT_REGRET_H

#include "plan/calibrate.h"
#include "plan/plan.h"
#include "sim/trial.h"

typedef struct caucus_slot_regret caucus_slot_regret;

caucus_slot_regret *caucus_slot_regret_new(const caucus_plan *plan); /* NULL: no memory */
void caucus_slot_regret_free(caucus_slot_regret *regret);

/** What a device, numbered from 0, has seen in the slot in hand, in grid steps: `early` losses with sums [d] played
 *  with the expert `before`, `late` ones played with `now`. */
typedef struct caucus_slot_seen {
    uint32_t device;
    uint64_t early, late;
    const int64_t *early_sums, *late_sums;
    uint32_t before, now;
} caucus_slot_seen;

/** The slot's decision, from the slots before it; not called for slots in which there is none, as the first. Then every
 *  device, then the end of the slot. */
void caucus_slot_regret_decided(caucus_slot_regret *regret);
void caucus_slot_regret_device(caucus_slot_regret *regret, const caucus_slot_seen *seen);
void caucus_slot_regret_slot(caucus_slot_regret *regret);
/** A segment has ended with the slot before. */
void caucus_slot_regret_segment(caucus_slot_regret *regret);

/** Fill regret_devices and bound; ret->losses is set, and the last segment has ended. */
void caucus_slot_regret_end(const caucus_slot_regret *regret, caucus_trial_result *ret);

#endif
