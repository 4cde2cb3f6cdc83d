/* SPDX-License-Identifier: Apache-2.0 */
/* What must not be forgotten, when memory runs out: the coordinator's store (SQLite's own allocations among those that
 * fail), a client's journal, ledger files and plan files. After every failure what was there before is there still, and
 * the same call succeeds once there is memory again. */
#define _GNU_SOURCE /* memmem */
#include "fault/failing_alloc.h"

#include "store/journal.h"
#include "store/ledger_file.h"
#include "store/store_testing.h"
#include "testing_settings.h"
#include <caucus/plan_file.h>

#define UNTOUCHED ((void *)8)

static uint32_t turn;

/* A directory of its own for every attempt. */
static const char *fresh_dir(void) {
    char name[32];
    (void)snprintf(name, sizeof name, "state-%u", turn++);
    return in_place(name);
}

static void remove_dir(const char *dir) {
    char command[256];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

static void commit_some(caucus_store *store, uint32_t commits) {
    for (uint32_t k = 0; k < commits; k++)
        assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
}

static caucus_status open_store(const char *dir, caucus_store **ret) {
    caucus_error error = {0};
    *ret = UNTOUCHED;
    failing_begin();
    caucus_status status = caucus_store_open(dir, plan_hash, false, ret, &error);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(*ret, UNTOUCHED);
        assert_true(error.text[0] != '\0');
    }
    return status;
}

/* A new store: after a failure the directory is as good as new. */
static caucus_status create(void *user, uint64_t *ret_digest) {
    (void)user;
    const char *dir = fresh_dir();
    caucus_store *store;
    caucus_status status = open_store(dir, &store);
    if (status != CAUCUS_OK)
        store = store_opened(dir);
    assert_int_equal(history_found(store), 0);
    commit_some(store, 2);
    assert_int_equal(history_found(store), 2);
    caucus_store_close(store);
    remove_dir(dir);
    *ret_digest = 2;
    return status;
}

/* A store that holds a run. */
static caucus_status reopen(void *user, uint64_t *ret_digest) {
    (void)user;
    const char *dir = fresh_dir();
    caucus_store *store = store_opened(dir);
    commit_some(store, 3);
    caucus_store_close(store);
    caucus_status status = open_store(dir, &store);
    if (status != CAUCUS_OK)
        store = store_opened(dir);
    *ret_digest = history_found(store);
    assert_int_equal(*ret_digest, 3);
    caucus_store_close(store);
    remove_dir(dir);
    return status;
}

/* A commit that failed: on disk, or not; if that is not known, find out. Returns whether it is. */
static bool settled(caucus_store *store, caucus_status status) {
    bool done = false;
    if (status == CAUCUS_E_UNKNOWN) {
        assert_int_equal(caucus_store_settle(store, &done, NULL), CAUCUS_OK);
        return done;
    }
    assert_int_equal(status, CAUCUS_E_MEMORY);
    return false;
}

/* One decision: on disk whole, or nothing of it, and then the same commit can be tried again. */
static caucus_status commit(void *user, uint64_t *ret_digest) {
    (void)user;
    const char *dir = fresh_dir();
    caucus_store *store = store_opened(dir);
    commit_some(store, 2);
    caucus_error error = {0};
    failing_begin();
    caucus_status status = history_commit(store, 2, &error);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_true(error.text[0] != '\0');
        const bool done = settled(store, status);
        assert_int_equal(history_found(store), done ? 3 : 2);
        if (!done)
            assert_int_equal(history_commit(store, 2, &error), CAUCUS_OK);
        status = CAUCUS_E_MEMORY;
    }
    assert_int_equal(history_found(store), 3);
    caucus_store_close(store);
    store = store_opened(dir);
    *ret_digest = history_found(store);
    assert_int_equal(*ret_digest, 3);
    caucus_store_close(store);
    remove_dir(dir);
    return status;
}

/* The first commit marks the directory as used, too. */
static caucus_status first_commit(void *user, uint64_t *ret_digest) {
    (void)user;
    const char *dir = fresh_dir();
    caucus_store *store = store_opened(dir);
    caucus_error error = {0};
    failing_begin();
    caucus_status status = history_commit(store, 0, &error);
    failing_end();
    if (status != CAUCUS_OK) {
        if (!settled(store, status))
            assert_int_equal(history_commit(store, 0, &error), CAUCUS_OK);
        status = CAUCUS_E_MEMORY;
    }
    *ret_digest = history_found(store);
    assert_int_equal(*ret_digest, 1);
    caucus_store_close(store);
    remove_dir(dir);
    return status;
}

static caucus_status begin(void *user, uint64_t *ret_digest) {
    (void)user;
    const char *dir = fresh_dir();
    caucus_store *store = store_opened(dir);
    commit_some(store, 1);
    failing_begin();
    caucus_status status = caucus_store_begin(store, NULL);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_int_equal(caucus_store_begun(store), settled(store, status));
        assert_int_equal(caucus_store_begin(store, NULL), CAUCUS_OK);
        status = CAUCUS_E_MEMORY;
    }
    assert_true(caucus_store_begun(store));
    caucus_store_close(store);
    store = store_opened(dir);
    assert_true(caucus_store_begun(store));
    *ret_digest = history_found(store);
    caucus_store_close(store);
    remove_dir(dir);
    return status;
}

