/* SPDX-License-Identifier: Apache-2.0 */
/* test_stoch_machines.c: Fed-DP-OPE-Stoch, Fed-Hedge and the leader as machines, in every trust model. */
#include <math.h>

#include "algo/federation.h"

#include "algo/client.h"
#include "algo/coordinator.h"
#include "testing_settings.h"

static caucus_settings settings(caucus_trust trust) {
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_STOCH, trust, 3, 12, 1000, 20);
    s.calibration = trust == CAUCUS_TRUST_PAPER_LOCAL ? CAUCUS_CALIBRATION_PAPER : CAUCUS_CALIBRATION_TIGHT;
    return s;
}

/* Plays to the end; the same seed gives the same experts; with much budget the best expert ends up in force. */
static void play_twice(const caucus_settings *s) {
    federation a, b;
    federation_open(&a, s, 11);
    federation_play(&a, hashed_losses);
    federation_open(&b, s, 11);
    federation_play(&b, hashed_losses);
    assert_memory_equal(a.expert, b.expert, sizeof a.expert);
    assert_int_equal(caucus_client_expert(a.client[0]), 3);
    assert_int_equal(caucus_coordinator_announcement(a.coordinator)->expert, 3);
    federation_close(&a);
    federation_close(&b);
}

static void test_every_mode(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_TRUST_COORDINATOR);
    for (int select = 0; select < CAUCUS_SELECT_COUNT; select++) {
        s.select = (caucus_select)select;
        play_twice(&s);
    }
    s = settings(CAUCUS_TRUST_COORDINATOR);
    s.past_phases = true;
    play_twice(&s);
    s.past_phases = false;
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    play_twice(&s);
    s = settings(CAUCUS_TRUST_NOBODY);
    for (int message = CAUCUS_MESSAGE_AUTO; message <= CAUCUS_MESSAGE_LAPLACE_D; message++) {
        s.message = (caucus_message)message;
        play_twice(&s);
    }
    s.message = CAUCUS_MESSAGE_GAUSS;
    s.delta = 1e-6;
    play_twice(&s);
}

/* The paper's constants: two leaves per phase from phase 4 on, a mixture of what they chose, drawn round by round. */
static void test_paper(void **state) {
    (void)state;
    for (int local = 0; local < 2; local++) {
        caucus_settings s = settings(local ? CAUCUS_TRUST_PAPER_LOCAL : CAUCUS_TRUST_COORDINATOR);
        s.calibration = CAUCUS_CALIBRATION_PAPER;
        federation f;
        federation_open(&f, &s, 2);
        federation_play(&f, hashed_losses);
        uint32_t expected = 0;
        for (uint32_t p = 2; p <= f.plan->stoch.phases; p++)
            expected += f.plan->stoch.phase[p - 2].trees ? 2 : 1;
        assert_true(expected > f.plan->stoch.phases);
        assert_int_equal(caucus_coordinator_selections(f.coordinator), expected);
        assert_int_equal(f.scalars_up, (uint64_t)expected * s.experts * s.clients);
        federation_close(&f);
    }
}

/* One leaf per phase: the report is the plain sum of the phase before, rounded loss by loss. */
static void test_sums(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_TRUST_COORDINATOR);
    federation f;
    federation_open(&f, &s, 1);
    double row[12];
    int64_t sum[12] = {0};
    for (uint32_t round = 1; round <= 127; round++) {
        hashed_losses(1, round, 12, row);
        if (round >= 64)
            for (int y = 0; y < 12; y++)
                sum[y] += llrint(row[y] * (double)f.plan->grid);
        for (uint32_t i = 0; i < 3; i++) {
            hashed_losses(i + 1, round, 12, row);
            assert_int_equal(caucus_client_observe(f.client[i], row, 1), CAUCUS_OK);
        }
        if (round < 127)
            federation_talk(&f);
    }
    const caucus_report *r = caucus_client_report(f.client[0]);
    assert_non_null(r);
    assert_int_equal(r->block, 8);
    assert_int_equal(r->count, 12);
    assert_memory_equal(r->value, sum, sizeof sum);
    federation_close(&f);
}

/* 24-bit fractions, exact in a float. */
static void exact_losses(uint32_t client, uint32_t round, uint32_t d, double *ret) {
    hashed_losses(client, round, d, ret);
    ret[3] = ret[4] * 0.25;
}

/* Rows of many rounds at once, and floats instead of doubles, change nothing. */
static void test_many_rows(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_TRUST_COORDINATOR);
    s.clients = 1;
    federation one, many;
    federation_open(&one, &s, 4);
    federation_play(&one, exact_losses);
    federation_open(&many, &s, 4);
    uint64_t round = 1;
    while (round <= s.rounds) {
        uint64_t left = caucus_client_rounds_left(many.client[0]);
        float *rows = malloc(sizeof *rows * 12 * left);
        double row[12];
        for (uint32_t t = 0; t < left; t++) {
            exact_losses(1, (uint32_t)round + t, 12, row);
            for (int y = 0; y < 12; y++)
                rows[t * 12 + (uint32_t)y] = (float)row[y];
        }
        assert_int_equal(caucus_client_observe_f32(many.client[0], rows, left), CAUCUS_OK);
        free(rows);
        federation_talk(&many);
        round += left;
    }
    assert_int_equal(caucus_client_cost(one.client[0]), caucus_client_cost(many.client[0]));
    assert_int_equal(caucus_client_expert(one.client[0]), caucus_client_expert(many.client[0]));
    federation_close(&one);
    federation_close(&many);
}

