/* SPDX-License-Identifier: Apache-2.0 */
/* conformance.h: what every backend of a store has to pass. A test program of a backend describes it in `suite` and
 * runs conformance_run(). */
#ifndef TESTS_STORE_CONFORMANCE_H
#define TESTS_STORE_CONFORMANCE_H

#include "store/clock.h"
#include "store/store_testing.h"
#include "store/unsure.h"

#include <signal.h>

typedef struct conformance {
    const caucus_store_backend *backend;
    /* A place of that name; good until the sixteenth one after it. */
    const char *(*where)(const char *name);
    /* The key file of a place; NULL: it needs none. Good as long as a place's name. */
    const char *(*key_file)(const char *where);
    /* What keeps a second coordinator out is gone, although the first one is still at work. */
    void (*intrude)(const char *where);
    /* Copy a closed store, without its mark, over another one. */
    void (*copy)(const char *from, const char *to);
} conformance;
static conformance suite;

static inline caucus_status conformance_open(const caucus_store_backend *backend, const char *where,
                                             const uint8_t hash[32], bool seeded, caucus_store **ret,
                                             caucus_error *ret_error) {
    const caucus_store_where at = {
        .state = where, .backend = backend, .key_file = suite.key_file != NULL ? suite.key_file(where) : NULL};
    return caucus_store_open_where(&at, hash, seeded, ret, ret_error);
}

static inline caucus_status store_try(const caucus_store_backend *backend, const char *where, caucus_store **ret,
                                      caucus_error *ret_error) {
    return conformance_open(backend, where, plan_hash, false, ret, ret_error);
}

static inline caucus_store *store_at(const caucus_store_backend *backend, const char *where) {
    caucus_store *store = NULL;
    caucus_error error = {0};
    caucus_status status = store_try(backend, where, &store, &error);
    if (status != CAUCUS_OK)
        fail_msg("%s: %s", caucus_status_text(status), error.text);
    return store;
}

/* As store_at(), by another coordinator although the first one is at work and wants to stay. */
static inline caucus_store *store_intruding(const caucus_store_backend *backend, const char *where) {
    caucus_store *store = NULL;
    caucus_error error = {0};
    caucus_status status = CAUCUS_E_BUSY;
    for (int tries = 0; status == CAUCUS_E_BUSY && tries < 100; tries++) {
        suite.intrude(where);
        status = store_try(backend, where, &store, &error);
    }
    if (status != CAUCUS_OK)
        fail_msg("%s: %s", caucus_status_text(status), error.text);
    return store;
}

/* After a kill -9: what keeps others out may need a moment to be gone. */
static inline caucus_store *store_after_kill(const caucus_store_backend *backend, const char *where) {
    caucus_store *store = NULL;
    caucus_status status = CAUCUS_E_BUSY;
    for (int tries = 0; status == CAUCUS_E_BUSY && tries < 100; tries++)
        status = store_try(backend, where, &store, NULL);
    assert_int_equal(status, CAUCUS_OK);
    return store;
}

static inline void commits_up_to(caucus_store *store, uint32_t first, uint32_t end) {
    for (uint32_t k = first; k < end; k++)
        assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
}

static inline void what_is_committed_comes_back(void **state) {
    (void)state;
    const char *where = suite.where("back");
    assert_false(suite.backend->exists(where));
    caucus_store *store = store_at(suite.backend, where);
    assert_int_equal(history_found(store), 0);
    for (uint32_t k = 0; k < 8; k++) {
        assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
        assert_int_equal(history_found(store), k + 1);
    }
    assert_int_equal(caucus_store_commits(store), 8);
    caucus_store_close(store);
    assert_true(suite.backend->exists(where));
    for (uint32_t k = 8; k < 11; k++) {
        store = store_at(suite.backend, where);
        assert_int_equal(history_found(store), k);
        assert_int_equal(history_commit(store, k, NULL), CAUCUS_OK);
        assert_int_equal(caucus_store_wipe(store, NULL), CAUCUS_OK);
        assert_int_equal(history_found(store), k + 1);
        caucus_store_close(store);
    }
    caucus_ledger *ledger = NULL;
    assert_int_equal(suite.backend->open_ledger(where, &ledger, NULL), CAUCUS_OK);
    history_expect_ledger(ledger, 11);
    caucus_ledger_free(ledger);
}

