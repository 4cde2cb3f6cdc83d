/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_stoch.c: the selections of Fed-DP-OPE-Stoch, exactly (docs/PRIVACY.md, statements 5 and 13).
 *
 * Every transcript of a phase with 0, 1 or 2 trees, every vertex in which a sample may sit, every pair of values it may
 * have, other samples at their extremes; rates and clamps from caucus_plan_new. Claim: the plan's epsilon. Controls:
 * the paper's noisy-min scale where gradients are not smooth (the accountant must say so, and the search must find it),
 * and samples used in two vertices. */
#include "algo/exact_stoch.h"
#include "plan/plan.h"

static caucus_plan *tree_plan(int trees, double smoothness, caucus_select select, caucus_calibration calibration,
                              double epsilon, uint32_t clients) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, epsilon);
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = smoothness;
    s.trees = trees;
    s.select = select;
    s.calibration = calibration;
    s.clients = clients;
    s.rounds = trees == 2 ? 32 : 8;
    return exact_plan(&s);
}

static void test_tree_plans(void **state) {
    (void)state;
    static const caucus_select selects[3] = {CAUCUS_SELECT_FLIP, CAUCUS_SELECT_EXPONENTIAL, CAUCUS_SELECT_NOISY_MIN};
    static const double smoothness[3] = {0.1, 0.5, 2};
    for (int trees = 0; trees <= 2; trees++) {
        for (size_t b = 0; b < 3; b++) {
            for (size_t s = 0; s < 3; s++) {
                caucus_plan *plan = tree_plan(trees, smoothness[b], selects[s], CAUCUS_CALIBRATION_TIGHT, 4, 2);
                exact_stoch world;
                exact_stoch_build(&world, plan, exact_stoch_phase(plan, (uint32_t)trees));
                char what[80];
                snprintf(what, sizeof what, "%d trees, smoothness %.1f, %s", trees, smoothness[b],
                         caucus_select_word(selects[s]));
                assert_true(plan->guarantee.epsilon_choices <= 4);
                exact_assert(what, exact_stoch_epsilon(&world), (long double)plan->guarantee.epsilon_choices,
                             selects[s] == CAUCUS_SELECT_FLIP ? 0.9L : 0.5L);
                exact_stoch_free(&world);
                caucus_plan_free(plan);
            }
        }
    }
}

/* The paper's scale is short where gradients may change a lot between vertices (smoothness above lipschitz/2). */
static void test_control_paper_scale_at_right_vertex(void **state) {
    (void)state;
    caucus_plan *plan = tree_plan(1, 2, CAUCUS_SELECT_NOISY_MIN, CAUCUS_CALIBRATION_PAPER, 8, 4);
    exact_stoch world;
    exact_stoch_build(&world, plan, exact_stoch_phase(plan, 1));
    long double measured = exact_stoch_epsilon(&world);
    exact_assert("paper's scale, against what the accountant says", measured,
                 (long double)plan->guarantee.epsilon_choices, 0.5L);
    exact_assert_broken("paper's scale, against what the paper says", measured, 8, 1.3L);
    exact_stoch_free(&world);
    caucus_plan_free(plan);
}

/* A sample drawn for two vertices ("uniformly select" per vertex from the whole phase) pays twice. */
static void test_control_sample_in_two_vertices(void **state) {
    (void)state;
    caucus_plan *plan = tree_plan(2, 0.5, CAUCUS_SELECT_FLIP, CAUCUS_CALIBRATION_TIGHT, 4, 2);
    exact_stoch world;
    exact_stoch_build(&world, plan, exact_stoch_phase(plan, 2));
    long double worst = 0;
    for (uint32_t v = 0; v < world.leaves; v++) {
        for (uint32_t w = 0; w < v; w++) {
            for (uint32_t signs = 0; signs < 4; signs++) {
                int64_t here[STOCH_LEAVES_MAX], there[STOCH_LEAVES_MAX];
                long double a[1 << STOCH_LEAVES_MAX], b[1 << STOCH_LEAVES_MAX];
                for (uint32_t k = 0; k < world.leaves; k++) {
                    here[k] = there[k] = world.leaf[k].depth == 0 ? world.others[k] : 0;
                }
                int64_t dv = signs & 1 ? world.sample[v] : -world.sample[v],
                        dw = signs & 2 ? world.sample[w] : -world.sample[w];
                here[v] += dv;
                here[w] += dw;
                there[v] -= dv;
                there[w] -= dw;
                exact_stoch_law(&world, here, a);
                exact_stoch_law(&world, there, b);
                stoch_visit_ratio(&world, a, b, &worst);
            }
        }
    }
    exact_assert_broken("a sample used in two vertices", worst, (long double)plan->guarantee.epsilon_choices, 1.8L);
    exact_stoch_free(&world);
    caucus_plan_free(plan);
}

