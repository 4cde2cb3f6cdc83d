/* SPDX-License-Identifier: Apache-2.0 */
/* test_audit.c: the audit audited: exact binomial bounds, power and false alarms on mechanisms whose epsilon is known,
 * the same result for any number of threads.
 *
 * Known mechanism: randomised response, P(truth) = e^epsilon/(1+e^epsilon), whose epsilon is reached by both of its
 * events. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <caucus/samplers.h>

#include "audit/audit.h"
#include "audit/audit_bound.h"

static void assert_near(double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

/* Against closed forms: I_x(1, b) = 1 - (1-x)^b, I_x(a, 1) = x^a, I_(1/2)(a, a) = 1/2, and a binomial sum. */
static void test_beta(void **state) {
    (void)state;
    for (double x = 0.05; x < 1; x += 0.1) {
        assert_near(caucus_beta_cdf(x, 1, 7), 1 - pow(1 - x, 7), 1e-12);
        assert_near(caucus_beta_cdf(x, 5, 1), pow(x, 5), 1e-12);
        /* I_x(3, 4) = P(Binomial(6, x) >= 3) */
        double sum = 0, choose[7] = {1, 6, 15, 20, 15, 6, 1};
        for (int k = 3; k <= 6; k++)
            sum += choose[k] * pow(x, k) * pow(1 - x, 6 - k);
        assert_near(caucus_beta_cdf(x, 3, 4), sum, 1e-12);
    }
    assert_near(caucus_beta_cdf(0.5, 1e6, 1e6), 0.5, 1e-6);
    assert_true(caucus_beta_cdf(0, 2, 3) == 0);
    assert_true(caucus_beta_cdf(1, 2, 3) == 1);
}

/* Textbook values of the two-sided 95 % interval (alpha = 0.025 on each side), and the ends that have a closed form. */
static void test_clopper_pearson(void **state) {
    (void)state;
    static const struct {
        uint64_t k, n;
        double low, high;
    } known[] = {{5, 10, 0.18708603, 0.81291397},
                 {1, 10, 0.00252858, 0.44501612},
                 {9, 10, 0.55498388, 0.99747142},
                 {10, 100, 0.04900469, 0.17622260},
                 {50, 100, 0.39832113, 0.60167887}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_near(caucus_binomial_low(known[i].k, known[i].n, 0.025), known[i].low, 1e-5);
        assert_near(caucus_binomial_high(known[i].k, known[i].n, 0.025), known[i].high, 1e-5);
    }
    assert_true(caucus_binomial_low(0, 10, 0.025) == 0);
    assert_true(caucus_binomial_high(10, 10, 0.025) == 1);
    /* nothing seen: (1-p)^n = alpha; everything: p^n = alpha */
    assert_near(caucus_binomial_high(0, 1000000, 5e-7), -expm1(log(5e-7) / 1e6), 1e-7);
    assert_near(caucus_binomial_low(1000000, 1000000, 5e-7), exp(log(5e-7) / 1e6), 1e-7);
    /* large n: the defining equation itself, P(Binomial(n, low) >= k) = alpha */
    assert_near(caucus_beta_cdf(caucus_binomial_low(27500, 10000000, 5e-7), 27500, 10000000 - 27500 + 1), 5e-7, 1e-3);
}

static void test_epsilon_low(void **state) {
    (void)state;
    assert_true(caucus_epsilon_low(10, 10, 1000, 0, 0.95) == 0);
    assert_true(caucus_epsilon_low(0, 0, 1000, 0, 0.95) == 0);
    double plain = caucus_epsilon_low(5000, 500, 10000, 0, 0.999);
    assert_true(plain > 2 && plain < log(10));
    assert_near(plain, log(caucus_binomial_low(5000, 10000, 5e-4) / caucus_binomial_high(500, 10000, 5e-4)), 1e-9);
    assert_true(caucus_epsilon_low(5000, 500, 10000, 0.1, 0.999) < plain);
    assert_true(caucus_epsilon_low(500, 5, 10000, 0.1, 0.999) == 0); /* delta explains all of it */
}

/* Randomised response of a bit that is the world, or of nothing; statistic 0 or 1, or with jitter a real number. */
typedef struct response {
    double epsilon;
    bool jitter;
} response;

