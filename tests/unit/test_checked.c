/* Checked arithmetic at its edges. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "num/checked.h"

static void sums_and_products(void **state) {
    (void)state;
    uint64_t u = 7;
    int64_t i = 7;
    caucus_wide w = 7, top = ~(caucus_wide)0;
    assert_true(caucus_add_u64(UINT64_MAX - 1, 1, &u) && u == UINT64_MAX);
    u = 7;
    assert_false(caucus_add_u64(UINT64_MAX, 1, &u));
    assert_false(caucus_mul_u64((uint64_t)1 << 32, (uint64_t)1 << 32, &u));
    assert_true(u == 7);
    assert_true(caucus_mul_u64((uint64_t)1 << 32, ((uint64_t)1 << 32) - 1, &u) && u == 0xffffffff00000000u);
    assert_false(caucus_add_i64(INT64_MAX, 1, &i));
    assert_false(caucus_add_i64(INT64_MIN, -1, &i));
    assert_false(caucus_mul_i64(INT64_MIN, -1, &i));
    assert_true(i == 7);
    assert_true(caucus_mul_i64(-3, 5, &i) && i == -15);
    assert_true(caucus_add_i64(INT64_MIN, INT64_MAX, &i) && i == -1);
    assert_false(caucus_add_wide(top, 1, &w));
    assert_false(caucus_mul_wide((caucus_wide)1 << 64, (caucus_wide)1 << 64, &w));
    assert_true(w == 7);
    assert_true(caucus_mul_wide(top, 1, &w) && w == top);
    assert_true(caucus_mul_wide(0, top, &w) && w == 0);
    assert_true(caucus_add_wide(top - 1, 1, &w) && w == top);
}

static void mul_div_rounds_as_named(void **state) {
    (void)state;
    uint64_t lo = 0, hi = 0;
    assert_true(caucus_mul_div_floor(10, 10, 7, &lo) && lo == 14);
    assert_true(caucus_mul_div_ceil(10, 10, 7, &hi) && hi == 15);
    assert_true(caucus_mul_div_ceil(14, 10, 7, &hi) && hi == 20);
    assert_true(caucus_mul_div_floor(UINT64_MAX, UINT64_MAX, UINT64_MAX, &lo) && lo == UINT64_MAX);
    assert_true(caucus_mul_div_ceil(UINT64_MAX, UINT64_MAX, UINT64_MAX, &hi) && hi == UINT64_MAX);
    assert_false(caucus_mul_div_floor(UINT64_MAX, 2, 1, &lo));
    assert_false(caucus_mul_div_ceil(UINT64_MAX, UINT64_MAX, UINT64_MAX - 1, &hi));
    assert_true(lo == UINT64_MAX && hi == UINT64_MAX);
}

static void saturating_stops_at_the_bounds(void **state) {
    (void)state;
    assert_true(caucus_add_saturating(CAUCUS_SUM_MAX, 1) == CAUCUS_SUM_MAX);
    assert_true(caucus_add_saturating(-CAUCUS_SUM_MAX, -1) == -CAUCUS_SUM_MAX);
    assert_true(caucus_add_saturating(INT64_MAX, INT64_MAX) == CAUCUS_SUM_MAX);
    assert_true(caucus_add_saturating(INT64_MIN, INT64_MIN) == -CAUCUS_SUM_MAX);
    assert_true(caucus_add_saturating(CAUCUS_SUM_MAX, -1) == CAUCUS_SUM_MAX - 1);
    assert_true(caucus_add_saturating(-5, 3) == -2);
    assert_true(caucus_add_saturating_u64(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
    assert_true(caucus_add_saturating_u64(1, 2) == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products),
        cmocka_unit_test(mul_div_rounds_as_named),
        cmocka_unit_test(saturating_stops_at_the_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
