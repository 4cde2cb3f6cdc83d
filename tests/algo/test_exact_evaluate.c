/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_evaluate.c: stoch with few evaluations, exactly (docs/PRIVACY.md, statement 15).
 *
 * Claim 1 on tiny grids, for every sum that clients can make and every record that can be replaced: one expert of one
 * round costs f = 1, everything else f = 2. Controls that must fail: W as if all experts had been evaluated equally
 * often; f = 1 where two scores move against each other, in one round or in the rounds of one client; and for unit
 * client, where the costs of all selections add up, epsilon in each of them. Then the machines
 * play whole runs many times, with clients that stay away, and must follow the law that this computes. */
#include "algo/exact_machines.h"
#include "dp/exact.h"

#include "algo/borrowed_rows.h"
#include "algo/client.h"
#include "algo/coordinator.h"
#include "dp/laws.h"
#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define MOST 3 /* experts */

static caucus_plan *some_plan(caucus_select select, caucus_unit unit, uint32_t m, uint32_t d, uint32_t k, uint64_t t) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 1);
    s.select = select;
    s.unit = unit;
    s.clients = m;
    s.experts = d;
    s.evaluate = k;
    s.grid = 1;
    s.rounds = t;
    s.growth = unit == CAUCUS_UNIT_CLIENT ? 4 : s.growth;
    return exact_plan(&s);
}

/* P(y) of all experts from sums and counts, at a width and a factor that need not be the right ones. */
static void law_at(const caucus_plan *plan, caucus_rational budget, const int64_t *sum, const uint64_t *count,
                   uint64_t width, uint64_t factor, long double *ret) {
    int64_t score[MOST];
    uint32_t who[MOST];
    uint64_t least, most;
    long double law[MOST];
    caucus_rational rate;
    const uint32_t n = caucus_evaluate_scores(plan, sum, count, score, who, &least, &most);
    const uint64_t right = caucus_evaluate_factor(plan);
    assert_true(caucus_evaluate_rate(plan, budget, width, &rate));
    if (factor < right)
        rate = caucus_rational_make(rate.num * right / factor, rate.den);
    exact_select_law(plan->stoch.select, score, n, rate, law);
    for (uint32_t y = 0; y < plan->settings.experts; y++)
        ret[y] = 0;
    for (uint32_t i = 0; i < n; i++)
        ret[who[i]] = law[i];
}

static long double largest(const caucus_plan *plan, caucus_rational budget, const int64_t *a, const int64_t *b,
                           const uint64_t *count, uint64_t width, uint64_t factor) {
    long double p[MOST], q[MOST], worst = 0;
    law_at(plan, budget, a, count, width, factor, p);
    law_at(plan, budget, b, count, width, factor, q);
    for (uint32_t y = 0; y < plan->settings.experts; y++)
        exact_raise(&worst, exact_ratio(p[y], q[y]));
    return worst;
}

/* Every vector of sums 0 .. count (grid 1), and every way in which `moved` experts (1 or 2) of it can move by one loss
 * each, in either direction. */
static long double worst_at(const caucus_plan *plan, caucus_rational budget, const uint64_t *count, uint32_t moved,
                            uint64_t width, uint64_t factor) {
    const uint32_t d = plan->settings.experts;
    long double worst = 0;
    int64_t sum[MOST] = {0};
    for (;;) {
        for (uint32_t y = 0; y < d; y++)
            for (uint32_t z = 0; z < d; z++)
                for (int up = 0; up < 4; up++) {
                    int64_t other[MOST];
                    memcpy(other, sum, sizeof other);
                    other[y] += up & 1 ? 1 : -1;
                    if (moved == 2 && z != y)
                        other[z] += up & 2 ? 1 : -1;
                    bool fits = true;
                    for (uint32_t x = 0; x < d; x++)
                        fits = fits && other[x] >= 0 && other[x] <= (int64_t)count[x];
                    if (fits)
                        exact_raise(&worst, largest(plan, budget, sum, other, count, width, factor));
                }
        uint32_t at = 0;
        while (at < d && sum[at] == (int64_t)count[at])
            sum[at++] = 0;
        if (at == d)
            return worst;
        sum[at]++;
    }
}

