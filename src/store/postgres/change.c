/* SPDX-License-Identifier: Apache-2.0 */
/* change.c: a change of the store as one statement, fenced by term and serial.
 *
 * One statement that commits by itself: a fence in a transaction of several would not stop the statements after it, and
 * a commit of its own would be one more thing whose answer can be lost. What became of it is one of five:
 *   made      one row came back, it says 1, nothing else was said, and the server is ready for the next
 *   fenced    it says 0: the run's row has another term or serial
 *   unsafe    it says 0, since the server does not sync any more, or has another synchronous_standby_names than the one
 *             that this run demands: not made
 *   not made  an error in place of an answer, and the connection lives: the server has taken it back
 *   unknown   anything else. No answer in time, a lost connection, and any warning: a wait for a synchronous standby
 *             that was cancelled ends with one, and the standby may not have it.
 *
 * What is sent has a length that does not depend on what was decided: whoever watches the line must not know a verdict
 * before it is committed. The root is padded where it is sealed, and all that differs between two verdicts (ledger
 * lines, the list of an announcement) is filled up here to a whole number of STEP bytes, of which one is the rule. */
#include "store/postgres/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/fail.h"
#include "num/little_endian.h"

#define NAME "caucus_change"
#define STEP 4096
#define TYPE_INT8 20
#define TYPE_TEXT 25
#define TYPE_BYTEA 17

enum { /* parameters, from $1 */
       OLD_TERM,
       OLD_COUNT,
       BEGUN,
       TERM,
       COUNT,
       LINES,
       CHUNKS,
       FIRST,
       PAST,
       SEAL,
       ROOT,
       CHUNK_NUMBERS,
       CHUNK_BYTES,
       SERIAL,
       EXPERT,
       EPOCH,
       ASK,
       BLOCK,
       LEAF,
       LIST,
       NEW_LINES,
       FILLING,
       SYSTEM,
       TIMELINE,
       NAMES,
       PARAMETERS
};

static const char statement[] =
    "WITH s AS (SELECT current_setting('fsync') = 'on' AND ($25::text = '' OR"
    " current_setting('synchronous_standby_names') = $25::text) AS safe),"
    " f AS (UPDATE caucus_run SET begun = $3::bigint <> 0, term = $4::bigint, announcements = $5::bigint,"
    " lines = $6::bigint, chunks = $7::bigint, first = $8::bigint, past = $9::bytea, seal = $10::bytea,"
    " root = coalesce($11::bytea, root), system = $23::bigint, timeline = $24::bigint, names = $25::text"
    " WHERE id = 1 AND term = $1::bigint AND announcements = $2::bigint AND length($22::bytea) >= 0"
    " AND (SELECT safe FROM s) RETURNING 1),"
    " c AS (INSERT INTO caucus_chunk SELECT t.n, t.b FROM f, unnest($12::bigint[], $13::bytea[]) AS t(n, b)"
    " ON CONFLICT (number) DO UPDATE SET bytes = excluded.bytes),"
    " a AS (INSERT INTO caucus_announcement SELECT $14::bigint, $15::bigint, $16::bigint, $17::bigint, $18::bigint,"
    " $19::bigint, $20::bytea FROM f WHERE $14::bigint >= 0),"
    " x AS (DELETE FROM caucus_announcement WHERE serial < $8::bigint AND EXISTS (SELECT 1 FROM f)),"
    " l AS (INSERT INTO caucus_ledger SELECT $6::bigint - cardinality($21::text[]) + u.i, u.t"
    " FROM f, unnest($21::text[]) WITH ORDINALITY AS u(t, i))"
    " SELECT count(*), (SELECT safe FROM s) FROM f";

/* Bytes that are being written; `short_of` memory once and for all. */
typedef struct buffer {
    caucus_piece piece;
    size_t at;
    bool short_of;
} buffer;

static void put(buffer *b, const void *bytes, size_t size) {
    if (b->at + size > b->piece.size)
        b->short_of = true;
    else if (size > 0)
        memcpy(b->piece.bytes + b->at, bytes, size);
    b->at += size;
}

static void put32(buffer *b, uint32_t value) {
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
    put(b, bytes, sizeof bytes);
}

/* The head of an array of one dimension, as PostgreSQL reads it. */
static void put_head(buffer *b, uint32_t type, uint32_t count) {
    put32(b, count > 0 ? 1 : 0);
    put32(b, 0);
    put32(b, type);
    if (count > 0) {
        put32(b, count);
        put32(b, 1);
    }
}

static uint32_t changed_chunks(const caucus_store_change *c, size_t *ret_bytes) {
    uint32_t count = 0;
    *ret_bytes = 0;
    for (uint32_t i = 0; c->changed != NULL && i < c->row.chunks; i++)
        if (c->changed[i]) {
            count++;
            *ret_bytes += c->chunk[i].size;
        }
    return count;
}

