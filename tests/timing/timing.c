/* SPDX-License-Identifier: Apache-2.0 */
/* timing.c: does the time of a selection or a draw tell anything about scores or noise (docs/PRIVACY.md,
 * statement 30)?
 *
 * Usage: timing [RUNS]      RUNS per mode and measurement, 100000 unless said
 *
 * Selections and votes: two classes of scores, all equal and one far ahead of a spread. Thresholds, checks and K-norm
 * add noise to what they are given and do nothing else with it, so their classes are small and large noise: streams are
 * sorted beforehand by what they will give. Classes are mixed at random in one run (welch.h).
 * A mode fails if three measurements in a row say that time depends on the class, all with the same sign: a correct one
 * does so with probability below (2.1e-5)^3, and there are 14. Those that are known to leak must be found out by the
 * first, with a tenth of the runs. Needs keys that are not seeded: for seeded ones the samplers may take less time. */
#include "rejection.h"
#include "welch.h"

#include "dp/choose.h"
#include "dp/real.h"
#include "num/checked.h"

#include <caucus/caucus.h>

#include <stdio.h>
#include <time.h>

#define D_MAX 1000
#define BATCH 1000

static int64_t scores[2][D_MAX], score[D_MAX], noisy[D_MAX];
static uint32_t scratch[D_MAX];
static caucus_key live, seeded;
static caucus_stream stream;
static caucus_threshold at;
static volatile uint64_t sink;

static const caucus_rational select_rate = {5, (uint64_t)1 << 21};            /* epsilon 5, grid 2^20 */
static const caucus_noise geometric = {CAUCUS_NOISE_GEOMETRIC, {3, 1 << 20}}; /* epsilon 3 */
static const caucus_noise laplace = {CAUCUS_NOISE_LAPLACE, {3, 1 << 20}};
static const caucus_noise knorm = {CAUCUS_NOISE_KNORM, {1, 1 << 20}}; /* epsilon 1 */

