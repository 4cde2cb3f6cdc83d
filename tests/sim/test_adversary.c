/* SPDX-License-Identifier: Apache-2.0 */
/* test_adversary.c: every adversary has the law and the structure its name promises, and is a pure function.
 *
 * Statistical checks refuse a standard normal score beyond 4.9: false alarm 1e-6 per check. Seed fixed and printed. */
#include "sim/adversary.h"
#include "sim/refused_adversary.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SEED 7u
#define SCORE_MAX 4.9

typedef struct game {
    caucus_adversary *adversary;
    caucus_adversary_trial *trial;
    uint32_t m, d, T;
} game;

static game open_game(caucus_adversary_kind kind, uint32_t m, uint32_t d, uint32_t T, uint32_t trial) {
    game g = {.m = m, .d = d, .T = T};
    caucus_adversary_settings settings = {
        .kind = kind, .seed = SEED, .clients = m, .experts = d, .rounds = T, .epsilon = 0.1, .drift = 0.01};
    settings.segments = kind == CAUCUS_ADVERSARY_SHIFTING && T > 7 ? 7 : 1;
    settings.convex = kind == CAUCUS_ADVERSARY_CROSS_ENTROPY;
    caucus_error error = {0};
    if (caucus_adversary_open(&settings, &g.adversary, &error) != CAUCUS_OK)
        print_error("%s: %s\n", error.field, error.text);
    assert_non_null(g.adversary);
    assert_int_equal(caucus_adversary_trial_new(g.adversary, trial, &g.trial), CAUCUS_OK);
    return g;
}

static void close_game(game *g) {
    caucus_adversary_trial_free(g->trial);
    caucus_adversary_close(g->adversary);
}

static float *rows_of(const game *g, uint32_t client) {
    float *rows = malloc((size_t)g->T * g->d * sizeof *rows);
    assert_non_null(rows);
    caucus_adversary_fill(g->trial, client, 0, g->T, rows);
    return rows;
}

static void check_score(const char *what, double score) {
    if (!(fabs(score) <= SCORE_MAX))
        print_error("%s: score %.2f (seed %u)\n", what, score, SEED);
    assert_true(fabs(score) <= SCORE_MAX);
}

static void test_words(void **state) {
    (void)state;
    for (int k = 0; k < CAUCUS_ADVERSARY_COUNT; k++) {
        caucus_adversary_kind kind = CAUCUS_ADVERSARY_COUNT;
        assert_int_equal(caucus_adversary_kind_parse(caucus_adversary_kind_word((caucus_adversary_kind)k), &kind, NULL),
                         CAUCUS_OK);
        assert_int_equal(kind, k);
        assert_true(strlen(caucus_adversary_kind_help(kind)) > 10);
    }
    caucus_adversary_kind kind;
    caucus_error error;
    assert_int_equal(caucus_adversary_kind_parse("gausian", &kind, &error), CAUCUS_E_RANGE);
    assert_non_null(strstr(error.text, "'gausian' (accepted: gaussian, bernoulli"));
    char end[64]; /* of the list, which fits */
    (void)snprintf(end, sizeof end, ", %s)",
                   caucus_adversary_kind_word((caucus_adversary_kind)(CAUCUS_ADVERSARY_COUNT - 1)));
    assert_non_null(strstr(error.text, end));
    assert_string_equal(caucus_adversary_kind_word(CAUCUS_ADVERSARY_COUNT), "?");
}

/* Rows asked for one by one, in pieces and backwards equal rows asked for at once, for awkward d; a second trial and a
 * second client differ where they should. */
