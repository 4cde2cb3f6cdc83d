/* SPDX-License-Identifier: Apache-2.0 */
/* visit.c: looking at a store in PostgreSQL from outside, also while a coordinator has it, with a connection of its
 * own. */
#include "store/postgres/postgres.h"

#include <stdlib.h>

caucus_status caucus_pg_visit(const char *where, char **ret_label, PGconn **ret, int64_t *ret_version,
                              caucus_error *ret_error) {
    char *label = NULL;
    PGconn *db = NULL;
    int64_t version = 0;
    caucus_status status = caucus_pg_label(where, &label, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = caucus_pg_connect(where, label, NULL, &db, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_version(db, label, &version, ret_error);
    if (status == CAUCUS_OK) {
        *ret_label = label;
        *ret = db;
        *ret_version = version;
        return CAUCUS_OK;
    }
    PQfinish(db);
    free(label);
    return status;
}

/* Tables of this version must be there. */
static caucus_status visit(const char *where, char **ret_label, PGconn **ret, caucus_error *ret_error) {
    char *label = NULL;
    PGconn *db = NULL;
    int64_t version = 0;
    caucus_status status = caucus_pg_visit(where, &label, &db, &version, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_check_version(label, version, ret_error);
    if (status == CAUCUS_OK) {
        *ret_label = label;
        *ret = db;
        return CAUCUS_OK;
    }
    PQfinish(db);
    free(label);
    return status;
}

bool caucus_pg_exists(const char *where) {
    char *label = NULL;
    PGconn *db = NULL;
    PGresult *result = NULL;
    if (visit(where, &label, &db, NULL) != CAUCUS_OK)
        return false;
    const bool there = caucus_pg_query(db, label, "SELECT 1 FROM caucus_run", 0, NULL, CAUCUS_PG_READ_MS, &result,
                                       NULL) == CAUCUS_OK &&
                       PQntuples(result) == 1;
    PQclear(result);
    PQfinish(db);
    free(label);
    return there;
}

/* The lines are a chain and only ever added to: whatever moment each page is read at, what comes is a ledger. */
caucus_status caucus_pg_open_ledger(const char *where, caucus_ledger **ret, caucus_error *ret_error) {
    char *label = NULL;
    PGconn *db = NULL;
    caucus_status status = visit(where, &label, &db, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_read_ledger(db, label, true, ret, ret_error);
    PQfinish(db);
    free(label);
    return status;
}

caucus_status caucus_pg_peek(const char *where, caucus_store_glance *ret, caucus_error *ret_error) {
    char *label = NULL;
    PGconn *db = NULL;
    PGresult *result = NULL;
    caucus_status status = visit(where, &label, &db, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_query(db, label,
                                 "SELECT " CAUCUS_PG_ANNOUNCEMENT ", plan FROM caucus_run LEFT JOIN caucus_announcement"
                                 " ON serial = (SELECT max(serial) FROM caucus_announcement)",
                                 0, NULL, CAUCUS_PG_READ_MS, &result, ret_error);
    ret->found = status == CAUCUS_OK && PQntuples(result) == 1;
    ret->any = ret->found && !PQgetisnull(result, 0, 0);
    if (ret->found && !caucus_pg_bytes(result, 0, 7, sizeof ret->plan, ret->plan))
        status = caucus_pg_damaged(label, "the hash of its plan", ret_error);
    else if (ret->any && !caucus_pg_take_announcement(result, 0, &ret->last))
        status = caucus_pg_damaged(label, "its last announcement", ret_error);
    PQclear(result);
    PQfinish(db);
    free(label);
    return status;
}

caucus_status caucus_pg_request_stop(const char *where, caucus_error *ret_error) {
    char *label = NULL;
    PGconn *db = NULL;
    PGresult *result = NULL;
    caucus_status status = visit(where, &label, &db, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_pg_query(db, label, "UPDATE caucus_run SET stop = true WHERE NOT stop", 0, NULL,
                                 CAUCUS_PG_COMMIT_MS, &result, ret_error);
    if (status == CAUCUS_OK)
        PQclear(result);
    PQfinish(db);
    free(label);
    return status;
}
