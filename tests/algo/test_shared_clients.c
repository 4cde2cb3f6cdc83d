/* SPDX-License-Identifier: Apache-2.0 */
/* test_shared_clients.c: clients that share what all of them know are the clients that keep it each
 * (src/algo/borrowed_rows.h). */
#include "algo/federation.h"

#include "algo/borrowed_rows.h"
#include "algo/client.h"
#include "rng/words.h"
#include "testing_settings.h"

#define CLIENTS 4
#define EXPERTS 9
#define ROUNDS 150

typedef struct pair {
    federation alone;
    caucus_client *shared[CLIENTS];
    uint32_t mixed; /* draws from a mixture seen */
} pair;

/* A gradient that depends on who asks, on the round and on where. */
static void gradient(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    assert_int_equal(experts, EXPERTS);
    hashed_losses(*(const uint32_t *)user, (uint32_t)round, EXPERTS, ret);
    for (int y = 0; y < EXPERTS; y++)
        ret[y] = ret[y] * 0.5 + x[y] * 0.5;
}

static void open_pair(pair *p, const caucus_settings *s, const uint32_t *name) {
    federation_open(&p->alone, s, 5);
    p->mixed = 0;
    caucus_key run, key;
    caucus_key_from_seed(5, &run);
    const caucus_announcement *first = caucus_coordinator_announcement(p->alone.coordinator);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        caucus_key_derive(&run, i + 1, &key);
        assert_int_equal(caucus_client_new_shared(p->alone.plan, i + 1, &key, i ? p->shared[0] : NULL, &p->shared[i]),
                         CAUCUS_OK);
        caucus_client_set_gradient(p->shared[i], gradient, (void *)(uintptr_t)&name[i]);
        caucus_client_set_gradient(p->alone.client[i], gradient, (void *)(uintptr_t)&name[i]);
    }
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_int_equal(caucus_client_hear(p->shared[i], first), CAUCUS_OK);
}

static void talk(pair *p) {
    federation *f = &p->alone;
    while (caucus_client_report(f->client[0])) {
        for (uint32_t i = 0; i < CLIENTS; i++) {
            const caucus_report *a = caucus_client_report(f->client[i]), *b = caucus_client_report(p->shared[i]);
            assert_true(a && b);
            assert_int_equal(a->client, b->client);
            assert_int_equal(a->epoch_or_leaf, b->epoch_or_leaf);
            assert_int_equal(a->count, b->count);
            assert_memory_equal(a->value, b->value, a->count * sizeof *a->value);
            assert_int_equal(caucus_coordinator_receive(f->coordinator, a), CAUCUS_OK);
        }
        assert_int_equal(caucus_coordinator_decide(f->coordinator), CAUCUS_OK);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            const caucus_announcement *a = caucus_coordinator_announcement(f->coordinator);
            assert_int_equal(caucus_client_hear(f->client[i], a), CAUCUS_OK);
            assert_int_equal(caucus_client_hear(p->shared[i], a), CAUCUS_OK);
        }
    }
}

static void play(const caucus_settings *s, bool mixes) {
    static const uint32_t name[CLIENTS] = {1, 2, 3, 4};
    pair p;
    open_pair(&p, s, name);
    double row[3 * EXPERTS], here[EXPERTS], there[EXPERTS];
    for (uint64_t round = 0; round < ROUNDS;) {
        uint64_t left = caucus_client_rounds_left(p.shared[0]), count = left < 3 ? left : 3;
        for (uint32_t i = 0; i < CLIENTS; i++) {
            for (uint32_t r = 0; r < count; r++)
                hashed_losses(i + 1, (uint32_t)round + r + 1, EXPERTS, row + r * EXPERTS);
            assert_int_equal(caucus_client_expert(p.shared[i]), caucus_client_expert(p.alone.client[i]));
            for (uint32_t r = 0; r < count; r++) /* in other pieces: draws do not depend on them */
                assert_int_equal(caucus_client_observe(p.alone.client[i], row + r * EXPERTS, 1), CAUCUS_OK);
            assert_int_equal(caucus_client_observe(p.shared[i], row, count), CAUCUS_OK);
            assert_int_equal(caucus_client_cost(p.shared[i]), caucus_client_cost(p.alone.client[i]));
            assert_int_equal(caucus_client_mixture(p.shared[i], here, EXPERTS), CAUCUS_OK);
            assert_int_equal(caucus_client_mixture(p.alone.client[i], there, EXPERTS), CAUCUS_OK);
            assert_memory_equal(here, there, sizeof here);
            p.mixed += p.shared[i]->mixed;
        }
        round += count;
        talk(&p);
    }
    assert_int_equal(p.mixed > 0, mixes);
    for (uint32_t i = CLIENTS; i > 0; i--)
        caucus_client_free(p.shared[i - 1]);
    federation_close(&p.alone);
}