/* Linear losses over several phases: all gaps of all phase sums, a sample replaced in any phase. With past phases a
 * sample enters every later score, weighted by age. */
static long double linear_epsilon(const caucus_plan *plan) {
    const caucus_stoch_plan *stoch = &plan->stoch;
    int64_t grid = plan->grid;
    long double worst = 0;
    assert_int_equal(stoch->phases, 4);
    int64_t span[3], g[3];
    for (uint32_t p = 0; p < 3; p++) {
        assert_int_equal(stoch->phase[p].trees, 0);
        span[p] = grid * (plan->settings.unit == CAUCUS_UNIT_CLIENT_BLOCK ? 1 : (int64_t)stoch->phase[p].samples) *
                  plan->settings.clients;
    }
    for (g[0] = -span[0]; g[0] <= span[0]; g[0]++) {
        for (g[1] = -span[1]; g[1] <= span[1]; g[1]++) {
            for (g[2] = -span[2]; g[2] <= span[2]; g[2]++) {
                for (uint32_t star = 0; star < 3; star++) {
                    for (int64_t move = 1; move <= 2 * grid && g[star] + move <= span[star]; move++) {
                        long double total =
                            0; /* selections are independent given the data: the worst transcript is the sum */
                        for (uint32_t p = 0; p < 3; p++) {
                            int64_t gap = 0, moved = 0;
                            for (uint32_t age = 0; age <= p && age < stoch->past; age++) {
                                int64_t weight = (int64_t)stoch->past_weights[age];
                                gap += weight * g[p - age];
                                moved += weight * (g[p - age] + (p - age == star ? move : 0));
                            }
                            const int64_t here[2] = {0, gap}, there[2] = {0, moved};
                            long double a[2], b[2];
                            if (gap == moved) {
                                continue;
                            }
                            exact_select_law(stoch->select, here, 2, stoch->phase[p].select_rate[0], a);
                            exact_select_law(stoch->select, there, 2, stoch->phase[p].select_rate[0], b);
                            total += fmaxl(exact_ratio(a[0], b[0]), exact_ratio(a[1], b[1]));
                        }
                        exact_raise(&worst, total);
                    }
                }
            }
        }
    }
    return worst;
}

static void test_linear_plans(void **state) {
    (void)state;
    static const struct {
        caucus_algorithm algorithm;
        caucus_select select;
        caucus_unit unit;
        bool past;
        long double power;
    } asked[] = {
        {CAUCUS_ALGORITHM_LIMITED_UPDATES, CAUCUS_SELECT_FLIP, CAUCUS_UNIT_EVENT, false, 0.95L},
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_SELECT_EXPONENTIAL, CAUCUS_UNIT_EVENT, false, 0.95L},
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_SELECT_FLIP, CAUCUS_UNIT_CLIENT_BLOCK, false, 0.4L},
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_SELECT_FLIP, CAUCUS_UNIT_EVENT, true, 0.8L},
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_SELECT_NOISY_MIN, CAUCUS_UNIT_EVENT, true, 0.5L},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        caucus_settings s;
        exact_settings(&s, asked[i].algorithm, CAUCUS_TRUST_COORDINATOR, 6);
        s.rounds = 8;
        s.select = asked[i].select;
        s.unit = asked[i].unit;
        s.past_phases = asked[i].past;
        caucus_plan *plan = exact_plan(&s);
        char what[100];
        snprintf(what, sizeof what, "%s, linear, %s, %s, %u in a score", caucus_algorithm_word(s.algorithm),
                 caucus_select_word(s.select), caucus_unit_word(s.unit), plan->stoch.past);
        assert_true(plan->guarantee.epsilon_choices <= 6);
        exact_assert(what, linear_epsilon(plan), (long double)plan->guarantee.epsilon_choices, asked[i].power);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_plans),
        cmocka_unit_test(test_control_paper_scale_at_right_vertex),
        cmocka_unit_test(test_control_sample_in_two_vertices),
        cmocka_unit_test(test_linear_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
