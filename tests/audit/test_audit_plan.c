/* SPDX-License-Identifier: Apache-2.0 */
/* test_audit_plan.c: the audit of a plan: a sound one is not refuted, one with less noise than it claims is, a reduced
 * plan has the rates of its own, a plan that claims nothing is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "audit/audit_stage.h"
#include "testing_settings.h"

static caucus_plan *plan_of(const caucus_settings *settings) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    if (caucus_plan_new(settings, &plan, &error) != CAUCUS_OK)
        fail_msg("%s %s", error.field, error.text);
    return plan;
}

static const caucus_audit_options quick = {
    .seed = 1, .trials = 10000, .confidence = CAUCUS_AUDIT_CONFIDENCE, .threads = 2};

/* Runs of a small plan are those of the plan itself; half its noise is noticed. */
static void test_own_integers(void **state) {
    (void)state;
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 3, 4, 32, 1);
    caucus_plan *plan = plan_of(&s);
    caucus_audit_plan_result *r = malloc(sizeof *r), *again = malloc(sizeof *again);
    caucus_error error = {0};
    assert_non_null(r);
    assert_non_null(again);
    assert_int_equal(caucus_audit_plan_run(plan, &quick, r, &error), CAUCUS_OK);
    assert_int_equal(r->count, 3);
    assert_string_equal(r->reduced, "");
    assert_string_equal(r->hash, caucus_plan_hash_text(plan));
    assert_true(r->pairs > 1 && r->pair[0] != '\0');
    assert_false(r->result[0].refuted);
    assert_true(r->result[0].lower_bound > 0.6 && r->result[0].claimed <= 1);
    assert_true(r->result[2].refuted && r->result[2].twin_of != NULL);
    printf("  %s: at least %.3f, noise / 2 %.3f (seed 1)\n", r->pair, r->result[0].lower_bound,
           r->result[2].lower_bound);
    caucus_audit_options other = quick; /* any number of threads */
    other.threads = 3;
    assert_int_equal(caucus_audit_plan_run(plan, &other, again, &error), CAUCUS_OK);
    assert_string_equal(r->pair, again->pair);
    assert_true(r->result[0].lower_bound == again->result[0].lower_bound);
    free(r);
    free(again);
    caucus_plan_free(plan);
}

/* Devices at their own pace: a decision costs what it does in step, and half the noise is noticed. */
static void test_own_pace(void **state) {
    (void)state;
    const caucus_unit units[2] = {CAUCUS_UNIT_EVENT, CAUCUS_UNIT_CLIENT_BLOCK};
    for (unsigned i = 0; i < 4; i++) {
        caucus_settings s = testing_settings(CAUCUS_ALGORITHM_STOCH,
                                             i < 2 ? CAUCUS_TRUST_COORDINATOR : CAUCUS_TRUST_NOBODY, 5, 3, 1, 1);
        s.pace = CAUCUS_PACE_OWN;
        s.rounds = CAUCUS_ROUNDS_ENDLESS;
        s.unit = units[i % 2];
        caucus_plan *plan = plan_of(&s);
        caucus_audit_plan_result *r = malloc(sizeof *r);
        caucus_error error = {0};
        assert_non_null(r);
        assert_int_equal(caucus_audit_plan_run(plan, &quick, r, &error), CAUCUS_OK);
        printf("  %s: %s\n    at least %.3f of %g, noise / 2 %.3f; reduced: %s\n", r->target, r->pair,
               r->result[0].lower_bound, r->result[0].claimed, r->result[2].lower_bound, r->reduced);
        assert_non_null(strstr(r->reduced, "devices in step"));
        assert_false(r->result[0].refuted);
        assert_true(r->result[2].refuted);
        free(r);
        caucus_plan_free(plan);
    }
}

/* Audit a plan that keeps its claim; the result is the caller's. */
static caucus_audit_plan_result *not_refuted(const caucus_plan *plan) {
    caucus_audit_plan_result *r = malloc(sizeof *r);
    caucus_error error = {0};
    assert_non_null(r);
    assert_int_equal(caucus_audit_plan_run(plan, &quick, r, &error), CAUCUS_OK);
    printf("  %s: %s\n    at least %.3f of %g; reduced: %s\n", r->target, r->pair, r->result[0].lower_bound,
           r->result[0].claimed, r->reduced);
    assert_false(r->result[0].refuted);
    return r;
}

/* Plans that claim one epsilon and have the noise of another, of every family. */
static void test_refuted(void **state) {
    (void)state;
    caucus_settings s[3] = {testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, 50, 20, 4096, 1),
                            testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 20, 20, 1000, 2),
                            testing_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, 4, 2, 12, 1)};
    const caucus_audit_fault less = {CAUCUS_AUDIT_NOISE, 6, 1};
    s[1].interval = 500;
    s[2].interval = 4;
    for (unsigned i = 0; i < 3; i++) {
        caucus_plan *plan = plan_of(&s[i]);
        caucus_audit_plan_result *r = not_refuted(plan);
        caucus_error error = {0};
        caucus_audit_break_plan(plan, &less);
        assert_int_equal(caucus_audit_plan_run(plan, &quick, r, &error), CAUCUS_OK);
        printf("    a sixth of the noise: at least %.3f\n", r->result[0].lower_bound);
        assert_true(r->result[0].refuted && !caucus_audit_pass(&r->result[0]));
        free(r);
        caucus_plan_free(plan);
    }
}

