/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_select.c: the three selections, exactly (docs/PRIVACY.md, statements 4, 5 and 6).
 *
 * Claim: if every score moves by at most W, exponential, flip and noisy-min are (2*rate*W)-DP. All score vectors of
 * a box and all moves are tried for d = 2, 3, 4; the bound is reached. The flip law is checked against its definition
 * (all visiting orders), so that what is proved is what is implemented. Control: the paper's noisy-min scale, which
 * counts rate*W, is short by a factor of two as soon as scores can move in both directions. */
#include "dp/exact.h"
#include "dp/laws.h"

#define BOX 6 /* scores 0..BOX-1 */

static const caucus_select selects[3] = {CAUCUS_SELECT_EXPONENTIAL, CAUCUS_SELECT_FLIP, CAUCUS_SELECT_NOISY_MIN};

static void unpack(uint32_t code, uint32_t base, uint32_t d, int64_t *ret) {
    for (uint32_t n = 0; n < d; n++) {
        ret[n] = code % base;
        code /= base;
    }
}

static uint32_t power(uint32_t base, uint32_t d) {
    uint32_t r = 1;
    while (d-- > 0) {
        r *= base;
    }
    return r;
}

/* Largest ratio over all pairs of score vectors of the box whose coordinates differ by at most `move`. */
static long double worst_in_box(caucus_select select, uint32_t d, uint32_t box, int64_t move, caucus_rational rate) {
    uint32_t count = power(box, d);
    long double *law = malloc(sizeof *law * count * d), worst = 0;
    assert_non_null(law);
    for (uint32_t s = 0; s < count; s++) {
        int64_t score[4];
        long double total = 0;
        unpack(s, box, d, score);
        exact_select_law(select, score, d, rate, law + (size_t)s * d);
        for (uint32_t n = 0; n < d; n++) {
            total += law[(size_t)s * d + n];
        }
        assert_true(fabsl(total - 1) < 1e-15L);
    }
    for (uint32_t s = 0; s < count; s++) {
        int64_t a[4], b[4];
        unpack(s, box, d, a);
        for (uint32_t t = 0; t < s; t++) {
            bool near = true;
            unpack(t, box, d, b);
            for (uint32_t n = 0; n < d && near; n++) {
                near = llabs((long long)(a[n] - b[n])) <= move;
            }
            for (uint32_t n = 0; n < d && near; n++) {
                exact_raise(&worst, exact_ratio(law[(size_t)s * d + n], law[(size_t)t * d + n]));
            }
        }
    }
    free(law);
    return worst;
}

static void test_all_vectors_all_moves(void **state) {
    (void)state;
    static const struct { uint64_t num, den; } rates[] = {{1, 2}, {2, 1}, {1, 20}};
    for (uint32_t s = 0; s < 3; s++) {
        for (uint32_t d = 2; d <= (selects[s] == CAUCUS_SELECT_NOISY_MIN ? 3u : 4u); d++) {
            for (int64_t move = 1; move <= 2; move++) {
                for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
                    caucus_rational rate = caucus_rational_make(rates[r].num, rates[r].den);
                    char what[80];
                    snprintf(what, sizeof what, "%s, d=%u, W=%d, rate %.2Lf, all of a box",
                             caucus_select_word(selects[s]), d, (int)move, exact_rate(rate));
                    exact_assert(what, worst_in_box(selects[s], d, d == 4 ? BOX - 1 : BOX, move, rate),
                                 2 * exact_rate(rate) * (long double)move, 0.5L);
                }
            }
        }
    }
}

/* Two scores a wide gap apart, moving towards each other: the loser's probability moves by 2*rate*W in the log.
 * Noisy-min comes close only slowly (its tail is e^-x (2+x)/4). */
static void test_bound_is_reached(void **state) {
    (void)state;
    static const long double power_wanted[3] = {0.9999L, 0.9999L, 0.99L};
    caucus_rational rate = caucus_rational_make(1, 4);
    for (uint32_t s = 0; s < 3; s++) {
        int64_t near[2] = {2, 1000 - 2}, far[2] = {0, 1000};
        long double p[2], q[2];
        exact_select_law(selects[s], near, 2, rate, p);
        exact_select_law(selects[s], far, 2, rate, q);
        exact_assert(caucus_select_word(selects[s]), exact_ratio(p[1], q[1]), 1, power_wanted[s]);
    }
}

