/* SPDX-License-Identifier: Apache-2.0 */
/* Checked arithmetic at its edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "num/checked.h"

static void sums_and_products(void **state) {
    (void)state;
    uint64_t u = 7;
    caucus_u128 w = 7, top = ~(caucus_u128)0;
    assert_false(caucus_mul_u64((uint64_t)1 << 32, (uint64_t)1 << 32, &u));
    assert_true(u == 7);
    assert_true(caucus_mul_u64((uint64_t)1 << 32, ((uint64_t)1 << 32) - 1, &u) && u == 0xffffffff00000000u);
    assert_false(caucus_add_wide(top, 1, &w));
    assert_true(w == 7);
    assert_true(caucus_add_wide(top - 1, 1, &w) && w == top);
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
        cmocka_unit_test(saturating_stops_at_the_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
