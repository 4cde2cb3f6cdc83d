/* SPDX-License-Identifier: Apache-2.0 */
/* connect.c: connections to PostgreSQL, and statements that end in time.
 *
 * A commit is worth what the server behind it is worth, so what cannot be trusted with one is refused here: a server
 * that does not sync (fsync = off), and a pool in between, which would hand our session to others (its lock, its
 * settings) and may answer for a server that it has lost. What the session must have is set, whatever the role or the
 * database says: warnings must be shown, since a commit whose wait for a synchronous standby was cut short "succeeds"
 * with one. */
#include "store/postgres/postgres.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/fail.h"
#include "num/hand_over.h"
#include "store/clock.h"

/* A failing server says several lines; the first says what is wrong. */
static void first_line(const char *text, char ret[160]) {
    size_t length = text != NULL ? strcspn(text, "\n") : 0;
    length = length < 159 ? length : 159;
    memcpy(ret, text != NULL ? text : "", length);
    ret[length] = '\0';
}

/* libpq has no code for what it lacks itself. Its words are these wherever no language was chosen (setlocale). */
static bool is_short_of_memory(const char *text) {
    return text == NULL || strstr(text, "out of memory") != NULL;
}

static caucus_status kind_of(const char *state) {
    if (state == NULL || strncmp(state, "57P", 3) == 0) /* nothing came from the server, or it is going down */
        return CAUCUS_E_NETWORK;
    if (strcmp(state, "53100") == 0)
        return CAUCUS_E_FULL;
    return strcmp(state, "53200") == 0 ? CAUCUS_E_MEMORY : CAUCUS_E_IO;
}

caucus_status caucus_pg_fail(const PGconn *db, const PGresult *result, const char *label, const char *doing,
                             caucus_error *ret_error) {
    char said[160];
    const char *state = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *text = result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    first_line(text != NULL ? text : PQerrorMessage(db), said);
    const bool is_ours = state == NULL && is_short_of_memory(PQerrorMessage(db));
    return caucus_fail(ret_error, is_ours ? CAUCUS_E_MEMORY : kind_of(state), "", "%.60s: %s: %.110s", label, doing,
                       said[0] != '\0' ? said : "no answer in time");
}

/* The value of one word of the connection's settings, or NULL. */
static const char *word_of(const PQconninfoOption *all, const char *name) {
    for (; all->keyword != NULL; all++)
        if (strcmp(all->keyword, name) == 0)
            return all->val;
    return NULL;
}

caucus_status caucus_pg_label(const char *where, char **ret, caucus_error *ret_error) {
    char *why = NULL, said[160];
    PQconninfoOption *all = PQconninfoParse(where, &why);
    if (all == NULL) {
        const caucus_status status = is_short_of_memory(why) ? CAUCUS_E_MEMORY : CAUCUS_E_PATH;
        first_line(why, said);
        PQfreemem(why);
        return caucus_fail(ret_error, status, "state", "%.60s: %.140s", where,
                           said[0] != '\0' ? said : "out of memory");
    }
    if (word_of(all, "password") != NULL || word_of(all, "sslpassword") != NULL) {
        PQconninfoFree(all);
        (void)caucus_fail(ret_error, CAUCUS_E_PATH, "state",
                          "a password does not belong on a command line, where others can read it");
        return caucus_fail_hint(ret_error, CAUCUS_E_PATH,
                                "~/.pgpass, or service=NAME with a pg_service.conf, holds it");
    }
    const char *service = word_of(all, "service"), *base = word_of(all, "dbname"), *host = word_of(all, "host");
    char text[160];
    if (service != NULL)
        (void)snprintf(text, sizeof text, "PostgreSQL service %s", service);
    else
        (void)snprintf(text, sizeof text, "PostgreSQL %s%s%s", base != NULL ? base : "", host != NULL ? " on " : "",
                       host != NULL ? host : "");
    PQconninfoFree(all);
    *ret = strdup(text);
    return *ret != NULL ? CAUCUS_OK : caucus_fail_memory(ret_error, "state");
}