/* Of three chunks the first changes with every commit, the second with every fourth, the third never. */
static inline void only_what_changed_is_written(void **state) {
    (void)state;
    const char *where = suite.where("chunks");
    caucus_store *store = store_at(suite.backend, where);
    commits_up_to(store, 0, 9);
    assert_int_equal(caucus_store_chunks_written(store), 3 + 8 + 2);
    caucus_store_close(store);
    store = store_at(suite.backend, where); /* and what was there before is known */
    commits_up_to(store, 9, 12);
    assert_int_equal(caucus_store_chunks_written(store), 3);
    assert_int_equal(history_found(store), 12);
    caucus_store_close(store);
}

static inline void strangers_are_refused(void **state) {
    (void)state;
    const char *where = suite.where("stranger");
    caucus_store *store = store_at(suite.backend, where), *none = NULL;
    caucus_error error = {0};
    uint8_t other[32];
    assert_true(store_try(suite.backend, where, &none, &error) == CAUCUS_E_BUSY); /* one at a time */
    commits_up_to(store, 0, 2);
    assert_int_equal(history_commit(store, 1, &error), CAUCUS_E_ORDER);
    assert_int_equal(history_commit(store, 3, &error), CAUCUS_E_ORDER);
    assert_string_equal(error.field, "serial");
    caucus_store_close(store);
    memcpy(other, plan_hash, sizeof other);
    other[31] ^= 1;
    assert_int_equal(conformance_open(suite.backend, where, other, false, &none, &error), CAUCUS_E_MISMATCH);
    assert_int_equal(conformance_open(suite.backend, where, plan_hash, true, &none, &error), CAUCUS_E_CONFLICT);
    assert_null(none);
    store = store_at(suite.backend, where);
    assert_int_equal(history_found(store), 2);
    caucus_store_close(store);
}

static inline void a_term_begins_once(void **state) {
    (void)state;
    const char *where = suite.where("term");
    uint64_t before = 0;
    for (uint32_t k = 0; k < 4; k++) {
        caucus_store *store = store_at(suite.backend, where);
        assert_true(caucus_store_term(store) > before);
        before = caucus_store_term(store);
        if (k % 2 == 1)
            assert_int_equal(history_commit(store, k / 2, NULL), CAUCUS_OK);
        assert_true(caucus_store_term(store) == before);
        caucus_store_close(store);
    }
}

/* It hears so even if it has nothing to commit, where several machines can reach the store. */
static inline void hears_of_the_takeover(const caucus_store *first) {
    const int64_t patience = caucus_clock_ms() + 60000;
    while (!caucus_store_taken_over(first) && caucus_clock_ms() < patience)
        (void)usleep(20000);
    assert_true(caucus_store_taken_over(first));
}

/* Whoever was there before can commit no more, although it does not know. */
static inline void who_was_taken_over_is_fenced(void **state) {
    (void)state;
    const char *where = suite.where("fenced");
    caucus_error error = {0};
    caucus_store *first = store_at(suite.backend, where);
    commits_up_to(first, 0, 3);
    caucus_store *second = store_intruding(suite.backend, where);
    assert_true(caucus_store_term(second) > caucus_store_term(first));
    assert_int_equal(history_commit(first, 3, &error), CAUCUS_E_FENCED);
    assert_non_null(strstr(error.text, "another coordinator has taken this run over"));
    assert_int_equal(caucus_store_begin(first, &error), CAUCUS_E_FENCED);
    assert_int_equal(history_found(second), 3);
    commits_up_to(second, 3, 5);
    assert_int_equal(history_commit(first, 3, &error), CAUCUS_E_FENCED);
    if (suite.backend->remote)
        hears_of_the_takeover(first);
    assert_false(caucus_store_taken_over(second));
    caucus_store_close(first);
    assert_int_equal(history_found(second), 5);
    assert_false(caucus_store_begun(second));
    caucus_store_close(second);
    second = store_at(suite.backend, where);
    assert_int_equal(history_found(second), 5);
    caucus_store_close(second);
}

/* It moves between what an opening reads and the raising of the term: then what was read is not what it stands on. */
static char happen_where[200];
static inline void commit_meanwhile(void) {
    caucus_store *other = store_intruding(suite.backend, happen_where);
    assert_int_equal(history_commit(other, 2, NULL), CAUCUS_OK);
    caucus_store_close(other);
}

