/* SPDX-License-Identifier: Apache-2.0 */
/* CSV: tables with and without names, losses of clients over rounds in any order, and refusals with their line. */
#include "data/csv_table.h"
#include "data/npy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static caucus_csv_table table_of(const char *text) {
    caucus_csv_table table = {0};
    caucus_error error = {0};
    if (caucus_csv_table_parse("t.csv", text, strlen(text), &table, &error) != CAUCUS_OK)
        fail_msg("%s", error.text);
    return table;
}

static void taken(void **state) {
    (void)state;
    caucus_csv_table t = table_of("\xef\xbb\xbfsmall, \"large one\"\r\n1,2\r\n 3 , nan\n\n\n");
    assert_true(t.columns == 2 && t.rows == 2 && t.values[0] == 1 && t.values[2] == 3 && isnan(t.values[3]));
    assert_string_equal(t.name[0], "small");
    assert_string_equal(t.name[1], "large one");
    caucus_csv_table_free(&t);
    t = table_of("0.5,1e-3,7"); /* no header, no end of line */
    assert_true(t.columns == 3 && t.rows == 1 && t.values[1] == 1e-3 && t.name == NULL);
    caucus_csv_table_free(&t);
    char many[4000] = "";
    for (int i = 0; i < 300; i++)
        (void)snprintf(many + strlen(many), sizeof many - strlen(many), "%d,%d\n", i, -i);
    t = table_of(many);
    assert_true(t.rows == 300 && t.values[2 * 299] == 299 && t.values[2 * 299 + 1] == -299);
    caucus_csv_table_free(&t);
}

static void refuse(const char *text, size_t size, const char *says) {
    caucus_csv_table table = {0};
    caucus_error error = {0};
    assert_int_equal(caucus_csv_table_parse("t.csv", text, size, &table, &error), CAUCUS_E_FORMAT);
    assert_true(table.values == NULL && table.name == NULL);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' not in '%s'", says, error.text);
}
#define REFUSE(text, says) refuse(text, sizeof(text) - 1, says)

static void refused(void **state) {
    (void)state;
    REFUSE("", "t.csv: no row of numbers");
    REFUSE("a,b\n", "t.csv: no row of numbers");
    REFUSE("a,b\n1,2\n1\n", "t.csv:3: 1 values — expected 2");
    REFUSE("a,b\n1,x\n", "t.csv:2: value 2 is 'x'");
    REFUSE("1,x\n1,2\n", "t.csv:1: value 1 is the number 1, others are not");
    REFUSE("1,2\n\n3,4\n", "t.csv:2: a blank line");
    REFUSE("\n1,2\n", "t.csv:1: a blank line");
    REFUSE("a,\n1,2\n", "t.csv:1: '' has 0 bytes");
    REFUSE("a,b\n1,2\0\n", "t.csv:2: a zero byte");
    REFUSE("1,2,\n", "t.csv:1:");
    REFUSE("a,b,a\n1,2,3\n", "t.csv:1: columns 1 and 3 are both called 'a'");
}

static char path[] = "/tmp/caucus-csv-XXXXXX.csv";

static void write_file(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void refuse_losses(const char *text, bool own, const char *says) {
    caucus_npy losses = {0};
    caucus_error error = {0};
    write_file(text);
    assert_int_equal((own ? caucus_npy_open_own : caucus_npy_open)(path, &losses, &error), CAUCUS_E_FORMAT);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' not in '%s'", says, error.text);
}

static void losses_of_clients(void **state) {
    (void)state;
    caucus_npy losses = {0};
    caucus_error error = {0};
    double row[2];
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    write_file("client,round,a,b\n2,1,0.21,0.5\n1,2,0.12,0.5\n1,1,0.11,0.5\n2,2,0.22,nan\n");
    if (caucus_npy_open(path, &losses, &error) != CAUCUS_OK)
        fail_msg("%s", error.text);
    assert_true(losses.clients == 2 && losses.rounds == 2 && losses.experts == 2 && losses.wide && !losses.single);
    for (uint32_t client = 0; client < 2; client++)
        for (uint64_t round = 0; round < 2; round++) {
            caucus_npy_fill64(&losses, client, round, 1, row);
            assert_true(row[0] == (double)(10 * (client + 1) + round + 1) / 100);
        }
    assert_int_equal(caucus_npy_whole(&losses, "t", &error), CAUCUS_OK);
    caucus_npy_close(&losses);
    write_file("0.1,0.2,0.3\n0.4,0.5,0.6\n"); /* one client's own */
    assert_int_equal(caucus_npy_open_own(path, &losses, &error), CAUCUS_OK);
    assert_true(losses.single && losses.rounds == 2 && losses.experts == 3);
    caucus_npy_close(&losses);
    write_file("round,client,a,b\n1,2,0.21,0.5\n1,1,0.11,0.5\n"); /* the columns that say where, in the other order */
    assert_int_equal(caucus_npy_open(path, &losses, &error), CAUCUS_OK);
    assert_true(losses.clients == 2 && losses.rounds == 1 && losses.experts == 2 && losses.first_column == 3);
    assert_string_equal(losses.names, "a,b");
    caucus_npy_fill64(&losses, 1, 0, 1, row);
    assert_true(row[0] == 0.21);
    caucus_npy_close(&losses);
    write_file("round,a,b\n2,0.2,0.5\n1,0.1,0.5\n"); /* one client's own, out of order */
    assert_int_equal(caucus_npy_open_own(path, &losses, &error), CAUCUS_OK);
    assert_true(losses.single && losses.rounds == 2 && losses.experts == 2 && losses.first_column == 2);
    caucus_npy_fill64(&losses, 0, 1, 1, row);
    assert_true(row[0] == 0.2);
    caucus_npy_close(&losses);
    refuse_losses("round,a,b\n1,0.1,0.5\n", false, "no columns 'client' and 'round'");
    refuse_losses("client,a,b\n1,0.1,0.5\n", true, "no columns 'client' and 'round'");
    refuse_losses("round,client\n1,1\n", true, "no columns 'client' and 'round' before the experts'");
    refuse_losses("0.1,0.2,0.3\n", false, "no columns 'client' and 'round'");
    refuse_losses("client,round,a\n1,1,0\n1,1,0\n", true, "2 rows for 1 clients × 1 rounds");
    refuse_losses("client,round,a\n1,1,0\n1,1,0\n2,1,0\n2,2,0\n", false, ":3: client 1 has round 1 twice");
    refuse_losses("client,round,a\n0,1,0\n", false, ":2: client 0, round 1 — expected whole numbers");
    refuse_losses("client,round,a\n1,1.5,0\n", false, "round 1.5");
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(taken), cmocka_unit_test(refused),
                                       cmocka_unit_test(losses_of_clients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
