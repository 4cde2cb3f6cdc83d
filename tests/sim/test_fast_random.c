/* SPDX-License-Identifier: Apache-2.0 */
/* test_fast_random.c: the generator behind simulated losses: same bits everywhere, right laws, no visible structure.
 *
 * Statistical checks turn each statistic into a standard normal score and refuse beyond 4.9: a false alarm with
 * probability 1e-6 per check if the seed were drawn anew. The seed is fixed and printed, so a failure is repeatable. */
#include "sim/fast_random.h"
#include "sim/fast_random_kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 20240607u
#define SCORE_MAX 4.9
#define RUN 65536u

static caucus_fast_key key_of(uint64_t label) {
    return caucus_fast_child(caucus_fast_seed(SEED), label);
}

static void check_score(const char *what, double score) {
    if (!(fabs(score) <= SCORE_MAX))
        print_error("%s: score %.2f (seed %u)\n", what, score, SEED);
    assert_true(fabs(score) <= SCORE_MAX);
}

/* Chi-square with k-1 degrees of freedom as a normal score (Wilson and Hilferty). */
static double chi_square_score(const uint64_t *observed, size_t k, double expected) {
    double sum = 0, f = (double)(k - 1);
    for (size_t i = 0; i < k; i++)
        sum += ((double)observed[i] - expected) * ((double)observed[i] - expected) / expected;
    return (cbrt(sum / f) - (1 - 2 / (9 * f))) / sqrt(2 / (9 * f));
}

/* FNV-1a over the bit patterns. */
static uint64_t digest(const float *value, size_t count, uint64_t hash) {
    for (size_t k = 0; k < count; k++) {
        uint32_t bits;
        memcpy(&bits, value + k, sizeof bits);
        for (int i = 0; i < 4; i++, bits >>= 8)
            hash = (hash ^ (bits & 255)) * UINT64_C(1099511628211);
    }
    return hash;
}

/* All laws of the variant in use, at awkward starts and lengths. */
static uint64_t digest_all(void) {
    static float out[RUN], mean[CAUCUS_FAST_RUN], deviation[CAUCUS_FAST_RUN];
    static uint32_t threshold[CAUCUS_FAST_RUN];
    for (uint32_t k = 0; k < CAUCUS_FAST_RUN; k++) {
        mean[k] = (float)k / 1024.0f;
        deviation[k] = 1.0f - (float)k / 2048.0f;
        threshold[k] = k << 22;
    }
    uint64_t hash = UINT64_C(14695981039346656037);
    const size_t counts[] = {1, 2, 15, 16, 17, 31, 32, 33, 100, 1000, 1024};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t n = counts[i];
        uint64_t first = i * 77777 + (i == 3 ? UINT64_C(0xfffffffc) : 0);
        caucus_fast_uniform(key_of(1), first, n, out);
        hash = digest(out, n, hash);
        caucus_fast_bernoulli(key_of(2), first, n, threshold, out);
        hash = digest(out, n, hash);
        caucus_fast_normal(key_of(3), first, n, out);
        hash = digest(out, n, hash);
        caucus_fast_normal_clamped(key_of(4), first, n, mean, deviation, out);
        hash = digest(out, n, hash);
        caucus_fast_lognormal(key_of(5), first, n, mean, deviation, out);
        hash = digest(out, n, hash);
        float sum = (float)caucus_fast_sum(out, n);
        caucus_fast_complement(0.25f, n, out);
        hash = digest(&sum, 1, digest(out, n, hash));
    }
    caucus_fast_normal(key_of(6), 5, RUN, out);
    return digest(out, RUN, hash);
}

/* The same digest from every variant, compiler and optimisation level: the number is part of the contract. */
static void test_same_bits(void **state) {
    (void)state;
    for (size_t v = 0; caucus_fast_variant(v) != NULL; v++) {
        caucus_fast_use(caucus_fast_variant(v));
        uint64_t hash = digest_all();
        print_message("variant %s: %016llx\n", caucus_fast_variant_name(caucus_fast_variant(v)),
                      (unsigned long long)hash);
        assert_int_equal(hash, UINT64_C(0x33cdd039c9c15db3));
    }
    caucus_fast_use(NULL);
}

