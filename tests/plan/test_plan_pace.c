/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_pace.c: plans at the devices' own pace: what follows from the settings, the bound's golden values, what is
 * refused. docs/PRIVACY.md, "At their own pace". */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/calibrate.h"
#include "plan/pace/pace.h"
#include "plan/plan.h"
#include "testing_settings.h"

static caucus_settings own(caucus_unit unit) {
    caucus_settings s =
        testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 500, 20, CAUCUS_ROUNDS_ENDLESS, 1);
    s.pace = CAUCUS_PACE_OWN;
    s.unit = unit;
    return s;
}

static caucus_plan *plan_of(caucus_settings s) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    if (caucus_plan_new(&s, &plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    return plan;
}

static void refuse(caucus_settings s, caucus_status status, const char *field, const char *words) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_plan_new(&s, &plan, &error), status);
    assert_string_equal(error.field, field);
    if (!strstr(error.text, words))
        fail_msg("%s: %s", error.field, error.text);
}

/* Every phase is alike, and an item moves one selection by G: epsilon, for any number of decisions. */
static void test_one_phase_for_all(void **state) {
    (void)state;
    for (int event = 0; event <= 1; event++) {
        caucus_plan *plan = plan_of(own(event ? CAUCUS_UNIT_EVENT : CAUCUS_UNIT_CLIENT_BLOCK));
        assert_int_equal(plan->settings.grace, 5400);
        assert_int_equal(plan->settings.longest_phase, 64);
        assert_int_equal(plan->stoch.described, 1);
        assert_int_equal(plan->stoch.phase[0].samples, 64);
        assert_true(plan->guarantee.epsilon_choices <= 1 && plan->guarantee.epsilon_choices > 0.999999);
        caucus_plan_free(plan);
    }
}

/* m 500, d 20, epsilon 1, 64 losses each: means .006842 + .010391, sums .006842 + .000162. A change costs 2 + 1/16
 * phases. */
static void test_bound(void **state) {
    (void)state;
    caucus_plan *means = plan_of(own(CAUCUS_UNIT_CLIENT_BLOCK)), *sums = plan_of(own(CAUCUS_UNIT_EVENT));
    assert_true(fabs(means->stoch.phase[0].error - (0.006842 + 0.010391)) < 2e-6);
    assert_true(fabs(sums->stoch.phase[0].error - (0.006842 + 0.000162)) < 2e-6);
    assert_true(fabs(caucus_bounds_stoch_change(means) - (2 + 1.0 / 16) * 64) < 1e-9);
    caucus_plan_free(means);
    caucus_plan_free(sums);
}

/* The same for counts that are known: 64 losses of every device; rates whose 1/E(1/n) is 21.4. Nothing counted: the
 * range. Votes: nothing is proved. */
static void test_bound_of_counts(void **state) {
    (void)state;
    caucus_plan *means = plan_of(own(CAUCUS_UNIT_CLIENT_BLOCK)), *sums = plan_of(own(CAUCUS_UNIT_EVENT));
    const caucus_stoch_counted of_means = {500, 500 / 64.0}, of_sums = {32000, 32000}, of_spread = {500, 500 / 21.4};
    assert_true(fabs(caucus_bounds_stoch_counted(means, 2, &of_means, 1) - (0.006842 + 0.010391)) < 2e-6);
    assert_true(fabs(caucus_bounds_stoch_counted(sums, 2, &of_sums, 1) - (0.006842 + 0.000162)) < 2e-6);
    assert_true(fabs(caucus_bounds_stoch_counted(means, 2, &of_spread, 1) - (0.01183 + 0.010391)) < 2e-6);
    assert_true(caucus_bounds_stoch_counted(means, 2, &(caucus_stoch_counted){0, 0}, 1) == 1);
    caucus_plan_free(means);
    caucus_plan_free(sums);
    caucus_settings s = own(CAUCUS_UNIT_CLIENT_BLOCK);
    s.trust = CAUCUS_TRUST_NOBODY;
    caucus_plan *votes = plan_of(s);
    assert_true(isnan(caucus_bounds_stoch_counted(votes, 2, &of_means, 1)));
    caucus_plan_free(votes);
    s.message = CAUCUS_MESSAGE_KNORM;
    caucus_plan *noisy = plan_of(s);
    const double all_alike = caucus_bounds_stoch_counted(noisy, 2, &of_means, 1);
    assert_true(fabs(all_alike - noisy->stoch.phase[0].error) < 1e-9 * all_alike);
    caucus_plan_free(noisy);
}

