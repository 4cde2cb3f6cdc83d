/* SPDX-License-Identifier: Apache-2.0 */
/* test_long_run.c: runs with more phases and more selections than 16 bits count. No stream (key and nonce, what the
 * cipher sees) is opened twice, whoever opens it; and a state saved beyond 2^16 goes on as if nothing had happened.
 * docs/PRIVACY.md, "Keys and epochs". */
#include "algo/federation.h"

#include <stdio.h>

#include "algo/schedule.h"
#include "algo/streams_opened.h"
#include "testing_settings.h"

/* ---- plans ---- */

#define BEYOND ((uint64_t)1 << 16)
#define EXPERTS 3

enum { VOTE, SHORTLIST, KNORM, TREES, HEDGE, SVT, HEDGE_CYCLES, SVT_CYCLES, KINDS };

static caucus_settings settings_of(int kind) {
    const bool cycles = kind == HEDGE_CYCLES || kind == SVT_CYCLES;
    caucus_settings s = testing_settings(kind == HEDGE || kind == HEDGE_CYCLES ? CAUCUS_ALGORITHM_HEDGE
                                         : kind == SVT || cycles               ? CAUCUS_ALGORITHM_SVT
                                                                               : CAUCUS_ALGORITHM_STOCH,
                                         kind <= KNORM ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR, 2, EXPERTS,
                                         kind <= TREES ? 4 * (BEYOND + 100) : BEYOND + 100, kind == HEDGE ? 1000 : 20);
    s.message = kind == VOTE        ? CAUCUS_MESSAGE_VOTE
                : kind == SHORTLIST ? CAUCUS_MESSAGE_SHORTLIST
                : kind == KNORM     ? CAUCUS_MESSAGE_KNORM
                                    : CAUCUS_MESSAGE_AUTO;
    s.trees = kind == TREES ? 1 : CAUCUS_TREES_AUTO;
    if (kind <= TREES) { /* doubling phases end after a few dozen */
        s.longest_phase = kind == TREES ? 4 : 2;
        s.rounds = s.longest_phase * (BEYOND + 100);
    }
    if (cycles) { /* a cycle is two blocks: as many keys as cycles and selections */
        s.renew = 2;
        s.rounds = 2 * (BEYOND + 100);
    }
    return s;
}

/* Which expert is good changes with every phase, so that mixtures are mixed and experts change. */
static void row_of(uint64_t client, uint64_t round, double *ret) {
    for (uint64_t y = 0; y < EXPERTS; y++)
        ret[y] = (round / 2 + client + y) % EXPERTS == 0 ? 0.1 : 0.9;
}

static void expect_same_after_restart(const federation *f) {
    size_t bytes = caucus_coordinator_state_bytes(f->coordinator);
    uint8_t *state = malloc(bytes), *again = malloc(bytes);
    assert_true(state && again);
    caucus_key key;
    caucus_key_from_seed(1, &key);
    assert_int_equal(caucus_coordinator_save(f->coordinator, state, bytes), CAUCUS_OK);
    caucus_coordinator *restored = NULL;
    assert_int_equal(caucus_coordinator_restore(f->plan, &key, state, bytes, &restored), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_state_bytes(restored), bytes);
    assert_int_equal(caucus_coordinator_save(restored, again, bytes), CAUCUS_OK);
    assert_memory_equal(state, again, bytes);
    assert_int_equal(caucus_coordinator_announcement(restored)->block,
                     caucus_coordinator_announcement(f->coordinator)->block);
    caucus_coordinator_free(restored);
    free(state);
    free(again);

    bytes = caucus_client_state_bytes(f->client[0]);
    state = malloc(bytes), again = malloc(bytes);
    assert_true(state && again);
    assert_int_equal(caucus_client_save(f->client[0], state, bytes), CAUCUS_OK);
    caucus_client *client = NULL;
    assert_int_equal(caucus_client_restore(f->plan, 1, &key, state, bytes, &client), CAUCUS_OK);
    assert_int_equal(caucus_client_save(client, again, bytes), CAUCUS_OK);
    assert_memory_equal(state, again, bytes);
    assert_int_equal(caucus_client_round(client), caucus_client_round(f->client[0]));
    caucus_client_free(client);
    free(state);
    free(again);
}

static void run(int kind) {
    federation f;
    caucus_settings s = settings_of(kind);
    memset(&f, 0, sizeof f);
    assert_int_equal(caucus_plan_new(&s, &f.plan, NULL), CAUCUS_OK);
    f.m = s.clients;
    f.d = s.experts;
    streams_count = 0;
    caucus_key seeded, key;
    caucus_key_from_seed(7, &seeded);
    caucus_key_derive(&seeded, 0, &key);
    assert_int_equal(caucus_coordinator_new(f.plan, &key, &f.coordinator), CAUCUS_OK);
    for (uint32_t i = 0; i < f.m; i++) {
        caucus_key_derive(&seeded, i + 1, &key);
        assert_int_equal(caucus_client_new(f.plan, i + 1, &key, &f.client[i]), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(f.client[i], caucus_coordinator_announcement(f.coordinator)), CAUCUS_OK);
    }
    for (uint64_t round = 1; round <= f.plan->settings.rounds; round++) {
        for (uint32_t i = 0; i < f.m; i++) {
            double row[EXPERTS];
            row_of(i, round, row);
            assert_int_equal(caucus_client_observe(f.client[i], row, 1), CAUCUS_OK);
        }
        federation_talk(&f);
        if (caucus_coordinator_announcement(f.coordinator)->block == BEYOND + 50 &&
            caucus_client_rounds_left(f.client[0]) > 0) {
            size_t so_far = streams_count;
            expect_same_after_restart(&f);
            streams_count = so_far; /* a new coordinator has opened the streams of a beginning */
        }
    }
    assert_int_equal(caucus_client_round(f.client[0]), f.plan->settings.rounds);
    const caucus_announcement *last = caucus_coordinator_announcement(f.coordinator);
    assert_int_equal(last->ask, CAUCUS_ASK_NOTHING);
    size_t count = streams_count, twice = streams_opened_twice();
    print_message("kind %d: %zu streams, %zu twice; last serial %llu, %llu selections\n", kind, count, twice,
                  (unsigned long long)last->serial, (unsigned long long)caucus_coordinator_selections(f.coordinator));
    assert_true(last->serial > (kind == SVT ? 0 : BEYOND));
    assert_true(kind == SVT || kind == SVT_CYCLES || caucus_coordinator_selections(f.coordinator) > BEYOND);
    assert_true(count > (kind == SVT ? 1 : BEYOND)); /* svt opens one for eight checks, until its budget is used up */
    assert_int_equal(twice, 0);
    federation_close(&f);
}

static void test_no_stream_twice(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        run(kind);
    free(streams);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_stream_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