static bool write_chunks(const caucus_store_change *c, buffer *numbers, buffer *bytes) {
    size_t total = 0;
    const uint32_t count = changed_chunks(c, &total);
    if (!caucus_piece_resize(&numbers->piece, 20 + 12 * (size_t)count) ||
        !caucus_piece_resize(&bytes->piece, 20 + 4 * (size_t)count + total))
        return false;
    put_head(numbers, TYPE_INT8, count);
    put_head(bytes, TYPE_BYTEA, count);
    for (uint32_t i = 0; c->changed != NULL && i < c->row.chunks; i++)
        if (c->changed[i]) {
            put32(numbers, 8);
            put32(numbers, 0);
            put32(numbers, i);
            put32(bytes, (uint32_t)c->chunk[i].size);
            put(bytes, c->chunk[i].bytes, c->chunk[i].size);
        }
    return !numbers->short_of && !bytes->short_of;
}

static bool write_lines(const caucus_store_change *c, buffer *to) {
    size_t total = 20;
    for (size_t i = 0; i < c->lines; i++)
        total += 4 + strlen(c->line[i]);
    if (!caucus_piece_resize(&to->piece, total))
        return false;
    put_head(to, TYPE_TEXT, (uint32_t)c->lines);
    for (size_t i = 0; i < c->lines; i++) {
        put32(to, (uint32_t)strlen(c->line[i]));
        put(to, c->line[i], strlen(c->line[i]));
    }
    return !to->short_of;
}

typedef struct parameters {
    char number[PARAMETERS][8]; /* big-endian */
    const char *value[PARAMETERS];
    int length[PARAMETERS], format[PARAMETERS];
    uint8_t list[4 * CAUCUS_SHORTLIST];
    buffer numbers, chunks, lines;
    uint8_t *filling;
} parameters;

static void set_number(parameters *p, int at, uint64_t value) {
    for (int i = 0; i < 8; i++)
        p->number[at][i] = (char)(value >> (8 * (7 - i)));
    p->value[at] = p->number[at];
    p->length[at] = 8;
}

static void set_bytes(parameters *p, int at, const void *bytes, size_t size) {
    p->value[at] = size > 0 ? bytes : ""; /* an address, else it is NULL */
    p->length[at] = (int)size;
}

static void set_announcement(parameters *p, const caucus_announcement *a) {
    const caucus_announcement none = {0};
    const caucus_announcement *from = a != NULL ? a : &none;
    const uint64_t field[] = {a != NULL ? a->serial : UINT64_MAX, /* -1: none */
                              from->expert,
                              from->epoch,
                              (uint32_t)from->ask,
                              from->block,
                              from->leaf};
    for (int i = 0; i < 6; i++)
        set_number(p, SERIAL + i, field[i]);
    for (uint32_t i = 0; i < from->listed; i++)
        (void)caucus_le_put32(p->list + 4 * (size_t)i, from->list[i]);
    set_bytes(p, LIST, p->list, 4 * (size_t)from->listed);
}

/* Three parameters from `at` on. */
static void set_origin(parameters *p, int at, const caucus_pg_origin *here) {
    set_number(p, at, here->system);
    set_number(p, at + 1, here->timeline);
    set_bytes(p, at + 2, here->names, strlen(here->names));
}

static bool set_parameters(parameters *p, const caucus_pg_origin *here, const caucus_store_change *c) {
    const uint64_t row[] = {c->term,      c->announcements, c->row.begun, c->row.term, c->row.announcements,
                            c->row.lines, c->row.chunks,    c->row.first};
    *p = (parameters){0};
    for (int i = 0; i < PARAMETERS; i++)
        p->format[i] = 1;
    for (int i = 0; i <= FIRST; i++)
        set_number(p, OLD_TERM + i, row[i]);
    set_bytes(p, PAST, c->row.past, sizeof c->row.past);
    set_bytes(p, SEAL, c->row.seal, sizeof c->row.seal);
    if (c->root != NULL)
        set_bytes(p, ROOT, c->root->bytes, c->root->size);
    set_announcement(p, c->announcement);
    set_origin(p, SYSTEM, here);
    if (!write_chunks(c, &p->numbers, &p->chunks) || !write_lines(c, &p->lines))
        return false;
    set_bytes(p, CHUNK_NUMBERS, p->numbers.piece.bytes, p->numbers.at);
    set_bytes(p, CHUNK_BYTES, p->chunks.piece.bytes, p->chunks.at);
    set_bytes(p, NEW_LINES, p->lines.piece.bytes, p->lines.at);
    const size_t differs = p->lines.at + (size_t)p->length[LIST];
    const size_t filling = (differs / STEP + 1) * STEP - differs;
    p->filling = calloc(1, filling);
    set_bytes(p, FILLING, p->filling, filling);
    return p->filling != NULL;
}

static void free_parameters(parameters *p) {
    caucus_piece_free(&p->numbers.piece);
    caucus_piece_free(&p->chunks.piece);
    caucus_piece_free(&p->lines.piece);
    free(p->filling);
}

static caucus_status prepare(caucus_postgres *p, caucus_error *ret_error) {
    PGresult *result = NULL;
    bool more = false;
    if (p->prepared)
        return CAUCUS_OK;
    const bool came =
        PQsendPrepare(p->db, NAME, statement, 0, NULL) == 1 && caucus_pg_wait(p->db, CAUCUS_PG_READ_MS, &result, &more);
    p->prepared = came && !more && PQresultStatus(result) == PGRES_COMMAND_OK;
    caucus_status status =
        p->prepared ? CAUCUS_OK : caucus_pg_fail(p->db, result, p->label, "preparing to write", ret_error);
    PQclear(result);
    return status;
}

