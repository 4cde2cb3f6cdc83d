/* SPDX-License-Identifier: Apache-2.0 */
/* test_page.c: the parts of the report's page that are made of texts: names of columns in cells, shell words,
 * the commands that make a section again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study/parts.h"

static void expect_cells(const char *page, const char *wanted) {
    caucus_text in = {0}, out = {0};
    caucus_text_put(&in, page, strlen(page));
    caucus_page_label_cells(&in, &out);
    assert_string_equal(out.data, wanted);
    assert_false(out.failed);
    caucus_text_free(&in);
    caucus_text_free(&out);
}

static void test_cells(void **state) {
    (void)state;
    expect_cells("<p>a &lt; b</p>", "<p>a &lt; b</p>");
    expect_cells("<table><thead><tr><th>a</th><th class=\"number\">b <code>x</code> \"&amp;</th></tr></thead>"
                 "<tbody><tr><td>1</td><td class=\"number\">2</td><td>3</td></tr></tbody></table>",
                 "<table><thead><tr><th>a</th><th class=\"number\">b <code>x</code> \"&amp;</th></tr></thead>"
                 "<tbody><tr><td data-label=\"a\">1</td><td data-label=\"b x &quot;&amp;\" class=\"number\">2</td>"
                 "<td>3</td></tr></tbody></table>");
    /* A cell over several columns has no name; the one after it has its own. Rows and tables begin anew. */
    expect_cells("<table><tr><th>a</th><th>b</th><th>c</th></tr><tr><td colspan=\"2\">1</td><td>2</td></tr>"
                 "<tr><td>3</td></tr></table><table><tr><td>4</td></tr></table>",
                 "<table><tr><th>a</th><th>b</th><th>c</th></tr><tr><td colspan=\"2\">1</td><td data-label=\"c\">2</td>"
                 "</tr><tr><td data-label=\"a\">3</td></tr></table><table><tr><td>4</td></tr></table>");
    /* A shorter name in the same place, an empty one, and a header that does not end. */
    expect_cells("<table><tr><th>long</th></tr><tr><td>1</td></tr></table><table><tr><th>x</th><th></th></tr>"
                 "<tr><td>1</td><td>2</td></tr></table><table><tr><th>y<tr><td>",
                 "<table><tr><th>long</th></tr><tr><td data-label=\"long\">1</td></tr></table><table><tr><th>x</th>"
                 "<th></th></tr><tr><td data-label=\"x\">1</td><td>2</td></tr></table><table><tr><th>y<tr><td>");
}

static void test_shell(void **state) {
    (void)state;
    static const struct {
        const char *word, *wanted;
    } words[] = {{"data/ml-1m", "data/ml-1m"}, {"", "''"},     {"my films", "'my films'"},
                 {"o'hara", "'o'\\''hara'"},   {"$x", "'$x'"}, {"~/ml-1m", "'~/ml-1m'"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        caucus_text text = {0};
        caucus_text_shell(&text, words[i].word);
        assert_string_equal(text.data, words[i].wanted);
        caucus_text_free(&text);
    }
}

static void expect_command(const caucus_study *study, caucus_section section, const char *wanted) {
    caucus_text text = {0};
    caucus_study_command(study, section, &text);
    if (strstr(text.data, wanted) == NULL)
        fail_msg("no '%s' in: %s", wanted, text.data);
    caucus_text_free(&text);
}

static void test_commands(void **state) {
    (void)state;
    caucus_study study = {.options = {.quick = true, .seed = 9}};
    caucus_sweep sweep = {.trials = 5};
    study.scaling = (caucus_scaling){.sweep = &sweep, .count = 1};
    expect_command(&study, CAUCUS_SECTION_SCALING, "caucus reproduce --only 4 --quick --seed 9\n");
    expect_command(&study, CAUCUS_SECTION_SCALING, "--trials 5 --seed 9");
    study.figure[CAUCUS_SECTION_MOVIELENS].spec = &caucus_figure_specs[CAUCUS_SECTION_MOVIELENS];
    study.figure[CAUCUS_SECTION_MOVIELENS].data = "/films/of mine";
    expect_command(&study, CAUCUS_SECTION_MOVIELENS, "--only 3 --quick --seed 9 --data '/films/of mine'\n");
    expect_command(&study, CAUCUS_SECTION_MOVIELENS, "--adversary movielens --data '/films/of mine' --clients 10");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_shell),
        cmocka_unit_test(test_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