static void test_random_access(void **state) {
    (void)state;
    const uint32_t sizes[] = {2, 3, 18, 100, 1500};
    for (int k = 0; k < CAUCUS_ADVERSARY_COUNT; k++)
        for (size_t s = 0; k != CAUCUS_ADVERSARY_MOVIELENS && k != CAUCUS_ADVERSARY_LOSSES && s < 5; s++) {
            game g = open_game((caucus_adversary_kind)k, 3, sizes[s], 53, 5);
            float *rows = rows_of(&g, 2), *part = malloc(53 * (size_t)g.d * sizeof *part);
            double *wide = malloc(53 * (size_t)g.d * sizeof *wide);
            assert_true(part != NULL && wide != NULL);
            for (uint32_t at = 53, step = 1; at > 0; step = step % 7 + 2) {
                uint32_t n = step < at ? step : at;
                at -= n;
                caucus_adversary_fill(g.trial, 2, at, n, part);
                assert_memory_equal(part, rows + (size_t)at * g.d, n * (size_t)g.d * sizeof *part);
            }
            caucus_adversary_fill64(g.trial, 2, 3, 50, wide);
            for (size_t i = 0; i < 50 * (size_t)g.d; i++)
                assert_true(wide[i] == (double)rows[3 * (size_t)g.d + i]);
            for (size_t i = 0; i < 53 * (size_t)g.d; i++)
                assert_true(rows[i] >= 0.0f && rows[i] <= 1.0f);
            double lo, hi;
            caucus_adversary_range(g.adversary, &lo, &hi);
            assert_true(lo == 0.0 && hi == 1.0 && !caucus_adversary_is_wide(g.adversary));
            free(rows);
            free(part);
            free(wide);
            close_game(&g);
        }
}

/* The same trial opened twice is the same; trials, clients and seeds differ; m and T play no part in a random law. */
static void test_what_it_depends_on(void **state) {
    (void)state;
    game a = open_game(CAUCUS_ADVERSARY_GAUSSIAN, 3, 10, 64, 1),
         b = open_game(CAUCUS_ADVERSARY_GAUSSIAN, 9, 10, 128, 1);
    game c = open_game(CAUCUS_ADVERSARY_GAUSSIAN, 3, 10, 64, 2);
    float *ra = rows_of(&a, 1), *rb = rows_of(&b, 1), *rc = rows_of(&c, 1), *other = rows_of(&a, 2);
    assert_memory_equal(ra, rb, 640 * sizeof *ra);
    assert_memory_not_equal(ra, rc, 640 * sizeof *ra);
    assert_memory_not_equal(ra, other, 640 * sizeof *ra);
    free(ra), free(rb), free(rc), free(other);
    close_game(&a), close_game(&b), close_game(&c);
}

/* Mean of a clamped normal: E clamp(X, 0, 1). */
static double clamped_mean(double mu, double sigma) {
    double a = -mu / sigma, b = (1 - mu) / sigma, pa = 0.5 * erfc(-a * M_SQRT1_2), pb = 0.5 * erfc(-b * M_SQRT1_2);
    double da = exp(-a * a / 2) / sqrt(2 * M_PI), db = exp(-b * b / 2) / sqrt(2 * M_PI);
    return mu * (pb - pa) + sigma * (da - db) + (1 - pb);
}

/* Averaged over trials, experts and clients: the mean loss, the mass at 0 and 1, by integrating over mu and sigma^2. */
static void test_gaussian_law(void **state) {
    (void)state;
    enum { TRIALS = 400, D = 50, T = 40, GRID = 400 };
    double mean = 0, zero = 0;
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < GRID; j++) {
            double mu = (i + 0.5) / GRID, sigma = sqrt((j + 0.5) / GRID);
            mean += clamped_mean(mu, sigma) / (GRID * GRID);
            zero += 0.5 * erfc(mu / sigma * M_SQRT1_2) / (GRID * GRID);
        }
    /* One value per (trial, expert): its T losses share mu and sigma, so the spread is measured over these. */
    double sums[2] = {0}, squares[2] = {0};
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        game g = open_game(CAUCUS_ADVERSARY_GAUSSIAN, 2, D, T, trial);
        float *rows = rows_of(&g, 1 + trial % 2);
        for (int n = 0; n < D; n++) {
            double v[2] = {0};
            for (int t = 0; t < T; t++) {
                v[0] += (double)rows[t * D + n] / T;
                v[1] += (rows[t * D + n] == 0.0f) / (double)T;
            }
            for (int k = 0; k < 2; k++) {
                sums[k] += v[k];
                squares[k] += v[k] * v[k];
            }
        }
        free(rows);
        close_game(&g);
    }
    const double n = (double)TRIALS * D, expected[2] = {mean, zero};
    for (int k = 0; k < 2; k++) {
        double average = sums[k] / n, spread = sqrt((squares[k] / n - average * average) / n);
        check_score(k == 0 ? "mean" : "mass at 0", (average - expected[k]) / spread);
    }
}

