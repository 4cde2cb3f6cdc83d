/* SPDX-License-Identifier: Apache-2.0 */
/* Machines when memory runs out: they allocate when they are made and when they are restored, and at no other time. */
#include "fault/failing_alloc.h"

#include <math.h>
#include <stdlib.h>

#include "algo/federation.h"
#include "testing_settings.h"

/* What the pointers hold while nothing has been made. */
#define UNTOUCHED ((void *)8)

#define SEED 20241u

typedef struct machine {
    federation f;
    uint8_t *client, *coordinator; /* saved states, in the middle of a run */
    size_t client_bytes, coordinator_bytes;
    caucus_key client_key, coordinator_key;
} machine;

static caucus_settings settings(caucus_algorithm algorithm, caucus_trust trust, caucus_message message, int trees) {
    caucus_settings s = testing_settings(algorithm, trust, 3, 10, 60, 8);
    s.message = message;
    s.trees = trees;
    return s;
}

/* The keys of client 1 and of the coordinator, and their states as they are now. */
static void machine_save(machine *m) {
    caucus_key run;
    caucus_key_from_seed(SEED, &run);
    caucus_key_derive(&run, 0, &m->coordinator_key);
    caucus_key_derive(&run, 1, &m->client_key);
    m->client_bytes = caucus_client_state_bytes(m->f.client[0]);
    m->coordinator_bytes = caucus_coordinator_state_bytes(m->f.coordinator);
    m->client = malloc(m->client_bytes);
    m->coordinator = malloc(m->coordinator_bytes);
    assert_true(m->client && m->coordinator);
    assert_int_equal(caucus_client_save(m->f.client[0], m->client, m->client_bytes), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_save(m->f.coordinator, m->coordinator, m->coordinator_bytes), CAUCUS_OK);
}

static void machine_open(machine *m, const caucus_settings *s) {
    memset(m, 0, sizeof *m);
    federation_open(&m->f, s, SEED);
    double row[10];
    for (uint32_t round = 1; round <= 20; round++) {
        for (uint32_t i = 0; i < m->f.m; i++) {
            hashed_losses(i + 1, round, m->f.d, row);
            assert_int_equal(caucus_client_observe(m->f.client[i], row, 1), CAUCUS_OK);
        }
        federation_talk(&m->f);
    }
    machine_save(m);
}

static void machine_close(machine *m) {
    free(m->client);
    free(m->coordinator);
    federation_close(&m->f);
}

static uint64_t client_digest(const caucus_client *client) {
    size_t bytes = caucus_client_state_bytes(client);
    uint8_t *state = malloc(bytes);
    assert_non_null(state);
    assert_int_equal(caucus_client_save(client, state, bytes), CAUCUS_OK);
    uint64_t digest = failing_digest(1, state, bytes);
    free(state);
    return digest;
}

static uint64_t coordinator_digest(const caucus_coordinator *coordinator) {
    size_t bytes = caucus_coordinator_state_bytes(coordinator);
    uint8_t *state = malloc(bytes);
    assert_non_null(state);
    assert_int_equal(caucus_coordinator_save(coordinator, state, bytes), CAUCUS_OK);
    uint64_t digest = failing_digest(1, state, bytes);
    free(state);
    return digest;
}

/* What both ways to make a client end with: the same client, or none. */
static caucus_status end_client(caucus_status status, caucus_client *client, uint64_t *ret_digest) {
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(client, UNTOUCHED);
        return status;
    }
    *ret_digest = client_digest(client);
    caucus_client_free(client);
    return CAUCUS_OK;
}

static caucus_status new_client(void *user, uint64_t *ret_digest) {
    machine *m = user;
    caucus_client *client = UNTOUCHED;
    failing_begin();
    caucus_status status = caucus_client_new(m->f.plan, 1, &m->client_key, &client);
    return end_client(status, client, ret_digest);
}

static caucus_status restore_client(void *user, uint64_t *ret_digest) {
    machine *m = user;
    caucus_client *client = UNTOUCHED;
    failing_begin();
    caucus_status status = caucus_client_restore(m->f.plan, 1, &m->client_key, m->client, m->client_bytes, &client);
    return end_client(status, client, ret_digest);
}

