/* SPDX-License-Identifier: Apache-2.0 */
/* Fractions: exact, in lowest terms, rounded the way that was asked, refused when they do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <caucus/rational.h>

#include "num/int128.h"

#include <math.h>

#define assert_rational(r, n, d)                                                                                       \
    do {                                                                                                               \
        assert_true((r).num == (n));                                                                                   \
        assert_true((r).den == (d));                                                                                   \
    } while (0)

static uint64_t state_of_test = 0x9e3779b97f4a7c15u; /* seed, fixed: xorshift for test inputs only */
static uint64_t next_word(void) {
    state_of_test ^= state_of_test << 13;
    state_of_test ^= state_of_test >> 7;
    state_of_test ^= state_of_test << 17;
    return state_of_test;
}

static void make_reduces(void **state) {
    (void)state;
    assert_rational(caucus_rational_make(6, 4), 3, 2);
    assert_rational(caucus_rational_make(0, 7), 0, 1);
    assert_rational(caucus_rational_make(UINT64_MAX, UINT64_MAX), 1, 1);
    assert_rational(caucus_rational_make(UINT64_MAX, 1), UINT64_MAX, 1);
}

static void floor_and_ceil_enclose(void **state) {
    (void)state;
    const double values[] = {0, 0.1, 0.5, 1, 1.0 / 3, 10, 999.999, 0x1p-56, 0x1p-60, 5e-324, 100.25};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        for (unsigned bits = 0; bits <= 53; bits++) {
            caucus_rational lo, hi;
            assert_int_equal(caucus_rational_floor(values[i], bits, &lo), CAUCUS_OK);
            assert_int_equal(caucus_rational_ceil(values[i], bits, &hi), CAUCUS_OK);
            assert_true(caucus_rational_double(lo) <= values[i] && values[i] <= caucus_rational_double(hi));
            double gap = ldexp(caucus_rational_double(hi), (int)bits) - ldexp(caucus_rational_double(lo), (int)bits);
            assert_true(gap == 0 || gap == 1);
            assert_true(((uint64_t)1 << bits) % lo.den == 0);
        }
}

static void floor_refuses_what_it_cannot_hold(void **state) {
    (void)state;
    caucus_rational r = {7, 9};
    const double bad[] = {-1, -5e-324, (double)NAN, INFINITY, -INFINITY, 0x1p63, 1e300};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(caucus_rational_floor(bad[i], 0, &r), CAUCUS_E_RANGE);
        assert_int_equal(caucus_rational_ceil(bad[i], 0, &r), CAUCUS_E_RANGE);
    }
    assert_int_equal(caucus_rational_floor(128, 56, &r), CAUCUS_E_RANGE);
    assert_int_equal(caucus_rational_floor(1, 57, &r), CAUCUS_E_RANGE);
    assert_rational(r, 7, 9); /* never written on failure */
    assert_int_equal(caucus_rational_floor(127.5, 56, &r), CAUCUS_OK);
    assert_rational(r, 255, 2);
}

static void products_and_sums(void **state) {
    (void)state;
    caucus_rational r = {7, 9};
    assert_int_equal(caucus_rational_mul((caucus_rational){2, 3}, (caucus_rational){3, 4}, &r), CAUCUS_OK);
    assert_rational(r, 1, 2);
    assert_int_equal(caucus_rational_add((caucus_rational){1, 6}, (caucus_rational){1, 10}, &r), CAUCUS_OK);
    assert_rational(r, 4, 15);
    assert_int_equal(caucus_rational_div_int((caucus_rational){6, 5}, 4, &r), CAUCUS_OK);
    assert_rational(r, 3, 10);
    assert_int_equal(caucus_rational_div_int((caucus_rational){0, 5}, UINT64_MAX, &r), CAUCUS_OK);
    assert_rational(r, 0, 1);
    /* Cross-reduced: the parts multiply to 2^124, the result is 1. */
    uint64_t big = (uint64_t)1 << 62;
    assert_int_equal(caucus_rational_mul((caucus_rational){big, 3}, (caucus_rational){3, big}, &r), CAUCUS_OK);
    assert_rational(r, 1, 1);
    assert_int_equal(
        caucus_rational_add((caucus_rational){UINT64_MAX - 1, UINT64_MAX}, (caucus_rational){1, UINT64_MAX}, &r),
        CAUCUS_OK);
    assert_rational(r, 1, 1);
}

