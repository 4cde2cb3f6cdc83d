/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_client.c: stoch with unit client, exactly (docs/PRIVACY.md, statement 12).
 *
 * Claim 1 on tiny grids. Whatever a client sees, what it reports in a phase is some vector of {0..G}^d; so the worst of
 * a run is the sum over its phases of the worst pair of vectors, over all sums of the others. Controls: phases that
 * spend epsilon each, and a coordinator that does not clamp what it is sent. Then the machines play whole runs many
 * times and must follow the law that this computes, from the means of all losses so far; a client that is saved and
 * restored between any two rounds reports the same bytes; and what is above G is counted as G. */
#include "algo/exact_machines.h"
#include "dp/exact.h"

#include "algo/coordinator.h"
#include "dp/laws.h"
#include "plan/stoch.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define EXPERTS_MAX 3
#define CLIENTS 3
#define ROUNDS 16 /* growth 4: phases of 1, 3 and 12 rounds, so that epsilon is split 1 : 2 */
#define SELECTIONS 2

static caucus_plan *client_plan(caucus_trust trust, caucus_select select, uint32_t clients, uint32_t d, uint32_t grid) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, trust, 1);
    s.unit = CAUCUS_UNIT_CLIENT;
    s.select = select;
    s.message = trust == CAUCUS_TRUST_NOBODY ? CAUCUS_MESSAGE_VOTE : CAUCUS_MESSAGE_AUTO;
    s.clients = clients;
    s.experts = d;
    s.grid = grid;
    s.rounds = ROUNDS;
    s.growth = 4;
    caucus_plan *plan = exact_plan(&s);
    assert_int_equal(plan->stoch.described, SELECTIONS);
    return plan;
}

/* Vector number n of {0..most}^d. */
static void vector_at(uint32_t n, int64_t most, uint32_t d, int64_t *ret) {
    for (uint32_t y = 0; y < d; y++, n /= (uint32_t)most + 1)
        ret[y] = n % ((uint32_t)most + 1);
}

static uint32_t vectors_of(int64_t most, uint32_t d) {
    uint32_t count = 1;
    for (uint32_t y = 0; y < d; y++)
        count *= (uint32_t)most + 1;
    return count;
}

/* The largest log-ratio of one choice, over all sums of the others and all pairs of what one client may report, which
 * is at most `reach` in each coordinate. */
static long double choice_epsilon(caucus_select select, caucus_rational rate, uint32_t d, int64_t others,
                                  int64_t reach) {
    long double worst = 0, a[EXPERTS_MAX], b[EXPERTS_MAX];
    for (uint32_t o = 0; o < vectors_of(others, d); o++)
        for (uint32_t u = 0; u < vectors_of(reach, d); u++)
            for (uint32_t v = 0; v < u; v++) {
                int64_t rest[EXPERTS_MAX], here[EXPERTS_MAX], there[EXPERTS_MAX];
                vector_at(o, others, d, rest);
                vector_at(u, reach, d, here);
                vector_at(v, reach, d, there);
                for (uint32_t y = 0; y < d; y++) {
                    here[y] += rest[y];
                    there[y] += rest[y];
                }
                exact_select_law(select, here, d, rate, a);
                exact_select_law(select, there, d, rate, b);
                for (uint32_t y = 0; y < d; y++)
                    exact_raise(&worst, exact_ratio(a[y], b[y]));
            }
    return worst;
}

/* m 3, d 2, G 1: epsilon 1/3 and 2/3. */
static void test_choices(void **state) {
    (void)state;
    for (int em = 0; em <= 1; em++) {
        const caucus_select select = em ? CAUCUS_SELECT_EXPONENTIAL : CAUCUS_SELECT_FLIP;
        caucus_plan *plan = client_plan(CAUCUS_TRUST_COORDINATOR, select, CLIENTS, 2, 1);
        long double spent[SELECTIONS], all = 0, unclamped = 0;
        for (uint32_t k = 0; k < SELECTIONS; k++) {
            const caucus_rational rate = plan->stoch.phase[k].select_rate[0];
            assert_true(fabsl(2 * exact_rate(rate) - (long double)(k + 1) / 3) < 1e-9L);
            spent[k] = choice_epsilon(select, rate, 2, CLIENTS - 1, 1);
            all += spent[k];
            unclamped += choice_epsilon(select, rate, 2, CLIENTS - 1, 3);
        }
        assert_true(fabsl(all - (em ? 0.633751L : 1)) < 1e-6L);
        exact_assert(em ? "unit client, exponential" : "unit client, flip", all, 1, em ? 0.63L : 0.999999L);
        const caucus_rational last = plan->stoch.phase[1].select_rate[0];
        const caucus_rational whole = caucus_rational_make(last.num / 2 * 3, last.den); /* epsilon in every phase */
        exact_assert_broken("epsilon in every phase", 2 * choice_epsilon(select, whole, 2, CLIENTS - 1, 1), 1,
                            em ? 1.3L : 1.9999L);
        exact_assert_broken("reports that are not clamped", unclamped, 1, em ? 1.5L : 2.89L);
        caucus_plan_free(plan);
    }
}

