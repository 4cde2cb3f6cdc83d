/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c: what a store in PostgreSQL holds, read.
 *
 * Opening reads the run's row, its announcements and its state one after the other, while another coordinator may still
 * be committing. So look() begins a transaction that sees one moment, and whatever is read until the next change is of
 * that moment; the change then is made only if nothing has moved since (the fence). */
#include "store/coordinator/announcement_row.h"
#include "store/postgres/postgres.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/fail.h"
#include "num/hand_over.h"
#include "plan/ledger.h"

caucus_status caucus_pg_damaged(const char *label, const char *how, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_DAMAGED, "", "%.60s: damaged (%s) — " CAUCUS_STORE_OVER, label, how);
}

static caucus_status query(caucus_postgres *p, const char *sql, PGresult **ret, caucus_error *ret_error) {
    return caucus_pg_query(p->db, p->label, sql, 0, NULL, CAUCUS_PG_READ_MS, ret, ret_error);
}

static caucus_status run(caucus_postgres *p, const char *sql, caucus_error *ret_error) {
    PGresult *result = NULL;
    caucus_status status = query(p, sql, &result, ret_error);
    if (status == CAUCUS_OK)
        PQclear(result);
    return status;
}

caucus_status caucus_pg_end_snapshot(caucus_postgres *p, caucus_error *ret_error) {
    if (!p->snapshot)
        return CAUCUS_OK;
    p->snapshot = false;
    return run(p, "COMMIT", ret_error);
}

static caucus_status begin_snapshot(caucus_postgres *p, caucus_error *ret_error) {
    caucus_status status = caucus_pg_end_snapshot(p, ret_error);
    if (status == CAUCUS_OK)
        status = run(p, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ret_error);
    p->snapshot = status == CAUCUS_OK;
    return status;
}

/* Columns 0 to 9 are the run's row, 10 to 15 what the other tables hold, 16 the last line of the ledger, 17 to 19 where
 * the last commit was made. */
static bool take_row(const PGresult *r, caucus_store_row *ret) {
    int64_t number[CAUCUS_STORE_NUMBERS];
    for (int i = 0; i < CAUCUS_STORE_NUMBERS; i++)
        number[i] = caucus_pg_int64(r, 0, i);
    if (!caucus_store_row_of(number, ret))
        return false;
    if (number[4] > 0)
        (void)crypto_hash_sha256(ret->last_line, (const uint8_t *)PQgetvalue(r, 0, 16),
                                 (unsigned long long)PQgetlength(r, 0, 16));
    return caucus_pg_bytes(r, 0, 7, 32, ret->plan) && caucus_pg_bytes(r, 0, 8, 32, ret->past) &&
           caucus_pg_bytes(r, 0, 9, 32, ret->seal);
}

/* Rows without gaps, and as many as the run's row says: everything is of one commit. */
static bool counts_fit(const PGresult *r, const caucus_store_row *row) {
    const uint64_t kept = row->announcements - row->first;
    const int64_t last = caucus_pg_int64(r, 0, 10), count = caucus_pg_int64(r, 0, 11);
    const int64_t line = caucus_pg_int64(r, 0, 12), lines = caucus_pg_int64(r, 0, 13);
    const int64_t chunk = caucus_pg_int64(r, 0, 14), chunks = caucus_pg_int64(r, 0, 15);
    return (uint64_t)count == kept && (kept == 0 || last == (int64_t)row->announcements - 1) && line == lines &&
           (uint64_t)lines == row->lines && (uint64_t)chunks == row->chunks && (chunks == 0 || chunk == chunks - 1);
}