static caucus_status wipe(void *user, uint64_t *ret_digest) {
    (void)user;
    const char *dir = fresh_dir();
    caucus_store *store = store_opened(dir);
    commit_some(store, 4);
    failing_begin();
    caucus_status status = caucus_store_wipe(store, NULL);
    failing_end();
    *ret_digest = history_found(store);
    assert_int_equal(*ret_digest, 4);
    caucus_store_close(store);
    remove_dir(dir);
    return status;
}

/* Reading, of a store that stays open. */
static caucus_status read_state(void *user, uint64_t *ret_digest) {
    caucus_store_state state = {.chunks = 77};
    failing_begin();
    caucus_status status = caucus_store_load(user, &state, NULL);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_true(state.root.bytes == NULL && state.chunks == 77);
        return status;
    }
    *ret_digest = failing_digest(1, state.root.bytes, state.root.size);
    for (uint32_t i = 0; i < state.chunks; i++)
        *ret_digest = failing_digest(*ret_digest, state.chunk[i].bytes, state.chunk[i].size);
    caucus_store_state_free(&state);
    return CAUCUS_OK;
}

static void count_announcement(void *user, const caucus_announcement *a) {
    uint64_t *digest = user;
    *digest = failing_digest(*digest, &a->expert, sizeof a->expert);
}

static caucus_status read_announcements(void *user, uint64_t *ret_digest) {
    uint64_t digest = 1;
    failing_begin();
    caucus_status status = caucus_store_announcements(user, count_announcement, &digest, NULL);
    failing_end();
    *ret_digest = digest;
    return status;
}

/* What both ways to read a ledger end with: the whole of it, or none. */
static caucus_status end_ledger(caucus_status status, caucus_ledger *ledger, uint64_t *ret_digest) {
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(ledger, UNTOUCHED);
        return status;
    }
    *ret_digest = caucus_ledger_count(ledger);
    caucus_ledger_free(ledger);
    return CAUCUS_OK;
}

static caucus_status read_ledger(void *user, uint64_t *ret_digest) {
    caucus_ledger *ledger = UNTOUCHED;
    failing_begin();
    caucus_status status = caucus_store_ledger(user, true, &ledger, NULL);
    return end_ledger(status, ledger, ret_digest);
}

static caucus_status open_ledger(void *user, uint64_t *ret_digest) {
    caucus_ledger *ledger = UNTOUCHED;
    failing_begin();
    caucus_status status = caucus_store_open_ledger(user, &ledger, NULL);
    return end_ledger(status, ledger, ret_digest);
}

static void test_store(void **state) {
    (void)state;
    failing_each(&(failing_test){.name = "create", .operation = create, .at_least = 50, .step = 7});
    failing_each(&(failing_test){.name = "reopen", .operation = reopen, .at_least = 50, .step = 7});
    failing_each(&(failing_test){.name = "first commit", .operation = first_commit, .at_least = 1});
    failing_each(&(failing_test){.name = "commit", .operation = commit, .at_least = 1});
    failing_each(&(failing_test){.name = "begin", .operation = begin, .at_least = 1});
    failing_each(&(failing_test){.name = "wipe", .operation = wipe, .at_least = 1});
    const char *dir = fresh_dir();
    caucus_store *store = store_opened(dir);
    commit_some(store, 5);
    failing_each(&(failing_test){.name = "state", .operation = read_state, .user = store, .at_least = 2});
    failing_each(&(failing_test){.name = "announcements",

                                 .operation = read_announcements,
                                 .user = store,
                                 .at_least = 2});
    failing_each(&(failing_test){.name = "ledger",

                                 .operation = read_ledger,
                                 .user = store,
                                 .at_least = 2});
    char name[160];
    (void)snprintf(name, sizeof name, "%s", dir);
    failing_each(&(failing_test){.name = "ledger, read only",

                                 .operation = open_ledger,
                                 .user = name,
                                 .at_least = 20});
    caucus_store_close(store);
}

/* ---- files ---- */

static uint64_t file_digest(const char *path) {
    size_t size = 0;
    uint8_t *bytes = file_read(path, &size);
    uint64_t digest = failing_digest(1, bytes, size);
    free(bytes);
    return digest;
}

/* Nothing but the named files stays in the directory: no draft, no lock. */
static void only_these(const char *dir, uint32_t files) {
    DIR *d = opendir(dir);
    assert_non_null(d);
    uint32_t found = 0;
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        found += entry->d_name[0] != '.';
    closedir(d);
    assert_int_equal(found, files);
}

static const uint8_t old_state[] = "what was there", new_state[] = "what is there now";