/* One vote over all of {0..G}^d, in closed form. */
static void test_votes(void **state) {
    (void)state;
    for (uint32_t d = 2; d <= EXPERTS_MAX; d++)
        for (uint32_t grid = 1; grid <= 3; grid++) {
            caucus_plan *plan = client_plan(CAUCUS_TRUST_NOBODY, CAUCUS_SELECT_AUTO, 1, d, grid);
            long double all = 0;
            for (uint32_t k = 0; k < SELECTIONS; k++) {
                const caucus_rational rate = plan->stoch.phase[k].vote_rate;
                const long double e = 2 * exact_rate(rate) * grid;
                const long double one = choice_epsilon(CAUCUS_SELECT_FLIP, rate, d, 0, grid);
                assert_true(fabsl(e - (long double)(k + 1) / 3) < 1e-9L);
                assert_true(fabsl(one - (e + logl(1 - powl(1 - expl(-e / 2), d)))) < 1e-9L);
                const long double em = choice_epsilon(CAUCUS_SELECT_EXPONENTIAL, rate, d, 0, grid);
                const long double up = 1 + (d - 1) * expl(e / 2), down = 1 + (d - 1) * expl(-e / 2);
                assert_true(fabsl(em - logl(up / down)) < 1e-9L);
                all += one;
            }
            exact_assert("unit client, votes", all, 1, 0.89L);
            caucus_plan_free(plan);
        }
}

/* ---- the machines ---- */

static double loss_of(uint32_t client, uint64_t round, uint32_t y) {
    return (double)((client * 3 + round * 5 + y * (round < 4 ? 1 : 2) + round * y) % 3 == 0);
}

/* What a client reports for phase p: of all rounds before it. */
static void mean_before(const caucus_plan *plan, uint64_t p, uint32_t client, int64_t *ret) {
    const int64_t n = (int64_t)caucus_stoch_first(&plan->settings, p) - 1;
    for (uint32_t y = 0; y < 2; y++) {
        int64_t sum = 0;
        for (int64_t t = 1; t <= n; t++)
            sum += (int64_t)loss_of(client, (uint64_t)t, y) * plan->grid;
        ret[y] = (2 * sum + n) / (2 * n);
    }
}

/* P(expert 1 is chosen for phase p). */
static long double second_chosen(const caucus_plan *plan, uint64_t p) {
    const caucus_stoch_phase *learner = caucus_stoch_phase_of(plan, p);
    int64_t sum[2] = {0, 0};
    for (uint32_t i = 1; i <= plan->settings.clients; i++) {
        int64_t mean[2];
        mean_before(plan, p, i, mean);
        sum[0] += mean[0];
        sum[1] += mean[1];
    }
    long double law[2];
    if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR)
        exact_select_law(plan->stoch.select, sum, 2, learner->select_rate[0], law);
    else
        caucus_select_flip_law(sum, 2, learner->vote_rate, law); /* of one client: its vote is the choice */
    return law[1];
}

/* Save a client and go on with what is restored from it, under another key. */
static void restart(const caucus_plan *plan, uint32_t index, const caucus_key *key, caucus_client **client) {
    const size_t bytes = caucus_client_state_bytes(*client);
    uint8_t *state = malloc(bytes);
    caucus_client *restored = NULL;
    assert_non_null(state);
    assert_int_equal(caucus_client_save(*client, state, bytes), CAUCUS_OK);
    assert_int_equal(caucus_client_restore(plan, index, key, state, bytes, &restored), CAUCUS_OK);
    free(state);
    caucus_client_free(*client);
    *client = restored;
}

