/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_db.c: SQLite's answers in our words, and what every reader of the file asks first. */
#include "store/coordinator/sqlite.h"

#include <stdio.h>
#include <string.h>

caucus_status caucus_sqlite_fail(sqlite3 *db, const char *path, const char *doing, caucus_error *ret_error) {
    int code = db != NULL ? sqlite3_errcode(db) : SQLITE_NOMEM;
    const char *space = doing[0] != '\0' ? ": " : "";
    path = caucus_path_tail(path);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s: %s", path, caucus_status_text(CAUCUS_E_MEMORY));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return caucus_fail(ret_error, CAUCUS_E_DAMAGED, "", "%s: damaged (%.32s) — " CAUCUS_STORE_OVER, path,
                           sqlite3_errmsg(db));
    case SQLITE_FULL:
        return caucus_fail(ret_error, CAUCUS_E_FULL, "", "%s%s%s: the disk is full — make room and start again", path,
                           space, doing);
    default:
        break;
    }
    int number = sqlite3_system_errno(db); /* not always known */
    return caucus_fail_os(ret_error, CAUCUS_E_IO, number, "", "%s%s%s: %s (SQLite code %d)", path, space, doing,
                          sqlite3_errmsg(db), sqlite3_extended_errcode(db));
}

caucus_status caucus_sqlite_integer(sqlite3 *db, const char *path, const char *sql, int64_t *ret,
                                    caucus_error *ret_error) {
    sqlite3_stmt *statement = NULL;
    caucus_status status = CAUCUS_OK;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *ret = sqlite3_column_int64(statement, 0);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = caucus_sqlite_fail(db, path, "reading", ret_error);
    sqlite3_finalize(statement);
    return status;
}

/* One pass over the whole file: "ok", or the first thing that is wrong. */
static caucus_status check_whole(sqlite3 *db, const char *path, caucus_error *ret_error) {
    sqlite3_stmt *statement = NULL;
    caucus_status status = CAUCUS_OK;
    int code = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (text == NULL)
        status = caucus_sqlite_fail(db, path, "reading", ret_error);
    else if (strcmp(text, "ok") != 0)
        status = caucus_fail(ret_error, CAUCUS_E_DAMAGED, "", "%s: damaged (%.32s) — " CAUCUS_STORE_OVER,
                             caucus_path_tail(path), text);
    sqlite3_finalize(statement);
    return status;
}

caucus_status caucus_sqlite_identify(sqlite3 *db, const char *path, bool *ret_fresh, caucus_error *ret_error) {
    int64_t application = 0, version = 0, tables = 0;
    caucus_status status = caucus_sqlite_integer(db, path, "PRAGMA application_id", &application, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_sqlite_integer(db, path, "PRAGMA user_version", &version, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_sqlite_integer(db, path, "SELECT count(*) FROM sqlite_schema", &tables, ret_error);
    if (status != CAUCUS_OK)
        return status;
    *ret_fresh = application == 0 && version == 0 && tables == 0;
    if (*ret_fresh)
        return CAUCUS_OK;
    path = caucus_path_tail(path);
    if (application != CAUCUS_SQLITE_APPLICATION)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%s: some other program's database — use a new directory",
                           path);
    if (version != CAUCUS_SQLITE_VERSION)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: format %lld, this caucus reads format %d — use the version that made it", path,
                           (long long)version, CAUCUS_SQLITE_VERSION);
    return check_whole(db, path, ret_error);
}