/* Permute-and-flip by its definition: visit in every order, take n with probability e^(-rate*(score - min)). */
static void flip_by_orders(const int64_t *score, uint32_t d, caucus_rational rate, const uint32_t *order,
                           uint32_t fixed, long double weight, long double *ret) {
    int64_t low = score[0];
    for (uint32_t n = 1; n < d; n++) {
        low = score[n] < low ? score[n] : low;
    }
    if (fixed == d) {
        for (uint32_t i = 0; i < d; i++) {
            long double take = expl(-exact_rate(rate) * (long double)(score[order[i]] - low));
            ret[order[i]] += weight * take;
            weight *= 1 - take;
        }
        return;
    }
    for (uint32_t i = fixed; i < d; i++) {
        uint32_t next[4];
        memcpy(next, order, sizeof next);
        next[fixed] = order[i];
        next[i] = order[fixed];
        flip_by_orders(score, d, rate, next, fixed + 1, weight / (long double)(d - fixed), ret);
    }
}

static void test_flip_law_is_its_definition(void **state) {
    (void)state;
    caucus_rational rate = caucus_rational_make(3, 7);
    const uint32_t order[4] = {0, 1, 2, 3};
    for (uint32_t d = 2; d <= 4; d++) {
        for (uint32_t s = 0; s < power(4, d); s++) {
            int64_t score[4];
            long double law[4], direct[4] = {0, 0, 0, 0};
            unpack(s, 4, d, score);
            caucus_select_flip_law(score, d, rate, law);
            flip_by_orders(score, d, rate, order, 0, 1, direct);
            for (uint32_t n = 0; n < d; n++) {
                assert_true(fabsl(law[n] - direct[n]) < 1e-16L);
            }
        }
    }
}

/* The samplers follow the laws above (n = 2e5, false-alarm rate 1e-6 each, seed fixed). */
static void test_draws_follow_the_laws(void **state) {
    (void)state;
    const uint64_t seed = 7100, n = 200000;
    const int64_t score[4] = {3, 0, 1, 3};
    caucus_rational rate = caucus_rational_make(1, 2);
    caucus_key key;
    caucus_key_from_seed(seed, &key);
    for (uint32_t s = 0; s < 3; s++) {
        long double law[4];
        uint64_t count[4] = {0, 0, 0, 0};
        caucus_stream stream;
        exact_select_law(selects[s], score, 4, rate, law);
        caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, (uint16_t)s, 0, 0);
        for (uint64_t i = 0; i < n; i++) {
            uint32_t x = selects[s] == CAUCUS_SELECT_FLIP          ? caucus_select_flip(&stream, score, 4, rate)
                         : selects[s] == CAUCUS_SELECT_EXPONENTIAL ? caucus_select_exponential(&stream, score, 4, rate)
                                                                   : caucus_select_noisy_min(&stream, score, 4, rate);
            assert_true(x < 4);
            count[x]++;
        }
        double p = exact_chi2(count, law, 4, n);
        printf("  %s: p = %.4f (seed %llu)\n", caucus_select_word(selects[s]), p, (unsigned long long)seed);
        assert_true(p > EXACT_P_VALUE);
    }
}

/* The paper's scale at a right vertex: Laplace noise of rate epsilon/W. True cost: towards 2*epsilon. */
static void test_control_paper_noisy_min_scale(void **state) {
    (void)state;
    const int64_t w = 2;
    caucus_rational rate = caucus_rational_make(1, (uint64_t)w); /* epsilon = 1 as the paper counts */
    int64_t near[2] = {w, 80 - w}, far[2] = {0, 80};
    long double p[2], q[2];
    exact_noisy_min_law(near, 2, rate, p);
    exact_noisy_min_law(far, 2, rate, q);
    exact_assert_broken("noisy-min at the paper's scale, scores move both ways", exact_ratio(p[1], q[1]), 1, 1.8L);
    /* Counting queries move one way only: there the paper's constant is right, and the control is about the vertex. */
    int64_t up[2] = {w, 80};
    exact_noisy_min_law(up, 2, rate, p);
    exact_assert("the same, scores move one way", exact_ratio(p[1], q[1]), 1, 0.9L);
}

/* Losses up to 5 on a grid meant for 1: everything costs five times what is claimed. */
static void test_control_range_not_scaled(void **state) {
    (void)state;
    caucus_rational rate = caucus_rational_make(1, 4); /* grid 2, epsilon 1 */
    int64_t near[2] = {10, 200 - 10}, far[2] = {0, 200};
    for (uint32_t s = 0; s < 2; s++) {
        long double p[2], q[2];
        exact_select_law(selects[s], near, 2, rate, p);
        exact_select_law(selects[s], far, 2, rate, q);
        exact_assert_broken("loss range 5, not rescaled", exact_ratio(p[1], q[1]), 1, 4.9L);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_vectors_all_moves),         cmocka_unit_test(test_bound_is_reached),
        cmocka_unit_test(test_flip_law_is_its_definition),    cmocka_unit_test(test_draws_follow_the_laws),
        cmocka_unit_test(test_control_paper_noisy_min_scale), cmocka_unit_test(test_control_range_not_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
