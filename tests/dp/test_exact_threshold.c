/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_threshold.c: lemma AT, exactly (docs/PRIVACY.md, statement 8).
 *
 * In one epoch a replaced loss shifts every check from some t* on by one and the same c, |c| <= W. The claim:
 * the epoch's verdicts are max(W*rate_T, W*rate_Q)-DP, for every pair of one- or two-sided noises. Here every
 * transcript's probability is computed for random cost paths, all t*, all c, and compared; then the two extremes
 * that reach the bound; then what happens when the lemma's conditions are dropped. */
#include "dp/exact.h"

#define CHECKS 5

static const caucus_noise_kind kinds[2] = {CAUCUS_NOISE_GEOMETRIC, CAUCUS_NOISE_LAPLACE};

/* Rates in per cent of 1/grid, so that W*rate is rates/100. */
static const struct { uint64_t threshold, check; } rates[] = {{100, 100}, {100, 50}, {50, 100}, {200, 30}, {30, 200}};

static uint64_t mix(uint64_t *state) { /* splitmix64: repeatable test inputs, nothing private */
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Both noise laws over the arguments that can occur, so that a law is one sweep over the threshold's noise. */
#define REACH 4000
static struct {
    int64_t from, to; /* of the threshold's noise: beyond it less than 1e-20 of any transcript (exact_checks) */
    long double pmf[2 * REACH + 1], above[4 * REACH + 1], not_above[4 * REACH + 1];
} table;

static void tabulate(const caucus_noise *t, const caucus_noise *c, int64_t q_max) {
    int64_t reach = t->kind == CAUCUS_NOISE_NONE ? 0 : (int64_t)ceill(50 / exact_rate(t->parameter)) + 2 + q_max;
    assert_true(reach <= REACH && q_max <= REACH);
    table.from = t->kind == CAUCUS_NOISE_LAPLACE ? -reach : 0;
    table.to = reach;
    for (int64_t z = table.from; z <= table.to; z++) {
        table.pmf[z + REACH] = exact_pmf(t, z);
    }
    for (int64_t y = -2 * REACH; y <= 2 * REACH; y++) {
        table.above[y + 2 * REACH] = exact_above(c, y);
        table.not_above[y + 2 * REACH] = exact_not_above(c, y);
    }
}

/* The probability of each of the CHECKS + 1 transcripts: halt at check h, or never. */
static void epoch_law(int64_t threshold, const int64_t *q, long double *ret) {
    for (size_t h = 0; h <= CHECKS; h++) {
        ret[h] = 0;
    }
    for (int64_t z = table.from; z <= table.to; z++) {
        long double p = table.pmf[z + REACH];
        for (size_t h = 0; h < CHECKS && p > 0; h++) {
            int64_t need = threshold + z - q[h] + 2 * REACH;
            ret[h] += p * table.above[need];
            p *= table.not_above[need];
        }
        ret[CHECKS] += p;
    }
}

/* Largest ratio over all t* and all c for one cost path. */
static long double worst_shift(int64_t threshold, const int64_t *q, int64_t grid) {
    long double law[CHECKS + 1], other[CHECKS + 1], worst = 0, total = 0;
    epoch_law(threshold, q, law);
    for (size_t i = 0; i <= CHECKS; i++) {
        total += law[i];
    }
    assert_true(fabsl(total - 1) < 1e-15L);
    for (size_t star = 0; star < CHECKS; star++) {
        for (int64_t shift = -grid; shift <= grid; shift++) {
            int64_t moved[CHECKS];
            for (size_t i = 0; i < CHECKS; i++) {
                moved[i] = q[i] + (i >= star ? shift : 0);
            }
            epoch_law(threshold, moved, other);
            for (size_t i = 0; i <= CHECKS; i++) {
                exact_raise(&worst, exact_ratio(law[i], other[i]));
            }
        }
    }
    return worst;
}

static void test_random_paths(void **state) {
    (void)state;
    uint64_t seed = 20240611;
    printf("  seed %llu\n", (unsigned long long)seed);
    static const int64_t grids[3] = {1, 3, 10};
    for (size_t pair = 0; pair < 4; pair++) {
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            long double worst = 0, claim = (long double)(rates[r].threshold > rates[r].check ? rates[r].threshold
                                                                                             : rates[r].check) /
                                           100;
            for (size_t g = 0; g < 3; g++) {
                int64_t grid = grids[g];
                caucus_noise t = {kinds[pair & 1], caucus_rational_make(rates[r].threshold, 100 * (uint64_t)grid)};
                caucus_noise c = {kinds[pair >> 1], caucus_rational_make(rates[r].check, 100 * (uint64_t)grid)};
                tabulate(&t, &c, 12 * grid);
                for (int trial = 0; trial < 4; trial++) {
                    int64_t q[CHECKS], threshold = (int64_t)(mix(&seed) % (uint64_t)(4 * grid + 1)), sum = 0;
                    for (size_t i = 0; i < CHECKS; i++) {
                        q[i] = sum += (int64_t)(mix(&seed) % (uint64_t)(2 * grid + 1));
                    }
                    exact_raise(&worst, worst_shift(threshold, q, grid));
                }
            }
            char what[80];
            snprintf(what, sizeof what, "epoch, %s/%s, W*rates %.2f/%.2f", pair & 1 ? "laplace" : "geometric",
                     pair >> 1 ? "laplace" : "geometric", (double)rates[r].threshold / 100,
                     (double)rates[r].check / 100);
            exact_assert(what, worst, claim, 0.3L);
        }
    }
}

