/* SPDX-License-Identifier: Apache-2.0 */
/* test_postgres_names.c: which settings of synchronous_standby_names make every commit wait for all that they list. */
#ifdef CAUCUS_POSTGRES
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/postgres/postgres.h"

static void all_that_are_listed(void **state) {
    static const char *const yes[] = {"b",
                                      " B ",
                                      "\"b\"",
                                      "FIRST 1 (b)",
                                      "1 (b)",
                                      "2 (a, b)",
                                      "first 2 (b,a)",
                                      "ANY 3 (\"x \"\"1\"\"\", b, c)",
                                      "FIRST 3 (a, b)"};
    static const char *const no[] = {"",
                                     "a",
                                     "*",
                                     "bb",
                                     "a, b",
                                     "FIRST 1 (a, b)",
                                     "ANY 2 (a, b, c)",
                                     "2 (a, c)",
                                     "ANY 1 (*)",
                                     "2 (b, *)",
                                     "FIRST 2 (a, b",
                                     "FIRST 2 (a, b) c",
                                     "b c",
                                     "first",
                                     "FIRST x (b)",
                                     "-1 (b)",
                                     "\"b"};
    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (!caucus_pg_demands_all(yes[i], "b"))
            fail_msg("%s: every commit waits for b", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (caucus_pg_demands_all(no[i], "b"))
            fail_msg("%s: a commit may miss b", no[i]);
    assert_false(caucus_pg_demands_all("b", ""));
    assert_true(caucus_pg_demands_all("first", "first")); /* a standby of that name */
    assert_true(caucus_pg_demands_all("any, b", "any") == false);
}

/* A name that does not fit into ours is no name that we know. */
static void long_names(void **state) {
    char names[300];
    (void)state;
    for (size_t i = 0; i < sizeof names - 1; i++)
        names[i] = 'a';
    names[sizeof names - 1] = '\0';
    assert_false(caucus_pg_demands_all(names, "a"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_that_are_listed), cmocka_unit_test(long_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    return 77;
}
#endif
