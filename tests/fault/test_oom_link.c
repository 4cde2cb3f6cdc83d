/* SPDX-License-Identifier: Apache-2.0 */
/* The client to embed when memory runs out: made, restored, and through a whole run.
 *
 * In the run one call fails; the caller does what the header says (drops the connection and comes again) and the run
 * ends with the same experts, every report counted once and none made with other noise (hall.h looks at every
 * frame). */
#include "fault/failing_alloc.h"

#include "link/plain_link.h"
#include "net/hall.h"
#include "testing_settings.h"

#define SEED 20241u
#define STATE_BYTES 65536

static caucus_settings settings(caucus_algorithm algorithm, caucus_trust trust, caucus_message message) {
    caucus_settings s = testing_settings(algorithm, trust, 2, 6, 24, 8);
    s.message = message;
    return s;
}

typedef struct session {
    caucus_plan *plan;
    hall *h;
    uint64_t want; /* what every run must come to */
    uint8_t state[STATE_BYTES];
    size_t state_bytes; /* in the middle of a run, with reports that are not known to be counted */
} session;

/* The test's own memory must not fail. */
static bool save(void *user, const uint8_t *bytes, size_t size) {
    seat *s = user;
    assert_true(size <= STATE_BYTES);
    memcpy(s->saved, bytes, size);
    s->saved_bytes = size;
    return true;
}

static caucus_status new_link(hall *h, const uint8_t *state, size_t bytes, caucus_link **ret) {
    caucus_key key;
    caucus_error error = {0};
    client_key(h->seed, 1, &key);
    failing_begin();
    caucus_status status = plain_link(h->plan, h->hash, 1, &key, state, bytes, save, &h->seat[0], ret, &error);
    failing_end();
    if (status != CAUCUS_OK)
        assert_true(error.text[0] != '\0');
    return status;
}

#define UNTOUCHED ((caucus_link *)8)

static caucus_status make(void *user, uint64_t *ret_digest) {
    session *s = user;
    caucus_link *link = UNTOUCHED;
    caucus_status status = new_link(s->h, NULL, 0, &link);
    if (status != CAUCUS_OK) {
        assert_ptr_equal(link, UNTOUCHED);
        return status;
    }
    *ret_digest = caucus_link_round(link);
    caucus_link_free(link);
    return CAUCUS_OK;
}

static caucus_status restore(void *user, uint64_t *ret_digest) {
    session *s = user;
    caucus_link *link = UNTOUCHED;
    caucus_status status = new_link(s->h, s->state, s->state_bytes, &link);
    if (status != CAUCUS_OK) {
        assert_ptr_equal(link, UNTOUCHED);
        return status;
    }
    size_t size = 0;
    caucus_link_connected(link, 0);
    const uint8_t *hello = caucus_link_to_send(link, &size);
    *ret_digest = failing_digest(caucus_link_round(link), hello, size);
    caucus_link_free(link);
    return CAUCUS_OK;
}

/* The first failure of the run: what the caller was told. Then the connection goes, and memory is there again. */
static void failed(hall *h, caucus_status status, const caucus_error *error, caucus_status *first) {
    if (status == CAUCUS_OK)
        return;
    assert_true(*first == CAUCUS_OK && error->text[0] != '\0');
    *first = status;
    failing.fail = 0;
    hall_break(h, 0, false);
}

static bool down(hall *h, caucus_status *first) {
    seat *s = &h->seat[0];
    size_t n = s->down.size;
    if (n == 0)
        return false;
    caucus_error error = {0};
    failing_begin();
    caucus_status status = caucus_link_receive(s->link, s->down.bytes, n, &error);
    failing_end();
    s->down.size = 0;
    failed(h, status, &error, first);
    return true;
}

static bool play(hall *h, caucus_status *first) {
    seat *s = &h->seat[0];
    double row[64];
    if (!caucus_link_ready(s->link))
        return false;
    uint64_t round = caucus_link_round(s->link);
    s->expert[round] = caucus_link_expert(s->link);
    hashed_losses(1, (uint32_t)round + 1, h->d, row);
    caucus_error error = {0};
    failing_begin();
    caucus_status status = caucus_link_observe(s->link, row, &error);
    failing_end();
    assert_int_equal(caucus_link_round(s->link), round + 1); /* it counts, whatever else is missing */
    failed(h, status, &error, first);
    return true;
}

