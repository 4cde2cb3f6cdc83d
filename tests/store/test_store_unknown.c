/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_unknown.c: SQLite's log cannot be synced. Whether the commit will be found is then not known: it is found
 * out before anything else is done, and is what it is from then on. A VFS under SQLite's fails where it is told to. */
#define _GNU_SOURCE /* memmem, of store_testing.h */
#include "store/store_testing.h"

#include <sqlite3.h>

static sqlite3_vfs *plain, faulty;
static const sqlite3_io_methods *plain_methods;
static sqlite3_io_methods log_methods;
static unsigned fail_syncs; /* so many of the next syncs of the log fail */
static bool lose;           /* and what was written since then is gone, as after a power cut */
static sqlite3_int64 synced_bytes;

static int log_sync(sqlite3_file *file, int flags) {
    if (fail_syncs > 0) {
        fail_syncs--;
        if (lose)
            (void)plain_methods->xTruncate(file, synced_bytes);
        return SQLITE_IOERR_FSYNC;
    }
    (void)plain_methods->xFileSize(file, &synced_bytes);
    return plain_methods->xSync(file, flags);
}

static int open_faulty(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags) {
    (void)vfs;
    int code = plain->xOpen(plain, name, file, flags, ret_flags);
    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_WAL) || file->pMethods == NULL)
        return code;
    if (plain_methods == NULL) {
        plain_methods = file->pMethods;
        log_methods = *plain_methods;
        log_methods.xSync = log_sync;
    }
    file->pMethods = &log_methods;
    return code;
}

static int make(void **state) {
    (void)state;
    history_make();
    plain = sqlite3_vfs_find(NULL);
    faulty = *plain;
    faulty.pNext = NULL;
    faulty.zName = "faulty";
    faulty.xOpen = open_faulty;
    return sqlite3_vfs_register(&faulty, 1) == SQLITE_OK ? place_make(false) : -1;
}

static void a_sync_that_failed(void **state) {
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        char name[32], dir[160];
        (void)snprintf(name, sizeof name, "sync%d", lost);
        (void)snprintf(dir, sizeof dir, "%s", in_place(name));
        caucus_store *store = store_opened(dir);
        caucus_error error = {0};
        bool done = false;
        for (uint32_t k = 0; k < 3; k++)
            assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
        lose = lost;
        fail_syncs = 1;
        assert_int_equal(history_commit(store, 3, &error), CAUCUS_E_UNKNOWN);
        assert_non_null(strstr(error.text, "writing: disk I/O error"));
        assert_int_equal(fail_syncs, 0);
        assert_int_equal(history_commit(store, 3, &error), CAUCUS_E_ORDER);
        assert_int_equal(caucus_store_settle(store, &done, &error), CAUCUS_OK);
        assert_int_equal(done, !lost);
        assert_int_equal(history_found(store), done ? 4 : 3);
        for (uint32_t k = done ? 4 : 3; k < 7; k++)
            assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
        caucus_store_close(store);
        store = store_opened(dir);
        assert_int_equal(history_found(store), 7);
        caucus_store_close(store);
    }
}

/* It cannot be found out while the disk fails; the next process does, and nothing was lost or made twice. */
static void a_disk_that_goes_on_failing(void **state) {
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        char name[32], dir[160];
        (void)snprintf(name, sizeof name, "failing%d", lost);
        (void)snprintf(dir, sizeof dir, "%s", in_place(name));
        caucus_store *store = store_opened(dir);
        caucus_error error = {0};
        bool done = false;
        assert_int_equal(history_commit(store, 0, NULL), CAUCUS_OK);
        lose = lost;
        fail_syncs = 1000;
        assert_int_equal(history_commit(store, 1, &error), CAUCUS_E_UNKNOWN);
        for (int i = 0; i < 3; i++) {
            assert_true(caucus_store_settle(store, &done, &error) != CAUCUS_OK);
            assert_int_equal(history_commit(store, 1, &error), CAUCUS_E_ORDER);
        }
        caucus_store_close(store);
        fail_syncs = 0;
        store = store_opened(dir);
        const uint32_t found = history_found(store);
        assert_true(found == 1 || (found == 2 && !lost));
        assert_int_equal(history_commit(store, found, NULL), CAUCUS_OK);
        caucus_store_close(store);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sync_that_failed),
        cmocka_unit_test(a_disk_that_goes_on_failing),
    };
    return cmocka_run_group_tests(tests, make, place_remove);
}
