/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_wipe.c: nothing of an earlier state stays in a file.
 *
 * A state that was replaced is overwritten in the database (secure_delete), but its pages wait in SQLite's log until a
 * checkpoint empties that. caucus_sqlite_wipe() makes one. Emptying is a truncation, which would leave the bytes in
 * blocks that belong to no file any more; so the log is opened through a layer of ours (a copy of SQLite's own VFS with
 * one function changed) that writes zeros over whatever a truncation is about to give up.
 *
 * That is safe where SQLite truncates its log: everything in it has been copied to the database and synced, and the
 * shared index says that the log is empty. The order matters if the machine dies in between: the log's header goes
 * first and is synced, after which no frame in it is ever believed; frames lost behind a header that is still good
 * would look like a log that ends early, with an older state in it. */
#include "store/coordinator/sqlite.h"

#include <pthread.h>

#define VFS_NAME "caucus-wiping"
#define LOG_HEADER_BYTES 32
#define ZEROS_BYTES 4096

static const uint8_t zeros[ZEROS_BYTES];

/* Set once, before the first database is opened; log_methods when the first log is. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t methods_lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs *plain, wiping;
static const sqlite3_io_methods *plain_methods;
static sqlite3_io_methods log_methods;
static bool registered;

/* Zeros from first to last, on disk when it returns. */
static bool overwrite(sqlite3_file *file, sqlite3_int64 first, sqlite3_int64 last) {
    for (sqlite3_int64 at = first; at < last; at += ZEROS_BYTES) {
        int bytes = last - at < ZEROS_BYTES ? (int)(last - at) : ZEROS_BYTES;
        if (plain_methods->xWrite(file, zeros, bytes, at) != SQLITE_OK)
            return false;
    }
    return plain_methods->xSync(file, SQLITE_SYNC_NORMAL) == SQLITE_OK;
}

/* If zeros cannot be written the log is cut all the same: what is promised is that no file holds the bytes. */
static int truncate_wiped(sqlite3_file *file, sqlite3_int64 size) {
    sqlite3_int64 last = 0;
    if (plain_methods->xFileSize(file, &last) == SQLITE_OK && last > size) {
        sqlite3_int64 first = size;
        bool good = true;
        if (first == 0) {
            first = last < LOG_HEADER_BYTES ? last : LOG_HEADER_BYTES;
            good = overwrite(file, 0, first);
        }
        if (good && first < last)
            (void)overwrite(file, first, last);
    }
    return plain_methods->xTruncate(file, size);
}

static int open_wiping(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags) {
    (void)vfs;
    int code = plain->xOpen(plain, name, file, flags, ret_flags);
    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_WAL) || file->pMethods == NULL)
        return code;
    pthread_mutex_lock(&methods_lock);
    if (plain_methods == NULL) {
        plain_methods = file->pMethods;
        log_methods = *plain_methods;
        log_methods.xTruncate = truncate_wiped;
    }
    if (file->pMethods == plain_methods) /* always, unless a file system needs others: then it is only truncated */
        file->pMethods = &log_methods;
    pthread_mutex_unlock(&methods_lock);
    return code;
}

static void register_vfs(void) {
    plain = sqlite3_vfs_find(NULL);
    if (plain == NULL)
        return;
    wiping = *plain;
    wiping.pNext = NULL;
    wiping.zName = VFS_NAME;
    wiping.xOpen = open_wiping;
    registered = sqlite3_vfs_register(&wiping, 0) == SQLITE_OK;
}

const char *caucus_sqlite_vfs(void) {
    (void)pthread_once(&once, register_vfs);
    return registered ? VFS_NAME : NULL;
}

caucus_status caucus_sqlite_wipe(caucus_store_place *place, caucus_error *ret_error) {
    caucus_sqlite *s = (caucus_sqlite *)place;
    /* Whoever reads must not hold up the run: not now, then. */
    (void)sqlite3_busy_timeout(s->db, 0);
    int code = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    caucus_status status = CAUCUS_OK;
    if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
        status = caucus_fail(ret_error, CAUCUS_E_BUSY, "", "%s: somebody reads it", caucus_path_tail(s->path));
    else if (code != SQLITE_OK)
        status = caucus_sqlite_fail(s->db, s->path, "emptying the log", ret_error);
    (void)sqlite3_busy_timeout(s->db, CAUCUS_SQLITE_BUSY_MS);
    return status;
}
