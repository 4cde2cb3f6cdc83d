/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_crash.c: kill -9 at every commit, logs cut short anywhere, full disks, closed directories, bits that rot:
 * what a store holds is what was committed, whole, and never less than what was said to be on disk; where less is left,
 * it refuses to go on. */
#define _GNU_SOURCE /* memmem, RLIMIT_FSIZE */
#include "store/store_testing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

/* In a child: open, make sure there are `found` commits, go on to `until` or die at the n-th. */
static void child_commits(const char *dir, uint32_t first, uint32_t until, uint64_t n, bool after) {
    pid_t child = forked();
    assert_true(child >= 0);
    if (child == 0) {
        caucus_store *store = NULL;
        if (caucus_store_open(dir, plan_hash, false, &store, NULL) != CAUCUS_OK)
            _exit(3);
        caucus_store_fault(store, n, after);
        for (uint32_t k = first; k < until; k++)
            if (history_commit(store, k, NULL) != CAUCUS_OK)
                _exit(4);
        _exit(5); /* the fault should have come first */
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("the child was to be killed at commit %llu; it ended with status %#x", (unsigned long long)n,
                 (unsigned)status);
}

static void killed_at_every_commit(void **state) {
    (void)state;
    for (uint32_t n = 1; n <= 20; n++)
        for (int after = 0; after < 2; after++) {
            char dir[160];
            (void)snprintf(dir, sizeof dir, "%s/kill%u%d", place, n, after);
            child_commits(dir, 0, n + 3, n, after);
            caucus_store *store = store_opened(dir);
            uint32_t found = history_found(store);
            assert_int_equal(found, after ? n : n - 1);
            assert_int_equal(history_commit(store, found, NULL), CAUCUS_OK); /* and it goes on */
            assert_int_equal(history_found(store), found + 1);
            caucus_store_close(store);
        }
}

/* The same directory, killed again and again, never going back. */
static void killed_again_and_again(void **state) {
    (void)state;
    const char *dir = in_place("again");
    uint32_t have = 0;
    for (uint32_t round = 0; round < 12; round++) {
        bool after = round % 2 == 1;
        uint32_t n = 1 + round % 4;
        child_commits(dir, have, have + n + 1, n, after);
        have += after ? n : n - 1;
        caucus_store *store = store_opened(dir);
        assert_int_equal(history_found(store), have);
        caucus_store_close(store);
    }
}

#define TORN_COMMITS 12
typedef struct torn {
    uint8_t *db, *wal, *mark;
    size_t db_bytes, wal_bytes, mark_bytes;
} torn;

/* What lies on disk when a coordinator is killed after its twelfth commit. */
static torn torn_make(const char *name) {
    torn t;
    char path[200];
    child_commits(in_place(name), 0, TORN_COMMITS + 1, TORN_COMMITS, true);
    (void)snprintf(path, sizeof path, "%s/%s/coordinator.db", place, name);
    t.db = file_read(path, &t.db_bytes);
    (void)snprintf(path, sizeof path, "%s/%s/coordinator.db-wal", place, name);
    t.wal = file_read(path, &t.wal_bytes);
    assert_true(t.wal_bytes > 12 * 4096);
    (void)snprintf(path, sizeof path, "%s/%s/mark", place, name);
    t.mark = file_read(path, &t.mark_bytes); /* the process died before it was told of the twelfth: it says eleven */
    return t;
}

static void torn_free(torn *t) {
    free(t->db);
    free(t->wal);
    free(t->mark);
}

/* How many commits a store finds in these files; NONE if it refuses to go on with them. */
#define NONE UINT32_MAX
static uint32_t found_in(const torn *t, const uint8_t *wal, size_t wal_bytes) {
    const char *dir = in_place("copy");
    (void)mkdir(dir, 0700);
    (void)unlink(in_place("copy/coordinator.db-shm"));
    file_write(in_place("copy/coordinator.db"), t->db, t->db_bytes);
    file_write(in_place("copy/coordinator.db-wal"), wal, wal_bytes);
    file_write(in_place("copy/mark"), t->mark, t->mark_bytes);
    caucus_store *store = NULL;
    caucus_status status = caucus_store_open(dir, plan_hash, false, &store, NULL);
    if (status != CAUCUS_OK) {
        assert_int_equal(status, CAUCUS_E_ROLLED_BACK);
        return NONE;
    }
    uint32_t found = history_found(store);
    caucus_store_close(store);
    return found;
}

/* What was committed and not marked may be lost with the log, since nobody has heard of it; nothing before. */
static uint32_t acceptable(uint32_t commits) {
    return commits + 1 >= TORN_COMMITS ? commits : NONE;
}

#define WAL_HEAD 32u
#define WAL_FRAME (24u + 4096u)

/* Commits whose frames all lie whole in the first `good` bytes: the last frame of a commit has bytes 4..7 of its head
 * not zero. */
static uint32_t whole_commits(const torn *t, size_t good) {
    static const uint8_t zero[4];
    uint32_t count = 0;
    for (size_t at = WAL_HEAD; at + WAL_FRAME <= good; at += WAL_FRAME)
        count += memcmp(t->wal + at + 4, zero, 4) != 0;
    return count;
}

static void a_log_cut_short_is_refused(void **state) {
    (void)state;
    torn t = torn_make("torn");
    const size_t offset[] = {0, 1, 23, 24, 2000, WAL_FRAME - 1};
    uint32_t tried = 0;
    assert_int_equal((t.wal_bytes - WAL_HEAD) % WAL_FRAME, 0);
    assert_int_equal(whole_commits(&t, t.wal_bytes), TORN_COMMITS);
    assert_int_equal(found_in(&t, t.wal, 0), NONE);
    assert_int_equal(found_in(&t, t.wal, WAL_HEAD - 1), NONE);
    for (size_t at = WAL_HEAD; at <= t.wal_bytes; at += WAL_FRAME)
        for (size_t i = 0; i < sizeof offset / sizeof offset[0] && at + offset[i] <= t.wal_bytes; i++, tried++)
            assert_int_equal(found_in(&t, t.wal, at + offset[i]), acceptable(whole_commits(&t, at + offset[i])));
    print_message("%u lengths of a log of %zu bytes\n", tried, t.wal_bytes);
    torn_free(&t);
}

static void a_bit_that_rots_in_the_log_is_noticed(void **state) {
    (void)state;
    torn t = torn_make("rot");
    for (size_t at = 7; at < t.wal_bytes; at += 2503) {
        uint32_t want =
            whole_commits(&t, at); /* the frame that holds byte `at` and all that follow are as if never written */
        t.wal[at] ^= 0x10;
        assert_int_equal(found_in(&t, t.wal, t.wal_bytes), acceptable(want));
        t.wal[at] ^= 0x10;
    }
    assert_int_equal(found_in(&t, t.wal, t.wal_bytes), TORN_COMMITS);
    torn_free(&t);
}

/* Damage in the main file: every byte of its first page's head that matters, a file that is no database, a page of
 * zeros. Whatever opens must hold the history; whatever does not, names the file. */
static void a_damaged_file_is_named(void **state) {
    (void)state;
    char dir[160];
    size_t size = 0;
    (void)snprintf(dir, sizeof dir, "%s", in_place("damaged"));
    caucus_store *store = store_opened(dir);
    for (uint32_t k = 0; k < 6; k++)
        assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
    caucus_store_close(store);
    uint8_t *bytes = file_read(in_place("damaged/coordinator.db"), &size);
    file_write(in_place("damaged/coordinator.db"),
               (const uint8_t *)"this is no database, but long enough to be read as one: "
                                "0123456789012345678901234567890123456789012345678901234567890123456789",
               126);
    store_refused(dir, CAUCUS_E_DAMAGED, "coordinator.db: damaged");
    store_refused(dir, CAUCUS_E_DAMAGED, "the run is over: run no older copy; a new run needs a new directory");
    file_write(in_place("damaged/coordinator.db"), bytes, size / 2 / 4096 * 4096); /* half of it */
    store_refused(dir, CAUCUS_E_DAMAGED, "coordinator.db: damaged");
    uint32_t refused = 0;
    for (size_t page = 0; page < size / 4096; page++) { /* a page lost */
        uint8_t *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, bytes, size);
        memset(copy + page * 4096, 0, 4096);
        file_write(in_place("damaged/coordinator.db"), copy, size);
        caucus_error error = {0};
        caucus_status status = caucus_store_open(dir, plan_hash, false, &store, &error);
        if (status == CAUCUS_OK) {
            caucus_store_close(store);
        } else {
            if ((status != CAUCUS_E_DAMAGED && status != CAUCUS_E_ROLLED_BACK) ||
                strstr(error.text, "coordinator.db") == NULL)
                fail_msg("page %zu: %s: %s", page, caucus_status_text(status), error.text);
            refused++;
        }
        free(copy);
    }
    print_message("%u of %zu lost pages noticed at once\n", refused, size / 4096);
    /* The schema, the roots of four tables, and a link of the state's chain of pages, which only the check of the whole
     * file finds. What else may be lost is the end of that chain: a state carries a hash of its own. */
    assert_true(refused >= 6);
    file_write(in_place("damaged/coordinator.db"), bytes, size);
    store = store_opened(dir); /* a copy put back goes on */
    assert_int_equal(history_found(store), 6);
    caucus_store_close(store);
    free(bytes);
}