bool caucus_pg_wait(PGconn *db, int timeout_ms, PGresult **ret, bool *ret_more) {
    const int64_t until = caucus_clock_ms() + timeout_ms;
    bool done = false;
    *ret = NULL;
    *ret_more = false;
    while (!done) {
        const int flushed = PQflush(db);
        if (flushed < 0)
            return false;
        while (flushed == 0 && !PQisBusy(db) && !done) {
            PGresult *result = PQgetResult(db);
            done = result == NULL;
            if (result != NULL && *ret == NULL)
                *ret = result;
            else if (result != NULL) {
                *ret_more = true;
                PQclear(result);
            }
        }
        if (done)
            break;
        const int64_t left = until - caucus_clock_ms();
        struct pollfd ready = {.fd = PQsocket(db), .events = (short)(POLLIN | (flushed > 0 ? POLLOUT : 0))};
        if (left <= 0 || ready.fd < 0 || (poll(&ready, 1, (int)left) < 0 && errno != EINTR))
            return false;
        if ((ready.revents & ~POLLOUT) != 0 && !PQconsumeInput(db))
            return false;
    }
    return PQstatus(db) == CONNECTION_OK;
}

caucus_status caucus_pg_query(PGconn *db, const char *label, const char *sql, int count, const char *const *text,
                              int timeout_ms, PGresult **ret, caucus_error *ret_error) {
    PGresult *result = NULL;
    bool more = false;
    const bool sent = PQsendQueryParams(db, sql, count, NULL, text, NULL, NULL, 1) == 1;
    const bool came = sent && caucus_pg_wait(db, timeout_ms, &result, &more);
    const ExecStatusType what = PQresultStatus(result);
    if (!came || more || (what != PGRES_TUPLES_OK && what != PGRES_COMMAND_OK)) {
        caucus_status status = caucus_pg_fail(db, result, label, "reading", ret_error);
        PQclear(result);
        return status;
    }
    *ret = result;
    return CAUCUS_OK;
}

/* Anything that the server says beside an answer. */
static void on_notice(void *user, const PGresult *notice) {
    (void)notice;
    if (user != NULL)
        *(bool *)user = true;
}

/* One value of one row, as text. */
static caucus_status ask(PGconn *db, const char *label, const char *sql, char ret[64], caucus_error *ret_error) {
    PGresult *result = NULL;
    caucus_status status = caucus_pg_query(db, label, sql, 0, NULL, CAUCUS_PG_READ_MS, &result, ret_error);
    if (status != CAUCUS_OK)
        return status;
    ret[0] = '\0';
    if (PQntuples(result) == 1 && PQnfields(result) == 1)
        (void)snprintf(ret, 64, "%.*s", PQgetlength(result, 0, 0), PQgetvalue(result, 0, 0));
    PQclear(result);
    return CAUCUS_OK;
}

static caucus_status check_server(PGconn *db, const char *label, caucus_error *ret_error) {
    /* A transaction that others can cut short must show it; a statement must not outlive its client by much. */
    static const char *const set[] = {"SET client_min_messages = warning",
                                      "SET client_connection_check_interval = 1000",
                                      "SET statement_timeout = 0",
                                      "SET lock_timeout = 0",
                                      "SET idle_in_transaction_session_timeout = 0",
                                      "SET default_transaction_isolation = 'read committed'",
                                      "SET default_transaction_read_only = off"};
    char text[64], own[64];
    if (PQserverVersion(db) == 0) /* every server says it, and libpq had no room to keep it */
        return caucus_fail_memory(ret_error, "state");
    if (PQserverVersion(db) < CAUCUS_PG_SERVER_LEAST)
        return caucus_fail(ret_error, CAUCUS_E_PATH, "state", "%.60s: version %d.%d — PostgreSQL 14 is the oldest",
                           label, PQserverVersion(db) / 10000, PQserverVersion(db) % 10000);
    caucus_status status = ask(db, label, "SELECT pg_backend_pid()::text", text, ret_error);
    if (status != CAUCUS_OK)
        return status;
    (void)snprintf(own, sizeof own, "%d", PQbackendPID(db));
    if (strcmp(text, own) != 0)
        return caucus_fail_hint(ret_error,
                                caucus_fail(ret_error, CAUCUS_E_PATH, "state",
                                            "%.60s: a connection pool (pgbouncer?) stands in between, and sessions "
                                            "through it are not ours",
                                            label),
                                "name the server itself");
    for (size_t i = 0; status == CAUCUS_OK && i < sizeof set / sizeof set[0]; i++)
        status = ask(db, label, set[i], text, ret_error);
    if (status == CAUCUS_OK)
        status = ask(db, label, "SELECT current_setting('fsync')", text, ret_error);
    if (status == CAUCUS_OK && strcmp(text, "on") != 0)
        return caucus_fail(ret_error, CAUCUS_E_PATH, "state",
                           "%.60s: fsync = %s: the server forgets commits when its machine fails", label, text);
    if (status == CAUCUS_OK)
        status = ask(db, label, "SELECT current_setting('synchronous_commit')", text, ret_error);
    if (status == CAUCUS_OK && strcmp(text, "on") != 0 && strcmp(text, "remote_apply") != 0)
        status = ask(db, label, "SET synchronous_commit = on", text, ret_error);
    return status;
}

