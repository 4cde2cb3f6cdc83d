/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_evaluate.c: stoch with few evaluations: who evaluates what, counts, W and rate, the bound, refusals.
 * docs/PRIVACY.md, "Few evaluations". */
#include "plan/plan_testing.h"
#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"

#include <stdlib.h>
#include <string.h>

static caucus_settings base(uint32_t m, uint32_t d, uint32_t k) {
    caucus_settings s = plan_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    s.clients = m;
    s.experts = d;
    s.evaluate = k;
    s.rounds = 1024;
    s.epsilon = 1;
    return s;
}

/* In every round the clients' places are a permutation: the n m k evaluations of a phase follow each other without a
 * gap, so that every expert has floor(n m k/d) or one more; and the closed form is that count. */
static void places(void **state) {
    (void)state;
    for (uint32_t m = 1; m <= 33; m++)
        for (uint32_t d = 2; d <= 9; d++)
            for (uint32_t k = 1; k < d; k++) {
                const caucus_settings s = base(m, d, k);
                caucus_plan *plan = plan_made(&s);
                uint64_t count[9] = {0}, one[9] = {0}, closed[9], again[9];
                const uint64_t p = 4, n = 8, first = 8;
                for (uint64_t t = 0; t < n; t++) {
                    uint64_t row[9] = {0};
                    for (uint32_t i = 1; i <= m; i++) {
                        const uint32_t y = caucus_evaluate_first(plan, p, t, first + t, i);
                        assert_true(y < d);
                        for (uint32_t j = 0; j < k; j++)
                            row[(y + j) % d]++;
                    }
                    for (uint32_t y = 0; y < d; y++) {
                        assert_true(row[y] == m * k / d || row[y] == m * k / d + 1);
                        count[y] += row[y];
                    }
                }
                caucus_evaluate_everybody(plan, p, n, closed);
                assert_memory_equal(count, closed, d * sizeof *count);
                for (uint32_t i = 1; i <= m; i++)
                    caucus_evaluate_add(plan, p, first, n, i, false, one);
                assert_memory_equal(count, one, d * sizeof *count);
                memcpy(again, closed, sizeof again);
                for (uint32_t i = 1; i <= m; i++)
                    caucus_evaluate_add(plan, p, first, n, i, true, again);
                for (uint32_t y = 0; y < d; y++) {
                    assert_int_equal(again[y], 0);
                    assert_true(count[y] >= caucus_evaluate_least(&s, n));
                }
                caucus_plan_free(plan);
            }
}

/* Clients that evaluate an expert at all, counted by hand; and the fewest that the bound relies on. */
static void touched(void **state) {
    (void)state;
    caucus_settings s = base(23, 7, 2);
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    caucus_plan *plan = plan_made(&s);
    for (uint64_t n = 1; n <= 16; n *= 2) {
        uint64_t want[7] = {0}, got[7] = {0};
        for (uint32_t i = 1; i <= 23; i++) {
            uint64_t own[7] = {0};
            caucus_evaluate_add(plan, 3, 4, n, i, false, own);
            for (uint32_t y = 0; y < 7; y++)
                want[y] += own[y] > 0;
            caucus_evaluate_touched(plan, 3, 4, n, i, got);
        }
        assert_memory_equal(want, got, sizeof want);
        for (uint32_t y = 0; y < 7; y++)
            assert_true(want[y] >= caucus_evaluate_least(&s, n));
    }
    caucus_plan_free(plan);
}

/* Unit client: clients that have evaluated an expert so far, from phase to phase, by hand. The bound relies on no more
 * than there are, for the hashes of many plans; and on far more than what holds whatever the permutations. */
