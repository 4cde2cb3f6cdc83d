/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_svt_broken.c: Fed-SVT with one rule broken at a time must be caught.
 *
 * The same exhaustive search as test_exact_svt.c over a second, plainer law that can leave out each rule the proof
 * needs (docs/PRIVACY.md, "Fed-SVT" and "Reports on a network that fails"). With every rule kept it agrees with the
 * first law and stays within its claim; with any one left out it exceeds the claim by a clear margin. So a pass of the
 * exact tests means something. */
#include "algo/exact_svt.h"

typedef struct rules {
    bool keep_q;        /* q is not restarted at a switch */
    bool keep_theta;    /* the noisy threshold is not refreshed at a switch */
    bool verdict_twice; /* the first verdict leaves, a crash forgets it, its noise is drawn again */
    bool count_twice;   /* the first block's report is merged into the second, and both are counted */
    bool redraw_theta;  /* a crash after the first "keep": theta is drawn again, q is kept */
} rules;

/* A client, two experts, grid 2, three checks. eps_AT = 3/2, eta = 1/4 twice: claim 2. */
static void small(exact_svt *svt) {
    memset(svt, 0, sizeof *svt);
    svt->checks = 3;
    svt->switches = 2;
    svt->threshold_noise = svt->check_noise = (caucus_noise){CAUCUS_NOISE_GEOMETRIC, caucus_rational_make(3, 4)};
    for (uint32_t k = 0; k < svt->switches; k++) {
        svt->threshold[k] = 8;
        svt->select_rate[k] = caucus_rational_make(1, 16);
    }
    svt->top = svt->move = 2;
}
#define CLAIM 2.0L

/* ln P of a transcript under the given rules. `leaked`: the forgotten first verdict, if there is one. */
static long double log_probability(const exact_svt *svt, const rules *r, int64_t data[][2], uint32_t first,
                                   const uint32_t *symbol, bool leaked) {
    long double lp = -logl(2);
    int64_t cum[2] = {0, 0}, q[SVT_CHECKS_MAX + 1], cost = 0;
    bool fired[SVT_CHECKS_MAX + 1];
    uint32_t k = 0, x = first, n = 0; /* n: verdicts against the threshold noise in force */
    for (uint32_t i = 0; i < svt->checks; i++) {
        for (uint32_t y = 0; y < 2; y++) {
            int64_t sum = data[i][y] + (r->count_twice && i == 1 ? data[0][y] : 0);
            cum[y] += sum;
            cost += y == x ? sum : 0;
        }
        if (k == svt->switches) {
            continue;
        }
        if (r->verdict_twice && i == 0) {
            q[n] = cost;
            fired[n++] = leaked;
        }
        q[n] = cost;
        fired[n++] = symbol[i] != SVT_KEEP;
        bool fresh = r->redraw_theta && i == 0 && symbol[i] == SVT_KEEP;
        uint32_t level = r->keep_theta ? 0 : k;
        if (symbol[i] != SVT_KEEP) {
            lp += svt_log_select(svt, k++, cum, symbol[i]);
            x = symbol[i];
            cost = r->keep_q ? cost : 0;
            fresh = !r->keep_theta;
        }
        if (fresh) {
            lp += logl(exact_checks(&svt->threshold_noise, &svt->check_noise, svt->threshold[level], q, fired, n));
            n = 0;
        }
    }
    if (n == 0) {
        return lp;
    }
    int64_t threshold = svt->threshold[r->keep_theta ? 0 : k];
    return lp + logl(exact_checks(&svt->threshold_noise, &svt->check_noise, threshold, q, fired, n));
}

/* All laws under the given rules, in the place of exact_svt_build. */
static void build(exact_svt *svt, const rules *r) {
    uint32_t plain = 2 * svt_power(3, svt->checks);
    svt->transcripts = plain * (r->verdict_twice ? 2 : 1);
    svt->sequences = svt_power((uint32_t)svt->top + 1, 2 * svt->checks);
    svt->law = malloc(sizeof *svt->law * svt->sequences * svt->transcripts);
    assert_non_null(svt->law);
    for (uint32_t s = 0; s < svt->sequences; s++) {
        int64_t data[SVT_CHECKS_MAX][2];
        long double total = 0;
        svt_sums(svt, s, data);
        for (uint32_t t = 0; t < svt->transcripts; t++) {
            uint32_t first, symbol[SVT_CHECKS_MAX];
            long double lp = -(long double)INFINITY;
            if (svt_transcript(svt, t % plain, &first, symbol)) {
                lp = log_probability(svt, r, data, first, symbol, t >= plain);
            }
            svt->law[(size_t)s * svt->transcripts + t] = lp;
            total += expl(lp);
        }
        assert_true(fabsl(total - 1) < 1e-14L); /* broken, but still a law */
    }
}

