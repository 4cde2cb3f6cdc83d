/* SPDX-License-Identifier: Apache-2.0 */
/* bench_samplers.c: what exactness costs. Every exact sampler against its naive floating-point counterpart.
 *
 * Both draw from the same kind of ChaCha20 stream, in the same process, in turns of a few milliseconds; what is
 * reported is the median of the ratios of neighbouring turns, so that a change of clock speed hits both sides. Usage:
 * bench_samplers [--json] */
#include "rng/words.h"

#include "store/clock.h"

#include <caucus/select.h>
#include <caucus/threshold.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURNS 31
#define DRAWS 20000
#define EXPERTS_MAX 10000

static caucus_stream stream;
static int64_t values[DRAWS];
static int64_t score[EXPERTS_MAX];
static double weight[EXPERTS_MAX];
static uint32_t experts;
static volatile int64_t sink;

static const caucus_rational rate = {3840879, (uint64_t)1 << 40}; /* a Laplace scale of 286,266 grid steps */
static const caucus_rational variance = {(uint64_t)1 << 36, 1};
static const caucus_rational select_rate = {5, (uint64_t)1 << 21}; /* e.g. epsilon 5, grid 2^20 */

static double unit(void) { /* (0, 1] */
    return (double)((caucus_word(&stream) >> 11) + 1) * 0x1p-53;
}

/* --- exact, one at a time --- */
static void geometric_scalar(void) {
    for (size_t i = 0; i < DRAWS; i++) {
        values[i] = caucus_geometric(&stream, rate);
    }
}
static void laplace_scalar(void) {
    for (size_t i = 0; i < DRAWS; i++) {
        values[i] = caucus_laplace(&stream, rate);
    }
}
static void gaussian_scalar(void) {
    for (size_t i = 0; i < DRAWS; i++) {
        values[i] = caucus_gaussian(&stream, variance);
    }
}
static void uniform_scalar(void) {
    for (size_t i = 0; i < DRAWS; i++) {
        values[i] = (int64_t)caucus_uniform(&stream, 1000003);
    }
}
static void coin_scalar(void) {
    for (size_t i = 0; i < DRAWS; i++) {
        values[i] = caucus_bernoulli_exp(&stream, 3, 4);
    }
}
static void knorm_scalar(void) {
    for (size_t i = 0; i < DRAWS; i += 100) {
        caucus_knorm(&stream, rate, values + i, 100);
    }
}
/* --- exact, in bulk --- */
static void geometric_bulk(void) {
    caucus_geometric_fill(&stream, rate, values, DRAWS);
}
static void laplace_bulk(void) {
    caucus_laplace_fill(&stream, rate, values, DRAWS);
}
static void gaussian_bulk(void) {
    caucus_gaussian_fill(&stream, variance, values, DRAWS);
}
static void knorm_bulk(void) {
    for (size_t i = 0; i < DRAWS; i += 100) {
        caucus_knorm_fill(&stream, rate, values + i, 100);
    }
}
/* --- naive, with libm --- */
static void geometric_float(void) {
    double scale = (double)rate.den / (double)rate.num;
    for (size_t i = 0; i < DRAWS; i++) {
        values[i] = (int64_t)(-scale * log(unit()));
    }
}
static void laplace_float(void) { /* inversion: one word gives sign and magnitude */
    double scale = (double)rate.den / (double)rate.num;
    for (size_t i = 0; i < DRAWS; i++) {
        uint64_t word = caucus_word(&stream);
        double y = -scale * log((double)((word >> 11) + 1) * 0x1p-53);
        values[i] = (int64_t)(y * (1 - 2 * (double)(word & 1))); /* no branch to mispredict */
    }
}
static void gaussian_float(void) { /* Box and Muller, both values used */
    double sigma = sqrt((double)variance.num / (double)variance.den);
    for (size_t i = 0; i < DRAWS; i += 2) {
        double radius = sigma * sqrt(-2 * log(unit())), angle = 6.283185307179586 * unit();
        values[i] = llrint(radius * cos(angle));
        values[i + 1] = llrint(radius * sin(angle));
    }
}
static void uniform_float(void) {
    for (size_t i = 0; i < DRAWS; i++) {
        values[i] = (int64_t)((double)(caucus_word(&stream) >> 11) * 0x1p-53 * 1000003);
    }
}
static void coin_float(void) {
    for (size_t i = 0; i < DRAWS; i++) {
        values[i] = unit() < exp(-0.75 - 1e-9 * (double)(i & 1)); /* not a constant the compiler could fold */
    }
}
static void knorm_float(void) { /* radius Gamma(d+1) as a sum of exponentials, then d uniforms */
    double scale = (double)rate.den / (double)rate.num;
    for (size_t i = 0; i < DRAWS; i += 100) {
        double r = 0;
        for (int k = 0; k <= 100; k++) {
            r -= scale * log(unit());
        }
        for (size_t k = 0; k < 100; k++) {
            values[i + k] = llrint(r * (2 * unit() - 1));
        }
    }
}
/* --- selections --- */
#define SELECTIONS 20
static void select_exponential(void) {
    for (int i = 0; i < SELECTIONS; i++) {
        sink = caucus_select_exponential(&stream, score, experts, select_rate);
    }
}
static void select_flip(void) {
    for (int i = 0; i < SELECTIONS; i++) {
        sink = caucus_select_flip(&stream, score, experts, select_rate);
    }
}
static void select_float(void) { /* exp of every score, then inversion of the running sum */
    double r = (double)select_rate.num / (double)select_rate.den;
    for (int i = 0; i < SELECTIONS; i++) {
        int64_t least = score[0];
        for (uint32_t n = 1; n < experts; n++) {
            least = score[n] < least ? score[n] : least;
        }
        double sum = 0;
        for (uint32_t n = 0; n < experts; n++) {
            weight[n] = sum += exp(-r * (double)(score[n] - least));
        }
        double u = unit() * sum;
        uint32_t n = 0;
        while (n + 1 < experts && weight[n] < u) {
            n++;
        }
        sink = n;
    }
}

