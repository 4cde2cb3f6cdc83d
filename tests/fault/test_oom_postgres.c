/* SPDX-License-Identifier: Apache-2.0 */
/* A coordinator's state in PostgreSQL, when memory runs out, in our code and in libpq: what is committed stays, what is
 * not can be committed again, and what became of a commit whose answer could not be read is found out. The server has
 * memory of its own, which does not fail here (that is an error of the statement, or the end of the server).
 *
 * If an allocation of ours fails the status is CAUCUS_E_MEMORY; without one of libpq's there is no connection, or no
 * answer, and the status says that. libpq keeps buffers with its connection, so that only what is ours is counted. */
#define _GNU_SOURCE /* memmem, of store_testing.h */
#ifdef CAUCUS_POSTGRES
#include "fault/failing_alloc.h"

#include "store/cluster.h"
#include "store/coordinator/mark.h"

#define UNTOUCHED ((void *)8)
#define LOST (FAILING_MAY(CAUCUS_E_NETWORK) | FAILING_MAY(CAUCUS_E_IO) | FAILING_MAY(CAUCUS_E_BUSY))

static char where_text[300], key_text[200];
static caucus_store_where where = {.state = where_text, .key_file = key_text};
static uint64_t next; /* announcements that are committed */

static caucus_store *opened(void) {
    caucus_store *store = NULL;
    caucus_error error = {0};
    const caucus_status status = caucus_store_open_where(&where, plan_hash, false, &store, &error);
    if (status != CAUCUS_OK)
        fail_msg("%s: %s", caucus_status_text(status), error.text);
    assert_int_equal(caucus_store_last(store) ? caucus_store_last(store)->serial + 1 : 0, next);
    return store;
}

/* What failed was ours alone: then nothing but the status of that will do. */
static caucus_status judged(caucus_status status, const caucus_error *error) {
    if (status == CAUCUS_OK)
        return status;
    assert_true(error->text[0] != '\0');
    if (failing.hits == failing.ours)
        assert_int_equal(status, CAUCUS_E_MEMORY);
    return status;
}

static caucus_status reopen(void *user, uint64_t *ret_digest) {
    (void)user;
    caucus_error error = {0};
    caucus_store *store = UNTOUCHED;
    failing_begin();
    const caucus_status status = caucus_store_open_where(&where, plan_hash, false, &store, &error);
    if (status == CAUCUS_OK)
        caucus_store_close(store);
    failing_end();
    if (status != CAUCUS_OK)
        assert_ptr_equal(store, UNTOUCHED);
    caucus_store_close(opened()); /* it can be had again, and has what it had */
    *ret_digest = 1;
    return judged(status, &error);
}

/* The next decision: whole, or nothing of it, and then the same can be committed again. */
static caucus_status commit(void *user, uint64_t *ret_digest) {
    (void)user;
    caucus_store *store = opened();
    caucus_error error = {0};
    const caucus_announcement a = {.serial = next, .expert = (uint32_t)next, .ask = CAUCUS_ASK_COST, .block = next};
    uint8_t state[1500];
    memset(state, (int)next, sizeof state);
    failing_begin();
    caucus_status status = plain_commit(store, state, sizeof state, &a, NULL, 0, &error);
    failing_end();
    bool done = status == CAUCUS_OK;
    if (status == CAUCUS_E_UNKNOWN) {
        assert_int_equal(caucus_store_settle(store, &done, NULL), CAUCUS_OK);
        status = CAUCUS_E_NETWORK;
    }
    assert_int_equal(caucus_store_last(store) ? caucus_store_last(store)->serial + 1 : 0, next + done);
    if (!done && plain_commit(store, state, sizeof state, &a, NULL, 0, NULL) == CAUCUS_E_UNKNOWN) {
        /* The connection was lost without a word: that is found out by the next one who writes. */
        assert_int_equal(caucus_store_settle(store, &done, NULL), CAUCUS_OK);
        if (!done)
            assert_int_equal(plain_commit(store, state, sizeof state, &a, NULL, 0, NULL), CAUCUS_OK);
    }
    next++;
    caucus_store_close(store);
    caucus_store_close(opened());
    *ret_digest = 1;
    return judged(status, &error);
}

static void add_announcement(void *user, const caucus_announcement *a) {
    uint64_t *digest = user;
    *digest = failing_digest(*digest, &a->expert, sizeof a->expert);
}

/* As who looks on does: a connection of its own each time. */
static caucus_status look_on(void *user, uint64_t *ret_digest) {
    (void)user;
    caucus_error error = {0};
    caucus_store_report report = {0};
    failing_begin();
    const caucus_status status = caucus_store_check(where.state, &report, &error);
    failing_end();
    *ret_digest = report.announcements;
    return judged(status, &error);
}

static caucus_status read_all(void *user, uint64_t *ret_digest) {
    (void)user;
    caucus_store *store = opened();
    caucus_error error = {0};
    caucus_store_state state = {.chunks = 77};
    uint64_t digest = 1;
    failing_begin();
    caucus_status status = caucus_store_load(store, &state, &error);
    if (status == CAUCUS_OK)
        status = caucus_store_announcements(store, add_announcement, &digest, &error);
    if (state.root.bytes != NULL)
        caucus_store_state_free(&state);
    failing_end();
    *ret_digest = digest;
    caucus_store_close(store);
    return judged(status, &error);
}

static void test_postgres(void **user) {
    (void)user;
    failing_each(&(failing_test){
        .name = "commit", .operation = commit, .accepted = LOST, .libraries_keep = true, .step = 3, .at_least = 5});
    failing_each(&(failing_test){
        .name = "reading", .operation = read_all, .accepted = LOST, .libraries_keep = true, .step = 5, .at_least = 10});
    failing_each(&(failing_test){.name = "looking on",
                                 .operation = look_on,
                                 .accepted = LOST,
                                 .libraries_keep = true,
                                 .step = 67,
                                 .at_least = 10});
    failing_each(&(failing_test){.name = "opening",
                                 .operation = reopen,
                                 .accepted = LOST | FAILING_MAY(CAUCUS_E_UNKNOWN),
                                 .libraries_keep = true,
                                 .step = 131,
                                 .at_least = 50});
}

static int end(void **state) {
    cluster_end();
    return place_remove(state);
}

int main(void) {
    if (place_make(true) != 0)
        return 1;
    const int started = cluster_start();
    if (started != 0) {
        (void)place_remove(NULL);
        return started;
    }
    (void)snprintf(where_text, sizeof where_text, "%s", cluster_where("public"));
    (void)snprintf(key_text, sizeof key_text, "%s", in_place("key"));
    if (caucus_store_init(where.state, NULL) != CAUCUS_OK || caucus_key_file_make(where.key_file, NULL) != CAUCUS_OK)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_postgres)};
    return cmocka_run_group_tests(tests, NULL, end);
}
#else
int main(void) {
    return 77; /* built without PostgreSQL */
}
#endif
