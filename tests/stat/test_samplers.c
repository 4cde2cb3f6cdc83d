/* SPDX-License-Identifier: Apache-2.0 */
/* test_samplers.c: every sampler, scalar and bulk, against the density beside it.
 *
 * Pearson's chi-square with pooled tails; p-value threshold 1e-6 per test, fixed seeds, so a passing build passes for
 * ever. Each comparison is paired with a control: the same counts against a density that is 3 % off (6 % once)
 * must be refused, which shows that the harness can fail. */
#include <caucus/samplers.h>

#include "dp/draws.h"
#include "dp/exponential_draw.h"
#include "dp/laws.h"
#include "stat/chi_square.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 7u
#define THRESHOLD 1e-6
#define CELLS 4096

static caucus_stream test_stream(void) {
    static uint32_t index; /* a fresh stream for every test, in order */
    caucus_key key;
    caucus_key_from_seed(SEED, &key);
    caucus_stream stream;
    caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, 0, ++index, 0);
    return stream;
}

static void judge(const char *name, const uint64_t *observed, const double *expected, const double *wrong,
                  size_t cells) {
    size_t used;
    double p = chi_square_p(observed, expected, cells, &used);
    double control = wrong == NULL ? 0 : chi_square_p(observed, wrong, cells, NULL);
    printf("%-44s %4zu cells  p = %-10.3g control %.1g\n", name, used, p, control);
    assert_true(used >= 2);
    assert_true(p > THRESHOLD);
    assert_true(control < THRESHOLD);
}

/* A coin with probability p, and the control 3 % off (of the rarer side). */
static void judge_coin(const char *name, uint64_t heads, uint64_t n, double p) {
    uint64_t observed[2] = {heads, n - heads};
    double off = 0.03 * (p < 0.5 ? p : 1 - p);
    double expected[2] = {p * (double)n, (1 - p) * (double)n},
           wrong[2] = {(p + off) * (double)n, (1 - p - off) * (double)n};
    judge(name, observed, expected, wrong, 2);
}

static void test_uniform(void **state) {
    (void)state;
    enum { N = 2000000 };
    static const uint64_t sizes[] = {3, 10, 37, 1000, 3000};
    for (size_t k = 0; k < 5; k++) {
        static uint64_t observed[CELLS];
        static double expected[CELLS], wrong[CELLS];
        uint64_t n = sizes[k];
        memset(observed, 0, sizeof observed);
        caucus_stream stream = test_stream();
        for (int i = 0; i < N; i++) {
            observed[caucus_uniform(&stream, n)]++;
        }
        for (uint64_t i = 0; i < n; i++) { /* control: the first half 3 % too likely, the second too unlikely */
            expected[i] = N / (double)n;
            wrong[i] = expected[i] * (i < n / 2 ? 1.03 : i >= n - n / 2 ? 0.97 : 1);
        }
        judge("uniform", observed, expected, wrong, n);
    }
    /* Sizes near the top of a word, where a plain remainder is most biased, in 16 bins of equal width. */
    uint64_t observed[2][16] = {{0}};
    double expected[16], wrong[16];
    caucus_stream stream = test_stream();
    uint64_t n = (uint64_t)3 << 62;
    caucus_u128 wide = (caucus_u128)3 << 100;
    for (int i = 0; i < N; i++) {
        observed[0][(caucus_u128)caucus_uniform(&stream, n) * 16 / n]++;
        observed[1][(uint64_t)(caucus_uniform_wide(&stream, wide) / (wide / 16))]++;
    }
    for (int i = 0; i < 16; i++) {
        expected[i] = N / 16.0;
        wrong[i] = expected[i] * (i < 8 ? 1.03 : 0.97);
    }
    judge("uniform, n = 3*2^62", observed[0], expected, wrong, 16);
    judge("uniform_wide, n = 3*2^100", observed[1], expected, wrong, 16);
}

static void test_coins(void **state) {
    (void)state;
    enum { N = 2000000 };
    static const uint64_t pairs[][2] = {{1, 3}, {5, 7}, {1, 1000}, {((uint64_t)1 << 61) - 1, (uint64_t)1 << 62}};
    for (size_t k = 0; k < 4; k++) {
        caucus_stream stream = test_stream();
        uint64_t heads = 0, a = pairs[k][0], b = pairs[k][1];
        for (int i = 0; i < N; i++) {
            heads += caucus_bernoulli(&stream, a, b);
        }
        /* A rare coin needs more throws to tell 3 %: the control is then 3 % of all throws. */
        uint64_t observed[2] = {heads, N - heads};
        double p = (double)a / (double)b, expected[2] = {p * N, (1 - p) * N},
               wrong[2] = {(p + .03) * N, (1 - p - .03) * N};
        judge("bernoulli", observed, expected, wrong, 2);
    }
}

