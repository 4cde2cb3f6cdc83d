/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_adaptive.c: Fed-Hedge against losses that follow what was announced, exactly (docs/PRIVACY.md, "Fed-Hedge"
 * and "Bounds").
 *
 * A draw is fresh in every block, so its expected loss is <p_n, c_n> whatever was announced before, and the bound for
 * losses fixed in advance holds on every path: for all c_n that depend on x_1 .. x_(n-1). All such adversaries are
 * enumerated on a tiny grid. Outside it: losses that see the expert in force, x_n, which is announced at the beginning
 * of its block; they must be seen to break the bound. Then the machines meet one adversary of each kind many times: the
 * expert of the block before loses, or the one in force; the first must come to what is computed, within the bound. */
#include "dp/exact.h"

#include "dp/laws.h"
#include "plan/plan.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define EXPERTS 2

static caucus_plan *hedge_plan(uint64_t rounds, uint64_t interval, double epsilon) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, epsilon);
    s.grid = 1;
    s.rounds = rounds;
    s.interval = interval;
    return exact_plan(&s);
}

/* ln d/e_H + e_H T N/8, without what a plan adds for the rounding of losses: here they are on the grid. */
static double bound_of(const caucus_plan *plan) {
    const double e = plan->hedge.learning_rate, rounds = (double)plan->settings.rounds;
    const double bound = log(EXPERTS) / e + e * rounds * (double)plan->settings.interval / 8;
    assert_true(bound <= plan->bound_uncapped);
    return bound;
}

static void law_of(const caucus_plan *plan, const int64_t *cum, long double *ret) {
    if (plan->hedge.rate.num > 0)
        caucus_select_exponential_law(cum, EXPERTS, plan->hedge.rate, ret);
    else
        ret[0] = ret[1] = 0.5L;
}

/* The most that what is left of a run can cost over the best expert in the end, over all adversaries whose losses of
 * this block are 0 or 1 and may depend on everything announced and lost before it; with `present` also on the expert
 * in force. (That it depends on the experts before by the losses alone is what this shows: the choice is made anew for
 * each of them.) */
static long double worst(const caucus_plan *plan, uint64_t left, int64_t a, int64_t b, bool present) {
    const int64_t cum[EXPERTS] = {a, b};
    if (left == 0)
        return -(long double)(a < b ? a : b);
    long double p[EXPERTS], best = -1e9L, each[EXPERTS] = {-1e9L, -1e9L};
    law_of(plan, cum, p);
    for (int64_t c = 0; c < 4; c++) {
        const int64_t loss[EXPERTS] = {c & 1, c >> 1};
        long double value[EXPERTS], all = 0;
        for (uint32_t x = 0; x < EXPERTS; x++) {
            value[x] = (long double)loss[x] + worst(plan, left - 1, a + loss[0], b + loss[1], present);
            each[x] = fmaxl(each[x], value[x]);
            all += p[x] * value[x];
        }
        best = fmaxl(best, all);
    }
    return present ? p[0] * each[0] + p[1] * each[1] : best;
}

static void test_all_adversaries(void **state) {
    (void)state;
    static const double epsilons[] = {0.5, 2, 8, (double)INFINITY};
    for (size_t i = 0; i < sizeof epsilons / sizeof epsilons[0]; i++) {
        caucus_plan *plan = hedge_plan(7, 1, epsilons[i]);
        const long double bound = bound_of(plan);
        const long double past = worst(plan, 7, 0, 0, false), present = worst(plan, 7, 0, 0, true);
        printf("  epsilon %g: %.4Lf of a bound of %.4Lf; seeing the expert in force %.4Lf\n", epsilons[i], past, bound,
               present);
        assert_true(past <= bound);
        assert_true(past > 0.3L); /* not a test of nothing */
        assert_true(present > past + 1);
        if (isinf(epsilons[i]))
            assert_true(past > 0.5L * bound && present > 1.5L * bound); /* outside the theorem, and above it */
        caucus_plan_free(plan);
    }
}

/* ---- the machines ---- */

#define ROUNDS 48
#define INTERVAL 2
#define BLOCKS (ROUNDS / INTERVAL)

/* E[regret] where the expert of the block before loses in every round and the other does not: from the law of sums and
 * of the expert before, block by block. */
