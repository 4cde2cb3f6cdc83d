/* SPDX-License-Identifier: Apache-2.0 */
/* test_growth.c: the growth of a threshold, against the formula in long double: never below it, and at most one step
 * above; and the sum that the constant stands for. dp/growth.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dp/growth.h"

static long double formula(caucus_rational rate, uint64_t n) {
    const long double l = logl((long double)n + 1);
    return (l + 2 * logl(l)) * (long double)rate.den / (long double)rate.num;
}

static void test_is_the_formula(void **state) {
    (void)state;
    static const caucus_rational rates[] = {{1, 1}, {3, 7}, {1, (uint64_t)1 << 30}, {3858307741, 9007199254740992}};
    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
        assert_int_equal(caucus_growth(rates[r], 1), 0); /* the formula is just below 0 */
        int64_t before = 0;
        for (uint64_t n = 2; n < (uint64_t)1 << 62; n += n < 5000 ? 1 : n / 3) {
            const int64_t got = caucus_growth(rates[r], n);
            const long double want = formula(rates[r], n), slack = 1 + want * 0x1p-38L;
            if (!((long double)got >= want - 0x1p-20L && (long double)got <= want + slack))
                fail_msg("rate %zu, check %llu: %lld for %.6Lf", r, (unsigned long long)n, (long long)got, want);
            assert_true(got >= before);
            before = got;
        }
    }
}

/* A rate so small that no threshold has room: the most there is, not a number that has wrapped. */
static void test_does_not_wrap(void **state) {
    (void)state;
    const caucus_rational rate = {1, CAUCUS_DEN_MAX};
    assert_true(caucus_growth(rate, (uint64_t)1 << 62) == CAUCUS_GROWTH_MAX);
    assert_true(caucus_growth(rate, 2) > 0 && caucus_growth(rate, 2) < CAUCUS_GROWTH_MAX);
}

/* The sum over n from 2 of 1/(n ln^2 n), up to where the rest is at most 1/ln(last), is below the constant, barely. */
static void test_constant(void **state) {
    (void)state;
    const uint64_t last = 2000000;
    long double sum = 0;
    for (uint64_t n = last; n >= 2; n--) {
        const long double l = logl((long double)n);
        sum += 1 / ((long double)n * l * l);
    }
    sum += 1 / logl((long double)last);
    assert_true(sum < (long double)CAUCUS_GROWTH_CONSTANT && sum > (long double)CAUCUS_GROWTH_CONSTANT - 2e-4L);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_is_the_formula), cmocka_unit_test(test_does_not_wrap),
                                       cmocka_unit_test(test_constant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
