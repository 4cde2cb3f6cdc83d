/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between zCDP and (epsilon, delta): known values, inverses, and safe rounding. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/zcdp.h"

static void near(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.10g, want %.10g within %g", got, want, tolerance);
}

static void known_rho(void **state) {
    (void)state;
    near(caucus_zcdp_rho(0.1, 1e-6), 3.2104e-4, 1e-8);
    near(caucus_zcdp_rho(1, 1e-6), 0.024356, 1e-6);
    near(caucus_zcdp_rho(10, 1e-6), 1.5393, 1e-4);
}

/* Three ways to give kappa selections half of epsilon (docs/PRIVACY.md, statement 24): even split, advanced
 * composition as in the paper's lemma, zCDP of bounded-range selections. */
static double eta_advanced(double kappa, double epsilon, double delta) {
    double lo = 0, hi = epsilon;
    for (int i = 0; i < 100; i++) {
        double eta = (lo + hi) / 2;
        double total = sqrt(2 * kappa * log(1 / delta)) * eta + kappa * eta * expm1(eta);
        if (total <= epsilon)
            lo = eta;
        else
            hi = eta;
    }
    return lo;
}

static void known_eta(void **state) {
    (void)state;
    static const double table[3][5] = {
        {27, 1, .0185, .0180, .0444}, {93, 1, .0054, .0097, .0239}, {27, 10, .185, .157, .370}};
    for (int i = 0; i < 3; i++) {
        const double kappa = table[i][0], epsilon = table[i][1], unit = epsilon < 5 ? 5e-5 : 5e-4;
        near(epsilon / 2 / kappa, table[i][2], unit);
        near(eta_advanced(kappa, epsilon / 2, 1e-6), table[i][3], unit);
        near(sqrt(8 * caucus_zcdp_rho(epsilon / 2, 1e-6) / kappa), table[i][4], unit);
    }
}

static void inverse(void **state) {
    (void)state;
    for (double epsilon = 0.001; epsilon < 1000; epsilon *= 3)
        for (double delta = 1e-14; delta < 0.1; delta *= 50) {
            const double rho = caucus_zcdp_rho(epsilon, delta);
            assert_true(rho > 0);
            assert_true(caucus_zcdp_epsilon(rho, delta) <= epsilon * (1 + 1e-11) + 1e-13);
            near(caucus_zcdp_epsilon(rho, delta), epsilon, 1e-7 * epsilon + 1e-9);
            assert_true(caucus_zcdp_epsilon(rho * 1.001, delta) > epsilon);
        }
}

/* With a pure part: never worse than adding it, exact inverse, and monotone. */
static void with_pure(void **state) {
    (void)state;
    for (double epsilon = 0.01; epsilon < 200; epsilon *= 4)
        for (double share = 0.05; share < 1; share += 0.2) {
            const double pure = epsilon * share, delta = 1e-6;
            const double rho = caucus_zcdp_rho_with_pure(epsilon, pure, delta);
            assert_true(rho >= caucus_zcdp_rho(epsilon - pure, delta) * (1 - 1e-9));
            near(caucus_zcdp_epsilon_with_pure(rho, pure, delta), epsilon, 1e-7 * epsilon);
            assert_true(caucus_zcdp_epsilon_with_pure(rho, pure, delta) <=
                        pure + caucus_zcdp_epsilon(rho, delta) + 1e-9 * epsilon);
            assert_true(caucus_zcdp_epsilon_with_pure(rho, pure * 1.01, delta) >= epsilon * (1 - 1e-12));
        }
    near(caucus_zcdp_epsilon_with_pure(0, 0.7, 1e-6), 0.7, 0);
    near(caucus_zcdp_epsilon(0, 1e-6), 0, 0);
    near(caucus_zcdp_rho_with_pure(1, 1, 1e-6), 0, 0);
}

/* The Gaussian mechanism's exact delta at (rho, epsilon) is below the delta asked for: an independent check of the
 * formula. */
static void gaussian_is_covered(void **state) {
    (void)state;
    for (double rho = 1e-4; rho < 3; rho *= 4) {
        const double mu = sqrt(2 * rho), delta = 1e-6, epsilon = caucus_zcdp_epsilon(rho, delta);
        const double exact = 0.5 * erfc((epsilon / mu - mu / 2) / sqrt(2)) -
                             exp(epsilon) * 0.5 * erfc((epsilon / mu + mu / 2) / sqrt(2));
        assert_true(exact <= delta);
        assert_true(exact > delta / 1000); /* and the conversion is not absurdly loose */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_rho), cmocka_unit_test(known_eta),
                                       cmocka_unit_test(inverse), cmocka_unit_test(with_pure),
                                       cmocka_unit_test(gaussian_is_covered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
