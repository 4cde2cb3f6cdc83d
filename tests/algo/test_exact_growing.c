/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_growing.c: svt without an end and without renewal, exactly (docs/PRIVACY.md, statement 17).
 *
 * Claim 1 for all transcripts of up to four checks whose thresholds grow as the plan's do: 1.0000, as for a threshold
 * that stands still. Controls: thresholds that follow the cost instead of the number of the check, and a threshold
 * whose noise is drawn again at every check and paid once. Then the machine: runs follow the law, a state saved in the
 * middle goes on as if nothing had happened, and where sums have no more room nothing more is asked. */
#include "algo/restored.h"
#include "dp/exact.h"

#include "algo/machine.h"
#include "dp/growth.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define CHECKS 4
#define LEVELS 4 /* a check's block costs 0 .. LEVELS - 1 */

static const caucus_noise noise = {CAUCUS_NOISE_GEOMETRIC, {1, 1}}; /* rate 1 per step: G = 1, claim 1 */

typedef enum how { BY_NUMBER, BY_COST, REDRAWN } how;

/* P(the first n - 1 checks keep, the last says `last`), costs added up, block `changed` costing one more. */
static long double transcript(how kind, const int64_t *cost, size_t n, size_t changed, int64_t more, bool last) {
    const int64_t threshold = 3;
    int64_t q[CHECKS], total = 0;
    long double apart = 1;
    for (size_t i = 0; i < n; i++) {
        total += cost[i] + (i == changed ? more : 0);
        /* A threshold that is higher by x is a cost that is lower by x. */
        const int64_t raised = kind == BY_COST ? total / 2 : caucus_growth(noise.parameter, i + 1);
        q[i] = total - raised;
        apart *= exact_epoch(&noise, &noise, threshold, &q[i], 1, i + 1 == n && last);
    }
    return kind == REDRAWN ? apart : exact_epoch(&noise, &noise, threshold, q, n, last);
}

static long double worst_of(how kind) {
    long double worst = 0;
    for (size_t n = 1; n <= CHECKS; n++) {
        unsigned all = 1;
        for (size_t i = 0; i < n; i++)
            all *= LEVELS;
        for (unsigned code = 0; code < all; code++) {
            int64_t cost[CHECKS];
            unsigned rest = code;
            for (size_t i = 0; i < n; i++, rest /= LEVELS)
                cost[i] = rest % LEVELS;
            for (size_t changed = 0; changed < n; changed++)
                for (int last = 0; last < 2; last++)
                    exact_raise(&worst, exact_ratio(transcript(kind, cost, n, changed, 0, last),
                                                    transcript(kind, cost, n, changed, 1, last)));
        }
    }
    return worst;
}

static void test_thresholds_that_grow(void **state) {
    (void)state;
    exact_assert("thresholds that grow with the number of the check", worst_of(BY_NUMBER), 1, 0.99L);
    exact_assert_broken("thresholds that follow the cost", worst_of(BY_COST), 1, 1.01L);
    exact_assert_broken("a threshold drawn again at every check", worst_of(REDRAWN), 1, 1.9L);
}

/* ---- the machine ---- */

typedef struct pair {
    caucus_coordinator *coordinator;
    caucus_client *client;
} pair;

static caucus_plan *endless_plan(double epsilon) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, epsilon);
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.nominal_rounds = 16;
    return exact_plan(&s);
}

static pair pair_open(const caucus_plan *plan, const caucus_key *key) {
    pair p = {0};
    caucus_key own;
    caucus_key_derive(key, 1, &own);
    assert_int_equal(caucus_coordinator_new(plan, key, &p.coordinator), CAUCUS_OK);
    assert_int_equal(caucus_client_new(plan, 1, &own, &p.client), CAUCUS_OK);
    assert_int_equal(caucus_client_hear(p.client, caucus_coordinator_announcement(p.coordinator)), CAUCUS_OK);
    return p;
}

static void pair_close(pair *p) {
    caucus_client_free(p->client);
    caucus_coordinator_free(p->coordinator);
}

/* One round, and everything that is said after it. */
static void pair_play(pair *p, const double *loss) {
    assert_int_equal(caucus_client_observe(p->client, loss, 1), CAUCUS_OK);
    const caucus_report *report;
    while ((report = caucus_client_report(p->client))) {
        assert_int_equal(caucus_coordinator_receive(p->coordinator, report), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_decide(p->coordinator), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(p->client, caucus_coordinator_announcement(p->coordinator)), CAUCUS_OK);
    }
}