static void touched_so_far(void **state) {
    (void)state;
    enum { EXPERTS = 20, CLIENTS = 500 };
    for (uint32_t seed = 0; seed < 8; seed++) {
        caucus_settings s = base(CLIENTS, EXPERTS, 1);
        s.unit = CAUCUS_UNIT_CLIENT;
        s.growth = 4;
        s.epsilon = 1 + seed; /* another hash */
        caucus_plan *plan = plan_made(&s);
        for (uint32_t i = 0; i < plan->stoch.described; i++) {
            const uint64_t n = plan->stoch.phase[i].samples, least = caucus_evaluate_least(&plan->settings, n);
            uint64_t want[EXPERTS] = {0}, got[EXPERTS] = {0};
            for (uint32_t c = 1; c <= CLIENTS; c++) {
                uint64_t own[EXPERTS] = {0}, added[EXPERTS] = {0};
                for (uint64_t round = 1; round <= n; round++) {
                    uint64_t p = 1;
                    while (caucus_stoch_first(&plan->settings, p + 1) <= round)
                        p++;
                    const uint64_t t = round - caucus_stoch_first(&plan->settings, p);
                    own[caucus_evaluate_first(plan, p, t, round, c)]++;
                }
                caucus_evaluate_add(plan, 1, 1, n, c, false, added);
                assert_memory_equal(own, added, sizeof own);
                caucus_evaluate_touched(plan, 1, 1, n, c, got);
                for (uint32_t y = 0; y < EXPERTS; y++)
                    want[y] += own[y] > 0;
            }
            assert_memory_equal(want, got, sizeof want);
            for (uint32_t y = 0; y < EXPERTS; y++)
                assert_true(want[y] >= least);
            assert_true(plan->stoch.phase[i].least == (least / 8 > 1 ? least / 8 : 1));
            assert_true(n < 256 ? least >= CLIENTS / EXPERTS : least >= 490);
        }
        caucus_plan_free(plan);
    }
}

/* Who evaluates what has nothing to do with numbers: where clients of one residue belong to one site, every expert is
 * judged by all sites. Without the permutation an expert would be judged by one site alone, 50 evaluations in 50. */
static void sites(void **state) {
    (void)state;
    enum { EXPERTS = 20, CLIENTS = 500 };
    const caucus_settings s = base(CLIENTS, EXPERTS, 1);
    caucus_plan *plan = plan_made(&s);
    uint64_t seen[EXPERTS][EXPERTS] = {{0}};
    for (uint64_t t = 0; t < 16; t++)
        for (uint32_t i = 1; i <= CLIENTS; i++)
            seen[i % EXPERTS][caucus_evaluate_first(plan, 5, t, 16 + t, i)]++;
    for (uint32_t site = 0; site < EXPERTS; site++)
        for (uint32_t y = 0; y < EXPERTS; y++) /* 20 expected, 6 standard deviations either side */
            assert_true(seen[site][y] > 0 && seen[site][y] < 48);
    caucus_plan_free(plan);
}

static void worked_widths(void **state) {
    (void)state;
    caucus_settings s = base(500, 20, 1);
    caucus_plan *plan = plan_made(&s);
    uint64_t count[20], least = UINT64_MAX, most = 0;
    caucus_evaluate_everybody(plan, 4, 8, count);
    for (uint32_t y = 0; y < 20; y++)
        assert_int_equal(count[y], 200);
    assert_int_equal(caucus_evaluate_width(plan, 200, 200), 1048576);
    assert_int_equal(caucus_evaluate_factor(plan), 1);
    caucus_plan_free(plan);
    s = base(7, 20, 3);
    plan = plan_made(&s);
    caucus_evaluate_everybody(plan, 3, 4, count);
    for (uint32_t y = 0; y < 20; y++) {
        least = count[y] < least ? count[y] : least;
        most = count[y] > most ? count[y] : most;
    }
    assert_int_equal(least, 4);
    assert_int_equal(most, 5);
    assert_int_equal(caucus_evaluate_width(plan, least, most), 1310720);
    assert_int_equal(caucus_evaluate_factor(plan), 2);
    caucus_plan_free(plan);
    s.evaluate = 1; /* one expert a round, but several rounds in a record */
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    plan = plan_made(&s);
    assert_int_equal(caucus_evaluate_factor(plan), 2);
    caucus_plan_free(plan);
}

/* The rate is the largest that the budget pays for; one more is not paid. */
static void rates(void **state) {
    (void)state;
    for (uint32_t k = 1; k <= 3; k += 2) {
        const caucus_settings s = base(7, 20, k);
        caucus_plan *plan = plan_made(&s);
        const caucus_rational budget = plan->stoch.phase[3].select_budget;
        const uint64_t widths[] = {1, 3, 1048576, 1310720, ((uint64_t)1 << 40) + 1};
        near(caucus_rational_double(budget), 1, 1e-9);
        assert_true(caucus_rational_double(budget) <= 1);
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
            caucus_rational rate;
            assert_true(caucus_evaluate_rate(plan, budget, widths[i], &rate));
            assert_true(caucus_evaluate_pays(plan, budget, widths[i], rate));
            near(caucus_rational_double(rate) * (double)widths[i] * (k == 1 ? 1 : 2), 1, 1e-3);
            rate.num++;
            assert_false(caucus_evaluate_pays(plan, budget, widths[i], rate));
        }
        caucus_rational none;
        assert_false(caucus_evaluate_rate(plan, budget, (uint64_t)1 << 61, &none)); /* noise beyond 62 bits */
        assert_false(caucus_evaluate_rate(plan, budget, 0, &none));
        caucus_plan_free(plan);
    }
}

