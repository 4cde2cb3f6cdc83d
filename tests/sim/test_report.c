/* test_report.c: the parts of the report that compute or could lose files: slopes, and folders put in place at once. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/report_parts.h"

static void test_fit(void **state) {
    (void)state;
    double x[] = {1, 2, 4, 8}, y[4], slope, error;
    for (int i = 0; i < 4; i++)
        y[i] = 3 * pow(x[i], -0.5);
    caucus_study_fit(x, y, 4, &slope, &error);
    assert_true(fabs(slope + 0.5) < 1e-12 && fabs(error) < 1e-7);
    /* ln y = 0, 1, 0 at ln x = 0, 1, 2: slope 0; residuals -1/3, 2/3, -1/3: error sqrt((6/9)/1/2). */
    double e = exp(1), xs[] = {1, e, e * e}, ys[] = {1, e, 1};
    caucus_study_fit(xs, ys, 3, &slope, &error);
    assert_true(fabs(slope) < 1e-12 && fabs(error - sqrt(6.0 / 9 / 2)) < 1e-12);
    caucus_study_fit(xs, ys, 2, &slope, &error);
    assert_true(fabs(slope - 1) < 1e-12 && isnan(error));
}

static void test_sections(void **state) {
    (void)state;
    caucus_section section;
    caucus_error error;
    for (unsigned i = 0; i < CAUCUS_SECTION_COUNT; i++) {
        const char number[] = {(char)('1' + i), '\0'};
        assert_int_equal(caucus_section_parse(caucus_section_word((caucus_section)i), &section, &error), CAUCUS_OK);
        assert_int_equal(section, i);
        assert_int_equal(caucus_section_parse(number, &section, &error), CAUCUS_OK);
        assert_int_equal(section, i);
    }
    assert_int_equal(caucus_section_parse("0", &section, &error), CAUCUS_E_RANGE);
    assert_int_equal(caucus_section_parse("12", &section, &error), CAUCUS_E_RANGE);
}

static void write_report(const char *path, const char *extra) {
    caucus_folder folder;
    caucus_error error;
    caucus_text page = {0}, more = {0};
    caucus_text_add(&page, "<!doctype html><meta name=\"generator\" content=\"caucus reproduce\">");
    caucus_text_add(&more, "1\n");
    assert_int_equal(caucus_folder_begin(path, &folder, &error), CAUCUS_OK);
    assert_int_equal(caucus_folder_add(&folder, "index.html", &page, &error), CAUCUS_OK);
    assert_int_equal(caucus_folder_add(&folder, extra, &more, &error), CAUCUS_OK);
    assert_int_equal(caucus_folder_finish(&folder, &error), CAUCUS_OK);
    assert_int_not_equal(access(folder.building, F_OK), 0);
    caucus_text_free(&page);
    caucus_text_free(&more);
}

static void test_folder(void **state) {
    (void)state;
    char root[] = "/tmp/caucus-report-XXXXXX", path[64], file[96];
    assert_non_null(mkdtemp(root));
    (void)snprintf(path, sizeof path, "%s/a/b/report", root);
    write_report(path, "one.csv");
    write_report(path, "two.csv"); /* replaces */
    (void)snprintf(file, sizeof file, "%s/one.csv", path);
    assert_int_not_equal(access(file, F_OK), 0);
    (void)snprintf(file, sizeof file, "%s/two.csv", path);
    assert_int_equal(access(file, F_OK), 0);

    /* A stranger's file appears while a report is being built: it stays, and so does what was there. */
    caucus_folder folder;
    caucus_error error = {0};
    assert_int_equal(caucus_folder_begin(path, &folder, &error), CAUCUS_OK);
    (void)snprintf(file, sizeof file, "%s/notes.txt", path);
    FILE *notes = fopen(file, "w");
    assert_non_null(notes);
    assert_int_equal(fclose(notes), 0);
    assert_int_equal(caucus_folder_finish(&folder, &error), CAUCUS_E_IO);
    assert_non_null(strstr(error.text, "notes.txt"));
    caucus_folder_drop(&folder);
    assert_int_equal(access(file, F_OK), 0);
    assert_int_not_equal(access(folder.building, F_OK), 0);
    assert_int_equal(caucus_folder_check(path, &error), CAUCUS_E_IO);
    assert_int_equal(caucus_folder_check("", &error), CAUCUS_E_RANGE);

    const char *left[] = {
        "a/b/report/notes.txt", "a/b/report/two.csv", "a/b/report/index.html", "a/b/report", "a/b", "a"};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        (void)snprintf(file, sizeof file, "%s/%s", root, left[i]);
        assert_int_equal(remove(file), 0);
    }
    assert_int_equal(remove(root), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fit), cmocka_unit_test(test_sections),
                                       cmocka_unit_test(test_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
