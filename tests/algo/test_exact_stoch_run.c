/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_stoch_run.c: the state machines of Fed-DP-OPE-Stoch follow the law that test_exact_stoch.c proves private.
 *
 * A client with convex losses and the coordinator run a whole plan of 32 rounds (0, 1 and 2 trees) many times; the
 * sequence of all selected experts is compared with probabilities computed by a second, plain reading of the paper's
 * Algorithm 3 (tree by tree, leaf by leaf, whole iterates as fractions). Gradients jump wildly with the iterate, so
 * that a wrong iterate, slice, clamp, factor 2^depth or rate would show. */
#include "dp/exact.h"
#include "plan/plan.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define BITS_MAX 12

/* A "gradient" that depends on round, coordinate and iterate like a hash: multiples of half the Lipschitz constant. */
static int64_t jumpy(uint64_t round, double x0, uint32_t y) {
    uint64_t h =
        (uint64_t)llrint(x0 * 1e6) * 0x9e3779b97f4a7c15u + round * 0xbf58476d1ce4e5b9u + y * 0x94d049bb133111ebu;
    h ^= h >> 31;
    h *= 0xd6e8feb86659fd93u;
    return (int64_t)((h >> 40) % 5) - 2; /* -2..2: the grid has two steps per unit */
}

static void gradient(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    (void)user;
    for (uint32_t y = 0; y < experts; y++) {
        ret[y] = (double)jumpy(round, x[0], y) / 2;
    }
}

/* The reference: V of each leaf along one transcript, and the probability of the transcript. */
typedef struct walk {
    const caucus_plan *plan;
    uint32_t transcript, bits; /* selections so far: their experts are its lowest bits */
    double x0;                 /* weight of expert 0 in the current iterate */
    long double probability;
} walk;

static uint32_t walk_select(walk *w, const int64_t *v, caucus_rational rate) {
    long double law[2];
    uint32_t chosen = w->transcript >> w->bits++ & 1;
    exact_select_law(w->plan->stoch.select, v, 2, rate, law);
    w->probability *= law[chosen];
    return chosen;
}

static void walk_phase(walk *w, uint32_t p) {
    const caucus_stoch_phase *phase = &w->plan->stoch.phase[p - 2];
    uint64_t round = (uint64_t)1 << (p - 2);
    uint32_t first_count = 0, k = 0; /* first_count: weight k per selection of expert 0 */
    uint32_t trees = phase->trees > 0 ? phase->trees : 1;
    for (uint32_t j = 1; j <= trees; j++) {
        int64_t v[4][2];
        double x0[4];
        for (uint32_t u = 0; u < (phase->trees > 0 ? 1u << j : 1u); u++) {
            uint32_t h = 0;
            while (u > 0 &&
                   (u >> (j - 1 - h) << (j - 1 - h)) != u) { /* depth - 1 of the right child that leaf u enters */
                h++;
            }
            h += u > 0;
            for (uint32_t y = 0; y < 2; y++) {
                int64_t sum = 0;
                for (uint32_t s = 0; s < phase->batch >> h; s++) {
                    int64_t here = jumpy(round + s, w->x0, y);
                    if (h == 0) {
                        sum += here;
                    } else {
                        int64_t change = here - jumpy(round + s, x0[h - 1], y), c = phase->clamp[h];
                        sum += change > c ? c : change < -c ? -c : change;
                    }
                }
                v[h][y] = h == 0 ? sum : v[h - 1][y] + ((int64_t)1 << h) * sum;
            }
            x0[h] = w->x0;
            round += phase->batch >> h;
            for (uint32_t below = h + 1; below <= j && phase->trees > 0; below++) {
                memcpy(v[below], v[h], sizeof v[h]);
                x0[below] = x0[h];
            }
            uint32_t chosen = walk_select(w, v[phase->trees > 0 ? j : 0], phase->select_rate[phase->trees > 0 ? j : 0]);
            k++;
            first_count += chosen == 0 ? k : 0;
            w->x0 = (double)first_count / (double)(k * (k + 1) / 2); /* x = sum of k e_(w_k) over K(K+1)/2 */
        }
    }
}

