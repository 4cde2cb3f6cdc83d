/* SPDX-License-Identifier: Apache-2.0 */
/* Simulations and scenarios when memory runs out: a trial, a run on several threads (a thread that cannot be started is
 * one of the failures: fewer threads give the same results, later), scenarios from files and flags. */
#include "fault/failing_alloc.h"

#include <stdlib.h>
#include <unistd.h>

#include "scenario/scenario.h"
#include "sim/convex.h"
#include "sim/run.h"
#include "sim/slot/slot_trial.h"
#include "testing_settings.h"

#define SEED 20241u

static caucus_settings settings(caucus_algorithm algorithm, caucus_trust trust) {
    caucus_settings s = testing_settings(algorithm, trust, 3, 6, 40, 8);
    return s;
}

typedef struct trial {
    caucus_plan *plan;
    caucus_adversary *adversary;
} trial;

static caucus_status play_trial(void *user, uint64_t *ret_digest) {
    const trial *t = user;
    caucus_trial_result result;
    failing_begin();
    caucus_status status = caucus_trial_play(t->plan, t->adversary, SEED, 3, NULL, NULL, NULL, &result);
    failing_end();
    if (status == CAUCUS_OK)
        *ret_digest = failing_digest(1, &result, sizeof result);
    return status;
}

static void each_trial(const char *name, const caucus_settings *s, caucus_adversary_kind kind) {
    trial t = {NULL, NULL};
    caucus_error error = {0};
    const bool own_pace = s->pace == CAUCUS_PACE_OWN;
    if (caucus_plan_new(s, &t.plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s: %s", name, error.field, error.text);
    caucus_adversary_settings a = {.kind = kind,
                                   .seed = SEED,
                                   .clients = s->clients,
                                   .experts = s->experts,
                                   .rounds = own_pace ? 6 * CAUCUS_SLOT_ROWS : s->rounds,
                                   .segments = 1,
                                   .activity_mean = own_pace ? 3 : 0,
                                   .epsilon = s->epsilon,
                                   .convex = s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX};
    assert_int_equal(caucus_adversary_open(&a, &t.adversary, NULL), CAUCUS_OK);
    failing_each(&(failing_test){.name = name, .operation = play_trial, .user = &t, .at_least = 10});
    caucus_adversary_close(t.adversary);
    caucus_plan_free(t.plan);
}

static void test_trial(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    each_trial("svt", &s, CAUCUS_ADVERSARY_HALVING);
    s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY);
    each_trial("stoch", &s, CAUCUS_ADVERSARY_GAUSSIAN);
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    caucus_convex_clamps(s.experts, &s.lipschitz, &s.smoothness);
    each_trial("convex", &s, CAUCUS_ADVERSARY_CROSS_ENTROPY);
    const caucus_settings stoch = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    s = stoch;
    s.evaluate = 2;
    s.show_loss = 1;
    each_trial("evaluate, show-loss", &s, CAUCUS_ADVERSARY_GAUSSIAN);
    s = stoch;
    s.unit = CAUCUS_UNIT_CLIENT;
    s.epsilon = 100;
    each_trial("unit client", &s, CAUCUS_ADVERSARY_GAUSSIAN);
    s = settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    s.renew = 20;
    each_trial("renew", &s, CAUCUS_ADVERSARY_HALVING);
    s = stoch;
    s.pace = CAUCUS_PACE_OWN;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.phase_time = 1600;
    each_trial("own pace", &s, CAUCUS_ADVERSARY_SHIFTING);
}

static caucus_status open_adversary(void *user, uint64_t *ret_digest) {
    caucus_adversary *adversary = NULL;
    failing_begin();
    caucus_status status = caucus_adversary_open(user, &adversary, NULL);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_null(adversary);
        return status;
    }
    uint32_t m, d;
    uint64_t rounds;
    caucus_adversary_shape(adversary, &m, &d, &rounds);
    *ret_digest = failing_digest(failing_digest(m, &d, sizeof d), &rounds, sizeof rounds);
    caucus_adversary_close(adversary);
    return CAUCUS_OK;
}

static void test_adversary(void **state) {
    (void)state;
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/caucus-oom-%ld.npy", (long)getpid());
    char head[118] = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 4), }";
    memset(head + strlen(head), ' ', sizeof head - strlen(head));
    head[sizeof head - 1] = '\n';
    double zeros[2 * 3 * 4] = {0};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file), 10);
    assert_int_equal(fwrite(head, 1, sizeof head, file), sizeof head);
    assert_int_equal(fwrite(zeros, 1, sizeof zeros, file), sizeof zeros);
    assert_int_equal(fclose(file), 0);
    caucus_adversary_settings a = {.kind = CAUCUS_ADVERSARY_LOSSES, .losses = path};
    failing_each(&(failing_test){.name = "losses", .operation = open_adversary, .user = &a, .at_least = 2});
    unlink(path);
}