static void test_bernoulli_exp(void **state) {
    (void)state;
    enum { N = 2000000 };
    static const struct { uint64_t a, b; } gammas[] = {{0, 1}, {1, 1000000}, {1, 2}, {1, 1}, {3, 2}, {20, 1}};
    for (size_t k = 0; k < 6; k++) {
        for (int kind = 0; kind < 3; kind++) {
            static const char *names[] = {"bernoulli_exp", "bernoulli_exp_wide", "exp_coin (inversion)"};
            caucus_stream stream = test_stream();
            caucus_u128 wide_a = (caucus_u128)gammas[k].a << 90, wide_b = (caucus_u128)gammas[k].b << 90;
            caucus_divisor divisor = caucus_divisor_prepare(wide_b);
            uint64_t heads = 0;
            for (int i = 0; i < N; i++) {
                heads += kind == 0   ? caucus_bernoulli_exp(&stream, gammas[k].a, gammas[k].b)
                         : kind == 1 ? caucus_bernoulli_exp_wide(&stream, wide_a, wide_b)
                                     : caucus_exp_coin(&stream, wide_a, &divisor);
            }
            double gamma = (double)gammas[k].a / (double)gammas[k].b, p = exp(-gamma);
            char name[64];
            snprintf(name, sizeof name, "%s, gamma = %g", names[kind], gamma);
            double rare = N * (p < 0.5 ? p : 1 - p);
            if (rare >= 50000) {
                judge_coin(name, heads, N, p);
            } else { /* too few of one side for a chi-square: a Poisson count, at most 2 expected */
                uint64_t few = p < 0.5 ? heads : N - heads;
                printf("%-44s %llu of an expected %.3g\n", name, (unsigned long long)few, rare);
                assert_true(rare <= 2.1 &&
                            few <= (rare < 0.1 ? 3 : 14)); /* P(Poisson(2) > 14) < 1e-7, P(Poisson(.005) > 3) < 1e-9 */
                assert_true(rare > 0 || few == 0);
            }
        }
    }
}

typedef int64_t scalar_draw(caucus_stream *, caucus_rational);
typedef void bulk_draw(caucus_stream *, caucus_rational, int64_t *, size_t);
typedef double log_density(int64_t, caucus_rational);

/* Count draws in bins of `width` integers, CELLS bins centred at 0; the ends take the tails. Scalar and bulk. */
static void judge_law(const char *name, scalar_draw *scalar, bulk_draw *bulk, log_density *log_pmf,
                      caucus_rational parameter, int64_t width, size_t n) {
    static double expected[CELLS], wrong[CELLS];
    caucus_rational off = {parameter.num * 103, parameter.den * 100}; /* densities take any fraction */
    double sum = 0, wrong_sum = 0;
    for (int64_t cell = 0; cell < CELLS; cell++) {
        int64_t first = (cell - CELLS / 2) * width;
        /* Wide bins: the mean density at eight points of the bin, by the midpoint rule. */
        int64_t points = width < 8 ? width : 8;
        expected[cell] = wrong[cell] = 0;
        for (int64_t i = 0; i < points; i++) {
            int64_t y = width < 8 ? first + i : first + (2 * i + 1) * width / 16;
            double weight = (double)n * (double)width / (double)points;
            expected[cell] += weight * exp(log_pmf(y, parameter));
            wrong[cell] += weight * exp(log_pmf(y, off));
        }
        sum += expected[cell];
        wrong_sum += wrong[cell];
    }
    assert_true(fabs(sum / (double)n - 1) < 1e-3); /* the density adds up to 1 over the table (midpoint rule aside) */
    for (int64_t cell = 0; cell < CELLS; cell++) {
        expected[cell] *= (double)n / sum;
        wrong[cell] *= (double)n / wrong_sum;
    }
    int64_t *draws = malloc(n * sizeof *draws);
    assert_non_null(draws);
    for (int kind = 0; kind < 2; kind++) {
        static uint64_t observed[CELLS];
        memset(observed, 0, sizeof observed);
        caucus_stream stream = test_stream();
        for (size_t i = 0; kind == 0 && i < n; i++) {
            draws[i] = scalar(&stream, parameter);
        }
        if (kind == 1) {
            bulk(&stream, parameter, draws, n);
        }
        for (size_t i = 0; i < n; i++) {
            int64_t cell = (draws[i] - (draws[i] < 0 ? width - 1 : 0)) / width + CELLS / 2;
            observed[cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell]++;
        }
        char label[80];
        snprintf(label, sizeof label, "%s %llu/%llu, %s", name, (unsigned long long)parameter.num,
                 (unsigned long long)parameter.den, kind == 0 ? "scalar" : "fill");
        judge(label, observed, expected, wrong, CELLS);
    }
    free(draws);
}

