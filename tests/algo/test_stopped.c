/* SPDX-License-Identifier: Apache-2.0 */
/* A run that is ended before its time: who hears of it, when, and what is left. */
#include "federation.h"

#include "algo/coordinator_state.h"

static caucus_settings settings_of(caucus_algorithm algorithm) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = 2;
    s.experts = 3;
    s.rounds = 64;
    s.epsilon = 20;
    return s;
}

static const caucus_algorithm algorithms[] = {CAUCUS_ALGORITHM_SVT, CAUCUS_ALGORITHM_STOCH, CAUCUS_ALGORITHM_HEDGE};
#define ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

/* In the middle of a block, before the first announcement, and with announcements in between that were never heard. */
static void test_is_heard_anywhere(void **state) {
    (void)state;
    const double loss[3] = {0.25, 0.5, 1};
    for (size_t i = 0; i < ALGORITHMS; i++) {
        federation f;
        caucus_settings s = settings_of(algorithms[i]);
        federation_open(&f, &s, 7);
        caucus_client *late = NULL, *again = NULL;
        caucus_key key;
        caucus_key_from_seed(9, &key);
        assert_int_equal(caucus_client_new(f.plan, 2, &key, &late), CAUCUS_OK);
        caucus_coordinator_stop(f.coordinator);
        caucus_announcement last = *caucus_coordinator_announcement(f.coordinator);
        assert_true(caucus_announcement_stops(&last));
        assert_int_equal(caucus_coordinator_decide(f.coordinator), CAUCUS_E_ORDER);
        assert_int_equal(caucus_coordinator_waiting(f.coordinator), 0);
        last.serial += 40;
        assert_false(caucus_client_stopped(f.client[0]));
        assert_int_equal(caucus_client_hear(f.client[0], &last), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(late, &last), CAUCUS_OK);
        caucus_client *heard[] = {f.client[0], late};
        for (size_t k = 0; k < 2; k++) {
            assert_true(caucus_client_stopped(heard[k]));
            assert_int_equal(caucus_client_rounds_left(heard[k]), 0);
            assert_null(caucus_client_report(heard[k]));
            assert_int_equal(caucus_client_observe(heard[k], loss, 1), CAUCUS_E_ORDER);
            assert_int_equal(caucus_client_hear(heard[k], &last), CAUCUS_E_DUPLICATE);
            caucus_announcement more = last;
            more.serial++;
            assert_int_equal(caucus_client_hear(heard[k], &more), CAUCUS_E_FORMAT);
            uint8_t bytes[8192];
            const size_t size = caucus_client_state_bytes(heard[k]);
            assert_true(size <= sizeof bytes);
            assert_int_equal(caucus_client_save(heard[k], bytes, size), CAUCUS_OK);
            assert_int_equal(caucus_client_restore(f.plan, k == 0 ? 1 : 2, &key, bytes, size, &again), CAUCUS_OK);
            assert_true(caucus_client_stopped(again));
            assert_int_equal(caucus_client_rounds_left(again), 0);
            caucus_client_free(again);
        }
        caucus_client_free(late);
        federation_close(&f);
    }
}

/* An announcement that asks for nothing, without the word, is the end of the asking and not of the rounds. */
static void test_only_with_the_word(void **state) {
    (void)state;
    federation f;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_STOCH);
    federation_open(&f, &s, 7);
    caucus_announcement nothing = {.serial = 1, .ask = CAUCUS_ASK_NOTHING};
    assert_false(caucus_announcement_stops(&nothing));
    assert_int_equal(caucus_client_hear(f.client[0], &nothing), CAUCUS_E_ORDER); /* a round is due first */
    caucus_announcement leaf = {.serial = 1, .ask = CAUCUS_ASK_LEAF, .leaf = CAUCUS_LEAF_STOPPED, .block = 2};
    assert_false(caucus_announcement_stops(&leaf));
    caucus_announcement stranger = {.serial = 1, .ask = CAUCUS_ASK_NOTHING, .leaf = CAUCUS_LEAF_STOPPED, .expert = 3};
    assert_int_equal(caucus_client_hear(f.client[0], &stranger), CAUCUS_E_FORMAT); /* no such expert */
    federation_close(&f);
}

