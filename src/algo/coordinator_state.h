/* SPDX-License-Identifier: Apache-2.0 */
/* coordinator_state.h: a coordinator's state in parts, so that keeping it costs what has changed and not what there is.
 * layer: algo
 *
 * What the machine holds of each client (which of its items are counted) is 8 or 16 bytes a client, and of most of them
 * the same: they are in step. So the root holds the common values beside everything that is not a client's, and a chunk
 * holds, of 65,536 clients, those whose values differ, with their values. While clients stay in step, and while those
 * that are away stay away, no chunk changes although the common values move on.
 *
 * The root is a state as of caucus_coordinator_save() in which each array with an entry per client is one word, its
 * common value. A chunk has for each such array, least significant byte first:
 *   form 1
 *   form 0, all in step:    nothing more
 *   form 1, a list:         count 4 (1 to 4095), then count times: client - first client of the chunk 2, value 8
 *   form 2, a bitmap:       one bit a client of the chunk, lowest bit first, in whole bytes; then a value 8 a bit
 * The form follows from the number of clients that differ, and entries rise: a state has one way to be written. A chunk
 * has no hash of its own: whoever keeps it seals it with the root (store/coordinator/chain.h). */
#ifndef CAUCUS_ALGO_COORDINATOR_STATE_H
#define CAUCUS_ALGO_COORDINATOR_STATE_H

#include <caucus/coordinator.h>

#include "algo/progress/progress.h"

/* Bytes that grow. Begin with = {0}; end with caucus_piece_free(), which wipes. */
typedef struct caucus_piece {
    uint8_t *bytes;
    size_t size, room;
    uint64_t stamp; /* of the bytes: no others in this process have it; 0: nobody has given them one */
} caucus_piece;
/** Room for `size` bytes, which are not kept; what was there is wiped. Returns: false without memory. */
bool caucus_piece_resize(caucus_piece *piece, size_t size);
void caucus_piece_free(caucus_piece *piece);
/** Its bytes are written: a stamp of their own. Resizing takes it away. */
void caucus_piece_stamp(caucus_piece *piece);

#define CAUCUS_CLIENT_ARRAYS 3
/** The arrays with an entry per client, in the order in which they are packed. Returns how many there are. */
size_t caucus_coordinator_arrays(const caucus_coordinator *c, caucus_progress *ret[CAUCUS_CLIENT_ARRAYS]);

/** Chunks of a plan's clients. */
uint32_t caucus_coordinator_chunks(const caucus_plan *plan);

/** Save into a root and chunk[caucus_coordinator_chunks()], right after a decision.
 *  In:      chunk  what the last call for this machine wrote, or empty: chunks that have not changed stay as they are,
 *                  with their stamps.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY.
 *  Privacy: as of caucus_coordinator_save().
 *  Cost:    O(d), and O(65,536) for each chunk that has changed; one of clients in step has a few bytes. */
caucus_status caucus_coordinator_save_parts(const caucus_coordinator *coordinator, caucus_piece *root,
                                            caucus_piece *chunk) CAUCUS_MUST_CHECK;

/** And back. Returns: as caucus_coordinator_restore(). */
caucus_status caucus_coordinator_restore_parts(const caucus_plan *plan, const caucus_key *key, const caucus_piece *root,
                                               const caucus_piece *chunk, uint32_t chunks,
                                               caucus_coordinator **ret) CAUCUS_MUST_CHECK;

/** Has a client (1..m) answered this announcement: the one in force, or, when it is decided and nothing was counted
 *  since, the one before? */
bool caucus_coordinator_has_answered(const caucus_coordinator *coordinator, uint32_t client,
                                     const caucus_announcement *asked);

/** What a client may be told has been counted of it: what the machine held when caucus_coordinator_show() was called
 *  last, which is for when a decision is durable and is announced; nobody counts meanwhile. (It may be less, for a
 *  client that has caught up since.) What a machine held when it was made or restored is shown. */
void caucus_coordinator_shown(const caucus_coordinator *coordinator, uint32_t client, uint64_t *ret_cost_next,
                              uint64_t *ret_sums_next);
void caucus_coordinator_show(caucus_coordinator *coordinator);
/** The first client from this one on that has not answered the announcement in force; clients + 1: there is none. */
uint32_t caucus_coordinator_silent(const caucus_coordinator *coordinator, uint32_t client);

/** Steps that were decided when this was announced: each has one, but the end of a run that was ended before its time
 *  decides nothing. */
static inline uint64_t caucus_announcement_steps(const caucus_announcement *announcement) {
    return announcement->serial - (announcement->serial > 0 && caucus_announcement_stops(announcement) ? 1 : 0);
}

/* What is public of a run so far, beside its last announcement. */
typedef struct caucus_coordinator_tally {
    uint64_t selections, checks;
    uint64_t since_serial, since_block; /* of the announcement with which the expert in force came */
} caucus_coordinator_tally;
caucus_coordinator_tally caucus_coordinator_tally_of(const caucus_coordinator *coordinator);

/** Write it as the root of a run that was ended for good: magic "acE1", the four numbers, SHA-256 of these. It holds
 *  nothing that a loss has a part in but what was announced. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_coordinator_tally_save(const caucus_coordinator_tally *tally, caucus_piece *ret) CAUCUS_MUST_CHECK;
/** Read it from such a root, or from the root of a run that goes on, whatever its plan is; what an older root does not
 *  say is what `last` says. Returns: CAUCUS_OK, CAUCUS_E_FORMAT. */
caucus_status caucus_coordinator_tally_read(const caucus_piece *root, const caucus_announcement *last,
                                            caucus_coordinator_tally *ret) CAUCUS_MUST_CHECK;

/** End the run before its time, whatever is being asked: the last announcement (caucus_announcement_stops), and
 *  everything else is forgotten. */
void caucus_coordinator_stop(caucus_coordinator *coordinator);
/** Unit client at own pace: the question in force has had too few answers, and the next one has ended. What was counted
 *  of it is dropped, nothing is released, the expert stays, and the next question is asked.
 *  Returns: CAUCUS_OK, CAUCUS_E_ORDER (nothing is asked, or by another kind of plan). */
caucus_status caucus_coordinator_pass(caucus_coordinator *coordinator) CAUCUS_MUST_CHECK;
/** A coordinator whose run was ended so; `last` is what it announced then.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (`last` ends nothing, or is not of this plan), CAUCUS_E_MEMORY. */
caucus_status caucus_coordinator_new_stopped(const caucus_plan *plan, const caucus_key *key,
                                             const caucus_announcement *last, const caucus_coordinator_tally *tally,
                                             caucus_coordinator **ret) CAUCUS_MUST_CHECK;

#endif