static inline void what_moved_meanwhile_is_noticed(void **state) {
    (void)state;
    const char *where = suite.where("moved");
    (void)snprintf(happen_where, sizeof happen_where, "%s", where);
    const caucus_store_backend *unsure = unsure_over(suite.backend);
    caucus_store *store = store_at(suite.backend, where), *none = NULL;
    commits_up_to(store, 0, 2);
    caucus_store_close(store);
    unsure_before_change = commit_meanwhile;
    caucus_error error = {0};
    assert_int_equal(store_try(unsure, where, &none, &error), CAUCUS_E_BUSY);
    assert_null(none);
    store = store_at(suite.backend, where);
    assert_int_equal(history_found(store), 3);
    caucus_store_close(store);
}

static inline void the_start_is_kept_once(void **state) {
    (void)state;
    const char *where = suite.where("start");
    caucus_store *store = store_at(suite.backend, where);
    commits_up_to(store, 0, 1);
    assert_false(caucus_store_begun(store));
    assert_int_equal(caucus_store_begin(store, NULL), CAUCUS_OK);
    assert_int_equal(caucus_store_begin(store, NULL), CAUCUS_OK);
    assert_int_equal(caucus_store_commits(store), 2);
    caucus_store_close(store);
    store = store_at(suite.backend, where);
    assert_true(caucus_store_begun(store));
    caucus_store_close(store);
}

/* Nothing goes on until it is known; then it is what happened, and the same commit again if it did not. */
static inline void an_unknown_outcome_is_found_out(void **state) {
    (void)state;
    for (int fate = 0; fate < UNSURE_FATES; fate++)
        for (unsigned raises = 0; raises < 3; raises++) { /* settling may be unsure as well */
            char name[32];
            (void)snprintf(name, sizeof name, "unknown%d%u", fate, raises);
            const char *where = suite.where(name);
            caucus_error error = {0};
            bool done = false;
            caucus_store *store = store_at(unsure_over(suite.backend), where);
            commits_up_to(store, 0, 3);
            const uint64_t term = caucus_store_term(store);
            unsure_times = 1;
            unsure_next = (unsure_fate)fate;
            assert_int_equal(history_commit(store, 3, &error), CAUCUS_E_UNKNOWN);
            assert_int_equal(history_commit(store, 3, &error), CAUCUS_E_ORDER);
            assert_int_equal(caucus_store_begin(store, &error), CAUCUS_E_ORDER);
            unsure_settles = 1;
            assert_int_equal(caucus_store_settle(store, &done, &error), CAUCUS_E_IO);
            for (unsigned i = 0; i < raises; i++) {
                unsure_times = 1;
                if (fate != UNSURE_LATE)
                    unsure_next = i % 2 == 0 ? UNSURE_MADE : UNSURE_LOST;
                else
                    unsure_times = 0; /* the late one itself */
                if (unsure_times > 0)
                    assert_int_equal(caucus_store_settle(store, &done, &error), CAUCUS_E_UNKNOWN);
            }
            assert_int_equal(caucus_store_settle(store, &done, &error), CAUCUS_OK);
            assert_int_equal(done, fate != UNSURE_LOST);
            assert_true(caucus_store_term(store) > term);
            assert_int_equal(history_found(store), done ? 4 : 3);
            assert_int_equal(caucus_store_commits(store), done ? 4 : 3);
            assert_int_equal(caucus_store_settle(store, &done, &error), CAUCUS_E_ORDER);
            if (!done)
                assert_int_equal(history_commit(store, 3, &error), CAUCUS_OK);
            commits_up_to(store, 4, 6);
            caucus_store_close(store);
            store = store_at(suite.backend, where);
            assert_int_equal(history_found(store), 6);
            caucus_store_close(store);
        }
}

static inline void an_unknown_start_is_found_out(void **state) {
    (void)state;
    for (int made = 0; made < 2; made++) {
        const char *where = suite.where(made ? "started" : "not-started");
        bool done = false;
        caucus_store *store = store_at(unsure_over(suite.backend), where);
        commits_up_to(store, 0, 1);
        unsure_times = 1;
        unsure_next = made ? UNSURE_MADE : UNSURE_LOST;
        assert_int_equal(caucus_store_begin(store, NULL), CAUCUS_E_UNKNOWN);
        assert_false(caucus_store_begun(store));
        assert_int_equal(caucus_store_settle(store, &done, NULL), CAUCUS_OK);
        assert_int_equal(done, made);
        assert_int_equal(caucus_store_begun(store), made);
        assert_int_equal(caucus_store_begin(store, NULL), CAUCUS_OK);
        caucus_store_close(store);
    }
}

