/* SPDX-License-Identifier: Apache-2.0 */
/* The accountant: random settings never exceed what was asked, rates grow with epsilon, and a plan with any one
 * rate raised (or variance lowered) by one per cent is refused. docs/PRIVACY.md, statements 2 and 11. */
#include "plan/plan.h"
#include "plan/plan_testing.h"

#include <inttypes.h>
#include <stdio.h>

#define SEED UINT64_C(20240611)
#define TRIALS 2000

static uint64_t rng_state;

static uint64_t next_random(void) /* splitmix64: only to vary settings */
{
    uint64_t z = (rng_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(void) {
    return (double)(next_random() >> 11) * 0x1p-53;
}

/* Log-uniform integer in 1..2^bits. */
static uint32_t spread(double bits) {
    return (uint32_t)exp2(uniform() * bits);
}

static caucus_settings random_settings(void) {
    static const caucus_algorithm algorithms[] = {CAUCUS_ALGORITHM_SVT, CAUCUS_ALGORITHM_STOCH, CAUCUS_ALGORITHM_STOCH,
                                                  CAUCUS_ALGORITHM_STOCH, CAUCUS_ALGORITHM_HEDGE};
    caucus_settings s = plan_settings(algorithms[next_random() % 5], CAUCUS_TRUST_COORDINATOR);
    s.clients = spread(20);
    s.experts = 2 + spread(12);
    s.rounds = spread(20);
    s.epsilon = exp(uniform() * 12 - 6);
    s.delta = next_random() % 2 ? exp(-3 - uniform() * 25) : 0;
    s.rho = 0.001 + 0.4 * uniform();
    s.hi = s.lo + exp(uniform() * 4 - 2);
    if (next_random() % 4 == 0)
        s.grid = 1 + spread(19);
    if (s.algorithm == CAUCUS_ALGORITHM_STOCH) {
        s.trust = next_random() % 2 ? CAUCUS_TRUST_COORDINATOR : CAUCUS_TRUST_NOBODY;
        if (s.trust == CAUCUS_TRUST_NOBODY) {
            s.message = (caucus_message)(next_random() % CAUCUS_MESSAGE_COUNT);
        } else {
            s.select = (caucus_select)(next_random() % CAUCUS_SELECT_COUNT);
            s.past_phases = next_random() % 3 == 0;
        }
        if (!s.past_phases && next_random() % 2) {
            s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
            s.smoothness = uniform() * 2;
            s.lipschitz = 0.1 + uniform();
            s.trees = (int)(next_random() % 5) - 1;
        }
    } else {
        s.interval = spread(6);
        if (s.algorithm == CAUCUS_ALGORITHM_SVT) {
            s.front_load = next_random() % 4 == 0;
            s.lstar = next_random() % 2 ? uniform() * (double)s.rounds * (s.hi - s.lo) * 0.1 : 0;
            s.unit = next_random() % 2 ? CAUCUS_UNIT_CLIENT_BLOCK : CAUCUS_UNIT_EVENT;
        }
    }
    return s;
}

/* Every parameter of a plan that noise is drawn with. */
static size_t parameters(caucus_plan *plan, caucus_rational **ret, bool *ret_variance, size_t most) {
    size_t n = 0;
    caucus_rational *all[512];
    if (plan->svt.switches > 0) {
        all[n++] = &plan->svt.threshold_noise.parameter;
        all[n++] = &plan->svt.check_noise.parameter;
        for (uint32_t k = 0; k < plan->svt.switches && n < 500; k++)
            all[n++] = &plan->svt.select_rate[k];
    }
    for (uint32_t i = 0; i + 1 < plan->stoch.phases; i++) {
        caucus_stoch_phase *phase = &plan->stoch.phase[i];
        all[n++] = &phase->vote_rate;
        all[n++] = &phase->shortlist_noise.parameter;
        for (uint32_t j = 0; j <= phase->trees && n < 500; j++) {
            all[n++] = &phase->select_rate[j];
            all[n++] = &phase->vertex_noise[j].parameter;
        }
    }
    if (plan->hedge.blocks > 1)
        all[n++] = &plan->hedge.rate;
    size_t kept = 0;
    for (size_t i = 0; i < n && kept < most; i++) {
        if (all[i]->num == 0)
            continue;
        ret_variance[kept] = plan->stoch.message == CAUCUS_MESSAGE_GAUSS && plan->stoch.phases > 1;
        ret[kept++] = all[i];
    }
    return kept;
}

/* Raise a rate by one per cent; the sampler's limits stay respected. False if its integers are too coarse for that. */
static bool tampered(caucus_rational *r, bool variance) {
    if (r->num < 200 && r->den < 200)
        return false;
    if (r->num >= 200 && r->num < UINT64_MAX / 2)
        r->num += (variance ? (uint64_t)-1 : 1) * (r->num / 100 + 1);
    else if (!variance && r->den >= 200)
        r->den -= r->den / 100 + 1;
    else
        return false;
    return true;
}

static void random_plans(void **state) {
    (void)state;
    rng_state = SEED;
    print_message("seed %" PRIu64 "\n", SEED);
    size_t made = 0, refused = 0, by_zcdp = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        caucus_settings s = random_settings();
        caucus_plan *plan = NULL;
        caucus_error error;
        caucus_status status = caucus_plan_new(&s, &plan, &error);
        if (status != CAUCUS_OK) {
            refused++;
            assert_null(plan);
            assert_true(status == CAUCUS_E_INFEASIBLE || status == CAUCUS_E_OVERFLOW || status == CAUCUS_E_RANGE);
            assert_true(strlen(error.field) > 0);
            /* Calibrators stay within what was asked: the accountant never has to step in. */
            assert_null(strstr(error.text, "the plan's integers give"));
            continue;
        }
        made++;
        const caucus_guarantee *g = &plan->guarantee;
        assert_true(g->epsilon_choices <= s.epsilon && g->delta <= s.delta);
        assert_true(isnan(g->epsilon_messages) == (s.trust == CAUCUS_TRUST_COORDINATOR));
        assert_true(isnan(g->epsilon_messages) || g->epsilon_messages <= s.epsilon);
        assert_true(strlen(g->note) > 20 && strlen(g->note) < sizeof g->note - 1);
        assert_true(plan->bound_kind == CAUCUS_BOUND_NONE || (plan->bound > 0 && plan->bound <= plan->bound_uncapped));
        by_zcdp += g->delta > 0;
        caucus_guarantee again;
        assert_int_equal(caucus_plan_account(plan, &again, &error), CAUCUS_OK);
        assert_true(again.epsilon_choices == g->epsilon_choices);
        caucus_plan_free(plan);
    }
    print_message("%zu plans, %zu refused, %zu accounted by zCDP\n", made, refused, by_zcdp);
    assert_true(made > TRIALS / 2 && by_zcdp > 100);
}

/* Twice the epsilon: every rate at least as large. (A little more epsilon may move budget between threshold and
 * selections.) */
static void monotone(void **state) {
    (void)state;
    rng_state = SEED + 1;
    size_t compared = 0;
    for (int trial = 0; trial < 300; trial++) {
        caucus_settings s = random_settings();
        s.grid = 1 << 16;
        if (s.algorithm == CAUCUS_ALGORITHM_STOCH && s.select == CAUCUS_SELECT_AUTO)
            s.select = s.trust == CAUCUS_TRUST_COORDINATOR ? CAUCUS_SELECT_EXPONENTIAL : CAUCUS_SELECT_AUTO;
        if (s.message == CAUCUS_MESSAGE_AUTO && s.trust == CAUCUS_TRUST_NOBODY)
            s.message = CAUCUS_MESSAGE_KNORM; /* otherwise the kind of message may change with epsilon */
        s.past_phases = false;
        if (s.trees == CAUCUS_TREES_AUTO)
            s.trees = s.algorithm == CAUCUS_ALGORITHM_STOCH ? 0 : CAUCUS_TREES_AUTO;
        caucus_plan *small = NULL, *large = NULL;
        caucus_error error;
        if (caucus_plan_new(&s, &small, &error) != CAUCUS_OK)
            continue;
        s.epsilon *= 2;
        if (caucus_plan_new(&s, &large, &error) == CAUCUS_OK) {
            caucus_rational *a[512], *b[512];
            bool va[512], vb[512];
            const size_t na = parameters(small, a, va, 512), nb = parameters(large, b, vb, 512);
            const size_t most = s.algorithm == CAUCUS_ALGORITHM_SVT && nb < na ? nb : na; /* fewer switches are fine */
            assert_true(s.algorithm == CAUCUS_ALGORITHM_SVT || na == nb);
            for (size_t i = 0; i < most && !(s.front_load && i >= 2); i++, compared++)
                assert_true(caucus_rational_compare(*a[i], *b[i]) * (va[i] ? -1 : 1) <= 0);
        }
        caucus_plan_free(small);
        caucus_plan_free(large);
    }
    assert_true(compared > 500);
}

static void tampering(void **state) {
    (void)state;
    rng_state = SEED + 2;
    size_t caught = 0;
    for (int trial = 0; trial < 250; trial++) {
        caucus_settings s = random_settings();
        caucus_plan *plan = NULL;
        caucus_error error;
        if (caucus_plan_new(&s, &plan, &error) != CAUCUS_OK)
            continue;
        caucus_rational *p[512];
        bool variance[512];
        const size_t n = parameters(plan, p, variance, 512);
        /* Only plans that use their budget up: hedge may need less, weights end with the last phase, coarse grids
         * round. */
        const bool tight = plan->guarantee.epsilon_choices > s.epsilon * (1 - 1e-5) && plan->stoch.past <= 1;
        for (size_t i = 0; i < n && tight; i++) {
            const caucus_rational before = *p[i];
            if (tampered(p[i], variance[i])) {
                caucus_guarantee g;
                if (caucus_plan_account(plan, &g, &error) != CAUCUS_E_INFEASIBLE)
                    fail_msg("trial %d: parameter %zu of %zu raised by 1 %% and still accepted (%.9g of %.9g)", trial,
                             i, n, g.epsilon_choices, s.epsilon);
                caught++;
            }
            *p[i] = before;
        }
        caucus_plan_free(plan);
    }
    print_message("%zu altered parameters refused\n", caught);
    assert_true(caught > 500);
}

/* Other alterations: things that would void a sensitivity. */
static void structure(void **state) {
    (void)state;
    caucus_guarantee g;
    caucus_settings s = plan_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    caucus_plan *plan = plan_made(&s);
    plan->svt.check_noise.kind = CAUCUS_NOISE_NONE;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    plan->svt.check_noise.kind = CAUCUS_NOISE_GEOMETRIC;
    plan->grid *= 2;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    plan->grid /= 2;
    plan->settings.epsilon /= 2;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    caucus_plan_free(plan);
    s = plan_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = 1;
    s.trees = 2;
    plan = plan_made(&s);
    caucus_stoch_phase *last = &plan->stoch.phase[plan->stoch.phases - 2];
    last->batch *= 2; /* more samples than there are: some would be used twice */
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    last->batch /= 2;
    last->clamp[1] = plan->grid * 4;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    last->clamp[1] = 0;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_OK); /* a tighter clamp is fine */
    plan->stoch.gradient_lo = 0;
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    caucus_plan_free(plan);
    s = plan_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY);
    s.message = CAUCUS_MESSAGE_KNORM;
    plan = plan_made(&s);
    plan->stoch.phase[0].vertex_noise[0].kind = CAUCUS_NOISE_LAPLACE; /* private per coordinate only */
    assert_int_equal(caucus_plan_account(plan, &g, NULL), CAUCUS_E_INFEASIBLE);
    caucus_plan_free(plan);
}