static void test_geometric(void **state) {
    (void)state;
    judge_law("geometric", caucus_geometric, caucus_geometric_fill, caucus_geometric_log_pmf, (caucus_rational){1, 3},
              1, 2000000);
    judge_law("geometric", caucus_geometric, caucus_geometric_fill, caucus_geometric_log_pmf, (caucus_rational){5, 2},
              1, 2000000);
    judge_law("geometric", caucus_geometric, caucus_geometric_fill, caucus_geometric_log_pmf,
              (caucus_rational){3840879, (uint64_t)1 << 40}, 3001, 2000000);
    judge_law("geometric", caucus_geometric, caucus_geometric_fill, caucus_geometric_log_pmf,
              (caucus_rational){64, (uint64_t)1 << 56}, (int64_t)1 << 43, 1000000);
}

static void test_laplace(void **state) {
    (void)state;
    judge_law("laplace", caucus_laplace, caucus_laplace_fill, caucus_laplace_log_pmf, (caucus_rational){2, 7}, 1,
              2000000);
    judge_law("laplace", caucus_laplace, caucus_laplace_fill, caucus_laplace_log_pmf, (caucus_rational){3, 1}, 1,
              2000000);
    judge_law("laplace", caucus_laplace, caucus_laplace_fill, caucus_laplace_log_pmf,
              (caucus_rational){3840879, (uint64_t)1 << 40}, 3001, 2000000);
}

static void test_gaussian(void **state) {
    (void)state;
    judge_law("gaussian", caucus_gaussian, caucus_gaussian_fill, caucus_gaussian_log_pmf, (caucus_rational){1, 1}, 1,
              2000000);
    judge_law("gaussian", caucus_gaussian, caucus_gaussian_fill, caucus_gaussian_log_pmf, (caucus_rational){22, 7}, 1,
              2000000);
    judge_law("gaussian", caucus_gaussian, caucus_gaussian_fill, caucus_gaussian_log_pmf, (caucus_rational){1, 9}, 1,
              2000000);
    judge_law("gaussian", caucus_gaussian, caucus_gaussian_fill, caucus_gaussian_log_pmf, (caucus_rational){12345, 1},
              1, 1000000);
    /* The denominator of the acceptance passes 64 bits: 2*p*q*t^2 = 2^115 and more than 2^109. */
    judge_law("gaussian", caucus_gaussian, caucus_gaussian_fill, caucus_gaussian_log_pmf,
              (caucus_rational){(uint64_t)1 << 56, 1}, 1 << 22, 1000000);
    judge_law("gaussian", caucus_gaussian, caucus_gaussian_fill, caucus_gaussian_log_pmf,
              (caucus_rational){((uint64_t)1 << 56) - 1, ((uint64_t)1 << 40) + 1}, 16, 1000000);
}

typedef void vector_draw(caucus_stream *, caucus_rational, int64_t *, size_t);

/* d = 2: the whole table of z in -20..20 squared, anything outside in one cell. */
static void test_knorm_table(void **state) {
    (void)state;
    enum { SIDE = 41, N = 1000000 };
    static vector_draw *draws[] = {caucus_knorm, caucus_knorm_fill};
    static double expected[SIDE * SIDE + 1], wrong[SIDE * SIDE + 1];
    caucus_rational rate = {2, 5};
    double total[2] = {0, 0}, r[2] = {0.4, 0.4 * 1.03};
    for (int m = 0; m < 400; m++) {
        for (int k = 0; k < 2; k++) {
            total[k] += (m == 0 ? 1 : 8.0 * m) * exp(-r[k] * m);
        }
    }
    double inside[2] = {0, 0};
    for (int i = 0; i < SIDE * SIDE; i++) {
        int norm = abs(i / SIDE - 20) > abs(i % SIDE - 20) ? abs(i / SIDE - 20) : abs(i % SIDE - 20);
        inside[0] += expected[i] = N * exp(-r[0] * norm) / total[0];
        inside[1] += wrong[i] = N * exp(-r[1] * norm) / total[1];
    }
    expected[SIDE * SIDE] = N - inside[0];
    wrong[SIDE * SIDE] = N - inside[1];
    for (int kind = 0; kind < 2; kind++) {
        static uint64_t observed[SIDE * SIDE + 1];
        memset(observed, 0, sizeof observed);
        caucus_stream stream = test_stream();
        for (int i = 0; i < N; i++) {
            int64_t z[2];
            draws[kind](&stream, rate, z, 2);
            bool in = llabs(z[0]) <= 20 && llabs(z[1]) <= 20;
            observed[in ? (z[0] + 20) * SIDE + z[1] + 20 : SIDE * SIDE]++;
        }
        judge(kind == 0 ? "knorm d = 2, scalar" : "knorm d = 2, fill", observed, expected, wrong, SIDE * SIDE + 1);
    }
}

