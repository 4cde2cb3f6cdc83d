/* SPDX-License-Identifier: Apache-2.0 */
/* Frank-Wolfe weights: the integer counts are the iterate of the recursion, and lay out experts by their share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "num/weights.h"

#include <math.h>

static void counts_are_the_recursion(void **state) {
    (void)state;
    enum { D = 5, K = 62 };
    caucus_weights w;
    assert_int_equal(caucus_weights_init(&w, D), CAUCUS_OK);
    assert_true(caucus_weights_mass(&w) == 0);
    double x[D] = {0.2, 0.2, 0.2, 0.2, 0.2};
    for (int k = 1; k <= K; k++) {
        uint32_t n = (uint32_t)(k * k + k / 3) % D;
        double eta = 2.0 / (k + 1);
        for (int i = 0; i < D; i++)
            x[i] *= 1 - eta;
        x[n] += eta;
        caucus_weights_push(&w, n);
        uint64_t total = 0;
        for (uint32_t i = 0; i < D; i++) {
            assert_true(fabs(caucus_weights_value(&w, i) - x[i]) < 1e-13);
            total += w.count[i];
        }
        assert_true(total == (uint64_t)k * (uint64_t)(k + 1) / 2 && total == caucus_weights_mass(&w));
    }
    caucus_weights_free(&w);
}

static void every_u_has_its_expert(void **state) {
    (void)state;
    caucus_weights w;
    assert_int_equal(caucus_weights_init(&w, 4), CAUCUS_OK);
    const uint32_t pushes[] = {3, 1, 1, 3, 3}; /* counts: 0, 5, 0, 10 */
    for (int i = 0; i < 5; i++)
        caucus_weights_push(&w, pushes[i]);
    uint64_t seen[4] = {0};
    for (uint64_t u = 0; u < caucus_weights_mass(&w); u++)
        seen[caucus_weights_at(&w, u)]++;
    for (uint32_t n = 0; n < 4; n++)
        assert_true(seen[n] == w.count[n]);
    assert_true(seen[0] == 0 && seen[1] == 5 && seen[3] == 10);
    assert_int_equal(caucus_weights_support(&w), 2);
    caucus_weights_free(&w);
}

static void reset_and_free(void **state) {
    (void)state;
    caucus_weights a;
    assert_int_equal(caucus_weights_init(&a, 3), CAUCUS_OK);
    caucus_weights_push(&a, 2);
    caucus_weights_push(&a, 0);
    assert_true(caucus_weights_mass(&a) == 3 && a.count[0] == 2 && a.count[2] == 1);
    caucus_weights_reset(&a);
    assert_true(caucus_weights_mass(&a) == 0 && caucus_weights_support(&a) == 0);
    caucus_weights_free(&a);
    caucus_weights_free(&a);
    caucus_weights_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_the_recursion),
        cmocka_unit_test(every_u_has_its_expert),
        cmocka_unit_test(reset_and_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
