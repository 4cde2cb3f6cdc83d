/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_wipe.c: when an epoch ends, no file of the state's directory holds a byte of its key or of its threshold
 * any more; nor of the last epoch's at the end of the run. And whatever wiping meets, nothing is lost. */
#define _GNU_SOURCE /* memmem, RLIMIT_FSIZE */
#include "store/store_testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "algo/federation.h"

#include "algo/coordinator.h"
#include "algo/schedule.h"

/* ---- SQLite's truncations of a log, seen on their way: what is given up must be zeros ---- */

static uint32_t cuts, cuts_unwiped;

static int seen_truncate(int fd, off_t size) {
    char link[64], name[512] = "";
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    struct stat info;
    if (length > 4 && strcmp(name + length - 4, "-wal") == 0 && fstat(fd, &info) == 0 && info.st_size > size) {
        cuts++;
        bool zero = true;
        uint8_t byte;
        for (off_t at = size; at < info.st_size; at++)
            zero = zero && pread(fd, &byte, 1, at) == 1 && byte == 0;
        cuts_unwiped += !zero;
    }
    return (int)syscall(SYS_ftruncate, fd, size);
}
/* Both names: libraries choose one of them. Visible, so that SQLite finds these first. */
CAUCUS_API int ftruncate(int fd, off_t size) {
    return seen_truncate(fd, size);
}
CAUCUS_API int ftruncate64(int fd, off64_t size) {
    return seen_truncate(fd, size);
}

/* ---- what files hold ---- */

typedef struct secrets {
    uint8_t key[CAUCUS_KEY_BYTES];
    int64_t theta; /* as it stands in the state: little-endian, like this machine */
} secrets;

static secrets secrets_of(const caucus_coordinator *c) {
    secrets s = {.theta = c->threshold.theta};
    memcpy(s.key, c->key.bytes, sizeof s.key);
    return s;
}

static void expect_held(const char *dir, const secrets *s, bool held) {
    assert_int_equal(dir_holds(dir, s->key, sizeof s->key) > 0, held);
    if (s->theta != 0)
        assert_int_equal(dir_holds(dir, &s->theta, sizeof s->theta) > 0, held);
}

static void commit_machine(caucus_store *store, const caucus_coordinator *c) {
    caucus_piece root = {0}, chunk = {0};
    assert_int_equal(caucus_coordinator_save_parts(c, &root, &chunk), CAUCUS_OK);
    assert_int_equal(caucus_store_commit(store, &root, &chunk, 1, caucus_coordinator_announcement(c), NULL, 0, NULL),
                     CAUCUS_OK);
    caucus_piece_free(&root);
    caucus_piece_free(&chunk);
}

/* ---- whole runs ---- */