static void test_bernoulli_law(void **state) {
    (void)state;
    game g = open_game(CAUCUS_ADVERSARY_BERNOULLI, 2, 200, 4000, 0);
    float *a = rows_of(&g, 1), *b = rows_of(&g, 2);
    double total = 0;
    for (uint32_t n = 0; n < g.d; n++) {
        double pa = 0, pb = 0;
        for (uint32_t t = 0; t < g.T; t++) {
            assert_true(a[t * g.d + n] == 0.0f || a[t * g.d + n] == 1.0f);
            pa += (double)a[t * g.d + n] / g.T;
            pb += (double)b[t * g.d + n] / g.T;
        }
        /* Both clients share the expert's mean, which lies in [0.3, 0.7]. */
        check_score("clients", (pa - pb) / sqrt(0.5 / g.T));
        double margin = SCORE_MAX * 0.5 / sqrt(g.T);
        assert_true(pa > 0.3 - margin && pa < 0.7 + margin);
        total += pa;
    }
    check_score("means", (total / g.d - 0.5) / sqrt(0.16 / 12 / g.d));
    free(a), free(b);
    close_game(&g);
}

static void test_realizable(void **state) {
    (void)state;
    enum { D = 20, T = 300 };
    int hidden_seen[D] = {0};
    double total = 0, count = 0;
    for (uint32_t trial = 0; trial < 400; trial++) {
        game g = open_game(CAUCUS_ADVERSARY_REALIZABLE, 3, D, T, trial);
        float *rows = rows_of(&g, 1), *other = rows_of(&g, 3);
        int hidden = -1;
        for (int n = 0; n < D; n++) {
            double cost = 0;
            for (int t = 0; t < T; t++)
                cost += (double)rows[t * D + n] + (double)other[t * D + n];
            if (cost == 0.0) {
                assert_int_equal(hidden, -1);
                hidden = n;
            } else {
                total += cost;
                count += 2 * T;
            }
        }
        assert_true(hidden >= 0);
        hidden_seen[hidden]++;
        free(rows), free(other);
        close_game(&g);
    }
    check_score("mean", (total - count / 2) / sqrt(count / 12));
    double chi = 0;
    for (int n = 0; n < D; n++)
        chi += (hidden_seen[n] - 20.0) * (hidden_seen[n] - 20.0) / 20.0;
    assert_true(chi < 66); /* 19 degrees of freedom: p = 5e-7 */
}

