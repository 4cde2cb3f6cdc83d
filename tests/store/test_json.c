/* SPDX-License-Identifier: Apache-2.0 */
/* test_json.c: the writer of JSON: its form, what it escapes, what has no number. */
#include "store/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fill(caucus_json *j) {
    caucus_json_text(j, "losses-are", "a \"b\"\\\n\x7f ≤");
    caucus_json_text(j, "nothing", NULL);
    caucus_json_real(j, "third", 1.0 / 3);
    caucus_json_real(j, "nan", (double)NAN);
    caucus_json_real(j, "infinite", -(double)INFINITY);
    caucus_json_whole(j, "largest", UINT64_MAX);
    caucus_json_signed(j, "least", INT64_MIN);
    caucus_json_list(j, "empty");
    caucus_json_close(j);
    caucus_json_list(j, "runs");
    for (int i = 0; i < 2; i++) {
        caucus_json_object(j, NULL);
        caucus_json_truth(j, "first", i == 0);
        caucus_json_object_row(j, "row");
        caucus_json_list(j, "values");
        caucus_json_whole(j, NULL, 1);
        caucus_json_null(j, NULL);
        caucus_json_close(j);
        caucus_json_close(j);
        caucus_json_close(j);
    }
    caucus_json_close(j);
}

static char *written(bool row) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    caucus_json j;
    assert_non_null(out);
    caucus_json_begin(&j, out, row);
    fill(&j);
    caucus_json_end(&j);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void test_form(void **state) {
    (void)state;
    char *text = written(false);
    assert_string_equal(text, "{\n"
                              "  \"version\": 1,\n"
                              "  \"losses_are\": \"a \\\"b\\\"\\\\\\u000a\\u007f ≤\",\n"
                              "  \"nothing\": null,\n"
                              "  \"third\": 0.3333333333333333,\n"
                              "  \"nan\": null,\n"
                              "  \"infinite\": null,\n"
                              "  \"largest\": 18446744073709551615,\n"
                              "  \"least\": -9223372036854775808,\n"
                              "  \"empty\": [],\n"
                              "  \"runs\": [\n"
                              "    {\n"
                              "      \"first\": true,\n"
                              "      \"row\": {\"values\": [1, null]}\n"
                              "    },\n"
                              "    {\n"
                              "      \"first\": false,\n"
                              "      \"row\": {\"values\": [1, null]}\n"
                              "    }\n"
                              "  ]\n"
                              "}\n");
    free(text);
}

static void test_one_line(void **state) {
    (void)state;
    char *text = written(true);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_non_null(strstr(text, "{\"version\": 1, \"losses_are\": "));
    assert_non_null(strstr(text, "\"runs\": [{\"first\": true, \"row\": {\"values\": [1, null]}}, {\"first\": false"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_form), cmocka_unit_test(test_one_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
