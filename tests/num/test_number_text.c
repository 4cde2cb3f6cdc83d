/* SPDX-License-Identifier: Apache-2.0 */
/* test_number_text.c: every real number reads back, and those people write look as they write them; what is no plain
 * number is refused. */
#include "num/number_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void numbers_read_back(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text; /* NULL: whatever reads back */
    } cases[] = {{0, "0"},          {-0.0, "-0"},    {1, "1"},
                 {0.1, "0.1"},      {1.0 / 3, NULL}, {0.1 + 0.2, "0.30000000000000004"},
                 {1e300, "1e+300"}, {5e-324, NULL},  {123456789012345680.0, NULL},
                 {-2.5, "-2.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[CAUCUS_REAL_TEXT_BYTES];
        caucus_real_text(cases[i].value, text);
        assert_true(strtod(text, NULL) == cases[i].value);
        if (cases[i].text != NULL)
            assert_string_equal(text, cases[i].text);
    }
}

static void numbers_apart(void **state) {
    (void)state;
    static const struct {
        double value, other;
        const char *text;
    } cases[] = {{10.0000095, 10, "10.00001"}, {10.00000951, 10, "10.00001"},
                 {12.5, 10, "12.5"},           {10, 10, "10"},
                 {7.4999999, 10, "7.5"},       {10 + 1e-15, 10, "10.000000000000002"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[CAUCUS_REAL_TEXT_BYTES];
        caucus_real_apart(cases[i].value, cases[i].other, 4, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void whole_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t least, most;
        bool good;
        uint64_t value;
    } cases[] = {{"0", 0, 0, true, 0},
                 {"1", 0, 0, false, 0},
                 {"007", 0, 7, true, 7},
                 {"8", 0, 7, false, 0},
                 {"17", 0, 7, false, 0},
                 {"4", 5, 7, false, 0},
                 {"5", 5, 7, true, 5},
                 {"18446744073709551615", 0, UINT64_MAX, true, UINT64_MAX},
                 {"18446744073709551616", 0, UINT64_MAX, false, 0},
                 {"18446744073709551615", 0, UINT64_MAX - 1, false, 0},
                 {"99999999999999999999", 0, UINT64_MAX, false, 0},
                 {"", 0, 9, false, 0},
                 {"-1", 0, 9, false, 0},
                 {"+1", 0, 9, false, 0},
                 {" 1", 0, 9, false, 0},
                 {"1 ", 0, 9, false, 0},
                 {"1e3", 0, 9999, false, 0},
                 {"0x1", 0, 9, false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t value = 77;
        assert_int_equal(caucus_whole_parse(cases[i].text, cases[i].least, cases[i].most, &value), cases[i].good);
        assert_true(value == (cases[i].good ? cases[i].value : 77));
    }
    uint64_t value = 77;
    assert_true(caucus_digits_parse("123", 2, 99, &value)); /* no further than asked */
    assert_int_equal(value, 12);
}

static void real_numbers(void **state) {
    (void)state;
    static const char *const bad[] = {"",    " 1",  "1 ", "0x1p3",    "nan", "inf",  "infinite",
                                      "1e+", "1,5", "-",  "1e999999", ".",   "1e5e", "nan(1)"};
    double value = 77;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(caucus_real_parse(bad[i], &value));
        assert_true(value == 77);
    }
    assert_true(caucus_real_parse("-2.5E-1", &value));
    assert_true(value == -0.25);
    assert_true(caucus_real_parse("+.5", &value));
    assert_true(value == 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_read_back), cmocka_unit_test(numbers_apart),
                                       cmocka_unit_test(whole_numbers), cmocka_unit_test(real_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
