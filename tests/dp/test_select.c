/* SPDX-License-Identifier: Apache-2.0 */
/* Selections: their exact laws against closed forms, and the draws at the edges (extreme scores, one expert, ties).
 * Whether draws follow the laws is tests/stat/test_select_law.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <caucus/select.h>

#include <math.h>
#include <stdlib.h>

#include "dp/laws.h"

#define SEED 20240601

static caucus_stream open_stream(uint32_t lane) {
    caucus_key key;
    caucus_stream stream;
    caucus_key_from_seed(SEED, &key);
    caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, 0, 0, lane);
    return stream;
}

static void golden_laws(void **state) {
    (void)state;
    const int64_t u[4] = {0, 1, 3, 3};
    const double em[4] = {.48714, .29547, .10870, .10870}, pf[4] = {.57287, .26067, .08323, .08323};
    long double law[4];
    caucus_select_exponential_law(u, 4, (caucus_rational){1, 2}, law);
    for (int n = 0; n < 4; n++)
        assert_true(fabs((double)law[n] - em[n]) < 6e-6);
    caucus_select_flip_law(u, 4, (caucus_rational){1, 2}, law);
    for (int n = 0; n < 4; n++)
        assert_true(fabs((double)law[n] - pf[n]) < 6e-6);
}

/* Two experts: exponential is logistic; flip gives the worse one w/2. Offsets cancel, negative scores included. */
static void two_experts_closed_form(void **state) {
    (void)state;
    const int64_t offsets[] = {0, -7, ((int64_t)1 << 62), INT64_MIN};
    for (int k = 0; k < 4; k++)
        for (int64_t gap = 0; gap < 40; gap += 3) {
            const int64_t u[2] = {offsets[k] + gap, offsets[k]};
            long double law[2], w = expl(-(long double)gap * 3 / 7);
            caucus_select_exponential_law(u, 2, (caucus_rational){3, 7}, law);
            assert_true(fabsl(law[0] - w / (1 + w)) < 1e-17L && fabsl(law[0] + law[1] - 1) < 1e-17L);
            caucus_select_flip_law(u, 2, (caucus_rational){3, 7}, law);
            assert_true(fabsl(law[0] - w / 2) < 1e-17L && fabsl(law[1] - (1 - w / 2)) < 1e-17L);
        }
}

/* For all sizes the law sums to 1; k equal minimisers against far worse ones share evenly. */
static void flip_law_sums_to_one(void **state) {
    (void)state;
    const uint32_t sizes[] = {1, 2, 3, 10, 99, 100, 1000, 3000, 20000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint32_t d = sizes[s];
        int64_t *u = malloc(d * sizeof *u);
        long double *law = malloc(d * sizeof *law), total = 0;
        assert_non_null(u);
        assert_non_null(law);
        for (uint32_t n = 0; n < d; n++)
            u[n] = (int64_t)(n * 2654435761u % 1000); /* spread, repeated */
        caucus_select_flip_law(u, d, (caucus_rational){1, 100}, law);
        for (uint32_t n = 0; n < d; n++)
            total += law[n];
        assert_true(fabsl(total - 1) < (d <= 10 ? 1e-16L : 1e-12L));
        for (uint32_t n = 0; n < d; n++)
            u[n] = 5;
        caucus_select_flip_law(u, d, (caucus_rational){1, 100}, law);
        for (uint32_t n = 0; n < d; n++)
            assert_true(fabsl(law[n] * (long double)d - 1) < 1e-12L);
        free(u);
        free(law);
    }
}

/* Rate 0 cannot tell experts apart; a huge rate always takes the best; extreme scores do not overflow. */
static void edges_of_rate_and_score(void **state) {
    (void)state;
    caucus_stream stream = open_stream(1);
    const int64_t wide[3] = {INT64_MAX, INT64_MIN, 0}, near[3] = {7, 5, 6};
    int seen[3] = {0}, flips[3] = {0};
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(caucus_select_exponential(&stream, wide, 3, (caucus_rational){UINT64_MAX, 1}), 1);
        assert_int_equal(caucus_select_flip(&stream, wide, 3, (caucus_rational){UINT64_MAX, 1}), 1);
        assert_int_equal(caucus_select_exponential(&stream, wide, 3, (caucus_rational){1, CAUCUS_DEN_MAX}), 1);
        assert_int_equal(caucus_select_noisy_min(&stream, near, 3, (caucus_rational){1000, 1}), 1);
        seen[caucus_select_exponential(&stream, near, 3, (caucus_rational){0, 1})]++;
        flips[caucus_select_flip(&stream, near, 3, (caucus_rational){0, 1})]++;
    }
    for (int n = 0; n < 3; n++) /* 1000 +- 6.5 standard deviations of 25.8: false alarm below 1e-9 */
        assert_true(abs(seen[n] - 1000) < 168 && abs(flips[n] - 1000) < 168);
    assert_int_equal(caucus_select_exponential(&stream, near, 1, (caucus_rational){1, 1}), 0);
    assert_int_equal(caucus_select_flip(&stream, near, 1, (caucus_rational){1, 1}), 0);
    assert_int_equal(caucus_select_noisy_min(&stream, near, 1, (caucus_rational){1, 1}), 0);
}

static void min_breaks_ties_uniformly(void **state) {
    (void)state;
    caucus_stream stream = open_stream(2);
    const int64_t u[5] = {4, -2, 9, -2, -2};
    int seen[5] = {0};
    for (int i = 0; i < 3000; i++)
        seen[caucus_select_min(&stream, u, 5)]++;
    assert_true(seen[0] == 0 && seen[2] == 0);
    assert_true(abs(seen[1] - 1000) < 168 && abs(seen[3] - 1000) < 168 && abs(seen[4] - 1000) < 168);
    assert_int_equal(caucus_select_min(&stream, u + 1, 2), 0);
}

/* A selection is a function of its stream. */
static void same_stream_same_choice(void **state) {
    (void)state;
    int64_t u[50];
    for (int n = 0; n < 50; n++)
        u[n] = (n * 37) % 50;
    caucus_stream a = open_stream(3), b = open_stream(3), c = open_stream(4);
    int differ = 0;
    for (int i = 0; i < 200; i++) {
        uint32_t x = caucus_select_flip(&a, u, 50, (caucus_rational){1, 20});
        assert_int_equal(x, caucus_select_flip(&b, u, 50, (caucus_rational){1, 20}));
        differ += x != caucus_select_flip(&c, u, 50, (caucus_rational){1, 20});
    }
    assert_true(differ > 50);
}

int main(void) {
    print_message("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_laws),
        cmocka_unit_test(two_experts_closed_form),
        cmocka_unit_test(flip_law_sums_to_one),
        cmocka_unit_test(edges_of_rate_and_score),
        cmocka_unit_test(min_breaks_ties_uniformly),
        cmocka_unit_test(same_stream_same_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
