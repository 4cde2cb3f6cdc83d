/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses have texts, and an error is one clean line however it was made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <caucus/status.h>

#include <errno.h>
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

static void what_the_system_said_travels_along(void **state) {
    (void)state;
    caucus_error e;
    assert_int_equal(caucus_fail_os(&e, CAUCUS_E_IO, EACCES, "listen", "port %d", 80), CAUCUS_E_IO);
    assert_int_equal(e.os_error, EACCES);
    assert_string_equal(e.text, "port 80");
    assert_string_equal(e.hint, "");
    assert_int_equal(caucus_fail_hint(&e, CAUCUS_E_IO, "another\nport"), CAUCUS_E_IO);
    assert_string_equal(e.hint, "another?port");
    assert_string_equal(e.text, "port 80");
    assert_int_equal(e.os_error, EACCES);
    /* The next error begins anew. */
    assert_int_equal(caucus_fail(&e, CAUCUS_E_RANGE, "x", "y"), CAUCUS_E_RANGE);
    assert_int_equal(e.os_error, 0);
    assert_string_equal(e.hint, "");
    /* A full disk is a kind of its own, but a state that is not saved stays that. */
    assert_int_equal(caucus_fail_os(&e, CAUCUS_E_IO, ENOSPC, "", "a"), CAUCUS_E_FULL);
    assert_int_equal(caucus_fail_os(NULL, CAUCUS_E_IO, EDQUOT, "", "a"), CAUCUS_E_FULL);
    assert_int_equal(caucus_fail_os(&e, CAUCUS_E_IO, ENOMEM, "", "a"), CAUCUS_E_MEMORY);
    assert_int_equal(caucus_fail_os(&e, CAUCUS_E_PATH, ENOENT, "", "a"), CAUCUS_E_PATH);
    assert_int_equal(caucus_fail_os(&e, CAUCUS_E_PATH, ENOSPC, "", "a"), CAUCUS_E_FULL);
    assert_int_equal(caucus_fail_os(&e, CAUCUS_E_PATH, EMFILE, "", "a"), CAUCUS_E_IO);
    assert_int_equal(caucus_fail_os(&e, CAUCUS_E_SAVE, ENOSPC, "", "a"), CAUCUS_E_SAVE);
    assert_int_equal(e.os_error, ENOSPC);
    assert_int_equal(caucus_fail_hint(NULL, CAUCUS_E_BUSY, "wait"), CAUCUS_E_BUSY);
}

/* What programs outside were compiled with. */
static void an_error_is_frozen(void **state) {
    (void)state;
    assert_int_equal(sizeof(caucus_error), 512);
    assert_int_equal(offsetof(caucus_error, text), 32);
    assert_int_equal(offsetof(caucus_error, hint), 256);
    assert_int_equal(offsetof(caucus_error, line), 416);
    assert_int_equal(offsetof(caucus_error, os_error), 424);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(fail_fills_and_returns),
        cmocka_unit_test(long_and_hostile_text_stays_one_line),
        cmocka_unit_test(what_the_system_said_travels_along),
        cmocka_unit_test(an_error_is_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
