/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c: making the tables, and looking at a database from outside. */
#include "store/postgres/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/fail.h"

/* In one transaction: all of them are there or none is. Whoever makes them may give a role that serves no more than
 * SELECT, INSERT, UPDATE and DELETE on them. */
static const char run_table[] =
    "CREATE TABLE caucus_run(id integer PRIMARY KEY CHECK(id = 1), plan bytea NOT NULL CHECK(length(plan) = 32),"
    " seeded boolean NOT NULL, begun boolean NOT NULL, term bigint NOT NULL, announcements bigint NOT NULL,"
    " lines bigint NOT NULL, chunks bigint NOT NULL, first bigint NOT NULL, past bytea NOT NULL CHECK(length(past) ="
    " 32), seal bytea NOT NULL CHECK(length(seal) = 32), root bytea NOT NULL, stop boolean NOT NULL,"
    " system bigint NOT NULL, timeline bigint NOT NULL, names text NOT NULL)";
static const char announcement_table[] =
    "CREATE TABLE caucus_announcement(serial bigint PRIMARY KEY, expert bigint NOT NULL, epoch bigint NOT NULL,"
    " ask bigint NOT NULL, block bigint NOT NULL, leaf bigint NOT NULL, list bytea NOT NULL)";
static const char *const tables[] = {
    "BEGIN",
    "CREATE TABLE caucus_store(version integer NOT NULL)",
    run_table,
    "CREATE TABLE caucus_chunk(number bigint PRIMARY KEY, bytes bytea NOT NULL)",
    announcement_table,
    "CREATE TABLE caucus_ledger(line bigint PRIMARY KEY, text text NOT NULL)",
    "ALTER TABLE caucus_run ALTER COLUMN root SET STORAGE EXTERNAL", /* what is sealed does not compress */
    "ALTER TABLE caucus_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL",
    "INSERT INTO caucus_store VALUES(2)",
    "COMMIT",
    NULL};
/* From version 1: where the run was is not known, and it goes on wherever it is found. */
static const char add_origin[] =
    "ALTER TABLE caucus_run ADD COLUMN system bigint NOT NULL DEFAULT 0, ADD COLUMN timeline bigint NOT NULL DEFAULT 0,"
    " ADD COLUMN names text NOT NULL DEFAULT ''";
static const char *const from_1[] = {"BEGIN",    "LOCK TABLE caucus_store IN ACCESS EXCLUSIVE MODE",
                                     add_origin, "UPDATE caucus_store SET version = 2",
                                     "COMMIT",   NULL};
_Static_assert(CAUCUS_PG_VERSION == 2, "what is written into caucus_store");

/* How many coordinators have the lock of keeper.c: one or none. */
#define LOCKS                                                                                                          \
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM"            \
    " pg_database WHERE datname = current_database()) AND classid = 1128355139::bigint::oid AND objid ="               \
    " 'caucus_run'::regclass::oid AND objsubid = 1"

/* One after the other; what is not committed is taken back when the connection ends. */
static caucus_status make_tables(PGconn *db, const char *label, const char *const *statements,
                                 caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    for (size_t i = 0; status == CAUCUS_OK && statements[i] != NULL; i++) {
        PGresult *result = NULL;
        bool more = false;
        const bool came = PQsendQueryParams(db, statements[i], 0, NULL, NULL, NULL, NULL, 1) == 1 &&
                          caucus_pg_wait(db, CAUCUS_PG_COMMIT_MS, &result, &more);
        if (!came || more || PQresultStatus(result) != PGRES_COMMAND_OK)
            status = caucus_pg_fail(db, result, label, "making the tables", ret_error);
        PQclear(result);
    }
    return status;
}

caucus_status caucus_pg_init(const char *where, caucus_error *ret_error) {
    char *label = NULL;
    PGconn *db = NULL;
    int64_t version = 0;
    caucus_status status = caucus_pg_visit(where, &label, &db, &version, ret_error);
    if (status == CAUCUS_OK && version != 0)
        status = caucus_fail_hint(
            ret_error, caucus_fail(ret_error, CAUCUS_E_EXISTS, "state", "%.100s: the tables are there already", label),
            "a run has tables of its own: another database, or another schema with options=-csearch_path=NAME");
    if (status == CAUCUS_OK)
        status = make_tables(db, label, tables, ret_error);
    PQfinish(db);
    free(label);
    return status;
}

static caucus_status count_locks(PGconn *db, const char *label, int64_t *ret, caucus_error *ret_error) {
    PGresult *result = NULL;
    caucus_status status = caucus_pg_query(db, label, LOCKS, 0, NULL, CAUCUS_PG_READ_MS, &result, ret_error);
    if (status == CAUCUS_OK)
        *ret = PQntuples(result) == 1 ? caucus_pg_int64(result, 0, 0) : 0;
    PQclear(result);
    return status;
}

