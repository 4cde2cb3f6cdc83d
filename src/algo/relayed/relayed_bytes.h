/* SPDX-License-Identifier: Apache-2.0 */
/* relayed_bytes.h: the layout of a partial as bytes (relayed.h), for who writes, reads and takes it.
 * layer: algo */
#ifndef CAUCUS_ALGO_RELAYED_BYTES_H
#define CAUCUS_ALGO_RELAYED_BYTES_H

#include "algo/coordinator_state.h"
#include "algo/relayed/relayed.h"

#define CAUCUS_RELAYED_HEAD_BYTES 33u
#define CAUCUS_RELAYED_GROUP_BYTES 8u
#define CAUCUS_RELAYED_ITEM_BYTES 29u
#define CAUCUS_RELAYED_LIST_MAX 4096u /* clients of a chunk: more are a bitmap */

enum { CAUCUS_RELAYED_NOTHING = 0, CAUCUS_RELAYED_SUMS = 1, CAUCUS_RELAYED_VOTES = 2 };

/* Clients of a chunk; *ret_first is the first one, from 0. */
uint32_t caucus_relayed_chunk(const caucus_plan *plan, uint32_t chunk, uint32_t *ret_first);

/* The group that begins here, which was read before: each of its clients, from 1 on, is told to `each`; false ends it.
 * Returns where the next one begins, NULL if it was ended. */
const uint8_t *caucus_relayed_walk(const caucus_plan *plan, const uint8_t *group,
                                   bool (*each)(void *user, uint32_t client), void *user);
/* Item number i, without values. */
caucus_report caucus_relayed_item(const caucus_relayed *partial, uint32_t i);
int64_t caucus_relayed_sum(const caucus_relayed *partial, uint32_t y);
uint32_t caucus_relayed_votes(const caucus_relayed *partial, uint32_t y);

#endif
