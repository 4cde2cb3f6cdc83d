/* SPDX-License-Identifier: Apache-2.0 */
/* test_store.c: what was committed is found again, by the right plan only, by one process at a time, and by nobody
 * else. */
#define _GNU_SOURCE /* memmem */
#include "store/store_testing.h"

#include "store/coordinator/impl.h"
#include "store/coordinator/sqlite.h"

static caucus_sqlite *of(caucus_store *store) {
    return (caucus_sqlite *)store->at;
}

static void commits_come_back(void **state) {
    (void)state;
    const char *dir = in_place("state");
    caucus_store *store = store_opened(dir);
    assert_int_equal(history_found(store), 0);
    for (uint32_t k = 0; k < 12; k++) {
        assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
        assert_int_equal(history_found(store), k + 1);
        assert_int_equal(caucus_store_commits(store), k + 1);
    }
    caucus_store_close(store);
    caucus_store_close(NULL);
    for (uint32_t k = 12; k < 15; k++) { /* reopened each time */
        store = store_opened(dir);
        assert_int_equal(caucus_store_commits(store), 0);
        assert_int_equal(history_found(store), k);
        assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
        caucus_store_close(store);
    }
}

/* No test can pull the plug; that SQLite was told to be careful can be looked up. */
static void the_disk_is_waited_for(void **state) {
    (void)state;
    const struct {
        const char *pragma;
        int64_t want;
    } cases[] = {{"PRAGMA synchronous", 2}, /* FULL */
                 {"PRAGMA secure_delete", 1},
                 {"PRAGMA application_id", 0x43415543},
                 {"PRAGMA user_version", CAUCUS_SQLITE_VERSION},
                 {"PRAGMA temp_store", 2}, /* MEMORY */
                 {"SELECT journal_mode = 'wal' FROM pragma_journal_mode", 1}};
    for (int again = 0; again < 2; again++) {
        caucus_store *store = store_opened(in_place("careful"));
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            int64_t got = -1;
            assert_int_equal(caucus_sqlite_integer(of(store)->db, of(store)->path, cases[i].pragma, &got, NULL),
                             CAUCUS_OK);
            assert_int_equal(got, cases[i].want);
        }
        caucus_store_close(store);
    }
}

static void a_serial_is_the_next_one(void **state) {
    (void)state;
    caucus_store *store = store_opened(in_place("serial"));
    caucus_error error = {0};
    caucus_announcement second = history_announcement(1);
    assert_int_equal(plain_commit(store, "x", 1, &second, NULL, 0, &error), CAUCUS_E_ORDER);
    assert_string_equal(error.field, "serial");
    assert_int_equal(history_commit(store, 0, NULL), CAUCUS_OK);
    assert_int_equal(history_commit(store, 0, NULL), CAUCUS_E_ORDER);
    assert_int_equal(history_found(store), 1);
    /* Whatever fails halfway takes back what went before it. */
    const char *no_line = NULL;
    assert_int_equal(plain_commit(store, "x", 1, &second, &no_line, 1, &error), CAUCUS_E_ORDER); /* no chunks */
    caucus_piece part[HISTORY_CHUNKS] = {{0}};
    const caucus_piece root = piece_of((const uint8_t *)"x", 1);
    assert_int_equal(caucus_store_commit(store, &root, part, HISTORY_CHUNKS, &second, &no_line, 1, &error),
                     CAUCUS_E_IO);
    assert_int_equal(history_found(store), 1);
    assert_int_equal(history_commit(store, 1, NULL), CAUCUS_OK);
    assert_int_equal(history_found(store), 2);
    caucus_store_close(store);
}

static void another_plan_is_refused(void **state) {
    (void)state;
    const char *dir = in_place("plan");
    uint8_t other[32] = {0xa4, 0x1b, 0x55, 0x02};
    caucus_store *store = store_opened(dir), *none = NULL;
    caucus_error error = {0};
    caucus_store_close(store);
    assert_int_equal(caucus_store_open(dir, other, false, &none, &error), CAUCUS_E_MISMATCH);
    assert_non_null(strstr(error.text, "belongs to plan 3f9c10aa… and you gave plan a41b5502…"));
    memcpy(other, plan_hash, sizeof other);
    other[31] ^= 1; /* the last bit counts as well */
    assert_int_equal(caucus_store_open(dir, other, false, &none, &error), CAUCUS_E_MISMATCH);
    assert_int_equal(caucus_store_open(dir, plan_hash, true, &none, &error), CAUCUS_E_CONFLICT);
    assert_non_null(strstr(error.text, "holds a private run and a seed was given"));
    assert_null(none);
    store = store_opened(dir); /* refusing has changed nothing */
    caucus_store_close(store);
    assert_int_equal(caucus_store_open(in_place("seeded"), plan_hash, true, &store, &error), CAUCUS_OK);
    caucus_store_close(store);
    store_refused(in_place("seeded"), CAUCUS_E_CONFLICT, "holds a seeded run, which is not private");
}

