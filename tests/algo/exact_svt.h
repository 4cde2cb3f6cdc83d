/* SPDX-License-Identifier: Apache-2.0 */
/* exact_svt.h: the exact law of everything Fed-SVT announces, for two experts (test_exact_svt*.c, test_exact_renyi.c).
 *
 * The law depends on the losses only through the block sums S_n(0), S_n(1), each in 0..top. A transcript is the first
 * expert and, for every check, "keep" or "fired, expert y chosen": the two-step protocol shows both. It factorises
 * into epochs (above-threshold with one noisy threshold each) and selections, so all of it is closed forms.
 * One replaced loss moves both sums of one block by at most `move`, anything else stays: exact_svt_pairs() visits all
 * such pairs of block-sum sequences. */
#ifndef CAUCUS_TESTS_EXACT_SVT_H
#define CAUCUS_TESTS_EXACT_SVT_H

#include "dp/exact.h"
#include "dp/laws.h"
#include "plan/plan.h"

#define SVT_CHECKS_MAX 4
#define SVT_KEEP 2 /* symbols of a transcript: chosen expert 0 or 1, or keep */

typedef struct exact_svt {
    uint32_t checks, switches;
    caucus_noise threshold_noise, check_noise;
    int64_t threshold[SVT_CHECKS_MAX];
    caucus_rational select_rate[SVT_CHECKS_MAX];
    int64_t score_floor;
    int64_t top;  /* largest sum of one block */
    int64_t move; /* how far one replaced loss can move it */
    /* filled by exact_svt_build */
    uint32_t sequences, transcripts;
    long double *epoch; /* ln P of an epoch, by k, length, path, fired */
    long double *law;   /* [sequences][transcripts]: ln P */
} exact_svt;

static inline uint32_t svt_power(uint32_t base, uint32_t exponent) {
    uint32_t r = 1;
    while (exponent-- > 0) {
        r *= base;
    }
    return r;
}

/* The model of a plan: the integers a run uses, nothing else. Selections beyond the number of checks cannot happen. */
static inline void exact_svt_from_plan(exact_svt *ret, const caucus_plan *plan) {
    const caucus_svt_plan *svt = &plan->svt;
    bool means = plan->settings.unit == CAUCUS_UNIT_CLIENT_BLOCK;
    memset(ret, 0, sizeof *ret);
    assert_int_equal(plan->settings.experts, 2);
    assert_true(svt->checks >= 1 && svt->checks <= SVT_CHECKS_MAX);
    ret->checks = (uint32_t)svt->checks;
    ret->switches = svt->switches < svt->checks ? svt->switches : ret->checks;
    ret->threshold_noise = svt->threshold_noise;
    ret->check_noise = svt->check_noise;
    for (uint32_t k = 0; k < ret->switches; k++) {
        ret->threshold[k] = svt->threshold[k];
        ret->select_rate[k] = svt->select_rate[k];
    }
    ret->score_floor = svt->score_floor;
    ret->top = (int64_t)plan->settings.clients * (means ? 1 : (int64_t)plan->settings.interval) * plan->grid;
    ret->move = plan->grid;
}

/* Symbols of transcript number t: the first expert, then one symbol per check. False if it holds more than kappa
 * switches. */
static inline bool svt_transcript(const exact_svt *svt, uint32_t t, uint32_t *first, uint32_t *symbol) {
    uint32_t fired = 0;
    *first = t % 2;
    t /= 2;
    for (uint32_t n = 0; n < svt->checks; n++) {
        symbol[n] = t % 3;
        t /= 3;
        fired += symbol[n] != SVT_KEEP;
    }
    return fired <= svt->switches;
}

static inline uint32_t svt_transcript_number(const exact_svt *svt, uint32_t first, const uint32_t *symbol) {
    uint32_t t = 0;
    for (uint32_t n = svt->checks; n-- > 0;) {
        t = 3 * t + symbol[n];
    }
    return 2 * t + first;
}

/* Block sums of sequence number s. */
static inline void svt_sums(const exact_svt *svt, uint32_t s, int64_t sum[][2]) {
    uint32_t base = (uint32_t)svt->top + 1;
    for (uint32_t n = 0; n < svt->checks; n++) {
        for (uint32_t y = 0; y < 2; y++) {
            sum[n][y] = s % base;
            s /= base;
        }
    }
}

/* Where the ln P of an epoch k with these costs per block lies. */
static inline size_t svt_epoch_index(const exact_svt *svt, uint32_t k, const int64_t *cost, uint32_t n, bool fired) {
    size_t base = (size_t)svt->top + 1, path = 0, paths = svt_power((uint32_t)base, svt->checks);
    for (uint32_t i = 0; i < n; i++) {
        path = path * base + (size_t)cost[i];
    }
    return (((size_t)k * svt->checks + n - 1) * paths + path) * 2 + fired;
}

