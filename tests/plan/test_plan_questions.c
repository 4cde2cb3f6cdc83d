/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan is asked by name: the same as its parts say, for every family; and the rates of the selections it
 * makes. */
#include "plan/plan_testing.h"

#include "plan/ledger.h"
#include "plan/plan.h"

static void parts(void **state) {
    (void)state;
    static const caucus_algorithm algorithms[] = {CAUCUS_ALGORITHM_SVT, CAUCUS_ALGORITHM_STOCH, CAUCUS_ALGORITHM_HEDGE,
                                                  CAUCUS_ALGORITHM_LEADER, CAUCUS_ALGORITHM_SPARSE_VECTOR};
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
        caucus_settings s = plan_settings(algorithms[i], CAUCUS_TRUST_COORDINATOR);
        s.clients = 7;
        s.experts = 12;
        s.rounds = 300;
        s.delta = algorithms[i] == CAUCUS_ALGORITHM_LEADER ? 0 : 1e-6;
        caucus_plan *plan = plan_made(&s);
        assert_ptr_equal(caucus_plan_settings(plan), &plan->settings);
        assert_int_equal(caucus_plan_clients(plan), algorithms[i] == CAUCUS_ALGORITHM_SPARSE_VECTOR ? 1 : 7);
        assert_int_equal(caucus_plan_experts(plan), 12);
        assert_int_equal(caucus_plan_rounds(plan), 300);
        assert_int_equal(caucus_plan_grid(plan), plan->grid);
        assert_int_equal(caucus_plan_blocks(plan), algorithms[i] == CAUCUS_ALGORITHM_STOCH ? 9 : 300);
        assert_true(caucus_plan_epsilon_choices(plan) == plan->guarantee.epsilon_choices);
        assert_true(isnan(caucus_plan_epsilon_messages(plan)));
        assert_true(caucus_plan_delta(plan) == plan->guarantee.delta);
        assert_true(caucus_plan_rho_zcdp(plan) == plan->guarantee.rho_zcdp);
        assert_string_equal(caucus_plan_note(plan), plan->guarantee.note);
        assert_true(strlen(caucus_plan_note(plan)) > 20);
        assert_int_equal(caucus_plan_bound_kind(plan), plan->bound_kind);
        assert_true(caucus_plan_bound(plan) == plan->bound);
        assert_true(caucus_plan_bound_uncapped(plan) == plan->bound_uncapped);
        caucus_plan_free(plan);
    }
}

static bool same(caucus_rational a, caucus_rational b) {
    return a.num == b.num && a.den == b.den;
}

static void rates(void **state) {
    (void)state;
    caucus_rational rate;
    caucus_settings s = plan_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    s.front_load = true;
    caucus_plan *plan = plan_made(&s);
    assert_int_equal(caucus_plan_selections(plan), plan->svt.switches);
    for (uint32_t k = 0; k < plan->svt.switches; k++) {
        assert_int_equal(caucus_plan_select_rate(plan, k, &rate), CAUCUS_OK);
        assert_true(same(rate, plan->svt.select_rate[k]));
    }
    assert_int_equal(caucus_plan_select_rate(plan, plan->svt.switches, &rate), CAUCUS_E_RANGE);
    caucus_plan_free(plan);

    /* Trees: two phases of one selection, then 2 + 4 of trees 1 and 2 in each phase that is long enough. */
    s = plan_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    s.rounds = 511;
    s.trees = 2;
    plan = plan_made(&s);
    uint64_t number = 0;
    for (uint64_t i = 0; i + 1 < plan->stoch.phases; i++) {
        const caucus_stoch_phase *phase = &plan->stoch.phase[i];
        for (uint32_t tree = phase->trees ? 1 : 0; tree <= phase->trees; tree++)
            for (uint32_t leaf = 0; leaf < 1u << tree; leaf++, number++) {
                assert_int_equal(caucus_plan_select_rate(plan, number, &rate), CAUCUS_OK);
                assert_true(same(rate, phase->select_rate[tree]));
            }
    }
    assert_int_equal(caucus_plan_selections(plan), number);
    assert_int_equal(caucus_plan_select_rate(plan, number, &rate), CAUCUS_E_RANGE);
    caucus_plan_free(plan);

    s.trees = CAUCUS_TREES_AUTO; /* the clients' noise decides */
    s.trust = CAUCUS_TRUST_NOBODY;
    plan = plan_made(&s);
    assert_int_equal(caucus_plan_select_rate(plan, 0, &rate), CAUCUS_E_RANGE);
    assert_true(caucus_plan_epsilon_messages(plan) > 0);
    caucus_plan_free(plan);

    s = plan_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
    plan = plan_made(&s);
    assert_int_equal(caucus_plan_select_rate(plan, 510, &rate), CAUCUS_OK);
    assert_true(same(rate, plan->hedge.rate));
    assert_int_equal(caucus_plan_select_rate(plan, 511, &rate), CAUCUS_E_RANGE);
    caucus_plan_free(plan);

    s.algorithm = CAUCUS_ALGORITHM_LEADER;
    plan = plan_made(&s);
    assert_int_equal(caucus_plan_select_rate(plan, 0, &rate), CAUCUS_E_RANGE);
    caucus_plan_free(plan);
}

/* The totals of a ledger are filled in for a caller whose struct is known, and for no other. */
static void totals(void **state) {
    (void)state;
    caucus_ledger *ledger = NULL;
    caucus_ledger_totals t;
    assert_int_equal(caucus_ledger_new(2, 0, &ledger, NULL), CAUCUS_OK);
    caucus_ledger_totals_init(&t);
    assert_int_equal(t.size, sizeof t);
    assert_int_equal(caucus_ledger_total(ledger, &t), CAUCUS_OK);
    assert_true(t.budget_epsilon == 2 && t.left_epsilon == 2 && t.size == sizeof t);
    t.size = sizeof t + 8;
    t.budget_epsilon = 77;
    assert_int_equal(caucus_ledger_total(ledger, &t), CAUCUS_E_RANGE);
    assert_true(t.budget_epsilon == 77);
    caucus_ledger_free(ledger);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts), cmocka_unit_test(rates), cmocka_unit_test(totals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