static void test_halving(void **state) {
    (void)state;
    const uint32_t shapes[][2] = {{2, 10}, {100, 512}, {7, 3}, {64, 64}, {65, 9}};
    for (size_t s = 0; s < 5; s++) {
        game g = open_game(CAUCUS_ADVERSARY_HALVING, 2, shapes[s][0], shapes[s][1], 1);
        float *rows = rows_of(&g, 1), *same = rows_of(&g, 2);
        assert_memory_equal(rows, same, (size_t)g.T * g.d * sizeof *rows);
        uint32_t blocks = 0;
        for (uint32_t v = 1; v < g.d; v *= 2)
            blocks++;
        uint32_t length = g.T / (blocks + 1) > 0 ? g.T / (blocks + 1) : 1, keep = g.d;
        for (uint32_t t = 0; t < g.T; t++) {
            if (t % length == 0)
                keep = (keep + 1) / 2;
            uint32_t good = 0;
            for (uint32_t n = 0; n < g.d; n++) {
                good += rows[(size_t)t * g.d + n] == 0.0f;
                if (t > 0 && t / length < blocks) /* bad stays bad */
                    assert_true(rows[(size_t)t * g.d + n] >= rows[(size_t)(t - 1) * g.d + n]);
            }
            assert_int_equal(good, t / length < blocks ? keep : g.d);
        }
        free(rows), free(same);
        close_game(&g);
    }
}

static void test_creeping(void **state) {
    (void)state;
    const uint32_t shapes[][2] = {{2, 10}, {100, 512}, {100, 30}};
    for (size_t s = 0; s < 3; s++) {
        game g = open_game(CAUCUS_ADVERSARY_CREEPING, 2, shapes[s][0], shapes[s][1], 1);
        float *rows = rows_of(&g, 2);
        for (uint32_t t = 0; t < g.T; t++) {
            uint32_t bad = 0;
            for (uint32_t n = 0; n < g.d; n++) {
                bad += rows[(size_t)t * g.d + n] == 1.0f;
                if (t > 0)
                    assert_true(rows[(size_t)t * g.d + n] >= rows[(size_t)(t - 1) * g.d + n]);
            }
            assert_int_equal(bad, 1 + (uint64_t)t * (g.d - 1) / g.T);
        }
        free(rows);
        close_game(&g);
    }
}

/* epsilon 0.1, d = 100: floor(ln 100/0.2) = 23 elements, the last in time-major order. */
static void test_lower_bound_realizable(void **state) {
    (void)state;
    game g = open_game(CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE, 10, 100, 32, 3);
    uint32_t elements = 0, hidden = UINT32_MAX;
    for (uint32_t i = 1; i <= 10; i++) {
        float *rows = rows_of(&g, i);
        for (uint32_t t = 0; t < g.T; t++) {
            uint32_t cost = 0, good = 0;
            for (uint32_t n = 0; n < g.d; n++) {
                cost += rows[(size_t)t * g.d + n] == 1.0f;
                good = rows[(size_t)t * g.d + n] == 0.0f ? n : good;
            }
            bool loud = t * 10 + i - 1 >= 320 - 23;
            assert_int_equal(cost, loud ? 99 : 0);
            elements += loud;
            if (loud) {
                assert_true(hidden == UINT32_MAX || hidden == good);
                hidden = good;
            }
        }
        free(rows);
    }
    assert_int_equal(elements, 23);
    close_game(&g);
}

static void test_lower_bound_oblivious(void **state) {
    (void)state;
    game g = open_game(CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS, 4, 50, 2000, 0);
    float *a = rows_of(&g, 1), *b = rows_of(&g, 4);
    assert_memory_equal(a, b, 100000 * sizeof *a);
    double sum = 0;
    for (size_t i = 0; i < 100000; i++)
        sum += (double)a[i];
    check_score("coins", (sum - 50000) / sqrt(25000));
    free(a), free(b);
    close_game(&g);
}