/* A check of svt as a coordinator makes it: a stream of its own, noise, a comparison. */
static void check(void) {
    static const caucus_noise noise = {CAUCUS_NOISE_GEOMETRIC, {3, 1 << 20}};
    caucus_threshold at = {.open = true, .theta = INT64_MAX};
    for (int i = 0; i < SELECTIONS; i++) {
        caucus_key key = {.seeded = stream.seeded};
        caucus_stream own;
        bool fired = false;
        caucus_stream_init(&own, &key, CAUCUS_PURPOSE_CHECK, 0, (uint32_t)i, 0);
        sink = caucus_threshold_check(&at, &noise, &own, &fired) == CAUCUS_OK && fired;
    }
}
static void check_float(void) {
    for (int i = 0; i < SELECTIONS; i++) {
        sink = -floor(log(unit()) * 349525.3) > 1e15;
    }
}

typedef struct pair {
    const char *name;
    void (*exact)(void), (*naive)(void);
    uint32_t experts; /* for selections; 0 = draws */
    bool live;        /* as with a key that is not seeded: work that does not depend on what is drawn */
} pair;

static const pair pairs[] = {
    {"uniform", uniform_scalar, uniform_float, 0, false},
    {"bernoulli_exp(3/4)", coin_scalar, coin_float, 0, false},
    {"geometric", geometric_scalar, geometric_float, 0, false},
    {"geometric_fill", geometric_bulk, geometric_float, 0, false},
    {"laplace", laplace_scalar, laplace_float, 0, false},
    {"laplace_fill", laplace_bulk, laplace_float, 0, false},
    {"gaussian", gaussian_scalar, gaussian_float, 0, false},
    {"gaussian_fill", gaussian_bulk, gaussian_float, 0, false},
    {"knorm d=100, per coordinate", knorm_scalar, knorm_float, 0, false},
    {"knorm_fill d=100, per coordinate", knorm_bulk, knorm_float, 0, false},
    {"select_exponential d=100", select_exponential, select_float, 100, false},
    {"select_flip d=100", select_flip, select_float, 100, false},
    {"select_exponential d=10000", select_exponential, select_float, 10000, false},
    {"select_flip d=10000", select_flip, select_float, 10000, false},
    {"live: geometric_fill", geometric_bulk, geometric_float, 0, true},
    {"live: laplace_fill", laplace_bulk, laplace_float, 0, true},
    {"live: knorm_fill d=100, per coordinate", knorm_bulk, knorm_float, 0, true},
    {"live: check (goal 500 ns)", check, check_float, 1, true},
    {"live: select_exponential d=100 (15 us)", select_exponential, select_float, 100, true},
    {"live: select_flip d=100 (goal 4 us)", select_flip, select_float, 100, true},
    {"live: select_exponential d=10000", select_exponential, select_float, 10000, true},
    {"live: select_flip d=10000", select_flip, select_float, 10000, true},
};

static double run_ns(void (*work)(void), double count) {
    const uint64_t start = caucus_clock_ns();
    work();
    const uint64_t end = caucus_clock_ns();
    sink = values[7];
    return (double)(end - start) / count;
}

static int by_value(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(double *x) {
    qsort(x, TURNS, sizeof *x, by_value);
    return x[TURNS / 2];
}

static void machine_name(char *ret, size_t size) {
    snprintf(ret, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            line[strcspn(line, "\n")] = 0;
            snprintf(ret, size, "%s", colon + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

int main(int argc, char **argv) {
    bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
    char machine[128];
    machine_name(machine, sizeof machine);
    caucus_key key;
    caucus_key_from_seed(1, &key);
    caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, 0, 0, 0);
    for (uint32_t n = 0; n < EXPERTS_MAX; n++) { /* sums of 64 losses with means U(.3,.7), about */
        score[n] = (int64_t)((64 * (0.3 + 0.4 * unit()) + 4 * (unit() - 0.5)) * 1048576);
    }
    if (json) {
        printf("{\"machine\": \"%s\", \"compiler\": \"%s\", \"results\": [\n", machine, __VERSION__);
    } else {
        printf("machine   %s\ncompiler  %s\n\n%-40s %12s %12s %8s\n", machine, __VERSION__, "sampler", "exact ns",
               "float ns", "ratio");
    }
    size_t count = sizeof pairs / sizeof *pairs;
    for (size_t i = 0; i < count; i++) {
        double exact[TURNS], naive[TURNS], ratio[TURNS];
        experts = pairs[i].experts;
        stream.seeded = !pairs[i].live;
        double units = experts == 0 ? DRAWS : SELECTIONS;
        run_ns(pairs[i].exact, units); /* warm up */
        run_ns(pairs[i].naive, units);
        for (int turn = 0; turn < TURNS; turn++) {
            exact[turn] = run_ns(pairs[i].exact, units);
            naive[turn] = run_ns(pairs[i].naive, units);
            ratio[turn] = exact[turn] / naive[turn];
        }
        double e = median(exact), f = median(naive), r = median(ratio);
        if (json) {
            printf("  {\"sampler\": \"%s\", \"exact_ns\": %.2f, \"float_ns\": %.2f, \"ratio\": %.3f}%s\n",
                   pairs[i].name, e, f, r, i + 1 < count ? "," : "");
        } else {
            printf("%-40s %12.1f %12.1f %8.2f\n", pairs[i].name, e, f, r);
        }
    }
    if (json) {
        printf("]}\n");
    }
    return 0;
}
