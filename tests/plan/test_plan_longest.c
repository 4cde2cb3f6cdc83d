/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_longest.c: stoch with a longest phase: where its phases are, the length of `auto`, calibration, accountant,
 * bound and refusals. docs/PRIVACY.md, "Phases with a longest length". */
#include "plan/plan_testing.h"
#include "plan/stoch.h"

static caucus_settings base(void) {
    caucus_settings s = plan_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    s.clients = 500;
    s.experts = 20;
    s.rounds = 20000;
    s.longest_phase = 64;
    return s;
}

/* Phases counted one by one, for every small schedule. */
static void places(void **state) {
    (void)state;
    caucus_settings s = base();
    s.clients = 2;
    for (s.longest_phase = 1; s.longest_phase <= 9; s.longest_phase++)
        for (s.first_phase = 1; s.first_phase <= 10; s.first_phase++)
            for (s.rounds = 1; s.rounds <= 60; s.rounds++) {
                caucus_plan *plan = plan_made(&s);
                uint64_t length = s.first_phase < s.longest_phase ? s.first_phase : s.longest_phase, first = 1, p = 1;
                uint64_t before = 0, repeated = 0;
                for (;; p++) {
                    const uint64_t left = s.rounds - first + 1, played = left < length ? left : length;
                    assert_int_equal(caucus_stoch_length(&s, p), length);
                    assert_int_equal(caucus_stoch_first(&s, p), first);
                    if (p >= 2) {
                        const caucus_stoch_phase *phase = caucus_stoch_phase_of(plan, p);
                        assert_int_equal(phase->samples, before);
                        assert_int_equal(caucus_stoch_played(plan, p), played);
                        if (p < (uint64_t)plan->stoch.described + 2)
                            assert_int_equal(phase->first, first);
                    }
                    if (left <= length)
                        break;
                    first += length;
                    before = length;
                    length = 2 * length < s.longest_phase ? 2 * length : s.longest_phase;
                }
                assert_int_equal(plan->stoch.phases, p);
                for (uint32_t i = 0; i < plan->stoch.described; i++)
                    repeated += caucus_stoch_repeats(plan, i);
                assert_int_equal(repeated, p - 1);
                assert_int_equal(caucus_plan_selections(plan), p - 1);
                caucus_plan_free(plan);
            }
}

/* A run of 2^30 rounds has a plan of a few phases, and sums that span one of them. */
static void long_runs(void **state) {
    (void)state;
    caucus_settings s = base();
    s.clients = 1 << 24;
    s.rounds = 1 << 30;
    s.epsilon = 1;
    caucus_plan *plan = plan_made(&s);
    assert_int_equal(plan->stoch.described, 7); /* phases 2 .. 8 = ceil(log2 W) + 2 */
    assert_int_equal(plan->stoch.phase[6].samples, 64);
    assert_int_equal(plan->stoch.phases, 7 + ((1u << 30) - 127 + 63) / 64);
    assert_true(plan->guarantee.epsilon_choices <= 1 && plan->guarantee.epsilon_choices > 0.999);
    caucus_plan_free(plan);
    s.longest_phase = 0; /* without it the sums could leave 62 bits */
    s.grid = 1 << 20;
    caucus_error error = {0};
    assert_int_equal(caucus_plan_new(&s, &plan, &error), CAUCUS_E_OVERFLOW);
}

/* Lengths of `auto` and what they cost per 1,000 rounds, computed apart from this program. */
static void chosen(void **state) {
    (void)state;
    static const struct {
        uint32_t m, d;
        double changes;
        uint64_t w;
        double cost;
    } want[] = {{500, 20, 1, 6, 36.077}, {500, 20, .2, 18, 20.678}, {50, 20, 1, 15, 81.617}, {10, 100, 1, 33, 174.910}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        caucus_settings s = base();
        double bound = 0;
        s.clients = want[i].m;
        s.experts = want[i].d;
        s.changes = want[i].changes;
        assert_int_equal(caucus_stoch_longest(&s, &bound), want[i].w);
        near(1000 * bound, want[i].cost, 6e-4);
        s.hi = 3;
        assert_int_equal(caucus_stoch_longest(&s, &bound), want[i].w); /* the range only scales it */
        near(1000 * bound, 3 * want[i].cost, 2e-3);
        s.longest_phase = CAUCUS_PHASE_AUTO;
        s.hi = 1;
        caucus_plan *plan = plan_made(&s);
        assert_int_equal(plan->settings.longest_phase, want[i].w);
        s.longest_phase = want[i].w; /* a plan like any other with that length */
        caucus_plan *same = plan_made(&s);
        assert_string_equal(plan->hash_text, same->hash_text);
        caucus_plan_free(plan);
        caucus_plan_free(same);
    }
    caucus_settings s = base(); /* means: b is paid whatever W is, and W = (a/4c)^(2/3) */
    double bound = 0;
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    s.changes = 0.01;
    const double a = sqrt(log(20) / 1000), w = pow(a / 4e-5, 2.0 / 3);
    near((double)caucus_stoch_longest(&s, &bound), w, 1);
}

