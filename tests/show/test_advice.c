/* SPDX-License-Identifier: Apache-2.0 */
/* show/choice/advice.c: which candidate is taken when a few trials cannot tell two apart, and when they can. Results of
 * the simulation are put there by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "show/choice/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static caucus_question question;

/* Candidates of a run on iid losses, all played, all far behind. */
static void prepare(caucus_comparison *c) {
    question = (caucus_question){.known = CAUCUS_KNOWLEDGE_IID, .interval_open = true};
    caucus_settings_init(&question.settings);
    question.settings.trust = CAUCUS_TRUST_COORDINATOR;
    question.settings.clients = 100;
    question.settings.experts = 10;
    question.settings.rounds = 1024;
    question.settings.epsilon = 1;
    *c = (caucus_comparison){
        .question = &question, .settings = question.settings, .known = CAUCUS_KNOWLEDGE_IID, .scale = {.trials = 16}};
    caucus_candidates_add(c);
    for (size_t i = 0; i < c->count; i++)
        c->candidate[i].quick =
            (caucus_quick){.done = true, .trials = 16, .regret = {.mean = 500, .std = 1, .min = 499, .max = 501}};
}

/* stoch with phases that double, or with a longest one: both are made for iid losses, the second's bound is larger. */
static caucus_candidate *stoch(caucus_comparison *c, bool longest) {
    for (size_t i = 0; i < c->count; i++) {
        caucus_candidate *x = &c->candidate[i];
        if (!x->alone && !x->other && x->asked.algorithm == CAUCUS_ALGORITHM_STOCH &&
            (x->asked.longest_phase != 0) == longest)
            return x;
    }
    fail_msg("no such candidate");
    return NULL;
}

static void seen(caucus_candidate *x, double mean, double std) {
    x->quick.regret.mean = mean;
    x->quick.regret.std = std;
}

static void within_the_spread_the_bound_decides(void **state) {
    (void)state;
    static caucus_comparison c;
    prepare(&c);
    caucus_candidate *doubling = stoch(&c, false), *longest = stoch(&c, true);
    assert_true(doubling->plan->bound_uncapped < longest->plan->bound_uncapped);
    /* Standard errors of 1/4 each, .354 of the difference: .7 apart is chance, .72 is not. */
    seen(doubling, 10.7, 1);
    seen(longest, 10, 1);
    caucus_comparison_advise(&c);
    assert_ptr_equal(c.taken, doubling);
    seen(doubling, 10.72, 1);
    caucus_comparison_advise(&c);
    assert_ptr_equal(c.taken, longest);
    /* Of a single trial nothing is known about the spread. */
    seen(doubling, 10.1, (double)NAN);
    seen(longest, 10, (double)NAN);
    caucus_comparison_advise(&c);
    assert_ptr_equal(c.taken, longest);
    caucus_candidates_free(&c);
}

/* What is not made for such losses is not taken, however well it did and however wide the spread. */
static void made_for_such_losses_comes_first(void **state) {
    (void)state;
    static caucus_comparison c;
    prepare(&c);
    for (size_t i = 0; i < c.count; i++)
        if (c.candidate[i].asked.algorithm == CAUCUS_ALGORITHM_SVT)
            seen(&c.candidate[i], 1, 100);
    caucus_comparison_advise(&c);
    assert_true(caucus_candidate_covers(&c, c.taken));
    assert_int_not_equal(c.taken->asked.algorithm, CAUCUS_ALGORITHM_SVT);
    caucus_candidates_free(&c);
}

/* On somebody's own losses the first row is what is taken, and what they refute is behind the rest. */
static void own_losses_begin_with_what_is_taken(void **state) {
    (void)state;
    static caucus_comparison c;
    prepare(&c);
    c.own = true;
    c.known = CAUCUS_KNOWLEDGE_COUNT;
    c.history = (caucus_history){.drift = CAUCUS_HISTORY_STEADY, .safest_loss = 100};
    for (size_t i = 0; i < c.count; i++)
        if (c.candidate[i].asked.algorithm == CAUCUS_ALGORITHM_SVT)
            seen(&c.candidate[i], 1, 0.1);
        else if (c.candidate[i].other)
            seen(&c.candidate[i], 2, 0.1);
    caucus_comparison_advise(&c);
    assert_true(c.shown == c.count);
    assert_ptr_equal(&c.candidate[c.order[0]], c.taken);
    assert_true(caucus_candidate_covers(&c, c.taken));
    for (size_t i = 1; i < c.shown; i++)
        assert_true(caucus_candidate_covers(&c, &c.candidate[c.order[i - 1]]) ||
                    !caucus_candidate_covers(&c, &c.candidate[c.order[i]]));
    assert_false(caucus_candidate_covers(&c, &c.candidate[c.order[c.shown - 1]]));
    caucus_candidates_free(&c);
}

