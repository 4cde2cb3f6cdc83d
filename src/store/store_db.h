/* store_db.h: what the files of the store share.
 * layer: store
 *
 * Tables of format 2 (application_id "CAUC", user_version 2; 1 held states without the epoch's key):
 *   meta(id = 1, plan BLOB(32), seeded)                                   one row, never changed
 *   state(id = 1, serial, bytes BLOB)                                     one row, replaced by every commit
 *   announcement(serial PRIMARY KEY, expert, epoch, ask, block, step, list BLOB)  0, 1, 2, ... without gaps
 *   ledger(line PRIMARY KEY, text)                                        1, 2, 3, ... without gaps
 * The serial of the state is that of the last announcement: they were made by the same commit. */
#ifndef CAUCUS_STORE_STORE_DB_H
#define CAUCUS_STORE_STORE_DB_H

#include "store/store.h"

#include <sqlite3.h>

#define CAUCUS_STORE_FILE "coordinator.db"
#define CAUCUS_STORE_APPLICATION 0x43415543 /* "CAUC" */
#define CAUCUS_STORE_VERSION 2
#define CAUCUS_STORE_BUSY_MS 5000

struct caucus_store {
    sqlite3 *db;
    char *dir, *path; /* as given, and of the database */
    int lock;         /* descriptor of DIR/lock, -1 if not held */
    sqlite3_stmt *begin, *put_state, *put_announcement, *put_line, *commit;
    uint32_t next_serial; /* announcements committed */
    int64_t next_line;    /* of the ledger, from 1 */
    uint64_t commits;     /* by this process */
    uint64_t fault_at;
    bool fault_after;
};

/* The name of a VFS whose logs are overwritten before they are cut; NULL (SQLite's own) if there is none. */
const char *caucus_store_vfs(void);

/* The path, or its end if it would fill the line. */
const char *caucus_store_tail(const char *path);

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

/* The directory: made if need be, locked. On success *ret_lock is a descriptor; closing it gives the lock back. */
caucus_status caucus_store_take_dir(const char *dir, int *ret_lock, caucus_error *ret_error);
/* An empty file of mode 0600 if there is none; an existing one is made 0600. */
caucus_status caucus_store_touch(const char *path, caucus_error *ret_error);
/* "DIR/NAME", to be freed; NULL without memory. */
char *caucus_store_join(const char *dir, const char *name);

#endif
