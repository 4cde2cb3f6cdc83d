/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_change.c: a change of the store as one transaction, fenced by term and serial.
 *
 * What fails before COMMIT is taken back, and nothing of it is there. If COMMIT itself fails, SQLite has taken it back
 * in memory, but the log may hold it whole (its last frame was written and the sync, or what came after it, failed),
 * and whoever reads the log next would find it: the outcome is not known (store.h). */
#include "store/coordinator/sqlite.h"

#include "num/little_endian.h"

/* Run a prepared statement once and make it ready for the next time. */
static bool run(sqlite3_stmt *statement) {
    bool good = sqlite3_step(statement) == SQLITE_DONE;
    good = sqlite3_reset(statement) == SQLITE_OK && good;
    return good;
}

static bool prepare(caucus_sqlite *s) {
    const struct {
        const char *sql;
        sqlite3_stmt **to;
    } all[] = {
        {"BEGIN IMMEDIATE", &s->begin},
        {"UPDATE run SET begun = ?1, term = ?2, announcements = ?3, lines = ?4, chunks = ?5, first = ?6, seal = ?7, "
         "root = coalesce(?8, root), past = ?9 WHERE id = 1 AND term = ?10 AND announcements = ?11",
         &s->put_run},
        {"INSERT INTO chunk VALUES(?1, ?2) ON CONFLICT(number) DO UPDATE SET bytes = excluded.bytes", &s->put_chunk},
        {"INSERT INTO announcement VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)", &s->put_announcement},
        {"DELETE FROM announcement WHERE serial < ?1", &s->forget},
        {"INSERT INTO ledger VALUES(?1, ?2)", &s->put_line},
        {"COMMIT", &s->commit},
        {"ROLLBACK", &s->rollback}}; /* prepared: to take back needs no memory that is not there */
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (*all[i].to == NULL &&
            sqlite3_prepare_v3(s->db, all[i].sql, -1, SQLITE_PREPARE_PERSISTENT, all[i].to, NULL) != SQLITE_OK)
            return false;
    return true;
}

void caucus_sqlite_finalize(caucus_sqlite *s) {
    sqlite3_stmt **statement[] = {&s->begin,  &s->put_run,  &s->put_chunk, &s->put_announcement,
                                  &s->forget, &s->put_line, &s->commit,    &s->rollback};
    for (size_t i = 0; i < sizeof statement / sizeof statement[0]; i++) {
        sqlite3_finalize(*statement[i]);
        *statement[i] = NULL;
    }
}

/* The run's row; *ret_held whether it was the one that the fence names. */
static bool put_run(caucus_sqlite *s, const caucus_store_change *c, bool *ret_held) {
    const uint64_t number[] = {c->row.begun, c->row.term,   c->row.announcements,
                               c->row.lines, c->row.chunks, c->row.first};
    bool good = true;
    for (int i = 0; good && i < 6; i++)
        good = number[i] <= INT64_MAX && sqlite3_bind_int64(s->put_run, i + 1, (int64_t)number[i]) == SQLITE_OK;
    good = good && sqlite3_bind_blob(s->put_run, 7, c->row.seal, sizeof c->row.seal, SQLITE_STATIC) == SQLITE_OK &&
           (c->root == NULL ||
            sqlite3_bind_blob64(s->put_run, 8, c->root->bytes, c->root->size, SQLITE_STATIC) == SQLITE_OK) &&
           sqlite3_bind_blob(s->put_run, 9, c->row.past, sizeof c->row.past, SQLITE_STATIC) == SQLITE_OK &&
           sqlite3_bind_int64(s->put_run, 10, (int64_t)c->term) == SQLITE_OK &&
           sqlite3_bind_int64(s->put_run, 11, (int64_t)c->announcements) == SQLITE_OK && run(s->put_run);
    (void)sqlite3_clear_bindings(s->put_run); /* the bytes are the caller's */
    *ret_held = good && sqlite3_changes(s->db) == 1;
    return good;
}

static bool put_chunks(caucus_sqlite *s, const caucus_store_change *c) {
    bool good = true;
    for (uint32_t i = 0; good && c->changed != NULL && i < c->row.chunks; i++)
        if (c->changed[i])
            good =
                sqlite3_bind_int64(s->put_chunk, 1, i) == SQLITE_OK &&
                sqlite3_bind_blob64(s->put_chunk, 2, c->chunk[i].bytes, c->chunk[i].size, SQLITE_STATIC) == SQLITE_OK &&
                run(s->put_chunk);
    (void)sqlite3_clear_bindings(s->put_chunk);
    return good;
}

static bool put_announcement(caucus_sqlite *s, const caucus_announcement *a) {
    const uint64_t field[] = {a->serial, a->expert, a->epoch, (uint32_t)a->ask, a->block, a->leaf};
    uint8_t list[4 * CAUCUS_SHORTLIST];
    for (uint32_t i = 0; i < a->listed; i++)
        (void)caucus_le_put32(list + 4 * (size_t)i, a->list[i]);
    for (int i = 0; i < 6; i++)
        if (field[i] > INT64_MAX || sqlite3_bind_int64(s->put_announcement, i + 1, (int64_t)field[i]) != SQLITE_OK)
            return false;
    return sqlite3_bind_blob(s->put_announcement, 7, list, (int)(4 * a->listed), SQLITE_TRANSIENT) == SQLITE_OK &&
           run(s->put_announcement);
}

/* Those that are kept no longer; none in a run that ends. */
static bool forget(caucus_sqlite *s, uint64_t first) {
    return first == 0 || (sqlite3_bind_int64(s->forget, 1, (int64_t)first) == SQLITE_OK && run(s->forget));
}

static bool put_lines(caucus_sqlite *s, const caucus_store_change *c) {
    const int64_t first = (int64_t)(c->row.lines - c->lines) + 1;
    bool good = true;
    for (size_t i = 0; good && i < c->lines; i++)
        good = sqlite3_bind_int64(s->put_line, 1, first + (int64_t)i) == SQLITE_OK &&
               sqlite3_bind_text(s->put_line, 2, c->line[i], -1, SQLITE_STATIC) == SQLITE_OK && run(s->put_line);
    (void)sqlite3_clear_bindings(s->put_line);
    return good;
}

static void take_back(caucus_sqlite *s) {
    if (!sqlite3_get_autocommit(s->db))
        (void)run(s->rollback);
}

caucus_status caucus_sqlite_change(caucus_store_place *place, const caucus_store_change *c, caucus_error *ret_error) {
    caucus_sqlite *s = (caucus_sqlite *)place;
    bool held = false;
    bool good = prepare(s) && run(s->begin) && put_run(s, c, &held);
    if (good && !held) {
        take_back(s);
        return CAUCUS_E_FENCED;
    }
    good = good && put_chunks(s, c) &&
           (c->announcement == NULL || (put_announcement(s, c->announcement) && forget(s, c->row.first))) &&
           put_lines(s, c);
    if (!good) {
        caucus_status status = caucus_sqlite_fail(s->db, s->path, "writing", ret_error);
        take_back(s);
        return status;
    }
    if (c->die_before)
        caucus_store_die();
    if (!run(s->commit)) {
        (void)caucus_sqlite_fail(s->db, s->path, "writing", ret_error);
        take_back(s);
        return CAUCUS_E_UNKNOWN;
    }
    if (c->die_after)
        caucus_store_die();
    return CAUCUS_OK;
}
