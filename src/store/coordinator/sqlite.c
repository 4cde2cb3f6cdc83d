/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.c: opening, making and closing a store in SQLite. See backend.h; the format is in sqlite.h.
 *
 * synchronous=FULL: a commit returns after the log has been synced. secure_delete: a replaced state (its threshold, its
 * key, its sums) is overwritten, not left in free pages; the log is emptied on opening, on closing and whenever an
 * epoch has ended (sqlite_wipe.c) for the same reason, and what a statement sets aside stays in memory. A log cut short
 * by a crash is SQLite's to judge: its frames carry checksums, and whatever follows the last whole commit is as if it
 * had never been. */
#include "store/coordinator/sqlite.h"
#include "num/fail.h"
#include "num/hand_over.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char pragmas[] = "PRAGMA journal_mode=WAL;"
                              "PRAGMA synchronous=FULL;"
                              "PRAGMA secure_delete=ON;"
                              "PRAGMA journal_size_limit=0;"
                              "PRAGMA temp_store=MEMORY;"
                              "PRAGMA trusted_schema=OFF;";

static const char schema[] =
    "CREATE TABLE run(id INTEGER PRIMARY KEY CHECK(id = 1), plan BLOB NOT NULL CHECK(length(plan) = 32), seeded "
    "INTEGER NOT NULL, begun INTEGER NOT NULL, term INTEGER NOT NULL, announcements INTEGER NOT NULL, lines INTEGER "
    "NOT NULL, chunks INTEGER NOT NULL, first INTEGER NOT NULL, past BLOB NOT NULL CHECK(length(past) = 32), seal BLOB "
    "NOT NULL CHECK(length(seal) = 32), root BLOB NOT NULL) STRICT;"
    "CREATE TABLE chunk(number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;"
    "CREATE TABLE announcement(serial INTEGER PRIMARY KEY, expert INTEGER NOT NULL, epoch INTEGER NOT NULL, ask "
    "INTEGER NOT NULL,"
    " block INTEGER NOT NULL, leaf INTEGER NOT NULL, list BLOB NOT NULL) STRICT;"
    "CREATE TABLE ledger(line INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;";

static caucus_sqlite *of(caucus_store_place *place) {
    return (caucus_sqlite *)place;
}

static caucus_status execute(caucus_sqlite *s, const char *sql, const char *doing, caucus_error *ret_error) {
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return CAUCUS_OK;
    return caucus_sqlite_fail(s->db, s->path, doing, ret_error);
}

static caucus_status put_first(caucus_sqlite *s, const caucus_store_row *row, caucus_error *ret_error) {
    sqlite3_stmt *put = NULL;
    caucus_status status = CAUCUS_OK;
    if (sqlite3_prepare_v2(s->db, "INSERT INTO run VALUES(1, ?1, ?2, 0, ?3, 0, 0, 0, 0, zeroblob(32), ?4, x'')", -1,
                           &put, NULL) != SQLITE_OK ||
        sqlite3_bind_blob(put, 1, row->plan, sizeof row->plan, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_int(put, 2, row->seeded) != SQLITE_OK ||
        sqlite3_bind_int64(put, 3, (int64_t)row->term) != SQLITE_OK ||
        sqlite3_bind_blob(put, 4, row->seal, sizeof row->seal, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(put) != SQLITE_DONE)
        status = caucus_sqlite_fail(s->db, s->path, "creating", ret_error);
    sqlite3_finalize(put);
    return status;
}

/* Tables and identity appear together, and go to the main file at once: whoever loses the log still finds whose file
 * this is. */
static caucus_status create(caucus_store_place *place, const caucus_store_row *row, caucus_error *ret_error) {
    caucus_sqlite *s = of(place);
    char identity[96];
    (void)snprintf(identity, sizeof identity, "PRAGMA application_id=%d;PRAGMA user_version=%d;",
                   CAUCUS_SQLITE_APPLICATION, CAUCUS_SQLITE_VERSION);
    caucus_status status = execute(s, pragmas, "opening", ret_error);
    if (status == CAUCUS_OK)
        status = execute(s, "BEGIN IMMEDIATE", "creating", ret_error);
    if (status == CAUCUS_OK)
        status = execute(s, identity, "creating", ret_error);
    if (status == CAUCUS_OK)
        status = execute(s, schema, "creating", ret_error);
    if (status == CAUCUS_OK)
        status = put_first(s, row, ret_error);
    if (status == CAUCUS_OK)
        status = execute(s, "COMMIT", "creating", ret_error);
    if (status == CAUCUS_OK)
        status = execute(s, "PRAGMA wal_checkpoint(TRUNCATE)", "creating", ret_error);
    return status; /* on failure the connection is closed, which takes the transaction back */
}

static caucus_status connect_db(caucus_sqlite *s, caucus_error *ret_error) {
    if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, caucus_sqlite_vfs()) !=
            SQLITE_OK ||
        sqlite3_busy_timeout(s->db, CAUCUS_SQLITE_BUSY_MS) != SQLITE_OK)
        return caucus_sqlite_fail(s->db, s->path, "opening", ret_error);
    return CAUCUS_OK;
}