/* Run in a child, so that limits and identities end with it. It reports by its exit code. */
static void in_child(int (*run)(void)) {
    pid_t child = forked();
    assert_true(child >= 0);
    if (child == 0)
        _exit(run());
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the child ended at step %d (status %#x)", WEXITSTATUS(status), (unsigned)status);
}

/* No file may grow beyond a limit: commits fail, nothing of them is kept, and the same commit succeeds when there is
 * room. */
static int fill_up(void) {
    caucus_store *store = NULL;
    caucus_error error = {0};
    uint32_t k = 0;
    struct rlimit limit;
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    if (caucus_store_open(in_place("full"), plan_hash, false, &store, NULL) != CAUCUS_OK)
        return 2;
    const struct rlimit small = {.rlim_cur = 100000, .rlim_max = limit.rlim_max};
    if (setrlimit(RLIMIT_FSIZE, &small) != 0)
        return 3;
    caucus_status status = CAUCUS_OK;
    while (k < HISTORY && (status = history_commit(store, k, &error)) == CAUCUS_OK)
        k++;
    if (status != CAUCUS_E_UNKNOWN || k < 3 || strstr(error.text, "coordinator.db: writing: disk I/O error") == NULL)
        return fprintf(stderr, "%u commits, then %s: %s\n", k, caucus_status_text(status), error.text), 4;
    if (history_commit(store, k, &error) != CAUCUS_E_ORDER) /* nothing more before that is known */
        return 5;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 6;
    bool done = true;
    if (caucus_store_settle(store, &done, &error) != CAUCUS_OK || done || history_found(store) != k)
        return fprintf(stderr, "settled: %d, %s\n", done, error.text), 9;
    if (history_commit(store, k, &error) != CAUCUS_OK || history_found(store) != k + 1)
        return 7;
    caucus_store_close(store);
    if (caucus_store_open(in_place("full"), plan_hash, false, &store, NULL) != CAUCUS_OK ||
        history_found(store) != k + 1)
        return 8;
    caucus_store_close(store);
    return 0;
}

static void a_full_file_keeps_nothing(void **state) {
    (void)state;
    in_child(fill_up);
}

/* The same on a disk that is really full, where we may mount one; closed and opened again while it is. */
static void a_full_disk_keeps_nothing(void **state) {
    (void)state;
    const char *disk = in_place("disk");
    char dir[160];
    (void)snprintf(dir, sizeof dir, "%s/disk/state", place);
    assert_int_equal(mkdir(disk, 0700), 0);
    if (mount("tmpfs", disk, "tmpfs", 0, "size=192k") != 0)
        skip(); /* not root */
    caucus_store *store = store_opened(dir);
    caucus_error error = {0};
    uint32_t k = 0;
    caucus_status status = CAUCUS_OK;
    while (k < HISTORY && (status = history_commit(store, k, &error)) == CAUCUS_OK)
        k++;
    uint32_t found = history_found(store); /* what this process can see */
    caucus_store_close(store);
    store = store_opened(dir);
    uint32_t again = history_found(store);
    caucus_store_close(store);
    assert_int_equal(umount2(disk, MNT_DETACH), 0);
    assert_true(status == CAUCUS_E_FULL || status == CAUCUS_E_UNKNOWN);
    assert_true(strstr(error.text, "the disk is full") != NULL || error.os_error == ENOSPC);
    assert_true(k >= 3);
    assert_int_equal(found, k);
    assert_int_equal(again, k);
}

/* Root may write anywhere, so be somebody else. */
static int without_rights(void) {
    caucus_store *store = NULL;
    caucus_error error = {0};
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0))
        return 1;
    if (caucus_store_open(in_place("closed"), plan_hash, false, &store, &error) != CAUCUS_E_PATH)
        return 2;
    if (strstr(error.text, "closed/lock") == NULL || error.os_error != EACCES ||
        strcmp(error.hint, "the coordinator must be able to write here") != 0)
        return 3;
    if (caucus_store_open(in_place("closed/below"), plan_hash, false, &store, &error) != CAUCUS_E_PATH)
        return 4;
    if (strstr(error.text, "closed/below") == NULL || error.os_error != EACCES)
        return 5;
    return store == NULL ? 0 : 6;
}

