/* SPDX-License-Identifier: Apache-2.0 */
/* store_commit.c: one decision in, whole; and back out.
 *
 * State, announcement and ledger lines stand in one transaction: after a crash either all of them are there or none is,
 * so a coordinator that starts again repeats what it decided and draws no noise twice (docs/PRIVACY.md, "Keys
 * and epochs"). */
#include "store/store_db.h"

#include "algo/wipe.h"
#include "num/little_endian.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Run a prepared statement once and make it ready for the next time. */
static bool run(sqlite3_stmt *statement) {
    bool good = sqlite3_step(statement) == SQLITE_DONE;
    good = sqlite3_reset(statement) == SQLITE_OK && good;
    return good;
}

static bool put_state(caucus_store *s, const uint8_t *state, size_t bytes, const uint8_t chain[CAUCUS_CHAIN_BYTES],
                      size_t new_lines) {
    uint8_t seal[CAUCUS_CHAIN_BYTES];
    caucus_chain_seal(chain, (uint64_t)s->next_line - 1 + new_lines, state, bytes, seal);
    bool good = sqlite3_bind_int64(s->put_state, 1, (int64_t)s->next_serial) == SQLITE_OK &&
                sqlite3_bind_blob64(s->put_state, 2, state, bytes, SQLITE_STATIC) == SQLITE_OK &&
                sqlite3_bind_blob(s->put_state, 3, seal, sizeof seal, SQLITE_TRANSIENT) == SQLITE_OK &&
                run(s->put_state);
    (void)sqlite3_clear_bindings(s->put_state); /* the bytes are the caller's */
    return good;
}