static void one_coordinator_at_a_time(void **state) {
    (void)state;
    const char *dir = in_place("busy");
    char words[64];
    caucus_store *store = store_opened(dir);
    (void)snprintf(words, sizeof words, "is in use by process %ld", (long)getpid());
    store_refused(dir, CAUCUS_E_BUSY, words);
    assert_int_equal(truncate(in_place("busy/lock"), 0), 0);
    store_refused(dir, CAUCUS_E_BUSY, "is in use by another process");
    assert_int_equal(unlink(in_place("busy/lock")), 0); /* whoever takes that file away opens nothing */
    store_refused(dir, CAUCUS_E_BUSY, "is in use by another process");
    assert_int_equal(history_commit(store, 0, NULL), CAUCUS_OK); /* the first is not disturbed */
    caucus_store_close(store);
    store = store_opened(dir);
    assert_int_equal(history_found(store), 1);
    caucus_store_close(store);
}

static mode_t mode_of(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0)
        fail_msg("%s is missing", path);
    return info.st_mode & 07777;
}

static void files_are_the_owners(void **state) {
    (void)state;
    const mode_t masks[] = {0, 022, 0277};
    for (size_t i = 0; i < 3; i++) {
        char dir[160], file[200];
        (void)snprintf(dir, sizeof dir, "%s/mode%zu", place, i);
        mode_t before = umask(masks[i]);
        caucus_store *store = store_opened(dir);
        assert_int_equal(history_commit(store, 0, NULL), CAUCUS_OK);
        umask(before);
        assert_int_equal(mode_of(dir), 0700);
        const char *names[] = {"lock", "coordinator.db", "coordinator.db-wal", "coordinator.db-shm"};
        for (size_t n = 0; n < 4; n++) {
            (void)snprintf(file, sizeof file, "%s/%s", dir, names[n]);
            assert_int_equal(mode_of(file), 0600);
        }
        caucus_store_close(store);
    }
    /* An existing directory keeps its mode; a file in it that others could read does not. */
    assert_int_equal(mkdir(in_place("open"), 0755), 0);
    assert_int_equal(chmod(in_place("open"), 0755), 0);
    file_write(in_place("open/coordinator.db"), (const uint8_t *)"", 0);
    assert_int_equal(chmod(in_place("open/coordinator.db"), 0644), 0);
    caucus_store_close(store_opened(in_place("open")));
    assert_int_equal(mode_of(in_place("open")), 0755);
    assert_int_equal(mode_of(in_place("open/coordinator.db")), 0600);
}

static void what_was_replaced_is_gone(void **state) {
    (void)state;
    const char *secret = "THRESHOLD-OF-AN-EARLIER-EPOCH-0123456789";
    const size_t size = strlen(secret);
    uint8_t bytes[12000];
    caucus_store *store = store_opened(in_place("wiped"));
    for (uint32_t k = 0; k < 4; k++) { /* the secret stands in the second of four states, on a page of its own */
        memset(bytes, (int)('a' + k), sizeof bytes);
        if (k == 1)
            memcpy(bytes + 9000, secret, size);
        caucus_announcement announcement = history_announcement(k);
        assert_int_equal(plain_commit(store, bytes, k < 2 ? sizeof bytes : 100, &announcement, NULL, 0, NULL),
                         CAUCUS_OK);
        if (k == 1)
            assert_true(file_holds(in_place("wiped/coordinator.db-wal"), (const uint8_t *)secret, size));
    }
    caucus_store_close(store);
    assert_false(file_holds(in_place("wiped/coordinator.db"), (const uint8_t *)secret, size));
    assert_true(file_holds(in_place("wiped/coordinator.db"), (const uint8_t *)"ddddddddddddddddddd", 19));
    assert_int_equal(access(in_place("wiped/coordinator.db-wal"), F_OK), -1);
}

static void expect_visible(const char *dir, uint32_t commits) {
    caucus_ledger *ledger = NULL;
    caucus_error error = {0};
    caucus_status status = caucus_store_open_ledger(dir, &ledger, &error);
    if (status != CAUCUS_OK)
        fail_msg("%s: %s", caucus_status_text(status), error.text);
    history_expect_ledger(ledger, commits);
    caucus_ledger_free(ledger);
}

