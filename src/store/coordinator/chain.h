/* SPDX-License-Identifier: Apache-2.0 */
/* chain.h: the hash chain over announcements, and the seal of a store.
 * layer: store
 *
 *   chain of none = SHA-256("caucus announcements 1" | hash of the plan)
 *   chain of n+1  = SHA-256(chain of n | announcement n as bytes)
 * Announcement as bytes, least significant byte first: serial 8, expert 4, epoch 8, ask 4, block 8, leaf 8, number of
 * listed experts 4, each listed expert 4. Two histories with the same chain are the same history.
 *
 *   seal = SHA-256("caucus store 1" | chain | seeded 1 | begun 1 | term 8 | announcements 8 | ledger lines 8 |
 *                  chunks 4 | SHA-256 of the root | SHA-256 of each chunk)
 * It ties everything in a store together (the ledger's lines have a chain of their own), and costs a hash of what has
 * changed: those of chunks that have not are remembered. */
#ifndef CAUCUS_STORE_COORDINATOR_CHAIN_H
#define CAUCUS_STORE_COORDINATOR_CHAIN_H

#include <caucus/message.h>

#include "store/coordinator/backend.h"

void caucus_chain_begin(const uint8_t plan_hash[32], uint8_t ret[CAUCUS_CHAIN_BYTES]);
void caucus_chain_add(uint8_t chain[CAUCUS_CHAIN_BYTES], const caucus_announcement *announcement);

/** In: row (all but its seal), root_hash, chunk_hash[row->chunks]. */
void caucus_chain_seal(const uint8_t chain[CAUCUS_CHAIN_BYTES], const caucus_store_row *row,
                       const uint8_t root_hash[CAUCUS_CHAIN_BYTES], const uint8_t (*chunk_hash)[CAUCUS_CHAIN_BYTES],
                       uint8_t ret[CAUCUS_CHAIN_BYTES]);

#endif
