/* SPDX-License-Identifier: Apache-2.0 */
/* store_chain.h: the hash chain over announcements.
 * layer: store
 *
 *   chain of none = SHA-256("caucus announcements 1" | hash of the plan)
 *   chain of n+1  = SHA-256(chain of n | announcement n as bytes)
 * Announcement as bytes, least significant byte first: serial 8, expert 4, epoch 8, ask 4, block 8, leaf 8, number of
 * listed experts 4, each listed expert 4. Two histories with the same chain are the same history. */
#ifndef CAUCUS_STORE_STORE_CHAIN_H
#define CAUCUS_STORE_STORE_CHAIN_H

#include <caucus/message.h>

#include "store/store_mark.h"

void caucus_chain_begin(const uint8_t plan_hash[32], uint8_t ret[CAUCUS_CHAIN_BYTES]);
void caucus_chain_add(uint8_t chain[CAUCUS_CHAIN_BYTES], const caucus_announcement *announcement);

/** What is kept beside a state: SHA-256(chain | number of ledger lines, 8 bytes | state). It ties the state to the
 *  announcements and the lines it was committed with (the ledger's lines have a chain of their own). */
void caucus_chain_seal(const uint8_t chain[CAUCUS_CHAIN_BYTES], uint64_t ledger_lines, const uint8_t *state,
                       size_t bytes, uint8_t ret[CAUCUS_CHAIN_BYTES]);

#endif
