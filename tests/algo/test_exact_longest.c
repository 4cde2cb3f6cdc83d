/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_longest.c: stoch with a longest phase, exactly (docs/PRIVACY.md, statement 14).
 *
 * Claim 1 on tiny grids: a loss is in the sums of one phase, and those enter one selection (or, with weights on earlier
 * phases, several that add up to the same), so the law of the whole transcript moves by e^1 at most, however long the
 * run. All sums, every phase in which a loss may sit, every pair of its values. Controls: a selection that also looks
 * at the phase before without paying for it, and one that pays for weights as if they were one. Then the machines play
 * whole runs many times and must follow the law that this computes: schedule, and what is forgotten. */
#include "algo/exact_machines.h"
#include "dp/exact.h"

#include "dp/laws.h"
#include "plan/stoch.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define EXPERTS 2
#define PHASES 6 /* that learn; lengths 1, 2, 2, .. */

static caucus_plan *longest_plan(caucus_trust trust, caucus_select select, uint32_t clients, uint64_t rounds) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, trust, 1);
    s.select = select;
    s.clients = clients;
    s.grid = 1;
    s.longest_phase = 2;
    s.rounds = rounds;
    return exact_plan(&s);
}

/* The largest log-ratio of a transcript when one loss of phase `star` is replaced and every phase's sums (as a gap) are
 * at one of their extremes or level; selections are independent given the sums, so the worst transcript is a sum. */
static long double run_epsilon(const caucus_plan *plan, const uint64_t *weight, uint32_t ages, caucus_rational rate) {
    long double worst = 0;
    int64_t span[PHASES], g[PHASES];
    uint32_t levels = 1;
    for (uint32_t q = 0; q < PHASES; q++) {
        span[q] = plan->grid * (int64_t)caucus_stoch_length(&plan->settings, q + 1) * plan->settings.clients;
        levels *= 3;
    }
    for (uint32_t level = 0; level < levels; level++)
        for (uint32_t star = 0; star < PHASES; star++)
            for (int64_t move = 1; move <= 2 * plan->grid; move++) {
                for (uint32_t q = 0, rest = level; q < PHASES; q++, rest /= 3)
                    g[q] = ((int64_t)(rest % 3) - 1) * span[q];
                if (g[star] + move > span[star])
                    g[star] = span[star] - move;
                long double total = 0;
                for (uint32_t q = star; q < PHASES && q < star + ages; q++) {
                    int64_t gap = 0;
                    for (uint32_t age = 0; age <= q && age < ages; age++)
                        gap += (int64_t)weight[age] * g[q - age];
                    const int64_t here[2] = {0, gap}, there[2] = {0, gap + (int64_t)weight[q - star] * move};
                    long double a[2], b[2];
                    exact_select_law(plan->stoch.select, here, 2, rate, a);
                    exact_select_law(plan->stoch.select, there, 2, rate, b);
                    total += fmaxl(exact_ratio(a[0], b[0]), exact_ratio(a[1], b[1]));
                }
                exact_raise(&worst, total);
            }
    return worst;
}

static void test_one_loss_one_selection(void **state) {
    (void)state;
    static const uint64_t alone[1] = {1}, both[2] = {1, 1};
    for (int em = 0; em <= 1; em++) {
        caucus_plan *plan = longest_plan(CAUCUS_TRUST_COORDINATOR, em ? CAUCUS_SELECT_EXPONENTIAL : CAUCUS_SELECT_FLIP,
                                         2, 1 + 2 * PHASES);
        const caucus_rational rate = plan->stoch.phase[plan->stoch.described - 1].select_rate[0];
        assert_int_equal(plan->stoch.phases, PHASES + 1);
        assert_true(plan->guarantee.epsilon_choices <= 1);
        exact_assert(em ? "longest phase, exponential" : "longest phase, flip", run_epsilon(plan, alone, 1, rate), 1,
                     em ? 0.8L : 0.999999L);
        exact_assert_broken("the phase before weighs in unpaid", run_epsilon(plan, both, 2, rate), 1, em ? 1.5L : 1.9L);
        caucus_plan_free(plan);
    }
}