/* The linear loss is the convex value at vertices; the gradient is that of the value; few are beyond alpha. */
static void test_cross_entropy(void **state) {
    (void)state;
    const uint32_t sizes[] = {2, 18, 100, 1300};
    for (size_t s = 0; s < 4; s++) {
        game g = open_game(CAUCUS_ADVERSARY_CROSS_ENTROPY, 2, sizes[s], 20, 1);
        double *x = calloc(g.d, sizeof *x), *gradient = calloc(g.d, sizeof *gradient), alpha, beta;
        assert_true(x != NULL && gradient != NULL);
        float *rows = rows_of(&g, 2);
        caucus_adversary_smoothness(g.adversary, &alpha, &beta);
        assert_true(alpha > 0 && beta > 0);
        uint64_t clipped = 0;
        for (uint32_t t = 0; t < g.T; t++) {
            double truths = 0, gain = 1 + log(0.9 + 0.1 / g.d) / log(g.d / 0.1);
            for (uint32_t n = 0; n < g.d; n++)
                truths += (1 - (double)rows[(size_t)t * g.d + n]) / gain;
            assert_true(fabs(truths - 1) < 1e-4); /* y sums to 1 */
            for (uint32_t n = 0; n < g.d; n += g.d / 7 + 1) {
                x[n] = 1;
                assert_true(fabs(caucus_adversary_value(g.trial, 2, t, x) - (double)rows[(size_t)t * g.d + n]) < 1e-6);
                caucus_adversary_gradient(g.trial, 2, t, x, gradient);
                for (uint32_t k = 0; k < g.d; k++)
                    clipped += gradient[k] < -alpha;
                x[n] = 0;
            }
            for (uint32_t n = 0; n < g.d; n++)
                x[n] = 1.0 / g.d;
            caucus_adversary_gradient(g.trial, 2, t, x, gradient);
            for (uint32_t n = 0; n < g.d; n += g.d / 5 + 1) {
                double h = 1e-6 / g.d, here = x[n];
                x[n] = here + h;
                double up = caucus_adversary_value(g.trial, 2, t, x);
                x[n] = here - h;
                double down = caucus_adversary_value(g.trial, 2, t, x);
                x[n] = here;
                assert_true(gradient[n] < 0);
                assert_true(fabs((up - down) / (2 * h) - gradient[n]) < 1e-3 * fabs(gradient[n]) + 1e-3);
            }
            memset(x, 0, g.d * sizeof *x);
        }
        assert_true((double)clipped < 0.005 * 7 * 20 * g.d);
        free(x), free(gradient), free(rows);
        close_game(&g);
    }
}

typedef struct job {
    const game *g;
    uint32_t client;
    float *rows;
} job;

