/* SPDX-License-Identifier: Apache-2.0 */
/* test_slot_clock.c: when a coordinator decides at the devices' own pace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/pace/slot_clock.h"
#include "plan/pace/pace.h"

#define SECOND INT64_C(1000000000)

static void test_next(void **state) {
    (void)state;
    caucus_settings s;
    caucus_settings_init(&s);
    s.phase_time = 100;
    s.grace = 7;
    assert_int_equal(caucus_slot_next_ns(&s, 0), 7 * SECOND);
    assert_int_equal(caucus_slot_next_ns(&s, 7 * SECOND - 1), 7 * SECOND);
    assert_int_equal(caucus_slot_next_ns(&s, 7 * SECOND), 107 * SECOND); /* after, not at */
    assert_int_equal(caucus_slot_next_ns(&s, 1234 * SECOND + 5), 1307 * SECOND);
    assert_int_equal(caucus_slot_next_ns(&s, -94 * SECOND), -93 * SECOND);
    assert_int_equal(caucus_slot_next_ns(&s, -93 * SECOND), 7 * SECOND);
    for (int64_t now = 0; now < 400; now++) { /* grace after a multiple, within one length of time */
        const int64_t next = caucus_slot_next_ns(&s, now * SECOND) / SECOND;
        assert_true(next > now && next <= now + 100 && next % 100 == 7);
    }
}

/* Unit client: not before its question has ended, then after every slot. */
static void test_decides(void **state) {
    (void)state;
    caucus_settings s;
    caucus_settings_init(&s);
    s.phase_time = 100;
    s.grace = 7;
    s.pace = CAUCUS_PACE_OWN;
    assert_int_equal(caucus_slot_decides_ns(&s, 3, 0), 7 * SECOND);
    s.unit = CAUCUS_UNIT_CLIENT;
    s.rounds = 100;
    s.growth = 4;
    s.start = 50;
    assert_int_equal(caucus_slot_decides_ns(&s, 2, 0), 5107 * SECOND);
    assert_int_equal(caucus_slot_decides_ns(&s, 3, 0), 5407 * SECOND);
    assert_int_equal(caucus_slot_decides_ns(&s, 3, 5407 * SECOND), 5507 * SECOND); /* too few had answered */
    assert_int_equal(caucus_slot_decided(&s, 5407 * SECOND), 54);
    assert_int_equal(caucus_slot_decided(&s, 5407 * SECOND - 1), 53);
    assert_int_equal(caucus_slot_decided(&s, 6 * SECOND), 0);
    s.start = CAUCUS_START_MAX;
    s.phase_time = 86400;
    assert_true(caucus_slot_decides_ns(&s, 3, 0) == INT64_MAX); /* a time that no clock has */
}

/* The clock may be set: it is looked at every minute. */
static void test_sleep(void **state) {
    (void)state;
    assert_int_equal(caucus_slot_sleep_ns(5, 5), 0);
    assert_int_equal(caucus_slot_sleep_ns(4, 5), 0);
    assert_int_equal(caucus_slot_sleep_ns(30 * SECOND, 0), 30 * SECOND);
    assert_int_equal(caucus_slot_sleep_ns(86400 * SECOND, 0), 60 * SECOND);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_next), cmocka_unit_test(test_decides),
                                       cmocka_unit_test(test_sleep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
