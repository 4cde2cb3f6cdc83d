/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_rows.c: what a store in SQLite holds, read back. Whether it belongs together is store.c's to judge. */
#include "num/hand_over.h"
#include "store/coordinator/announcement_row.h"
#include "store/coordinator/sqlite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static caucus_status damaged(const caucus_sqlite *s, const char *how, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_DAMAGED, "", "%s: damaged (%s) — " CAUCUS_STORE_OVER,
                       caucus_path_tail(s->path), how);
}

/* Rows are as many as the run's row says, and the last ones are there. */
static caucus_status check_counts(caucus_sqlite *s, const caucus_store_row *row, caucus_error *ret_error) {
    int64_t last = -1, count = 0, line = 0, lines = 0, chunk = -1, chunks = 0;
    const struct {
        const char *sql;
        int64_t *to;
    } ask[] = {{"SELECT max(serial) FROM announcement", &last}, {"SELECT count(*) FROM announcement", &count},
               {"SELECT max(line) FROM ledger", &line},         {"SELECT count(*) FROM ledger", &lines},
               {"SELECT max(number) FROM chunk", &chunk},       {"SELECT count(*) FROM chunk", &chunks}};
    for (size_t i = 0; i < sizeof ask / sizeof ask[0]; i++) {
        caucus_status status = caucus_sqlite_integer(s->db, s->path, ask[i].sql, ask[i].to, ret_error);
        if (status != CAUCUS_OK)
            return status;
    }
    if (last != (int64_t)row->announcements - 1 || (uint64_t)count != row->announcements - row->first ||
        line != lines || (uint64_t)lines != row->lines || chunk != chunks - 1 || (uint64_t)chunks != row->chunks)
        return damaged(s, "parts not of the same commit", ret_error);
    return CAUCUS_OK;
}

/* A blob column of 32 bytes. */
static bool take_hash(sqlite3_stmt *row, int column, uint8_t ret[32]) {
    const void *bytes = sqlite3_column_blob(row, column);
    if (bytes == NULL || sqlite3_column_bytes(row, column) != 32)
        return false;
    memcpy(ret, bytes, 32);
    return true;
}

static bool take_row(sqlite3_stmt *row, caucus_store_row *ret) {
    int64_t number[CAUCUS_STORE_NUMBERS];
    for (int i = 0; i < CAUCUS_STORE_NUMBERS; i++)
        number[i] = sqlite3_column_int64(row, i + 1);
    return caucus_store_row_of(number, ret) && take_hash(row, 0, ret->plan) && take_hash(row, 8, ret->past) &&
           take_hash(row, 9, ret->seal);
}