/* B_p = R sqrt(ln d/(2c)) + f R (H_d - 1)/(c epsilon), c the fewest evaluations of an expert. */
static void bounds(void **state) {
    (void)state;
    double harmonic = 0;
    for (int n = 2; n <= 20; n++)
        harmonic += 1.0 / n;
    for (uint32_t k = 1; k <= 4; k += 3) {
        caucus_settings s = base(500, 20, k);
        s.hi = 3;
        caucus_plan *plan = plan_made(&s);
        const caucus_stoch_phase *phase = caucus_stoch_phase_of(plan, 5);
        const double c = 8.0 * 500 * k / 20, f = k == 1 ? 1 : 2;
        near(phase->error, 3 * (sqrt(log(20) / (2 * c)) + f * harmonic / c), 1e-6);
        assert_int_equal(plan->bound_kind, CAUCUS_BOUND_EXPECTATION);
        caucus_plan_free(plan);
        s.clients = 3; /* 3 k evaluations in the first phase: nobody looks at some experts */
        s.hi = 1;
        plan = plan_made(&s);
        near(caucus_stoch_phase_of(plan, 2)->error, 1, 1e-12);
        caucus_plan_free(plan);
    }
    caucus_settings s = base(500, 20, 4);
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK; /* 8 * 100 evaluations of an expert are by 100 clients at least */
    caucus_plan *plan = plan_made(&s);
    near(caucus_stoch_phase_of(plan, 5)->error, sqrt(log(20) / 200) + 2 * harmonic / 100, 1e-6);
    caucus_plan_free(plan);
}

/* Unit client. After one round an expert has 25 evaluations by 25 clients. After 256 of them it has 6,400, mu = 12.8 of
 * a client, by 497 clients: m KL(496/500, 1 - e^-mu) = 27.9 is above ln(2*64*20*2^20) = 21.71, with 497 it is 20.1. S/m
 * has the mean .15625 at most and is .272085 at most: m KL of these two is 21.71. */
static void bounds_so_far(void **state) {
    (void)state;
    double harmonic = 0, spent = 0;
    for (int n = 2; n <= 20; n++)
        harmonic += 1.0 / n;
    caucus_settings s = base(500, 20, 1);
    s.unit = CAUCUS_UNIT_CLIENT;
    s.growth = 4;
    caucus_plan *plan = plan_made(&s);
    for (uint32_t i = 0; i < plan->stoch.described; i++)
        spent += caucus_rational_double(plan->stoch.phase[i].select_budget);
    near(spent, 1, 1e-6);
    assert_true(plan->guarantee.epsilon_choices <= 1);
    near(caucus_rational_double(plan->stoch.phase[4].select_budget), 16.0 / 31,
         1e-6); /* ~ sqrt(768), of 3, 12, 48 .. */
    near(plan->stoch.phase[0].error, sqrt(log(20) / 50) + 2 * harmonic / (25 * 1.0 / 31) + 0x1p-20, 1e-4);
    near(plan->stoch.phase[4].error, 0.0287222 + 2 * harmonic / (497 * 16.0 / 31) + 0x1p-20, 1e-5); /* .0287 + .0203 */
    assert_int_equal(plan->bound_kind, CAUCUS_BOUND_EXPECTATION);
    caucus_guarantee g; /* what the selections cost adds up */
    plan->stoch.phase[0].select_budget.num += plan->stoch.phase[0].select_budget.num / 8;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    caucus_plan_free(plan);
    s.delta = 1e-6; /* every way of paying is one that the accountant accepts */
    plan = plan_made(&s);
    assert_true(plan->guarantee.epsilon_choices <= 1);
    caucus_plan_free(plan);
    s.delta = 0;
    s.clients = 3; /* nobody looks at some experts after one round */
    plan = plan_made(&s);
    near(plan->stoch.phase[0].error, 1, 1e-12);
    caucus_plan_free(plan);
}

