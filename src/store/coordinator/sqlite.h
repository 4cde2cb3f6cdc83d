/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.h: a store in SQLite: what its files share.
 * layer: store
 *
 * DIR/coordinator.db, mode 0600 in a directory of mode 0700, WAL, synchronous=FULL. Locks keep a second coordinator
 * out. Tables of format 7 (application_id "CAUC", user_version 7; 1 held states without the epoch's key, 2
 * did not say whether the run had begun, 3 held states with 32-bit blocks, epochs and serials, 4 did not seal the
 * state, 5 held it in one piece and had no term, 6 kept every announcement):
 *   run(id = 1, plan BLOB(32), seeded, begun, term, announcements, lines, chunks, first, past BLOB(32), seal BLOB(32),
 *       root BLOB)                                                                one row
 *   chunk(number PRIMARY KEY, bytes BLOB)                                          0 to chunks - 1
 *   announcement(serial PRIMARY KEY, expert, epoch, ask, block, leaf, list BLOB)  first, first + 1, ... without gaps
 *   ledger(line PRIMARY KEY, text)                                                1, 2, 3, ... without gaps */
#ifndef CAUCUS_STORE_COORDINATOR_SQLITE_H
#define CAUCUS_STORE_COORDINATOR_SQLITE_H

#include "store/atomic_file.h"
#include "store/coordinator/backend.h"

#include <sqlite3.h>

#define CAUCUS_SQLITE_FILE "coordinator.db"
#define CAUCUS_SQLITE_APPLICATION 0x43415543 /* "CAUC" */
#define CAUCUS_SQLITE_VERSION 7
#define CAUCUS_SQLITE_BUSY_MS 5000

typedef struct caucus_sqlite {
    caucus_store_place place; /* folder: the directory as given; label: path of the database */
    sqlite3 *db;
    char *dir, *path;
    int lock;       /* descriptor of DIR/lock, -1 if not held */
    int locked_dir; /* descriptor of DIR, locked too; -1 if not held */
    sqlite3_stmt *begin, *put_run, *put_chunk, *put_announcement, *forget, *put_line, *commit,
        *rollback; /* NULL: not yet */
} caucus_sqlite;

/* sqlite_db.c */

/* What SQLite said about `path`, as a status: damaged, out of memory, or a file that cannot be read or written. */
caucus_status caucus_sqlite_fail(sqlite3 *db, const char *path, const char *doing, caucus_error *ret_error);
/* A statement that gives at most one row of one integer; *ret is left alone if there is no row or it is NULL. */
caucus_status caucus_sqlite_integer(sqlite3 *db, const char *path, const char *sql, int64_t *ret,
                                    caucus_error *ret_error);
/* What kind of file it is and which format: CAUCUS_OK with *ret_fresh = true for an empty one, CAUCUS_E_FORMAT for a
 * stranger's. */
caucus_status caucus_sqlite_identify(sqlite3 *db, const char *path, bool *ret_fresh, caucus_error *ret_error);

/* sqlite_rows.c: of the table of operations. */
caucus_status caucus_sqlite_look(caucus_store_place *place, bool *ret_found, caucus_store_row *ret,
                                 caucus_error *ret_error);
caucus_status caucus_sqlite_load(caucus_store_place *place, uint32_t chunks, caucus_store_state *ret,
                                 caucus_error *ret_error);
caucus_status caucus_sqlite_announcements(caucus_store_place *place,
                                          void (*each)(void *user, const caucus_announcement *), void *user,
                                          caucus_error *ret_error);

caucus_status caucus_sqlite_peek(const char *where, caucus_store_glance *ret, caucus_error *ret_error);

/* sqlite_change.c */
caucus_status caucus_sqlite_change(caucus_store_place *place, const caucus_store_change *change,
                                   caucus_error *ret_error);
void caucus_sqlite_finalize(caucus_sqlite *s);

/* sqlite_ledger.c */
caucus_status caucus_sqlite_ledger(caucus_store_place *place, bool whole, caucus_ledger **ret, caucus_error *ret_error);
caucus_status caucus_sqlite_open_ledger(const char *where, caucus_ledger **ret, caucus_error *ret_error);

/* sqlite_dir.c */

/* The directory: made if need be, locked. On success *ret_dir and *ret_lock are descriptors; closing them gives the
 * locks back. */
caucus_status caucus_sqlite_take_dir(const char *dir, int *ret_dir, int *ret_lock, caucus_error *ret_error);
/* An empty file of mode 0600 if there is none; an existing one is made 0600. */
caucus_status caucus_sqlite_touch(const char *path, caucus_error *ret_error);
bool caucus_sqlite_exists(const char *where);
caucus_status caucus_sqlite_request_stop(const char *where, caucus_error *ret_error);
bool caucus_sqlite_stop_requested(caucus_store_place *place);
void caucus_sqlite_stop_heard(caucus_store_place *place);

/* sqlite_wipe.c */

/* The name of a VFS whose logs are overwritten before they are cut; NULL (SQLite's own) if there is none. */
const char *caucus_sqlite_vfs(void);
caucus_status caucus_sqlite_wipe(caucus_store_place *place, caucus_error *ret_error);

#endif