static void test_random_access(void **state) {
    (void)state;
    static float all[4096], part[4096];
    const uint64_t bases[] = {0, 1000, UINT64_C(0xfffff800), UINT64_C(0x1fffff7f0), UINT64_C(1) << 50};
    for (size_t b = 0; b < sizeof bases / sizeof bases[0]; b++)
        for (int law = 0; law < 2; law++) {
            void (*draw)(caucus_fast_key, uint64_t, size_t, float *) =
                law == 0 ? caucus_fast_uniform : caucus_fast_normal;
            draw(key_of(7), bases[b], 4096, all);
            for (size_t at = 0, step = 1; at < 4096; at += step, step = step * 3 % 251 + 1) {
                size_t n = at + step <= 4096 ? step : 4096 - at;
                draw(key_of(7), bases[b] + at, n, part);
                assert_memory_equal(part, all + at, n * sizeof *part);
            }
        }
}

/* The kernels' polynomials against libm in doubles, from the very same 32-bit draws. */
static uint32_t mix_reference(uint32_t c, caucus_fast_words key) {
    c ^= key.a;
    c = (c ^ c >> 17) * 0xed5ad4bbU;
    c = ((c ^ c >> 11) + key.b) * 0xac4c1b51U;
    c = (c ^ c >> 15) * 0x31848babU;
    return c ^ c >> 14;
}

static void test_normal_accuracy(void **state) {
    (void)state;
    const caucus_fast_words radius = {0x12345678, 0x9abcdef0}, angle = {0x0fedcba9, 0x87654321};
    static float out[RUN];
    double worst = 0;
    for (uint32_t first = 0; first < 16 * RUN; first += RUN / 2) {
        caucus_fast_variant(0)->normal(radius, angle, first, RUN / CAUCUS_FAST_BLOCK, out);
        for (uint32_t e = 0; e < RUN; e++) {
            uint32_t pair = first + e / 32 * 16 + e % 16, draw = mix_reference(pair, angle);
            double v = (double)((float)(mix_reference(pair, radius) >> 1) + 0.5f) * 0x1p-31, r = sqrt(-2 * log(v));
            double t = M_PI * ((double)((int32_t)draw >> 8) + 0.5) * 0x1p-24;
            double exact = e % 32 < 16 ? (draw & 1 ? -r : r) * cos(t) : r * sin(t);
            worst = fmax(worst, fabs((double)out[e] - exact));
        }
    }
    print_message("normal: largest error %.3g\n", worst);
    assert_true(worst < 0x1p-20);
}

static void test_exponential_accuracy(void **state) {
    (void)state;
    static float x[RUN], zero[RUN], one[RUN], out[RUN];
    for (uint32_t k = 0; k < RUN; k++) {
        x[k] = -80.0f + 160.0f * (float)k / (float)RUN;
        one[k] = 1.0f;
    }
    caucus_fast_variant(0)->exponential(x, RUN, zero, one, out);
    for (uint32_t k = 0; k < RUN; k++)
        assert_true(fabs((double)out[k] / exp((double)x[k]) - 1) < 4e-7);
}

/* Moments 1 to 4 and a chi-square over 1024 cells of equal probability, 10^7 draws; each tail to 5 deviations. */
static void test_normal_law(void **state) {
    (void)state;
    enum { CELLS = 1024, BLOCKS = 160 };
    const double n = (double)BLOCKS * RUN;
    static float out[RUN];
    static uint64_t cell[CELLS];
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        caucus_fast_normal(key_of(8), b * RUN, RUN, out);
        for (size_t k = 0; k < RUN; k++) {
            double z = (double)out[k], u = 0.5 * erfc(-z * M_SQRT1_2);
            cell[u >= 1 ? CELLS - 1 : (size_t)(u * CELLS)]++;
            m1 += z;
            m2 += z * z;
            m3 += z * z * z;
            m4 += z * z * z * z;
        }
    }
    check_score("mean", m1 / sqrt(n));
    check_score("variance", (m2 - n) / sqrt(2 * n));
    check_score("third moment", m3 / sqrt(15 * n));
    check_score("fourth moment", (m4 - 3 * n) / sqrt(96 * n));
    check_score("cells", chi_square_score(cell, CELLS, n / CELLS));
    /* Kolmogorov-Smirnov on the cells' borders: P(sqrt(n) D > 2.7) < 1e-6. */
    double below = 0, distance = 0;
    for (size_t i = 0; i < CELLS; i++) {
        below += (double)cell[i];
        distance = fmax(distance, fabs(below / n - (double)(i + 1) / CELLS));
    }
    assert_true(sqrt(n) * distance < 2.7);
}

