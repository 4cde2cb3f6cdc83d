/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: what a coordinator must never forget, in one SQLite file.
 * layer: store
 *
 * DIR/coordinator.db, mode 0600 in a directory of mode 0700, WAL, synchronous=FULL. One commit holds a decision whole:
 * the machine's state, the announcement that says it, and the ledger's lines. It returns only when that is on disk; no
 * byte that depends on the decision may leave before. A lock on DIR keeps a second coordinator out. */
#ifndef CAUCUS_STORE_STORE_H
#define CAUCUS_STORE_STORE_H

#include <caucus/ledger.h>
#include <caucus/message.h>

typedef struct caucus_store caucus_store;

/** Open or create.
 *  Returns: CAUCUS_OK, CAUCUS_E_MISMATCH (another plan: the error shows both hashes), CAUCUS_E_CONFLICT (a private run
 *           and a seed, or the other way round), CAUCUS_E_BUSY (in use by another process), CAUCUS_E_PATH
 *           (permissions), CAUCUS_E_FULL, CAUCUS_E_IO, CAUCUS_E_DAMAGED (damaged),
 *           CAUCUS_E_ROLLED_BACK (it holds fewer announcements than were made: an older copy, or a log that is damaged
 *           or gone), CAUCUS_E_FORMAT (not a store, or one of another version). */
caucus_status caucus_store_open(const char *dir, const uint8_t plan_hash[32], bool seeded, caucus_store **ret,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_store_close(caucus_store *store);
/** Is there a state in this directory already? */
bool caucus_store_exists(const char *dir);

/** The latest committed machine state: *ret_bytes = 0 if there is none yet. Free *ret_state with free(). */
caucus_status caucus_store_state(caucus_store *store, uint8_t **ret_state, size_t *ret_bytes,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Every announcement committed, in order of its serial (0, 1, 2, ... without gaps). */
caucus_status caucus_store_announcements(caucus_store *store, void (*each)(void *user, const caucus_announcement *),
                                         void *user, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Commit one decision: state, its announcement, and ledger lines (text as caucus_ledger_line gives it).
 *  Returns: CAUCUS_OK: it is on disk; CAUCUS_E_IO, CAUCUS_E_FULL: it is not, and nothing of it is (only if the
 *           disk itself failed while syncing may it be found, whole, after a restart): send nothing, and either try the
 *           same commit again or end; CAUCUS_E_MEMORY: likewise; CAUCUS_E_ORDER: the announcement's serial is not
 *           the next one. */
caucus_status caucus_store_commit(caucus_store *store, const uint8_t *state, size_t bytes,
                                  const caucus_announcement *announcement, const char *const *ledger_line,
                                  size_t ledger_lines, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Keep that the run has begun, before announcement 0 leaves: after a restart only the store can say whether somebody
 *  may have heard it. A commit of its own, once per run.
 *  Returns: as caucus_store_commit(). */
caucus_status caucus_store_begin(caucus_store *store, caucus_error *ret_error) CAUCUS_MUST_CHECK;
bool caucus_store_begun(const caucus_store *store);

/** Leave nothing of earlier states in any file of the directory: after a commit that ended an epoch, and at the end of
 *  the run. Never needed for anything else to be right, so it may be late, and it may fail:
 *  Returns: CAUCUS_OK: no file holds a byte of a state before the last commit; CAUCUS_E_BUSY: somebody reads the store
 *           at this moment; CAUCUS_E_IO, CAUCUS_E_FULL, CAUCUS_E_MEMORY: as said. Whatever was committed is there as
 *           before; try again after the next commit. Closing and opening do the same. */
caucus_status caucus_store_wipe(caucus_store *store, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** The ledger as committed, verified line by line (NULL if none yet). Read-only use (caucus privacy DIR) goes through
 *  caucus_store_open_ledger, which needs no lock. */
caucus_status caucus_store_ledger(caucus_store *store, caucus_ledger **ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_store_open_ledger(const char *dir, caucus_ledger **ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Commits so far by this process, for metrics. */
uint64_t caucus_store_commits(const caucus_store *store);

/** Test hook: kill -9 this process at commit number n (from 1), before or after it is made. n = 0: never. */
void caucus_store_fault(caucus_store *store, uint64_t n, bool after);

#endif
