/* SPDX-License-Identifier: Apache-2.0 */
/* Runs without an end: plans, and clients that go on from an announcement that does not follow the last they heard.
 * docs/PRIVACY.md, statement 18. */
#include "algo/federation.h"

#include <math.h>

#include "algo/coordinator.h"
#include "algo/schedule.h"
#include "plan/calibrate.h"
#include "testing_settings.h"

#define EXPERTS 5u

enum { STOCH, VOTE, SHORTLIST, KNORM, MEANS, SVT, HEDGE, GROWING, KINDS };

static caucus_settings settings_of(int kind) {
    caucus_settings s = testing_settings(kind == SVT || kind == GROWING ? CAUCUS_ALGORITHM_SVT
                                         : kind == HEDGE                ? CAUCUS_ALGORITHM_HEDGE
                                                                        : CAUCUS_ALGORITHM_STOCH,
                                         kind >= VOTE && kind <= KNORM ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR,
                                         2, EXPERTS, CAUCUS_ROUNDS_ENDLESS, 20);
    s.message = kind == VOTE        ? CAUCUS_MESSAGE_VOTE
                : kind == SHORTLIST ? CAUCUS_MESSAGE_SHORTLIST
                : kind == KNORM     ? CAUCUS_MESSAGE_KNORM
                                    : CAUCUS_MESSAGE_AUTO;
    if (kind <= MEANS)
        s.longest_phase = 4;
    else if (kind != GROWING)
        s.renew = 24;
    if (kind == MEANS)
        s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    s.interval = kind >= SVT ? 3 : 1;
    return s;
}

static caucus_plan *plan_of(int kind) {
    const caucus_settings s = settings_of(kind);
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    if (caucus_plan_new(&s, &plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    return plan;
}

static caucus_client *client_of(const caucus_plan *plan) {
    caucus_client *c = NULL;
    caucus_key key;
    caucus_key_from_seed(3, &key);
    assert_int_equal(caucus_client_new(plan, 1, &key, &c), CAUCUS_OK);
    return c;
}

static const caucus_report *play(caucus_client *c) {
    double row[EXPERTS];
    while (caucus_client_rounds_left(c) > 0) {
        hashed_losses(1, (uint32_t)caucus_client_round(c) + 1, EXPERTS, row);
        assert_int_equal(caucus_client_observe(c, row, 1), CAUCUS_OK);
    }
    return caucus_client_report(c);
}

static caucus_ask question(int kind) {
    return kind == VOTE || kind == SHORTLIST ? CAUCUS_ASK_VOTE
           : kind == SVT || kind == GROWING  ? CAUCUS_ASK_COST
           : kind == HEDGE                   ? CAUCUS_ASK_SUMS
                                             : CAUCUS_ASK_LEAF;
}

/* Announcement number `serial` of a run in which every block is asked about once. */
static caucus_announcement at(int kind, uint64_t serial) {
    return (caucus_announcement){
        .serial = serial, .expert = 2, .ask = question(kind), .block = serial + (kind <= MEANS ? 2 : 1)};
}

/* Who was away reports of the block or phase in force what somebody would report who had been there all the time. */
static void test_reports_as_if_never_away(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        caucus_plan *plan = plan_of(kind);
        caucus_client *there = client_of(plan), *away = client_of(plan), *new = client_of(plan);
        const uint64_t last = 24; /* in the second cycle of blocks and the fourth; far into equal phases */
        const caucus_report *a = NULL;
        for (uint64_t serial = 0; serial <= last; serial++) {
            const caucus_announcement now = at(kind, serial);
            assert_int_equal(caucus_client_hear(there, &now), CAUCUS_OK);
            a = play(there);
            assert_non_null(a);
            if (serial < 3) {
                assert_int_equal(caucus_client_hear(away, &now), CAUCUS_OK);
                assert_non_null(play(away));
            } else if (serial == 3) { /* it goes in the middle of a block */
                assert_int_equal(caucus_client_hear(away, &now), CAUCUS_OK);
                double row[EXPERTS] = {1, 1, 1, 1, 1};
                assert_int_equal(caucus_client_observe(away, row, 1), CAUCUS_OK);
            }
        }
        const caucus_announcement now = at(kind, last);
        caucus_client *late[] = {away, new};
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(caucus_client_hear(late[k], &now), CAUCUS_OK);
            const uint64_t begins = kind <= MEANS ? caucus_phase_first(plan, now.block - 1) - 1 : (now.block - 1) * 3;
            assert_true(caucus_client_round(late[k]) == begins);
            const caucus_report *b = play(late[k]);
            assert_non_null(b);
            assert_true(a->kind == b->kind && a->block == b->block && a->count == b->count);
            assert_true(kind == HEDGE || a->first == b->first);
            if (kind != HEDGE) /* its vector has the whole cycle's losses */
                assert_memory_equal(a->value, b->value, a->count * sizeof *a->value);
            else
                assert_true(b->first >= 17 && b->first <= b->block); /* nothing of an earlier cycle */
            assert_int_equal(caucus_client_hear(late[k], &now), CAUCUS_E_DUPLICATE);
            const caucus_announcement next = at(kind, last + 1);
            assert_int_equal(caucus_client_hear(late[k], &next), CAUCUS_OK);
        }
        caucus_client_free(there);
        caucus_client_free(away);
        caucus_client_free(new);
        caucus_plan_free(plan);
    }
}