static inline void svt_fill_epochs(exact_svt *svt) {
    uint32_t base = (uint32_t)svt->top + 1, paths = svt_power(base, svt->checks);
    svt->epoch = malloc(sizeof *svt->epoch * svt->switches * svt->checks * paths * 2);
    assert_non_null(svt->epoch);
    for (uint32_t k = 0; k < svt->switches; k++) {
        for (uint32_t n = 1; n <= svt->checks; n++) {
            for (uint32_t path = 0; path < svt_power(base, n); path++) {
                int64_t cost[SVT_CHECKS_MAX], q[SVT_CHECKS_MAX], sum = 0;
                for (uint32_t i = n, rest = path; i-- > 0; rest /= base) {
                    cost[i] = rest % base;
                }
                for (uint32_t i = 0; i < n; i++) {
                    q[i] = sum += cost[i];
                }
                for (int fired = 0; fired < 2; fired++) {
                    svt->epoch[svt_epoch_index(svt, k, cost, n, fired)] =
                        logl(exact_epoch(&svt->threshold_noise, &svt->check_noise, svt->threshold[k], q, n, fired));
                }
            }
        }
    }
}

static inline long double svt_log_select(const exact_svt *svt, uint32_t k, const int64_t *cum, uint32_t y) {
    int64_t score[2];
    long double law[2];
    for (uint32_t i = 0; i < 2; i++) {
        score[i] = cum[i] > svt->score_floor ? cum[i] : svt->score_floor;
    }
    caucus_select_exponential_law(score, 2, svt->select_rate[k], law);
    return logl(law[y]);
}

/* ln P of one transcript under one sequence of block sums. */
static inline long double svt_log_probability(const exact_svt *svt, int64_t sum[][2], uint32_t first,
                                              const uint32_t *symbol) {
    long double lp = -logl(2);
    int64_t cum[2] = {0, 0}, cost[SVT_CHECKS_MAX];
    uint32_t k = 0, x = first, length = 0;
    for (uint32_t n = 0; n < svt->checks; n++) {
        cost[length++] = sum[n][x];
        cum[0] += sum[n][0];
        cum[1] += sum[n][1];
        if (symbol[n] != SVT_KEEP) {
            lp += svt->epoch[svt_epoch_index(svt, k, cost, length, true)] + svt_log_select(svt, k, cum, symbol[n]);
            x = symbol[n];
            k++;
            length = 0;
        }
    }
    if (k < svt->switches && length > 0) {
        lp += svt->epoch[svt_epoch_index(svt, k, cost, length, false)];
    }
    return lp;
}

/* Compute all laws; each must sum to one. */
static inline void exact_svt_build(exact_svt *svt) {
    svt->sequences = svt_power((uint32_t)svt->top + 1, 2 * svt->checks);
    svt->transcripts = 2 * svt_power(3, svt->checks);
    svt->law = malloc(sizeof *svt->law * svt->sequences * svt->transcripts);
    assert_non_null(svt->law);
    svt_fill_epochs(svt);
    for (uint32_t s = 0; s < svt->sequences; s++) {
        int64_t sum[SVT_CHECKS_MAX][2];
        long double total = 0;
        svt_sums(svt, s, sum);
        for (uint32_t t = 0; t < svt->transcripts; t++) {
            uint32_t first, symbol[SVT_CHECKS_MAX];
            long double lp = -(long double)INFINITY;
            if (svt_transcript(svt, t, &first, symbol)) {
                lp = svt_log_probability(svt, sum, first, symbol);
            }
            svt->law[(size_t)s * svt->transcripts + t] = lp;
            total += expl(lp);
        }
        if (!(fabsl(total - 1) < 1e-14L)) {
            fail_msg("the law of sequence %u sums to %.18Lf", s, total);
        }
    }
}

static inline void exact_svt_free(exact_svt *svt) {
    free(svt->epoch);
    free(svt->law);
}

/* Call `visit` with the laws (ln P) of every pair of neighbouring sequences, each unordered pair once; returns how
 * many. */
typedef void svt_visit(const exact_svt *svt, const long double *a, const long double *b, void *context);
static inline uint64_t exact_svt_pairs(const exact_svt *svt, svt_visit *visit, void *context) {
    uint32_t base = (uint32_t)svt->top + 1;
    uint64_t pairs = 0;
    for (uint32_t s = 0; s < svt->sequences; s++) {
        int64_t sum[SVT_CHECKS_MAX][2];
        svt_sums(svt, s, sum);
        for (uint32_t n = 0; n < svt->checks; n++) {
            uint32_t unit = svt_power(base, 2 * n);
            for (uint32_t block = 0; block < base * base; block++) {
                int64_t a = (int64_t)(block % base) - sum[n][0], b = (int64_t)(block / base) - sum[n][1];
                uint32_t other = (uint32_t)((int64_t)s + (a + b * (int64_t)base) * (int64_t)unit);
                if (other <= s || llabs((long long)a) > svt->move || llabs((long long)b) > svt->move) {
                    continue;
                }
                visit(svt, svt->law + (size_t)s * svt->transcripts, svt->law + (size_t)other * svt->transcripts,
                      context);
                pairs++;
            }
        }
    }
    return pairs;
}

static inline void svt_visit_ratio(const exact_svt *svt, const long double *a, const long double *b, void *context) {
    long double *worst = context;
    for (uint32_t t = 0; t < svt->transcripts; t++) {
        if (isinf(a[t]) && isinf(b[t])) {
            continue;
        }
        exact_raise(worst, fabsl(a[t] - b[t]));
    }
}

/* Largest |ln(P/P')| over all neighbours and all transcripts. */
static inline long double exact_svt_epsilon(exact_svt *svt) {
    long double worst = 0;
    uint64_t pairs = exact_svt_pairs(svt, svt_visit_ratio, &worst);
    assert_true(pairs > 0);
    return worst;
}

#endif
