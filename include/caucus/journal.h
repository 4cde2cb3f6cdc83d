/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h: a client's state in one file, as `caucus join --state` keeps it: whole and on disk, or as it was.
 * layer: store
 *
 * write = temporary file, fsync, rename, fsync of the directory. Mode 0600: it holds the client's sums. A lock
 * (FILE.lock) keeps a second process out: two clients that go on from one state would draw noise twice. It is there
 * while the journal is open; one that a killed process left is taken over. The state itself is locked, too, so that
 * removing FILE.lock opens nothing, and a state that another process has put in the file's place is not replaced. A
 * client may be begun by one program and go on in another: the file is the same. */
#ifndef CAUCUS_JOURNAL_H
#define CAUCUS_JOURNAL_H

#include <caucus/ledger.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The file, and the lock on it. */
typedef struct caucus_journal caucus_journal;

/** Take the lock.
 *  Returns: CAUCUS_OK, CAUCUS_E_BUSY (another process has it), CAUCUS_E_PATH (no such directory, or not
 *  one to write to), CAUCUS_E_IO, CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_journal_open(const char *path, caucus_journal **ret,
                                             caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Give the lock back. NULL is allowed. */
CAUCUS_API void caucus_journal_close(caucus_journal *journal);

/** What was written last: *ret = NULL, *ret_size = 0 if nothing ever was. Free *ret with free(). */
CAUCUS_API caucus_status caucus_journal_read(caucus_journal *journal, uint8_t **ret, size_t *ret_size,
                                             caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Fits caucus_link_save: user is the caucus_journal. True: the bytes are on disk under the file's name. */
CAUCUS_API bool caucus_journal_write(void *user, const uint8_t *bytes, size_t size);
/** Why the last write failed: an errno, 0 if it did not; EBUSY: another process has written the file. */
CAUCUS_API int caucus_journal_errno(const caucus_journal *journal);

/** This device's own ledger, for plans whose clients add the noise: reserve the plan in the file `ledger` for client
 *  `index`, before anything is sent. Once for each state: the state is given a number of its own on disk, and the
 *  ledger's entry names it, so a restart with the same state reserves nothing again, and a new state is a new run.
 *  In:      epsilon, delta  the budget of a new ledger, which an old one must have, too (INFINITY: no limit on either);
 *           epsilon NAN: the ledger is there. seeded: the entry says NOT PRIVATE. Before the first write.
 *  Returns: CAUCUS_OK: it is on disk; CAUCUS_E_BUDGET (the budget has no room: nothing was reserved, and nothing may be
 *           sent), CAUCUS_E_CONFLICT (another budget than given), CAUCUS_E_RANGE (the budget), CAUCUS_E_BUSY,
 *           CAUCUS_E_FORMAT, CAUCUS_E_PATH, CAUCUS_E_IO, CAUCUS_E_FULL, CAUCUS_E_RANDOM, CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_journal_reserve(caucus_journal *journal, const caucus_plan *plan, uint32_t index,
                                                bool seeded, const char *ledger, double epsilon, double delta,
                                                caucus_error *ret_error) CAUCUS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
