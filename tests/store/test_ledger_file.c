/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger_file.c: ledgers on disk: read back, locked, torn, altered; and what a trial records. */
#include "plan/ledger.h"
#include "sim/ledger_trial.h"
#include "store/ledger_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64], path[96];

static int make_directory(void **state) {
    (void)state;
    (void)snprintf(directory, sizeof directory, "/tmp/caucus-ledger-XXXXXX");
    if (mkdtemp(directory) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/l.txt", directory);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    (void)unlink(path);
    return rmdir(directory);
}

static caucus_plan *plan_of(caucus_algorithm algorithm, caucus_trust trust, double delta) {
    caucus_settings s;
    caucus_error error = {0};
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = trust;
    s.delta = delta;
    s.experts = 8;
    s.rounds = 64;
    s.clients = 2;
    caucus_status status = caucus_plan_new(&s, &plan, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(status, CAUCUS_OK);
    return plan;
}

/* A ledger of one svt run in the file. */
static void write_ledger(void) {
    caucus_ledger_file file;
    caucus_error error = {0};
    caucus_plan *plan = plan_of(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 0);
    uint32_t run = 0;
    (void)unlink(path);
    assert_int_equal(caucus_ledger_file_open(path, 3, 0, true, &file, &error), CAUCUS_OK);
    assert_int_not_equal(access(path, F_OK), 0); /* nothing is made before it is synced */
    assert_int_equal(caucus_ledger_reserve(file.ledger, plan, "first", true, &run, &error), CAUCUS_OK);
    assert_int_equal(caucus_ledger_file_sync(&file, &error), CAUCUS_OK);
    assert_int_equal(caucus_ledger_release(file.ledger, run, 4, "selection", (caucus_rational){1, 3},
                                           (caucus_rational){0, 1}, &error),
                     CAUCUS_OK);
    assert_int_equal(caucus_ledger_file_sync(&file, &error), CAUCUS_OK);
    caucus_ledger_file_close(&file);
    caucus_plan_free(plan);
}

static void reads_back(void **state) {
    (void)state;
    caucus_ledger *ledger = NULL;
    caucus_error error = {0};
    caucus_ledger_totals totals;
    write_ledger();
    assert_int_equal(caucus_ledger_file_read(path, &ledger, &error), CAUCUS_OK);
    assert_int_equal(caucus_ledger_count(ledger), 3);
    totals = caucus_ledger_totals_of(ledger);
    assert_true(totals.budget_epsilon == 3 && totals.any_seeded);
    assert_true(totals.released_choices >= 1.0 / 3 && totals.released_choices < 1.0 / 3 + 0x1p-29);
    caucus_ledger_free(ledger);
}

static void budget_must_match(void **state) {
    (void)state;
    caucus_ledger_file file;
    caucus_error error = {0};
    write_ledger();
    assert_int_equal(caucus_ledger_file_open(path, 4, 0, true, &file, &error), CAUCUS_E_CONFLICT);
    assert_string_equal(error.field, "budget");
    assert_int_equal(caucus_ledger_file_open(path, INFINITY, 0.5, false, &file, &error), CAUCUS_OK);
    caucus_ledger_file_close(&file);
}

static void locked_while_open(void **state) {
    (void)state;
    caucus_ledger_file first, second;
    caucus_ledger *ledger = NULL;
    caucus_error error = {0};
    write_ledger();
    assert_int_equal(caucus_ledger_file_open(path, 3, 0, true, &first, &error), CAUCUS_OK);
    assert_int_equal(caucus_ledger_file_open(path, 3, 0, true, &second, &error), CAUCUS_E_BUSY);
    assert_non_null(strstr(error.text, "l.txt: in use by another process"));
    assert_int_equal(caucus_ledger_file_read(path, &ledger, &error), CAUCUS_E_BUSY);
    caucus_ledger_file_close(&first);
    assert_int_equal(caucus_ledger_file_open(path, 3, 0, true, &second, &error), CAUCUS_OK);
    caucus_ledger_file_close(&second);
}

/* The file's bytes, and the file made anew from them with byte `at` changed, or cut there. */
static char bytes[4 * CAUCUS_LEDGER_LINE_BYTES];
static size_t size;

static void remember(void) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    assert_true(size > 0 && size < sizeof bytes);
    fclose(file);
}

static void damage(size_t at, bool cut) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < (cut ? at : size); i++)
        fputc(i != at ? bytes[i] : bytes[i] == '1' ? '2' : '1', file);
    assert_int_equal(fclose(file), 0);
}

