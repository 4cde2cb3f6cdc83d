/* SPDX-License-Identifier: Apache-2.0 */
/* welch.h: do two classes of runs take different time? The test that dudect makes (Reparaz, Balasch and Verbauwhede
 * 2017).
 *
 * Times of two classes, measured in random order, are compared by Welch's t. A busy machine adds long delays that have
 * nothing to do with the classes, so the test is made on all times and on those below the 90 % and 50 % quantiles of
 * both classes together, and the largest |t| counts. If time does not depend on the class each t is standard normal (it
 * takes means of very many), so |t| >= 4.5 has probability below 7e-6, one of three below 2.1e-5. */
#ifndef CAUCUS_TESTS_WELCH_H
#define CAUCUS_TESTS_WELCH_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WELCH_LIMIT 4.5

typedef struct welch_run {
    uint64_t ticks;
    unsigned class;
} welch_run;

static int welch_by_ticks(const void *a, const void *b) {
    uint64_t x = ((const welch_run *)a)->ticks, y = ((const welch_run *)b)->ticks;
    return (x > y) - (x < y);
}

/* Of the first n of runs sorted by time. 0 if a class has fewer than 100 runs. */
static double welch_t(const welch_run *run, size_t n) {
    double count[2] = {0, 0}, mean[2] = {0, 0}, square[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        unsigned c = run[i].class;
        double x = (double)run[i].ticks, step = x - mean[c];
        count[c]++;
        mean[c] += step / count[c];
        square[c] += step * (x - mean[c]);
    }
    if (count[0] < 100 || count[1] < 100)
        return 0;
    double spread = square[0] / (count[0] - 1) / count[0] + square[1] / (count[1] - 1) / count[1];
    return spread > 0 ? (mean[1] - mean[0]) / sqrt(spread) : mean[1] == mean[0] ? 0 : HUGE_VAL;
}

/* Sorts the runs. The t of largest absolute value; *ret_median of all times. */
static double welch_verdict(welch_run *run, size_t n, double *ret_median) {
    static const double part[] = {1, 0.9, 0.5};
    double worst = 0;
    qsort(run, n, sizeof *run, welch_by_ticks);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        double t = welch_t(run, (size_t)(part[i] * (double)n));
        worst = fabs(t) > fabs(worst) ? t : worst;
    }
    *ret_median = (double)run[n / 2].ticks;
    return worst;
}

#endif
