/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_renew.c: svt and hedge that begin again every R rounds: calibration for one cycle, accountant, bounds,
 * refusals. docs/PRIVACY.md, "Renewal". */
#include "plan/plan_testing.h"

#include "plan/plan.h"

static caucus_settings base(caucus_algorithm algorithm, double epsilon) {
    caucus_settings s = plan_settings(algorithm, CAUCUS_TRUST_COORDINATOR);
    s.epsilon = epsilon;
    s.rounds = 2000;
    s.renew = 512;
    return s;
}

/* A carried cycle of 512 rounds, m 10, d 100, rho .05: computed apart from this program. */
static void svt_values(void **state) {
    (void)state;
    static const struct {
        double epsilon, g;
        uint32_t kappa;
        double at, eta, threshold, bound;
    } want[] = {{10, 5, 11, 3.55899, .58555, 11.3278, 27.909}, {1, 3, 13, .39729, .04636, 89.6903, 164.308}};
    for (size_t i = 0; i < 2; i++) {
        caucus_settings s = base(CAUCUS_ALGORITHM_SVT, want[i].epsilon);
        caucus_plan *plan = plan_made(&s);
        const caucus_svt_plan *svt = &plan->svt;
        assert_int_equal(svt->checks, 511);
        assert_int_equal(svt->blocks, 2000);
        assert_int_equal(svt->switches, want[i].kappa);
        near(svt->margin, want[i].g, 0);
        near(svt->epsilon_threshold, want[i].at, 1e-5);
        near(2 * 0x1p20 * caucus_rational_double(svt->select_rate[0]), want[i].eta, 1e-5);
        near((double)svt->threshold[0] / 0x1p20, want[i].threshold, 1e-4);
        near(plan->bound_uncapped, want[i].bound, 2e-3);
        assert_true(plan->guarantee.epsilon_choices <= want[i].epsilon);
        near(plan->guarantee.epsilon_choices, want[i].epsilon, 1e-6);
        assert_int_equal(caucus_plan_selections(plan), 4 * want[i].kappa); /* 512, 512, 512 and 464 rounds */
        near(caucus_plan_epsilon_device(plan), 4 * 511 * want[i].epsilon, 0.1);
        caucus_plan_free(plan);
        s.renew = 2000; /* one cycle: nothing is carried over, and the plan is that of the whole run */
        plan = plan_made(&s);
        s.renew = 0;
        caucus_plan *whole = plan_made(&s);
        assert_int_equal(plan->svt.switches, whole->svt.switches);
        assert_int_equal(plan->svt.threshold[0], whole->svt.threshold[0]);
        caucus_plan_free(plan);
        caucus_plan_free(whole);
    }
}

/* The largest expected regret of a cycle of two blocks with two experts that begins with expert 0, over all losses. */
static double worst_carried(double e) {
    double worst = 0;
    for (unsigned bits = 0; bits < 16; bits++) {
        const double a[2] = {bits & 1, bits >> 1 & 1}, b[2] = {bits >> 2 & 1, bits >> 3 & 1};
        const double p = 1 / (1 + exp(-e * (a[1] - a[0]))); /* of expert 0 in the second block */
        worst = fmax(worst, a[0] + p * b[0] + (1 - p) * b[1] - fmin(a[0] + b[0], a[1] + b[1]));
    }
    return worst;
}

static void hedge_values(void **state) {
    (void)state;
    caucus_settings s = base(CAUCUS_ALGORITHM_HEDGE, 1);
    s.interval = 4;
    caucus_plan *plan = plan_made(&s);
    assert_int_equal(plan->hedge.blocks, 500);
    assert_int_equal(caucus_plan_selections(plan), 500 - 4);
    near(plan->hedge.learning_rate, 10 * 1.0 / (2 * 127), 1e-6); /* m epsilon/(2 draws of a cycle) */
    near(plan->guarantee.epsilon_choices, 1, 1e-6);
    const double e = plan->hedge.learning_rate;
    const double want = 3 * (log(100) / e + e * 512 * 4 / 8 + 4 * 0.99) + log(100) / e + e * 464 * 4 / 8;
    near(plan->bound_uncapped, want, 0.01);
    caucus_guarantee g;
    plan->hedge.rate.num *= 2;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    caucus_plan_free(plan);

    s = base(CAUCUS_ALGORITHM_HEDGE, INFINITY);
    s.experts = 2;
    s.rounds = 4;
    s.renew = 2;
    plan = plan_made(&s);
    near(worst_carried(plan->hedge.learning_rate), 1.1591, 1e-4);
    const double fresh = log(2) / plan->hedge.learning_rate + plan->hedge.learning_rate * 2 / 8;
    near(fresh, 0.8326, 1e-4); /* what would be printed if the carried expert were forgotten */
    near(plan->bound_uncapped, 2 * fresh + 0.5, 1e-5);
    assert_true(fresh + 0.5 >= worst_carried(plan->hedge.learning_rate));
    caucus_plan_free(plan);
}