static void others_may_look_at_the_ledger(void **state) {
    (void)state;
    const char *dir = in_place("ledger");
    caucus_ledger *none = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_store_open_ledger(in_place("nowhere"), &none, &error), CAUCUS_E_PATH);
    assert_non_null(strstr(error.hint, "name the directory that holds a coordinator's state"));
    assert_int_equal(access(in_place("nowhere"), F_OK), -1);
    caucus_store *store = store_opened(dir);
    expect_visible(dir, 0);
    for (uint32_t k = 0; k < 5; k++) { /* while the coordinator is at work */
        assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
        expect_visible(dir, k + 1);
    }
    caucus_store_close(store);
    expect_visible(dir, 5); /* and after it has stopped */
    caucus_store_close(store_opened(dir));
}

/* A directory that has held a state and has lost it begins no new run: its budget is spent. Whatever is refused is left
 * as it was. */
static void a_lost_state_is_not_begun_anew(void **state) {
    (void)state;
    char dir[160], file[200], mark[200];
    (void)snprintf(dir, sizeof dir, "%s", in_place("lost"));
    (void)snprintf(file, sizeof file, "%s/coordinator.db", dir);
    (void)snprintf(mark, sizeof mark, "%s/mark", dir);
    caucus_store_close(store_opened(dir)); /* nothing was committed: nothing is lost */
    assert_int_equal(access(mark, F_OK), 0);
    assert_int_equal(unlink(file), 0);
    caucus_store *store = store_opened(dir);
    assert_int_equal(history_commit(store, 0, NULL), CAUCUS_OK);
    caucus_store_close(store);
    size_t size = 0, mark_size = 0;
    uint8_t *bytes = file_read(file, &size), *mark_bytes = file_read(mark, &mark_size);
    assert_int_equal(unlink(file), 0);
    store_refused(dir, CAUCUS_E_ROLLED_BACK, "is gone — the run is over: run no older copy");
    file_write(file, bytes, 0);
    store_refused(dir, CAUCUS_E_ROLLED_BACK, "is gone");
    file_write(file, bytes, size); /* it was only mislaid */
    caucus_store_close(store_opened(dir));
    assert_int_equal(unlink(mark), 0);
    store_refused(dir, CAUCUS_E_ROLLED_BACK, "the file 'mark' is gone");
    file_write(mark, mark_bytes, mark_size / 8);
    store_refused(dir, CAUCUS_E_DAMAGED, "mark: damaged");
    file_write(mark, mark_bytes, mark_size);
    caucus_store_close(store_opened(dir));
    free(mark_bytes);
    free(bytes);
}

/* That the run has begun is a commit of its own, made once. */
static void the_start_is_kept(void **state) {
    (void)state;
    const char *dir = in_place("started");
    caucus_store *store = store_opened(dir);
    assert_int_equal(history_commit(store, 0, NULL), CAUCUS_OK);
    assert_false(caucus_store_begun(store));
    caucus_store_close(store);
    store = store_opened(dir);
    assert_false(caucus_store_begun(store));
    assert_int_equal(caucus_store_begin(store, NULL), CAUCUS_OK);
    assert_int_equal(caucus_store_begin(store, NULL), CAUCUS_OK);
    assert_int_equal(caucus_store_commits(store), 1);
    caucus_store_close(store);
    store = store_opened(dir);
    assert_true(caucus_store_begun(store));
    caucus_store_close(store);
}

/* Run SQL on a store's file, as somebody with an editor could. */
static void alter(const char *name, const char *sql) {
    char command[512];
    (void)snprintf(command, sizeof command, "sqlite3 '%s/%s/coordinator.db' \"%s\" >/dev/null", place, name, sql);
    assert_int_equal(system(command), 0);
}