/* Every place where the file can be cut or changed: never accepted as it was, always with a line. */
static void damage_is_found(void **state) {
    (void)state;
    char place[128];
    write_ledger();
    remember();
    for (size_t at = 0; at < size; at++)
        for (int cut = 0; cut < 2; cut++) {
            caucus_ledger *ledger = NULL;
            caucus_error error = {0};
            damage(at, cut != 0);
            caucus_status status = caucus_ledger_file_read(path, &ledger, &error);
            if (status == CAUCUS_OK) {
                /* Only a cut between lines leaves a valid, shorter ledger. */
                assert_true(cut != 0 && caucus_ledger_count(ledger) < 3);
                caucus_ledger_free(ledger);
                continue;
            }
            (void)snprintf(place, sizeof place, at == 0 && cut != 0 ? "l.txt: empty" : "l.txt:");
            assert_non_null(strstr(error.text, place));
        }
    damage(size - 1, true);
    caucus_ledger *ledger = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_ledger_file_read(path, &ledger, &error), CAUCUS_E_FORMAT);
    assert_non_null(strstr(error.text, "l.txt:3: the last line is torn"));
}

static void no_file(void **state) {
    (void)state;
    caucus_ledger *ledger = NULL;
    caucus_ledger_file file;
    caucus_error error = {0};
    (void)unlink(path);
    assert_int_equal(caucus_ledger_file_read(path, &ledger, &error), CAUCUS_E_PATH);
    assert_int_equal(caucus_ledger_file_open(directory, 1, 0, false, &file, &error), CAUCUS_E_PATH);
    assert_int_equal(caucus_ledger_file_open(path, -1, 0, false, &file, &error), CAUCUS_E_RANGE);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* What trial 1 of every algorithm releases fits what the run reserved, and is no more than the plan's epsilon. */
static void trials_fit_their_plan(void **state) {
    (void)state;
    static const struct {
        caucus_algorithm algorithm;
        caucus_trust trust;
        double delta;
    } cases[] = {
        {CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 0},
        {CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 1e-6},
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 0},
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, 0},
        {CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, 0},
        {CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, 1e-6},
        {CAUCUS_ALGORITHM_LEADER, CAUCUS_TRUST_COORDINATOR, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        caucus_plan *plan = plan_of(cases[i].algorithm, cases[i].trust, cases[i].delta);
        caucus_adversary_settings a = {
            .kind = CAUCUS_ADVERSARY_CREEPING, .seed = 1, .clients = 2, .experts = 8, .rounds = 64, .epsilon = 1};
        caucus_adversary *adversary = NULL;
        caucus_ledger *ledger = NULL;
        caucus_error error = {0};
        caucus_ledger_totals totals;
        uint32_t run = 0;
        bool played = false;
        caucus_trial_result result = {0};
        assert_int_equal(caucus_adversary_open(&a, &adversary, &error), CAUCUS_OK);
        assert_int_equal(caucus_ledger_new(INFINITY, 0.5, &ledger, &error), CAUCUS_OK);
        assert_int_equal(caucus_ledger_reserve(ledger, plan, "run", true, &run, &error), CAUCUS_OK);
        caucus_status status = caucus_ledger_trial(ledger, run, plan, adversary, 1, NULL, &played, &result, &error);
        assert_string_equal(error.text, "");
        assert_int_equal(status, CAUCUS_OK);
        totals = caucus_ledger_totals_of(ledger);
        bool leader = cases[i].algorithm == CAUCUS_ALGORITHM_LEADER;
        assert_int_equal(totals.releases == 0, leader);
        if (!leader) {
            assert_true(totals.released_choices > 0 &&
                        totals.released_choices <= totals.reserved_choices + 64 * 0x1p-30);
            assert_true(totals.released_messages <= totals.reserved_messages + 64 * 0x1p-30);
        }
        /* stoch and hedge play to the end: the whole is used. */
        if (cases[i].algorithm == CAUCUS_ALGORITHM_STOCH || cases[i].algorithm == CAUCUS_ALGORITHM_HEDGE)
            assert_true(totals.released_choices >=
                        totals.reserved_choices * (cases[i].delta > 0 ? 63.0 / 64 : 1 - 1e-6));
        if (cases[i].trust == CAUCUS_TRUST_NOBODY)
            assert_true(totals.released_messages > 0);
        caucus_ledger_free(ledger);
        caucus_adversary_close(adversary);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back),      cmocka_unit_test(budget_must_match), cmocka_unit_test(locked_while_open),
        cmocka_unit_test(damage_is_found), cmocka_unit_test(no_file),           cmocka_unit_test(trials_fit_their_plan),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
