/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_client.c: stoch with unit client: phases, how epsilon is split over them, the bound and what it chooses,
 * the accountant, refusals. docs/PRIVACY.md, "Unit client". */
#include "plan/plan_testing.h"

#include "plan/calibrate.h"
#include "plan/stoch.h"
#include "plan/zcdp.h"

#include <string.h>

#define GRID ((double)(1 << 20))

static caucus_settings base(uint32_t m, uint64_t growth) {
    caucus_settings s = plan_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    s.unit = CAUCUS_UNIT_CLIENT;
    s.clients = m;
    s.experts = 20;
    s.rounds = 1024;
    s.epsilon = 1;
    s.growth = growth;
    return s;
}

/* What the worked numbers are about: against the best in expectation, without rounding. */
static double excess(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    double total = 1;
    for (uint32_t i = 0; i < plan->stoch.described; i++)
        total += (double)plan->stoch.phase[i].length * fmin(1, plan->stoch.phase[i].error);
    const double rounds = (double)s->rounds, realised = sqrt(rounds * log(s->experts) / (2.0 * s->clients));
    near(plan->bound_uncapped, total + realised + rounds / GRID * (2 + 0x1p-15), 1e-9 * plan->bound_uncapped);
    return total;
}

/* m 500, d 20, T 1,024, epsilon 1, g 8. */
static void worked(void **state) {
    (void)state;
    static const uint64_t length[] = {7, 56, 448, 512}, seen[] = {1, 8, 64, 512};
    static const double epsilon[] = {.049065819027, .138779093435, .392526552219, .419628535319};
    static const double rate[] = {2.33964057e-8, 6.61750285e-8, 1.87171246e-7, 2.00094478e-7};
    static const double stat[] = {.054733, .019351, .006842, .002419}, gap[] = {.211776, .074874, .026472, .024762};
    const caucus_settings s = base(500, 8);
    caucus_plan *plan = plan_made(&s);
    assert_int_equal(plan->stoch.phases, 5);
    assert_int_equal(plan->stoch.described, 4);
    assert_int_equal(caucus_stoch_length(&plan->settings, 1), 1);
    for (uint32_t i = 0; i < 4; i++) {
        const caucus_stoch_phase *phase = &plan->stoch.phase[i];
        assert_int_equal(phase->length, length[i]);
        assert_int_equal(phase->samples, seen[i]);
        assert_int_equal(phase->first, seen[i] + 1);
        const double r = caucus_rational_double(phase->select_rate[0]);
        near(2 * r * GRID, epsilon[i], 1e-9);
        near(r, rate[i], 1e-15);
        near(phase->error, stat[i] + gap[i], 2e-6);
    }
    near(excess(plan), 36.9835, 5e-5);
    near(plan->guarantee.epsilon_choices, 1, 1e-9);
    assert_true(plan->guarantee.epsilon_choices <= 1);
    near(caucus_plan_epsilon_device(plan), plan->guarantee.epsilon_choices, 1e-12); /* the record is the device */
    assert_int_equal(caucus_plan_selections(plan), 4);
    caucus_plan_free(plan);
}

/* The same at delta 1e-6 as zCDP, by the exponential mechanism; the plan itself finds pure privacy better. */
static void worked_zcdp(void **state) {
    (void)state;
    static const double rho[] = {.000632793, .002531170, .010124682, .011067325};
    const caucus_settings s = base(500, 8);
    caucus_plan *plan = plan_made(&s);
    caucus_spend spend[4];
    const double whole = caucus_zcdp_rho(1, 1e-6);
    near(whole, .02435597, 1e-8);
    caucus_calibrate_split(plan, &(caucus_split){.zcdp = true, .exponential = true}, whole, spend);
    double total = 1;
    for (uint32_t i = 0; i < 4; i++) {
        near(spend[i].rho, rho[i], 5e-9);
        near(spend[i].epsilon, sqrt(8 * spend[i].rho), 1e-12);
        const double stat = sqrt(log(20) / (1000.0 * (double)plan->stoch.phase[i].samples));
        total += (double)plan->stoch.phase[i].length * fmin(1, stat + 2 * log(20) / (500 * spend[i].epsilon));
    }
    near(total, 52.147, 1e-3);
    caucus_plan_free(plan);
    caucus_settings loose = base(500, 8);
    loose.delta = 1e-6;
    plan = plan_made(&loose);
    near(excess(plan), 36.9835, 5e-5);
    assert_true(plan->guarantee.delta <= 0);
    caucus_plan_free(plan);
}