/* The results of all trials; how long it took is nobody's business. */
static caucus_status play_run(void *user, uint64_t *ret_digest) {
    caucus_run_result result;
    caucus_error error = {0};
    failing_begin();
    caucus_status status = caucus_run_play(user, NULL, &result, &error);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_true(result.plan == NULL && result.trial == NULL && error.text[0] != '\0');
        return status;
    }
    assert_int_equal(result.done, 6);
    *ret_digest = failing_digest(1, result.trial, result.trials * sizeof *result.trial);
    caucus_run_result_free(&result);
    return CAUCUS_OK;
}

static void test_run(void **state) {
    (void)state;
    caucus_run run = {.settings = settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR),
                      .adversary = {.kind = CAUCUS_ADVERSARY_REALIZABLE},
                      .trials = 6,
                      .seed = SEED,
                      .threads = 3};
    failing_each(&(failing_test){
        .name = "run on threads", .operation = play_run, .user = &run, .at_least = 60, .does_without = true});
    run.threads = 1;
    failing_each(
        &(failing_test){.name = "run", .operation = play_run, .user = &run, .at_least = 60, .does_without = true});
}

static const char scenario_text[] = "# two runs\n"
                                    "algorithm: [svt, sparse-vector]\n"
                                    "adversary: halving\n"
                                    "clients: 3\n"
                                    "experts: 6\n"
                                    "rounds: [20, 40]\n"
                                    "epsilon: 8\n"
                                    "trials: 2\n"
                                    "trust: coordinator\n";

static caucus_status parse_scenario(void *user, uint64_t *ret_digest) {
    (void)user;
    caucus_scenario scenario;
    caucus_complaint complaint = {.line = ""};
    caucus_scenario_init(&scenario);
    failing_begin();
    caucus_status status = caucus_scenario_parse(&scenario, "two.yaml", (const uint8_t *)scenario_text,
                                                 sizeof scenario_text - 1, &complaint);
    if (status == CAUCUS_OK)
        status = caucus_scenario_set(&scenario, CAUCUS_FIELD_SEED, "7", &complaint);
    failing_end();
    if (status == CAUCUS_OK) {
        *ret_digest = 1;
        for (size_t k = 0; k < CAUCUS_FIELD_COUNT; k++)
            for (size_t i = 0; i < scenario.field[k].count; i++)
                *ret_digest =
                    failing_digest(*ret_digest + k, scenario.field[k].text[i], strlen(scenario.field[k].text[i]));
    } else {
        assert_true(complaint.line[0] != '\0');
    }
    caucus_scenario_free(&scenario);
    return status;
}

static caucus_status resolve(void *user, uint64_t *ret_digest) {
    caucus_prepared prepared = {.count = 99};
    caucus_complaint complaint = {.line = ""};
    failing_begin();
    caucus_status status = caucus_scenario_resolve(user, &prepared, &complaint);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_true(prepared.count == 99 && prepared.run == NULL && complaint.line[0] != '\0');
        return status;
    }
    assert_int_equal(prepared.count, 4);
    *ret_digest = 1;
    for (size_t i = 0; i < prepared.count; i++)
        *ret_digest = failing_digest(*ret_digest, &prepared.plan[i]->bound, sizeof prepared.plan[i]->bound);
    caucus_prepared_free(&prepared);
    return CAUCUS_OK;
}

static void test_scenario(void **state) {
    (void)state;
    failing_each(&(failing_test){.name = "parse", .operation = parse_scenario, .at_least = 20});
    caucus_scenario scenario;
    caucus_complaint complaint;
    caucus_scenario_init(&scenario);
    assert_int_equal(caucus_scenario_parse(&scenario, "two.yaml", (const uint8_t *)scenario_text,
                                           sizeof scenario_text - 1, &complaint),
                     CAUCUS_OK);
    failing_each(&(failing_test){.name = "resolve", .operation = resolve, .user = &scenario, .at_least = 20});
    caucus_scenario_free(&scenario);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_trial), cmocka_unit_test(test_adversary),
                                       cmocka_unit_test(test_run), cmocka_unit_test(test_scenario)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
