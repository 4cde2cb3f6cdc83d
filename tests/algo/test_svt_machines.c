/* SPDX-License-Identifier: Apache-2.0 */
/* test_svt_machines.c: Fed-SVT as machines: two protocols, one result; each item once; late, lying and absent
 * clients; means of blocks (docs/PRIVACY.md, statement 10). */
#include <math.h>

#include "algo/federation.h"

#include "algo/coordinator.h"
#include "testing_settings.h"

static caucus_settings settings(void) {
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 4, 20, 300, 4);
    return s;
}

/* A d-vector every block and one number per block announce the same experts, for every interval and unit. */
static void test_protocols_agree(void **state) {
    (void)state;
    static const uint32_t intervals[] = {1, 3, 7, 50};
    uint64_t switches = 0;
    for (size_t i = 0; i < 4; i++)
        for (int front = 0; front < 2; front++)
            for (uint64_t seed = 1; seed <= 5; seed++) {
                caucus_settings s = settings();
                s.interval = intervals[i];
                s.front_load = front;
                federation two, paper;
                federation_open(&two, &s, seed);
                federation_play(&two, hashed_losses);
                s.protocol = CAUCUS_PROTOCOL_PAPER;
                federation_open(&paper, &s, seed);
                federation_play(&paper, hashed_losses);
                assert_memory_equal(two.expert, paper.expert, sizeof two.expert);
                /* One number per check, d per selection; against d per block. */
                assert_int_equal(two.scalars_up, 4 * (caucus_coordinator_checks(two.coordinator) +
                                                      20 * caucus_coordinator_selections(two.coordinator)));
                assert_int_equal(paper.scalars_up, 4 * 20 * paper.plan->svt.checks);
                switches += caucus_coordinator_selections(two.coordinator);
                assert_int_equal(caucus_coordinator_selections(two.coordinator),
                                 caucus_coordinator_selections(paper.coordinator));
                assert_true(caucus_coordinator_selections(two.coordinator) <= two.plan->svt.switches);
                assert_true(caucus_coordinator_checks(two.coordinator) <= two.plan->svt.checks);
                federation_close(&two);
                federation_close(&paper);
            }
    assert_true(switches > 20); /* the comparison saw selections */
}

/* N >= T: one block, no check, nothing asked, nothing spent. */
static void test_one_block(void **state) {
    (void)state;
    caucus_settings s = settings();
    s.interval = 1000;
    federation f;
    federation_open(&f, &s, 1);
    assert_int_equal(caucus_coordinator_announcement(f.coordinator)->ask, CAUCUS_ASK_NOTHING);
    federation_play(&f, hashed_losses);
    assert_int_equal(f.scalars_up, 0);
    assert_int_equal(caucus_coordinator_decide(f.coordinator), CAUCUS_E_ORDER);
    federation_close(&f);
}

/* The unit client-block: reports stay within one grid range whatever the block's length. */
static void test_client_block(void **state) {
    (void)state;
    caucus_settings s = settings();
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    s.interval = 10;
    federation f;
    federation_open(&f, &s, 3);
    double row[20];
    for (uint32_t round = 1; round <= 10; round++) {
        hashed_losses(1, round, 20, row);
        assert_int_equal(caucus_client_observe(f.client[0], row, 1), CAUCUS_OK);
    }
    assert_non_null(caucus_client_report(f.client[0]));
    caucus_report r = *caucus_client_report(f.client[0]);
    assert_int_equal(r.count, 1);
    assert_in_range(r.value[0], 0, f.plan->grid);
    /* The mean of the rounded losses, rounded once more: within one grid step of the true mean. */
    double mean = 0;
    for (uint32_t round = 1; round <= 10; round++) {
        hashed_losses(1, round, 20, row);
        mean += row[caucus_client_expert(f.client[0])] / 10;
    }
    assert_true(fabs((double)r.value[0] - mean * (double)f.plan->grid) <= 1.0);
    federation_close(&f);
}