/* ln((2m+1)^d - (2m-1)^d): the number of vectors whose largest coordinate is m. */
static double log_shell(double m, double d) {
    return m == 0 ? 0 : d * log(2 * m + 1) + log(-expm1(d * log((2 * m - 1) / (2 * m + 1))));
}

/* d = 100: the largest coordinate m has P(m) ~ ((2m+1)^d - (2m-1)^d) e^(-rate*m); and given m, a coordinate v has
 * P(|v| = m, one sign) = (2m+1)^(d-1)/shell, P(v) = ((2m+1)^(d-1) - (2m-1)^(d-1))/shell inside. */
static void test_knorm_radius(void **state) {
    (void)state;
    enum { D = 100, N = 40000, M = 5000, BINS = 10 };
    static vector_draw *draws[] = {caucus_knorm, caucus_knorm_fill};
    caucus_rational rate = {1, 20};
    static double expected[M], wrong[M];
    double sum[2] = {0, 0};
    for (int m = 0; m < M; m++) { /* the control: rate 3 % off */
        sum[0] += expected[m] = exp(log_shell(m, D) - 0.05 * m - 720);
        sum[1] += wrong[m] = exp(log_shell(m, D) - 0.0515 * m - 720);
    }
    for (int m = 0; m < M; m++) {
        expected[m] *= N / sum[0];
        wrong[m] *= N / sum[1];
    }
    for (int kind = 0; kind < 2; kind++) {
        static uint64_t radius[M], coordinate[BINS];
        static double in_bin[BINS], skewed[BINS];
        memset(radius, 0, sizeof radius);
        memset(coordinate, 0, sizeof coordinate);
        memset(in_bin, 0, sizeof in_bin);
        caucus_stream stream = test_stream();
        int64_t z[D];
        for (int i = 0; i < N; i++) {
            draws[kind](&stream, rate, z, D);
            int64_t m = 0;
            for (int c = 0; c < D; c++) {
                m = llabs(z[c]) > m ? llabs(z[c]) : m;
            }
            assert_true(m < M);
            radius[m]++;
            coordinate[(z[i % D] + m) * BINS / (2 * m + 1)]++; /* one coordinate of each vector: independent counts */
        }
        for (int64_t m = 0; m < M; m++) {
            double edge = exp((D - 1) * log(2 * (double)m + 1) - log_shell((double)m, D));
            double inner = exp(log_shell((double)m, D - 1) - log_shell((double)m, D));
            for (int64_t x = -m; x <= m && radius[m] > 0; x++) {
                in_bin[(x + m) * BINS / (2 * m + 1)] += (double)radius[m] * (llabs(x) == m ? edge : inner);
            }
        }
        for (int b = 0; b < BINS; b++) {
            skewed[b] = in_bin[b] * (b < BINS / 2 ? 1.06 : 0.94); /* 40000 draws resolve 6 % */
        }
        judge(kind == 0 ? "knorm d = 100 radius, scalar" : "knorm d = 100 radius, fill", radius, expected, wrong, M);
        judge(kind == 0 ? "knorm d = 100 coordinate, scalar" : "knorm d = 100 coordinate, fill", coordinate, in_bin,
              skewed, BINS);
    }
}

/* The p-values themselves: known quantiles. */
static void test_chi_square_tail(void **state) {
    (void)state;
    assert_true(fabs(chi_square_tail(3.841458820694124, 1) - 0.05) < 1e-9);
    assert_true(fabs(chi_square_tail(18.307038053275146, 10) - 0.05) < 1e-9);
    assert_true(fabs(chi_square_tail(149.44925277903886, 100) - 0.001) < 1e-9);
    assert_true(fabs(chi_square_tail(2 * log(1e6), 2) - 1e-6) < 1e-15);
}

/* The layer weights are the density of the layered form: log-weight differences against the formula at small values. */
static void test_knorm_log_weight(void **state) {
    (void)state;
    caucus_rational rate = {1, 2};
    assert_true(fabs(caucus_knorm_log_weight(1, rate, 3) - (3 * log(3.0) - 0.5)) < 1e-12);
    assert_true(fabs(caucus_knorm_log_weight(0, rate, 3)) < 1e-12);
    assert_true(caucus_knorm_log_weight(-1, rate, 3) < -1e300);
}

int main(void) {
    printf("seed %u, false alarm %g per test\n", SEED, THRESHOLD);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chi_square_tail), cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_coins),           cmocka_unit_test(test_bernoulli_exp),
        cmocka_unit_test(test_geometric),       cmocka_unit_test(test_laplace),
        cmocka_unit_test(test_gaussian),        cmocka_unit_test(test_knorm_table),
        cmocka_unit_test(test_knorm_radius),    cmocka_unit_test(test_knorm_log_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