/* While it is not known somebody else takes over, and decides otherwise or not at all. */
static inline void another_takes_over_an_unknown_one(void **state) {
    (void)state;
    for (int fate = 0; fate < 2; fate++)
        for (uint32_t more = 0; more < 2; more++) {
            char name[32];
            (void)snprintf(name, sizeof name, "over%d%u", fate, more);
            const char *where = suite.where(name);
            bool done = false;
            caucus_store *first = store_at(unsure_over(suite.backend), where);
            commits_up_to(first, 0, 3);
            unsure_times = 1;
            unsure_next = (unsure_fate)fate;
            assert_int_equal(history_commit(first, 3, NULL), CAUCUS_E_UNKNOWN);
            caucus_store *second = store_intruding(suite.backend, where);
            const uint32_t found = history_found(second);
            assert_int_equal(found, fate == UNSURE_MADE ? 4 : 3);
            commits_up_to(second, found, found + more);
            assert_int_equal(caucus_store_settle(first, &done, NULL), CAUCUS_E_FENCED);
            assert_int_equal(history_commit(first, 3, NULL), CAUCUS_E_ORDER); /* and never again */
            caucus_store_close(first);
            assert_int_equal(history_found(second), found + more);
            caucus_store_close(second);
        }
}

static inline void an_older_copy_is_refused(void **state) {
    (void)state;
    const char *where = suite.where("older"), *copy = suite.where("copy");
    caucus_error error = {0};
    caucus_store *store = store_at(suite.backend, where), *none = NULL;
    commits_up_to(store, 0, 4);
    caucus_store_close(store);
    suite.copy(where, copy);
    store = store_at(suite.backend, where);
    const uint64_t term = caucus_store_term(store);
    caucus_store_close(store);
    suite.copy(copy, where); /* nothing was announced since: it may go on, with a term of its own */
    store = store_at(suite.backend, where);
    assert_true(caucus_store_term(store) > term);
    commits_up_to(store, 4, 7);
    caucus_store_close(store);
    suite.copy(copy, where);
    assert_int_equal(store_try(suite.backend, where, &none, &error), CAUCUS_E_ROLLED_BACK);
    assert_non_null(strstr(error.text, "holds 4 announcements and 7 were made"));
}

/* kill -9 just before a commit is made and just after. */
static inline void killed_around_a_commit(void **state) {
    (void)state;
    for (uint32_t n = 1; n <= 4; n++)
        for (int after = 0; after < 2; after++) {
            char name[32];
            (void)snprintf(name, sizeof name, "killed%u%d", n, after);
            const char *where = suite.where(name);
            pid_t child = forked();
            assert_true(child >= 0);
            if (child == 0) {
                caucus_store *store = NULL;
                if (store_try(suite.backend, where, &store, NULL) != CAUCUS_OK)
                    _exit(3);
                caucus_store_fault(store, n, after);
                for (uint32_t k = 0; k < n; k++)
                    if (history_commit(store, k, NULL) != CAUCUS_OK)
                        _exit(4);
                _exit(5);
            }
            int status = 0;
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
            caucus_store *store = store_after_kill(suite.backend, where);
            assert_int_equal(history_found(store), after ? n : n - 1);
            caucus_store_close(store);
        }
}

static inline int conformance_run(int (*setup)(void **state), int (*teardown)(void **state)) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_around_a_commit), /* forks */
        cmocka_unit_test(what_is_committed_comes_back),  cmocka_unit_test(only_what_changed_is_written),
        cmocka_unit_test(strangers_are_refused),         cmocka_unit_test(a_term_begins_once),
        cmocka_unit_test(who_was_taken_over_is_fenced),  cmocka_unit_test(what_moved_meanwhile_is_noticed),
        cmocka_unit_test(the_start_is_kept_once),        cmocka_unit_test(an_unknown_outcome_is_found_out),
        cmocka_unit_test(an_unknown_start_is_found_out), cmocka_unit_test(another_takes_over_an_unknown_one),
        cmocka_unit_test(an_older_copy_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

#endif