static void test_normal_tails(void **state) {
    (void)state;
    enum { BLOCKS = 768 };
    const double n = (double)BLOCKS * RUN, from[] = {3, 4, 4.5, 5};
    static float out[RUN];
    uint64_t count[2][4] = {{0}};
    float largest = 0;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        caucus_fast_normal(key_of(9), b * RUN, RUN, out);
        for (size_t k = 0; k < RUN; k++) {
            float size = fabsf(out[k]);
            if (size < 3.0f)
                continue;
            for (int i = 0; i < 4; i++)
                count[out[k] < 0.0f][i] += (double)size > from[i];
            largest = size > largest ? size : largest;
        }
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 4; i++) {
            double expected = n * 0.5 * erfc(from[i] * M_SQRT1_2);
            /* Poisson by the square-root transform, good enough from 14 on. */
            check_score("tail", 2 * (sqrt((double)count[side][i] + 0.375) - sqrt(expected + 0.375)));
        }
    print_message("largest of %.0f normals: %.2f\n", n, (double)largest);
    assert_true(largest > 5.1f && largest < 6.7f); /* expected 5.5; above 6.66 is impossible */
}

static void test_uniform_law(void **state) {
    (void)state;
    enum { CELLS = 4096, BLOCKS = 64 };
    static float out[RUN];
    static uint64_t high[CELLS], low[CELLS];
    double sum = 0, n = (double)BLOCKS * RUN;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        caucus_fast_uniform(key_of(10), b * RUN, RUN, out);
        for (size_t k = 0; k < RUN; k++) {
            uint32_t bits = (uint32_t)((double)out[k] * 0x1p24);
            assert_true(bits < 1u << 24);
            high[bits >> 12]++;
            low[bits & 4095]++;
            sum += (double)out[k];
        }
    }
    check_score("mean", (sum - n * (0.5 - 0x1p-25)) / sqrt(n / 12));
    check_score("high bits", chi_square_score(high, CELLS, n / CELLS));
    check_score("low bits", chi_square_score(low, CELLS, n / CELLS));
}

/* Pairs (u, v) that must look independent: chi-square on 64 x 64 cells and correlation. */
static void check_independent(const char *what, const float *u, const float *v, size_t n) {
    static uint64_t cell[4096];
    memset(cell, 0, sizeof cell);
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        cell[(size_t)(u[k] * 64.0f) * 64 + (size_t)(v[k] * 64.0f)]++;
        sum += ((double)u[k] - 0.5) * ((double)v[k] - 0.5);
    }
    check_score(what, chi_square_score(cell, 4096, (double)n / 4096));
    check_score(what, sum * 12 / sqrt((double)n));
}