/* E regret <= R[len_1 + (A+1) W (S-1)] + sum_p len_p min(R, B_p) + R sqrt(S T ln d/(2m)), by hand. */
static void bounds(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        caucus_settings s = base();
        s.first_phase = kind == 1 ? 64 : 1;
        s.unit = kind == 2 ? CAUCUS_UNIT_CLIENT_BLOCK : CAUCUS_UNIT_EVENT;
        s.changes = 0.25;
        caucus_plan *plan = plan_made(&s);
        double harmonic = 0, want = (double)s.first_phase;
        for (int n = 2; n <= 20; n++)
            harmonic += 1.0 / n;
        for (uint64_t p = 2; p <= plan->stoch.phases; p++) {
            const double n = (double)caucus_stoch_length(&s, p - 1);
            const double noise = 2 * harmonic / (500 * (kind == 2 ? 1 : n));
            want += (double)caucus_stoch_played(plan, p) * fmin(1, sqrt(log(20) / (1000 * n)) + noise);
        }
        const double changes = 0.25 * 20;
        want += 2 * 64 * changes + sqrt((1 + changes) * 20000 * log(20) / 1000);
        near(plan->bound_uncapped, want, 0.1); /* 0.1: rounding to the grid, and rates rounded down */
        assert_true(plan->bound_uncapped >= want);
        s.past_phases = true;
        caucus_plan *weighted = plan_made(&s);
        if (weighted->stoch.past == 1) /* a look back costs more changes than it saves */
            near(weighted->bound_uncapped, plan->bound_uncapped, 1e-6);
        assert_true(weighted->bound_uncapped <= plan->bound_uncapped * (1 + 1e-9));
        caucus_plan_free(weighted);
        caucus_plan_free(plan);
    }
}

/* With almost no changes and little else to learn from, earlier phases weigh in: of equal length, not halved. */
static void weights(void **state) {
    (void)state;
    caucus_settings s = base();
    s.clients = 10;
    s.longest_phase = 4;
    s.changes = 1e-6;
    s.past_phases = true;
    caucus_plan *plan = plan_made(&s);
    const caucus_stoch_plan *stoch = &plan->stoch;
    assert_true(stoch->past > 1);
    double sum = 0, squares = 0, harmonic = 0;
    for (uint32_t a = 0; a < stoch->past; a++) {
        sum += (double)stoch->past_weights[a];
        squares += (double)stoch->past_weights[a] * (double)stoch->past_weights[a];
    }
    for (int n = 2; n <= 20; n++)
        harmonic += 1.0 / n;
    const double rate = caucus_rational_double(stoch->phase[stoch->described - 1].select_rate[0]);
    near(2 * rate * 0x1p20 * sum, 1, 1e-5); /* all uses of one loss together */
    near(stoch->phase[stoch->described - 1].error,
         sqrt(log(20) * squares / (sum * sum * 2 * 10 * 4)) + harmonic / (rate * 0x1p20 * 10 * 4 * sum), 1e-9);
    caucus_plan_free(plan);
}

static void accounts(void **state) {
    (void)state;
    static const caucus_message messages[] = {CAUCUS_MESSAGE_VOTE, CAUCUS_MESSAGE_SHORTLIST, CAUCUS_MESSAGE_KNORM,
                                              CAUCUS_MESSAGE_LAPLACE_D};
    for (size_t i = 0; i < 4; i++) {
        caucus_settings s = base();
        s.trust = CAUCUS_TRUST_NOBODY;
        s.message = messages[i];
        caucus_plan *plan = plan_made(&s);
        assert_true(plan->guarantee.epsilon_messages <= 1 && plan->guarantee.epsilon_messages > 0.999);
        caucus_plan_free(plan);
    }
    caucus_settings s = base();
    caucus_plan *plan = plan_made(&s);
    caucus_guarantee g;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_OK);
    near(caucus_plan_epsilon_device(plan), 20000 - 33, 0.1); /* every loss but those of the last phase */
    caucus_stoch_phase *last = &plan->stoch.phase[plan->stoch.described - 1], was = *last;
    last->select_rate[0].num *= 2; /* the entry that stands for nearly all phases */
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    *last = was;
    last->samples = 65;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    *last = was;
    plan->settings.longest_phase = 63;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    plan->settings.longest_phase = 64;
    plan->stoch.described--;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    plan->stoch.described++;
    caucus_plan_free(plan);
}

static void refuse(caucus_settings s, caucus_status status, const char *field, const char *part) {
    caucus_error error = {0};
    assert_int_equal(caucus_settings_check(&s, &error), status);
    assert_string_equal(error.field, field);
    if (!strstr(error.text, part))
        fail_msg("'%s' is not in '%s'", part, error.text);
}

static void refusals(void **state) {
    (void)state;
    caucus_settings s = base();
    s.algorithm = CAUCUS_ALGORITHM_SVT;
    refuse(s, CAUCUS_E_INFEASIBLE, "longest-phase", "only for stoch");
    s = base(), s.calibration = CAUCUS_CALIBRATION_PAPER;
    refuse(s, CAUCUS_E_INFEASIBLE, "longest-phase", "calibration tight");
    s = base(), s.longest_phase = 0, s.first_phase = 2;
    refuse(s, CAUCUS_E_INFEASIBLE, "first-phase", "only with longest-phase");
    s = base(), s.longest_phase = (1u << 30) + 1;
    refuse(s, CAUCUS_E_RANGE, "longest-phase", "1 to 1073741824");
    s = base(), s.first_phase = 0;
    refuse(s, CAUCUS_E_RANGE, "first-phase", "1 to 1073741824");
    s = base(), s.changes = 0;
    refuse(s, CAUCUS_E_RANGE, "changes", "leave longest-phase out");
    s = base(), s.changes = NAN;
    refuse(s, CAUCUS_E_RANGE, "changes", "at most 1000");
    s = base(), s.longest_phase = CAUCUS_PHASE_AUTO, s.trust = CAUCUS_TRUST_NOBODY;
    refuse(s, CAUCUS_E_INFEASIBLE, "longest-phase", "a number");
    s = base(), s.longest_phase = CAUCUS_PHASE_AUTO, s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    refuse(s, CAUCUS_E_INFEASIBLE, "longest-phase", "convex");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),  cmocka_unit_test(long_runs), cmocka_unit_test(chosen),   cmocka_unit_test(bounds),
        cmocka_unit_test(weights), cmocka_unit_test(accounts),  cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
