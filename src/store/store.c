/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: opening and closing what a coordinator must never forget. See store.h; the format is in store_db.h.
 *
 * synchronous=FULL: a commit returns after the log has been synced. secure_delete: a replaced state (its threshold, its
 * key, its sums) is overwritten, not left in free pages; the log is emptied on opening, on closing and whenever an
 * epoch has ended (store_wipe.c) for the same reason, and what a statement sets aside stays in memory. A log cut short
 * by a crash is SQLite's to judge: its frames carry checksums, and whatever follows the last whole commit is as if it
 * had never been. */
#include "store/store_db.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char pragmas[] = "PRAGMA journal_mode=WAL;"
                              "PRAGMA synchronous=FULL;"
                              "PRAGMA secure_delete=ON;"
                              "PRAGMA journal_size_limit=0;"
                              "PRAGMA temp_store=MEMORY;"
                              "PRAGMA trusted_schema=OFF;";

static const char schema[] =
    "CREATE TABLE meta(id INTEGER PRIMARY KEY CHECK(id = 1), plan BLOB NOT NULL CHECK(length(plan) = 32), seeded "
    "INTEGER NOT NULL, begun INTEGER NOT NULL) STRICT;"
    "CREATE TABLE state(id INTEGER PRIMARY KEY CHECK(id = 1), serial INTEGER NOT NULL, bytes BLOB NOT NULL, seal "
    "BLOB NOT NULL CHECK(length(seal) = 32)) STRICT;"
    "CREATE TABLE announcement(serial INTEGER PRIMARY KEY, expert INTEGER NOT NULL, epoch INTEGER NOT NULL, ask "
    "INTEGER NOT NULL,"
    " block INTEGER NOT NULL, step INTEGER NOT NULL, list BLOB NOT NULL) STRICT;"
    "CREATE TABLE ledger(line INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;";

static caucus_status execute(caucus_store *store, const char *sql, const char *doing, caucus_error *ret_error) {
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return CAUCUS_OK;
    return caucus_store_fail(store->db, store->path, doing, ret_error);
}