/* A coordinator of the older version does not know the new columns: none may be at work. */
caucus_status caucus_pg_migrate(const char *where, uint32_t *ret_from, uint32_t *ret_to, caucus_error *ret_error) {
    char *label = NULL;
    PGconn *db = NULL;
    int64_t version = 0, locks = 0;
    caucus_status status = caucus_pg_visit(where, &label, &db, &version, ret_error);
    const bool old = status == CAUCUS_OK && version == 1;
    if (status == CAUCUS_OK && !old)
        status = caucus_pg_check_version(label, version, ret_error);
    if (status == CAUCUS_OK && old)
        status = count_locks(db, label, &locks, ret_error);
    if (status == CAUCUS_OK && locks > 0)
        status =
            caucus_fail(ret_error, CAUCUS_E_BUSY, "state", "%.100s: a coordinator is at work — stop it first", label);
    if (status == CAUCUS_OK && old)
        status = make_tables(db, label, from_1, ret_error);
    PQfinish(db);
    free(label);
    if (status == CAUCUS_OK) {
        *ret_from = (uint32_t)version;
        *ret_to = CAUCUS_PG_VERSION;
    }
    return status;
}

static bool take_report(const PGresult *r, caucus_store_report *ret) {
    ret->found = PQntuples(r) == 1;
    if (!ret->found)
        return true;
    ret->seeded = caucus_pg_int64(r, 0, 0) == 1;
    ret->begun = caucus_pg_int64(r, 0, 1) == 1;
    ret->stop = caucus_pg_int64(r, 0, 2) == 1;
    ret->term = (uint64_t)caucus_pg_int64(r, 0, 3);
    ret->announcements = (uint64_t)caucus_pg_int64(r, 0, 4);
    ret->lines = (uint64_t)caucus_pg_int64(r, 0, 5);
    ret->running = caucus_pg_int64(r, 0, 6) > 0;
    return caucus_pg_bytes(r, 0, 7, 32, ret->plan);
}

/* The first value of the first row, as text. */
static caucus_status ask_text(PGconn *db, const char *label, const char *sql, char *ret, size_t room,
                              caucus_error *ret_error) {
    PGresult *result = NULL;
    caucus_status status = caucus_pg_query(db, label, sql, 0, NULL, CAUCUS_PG_READ_MS, &result, ret_error);
    if (status == CAUCUS_OK && PQntuples(result) == 1)
        (void)snprintf(ret, room, "%.*s", PQgetlength(result, 0, 0), PQgetvalue(result, 0, 0));
    PQclear(result);
    return status;
}

caucus_status caucus_pg_check(const char *where, caucus_store_report *ret, caucus_error *ret_error) {
    char *label = NULL;
    PGconn *db = NULL;
    PGresult *result = NULL;
    caucus_store_report report = {0};
    int64_t version = 0;
    caucus_status status = caucus_pg_visit(where, &label, &db, &version, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_check_version(label, version, ret_error);
    report.tables = status == CAUCUS_OK;
    if (status == CAUCUS_OK)
        status = ask_text(db, label, "SELECT current_setting('server_version')", report.server, sizeof report.server,
                          ret_error);
    if (status == CAUCUS_OK)
        status = ask_text(db, label, "SELECT current_setting('synchronous_standby_names')", report.synchronous,
                          sizeof report.synchronous, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_query(
            db, label,
            "SELECT seeded::int::bigint, begun::int::bigint, stop::int::bigint, term, announcements, lines,"
            " (" LOCKS "), plan FROM caucus_run WHERE id = 1",
            0, NULL, CAUCUS_PG_READ_MS, &result, ret_error);
    if (status == CAUCUS_OK && !take_report(result, &report))
        status = caucus_fail(ret_error, CAUCUS_E_DAMAGED, "", "%.100s: damaged (no run could be so)", label);
    PQclear(result);
    PQfinish(db);
    free(label);
    if (status == CAUCUS_OK)
        *ret = report;
    return status;
}

caucus_status caucus_pg_held(caucus_store_place *place, bool *ret, caucus_error *ret_error) {
    caucus_postgres *p = (caucus_postgres *)place;
    int64_t locks = 0;
    caucus_status status = caucus_pg_end_snapshot(p, ret_error);
    if (status == CAUCUS_OK)
        status = count_locks(p->db, p->label, &locks, ret_error);
    if (status == CAUCUS_OK)
        *ret = locks > 0;
    return status;
}
