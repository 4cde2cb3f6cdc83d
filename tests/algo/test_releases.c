/* SPDX-License-Identifier: Apache-2.0 */
/* test_releases.c: what a run charges its ledger: the plan's own amounts, whole steps, the same after any number of
 * restarts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <caucus/caucus.h>

#include "algo/releases.h"
#include "plan/ledger.h"
#include "testing_settings.h"

static caucus_plan *plan_of(caucus_algorithm algorithm, double epsilon, double delta, uint32_t rounds) {
    caucus_settings s = testing_settings(algorithm, CAUCUS_TRUST_COORDINATOR, 3, 10, rounds, epsilon);
    s.delta = delta;
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    if (caucus_plan_new(&s, &plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    return plan;
}

/* A copy of the ledger through its text, as a restarted coordinator reads it. */
static caucus_ledger *read_back(caucus_ledger *from) {
    caucus_ledger *to = NULL;
    char line[CAUCUS_LEDGER_LINE_BYTES];
    for (size_t i = 0; i < caucus_ledger_count(from); i++) {
        assert_int_equal(caucus_ledger_line(from, i, line, sizeof line), CAUCUS_OK);
        assert_int_equal(caucus_ledger_append_line(&to, line, i + 1, NULL), CAUCUS_OK);
    }
    caucus_ledger_free(from);
    return to;
}

/* Entries of the ledger after charge_all(). */
static size_t entries;

/* A ledger with room for this plan alone, which is reserved. */
static caucus_ledger *reserved(const caucus_plan *plan, uint32_t *ret_run) {
    caucus_ledger *ledger = NULL;
    assert_int_equal(caucus_ledger_new(plan->settings.epsilon, plan->settings.delta, &ledger, NULL), CAUCUS_OK);
    assert_int_equal(caucus_ledger_reserve(ledger, plan, "run", false, ret_run, NULL), CAUCUS_OK);
    return ledger;
}

/* All releases a run can make, with a restart after each or none; returns what was charged. */
static double charge_all(const caucus_plan *plan, bool restarts) {
    uint32_t run = 0;
    caucus_ledger *ledger = reserved(plan, &run);
    caucus_releases r;
    caucus_releases_init(&r, plan, ledger, run);
    bool svt = plan->svt.switches > 0, stoch = plan->stoch.phases > 0;
    uint64_t steps = svt ? plan->svt.switches : stoch ? plan->stoch.phases - 1 : plan->hedge.blocks - 1;
    for (uint32_t i = 1; i <= steps; i++) {
        caucus_announcement before = {.block = stoch ? i + 1 : i}, after = {.epoch = i};
        assert_int_equal(caucus_releases_record(&r, &before, &after, NULL), CAUCUS_OK);
        if (restarts) {
            ledger = read_back(ledger);
            caucus_releases_init(&r, plan, ledger, run);
        }
    }
    caucus_ledger_totals totals = caucus_ledger_totals_of(ledger);
    entries = caucus_ledger_count(ledger);
    caucus_ledger_free(ledger);
    return totals.released_choices;
}

static void test_restarts_cost_nothing(void **state) {
    (void)state;
    static const struct {
        caucus_algorithm algorithm;
        double epsilon, delta;
        uint32_t rounds;
    } cases[] = {{CAUCUS_ALGORITHM_HEDGE, 40, 0, 1200},   {CAUCUS_ALGORITHM_HEDGE, 1, 1e-6, 300},
                 {CAUCUS_ALGORITHM_SVT, 10, 0, 512},      {CAUCUS_ALGORITHM_SVT, 0.3, 1e-6, 512},
                 {CAUCUS_ALGORITHM_STOCH, 2, 0, 1 << 14}, {CAUCUS_ALGORITHM_HEDGE, 1000, 0, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        caucus_plan *plan = plan_of(cases[i].algorithm, cases[i].epsilon, cases[i].delta, cases[i].rounds);
        double once = charge_all(plan, false), again = charge_all(plan, true);
        assert_true(once == again);
        assert_true(once <= plan->guarantee.epsilon_choices + 64 * 0x1p-30);
        if (cases[i].delta == 0) /* everything was released: the whole is charged */
            assert_true(once >= plan->guarantee.epsilon_choices * (1 - 1e-9) - 0x1p-29);
        caucus_plan_free(plan);
    }
}

/* Phases with a longest length, and cycles: charged once, whole, and the ledger stays as short as after the first. */
static void test_chains_are_charged_once(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        caucus_settings s = testing_settings(kind < 2    ? CAUCUS_ALGORITHM_STOCH
                                             : kind == 2 ? CAUCUS_ALGORITHM_SVT
                                                         : CAUCUS_ALGORITHM_HEDGE,
                                             kind == 1 ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR, 3, 10, 600, 2);
        s.longest_phase = kind < 2 ? 4 : 0;
        s.renew = kind < 2 ? 0 : 20;
        caucus_plan *plan = NULL;
        assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
        const double once = charge_all(plan, false);
        const size_t short_enough = entries;
        assert_true(once == charge_all(plan, true));
        assert_true(fabs(once - plan->guarantee.epsilon_choices) <= 0x1p-29);
        assert_int_equal(entries, short_enough);
        assert_true(short_enough <= 4); /* head, run, one release */
        caucus_plan_free(plan);
    }
}

/* What was charged is not added up again with every further release: it could not be, here, without a division by
 * zero. */
static void test_charges_once(void **state) {
    (void)state;
    caucus_plan *plan = plan_of(CAUCUS_ALGORITHM_SVT, 10, 0, 512);
    const double whole = charge_all(plan, false);
    uint32_t run = 0;
    caucus_ledger *ledger = reserved(plan, &run);
    caucus_releases r;
    caucus_releases_init(&r, plan, ledger, run);
    assert_true(plan->svt.switches >= 3);
    for (uint32_t i = 1; i <= plan->svt.switches; i++) {
        caucus_announcement before = {.block = i}, after = {.epoch = i};
        assert_int_equal(caucus_releases_record(&r, &before, &after, NULL), CAUCUS_OK);
        plan->svt.select_rate[i - 1] = (caucus_rational){1, 0};
    }
    assert_true(caucus_ledger_totals_of(ledger).released_choices == whole);
    caucus_ledger_free(ledger);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_restarts_cost_nothing),
                                       cmocka_unit_test(test_charges_once),
                                       cmocka_unit_test(test_chains_are_charged_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