/* The exponential mechanism reaches its epsilon in the limit alone: with a gap of at most 5 it is ln((1 + e^2.5)/(1 +
 * e^1.5)) = .877. */
static void test_exponential_value(void **state) {
    (void)state;
    caucus_plan *plan = longest_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_SELECT_EXPONENTIAL, 2, 9);
    const int64_t here[2] = {0, -5}, there[2] = {0, -3};
    long double a[2], b[2];
    exact_select_law(CAUCUS_SELECT_EXPONENTIAL, here, 2, plan->stoch.phase[1].select_rate[0], a);
    exact_select_law(CAUCUS_SELECT_EXPONENTIAL, there, 2, plan->stoch.phase[1].select_rate[0], b);
    assert_true(fabsl(exact_ratio(a[0], b[0]) - 0.8775L) < 1e-4L);
    caucus_plan_free(plan);
}

static void test_weights_on_earlier_phases(void **state) {
    (void)state;
    static const uint64_t weight[4] = {8, 4, 2, 1};
    caucus_plan *plan = longest_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_SELECT_FLIP, 2, 1 + 2 * PHASES);
    caucus_stoch_plan *stoch = &plan->stoch;
    const caucus_rational alone = stoch->phase[stoch->described - 1].select_rate[0];
    const caucus_rational paid = caucus_rational_make(alone.num, alone.den / 16 * 15 * 16); /* over 15: exactly */
    stoch->past = 4;
    for (uint32_t a = 0; a < 4; a++)
        stoch->past_weights[a] = weight[a];
    caucus_guarantee g;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE); /* 15 times too much */
    for (uint32_t i = 0; i < stoch->described; i++)
        stoch->phase[i].select_rate[0] = paid;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_OK);
    exact_assert("weights 8, 4, 2, 1", run_epsilon(plan, weight, 4, paid), 1, 0.999999L);
    /* As if only the newest phase counted: 15/8 of what is claimed. */
    const caucus_rational unpaid = caucus_rational_make(alone.num, alone.den * 8);
    exact_assert_broken("weights paid for as the first alone", run_epsilon(plan, weight, 4, unpaid), 1, 1.8L);
    caucus_plan_free(plan);
}

/* ---- the machines ---- */

#define ROUNDS 9 /* phases of 1, 2, 2, 2, 2 rounds: four selections */
#define SELECTIONS 4
#define CLIENTS 2

/* Whole losses, so that sums are easily told: what was good at first is bad at the end. */
static double loss_of(uint32_t client, uint64_t round, uint32_t y) {
    return (double)((client * 3 + round * 5 + y * (round < 4 ? 1 : 2) + round * y) % 3 == 0);
}

static void phase_sums(const caucus_settings *s, uint64_t p, uint32_t client, int64_t *ret) {
    ret[0] = ret[1] = 0;
    for (uint64_t t = caucus_stoch_first(s, p); t < caucus_stoch_first(s, p + 1); t++)
        for (uint32_t y = 0; y < EXPERTS; y++)
            ret[y] += (int64_t)loss_of(client, t, y);
}

/* P(expert 1 is chosen from phase p alone). */
static long double second_chosen(const caucus_plan *plan, uint64_t p) {
    const caucus_stoch_phase *learner = caucus_stoch_phase_of(plan, p + 1);
    int64_t sum[CLIENTS][2];
    long double law[CLIENTS][2];
    for (uint32_t i = 0; i < CLIENTS; i++)
        phase_sums(&plan->settings, p, i + 1, sum[i]);
    if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR) {
        const int64_t all[2] = {sum[0][0] + sum[1][0], sum[0][1] + sum[1][1]};
        exact_select_law(plan->stoch.select, all, 2, learner->select_rate[0], law[0]);
        return law[0][1];
    }
    for (uint32_t i = 0; i < CLIENTS; i++)
        caucus_select_flip_law(sum[i], 2, learner->vote_rate, law[i]);
    return law[0][1] * law[1][1] + (law[0][0] * law[1][1] + law[0][1] * law[1][0]) / 2; /* both, or a tie */
}