/* What was not played has lost nothing to anybody. */
static void what_was_not_played_lost_nothing(void **state) {
    (void)state;
    static caucus_comparison c;
    prepare(&c);
    c.known = CAUCUS_KNOWLEDGE_ANY;
    for (size_t i = 0; i < c.count; i++) {
        c.candidate[i].quick.done = false;
        if (c.candidate[i].asked.algorithm == CAUCUS_ALGORITHM_HEDGE) {
            caucus_plan_free(c.candidate[i].plan);
            c.candidate[i].plan = NULL;
        }
    }
    caucus_comparison_advise(&c);
    assert_true(c.sentences > 0);
    assert_null(strstr(c.advice[0], "lost"));
    assert_non_null(strstr(c.advice[0], "Not played, but fits: "));
    caucus_candidates_free(&c);
}

/* A figure above its bound is not handed on as if it could be counted on. */
static void above_the_bound_is_said(void **state) {
    (void)state;
    static caucus_comparison c;
    prepare(&c);
    c.scale = (caucus_scale){.trials = 16, .clients = 10, .rounds = 1024, .fewer = true};
    caucus_candidate *doubling = stoch(&c, false);
    for (size_t i = 0; i < c.count; i++)
        if (!c.candidate[i].wider && c.candidate[i].plan != NULL)
            seen(&c.candidate[i], fmin(600, c.candidate[i].plan->bound * 0.9), 1);
    seen(doubling, doubling->plan->bound * 0.99, 0.1);
    caucus_comparison_advise(&c);
    assert_ptr_equal(c.taken, doubling);
    assert_false(caucus_candidate_above(&c, doubling) || c.by_proof);
    assert_null(strstr(c.advice[0], "above"));
    size_t wider = 0;
    for (size_t i = 0; i < c.sentences; i++)
        wider += strstr(c.advice[i], "For unit ") != NULL && strstr(c.advice[i], "above the ") != NULL;
    assert_int_equal(wider, 2);
    /* Now one that could be taken is above: fewer clients say nothing, and the smallest bound is taken. */
    seen(doubling, doubling->plan->bound * 1.01, 0.1);
    seen(stoch(&c, true), 0.01, 0.001);
    caucus_comparison_advise(&c);
    assert_true(caucus_candidate_above(&c, doubling) && c.by_proof);
    assert_ptr_equal(c.taken, doubling);
    assert_ptr_equal(&c.candidate[c.order[0]], doubling);
    assert_non_null(strstr(c.advice[0], "A simulated figure is above what is proved for your run (*)"));
    assert_null(strstr(c.advice[1], "simulation"));
    /* Where all clients were played it is bad luck, of that row alone. */
    c.scale.fewer = false;
    caucus_comparison_advise(&c);
    assert_false(c.by_proof);
    assert_ptr_equal(c.taken, stoch(&c, true));
    caucus_candidates_free(&c);
}

/* Noise goes with 1/(m epsilon) where it is added once, with 1/(epsilon sqrt(m)) where each client adds its own. */
static void fewer_clients_with_the_noise_of_all(void **state) {
    (void)state;
    caucus_settings s;
    caucus_settings_init(&s);
    s.clients = 5000;
    s.epsilon = 0.5;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    caucus_scale scale = {.clients = 50, .fewer = true};
    assert_true(caucus_scale_epsilon(&scale, &s) == 50);
    s.trust = CAUCUS_TRUST_NOBODY;
    assert_true(caucus_scale_epsilon(&scale, &s) == 5);
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.epsilon = 20;
    assert_true(caucus_scale_epsilon(&scale, &s) == 1000); /* settings accept no more */
    scale.clients = 5000;
    assert_true(caucus_scale_epsilon(&scale, &s) == 20);
    /* What is sent stays what it was: with auto another epsilon chooses another. */
    s = (caucus_settings){0};
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    s.trust = CAUCUS_TRUST_NOBODY;
    s.clients = 5000;
    s.experts = 10;
    s.epsilon = 1;
    caucus_plan *plan = NULL;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    scale = (caucus_scale){.clients = 50, .rounds = s.rounds, .fewer = true};
    s = caucus_scale_settings(&scale, plan, true);
    assert_true(s.epsilon == 10 && s.clients == 50 && plan->stoch.message == CAUCUS_MESSAGE_VOTE);
    assert_int_equal(s.message, CAUCUS_MESSAGE_VOTE);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_the_spread_the_bound_decides),
        cmocka_unit_test(made_for_such_losses_comes_first),
        cmocka_unit_test(own_losses_begin_with_what_is_taken),
        cmocka_unit_test(what_was_not_played_lost_nothing),
        cmocka_unit_test(above_the_bound_is_said),
        cmocka_unit_test(fewer_clients_with_the_noise_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