static bool put_announcement(caucus_store *s, const caucus_announcement *a) {
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

static bool put_line(caucus_store *s, int64_t number, const char *text) {
    bool good = sqlite3_bind_int64(s->put_line, 1, number) == SQLITE_OK &&
                sqlite3_bind_text(s->put_line, 2, text, -1, SQLITE_STATIC) == SQLITE_OK && run(s->put_line);
    (void)sqlite3_clear_bindings(s->put_line);
    return good;
}

/* The test hook: no handler, no buffer written out, nothing closed. */
static void die(void) {
    (void)kill(getpid(), SIGKILL);
    for (;;)
        (void)pause();
}

/* End the transaction: on disk if all of it is `good`, else taken back. */
static caucus_status finish(caucus_store *s, bool good, caucus_error *ret_error) {
    bool fault = s->fault_at != 0 && s->commits + 1 == s->fault_at;
    if (good && fault && !s->fault_after)
        die();
    if (!good || !run(s->commit)) {
        caucus_status status = caucus_store_fail(s->db, s->path, "writing", ret_error);
        if (!sqlite3_get_autocommit(s->db))
            (void)run(s->rollback);
        return status;
    }
    if (fault)
        die();
    s->commits++;
    return CAUCUS_OK;
}

caucus_status caucus_store_commit(caucus_store *s, const uint8_t *state, size_t bytes,
                                  const caucus_announcement *announcement, const char *const *ledger_line,
                                  size_t ledger_lines, caucus_error *ret_error) {
    assert(announcement->listed <= CAUCUS_SHORTLIST);
    if (announcement->serial + 1 == s->next_serial && s->mark.count == announcement->serial)
        return caucus_mark_write(&s->mark, s->next_serial, s->chain, ret_error); /* tried again: the mark was missing */
    if (announcement->serial != s->next_serial)
        return caucus_fail(ret_error, CAUCUS_E_ORDER, "serial", "%" PRIu64 ": the next commit is announcement %" PRIu64,
                           announcement->serial, s->next_serial);
    uint8_t chain[CAUCUS_CHAIN_BYTES];
    memcpy(chain, s->chain, sizeof chain);
    caucus_chain_add(chain, announcement);
    bool good = run(s->begin) && put_state(s, state, bytes, chain, ledger_lines) && put_announcement(s, announcement);
    for (size_t i = 0; good && i < ledger_lines; i++)
        good = put_line(s, s->next_line + (int64_t)i, ledger_line[i]);
    caucus_status status = finish(s, good, ret_error);
    if (status != CAUCUS_OK)
        return status;
    s->next_serial++;
    s->next_line += (int64_t)ledger_lines;
    memcpy(s->chain, chain, sizeof chain);
    /* If this fails nothing may leave; the next opening finds the database one commit ahead of the mark, and goes
     * on. */
    return caucus_mark_write(&s->mark, s->next_serial, s->chain, ret_error);
}

caucus_status caucus_store_begin(caucus_store *s, caucus_error *ret_error) {
    if (s->begun)
        return CAUCUS_OK;
    bool good = run(s->begin) && run(s->put_begun);
    caucus_status status = finish(s, good, ret_error);
    s->begun = status == CAUCUS_OK;
    return status;
}

bool caucus_store_begun(const caucus_store *s) {
    return s->begun;
}

/* Is this the state that was committed with the last announcement? */
static caucus_status check_seal(const caucus_store *s, const uint8_t *state, size_t bytes, sqlite3_stmt *row,
                                caucus_error *ret_error) {
    uint8_t seal[CAUCUS_CHAIN_BYTES];
    caucus_chain_seal(s->chain, (uint64_t)s->next_line - 1, state, bytes, seal);
    const void *kept = sqlite3_column_blob(row, 1);
    if (kept != NULL && sqlite3_column_bytes(row, 1) == (int)sizeof seal && memcmp(seal, kept, sizeof seal) == 0)
        return CAUCUS_OK;
    return caucus_fail(ret_error, CAUCUS_E_DAMAGED, "",
                       "%s: damaged (the state is not the one that was committed) — " CAUCUS_STORE_OVER,
                       caucus_path_tail(s->path));
}

caucus_status caucus_store_state(caucus_store *s, uint8_t **ret_state, size_t *ret_bytes, caucus_error *ret_error) {
    sqlite3_stmt *row = NULL;
    caucus_status status = CAUCUS_OK;
    uint8_t *state = NULL;
    size_t bytes = 0;
    int code = sqlite3_prepare_v2(s->db, "SELECT bytes, seal FROM state", -1, &row, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(row);
    if (code == SQLITE_ROW) {
        const void *blob = sqlite3_column_blob(row, 0);
        bytes = (size_t)sqlite3_column_bytes(row, 0);
        state = blob != NULL ? malloc(bytes) : NULL;
        if (state != NULL) {
            memcpy(state, blob, bytes);
            status = check_seal(s, state, bytes, row, ret_error);
        } else
            status = blob == NULL && bytes == 0 && sqlite3_errcode(s->db) != SQLITE_NOMEM
                         ? caucus_fail(ret_error, CAUCUS_E_DAMAGED, "",
                                       "%s: damaged (an empty state) — " CAUCUS_STORE_OVER, caucus_path_tail(s->path))
                         : caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    } else if (code != SQLITE_DONE) {
        status = caucus_store_fail(s->db, s->path, "reading", ret_error);
    }
    sqlite3_finalize(row);
    if (status == CAUCUS_OK) {
        *ret_state = state;
        *ret_bytes = bytes;
    } else {
        caucus_wipe_free(state, bytes);
    }
    return status;
}

/* Columns 0 .. 5 are numbers, serial, epoch and block of 63 bits and the others of 32, column 6 the list; false if they
 * cannot be ours. */
static bool take_announcement(sqlite3_stmt *row, uint64_t serial, caucus_announcement *ret) {
    static const bool wide[6] = {true, false, true, false, true, false};
    uint64_t field[6];
    for (int i = 0; i < 6; i++) {
        int64_t value = sqlite3_column_int64(row, i);
        if (value < 0 || (!wide[i] && value > (int64_t)UINT32_MAX))
            return false;
        field[i] = (uint64_t)value;
    }
    const uint8_t *list = sqlite3_column_blob(row, 6);
    int size = sqlite3_column_bytes(row, 6);
    if (field[0] != serial || field[3] > CAUCUS_ASK_SHORTLIST || size < 0 || size % 4 != 0 ||
        size > 4 * (int)CAUCUS_SHORTLIST || (size > 0 && list == NULL))
        return false;
    *ret = (caucus_announcement){.serial = field[0],
                                 .expert = (uint32_t)field[1],
                                 .epoch = field[2],
                                 .ask = (caucus_ask)field[3],
                                 .block = field[4],
                                 .leaf = (uint32_t)field[5],
                                 .listed = (uint32_t)size / 4};
    for (uint32_t i = 0; i < ret->listed; i++)
        ret->list[i] = caucus_le_get32(list + 4 * (size_t)i);
    return true;
}

caucus_status caucus_store_announcements(caucus_store *s, void (*each)(void *user, const caucus_announcement *),
                                         void *user, caucus_error *ret_error) {
    sqlite3_stmt *rows = NULL;
    caucus_status status = CAUCUS_OK;
    int code = sqlite3_prepare_v2(
        s->db, "SELECT serial, expert, epoch, ask, block, step, list FROM announcement ORDER BY serial", -1, &rows,
        NULL);
    if (code == SQLITE_OK) {
        for (uint64_t serial = 0; status == CAUCUS_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; serial++) {
            caucus_announcement announcement;
            if (take_announcement(rows, serial, &announcement))
                each(user, &announcement);
            else
                status = caucus_fail(ret_error, CAUCUS_E_DAMAGED, "",
                                     "%s: announcement %" PRIu64 " is damaged — " CAUCUS_STORE_OVER,
                                     caucus_path_tail(s->path), serial);
        }
    }
    if (status == CAUCUS_OK && code != SQLITE_DONE)
        status = caucus_store_fail(s->db, s->path, "reading", ret_error);
    sqlite3_finalize(rows);
    return status;
}