/* All of them is nothing to speak of: the same plan, by its name. */
static void all_of_them(void **state) {
    (void)state;
    const caucus_settings plain = base(50, 20, 0), all = base(50, 20, 20), some = base(50, 20, 19);
    caucus_plan *a = plan_made(&plain), *b = plan_made(&all), *c = plan_made(&some);
    assert_memory_equal(a->hash, b->hash, sizeof a->hash);
    assert_memory_not_equal(a->hash, c->hash, sizeof a->hash);
    assert_int_equal(caucus_plan_evaluate(b), 20);
    assert_int_equal(caucus_plan_evaluate(c), 19);
    caucus_rational rate;
    assert_int_equal(caucus_plan_select_rate(c, 0, &rate), CAUCUS_OK);
    caucus_plan_free(a);
    caucus_plan_free(b);
    caucus_plan_free(c);
}

static void refused(const caucus_settings *s, const char *field, const char *words) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    assert_int_not_equal(caucus_plan_new(s, &plan, &error), CAUCUS_OK);
    assert_string_equal(error.field, field);
    assert_non_null(strstr(error.text, words));
}

static void refusals(void **state) {
    (void)state;
    caucus_settings s = base(10, 20, 21);
    refused(&s, "evaluate", "accepted: 1 to 20");
    s.evaluate = 2;
    s.algorithm = CAUCUS_ALGORITHM_SVT;
    refused(&s, "evaluate", "or algorithm stoch");
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    s.trust = CAUCUS_TRUST_NOBODY;
    refused(&s, "evaluate", "or trust coordinator");
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.trees = 1;
    refused(&s, "evaluate", "without trees");
    s.trees = CAUCUS_TREES_AUTO;
    s.longest_phase = CAUCUS_PHASE_AUTO;
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    refused(&s, "longest-phase", "accepted: a number");
    s.unit = CAUCUS_UNIT_EVENT;
    caucus_plan *plan = plan_made(&s);
    /* A plan that claims more than it pays for. */
    caucus_guarantee g;
    plan->stoch.phase[0].select_budget.num *= 2;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    plan->stoch.phase[0].select_budget.num /= 2;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_OK);
    near(g.epsilon_choices, 1, 1e-9);
    plan->stoch.phase[0].least = 0;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    caucus_plan_free(plan);
}

/* delta: c b^2 = rho for the exponential mechanism and permute-and-flip; earlier phases' weights add up to epsilon. */
static void budgets(void **state) {
    (void)state;
    caucus_settings s = base(500, 20, 1);
    s.delta = 1e-6;
    s.select = CAUCUS_SELECT_EXPONENTIAL;
    caucus_plan *plan = plan_made(&s);
    const double b = caucus_rational_double(plan->stoch.phase[2].select_budget);
    assert_true(b >= 1 - 1e-9); /* one selection: pure privacy at epsilon is as good as any */
    caucus_plan_free(plan);
    s = base(500, 20, 1);
    s.past_phases = true;
    plan = plan_made(&s);
    double weights = 0;
    for (uint32_t a = 0; a < plan->stoch.past; a++)
        weights += (double)plan->stoch.past_weights[a];
    near(caucus_rational_double(plan->stoch.phase[5].select_budget) * weights, 1, 1e-4);
    assert_true(plan->guarantee.epsilon_choices <= 1);
    caucus_plan_free(plan);
}

/* Many rounds at once are the rounds one by one, from wherever they begin. */
static void many_at_once(void **state) {
    (void)state;
    static const uint32_t clients[] = {1, 7, 256, 257, 500};
    for (size_t i = 0; i < sizeof clients / sizeof clients[0]; i++) {
        const caucus_settings s = base(clients[i], 9, 1 + (uint32_t)i);
        caucus_plan *plan = plan_made(&s);
        for (uint64_t t = 0; t < 12; t++) {
            uint32_t first[40];
            caucus_evaluate_firsts(plan, 7, t, 64 + t, clients[i], 40 - t, first);
            for (uint64_t r = 0; r < 40 - t; r++)
                assert_int_equal(first[r], caucus_evaluate_first(plan, 7, t + r, 64 + t + r, clients[i]));
        }
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),        cmocka_unit_test(touched), cmocka_unit_test(touched_so_far),
        cmocka_unit_test(bounds_so_far), cmocka_unit_test(sites),   cmocka_unit_test(worked_widths),
        cmocka_unit_test(rates),         cmocka_unit_test(bounds),  cmocka_unit_test(all_of_them),
        cmocka_unit_test(refusals),      cmocka_unit_test(budgets), cmocka_unit_test(many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