/* What both ways to make a coordinator end with: the same coordinator, or none. */
static caucus_status end_coordinator(caucus_status status, caucus_coordinator *coordinator, uint64_t *ret_digest) {
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(coordinator, UNTOUCHED);
        return status;
    }
    *ret_digest = coordinator_digest(coordinator);
    caucus_coordinator_free(coordinator);
    return CAUCUS_OK;
}

static caucus_status new_coordinator(void *user, uint64_t *ret_digest) {
    machine *m = user;
    caucus_coordinator *coordinator = UNTOUCHED;
    failing_begin();
    caucus_status status = caucus_coordinator_new(m->f.plan, &m->coordinator_key, &coordinator);
    return end_coordinator(status, coordinator, ret_digest);
}

static caucus_status restore_coordinator(void *user, uint64_t *ret_digest) {
    machine *m = user;
    caucus_coordinator *coordinator = UNTOUCHED;
    failing_begin();
    caucus_status status =
        caucus_coordinator_restore(m->f.plan, &m->coordinator_key, m->coordinator, m->coordinator_bytes, &coordinator);
    return end_coordinator(status, coordinator, ret_digest);
}

static caucus_status new_partial(void *user, uint64_t *ret_digest) {
    machine *m = user;
    caucus_partial *partial = UNTOUCHED;
    failing_begin();
    caucus_status status = caucus_partial_new(m->f.coordinator, &partial);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(partial, UNTOUCHED);
        return status;
    }
    *ret_digest = caucus_partial_answered(partial);
    caucus_partial_free(partial);
    return CAUCUS_OK;
}

/* Rounds, reports, decisions and saving: the hot path allocates nothing, so nothing of it can fail. */
static caucus_status step(void *user, uint64_t *ret_digest) {
    machine *m = user;
    federation f = {.plan = m->f.plan, .m = m->f.m, .d = m->f.d};
    caucus_key run, key;
    caucus_key_from_seed(SEED, &run);
    assert_int_equal(caucus_coordinator_new(f.plan, &m->coordinator_key, &f.coordinator), CAUCUS_OK);
    for (uint32_t i = 0; i < f.m; i++) {
        caucus_key_derive(&run, i + 1, &key);
        assert_int_equal(caucus_client_new(f.plan, i + 1, &key, &f.client[i]), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(f.client[i], caucus_coordinator_announcement(f.coordinator)), CAUCUS_OK);
    }
    uint8_t *client = malloc(m->client_bytes), *coordinator = malloc(m->coordinator_bytes);
    assert_true(client && coordinator);
    double row[10];
    failing_begin();
    for (uint32_t round = 1; round <= 20; round++) {
        for (uint32_t i = 0; i < f.m; i++) {
            hashed_losses(i + 1, round, f.d, row);
            assert_int_equal(caucus_client_observe(f.client[i], row, 1), CAUCUS_OK);
        }
        federation_talk(&f);
    }
    assert_int_equal(caucus_client_save(f.client[0], client, m->client_bytes), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_save(f.coordinator, coordinator, m->coordinator_bytes), CAUCUS_OK);
    failing_end();
    assert_memory_equal(client, m->client, m->client_bytes);
    assert_memory_equal(coordinator, m->coordinator, m->coordinator_bytes);
    *ret_digest = failing.count;
    free(client);
    free(coordinator);
    for (uint32_t i = 0; i < f.m; i++)
        caucus_client_free(f.client[i]);
    caucus_coordinator_free(f.coordinator);
    return CAUCUS_OK;
}

static void each(const char *name, const caucus_settings *s) {
    machine m;
    machine_open(&m, s);
    print_message("%s\n", name);
    failing_each(&(failing_test){.name = "client", .operation = new_client, .user = &m, .at_least = 2});
    failing_each(&(failing_test){.name = "client restored", .operation = restore_client, .user = &m, .at_least = 2});
    failing_each(&(failing_test){.name = "coordinator", .operation = new_coordinator, .user = &m, .at_least = 2});
    failing_each(
        &(failing_test){.name = "coordinator restored", .operation = restore_coordinator, .user = &m, .at_least = 2});
    failing_each(&(failing_test){.name = "partial", .operation = new_partial, .user = &m, .at_least = 1});
    uint64_t allocations = 1;
    failing = (failing_state){0};
    assert_int_equal(step(&m, &allocations), CAUCUS_OK);
    assert_int_equal(allocations, 0);
    machine_close(&m);
}

static void test_blocks(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, -1);
    each("svt", &s);
    s.interval = 4;
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    each("svt, client-block", &s);
    s = settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, -1);
    s.epsilon = INFINITY;
    each("hedge", &s);
}