static caucus_status journal(void *user, uint64_t *ret_digest) {
    (void)user;
    char dir[200], path[220];
    (void)snprintf(dir, sizeof dir, "%s", fresh_dir());
    assert_int_equal(mkdir(dir, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/client", dir);
    file_write(path, old_state, sizeof old_state);
    caucus_journal *j = UNTOUCHED;
    uint8_t *bytes = NULL;
    size_t size = 0;
    caucus_error error = {0};
    failing_begin();
    caucus_status status = caucus_journal_open(path, &j, &error);
    if (status == CAUCUS_OK) {
        status = caucus_journal_read(j, &bytes, &size, &error);
        if (status == CAUCUS_OK && !caucus_journal_write(j, new_state, sizeof new_state)) {
            assert_int_equal(caucus_journal_errno(j), ENOMEM);
            status = CAUCUS_E_MEMORY;
        }
        caucus_journal_close(j);
    } else {
        assert_ptr_equal(j, UNTOUCHED);
    }
    free(bytes);
    failing_end();
    only_these(dir, 1);
    *ret_digest = file_digest(path);
    assert_true(*ret_digest == failing_digest(1, status == CAUCUS_OK ? new_state : old_state,
                                              status == CAUCUS_OK ? sizeof new_state : sizeof old_state));
    remove_dir(dir);
    return status;
}

static caucus_status ledger_file(void *user, uint64_t *ret_digest) {
    (void)user;
    char dir[200], path[220];
    (void)snprintf(dir, sizeof dir, "%s", fresh_dir());
    assert_int_equal(mkdir(dir, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/ledger", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < 3; i++)
        assert_true(fprintf(file, "%s\n", history_line[i]) > 0);
    assert_int_equal(fclose(file), 0);
    const uint64_t before = file_digest(path);
    caucus_ledger_file opened = {.fd = -1};
    caucus_error error = {0};
    failing_begin();
    caucus_status status = caucus_ledger_file_open(path, 20, 0, true, &opened, &error);
    if (status == CAUCUS_OK)
        status = caucus_ledger_release(opened.ledger, 1, 1, "check", (caucus_rational){1, 100}, (caucus_rational){0, 1},
                                       &error);
    if (status == CAUCUS_OK)
        status = caucus_ledger_file_sync(&opened, &error);
    failing_end();
    caucus_ledger_file_close(&opened);
    only_these(dir, 1);
    *ret_digest = file_digest(path);
    if (status != CAUCUS_OK)
        assert_true(*ret_digest == before);
    remove_dir(dir);
    return status;
}

typedef struct plan_place {
    caucus_plan *plan;
    char dir[200], path[220];
    bool there; /* another plan is there already and is to be replaced */
} plan_place;

static caucus_status plan_write(void *user, uint64_t *ret_digest) {
    plan_place *p = user;
    if (p->there)
        file_write(p->path, old_state, sizeof old_state);
    failing_begin();
    caucus_status status = caucus_plan_file_write(p->plan, p->path, true, NULL);
    failing_end();
    only_these(p->dir, p->there || status == CAUCUS_OK);
    if (status == CAUCUS_OK)
        *ret_digest = file_digest(p->path);
    else if (p->there)
        assert_true(file_digest(p->path) == failing_digest(1, old_state, sizeof old_state));
    unlink(p->path);
    return status;
}

static caucus_status plan_read(void *user, uint64_t *ret_digest) {
    plan_place *p = user;
    caucus_plan *plan = UNTOUCHED;
    failing_begin();
    caucus_status status = caucus_plan_file_read(p->path, &plan, NULL);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(plan, UNTOUCHED);
        return status;
    }
    *ret_digest = failing_digest(1, caucus_plan_hash(plan), CAUCUS_PLAN_HASH_BYTES);
    caucus_plan_free(plan);
    return CAUCUS_OK;
}

static void test_files(void **state) {
    (void)state;
    failing_each(&(failing_test){.name = "journal", .operation = journal, .at_least = 5});
    failing_each(&(failing_test){.name = "ledger file", .operation = ledger_file, .at_least = 5});
    plan_place p = {0};
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 4, 12, 50, 8);
    assert_int_equal(caucus_plan_new(&s, &p.plan, NULL), CAUCUS_OK);
    (void)snprintf(p.dir, sizeof p.dir, "%s", fresh_dir());
    assert_int_equal(mkdir(p.dir, 0700), 0);
    (void)snprintf(p.path, sizeof p.path, "%s/plan.yaml", p.dir);
    failing_each(&(failing_test){.name = "plan file, new",

                                 .operation = plan_write,
                                 .user = &p,
                                 .at_least = 3});
    p.there = true;
    failing_each(&(failing_test){.name = "plan file, replaced",

                                 .operation = plan_write,
                                 .user = &p,
                                 .at_least = 3});
    assert_int_equal(caucus_plan_file_write(p.plan, p.path, false, NULL), CAUCUS_OK);
    failing_each(&(failing_test){.name = "plan file read",

                                 .operation = plan_read,
                                 .user = &p,
                                 .at_least = 50});
    caucus_plan_free(p.plan);
}

static int set_up(void **state) {
    (void)state;
    history_make();
    return place_make(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_store), cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, set_up, place_remove);
}