static caucus_status open_response(const caucus_audit *audit, void **ret_self, caucus_error *ret_error) {
    (void)ret_error;
    response *self = malloc(sizeof *self);
    assert_non_null(self);
    *self = *(const response *)audit->setting;
    *ret_self = self;
    return CAUCUS_OK;
}

static caucus_status draw_response(const void *self, unsigned world, const caucus_key *key, uint64_t first,
                                   size_t count, double *ret) {
    const response *r = self;
    const uint64_t den = 1u << 30;
    uint64_t truth = (uint64_t)((double)den / (1 + exp(-r->epsilon)));
    caucus_stream stream;
    caucus_stream_init(&stream, key, CAUCUS_PURPOSE_TEST, 0, (uint32_t)(first / CAUCUS_AUDIT_CHUNK), 0);
    for (size_t i = 0; i < count; i++) {
        ret[i] = caucus_bernoulli(&stream, truth, den) ? world : 1 - world;
        if (r->jitter)
            ret[i] += (double)caucus_uniform(&stream, 1000) / 2000;
    }
    return CAUCUS_OK;
}

static const caucus_audit_family responses = {.open = open_response, .draw = draw_response, .close = free};

static caucus_audit_result audit_response(double epsilon, bool jitter, double claimed, uint64_t trials, uint64_t seed,
                                          double confidence, uint32_t threads) {
    response setting = {epsilon, jitter};
    caucus_audit audit = {.name = "response",
                          .target = "randomised response",
                          .claimed = claimed,
                          .full = trials,
                          .cells = jitter ? 0 : 2,
                          .family = &responses,
                          .setting = &setting};
    caucus_audit_options options = {.seed = seed, .confidence = confidence, .threads = threads};
    caucus_audit_result result;
    caucus_error error;
    assert_int_equal(caucus_audit_run(&audit, &options, &result, &error), CAUCUS_OK);
    return result;
}

static void test_power(void **state) {
    (void)state;
    for (int jitter = 0; jitter < 2; jitter++) {
        for (double epsilon = 0.5; epsilon <= 4; epsilon *= 2) {
            caucus_audit_result r = audit_response(epsilon, jitter, epsilon, 200000, 11, CAUCUS_AUDIT_CONFIDENCE, 2);
            printf("  %s epsilon %.1f: at least %.4f (seed 11)\n", jitter ? "real," : "cells,", epsilon, r.lower_bound);
            assert_true(r.lower_bound <= epsilon && !r.refuted);
            assert_true(r.lower_bound >= 0.9 * epsilon);
            /* the same runs refute a smaller claim */
            assert_true(
                audit_response(epsilon, jitter, 0.85 * epsilon, 200000, 11, CAUCUS_AUDIT_CONFIDENCE, 2).refuted);
        }
    }
}

/* At confidence 0.9 at most one audit in ten may refute a true claim. 400 audits of a mechanism that is exactly as
 * private as it claims: more than 75 refutations have probability below 1e-6 (Binomial(400, 0.1): mean 40, standard
 * deviation 6). And the bound must not be idle either: with exact intervals some are refuted. */
static void test_false_alarms(void **state) {
    (void)state;
    unsigned refuted = 0;
    for (uint64_t seed = 1; seed <= 400; seed++)
        refuted += audit_response(1, seed % 2, 1, 4000, seed, 0.9, 1).refuted;
    printf("  %u of 400 true claims refuted at confidence 0.9 (seeds 1 to 400)\n", refuted);
    assert_true(refuted > 0 && refuted <= 75);
    unsigned nothing = 0;
    for (uint64_t seed = 1; seed <= 100; seed++)
        nothing += audit_response(0, true, 1, 4000, seed, 0.999999, 1).lower_bound > 0;
    assert_int_equal(nothing, 0); /* worlds that do not differ: each has probability at most 1e-6 */
}