static uint64_t ticks(void) {
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("mfence\n\tlfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

/* A mode: what is timed, and how the class of a stream is known before. */
typedef struct mode {
    const char *name;
    uint32_t d;
    void (*run)(uint32_t d, uint32_t index);
    int (*class_of)(uint32_t d, uint32_t index); /* 0, 1, or -1 for neither; NULL: scores make the class */
    bool leaks;
} mode;

static void open_stream(const caucus_key *key, uint32_t index) {
    caucus_stream_init(&stream, key, CAUCUS_PURPOSE_TEST, 0, index, 0);
}

static void run_flip(uint32_t d, uint32_t index) {
    open_stream(&live, index);
    sink += caucus_select_flip(&stream, score, d, select_rate);
}

/* As a client votes: its own sums, its own rate, a stream that is wiped. */
static void run_vote(uint32_t d, uint32_t index) {
    caucus_stream own;
    caucus_stream_init(&own, &live, CAUCUS_PURPOSE_MESSAGE, 3, index, 0);
    sink += caucus_select_flip(&own, score, d, (caucus_rational){1, (uint64_t)1 << 21});
    caucus_stream_wipe(&own);
}

static void run_exponential(uint32_t d, uint32_t index) {
    open_stream(&live, index);
    sink += caucus_select_exponential(&stream, score, d, select_rate);
}

static void run_noisy_min(uint32_t d, uint32_t index) {
    open_stream(&live, index);
    sink += caucus_select_noisy_min(&stream, score, d, select_rate);
}

static void run_threshold(uint32_t d, uint32_t index) {
    (void)d;
    open_stream(&live, index);
    caucus_threshold_begin(&at, 1, 1, 1 << 21, &geometric, &stream);
}

static void run_check(uint32_t d, uint32_t index) {
    (void)d;
    bool fired = false;
    at.open = true;
    open_stream(&live, index);
    sink += caucus_threshold_check(&at, &geometric, &stream, &fired) == CAUCUS_OK && fired;
}

static void run_check_laplace(uint32_t d, uint32_t index) {
    (void)d;
    bool fired = false;
    at.open = true;
    open_stream(&live, index);
    sink += caucus_threshold_check(&at, &laplace, &stream, &fired) == CAUCUS_OK && fired;
}

static void run_knorm(uint32_t d, uint32_t index) {
    open_stream(&live, index);
    memset(noisy, 0, d * sizeof *noisy);
    caucus_noise_add(&stream, &knorm, noisy, d);
}

static void old_exponential(uint32_t d, uint32_t index) {
    open_stream(&live, index);
    sink += rejection_exponential(&stream, score, d, select_rate);
}

static void old_flip(uint32_t d, uint32_t index) {
    open_stream(&live, index);
    sink += rejection_flip(&stream, score, d, select_rate, scratch);
}

static void old_check(uint32_t d, uint32_t index) {
    (void)d;
    open_stream(&live, index);
    sink += caucus_add_saturating(at.q, caucus_geometric(&stream, geometric.parameter)) > at.theta;
}

static void old_knorm(uint32_t d, uint32_t index) {
    open_stream(&live, index);
    caucus_knorm(&stream, knorm.parameter, noisy, d);
}

/* Small below `low`, large above `high`. */
static int split(double value, double low, double high) {
    return value < low ? 0 : value > high ? 1 : -1;
}

static int class_of_draw(const caucus_noise *noise, uint32_t index) {
    open_stream(&seeded, index);
    double scale = (double)noise->parameter.den / (double)noise->parameter.num;
    return split(fabs((double)caucus_noise_draw(&stream, noise)), 0.4 * scale, 1.2 * scale);
}

static int class_of_geometric(uint32_t d, uint32_t index) {
    (void)d;
    return class_of_draw(&geometric, index);
}

static int class_of_laplace(uint32_t d, uint32_t index) {
    (void)d;
    return class_of_draw(&laplace, index);
}

static int class_of_old_geometric(uint32_t d, uint32_t index) {
    (void)d;
    open_stream(&seeded, index);
    double scale = (double)geometric.parameter.den / (double)geometric.parameter.num;
    return split((double)caucus_geometric(&stream, geometric.parameter), 0.4 * scale, 1.2 * scale);
}

/* By the largest coordinate, whose law has its mean near d/rate and a deviation of about sqrt(d)/rate. */
static int class_of_cube(uint32_t d) {
    double most = 0, scale = (double)knorm.parameter.den / (double)knorm.parameter.num;
    for (uint32_t n = 0; n < d; n++)
        most = fabs((double)noisy[n]) > most ? fabs((double)noisy[n]) : most;
    return split(most, (d - 0.3 * sqrt(d)) * scale, (d + 0.3 * sqrt(d)) * scale);
}

static int class_of_knorm(uint32_t d, uint32_t index) {
    open_stream(&seeded, index);
    memset(noisy, 0, d * sizeof *noisy);
    caucus_noise_add(&stream, &knorm, noisy, d);
    return class_of_cube(d);
}

static int class_of_old_knorm(uint32_t d, uint32_t index) {
    open_stream(&seeded, index);
    caucus_knorm(&stream, knorm.parameter, noisy, d);
    return class_of_cube(d);
}

static const mode modes[] = {
    {"permute-and-flip", 100, run_flip, NULL, false},
    {"permute-and-flip", 1000, run_flip, NULL, false},
    {"vote", 100, run_vote, NULL, false},
    {"vote", 1000, run_vote, NULL, false},
    {"exponential", 100, run_exponential, NULL, false},
    {"exponential", 1000, run_exponential, NULL, false},
    {"noisy-min", 100, run_noisy_min, NULL, false},
    {"threshold", 1, run_threshold, class_of_geometric, false},
    {"check", 1, run_check, class_of_geometric, false},
    {"check by score", 1, run_check, NULL, false},
    {"check, Laplace noise", 1, run_check_laplace, class_of_laplace, false},
    {"K-norm", 8, run_knorm, class_of_knorm, false},
    {"K-norm", 100, run_knorm, class_of_knorm, false},
    {"K-norm", 1000, run_knorm, class_of_knorm, false},
    {"by rejection: exponential", 100, old_exponential, NULL, true},
    {"by rejection: exponential", 1000, old_exponential, NULL, true},
    {"by rejection: permute-and-flip", 100, old_flip, NULL, true},
    {"by rejection: permute-and-flip", 1000, old_flip, NULL, true},
    {"by rejection: check", 1, old_check, class_of_old_geometric, true},
    {"by rejection: K-norm", 100, old_knorm, class_of_old_knorm, true},
};
#define MODES (sizeof modes / sizeof *modes)

/* Fill a batch with streams of both classes, each equally likely. */
static void plan_batch(const mode *m, caucus_stream *random, uint32_t *next, uint32_t *index, unsigned *class) {
    for (unsigned i = 0; i < BATCH; i++) {
        class[i] = (unsigned)(caucus_stream_next(random) & 1);
        index[i] = (*next)++;
        while (m->class_of != NULL && m->class_of(m->d, index[i]) != (int)class[i])
            index[i] = (*next)++;
    }
}

/* Both tables are read for either class: where scores were before must not matter to the cache. */
static void put_scores(unsigned class, uint32_t d) {
    for (uint32_t n = 0; n < d; n++)
        score[n] = (int64_t)caucus_pick(caucus_mask(class == 1), (uint64_t)scores[1][n], (uint64_t)scores[0][n]);
}

static double measure(const mode *m, welch_run *run, size_t runs, caucus_stream *random, uint32_t *next,
                      double *ret_median) {
    uint32_t index[BATCH];
    unsigned class[BATCH];
    for (size_t done = 0; done < runs; done++) {
        unsigned i = (unsigned)(done % BATCH);
        if (i == 0)
            plan_batch(m, random, next, index, class);
        put_scores(m->class_of == NULL ? class[i] : 0, m->d);
        at.q = m->class_of == NULL ? (int64_t) class[i] << 21 : 0; /* for checks: far below the threshold, or at it */
        uint64_t start = ticks();
        m->run(m->d, index[i]);
        run[done] = (welch_run){ticks() - start, class[i]};
    }
    return welch_verdict(run, runs, ret_median);
}

/* True if the mode is as it should be. */
static bool judge(const mode *m, welch_run *run, size_t runs, caucus_stream *random, uint32_t *next) {
    double t[3] = {0}, median = 0;
    int tries = 0;
    size_t now = m->leaks ? runs / 10 : runs;
    do
        t[tries] = measure(m, run, now, random, next, &median);
    while (++tries < (m->leaks ? 1 : 3) && fabs(t[tries - 1]) >= WELCH_LIMIT && t[tries - 1] * t[0] > 0);
    double last = t[tries - 1];
    bool found = fabs(last) >= WELCH_LIMIT && last * t[0] > 0;
    printf("%-32s d %5u  %8zu runs  median %9.0f ticks  t %9.2f", m->name, m->d, now, median, t[0]);
    for (int i = 1; i < tries; i++)
        printf(", again %.2f", t[i]);
    printf("  %s\n", found ? m->leaks ? "found, as it must be" : "LEAKS" : m->leaks ? "NOT FOUND: no power" : "ok");
    fflush(stdout);
    return found == m->leaks;
}

int main(int argc, char **argv) {
    size_t runs = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 100000;
    if (runs < 10000 || caucus_key_generate(&live) != CAUCUS_OK) {
        fprintf(stderr, "usage: timing [RUNS, at least 10000]\n");
        return 2;
    }
    seeded = live;
    seeded.seeded = true; /* the same words, less work: only to know beforehand what a stream will give */
    caucus_stream random;
    caucus_stream_init(&random, &live, CAUCUS_PURPOSE_TEST, 1, 0, 0);
    for (uint32_t n = 0; n < D_MAX; n++)
        scores[1][n] = n == 17 ? 0 : (int64_t)((30 + caucus_stream_next(&random) % 40) << 20);
    welch_run *run = malloc(runs * sizeof *run);
    if (run == NULL)
        return 1;
    bool good = true;
    uint32_t next = 0;
    caucus_threshold_begin(&at, 1, 1, 1 << 21, &geometric, &random);
    for (size_t i = 0; i < MODES; i++)
        good &= judge(&modes[i], run, runs, &random, &next);
    free(run);
    printf(good ? "time tells nothing that was looked for\n" : "FAILED\n");
    return good ? 0 : 1;
}
