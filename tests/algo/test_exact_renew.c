/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_renew.c: renewal, exactly (docs/PRIVACY.md, statement 16).
 *
 * Claim 1 for the checks of two cycles on tiny grids: a loss is in one cycle, whose noise is its own. Controls: the
 * noisy threshold of one cycle kept in the next, and q not set back: each costs 2. Then the machines: whole runs of svt
 * follow the law that fresh cycles have, sums and late reports of a cycle that has ended are forgotten, and a state
 * saved in the middle of a chain goes on as if nothing had happened. */
#include "algo/exact_machines.h"
#include "algo/restored.h"
#include "dp/exact.h"

#include "algo/machine.h"
#include "dp/laws.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define LEVELS 24 /* q of a cycle goes from 0 to this; the threshold is in the middle */

static const caucus_noise noise = {CAUCUS_NOISE_GEOMETRIC, {1, 1}}; /* rate 1 per step: G = 1, claim 1 */

typedef enum how { FRESH, SAME_THRESHOLD, Q_KEPT } how;

/* P(first cycle: verdict a, second: verdict b), one check each; `moved` is what the loss adds to q of the first. */
static long double two_cycles(how kind, int64_t q1, int64_t q2, int64_t moved, bool a, bool b) {
    const int64_t threshold = LEVELS / 2;
    if (kind == SAME_THRESHOLD) {
        const int64_t q[2] = {q1 + moved, q2};
        const bool fired[2] = {a, b};
        return exact_checks(&noise, &noise, threshold, q, fired, 2);
    }
    const int64_t first[1] = {q1 + moved}, second[1] = {kind == Q_KEPT ? q1 + q2 + moved : q2};
    return exact_epoch(&noise, &noise, threshold, first, 1, a) * exact_epoch(&noise, &noise, threshold, second, 1, b);
}

static long double worst_of(how kind) {
    long double worst = 0;
    for (int64_t q1 = 0; q1 < LEVELS; q1++)
        for (int64_t q2 = 0; q2 <= LEVELS; q2++)
            for (unsigned verdicts = 0; verdicts < 4; verdicts++) {
                const bool a = verdicts & 1, b = verdicts >> 1;
                exact_raise(&worst, exact_ratio(two_cycles(kind, q1, q2, 0, a, b), two_cycles(kind, q1, q2, 1, a, b)));
            }
    return worst;
}

static void test_links_share_nothing(void **state) {
    (void)state;
    exact_assert("two cycles, each with its own threshold and q", worst_of(FRESH), 1, 0.99L);
    exact_assert_broken("one noisy threshold for two cycles", worst_of(SAME_THRESHOLD), 1, 1.99L);
    exact_assert_broken("q goes on from one cycle to the next", worst_of(Q_KEPT), 1, 1.99L);
}

/* ---- the machines ---- */

#define BLOCKS 8 /* cycles of two blocks: a check after the first of each */
#define CYCLES 4

static caucus_plan *chain_plan(caucus_algorithm algorithm, double epsilon, uint64_t rounds, uint64_t renew) {
    caucus_settings s;
    exact_settings(&s, algorithm, CAUCUS_TRUST_COORDINATOR, epsilon);
    s.rounds = rounds;
    s.renew = renew;
    return exact_plan(&s);
}

typedef struct chain {
    caucus_coordinator *coordinator;
    caucus_client *client;
} chain;

static chain chain_open(const caucus_plan *plan, const caucus_key *key) {
    chain c = {0};
    caucus_key own;
    caucus_key_derive(key, 1, &own);
    assert_int_equal(caucus_coordinator_new(plan, key, &c.coordinator), CAUCUS_OK);
    assert_int_equal(caucus_client_new(plan, 1, &own, &c.client), CAUCUS_OK);
    assert_int_equal(caucus_client_hear(c.client, caucus_coordinator_announcement(c.coordinator)), CAUCUS_OK);
    return c;
}

static void chain_close(chain *c) {
    caucus_client_free(c->client);
    caucus_coordinator_free(c->coordinator);
}

/* One block in which both experts lose `loss`, and everything that is said after it. */
static void chain_play(chain *c, const double *loss) {
    assert_int_equal(caucus_client_observe(c->client, loss, 1), CAUCUS_OK);
    const caucus_report *report;
    while ((report = caucus_client_report(c->client))) {
        assert_int_equal(caucus_coordinator_receive(c->coordinator, report), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_decide(c->coordinator), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(c->client, caucus_coordinator_announcement(c->coordinator)), CAUCUS_OK);
    }
}

/* In which cycles a check fired: selections tell. */
static uint32_t play(const caucus_plan *plan, const caucus_key *key) {
    static const double loss[2] = {1, 1};
    chain c = chain_open(plan, key);
    uint32_t fired = 0;
    for (uint32_t cycle = 0; cycle < CYCLES; cycle++) {
        const uint64_t before = caucus_coordinator_selections(c.coordinator);
        chain_play(&c, loss);
        fired |= (uint32_t)(caucus_coordinator_selections(c.coordinator) - before) << cycle;
        chain_play(&c, loss);
    }
    chain_close(&c);
    return fired;
}

