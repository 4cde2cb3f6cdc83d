/* SPDX-License-Identifier: Apache-2.0 */
/* store_db.h: what the files of the store share.
 * layer: store
 *
 * Tables of format 5 (application_id "CAUC", user_version 5; 1 held states without the epoch's key, 2 did not say
 * whether the run had begun, 3 held states with 32-bit blocks, epochs and serials, 4 did not seal the state):
 *   meta(id = 1, plan BLOB(32), seeded, begun)                            one row; begun becomes 1, once
 *   state(id = 1, serial, bytes BLOB, seal BLOB(32))                      one row, replaced by every commit
 *   announcement(serial PRIMARY KEY, expert, epoch, ask, block, step, list BLOB)  0, 1, 2, ... without gaps
 *   ledger(line PRIMARY KEY, text)                                        1, 2, 3, ... without gaps
 * The serial of the state is that of the last announcement: they were made by the same commit. The seal ties the state
 * to the chain over all announcements (store_chain.h), and DIR/mark (store_mark.h) says outside the database how far
 * that chain had come: so neither a changed row nor a lost log goes unnoticed. */
#ifndef CAUCUS_STORE_STORE_DB_H
#define CAUCUS_STORE_STORE_DB_H

#include "store/atomic_file.h"
#include "store/store.h"
#include "store/store_chain.h"

#include <sqlite3.h>

#define CAUCUS_STORE_FILE "coordinator.db"
#define CAUCUS_STORE_APPLICATION 0x43415543 /* "CAUC" */
#define CAUCUS_STORE_VERSION 5
#define CAUCUS_STORE_BUSY_MS 5000
/* What to do about a state that cannot go on. An older copy of it would decide anew what has been announced. */
#define CAUCUS_STORE_OVER "the run is over: run no older copy; a new run needs a new directory and its own budget"
struct caucus_store {
    sqlite3 *db;
    char *dir, *path; /* as given, and of the database */
    int lock;         /* descriptor of DIR/lock, -1 if not held */
    int locked_dir;   /* descriptor of DIR, locked too; -1 if not held */
    uint8_t plan[32];
    caucus_commit_mark mark;
    uint8_t chain[CAUCUS_CHAIN_BYTES]; /* over the announcements committed */
    bool begun;                        /* announcement 0 may have left */
    sqlite3_stmt *begin, *put_state, *put_announcement, *put_line, *put_begun, *commit, *rollback;
    uint64_t next_serial; /* announcements committed */
    int64_t next_line;    /* of the ledger, from 1 */
    uint64_t commits;     /* by this process */
    uint64_t fault_at;
    bool fault_after;
};

/* The name of a VFS whose logs are overwritten before they are cut; NULL (SQLite's own) if there is none. */
const char *caucus_store_vfs(void);

/* What SQLite said about `path`, as a status: damaged, out of memory, or a file that cannot be read or written. */
caucus_status caucus_store_fail(sqlite3 *db, const char *path, const char *doing, caucus_error *ret_error);

/* A statement that gives at most one row of one integer; *ret is left alone if there is no row or it is NULL. */
caucus_status caucus_store_integer(sqlite3 *db, const char *path, const char *sql, int64_t *ret,
                                   caucus_error *ret_error);

/* What kind of file it is and which format: CAUCUS_OK with *ret_fresh = true for an empty one, CAUCUS_E_FORMAT for a
 * stranger's. */
caucus_status caucus_store_identify(sqlite3 *db, const char *path, bool *ret_fresh, caucus_error *ret_error);

/* The lines of the ledger, verified one by one; *ret = NULL if there are none. */
caucus_status caucus_store_read_ledger(sqlite3 *db, const char *path, caucus_ledger **ret, caucus_error *ret_error);

/* The directory: made if need be, locked. On success *ret_dir and *ret_lock are descriptors; closing them gives the
 * locks back. */
caucus_status caucus_store_take_dir(const char *dir, int *ret_dir, int *ret_lock, caucus_error *ret_error);
/* An empty file of mode 0600 if there is none; an existing one is made 0600. */
caucus_status caucus_store_touch(const char *path, caucus_error *ret_error);
/* "DIR/NAME", to be freed; NULL without memory. */
char *caucus_store_join(const char *dir, const char *name);

#endif