static uint32_t selections(const caucus_plan *plan) {
    uint32_t n = 0;
    for (uint32_t p = 2; p <= plan->stoch.phases; p++) {
        uint32_t trees = plan->stoch.phase[p - 2].trees;
        n += trees > 0 ? (2u << trees) - 2 : 1;
    }
    return n;
}

static uint32_t run_machines(const caucus_plan *plan, const caucus_key *key) {
    caucus_coordinator *coordinator = NULL;
    caucus_client *client = NULL;
    caucus_key own;
    uint32_t transcript = 0, bits = 0;
    caucus_key_derive(key, 1, &own);
    assert_int_equal(caucus_coordinator_new(plan, key, &coordinator), CAUCUS_OK);
    assert_int_equal(caucus_client_new(plan, 1, &own, &client), CAUCUS_OK);
    caucus_client_set_gradient(client, gradient, NULL);
    assert_int_equal(caucus_client_hear(client, caucus_coordinator_announcement(coordinator)), CAUCUS_OK);
    while (caucus_coordinator_announcement(coordinator)->ask != CAUCUS_ASK_NOTHING) {
        uint64_t left = caucus_client_rounds_left(client);
        if (left > 0) {
            assert_int_equal(caucus_client_observe(client, NULL, left), CAUCUS_OK);
        }
        assert_non_null(caucus_client_report(client));
        assert_int_equal(caucus_coordinator_receive(coordinator, caucus_client_report(client)), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_decide(coordinator), CAUCUS_OK);
        transcript |= caucus_coordinator_announcement(coordinator)->expert << bits++;
        assert_int_equal(caucus_client_hear(client, caucus_coordinator_announcement(coordinator)), CAUCUS_OK);
    }
    assert_int_equal(bits, selections(plan));
    caucus_client_free(client);
    caucus_coordinator_free(coordinator);
    return transcript;
}

/* n runs, false-alarm rate 1e-6 each, seed fixed. */
static void test_machines_follow_the_law(void **state) {
    (void)state;
    const uint64_t seed = 7500, n = 100000;
    static const caucus_select selects[2] = {CAUCUS_SELECT_FLIP, CAUCUS_SELECT_EXPONENTIAL};
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    for (uint64_t i = 0; i < 2; i++) {
        caucus_settings s;
        exact_settings(&s, CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 20);
        s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
        s.smoothness = 0.4;
        s.trees = 2;
        s.rounds = 32;
        s.select = selects[i];
        caucus_plan *plan = exact_plan(&s);
        uint32_t bits = selections(plan), cells = 1u << bits;
        static uint64_t count[1 << BITS_MAX];
        static long double law[1 << BITS_MAX];
        long double total = 0, largest = 0;
        assert_true(bits <= BITS_MAX);
        assert_int_equal(plan->stoch.phase[plan->stoch.phases - 2].trees, 2);
        memset(count, 0, sizeof count);
        for (uint32_t t = 0; t < cells; t++) {
            walk w = {plan, t, 0, 0.5, 1};
            for (uint32_t p = 2; p <= plan->stoch.phases; p++) {
                walk_phase(&w, p);
            }
            assert_int_equal(w.bits, bits);
            law[t] = w.probability;
            total += law[t];
            exact_raise(&largest, law[t]);
        }
        assert_true(fabsl(total - 1) < 1e-15L);
        for (uint64_t r = 0; r < n; r++) {
            caucus_key_derive(&run, i * n + r, &key);
            count[run_machines(plan, &key)]++;
        }
        double p = exact_chi2(count, law, cells, n);
        printf("  %s: %u transcripts, likeliest %.4Lf, p = %.4f (seed %llu)\n", caucus_select_word(selects[i]), cells,
               largest, p, (unsigned long long)seed);
        assert_true(p > EXACT_P_VALUE);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_machines_follow_the_law)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
