/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h: what the benchmarks share: a clock, side-by-side measurement, and where they ran.
 *
 * Machines are shared and noisy, so a figure is always a ratio of two things measured by turns in one run:
 * each pair gives one ratio, and the median of the ratios is what is printed. */
#ifndef CAUCUS_BENCH_H
#define CAUCUS_BENCH_H

#include "store/clock.h"

#include <caucus/status.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* End the program unless it went well. */
static inline void must(caucus_status status, const caucus_error *error) {
    if (status == CAUCUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", error->field[0] ? error->field : "caucus",
            error->text[0] ? error->text : caucus_status_text(status));
    exit(1);
}

static inline int bench_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double bench_median(double *values, size_t n) {
    qsort(values, n, sizeof *values, bench_compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

typedef void (*bench_work)(void *argument);

typedef struct bench_pair {
    double ratio; /* median of a/b over the turns */
    double a, b;  /* median seconds of each */
} bench_pair;

/* a, b, a, b, ... `turns` times (at most 64), after one warm-up of each. */
static inline bench_pair bench_side_by_side(bench_work a, void *a_argument, bench_work b, void *b_argument,
                                            size_t turns) {
    double ratio[64], as[64], bs[64];
    turns = turns > 64 ? 64 : turns;
    a(a_argument);
    b(b_argument);
    for (size_t i = 0; i < turns; i++) {
        double start = caucus_clock_seconds();
        a(a_argument);
        double middle = caucus_clock_seconds();
        b(b_argument);
        double end = caucus_clock_seconds();
        as[i] = middle - start;
        bs[i] = end - middle;
        ratio[i] = as[i] / bs[i];
    }
    return (bench_pair){
        .ratio = bench_median(ratio, turns), .a = bench_median(as, turns), .b = bench_median(bs, turns)};
}

/* "AMD EPYC ..., gcc 12.2.0" into ret. */
static inline void bench_where(char *ret, size_t bytes) {
    char cpu[128] = "unknown processor", line[256];
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info)) {
        char *colon = strchr(line, ':');
        if (colon && memcmp(line, "model name", 10) == 0) {
            snprintf(cpu, sizeof cpu, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (info)
        fclose(info);
#if defined(__clang__)
    snprintf(ret, bytes, "%s; clang %s", cpu, __clang_version__);
#else
    snprintf(ret, bytes, "%s; gcc %s", cpu, __VERSION__);
#endif
}

static inline bool bench_wants_json(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

#endif
