/* SPDX-License-Identifier: Apache-2.0 */
/* test_run.c: many trials: the same bytes for any number of threads, stopping, going on, and who meets which losses.
 * Nothing here is statistical; the seed is fixed and printed. */
#include "sim/plain_trial.h"
#include "sim/testing_run.h"

#include <stdatomic.h>
#include <stddef.h>

#define SEED 77u

static caucus_run run_of(caucus_algorithm algorithm, caucus_adversary_kind kind, uint32_t m, uint32_t d,
                         uint32_t rounds, uint32_t trials) {
    caucus_run run = testing_run(algorithm, kind, m, d, rounds, 8, trials, SEED);
    run.threads = 1;
    return run;
}

static void test_threads(void **state) {
    (void)state;
    static const caucus_adversary_kind kinds[] = {CAUCUS_ADVERSARY_GAUSSIAN, CAUCUS_ADVERSARY_REALIZABLE,
                                                  CAUCUS_ADVERSARY_CROSS_ENTROPY};
    for (int algorithm = 0; algorithm < CAUCUS_ALGORITHM_COUNT; algorithm++)
        for (size_t k = 0; k < 3; k++) {
            caucus_run run = run_of((caucus_algorithm)algorithm, kinds[k], 5, 9, 130, 40);
            caucus_run_result one = testing_play(&run);
            assert_int_equal(one.done, 40);
            for (run.threads = 2; run.threads <= 8; run.threads += 6) {
                caucus_run_result more = testing_play(&run);
                assert_int_equal(more.done, 40);
                for (uint32_t i = 0; i < 40; i++)
                    same_results("threads", &one.trial[i], &more.trial[i]);
                caucus_summary a = caucus_run_regret(&one), b = caucus_run_regret(&more);
                assert_memory_equal(&a, &b, sizeof a);
                caucus_run_result_free(&more);
            }
            assert_true(memcmp(&one.trial[0], &one.trial[1], sizeof one.trial[0]) != 0); /* trials differ */
            caucus_run_result_free(&one);
        }
    caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_ADVERSARY_REALIZABLE, 5, 9, 64, 3);
    run.threads = 0;
    caucus_run_result all = testing_play(&run);
    run.threads = 16; /* more threads than trials */
    caucus_run_result many = testing_play(&run);
    for (uint32_t i = 0; i < 3; i++)
        same_results("all cores", &all.trial[i], &many.trial[i]);
    caucus_run_result_free(&all);
    caucus_run_result_free(&many);
}

typedef struct halt {
    volatile int stop;
    uint64_t after;
    uint64_t last;
} halt;

static void progress(void *user, uint64_t done, uint64_t trials) {
    halt *h = user;
    assert_true(done >= 1 && done <= trials);
    h->last = done > h->last ? done : h->last;
    if (done >= h->after)
        __atomic_store_n(&h->stop, 1, __ATOMIC_RELAXED);
}

/* Stopped: fewer than asked, complete ones only, the same as in an undisturbed run; and the rest can be made later. */
static void test_stop_and_go_on(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_ADVERSARY_REALIZABLE, 10, 20, 400, 60);
        run.threads = threads;
        caucus_run_result whole = testing_play(&run);
        assert_int_equal(whole.done, 60);
        halt h = {.after = 7};
        run.progress = progress;
        run.progress_user = &h;
        run.stop = &h.stop;
        caucus_run_result part = testing_play(&run);
        assert_true(part.done < 60 && h.last >= 7);
        if (threads ==
            1) /* with more, a trial that was stopped may lie before complete ones, which then do not count */
            assert_int_equal(part.done, 7);
        for (uint32_t i = 0; i < part.done; i++)
            same_results("stopped", &whole.trial[i], &part.trial[i]);
        run.progress = NULL;
        run.stop = NULL;
        run.first = part.done;
        run.trials = 60 - part.done;
        caucus_run_result rest = testing_play(&run);
        assert_int_equal(rest.done, run.trials);
        for (uint32_t i = 0; i < rest.done; i++)
            same_results("gone on", &whole.trial[part.done + i], &rest.trial[i]);
        caucus_run_result_free(&whole);
        caucus_run_result_free(&part);
        caucus_run_result_free(&rest);
    }
    halt now = {.stop = 1};
    caucus_run run = run_of(CAUCUS_ALGORITHM_STOCH, CAUCUS_ADVERSARY_GAUSSIAN, 2, 4, 32, 5);
    run.stop = &now.stop;
    caucus_run_result none = testing_play(&run);
    assert_int_equal(none.done, 0);
    caucus_summary empty = caucus_run_regret(&none);
    assert_true(empty.mean == 0 && empty.std == 0);
    caucus_run_result_free(&none);
}

/* With one block (N > T) every algorithm plays its first expert throughout, and that expert depends on the seed alone:
 * equal regret means equal losses. */