static void a_closed_directory_is_named(void **state) {
    (void)state;
    assert_int_equal(chmod(place, 0755), 0);
    assert_int_equal(mkdir(in_place("closed"), 0700), 0);
    assert_int_equal(chmod(in_place("closed"), 0555), 0);
    in_child(without_rights);
    store_refused(in_place("no/such"), CAUCUS_E_PATH, "make the directory above it first");
    file_write(in_place("file"), (const uint8_t *)"x", 1);
    store_refused(in_place("file"), CAUCUS_E_PATH, "not a directory");
    /* A link where our file should be is not followed. */
    assert_int_equal(mkdir(in_place("linked"), 0700), 0);
    assert_int_equal(symlink(in_place("file"), in_place("linked/coordinator.db")), 0);
    store_refused(in_place("linked"), CAUCUS_E_PATH, "coordinator.db: ");
    assert_true(file_holds(in_place("file"), (const uint8_t *)"x", 1));
}

static int make_all(void **state) {
    (void)state;
    history_make();
    return place_make(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_every_commit),     cmocka_unit_test(killed_again_and_again),
        cmocka_unit_test(a_log_cut_short_is_refused), cmocka_unit_test(a_bit_that_rots_in_the_log_is_noticed),
        cmocka_unit_test(a_damaged_file_is_named),    cmocka_unit_test(a_full_file_keeps_nothing),
        cmocka_unit_test(a_full_disk_keeps_nothing),  cmocka_unit_test(a_closed_directory_is_named),
    };
    return cmocka_run_group_tests(tests, make_all, place_remove);
}