/* Reports out of order, twice, from nobody, of the wrong size: a status, and no change of state. */
static void test_refusals(void **state) {
    (void)state;
    caucus_settings s = settings();
    federation f;
    federation_open(&f, &s, 1);
    double row[20];
    assert_null(caucus_client_report(f.client[0])); /* nothing is due before the block's losses */
    hashed_losses(1, 1, 20, row);
    assert_int_equal(caucus_client_observe(f.client[0], row, 2), CAUCUS_E_ORDER);
    assert_int_equal(caucus_client_observe(f.client[0], row, 1), CAUCUS_OK);
    assert_int_equal(caucus_client_observe(f.client[0], row, 1), CAUCUS_E_ORDER);
    assert_non_null(caucus_client_report(f.client[0]));
    caucus_report r = *caucus_client_report(f.client[0]);
    int64_t q = f.coordinator->threshold.q;
    caucus_report bad = r;
    bad.client = 0;
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &bad), CAUCUS_E_RANGE);
    bad.client = 5;
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &bad), CAUCUS_E_RANGE);
    bad = r;
    bad.count = 2;
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &bad), CAUCUS_E_RANGE);
    bad = r;
    bad.first = bad.block = 2;
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &bad), CAUCUS_E_ORDER);
    bad = r;
    bad.first = 0; /* a cost is about one block */
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &bad), CAUCUS_E_RANGE);
    bad = r;
    bad.epoch_or_leaf = 1; /* of an epoch that has not come: it must not use the item up */
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &bad), CAUCUS_E_RANGE);
    assert_int_equal(caucus_coordinator_waiting(f.coordinator), 4);
    bad = r;
    bad.kind = CAUCUS_ASK_VOTE;
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &bad), CAUCUS_E_RANGE);
    assert_int_equal(f.coordinator->threshold.q, q);
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_E_DUPLICATE);
    assert_int_equal(f.coordinator->threshold.q, q + r.value[0]);
    assert_int_equal(caucus_coordinator_waiting(f.coordinator), 3);
    /* Announcements: again, from the future, and asking for what this plan never asks. */
    caucus_announcement a = *caucus_coordinator_announcement(f.coordinator);
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_DUPLICATE);
    a.serial = 2;
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_ORDER);
    a.serial = 1;
    a.ask = CAUCUS_ASK_VOTE;
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    a.ask = CAUCUS_ASK_COST; /* the same block a second time */
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    a.expert = 20;
    a.block = 2;
    assert_int_equal(caucus_client_hear(f.client[0], &a), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_client_hear(f.client[1], &a), CAUCUS_E_ORDER); /* its losses are due first */
    federation_close(&f);
}

/* A lying client moves q by no more than the worst or the best losses could. */
static void test_clamp(void **state) {
    (void)state;
    caucus_settings s = settings();
    s.interval = 5;
    federation f;
    federation_open(&f, &s, 1);
    int64_t lie = INT64_MAX;
    caucus_report r = {
        .client = 1, .kind = CAUCUS_ASK_COST, .first = 1, .block = 1, .epoch_or_leaf = 0, .count = 1, .value = &lie};
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_OK);
    assert_int_equal(f.coordinator->threshold.q, 5 * f.plan->grid);
    lie = INT64_MIN;
    r.client = 2;
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &r), CAUCUS_OK);
    assert_int_equal(f.coordinator->threshold.q, 5 * f.plan->grid);
    int64_t vector[20];
    for (int y = 0; y < 20; y++)
        vector[y] = y % 2 ? INT64_MAX : INT64_MIN;
    caucus_report v = {.client = 1, .kind = CAUCUS_ASK_SUMS, .first = 1, .block = 1, .count = 20, .value = vector};
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &v), CAUCUS_OK);
    for (int y = 0; y < 20; y++)
        assert_int_equal(f.coordinator->cum[y], y % 2 ? 5 * f.plan->grid : 0);
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &v), CAUCUS_E_DUPLICATE);
    federation_close(&f);
}

/* A client misses blocks and comes back: its items arrive one by one; those about the expert in force count, each
 * once. */
