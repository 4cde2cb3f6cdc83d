/* SPDX-License-Identifier: Apache-2.0 */
/* test_played_once.c: a run is calibrated once and each of its trials played once, with a ledger as without: counted at
 * the two functions that do it, and the results are the same bytes. */
#include "cli/verbs.h"
#include "sim/trial.h"
#include "store/atomic_file.h"
#include "store/atomic_folder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static atomic_uint plans, trials;

caucus_status __real_caucus_plan_new(const caucus_settings *settings, caucus_plan **ret, caucus_error *ret_error);
caucus_status __wrap_caucus_plan_new(const caucus_settings *settings, caucus_plan **ret, caucus_error *ret_error);
caucus_status __wrap_caucus_plan_new(const caucus_settings *settings, caucus_plan **ret, caucus_error *ret_error) {
    plans++;
    return __real_caucus_plan_new(settings, ret, ret_error);
}

caucus_status __real_caucus_trial_play(const caucus_plan *plan, const caucus_adversary *losses, uint64_t seed,
                                       uint32_t number, const volatile int *stop, caucus_trial_watch watch, void *user,
                                       caucus_trial_result *ret);
caucus_status __wrap_caucus_trial_play(const caucus_plan *plan, const caucus_adversary *losses, uint64_t seed,
                                       uint32_t number, const volatile int *stop, caucus_trial_watch watch, void *user,
                                       caucus_trial_result *ret);
caucus_status __wrap_caucus_trial_play(const caucus_plan *plan, const caucus_adversary *losses, uint64_t seed,
                                       uint32_t number, const volatile int *stop, caucus_trial_watch watch, void *user,
                                       caucus_trial_result *ret) {
    trials++;
    return __real_caucus_trial_play(plan, losses, seed, number, stop, watch, user, ret);
}

/* A verb with the words of a line; what it prints goes nowhere. */
static int run(int (*verb)(int, char **), const char *line) {
    char words[512], *argv[40];
    int argc = 0;
    (void)snprintf(words, sizeof words, "%s", line);
    for (char *save = NULL, *word = strtok_r(words, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    argv[argc] = NULL;
    fflush(stdout);
    int out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_true(out >= 0 && null >= 0 && dup2(null, STDOUT_FILENO) >= 0);
    plans = trials = 0;
    int code = verb(argc, argv);
    fflush(stdout);
    assert_true(dup2(out, STDOUT_FILENO) >= 0);
    close(out);
    close(null);
    return code;
}

#define RUNS "--algorithm svt,hedge,leader --trust coordinator --clients 3 --experts 8 --rounds 64 --seed 4"

static char *results_of(const char *folder) {
    char path[128];
    uint8_t *bytes = NULL;
    size_t size = 0;
    (void)snprintf(path, sizeof path, "%s/trials.csv", folder);
    assert_int_equal(caucus_file_load(path, 1 << 20, "results", &bytes, &size, NULL), CAUCUS_OK);
    return (char *)bytes;
}

static void test_simulate(void **state) {
    (void)state;
    char root[] = "/tmp/caucus-once-XXXXXX", plain[96], kept[96], line[512];
    assert_non_null(mkdtemp(root));
    (void)snprintf(plain, sizeof plain, "%s/plain", root);
    (void)snprintf(kept, sizeof kept, "%s/kept", root);
    for (unsigned asked = 1; asked <= 5; asked += 4) {
        (void)snprintf(line, sizeof line, "simulate " RUNS " --trials %u --out %s", asked, plain);
        assert_int_equal(run(caucus_cli_simulate, line), 0);
        assert_int_equal(plans, 3);
        assert_int_equal(trials, 3 * asked);
        (void)snprintf(line, sizeof line, "simulate " RUNS " --trials %u --out %s --ledger %s/ledger-%u", asked, kept,
                       root, asked);
        assert_int_equal(run(caucus_cli_simulate, line), 0);
        assert_int_equal(plans, 3);
        assert_int_equal(trials, 3 * asked);
        char *without = results_of(plain), *with = results_of(kept);
        assert_string_equal(without, with);
        free(without);
        free(with);
    }
    caucus_folder_remove(root);
}

static void test_plan(void **state) {
    (void)state;
    /* Its quick simulation plays the plan that is printed. */
    assert_int_equal(
        run(caucus_cli_plan, "plan --algorithm svt --trust coordinator --clients 3 --experts 8 --rounds 64"), 0);
    assert_int_equal(plans, 1);
    assert_true(trials > 0);
    /* Losses in another range are simulated in [0,1]: another plan. */
    assert_int_equal(run(caucus_cli_plan,
                         "plan --algorithm svt --trust coordinator --clients 3 --experts 8 --rounds 64 --range 0,2"),
                     0);
    assert_int_equal(plans, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_simulate), cmocka_unit_test(test_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