/* Of the first selection; where a record is in one of them they are all alike. */
static long double worst_of(const caucus_plan *plan, const uint64_t *count, uint32_t moved, uint64_t width,
                            uint64_t factor) {
    return worst_at(plan, plan->stoch.phase[0].select_budget, count, moved, width, factor);
}

static uint64_t width_of(const caucus_plan *plan, const uint64_t *count) {
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t y = 0; y < plan->settings.experts; y++) {
        least = count[y] > 0 && count[y] < least ? count[y] : least;
        most = count[y] > most ? count[y] : most;
    }
    return caucus_evaluate_width(plan, least, most);
}

static void test_one_expert(void **state) {
    (void)state;
    static const uint64_t even[3] = {2, 2, 2}, uneven[3] = {4, 3, 3}, gap[3] = {2, 0, 1};
    for (int em = 0; em <= 1; em++) {
        const caucus_select select = em ? CAUCUS_SELECT_EXPONENTIAL : CAUCUS_SELECT_FLIP;
        caucus_plan *plan = some_plan(select, CAUCUS_UNIT_EVENT, 6, 3, 1, 16);
        assert_true(plan->guarantee.epsilon_choices <= 1);
        assert_int_equal(caucus_evaluate_factor(plan), 1);
        const long double reached = em ? 0.6L : 0.999999L;
        exact_assert("one expert, even", worst_of(plan, even, 1, width_of(plan, even), 1), 1, reached);
        exact_assert("one expert, uneven", worst_of(plan, uneven, 1, width_of(plan, uneven), 1), 1, reached);
        exact_assert("one expert, one not evaluated", worst_of(plan, gap, 1, width_of(plan, gap), 1), 1, reached);
        if (!em) {
            exact_assert_broken("W without the scaling", worst_of(plan, gap, 1, (uint64_t)plan->grid, 1), 1, 1.9L);
            exact_assert_broken("W without the scaling, 4/3", worst_of(plan, uneven, 1, (uint64_t)plan->grid, 1), 1,
                                1.9L); /* floor(4 s/3) takes steps of 2 */
        }
        caucus_plan_free(plan);
    }
}

static void test_two_experts(void **state) {
    (void)state;
    static const uint64_t even[3] = {2, 2, 2}, uneven[3] = {4, 3, 3};
    caucus_plan *plan = some_plan(CAUCUS_SELECT_FLIP, CAUCUS_UNIT_EVENT, 3, 3, 2, 16);
    assert_int_equal(caucus_evaluate_factor(plan), 2);
    exact_assert("two experts, even", worst_of(plan, even, 2, width_of(plan, even), 2), 1, 0.75L);
    exact_assert("two experts, uneven", worst_of(plan, uneven, 2, width_of(plan, uneven), 2), 1, 0.75L);
    exact_assert_broken("two experts paid for as one", worst_of(plan, even, 2, width_of(plan, even), 1), 1, 1.7L);
    caucus_plan_free(plan);
    /* One expert a round, and the rounds of one client are one record: both its means move. */
    plan = some_plan(CAUCUS_SELECT_FLIP, CAUCUS_UNIT_CLIENT_BLOCK, 3, 3, 1, 16);
    assert_int_equal(caucus_evaluate_factor(plan), 2);
    exact_assert("a client's means", worst_of(plan, even, 2, width_of(plan, even), 2), 1, 0.75L);
    exact_assert_broken("a client's means paid for as one loss", worst_of(plan, even, 2, width_of(plan, even), 1), 1,
                        1.7L);
    caucus_plan_free(plan);
}

/* Unit client, growth 4, 16 rounds: two selections, at epsilon 1/3 and 2/3. In the first a client has evaluated one
 * expert, in the second up to three; whatever it saw, its means move by G at most. Their worst cases add up. */