static void test_messages(void **state) {
    (void)state;
    caucus_settings s = own(CAUCUS_UNIT_CLIENT_BLOCK);
    s.trust = CAUCUS_TRUST_NOBODY;
    s.epsilon = 5; /* together, this would be a shortlist */
    caucus_plan *plan = plan_of(s);
    assert_int_equal(plan->stoch.message, CAUCUS_MESSAGE_VOTE);
    assert_true(plan->guarantee.epsilon_messages <= 5);
    caucus_plan_free(plan);
    s.message = CAUCUS_MESSAGE_SHORTLIST;
    refuse(s, CAUCUS_E_INFEASIBLE, "message", "one message");
}

static void test_refusals(void **state) {
    (void)state;
    caucus_settings s = own(CAUCUS_UNIT_EVENT);
    s.algorithm = CAUCUS_ALGORITHM_SVT;
    refuse(s, CAUCUS_E_INFEASIBLE, "pace", "stoch");
    s = own(CAUCUS_UNIT_EVENT), s.rounds = 512;
    refuse(s, CAUCUS_E_INFEASIBLE, "rounds", "accepted: endless");
    s = own(CAUCUS_UNIT_EVENT), s.longest_phase = 32;
    refuse(s, CAUCUS_E_INFEASIBLE, "longest-phase", "phase-time");
    s = own(CAUCUS_UNIT_EVENT), s.first_phase = 32;
    refuse(s, CAUCUS_E_INFEASIBLE, "first-phase", "phase-time");
    s = own(CAUCUS_UNIT_EVENT), s.trees = 2;
    refuse(s, CAUCUS_E_INFEASIBLE, "trees", "0 or auto");
    s = own(CAUCUS_UNIT_EVENT), s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    refuse(s, CAUCUS_E_INFEASIBLE, "loss-shape", "linear");
    s = own(CAUCUS_UNIT_EVENT), s.phase_time = 0;
    refuse(s, CAUCUS_E_RANGE, "phase-time", "366 days");
    s = own(CAUCUS_UNIT_EVENT), s.grace = 86400;
    refuse(s, CAUCUS_E_RANGE, "grace", "less than phase-time");
    s = own(CAUCUS_UNIT_EVENT), s.most = 0;
    refuse(s, CAUCUS_E_RANGE, "most", "1 to");
    s = testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 5, 20, 64, 1);
    s.phase_time = 60;
    refuse(s, CAUCUS_E_INFEASIBLE, "phase-time", "only with pace own");
    s.phase_time = 86400, s.grace = 60;
    refuse(s, CAUCUS_E_INFEASIBLE, "grace", "only with pace own");
    s.grace = CAUCUS_GRACE_AUTO, s.most = 3;
    refuse(s, CAUCUS_E_INFEASIBLE, "most", "only with pace own");
}

static caucus_settings questions(void) {
    caucus_settings s = own(CAUCUS_UNIT_CLIENT);
    s.rounds = 1024;
    s.growth = 8;
    return s;
}