static long double epsilon_under(const rules *r) {
    exact_svt svt;
    small(&svt);
    build(&svt, r);
    long double measured = exact_svt_epsilon(&svt);
    exact_svt_free(&svt);
    return measured;
}

static void test_all_rules_kept(void **state) {
    (void)state;
    const rules none = {0};
    exact_svt a, b;
    small(&a);
    small(&b);
    build(&a, &none);
    exact_svt_build(&b);
    assert_int_equal(a.sequences, b.sequences);
    assert_int_equal(a.transcripts, b.transcripts);
    for (size_t i = 0; i < (size_t)a.sequences * a.transcripts; i++) {
        assert_true((isinf(a.law[i]) && isinf(b.law[i])) || fabsl(a.law[i] - b.law[i]) < 1e-12L);
    }
    exact_assert("all rules kept", exact_svt_epsilon(&a), CLAIM, 0.8L);
    exact_svt_free(&a);
    exact_svt_free(&b);
}

static void test_q_not_restarted(void **state) {
    (void)state;
    const rules r = {.keep_q = true};
    exact_assert_broken("q not restarted at a switch", epsilon_under(&r), CLAIM, 1.5L);
}

static void test_threshold_not_refreshed(void **state) {
    (void)state;
    const rules r = {.keep_q = true, .keep_theta = true};
    exact_assert_broken("threshold noise not refreshed, q not restarted", epsilon_under(&r), CLAIM, 1.5L);
}

static void test_verdict_drawn_twice(void **state) {
    (void)state;
    const rules r = {.verdict_twice = true};
    exact_assert_broken("query noise drawn again after a crash", epsilon_under(&r), CLAIM, 1.25L);
}

static void test_threshold_drawn_again(void **state) {
    (void)state;
    const rules r = {.redraw_theta = true};
    exact_svt svt;
    small(&svt);
    svt.threshold[0] = svt.threshold[1] = 0; /* near q, so that "keep" says much about theta */
    build(&svt, &r);
    exact_assert_broken("threshold noise drawn again while q goes on", exact_svt_epsilon(&svt), CLAIM, 1.1L);
    exact_svt_free(&svt);
}

static void test_report_counted_twice(void **state) {
    (void)state;
    const rules r = {.count_twice = true};
    exact_assert_broken("a report merged into the next and counted twice", epsilon_under(&r), CLAIM, 1.5L);
}

static void test_no_query_noise(void **state) {
    (void)state;
    const rules r = {0};
    exact_svt svt;
    small(&svt);
    svt.threshold[0] = svt.threshold[1] = 2;
    svt.check_noise = (caucus_noise){CAUCUS_NOISE_NONE, {0, 1}};
    build(&svt, &r);
    exact_assert_broken("no query noise", exact_svt_epsilon(&svt), CLAIM, 1000);
    exact_svt_free(&svt);
}

/* Losses in [0, 5] that nobody rescaled or clipped to the grid's two steps. */
static void test_range_not_scaled(void **state) {
    (void)state;
    exact_svt svt;
    small(&svt);
    svt.checks = 2;
    svt.top = svt.move = 10;
    svt.threshold[0] = svt.threshold[1] = 24;
    exact_svt_build(&svt);
    exact_assert_broken("loss range 5, not rescaled", exact_svt_epsilon(&svt), CLAIM, 4);
    exact_svt_free(&svt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_rules_kept),          cmocka_unit_test(test_q_not_restarted),
        cmocka_unit_test(test_threshold_not_refreshed), cmocka_unit_test(test_verdict_drawn_twice),
        cmocka_unit_test(test_threshold_drawn_again),   cmocka_unit_test(test_report_counted_twice),
        cmocka_unit_test(test_no_query_noise),          cmocka_unit_test(test_range_not_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
