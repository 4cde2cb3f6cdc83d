/* SPDX-License-Identifier: Apache-2.0 */
/* test_markdown.c: Markdown to HTML: every construct exactly, and hostile input stays text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "study/markdown.h"

static void expect(const char *markdown, const char *html) {
    caucus_text out = {0};
    caucus_markdown_html(markdown, strlen(markdown), 0, &out);
    assert_false(out.failed);
    assert_string_equal(out.data ? out.data : "", html);
    caucus_text_free(&out);
}

static void test_blocks(void **state) {
    (void)state;
    expect("", "");
    expect("\n\n", "");
    expect("# One\n## Two #2\n", "<h1>One</h1>\n<h2>Two #2</h2>\n");
    expect("#no heading\n", "<p>#no heading</p>\n");
    expect("first\nsecond\n\nthird", "<p>first\nsecond</p>\n<p>third</p>\n");
    expect("a\r\nb\r\n\r\nc\r\n", "<p>a\r\nb</p>\n<p>c</p>\n");
    expect("- a\n  more\n- b\n\n1. x\n12. y\n",
           "<ul>\n<li>a\n  more</li>\n<li>b</li>\n</ul>\n<ol>\n<li>x</li>\n<li>y</li>\n</ol>\n");
    expect("```c\nif (a < b) **no**\n\n```\nafter", "<pre><code>if (a &lt; b) **no**\n\n</code></pre>\n<p>after</p>\n");
    expect("```\nnever closed", "<pre><code>never closed\n</code></pre>\n");
    expect("> said\n> twice\n", "<blockquote><p>said</p><p>twice</p></blockquote>\n");
    expect("above\n\n---\nbelow", "<p>above</p>\n<hr>\n<p>below</p>\n");
}

static void test_tables(void **state) {
    (void)state;
    expect("| a | b |\n|---|:-:|\n| 1 | `x|y` |\n| 2 \\| 3 | |\n",
           "<div class=\"wide\"><table>\n<thead><tr><th>a</th><th>b</th></tr>\n</thead>\n<tbody>\n"
           "<tr><td>1</td><td><code>x|y</code></td></tr>\n<tr><td>2 | 3</td><td></td></tr>\n</tbody></table></div>\n");
    expect("| lone |\n", "<div class=\"wide\"><table>\n<tbody>\n<tr><td>lone</td></tr>\n</tbody></table></div>\n");
    expect("|", "<div class=\"wide\"><table>\n<tbody>\n<tr></tr>\n</tbody></table></div>\n");
}

static void test_inline(void **state) {
    (void)state;
    expect("a **b *c* d** e", "<p>a <strong>b <em>c</em> d</strong> e</p>\n");
    expect("2 * 3 * 4 and 2*3", "<p>2 * 3 * 4 and 2*3</p>\n");
    expect("`a*b*c` and `open", "<p><code>a*b*c</code> and `open</p>\n");
    expect("[text](PRIVACY.md#one) [web](https://example.org/?a=1&b=2)",
           "<p><a href=\"PRIVACY.md#one\">text</a> <a href=\"https://example.org/?a=1&amp;b=2\">web</a></p>\n");
    expect("\\*plain\\* [not a link] (x)", "<p>*plain* [not a link] (x)</p>\n");
    expect("**open and *open", "<p>**open and *open</p>\n");
    expect("ends in \\", "<p>ends in \\</p>\n");
}

static void test_hostile(void **state) {
    (void)state;
    expect("<script>alert(1)</script> & \"q\"", "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;q&quot;</p>\n");
    expect("[x](javascript:alert)", "<p>[x](javascript:alert)</p>\n");
    expect("[x](/etc/passwd)", "<p>[x](/etc/passwd)</p>\n");
    expect("[x](a\"onclick=b)", "<p><a href=\"a&quot;onclick=b\">x</a></p>\n");
    expect("# <b>\n", "<h1>&lt;b&gt;</h1>\n");
}

static void test_levels(void **state) {
    (void)state;
    caucus_text out = {0};
    const char *markdown = "# A\n###### F\n";
    caucus_markdown_html(markdown, strlen(markdown), 2, &out);
    assert_string_equal(out.data, "<h3>A</h3>\n<h6>F</h6>\n");
    caucus_text_free(&out);
}

/* Whatever the bytes, the reader ends, and no '<' appears except in tags it writes itself. */
static void test_any_bytes(void **state) {
    (void)state;
    static const char alphabet[] = "#*`[]()|-> \n\\<1.ab";
    uint64_t seed = 20260101;
    printf("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 20000; round++) {
        char text[48];
        size_t length = 0;
        for (; length < sizeof text; length++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[length] = alphabet[(seed >> 33) % (sizeof alphabet - 1)];
        }
        caucus_text out = {0};
        caucus_markdown_html(text, length, 0, &out);
        long open = 0;
        for (const char *c = out.data ? out.data : ""; *c; c++)
            if (*c == '<' && strncmp(c, "<hr>", 4) != 0 && strncmp(c, "<div class", 10) != 0 &&
                strncmp(c, "</div>", 6) != 0)
                open += c[1] == '/' ? -1 : 1;
        assert_int_equal(open, 0);
        caucus_text_free(&out);
    }
}

static void test_numbers(void **state) {
    (void)state;
    caucus_text out = {0};
    caucus_text_thousands(&out, 51200);
    caucus_text_put(&out, " ", 1);
    caucus_text_thousands(&out, -999);
    caucus_text_put(&out, " ", 1);
    caucus_text_thousands(&out, 1234567);
    assert_string_equal(out.data, "51,200 -999 1,234,567");
    caucus_text_free(&out);
    caucus_text_spread(&out, 2.14, 0.71);
    assert_string_equal(out.data, "2.14 ± 0.71");
    caucus_text_free(&out);
    caucus_text_spread(&out, 203.4, 12.2);
    assert_string_equal(out.data, "203 ± 12");
    caucus_text_free(&out);
    caucus_text_spread(&out, 20.44, 2.26);
    assert_string_equal(out.data, "20.4 ± 2.3");
    caucus_text_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_inline), cmocka_unit_test(test_hostile),
                                       cmocka_unit_test(test_levels), cmocka_unit_test(test_any_bytes),
                                       cmocka_unit_test(test_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