/* Unit client: with one loss a slot and no grace it is the plan of clients in step, golden values and all. */
static void test_unit_client(void **state) {
    (void)state;
    caucus_settings s = questions();
    s.phase_time = 1, s.most = 1;
    caucus_plan *slots = plan_of(s);
    s = testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 500, 20, 1024, 1);
    s.unit = CAUCUS_UNIT_CLIENT, s.growth = 8;
    caucus_plan *rounds = plan_of(s);
    assert_int_equal(slots->settings.grace, 0);
    assert_int_equal(slots->stoch.described, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(slots->stoch.phase[i].length, rounds->stoch.phase[i].length);
        assert_int_equal(slots->stoch.phase[i].select_rate[0].num, rounds->stoch.phase[i].select_rate[0].num);
        assert_int_equal(slots->stoch.phase[i].select_rate[0].den, rounds->stoch.phase[i].select_rate[0].den);
    }
    assert_true(slots->bound == rounds->bound && slots->guarantee.epsilon_choices <= 1);
    caucus_plan_free(slots);
    /* 64 losses a slot: less chance in what is learnt, as much noise; a decision is a sixteenth of a slot late. */
    slots = plan_of(questions());
    const double R = 1, n = 64, late = 1.0 / 16, gap[] = {.211776, .074874, .026472, .024762};
    double sum = R, before = R;
    for (uint32_t i = 0; i < 4; i++) {
        const caucus_stoch_phase *phase = &slots->stoch.phase[i];
        const double stat = sqrt(log(20) / (2 * 500 * n * (double)phase->samples));
        assert_true(fabs(phase->error - (stat + gap[i])) < 2e-6);
        sum += late * before + ((double)phase->length - late) * phase->error;
        before = phase->error;
    }
    const double all = n * sum + sqrt(1024 * n * log(20) / 1000);
    assert_true(fabs(slots->bound_uncapped - all) < 0.5); /* and rounding */
    assert_true(slots->bound_kind == CAUCUS_BOUND_EXPECTATION && slots->bound < 1024 * 64);
    caucus_plan_free(slots);
    caucus_plan_free(rounds);
}

/* Where questions end, by the devices' clock. */
static void test_questions(void **state) {
    (void)state;
    caucus_settings s = questions();
    s.start = 20000;
    assert_int_equal(caucus_pace_question_end(&s, 1), 20001);
    assert_int_equal(caucus_pace_question_end(&s, 4), 20512);
    assert_int_equal(caucus_pace_questions_over(&s, 20000), 0);
    assert_int_equal(caucus_pace_questions_over(&s, 20001), 1);
    assert_int_equal(caucus_pace_questions_over(&s, 20511), 3);
    assert_int_equal(caucus_pace_questions_over(&s, UINT64_MAX / 2), 4); /* there are no more */
    assert_int_equal(caucus_pace_decisions(&s, 8), 2);
    assert_true(!caucus_pace_over(&s, 21023) && caucus_pace_over(&s, 21024));
    const caucus_settings other = own(CAUCUS_UNIT_CLIENT_BLOCK);
    assert_int_equal(caucus_pace_decisions(&other, 8), 8);
    assert_false(caucus_pace_over(&other, UINT64_MAX));
}

static void test_unit_client_refusals(void **state) {
    (void)state;
    caucus_settings s = questions();
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    refuse(s, CAUCUS_E_INFEASIBLE, "rounds", "slots of phase-time");
    s = questions(), s.longest_phase = s.most;
    refuse(s, CAUCUS_E_INFEASIBLE, "longest-phase", "unit client");
    s = questions(), s.past_phases = true;
    refuse(s, CAUCUS_E_INFEASIBLE, "past-phases", "unit client");
    s = questions(), s.evaluate = 2;
    refuse(s, CAUCUS_E_INFEASIBLE, "evaluate", "pace");
    s = questions(), s.start = 0;
    refuse(s, CAUCUS_E_RANGE, "start", "2^40");
    s = own(CAUCUS_UNIT_CLIENT_BLOCK), s.start = 2;
    refuse(s, CAUCUS_E_INFEASIBLE, "start", "unit client");
    s = questions(), s.clients = 1, s.rounds = 1u << 30, s.most = 1u << 20; /* all losses of a device: 2^50 G */
    refuse(s, CAUCUS_E_OVERFLOW, "rounds", "2^62");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_phase_for_all), cmocka_unit_test(test_bound),
        cmocka_unit_test(test_bound_of_counts),   cmocka_unit_test(test_messages),
        cmocka_unit_test(test_refusals),          cmocka_unit_test(test_unit_client),
        cmocka_unit_test(test_questions),         cmocka_unit_test(test_unit_client_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
