/* SPDX-License-Identifier: Apache-2.0 */
/* test_wrap.c: lines of a certain width: none is wider, no word is lost, words are not split unless they must be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "show/wrap.h"

#include <stdlib.h>
#include <string.h>

static char *wrapped(int width, const char *first, const char *text) {
    char *ret = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&ret, &size);
    assert_non_null(out);
    caucus_wrap_put(out, width, first, text);
    assert_int_equal(fclose(out), 0);
    return ret;
}

static void expect(int width, const char *first, const char *text, const char *lines) {
    char *got = wrapped(width, first, text);
    assert_string_equal(got, lines);
    free(got);
}

static void test_lines(void **state) {
    (void)state;
    expect(12, "  - ", "one two three", "  - one two\n    three\n");
    expect(11, "  - ", "one two three", "  - one two\n    three\n"); /* to the last column */
    expect(10, "  - ", "one two three", "  - one\n    two\n    three\n");
    expect(80, "", "  many   blanks  ", "many blanks\n");
    expect(80, "  ", "", "  \n");
}

static void test_characters_count_once(void **state) {
    (void)state;
    expect(9, "", "äöü äöü ä", "äöü äöü ä\n");
    expect(8, "", "äöü äöü ä", "äöü äöü\nä\n");
}

static void test_no_break(void **state) {
    (void)state;
    expect(12, "", "about epsilon\u00a01", "about\nepsilon 1\n");
}

static void test_wide_words_break(void **state) {
    (void)state;
    expect(6, "  ", "abcdefghij k", "  abcd\n  efgh\n  ij k\n");
    expect(6, "  ", "a äöüäöü", "  a\n  äöüä\n  öü\n");
    expect(2, "    ", "abc d", "    abc\n    d\n"); /* no room at all: words stay whole */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_characters_count_once),
        cmocka_unit_test(test_no_break),
        cmocka_unit_test(test_wide_words_break),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