/* P(n checks at the same q stay silent, then one at q + shift fires if `fires`). Many silent checks just below the
 * threshold drive all surviving mass of its noise upwards, where either side's ratio is that of its own exponential
 * tail. F^n by log1p, so n may be huge. */
static long double silent(const caucus_noise *t, const caucus_noise *c, int64_t need, int64_t shift, long double n,
                          bool fires) {
    long double slow = fminl(exact_rate(t->parameter), exact_rate(c->parameter));
    int64_t reach = (int64_t)ceill((50 + 2 * logl(n)) / slow) + 2;
    long double sum = 0;
    for (int64_t z = -reach; z <= reach; z++) {
        long double above = exact_above(c, need + z);
        if (above < 1) {
            sum += exact_pmf(t, z) * expl(n * log1pl(-above)) * (fires ? exact_above(c, need + z - shift) : 1);
        }
    }
    return sum;
}

static void test_bound_is_reached(void **state) {
    (void)state;
    int64_t grid = 10, need = 40 * grid;
    for (size_t pair = 0; pair < 4; pair++) {
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            caucus_noise t = {kinds[pair & 1], caucus_rational_make(rates[r].threshold, 100 * (uint64_t)grid)};
            caucus_noise c = {kinds[pair >> 1], caucus_rational_make(rates[r].check, 100 * (uint64_t)grid)};
            long double by_t = (long double)rates[r].threshold / 100, by_c = (long double)rates[r].check / 100,
                        n = 1e40L;
            /* t* is the firing check; t* is before all of the silent ones. */
            long double fire = exact_ratio(silent(&t, &c, need, 0, n, true), silent(&t, &c, need, grid, n, true));
            long double keep = exact_ratio(silent(&t, &c, need, 0, n, false), silent(&t, &c, need - grid, 0, n, false));
            char what[80];
            snprintf(what, sizeof what, "extremes, %s/%s, W*rates %.2Lf/%.2Lf", pair & 1 ? "laplace" : "geometric",
                     pair >> 1 ? "laplace" : "geometric", by_t, by_c);
            exact_assert(what, fmaxl(fire, keep), fmaxl(by_t, by_c), 0.9999L);
        }
    }
}

/* Costs that may move differently at different checks (another expert's cost added to the same q): the lemma does not
 * cover it, and the sum of both rates is really reached. This is why caucus_threshold refuses such cost. */
static void test_control_shift_not_uniform(void **state) {
    (void)state;
    int64_t grid = 10;
    caucus_noise t = {CAUCUS_NOISE_GEOMETRIC, caucus_rational_make(1, (uint64_t)grid)};
    caucus_noise c = {CAUCUS_NOISE_GEOMETRIC, caucus_rational_make(1, (uint64_t)grid)};
    int64_t threshold = 400;
    long double worst = 0;
    /* n checks move one way, then the one that fires moves the other way. */
    for (long double n = 1; n < 1e31L; n *= 1e10L) {
        long double p = 0, q = 0;
        for (int64_t z = 0; z < 3000; z++) {
            long double f = exact_pmf(&t, z);
            p += f * expl(n * log1pl(-exact_above(&c, threshold + z))) * exact_above(&c, threshold + z - grid);
            q += f * expl(n * log1pl(-exact_above(&c, threshold + z - grid))) * exact_above(&c, threshold + z);
        }
        exact_raise(&worst, exact_ratio(p, q));
    }
    exact_assert_broken("checks of one epoch move in different directions", worst, 1, 1.9L);
}

static void test_control_no_query_noise(void **state) {
    (void)state;
    caucus_noise t = {CAUCUS_NOISE_LAPLACE, caucus_rational_make(1, 2)}, none = {CAUCUS_NOISE_NONE, {0, 1}};
    int64_t q[CHECKS] = {1, 2, 2, 3, 5};
    tabulate(&t, &none, 8);
    exact_assert_broken("no query noise", worst_shift(3, q, 2), 1, 10);
}

static void test_control_no_threshold_noise(void **state) {
    (void)state;
    caucus_noise none = {CAUCUS_NOISE_NONE, {0, 1}}, c = {CAUCUS_NOISE_LAPLACE, caucus_rational_make(1, 2)};
    int64_t q[CHECKS] = {4, 4, 4, 4, 4};
    tabulate(&none, &c, 8);
    exact_assert_broken("no threshold noise", worst_shift(3, q, 2), 1, 1.5L);
}

/* A verdict drawn again after a crash, when the first one had already left (the request for vectors): both are seen. */
static void test_control_verdict_drawn_twice(void **state) {
    (void)state;
    caucus_noise t = {CAUCUS_NOISE_GEOMETRIC, caucus_rational_make(1, 2)}, c = t;
    const bool both[2] = {true, true};
    int64_t low[2] = {0, 0}, up[2] = {2, 2};
    long double ratio = exact_ratio(exact_checks(&t, &c, 40, low, both, 2), exact_checks(&t, &c, 40, up, both, 2));
    exact_assert_broken("query noise drawn again after a crash", ratio, 1, 1.25L);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_paths),
        cmocka_unit_test(test_bound_is_reached),
        cmocka_unit_test(test_control_shift_not_uniform),
        cmocka_unit_test(test_control_no_query_noise),
        cmocka_unit_test(test_control_no_threshold_noise),
        cmocka_unit_test(test_control_verdict_drawn_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