static void an_altered_file_is_noticed(void **state) {
    (void)state;
    const struct {
        const char *sql, *words;
        bool opens; /* then the ledger must complain */
        caucus_status want;
    } cases[] = {
        {"DELETE FROM run", "no plan in it", false, CAUCUS_E_DAMAGED},
        {"DELETE FROM chunk WHERE number=1", "not of the same commit", false, CAUCUS_E_DAMAGED},
        {"UPDATE run SET announcements=2", "not of the same commit", false, CAUCUS_E_DAMAGED},
        {"UPDATE run SET term=-1", "no run could be so", false, CAUCUS_E_DAMAGED},
        {"UPDATE run SET term=9", "not the one that was committed", false, CAUCUS_E_DAMAGED},
        {"UPDATE run SET term=0", "not the one that was committed", false, CAUCUS_E_DAMAGED},
        {"UPDATE run SET begun=1", "not the one that was committed", false, CAUCUS_E_DAMAGED},
        {"DELETE FROM announcement WHERE serial=1", "not of the same commit", false, CAUCUS_E_DAMAGED},
        {"DELETE FROM announcement WHERE serial=3", "not of the same commit", false, CAUCUS_E_DAMAGED},
        {"DELETE FROM ledger WHERE line=2", "not of the same commit", false, CAUCUS_E_DAMAGED},
        {"PRAGMA user_version=1", "format 1, this caucus reads format 7 — use the version that made it", false,
         CAUCUS_E_FORMAT},
        {"PRAGMA user_version=6", "format 6, this caucus reads format 7 — use the version that made it", false,
         CAUCUS_E_FORMAT},
        {"PRAGMA user_version=8", "format 8, this caucus reads format 7", false, CAUCUS_E_FORMAT},
        {"PRAGMA application_id=7", "some other program's database", false, CAUCUS_E_FORMAT},
        {"UPDATE ledger SET text=replace(text,'check','chalk') WHERE line=3", "ledger: line 3", true, CAUCUS_E_FORMAT},
        {"UPDATE announcement SET ask=6 WHERE serial=2", "announcement 2 is damaged", false, CAUCUS_E_DAMAGED},
        {"UPDATE announcement SET expert=-1 WHERE serial=2", "announcement 2 is damaged", false, CAUCUS_E_DAMAGED},
        {"UPDATE announcement SET list=x'010203' WHERE serial=0", "announcement 0 is damaged", false, CAUCUS_E_DAMAGED},
        {"UPDATE announcement SET list=zeroblob(4096) WHERE serial=0", "announcement 0 is damaged", false,
         CAUCUS_E_DAMAGED},
        {"UPDATE announcement SET expert=5 WHERE serial=2", "not the announcements that were made", false,
         CAUCUS_E_DAMAGED},
        {"UPDATE announcement SET epoch=epoch+1 WHERE serial=3", "not the announcements that were made", false,
         CAUCUS_E_DAMAGED},
        {"UPDATE run SET root=x''", "an empty state", false, CAUCUS_E_DAMAGED},
        {"UPDATE run SET root=zeroblob(length(root))", "not the one that was committed", false, CAUCUS_E_DAMAGED},
        {"UPDATE chunk SET bytes=x'00' WHERE number=2", "not the one that was committed", false, CAUCUS_E_DAMAGED},
        {"UPDATE chunk SET bytes=x'' WHERE number=0", "not the one that was committed", false, CAUCUS_E_DAMAGED},
        {"UPDATE chunk SET number=7 WHERE number=0", "not of the same commit", false, CAUCUS_E_DAMAGED},
    };
    if (system("command -v sqlite3 >/dev/null") != 0)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[32], dir[160];
        (void)snprintf(name, sizeof name, "altered%zu", i);
        (void)snprintf(dir, sizeof dir, "%s", in_place(name));
        caucus_store *store = store_opened(dir);
        for (uint32_t k = 0; k < 4; k++)
            assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
        caucus_store_close(store);
        alter(name, cases[i].sql);
        if (!cases[i].opens) {
            store_refused(dir, cases[i].want, cases[i].words);
            continue;
        }
        caucus_error error = {0};
        caucus_ledger *ledger = NULL;
        store = store_opened(dir);
        caucus_status status = caucus_store_ledger(store, true, &ledger, &error);
        if (status != cases[i].want || strstr(error.text, cases[i].words) == NULL)
            fail_msg("%s: got %s '%s'", cases[i].sql, caucus_status_text(status), error.text);
        caucus_ledger_free(ledger);
        caucus_store_close(store);
    }
}

static int make_all(void **state) {
    (void)state;
    history_make();
    return place_make(false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commits_come_back),          cmocka_unit_test(the_disk_is_waited_for),
        cmocka_unit_test(a_serial_is_the_next_one),   cmocka_unit_test(another_plan_is_refused),
        cmocka_unit_test(one_coordinator_at_a_time),  cmocka_unit_test(files_are_the_owners),
        cmocka_unit_test(what_was_replaced_is_gone),  cmocka_unit_test(others_may_look_at_the_ledger),
        cmocka_unit_test(an_altered_file_is_noticed), cmocka_unit_test(a_lost_state_is_not_begun_anew),
        cmocka_unit_test(the_start_is_kept),
    };
    return cmocka_run_group_tests(tests, make_all, place_remove);
}