caucus_status caucus_sqlite_look(caucus_store_place *place, bool *ret_found, caucus_store_row *ret,
                                 caucus_error *ret_error) {
    caucus_sqlite *s = (caucus_sqlite *)place;
    sqlite3_stmt *row = NULL;
    caucus_store_row found;
    caucus_status status = CAUCUS_OK;
    int code = sqlite3_prepare_v2(
        s->db, "SELECT plan, seeded, begun, term, announcements, lines, chunks, first, past, seal FROM run", -1, &row,
        NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(row);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = caucus_sqlite_fail(s->db, s->path, "reading", ret_error);
    else if (code == SQLITE_DONE)
        status = damaged(s, "no plan in it", ret_error);
    else if (!take_row(row, &found))
        status = damaged(s, "no run could be so", ret_error);
    sqlite3_finalize(row);
    if (status == CAUCUS_OK)
        status = check_counts(s, &found, ret_error);
    if (status != CAUCUS_OK)
        return status;
    *ret = found;
    *ret_found = true;
    return CAUCUS_OK;
}

static bool take_piece(sqlite3_stmt *row, int column, caucus_piece *ret) {
    const void *bytes = sqlite3_column_blob(row, column);
    const size_t size = (size_t)sqlite3_column_bytes(row, column);
    if (!caucus_piece_resize(ret, size) || (bytes == NULL && size > 0))
        return false;
    if (size > 0)
        memcpy(ret->bytes, bytes, size);
    return true;
}

static caucus_status load_root(caucus_sqlite *s, caucus_piece *ret, caucus_error *ret_error) {
    sqlite3_stmt *row = NULL;
    caucus_status status = CAUCUS_OK;
    int code = sqlite3_prepare_v2(s->db, "SELECT root FROM run", -1, &row, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(row);
    if (code != SQLITE_ROW)
        status = caucus_sqlite_fail(s->db, s->path, "reading", ret_error);
    else if (!take_piece(row, 0, ret))
        status = caucus_sqlite_fail(NULL, s->path, "", ret_error);
    sqlite3_finalize(row);
    return status;
}

static caucus_status load_chunks(caucus_sqlite *s, caucus_store_state *ret, caucus_error *ret_error) {
    sqlite3_stmt *rows = NULL;
    caucus_status status = CAUCUS_OK;
    int code = sqlite3_prepare_v2(s->db, "SELECT number, bytes FROM chunk ORDER BY number", -1, &rows, NULL);
    uint32_t count = 0;
    while (status == CAUCUS_OK && code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        if (count == ret->chunks || sqlite3_column_int64(rows, 0) != count)
            status = damaged(s, "a part of the state is missing", ret_error);
        else if (!take_piece(rows, 1, &ret->chunk[count]))
            status = caucus_sqlite_fail(NULL, s->path, "", ret_error);
        count++;
        code = SQLITE_OK;
    }
    if (status == CAUCUS_OK && code != SQLITE_DONE)
        status = caucus_sqlite_fail(s->db, s->path, "reading", ret_error);
    sqlite3_finalize(rows);
    if (status == CAUCUS_OK && count != ret->chunks)
        status = damaged(s, "a part of the state is missing", ret_error);
    return status;
}

caucus_status caucus_sqlite_load(caucus_store_place *place, uint32_t chunks, caucus_store_state *ret,
                                 caucus_error *ret_error) {
    caucus_sqlite *s = (caucus_sqlite *)place;
    caucus_store_state state = {.chunk = calloc((size_t)chunks + 1, sizeof *state.chunk), .chunks = chunks};
    if (state.chunk == NULL)
        return caucus_sqlite_fail(NULL, s->path, "", ret_error); /* no memory */
    caucus_status status = load_root(s, &state.root, ret_error);
    if (status == CAUCUS_OK)
        status = load_chunks(s, &state, ret_error);
    return CAUCUS_HAND_OVER(status, ret, state, caucus_store_state_free(&state));
}

/* Columns 0 .. 5 are numbers, column 6 the list; false if they cannot be ours. */
static bool take_announcement(sqlite3_stmt *row, uint64_t serial, caucus_announcement *ret) {
    int64_t value[6];
    for (int i = 0; i < 6; i++)
        value[i] = sqlite3_column_int64(row, i);
    const uint8_t *list = sqlite3_column_blob(row, 6);
    return caucus_announcement_from_row(value, list, sqlite3_column_bytes(row, 6), ret) && ret->serial == serial;
}

caucus_status caucus_sqlite_announcements(caucus_store_place *place,
                                          void (*each)(void *user, const caucus_announcement *), void *user,
                                          caucus_error *ret_error) {
    caucus_sqlite *s = (caucus_sqlite *)place;
    sqlite3_stmt *rows = NULL;
    caucus_status status = CAUCUS_OK;
    int code = sqlite3_prepare_v2(
        s->db, "SELECT serial, expert, epoch, ask, block, leaf, list FROM announcement ORDER BY serial", -1, &rows,
        NULL);
    if (code == SQLITE_OK) {
        uint64_t serial = UINT64_MAX; /* the first is where it is; store.c knows where it should be */
        for (; status == CAUCUS_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; serial++) {
            caucus_announcement announcement;
            if (serial == UINT64_MAX)
                serial = (uint64_t)sqlite3_column_int64(rows, 0);
            if (take_announcement(rows, serial, &announcement))
                each(user, &announcement);
            else
                status = caucus_fail(ret_error, CAUCUS_E_DAMAGED, "",
                                     "%s: announcement %" PRIu64 " is damaged — " CAUCUS_STORE_OVER,
                                     caucus_path_tail(s->path), serial);
        }
    }
    if (status == CAUCUS_OK && code != SQLITE_DONE)
        status = caucus_sqlite_fail(s->db, s->path, "reading", ret_error);
    sqlite3_finalize(rows);
    return status;
}

/* One row of one statement: WAL lets the coordinator go on meanwhile. */
static caucus_status peek(sqlite3 *db, const char *path, caucus_store_glance *ret, caucus_error *ret_error) {
    sqlite3_stmt *row = NULL;
    caucus_status status = CAUCUS_OK;
    int code = sqlite3_prepare_v2(db,
                                  "SELECT serial, expert, epoch, ask, block, leaf, list, plan FROM run LEFT JOIN"
                                  " announcement ON serial = (SELECT max(serial) FROM announcement)",
                                  -1, &row, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(row);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = caucus_sqlite_fail(db, path, "reading", ret_error);
    ret->found = status == CAUCUS_OK && code == SQLITE_ROW;
    ret->any = ret->found && sqlite3_column_type(row, 0) != SQLITE_NULL;
    if (ret->found && !take_hash(row, 7, ret->plan))
        status =
            caucus_fail(ret_error, CAUCUS_E_DAMAGED, "", "%s: the hash of its plan is damaged", caucus_path_tail(path));
    else if (ret->any && !take_announcement(row, (uint64_t)sqlite3_column_int64(row, 0), &ret->last))
        status = caucus_fail(ret_error, CAUCUS_E_DAMAGED, "", "%s: its last announcement is damaged",
                             caucus_path_tail(path));
    sqlite3_finalize(row);
    return status;
}

caucus_status caucus_sqlite_peek(const char *where, caucus_store_glance *ret, caucus_error *ret_error) {
    char *path = caucus_path_in(where, CAUCUS_SQLITE_FILE);
    sqlite3 *db = NULL;
    caucus_status status;
    if (path == NULL)
        return caucus_sqlite_fail(NULL, where, "", ret_error); /* no memory */
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(db, CAUCUS_SQLITE_BUSY_MS) != SQLITE_OK)
        status = caucus_sqlite_fail(db, path, "opening", ret_error);
    else
        status = peek(db, path, ret, ret_error);
    sqlite3_close(db);
    free(path);
    return status;
}