/* Look before writing: a stranger's database must be left as it is. */
static caucus_status look(caucus_store_place *place, bool *ret_found, caucus_store_row *ret, caucus_error *ret_error) {
    caucus_sqlite *s = of(place);
    bool fresh = false;
    caucus_status status = caucus_sqlite_identify(s->db, s->path, &fresh, ret_error);
    if (status == CAUCUS_OK && !fresh)
        status = execute(s, pragmas, "opening", ret_error);
    if (status == CAUCUS_OK && fresh)
        *ret_found = false;
    else if (status == CAUCUS_OK)
        status = caucus_sqlite_look(place, ret_found, ret, ret_error);
    return status;
}

/* The connection is given up as it is: nothing of what it may have written is taken back, nothing is emptied. */
static void disconnect(caucus_sqlite *s) {
    caucus_sqlite_finalize(s);
    if (s->db != NULL)
        (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(s->db);
    s->db = NULL;
}

/* Whatever the file holds now is copied to the database and synced there before it is believed: after a sync that
 * failed, what can be read from the log need not be on the disk, and a second sync would not say so. */
static caucus_status settle(caucus_store_place *place, caucus_error *ret_error) {
    caucus_sqlite *s = of(place);
    disconnect(s);
    caucus_status status = connect_db(s, ret_error);
    if (status == CAUCUS_OK)
        status = execute(s, pragmas, "opening", ret_error);
    if (status == CAUCUS_OK)
        status = caucus_sqlite_wipe(place, ret_error);
    return status;
}

static void close_place(caucus_store_place *place, bool kept) {
    caucus_sqlite *s = of(place);
    /* A reader may hold the log at this moment; then the next closing empties it. Everything in it is safe either
     * way. */
    if (kept && s->db != NULL) {
        caucus_sqlite_finalize(s);
        (void)sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        sqlite3_close(s->db);
    } else {
        disconnect(s); /* what we refuse, we leave as it is */
    }
    if (s->lock >= 0) {
        (void)!ftruncate(s->lock, 0);
        close(s->lock);
    }
    if (s->locked_dir >= 0)
        close(s->locked_dir);
    free(s->dir);
    free(s->path);
    free(s);
}

static caucus_status open_place(const caucus_store_where *where, caucus_store_place **ret, caucus_error *ret_error) {
    caucus_sqlite *s = calloc(1, sizeof *s);
    if (s == NULL)
        return caucus_fail_memory(ret_error, "");
    s->locked_dir = s->lock = -1;
    s->dir = strdup(where->state);
    s->path = caucus_path_in(where->state, CAUCUS_SQLITE_FILE);
    caucus_status status = s->dir != NULL && s->path != NULL ? CAUCUS_OK : caucus_fail_memory(ret_error, "");
    if (status == CAUCUS_OK) {
        s->place = (caucus_store_place){.label = s->path, .folder = s->dir};
        status = caucus_sqlite_take_dir(where->state, &s->locked_dir, &s->lock, ret_error);
    }
    if (status == CAUCUS_OK)
        status = caucus_sqlite_touch(s->path, ret_error);
    if (status == CAUCUS_OK)
        status = connect_db(s, ret_error);
    return CAUCUS_HAND_OVER(status, ret, &s->place, close_place(&s->place, false));
}

const caucus_store_backend caucus_store_sqlite = {
    .name = "sqlite",
    .exists = caucus_sqlite_exists,
    .open = open_place,
    .look = look,
    .load = caucus_sqlite_load,
    .announcements = caucus_sqlite_announcements,
    .ledger = caucus_sqlite_ledger,
    .create = create,
    .change = caucus_sqlite_change,
    .settle = settle,
    .wipe = caucus_sqlite_wipe,
    .close = close_place,
    .open_ledger = caucus_sqlite_open_ledger,
    .peek = caucus_sqlite_peek,
    .request_stop = caucus_sqlite_request_stop,
    .stop_requested = caucus_sqlite_stop_requested,
    .stop_heard = caucus_sqlite_stop_heard,
};