static void play_wiped(caucus_algorithm algorithm, uint64_t seed, const char *dir) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = 3;
    s.experts = algorithm == CAUCUS_ALGORITHM_HEDGE ? 700 : 12; /* 700: a state of several pages */
    s.rounds = 60;
    s.epsilon = 30;
    federation f;
    federation_open(&f, &s, seed);
    caucus_store *store = store_opened(dir);
    commit_machine(store, f.coordinator);
    secrets all[64];
    uint32_t epochs = 0, kept = 0;
    all[epochs++] = secrets_of(f.coordinator);
    double row[700];
    for (uint32_t round = 1; round <= s.rounds; round++) {
        for (uint32_t i = 0; i < f.m; i++) {
            hashed_losses(i + 1, round, f.d, row);
            row[round / 9 % f.d] = 0;
            assert_int_equal(caucus_client_observe(f.client[i], row, 1), CAUCUS_OK);
        }
        while (caucus_client_report(f.client[0])) {
            uint64_t selections = caucus_coordinator_selections(f.coordinator);
            for (uint32_t i = 0; i < f.m; i++)
                assert_int_equal(caucus_coordinator_receive(f.coordinator, caucus_client_report(f.client[i])),
                                 CAUCUS_OK);
            assert_int_equal(caucus_coordinator_decide(f.coordinator), CAUCUS_OK);
            const caucus_announcement *now = caucus_coordinator_announcement(f.coordinator);
            commit_machine(store, f.coordinator);
            expect_held(dir, &all[epochs - 1], true); /* it is there to be found, also after the commit */
            bool ended = caucus_coordinator_selections(f.coordinator) > selections,
                 over = now->ask == CAUCUS_ASK_NOTHING;
            if (ended || over) {
                assert_int_equal(caucus_store_wipe(store, NULL), CAUCUS_OK);
                expect_held(dir, &all[epochs - 1], false);
            }
            if (ended && !over) {
                assert_true(epochs < 64);
                all[epochs++] = secrets_of(f.coordinator);
                expect_held(dir, &all[epochs - 1], true);
            }
            kept += !ended;
            for (uint32_t i = 0; i < f.m; i++)
                assert_int_equal(caucus_client_hear(f.client[i], now), CAUCUS_OK);
        }
    }
    assert_int_equal(caucus_coordinator_announcement(f.coordinator)->ask, CAUCUS_ASK_NOTHING);
    assert_true(epochs >= 3 && (kept >= 5 || algorithm != CAUCUS_ALGORITHM_SVT));
    for (uint32_t k = 0; k < epochs; k++) /* the store is still open: nothing is due to its closing */
        expect_held(dir, &all[k], false);
    assert_int_equal(caucus_store_commits(store), caucus_coordinator_announcement(f.coordinator)->serial + 1);
    caucus_store_close(store);
    for (uint32_t k = 0; k < epochs; k++)
        expect_held(dir, &all[k], false);
    federation_close(&f);
}

static void an_epoch_leaves_nothing(void **state) {
    (void)state;
    cuts = cuts_unwiped = 0;
    play_wiped(CAUCUS_ALGORITHM_SVT, 1, in_place("svt1"));
    play_wiped(CAUCUS_ALGORITHM_SVT, 2, in_place("svt2"));
    play_wiped(CAUCUS_ALGORITHM_HEDGE, 3, in_place("hedge"));
    play_wiped(CAUCUS_ALGORITHM_STOCH, 4, in_place("stoch"));
    print_message("%u logs were cut\n", cuts);
    assert_true(cuts >= 40);
    assert_int_equal(cuts_unwiped, 0);
}

/* ---- what may come in between ---- */

static const char secret[] = "KEY-OF-AN-EARLIER-EPOCH-0123456789abcdef";

/* Two commits: the first one's state holds the secret, the second one's does not. */
static void commit_secret(caucus_store *store) {
    uint8_t bytes[9000];
    for (uint32_t k = 0; k < 2; k++) {
        memset(bytes, (int)('a' + k), sizeof bytes);
        if (k == 0)
            memcpy(bytes + 7000, secret, sizeof secret);
        caucus_announcement a = history_announcement(k);
        assert_int_equal(plain_commit(store, bytes, sizeof bytes, &a, NULL, 0, NULL), CAUCUS_OK);
    }
}

/* Both commits are there, and the secret is or is not in a file. */
static void expect_second(caucus_store *store, const char *dir, bool held) {
    caucus_store_state kept = {0};
    uint32_t heard = 0;
    assert_int_equal(caucus_store_announcements(store, history_expect_announcement, &heard, NULL), CAUCUS_OK);
    assert_int_equal(heard, 2);
    assert_int_equal(caucus_store_load(store, &kept, NULL), CAUCUS_OK);
    assert_int_equal(kept.root.size, 9000);
    for (size_t i = 0; i < kept.root.size; i++)
        assert_int_equal(kept.root.bytes[i], 'b');
    caucus_store_state_free(&kept);
    assert_int_equal(dir_holds(dir, secret, sizeof secret - 1) > 0, held);
}