static uint32_t play(const caucus_plan *plan, const caucus_key *key) {
    caucus_coordinator *coordinator = NULL;
    caucus_client *client[CLIENTS] = {NULL};
    caucus_key own;
    uint32_t transcript = 0, bits = 0;
    caucus_key_derive(key, 0, &own);
    assert_int_equal(caucus_coordinator_new(plan, &own, &coordinator), CAUCUS_OK);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        caucus_key_derive(key, i + 1, &own);
        assert_int_equal(caucus_client_new(plan, i + 1, &own, &client[i]), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(client[i], caucus_coordinator_announcement(coordinator)), CAUCUS_OK);
    }
    while (caucus_coordinator_announcement(coordinator)->ask != CAUCUS_ASK_NOTHING) {
        for (uint32_t i = 0; i < CLIENTS; i++) {
            while (caucus_client_rounds_left(client[i]) > 0) {
                double row[EXPERTS];
                for (uint32_t y = 0; y < EXPERTS; y++)
                    row[y] = loss_of(i + 1, caucus_client_round(client[i]) + 1, y);
                assert_int_equal(caucus_client_observe(client[i], row, 1), CAUCUS_OK);
            }
            assert_int_equal(caucus_coordinator_receive(coordinator, caucus_client_report(client[i])), CAUCUS_OK);
        }
        assert_int_equal(caucus_coordinator_decide(coordinator), CAUCUS_OK);
        transcript |= caucus_coordinator_announcement(coordinator)->expert << bits++;
        machines_hear(client, CLIENTS, coordinator);
    }
    assert_int_equal(bits, SELECTIONS);
    machines_free(client, CLIENTS, coordinator);
    return transcript;
}

/* n runs each, false-alarm rate 1e-6, seed fixed. */
static void test_machines_follow_the_law(void **state) {
    (void)state;
    const uint64_t seed = 7600, n = 40000;
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    for (uint64_t kind = 0; kind < 3; kind++) {
        caucus_plan *plan = longest_plan(kind == 2 ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR,
                                         kind == 0   ? CAUCUS_SELECT_FLIP
                                         : kind == 1 ? CAUCUS_SELECT_EXPONENTIAL
                                                     : CAUCUS_SELECT_AUTO,
                                         CLIENTS, ROUNDS);
        assert_int_equal(plan->stoch.message == CAUCUS_MESSAGE_VOTE, kind == 2);
        uint64_t count[1 << SELECTIONS] = {0};
        long double law[1 << SELECTIONS], least = 1;
        for (uint32_t t = 0; t < 1 << SELECTIONS; t++) {
            law[t] = 1;
            for (uint32_t k = 0; k < SELECTIONS; k++) {
                const long double second = second_chosen(plan, k + 1);
                law[t] *= t >> k & 1 ? second : 1 - second;
                least = fminl(least, fminl(second, 1 - second));
            }
        }
        assert_true(least < 0.45L); /* the phases differ, or nothing would be shown */
        for (uint64_t r = 0; r < n; r++) {
            caucus_key_derive(&run, kind * n + r, &key);
            count[play(plan, &key)]++;
        }
        const double p = exact_chi2(count, law, 1 << SELECTIONS, n);
        printf("  kind %d: p = %.4f (seed %llu)\n", (int)kind, p, (unsigned long long)seed);
        assert_true(p > EXACT_P_VALUE);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_loss_one_selection),
        cmocka_unit_test(test_exponential_value),
        cmocka_unit_test(test_weights_on_earlier_phases),
        cmocka_unit_test(test_machines_follow_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
