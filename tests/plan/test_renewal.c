/* SPDX-License-Identifier: Apache-2.0 */
/* The switch budget kappa(d, rho, g): known values, an exact case, monotonicity, and that it is not below the truth. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/renewal.h"

static uint32_t switches(uint32_t d, double rho, double margin) {
    uint32_t ret = 0;
    assert_int_equal(caucus_renewal_switches(d, rho, margin, &ret), CAUCUS_OK);
    return ret;
}

static void known_values(void **state) {
    (void)state;
    static const uint32_t d[5] = {18, 100, 1000, 10000, 1000000};
    static const double rho[4] = {.1, .05, .01, .001};
    static const uint32_t want[5][5] = {
        {6, 7, 9, 11, 6}, {9, 10, 12, 14, 9}, {13, 14, 16, 19, 12}, {17, 18, 21, 24, 16}, {24, 26, 29, 32, 22}};
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 4; j++)
            assert_int_equal(switches(d[i], rho[j], 4), want[i][j]);
        assert_int_equal(switches(d[i], .05, 6), want[i][4]);
    }
}

/* With a margin so wide that the cut never matters, V is exponential and the sum of n has the Erlang law. */
static double erlang(unsigned n, double x) {
    double term = exp(-x), below = 0;
    for (unsigned i = 0; i < n; i++) {
        below += term;
        term *= x / (i + 1);
    }
    return 1 - below; /* P(sum of n <= x) */
}

static void erlang_when_uncut(void **state) {
    (void)state;
    for (uint32_t d = 2; d <= 1 << 20; d *= 4)
        for (double rho = .2; rho > 1e-6; rho /= 7) {
            const uint32_t k = switches(d, rho, 80);
            assert_true(erlang(k + 1, log((double)d)) <= rho);            /* enough */
            assert_true(erlang(k > 2 ? k - 1 : 1, log((double)d)) > rho); /* at most one too many, from the grid */
        }
}

static void monotone(void **state) {
    (void)state;
    for (double g = 0.5; g < 10; g += 0.5) {
        uint32_t last = 0;
        for (uint32_t d = 2; d <= 1 << 20; d *= 32) {
            const uint32_t k = switches(d, .05, g);
            assert_true(k >= last && k >= 1);
            assert_true(switches(d, .01, g) >= k);
            assert_true(switches(d, .05, g + 1) <= k);
            last = k;
        }
    }
}

/* Tiny failure probabilities go through exponential moments: at least as large, and not absurd. */
static void tiny_rho(void **state) {
    (void)state;
    for (uint32_t d = 2; d <= 1 << 20; d *= 8) {
        const uint32_t grid = switches(d, 1.01e-9, 4), moment = switches(d, 0.99e-9, 4);
        assert_true(moment >= grid && moment <= 2 * grid + 10);
        assert_true(switches(d, 1e-300, 4) > moment);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_values), cmocka_unit_test(erlang_when_uncut),
                                       cmocka_unit_test(monotone), cmocka_unit_test(tiny_rho)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
