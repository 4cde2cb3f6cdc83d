/* SPDX-License-Identifier: Apache-2.0 */
/* test_state.c: machines saved and restored at every step play on as if nothing had happened. */
#include "algo/federation.h"

#include <sodium.h>

#include "algo/client.h"
#include "algo/coordinator_state.h"
#include "testing_settings.h"

/* And by the same state in parts: the machine that comes of it is the same, byte for byte. */
static void reload_parts(federation *f, const caucus_key *key, const uint8_t *state, size_t bytes) {
    caucus_piece root = {0}, chunk = {0};
    assert_int_equal(caucus_coordinator_chunks(f->plan), 1);
    assert_int_equal(caucus_coordinator_save_parts(f->coordinator, &root, &chunk), CAUCUS_OK);
    caucus_coordinator *again = NULL;
    assert_int_equal(caucus_coordinator_restore_parts(f->plan, key, &root, &chunk, 1, &again), CAUCUS_OK);
    uint8_t *same = malloc(bytes);
    assert_non_null(same);
    assert_int_equal(caucus_coordinator_state_bytes(again), bytes);
    assert_int_equal(caucus_coordinator_save(again, same, bytes), CAUCUS_OK);
    assert_memory_equal(same, state, bytes);
    caucus_coordinator_free(f->coordinator);
    f->coordinator = again;
    free(same);
    caucus_piece_free(&root);
    caucus_piece_free(&chunk);
}

/* Replace the coordinator by its own saved state. */
static void reload_coordinator(federation *f, const caucus_key *key) {
    size_t bytes = caucus_coordinator_state_bytes(f->coordinator);
    uint8_t *state = malloc(bytes);
    assert_non_null(state);
    assert_int_equal(caucus_coordinator_save(f->coordinator, state, bytes), CAUCUS_OK);
    caucus_coordinator *again = NULL;
    assert_int_equal(caucus_coordinator_restore(f->plan, key, state, bytes, &again), CAUCUS_OK);
    caucus_coordinator_free(f->coordinator);
    f->coordinator = again;
    reload_parts(f, key, state, bytes);
    free(state);
}

/* Replace client i by its saved state; a report that was due is the same, byte for byte. */
static void reload_client(federation *f, uint32_t i, const caucus_key *key) {
    const caucus_report *due = caucus_client_report(f->client[i]);
    size_t bytes = caucus_client_state_bytes(f->client[i]);
    uint8_t *state = malloc(bytes);
    assert_non_null(state);
    assert_int_equal(caucus_client_save(f->client[i], state, bytes), CAUCUS_OK);
    caucus_client *again = NULL;
    assert_int_equal(caucus_client_restore(f->plan, i + 1, key, state, bytes, &again), CAUCUS_OK);
    const caucus_report *same = caucus_client_report(again);
    assert_int_equal(due != NULL, same != NULL);
    if (due) {
        assert_int_equal(due->count, same->count);
        assert_int_equal(due->kind, same->kind);
        assert_int_equal(due->first, same->first);
        assert_int_equal(due->block, same->block);
        assert_int_equal(due->epoch_or_leaf, same->epoch_or_leaf);
        assert_memory_equal(due->value, same->value, due->count * sizeof *due->value);
    }
    assert_int_equal(caucus_client_heard(f->client[i]), caucus_client_heard(again));
    caucus_client_free(f->client[i]);
    f->client[i] = again;
    free(state);
}

static void pull(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    (void)user, (void)round;
    for (uint32_t y = 0; y < experts; y++)
        ret[y] = x[y] - (y < 2 ? 0.5 : 0);
}

/* Both machines reloaded after every round and every message must announce what undisturbed ones announce. */
static void play(const caucus_settings *s, uint64_t seed) {
    federation a, b;
    federation_open(&a, s, seed);
    federation_open(&b, s, seed);
    caucus_key run, key[MAX_CLIENTS + 1];
    caucus_key_from_seed(seed, &run);
    for (uint32_t i = 0; i <= b.m; i++)
        caucus_key_derive(&run, i, &key[i]);
    double row[32];
    for (uint32_t round = 1; round <= s->rounds; round++) {
        for (uint32_t i = 0; i < a.m; i++) {
            hashed_losses(i + 1, round, a.d, row);
            caucus_client_set_gradient(a.client[i], pull, NULL);
            caucus_client_set_gradient(b.client[i], pull, NULL);
            assert_int_equal(caucus_client_observe(a.client[i], row, 1), CAUCUS_OK);
            assert_int_equal(caucus_client_observe(b.client[i], row, 1), CAUCUS_OK);
            reload_client(&b, i, &key[i + 1]);
            caucus_client_set_gradient(b.client[i], pull, NULL);
        }
        federation_talk(&a);
        while (caucus_client_report(b.client[0])) {
            for (uint32_t i = 0; i < b.m; i++) {
                caucus_client_set_gradient(b.client[i], pull, NULL);
                assert_non_null(caucus_client_report(b.client[i]));
                reload_client(&b, i, &key[i + 1]);
                caucus_client_set_gradient(b.client[i], pull, NULL);
                assert_int_equal(caucus_coordinator_receive(b.coordinator, caucus_client_report(b.client[i])),
                                 CAUCUS_OK);
                uint64_t cost, sums;
                bool answered;
                caucus_coordinator_counted(b.coordinator, i + 1, &cost, &sums, &answered);
                assert_true(answered);
                reload_coordinator(&b, &key[0]); /* in the middle of a step too */
            }
            assert_int_equal(caucus_coordinator_decide(b.coordinator), CAUCUS_OK);
            reload_coordinator(&b, &key[0]);
            for (uint32_t i = 0; i < b.m; i++)
                assert_int_equal(caucus_client_hear(b.client[i], caucus_coordinator_announcement(b.coordinator)),
                                 CAUCUS_OK);
        }
        assert_memory_equal(caucus_coordinator_announcement(a.coordinator),
                            caucus_coordinator_announcement(b.coordinator), sizeof(caucus_announcement));
        for (uint32_t i = 0; i < a.m; i++)
            if (!a.client[i]->mixed)
                assert_int_equal(caucus_client_expert(a.client[i]), caucus_client_expert(b.client[i]));
    }
    federation_close(&a);
    federation_close(&b);
}