static void test_late_items(void **state) {
    (void)state;
    caucus_settings s = settings();
    s.clients = 2;
    s.epsilon = 0.05; /* thresholds far away: no check fires */
    federation f;
    federation_open(&f, &s, 1);
    double row[20];
    int64_t expected = 0;
    for (uint32_t round = 1; round <= 3; round++) { /* client 2 is away */
        hashed_losses(1, round, 20, row);
        assert_int_equal(caucus_client_observe(f.client[0], row, 1), CAUCUS_OK);
        const caucus_report *r = caucus_client_report(f.client[0]);
        assert_non_null(r);
        expected += r->value[0];
        assert_int_equal(caucus_coordinator_receive(f.coordinator, r), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_waiting(f.coordinator), 1);
        assert_int_equal(caucus_coordinator_decide(f.coordinator), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(f.client[0], caucus_coordinator_announcement(f.coordinator)), CAUCUS_OK);
    }
    int64_t late = 7;
    for (uint32_t block = 1; block <= 4; block++) {
        caucus_report item = {.client = 2,
                              .kind = CAUCUS_ASK_COST,
                              .first = block,
                              .block = block,
                              .epoch_or_leaf = 0,
                              .count = 1,
                              .value = &late};
        assert_int_equal(caucus_coordinator_receive(f.coordinator, &item), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_receive(f.coordinator, &item), CAUCUS_E_DUPLICATE);
        expected += late;
        assert_int_equal(caucus_coordinator_waiting(f.coordinator), block < 4 ? 2 : 1);
    }
    assert_int_equal(f.coordinator->threshold.q, expected);
    /* About an earlier expert: taken off the list, not added. */
    caucus_progress_put(f.coordinator->cost_next, 1, 4);
    f.coordinator->now.epoch = f.coordinator->threshold.epoch = 1;
    caucus_report old = {
        .client = 2, .kind = CAUCUS_ASK_COST, .first = 4, .block = 4, .epoch_or_leaf = 0, .count = 1, .value = &late};
    assert_int_equal(caucus_coordinator_receive(f.coordinator, &old), CAUCUS_OK);
    assert_int_equal(f.coordinator->threshold.q, expected);
    federation_close(&f);
}

/* The order of arrival changes nothing; neither does asking for a report twice. */
static void test_order_of_arrival(void **state) {
    (void)state;
    caucus_settings s = settings();
    federation a, b;
    federation_open(&a, &s, 5);
    federation_open(&b, &s, 5);
    double row[20];
    for (uint32_t round = 1; round <= s.rounds; round++) {
        assert_int_equal(caucus_client_expert(a.client[2]), caucus_client_expert(b.client[1]));
        for (uint32_t i = 0; i < 4; i++) {
            hashed_losses(i + 1, round, 20, row);
            assert_int_equal(caucus_client_observe(a.client[i], row, 1), CAUCUS_OK);
            assert_int_equal(caucus_client_observe(b.client[i], row, 1), CAUCUS_OK);
        }
        federation_talk(&a);
        while (caucus_client_report(b.client[0])) {
            for (uint32_t i = 4; i-- > 0;) {
                const caucus_report *r = caucus_client_report(b.client[i]);
                assert_non_null(r);
                assert_ptr_equal(r, caucus_client_report(b.client[i]));
                assert_int_equal(caucus_coordinator_receive(b.coordinator, r), CAUCUS_OK);
            }
            assert_int_equal(caucus_coordinator_decide(b.coordinator), CAUCUS_OK);
            for (uint32_t i = 0; i < 4; i++)
                assert_int_equal(caucus_client_hear(b.client[i], caucus_coordinator_announcement(b.coordinator)),
                                 CAUCUS_OK);
        }
    }
    federation_close(&a);
    federation_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protocols_agree),  cmocka_unit_test(test_one_block), cmocka_unit_test(test_client_block),
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_clamp),     cmocka_unit_test(test_late_items),
        cmocka_unit_test(test_order_of_arrival),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
