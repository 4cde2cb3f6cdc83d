/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: what is one word to every reader is taken, everything else is refused with its reason. */
#include "num/label.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void good(const char *label) {
    caucus_error error = {0};
    if (caucus_label_check(label, strlen(label), &error) != CAUCUS_OK)
        fail_msg("'%s': %s", label, error.text);
}

static void bad(const char *label, size_t length, const char *says) {
    caucus_error error = {0};
    assert_int_equal(caucus_label_check(label, length, &error), CAUCUS_E_FORMAT);
    assert_string_equal(error.field, "names");
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' not in '%s'", says, error.text);
}
#define BAD(label, says) bad(label, sizeof(label) - 1, says)

static void accepted(void **state) {
    (void)state;
    good("a");
    good("distilled v2.1 (fp16) [x]: #1 \\ & * true");
    good("größe");
    good("模型");
    good("\xf0\x9f\x90\x8c");
    good("0123456789012345678901234567890123456789012345678901234567890123");
}

static void refused(void **state) {
    (void)state;
    BAD("", "0 bytes (accepted: 1 to 64)");
    BAD("01234567890123456789012345678901234567890123456789012345678901234", "65 bytes");
    BAD("a,b", "holds a comma");
    BAD("a\"b", "holds a quote");
    BAD("it's", "holds a quote");
    BAD("a\nb", "U+000A at its byte 2");
    BAD("a\0b", "U+0000 at its byte 2");
    BAD("a\x7f", "U+007F");
    BAD("a\xc2\x85", "U+0085");     /* next line */
    BAD("\xe2\x80\xa8x", "U+2028"); /* line separator */
    BAD("a\xe2\x80\xae"
        "b",
        "U+202E"); /* right to left */
    BAD("\xef\xbb\xbfx", "U+FEFF");
    BAD("a\xff", "not UTF-8 at its byte 2");
    BAD("\xc0\xaf", "not UTF-8");         /* overlong */
    BAD("\xed\xa0\x80", "not UTF-8");     /* a surrogate */
    BAD("\xf4\x90\x80\x80", "not UTF-8"); /* beyond the last */
    BAD("x\xe2\x80", "not UTF-8");        /* cut off */
    BAD(" a", "begins or ends with a blank");
    BAD("a ", "begins or ends with a blank");
}

static void distinct(void **state) {
    (void)state;
    const char *const some[] = {"b", "a", "c", "a"};
    caucus_error error = {0};
    assert_int_equal(caucus_labels_differ(some, 3, &error), CAUCUS_OK);
    assert_int_equal(caucus_labels_differ(some, 4, &error), CAUCUS_E_FORMAT);
    assert_string_equal(error.text, "'a' names both expert 1 and expert 3");
}

/* A column that is called otherwise than the label in its place is named, and so is the label. */
static void headers_match(void **state) {
    (void)state;
    caucus_error error = {0};
    assert_int_equal(caucus_labels_match(NULL, "a,b", "h.csv", 1, &error), CAUCUS_OK);
    assert_int_equal(caucus_labels_match("a,b", "a,b", "h.csv", 1, &error), CAUCUS_OK);
    assert_int_equal(caucus_labels_match("a,c,b", "a,b,c", "h.csv", 3, &error), CAUCUS_E_CONFLICT);
    assert_string_equal(error.field, "names");
    assert_string_equal(error.text, "h.csv: column 4 is called 'c', and expert 1 'b' — expected the labels in the "
                                    "header, in their order");
    assert_int_equal(caucus_labels_match("a,bb", "a,b", "h.csv", 1, &error), CAUCUS_E_CONFLICT);
    assert_int_equal(caucus_labels_match("a,b", "a,bb", "h.csv", 1, &error), CAUCUS_E_CONFLICT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(accepted), cmocka_unit_test(refused),
                                       cmocka_unit_test(distinct), cmocka_unit_test(headers_match)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