static void test_phases(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 0);
    each("stoch", &s);
    s.trees = 2;
    each("stoch, trees", &s);
    s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_SHORTLIST, 0);
    each("stoch, shortlist", &s);
    s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_KNORM, 2);
    each("stoch, knorm, trees", &s);
}

static void test_modes(void **state) {
    (void)state;
    const caucus_settings stoch = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 0);
    caucus_settings s = stoch;
    s.show_loss = 1;
    each("show-loss", &s);
    s = stoch;
    s.longest_phase = 16;
    each("longest phase", &s);
    s = stoch;
    s.past_phases = true;
    each("past phases", &s);
    s = stoch;
    s.evaluate = 3;
    each("evaluate", &s);
    s = stoch;
    s.unit = CAUCUS_UNIT_CLIENT;
    s.epsilon = 100;
    each("unit client", &s);
    s.evaluate = 3;
    each("unit client, evaluate", &s);
    s = settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, -1);
    s.renew = 30;
    each("renew", &s);
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.renew = 0;
    each("svt without an end", &s);
}

/* Clients at their own pace: an item that waits, complete slots and an open one are in the state. */
static void test_own_pace(void **state) {
    (void)state;
    for (int nobody = 0; nobody <= 1; nobody++) {
        caucus_settings s = settings(CAUCUS_ALGORITHM_STOCH, nobody ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR,
                                     CAUCUS_MESSAGE_AUTO, 0);
        s.pace = CAUCUS_PACE_OWN;
        s.rounds = CAUCUS_ROUNDS_ENDLESS;
        s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
        s.show_loss = nobody ? 0 : 4;
        machine m = {0};
        federation_open(&m.f, &s, SEED);
        caucus_client *c = m.f.client[0];
        double row[10];
        for (uint32_t slot = 1; slot <= 4; slot++) {
            assert_int_equal(caucus_client_slot(c, slot), CAUCUS_OK);
            hashed_losses(1, slot, m.f.d, row);
            assert_int_equal(caucus_client_observe(c, row, 1), CAUCUS_OK);
            if (slot == 3)
                assert_non_null(caucus_client_report(c));
        }
        machine_save(&m);
        failing_each(&(failing_test){.name = "own pace", .operation = new_client, .user = &m, .at_least = 2});
        failing_each(
            &(failing_test){.name = "own pace, restored", .operation = restore_client, .user = &m, .at_least = 2});
        failing_each(
            &(failing_test){.name = "own pace, coordinator", .operation = new_coordinator, .user = &m, .at_least = 2});
        failing_each(&(failing_test){
            .name = "own pace, coordinator restored", .operation = restore_coordinator, .user = &m, .at_least = 2});
        machine_close(&m);
    }
}

static void zero_gradient(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    (void)user, (void)round, (void)x;
    for (uint32_t y = 0; y < experts; y++)
        ret[y] = 0;
}

/* Convex losses: machines of their own vectors; played nowhere here but made and restored. */
static void test_convex(void **state) {
    (void)state;
    for (int trees = 0; trees <= 2; trees += 2) {
        caucus_settings s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, trees);
        s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
        s.lipschitz = s.smoothness = 1;
        if (trees == 0) {
            s.trust = CAUCUS_TRUST_NOBODY;
            s.message = CAUCUS_MESSAGE_SHORTLIST;
        }
        machine m = {0};
        federation_open(&m.f, &s, SEED);
        caucus_client_set_gradient(m.f.client[0], zero_gradient, NULL);
        m.client_bytes = caucus_client_state_bytes(m.f.client[0]);
        m.client = malloc(m.client_bytes);
        assert_non_null(m.client);
        assert_int_equal(caucus_client_save(m.f.client[0], m.client, m.client_bytes), CAUCUS_OK);
        failing_each(&(failing_test){.name = "convex", .operation = new_client, .user = &m, .at_least = 6});
        failing_each(
            &(failing_test){.name = "convex restored", .operation = restore_client, .user = &m, .at_least = 6});
        failing_each(
            &(failing_test){.name = "convex coordinator", .operation = new_coordinator, .user = &m, .at_least = 2});
        machine_close(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_phases),
                                       cmocka_unit_test(test_modes), cmocka_unit_test(test_own_pace),
                                       cmocka_unit_test(test_convex)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
