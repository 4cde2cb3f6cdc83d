/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c: making the tables, and looking at a database from outside. */
#include "store/postgres/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In one transaction: all of them are there or none is. Whoever makes them may give a role that serves no more than
 * SELECT, INSERT, UPDATE and DELETE on them. */
#define STATEMENTS 10
static const char run_table[] =
    "CREATE TABLE caucus_run(id integer PRIMARY KEY CHECK(id = 1), plan bytea NOT NULL CHECK(length(plan) = 32),"
    " seeded boolean NOT NULL, begun boolean NOT NULL, term bigint NOT NULL, announcements bigint NOT NULL,"
    " lines bigint NOT NULL, chunks bigint NOT NULL, first bigint NOT NULL, past bytea NOT NULL CHECK(length(past) ="
    " 32), seal bytea NOT NULL CHECK(length(seal) = 32), root bytea NOT NULL, stop boolean NOT NULL)";
static const char announcement_table[] =
    "CREATE TABLE caucus_announcement(serial bigint PRIMARY KEY, expert bigint NOT NULL, epoch bigint NOT NULL,"
    " ask bigint NOT NULL, block bigint NOT NULL, leaf bigint NOT NULL, list bytea NOT NULL)";
static const char *const tables[STATEMENTS] = {
    "BEGIN",
    "CREATE TABLE caucus_store(version integer NOT NULL)",
    run_table,
    "CREATE TABLE caucus_chunk(number bigint PRIMARY KEY, bytes bytea NOT NULL)",
    announcement_table,
    "CREATE TABLE caucus_ledger(line bigint PRIMARY KEY, text text NOT NULL)",
    "ALTER TABLE caucus_run ALTER COLUMN root SET STORAGE EXTERNAL", /* what is sealed does not compress */
    "ALTER TABLE caucus_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL",
    "INSERT INTO caucus_store VALUES(1)",
    "COMMIT"};
_Static_assert(CAUCUS_PG_VERSION == 1, "what is written into caucus_store");

/* How many coordinators have the lock of keeper.c: one or none. */
#define LOCKS                                                                                                          \
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM"            \
    " pg_database WHERE datname = current_database()) AND classid = 1128355139::bigint::oid AND objid ="               \
    " 'caucus_run'::regclass::oid AND objsubid = 1"

static caucus_status make_tables(PGconn *db, const char *label, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    for (size_t i = 0; status == CAUCUS_OK && i < STATEMENTS; i++) {
        PGresult *result = NULL;
        bool more = false;
        const bool came = PQsendQueryParams(db, tables[i], 0, NULL, NULL, NULL, NULL, 1) == 1 &&
                          caucus_pg_wait(db, CAUCUS_PG_COMMIT_MS, &result, &more);
        if (!came || more || PQresultStatus(result) != PGRES_COMMAND_OK)
            status = caucus_pg_fail(db, result, label, "making the tables", ret_error);
        PQclear(result);
    }
    return status;
}

caucus_status caucus_pg_init(const char *where, caucus_error *ret_error) {
    char *label = caucus_pg_label(where, ret_error);
    PGconn *db = NULL;
    bool found = false;
    if (label == NULL)
        return CAUCUS_E_PATH;
    caucus_status status = caucus_pg_connect(where, label, NULL, &db, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_identify(db, label, &found, ret_error);
    if (status == CAUCUS_OK && found)
        status = caucus_fail_hint(
            ret_error, caucus_fail(ret_error, CAUCUS_E_EXISTS, "state", "%.100s: the tables are there already", label),
            "a run has tables of its own: another database, or another schema with options=-csearch_path=NAME");
    if (status == CAUCUS_OK)
        status = make_tables(db, label, ret_error);
    PQfinish(db); /* what is not committed is taken back */
    free(label);
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
    char *label = caucus_pg_label(where, ret_error);
    PGconn *db = NULL;
    PGresult *result = NULL;
    caucus_store_report report = {0};
    if (label == NULL)
        return CAUCUS_E_PATH;
    caucus_status status = caucus_pg_connect(where, label, NULL, &db, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_identify(db, label, &report.tables, ret_error);
    if (status == CAUCUS_OK && !report.tables)
        status = caucus_pg_refuse_empty(label, ret_error);
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
    PGresult *result = NULL;
    caucus_status status = caucus_pg_end_snapshot(p, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_query(p->db, p->label, LOCKS, 0, NULL, CAUCUS_PG_READ_MS, &result, ret_error);
    if (status == CAUCUS_OK)
        *ret = PQntuples(result) == 1 && caucus_pg_int64(result, 0, 0) > 0;
    PQclear(result);
    return status;
}
