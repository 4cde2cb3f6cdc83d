/* SPDX-License-Identifier: Apache-2.0 */
/* testing_run.h: a run in one line, and played. */
#ifndef CAUCUS_TESTS_TESTING_RUN_H
#define CAUCUS_TESTS_TESTING_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sim/run.h"
#include "testing_settings.h"

static inline caucus_run testing_run(caucus_algorithm algorithm, caucus_adversary_kind kind, uint32_t clients,
                                     uint32_t experts, uint64_t rounds, double epsilon, uint32_t trials,
                                     uint64_t seed) {
    return (caucus_run){.settings =
                            testing_settings(algorithm, CAUCUS_TRUST_COORDINATOR, clients, experts, rounds, epsilon),
                        .adversary = {.kind = kind},
                        .trials = trials,
                        .seed = seed};
}

static inline caucus_run_result testing_play(const caucus_run *run) {
    caucus_run_result result;
    caucus_error error = {0};
    if (caucus_run_play(run, NULL, &result, &error) != CAUCUS_OK) {
        print_error("%s: %s\n", error.field, error.text);
        fail();
    }
    assert_int_equal(result.trials, run->trials);
    return result;
}

#endif