static void test_neighbours(void **state) {
    (void)state;
    enum { N = 1 << 18 };
    float *a = malloc((N + 20000) * sizeof *a), *b = malloc(N * sizeof *b);
    assert_non_null(a);
    assert_non_null(b);
    caucus_fast_key run = caucus_fast_seed(SEED), trial = caucus_fast_child(run, 3);
    caucus_fast_uniform(caucus_fast_child(trial, 1), 0, N + 20000, a);
    const size_t lags[] = {1, 2, 3, 4, 8, 15, 16, 17, 32, 64, 100, 128, 1000, 1024, 4096, 16384};
    for (size_t i = 0; i < sizeof lags / sizeof lags[0]; i++)
        check_independent("lag", a, a + lags[i], N);
    for (uint64_t client = 2; client < 12; client++) {
        caucus_fast_uniform(caucus_fast_child(trial, client), 0, N, b);
        check_independent("next client", a, b, N);
        caucus_fast_uniform(caucus_fast_child(caucus_fast_child(run, client + 2), 1), 0, N, b);
        check_independent("next trial", a, b, N);
        caucus_fast_uniform(caucus_fast_child(caucus_fast_child(caucus_fast_seed(SEED + client), 3), 1), 0, N, b);
        check_independent("next seed", a, b, N);
        caucus_fast_uniform(caucus_fast_child(trial, 1), client << 32, N, b);
        check_independent("next window", a, b, N);
    }
    free(a);
    free(b);
}

/* The two normals of a pair, and a normal and its square's neighbour, are uncorrelated. */
static void test_normal_pairs(void **state) {
    (void)state;
    static float out[RUN];
    double plain = 0, squares = 0, n = 0;
    for (uint64_t b = 0; b < 32; b++) {
        caucus_fast_normal(key_of(11), b * RUN, RUN, out);
        for (size_t k = 0; k < RUN; k += 32)
            for (size_t j = 0; j < 16; j++, n++) {
                double x = (double)out[k + j], y = (double)out[k + j + 16];
                plain += x * y;
                squares += (x * x - 1) * (y * y - 1);
            }
    }
    check_score("pair", plain / sqrt(n));
    check_score("squares of a pair", squares / (2 * sqrt(n)));
}

/* Values at one index over many keys: the first draw of client 1, 2, 3, ... is uniform and so is a hidden expert. */
static void test_across_keys(void **state) {
    (void)state;
    enum { KEYS = 1 << 17, CELLS = 256 };
    static uint64_t first[CELLS], below[100], order[6];
    caucus_fast_key run = caucus_fast_seed(SEED);
    for (uint64_t i = 0; i < KEYS; i++) {
        float u;
        uint32_t p[3];
        caucus_fast_key key = caucus_fast_child(run, i);
        caucus_fast_uniform(key, 0, 1, &u);
        first[(size_t)(u * CELLS)]++;
        below[caucus_fast_below(key, 0, 100)]++;
        caucus_fast_permutation(key, 3, p);
        assert_int_equal(p[0] + p[1] + p[2], 3);
        assert_true(p[0] != p[1] && p[1] != p[2] && p[0] != p[2]);
        order[p[0] * 2 + (p[1] > p[2])]++;
    }
    check_score("first draws", chi_square_score(first, CELLS, (double)KEYS / CELLS));
    check_score("below", chi_square_score(below, 100, (double)KEYS / 100));
    check_score("permutations", chi_square_score(order, 6, (double)KEYS / 6));
}

static void test_bernoulli(void **state) {
    (void)state;
    static float out[RUN];
    static uint32_t threshold[RUN];
    const double mean[] = {0.3, 0.5, 0.7};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < RUN; k++)
            threshold[k] = (uint32_t)(mean[i] * 0x1p32);
        caucus_fast_bernoulli(key_of(12 + i), 99, RUN, threshold, out);
        double sum = 0;
        for (size_t k = 0; k < RUN; k++) {
            assert_true(out[k] == 0.0f || out[k] == 1.0f);
            sum += (double)out[k];
        }
        check_score("mean", (sum - mean[i] * RUN) / sqrt(mean[i] * (1 - mean[i]) * RUN));
    }
}

int main(void) {
    print_message("seed %u\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),       cmocka_unit_test(test_random_access),
        cmocka_unit_test(test_normal_accuracy), cmocka_unit_test(test_exponential_accuracy),
        cmocka_unit_test(test_normal_law),      cmocka_unit_test(test_normal_tails),
        cmocka_unit_test(test_uniform_law),     cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_normal_pairs),    cmocka_unit_test(test_across_keys),
        cmocka_unit_test(test_bernoulli),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
