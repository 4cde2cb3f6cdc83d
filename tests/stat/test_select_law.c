/* SPDX-License-Identifier: Apache-2.0 */
/* test_select_law.c: the draws of the three private selections follow their exact laws.
 *
 * Chi-square over all experts (those expected fewer than 10 times are pooled), n = 1,000,000 draws, fixed seed.
 * A selection that follows its law fails with probability 1e-6 per comparison. Controls: the same
 * statistic must reject each mechanism against another's law and against a rate that is off by 3 %. */
#include "stat/chi_square.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <caucus/select.h>

#include <math.h>
#include <stdlib.h>

#include "dp/laws.h"

#define SEED 31415926
#define DRAWS 1000000
#define P_VALUE 1e-6
#define D_MAX 100

typedef enum mechanism { EXPONENTIAL, FLIP, NOISY_MIN } mechanism;

static void draw_counts(mechanism which, const int64_t *score, uint32_t d, caucus_rational rate, uint32_t lane,
                        uint64_t *ret) {
    caucus_key key;
    caucus_stream stream;
    caucus_key_from_seed(SEED, &key);
    caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, 4, (uint32_t)which, lane);
    for (uint32_t n = 0; n < d; n++)
        ret[n] = 0;
    for (int i = 0; i < DRAWS; i++) {
        uint32_t n = which == EXPONENTIAL ? caucus_select_exponential(&stream, score, d, rate)
                     : which == FLIP      ? caucus_select_flip(&stream, score, d, rate)
                                          : caucus_select_noisy_min(&stream, score, d, rate);
        assert_true(n < d);
        ret[n]++;
    }
}

static double p_value(const uint64_t *count, const long double *law, uint32_t d) {
    double statistic = 0, rest_expected = 0, rest_seen = 0;
    int cells = 0;
    for (uint32_t n = 0; n < d; n++) {
        double expected = (double)law[n] * DRAWS, seen = (double)count[n];
        if (expected < 10) {
            rest_expected += expected;
            rest_seen += seen;
            continue;
        }
        statistic += (seen - expected) * (seen - expected) / expected;
        cells++;
    }
    if (rest_expected >= 1) {
        statistic += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
        cells++;
    }
    assert_true(cells >= 2);
    return chi_square_tail(statistic, cells - 1);
}

/* P(n wins) by its definition: over n's own noise, the others are above, or equal and lose the draw. `above[j]` is
 * the chance that exactly j of the others tie and none is below. */
static void noisy_min_law(const int64_t *score, uint32_t d, caucus_rational rate, long double *ret) {
    long double q = expl(-(long double)rate.num / (long double)rate.den), norm = (1 - q) / (1 + q);
    for (uint32_t n = 0; n < d; n++) {
        ret[n] = 0;
        for (int64_t z = -400; z <= 400; z++) {
            long double tied[D_MAX] = {1};
            for (uint32_t y = 0, others = 0; y < d; y++) {
                if (y == n)
                    continue;
                int64_t need = score[n] + z - score[y]; /* noise of y: = need ties, > need loses */
                long double equal = norm * powl(q, (long double)llabs((long long)need));
                long double greater =
                    need >= 0 ? powl(q, (long double)(need + 1)) / (1 + q) : 1 - powl(q, (long double)-need) / (1 + q);
                for (uint32_t j = ++others; j > 0; j--)
                    tied[j] = tied[j] * greater + tied[j - 1] * equal;
                tied[0] *= greater;
            }
            long double wins = 0;
            for (uint32_t j = 0; j < d; j++)
                wins += tied[j] / (long double)(j + 1);
            ret[n] += wins * norm * powl(q, (long double)llabs((long long)z));
        }
    }
}

static void law_of(mechanism which, const int64_t *score, uint32_t d, caucus_rational rate, long double *ret) {
    if (which == EXPONENTIAL)
        caucus_select_exponential_law(score, d, rate, ret);
    else if (which == FLIP)
        caucus_select_flip_law(score, d, rate, ret);
    else
        noisy_min_law(score, d, rate, ret);
}

static void follows(mechanism which, const int64_t *score, uint32_t d, caucus_rational rate, uint32_t lane) {
    uint64_t count[D_MAX];
    long double law[D_MAX];
    draw_counts(which, score, d, rate, lane, count);
    law_of(which, score, d, rate, law);
    double p = p_value(count, law, d);
    print_message("  mechanism %d, d = %u, rate %llu/%llu: p = %.4g\n", which, d, (unsigned long long)rate.num,
                  (unsigned long long)rate.den, p);
    assert_true(p > P_VALUE);
}

static const int64_t golden[4] = {0, 1, 3, 3};

static void four_experts(void **state) {
    (void)state;
    for (int which = EXPONENTIAL; which <= NOISY_MIN; which++) {
        follows((mechanism)which, golden, 4, (caucus_rational){1, 2}, 1);
        follows((mechanism)which, golden, 4, (caucus_rational){7, 3}, 2);
    }
}

/* Scores as a plan has them: grid units, negative ones too, and a rate of tiny terms. */
static void hundred_experts(void **state) {
    (void)state;
    int64_t score[D_MAX], small[20];
    for (int n = 0; n < D_MAX; n++)
        score[n] = (int64_t)((n * 7919) % 101) * 40000 - 1500000;
    follows(EXPONENTIAL, score, D_MAX, (caucus_rational){1, 1 << 20}, 3);
    follows(FLIP, score, D_MAX, (caucus_rational){1, 1 << 20}, 3);
    for (int n = 0; n < 20; n++)
        small[n] = (n * 11) % 7 - 3;
    follows(NOISY_MIN, small, 20, (caucus_rational){1, 3}, 3);
}

static void controls_are_rejected(void **state) {
    (void)state;
    const caucus_rational rate = {1, 2}, off = {515, 1000};
    uint64_t count[4];
    long double law[4];
    for (int which = EXPONENTIAL; which <= NOISY_MIN; which++) {
        draw_counts((mechanism)which, golden, 4, rate, 4, count);
        for (int other = EXPONENTIAL; other <= NOISY_MIN; other++) {
            law_of((mechanism)other, golden, 4, other == which ? off : rate, law);
            assert_true(p_value(count, law, 4) < P_VALUE);
        }
    }
}

int main(void) {
    print_message("seed %d, %d draws, false alarm %g per comparison\n", SEED, DRAWS, P_VALUE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_experts),
        cmocka_unit_test(hundred_experts),
        cmocka_unit_test(controls_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
