/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h: a client's state in one file (join --state): whole and on disk, or as it was.
 * layer: store
 *
 * write = temporary file, fsync, rename, fsync of the directory. Mode 0600: it holds the client's sums. A lock
 * (FILE.lock) keeps a second process out: two clients that go on from one state would draw noise twice. It is there
 * while the journal is open; one that a killed process left is taken over.
 *
 * A journal whose run is reserved in a ledger (budget.h) has a number of its own, in front of the state: "cJr1" and 8
 * bytes. It is made, and written, before the ledger is. */
#ifndef CAUCUS_STORE_JOURNAL_H
#define CAUCUS_STORE_JOURNAL_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct caucus_journal caucus_journal;

/** Take the lock.
 *  Returns: CAUCUS_OK, CAUCUS_E_BUSY (another process has it), CAUCUS_E_PATH (no such directory, or not
 *  one to write to), CAUCUS_E_IO, CAUCUS_E_MEMORY. */
caucus_status caucus_journal_open(const char *path, caucus_journal **ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_journal_close(caucus_journal *journal);

/** What was written last: *ret = NULL, *ret_size = 0 if nothing ever was. Free *ret with free(). */
caucus_status caucus_journal_read(caucus_journal *journal, uint8_t **ret, size_t *ret_size,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** The journal's own number, which is on disk when this returns: made now if there was none. After
 *  caucus_journal_read(), with what it gave.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANDOM, CAUCUS_E_IO, CAUCUS_E_FULL, CAUCUS_E_MEMORY. */
caucus_status caucus_journal_number(caucus_journal *journal, const uint8_t *state, size_t bytes, uint8_t ret[8],
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Fits caucus_link_save: user is the caucus_journal. True: the bytes are on disk under the file's name. */
bool caucus_journal_write(void *user, const uint8_t *bytes, size_t size);
/** Why the last write failed: an errno, 0 if it did not. */
int caucus_journal_errno(const caucus_journal *journal);

#endif
