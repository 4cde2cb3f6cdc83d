/* SPDX-License-Identifier: Apache-2.0 */
/* Fed-Hedge and leader plans. */
#include "plan/plan.h"
#include "plan/plan_testing.h"

static caucus_settings hedge(void) {
    return plan_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
}

static void free_for_many_clients(void **state) {
    (void)state;
    caucus_settings s = hedge();
    s.delta = 1e-6;
    s.clients = 28; /* m*N >= 28: the best learning rate fits the budget */
    caucus_plan *plan = plan_made(&s);
    near(plan->hedge.learning_rate, sqrt(8 * log(100) / 512), 1e-6);
    near(plan->bound, sqrt(512 * log(100) / 2), 1e-3);
    assert_int_equal(plan->bound_kind, CAUCUS_BOUND_EXPECTATION);
    assert_true(plan->guarantee.epsilon_choices <= 1 && plan->guarantee.epsilon_choices > 0.9);
    near(plan->guarantee.rho_zcdp, 511 * pow(plan->hedge.learning_rate, 2) / (2 * 28 * 28.), 1e-6);
    caucus_plan_free(plan);
    s.clients = 10;
    plan = plan_made(&s);
    near(plan->hedge.learning_rate, 10 * sqrt(2 * 0.024356 / 511), 1e-5);
    near(plan->guarantee.epsilon_choices, 1, 1e-6);
    caucus_plan_free(plan);
}

static void pure(void **state) {
    (void)state;
    caucus_settings s = hedge();
    s.interval = 3;
    caucus_plan *plan = plan_made(&s);
    assert_int_equal(plan->hedge.blocks, 171);
    near(plan->hedge.learning_rate, 10 * 1.0 / (2 * 170), 1e-8); /* the first draw sees no data */
    const double e = plan->hedge.learning_rate;
    near(plan->bound_uncapped, log(100) / e + e * (170 * 9 + 4) / 8, 1e-2);
    near(plan->guarantee.epsilon_choices, 1, 1e-6);
    assert_true(plan->guarantee.delta == 0);
    caucus_plan_free(plan);
}

static void no_privacy(void **state) {
    (void)state;
    caucus_settings s = hedge();
    s.epsilon = INFINITY;
    caucus_plan *plan = plan_made(&s);
    assert_true(isinf(plan->guarantee.epsilon_choices));
    near(plan->hedge.learning_rate, sqrt(8 * log(100) / 512), 1e-6);
    assert_non_null(strstr(plan->guarantee.note, "No privacy"));
    caucus_plan_free(plan);
    s.algorithm = CAUCUS_ALGORITHM_LEADER;
    plan = plan_made(&s);
    assert_true(isinf(plan->guarantee.epsilon_choices) && plan->bound_kind == CAUCUS_BOUND_NONE);
    caucus_plan_free(plan);
    s = hedge();
    s.interval = 1000; /* one block: the draw sees nothing */
    plan = plan_made(&s);
    assert_true(plan->guarantee.epsilon_choices == 0);
    caucus_plan_free(plan);
}

static void too_small(void **state) {
    (void)state;
    caucus_settings s = hedge();
    s.epsilon = 1e-12;
    plan_refused(&s, CAUCUS_E_INFEASIBLE, "epsilon");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_for_many_clients), cmocka_unit_test(pure),
                                       cmocka_unit_test(no_privacy), cmocka_unit_test(too_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