/* A client answers a shortlist once, only after its vote, and only one that names different experts. */
static void test_client_guards_noise(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_TRUST_NOBODY);
    s.message = CAUCUS_MESSAGE_SHORTLIST;
    federation f;
    federation_open(&f, &s, 1);
    double row[12];
    hashed_losses(1, 1, 12, row);
    assert_int_equal(caucus_client_observe(f.client[0], row, 1), CAUCUS_OK);
    const caucus_report *vote = caucus_client_report(f.client[0]);
    assert_non_null(vote);
    assert_int_equal(vote->kind, CAUCUS_ASK_VOTE);
    int64_t cast = vote->value[0];
    assert_int_equal(caucus_client_report(f.client[0])->value[0], cast);
    caucus_announcement a = {.serial = 1, .ask = CAUCUS_ASK_VOTE, .block = 2}; /* a second vote on the same phase */
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    a = (caucus_announcement){.serial = 1, .ask = CAUCUS_ASK_SHORTLIST, .block = 2, .listed = 2, .list = {4, 4}};
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    a.list[1] = 12;
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    a.listed = 0;
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    a.listed = CAUCUS_SHORTLIST + 1;
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    a.listed = 2;
    a.list[1] = 5;
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_OK);
    assert_int_equal(caucus_client_report(f.client[0])->count, 2);
    a.serial = 2; /* a second shortlist in one phase, and another vote on it */
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    a.ask = CAUCUS_ASK_VOTE;
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    a.ask = CAUCUS_ASK_LEAF;
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    federation_close(&f);
}

/* "Nothing more" is final: asking for an answered phase after it would show the same noise on other data. */
static void test_nothing_is_final(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_TRUST_NOBODY);
    s.message = CAUCUS_MESSAGE_KNORM;
    federation f;
    federation_open(&f, &s, 1);
    double row[12];
    hashed_losses(1, 1, 12, row);
    assert_int_equal(caucus_client_observe(f.client[0], row, 1), CAUCUS_OK);
    assert_non_null(caucus_client_report(f.client[0]));
    caucus_announcement a = {.serial = 1, .ask = CAUCUS_ASK_NOTHING, .block = 1};
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_OK);
    for (uint32_t round = 2; round <= s.rounds; round++)
        assert_int_equal(caucus_client_observe(f.client[0], row, 1), CAUCUS_OK);
    for (uint32_t block = 2; block < 5; block++) {
        a = (caucus_announcement){.serial = 2, .ask = CAUCUS_ASK_LEAF, .block = block};
        assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
        assert_null(caucus_client_report(f.client[0]));
    }
    /* The coordinator's side: a report after the end counts for nothing, in a run of one round too. */
    s.rounds = 1;
    federation one;
    federation_open(&one, &s, 1);
    int64_t value[12] = {0};
    caucus_report late = {.client = 1, .kind = CAUCUS_ASK_NOTHING, .block = 1, .count = 12, .value = value};
    assert_int_equal(caucus_coordinator_receive(one.coordinator, &late), CAUCUS_E_ORDER);
    federation_close(&one);
    federation_close(&f);
}

/* A client that lies at every vertex of a path moves sums to their end, not around it. */
static void test_lies_saturate(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_TRUST_NOBODY);
    s.clients = 1;
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = 1;
    s.message = CAUCUS_MESSAGE_KNORM;
    s.trees = 3;
    federation f;
    federation_open(&f, &s, 1);
    int64_t value[12];
    for (int y = 0; y < 12; y++)
        value[y] = y == 5 ? INT64_MIN : INT64_MAX;
    for (const caucus_announcement *a; (a = caucus_coordinator_announcement(f.coordinator))->ask == CAUCUS_ASK_LEAF;) {
        caucus_report r = {.client = 1,
                           .kind = a->ask,
                           .first = a->block,
                           .block = a->block,
                           .epoch_or_leaf = a->leaf,
                           .count = 12,
                           .value = value};
        assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_decide(f.coordinator), CAUCUS_OK);
        assert_int_equal(a->expert, 5);
    }
    federation_close(&f);
}

