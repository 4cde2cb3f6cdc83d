/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_renyi.c: plans with a delta, exactly (docs/PRIVACY.md, "Approximate privacy").
 *
 * Such plans are accounted by Renyi divergence: an exponential mechanism of range eta costs eta^2/8 (bounded range), an
 * epoch of above-threshold costs what eps_AT-DP costs. Here the divergence D_a of the exact transcript law is computed
 * at several orders for all neighbours and held against a*rho (plus the epoch's part), and the exact delta at epsilon,
 * sum of max(0, P - e^epsilon P'), against the plan's delta. Control: permute-and-flip accounted as if it had bounded
 * range, which it has not. */
#include "algo/exact_stoch.h"

#include "algo/exact_svt.h"
#include "plan/plan.h"
#include <inttypes.h>

static const long double orders[] = {1.05L, 1.5L, 2, 4, 8, 32};
#define ORDERS (sizeof orders / sizeof *orders)

/* D_a(P || P') of two laws given as ln P. The exponentials in double: 1e-15 is far below the slack, and fast. */
static long double renyi(const long double *a, const long double *b, uint32_t n, long double order) {
    long double sum = 0;
    for (uint32_t t = 0; t < n; t++) {
        if (!isinf(a[t])) {
            sum += (long double)exp((double)(order * a[t] + (1 - order) * b[t]));
        }
    }
    return logl(sum) / (order - 1);
}

/* The exact delta at epsilon, both ways round. */
static long double delta_at(const long double *a, const long double *b, uint32_t n, long double epsilon) {
    long double there = 0, back = 0;
    for (uint32_t t = 0; t < n; t++) {
        if (a[t] > epsilon + b[t]) {
            there += expl(a[t]) - expl(epsilon + b[t]);
        } else if (b[t] > epsilon + a[t]) {
            back += expl(b[t]) - expl(epsilon + a[t]);
        }
    }
    return fmaxl(there, back);
}

typedef struct worst {
    uint32_t n; /* transcripts */
    long double epsilon;
    long double divergence[ORDERS], delta;
} worst;

static void raise_worst(worst *w, const long double *a, const long double *b) {
    for (size_t i = 0; i < ORDERS; i++) {
        exact_raise(&w->divergence[i], renyi(a, b, w->n, orders[i]));
        exact_raise(&w->divergence[i], renyi(b, a, w->n, orders[i]));
    }
    exact_raise(&w->delta, delta_at(a, b, w->n, w->epsilon));
}

static void svt_visit_worst(const exact_svt *svt, const long double *a, const long double *b, void *context) {
    (void)svt;
    raise_worst(context, a, b);
}

static void stoch_visit_worst(const exact_stoch *world, const long double *a, const long double *b, void *context) {
    (void)world;
    raise_worst(context, a, b);
}

/* What an e-DP mechanism can cost at order a: that of randomised response. */
static long double pure_part(long double e, long double order) {
    return e <= 0 ? 0 : fminl(e, logl((sinhl(order * e) - sinhl((order - 1) * e)) / sinhl(e)) / (order - 1));
}

/* Divergence never above pure_part(e) + a*rho, and at some order at least `power` of it. */
static void assert_divergence(const char *what, const worst *w, long double e, long double rho, long double power) {
    long double best = 0;
    for (size_t i = 0; i < ORDERS; i++) {
        long double claim = pure_part(e, orders[i]) + orders[i] * rho;
        if (!(w->divergence[i] <= claim + EXACT_SLACK)) {
            fail_msg("%s: D_%.2Lf = %.9Lf exceeds %.9Lf", what, orders[i], w->divergence[i], claim);
        }
        exact_raise(&best, w->divergence[i] / claim);
    }
    printf("  %-58s up to %.4Lf of the claimed divergence\n", what, best);
    assert_true(best >= power);
}

/* eta^2/8 for one exponential mechanism: all scores of a box, all moves, d = 2..4. */
static long double single_draw(caucus_select select, uint32_t d, int64_t move, caucus_rational rate, worst *ret) {
    const uint32_t box = 5;
    uint32_t count = svt_power(box, d);
    *ret = (worst){.n = d, .epsilon = 0};
    for (uint32_t s = 0; s < count; s++) {
        for (uint32_t t = 0; t < s; t++) {
            int64_t a[4], b[4];
            long double p[4], q[4];
            bool near = true;
            for (uint32_t n = 0, u = s, v = t; n < d; n++, u /= box, v /= box) {
                a[n] = u % box;
                b[n] = v % box;
                near = near && llabs((long long)(a[n] - b[n])) <= move;
            }
            if (!near || a[0] > 0) { /* scores may be shifted together: one representative */
                continue;
            }
            exact_select_law(select, a, d, rate, p);
            exact_select_law(select, b, d, rate, q);
            for (uint32_t n = 0; n < d; n++) {
                p[n] = logl(p[n]);
                q[n] = logl(q[n]);
            }
            raise_worst(ret, p, q);
        }
    }
    return 2 * exact_rate(rate) * (long double)move;
}

static void test_one_selection(void **state) {
    (void)state;
    for (uint32_t d = 2; d <= 4; d++) {
        for (uint64_t den = 1; den <= 8; den *= 4) {
            worst w;
            char what[64];
            long double eta = single_draw(CAUCUS_SELECT_EXPONENTIAL, d, 1, caucus_rational_make(1, den), &w);
            snprintf(what, sizeof what, "exponential, d=%u, range %.2Lf", d, eta);
            assert_divergence(what, &w, 0, eta * eta / 8, 0.3L);
            eta = single_draw(CAUCUS_SELECT_FLIP, d, 1, caucus_rational_make(1, den), &w);
            snprintf(what, sizeof what, "flip, d=%u, epsilon %.2Lf", d, eta);
            assert_divergence(what, &w, eta, 0, 0.3L);
        }
    }
}

static void test_control_flip_is_not_bounded_range(void **state) {
    (void)state;
    worst w;
    long double eta = single_draw(CAUCUS_SELECT_FLIP, 2, 1, caucus_rational_make(1, 2), &w), most = 0;
    for (size_t i = 0; i < ORDERS; i++) {
        exact_raise(&most, w.divergence[i] / orders[i]);
    }
    exact_assert_broken("flip accounted like exponential (rho)", most, eta * eta / 8, 1.5L);
}

/* Fed-SVT: parameters by hand, and plans with a delta. */
static void check_svt(const char *what, exact_svt *svt, long double epsilon, long double delta, long double rho) {
    exact_svt_build(svt);
    worst w = {.n = svt->transcripts, .epsilon = epsilon};
    assert_true(exact_svt_pairs(svt, svt_visit_worst, &w) > 0);
    long double at = fmaxl(exact_rate(svt->threshold_noise.parameter), exact_rate(svt->check_noise.parameter)) *
                     (long double)svt->move,
                sum = 0;
    for (uint32_t k = 0; k < svt->switches; k++) {
        sum += 2 * exact_rate(svt->select_rate[k]) * (long double)svt->move;
    }
    if (rho > 0) {
        assert_divergence(what, &w, at, rho, 0.15L); /* few checks: not all selections can happen */
    } else {                                         /* accounted purely: the pure claim at every order */
        assert_divergence(what, &w, at + sum, 0, 0.3L);
    }
    printf("    delta %.3Le of %.3Le at epsilon %.3Lf\n", w.delta, delta, epsilon);
    assert_true(w.delta <= delta + 1e-15L);
    exact_svt_free(svt);
}

static void test_svt(void **state) {
    (void)state;
    exact_svt svt = {.checks = 3, .switches = 2, .top = 2, .move = 2, .threshold = {3, 3}};
    svt.threshold_noise = svt.check_noise = (caucus_noise){CAUCUS_NOISE_GEOMETRIC, caucus_rational_make(1, 4)};
    svt.select_rate[0] = caucus_rational_make(1, 4); /* eta = 1, 1/2 */
    svt.select_rate[1] = caucus_rational_make(1, 8);
    check_svt("svt by hand", &svt, 2, 0, (1 + 0.25L) / 8);
    static const struct {
        uint32_t rounds;
        double epsilon, delta;
        bool front_load;
    } asked[] = {{4, 1, 0.05, false}, {4, 3, 0.01, false}, {5, 0.5, 0.05, true}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        caucus_settings s;
        exact_settings(&s, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, asked[i].epsilon);
        s.rounds = asked[i].rounds;
        s.delta = asked[i].delta;
        s.front_load = asked[i].front_load;
        caucus_plan *plan = exact_plan(&s);
        exact_svt_from_plan(&svt, plan);
        char what[64];
        snprintf(what, sizeof what, "svt, T=%" PRIu64 ", epsilon %.1f, delta %.2f, rho %.4f", s.rounds, s.epsilon,
                 s.delta, plan->guarantee.rho_zcdp);
        assert_true(plan->guarantee.epsilon_choices <= s.epsilon && plan->guarantee.delta <= s.delta);
        check_svt(what, &svt, (long double)plan->guarantee.epsilon_choices, (long double)plan->guarantee.delta,
                  (long double)plan->guarantee.rho_zcdp);
        caucus_plan_free(plan);
    }
}

static void test_stoch(void **state) {
    (void)state;
    for (int trees = 1; trees <= 2; trees++) {
        caucus_settings s;
        exact_settings(&s, CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 0.5);
        s.delta = 0.05;
        s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
        s.smoothness = 0.1;
        s.trees = trees;
        s.rounds = trees == 2 ? 32 : 8;
        s.clients = 2;
        caucus_plan *plan = exact_plan(&s);
        exact_stoch world;
        exact_stoch_build(&world, plan, exact_stoch_phase(plan, (uint32_t)trees));
        worst w = {.n = world.transcripts, .epsilon = (long double)plan->guarantee.epsilon_choices};
        assert_true(exact_stoch_pairs(&world, stoch_visit_worst, &w) > 0);
        char what[80];
        snprintf(what, sizeof what, "stoch, %d trees, %s, delta %.2g, rho %.4f", trees,
                 caucus_select_word(plan->stoch.select), plan->guarantee.delta, plan->guarantee.rho_zcdp);
        assert_true(plan->guarantee.epsilon_choices <= s.epsilon && plan->guarantee.delta <= s.delta);
        if (plan->guarantee.rho_zcdp > 0) {
            assert_int_equal(plan->stoch.select, CAUCUS_SELECT_EXPONENTIAL);
            assert_divergence(what, &w, 0, (long double)plan->guarantee.rho_zcdp, 0.3L);
        } else {
            assert_divergence(what, &w, (long double)plan->guarantee.epsilon_choices, 0, 0.3L);
        }
        printf("    delta %.3Le of %.3e at epsilon %.3f\n", w.delta, plan->guarantee.delta,
               plan->guarantee.epsilon_choices);
        assert_true(w.delta <= (long double)plan->guarantee.delta + 1e-15L);
        exact_stoch_free(&world);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_selection),
        cmocka_unit_test(test_control_flip_is_not_bounded_range),
        cmocka_unit_test(test_svt),
        cmocka_unit_test(test_stoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
