/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_file.h: a ledger kept in a file, one entry per line, appended and synced before anything is released.
 * layer: store
 *
 * The file is locked while it is open, so that two runs cannot both spend what is left. It is only ever appended to; a
 * torn last line or a broken chain is named with its line number and never repaired silently. */
#ifndef CAUCUS_STORE_LEDGER_FILE_H
#define CAUCUS_STORE_LEDGER_FILE_H

#include <caucus/ledger.h>

typedef struct caucus_ledger_file {
    caucus_ledger *ledger; /* add entries here, then caucus_ledger_file_sync() */
    char *path;
    int fd;         /* -1 until a new ledger is first synced */
    size_t written; /* entries that are in the file */
} caucus_ledger_file;

/** Open a ledger, or begin a new one in memory (nothing is created before the first sync).
 *  In:      epsilon, delta  the budget of a new ledger; with `must_match` an old one must have the same.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH (unreadable), CAUCUS_E_BUSY (locked by another process), CAUCUS_E_FORMAT
 *           (file, line, what is wrong), CAUCUS_E_CONFLICT (another budget), CAUCUS_E_RANGE, CAUCUS_E_MEMORY.
 *           *ret is written only on success. */
caucus_status caucus_ledger_file_open(const char *path, double epsilon, double delta, bool must_match,
                                      caucus_ledger_file *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Read a ledger that exists, under a shared lock. Returns: as above. The caller frees *ret. */
caucus_status caucus_ledger_file_read(const char *path, caucus_ledger **ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Append the entries that are not in the file yet and wait until they are on the disk. On failure the file is as it
 *  was.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_FULL, CAUCUS_E_IO. */
caucus_status caucus_ledger_file_sync(caucus_ledger_file *file, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Unlock and free; entries not synced are dropped. A zeroed struct with fd -1 is fine. */
void caucus_ledger_file_close(caucus_ledger_file *file);

#endif
