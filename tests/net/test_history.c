/* SPDX-License-Identifier: Apache-2.0 */
/* test_history.c: announcements in memory come back as they were, whatever their numbers and lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/history.h"

#define COUNT 5000u /* seven chunks */

/* Numbers that fill their types, and now and then a list, of every length. */
static caucus_announcement announcement_of(uint64_t serial) {
    caucus_announcement a = {.serial = serial,
                             .epoch = UINT64_MAX - serial * 0x100000001u,
                             .block = serial << 40 | serial,
                             .expert = UINT32_MAX - (uint32_t)serial,
                             .ask = (caucus_ask)(serial % (CAUCUS_ASK_SHORTLIST + 1)),
                             .leaf = (uint32_t)serial * 2654435761u};
    a.listed = serial % 3 == 0 ? (uint32_t)(serial / 3 % (CAUCUS_SHORTLIST + 1)) : 0;
    for (uint32_t i = 0; i < a.listed; i++)
        a.list[i] = (uint32_t)serial + i;
    return a;
}

static void test_comes_back_as_it_was(void **state) {
    (void)state;
    static caucus_announced h;
    for (uint64_t i = 0; i < COUNT; i++) {
        const caucus_announcement a = announcement_of(i);
        assert_true(caucus_history_add(&h, &a));
        const caucus_announcement other = announcement_of(i / 2), before = caucus_history_get(&h, i / 2);
        assert_memory_equal(&before, &other, sizeof other);
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        const caucus_announcement a = announcement_of(i), got = caucus_history_get(&h, i);
        assert_memory_equal(&got, &a, sizeof a);
    }
    caucus_history_free(&h);
}

static void test_takes_as_little_as_said(void **state) {
    (void)state;
    assert_int_equal(sizeof(caucus_past), 28);
    assert_int_equal(sizeof(caucus_past) + sizeof(caucus_past_list), 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_comes_back_as_it_was),
                                       cmocka_unit_test(test_takes_as_little_as_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
