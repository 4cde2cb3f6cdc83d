/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_look.c: a private look in the plan: noise and intervals, what selections have left, refusals.
 * docs/PRIVACY.md, "A private look". */
#include "plan/plan_testing.h"
#include "plan/stoch.h"
#include "plan/stoch/look.h"

#include "plan/text/plan_text.h"

#include <stdlib.h>

static caucus_settings base(double show) {
    caucus_settings s = plan_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    s.clients = 500;
    s.experts = 20;
    s.rounds = 20000;
    s.longest_phase = 64;
    s.epsilon = 1;
    s.show_loss = show;
    return s;
}

static const caucus_stoch_phase *last_of(const caucus_plan *plan) {
    return &plan->stoch.phase[plan->stoch.described - 1];
}

static void golden(void **state) {
    (void)state;
    caucus_settings s = base(0.1);
    caucus_plan *plan = plan_made(&s);
    assert_int_equal(plan->stoch.show_reach, 31412530);
    near(caucus_look_half(plan, last_of(plan), caucus_look_divisor(plan, last_of(plan)), 500), 0.000936, 1e-6);
    caucus_plan_free(plan);
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    plan = plan_made(&s);
    near(caucus_look_half(plan, last_of(plan), caucus_look_divisor(plan, last_of(plan)), 500), 0.059915, 1e-6);
    caucus_plan_free(plan);
    s = base(0.25);
    s.grid = 1;
    plan = plan_made(&s);
    assert_int_equal(plan->stoch.show_reach, 12);
    caucus_plan_free(plan);
}

/* P(|Z| > t) is at most .05, and above it for the t before. */
static void reach(void **state) {
    (void)state;
    const double shows[] = {0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.999};
    const uint32_t grids[] = {1, 3, 256, 1u << 16, 1u << 20};
    for (size_t i = 0; i < sizeof shows / sizeof shows[0]; i++)
        for (size_t k = 0; k < sizeof grids / sizeof grids[0]; k++) {
            caucus_settings s = base(shows[i]);
            s.grid = grids[k];
            caucus_plan *plan = plan_made(&s);
            const double r = caucus_rational_double(plan->stoch.show_noise.parameter);
            const double t = (double)plan->stoch.show_reach;
            assert_true(2 * exp(-r * (t + 1)) / (1 + exp(-r)) <= 0.05 * (1 + 1e-6));
            if (t > 0)
                assert_true(2 * exp(-r * t) / (1 + exp(-r)) > 0.05 * (1 - 1e-6));
            caucus_plan_free(plan);
        }
}

/* What selections cost and what the look costs are epsilon together, and rates, bound and the longest phase are those
 * of a plan for epsilon - E0. */
static void shares(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        caucus_settings s = base(0.25), less = base(0);
        less.epsilon = 0.75;
        s.past_phases = less.past_phases = kind == 1;
        s.evaluate = less.evaluate = kind == 2 ? 3 : 0;
        if (kind == 3)
            s.longest_phase = less.longest_phase = CAUCUS_PHASE_AUTO;
        caucus_plan *plan = plan_made(&s), *other = plan_made(&less);
        near(plan->guarantee.epsilon_choices, 1, 1e-9);
        assert_true(plan->guarantee.epsilon_choices <= 1);
        near(plan->guarantee.epsilon_choices - other->guarantee.epsilon_choices, 0.25, 1e-9);
        near(caucus_rational_double(plan->stoch.show_noise.parameter) * (double)plan->grid, 0.25, 1e-9);
        near(plan->bound_uncapped, other->bound_uncapped, 1e-6);
        assert_int_equal(plan->settings.longest_phase, other->settings.longest_phase);
        near(caucus_rational_double(last_of(plan)->select_rate[0]),
             caucus_rational_double(last_of(other)->select_rate[0]), 1e-16);
        caucus_plan_free(plan);
        caucus_plan_free(other);
    }
}