/* Votes: the winner has a vote in this phase; absent clients count for nothing; nobody voting keeps the expert. */
static void test_votes(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_TRUST_NOBODY);
    s.message = CAUCUS_MESSAGE_VOTE;
    federation f;
    federation_open(&f, &s, 1);
    uint32_t first = caucus_coordinator_announcement(f.coordinator)->expert;
    assert_int_equal(caucus_coordinator_decide(f.coordinator), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_announcement(f.coordinator)->expert, first);
    int64_t vote = 7;
    caucus_report r = {.client = 2, .kind = CAUCUS_ASK_VOTE, .first = 3, .block = 3, .count = 1, .value = &vote};
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_E_DUPLICATE);
    r.client = 1;
    vote = 12;
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_E_RANGE);
    vote = -1;
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_E_RANGE);
    assert_int_equal(caucus_coordinator_decide(f.coordinator), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_announcement(f.coordinator)->expert, 7);
    r.block = 4;
    vote = 2; /* expert 7 still has half a vote, expert 2 a whole one */
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_decide(f.coordinator), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_announcement(f.coordinator)->expert, 2);
    r.block = 4; /* a closed phase */
    r.client = 3;
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_E_ORDER);
    federation_close(&f);
}

/* Convex losses: l(x) = |x - target|^2-like gradient, known; the mixture moves to the target. */
static void pull(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    (void)round;
    const double *target = user;
    for (uint32_t y = 0; y < experts; y++)
        ret[y] = x[y] - target[y];
}

static void convex_run(caucus_trust trust, int trees, double epsilon, double *ret_gap, uint32_t *ret_support) {
    caucus_settings s = settings(trust);
    s.experts = 6;
    s.rounds = 4095;
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = 1;
    s.trees = trees;
    s.epsilon = epsilon;
    s.message = trust == CAUCUS_TRUST_NOBODY ? CAUCUS_MESSAGE_KNORM : CAUCUS_MESSAGE_AUTO;
    static double target[6] = {0.5, 0.5, 0, 0, 0, 0};
    federation f;
    federation_open(&f, &s, 9);
    for (uint32_t i = 0; i < f.m; i++)
        caucus_client_set_gradient(f.client[i], pull, target);
    for (uint64_t left; (left = caucus_client_rounds_left(f.client[0])) > 0;) {
        for (uint32_t i = 0; i < f.m; i++)
            assert_int_equal(caucus_client_observe(f.client[i], NULL, left), CAUCUS_OK);
        federation_talk(&f);
    }
    double x[6], sum = 0;
    assert_int_equal(caucus_client_mixture(f.client[0], x, 5), CAUCUS_E_RANGE);
    assert_int_equal(caucus_client_mixture(f.client[0], x, 6), CAUCUS_OK);
    *ret_gap = 0;
    for (int y = 0; y < 6; y++) {
        sum += x[y];
        *ret_gap += (x[y] - target[y]) * (x[y] - target[y]);
    }
    assert_true(fabs(sum - 1) < 1e-12);
    *ret_support = caucus_weights_support(&f.client[0]->common->weights);
    federation_close(&f);
}

static void test_convex(void **state) {
    (void)state;
    double root, tree, noisy;
    uint32_t support;
    convex_run(CAUCUS_TRUST_COORDINATOR, 0, 100, &root, &support);
    assert_int_equal(support, 1); /* one step ends on a vertex */
    convex_run(CAUCUS_TRUST_COORDINATOR, 3, 100, &tree, &support);
    assert_true(support > 1);
    assert_true(tree < root / 4); /* trees walk into the simplex */
    convex_run(CAUCUS_TRUST_NOBODY, 3, 100, &noisy, &support);
    assert_true(noisy < root / 2);
}

static void test_hedge_and_leader(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_TRUST_COORDINATOR);
    s.algorithm = CAUCUS_ALGORITHM_HEDGE;
    s.interval = 20;
    s.epsilon = 50;
    play_twice(&s);
    s.epsilon = INFINITY;
    play_twice(&s);
    s.algorithm = CAUCUS_ALGORITHM_LEADER;
    play_twice(&s);
}

/* The baselines are the same machines with one client. */
static void test_baselines(void **state) {
    (void)state;
    for (int svt = 0; svt < 2; svt++) {
        caucus_settings s = settings(CAUCUS_TRUST_COORDINATOR), t;
        s.algorithm = svt ? CAUCUS_ALGORITHM_SVT : CAUCUS_ALGORITHM_STOCH;
        s.clients = 1;
        t = s;
        t.algorithm = svt ? CAUCUS_ALGORITHM_SPARSE_VECTOR : CAUCUS_ALGORITHM_LIMITED_UPDATES;
        t.clients = 9;
        federation a, b;
        federation_open(&a, &s, 6);
        federation_play(&a, hashed_losses);
        federation_open(&b, &t, 6);
        assert_int_equal(b.m, 1);
        federation_play(&b, hashed_losses);
        assert_memory_equal(a.expert, b.expert, sizeof a.expert);
        federation_close(&a);
        federation_close(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mode),
        cmocka_unit_test(test_paper),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_client_guards_noise),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_nothing_is_final),
        cmocka_unit_test(test_lies_saturate),
        cmocka_unit_test(test_convex),
        cmocka_unit_test(test_hedge_and_leader),
        cmocka_unit_test(test_baselines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
