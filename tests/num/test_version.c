/* SPDX-License-Identifier: Apache-2.0 */
/* The running library says the version of the headers, in text and as a number that agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include <caucus/version.h>

static void test_version(void **state) {
    (void)state;
    assert_string_equal(caucus_version(), CAUCUS_VERSION);
    unsigned major = 99, minor = 99, patch = 99;
    char rest[2] = "";
    assert_int_equal(sscanf(caucus_version(), "%u.%u.%u%1s", &major, &minor, &patch, rest), 3);
    assert_int_equal(caucus_version_number(), major * 10000 + minor * 100 + patch);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_version)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