static void test_same_losses_for_all(void **state) {
    (void)state;
    for (int kind = 0; kind < CAUCUS_ADVERSARY_MOVIELENS; kind++) {
        caucus_trial_result first[4];
        for (int algorithm = 0; algorithm < CAUCUS_ALGORITHM_COUNT; algorithm++) {
            if (algorithm != CAUCUS_ALGORITHM_SVT && algorithm != CAUCUS_ALGORITHM_HEDGE &&
                algorithm != CAUCUS_ALGORITHM_LEADER)
                continue;
            if (kind == CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE && algorithm == CAUCUS_ALGORITHM_LEADER)
                continue; /* the adversary needs a finite epsilon */
            caucus_run run = run_of((caucus_algorithm)algorithm, (caucus_adversary_kind)kind, 4, 9, 50, 4);
            run.settings.interval = 64;
            run.settings.epsilon = algorithm == CAUCUS_ALGORITHM_LEADER ? INFINITY : 0.25;
            caucus_run_result result = testing_play(&run);
            for (uint32_t i = 0; i < 4; i++) {
                if (algorithm == CAUCUS_ALGORITHM_SVT)
                    first[i] = result.trial[i];
                else
                    same_results(caucus_adversary_kind_word((caucus_adversary_kind)kind), &first[i], &result.trial[i]);
            }
            caucus_run_result_free(&result);
        }
    }
}

/* A baseline plays client 1 of the federation: the adversary is the federation's (for the lower bound m decides which
 * losses client 1 has), the plan is for one client. */
static void test_baselines(void **state) {
    (void)state;
    static const caucus_algorithm algorithms[] = {CAUCUS_ALGORITHM_SPARSE_VECTOR, CAUCUS_ALGORITHM_LIMITED_UPDATES};
    static const caucus_adversary_kind kinds[] = {CAUCUS_ADVERSARY_GAUSSIAN, CAUCUS_ADVERSARY_CREEPING,
                                                  CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE};
    for (size_t a = 0; a < 2; a++)
        for (size_t k = 0; k < 3; k++) {
            caucus_run run = run_of(algorithms[a], kinds[k], 7, 12, 90, 5);
            run.settings.epsilon = kinds[k] == CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE ? 0.02 : 8;
            caucus_run_result result = testing_play(&run);
            assert_int_equal(result.plan->settings.clients, 1);
            caucus_adversary_settings federation = {.kind = kinds[k],
                                                    .seed = SEED,
                                                    .clients = 7,
                                                    .experts = 12,
                                                    .rounds = 90,
                                                    .epsilon = run.settings.epsilon};
            caucus_adversary *adversary = adversary_of(&federation);
            for (uint32_t i = 0; i < 5; i++) {
                caucus_trial_result slow = plain_play(result.plan, adversary, SEED, i);
                same_results("baseline", &result.trial[i], &slow);
            }
            caucus_adversary_close(adversary);
            caucus_run_result_free(&result);
        }
}

/* A shared adversary changes nothing, and summaries are what their names say. */
static void test_shared_and_summaries(void **state) {
    (void)state;
    caucus_run run = run_of(CAUCUS_ALGORITHM_STOCH, CAUCUS_ADVERSARY_GAUSSIAN, 3, 6, 100, 11);
    caucus_run_result own = testing_play(&run), shared;
    caucus_adversary_settings a = {
        .kind = CAUCUS_ADVERSARY_GAUSSIAN, .seed = SEED, .clients = 3, .experts = 6, .rounds = 100};
    caucus_adversary *adversary = adversary_of(&a);
    assert_int_equal(caucus_run_play(&run, adversary, &shared, NULL), CAUCUS_OK);
    caucus_adversary_close(adversary);
    double mean = 0, square = 0, switches = 0, up = 0, middle = 0;
    for (uint32_t i = 0; i < 11; i++) {
        same_results("shared", &own.trial[i], &shared.trial[i]);
        mean += own.trial[i].regret / 11;
        switches += (double)own.trial[i].switches / 11.0;
        up += (double)own.trial[i].scalars_up / 11;
        middle += own.trial[i].curve[31] / 11;
        assert_true(own.trial[i].curve[63] == own.trial[i].regret);
    }
    for (uint32_t i = 0; i < 11; i++)
        square += (own.trial[i].regret - mean) * (own.trial[i].regret - mean);
    caucus_summary s = caucus_run_regret(&own);
    assert_true(fabs(s.mean - mean) < 1e-9 && fabs(s.std - sqrt(square / 10)) < 1e-9 && s.min < s.mean &&
                s.mean < s.max);
    assert_true(fabs(caucus_run_switches(&own).mean - switches) < 1e-9);
    assert_true(fabs(caucus_run_mean_u64(&own, offsetof(caucus_trial_result, scalars_up)) - up) < 1e-6);
    assert_true(fabs(caucus_run_curve(&own, 31).mean - middle) < 1e-9);
    caucus_run_result_free(&own);
    caucus_run_result_free(&shared);
}

/* What cannot be planned or opened is refused with a name, and leaves nothing behind. */
static void test_refusals(void **state) {
    (void)state;
    caucus_run_result result;
    caucus_error error = {0};
    caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE, 4, 9, 50, 4);
    assert_int_equal(caucus_run_play(&run, NULL, &result, &error), CAUCUS_E_INFEASIBLE); /* epsilon 8 */
    assert_string_equal(error.field, "epsilon");
    assert_true(result.trial == NULL && result.plan == NULL && result.done == 0);
    run = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_ADVERSARY_REALIZABLE, 4, 1, 50, 4);
    assert_int_equal(caucus_run_play(&run, NULL, &result, &error), CAUCUS_E_RANGE);
    assert_string_equal(error.field, "experts");
    assert_null(result.plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_stop_and_go_on),
        cmocka_unit_test(test_same_losses_for_all),
        cmocka_unit_test(test_baselines),
        cmocka_unit_test(test_shared_and_summaries),
        cmocka_unit_test(test_refusals),
    };
    printf("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
