/* SPDX-License-Identifier: Apache-2.0 */
/* sealed.h: a state that leaves the coordinator's machine, so that only who has the key file can read it.
 * layer: store
 *
 * A database keeps what was overwritten: in its log, in its replicas, in backups. So each state is sealed under a key
 * of its own (mark.h): the coordinator forgets it when the next one is committed, and nobody can go back to it.
 *
 *   root   = format 1 (1) | term 8 | nonce 24 | XChaCha20-Poly1305 of (length 8 | bytes | zeros)
 *            under a hash of the key of its state. Zeros up to a multiple of 1024: what is sent has the same length
 *            whatever was decided. Associated: plan, term, announcements, ledger lines, chain over the announcements,
 *            SHA-256 of the last ledger line.
 *   chunk  = nonce 24 | XChaCha20-Poly1305 of the bytes, under a key that stays: a chunk is written only when it
 *            changes. It says who is out of step, not what anybody reported. The nonce is a keyed hash of the bytes.
 *            Associated: plan, number of the chunk.
 *   A piece without bytes stays one.
 *
 *   seal of the row (chain.h) = keyed hash of (the seal without a key | SHA-256 of the last ledger line). */
#ifndef CAUCUS_STORE_COORDINATOR_SEALED_H
#define CAUCUS_STORE_COORDINATOR_SEALED_H

#include "store/coordinator/backend.h"

#define CAUCUS_SEALED_STEP 1024

/** In: mark, keyed; row and chain: as they will be when it is committed, mark->count or later.
 *  Returns: false without memory. */
bool caucus_seal_root(const caucus_commit_mark *mark, const caucus_store_row *row,
                      const uint8_t chain[CAUCUS_CHAIN_BYTES], const caucus_piece *root, caucus_piece *ret);
bool caucus_seal_chunk(const caucus_commit_mark *mark, uint32_t number, const caucus_piece *chunk, caucus_piece *ret);

/** And back, in place.
 *  Returns: CAUCUS_OK, CAUCUS_E_DAMAGED (altered, of another state, or sealed with another key file),
 *           CAUCUS_E_MEMORY. */
caucus_status caucus_unseal_root(const caucus_commit_mark *mark, const caucus_store_row *row,
                                 const uint8_t chain[CAUCUS_CHAIN_BYTES], caucus_piece *root) CAUCUS_MUST_CHECK;
caucus_status caucus_unseal_chunk(const caucus_commit_mark *mark, uint32_t number,
                                  caucus_piece *chunk) CAUCUS_MUST_CHECK;

/** The seal of a row, with a key. */
void caucus_seal_row(const caucus_commit_mark *mark, const caucus_store_row *row, uint8_t seal[CAUCUS_CHAIN_BYTES]);

#endif