/* What the bound chooses: growth and its value. */
static void chosen(void **state) {
    (void)state;
    static const struct {
        uint32_t m;
        uint64_t growth;
        double bound;
    } want[] = {{200, 32, 54.545}, {500, 32, 26.569}, {2000, 12, 9.488}, {5000, 12, 5.174}, {50000, 4, 1.809}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const caucus_settings s = base(want[i].m, CAUCUS_GROWTH_AUTO);
        caucus_plan *plan = plan_made(&s);
        assert_int_equal(plan->settings.growth, want[i].growth);
        near(excess(plan), want[i].bound, 1e-3);
        /* By length: epsilon_k^2 is to the rounds it decides as everywhere. */
        const double first = caucus_rational_double(plan->stoch.phase[0].select_rate[0]);
        for (uint32_t k = 0; k < plan->stoch.described; k++) {
            const double ratio = caucus_rational_double(plan->stoch.phase[k].select_rate[0]) / first;
            near(ratio * ratio, (double)plan->stoch.phase[k].length / (double)plan->stoch.phase[0].length,
                 1e-4 * ratio * ratio);
        }
        /* Said or found, it is one plan. */
        const caucus_settings said = base(want[i].m, want[i].growth);
        caucus_plan *same = plan_made(&said);
        assert_memory_equal(plan->hash, same->hash, sizeof plan->hash);
        caucus_plan_free(same);
        caucus_plan_free(plan);
    }
}

/* No other growth and no even split has a smaller bound. */
static void chosen_is_best(void **state) {
    (void)state;
    static const uint64_t growths[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};
    for (uint32_t kind = 0; kind < 6; kind++) {
        caucus_settings s = base(kind % 2 ? 3000 : 40, CAUCUS_GROWTH_AUTO);
        if (kind >= 2) {
            s.trust = CAUCUS_TRUST_NOBODY;
            s.message = kind >= 4 ? CAUCUS_MESSAGE_GAUSS : CAUCUS_MESSAGE_KNORM;
            s.delta = kind >= 4 ? 1e-5 : 0;
            s.clients *= 400;
            s.epsilon = 4;
        }
        caucus_plan *best = plan_made(&s);
        for (size_t g = 0; g < sizeof growths / sizeof growths[0]; g++) {
            s.growth = growths[g];
            caucus_plan *other = plan_made(&s);
            assert_true(best->bound_uncapped <= other->bound_uncapped);
            caucus_plan_free(other);
        }
        assert_true(best->bound_uncapped < 1024);
        caucus_plan_free(best);
    }
}

/* Many selections at a generous delta: zCDP, and the accountant says so. */
static void by_zcdp(void **state) {
    (void)state;
    caucus_settings s = base(5000, 2);
    s.delta = 0.01;
    s.rounds = 1u << 20;
    caucus_plan *plan = plan_made(&s);
    assert_int_equal(plan->stoch.select, CAUCUS_SELECT_EXPONENTIAL);
    assert_true(plan->guarantee.rho_zcdp > 0 && plan->guarantee.delta > 0);
    assert_true(plan->guarantee.epsilon_choices <= 1 && plan->guarantee.epsilon_choices > 0.999);
    double rho = 0;
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        const double e = 2 * GRID * caucus_rational_double(plan->stoch.phase[i].select_rate[0]);
        rho += e * e / 8;
    }
    near(rho, plan->guarantee.rho_zcdp, 1e-6 * rho);
    near(caucus_plan_epsilon_device(plan), plan->guarantee.epsilon_choices, 1e-9);
    caucus_plan_free(plan);
}