caucus_status caucus_pg_connect(const char *where, const char *label, bool *warned, PGconn **ret,
                                caucus_error *ret_error) {
    /* Ours first: what `where` says wins. */
    static const char *const names[] = {
        "connect_timeout",      "tcp_user_timeout",          "keepalives_idle", "client_encoding",
        "target_session_attrs", "fallback_application_name", "dbname",          NULL};
    const char *const values[] = {"5", "2000", "2", "UTF8", "read-write", "caucus", where, NULL};
    char said[160];
    PGconn *db = PQconnectdbParams(names, values, 1);
    caucus_status status = CAUCUS_OK;
    if (db == NULL)
        return caucus_fail_memory(ret_error, "");
    (void)PQsetNoticeReceiver(db, on_notice, warned);
    if (PQstatus(db) != CONNECTION_OK || PQsetnonblocking(db, 1) != 0) {
        first_line(PQerrorMessage(db), said);
        status = caucus_fail(ret_error, is_short_of_memory(said) ? CAUCUS_E_MEMORY : CAUCUS_E_NETWORK, "state",
                             "%.60s: %.140s", label, said);
    }
    if (status == CAUCUS_OK)
        status = check_server(db, label, ret_error);
    return CAUCUS_HAND_OVER(status, ret, db, PQfinish(db));
}

caucus_status caucus_pg_version(PGconn *db, const char *label, int64_t *ret, caucus_error *ret_error) {
    PGresult *result = NULL;
    caucus_status status = caucus_pg_query(db, label, "SELECT to_regclass('caucus_store') IS NOT NULL", 0, NULL,
                                           CAUCUS_PG_READ_MS, &result, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const bool found = PQntuples(result) == 1 && PQgetlength(result, 0, 0) == 1 && PQgetvalue(result, 0, 0)[0] == 1;
    PQclear(result);
    *ret = 0;
    if (!found)
        return CAUCUS_OK;
    status = caucus_pg_query(db, label, "SELECT version::bigint FROM caucus_store", 0, NULL, CAUCUS_PG_READ_MS, &result,
                             ret_error);
    if (status != CAUCUS_OK)
        return status;
    const int64_t version = PQntuples(result) == 1 ? caucus_pg_int64(result, 0, 0) : 0;
    PQclear(result);
    if (version <= 0)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "state", "%.100s: its tables are of no version", label);
    *ret = version;
    return CAUCUS_OK;
}

caucus_status caucus_pg_check_version(const char *label, int64_t version, caucus_error *ret_error) {
    if (version == CAUCUS_PG_VERSION)
        return CAUCUS_OK;
    if (version == 0)
        return caucus_fail_hint(
            ret_error, caucus_fail(ret_error, CAUCUS_E_PATH, "state", "%.100s: no tables of caucus are there", label),
            "caucus store init makes them");
    return caucus_fail_hint(ret_error,
                            caucus_fail(ret_error, CAUCUS_E_FORMAT, "state",
                                        "%.100s: its tables are of version %lld, this caucus uses version %d", label,
                                        (long long)version, CAUCUS_PG_VERSION),
                            version < CAUCUS_PG_VERSION ? "caucus store migrate changes them"
                                                        : "a newer caucus has changed them: use it everywhere");
}

caucus_status caucus_pg_identify(PGconn *db, const char *label, caucus_error *ret_error) {
    int64_t version = 0;
    caucus_status status = caucus_pg_version(db, label, &version, ret_error);
    return status == CAUCUS_OK ? caucus_pg_check_version(label, version, ret_error) : status;
}

int64_t caucus_pg_int64(const PGresult *result, int row, int column) {
    uint64_t value = 0;
    if (PQgetlength(result, row, column) != 8)
        return 0;
    const char *bytes = PQgetvalue(result, row, column);
    for (int i = 0; i < 8; i++)
        value = value << 8 | (uint8_t)bytes[i];
    return (int64_t)value;
}

bool caucus_pg_bytes(const PGresult *result, int row, int column, size_t size, uint8_t *ret) {
    if ((size_t)PQgetlength(result, row, column) != size)
        return false;
    memcpy(ret, PQgetvalue(result, row, column), size);
    return true;
}

bool caucus_pg_piece(const PGresult *result, int row, int column, caucus_piece *ret) {
    const size_t size = (size_t)PQgetlength(result, row, column);
    if (!caucus_piece_resize(ret, size))
        return false;
    if (size > 0)
        memcpy(ret->bytes, PQgetvalue(result, row, column), size);
    return true;
}
