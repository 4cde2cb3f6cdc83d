/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_knorm.c: l-infinity K-norm noise on integers, exactly (docs/PRIVACY.md, statement 21).
 *
 * P(z) ~ e^(-rate*||z||): moving the message by s, ||s|| <= W, costs rate*W, whatever the dimension. The law is
 * rebuilt from the sampler's own layers, a radius r of weight (2r+1)^d e^(-rate*r) (caucus_knorm_log_weight) and then
 * a uniform point of the cube of radius r, so that a wrong weight would show; normalisation, ratio on all z of a box
 * and all moves, and the draws themselves are checked. Control: independent Laplace noise of the same rate costs d
 * times as much. */
#include "dp/exact.h"
#include "dp/laws.h"

#define RADIUS_MAX 4000

typedef struct radial {
    size_t d;
    long double at[64]; /* P(z) for ||z|| = 0..63 */
    long double total;  /* over all z: must be 1 */
} radial;

/* P(z) = sum_(r >= ||z||) weight(r) (2r+1)^-d / sum_r weight(r). */
static void layered_law(size_t d, caucus_rational rate, radial *ret) {
    long double norm = 0, above = 0, sum = 0;
    for (int64_t r = 0; r <= RADIUS_MAX; r++) {
        norm += expl((long double)caucus_knorm_log_weight(r, rate, d));
    }
    for (int64_t r = RADIUS_MAX; r >= 0; r--) {
        long double side = (long double)(2 * r + 1),
                    shell = powl(side, (long double)d) - (r > 0 ? powl(side - 2, (long double)d) : 0);
        above += expl((long double)caucus_knorm_log_weight(r, rate, d)) * powl(side, -(long double)d) / norm;
        sum += shell * above;
        if (r < 64) {
            ret->at[r] = above;
        }
    }
    ret->d = d;
    ret->total = sum;
}

static int64_t norm_inf(const int64_t *z, size_t d) {
    int64_t r = 0;
    for (size_t n = 0; n < d; n++) {
        int64_t a = z[n] < 0 ? -z[n] : z[n];
        r = a > r ? a : r;
    }
    return r;
}

/* Steps through all z in [-reach, reach]^d. */
static bool next_point(int64_t *z, size_t d, int64_t reach) {
    for (size_t n = 0; n < d; n++) {
        if (z[n] < reach) {
            z[n]++;
            return true;
        }
        z[n] = -reach;
    }
    return false;
}

static void test_all_points_all_moves(void **state) {
    (void)state;
    for (size_t d = 1; d <= 3; d++) {
        for (int64_t w = 1; w <= 3; w++) {
            caucus_rational rate = caucus_rational_make(3, 5 * (uint64_t)w); /* epsilon = 0.6 */
            radial law;
            layered_law(d, rate, &law);
            assert_true(fabsl(law.total - 1) < 1e-12L);
            long double worst = 0;
            int64_t z[3] = {-7, -7, -7}, moved[3];
            do {
                int64_t s[3] = {-w, -w, -w};
                do {
                    for (size_t n = 0; n < d; n++) {
                        moved[n] = z[n] - s[n];
                    }
                    exact_raise(&worst, exact_ratio(law.at[norm_inf(z, d)], law.at[norm_inf(moved, d)]));
                } while (next_point(s, d, w));
            } while (next_point(z, d, 7));
            char what[64];
            snprintf(what, sizeof what, "K-norm, d=%zu, W=%d", d, (int)w);
            exact_assert(what, worst, 0.6L, 0.99999L);
        }
    }
}

/* The same claim from the closed form alone: P(z) is e^(-rate*||z||) over its sum. The two laws must be one. */
static void test_layers_give_the_closed_form(void **state) {
    (void)state;
    caucus_rational rate = caucus_rational_make(2, 7);
    for (size_t d = 1; d <= 4; d++) {
        radial law;
        long double norm = 0;
        layered_law(d, rate, &law);
        for (int64_t r = 0; r <= RADIUS_MAX; r++) {
            long double side = (long double)(2 * r + 1),
                        shell = powl(side, (long double)d) - (r > 0 ? powl(side - 2, (long double)d) : 0);
            norm += shell * expl(-exact_rate(rate) * (long double)r);
        }
        for (int64_t r = 0; r < 64; r++) {
            long double closed = expl(-exact_rate(rate) * (long double)r) / norm;
            assert_true(fabsl(law.at[r] / closed - 1) < 1e-9L);
        }
    }
}

/* Draws against the law: every z of [-4,4]^2 is a cell, the rest is one more (n = 2e5, false-alarm rate 1e-6, seed
 * fixed). */
static void test_draws_follow_the_law(void **state) {
    (void)state;
    const uint64_t seed = 7200, n = 200000;
    caucus_rational rate = caucus_rational_make(3, 4);
    caucus_key key;
    caucus_key_from_seed(seed, &key);
    radial law;
    layered_law(2, rate, &law);
    for (uint16_t bulk = 0; bulk < 2; bulk++) {
        uint64_t count[82] = {0};
        long double cell[82];
        cell[81] = 1;
        for (size_t i = 0; i < 81; i++) {
            int64_t z[2] = {(int64_t)(i % 9) - 4, (int64_t)(i / 9) - 4};
            cell[i] = law.at[norm_inf(z, 2)];
            cell[81] -= cell[i];
        }
        caucus_stream stream;
        caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, bulk, 0, 0);
        for (uint64_t i = 0; i < n; i++) {
            int64_t z[2];
            (bulk ? caucus_knorm_fill : caucus_knorm)(&stream, rate, z, 2);
            count[norm_inf(z, 2) <= 4 ? (size_t)((z[0] + 4) + 9 * (z[1] + 4)) : 81]++;
        }
        double p = exact_chi2(count, cell, 82, n);
        printf("  %s: p = %.4f (seed %llu)\n", bulk ? "caucus_knorm_fill" : "caucus_knorm", p,
               (unsigned long long)seed);
        assert_true(p > EXACT_P_VALUE);
    }
}

/* The paper's messages: the same rate in every coordinate, independently. d coordinates move, d times the cost. */
static void test_control_independent_laplace(void **state) {
    (void)state;
    caucus_noise noise = {CAUCUS_NOISE_LAPLACE, caucus_rational_make(1, 2)}; /* W = 2, "epsilon = 1" */
    long double worst = 0;
    int64_t z[3] = {-7, -7, -7};
    do {
        int64_t s[3] = {-2, -2, -2};
        do {
            long double p = 1, q = 1;
            for (size_t n = 0; n < 3; n++) {
                p *= exact_pmf(&noise, z[n]);
                q *= exact_pmf(&noise, z[n] - s[n]);
            }
            exact_raise(&worst, exact_ratio(p, q));
        } while (next_point(s, 3, 2));
    } while (next_point(z, 3, 7));
    exact_assert_broken("independent Laplace noise, d=3", worst, 1, 2.99L);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_points_all_moves),
        cmocka_unit_test(test_layers_give_the_closed_form),
        cmocka_unit_test(test_draws_follow_the_law),
        cmocka_unit_test(test_control_independent_laplace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
