/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h: what the machines of a run at the devices' own pace add to those of stoch.
 * layer: algo
 *
 * Their clients hear and answer in another way than all others (slot_client.c): client.c hands them over here. */
#ifndef CAUCUS_ALGO_SLOT_SLOT_H
#define CAUCUS_ALGO_SLOT_SLOT_H

#include "algo/machine.h"

extern const caucus_client_ops caucus_slot_client;   /* slot_client.c */
extern const caucus_machine_ops caucus_machine_slot; /* slot_coordinator.c */

/** caucus_client_hear() of an announcement that is newer than the one in force and does not end the run. */
caucus_status caucus_slot_hear(caucus_client *client, const caucus_announcement *announcement) CAUCUS_MUST_CHECK;
/** Whether it plays no more: the run was stopped, or has ended by the device's clock and nothing is asked any more. */
bool caucus_slot_over(const caucus_client *client);
/** caucus_client_report(). */
const caucus_report *caucus_slot_report(caucus_client *client);

#endif