static long double expected(const caucus_plan *plan) {
    static long double now[BLOCKS + 1][BLOCKS + 1][EXPERTS], next[BLOCKS + 1][BLOCKS + 1][EXPERTS];
    long double cost = 0, best = 0;
    memset(now, 0, sizeof now);
    now[0][0][0] = now[0][0][1] = 0.5L; /* the first draw has seen nothing; nobody loses in its block */
    for (uint32_t n = 1; n < BLOCKS; n++) {
        memset(next, 0, sizeof next);
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = 0; b < n; b++)
                for (uint32_t before = 0; before < EXPERTS; before++) {
                    const long double here = now[a][b][before];
                    const int64_t cum[EXPERTS] = {a * INTERVAL, b * INTERVAL};
                    long double p[EXPERTS];
                    if (here <= 0)
                        continue;
                    law_of(plan, cum, p);
                    cost += here * p[before] * INTERVAL;
                    for (uint32_t x = 0; x < EXPERTS; x++)
                        next[a + (before == 0)][b + (before == 1)][x] += here * p[x];
                }
        memcpy(now, next, sizeof now);
    }
    for (int64_t a = 0; a <= BLOCKS; a++)
        for (int64_t b = 0; b <= BLOCKS; b++)
            best += (now[a][b][0] + now[a][b][1]) * (long double)((a < b ? a : b) * INTERVAL);
    return cost - best;
}

/* One run; `present`: the expert in force loses in place of the one before. */
static double play(const caucus_plan *plan, const caucus_key *key, bool present) {
    caucus_coordinator *coordinator = NULL;
    caucus_client *client = NULL;
    caucus_key own;
    int64_t total[EXPERTS] = {0, 0}, cost = 0;
    uint32_t before = EXPERTS; /* of the block before: none */
    caucus_key_derive(key, 0, &own);
    assert_int_equal(caucus_coordinator_new(plan, &own, &coordinator), CAUCUS_OK);
    caucus_key_derive(key, 1, &own);
    assert_int_equal(caucus_client_new(plan, 1, &own, &client), CAUCUS_OK);
    assert_int_equal(caucus_client_hear(client, caucus_coordinator_announcement(coordinator)), CAUCUS_OK);
    while (caucus_client_rounds_left(client) > 0) {
        const uint32_t in_force = caucus_client_expert(client), loser = present ? in_force : before;
        for (uint64_t n = 0; n < INTERVAL; n++) {
            const double row[EXPERTS] = {loser == 0, loser == 1};
            assert_int_equal(caucus_client_observe(client, row, 1), CAUCUS_OK);
        }
        cost += loser == in_force ? INTERVAL : 0;
        if (loser < EXPERTS)
            total[loser] += INTERVAL;
        before = in_force;
        const caucus_report *report = caucus_client_report(client);
        if (!report)
            continue; /* the last block is not reported */
        assert_int_equal(caucus_coordinator_receive(coordinator, report), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_decide(coordinator), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(client, caucus_coordinator_announcement(coordinator)), CAUCUS_OK);
    }
    assert_int_equal(caucus_client_round(client), ROUNDS);
    caucus_client_free(client);
    caucus_coordinator_free(coordinator);
    return (double)(cost - (total[0] < total[1] ? total[0] : total[1]));
}

/* 6 standard errors: false-alarm rate 2e-9; the seed is fixed. */
static void test_machines(void **state) {
    (void)state;
    const uint64_t seed = 811, runs = 20000;
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    caucus_plan *plan = hedge_plan(ROUNDS, INTERVAL, 40);
    for (int present = 0; present <= 1; present++) {
        double sum = 0, squares = 0;
        for (uint64_t r = 0; r < runs; r++) {
            caucus_key_derive(&run, (uint64_t)present * runs + r, &key);
            const double regret = play(plan, &key, present);
            sum += regret;
            squares += regret * regret;
        }
        const double mean = sum / (double)runs, error = sqrt((squares / (double)runs - mean * mean) / (double)runs);
        printf("  %s: %.3f ± %.3f of a bound of %.3f (seed %llu)\n", present ? "the expert in force" : "the one before",
               mean, error, bound_of(plan), (unsigned long long)seed);
        if (present) {
            assert_true(mean > 2 * bound_of(plan)); /* outside the theorem */
            continue;
        }
        const double want = (double)expected(plan);
        assert_true(fabs(mean - want) < 6 * error);
        assert_true(want <= bound_of(plan) && fabs(want) > 20 * error);
    }
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_adversaries),
        cmocka_unit_test(test_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
