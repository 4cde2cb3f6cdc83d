/* SPDX-License-Identifier: Apache-2.0 */
/* test_device_ledger.c: a run in its device's own ledger: once for each state, whatever happens in between. */
#include "store/journal.h"
#include "store/ledger_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64], ledger[96], first[96], second[96];
static caucus_plan *plan;

static int begin(void **state) {
    (void)state;
    (void)snprintf(directory, sizeof directory, "/tmp/caucus-device-XXXXXX");
    if (mkdtemp(directory) == NULL)
        return -1;
    (void)snprintf(ledger, sizeof ledger, "%s/ledger", directory);
    (void)snprintf(first, sizeof first, "%s/first", directory);
    (void)snprintf(second, sizeof second, "%s/second", directory);
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    s.trust = CAUCUS_TRUST_NOBODY;
    s.experts = 4;
    s.rounds = 63;
    s.clients = 2;
    s.epsilon = 1;
    return caucus_plan_new(&s, &plan, NULL) == CAUCUS_OK ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    caucus_plan_free(plan);
    (void)unlink(ledger);
    (void)unlink(first);
    (void)unlink(second);
    return rmdir(directory);
}

static caucus_status reserve(const char *path, double epsilon, caucus_error *ret_error) {
    caucus_journal *journal = NULL;
    assert_int_equal(caucus_journal_open(path, &journal, ret_error), CAUCUS_OK);
    caucus_status status = caucus_journal_reserve(journal, plan, 2, false, ledger, epsilon, 0, ret_error);
    caucus_journal_close(journal);
    return status;
}

static uint32_t runs(void) {
    caucus_ledger_file file = {.fd = -1};
    caucus_ledger_totals totals;
    caucus_ledger_totals_init(&totals);
    assert_int_equal(caucus_ledger_file_open(ledger, 0, 0, false, &file, NULL), CAUCUS_OK);
    assert_int_equal(caucus_ledger_total(file.ledger, &totals), CAUCUS_OK);
    caucus_ledger_file_close(&file);
    return totals.runs;
}

static void once_for_each_state(void **state) {
    (void)state;
    caucus_error error = {0};
    assert_int_equal(reserve(first, NAN, &error), CAUCUS_E_PATH); /* there is no ledger, and none was asked for */
    assert_non_null(strstr(error.hint, "budget"));
    assert_int_equal(reserve(first, 1.5, &error), CAUCUS_OK);
    assert_int_equal(runs(), 1);
    assert_int_equal(reserve(first, NAN, &error), CAUCUS_OK);
    assert_int_equal(reserve(first, 1.5, &error), CAUCUS_OK);
    assert_int_equal(runs(), 1);
    assert_int_equal(reserve(first, 2, &error), CAUCUS_E_CONFLICT);
    assert_int_equal(reserve(second, NAN, &error), CAUCUS_E_BUDGET);
    assert_int_equal(runs(), 1);
}

/* What the client has saved is there afterwards, under the same number. */
static void keeps_the_state(void **state) {
    (void)state;
    static const uint8_t saved[] = "a client's state";
    uint8_t *found = NULL;
    size_t size = 0;
    caucus_error error = {0};
    caucus_journal *journal = NULL;
    (void)unlink(ledger);
    assert_int_equal(caucus_journal_open(second, &journal, &error), CAUCUS_OK);
    assert_true(caucus_journal_write(journal, saved, sizeof saved));
    caucus_journal_close(journal);
    assert_int_equal(reserve(second, INFINITY, &error), CAUCUS_OK);
    assert_int_equal(caucus_journal_open(second, &journal, &error), CAUCUS_OK);
    assert_int_equal(caucus_journal_read(journal, &found, &size, &error), CAUCUS_OK);
    assert_int_equal(size, sizeof saved);
    assert_memory_equal(found, saved, sizeof saved);
    free(found);
    caucus_journal_close(journal);
    assert_int_equal(reserve(second, NAN, &error), CAUCUS_OK);
    assert_int_equal(runs(), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(once_for_each_state), cmocka_unit_test(keeps_the_state)};
    return cmocka_run_group_tests(tests, begin, end);
}
