/* SPDX-License-Identifier: Apache-2.0 */
/* test_real_text.c: every real number reads back, and those people write look as they write them. */
#include "num/real_text.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
