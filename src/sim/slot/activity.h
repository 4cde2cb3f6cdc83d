/* SPDX-License-Identifier: Apache-2.0 */
/* activity.h: how many losses a simulated device sees, where every device has its own pace.
 * layer: sim
 *
 * Device i has the rate MEAN*exp(SPREAD*Z_i - SPREAD^2/2) losses a slot, Z_i standard normal, the same for the whole
 * trial: MEAN on average over devices. How many there are in a slot is a Poisson count, drawn in two parts: before the
 * slot's decision, which comes `grace` after its beginning, and after it.
 * The losses themselves are rows of the adversary: slot k, from 0, has the rows k*CAUCUS_SLOT_ROWS and on, of which a
 * device uses as many as it has losses, at most CAUCUS_SLOT_ROWS. */
#ifndef CAUCUS_SIM_ACTIVITY_H
#define CAUCUS_SIM_ACTIVITY_H

#include "plan/plan.h"
#include "sim/adversary.h"

#define CAUCUS_SLOT_ROWS UINT64_C(4096)

typedef struct caucus_activity {
    uint64_t early; /* losses of a slot before its decision */
    uint64_t late;  /* and after it */
} caucus_activity;

/** What a client (1 .. m) sees in slot `slot`, from 0, of a trial whose adversary has an activity. Thread-safe. */
caucus_activity caucus_activity_of(const caucus_plan *plan, const caucus_adversary_trial *trial, uint32_t client,
                                   uint64_t slot);

/** Whether this adversary can be played at the devices' own pace: its losses are drawn, and depend on no number of
 *  rounds that a device has to play. */
bool caucus_activity_takes(caucus_adversary_kind kind);

#endif
