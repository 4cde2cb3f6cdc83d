/* SPDX-License-Identifier: Apache-2.0 */
/* audit_bound.c: exact binomial bounds. See audit_bound.h. */
#include "audit/audit_bound.h"

#include <math.h>

/* What the arithmetic below may be off by, relatively (lgamma of 10^8 loses nine digits): bounds are moved outwards by
 * it. */
#define ARITHMETIC 1e-8

/* The continued fraction of the incomplete beta function (modified Lentz); converges fast for x < (a+1)/(a+b+2). */
static double fraction(double x, double a, double b) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (double m = 1; m < 1e6; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int half = 0; half < 2; half++) {
            double term = half ? odd : even;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            value *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return value;
}

/* As lgamma(), which writes the sign to a variable that all threads share. */
static double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

double caucus_beta_cdf(double x, double a, double b) {
    if (x <= 0 || x >= 1)
        return x >= 1;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * fraction(x, a, b) / a;
    return 1 - front * fraction(1 - x, b, a) / b;
}

/* The x in [0, 1] with I_x(a, b) = target, by bisection; `up`: the end of the last interval above it. */
static double quantile(double target, double a, double b, int up) {
    double lo = 0, hi = 1;
    for (int step = 0; step < 200; step++) {
        double middle = (lo + hi) / 2;
        if (middle <= lo || middle >= hi)
            break;
        if (caucus_beta_cdf(middle, a, b) < target)
            lo = middle;
        else
            hi = middle;
    }
    return up ? hi : lo;
}

double caucus_binomial_low(uint64_t k, uint64_t n, double alpha) {
    return k == 0 ? 0 : quantile(alpha, (double)k, (double)(n - k) + 1, 0) * (1 - ARITHMETIC);
}

double caucus_binomial_high(uint64_t k, uint64_t n, double alpha) {
    /* By symmetry 1 - x is the alpha-quantile of Beta(n-k, k+1): no 1 - alpha, which would round. */
    if (k == n)
        return 1;
    double lo = 0, hi = 1, a = (double)k + 1, b = (double)(n - k);
    for (int step = 0; step < 200; step++) {
        double middle = (lo + hi) / 2;
        if (middle <= lo || middle >= hi)
            break;
        if (caucus_beta_cdf(1 - middle, b, a) > alpha) /* P(Beta(a, b) > middle) */
            lo = middle;
        else
            hi = middle;
    }
    return fmin(1, hi * (1 + ARITHMETIC));
}

double caucus_epsilon_low(uint64_t k, uint64_t k_other, uint64_t n, double delta, double confidence) {
    double alpha = (1 - confidence) / 2;
    double low = caucus_binomial_low(k, n, alpha) - delta, high = caucus_binomial_high(k_other, n, alpha);
    return low > high ? log(low / high) : 0;
}