static caucus_status unknown(const caucus_postgres *p, const PGresult *result, caucus_error *ret_error) {
    if (p->warned)
        return caucus_fail(ret_error, CAUCUS_E_UNKNOWN, "",
                           "%.60s: the server warned while it committed: a standby may not have it", p->label);
    (void)caucus_pg_fail(p->db, result, p->label, "writing", ret_error);
    return CAUCUS_E_UNKNOWN;
}

/* Which of the five it was. */
static caucus_status judge(const caucus_postgres *p, const PGresult *result, bool came, bool more,
                           caucus_error *ret_error) {
    const bool ready = came && PQstatus(p->db) == CONNECTION_OK && PQtransactionStatus(p->db) == PQTRANS_IDLE;
    if (!ready || more || p->warned)
        return unknown(p, result, ret_error);
    if (PQresultStatus(result) == PGRES_FATAL_ERROR && PQresultErrorField(result, PG_DIAG_SQLSTATE) != NULL)
        return caucus_pg_fail(p->db, result, p->label, "writing", ret_error);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
        return unknown(p, result, ret_error);
    if (caucus_pg_int64(result, 0, 0) == 1)
        return CAUCUS_OK;
    if (PQnfields(result) > 1 && PQgetlength(result, 0, 1) == 1 && PQgetvalue(result, 0, 1)[0] == 0)
        return caucus_fail(ret_error, CAUCUS_E_IO, "",
                           p->here.names[0] != '\0'
                               ? "%.60s: fsync or synchronous_standby_names has changed (the run demands %.100s)"
                               : "%.60s: fsync has been switched off%.0s",
                           p->label, p->here.names);
    return CAUCUS_E_FENCED;
}

caucus_status caucus_pg_change(caucus_store_place *place, const caucus_store_change *c, caucus_error *ret_error) {
    caucus_postgres *p = (caucus_postgres *)place;
    parameters all;
    PGresult *result = NULL;
    bool more = false;
    if (p->db == NULL) /* lost while an outcome was being found out */
        return caucus_fail(ret_error, CAUCUS_E_NETWORK, "", "%.60s: not connected", p->label);
    caucus_status status = caucus_pg_end_snapshot(p, ret_error);
    if (status == CAUCUS_OK)
        status = prepare(p, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (set_parameters(&all, &p->here, c)) {
        if (c->die_before)
            caucus_store_die();
        p->warned = false;
        for (int i = 0; i < PARAMETERS; i++)
            p->sent += (uint64_t)all.length[i];
        const bool came = PQsendQueryPrepared(p->db, NAME, PARAMETERS, all.value, all.length, all.format, 1) == 1 &&
                          caucus_pg_wait(p->db, CAUCUS_PG_COMMIT_MS, &result, &more);
        status = judge(p, result, came, more, ret_error);
        if (status == CAUCUS_OK)
            atomic_store(&p->term, c->row.term);
        if (status == CAUCUS_OK && c->die_after)
            caucus_store_die();
    } else {
        status = caucus_fail_memory(ret_error, "");
    }
    PQclear(result);
    free_parameters(&all);
    return status;
}

caucus_status caucus_pg_create(caucus_store_place *place, const caucus_store_row *row, caucus_error *ret_error) {
    caucus_postgres *p = (caucus_postgres *)place;
    const uint8_t zero[32] = {0};
    parameters all = {0};
    PGresult *result = NULL;
    bool more = false;
    caucus_status status = caucus_pg_end_snapshot(p, ret_error);
    if (status != CAUCUS_OK)
        return status;
    set_bytes(&all, 0, row->plan, sizeof row->plan);
    set_number(&all, 1, row->seeded);
    set_number(&all, 2, row->term);
    set_bytes(&all, 3, zero, sizeof zero);
    set_bytes(&all, 4, row->seal, sizeof row->seal);
    set_origin(&all, 5, &p->here);
    for (int i = 0; i < 8; i++)
        all.format[i] = 1;
    p->warned = false;
    const bool came =
        PQsendQueryParams(p->db,
                          "WITH f AS (INSERT INTO caucus_run VALUES (1, $1::bytea, $2::bigint <> 0, "
                          "false, $3::bigint, 0, 0, 0, 0, $4::bytea, $5::bytea, '', false, $6::bigint, "
                          "$7::bigint, $8::text) ON CONFLICT DO NOTHING RETURNING 1) SELECT count(*) FROM f",
                          8, NULL, all.value, all.length, all.format, 1) == 1 &&
        caucus_pg_wait(p->db, CAUCUS_PG_COMMIT_MS, &result, &more);
    status = judge(p, result, came, more, ret_error);
    PQclear(result);
    return status == CAUCUS_E_FENCED
               ? caucus_fail(ret_error, CAUCUS_E_BUSY, "", "%.60s: another coordinator has just begun here", p->label)
               : status;
}
