/* SPDX-License-Identifier: Apache-2.0 */
/* test_audit_twins.c: the table of broken twins: its form, and that docs/AUDIT.md has the table of this program: every
 * audit and every twin of it, its claim, its runs, a bound on the right side of the claim, and the very bytes for those
 * rows that are quick to make again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "audit/audit.h"

#define ROWS 256

static char *twins_of(const caucus_audit_result *result, size_t count) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    caucus_audit_twins(out, &(caucus_audit_report){result, count, NULL, 0});
    fclose(out);
    return text;
}

static void test_form(void **state) {
    (void)state;
    const caucus_audit_result result[] = {
        {.name = "a", .claimed = 1, .lower_bound = 0.912, .trials = 4000000},
        {.name = "a-1", .twin_of = "a", .wrong = "noise / 1.25", .claimed = 1, .lower_bound = 0.99, .trials = 400000},
        {.name = "a-2", .twin_of = "a", .wrong = "noise / 2", .lower_bound = 1.9, .refuted = true, .trials = 400000},
        {.name = "a-3", .twin_of = "a", .wrong = "q kept", .lower_bound = 2.1, .refuted = true, .trials = 1234},
        {.name = "b", .claimed = 2, .lower_bound = 2.5, .refuted = true, .trials = 1500000},
    };
    char *text = twins_of(result, 5);
    assert_non_null(
        strstr(text, "| a | 1 | 0.91 (4M) | no power | no power | 1.90 (400k) | no power | q kept: 2.10 (1234) |\n"));
    assert_non_null(strstr(text, "| b | 2 | REFUTED: 2.50 (1.5M) | no power |"));
    free(text);
}

/* The table in the document. */
static char *docs_table(void) {
    static char text[1 << 17];
    char path[4096];
    const char *source = getenv("CAUCUS_SOURCE");
    (void)snprintf(path, sizeof path, "%s/docs/AUDIT.md", source != NULL ? source : "..");
    FILE *in = fopen(path, "re");
    assert_non_null(in);
    size_t size = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[size] = '\0';
    char *begin = strstr(text, "<!-- twins: begin -->\n"), *end = strstr(text, "<!-- twins: end -->");
    assert_true(begin != NULL && end != NULL && begin < end);
    *end = '\0';
    return strchr(begin, '\n') + 1;
}

/* The row of an audit, from its first bar to its end; NULL if there is none. */
static const char *row_of(const char *table, const char *name, size_t *ret_length) {
    char start[64];
    (void)snprintf(start, sizeof start, "\n| %s |", name);
    const char *at = strstr(table, start);
    if (at == NULL)
        return NULL;
    *ret_length = strcspn(at + 1, "\n");
    return at + 1;
}

/* The runs that a cell says: "1.90 (400k)". 0: none. */
static uint64_t runs_of(const char *cell) {
    const char *at = strchr(cell, '(');
    char *unit = NULL;
    double value = at != NULL ? strtod(at + 1, &unit) : 0;
    return (uint64_t)(value * (unit != NULL && *unit == 'M' ? 1e6 : unit != NULL && *unit == 'k' ? 1e3 : 1) + 0.5);
}

/* The column of a fault, by the table's own heading; the last one is for rules. */
static unsigned column_of(const char *table, const char *wrong) {
    char heading[512], *at = heading;
    unsigned column = 0;
    (void)snprintf(heading, sizeof heading, "%.*s", (int)strcspn(table, "\n"), table);
    for (char *bar = strchr(at, '|'); bar != NULL; bar = strchr(bar + 1, '|')) {
        size_t length = strlen(wrong);
        if (strncmp(bar, "| ", 2) == 0 && strncmp(bar + 2, wrong, length) == 0 &&
            strncmp(bar + 2 + length, " |", 2) == 0)
            return column;
        column++;
    }
    return column - 2; /* the bar at the end begins no column */
}

static void cell_of(const char *row, unsigned column, char ret[200]) {
    const char *at = row;
    for (unsigned i = 0; i < column; i++) {
        at = strchr(at + 1, '|');
        assert_non_null(at);
    }
    (void)snprintf(ret, 200, "%.*s", (int)strcspn(at + 2, "|") - 1, at + 2);
}

/* What docs/AUDIT.md says of an audit or a twin: "0.94 (200k)"; of a rule that is broken, what follows its name. */
static const char *said_of(const char *table, const caucus_audit *a, char cell[200]) {
    size_t length = 0;
    const char *row = row_of(table, a->twin_of != NULL ? a->twin_of : a->name, &length);
    if (row == NULL)
        return "no row";
    cell_of(row, a->twin_of != NULL ? column_of(table, a->wrong) : 2, cell);
    if (a->twin_of == NULL || column_of(table, a->wrong) != 7)
        return cell;
    const char *rule = strstr(cell, a->wrong);
    return rule != NULL ? rule + strlen(a->wrong) + 2 : "not this rule";
}

static void test_docs(void **state) {
    (void)state;
    const char *table = docs_table();
    size_t rows = 0, sound = 0, cells = 0, twins = 0;
    for (const char *c = table; *c != '\0'; c++) {
        rows += *c == '\n';
        cells += *c == '('; /* every bound has its runs */
    }
    for (size_t i = 0; caucus_audit_at(i) != NULL; i++) {
        const caucus_audit *a = caucus_audit_at(i);
        char cell[200] = "";
        const char *said = said_of(table, a, cell);
        double value = strtod(said, NULL);
        if (runs_of(said) < 1000 || value <= 0 || (value > a->claimed) != (a->twin_of != NULL))
            fail_msg("%s: docs/AUDIT.md says '%s', where a bound %s %g belongs (make audit, then out/audit/twins.md)",
                     a->name, said, a->twin_of != NULL ? "above" : "of at most", a->claimed);
        sound += a->twin_of == NULL;
        twins += a->twin_of != NULL;
    }
    assert_int_equal(rows, sound + 2);      /* and none that is not in the program */
    assert_int_equal(cells, sound + twins); /* nor a twin: all others read "no power" */
}

/* The row that takes the least time, made again with the runs that it says: an audit, its twins and a broken rule. */
static void test_same_bytes(void **state) {
    (void)state;
    static const char *const names[] = {"own-pace"};
    const char *table = docs_table();
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        caucus_audit_result result[ROWS];
        size_t count = 0, length = 0, here = 0;
        for (size_t i = 0; caucus_audit_at(i) != NULL; i++) {
            const caucus_audit *a = caucus_audit_at(i);
            char cell[200] = "";
            caucus_audit_options options = {.seed = 1, .confidence = CAUCUS_AUDIT_CONFIDENCE, .threads = 2};
            caucus_error error = {0};
            options.trials = runs_of(said_of(table, a, cell));
            if (strcmp(a->name, names[n]) == 0 || (a->twin_of != NULL && strcmp(a->twin_of, names[n]) == 0))
                assert_int_equal(caucus_audit_run(a, &options, &result[count++], &error), CAUCUS_OK);
        }
        assert_true(count >= 3);
        char *text = twins_of(result, count);
        const char *row = row_of(table, names[n], &length), *made = row_of(text, names[n], &here);
        assert_true(row != NULL && made != NULL);
        if (length != here || memcmp(row, made, length) != 0)
            fail_msg("docs/AUDIT.md says\n%.*s\nwhere the program makes\n%.*s", (int)length, row, (int)here, made);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_docs),
        cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
