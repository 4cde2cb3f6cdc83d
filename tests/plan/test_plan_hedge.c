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

/* Auto is the interval whose plan has the smallest bound, found here by making every plan. */
static void best_interval(void **state) {
    (void)state;
    static const struct {
        uint32_t clients;
        uint64_t rounds;
        double epsilon, delta;
    } cases[] = {{10, 600, 1, 0},   {10, 512, 1, 1e-6}, {1, 100, 0.1, 0},
                 {1000, 300, 1, 0}, {3, 2, 0.5, 0},     {2, 1, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        caucus_settings s = hedge();
        s.clients = cases[i].clients;
        s.rounds = cases[i].rounds;
        s.epsilon = cases[i].epsilon;
        s.delta = cases[i].delta;
        s.interval = CAUCUS_INTERVAL_AUTO;
        caucus_plan *chosen = plan_made(&s);
        assert_true(chosen->settings.interval >= 1 && chosen->settings.interval <= s.rounds);
        for (s.interval = 1; s.interval <= s.rounds; s.interval++) {
            caucus_plan *other = plan_made(&s);
            /* e_H is rounded down to a fraction, by up to 2^-30. */
            if (!(chosen->bound_uncapped <= other->bound_uncapped * (1 + 1e-8)))
                fail_msg("%zu: %llu has %.9g, %llu has %.9g", i, (unsigned long long)chosen->settings.interval,
                         chosen->bound_uncapped, (unsigned long long)s.interval, other->bound_uncapped);
            if (s.interval == chosen->settings.interval)
                assert_memory_equal(caucus_plan_hash(chosen), caucus_plan_hash(other), CAUCUS_PLAN_HASH_BYTES);
            caucus_plan_free(other);
        }
        caucus_plan_free(chosen);
    }
    /* Golden: near (16 T ln d/(m epsilon)^2)^(1/3) = 14.45 where the budget binds; and a run too long to try each. */
    caucus_settings s = hedge();
    s.rounds = 4096;
    s.interval = CAUCUS_INTERVAL_AUTO;
    caucus_plan *plan = plan_made(&s);
    assert_int_equal(plan->settings.interval, 14);
    caucus_plan_free(plan);
    s.rounds = 1u << 30;
    s.epsilon = 0.01;
    plan = plan_made(&s);
    near((double)plan->settings.interval / cbrt(16 * ldexp(1, 30) * log(100) / 0.01), 1, 2e-3);
    caucus_plan_free(plan);
    s.algorithm = CAUCUS_ALGORITHM_LEADER; /* has no bound */
    plan = plan_made(&s);
    assert_int_equal(plan->settings.interval, 1);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_for_many_clients), cmocka_unit_test(pure),
                                       cmocka_unit_test(no_privacy), cmocka_unit_test(too_small),
                                       cmocka_unit_test(best_interval)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