static void test_unit_client(void **state) {
    (void)state;
    static const uint64_t first[3] = {2, 2, 2}, uneven[3] = {4, 3, 3}, gap[3] = {2, 0, 1};
    caucus_plan *plan = some_plan(CAUCUS_SELECT_FLIP, CAUCUS_UNIT_CLIENT, 3, 3, 1, 16);
    assert_int_equal(plan->stoch.described, 2);
    assert_int_equal(caucus_evaluate_factor(plan), 2);
    assert_true(plan->guarantee.epsilon_choices <= 1);
    const caucus_rational third = plan->stoch.phase[0].select_budget, rest = plan->stoch.phase[1].select_budget;
    assert_true(fabsl(exact_rate(third) - 1.0L / 3) < 1e-9L && fabsl(exact_rate(rest) - 2.0L / 3) < 1e-9L);
    const uint64_t *const counts[3] = {first, uneven, gap};
    for (int i = 0; i < 3; i++) {
        const uint64_t w = width_of(plan, counts[i]), unscaled = (uint64_t)plan->grid;
        const long double all = worst_at(plan, third, counts[i], 2, w, 2) + worst_at(plan, rest, counts[i], 2, w, 2);
        exact_assert("unit client", all, 1, 0.7L);
        exact_assert_broken("epsilon in each selection",
                            2 * worst_at(plan, (caucus_rational){1, 1}, counts[i], 2, w, 2), 1, 1.3L);
        exact_assert_broken("a client's means paid for as one evaluation",
                            worst_at(plan, third, counts[i], 2, w, 1) + worst_at(plan, rest, counts[i], 2, w, 1), 1,
                            1.3L);
        if (i > 0)
            exact_assert_broken("W without the scaling",
                                worst_at(plan, third, counts[i], 2, unscaled, 2) +
                                    worst_at(plan, rest, counts[i], 2, unscaled, 2),
                                1, 1.3L);
    }
    caucus_plan_free(plan);
}

/* ---- the machines ---- */

#define CLIENTS 5
#define EXPERTS 3
#define ROUNDS 8 /* phases of 1, 2, 4, 1 rounds: three selections */
#define SELECTIONS 3

/* Whole losses; client `absent` of a phase does not report on it. */
static double loss_of(uint32_t client, uint64_t round, uint32_t y) {
    return (double)((client * 5 + round * 3 + y * (round + client)) % 4 == 0);
}

static bool reports(uint64_t block, uint32_t client) {
    return !(block == 3 && client == 2) && !(block == 4 && client != 1 && client != 4); /* then most are missing */
}

/* The law of the choice that block `block` leads to, by hand: losses that were evaluated, of those who report; of the
 * phase before it, unit client: of all rounds before it. */
static void block_law(const caucus_plan *plan, uint64_t block, long double *ret) {
    const caucus_settings *s = &plan->settings;
    const bool means = s->unit != CAUCUS_UNIT_EVENT;
    const uint64_t from = s->unit == CAUCUS_UNIT_CLIENT ? 1 : block - 1;
    int64_t sum[EXPERTS] = {0};
    uint64_t count[EXPERTS] = {0};
    for (uint32_t i = 1; i <= CLIENTS; i++) {
        int64_t own[EXPERTS] = {0}, times[EXPERTS] = {0};
        if (!reports(block, i))
            continue;
        for (uint64_t p = from; p < block; p++)
            for (uint64_t t = 0; t < caucus_stoch_length(s, p); t++)
                for (uint32_t j = 0; j < s->evaluate; j++) {
                    const uint64_t round = caucus_stoch_first(s, p) + t;
                    const uint32_t y = (caucus_evaluate_first(plan, p, t, round, i) + j) % EXPERTS;
                    own[y] += (int64_t)loss_of(i, round, y);
                    times[y]++;
                }
        for (uint32_t y = 0; y < EXPERTS; y++) {
            sum[y] += means && times[y] > 0 ? (own[y] + times[y] / 2) / times[y] : own[y];
            count[y] += (uint64_t)(means ? times[y] > 0 : times[y]);
        }
    }
    law_at(plan, caucus_stoch_phase_of(plan, block)->select_budget, sum, count, width_of(plan, count),
           caucus_evaluate_factor(plan), ret);
}