caucus_status caucus_pg_look(caucus_store_place *place, bool *ret_found, caucus_store_row *ret,
                             caucus_error *ret_error) {
    caucus_postgres *p = (caucus_postgres *)place;
    PGresult *result = NULL;
    caucus_store_row row;
    caucus_status status = begin_snapshot(p, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_identify(p->db, p->label, ret_error);
    if (status == CAUCUS_OK)
        status =
            query(p,
                  "SELECT seeded::int::bigint, begun::int::bigint, term, announcements, lines, chunks, first,"
                  " plan, past, seal, (SELECT max(serial) FROM caucus_announcement), (SELECT count(*) FROM"
                  " caucus_announcement), (SELECT max(line) FROM caucus_ledger), (SELECT count(*) FROM caucus_ledger),"
                  " (SELECT max(number) FROM caucus_chunk), (SELECT count(*) FROM caucus_chunk), (SELECT text FROM"
                  " caucus_ledger ORDER BY line DESC LIMIT 1), system, timeline, names FROM caucus_run WHERE id = 1",
                  &result, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const bool found = PQntuples(result) == 1;
    caucus_pg_origin origin = {0};
    if (found && (!take_row(result, &row) || !caucus_pg_take_origin(result, 17, &origin)))
        status = caucus_pg_damaged(p->label, "no run could be so", ret_error);
    else if (found && !counts_fit(result, &row))
        status = caucus_pg_damaged(p->label, "parts not of the same commit", ret_error);
    PQclear(result);
    if (status != CAUCUS_OK)
        return status;
    *ret_found = found;
    p->recorded = origin;
    if (found)
        *ret = row;
    return CAUCUS_OK;
}

static caucus_status load_chunks(caucus_postgres *p, caucus_store_state *ret, caucus_error *ret_error) {
    PGresult *result = NULL;
    for (uint32_t at = 0; at < ret->chunks;) {
        char first[24];
        const char *const text[] = {first};
        (void)snprintf(first, sizeof first, "%" PRIu32, at);
        caucus_status status = caucus_pg_query(
            p->db, p->label,
            "SELECT number, bytes FROM caucus_chunk WHERE number >= $1::bigint ORDER BY number LIMIT 64", 1, text,
            CAUCUS_PG_READ_MS, &result, ret_error);
        if (status != CAUCUS_OK)
            return status;
        const int rows = PQntuples(result);
        for (int i = 0; status == CAUCUS_OK && i < rows; i++, at++) {
            if (at >= ret->chunks || caucus_pg_int64(result, i, 0) != at)
                status = caucus_pg_damaged(p->label, "a part of the state is missing", ret_error);
            else if (!caucus_pg_piece(result, i, 1, &ret->chunk[at]))
                status = caucus_fail_memory(ret_error, "");
        }
        PQclear(result);
        if (status == CAUCUS_OK && rows == 0)
            status = caucus_pg_damaged(p->label, "a part of the state is missing", ret_error);
        if (status != CAUCUS_OK)
            return status;
    }
    return CAUCUS_OK;
}

caucus_status caucus_pg_load(caucus_store_place *place, uint32_t chunks, caucus_store_state *ret,
                             caucus_error *ret_error) {
    caucus_postgres *p = (caucus_postgres *)place;
    caucus_store_state state = {.chunk = calloc((size_t)chunks + 1, sizeof *state.chunk), .chunks = chunks};
    PGresult *result = NULL;
    if (state.chunk == NULL)
        return caucus_fail_memory(ret_error, "");
    caucus_status status = query(p, "SELECT root FROM caucus_run WHERE id = 1", &result, ret_error);
    if (status == CAUCUS_OK && PQntuples(result) != 1)
        status = caucus_pg_damaged(p->label, "no run in it", ret_error);
    else if (status == CAUCUS_OK && !caucus_pg_piece(result, 0, 0, &state.root))
        status = caucus_fail_memory(ret_error, "");
    PQclear(result);
    if (status == CAUCUS_OK)
        status = load_chunks(p, &state, ret_error);
    return CAUCUS_HAND_OVER(status, ret, state, caucus_store_state_free(&state));
}

bool caucus_pg_take_announcement(const PGresult *r, int row, caucus_announcement *ret) {
    int64_t value[6];
    for (int i = 0; i < 6; i++)
        value[i] = caucus_pg_int64(r, row, i);
    return caucus_announcement_from_row(value, (const uint8_t *)PQgetvalue(r, row, 6), PQgetlength(r, row, 6), ret);
}

caucus_status caucus_pg_announcements(caucus_store_place *place, void (*each)(void *user, const caucus_announcement *),
                                      void *user, caucus_error *ret_error) {
    caucus_postgres *p = (caucus_postgres *)place;
    int64_t after = -1;
    bool first = true;
    for (int rows = -1; rows != 0;) {
        char from[24];
        const char *const text[] = {from};
        PGresult *result = NULL;
        (void)snprintf(from, sizeof from, "%" PRId64, after);
        caucus_status status =
            caucus_pg_query(p->db, p->label,
                            "SELECT " CAUCUS_PG_ANNOUNCEMENT " FROM caucus_announcement WHERE serial > "
                            "$1::bigint ORDER BY serial LIMIT " CAUCUS_PG_PAGE_ROWS,
                            1, text, CAUCUS_PG_READ_MS, &result, ret_error);
        if (status != CAUCUS_OK)
            return status;
        rows = PQntuples(result);
        for (int i = 0; status == CAUCUS_OK && i < rows; i++) {
            caucus_announcement a;
            if (caucus_pg_take_announcement(result, i, &a) && (first || a.serial == (uint64_t)after + 1)) {
                each(user, &a);
                after = (int64_t)a.serial;
                first = false;
            } else {
                status = caucus_pg_damaged(p->label, "an announcement is missing or altered", ret_error);
            }
        }
        PQclear(result);
        if (status != CAUCUS_OK)
            return status;
    }
    return CAUCUS_OK;
}

static caucus_status take_line(const PGresult *r, int row, const char *label, int64_t expected, caucus_ledger **ledger,
                               caucus_error *ret_error) {
    const char *text = PQgetvalue(r, row, 1);
    if (caucus_pg_int64(r, row, 0) != expected || strlen(text) != (size_t)PQgetlength(r, row, 1))
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%.60s: line %lld of the ledger is missing or damaged",
                           label, (long long)expected);
    caucus_error why = {0};
    caucus_status status = caucus_ledger_append_line(ledger, text, (size_t)expected, &why);
    if (status == CAUCUS_OK)
        return CAUCUS_OK;
    if (status == CAUCUS_E_MEMORY)
        return caucus_fail_memory(ret_error, "");
    return caucus_fail(ret_error, CAUCUS_E_FORMAT, "", "%.60s: ledger: line %lld: %s", label, (long long)expected,
                       why.text);
}

caucus_status caucus_pg_read_ledger(PGconn *db, const char *label, bool whole, caucus_ledger **ret,
                                    caucus_error *ret_error) {
    caucus_ledger *ledger = NULL;
    caucus_status status = CAUCUS_OK;
    int64_t line = 0;
    for (int rows = -1; status == CAUCUS_OK && rows != 0;) {
        char from[24];
        const char *const text[] = {from};
        PGresult *result = NULL;
        (void)snprintf(from, sizeof from, "%" PRId64, line);
        status = caucus_pg_query(db, label,
                                 "SELECT line, text FROM caucus_ledger WHERE line > $1::bigint ORDER BY line "
                                 "LIMIT " CAUCUS_PG_PAGE_ROWS,
                                 1, text, CAUCUS_PG_READ_MS, &result, ret_error);
        if (status != CAUCUS_OK)
            break;
        rows = PQntuples(result);
        for (int i = 0; status == CAUCUS_OK && i < rows; i++) {
            status = take_line(result, i, label, ++line, &ledger, ret_error);
            if (status == CAUCUS_OK && !whole)
                caucus_ledger_drop_releases(ledger);
        }
        PQclear(result);
    }
    return CAUCUS_HAND_OVER(status, ret, ledger, caucus_ledger_free(ledger));
}

caucus_status caucus_pg_ledger(caucus_store_place *place, bool whole, caucus_ledger **ret, caucus_error *ret_error) {
    const caucus_postgres *p = (const caucus_postgres *)place;
    return caucus_pg_read_ledger(p->db, p->label, whole, ret, ret_error);
}
