/* SPDX-License-Identifier: Apache-2.0 */
/* test_lower_bounds.c: what docs/PAPER.md says about the paper's lower bounds, in numbers (rows J and J'). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "study/parts.h"

/* Row J: what everybody must lose against fair coins that all clients share, exactly, and its limit for large T. */
static void test_fair_coins_at_finite_horizons(void **state) {
    (void)state;
    const double exact = caucus_study_fair_coins(512, 100), limit = sqrt(512 * log(100) / 2);
    assert_true(fabs(exact - 28.3) < 0.1);
    assert_true(fabs(limit - 34.3) < 0.1);
    /* the limit is approached from below, slowly */
    const double later = caucus_study_fair_coins(65536, 100) / sqrt(65536 * log(100) / 2);
    assert_true(exact / limit <= later + 1e-3 && later < 1);
}

/* Exponential weights of rate `rate` on one expert without losses and d - 1 that always lose 1: what it loses in
 * `rounds` rounds, where the best expert loses nothing. */
static double regret_of_weights(uint32_t rounds, uint32_t experts, double rate) {
    double total = 0;
    for (uint32_t t = 0; t < rounds; t++) {
        const double rest = (experts - 1) * exp(-rate * t);
        total += rest / (1 + rest);
    }
    return total;
}

/* Row J': the paper turns an online algorithm of regret a into a batch algorithm of error a/n by taking its last play.
 * An algorithm may play its last round at random: regret grows by at most 1, and a draw without data costs no privacy,
 * but the batch answer is then wrong with probability 1 - 1/d, and each wrong answer costs n on this data set. */
static void test_last_play(void **state) {
    (void)state;
    const uint32_t n = 512, d = 100;
    const double rate = 0.5;
    const double regret = regret_of_weights(n, d, rate), last = (d - 1.0) / d;
    const double altered = regret_of_weights(n - 1, d, rate) + last;
    assert_true(altered <= regret + 1);
    const double claimed = altered / n, found = last; /* errors per record */
    assert_true(altered < 12 && claimed < 0.025);
    assert_true(found > 40 * claimed);
    /* and the algorithm that was not altered does answer well, so the data set is not to blame */
    const double rest = (d - 1) * exp(-rate * (n - 1.0));
    assert_true(rest / (1 + rest) <= regret / n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fair_coins_at_finite_horizons),
        cmocka_unit_test(test_last_play),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