static caucus_status put_meta(caucus_store *store, const uint8_t plan_hash[32], bool seeded, caucus_error *ret_error) {
    sqlite3_stmt *put = NULL;
    caucus_status status = CAUCUS_OK;
    if (sqlite3_prepare_v2(store->db, "INSERT INTO meta VALUES(1, ?1, ?2, 0)", -1, &put, NULL) != SQLITE_OK ||
        sqlite3_bind_blob(put, 1, plan_hash, 32, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_int(put, 2, seeded) != SQLITE_OK || sqlite3_step(put) != SQLITE_DONE)
        status = caucus_store_fail(store->db, store->path, "creating", ret_error);
    sqlite3_finalize(put);
    return status;
}

/* Tables and identity appear together, and go to the main file at once: whoever loses the log still finds whose file
 * this is. */
static caucus_status create(caucus_store *store, const uint8_t plan_hash[32], bool seeded, caucus_error *ret_error) {
    char identity[96];
    (void)snprintf(identity, sizeof identity, "PRAGMA application_id=%d;PRAGMA user_version=%d;",
                   CAUCUS_STORE_APPLICATION, CAUCUS_STORE_VERSION);
    caucus_status status = execute(store, "BEGIN IMMEDIATE", "creating", ret_error);
    if (status == CAUCUS_OK)
        status = execute(store, identity, "creating", ret_error);
    if (status == CAUCUS_OK)
        status = execute(store, schema, "creating", ret_error);
    if (status == CAUCUS_OK)
        status = put_meta(store, plan_hash, seeded, ret_error);
    if (status == CAUCUS_OK)
        status = execute(store, "COMMIT", "creating", ret_error);
    if (status == CAUCUS_OK)
        status = execute(store, "PRAGMA wal_checkpoint(TRUNCATE)", "creating", ret_error);
    return status; /* on failure the connection is closed, which takes the transaction back */
}

static caucus_status refuse_plan(const caucus_store *store, const uint8_t *has, const uint8_t *given,
                                 caucus_error *ret_error) {
    char old[9], other[9];
    (void)sodium_bin2hex(old, sizeof old, has, 4);
    (void)sodium_bin2hex(other, sizeof other, given, 4);
    (void)caucus_fail(ret_error, CAUCUS_E_MISMATCH, "",
                      "%s belongs to plan %s… and you gave plan %s…: a run cannot change its plan",
                      caucus_path_tail(store->dir), old, other);
    return caucus_fail_hint(ret_error, CAUCUS_E_MISMATCH, "use a new 'state'");
}

/* A private run must not go on with a seed, nor a seeded one as if it were private. */
static caucus_status refuse_seed(const caucus_store *store, bool seeded, caucus_error *ret_error) {
    (void)caucus_fail(ret_error, CAUCUS_E_CONFLICT, "",
                      seeded ? "%s holds a private run and a seed was given"
                             : "%s holds a seeded run, which is not private, and no seed was given",
                      caucus_path_tail(store->dir));
    return caucus_fail_hint(ret_error, CAUCUS_E_CONFLICT,
                            seeded ? "leave out 'seed', or use a new 'state'"
                                   : "give its 'seed', or use a new 'state'");
}

static caucus_status check_meta(caucus_store *store, const uint8_t plan_hash[32], bool seeded,
                                caucus_error *ret_error) {
    sqlite3_stmt *row = NULL;
    caucus_status status = CAUCUS_OK;
    int code = sqlite3_prepare_v2(store->db, "SELECT plan, seeded, begun FROM meta", -1, &row, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(row);
    const uint8_t *has = code == SQLITE_ROW && sqlite3_column_bytes(row, 0) == 32 ? sqlite3_column_blob(row, 0) : NULL;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = caucus_store_fail(store->db, store->path, "reading", ret_error);
    else if (has == NULL)
        status = caucus_fail(ret_error, CAUCUS_E_DAMAGED, "", "%s: damaged (no plan in it) — " CAUCUS_STORE_OVER,
                             caucus_path_tail(store->path));
    else if (memcmp(has, plan_hash, 32) != 0)
        status = refuse_plan(store, has, plan_hash, ret_error);
    else if ((sqlite3_column_int(row, 1) != 0) != seeded)
        status = refuse_seed(store, seeded, ret_error);
    store->begun = code == SQLITE_ROW && sqlite3_column_int(row, 2) != 0;
    sqlite3_finalize(row);
    return status;
}

/* How far the last commit went, and that its parts agree. */
static caucus_status find_end(caucus_store *store, caucus_error *ret_error) {
    int64_t last = -1, count = 0, state = -1, line = 0, lines = 0;
    const struct {
        const char *sql;
        int64_t *to;
    } ask[] = {{"SELECT max(serial) FROM announcement", &last},
               {"SELECT count(*) FROM announcement", &count},
               {"SELECT serial FROM state", &state},
               {"SELECT max(line) FROM ledger", &line},
               {"SELECT count(*) FROM ledger", &lines}};
    for (size_t i = 0; i < sizeof ask / sizeof ask[0]; i++) {
        caucus_status status = caucus_store_integer(store->db, store->path, ask[i].sql, ask[i].to, ret_error);
        if (status != CAUCUS_OK)
            return status;
    }
    if (last != count - 1 || state != last || line != lines || last == INT64_MAX)
        return caucus_fail(ret_error, CAUCUS_E_DAMAGED, "",
                           "%s: damaged (parts not of the same commit) — " CAUCUS_STORE_OVER,
                           caucus_path_tail(store->path));
    store->next_serial = (uint64_t)count;
    store->next_line = lines + 1;
    return CAUCUS_OK;
}

static caucus_status prepare(caucus_store *store, caucus_error *ret_error) {
    const struct {
        const char *sql;
        sqlite3_stmt **to;
    } all[] = {
        {"BEGIN IMMEDIATE", &store->begin},
        {"INSERT INTO state VALUES(1, ?1, ?2, ?3) ON CONFLICT(id) DO UPDATE SET serial = excluded.serial, bytes = "
         "excluded.bytes, seal = excluded.seal",
         &store->put_state},
        {"INSERT INTO announcement VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)", &store->put_announcement},
        {"INSERT INTO ledger VALUES(?1, ?2)", &store->put_line},
        {"UPDATE meta SET begun = 1", &store->put_begun},
        {"COMMIT", &store->commit},
        {"ROLLBACK", &store->rollback}}; /* prepared: to take back needs no memory that is not there */
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (sqlite3_prepare_v3(store->db, all[i].sql, -1, SQLITE_PREPARE_PERSISTENT, all[i].to, NULL) != SQLITE_OK)
            return caucus_store_fail(store->db, store->path, "opening", ret_error);
    return CAUCUS_OK;
}

static caucus_status refuse_lost(const caucus_store *store, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_ROLLED_BACK, "", "%s: the state that was here is gone — " CAUCUS_STORE_OVER,
                       caucus_path_tail(store->path));
}

/* The chain over the announcements as they are read, and as it was when the mark was made. */
typedef struct follower {
    uint8_t *chain;
    uint64_t count, mark_count;
    uint8_t at_mark[CAUCUS_CHAIN_BYTES];
} follower;

static void follow(void *user, const caucus_announcement *announcement) {
    follower *f = user;
    caucus_chain_add(f->chain, announcement);
    if (++f->count == f->mark_count)
        memcpy(f->at_mark, f->chain, sizeof f->at_mark);
}

/* The database must hold what the mark says was committed, and at most the one commit more whose mark was not made. */
static caucus_status check_mark(caucus_store *store, caucus_error *ret_error) {
    follower f = {.chain = store->chain, .mark_count = store->mark.count};
    caucus_chain_begin(store->plan, store->chain);
    if (store->mark.count == 0)
        memcpy(f.at_mark, store->chain, sizeof f.at_mark);
    caucus_status status = caucus_store_announcements(store, follow, &f, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (f.count < store->mark.count)
        return caucus_fail(ret_error, CAUCUS_E_ROLLED_BACK, "",
                           "%s holds %llu announcements and %llu were made: an older copy, or its log is damaged or "
                           "gone — " CAUCUS_STORE_OVER,
                           caucus_path_tail(store->path), (unsigned long long)f.count,
                           (unsigned long long)store->mark.count);
    if (f.count > store->mark.count + 1 || memcmp(f.at_mark, store->mark.chain, sizeof f.at_mark) != 0)
        return caucus_fail(ret_error, CAUCUS_E_DAMAGED, "",
                           "%s: damaged (not the announcements that were made) — " CAUCUS_STORE_OVER,
                           caucus_path_tail(store->path));
    return f.count == store->mark.count ? CAUCUS_OK : caucus_mark_write(&store->mark, f.count, store->chain, ret_error);
}

/* DIR/mark is there before the database, and never goes: if only one of them is found, the other was lost. A crash
 * between the two leaves a mark of nothing. */
static caucus_status open_mark(caucus_store *store, bool fresh, caucus_error *ret_error) {
    char *path = caucus_store_join(store->dir, CAUCUS_MARK_FILE);
    struct stat info;
    const bool there = path != NULL && lstat(path, &info) == 0;
    free(path);
    if (path == NULL)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    if (!there && !fresh)
        return caucus_fail(
            ret_error, CAUCUS_E_ROLLED_BACK, "",
            "%s: the file 'mark' is gone, so nobody can tell whether this is the latest state — " CAUCUS_STORE_OVER,
            caucus_path_tail(store->dir));
    uint8_t none[CAUCUS_CHAIN_BYTES];
    bool found = false;
    caucus_chain_begin(store->plan, none);
    caucus_status status = caucus_mark_open(store->dir, store->plan, none, &store->mark, &found, ret_error);
    if (status == CAUCUS_OK && fresh && store->mark.count > 0)
        status = refuse_lost(store, ret_error);
    return status;
}

static caucus_status open_db(caucus_store *store, const uint8_t plan_hash[32], bool seeded, caucus_error *ret_error) {
    bool fresh = false;
    caucus_status status = caucus_store_touch(store->path, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, caucus_store_vfs()) !=
            SQLITE_OK ||
        sqlite3_busy_timeout(store->db, CAUCUS_STORE_BUSY_MS) != SQLITE_OK)
        return caucus_store_fail(store->db, store->path, "opening", ret_error);
    /* Look before writing: a stranger's database must be left as it is. */
    status = caucus_store_identify(store->db, store->path, &fresh, ret_error);
    if (status == CAUCUS_OK && fresh) /* before the database: what is lost is found before anything is written */
        status = open_mark(store, fresh, ret_error);
    if (status == CAUCUS_OK)
        status = execute(store, pragmas, "opening", ret_error);
    if (status == CAUCUS_OK)
        status = fresh ? create(store, plan_hash, seeded, ret_error) : check_meta(store, plan_hash, seeded, ret_error);
    if (status == CAUCUS_OK && !fresh)
        status = open_mark(store, fresh, ret_error);
    if (status == CAUCUS_OK)
        status = find_end(store, ret_error);
    if (status == CAUCUS_OK)
        status = check_mark(store, ret_error);
    if (status == CAUCUS_OK)
        status = prepare(store, ret_error);
    if (status == CAUCUS_OK && !fresh) /* a crash may have come before it was done; if it cannot be done now, later */
        (void)!caucus_store_wipe(store, NULL);
    return status;
}

caucus_status caucus_store_open(const char *dir, const uint8_t plan_hash[32], bool seeded, caucus_store **ret,
                                caucus_error *ret_error) {
    caucus_store *store = calloc(1, sizeof *store);
    if (store != NULL) {
        store->locked_dir = store->lock = -1;
        store->mark.fd = -1;
        memcpy(store->plan, plan_hash, sizeof store->plan);
        store->dir = strdup(dir);
        store->path = caucus_store_join(dir, CAUCUS_STORE_FILE);
    }
    if (store == NULL || store->dir == NULL || store->path == NULL) {
        caucus_store_close(store);
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    }
    caucus_status status = caucus_store_take_dir(dir, &store->locked_dir, &store->lock, ret_error);
    if (status == CAUCUS_OK)
        status = open_db(store, plan_hash, seeded, ret_error);
    if (status != CAUCUS_OK && store->db != NULL) /* what we refuse, we leave as it is */
        (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (status == CAUCUS_OK)
        *ret = store;
    else
        caucus_store_close(store);
    return status;
}

void caucus_store_close(caucus_store *store) {
    if (store == NULL)
        return;
    sqlite3_stmt *statements[] = {store->begin,     store->put_state, store->put_announcement, store->put_line,
                                  store->put_begun, store->commit,    store->rollback};
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        sqlite3_finalize(statements[i]);
    /* A reader may hold the log at this moment; then the next closing empties it. Everything in it is safe either
     * way. */
    if (store->db != NULL && store->next_serial > 0)
        (void)sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_close(store->db);
    caucus_mark_close(&store->mark);
    if (store->lock >= 0) {
        (void)!ftruncate(store->lock, 0);
        close(store->lock);
    }
    if (store->locked_dir >= 0)
        close(store->locked_dir);
    free(store->dir);
    free(store->path);
    free(store);
}

uint64_t caucus_store_commits(const caucus_store *store) {
    return store->commits;
}

void caucus_store_fault(caucus_store *store, uint64_t n, bool after) {
    store->fault_at = n;
    store->fault_after = after;
}