static void test_threads(void **state) {
    (void)state;
    for (int jitter = 0; jitter < 2; jitter++) {
        caucus_audit_result one = audit_response(1, jitter, 1, 50001, 5, 0.999, 1);
        assert_int_equal(one.trials, 50000);
        for (uint32_t threads = 2; threads <= 8; threads *= 2) {
            caucus_audit_result many = audit_response(1, jitter, 1, 50001, 5, 0.999, threads);
            assert_true(many.hits == one.hits && many.hits_other == one.hits_other);
            assert_true(many.lower_bound == one.lower_bound);
        }
        assert_true(audit_response(1, jitter, 1, 50001, 6, 0.999, 2).hits != one.hits); /* another seed, other runs */
    }
}

/* Cells: the search takes all cells that speak for one world and no other. */
static void test_cells(void **state) {
    (void)state;
    const uint64_t a[5] = {1000, 100, 5000, 0, 900}, b[5] = {2000, 3000, 500, 0, 1500};
    const uint64_t *const count[2] = {a, b};
    caucus_audit_event event;
    assert_int_equal(caucus_audit_search_cells(count, 5, 7000, 0, 0.999, &event), CAUCUS_OK);
    assert_int_equal(event.likelier, 1);
    assert_true(caucus_audit_happened(&event, 1));
    for (unsigned c = 0; c < 5; c++)
        assert_int_equal(caucus_audit_happened(&event, c), c == 1);
    caucus_audit_event_free(&event);
    /* with a delta of a third the rare cell alone says nothing; two or three together do */
    assert_int_equal(caucus_audit_search_cells(count, 5, 7000, 0.45, 0.999, &event), CAUCUS_OK);
    unsigned taken = 0;
    for (unsigned c = 0; c < 5; c++)
        taken += caucus_audit_happened(&event, c);
    assert_true(taken >= 1 && !(taken == 1 && caucus_audit_happened(&event, 1)));
    caucus_audit_event_free(&event);
}

/* Reals: ties are all in or all out, and both directions are tried. */
static void test_reals(void **state) {
    (void)state;
    enum { N = 3000 };
    static double low[N], high[N];
    for (int i = 0; i < N; i++) {
        low[i] = i % 3;        /* 0, 1, 2 */
        high[i] = 1 + (i % 2); /* 1, 2: never 0 */
    }
    double *value[2] = {low, high};
    caucus_audit_event event;
    assert_int_equal(caucus_audit_search_reals(value, N, 0, 0.999, &event), CAUCUS_OK);
    assert_int_equal(event.likelier, 0);
    assert_true(event.below && caucus_audit_happened(&event, 0) && !caucus_audit_happened(&event, 1));
}

/* Names are different words, every audit has a twin that is broken, every twin an audit, and a twin stands where the
 * claim is the same (the paper's may be about another mechanism). */
static void test_table(void **state) {
    (void)state;
    size_t sound = 0, broken = 0;
    for (size_t i = 0; caucus_audit_at(i) != NULL; i++) {
        const caucus_audit *a = caucus_audit_at(i);
        unsigned others = 0;
        assert_true(a->claimed > 0 && a->full >= a->quick && a->full > 0);
        assert_int_equal(strcspn(a->name, " ,"), strlen(a->name));
        assert_true((a->twin_of != NULL) == (a->fault.kind != CAUCUS_AUDIT_NO_FAULT) &&
                    (a->twin_of != NULL) == (a->wrong != NULL));
        for (size_t j = 0; caucus_audit_at(j) != NULL; j++) {
            const caucus_audit *b = caucus_audit_at(j);
            if (i != j)
                assert_string_not_equal(a->name, b->name);
            if (a->twin_of != NULL && strcmp(a->twin_of, b->name) == 0) {
                assert_null(b->twin_of);
                assert_true(a->claimed == b->claimed && a->delta == b->delta);
                others++;
            } else if (a->twin_of == NULL && b->twin_of != NULL && strcmp(b->twin_of, a->name) == 0) {
                others++;
            }
        }
        if (others == 0)
            fail_msg("%s: %s", a->name, a->twin_of != NULL ? "a twin of nothing" : "has no broken twin");
        broken += a->twin_of != NULL;
        sound += a->twin_of == NULL;
    }
    assert_true(sound >= 40 && broken >= sound);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beta),  cmocka_unit_test(test_clopper_pearson), cmocka_unit_test(test_epsilon_low),
        cmocka_unit_test(test_power), cmocka_unit_test(test_false_alarms),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_cells), cmocka_unit_test(test_reals),           cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
