/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_nominal.c: svt without an end that does not renew itself: calibration for its nominal rounds, accountant,
 * bound, refusals. docs/PRIVACY.md, "Thresholds that grow". */
#include "plan/plan_testing.h"

#include "plan/family.h"

static caucus_settings base(double epsilon, uint64_t nominal) {
    caucus_settings s = plan_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    s.epsilon = epsilon;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.nominal_rounds = nominal;
    return s;
}

/* m 10, N 1, d 100, rho .05: computed apart from this program. */
static void values(void **state) {
    (void)state;
    static const struct {
        double epsilon;
        uint64_t nominal;
        double g;
        uint32_t kappa;
        double at, eta, threshold, bound;
    } want[] = {{10, 511, 5, 10, 3.93884, .60612, 11.8887, 25.971},
                {10, 4096, 5, 10, 4.08108, .59189, 12.6107, 26.699},
                {1, 4096, 3, 12, .44917, .04590, 103.182, 167.243}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const caucus_settings s = base(want[i].epsilon, want[i].nominal);
        caucus_plan *plan = plan_made(&s);
        const caucus_svt_plan *svt = &plan->svt;
        assert_int_equal(svt->switches, want[i].kappa);
        near(svt->margin, want[i].g, 0);
        near(svt->epsilon_threshold, want[i].at, 1e-5);
        near(2 * 0x1p20 * caucus_rational_double(svt->select_rate[0]), want[i].eta, 1e-5);
        near((double)caucus_svt_threshold(plan, 0, want[i].nominal) / 0x1p20, want[i].threshold, 1e-3);
        assert_true(caucus_svt_threshold(plan, 0, 1) == svt->threshold[0]);
        assert_true(caucus_svt_threshold(plan, 0, want[i].nominal + 1) > caucus_svt_threshold(plan, 0, 2));
        near(plan->bound_uncapped, want[i].bound + (double)want[i].nominal / 0x1p20, 1e-3);
        assert_true(plan->guarantee.epsilon_choices <= want[i].epsilon);
        near(plan->guarantee.epsilon_choices, want[i].epsilon, 1e-6);
        assert_int_equal(caucus_plan_selections(plan), want[i].kappa); /* however long it goes on */
        assert_true(caucus_plan_is_endless(plan) && isinf(caucus_plan_epsilon_device(plan)));
        assert_true(svt->checks == (((uint64_t)1 << 62) - 1) / (10u << 20));
        caucus_plan_free(plan);
    }
}

/* The accountant knows how many blocks there is room for, and reads rates where they stand. */
static void accounts(void **state) {
    (void)state;
    const caucus_settings s = base(1, 4096);
    caucus_plan *plan = plan_made(&s);
    caucus_guarantee g;
    plan->svt.checks++;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    plan->svt.checks--;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_OK);
    plan->svt.check_noise.parameter.num *= 2;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    caucus_plan_free(plan);
}

/* Means move a sum by the grid a block; sums by the grid a round. */
static void room(void **state) {
    (void)state;
    caucus_settings s = base(1, 4096);
    s.interval = 16;
    caucus_plan *sums = plan_made(&s);
    assert_true(sums->svt.checks == (((uint64_t)1 << 62) - 1) / (160u << 20));
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    caucus_plan *means = plan_made(&s);
    assert_true(means->svt.checks == (((uint64_t)1 << 62) - 1) / (10u << 20));
    caucus_plan_free(sums);
    caucus_plan_free(means);
    s.clients = 1u << 24; /* the nominal rounds must have room, if on the coarse grid */
    s.nominal_rounds = 1u << 21;
    caucus_plan *coarse = plan_made(&s);
    assert_int_equal(coarse->grid, 1 << 16);
    caucus_plan_free(coarse);
    s.nominal_rounds = 1u << 22;
    plan_refused(&s, CAUCUS_E_OVERFLOW, "rounds");
}

static void refusals(void **state) {
    (void)state;
    caucus_settings s = base(1, 4096);
    s.interval = 8192;
    plan_refused(&s, CAUCUS_E_RANGE, "nominal-rounds");
    s.nominal_rounds = ((uint64_t)1 << 30) + 1;
    plan_refused(&s, CAUCUS_E_RANGE, "nominal-rounds");
    s = base(1, 100);
    s.rounds = 1000; /* its length is known */
    plan_refused(&s, CAUCUS_E_INFEASIBLE, "nominal-rounds");
    s = base(1, 100);
    s.renew = 100; /* what a cycle needs is known, too */
    plan_refused(&s, CAUCUS_E_INFEASIBLE, "nominal-rounds");
    s = base(1, 100);
    s.algorithm = CAUCUS_ALGORITHM_HEDGE;
    plan_refused(&s, CAUCUS_E_INFEASIBLE, "nominal-rounds");
    s.nominal_rounds = CAUCUS_NOMINAL_ROUNDS;
    plan_refused(&s, CAUCUS_E_INFEASIBLE, "rounds");
    for (int k = 0; k < 3; k++) {
        s = base(1, 100);
        if (k == 0)
            s.front_load = true;
        else if (k == 1)
            s.calibration = CAUCUS_CALIBRATION_PAPER;
        else
            s.protocol = CAUCUS_PROTOCOL_PAPER;
        plan_refused(&s, CAUCUS_E_INFEASIBLE, "rounds");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(accounts), cmocka_unit_test(room),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
