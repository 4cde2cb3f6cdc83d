/* SPDX-License-Identifier: Apache-2.0 */
/* chi_square.h: Pearson's test with pooled tails, for the statistical tests. */
#ifndef CAUCUS_TESTS_CHI_SQUARE_H
#define CAUCUS_TESTS_CHI_SQUARE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/** P(chi-square with k degrees of freedom > x) = Q(k/2, x/2), the regularised upper incomplete gamma function:
 *  series below the mean, Lentz's continued fraction above. */
static inline double chi_square_tail(double x, double k) {
    double a = k / 2, z = x / 2;
    if (z <= 0) {
        return 1;
    }
    double front = exp(a * log(z) - z - lgamma(a));
    if (z < a + 1) {
        double term = 1 / a, sum = term;
        for (int n = 1; n < 100000 && term > sum * 1e-17; n++) {
            term *= z / (a + n);
            sum += term;
        }
        return 1 - front * sum;
    }
    double b = z + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int n = 1; n < 100000; n++) {
        double an = -n * (n - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15) {
            break;
        }
    }
    return front * h;
}

/** p-value of observed counts against expected ones (same total). Neighbouring cells are pooled until each expects at
 *  least 20, which pools the tails. *ret_cells, if not NULL: cells left. */
static inline double chi_square_p(const uint64_t *observed, const double *expected, size_t cells, size_t *ret_cells) {
    double statistic = 0, want = 0, got = 0, last_want = 0, last_got = 0;
    size_t used = 0;
    for (size_t i = 0; i < cells; i++) {
        want += expected[i];
        got += (double)observed[i];
        if (want >= 20) {
            if (used > 0) {
                statistic += (last_got - last_want) * (last_got - last_want) / last_want;
            }
            last_want = want;
            last_got = got;
            want = got = 0;
            used++;
        }
    }
    last_want += want; /* what is left over joins the last cell */
    last_got += got;
    statistic += (last_got - last_want) * (last_got - last_want) / last_want;
    if (ret_cells != NULL) {
        *ret_cells = used;
    }
    return used < 2 ? 0 : chi_square_tail(statistic, (double)used - 1);
}

#endif