static void *fill_in_thread(void *argument) {
    job *j = argument;
    for (uint32_t t = 0; t < j->g->T; t++)
        caucus_adversary_fill(j->g->trial, j->client, t, 1, j->rows + (size_t)t * j->g->d);
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    game g = open_game(CAUCUS_ADVERSARY_CROSS_ENTROPY, 4, 33, 200, 0);
    job jobs[4];
    pthread_t threads[4];
    for (uint32_t i = 0; i < 4; i++) {
        jobs[i] = (job){&g, i + 1, malloc(200 * 33 * sizeof(float))};
        assert_non_null(jobs[i].rows);
        assert_int_equal(pthread_create(&threads[i], NULL, fill_in_thread, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        float *rows = rows_of(&g, i + 1);
        assert_memory_equal(rows, jobs[i].rows, 200 * 33 * sizeof *rows);
        free(rows);
        free(jobs[i].rows);
    }
    close_game(&g);
}

static void test_refusals(void **state) {
    (void)state;
    caucus_adversary_settings good = {.kind = CAUCUS_ADVERSARY_GAUSSIAN, .clients = 1, .experts = 2, .rounds = 1}, s;
    s = good;
    s.clients = 0;
    check_refused(s, CAUCUS_E_RANGE, "clients", "0 (accepted: 1 to 16777216)");
    s = good;
    s.experts = 1;
    check_refused(s, CAUCUS_E_RANGE, "experts", "1 (accepted: 2 to 1048576)");
    s = good;
    s.rounds = (1u << 30) + 1;
    check_refused(s, CAUCUS_E_RANGE, "rounds", "accepted: 1 to 1073741824");
    s = good;
    s.convex = true;
    check_refused(s, CAUCUS_E_RANGE, "loss-shape", "cross-entropy alone is convex");
    s = good;
    s.kind = CAUCUS_ADVERSARY_COUNT;
    check_refused(s, CAUCUS_E_RANGE, "adversary", "missing");
    s = good;
    s.kind = CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE;
    s.experts = 100, s.epsilon = 10;
    check_refused(s, CAUCUS_E_INFEASIBLE, "epsilon", "feasible: at most ln(100)/2 = 2.3025");
    s.epsilon = 3;
    check_refused(s, CAUCUS_E_INFEASIBLE, "epsilon", "at most ln(100)/2 = 2.3025, or at least 404 experts");
    s.epsilon = 0.001;
    check_refused(s, CAUCUS_E_INFEASIBLE, "epsilon", "0.001 asks for 2302 losses, clients × rounds is 1");
    s.epsilon = 0;
    check_refused(s, CAUCUS_E_RANGE, "epsilon", "above 0");
    s = good;
    s.kind = CAUCUS_ADVERSARY_MOVIELENS;
    check_refused(s, CAUCUS_E_RANGE, "data", "missing");
    s = good;
    s.kind = CAUCUS_ADVERSARY_LOSSES;
    check_refused(s, CAUCUS_E_RANGE, "losses", "missing");
}

/* A file written here: 3 clients, 4 rounds, 5 experts, value = its index. */
static void test_losses_file(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        char path[] = "/tmp/caucus-losses-XXXXXX", header[119];
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        snprintf(header, sizeof header, "{'descr': '<f%d', 'fortran_order': False, 'shape': (3, 4, 5), }%54s\n",
                 wide ? 8 : 4, "");
        size_t length = strlen(header);
        uint8_t start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)length, 0};
        assert_int_equal(write(fd, start, sizeof start), sizeof start);
        assert_int_equal(write(fd, header, length), length);
        for (int k = 0; k < 60; k++) {
            double value = k / 60.0;
            float narrow = (float)value;
            assert_true(write(fd, wide ? (void *)&value : (void *)&narrow, wide ? 8 : 4) > 0);
        }
        close(fd);
        caucus_adversary_settings settings = {.kind = CAUCUS_ADVERSARY_LOSSES, .losses = path};
        caucus_adversary *adversary = NULL;
        caucus_adversary_trial *trial = NULL;
        assert_int_equal(caucus_adversary_open(&settings, &adversary, NULL), CAUCUS_OK);
        assert_int_equal(caucus_adversary_trial_new(adversary, 9, &trial), CAUCUS_OK);
        uint32_t m, d;
        uint64_t T;
        caucus_adversary_shape(adversary, &m, &d, &T);
        assert_true(m == 3 && T == 4 && d == 5 && caucus_adversary_is_wide(adversary) == (wide == 1));
        float row[10];
        double row64[10];
        caucus_adversary_fill(trial, 2, 1, 2, row);
        caucus_adversary_fill64(trial, 2, 1, 2, row64);
        for (int k = 0; k < 10; k++) {
            double value = (25 + k) / 60.0;
            assert_true(row[k] == (float)value && row64[k] == (wide ? value : (double)(float)value));
        }
        caucus_adversary_trial_free(trial);
        caucus_adversary_close(adversary);
        settings.experts = 6;
        check_refused(settings, CAUCUS_E_CONFLICT, "",
                      "shape (3, 4, 5) — too small for 3 clients, 4 rounds, or not 6 experts");
        settings.experts = 5, settings.rounds = 5;
        check_refused(settings, CAUCUS_E_CONFLICT, "", "too small for 3 clients, 5 rounds");
        unlink(path);
    }
}