static uint32_t play(const caucus_plan *plan, const caucus_key *key, bool restarts) {
    caucus_coordinator *coordinator = NULL;
    caucus_client *client[CLIENTS] = {NULL};
    const uint32_t m = plan->settings.clients;
    caucus_key own;
    uint32_t transcript = 0, bits = 0;
    caucus_key_derive(key, 0, &own);
    assert_int_equal(caucus_coordinator_new(plan, &own, &coordinator), CAUCUS_OK);
    for (uint32_t i = 0; i < m; i++) {
        caucus_key_derive(key, i + 1, &own);
        assert_int_equal(caucus_client_new(plan, i + 1, &own, &client[i]), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(client[i], caucus_coordinator_announcement(coordinator)), CAUCUS_OK);
    }
    while (caucus_coordinator_announcement(coordinator)->ask != CAUCUS_ASK_NOTHING) {
        for (uint32_t i = 0; i < m; i++) {
            caucus_key_derive(key, i + 1, &own);
            while (caucus_client_rounds_left(client[i]) > 0) {
                const double row[2] = {loss_of(i + 1, caucus_client_round(client[i]) + 1, 0),
                                       loss_of(i + 1, caucus_client_round(client[i]) + 1, 1)};
                assert_int_equal(caucus_client_observe(client[i], row, 1), CAUCUS_OK);
                if (restarts)
                    restart(plan, i + 1, &own, &client[i]);
            }
            const caucus_report *report = caucus_client_report(client[i]);
            if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR) {
                int64_t mean[2];
                mean_before(plan, report->block, i + 1, mean);
                assert_memory_equal(report->value, mean, sizeof mean);
            }
            if (restarts) { /* a report that was made is sent as it is */
                const int64_t first = report->value[0];
                restart(plan, i + 1, key, &client[i]);
                report = caucus_client_report(client[i]);
                assert_int_equal(report->value[0], first);
            }
            assert_int_equal(caucus_coordinator_receive(coordinator, report), CAUCUS_OK);
        }
        assert_int_equal(caucus_coordinator_decide(coordinator), CAUCUS_OK);
        transcript |= caucus_coordinator_announcement(coordinator)->expert << bits++;
        machines_hear(client, m, coordinator);
    }
    assert_int_equal(bits, SELECTIONS);
    machines_free(client, m, coordinator);
    return transcript;
}

/* n runs each, false-alarm rate 1e-6, seed fixed. */
static void test_machines_follow_the_law(void **state) {
    (void)state;
    const uint64_t seed = 7600, n = 40000;
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    for (uint64_t kind = 0; kind < 3; kind++) {
        const bool nobody = kind == 2;
        caucus_plan *plan = client_plan(nobody ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR,
                                        nobody      ? CAUCUS_SELECT_AUTO
                                        : kind == 0 ? CAUCUS_SELECT_FLIP
                                                    : CAUCUS_SELECT_EXPONENTIAL,
                                        nobody ? 1 : CLIENTS, 2, 4);
        uint64_t count[1 << SELECTIONS] = {0};
        long double law[1 << SELECTIONS], least = 1;
        for (uint32_t t = 0; t < 1 << SELECTIONS; t++) {
            law[t] = 1;
            for (uint32_t k = 0; k < SELECTIONS; k++) {
                const long double second = second_chosen(plan, k + 2);
                law[t] *= t >> k & 1 ? second : 1 - second;
                least = fminl(least, fminl(second, 1 - second));
            }
        }
        assert_true(least < 0.48L); /* the means differ, or nothing would be shown */
        for (uint64_t r = 0; r < n; r++) {
            caucus_key_derive(&run, kind * n + r, &key);
            count[play(plan, &key, r < 50)]++;
        }
        const double p = exact_chi2(count, law, 1 << SELECTIONS, n);
        printf("  kind %d: p = %.4f (seed %llu)\n", (int)kind, p, (unsigned long long)seed);
        assert_true(p > EXACT_P_VALUE);
        caucus_plan_free(plan);
    }
}

/* Whatever a client sends, it moves a sum by at most G. */
static void test_reports_are_clamped(void **state) {
    (void)state;
    caucus_plan *plan = client_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_SELECT_FLIP, 2, 2, 4);
    caucus_coordinator *coordinator = NULL;
    caucus_key key;
    caucus_key_from_seed(3, &key);
    assert_int_equal(caucus_coordinator_new(plan, &key, &coordinator), CAUCUS_OK);
    const int64_t lies[2] = {plan->grid * ROUNDS, -7};
    const caucus_report report = {
        .client = 1, .kind = CAUCUS_ASK_LEAF, .first = 2, .block = 2, .count = 2, .value = lies};
    assert_int_equal(caucus_coordinator_receive(coordinator, &report), CAUCUS_OK);
    assert_int_equal(coordinator->sum[0], plan->grid);
    assert_int_equal(coordinator->sum[1], 0);
    caucus_coordinator_free(coordinator);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_machines_follow_the_law),
        cmocka_unit_test(test_reports_are_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