/* Trust nobody: what messages cost adds up to epsilon, for every message. */
static void messages(void **state) {
    (void)state;
    static const caucus_message kinds[] = {CAUCUS_MESSAGE_AUTO,  CAUCUS_MESSAGE_VOTE,      CAUCUS_MESSAGE_SHORTLIST,
                                           CAUCUS_MESSAGE_KNORM, CAUCUS_MESSAGE_LAPLACE_D, CAUCUS_MESSAGE_GAUSS};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        caucus_settings s = base(500, 8);
        s.trust = CAUCUS_TRUST_NOBODY;
        s.message = kinds[k];
        s.delta = kinds[k] == CAUCUS_MESSAGE_GAUSS ? 1e-6 : 0;
        caucus_plan *plan = plan_made(&s);
        double spent = 0;
        for (uint32_t i = 0; i < plan->stoch.described; i++) {
            const caucus_stoch_phase *phase = &plan->stoch.phase[i];
            const double noise = caucus_rational_double(phase->vertex_noise[0].parameter);
            switch (plan->stoch.message) {
            case CAUCUS_MESSAGE_VOTE:
                spent += 2 * GRID * caucus_rational_double(phase->vote_rate);
                break;
            case CAUCUS_MESSAGE_SHORTLIST:
                spent += GRID * (2 * caucus_rational_double(phase->vote_rate) +
                                 caucus_rational_double(phase->shortlist_noise.parameter));
                break;
            case CAUCUS_MESSAGE_KNORM:
                spent += GRID * noise;
                break;
            case CAUCUS_MESSAGE_LAPLACE_D:
                spent += 20 * GRID * noise;
                break;
            default:
                spent += 20 * GRID * GRID / (2 * noise);
            }
        }
        near(spent, kinds[k] == CAUCUS_MESSAGE_GAUSS ? plan->guarantee.rho_zcdp : 1, 1e-6);
        assert_true(plan->guarantee.epsilon_messages <= 1 && plan->guarantee.epsilon_messages > 0.999);
        near(plan->guarantee.epsilon_choices, plan->guarantee.epsilon_messages, 0);
        caucus_plan_free(plan);
    }
    /* Votes have no bound; their growth is that of K-norm noise. */
    caucus_settings s = base(100000, CAUCUS_GROWTH_AUTO);
    s.trust = CAUCUS_TRUST_NOBODY;
    s.message = CAUCUS_MESSAGE_VOTE;
    caucus_plan *votes = plan_made(&s);
    s.message = CAUCUS_MESSAGE_KNORM;
    caucus_plan *noise = plan_made(&s);
    assert_int_equal(votes->bound_kind, CAUCUS_BOUND_NONE);
    assert_int_equal(votes->settings.growth, noise->settings.growth);
    caucus_plan_free(votes);
    caucus_plan_free(noise);
}

/* The bound for noisy means: a later mean holds the losses of the earlier ones, so that their errors add up rather than
 * cancel. With noise that is nothing all weights are alike and only sampling is left. */
static void nested_means(void **state) {
    (void)state;
    caucus_settings s = base(1000, 4);
    s.trust = CAUCUS_TRUST_NOBODY;
    s.message = CAUCUS_MESSAGE_GAUSS;
    s.delta = 0.05;
    s.epsilon = 900;
    s.experts = 2;
    caucus_plan *plan = plan_made(&s);
    const caucus_stoch_phase *third = &plan->stoch.phase[2]; /* from means of 1, 4 and 16 losses */
    const double variance = (1 + 1.0 / 4 + 1.0 / 16 + 2 * (1.0 / 4 + 2.0 / 16)) / 9, m = 1000;
    const double want = sqrt(log(2) * variance / (2 * m));
    assert_true(third->error >= want * 0.999 && third->error < want * 1.2);
    assert_true(third->error > sqrt(log(2) * (1 + 1.0 / 4 + 1.0 / 16) / 9 / (2 * m)) * 1.05); /* as if independent */
    caucus_plan_free(plan);
}