/* kill -9 between the commit and the wiping: opening does it. */
static void a_crash_before_it(void **state) {
    (void)state;
    const char *dir = in_place("crash");
    pid_t child = forked();
    assert_true(child >= 0);
    if (child == 0) {
        caucus_store *store = NULL;
        if (caucus_store_open(dir, plan_hash, false, &store, NULL) != CAUCUS_OK)
            _exit(3);
        commit_secret(store);
        (void)kill(getpid(), SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_true(dir_holds(dir, secret, sizeof secret - 1) > 0);
    caucus_store *store = store_opened(dir);
    expect_second(store, dir, false);
    caucus_store_close(store);
}

/* A crash while zeros are being written: the log's header goes first, and then SQLite believes nothing of the rest,
 * however much of it is left. The database has it all. */
static void a_crash_in_the_middle(void **state) {
    (void)state;
    for (int part = 0; part < 4; part++) {
        char dir[160], log[200];
        (void)snprintf(dir, sizeof dir, "%s/middle%d", place, part);
        (void)snprintf(log, sizeof log, "%s/coordinator.db-wal", dir);
        caucus_store *store = store_opened(dir);
        commit_secret(store);
        size_t size = 0;
        uint8_t *old = file_read(log, &size);
        assert_true(size > 20000);
        assert_int_equal(caucus_store_wipe(store, NULL), CAUCUS_OK);
        caucus_store_close(store);
        memset(old, 0, part == 3 ? size : 32 + (size - 32) / 3 * (size_t)part);
        file_write(log, old, size);
        free(old);
        if (part == 0 || part == 3)
            assert_int_equal(dir_holds(dir, secret, sizeof secret - 1) > 0, part == 0);
        store = store_opened(dir);
        expect_second(store, dir, false);
        caucus_store_close(store);
    }
}

/* Somebody reads an older commit: the log must stay for them. Nothing waits, nothing is lost, and it is done later. */
static void a_reader_in_the_way(void **state) {
    (void)state;
    const char *dir = in_place("reader");
    caucus_store *store = store_opened(dir);
    caucus_announcement third = history_announcement(2);
    sqlite3 *reader = NULL;
    char path[200];
    (void)snprintf(path, sizeof path, "%s/coordinator.db", dir);
    commit_secret(store);
    assert_int_equal(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM announcement", NULL, NULL, NULL), SQLITE_OK);
    caucus_error error = {0};
    assert_int_equal(caucus_store_wipe(store, &error), CAUCUS_E_BUSY);
    assert_non_null(strstr(error.text, "somebody reads it"));
    expect_second(store, dir, true);
    uint8_t bytes[100] = {'c'};
    assert_int_equal(plain_commit(store, bytes, sizeof bytes, &third, NULL, 0, NULL), CAUCUS_OK);
    assert_int_equal(caucus_store_wipe(store, NULL), CAUCUS_E_BUSY);
    assert_int_equal(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(caucus_store_wipe(store, NULL), CAUCUS_OK);
    assert_int_equal(dir_holds(dir, secret, sizeof secret - 1), 0);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    uint32_t heard = 0;
    assert_int_equal(caucus_store_announcements(store, history_expect_announcement, &heard, NULL), CAUCUS_OK);
    assert_int_equal(heard, 3);
    caucus_store_close(store);
}

/* The database cannot grow: what is in the log stays there, and is found; with room it is done. */
static void no_room(void **state) {
    (void)state;
    const char *dir = in_place("full");
    char path[200];
    (void)snprintf(path, sizeof path, "%s/coordinator.db", dir);
    caucus_store *store = store_opened(dir);
    commit_secret(store);
    struct stat info;
    struct rlimit before, small;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = (rlim_t)info.st_size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    caucus_error error = {0};
    caucus_status status = caucus_store_wipe(store, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, CAUCUS_E_IO);
    assert_non_null(strstr(error.text, "emptying the log"));
    expect_second(store, dir, true);
    assert_int_equal(caucus_store_wipe(store, NULL), CAUCUS_OK);
    expect_second(store, dir, false);
    caucus_store_close(store);
    (void)signal(SIGXFSZ, handler);
}

static int make_place(void **state) {
    (void)state;
    history_make();
    return place_make(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_leaves_nothing),
        cmocka_unit_test(a_crash_before_it),
        cmocka_unit_test(a_crash_in_the_middle),
        cmocka_unit_test(a_reader_in_the_way),
        cmocka_unit_test(no_room),
    };
    return cmocka_run_group_tests(tests, make_place, place_remove);
}
