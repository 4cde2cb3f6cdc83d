/* SPDX-License-Identifier: Apache-2.0 */
/* backends.c: which backend keeps what --state names, and what all of them have in common. */
#include "store/coordinator/backend.h"

#include <string.h>

#ifdef CAUCUS_POSTGRES
#include <libpq-fe.h>
#include <stdio.h>
#endif

bool caucus_store_row_of(const int64_t number[CAUCUS_STORE_NUMBERS], caucus_store_row *ret) {
    for (int i = 0; i < CAUCUS_STORE_NUMBERS; i++)
        if (number[i] < 0)
            return false;
    if (number[0] > 1 || number[1] > 1 || number[5] > (int64_t)UINT32_MAX || number[3] == INT64_MAX ||
        number[6] > number[3])
        return false;
    *ret = (caucus_store_row){.seeded = number[0] == 1,
                              .begun = number[1] == 1,
                              .term = (uint64_t)number[2],
                              .announcements = (uint64_t)number[3],
                              .lines = (uint64_t)number[4],
                              .chunks = (uint32_t)number[5],
                              .first = (uint64_t)number[6]};
    return true;
}

bool caucus_store_is_remote(const char *state) {
    static const char *const begins[] = {"postgresql://", "postgres://", "service="};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(state, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

#ifdef CAUCUS_POSTGRES
const char *caucus_store_postgres_version(void) {
    static _Thread_local char text[24];
    const int version = PQlibVersion();
    (void)snprintf(text, sizeof text, "%d.%d", version / 10000, version % 10000);
    return text;
}

const caucus_store_backend *caucus_store_backend_of(const char *state, caucus_error *ret_error) {
    (void)ret_error;
    return caucus_store_is_remote(state) ? &caucus_store_postgres : &caucus_store_sqlite;
}
#else
const char *caucus_store_postgres_version(void) {
    return NULL;
}

const caucus_store_backend *caucus_store_backend_of(const char *state, caucus_error *ret_error) {
    if (!caucus_store_is_remote(state))
        return &caucus_store_sqlite;
    (void)caucus_fail(ret_error, CAUCUS_E_PATH, "", "this caucus was built without PostgreSQL");
    (void)caucus_fail_hint(ret_error, CAUCUS_E_PATH, "build it where libpq-dev is installed, or name a directory");
    return NULL;
}
#endif

static const caucus_store_backend *remote_of(const char *state, caucus_error *ret_error) {
    if (caucus_store_is_remote(state))
        return caucus_store_backend_of(state, ret_error);
    (void)caucus_fail(ret_error, CAUCUS_E_PATH, "state", "%.100s: not a database", state);
    (void)caucus_fail_hint(ret_error, CAUCUS_E_PATH,
                           "postgresql://HOST/DATABASE or service=NAME; a directory needs no tables");
    return NULL;
}

caucus_status caucus_store_init(const char *state, caucus_error *ret_error) {
    const caucus_store_backend *backend = remote_of(state, ret_error);
    return backend != NULL ? backend->init(state, ret_error) : CAUCUS_E_PATH;
}

caucus_status caucus_store_migrate(const char *state, uint32_t *ret_from, uint32_t *ret_to, caucus_error *ret_error) {
    const caucus_store_backend *backend = remote_of(state, ret_error);
    return backend != NULL ? backend->migrate(state, ret_from, ret_to, ret_error) : CAUCUS_E_PATH;
}

caucus_status caucus_store_check(const char *state, caucus_store_report *ret, caucus_error *ret_error) {
    const caucus_store_backend *backend = remote_of(state, ret_error);
    return backend != NULL ? backend->check(state, ret, ret_error) : CAUCUS_E_PATH;
}