static caucus_settings settings(caucus_trust trust) {
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_STOCH, trust, CLIENTS, EXPERTS, ROUNDS, 2);
    return s;
}

static void root_only(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_TRUST_COORDINATOR);
    play(&s, false);
    s = settings(CAUCUS_TRUST_NOBODY);
    s.message = CAUCUS_MESSAGE_SHORTLIST;
    play(&s, false);
    s = settings(CAUCUS_TRUST_COORDINATOR);
    s.algorithm = CAUCUS_ALGORITHM_SVT;
    play(&s, false);
}

static void trees(void **state) {
    (void)state;
    static const caucus_trust trusts[] = {CAUCUS_TRUST_COORDINATOR, CAUCUS_TRUST_NOBODY, CAUCUS_TRUST_PAPER_LOCAL};
    for (int i = 0; i < 3; i++) {
        caucus_settings s = settings(trusts[i]);
        s.trees = 3;
        s.calibration = trusts[i] == CAUCUS_TRUST_PAPER_LOCAL ? CAUCUS_CALIBRATION_PAPER : CAUCUS_CALIBRATION_TIGHT;
        if (trusts[i] == CAUCUS_TRUST_NOBODY)
            s.message = CAUCUS_MESSAGE_KNORM;
        play(&s, true);
    }
}

static void convex(void **state) {
    (void)state;
    for (int nobody = 0; nobody < 2; nobody++) {
        caucus_settings s = settings(nobody ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR);
        s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
        s.smoothness = 1;
        s.trees = 3;
        play(&s, false);
    }
}

/* A further client of a simulation takes its own vectors and nothing else. */
static void bytes(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_TRUST_COORDINATOR);
    s.experts = 100;
    for (int kind = 0; kind < 4; kind++) {
        s.algorithm = kind == 0 ? CAUCUS_ALGORITHM_SVT : CAUCUS_ALGORITHM_STOCH;
        s.calibration = kind == 1 ? CAUCUS_CALIBRATION_PAPER : CAUCUS_CALIBRATION_TIGHT;
        s.loss_shape = kind == 3 ? CAUCUS_LOSS_SHAPE_CONVEX : CAUCUS_LOSS_SHAPE_LINEAR;
        s.smoothness = kind == 3;
        s.trees = kind == 3 ? 1 : CAUCUS_TREES_AUTO;
        caucus_plan *plan = NULL;
        caucus_error error = {0};
        if (caucus_plan_new(&s, &plan, &error) != CAUCUS_OK)
            fail_msg("%s: %s", error.field, error.text);
        assert_in_range(caucus_client_shared_bytes(plan), 800, 800 + 512);
        caucus_plan_free(plan);
    }
}

static void places_in_a_stream(void **state) {
    (void)state;
    caucus_key key;
    caucus_key_from_seed(3, &key);
    caucus_stream whole;
    caucus_stream_init(&whole, &key, CAUCUS_PURPOSE_TEST, 1, 2, 3);
    for (uint64_t n = 0; n < 300; n++) {
        assert_int_equal(caucus_stream_drawn(&whole), n);
        caucus_stream part;
        caucus_stream_resume(&part, &key, CAUCUS_PURPOSE_TEST, 1, 2, 3, n);
        assert_int_equal(caucus_stream_drawn(&part), n);
        assert_int_equal(caucus_stream_next(&part), caucus_stream_next(&whole));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_only),
        cmocka_unit_test(trees),
        cmocka_unit_test(convex),
        cmocka_unit_test(bytes),
        cmocka_unit_test(places_in_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