/* Two users, one film per genre. Every user is met once; losses are those of movielens.h. */
static void test_movielens(void **state) {
    (void)state;
    char directory[] = "/tmp/caucus-adv-XXXXXX", movies[64], ratings[64];
    assert_non_null(mkdtemp(directory));
    snprintf(movies, sizeof movies, "%s/movies.dat", directory);
    snprintf(ratings, sizeof ratings, "%s/ratings.dat", directory);
    FILE *file = fopen(movies, "w");
    assert_non_null(file);
    fputs("1::A::Drama\n2::B::War\n", file);
    fclose(file);
    file = fopen(ratings, "w");
    assert_non_null(file);
    for (int user = 1; user <= 12; user++)
        fprintf(file, "%d::1::%d::0\n", user, user % 5 + 1);
    fclose(file);
    caucus_adversary_settings settings = {.kind = CAUCUS_ADVERSARY_MOVIELENS, .data = directory, .clients = 3};
    caucus_adversary *adversary = NULL;
    assert_int_equal(caucus_adversary_open(&settings, &adversary, NULL), CAUCUS_OK);
    uint32_t m, d;
    uint64_t T;
    caucus_adversary_shape(adversary, &m, &d, &T);
    assert_true(m == 3 && d == 2 && T == 4);
    double lo, hi;
    caucus_adversary_range(adversary, &lo, &hi);
    assert_true(lo == 0.0 && hi == 5.0);
    assert_string_equal(caucus_adversary_expert_name(adversary, caucus_adversary_best_genre(adversary)), "Drama");
    for (uint32_t number = 0; number < 5; number++) {
        caucus_adversary_trial *trial = NULL;
        assert_int_equal(caucus_adversary_trial_new(adversary, number, &trial), CAUCUS_OK);
        int seen[6] = {0};
        for (uint32_t client = 1; client <= 3; client++) {
            float rows[8];
            caucus_adversary_fill(trial, client, 0, 4, rows);
            for (int t = 0; t < 4; t++) {
                assert_true(rows[2 * t] == 0.0f);
                seen[(int)rows[2 * t + 1]]++;
            }
        }
        /* Ratings 2, 3, 4, 5, 1, 2, ...: 1 twice (users 5, 10), 2 and 3 three times, 4 and 5 twice. */
        assert_true(seen[1] == 2 && seen[2] == 3 && seen[3] == 3 && seen[4] == 2 && seen[5] == 2);
        caucus_adversary_trial_free(trial);
    }
    caucus_adversary_close(adversary);
    settings.rounds = 5;
    check_refused(settings, CAUCUS_E_CONFLICT, "rounds",
                  "3 clients × 5 rounds need as many users, movielens has 12 (accepted: at most 4 rounds)");
    settings.rounds = 0, settings.clients = 13;
    check_refused(settings, CAUCUS_E_RANGE, "clients",
                  "13 (every round of a client is another user, movielens has 12: at most 12 clients)");
    settings.clients = 3, settings.rounds = 4, settings.experts = 18;
    check_refused(settings, CAUCUS_E_CONFLICT, "experts", "18 (movielens has 2, its genres)");
    settings.experts = 2, settings.genre = "Opera";
    check_refused(settings, CAUCUS_E_RANGE, "genre", "'Opera' (accepted: Drama, War)");
    settings.genre = CAUCUS_GENRE_FROM_DATA;
    assert_int_equal(caucus_adversary_open(&settings, &adversary, NULL), CAUCUS_OK);
    assert_int_equal(caucus_adversary_best_genre(adversary), 0);
    caucus_adversary_close(adversary);
    unlink(movies);
    unlink(ratings);
    rmdir(directory);
}

int main(void) {
    print_message("seed %u\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_random_access),
        cmocka_unit_test(test_what_it_depends_on),
        cmocka_unit_test(test_gaussian_law),
        cmocka_unit_test(test_bernoulli_law),
        cmocka_unit_test(test_realizable),
        cmocka_unit_test(test_halving),
        cmocka_unit_test(test_creeping),
        cmocka_unit_test(test_lower_bound_realizable),
        cmocka_unit_test(test_lower_bound_oblivious),
        cmocka_unit_test(test_cross_entropy),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_losses_file),
        cmocka_unit_test(test_movielens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