/* At which of the first CHECKS checks the first epoch ends, CHECKS if at none; n runs, false-alarm rate 1e-6. */
static void test_machine_follows_the_law(void **state) {
    (void)state;
    static const double loss[2] = {1, 1};
    const uint64_t seed = 7701, n = 40000;
    caucus_plan *plan = endless_plan(4);
    const caucus_noise *at = &plan->svt.threshold_noise, *check = &plan->svt.check_noise;
    plan->svt.threshold[0] = 2 * plan->grid; /* so that all verdicts are likely */
    uint64_t count[CHECKS + 1] = {0};
    long double law[CHECKS + 1];
    int64_t q[CHECKS];
    for (size_t i = 0; i < CHECKS; i++) {
        q[i] = (int64_t)(i + 1) * plan->grid - caucus_growth(check->parameter, i + 1);
        law[i] = exact_epoch(at, check, plan->svt.threshold[0], q, i + 1, true);
    }
    law[CHECKS] = exact_epoch(at, check, plan->svt.threshold[0], q, CHECKS, false);
    assert_true(law[0] > 0.001L && law[CHECKS] > 0.001L);
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    for (uint64_t r = 0; r < n; r++) {
        caucus_key_derive(&run, r, &key);
        pair p = pair_open(plan, &key);
        size_t ended = 0;
        for (; ended < CHECKS; ended++) {
            pair_play(&p, loss);
            if (caucus_coordinator_selections(p.coordinator) > 0)
                break;
        }
        count[ended]++;
        pair_close(&p);
    }
    const double p = exact_chi2(count, law, CHECKS + 1, n);
    printf("  p = %.4f (seed %llu)\n", p, (unsigned long long)seed);
    assert_true(p > EXACT_P_VALUE);
    caucus_plan_free(plan);
}

static void test_restored_in_the_middle(void **state) {
    (void)state;
    static const double loss[2] = {1, 0.5};
    caucus_plan *plan = endless_plan(30);
    caucus_key key, own;
    caucus_key_from_seed(8, &key);
    caucus_key_derive(&key, 1, &own);
    pair whole = pair_open(plan, &key), torn = pair_open(plan, &key);
    for (int t = 0; t < 40; t++) {
        pair_play(&whole, loss);
        pair_play(&torn, loss);
        assert_memory_equal(caucus_coordinator_announcement(whole.coordinator),
                            caucus_coordinator_announcement(torn.coordinator), sizeof(caucus_announcement));
        restore_both(plan, &key, &own, &torn.coordinator, &torn.client);
    }
    assert_true(caucus_coordinator_selections(whole.coordinator) > 1);
    pair_close(&whole);
    pair_close(&torn);
    caucus_plan_free(plan);
}

/* After the last block that sums have room for nothing is asked, and the client plays on with the expert it has. */
static void test_ends_where_sums_are_full(void **state) {
    (void)state;
    static const double loss[2] = {0, 0};
    caucus_plan *plan = endless_plan(1);
    plan->svt.checks = 5;
    caucus_key key;
    caucus_key_from_seed(9, &key);
    pair p = pair_open(plan, &key);
    for (uint64_t t = 1; t <= 5; t++) {
        assert_int_equal(caucus_coordinator_announcement(p.coordinator)->ask, CAUCUS_ASK_COST);
        assert_true(caucus_coordinator_announcement(p.coordinator)->block == t);
        pair_play(&p, loss);
    }
    const caucus_announcement *last = caucus_coordinator_announcement(p.coordinator);
    assert_int_equal(last->ask, CAUCUS_ASK_NOTHING);
    assert_false(caucus_announcement_stops(last));
    const uint32_t expert = last->expert;
    for (int t = 0; t < 100; t++)
        assert_int_equal(caucus_client_observe(p.client, loss, 1), CAUCUS_OK);
    assert_null(caucus_client_report(p.client));
    assert_int_equal(caucus_client_expert(p.client), expert);
    pair_close(&p);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thresholds_that_grow),
        cmocka_unit_test(test_machine_follows_the_law),
        cmocka_unit_test(test_restored_in_the_middle),
        cmocka_unit_test(test_ends_where_sums_are_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
