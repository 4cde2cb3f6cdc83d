/* SPDX-License-Identifier: Apache-2.0 */
/* Text from outside: controls and what is no UTF-8 become question marks, everything else stays, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "num/printable.h"

#include <stdio.h>
#include <string.h>

static void texts(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } row[] = {
        {"", ""},
        {"plain 'text' ~", "plain 'text' ~"},
        {"\xe2\x80\x94 \xc3\xa9 \xf0\x9f\x8e\xb2", "\xe2\x80\x94 \xc3\xa9 \xf0\x9f\x8e\xb2"},
        {"a\nb\rc\td\x1b[31me\x7f", "a?b?c?d?[31me?"},
        {"\xc2\x9b 31m \xc2\x85 \xc2\xa0", "?? 31m ?? \xc2\xa0"}, /* controls of eight bits; a blank is none */
        {"\xff\xfe\x80", "???"},
        {"\xc3", "?"}, /* cut short */
        {"\xe2\x80", "??"},
        {"\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "?? ??? ????"},        /* overlong slashes */
        {"\xed\xa0\x80 \xf4\x90\x80\x80 \xf5\x80", "??? ???? ??"},        /* surrogate, beyond the last character */
        {"\xed\x9f\xbf\xf4\x8f\xbf\xbf", "\xed\x9f\xbf\xf4\x8f\xbf\xbf"}, /* the last ones that are */
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s", row[i].in);
        caucus_printable(text);
        assert_string_equal(text, row[i].out);
        caucus_printable(text); /* a clean text stays */
        assert_string_equal(text, row[i].out);
    }
}

static void a_zero_byte_among_them(void **state) {
    (void)state;
    char text[] = "a\0b";
    caucus_printable_bytes(text, 3);
    assert_string_equal(text, "a?b");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(a_zero_byte_among_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