static void small_runs(void **state) {
    (void)state;
    for (uint64_t rounds = 1; rounds <= 40; rounds++) {
        caucus_settings s = base(7, rounds % 3 == 0 ? CAUCUS_GROWTH_AUTO : 2 + rounds % 5);
        s.rounds = rounds;
        caucus_plan *plan = plan_made(&s);
        uint64_t end = 1;
        for (uint32_t i = 0; i < plan->stoch.described; i++) {
            const caucus_stoch_phase *phase = &plan->stoch.phase[i];
            assert_int_equal(phase->first, end + 1);
            assert_int_equal(phase->samples, end);
            end += phase->length;
        }
        assert_int_equal(end, rounds);
        caucus_plan_free(plan);
    }
}

/* A plan that spends more in any phase than was planned is refused; so is one without its growth. */
static void altered(void **state) {
    (void)state;
    const caucus_settings s = base(500, 8);
    caucus_plan *plan = plan_made(&s);
    caucus_guarantee g;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_OK);
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        caucus_rational *rate = &plan->stoch.phase[i].select_rate[0];
        const caucus_rational before = *rate;
        rate->num += rate->num / 100;
        assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
        *rate = before;
        plan->stoch.phase[i].samples++;
        assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
        plan->stoch.phase[i].samples--;
    }
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_OK);
    plan->settings.growth = CAUCUS_GROWTH_AUTO;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    caucus_plan_free(plan);
}

static void refused(const caucus_settings *s, const char *field, const char *words) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    assert_int_not_equal(caucus_plan_new(s, &plan, &error), CAUCUS_OK);
    assert_string_equal(error.field, field);
    if (!strstr(error.text, words))
        fail_msg("'%s' does not say '%s'", error.text, words);
}

static void refusals(void **state) {
    (void)state;
    caucus_settings s = base(10, 1);
    refused(&s, "growth", "accepted: 2 to 1048576, or auto");
    s = base(10, (1u << 20) + 1);
    refused(&s, "growth", "accepted: 2 to 1048576, or auto");
    s = base(10, 4);
    s.unit = CAUCUS_UNIT_EVENT;
    refused(&s, "growth", "only with unit client");
    s = base(10, CAUCUS_GROWTH_AUTO);
    s.algorithm = CAUCUS_ALGORITHM_SVT;
    refused(&s, "unit", "accepted: event, client-block; or algorithm stoch");
    s.algorithm = CAUCUS_ALGORITHM_HEDGE;
    refused(&s, "unit", "client with hedge (accepted: event; or algorithm stoch");
    s = base(10, CAUCUS_GROWTH_AUTO);
    s.longest_phase = 64;
    refused(&s, "longest-phase", "all losses so far");
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    refused(&s, "unit", "accepted: event, client-block");
    s = base(10, CAUCUS_GROWTH_AUTO);
    s.past_phases = true;
    refused(&s, "past-phases", "all losses so far");
    s = base(10, CAUCUS_GROWTH_AUTO);
    s.trees = 1;
    refused(&s, "unit", "linear losses without trees");
    s = base(10, CAUCUS_GROWTH_AUTO);
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    refused(&s, "unit", "linear losses without trees");
    s = base(10, CAUCUS_GROWTH_AUTO);
    s = base(10, CAUCUS_GROWTH_AUTO);
    s.calibration = CAUCUS_CALIBRATION_PAPER;
    refused(&s, "unit", "calibration tight");
}

/* At their own pace: which units are offered. */
static void own_pace(void **state) {
    (void)state;
    caucus_settings s = base(500, CAUCUS_GROWTH_AUTO);
    s.pace = CAUCUS_PACE_OWN;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    refused(&s, "rounds", "accepted: a number, of slots of phase-time; or unit client-block or event");
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    caucus_plan_free(plan_made(&s));
    s.unit = CAUCUS_UNIT_CLIENT;
    s.rounds = 64;
    caucus_plan_free(plan_made(&s));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked),       cmocka_unit_test(worked_zcdp), cmocka_unit_test(chosen),
        cmocka_unit_test(by_zcdp),      cmocka_unit_test(messages),    cmocka_unit_test(chosen_is_best),
        cmocka_unit_test(altered),      cmocka_unit_test(refusals),    cmocka_unit_test(own_pace),
        cmocka_unit_test(nested_means), cmocka_unit_test(small_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
