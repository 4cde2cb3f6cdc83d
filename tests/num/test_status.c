/* Statuses have texts, and an error is one clean line however it was made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <caucus/status.h>

#include <string.h>

static void every_status_has_its_own_text(void **state) {
    (void)state;
    for (int i = 0; i < CAUCUS_STATUS_COUNT; i++) {
        const char *text = caucus_status_text((caucus_status)i);
        assert_true(strlen(text) > 3);
        assert_string_not_equal(text, "unknown status");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(text, caucus_status_text((caucus_status)j));
    }
    assert_string_equal(caucus_status_text(CAUCUS_STATUS_COUNT), "unknown status");
}

static void fail_fills_and_returns(void **state) {
    (void)state;
    caucus_error e;
    assert_int_equal(caucus_fail(&e, CAUCUS_E_RANGE, "epsilon", "%d (accepted: above %s)", 0, "0"), CAUCUS_E_RANGE);
    assert_string_equal(e.field, "epsilon");
    assert_string_equal(e.text, "0 (accepted: above 0)");
    assert_int_equal(caucus_fail(NULL, CAUCUS_E_IO, "x", "%s", "y"), CAUCUS_E_IO);
    assert_int_equal(caucus_fail(&e, CAUCUS_E_IO, NULL, "gone"), CAUCUS_E_IO);
    assert_string_equal(e.field, "");
}

static void long_and_hostile_text_stays_one_line(void **state) {
    (void)state;
    char big[1000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    caucus_error e;
    (void)caucus_fail(&e, CAUCUS_E_RANGE, big, "%s", big);
    assert_int_equal(strlen(e.field), sizeof e.field - 1);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    (void)caucus_fail(&e, CAUCUS_E_RANGE, "a\nb", "%s", "\x1b[2J\n\r\x7f ok");
    assert_string_equal(e.field, "a?b");
    assert_string_equal(e.text, "?[2J??? ok");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(fail_fills_and_returns),
        cmocka_unit_test(long_and_hostile_text_stays_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
