/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_ledger.c: the ledger inside the coordinator's file, for the coordinator and for people who look on. */
#include "num/fail.h"
#include "store/coordinator/sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "num/hand_over.h"
#include "plan/ledger.h"

static caucus_status take_line(sqlite3_stmt *row, const char *path, int64_t expected, caucus_ledger **ledger,
                               caucus_error *ret_error) {
    const char *text = (const char *)sqlite3_column_text(row, 1);
    int64_t number = sqlite3_column_int64(row, 0);
    if (text == NULL && sqlite3_errcode(sqlite3_db_handle(row)) == SQLITE_NOMEM)
        return caucus_sqlite_fail(NULL, path, "", ret_error);
    if (text == NULL || number != expected || strlen(text) != (size_t)sqlite3_column_bytes(row, 1))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: line %lld of the ledger is missing or damaged",
                           caucus_path_tail(path), (long long)expected);
    caucus_error why = {0};
    caucus_status status = caucus_ledger_append_line(ledger, text, (size_t)number, &why);
    if (status == CAUCUS_OK)
        return CAUCUS_OK;
    if (status == CAUCUS_E_MEMORY)
        return caucus_fail(ret_error, status, "", "%s: %s", caucus_path_tail(path), caucus_status_text(status));
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: ledger: line %lld: %s", caucus_path_tail(path),
                       (long long)number, why.text);
}

static caucus_status read_ledger(sqlite3 *db, const char *path, bool whole, caucus_ledger **ret,
                                 caucus_error *ret_error) {
    sqlite3_stmt *rows = NULL;
    caucus_ledger *ledger = NULL;
    caucus_status status = CAUCUS_OK;
    int code = sqlite3_prepare_v2(db, "SELECT line, text FROM ledger ORDER BY line", -1, &rows, NULL);
    if (code == SQLITE_OK)
        for (int64_t line = 1; status == CAUCUS_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; line++) {
            status = take_line(rows, path, line, &ledger, ret_error);
            if (status == CAUCUS_OK && !whole)
                caucus_ledger_drop_releases(ledger);
        }
    if (status == CAUCUS_OK && code != SQLITE_DONE)
        status = caucus_sqlite_fail(db, path, "reading the ledger", ret_error);
    sqlite3_finalize(rows);
    return CAUCUS_HAND_OVER(status, ret, ledger, caucus_ledger_free(ledger));
}

caucus_status caucus_sqlite_ledger(caucus_store_place *place, bool whole, caucus_ledger **ret,
                                   caucus_error *ret_error) {
    const caucus_sqlite *s = (const caucus_sqlite *)place;
    return read_ledger(s->db, s->path, whole, ret, ret_error);
}

/* One transaction, so that a commit in between cannot be seen half; WAL lets the coordinator go on meanwhile. */
static caucus_status read_only(sqlite3 *db, const char *path, caucus_ledger **ret, caucus_error *ret_error) {
    bool fresh = false;
    if (sqlite3_busy_timeout(db, CAUCUS_SQLITE_BUSY_MS) != SQLITE_OK ||
        sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return caucus_sqlite_fail(db, path, "reading", ret_error);
    caucus_status status = caucus_sqlite_identify(db, path, &fresh, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (fresh) {
        *ret = NULL;
        return CAUCUS_OK;
    }
    return read_ledger(db, path, true, ret, ret_error);
}

/* "file:PATH?immutable=1", PATH with what means something in a URI written as %XX. */
static char *immutable_uri(const char *path) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "file:");
    for (; *path != '\0'; path++) {
        const bool plain = strchr("%?#", *path) == NULL;
        sqlite3_str_appendf(text, plain ? "%c" : "%%%02x", (unsigned char)*path);
    }
    sqlite3_str_appendall(text, "?immutable=1");
    return sqlite3_str_finish(text);
}

/* A file system that cannot be written to has no room for the memory that readers of a log share (-shm). Then the log
 * is read without it: nobody writes here, so nobody needs to be kept out. Without a log the file alone is
 * everything. */
static caucus_status read_unshared(const char *path, caucus_ledger **ret, caucus_error *ret_error) {
    sqlite3 *db = NULL;
    struct stat info;
    char *name = sqlite3_mprintf("%s-wal", path);
    if (name == NULL)
        return caucus_fail_memory(ret_error, "");
    const bool logged = stat(name, &info) == 0 && info.st_size > 0;
    sqlite3_free(name);
    caucus_status status;
    char *uri = logged ? NULL : immutable_uri(path);
    if (!logged && uri == NULL)
        return caucus_fail_memory(ret_error, "");
    const int opened = logged ? sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, "unix-none")
                              : sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    if (opened != SQLITE_OK ||
        (logged && sqlite3_exec(db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL) != SQLITE_OK))
        status = caucus_sqlite_fail(db, path, "opening", ret_error);
    else
        status = read_only(db, path, ret, ret_error);
    sqlite3_close(db);
    sqlite3_free(uri);
    return status;
}

caucus_status caucus_sqlite_open_ledger(const char *dir, caucus_ledger **ret, caucus_error *ret_error) {
    char *path = caucus_path_in(dir, CAUCUS_SQLITE_FILE);
    struct stat info;
    sqlite3 *db = NULL;
    caucus_status status;
    if (path == NULL)
        return caucus_fail_memory(ret_error, "");
    if (stat(path, &info) != 0)
        status = caucus_fail_hint(ret_error, caucus_fail_path(ret_error, CAUCUS_E_PATH, "", path),
                                  "name the directory that holds a coordinator's state");
    else if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        status = caucus_sqlite_fail(db, path, "opening", ret_error);
    else
        status = read_only(db, path, ret, ret_error);
    const int code = db != NULL ? sqlite3_errcode(db) : SQLITE_OK;
    sqlite3_close(db);
    if (status != CAUCUS_OK && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY))
        status = read_unshared(path, ret, ret_error);
    free(path);
    return status;
}
