/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_rot.c: one flipped bit anywhere in what a coordinator keeps.
 *
 * A run of 20 commits is copied while it is going on, so that most of it is in SQLite's log; another one, whose process
 * was started again before its last four, so that they are in the log and the rest in the database; and this one once
 * more after it has stopped, when all of it is in the database. Then bits are flipped one at a time, in database, log
 * and mark: whatever opens must hold the whole history, whatever does not is refused. Every STRIDE-th byte has one bit
 * flipped, which differs from byte to byte. CAUCUS_ROT_STRIDE=1 CAUCUS_ROT_BITS=8 (make nightly) tries every bit of
 * every byte of the run that was started again, going on and stopped: a million and a half of them. The first run is
 * left out of that: its log is six times as long and of the same kind. */
#define _GNU_SOURCE /* memmem */
#include "store/store_testing.h"

#define COMMITS 20
#define COMMITS_BEFORE 16 /* of the run that is started again: until then */
#define STRIDE 307

static const char *const names[] = {"coordinator.db", "coordinator.db-wal", "mark"};
#define FILES (sizeof names / sizeof names[0])

typedef struct kept {
    uint8_t *bytes[FILES];
    size_t size[FILES];
} kept;

static unsigned setting(const char *name, unsigned otherwise) {
    const char *text = getenv(name);
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void path_of(const char *dir, size_t file, char ret[300]) {
    (void)snprintf(ret, 300, "%s/%s", dir, names[file]);
}

static kept copy_of(const char *dir) {
    kept k = {0};
    char path[300];
    for (size_t i = 0; i < FILES; i++) {
        path_of(dir, i, path);
        if (access(path, R_OK) == 0)
            k.bytes[i] = file_read(path, &k.size[i]);
    }
    return k;
}

static void put(const char *dir, const kept *k, size_t file) {
    char path[300];
    path_of(dir, file, path);
    if (k->bytes[file] != NULL)
        file_write(path, k->bytes[file], k->size[file]);
    else
        (void)unlink(path);
}

/* Whether the store opens; if it does, it must hold all of the history. */
static bool opens_whole(const char *dir) {
    caucus_store *store = NULL;
    if (caucus_store_open(dir, plan_hash, false, &store, NULL) != CAUCUS_OK)
        return false;
    caucus_store_state state = {0};
    uint32_t commits = 0;
    caucus_ledger *ledger = NULL;
    const caucus_status status = caucus_store_load(store, &state, NULL);
    bool good = status == CAUCUS_OK;
    if (good) { /* what the coordinator reads before it announces anything */
        assert_int_equal(caucus_store_announcements(store, history_expect_announcement, &commits, NULL), CAUCUS_OK);
        assert_int_equal(commits, COMMITS);
        history_expect_state(&state, COMMITS);
        good = caucus_store_ledger(store, true, &ledger, NULL) == CAUCUS_OK;
        if (good)
            history_expect_ledger(ledger, COMMITS);
    }
    caucus_ledger_free(ledger);
    caucus_store_state_free(&state);
    caucus_store_close(store);
    return good;
}

static void flip_all(const char *what, const kept *k, unsigned stride, unsigned bits) {
    char dir[200], shm[300];
    (void)snprintf(dir, sizeof dir, "%s/rot-%s", place, what);
    (void)snprintf(shm, sizeof shm, "%s/coordinator.db-shm", dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    for (size_t file = 0; file < FILES; file++) {
        unsigned refused = 0, tried = 0;
        for (size_t at = 0; at < k->size[file]; at += file == 2 ? 1 : stride)
            for (unsigned b = 0; b < bits; b++, tried++) {
                for (size_t i = 0; i < FILES; i++)
                    put(dir, k, i);
                (void)unlink(shm);
                k->bytes[file][at] ^= (uint8_t)(1u << (at + b) % 8);
                put(dir, k, file);
                k->bytes[file][at] ^= (uint8_t)(1u << (at + b) % 8);
                refused += !opens_whole(dir);
            }
        print_message("%s, %s: %u bits flipped, %u times refused, else whole\n", what, names[file], tried, refused);
    }
    for (size_t i = 0; i < FILES; i++)
        put(dir, k, i);
    (void)unlink(shm);
    assert_true(opens_whole(dir)); /* and with nothing flipped it goes on */
}

static void kept_free(kept *k) {
    for (size_t i = 0; i < FILES; i++)
        free(k->bytes[i]);
}

static void one_bit_anywhere(void **state) {
    (void)state;
    char dir[160];
    (void)snprintf(dir, sizeof dir, "%s", in_place("run"));
    caucus_store *store = store_opened(dir);
    for (uint32_t i = 0; i < COMMITS; i++)
        assert_int_equal(history_commit(store, i, NULL), CAUCUS_OK);
    kept going = copy_of(dir);
    caucus_store_close(store);
    assert_true(going.size[1] > COMMITS * 4096);
    flip_all("running", &going, STRIDE, 1);
    kept_free(&going);
}

static void one_bit_anywhere_after_a_restart(void **state) {
    (void)state;
    const unsigned stride = setting("CAUCUS_ROT_STRIDE", STRIDE), bits = setting("CAUCUS_ROT_BITS", 1);
    char dir[160];
    (void)snprintf(dir, sizeof dir, "%s", in_place("again"));
    caucus_store *store = store_opened(dir);
    for (uint32_t i = 0; i < COMMITS_BEFORE; i++)
        assert_int_equal(history_commit(store, i, NULL), CAUCUS_OK);
    caucus_store_close(store);
    store = store_opened(dir);
    for (uint32_t i = COMMITS_BEFORE; i < COMMITS; i++)
        assert_int_equal(history_commit(store, i, NULL), CAUCUS_OK);
    kept going = copy_of(dir);
    caucus_store_close(store);
    kept stopped = copy_of(dir);
    assert_true(going.size[1] > (COMMITS - COMMITS_BEFORE) * 4096 && stopped.size[1] == 0);
    flip_all("started again", &going, stride, bits);
    flip_all("stopped", &stopped, stride, bits);
    kept_free(&going);
    kept_free(&stopped);
}

static void no_log_at_all(void **state) {
    (void)state;
    char dir[160];
    (void)snprintf(dir, sizeof dir, "%s", in_place("nolog"));
    caucus_store *store = store_opened(dir);
    for (uint32_t i = 0; i < COMMITS; i++)
        assert_int_equal(history_commit(store, i, NULL), CAUCUS_OK);
    kept going = copy_of(dir);
    caucus_store_close(store);
    kept without = going;
    without.bytes[1] = NULL;
    for (size_t i = 0; i < FILES; i++)
        put(dir, &without, i);
    (void)unlink(in_place("nolog/coordinator.db-shm"));
    store_refused(dir, CAUCUS_E_ROLLED_BACK, "0 announcements and 20 were made");
    kept_free(&going);
}

/* A copy of the whole directory, its mark included, cannot be told by the directory alone; a copy of the database
 * can. */
static void an_older_database_is_refused(void **state) {
    (void)state;
    char dir[160];
    (void)snprintf(dir, sizeof dir, "%s", in_place("older"));
    caucus_store *store = store_opened(dir);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(history_commit(store, i, NULL), CAUCUS_OK);
    caucus_store_close(store);
    kept old = copy_of(dir);
    store = store_opened(dir);
    for (uint32_t i = 5; i < 9; i++)
        assert_int_equal(history_commit(store, i, NULL), CAUCUS_OK);
    caucus_store_close(store);
    put(dir, &old, 0);
    (void)unlink(in_place("older/coordinator.db-wal"));
    (void)unlink(in_place("older/coordinator.db-shm"));
    store_refused(dir, CAUCUS_E_ROLLED_BACK, "holds 5 announcements and 9 were made");
    for (size_t i = 0; i < FILES; i++)
        free(old.bytes[i]);
}

static int make(void **state) {
    (void)state;
    history_make();
    return place_make(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bit_anywhere),
        cmocka_unit_test(one_bit_anywhere_after_a_restart),
        cmocka_unit_test(no_log_at_all),
        cmocka_unit_test(an_older_database_is_refused),
    };
    return cmocka_run_group_tests(tests, make, place_remove);
}
