/* SPDX-License-Identifier: Apache-2.0 */
/* test_adversary_means.c: bernoulli, shifting and drifting: every loss equals the one that a plain scalar version makes
 * from (seed, trial, client, round, expert); and their laws: means in their range, new ones in every segment, walks
 * with steps of the size asked for, clients that differ by the spread asked for.
 *
 * Statistical checks refuse a standard normal score beyond 4.9: false alarm 1e-6 per check. Seed fixed and printed. */
#include "sim/adversary_impl.h"
#include "sim/refused_adversary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 17u
#define SCORE_MAX 4.9
#define TOP 32 /* levels of the walk's tree, as documented in adversary_walk.c */

typedef struct game {
    caucus_adversary *adversary;
    caucus_adversary_trial *trial;
} game;

static caucus_adversary_settings settings_of(caucus_adversary_kind kind, uint32_t m, uint32_t d, uint64_t T) {
    return (caucus_adversary_settings){.kind = kind,
                                       .seed = SEED,
                                       .clients = m,
                                       .experts = d,
                                       .rounds = T,
                                       .segments = 1,
                                       .has_means = true,
                                       .mean_lo = 0.1,
                                       .mean_hi = 0.5};
}

static game open_game(const caucus_adversary_settings *s, uint32_t trial) {
    game g = {0};
    caucus_error error = {0};
    if (caucus_adversary_open(s, &g.adversary, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    assert_int_equal(caucus_adversary_trial_new(g.adversary, trial, &g.trial), CAUCUS_OK);
    return g;
}

static void close_game(game *g) {
    caucus_adversary_trial_free(g->trial);
    caucus_adversary_close(g->adversary);
}

static void check_score(const char *what, double score) {
    if (!(fabs(score) <= SCORE_MAX))
        print_error("%s: score %.2f (seed %u)\n", what, score, SEED);
    assert_true(fabs(score) <= SCORE_MAX);
}

static double one_normal(caucus_fast_key key, uint64_t index) {
    float z;
    caucus_fast_normal(key, index, 1, &z);
    return (double)z;
}

/* The plain version: keys by their labels, one expert and one round at a time. */
static caucus_fast_key plain_key(const caucus_adversary_settings *s, uint32_t trial) {
    return caucus_fast_child(caucus_fast_child(caucus_fast_seed(s->seed), (uint64_t)s->kind), trial);
}

static double plain_first(const caucus_adversary_settings *s, caucus_fast_key trial, uint64_t index) {
    return s->mean_lo + (s->mean_hi - s->mean_lo) * caucus_fast_double(caucus_fast_child(trial, 1), index);
}

/* Down the tree to round t, from both ends of 2^TOP rounds. */
static double plain_position(const caucus_adversary_settings *s, caucus_fast_key trial, uint64_t t, uint32_t expert) {
    const caucus_fast_key key = caucus_fast_child(trial, 5);
    double left = plain_first(s, trial, expert);
    double right = left + s->drift * 65536.0 * one_normal(key, expert);
    uint64_t begin = 0;
    for (int j = TOP; j > 0; j--) {
        const uint64_t node = (UINT64_C(1) << (TOP - j)) + (begin >> j), half = UINT64_C(1) << (j - 1);
        const double middle =
            (left + right) / 2 + s->drift * (sqrt(ldexp(1, j)) / 2) * one_normal(key, node * s->experts + expert);
        if (t >= begin + half) {
            begin += half;
            left = middle;
        } else {
            right = middle;
        }
    }
    return left;
}

static double plain_reflected(double lo, double hi, double x) {
    while (x < lo || x > hi)
        x = x < lo ? 2 * lo - x : 2 * hi - x;
    return x;
}

static double plain_mean(const caucus_adversary_settings *s, caucus_fast_key trial, uint64_t t, uint32_t expert) {
    if (s->kind == CAUCUS_ADVERSARY_SHIFTING)
        return plain_first(s, trial, t * s->segments / s->rounds * s->experts + expert);
    if (s->kind == CAUCUS_ADVERSARY_DRIFTING)
        return plain_reflected(s->mean_lo, s->mean_hi, plain_position(s, trial, t, expert));
    return plain_first(s, trial, expert);
}

/* How far the loss is from the coin's edge when made at the plain mean: the fast version may round a mean otherwise. */
static float plain_loss(const caucus_adversary_settings *s, uint32_t trial, uint32_t client, uint64_t t,
                        uint32_t expert, double nudge) {
    const caucus_fast_key key = plain_key(s, trial);
    const caucus_fast_key own = caucus_fast_child(key, (UINT64_C(1) << 32) + client);
    double mean = plain_mean(s, key, t, expert) + nudge;
    if (s->spread > 0)
        mean += (double)((float)s->spread * (float)one_normal(caucus_fast_child(own, 1), expert));
    const double scaled = fmin(fmax(mean * 4294967296.0, 0), 4294967295.0);
    const uint32_t threshold = (uint32_t)scaled;
    float loss;
    caucus_fast_bernoulli(own, t * s->experts + expert, 1, &threshold, &loss);
    return loss;
}

static void compare_plain(const caucus_adversary_settings *s, uint64_t first, uint64_t count) {
    game g = open_game(s, 3);
    float *rows = malloc((size_t)count * s->experts * sizeof *rows);
    assert_non_null(rows);
    const uint32_t step = s->experts > 300 ? 7 : 1;
    for (uint32_t client = 1; client <= s->clients; client++) {
        caucus_adversary_fill(g.trial, client, first, count, rows);
        for (uint64_t t = 0; t < count; t++)
            for (uint32_t n = 0; n < s->experts; n += step) {
                const float got = rows[t * s->experts + n];
                if (got != plain_loss(s, 3, client, first + t, n, 0) &&
                    got != plain_loss(s, 3, client, first + t, n, 1e-9) &&
                    got != plain_loss(s, 3, client, first + t, n, -1e-9)) /* reflected in another order */
                    fail_msg("%s: client %u, round %llu, expert %u", caucus_adversary_kind_word(s->kind), client,
                             (unsigned long long)(first + t), n);
            }
    }
    free(rows);
    close_game(&g);
}

static void test_equals_plain(void **state) {
    (void)state;
    static const caucus_adversary_kind kinds[] = {CAUCUS_ADVERSARY_BERNOULLI, CAUCUS_ADVERSARY_SHIFTING,
                                                  CAUCUS_ADVERSARY_DRIFTING};
    static const uint32_t sizes[] = {2, 20, 129, 1024, 1500};
    for (size_t k = 0; k < 3; k++)
        for (size_t n = 0; n < 5; n++)
            for (int spread = 0; spread < 2; spread++) {
                caucus_adversary_settings s = settings_of(kinds[k], 2, sizes[n], 40);
                s.segments = 7;
                s.drift = 0.05;
                s.spread = spread * 0.2;
                compare_plain(&s, 0, 40);
                compare_plain(&s, 13, 9);
            }
}

/* More rounds than the table has rows: the walk is halved on from every fourth, or every 2^19th, round. */
static void test_long_walks(void **state) {
    (void)state;
    static const uint64_t rounds[] = {1000000, UINT64_C(1) << 30};
    for (size_t n = 0; n < 2; n++) {
        caucus_adversary_settings s = settings_of(CAUCUS_ADVERSARY_DRIFTING, 2, 3, rounds[n]);
        s.drift = 1e-4;
        compare_plain(&s, rounds[n] - 41, 41);
        compare_plain(&s, 499990, 33);
        compare_plain(&s, 0, 10);
    }
}

/* Bit for bit what bernoulli was before its means could be chosen. */
static void test_default_means(void **state) {
    (void)state;
    caucus_adversary_settings s = settings_of(CAUCUS_ADVERSARY_BERNOULLI, 2, 50, 60);
    s.has_means = false;
    s.mean_lo = s.mean_hi = 9; /* not looked at */
    game g = open_game(&s, 1);
    float *rows = malloc(60 * 50 * sizeof *rows);
    assert_non_null(rows);
    caucus_adversary_fill(g.trial, 2, 0, 60, rows);
    s.mean_lo = 0.3, s.mean_hi = 0.7;
    for (uint64_t t = 0; t < 60; t++)
        for (uint32_t n = 0; n < 50; n++)
            assert_true(rows[t * 50 + n] == plain_loss(&s, 1, 2, t, n, 0));
    free(rows);
    close_game(&g);
}

static void test_segments(void **state) {
    (void)state;
    static const uint64_t shapes[][2] = {{10, 3}, {10, 10}, {7, 1}, {1000003, 1000}, {20000, 5}};
    for (size_t i = 0; i < 5; i++) {
        caucus_adversary_settings s = settings_of(CAUCUS_ADVERSARY_SHIFTING, 1, 2, shapes[i][0]);
        s.segments = shapes[i][1];
        game g = open_game(&s, 0);
        assert_int_equal(caucus_adversary_segments(g.adversary), s.segments);
        for (uint64_t k = 0; k <= s.segments; k++) {
            const uint64_t start = caucus_adversary_segment_start(g.adversary, k);
            assert_true(k == s.segments ? start == s.rounds : start * s.segments / s.rounds == k);
            assert_true(k == 0 ? start == 0 : (start - 1) * s.segments / s.rounds == k - 1);
        }
        close_game(&g);
    }
}

/* Means are uniform in their range, in every segment anew, and the same for both clients. */
static void test_shifting_law(void **state) {
    (void)state;
    enum { D = 200, T = 6000, S = 3, LENGTH = T / S };
    caucus_adversary_settings s = settings_of(CAUCUS_ADVERSARY_SHIFTING, 2, D, T);
    s.segments = S;
    game g = open_game(&s, 0);
    static float rows[2][LENGTH * D];
    static double mean[S][D];
    for (uint32_t k = 0; k < S; k++) {
        double total = 0, squares = 0;
        for (uint32_t i = 0; i < 2; i++)
            caucus_adversary_fill(g.trial, i + 1, k * LENGTH, LENGTH, rows[i]);
        for (uint32_t n = 0; n < D; n++) {
            double p[2] = {0};
            for (uint32_t i = 0; i < 2; i++)
                for (uint32_t t = 0; t < LENGTH; t++)
                    p[i] += (double)rows[i][t * D + n] / LENGTH;
            check_score("clients", (p[0] - p[1]) / sqrt(0.5 / LENGTH));
            mean[k][n] = (p[0] + p[1]) / 2;
            assert_true(mean[k][n] > 0.1 - SCORE_MAX * 0.5 / sqrt(2 * LENGTH));
            assert_true(mean[k][n] < 0.5 + SCORE_MAX * 0.5 / sqrt(2 * LENGTH));
            total += mean[k][n];
            squares += (mean[k][n] - 0.3) * (mean[k][n] - 0.3);
        }
        check_score("means", (total / D - 0.3) / (0.4 / sqrt(12 * D)));
        /* Variance .16/12 and a fourth moment of .16^2/80: the mean square of D. */
        check_score("variance", (squares / D - 0.16 / 12) / sqrt((0.0256 / 80 - 0.0256 / 144) / D));
    }
    for (uint32_t k = 1; k < S; k++) { /* nothing in common with the segment before */
        double together = 0;
        for (uint32_t n = 0; n < D; n++)
            together += (mean[k][n] - 0.3) * (mean[k - 1][n] - 0.3);
        check_score("segments", together / (0.16 / 12 * sqrt(D)));
    }
    close_game(&g);
}

static void keep(void *user, uint64_t round, const double *mean) {
    double *kept = user;
    memcpy(kept + round % 4096 * 100, mean, 100 * sizeof *mean);
}

/* Steps of one round are independent normals of the size asked for, those of 64 rounds eight times larger; nothing
 * leaves the range. Steps that a reflection may have bent are left out. */
static void test_walk_law(void **state) {
    (void)state;
    enum { D = 100, T = 4096 };
    caucus_adversary_settings s = settings_of(CAUCUS_ADVERSARY_DRIFTING, 1, D, T);
    s.drift = 0.001;
    game g = open_game(&s, 2);
    static double mean[T * D];
    caucus_adversary_walk(g.trial, 0, D, 0, T, keep, mean);
    static const unsigned lags[] = {1, 64};
    for (size_t i = 0; i < 2; i++) {
        const unsigned lag = lags[i];
        double sum = 0, squares = 0, neighbours = 0, steps = 0;
        for (unsigned n = 0; n < D; n++)
            for (unsigned t = 0; t + 2 * lag < T; t += 2 * lag) {
                const double *x = &mean[t * D + n];
                assert_true(*x >= 0.1 && *x <= 0.5);
                if (*x < 0.15 || *x > 0.45)
                    continue;
                const double a = x[lag * D] - x[0], b = x[2 * (size_t)lag * D] - x[lag * D];
                sum += a + b;
                squares += a * a + b * b;
                neighbours += a * b;
                steps++;
            }
        const double variance = s.drift * s.drift * lag;
        check_score("steps, mean", sum / sqrt(2 * steps * variance));
        check_score("steps, variance", (squares / variance - 2 * steps) / sqrt(4 * steps));
        check_score("steps, neighbours", neighbours / variance / sqrt(steps));
    }
    close_game(&g);
    s.drift = 0; /* stands still */
    g = open_game(&s, 2);
    caucus_adversary_walk(g.trial, 0, D, 0, T, keep, mean);
    for (unsigned t = 1; t < T; t++)
        assert_memory_equal(mean, mean + (size_t)t * D, D * sizeof *mean);
    close_game(&g);
}

/* Clients' shares of losses differ by the spread, on top of what coins differ by. */
static void test_spread_law(void **state) {
    (void)state;
    enum { M = 400, D = 4, T = 2000 };
    caucus_adversary_settings s = settings_of(CAUCUS_ADVERSARY_BERNOULLI, M, D, T);
    s.spread = 0.03;
    s.mean_lo = s.mean_hi = 0.4;
    game g = open_game(&s, 0);
    static float rows[T * D];
    double squares = 0;
    for (uint32_t i = 1; i <= M; i++) {
        caucus_adversary_fill(g.trial, i, 0, T, rows);
        for (uint32_t n = 0; n < D; n++) {
            double p = 0;
            for (uint32_t t = 0; t < T; t++)
                p += (double)rows[t * D + n] / T;
            squares += (p - 0.4) * (p - 0.4);
        }
    }
    const double variance = s.spread * s.spread * (1 - 1.0 / T) + 0.24 / T;
    check_score("spread", (squares / (M * D) / variance - 1) / sqrt(2.0 / (M * D)));
    close_game(&g);
}

static void test_refusals(void **state) {
    (void)state;
    const caucus_adversary_settings good = settings_of(CAUCUS_ADVERSARY_DRIFTING, 2, 3, 100);
    caucus_adversary_settings s = good;
    s.mean_hi = 0.05;
    check_refused(s, CAUCUS_E_RANGE, "means", "0.1,0.05 (accepted: a lower and a higher number from 0 to 1");
    s.mean_hi = 1.5;
    check_refused(s, CAUCUS_E_RANGE, "means", "0.1,1.5");
    s = good, s.mean_lo = (double)NAN;
    check_refused(s, CAUCUS_E_RANGE, "means", "nan,0.5");
    s = good, s.spread = -0.1;
    check_refused(s, CAUCUS_E_RANGE, "spread", "-0.1 (accepted: 0 to 1)");
    s = good, s.drift = 2;
    check_refused(s, CAUCUS_E_RANGE, "drift", "2 (accepted: 0 to 1)");
    s = good, s.segments = 101;
    check_refused(s, CAUCUS_E_RANGE, "segments", "101 (accepted with 100 rounds: 1 to 100)");
    s = good, s.kind = CAUCUS_ADVERSARY_CROSS_ENTROPY, s.convex = true, s.segments = 2;
    check_refused(s, CAUCUS_E_RANGE, "segments", "2 (accepted with convex losses: 1");
    s = good, s.kind = CAUCUS_ADVERSARY_SHIFTING, s.experts = 1u << 20, s.segments = 17;
    check_refused(s, CAUCUS_E_RANGE, "segments", "17 (accepted by shifting with 1048576 experts: at most 16");
}

int main(void) {
    print_message("seed %u\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_plain), cmocka_unit_test(test_long_walks),   cmocka_unit_test(test_default_means),
        cmocka_unit_test(test_segments),     cmocka_unit_test(test_shifting_law), cmocka_unit_test(test_walk_law),
        cmocka_unit_test(test_spread_law),   cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