static void overflow_is_said(void **state) {
    (void)state;
    caucus_rational r = {7, 9};
    assert_int_equal(caucus_rational_mul((caucus_rational){UINT64_MAX, 1}, (caucus_rational){2, 1}, &r),
                     CAUCUS_E_OVERFLOW);
    assert_int_equal(caucus_rational_add((caucus_rational){UINT64_MAX, 1}, (caucus_rational){1, 1}, &r),
                     CAUCUS_E_OVERFLOW);
    assert_int_equal(caucus_rational_add((caucus_rational){UINT64_MAX, UINT64_MAX - 1},
                                         (caucus_rational){UINT64_MAX, UINT64_MAX - 2}, &r),
                     CAUCUS_E_OVERFLOW);
    assert_int_equal(caucus_rational_div_int((caucus_rational){1, (uint64_t)1 << 63}, 3, &r), CAUCUS_E_OVERFLOW);
    assert_rational(r, 7, 9);
}

static void compare_is_exact(void **state) {
    (void)state;
    /* Neighbouring fractions that no double tells apart. */
    caucus_rational a = {UINT64_MAX - 2, UINT64_MAX - 1}, b = {UINT64_MAX - 1, UINT64_MAX};
    assert_true(caucus_rational_double(a) == caucus_rational_double(b));
    assert_int_equal(caucus_rational_compare(a, b), -1);
    assert_int_equal(caucus_rational_compare(b, a), 1);
    assert_int_equal(caucus_rational_compare(a, a), 0);
    assert_int_equal(caucus_rational_compare((caucus_rational){1, 2}, (caucus_rational){2, 4}), 0);
}

/* Against an independent check: the result times den is within half a unit in the last place of num. */
static void to_double_is_nearest(void **state) {
    (void)state;
    for (int i = 0; i < 20000; i++) {
        caucus_rational r =
            caucus_rational_make(next_word() >> (next_word() & 63), (next_word() >> (next_word() & 63)) | 1);
        double x = caucus_rational_double(r);
        long double exact = (long double)r.num / (long double)r.den; /* 64 bits: 2^-11 of a double's ulp */
        double ulp = nextafter(x, INFINITY) - x;
        assert_true(fabsl((long double)x - exact) <= (long double)ulp * 0.501L);
    }
    assert_true(caucus_rational_double((caucus_rational){0, 5}) == 0);
    assert_true(caucus_rational_double((caucus_rational){1, 3}) == 1.0 / 3);
    assert_true(caucus_rational_double((caucus_rational){UINT64_MAX, 1}) == 0x1p64);
    /* 2^53+1 over 2^k is a tie, to even; a little above it is not. */
    assert_true(caucus_rational_double((caucus_rational){((uint64_t)1 << 53) + 1, 1}) == 0x1p53);
    assert_true(caucus_rational_double((caucus_rational){(((uint64_t)1 << 53) + 1) * 1024 + 1, 1024}) == 0x1p53 + 2);
}

static void random_sums_agree_with_wide_integers(void **state) {
    (void)state;
    int held = 0;
    for (int i = 0; i < 20000; i++) {
        caucus_rational a = caucus_rational_make(next_word() >> 36, (next_word() >> 36) + 1);
        caucus_rational b = caucus_rational_make(next_word() >> 36, (next_word() >> 36) + 1), sum, product;
        assert_int_equal(caucus_rational_add(a, b, &sum), CAUCUS_OK);
        assert_true((caucus_u128)sum.num * a.den * b.den ==
                    ((caucus_u128)a.num * b.den + (caucus_u128)b.num * a.den) * sum.den);
        assert_int_equal(caucus_rational_mul(a, b, &product), CAUCUS_OK);
        assert_true((caucus_u128)product.num * a.den * b.den == (caucus_u128)a.num * b.num * product.den);
        held += caucus_rational_make(sum.num, sum.den).den == sum.den;
    }
    assert_int_equal(held, 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(make_reduces),
        cmocka_unit_test(floor_and_ceil_enclose),
        cmocka_unit_test(floor_refuses_what_it_cannot_hold),
        cmocka_unit_test(products_and_sums),
        cmocka_unit_test(overflow_is_said),
        cmocka_unit_test(compare_is_exact),
        cmocka_unit_test(to_double_is_nearest),
        cmocka_unit_test(random_sums_agree_with_wide_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