/* Clients take their losses as devices do, or as the simulator gives them: the same. */
static void observe(caucus_client *c, uint32_t i, bool whole) {
    while (caucus_client_rounds_left(c) > 0) {
        double all[EXPERTS], row[EXPERTS];
        uint32_t which[EXPERTS];
        const uint32_t k = caucus_plan_evaluate(c->plan);
        for (uint32_t y = 0; y < EXPERTS; y++)
            all[y] = loss_of(i, caucus_client_round(c) + 1, y);
        assert_int_equal(caucus_client_evaluate(c, which, k - 1), CAUCUS_E_RANGE);
        assert_int_equal(caucus_client_evaluate(c, which, k), CAUCUS_OK);
        for (uint32_t j = 0; j < k; j++)
            row[j] = all[which[j]];
        assert_int_equal(whole ? caucus_client_observe_whole(c, all, 1) : caucus_client_observe(c, row, 1), CAUCUS_OK);
    }
}

/* Saved and restored in the middle of each step, too. */
static void through_bytes(const caucus_plan *plan, const caucus_key *key, caucus_coordinator **c) {
    uint8_t state[4096];
    const size_t bytes = caucus_coordinator_state_bytes(*c);
    assert_true(bytes <= sizeof state);
    assert_int_equal(caucus_coordinator_save(*c, state, bytes), CAUCUS_OK);
    caucus_coordinator_free(*c);
    *c = NULL;
    assert_int_equal(caucus_coordinator_restore(plan, key, state, bytes, c), CAUCUS_OK);
}

/* A client, too, between any two rounds: how often it has evaluated what is part of its state. */
static void client_through_bytes(const caucus_plan *plan, uint32_t i, const caucus_key *key, caucus_client **c) {
    uint8_t state[4096];
    const size_t bytes = caucus_client_state_bytes(*c);
    assert_true(bytes <= sizeof state);
    assert_int_equal(caucus_client_save(*c, state, bytes), CAUCUS_OK);
    caucus_client_free(*c);
    *c = NULL;
    assert_int_equal(caucus_client_restore(plan, i, key, state, bytes, c), CAUCUS_OK);
}

static uint32_t play(const caucus_plan *plan, const caucus_key *key, bool restarts) {
    caucus_coordinator *coordinator = NULL;
    caucus_client *client[CLIENTS] = {NULL};
    caucus_key own, central;
    uint32_t transcript = 0;
    caucus_key_derive(key, 0, &central);
    assert_int_equal(caucus_coordinator_new(plan, &central, &coordinator), CAUCUS_OK);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        caucus_key_derive(key, i + 1, &own);
        assert_int_equal(caucus_client_new(plan, i + 1, &own, &client[i]), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(client[i], caucus_coordinator_announcement(coordinator)), CAUCUS_OK);
    }
    while (caucus_coordinator_announcement(coordinator)->ask != CAUCUS_ASK_NOTHING) {
        const uint64_t block = caucus_coordinator_announcement(coordinator)->block;
        for (uint32_t i = 0; i < CLIENTS; i++) {
            observe(client[i], i + 1, i % 2 == 0);
            if (restarts)
                client_through_bytes(plan, i + 1, &own, &client[i]);
            const caucus_report *report = caucus_client_report(client[i]);
            if (reports(block, i + 1))
                assert_int_equal(caucus_coordinator_receive(coordinator, report), CAUCUS_OK);
            if (restarts && i == 2)
                through_bytes(plan, &central, &coordinator);
        }
        assert_int_equal(caucus_coordinator_decide(coordinator), CAUCUS_OK);
        const caucus_announcement *a = caucus_coordinator_announcement(coordinator);
        transcript = transcript * EXPERTS + a->expert;
        for (uint32_t i = 0; i < CLIENTS; i++)
            assert_int_equal(caucus_client_hear(client[i], a), CAUCUS_OK);
        if (restarts)
            through_bytes(plan, &central, &coordinator);
    }
    machines_free(client, CLIENTS, coordinator);
    return transcript;
}