/* n runs, false-alarm rate 1e-6, seed fixed: each cycle is as the first, whatever became of those before it. */
static void test_machines_follow_the_law(void **state) {
    (void)state;
    const uint64_t seed = 7700, n = 40000;
    caucus_plan *plan = chain_plan(CAUCUS_ALGORITHM_SVT, 4, BLOCKS, 2);
    assert_int_equal(plan->svt.checks, 1);
    assert_int_equal(plan->svt.switches, 1);
    plan->svt.threshold[0] = plan->grid - 1; /* so that both verdicts are likely */
    const int64_t q[1] = {plan->grid};
    const long double fires =
        exact_epoch(&plan->svt.threshold_noise, &plan->svt.check_noise, plan->svt.threshold[0], q, 1, true);
    assert_true(fires > 0.1L && fires < 0.9L);
    uint64_t count[1 << CYCLES] = {0};
    long double law[1 << CYCLES];
    for (uint32_t t = 0; t < 1 << CYCLES; t++) {
        law[t] = 1;
        for (uint32_t k = 0; k < CYCLES; k++)
            law[t] *= t >> k & 1 ? fires : 1 - fires;
    }
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    for (uint64_t r = 0; r < n; r++) {
        caucus_key_derive(&run, r, &key);
        count[play(plan, &key)]++;
    }
    const double p = exact_chi2(count, law, 1 << CYCLES, n);
    printf("  fires %.4Lf, p = %.4f (seed %llu)\n", fires, p, (unsigned long long)seed);
    assert_true(p > EXACT_P_VALUE);
    caucus_plan_free(plan);
}

/* hedge without privacy and almost without chance: what was good in one cycle says nothing in the next. */
static void test_sums_begin_again(void **state) {
    (void)state;
    static const double first[2] = {0, 1}, second[2] = {1, 0};
    caucus_plan *plan = chain_plan(CAUCUS_ALGORITHM_LEADER, INFINITY, 60, 20);
    caucus_key key;
    caucus_key_from_seed(5, &key);
    chain c = chain_open(plan, &key);
    for (int t = 0; t < 20; t++)
        chain_play(&c, first);
    assert_int_equal(caucus_client_expert(c.client), 0);
    assert_int_equal(caucus_coordinator_announcement(c.coordinator)->epoch, 20); /* 19 draws and a renewal */
    chain_play(&c, second);
    assert_int_equal(caucus_client_expert(c.client), 1); /* 20 good rounds are forgotten */
    chain_close(&c);
    caucus_plan_free(plan);
}

/* A report about a cycle that has ended changes nothing, and a client is not asked for it again. */
static void test_late_reports_are_dropped(void **state) {
    (void)state;
    static const double loss[2] = {0.5, 1};
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, 1);
    s.rounds = 8;
    s.renew = 4;
    s.clients = 2;
    caucus_plan *plan = exact_plan(&s);
    caucus_key key;
    caucus_key_from_seed(6, &key);
    caucus_coordinator *coordinator = NULL;
    caucus_client *client[2] = {NULL};
    assert_int_equal(caucus_coordinator_new(plan, &key, &coordinator), CAUCUS_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(caucus_client_new(plan, i + 1, &key, &client[i]), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(client[i], caucus_coordinator_announcement(coordinator)), CAUCUS_OK);
    }
    for (uint64_t block = 1; block <= 4; block++) { /* client 2 is never heard in time */
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(caucus_client_observe(client[i], loss, 1), CAUCUS_OK);
        const caucus_report *late = caucus_client_report(client[1]);
        assert_int_equal(caucus_coordinator_receive(coordinator, caucus_client_report(client[0])), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_decide(coordinator), CAUCUS_OK);
        if (block == 4)
            assert_int_equal(caucus_coordinator_receive(coordinator, late), CAUCUS_E_DUPLICATE);
        machines_hear(client, 2, coordinator);
    }
    uint64_t cost, sums;
    bool answered;
    caucus_coordinator_counted(coordinator, 2, &cost, &sums, &answered);
    assert_int_equal(sums, 5);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(caucus_client_observe(client[i], loss, 1), CAUCUS_OK);
        const caucus_report *report = caucus_client_report(client[i]);
        assert_int_equal(report->first, 5); /* of this cycle alone */
        assert_int_equal(report->value[0], plan->grid / 2);
        assert_int_equal(caucus_coordinator_receive(coordinator, report), CAUCUS_OK);
    }
    machines_free(client, 2, coordinator);
    caucus_plan_free(plan);
}

/* Saved after every block, taken up by new machines with the same key: the same run. */
static void test_restored_in_the_middle(void **state) {
    (void)state;
    static const double loss[2] = {1, 0.5};
    static const caucus_algorithm algorithms[2] = {CAUCUS_ALGORITHM_SVT, CAUCUS_ALGORITHM_HEDGE};
    for (int i = 0; i < 2; i++) {
        caucus_plan *plan = chain_plan(algorithms[i], 30, 40, 4);
        caucus_key key, own;
        caucus_key_from_seed(8, &key);
        caucus_key_derive(&key, 1, &own);
        chain whole = chain_open(plan, &key), torn = chain_open(plan, &key);
        for (int t = 0; t < 40; t++) {
            chain_play(&whole, loss);
            chain_play(&torn, loss);
            assert_memory_equal(caucus_coordinator_announcement(whole.coordinator),
                                caucus_coordinator_announcement(torn.coordinator), sizeof(caucus_announcement));
            restore_both(plan, &key, &own, &torn.coordinator, &torn.client);
        }
        assert_true(caucus_coordinator_selections(whole.coordinator) > 3);
        chain_close(&whole);
        chain_close(&torn);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_share_nothing),    cmocka_unit_test(test_machines_follow_the_law),
        cmocka_unit_test(test_sums_begin_again),       cmocka_unit_test(test_late_reports_are_dropped),
        cmocka_unit_test(test_restored_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
