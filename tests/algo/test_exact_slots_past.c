/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_slots_past.c: own pace with weights on earlier phases, exactly (docs/PRIVACY.md, statements 19
 * and 31).
 *
 * An item is counted in one decision, whose sums weigh in the decisions after it, too. The real coordinator is given
 * the items of two worlds that differ in one loss (event) or in one device's slot (client-block); what its selections
 * see is taken from it, decision by decision, until the record is forgotten, and their laws follow: all of them
 * together may differ by e^1 at most. Items of the others are at their extremes or level. Selections do not change what
 * is reported here, so the worst transcript is a sum over decisions. The twin has the rate at which one decision alone
 * costs 1. */
#include "dp/exact.h"

#include "algo/coordinator.h"
#include "plan/stoch.h"

#include <caucus/coordinator.h>

#define D 2
#define CLIENTS 3
#define DECISIONS 44 /* more than any plan has weights */
#define BEFORE 2     /* decisions before the record's */

static caucus_plan *past_plan(caucus_unit unit, bool past) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 1);
    s.unit = unit;
    s.pace = CAUCUS_PACE_OWN;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.clients = CLIENTS;
    s.grid = 1;
    s.changes = 0.01; /* what is best changes rarely, so that weights pay */
    s.past_phases = past;
    return exact_plan(&s);
}

/* What the selections of a run see: the items of all clients but the first lean by `lean`, and the first client's item
 * of decision BEFORE holds the record. */
static void play(const caucus_plan *plan, int lean, const int64_t *record, int64_t ret[DECISIONS][D]) {
    const int64_t most = plan->settings.unit == CAUCUS_UNIT_EVENT ? (int64_t)plan->settings.most : 1;
    const int64_t others[D] = {lean < 0 ? most : 0, lean > 0 ? most : 0};
    const int64_t rest[D] = {lean < 0 ? most - 1 : 0, lean > 0 ? most - 1 : 0}; /* with the record one loss more */
    caucus_coordinator *c = NULL;
    caucus_key key;
    caucus_key_from_seed(5, &key);
    assert_int_equal(caucus_coordinator_new(plan, &key, &c), CAUCUS_OK);
    for (uint64_t k = 0; k < DECISIONS; k++) {
        const int64_t first[D] = {rest[0] + record[0], rest[1] + record[1]};
        for (uint32_t i = 1; i <= CLIENTS; i++) {
            const caucus_report item = {.client = i,
                                        .kind = CAUCUS_ASK_LEAF,
                                        .first = k + 1,
                                        .block = k + 1,
                                        .count = D,
                                        .value = i == 1 && k == BEFORE ? first : others};
            assert_int_equal(caucus_coordinator_receive(c, &item), CAUCUS_OK);
        }
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        memcpy(ret[k], c->score, sizeof ret[k]);
    }
    caucus_coordinator_free(c);
}

/* The largest log-ratio of everything announced, with selections at this rate; and in how many the record weighs. */
static long double run_epsilon(const caucus_plan *plan, caucus_rational rate, uint32_t *ret_met) {
    static int64_t here[DECISIONS][D], there[DECISIONS][D];
    long double worst = 0;
    *ret_met = 0;
    for (int lean = -1; lean <= 1; lean++)
        for (uint32_t pair = 0; pair < 16; pair++) {
            const int64_t a[D] = {pair & 1, pair >> 1 & 1}, b[D] = {pair >> 2 & 1, pair >> 3 & 1};
            long double sum = 0;
            uint32_t met = 0;
            play(plan, lean, a, here);
            play(plan, lean, b, there);
            for (uint32_t k = 0; k < DECISIONS; k++) {
                long double p[D], q[D];
                exact_select_law(plan->stoch.select, here[k], D, rate, p);
                exact_select_law(plan->stoch.select, there[k], D, rate, q);
                sum += fmaxl(exact_ratio(p[0], q[0]), exact_ratio(p[1], q[1]));
                met += memcmp(here[k], there[k], sizeof here[k]) != 0;
            }
            exact_raise(&worst, sum);
            *ret_met = met > *ret_met ? met : *ret_met;
        }
    return worst;
}

static void test_weights_of_one_item(void **state) {
    (void)state;
    static const caucus_unit units[] = {CAUCUS_UNIT_EVENT, CAUCUS_UNIT_CLIENT_BLOCK};
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        caucus_plan *plan = past_plan(units[u], true), *alone = past_plan(units[u], false);
        const caucus_stoch_plan *stoch = &plan->stoch;
        const caucus_rational one = alone->stoch.phase[alone->stoch.described - 1].select_rate[0];
        uint32_t met;
        assert_true(stoch->past > 1 && BEFORE + stoch->past < DECISIONS);
        assert_int_equal(alone->stoch.past, 1);
        assert_true(plan->guarantee.epsilon_choices <= 1);
        exact_assert(units[u] == CAUCUS_UNIT_EVENT ? "one loss, in the weights of earlier phases"
                                                   : "one slot, in the weights of earlier phases",
                     run_epsilon(plan, stoch->phase[stoch->described - 1].select_rate[0], &met), 1, 0.9999L);
        assert_int_equal(met, stoch->past); /* in so many decisions, and then forgotten */
        const caucus_rational unpaid = caucus_rational_make(one.num, one.den * stoch->past_weights[0]);
        exact_assert_broken("  paid for as one decision", run_epsilon(plan, unpaid, &met), 1, 1.9L);
        caucus_plan_free(plan);
        caucus_plan_free(alone);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights_of_one_item)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