/* With delta it is added after the conversion. */
static void with_delta(void **state) {
    (void)state;
    caucus_settings s = base(0.25), less = base(0);
    s.delta = less.delta = 1e-3;
    s.past_phases = less.past_phases = true;
    less.epsilon = 0.75;
    caucus_plan *plan = plan_made(&s), *other = plan_made(&less);
    near(plan->guarantee.epsilon_choices, other->guarantee.epsilon_choices + 0.25, 1e-9);
    assert_true(plan->guarantee.epsilon_choices <= 1);
    near(plan->guarantee.rho_zcdp, other->guarantee.rho_zcdp, 1e-12);
    assert_true(caucus_plan_epsilon_device(plan) > caucus_plan_epsilon_device(other));
    caucus_plan_free(plan);
    caucus_plan_free(other);
}

/* An accountant that trusts nobody: noise that is too small, or of another law, is found. */
static void accounted(void **state) {
    (void)state;
    const caucus_settings s = base(0.25);
    caucus_plan *plan = plan_made(&s);
    caucus_guarantee g;
    caucus_noise good = plan->stoch.show_noise;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_OK);
    plan->stoch.show_noise.parameter.num += good.parameter.num / 100;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    plan->stoch.show_noise = (caucus_noise){CAUCUS_NOISE_NONE, {0, 1}};
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    plan->stoch.show_noise = (caucus_noise){CAUCUS_NOISE_GEOMETRIC, good.parameter};
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    plan->stoch.show_noise = good;
    plan->stoch.show_reach = -1;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    caucus_plan_free(plan);
}

/* Trust nobody: nothing is asked for and it is there; the interval is 1.96 standard deviations of the sum. */
static void nobody(void **state) {
    (void)state;
    const caucus_message messages[] = {CAUCUS_MESSAGE_KNORM, CAUCUS_MESSAGE_LAPLACE_D, CAUCUS_MESSAGE_GAUSS,
                                       CAUCUS_MESSAGE_VOTE, CAUCUS_MESSAGE_SHORTLIST};
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        caucus_settings s = base(0);
        s.trust = CAUCUS_TRUST_NOBODY;
        s.message = messages[i];
        s.delta = messages[i] == CAUCUS_MESSAGE_GAUSS ? 1e-6 : 0;
        caucus_plan *plan = plan_made(&s);
        assert_int_equal(caucus_look_shows(plan), i < 3);
        if (i < 3) {
            const caucus_stoch_phase *phase = last_of(plan);
            const double p = caucus_rational_double(phase->vertex_noise[0].parameter);
            const double v = i == 0 ? 21.0 * 22 / (3 * p * p) : i == 1 ? 2 / (p * p) : p;
            near(caucus_look_half(plan, phase, 500 * 64, 500), 1.96 * sqrt(500 * v) / ((double)plan->grid * 500 * 64),
                 1e-9);
            assert_false(caucus_look_wanted(plan, phase, 19 * 64, 19));
        }
        caucus_plan_free(plan);
    }
}

/* Unit client: every figure is of everything so far, so that each of K has a K-th of E0: at E0 .1 and K 4 the noise
 * reaches four times as far, and half of the width is .23966 for 500 means. Selections have the rest, and all of it
 * together is epsilon, purely and with delta. */
