/* SPDX-License-Identifier: Apache-2.0 */
/* test_choices.c: the record of who was in force when: complete while there are few changes, and of many a true and
 * even selection. That a trial fills it rightly is test_trial's, against a list of all rounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/choices.h"

static void test_few_changes_are_all_kept(void **state) {
    (void)state;
    caucus_choices c = {0};
    for (uint32_t i = 0; i < CAUCUS_CHOICES; i++)
        caucus_choices_add(&c, 3 * i, 1000, 7 + i);
    assert_int_equal(c.count, CAUCUS_CHOICES);
    assert_int_equal(c.thinned, 0);
    for (uint32_t i = 0; i < CAUCUS_CHOICES; i++) {
        assert_int_equal(caucus_choices_at(&c, 3 * i), 7 + i);
        assert_int_equal(caucus_choices_at(&c, 3 * i + 2), 7 + i);
    }
    assert_int_equal(caucus_choices_at(&c, 999), 7 + CAUCUS_CHOICES - 1);
}

static void test_nothing_is_known_before_the_first(void **state) {
    (void)state;
    caucus_choices c = {0};
    assert_int_equal(caucus_choices_at(&c, 0), UINT32_MAX);
    caucus_choices_add(&c, 5, 10, 2);
    assert_int_equal(caucus_choices_at(&c, 4), UINT32_MAX);
    assert_int_equal(caucus_choices_at(&c, 5), 2);
}

/* Whatever the number of rounds: what is kept is true, spans the run, and fits. */
static void test_many_changes_are_thinned(void **state) {
    (void)state;
    for (uint64_t rounds = CAUCUS_CHOICES + 1; rounds < 5000; rounds += 1 + rounds / 7) {
        caucus_choices c = {0};
        for (uint64_t t = 0; t < rounds; t++) /* a change in every round: expert t from round t on */
            caucus_choices_add(&c, t, rounds, (uint32_t)t);
        assert_int_equal(c.thinned, 1);
        assert_in_range(c.count, CAUCUS_CHOICES / 4, CAUCUS_CHOICES);
        assert_int_equal(c.before[0], 0);
        const uint64_t apart = rounds / (CAUCUS_CHOICES - 1) + 1;
        for (uint32_t i = 0; i < c.count; i++) {
            assert_int_equal(c.expert[i], c.before[i]);
            const uint64_t next = i + 1 < c.count ? c.before[i + 1] : rounds;
            assert_in_range(next - c.before[i], 1, apart);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_changes_are_all_kept),
        cmocka_unit_test(test_nothing_is_known_before_the_first),
        cmocka_unit_test(test_many_changes_are_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