static bool others(hall *h) {
    bool any = false, moved;
    do {
        moved = false;
        for (uint32_t i = 1; i < h->m; i++) {
            if (!h->seat[i].connected)
                hall_connect(h, i);
            moved = hall_up(h, i, SIZE_MAX) > 0 || moved;
            moved = hall_down(h, i, SIZE_MAX) > 0 || moved;
            moved = hall_play(h, i) || moved;
        }
        any = any || moved;
    } while (moved);
    return any;
}

static uint64_t outcome(const hall *h) {
    uint64_t digest = 1;
    for (uint32_t i = 0; i < h->m; i++)
        digest = failing_digest(digest, h->seat[i].expert, h->plan->settings.rounds * sizeof h->seat[i].expert[0]);
    for (uint32_t k = 0; k < h->said_count; k++)
        digest = failing_digest(digest, &h->said[k].expert, sizeof h->said[k].expert);
    for (size_t k = 0; k < h->seen_count; k++)
        if (h->seen[k].counted)
            digest += failing_digest(7, h->seen[k].frame, h->seen[k].size); /* in any order */
    return digest;
}

/* The link of client 1, made anew with this test's way of saving. */
static caucus_status sit_down(hall *h, uint8_t *saved) {
    seat *s = &h->seat[0];
    caucus_link_free(s->link);
    s->link = NULL;
    s->saved = saved;
    s->saved_bytes = 0;
    return new_link(h, NULL, 0, &s->link);
}

static caucus_status run(void *user, uint64_t *ret_digest) {
    session *s = user;
    hall *h = s->h;
    hall_open(h, s->plan, SEED);
    uint8_t *saved = malloc(STATE_BYTES);
    assert_non_null(saved);
    caucus_status first = CAUCUS_OK;
    if (sit_down(h, saved) != CAUCUS_OK) { /* that is make()'s business */
        failing.fail = 0;
        first = CAUCUS_E_MEMORY;
        assert_int_equal(sit_down(h, saved), CAUCUS_OK);
    }
    bool moved = true;
    while (!hall_done(h)) {
        assert_true(moved);
        moved = others(h);
        if (!h->seat[0].connected) {
            hall_connect(h, 0);
            moved = true;
        }
        moved = hall_up(h, 0, SIZE_MAX) > 0 || moved;
        moved = down(h, &first) || moved;
        moved = play(h, &first) || moved;
        if (s->state_bytes == 0 && caucus_link_round(h->seat[0].link) == 12) {
            memcpy(s->state, saved, h->seat[0].saved_bytes);
            s->state_bytes = h->seat[0].saved_bytes;
        }
    }
    caucus_error error = {0};
    failing_begin();
    caucus_status left = caucus_link_leave(h->seat[0].link, "done", &error);
    failing_end();
    if (left != CAUCUS_OK)
        first = left;
    *ret_digest = outcome(h);
    hall_close(h); /* frees `saved` too */
    if (s->want == 0)
        s->want = *ret_digest;
    assert_true(*ret_digest == s->want); /* also where a call failed on the way */
    return first;
}

static void each(const char *name, const caucus_settings *set) {
    session *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->h = calloc(1, sizeof *s->h);
    assert_non_null(s->h);
    assert_int_equal(caucus_plan_new(set, &s->plan, NULL), CAUCUS_OK);
    print_message("%s\n", name);
    failing_each(&(failing_test){.name = "run", .operation = run, .user = s, .at_least = 20});
    assert_true(s->state_bytes > 0);
    hall_open(s->h, s->plan, SEED);
    failing_each(&(failing_test){.name = "new", .operation = make, .user = s, .at_least = 4});
    failing_each(&(failing_test){.name = "restored", .operation = restore, .user = s, .at_least = 6});
    hall_close(s->h);
    caucus_plan_free(s->plan);
    free(s->h);
    free(s);
}

static void test_link(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO);
    each("svt", &s);
    s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_SHORTLIST);
    each("stoch, shortlist", &s);
    s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_KNORM);
    each("stoch, knorm", &s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_link)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