/* What a state that was ended is played from: the announcement, and nothing else. */
static void test_coordinator_of_an_ended_run(void **state) {
    (void)state;
    for (size_t i = 0; i < ALGORITHMS; i++) {
        federation f;
        caucus_settings s = settings_of(algorithms[i]);
        federation_open(&f, &s, 7);
        caucus_key key;
        caucus_key_from_seed(9, &key);
        caucus_coordinator *ended = NULL;
        caucus_announcement last = {.serial = 12, .expert = 2, .block = 5, .leaf = CAUCUS_LEAF_STOPPED};
        caucus_coordinator_tally tally = {.selections = 4, .checks = 11, .since_serial = 7, .since_block = 3};
        assert_int_equal(caucus_coordinator_new_stopped(f.plan, &key, &last, &tally, &ended), CAUCUS_OK);
        assert_memory_equal(caucus_coordinator_announcement(ended), &last, sizeof last);
        const caucus_coordinator_tally got = caucus_coordinator_tally_of(ended);
        assert_memory_equal(&got, &tally, sizeof got);
        assert_int_equal(caucus_announcement_steps(&last), 11);
        assert_int_equal(caucus_coordinator_decide(ended), CAUCUS_E_ORDER);
        caucus_coordinator_free(ended);
        tally.since_serial = 13; /* after the end */
        assert_int_equal(caucus_coordinator_new_stopped(f.plan, &key, &last, &tally, &ended), CAUCUS_E_FORMAT);
        tally.since_serial = 0, tally.since_block = 0;
        last.leaf = 0;
        assert_int_equal(caucus_announcement_steps(&last), 12);
        assert_int_equal(caucus_coordinator_new_stopped(f.plan, &key, &last, &tally, &ended), CAUCUS_E_FORMAT);
        last = (caucus_announcement){.expert = 3, .leaf = CAUCUS_LEAF_STOPPED};
        assert_int_equal(caucus_coordinator_new_stopped(f.plan, &key, &last, &tally, &ended), CAUCUS_E_FORMAT);
        federation_close(&f);
    }
}

/* The figures of a run come out of the root of its state without its plan, and out of the root of its end; what is
 * neither is refused. */
static void test_tally(void **state) {
    (void)state;
    for (size_t i = 0; i < ALGORITHMS; i++) {
        federation f;
        caucus_settings s = settings_of(algorithms[i]);
        federation_open(&f, &s, 7);
        const double loss[3] = {1, 0.5, 0};
        for (int round = 0; round < 9; round++) {
            for (uint32_t k = 0; k < f.m; k++)
                assert_int_equal(caucus_client_observe(f.client[k], loss, 1), CAUCUS_OK);
            federation_talk(&f);
        }
        caucus_piece root = {0}, chunk = {0}, end = {0};
        assert_int_equal(caucus_coordinator_save_parts(f.coordinator, &root, &chunk), CAUCUS_OK);
        const caucus_announcement *now = caucus_coordinator_announcement(f.coordinator);
        const caucus_coordinator_tally want = caucus_coordinator_tally_of(f.coordinator);
        caucus_coordinator_tally got = {0};
        assert_true(now->serial > 1 && want.since_serial <= now->serial && want.since_block <= now->block);
        assert_int_equal(want.selections, caucus_coordinator_selections(f.coordinator));
        assert_int_equal(caucus_coordinator_tally_read(&root, now, &got), CAUCUS_OK);
        assert_memory_equal(&got, &want, sizeof got);
        assert_int_equal(caucus_coordinator_tally_save(&want, &end), CAUCUS_OK);
        assert_true(end.size < root.size);
        memset(&got, 0, sizeof got);
        assert_int_equal(caucus_coordinator_tally_read(&end, now, &got), CAUCUS_OK);
        assert_memory_equal(&got, &want, sizeof got);
        end.bytes[5] ^= 1;
        assert_int_equal(caucus_coordinator_tally_read(&end, now, &got), CAUCUS_E_FORMAT);
        const caucus_piece none = {.bytes = end.bytes}; /* as an earlier version has left it */
        assert_int_equal(caucus_coordinator_tally_read(&none, now, &got), CAUCUS_OK);
        assert_true(got.selections == 0 && got.since_serial == now->serial);
        caucus_piece_free(&root);
        caucus_piece_free(&chunk);
        caucus_piece_free(&end);
        federation_close(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_heard_anywhere), cmocka_unit_test(test_only_with_the_word),
        cmocka_unit_test(test_coordinator_of_an_ended_run), cmocka_unit_test(test_tally)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