/* Unit client: what is replaced is all that a client sees, with few evaluations, with figures and in messages, too; a
 * plan with a quarter of the noise that it claims is refuted. */
static void test_unit_client(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        caucus_settings s = testing_settings(
            CAUCUS_ALGORITHM_STOCH, kind == 3 ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR, 500, 20, 64, 1);
        const caucus_audit_fault less = {CAUCUS_AUDIT_NOISE, 4, 1};
        s.unit = CAUCUS_UNIT_CLIENT;
        s.growth = 8;
        s.evaluate = kind == 1 ? 3 : 0;
        s.show_loss = kind == 2 ? 0.25 : 0;
        caucus_plan *plan = plan_of(&s);
        caucus_audit_plan_result *r = not_refuted(plan);
        caucus_error error = {0};
        assert_int_equal(r->unit, CAUCUS_UNIT_CLIENT);
        assert_string_equal(r->record, "everything one client contributes to the run");
        assert_non_null(strstr(r->pair, "all that a client sees, from the first round on, learnt from in every phase"));
        caucus_audit_break_plan(plan, &less);
        assert_int_equal(caucus_audit_plan_run(plan, &quick, r, &error), CAUCUS_OK);
        printf("    a quarter of the noise: at least %.3f\n", r->result[0].lower_bound);
        assert_true(r->result[0].refuted);
        free(r);
        caucus_plan_free(plan);
    }
}

static bool same_noise(const caucus_noise *a, const caucus_noise *b) {
    return a->kind == b->kind && caucus_rational_compare(a->parameter, b->parameter) == 0;
}

/* Whatever is made smaller, rates, noise and the grid are the plan's own. */
static void test_reduced(void **state) {
    (void)state;
    char words[200];
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 100, 50, 2000, 1);
    caucus_plan *plan = plan_of(&s), *small = caucus_audit_reduced(plan, words, sizeof words);
    assert_non_null(small);
    printf("  svt: %s\n", words);
    assert_non_null(strstr(words, "2 of 50 experts"));
    assert_true(small->grid == plan->grid && small->svt.switches == plan->svt.switches);
    assert_true(same_noise(&small->svt.threshold_noise, &plan->svt.threshold_noise));
    assert_true(same_noise(&small->svt.check_noise, &plan->svt.check_noise));
    for (uint32_t k = 0; k < plan->svt.switches; k++)
        assert_int_equal(caucus_rational_compare(small->svt.select_rate[k], plan->svt.select_rate[k]), 0);
    caucus_plan_free(small);
    caucus_plan_free(plan);

    s = testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, 100, 50, 1u << 20, 1);
    s.message = CAUCUS_MESSAGE_SHORTLIST;
    plan = plan_of(&s);
    small = caucus_audit_reduced(plan, words, sizeof words);
    assert_non_null(small);
    printf("  stoch: %s\n", words);
    assert_true(small->stoch.phases > 2 && small->stoch.phases < plan->stoch.phases);
    assert_true(small->settings.rounds < plan->settings.rounds);
    for (uint64_t p = 0; p + 1 < small->stoch.phases; p++) {
        assert_int_equal(caucus_rational_compare(small->stoch.phase[p].vote_rate, plan->stoch.phase[p].vote_rate), 0);
        assert_true(same_noise(&small->stoch.phase[p].shortlist_noise, &plan->stoch.phase[p].shortlist_noise));
    }
    caucus_plan_free(small);
    caucus_plan_free(plan);
}

static void test_nothing_claimed(void **state) {
    (void)state;
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_LEADER, CAUCUS_TRUST_COORDINATOR, 3, 4, 32, 1);
    caucus_plan *plan = plan_of(&s);
    caucus_audit_plan_result *r = malloc(sizeof *r);
    caucus_error error = {0};
    assert_non_null(r);
    assert_int_equal(caucus_audit_plan_run(plan, &quick, r, &error), CAUCUS_E_INFEASIBLE);
    assert_non_null(strstr(error.text, "claims no privacy"));
    free(r);
    caucus_plan_free(plan);
}

/* A run without an end: its beginning, or one of its cycles, with the rates of the plan. */
static void test_endless(void **state) {
    (void)state;
    for (int cycles = 0; cycles < 2; cycles++) {
        caucus_settings s = testing_settings(cycles ? CAUCUS_ALGORITHM_HEDGE : CAUCUS_ALGORITHM_STOCH,
                                             CAUCUS_TRUST_COORDINATOR, 2, 3, CAUCUS_ROUNDS_ENDLESS, 1);
        s.longest_phase = cycles ? 0 : 2;
        s.renew = cycles ? 4 : 0;
        caucus_plan *plan = plan_of(&s);
        caucus_audit_plan_result *r = malloc(sizeof *r);
        caucus_error error = {0};
        assert_non_null(r);
        assert_int_equal(caucus_audit_plan_run(plan, &quick, r, &error), CAUCUS_OK);
        assert_non_null(strstr(r->reduced, cycles ? "one cycle" : "its first 5 phases"));
        assert_false(r->result[0].refuted);
        assert_true(r->result[2].refuted || cycles); /* the rate of so short a cycle is not what privacy would allow */
        free(r);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_integers), cmocka_unit_test(test_own_pace), cmocka_unit_test(test_refuted),
        cmocka_unit_test(test_unit_client),  cmocka_unit_test(test_reduced),  cmocka_unit_test(test_nothing_claimed),
        cmocka_unit_test(test_endless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