/* Blocks and phases only move forward, numbers of rounds do not wrap, and what is asked is what the plan asks. */
static void test_refuses(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        caucus_plan *plan = plan_of(kind);
        caucus_client *c = client_of(plan);
        caucus_announcement a = at(kind, 10);
        assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
        assert_non_null(play(c));
        a.serial = 20; /* the block that was answered, or an earlier one, again */
        assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_FORMAT);
        a.block--;
        assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_FORMAT);
        a = at(kind, 30);
        a.expert = EXPERTS;
        assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_FORMAT);
        a = at(kind, 30);
        a.ask = kind <= MEANS && kind != VOTE && kind != SHORTLIST ? CAUCUS_ASK_VOTE : CAUCUS_ASK_LEAF;
        assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_FORMAT);
        for (int bit = 61; bit < 64; bit++) {
            a = at(kind, 30);
            a.block = (uint64_t)1 << bit;
            assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_FORMAT);
        }
        a = at(kind, 11);
        assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK); /* nothing of all that has changed it */
        caucus_client_free(c);
        caucus_plan_free(plan);
    }
    caucus_settings s = settings_of(STOCH); /* a run that ends has a history, and gaps are errors */
    s.rounds = 1000;
    caucus_plan *plan = NULL;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    caucus_client *c = client_of(plan);
    const caucus_announcement a = at(STOCH, 5);
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_ORDER);
    caucus_client_free(c);
    caucus_plan_free(plan);
}

/* A question that goes back to what was missed is passed over; a state keeps that. */
static void test_passes_over(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        const int kind = k ? SVT : SHORTLIST;
        caucus_plan *plan = plan_of(kind);
        caucus_client *c = client_of(plan), *again = NULL;
        caucus_announcement a = at(kind, 10);
        a.ask = k ? CAUCUS_ASK_SUMS : CAUCUS_ASK_SHORTLIST;
        a.listed = k ? 0 : 2;
        a.list[1] = k ? 0 : 1;
        assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
        for (int saved = 0; saved < 2; saved++) {
            assert_int_equal(caucus_client_rounds_left(c), 0);
            assert_null(caucus_client_report(c));
            uint8_t bytes[4096];
            const size_t size = caucus_client_state_bytes(c);
            caucus_key key;
            caucus_key_from_seed(3, &key);
            assert_true(size <= sizeof bytes);
            assert_int_equal(caucus_client_save(c, bytes, size), CAUCUS_OK);
            assert_int_equal(caucus_client_restore(plan, 1, &key, bytes, size, &again), CAUCUS_OK);
            caucus_client_free(c);
            c = again;
        }
        caucus_announcement next = at(kind, 11);
        assert_int_equal(caucus_client_hear(c, &next), CAUCUS_OK);
        assert_true(caucus_client_rounds_left(c) > 0);
        assert_non_null(play(c));
        caucus_client_free(c);
        caucus_plan_free(plan);
    }
}