static void client(void **state) {
    (void)state;
    for (int with_delta = 0; with_delta <= 1; with_delta++) {
        caucus_settings s = base(0.1);
        s.longest_phase = 0;
        s.unit = CAUCUS_UNIT_CLIENT;
        s.rounds = 1024;
        s.growth = 8;
        s.delta = with_delta ? 1e-6 : 0;
        caucus_plan *plan = plan_made(&s);
        assert_int_equal(plan->stoch.described, 4);
        near(caucus_rational_double(plan->stoch.show_noise.parameter) * (double)plan->grid, 0.025, 1e-9);
        near(caucus_look_half(plan, last_of(plan), caucus_look_divisor(plan, last_of(plan)), 500), 0.23966, 1e-4);
        assert_true(plan->guarantee.epsilon_choices <= 1 && plan->guarantee.epsilon_choices > 0.99);
        assert_true(caucus_plan_epsilon_device(plan) <= 1 && caucus_plan_epsilon_device(plan) > 0.99);
        double spent = 0;
        for (uint32_t i = 0; i < 4; i++)
            spent += 2 * (double)plan->grid * caucus_rational_double(plan->stoch.phase[i].select_rate[0]);
        if (!with_delta)
            near(spent, 0.9, 1e-6);
        caucus_guarantee g; /* figures that have E0 each */
        plan->stoch.show_noise.parameter.num *= 4;
        assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
        caucus_plan_free(plan);
    }
    caucus_settings s = base(0.1);
    s.longest_phase = 0;
    s.unit = CAUCUS_UNIT_CLIENT;
    s.rounds = 1024;
    s.growth = 2; /* ten figures */
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_plan_new(&s, &plan, &error), CAUCUS_E_INFEASIBLE);
    assert_non_null(strstr(error.text, "from about 0.13 on"));
    s.show_loss = 0.13;
    caucus_plan_free(plan_made(&s));
}

static void refused(const caucus_settings *s, const char *words) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    assert_int_not_equal(caucus_plan_new(s, &plan, &error), CAUCUS_OK);
    assert_string_equal(error.field, "show-loss");
    if (!strstr(error.text, words))
        fail_msg("'%s' has no '%s'", error.text, words);
}

static void refusals(void **state) {
    (void)state;
    const double bad[] = {-0.1, 1, 2, (double)NAN};
    caucus_settings s;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        s = base(bad[i]);
        refused(&s, "below epsilon");
    }
    s = base(0.1);
    s.algorithm = CAUCUS_ALGORITHM_HEDGE;
    s.longest_phase = 0;
    refused(&s, "or algorithm stoch");
    s = base(0.1);
    s.trust = CAUCUS_TRUST_NOBODY;
    refused(&s, "private already");
    s = base(0.1);
    s.trees = 1;
    s.longest_phase = 0;
    refused(&s, "without trees");
    s = base(0.1);
    s.longest_phase = 0;
    s.calibration = CAUCUS_CALIBRATION_PAPER;
    refused(&s, "calibration");
    s = base(0.1);
    s.longest_phase = 0;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.pace = CAUCUS_PACE_OWN;
    refused(&s, "unit client-block");
    s = base(0.1);
    s.clients = 10;
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK; /* ten means, where sixty are needed */
    refused(&s, "from about 0.64 on");
    s.show_loss = 0.64;
    caucus_plan_free(plan_made(&s));
}

/* A plan without it has the text, and so the name, that it had before there was such a thing. */
static void text(void **state) {
    (void)state;
    const caucus_settings s = base(0.1), plain = base(0);
    caucus_plan *plan = plan_made(&s), *other = plan_made(&plain);
    char *with = NULL, *without = NULL;
    size_t size;
    assert_int_equal(caucus_plan_text(plan, &with, &size), CAUCUS_OK);
    assert_int_equal(caucus_plan_text(other, &without, &size), CAUCUS_OK);
    assert_null(strstr(without, "show"));
    assert_non_null(strstr(with, "\n  show-loss: 0.1\n"));
    assert_non_null(strstr(with, "\n  show-noise: laplace "));
    assert_non_null(strstr(with, "\n  show-reach: 31412530\n"));
    assert_memory_not_equal(plan->hash, other->hash, sizeof plan->hash);
    free(with);
    free(without);
    caucus_plan_free(plan);
    caucus_plan_free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),     cmocka_unit_test(reach),     cmocka_unit_test(shares),
        cmocka_unit_test(with_delta), cmocka_unit_test(accounted), cmocka_unit_test(nobody),
        cmocka_unit_test(client),     cmocka_unit_test(refusals),  cmocka_unit_test(text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