/* docs/PRIVACY.md, statement 11. */
static void a_whole_device(void **state) {
    (void)state;
    const struct {
        caucus_algorithm algorithm;
        caucus_unit unit;
        uint64_t rounds, interval;
        double times; /* epsilon */
    } cases[] = {
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_UNIT_EVENT, 1023, 1, 511},       /* 1 + 2 + .. + 256: all but the last phase */
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_UNIT_EVENT, 1024, 1, 1023},      /* the last phase is one round */
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_UNIT_CLIENT_BLOCK, 1024, 1, 10}, /* P - 1 */
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_UNIT_CLIENT, 1024, 1, 1},
        {CAUCUS_ALGORITHM_HEDGE, CAUCUS_UNIT_EVENT, 64, 4, 32}, /* N*B/2 = 4*16/2 */
        {CAUCUS_ALGORITHM_SVT, CAUCUS_UNIT_EVENT, 512, 1, 511},
        {CAUCUS_ALGORITHM_SVT, CAUCUS_UNIT_CLIENT_BLOCK, 512, 16, 31},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        caucus_settings s;
        caucus_plan *plan = NULL;
        caucus_settings_init(&s);
        s.algorithm = cases[i].algorithm;
        s.unit = cases[i].unit;
        s.trust = CAUCUS_TRUST_COORDINATOR;
        s.rounds = cases[i].rounds;
        s.interval = cases[i].interval;
        s.epsilon = 1;
        assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
        const double record = caucus_plan_epsilon_choices(plan);
        assert_true(fabs(caucus_plan_epsilon_device(plan) - cases[i].times * record) < 1e-9 * cases[i].times);
        caucus_plan_free(plan);
    }
}

/* With delta both bounds of a device hold, and the smaller is given: the selections are pure by themselves. */
static void a_whole_device_with_delta(void **state) {
    (void)state;
    caucus_settings s;
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = 50;
    s.experts = 100;
    s.rounds = 512;
    s.epsilon = 1;
    s.delta = 0.05;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    assert_true(caucus_plan_delta(plan) > 0);
    caucus_rational rate;
    assert_int_equal(caucus_plan_select_rate(plan, 0, &rate), CAUCUS_OK);
    const double one = 2 * (double)caucus_plan_grid(plan) * caucus_rational_double(rate);
    assert_true(one > 1.2 && one < 1.3);
    assert_true(fabs(caucus_plan_epsilon_device(plan) - 511 * one) < 1e-6);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_plans),   cmocka_unit_test(monotone),
                                       cmocka_unit_test(tampering),      cmocka_unit_test(structure),
                                       cmocka_unit_test(a_whole_device), cmocka_unit_test(a_whole_device_with_delta)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
