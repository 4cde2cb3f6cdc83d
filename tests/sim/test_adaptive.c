/* SPDX-License-Identifier: Apache-2.0 */
/* test_adaptive.c: losses that follow what was announced (adversary adaptive): the trial tells them, block by block;
 * the bound of hedge holds, and stoch, which keeps an expert for a phase, loses nearly everything. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <caucus/plan.h>

#include "sim/adversary.h"
#include "sim/trial.h"

static caucus_plan *plan_of(caucus_algorithm algorithm, uint32_t m, uint32_t d, uint64_t rounds, uint64_t interval,
                            double epsilon) {
    caucus_settings s;
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = m;
    s.experts = d;
    s.rounds = rounds;
    s.interval = interval;
    s.epsilon = epsilon;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    return plan;
}

static caucus_adversary *adversary_of(const caucus_plan *plan) {
    caucus_adversary *adversary = NULL;
    caucus_error error = {0};
    const caucus_adversary_settings s = {.kind = CAUCUS_ADVERSARY_ADAPTIVE,
                                         .seed = 1,
                                         .clients = caucus_plan_clients(plan),
                                         .experts = caucus_plan_experts(plan),
                                         .rounds = caucus_plan_rounds(plan)};
    if (caucus_adversary_open(&s, &adversary, &error) != CAUCUS_OK)
        fail_msg("%s %s", error.field, error.text);
    assert_true(caucus_adversary_follows(adversary));
    return adversary;
}

/* Nobody loses before anybody was in force; then whoever it is told of, at every client. */
static void test_rows(void **state) {
    (void)state;
    caucus_plan *plan = plan_of(CAUCUS_ALGORITHM_HEDGE, 2, 3, 8, 2, 1);
    caucus_adversary *adversary = adversary_of(plan);
    caucus_adversary_trial *trial = NULL;
    assert_int_equal(caucus_adversary_trial_new(adversary, 0, &trial), CAUCUS_OK);
    for (uint32_t before = 0; before <= 3; before++) {
        float row[2][3];
        if (before > 0)
            caucus_adversary_tell(trial, before - 1);
        for (uint32_t client = 1; client <= 2; client++) {
            caucus_adversary_fill(trial, client, 4, 2, row[0]);
            for (uint32_t k = 0; k < 2; k++)
                for (uint32_t y = 0; y < 3; y++)
                    assert_true(row[k][y] == (y + 1 == before ? 1.0f : 0.0f));
        }
    }
    caucus_adversary_trial_free(trial);
    caucus_adversary_close(adversary);
    caucus_plan_free(plan);
}

/* Who was in force when, as a trial announces it. */
typedef struct history {
    uint32_t expert[2048];
    uint64_t known;
} history;

static void watch(void *user, uint64_t round, const caucus_announcement *a) {
    history *h = user;
    for (uint64_t t = round; t < 2048; t++)
        h->expert[t] = a->expert;
}

/* What a trial pays is what these losses cost, worked out again from what was announced; of few clients, whose rows are
 * made together, and of many, whose rows are made one client at a time. */
static void test_trial_tells(void **state) {
    (void)state;
    static const struct {
        caucus_algorithm algorithm;
        uint32_t m, d;
        uint64_t interval;
        double epsilon;
    } cases[] = {{CAUCUS_ALGORITHM_HEDGE, 3, 5, 4, 30},
                 {CAUCUS_ALGORITHM_STOCH, 3, 5, 1, 5},
                 {CAUCUS_ALGORITHM_SVT, 3, 5, 4, 30},
                 {CAUCUS_ALGORITHM_HEDGE, 40, 2000, 4, 30}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint64_t rounds = cases[i].d > 100 ? 64 : 300, n = cases[i].interval;
        caucus_plan *plan = plan_of(cases[i].algorithm, cases[i].m, cases[i].d, rounds, n, cases[i].epsilon);
        caucus_adversary *adversary = adversary_of(plan);
        static history h;
        static double total[2000];
        caucus_trial_result r;
        memset(&h, 0, sizeof h);
        memset(total, 0, sizeof total);
        assert_int_equal(caucus_trial_play(plan, adversary, 1, 0, NULL, watch, &h, &r), CAUCUS_OK);
        double cost = 0, best = INFINITY;
        for (uint64_t t = n; t < rounds; t++) {
            const uint32_t loser = h.expert[t / n * n - 1];
            cost += h.expert[t] == loser;
            total[loser] += 1;
        }
        for (uint32_t y = 0; y < cases[i].d; y++)
            best = total[y] < best ? total[y] : best;
        if (!(fabs(r.regret - (cost - best)) < 1e-9))
            fail_msg("case %zu: regret %.6f, from what was announced %.6f", i, r.regret, cost - best);
        assert_true(cost > 0 || cases[i].d > 100); /* of many experts hardly any is drawn twice in a row */
        caucus_adversary_close(adversary);
        caucus_plan_free(plan);
    }
}

/* T 2,048, d 10: hedge in blocks of 4 without privacy about 28 of a bound of 97, stoch about 2,035. */
static void test_bound(void **state) {
    (void)state;
    double mean[2] = {0, 0};
    const uint32_t trials = 12;
    for (int stoch = 0; stoch <= 1; stoch++) {
        caucus_plan *plan = plan_of(stoch ? CAUCUS_ALGORITHM_STOCH : CAUCUS_ALGORITHM_HEDGE, 2, 10, 2048, stoch ? 1 : 4,
                                    stoch ? 1000 : (double)INFINITY);
        caucus_adversary *adversary = adversary_of(plan);
        for (uint32_t k = 0; k < trials; k++) {
            caucus_trial_result r;
            assert_int_equal(caucus_trial_play(plan, adversary, 1, k, NULL, NULL, NULL, &r), CAUCUS_OK);
            mean[stoch] += r.regret / trials;
        }
        printf("  %s: %.1f, bound %.1f\n", stoch ? "stoch" : "hedge", mean[stoch], caucus_plan_bound(plan));
        if (!stoch)
            assert_true(mean[0] <= caucus_plan_bound(plan) && caucus_plan_bound(plan) < 98);
        caucus_adversary_close(adversary);
        caucus_plan_free(plan);
    }
    assert_true(mean[0] > 10 && mean[0] < 60);
    assert_true(mean[1] > 1900);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_trial_tells),
                                       cmocka_unit_test(test_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