/* The coordinator counts what comes of a client that was away, each item once, and nothing twice. */
static void test_counts_who_was_away(void **state) {
    (void)state;
    for (int kind = SVT; kind <= GROWING; kind++) {
        caucus_plan *plan = plan_of(kind);
        caucus_client *c = client_of(plan);
        caucus_coordinator *machine = NULL;
        caucus_key key;
        caucus_key_from_seed(4, &key);
        assert_int_equal(caucus_coordinator_new(plan, &key, &machine), CAUCUS_OK);
        for (int step = 0; step < 5; step++) /* decided without it: nobody has answered */
            assert_int_equal(caucus_coordinator_decide(machine), CAUCUS_OK);
        const caucus_announcement now = *caucus_coordinator_announcement(machine);
        assert_int_equal(caucus_client_hear(c, &now), CAUCUS_OK);
        const caucus_report *report = play(c);
        assert_non_null(report);
        assert_int_equal(caucus_coordinator_receive(machine, report), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_waiting(machine), 1);
        assert_int_equal(caucus_coordinator_receive(machine, report), CAUCUS_E_DUPLICATE);
        caucus_report old = *report; /* of blocks that are counted */
        old.first = old.block = 1;
        assert_int_equal(caucus_coordinator_receive(machine, &old), CAUCUS_E_DUPLICATE);
        caucus_report early = *report;
        early.first = early.block = now.block + 1;
        assert_int_equal(caucus_coordinator_receive(machine, &early), CAUCUS_E_ORDER);
        caucus_client_free(c);
        caucus_coordinator_free(machine);
        caucus_plan_free(plan);
    }
}

/* The numbers of docs/PRIVACY.md, "Runs without an end", and those that a plan without an end does not have. */
static void test_plans(void **state) {
    (void)state;
    static const struct {
        uint32_t clients, experts;
        double changes;
        uint64_t longest;
        double bound;
    } golden[] = {
        {500, 20, 1, 6, 36.077}, {500, 20, .2, 18, 20.678}, {50, 20, 1, 15, 81.617}, {10, 100, 1, 33, 174.910}};
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        caucus_settings s = testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, golden[i].clients,
                                             golden[i].experts, CAUCUS_ROUNDS_ENDLESS, 1);
        s.longest_phase = CAUCUS_PHASE_AUTO;
        s.changes = golden[i].changes;
        caucus_plan *plan = NULL;
        assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
        assert_true(plan->settings.longest_phase == golden[i].longest);
        assert_true(plan->bound > golden[i].bound - .0005 && plan->bound < golden[i].bound + .01); /* and rounding */
        assert_true(caucus_plan_is_endless(plan));
        assert_true(caucus_plan_blocks(plan) == CAUCUS_ROUNDS_ENDLESS);
        assert_true(caucus_plan_selections(plan) == CAUCUS_ROUNDS_ENDLESS);
        assert_true(isinf(caucus_plan_epsilon_device(plan)));
        assert_true(caucus_plan_epsilon_choices(plan) <= 1 && caucus_plan_epsilon_choices(plan) > .999);
        caucus_plan_free(plan);
    }
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    caucus_settings s = settings_of(STOCH);
    s.longest_phase = 0;
    assert_int_equal(caucus_plan_new(&s, &plan, &error), CAUCUS_E_INFEASIBLE);
    assert_string_equal(error.field, "rounds");
    s = settings_of(HEDGE);
    s.renew = 0;
    assert_int_equal(caucus_plan_new(&s, &plan, &error), CAUCUS_E_INFEASIBLE);
    assert_string_equal(error.field, "rounds");
    s = settings_of(STOCH);
    s.trees = 1;
    assert_int_equal(caucus_plan_new(&s, &plan, &error), CAUCUS_E_INFEASIBLE);
    /* A run without an end costs what one with an end costs. */
    for (int kind = 0; kind < GROWING; kind++) {
        s = settings_of(kind);
        caucus_plan *endless = NULL;
        assert_int_equal(caucus_plan_new(&s, &endless, NULL), CAUCUS_OK);
        s.rounds = 100000;
        assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
        assert_true(caucus_plan_epsilon_choices(endless) == caucus_plan_epsilon_choices(plan));
        caucus_rational a, b;
        if (kind == STOCH || kind >= SVT) {
            assert_int_equal(caucus_plan_select_rate(endless, 20, &a), CAUCUS_OK);
            assert_int_equal(caucus_plan_select_rate(plan, 20, &b), CAUCUS_OK);
            assert_int_equal(caucus_rational_compare(a, b), 0);
        }
        caucus_plan_free(endless);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reports_as_if_never_away), cmocka_unit_test(test_refuses),
                                       cmocka_unit_test(test_passes_over), cmocka_unit_test(test_counts_who_was_away),
                                       cmocka_unit_test(test_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
