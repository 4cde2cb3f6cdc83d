/* SPDX-License-Identifier: Apache-2.0 */
/* bench_losses.c: what making one loss costs, against NumPy's standard_normal in the same run.
 *
 *   bench_losses [--json] [--movielens DIRECTORY]
 *
 * Times are the best of 200 runs of 65536 losses, in nanoseconds per loss. NumPy is timed the same way, before and
 * after ours, and its better time counts: on a busy machine a slow NumPy would flatter the ratio. The goal for a
 * Gaussian loss is at most 0.15 of NumPy (Generator(PCG64).standard_normal, run by /usr/bin/python3), for a uniform
 * draw 0.3 ns. */
#include "data/movielens.h"
#include "sim/adversary.h"
#include "sim/fast_random.h"
#include "store/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CAUCUS_PYTHON
#define CAUCUS_PYTHON "/usr/bin/python3"
#endif

enum { REPEATS = 200, LOSSES = 1 << 16 };

static bool json;
static bool any_line;

static void report(const char *name, double value, const char *unit) {
    if (json)
        printf("%s  \"%s\": %.4g", any_line ? ",\n" : "{\n", name, value);
    else
        printf("  %-44s %9.3f %s\n", name, value, unit);
    any_line = true;
}

/* The script beside this file, in CAUCUS_SOURCE if that is set, else where the program was built from. 0 if there is
 * no NumPy. */
static double numpy_normal(void) {
    char command[1200];
    const char *source = getenv("CAUCUS_SOURCE") ? getenv("CAUCUS_SOURCE") : BENCH_SOURCE;
    snprintf(command, sizeof command, CAUCUS_PYTHON " '%s/bench/numpy_normal.py'", source);
    FILE *pipe = popen(command, "r");
    double nanoseconds = 0;
    if (pipe != NULL) {
        if (fscanf(pipe, "%lf", &nanoseconds) != 1)
            nanoseconds = 0;
        pclose(pipe);
    }
    return nanoseconds;
}

/* Uniform draws and clamped normals of one variant. */
static void bench_variant(const caucus_fast_kernels *kernels, float *out, double *ret_uniform) {
    char name[64];
    double best = 1e30;
    caucus_fast_use(kernels);
    for (int r = 0; r < REPEATS; r++) {
        double begin = (double)caucus_clock_ns();
        for (uint64_t at = 0; at < LOSSES; at += 4096)
            caucus_fast_uniform(caucus_fast_seed((uint64_t)r), at, 4096, out);
        double time = ((double)caucus_clock_ns() - begin) / (double)LOSSES;
        best = time < best ? time : best;
    }
    snprintf(name, sizeof name, "uniform, %s", caucus_fast_variant_name(kernels));
    report(name, best, "ns");
    *ret_uniform = best;
    best = 1e30;
    for (int r = 0; r < REPEATS; r++) {
        double begin = (double)caucus_clock_ns();
        for (uint64_t at = 0; at < LOSSES; at += 4096)
            caucus_fast_normal(caucus_fast_seed((uint64_t)r), at, 4096, out);
        double time = ((double)caucus_clock_ns() - begin) / (double)LOSSES;
        best = time < best ? time : best;
    }
    snprintf(name, sizeof name, "standard normal, %s", caucus_fast_variant_name(kernels));
    report(name, best, "ns");
}

/* Fills of `rows` rounds at a time. */
static double bench_adversary(caucus_adversary_kind kind, uint32_t experts, uint32_t rows, float *out) {
    caucus_adversary_settings settings = {.kind = kind, .seed = 1, .clients = 10, .experts = experts, .epsilon = 0.1};
    settings.rounds = LOSSES / experts / rows * rows;
    caucus_adversary *adversary = NULL;
    caucus_adversary_trial *trial = NULL;
    caucus_error error;
    double best = -1;
    if (caucus_adversary_open(&settings, &adversary, &error) != CAUCUS_OK ||
        caucus_adversary_trial_new(adversary, 0, &trial) != CAUCUS_OK) {
        fprintf(stderr, "%s: %s\n", error.field, error.text);
        exit(1);
    }
    for (int r = 0; r < REPEATS; r++) {
        double begin = (double)caucus_clock_ns();
        for (uint64_t t = 0; t < settings.rounds; t += rows)
            caucus_adversary_fill(trial, (uint32_t)r % 10 + 1, t, rows, out);
        double time = ((double)caucus_clock_ns() - begin) / ((double)settings.rounds * experts);
        best = best < 0 || time < best ? time : best;
    }
    caucus_adversary_trial_free(trial);
    caucus_adversary_close(adversary);
    return best;
}

static void bench_movielens(const char *directory) {
    double best = 1e30;
    for (int r = 0; r < 5; r++) {
        caucus_movielens *data = NULL;
        caucus_error error;
        double begin = (double)caucus_clock_ns();
        if (caucus_movielens_read(directory, &data, &error) != CAUCUS_OK) {
            fprintf(stderr, "%s\n", error.text);
            exit(1);
        }
        double time = (double)caucus_clock_ns() - begin;
        best = time < best ? time : best;
        caucus_movielens_free(data);
    }
    report("movielens directory read", best / 1e6, "ms");
}

int main(int argc, char **argv) {
    const char *movielens = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--movielens") == 0 && i + 1 < argc)
            movielens = argv[++i];
        else {
            fprintf(stderr, "usage: %s [--json] [--movielens DIRECTORY]\n", argv[0]);
            return 2;
        }
    }
    float *out = malloc(LOSSES * sizeof *out);
    if (out == NULL)
        return 1;
    double uniform = 0, numpy = numpy_normal();
    for (size_t v = 0; caucus_fast_variant(v) != NULL; v++)
        bench_variant(caucus_fast_variant(v), out, &uniform);
    caucus_fast_use(NULL);
    double gaussian = bench_adversary(CAUCUS_ADVERSARY_GAUSSIAN, 100, 64, out);
    report("gaussian loss, d = 100", gaussian, "ns");
    report("gaussian loss, d = 100, one row at a time", bench_adversary(CAUCUS_ADVERSARY_GAUSSIAN, 100, 1, out), "ns");
    report("gaussian loss, d = 18", bench_adversary(CAUCUS_ADVERSARY_GAUSSIAN, 18, 64, out), "ns");
    report("realizable loss, d = 100", bench_adversary(CAUCUS_ADVERSARY_REALIZABLE, 100, 64, out), "ns");
    report("bernoulli loss, d = 100", bench_adversary(CAUCUS_ADVERSARY_BERNOULLI, 100, 64, out), "ns");
    report("cross-entropy loss, d = 100", bench_adversary(CAUCUS_ADVERSARY_CROSS_ENTROPY, 100, 64, out), "ns");
    if (movielens != NULL)
        bench_movielens(movielens);
    double again = numpy_normal();
    numpy = again > 0 && again < numpy ? again : numpy;
    if (numpy > 0) {
        report("numpy standard_normal", numpy, "ns");
        report("gaussian loss / numpy (goal 0.15)", gaussian / numpy, "");
    } else {
        fprintf(stderr, "no NumPy under " CAUCUS_PYTHON ": no ratio\n");
    }
    if (json)
        printf("\n}\n");
    free(out);
    return 0;
}
