/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_hedge.c: Fed-Hedge, exactly (docs/PRIVACY.md, statement 23).
 *
 * One draw after every block but the last, P(y) ~ exp(-rate*cum(y)), so a loss is seen by every draw from its block on.
 * Draws are independent given the losses: a transcript's log-ratio is a sum over draws. All sequences of block gaps of
 * two experts, all neighbours, all transcripts; the rate is the plan's. A run of the coordinator is compared with the
 * law. */
#include "dp/exact.h"
#include "dp/laws.h"
#include "plan/plan.h"

#include <caucus/coordinator.h>

#define DRAWS 4

static caucus_plan *hedge_plan(uint32_t clients, uint32_t interval, double epsilon, double delta) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, epsilon);
    s.clients = clients;
    s.interval = interval;
    s.rounds = (DRAWS + 1) * interval;
    s.delta = delta;
    return exact_plan(&s);
}

/* ln P of all transcripts, bit i of a transcript's number being the expert drawn after block i. */
static void hedge_law(caucus_rational rate, const int64_t *gap, long double *ret) {
    int64_t cum[2] = {0, 0};
    ret[0] = 0;
    for (uint32_t i = 0, half = 1; i < DRAWS; i++, half *= 2) {
        long double law[2];
        cum[1] += gap[i];
        caucus_select_exponential_law(cum, 2, rate, law);
        for (uint32_t t = 0; t < half; t++) {
            ret[t + half] = ret[t] + logl(law[1]);
            ret[t] += logl(law[0]);
        }
    }
}

/* Largest log-ratio and largest exact delta at epsilon over all gap sequences with |gap| <= span that differ in one
 * block by at most 2*grid. */
static void search(const caucus_plan *plan, long double *ret_epsilon, long double *ret_delta) {
    int64_t span = (int64_t)(plan->settings.clients * plan->settings.interval) * plan->grid, width = 2 * span + 1,
            count = 1;
    long double at = (long double)plan->guarantee.epsilon_choices;
    for (int i = 0; i < DRAWS; i++) {
        count *= width;
    }
    *ret_epsilon = *ret_delta = 0;
    for (int64_t s = 0; s < count; s++) {
        int64_t gap[DRAWS];
        long double a[1 << DRAWS], b[1 << DRAWS];
        for (int64_t i = 0, rest = s; i < DRAWS; i++, rest /= width) {
            gap[i] = rest % width - span;
        }
        hedge_law(plan->hedge.rate, gap, a);
        for (uint32_t star = 0; star < DRAWS; star++) {
            for (int64_t move = 1; move <= 2 * plan->grid && gap[star] + move <= span; move++) {
                long double there = 0, back = 0;
                gap[star] += move;
                hedge_law(plan->hedge.rate, gap, b);
                gap[star] -= move;
                for (uint32_t t = 0; t < 1 << DRAWS; t++) {
                    exact_raise(ret_epsilon, fabsl(a[t] - b[t]));
                    there += a[t] > at + b[t] ? expl(a[t]) - expl(at + b[t]) : 0;
                    back += b[t] > at + a[t] ? expl(b[t]) - expl(at + a[t]) : 0;
                }
                exact_raise(ret_delta, fmaxl(there, back));
            }
        }
    }
}

static void test_plans(void **state) {
    (void)state;
    static const struct {
        uint32_t clients, interval;
        double epsilon, delta;
    } asked[] = {{1, 1, 2, 0}, {1, 1, 8, 0}, {1, 2, 4, 0}, {2, 1, 4, 0}, {1, 1, 0.5, 0.05}, {2, 1, 0.2, 0.09}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        caucus_plan *plan = hedge_plan(asked[i].clients, asked[i].interval, asked[i].epsilon, asked[i].delta);
        long double epsilon, delta;
        search(plan, &epsilon, &delta);
        char what[80];
        snprintf(what, sizeof what, "hedge, m=%u N=%u epsilon %.1f", asked[i].clients, asked[i].interval,
                 asked[i].epsilon);
        assert_true(plan->guarantee.epsilon_choices <= asked[i].epsilon);
        assert_true(plan->guarantee.delta <= asked[i].delta);
        if (plan->guarantee.delta > 0) {
            printf("  %-58s delta %.3Le of %.3e\n", what, delta, plan->guarantee.delta);
            assert_true(delta <= (long double)plan->guarantee.delta);
            assert_true(delta > 0); /* it is not purely private at this epsilon: delta is really used */
        } else {
            exact_assert(what, epsilon, (long double)plan->guarantee.epsilon_choices, 0.5L);
        }
        caucus_plan_free(plan);
    }
}

/* n = 2e5 runs of the coordinator, false-alarm rate 1e-6, seed fixed. */
static void test_coordinator_follows_the_law(void **state) {
    (void)state;
    const uint64_t seed = 7400, n = 200000;
    const int64_t loss[DRAWS][2] = {{0, 2}, {1, 0}, {2, 0}, {1, 2}};
    int64_t gap[DRAWS];
    uint64_t count[1 << DRAWS] = {0};
    long double law[1 << DRAWS];
    caucus_plan *plan = hedge_plan(1, 1, 4, 0);
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    for (uint32_t i = 0; i < DRAWS; i++) {
        gap[i] = loss[i][1] - loss[i][0];
    }
    hedge_law(plan->hedge.rate, gap, law);
    for (uint32_t t = 0; t < 1 << DRAWS; t++) {
        law[t] = expl(law[t]);
    }
    for (uint64_t i = 0; i < n; i++) {
        caucus_coordinator *c = NULL;
        uint32_t transcript = 0;
        caucus_key_derive(&run, i, &key);
        assert_int_equal(caucus_coordinator_new(plan, &key, &c), CAUCUS_OK);
        for (uint32_t block = 1; block <= DRAWS; block++) {
            caucus_report r = {.client = 1,
                               .kind = CAUCUS_ASK_SUMS,
                               .first = block,
                               .block = block,
                               .count = 2,
                               .value = loss[block - 1]};
            r.epoch_or_leaf = caucus_coordinator_announcement(c)->epoch;
            assert_int_equal(caucus_coordinator_receive(c, &r), CAUCUS_OK);
            assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
            transcript |= caucus_coordinator_announcement(c)->expert << (block - 1);
        }
        assert_int_equal(caucus_coordinator_announcement(c)->ask, CAUCUS_ASK_NOTHING);
        caucus_coordinator_free(c);
        count[transcript]++;
    }
    double p = exact_chi2(count, law, 1 << DRAWS, n);
    printf("  p = %.4f (seed %llu)\n", p, (unsigned long long)seed);
    assert_true(p > EXACT_P_VALUE);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_coordinator_follows_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