/* n runs each, false-alarm rate 1e-6, seed fixed. */
static void test_machines_follow_the_law(void **state) {
    (void)state;
    enum { CELLS = EXPERTS * EXPERTS * EXPERTS };
    const uint64_t seed = 7700, n = 30000;
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    for (uint64_t kind = 0; kind < 6; kind++) {
        static const caucus_unit units[3] = {CAUCUS_UNIT_EVENT, CAUCUS_UNIT_CLIENT_BLOCK, CAUCUS_UNIT_CLIENT};
        const uint64_t rounds = kind < 4 ? ROUNDS : 64; /* phases of 1, 3, 12 and 48 rounds: three selections, too */
        caucus_plan *plan = some_plan(kind % 2 == 0 ? CAUCUS_SELECT_FLIP : CAUCUS_SELECT_EXPONENTIAL, units[kind / 2],
                                      CLIENTS, EXPERTS, kind == 1 || kind == 5 ? 2 : 1, rounds);
        uint64_t count[CELLS] = {0};
        long double law[CELLS], block[SELECTIONS][EXPERTS], least = 1;
        for (uint64_t b = 0; b < SELECTIONS; b++) {
            block_law(plan, b + 2, block[b]);
            for (uint32_t y = 0; y < EXPERTS; y++)
                least = fminl(least, block[b][y]);
        }
        for (uint32_t cell = 0; cell < CELLS; cell++)
            law[cell] = block[0][cell / 9] * block[1][cell / 3 % 3] * block[2][cell % 3];
        assert_true(least < 0.3L); /* the sums differ, or nothing would be shown */
        for (uint64_t r = 0; r < n; r++) {
            caucus_key_derive(&run, kind * n + r, &key);
            count[play(plan, &key, r < 50)]++;
        }
        const double p = exact_chi2(count, law, CELLS, n);
        printf("  kind %d: p = %.4f (seed %llu)\n", (int)kind, p, (unsigned long long)seed);
        assert_true(p > EXACT_P_VALUE);
        caucus_plan_free(plan);
    }
}

/* Fewer than the floor, or nobody: the expert in force stays, whatever the sums. */
static void test_too_few(void **state) {
    (void)state;
    caucus_plan *plan = some_plan(CAUCUS_SELECT_FLIP, CAUCUS_UNIT_EVENT, CLIENTS, EXPERTS, 1, ROUNDS);
    caucus_key key;
    for (uint64_t seed = 0; seed < 40; seed++) {
        caucus_coordinator *c = NULL;
        caucus_key_from_seed(seed, &key);
        assert_int_equal(caucus_coordinator_new(plan, &key, &c), CAUCUS_OK);
        const uint32_t first = caucus_coordinator_announcement(c)->expert;
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_announcement(c)->expert, first);
        caucus_coordinator_free(c);
    }
    caucus_plan_free(plan);
}

/* A state that claims a selection nobody has paid for is no state. */
static void test_saved_rate(void **state) {
    (void)state;
    caucus_plan *plan = some_plan(CAUCUS_SELECT_FLIP, CAUCUS_UNIT_EVENT, CLIENTS, EXPERTS, 1, ROUNDS);
    caucus_coordinator *c = NULL;
    caucus_client *client = NULL;
    caucus_key key;
    caucus_key_from_seed(3, &key);
    assert_int_equal(caucus_coordinator_new(plan, &key, &c), CAUCUS_OK);
    assert_int_equal(caucus_client_new(plan, 1, &key, &client), CAUCUS_OK);
    assert_int_equal(caucus_client_hear(client, caucus_coordinator_announcement(c)), CAUCUS_OK);
    observe(client, 1, false);
    assert_int_equal(caucus_coordinator_receive(c, caucus_client_report(client)), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
    assert_true(caucus_phase_sound_some(c));
    uint64_t *rate = c->own; /* its numerator comes first */
    assert_true(*rate > 0);
    *rate *= 2;
    assert_false(caucus_phase_sound_some(c));
    caucus_client_free(client);
    caucus_coordinator_free(c);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_expert),  cmocka_unit_test(test_two_experts),
        cmocka_unit_test(test_unit_client), cmocka_unit_test(test_machines_follow_the_law),
        cmocka_unit_test(test_too_few),     cmocka_unit_test(test_saved_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