static void accounts(void **state) {
    (void)state;
    caucus_settings s = base(CAUCUS_ALGORITHM_SVT, 1);
    caucus_plan *plan = plan_made(&s);
    caucus_guarantee g;
    plan->settings.renew = 256; /* fewer checks than the plan was made for */
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    plan->settings.renew = 512;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_OK);
    plan->svt.select_rate[12].num *= 2;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    caucus_plan_free(plan);
    s = base(CAUCUS_ALGORITHM_SVT, 10); /* sums span a cycle */
    s.rounds = 1 << 30;
    s.clients = 1 << 20;
    s.grid = 1 << 20;
    plan = plan_made(&s);
    caucus_plan_free(plan);
    s.renew = 0;
    plan_refused(&s, CAUCUS_E_OVERFLOW, "rounds");
}

static double link_bound(caucus_settings s, uint64_t interval) {
    s.rounds = CAUCUS_ROUNDS_ENDLESS; /* then a plan's bound is that of a cycle */
    s.interval = interval;
    caucus_plan *plan = plan_made(&s);
    const double bound = plan->bound_uncapped;
    caucus_plan_free(plan);
    return bound;
}

/* Interval auto of a run that renews itself: of a cycle's divisors with two blocks or more none has a smaller bound. */
static void best_divisor(void **state) {
    (void)state;
    static const uint64_t rounds[] = {1000, CAUCUS_ROUNDS_ENDLESS}, renew[] = {2, 97, 360, 500};
    for (size_t i = 0; i < 8; i++) {
        caucus_settings s = base(CAUCUS_ALGORITHM_HEDGE, i < 4 ? 1 : 0.2);
        s.rounds = rounds[i % 2];
        s.renew = renew[i / 2];
        s.interval = CAUCUS_INTERVAL_AUTO;
        caucus_plan *chosen = plan_made(&s);
        const uint64_t taken = chosen->settings.interval;
        caucus_plan_free(chosen);
        assert_true(s.renew % taken == 0 && s.renew / taken >= 2);
        const double least = link_bound(s, taken);
        for (uint64_t interval = 1; interval <= s.renew / 2; interval++)
            if (s.renew % interval == 0)
                assert_true(least <= link_bound(s, interval) * (1 + 1e-8));
    }
}

static void refusals(void **state) {
    (void)state;
    caucus_settings s = base(CAUCUS_ALGORITHM_STOCH, 1);
    plan_refused(&s, CAUCUS_E_INFEASIBLE, "renew");
    s = base(CAUCUS_ALGORITHM_SVT, 1), s.front_load = true;
    plan_refused(&s, CAUCUS_E_INFEASIBLE, "renew");
    s = base(CAUCUS_ALGORITHM_SVT, 1), s.calibration = CAUCUS_CALIBRATION_PAPER;
    plan_refused(&s, CAUCUS_E_INFEASIBLE, "renew");
    s = base(CAUCUS_ALGORITHM_SVT, 1), s.protocol = CAUCUS_PROTOCOL_PAPER;
    plan_refused(&s, CAUCUS_E_INFEASIBLE, "renew");
    s = base(CAUCUS_ALGORITHM_SVT, 1), s.interval = 5;
    plan_refused(&s, CAUCUS_E_RANGE, "renew");
    s = base(CAUCUS_ALGORITHM_HEDGE, 1), s.interval = CAUCUS_INTERVAL_AUTO, s.renew = 1;
    plan_refused(&s, CAUCUS_E_RANGE, "renew");
    s = base(CAUCUS_ALGORITHM_HEDGE, 1), s.interval = 512;
    plan_refused(&s, CAUCUS_E_RANGE, "renew");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(svt_values), cmocka_unit_test(hedge_values),
                                       cmocka_unit_test(accounts), cmocka_unit_test(best_divisor),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
