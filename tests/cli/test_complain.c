/* SPDX-License-Identifier: Apache-2.0 */
/* The exit code of every status, and the line with which a verb fails: fields get the names of the verb's options. */
#include "cli/complain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const caucus_option options[] = {
    {"listen", "HOST:PORT", NULL, NULL}, {"deadline", "S", NULL, NULL}, {NULL, NULL, NULL, NULL}};

static void every_status_has_its_code(void **state) {
    (void)state;
    static const caucus_status input[] = {CAUCUS_E_RANGE, CAUCUS_E_INFEASIBLE, CAUCUS_E_OVERFLOW, CAUCUS_E_FORMAT,
                                          CAUCUS_E_PATH,  CAUCUS_E_EXISTS,     CAUCUS_E_CONFLICT};
    for (int i = 0; i < CAUCUS_STATUS_COUNT; i++) {
        caucus_status status = (caucus_status)i;
        int want = status == CAUCUS_OK ? 0 : caucus_status_is_final(status) ? 3 : 1;
        for (size_t k = 0; k < sizeof input / sizeof input[0]; k++)
            want = status == input[k] ? 2 : want;
        if (caucus_exit_code(status) != want)
            fail_msg("%s: %d, expected %d", caucus_status_text(status), caucus_exit_code(status), want);
    }
    assert_int_equal(caucus_exit_code(CAUCUS_E_MISMATCH), 3);
    assert_int_equal(caucus_exit_code(CAUCUS_E_REFUSED), 3);
    assert_int_equal(caucus_exit_code(CAUCUS_E_ROLLED_BACK), 3);
    assert_int_equal(caucus_exit_code(CAUCUS_E_OVER), 3);
}

/* What a call to caucus_complain() writes, without its newline. */
static const char *said(caucus_status status, const caucus_error *error, int want) {
    static char text[1024];
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    assert_non_null(file);
    assert_true(kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    int code = caucus_complain("verb", options, status, error);
    fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_int_equal(code, want);
    assert_true(length > 0 && text[length - 1] == '\n');
    text[length - 1] = '\0';
    assert_null(strchr(text, '\n'));
    return text;
}

static void parts_become_one_line(void **state) {
    (void)state;
    caucus_error e = {0};
    caucus_status status = caucus_fail_os(&e, CAUCUS_E_BUSY, EADDRINUSE, "listen", "127.0.0.1:%d", 80);
    status = caucus_fail_hint(&e, status, "another port");
    assert_string_equal(said(status, &e, 1),
                        "caucus verb: --listen 127.0.0.1:80: Address already in use — another port");
    status = caucus_fail(&e, CAUCUS_E_RANGE, "epsilon", "0: must be above 0"); /* no option of this verb */
    assert_string_equal(said(status, &e, 2), "caucus verb: epsilon: 0: must be above 0");
    status = caucus_fail(&e, CAUCUS_E_OVER, "", "state: gone");
    assert_string_equal(said(status, &e, 3), "caucus verb: state: gone");
    assert_string_equal(said(CAUCUS_E_RANDOM, &(caucus_error){0}, 1), "caucus verb: the system's random source failed");
}

static void hints_name_options(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"give 'deadline', too", "give --deadline, too"},
        {"'listen' or 'deadline'", "--listen or --deadline"},
        {"give 'cert'", "give 'cert'"}, /* not this verb's */
        {"don't give 'deadline'", "don't give --deadline"},
        {"an open 'quote", "an open 'quote"},
        {"''", "''"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        caucus_error e = {0};
        (void)caucus_fail_hint(&e, CAUCUS_E_RANGE, cases[i][0]);
        caucus_complain_name(options, &e);
        assert_string_equal(e.hint, cases[i][1]);
    }
    /* A hint that is full stays whole and ended. */
    caucus_error e = {0};
    char full[sizeof e.hint];
    memset(full, 'x', sizeof full);
    memcpy(full + sizeof full - 12, "'deadline'", 10);
    full[sizeof full - 1] = '\0';
    (void)caucus_fail_hint(&e, CAUCUS_E_RANGE, full);
    caucus_complain_name(options, &e);
    assert_int_equal(strlen(e.hint), sizeof e.hint - 1);
    assert_non_null(strstr(e.hint, "--deadline"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_code),
        cmocka_unit_test(parts_become_one_line),
        cmocka_unit_test(hints_name_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