static void test_reload(void **state) {
    (void)state;
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 3, 12, 130, 8);
    play(&s, 1);
    s.interval = 4;
    play(&s, 2);
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    play(&s, 3);
    s.unit = CAUCUS_UNIT_EVENT;
    s.algorithm = CAUCUS_ALGORITHM_HEDGE;
    play(&s, 4);
    s.interval = 1;
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    play(&s, 5);
    s.past_phases = true;
    play(&s, 6);
    s.past_phases = false;
    s.calibration = CAUCUS_CALIBRATION_PAPER;
    play(&s, 7);
    s.trust = CAUCUS_TRUST_PAPER_LOCAL;
    play(&s, 8);
    s.trust = CAUCUS_TRUST_NOBODY;
    s.calibration = CAUCUS_CALIBRATION_TIGHT;
    for (int message = CAUCUS_MESSAGE_VOTE; message <= CAUCUS_MESSAGE_LAPLACE_D; message++) {
        s.message = (caucus_message)message;
        play(&s, 9);
    }
    s.message = CAUCUS_MESSAGE_KNORM;
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = 1;
    s.trees = 2;
    play(&s, 10);
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.message = CAUCUS_MESSAGE_AUTO;
    play(&s, 11);
}

/* Any byte changed, any byte missing, another plan, another client: refused. */
static void test_damage(void **state) {
    (void)state;
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 2, 4, 20, 1);
    federation f;
    federation_open(&f, &s, 1);
    caucus_key key;
    caucus_key_from_seed(1, &key);
    size_t bytes = caucus_coordinator_state_bytes(f.coordinator), own = caucus_client_state_bytes(f.client[0]);
    uint8_t *coordinator = malloc(bytes), *client = malloc(own);
    assert_true(coordinator && client);
    /* One byte too few: refused, and nothing of the state stays behind in the buffer. */
    assert_int_equal(caucus_coordinator_save(f.coordinator, coordinator, bytes - 1), CAUCUS_E_RANGE);
    assert_int_equal(caucus_client_save(f.client[0], client, own - 1), CAUCUS_E_RANGE);
    assert_true(sodium_is_zero(coordinator, bytes - 1) && sodium_is_zero(client, own - 1));
    assert_int_equal(caucus_coordinator_save(f.coordinator, coordinator, 0), CAUCUS_E_RANGE);
    assert_int_equal(caucus_coordinator_save(f.coordinator, coordinator, bytes), CAUCUS_OK);
    assert_int_equal(caucus_client_save(f.client[0], client, own), CAUCUS_OK);
    caucus_coordinator *c = NULL;
    caucus_client *l = NULL;
    for (size_t i = 0; i < bytes; i++) {
        coordinator[i] ^= 1;
        assert_int_equal(caucus_coordinator_restore(f.plan, &key, coordinator, bytes, &c), CAUCUS_E_FORMAT);
        coordinator[i] ^= 1;
        assert_int_equal(caucus_coordinator_restore(f.plan, &key, coordinator, i, &c), CAUCUS_E_FORMAT);
    }
    for (size_t i = 0; i < own; i++) {
        client[i] ^= 1;
        assert_int_equal(caucus_client_restore(f.plan, 1, &key, client, own, &l), CAUCUS_E_FORMAT);
        client[i] ^= 1;
        assert_int_equal(caucus_client_restore(f.plan, 1, &key, client, i, &l), CAUCUS_E_FORMAT);
    }
    assert_int_equal(caucus_client_restore(f.plan, 2, &key, client, own, &l), CAUCUS_E_FORMAT);
    s.experts = 5;
    caucus_plan *other = NULL;
    assert_int_equal(caucus_plan_new(&s, &other, NULL), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_restore(other, &key, coordinator, bytes, &c), CAUCUS_E_FORMAT);
    caucus_plan_free(other);
    free(coordinator);
    free(client);
    federation_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reload), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
