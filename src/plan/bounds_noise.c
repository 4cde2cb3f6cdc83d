/* SPDX-License-Identifier: Apache-2.0 */
/* bounds_noise.c: the exponential-moment bound on a maximum of noises.
 *
 * E max_n Z_n <= inf_{u > 0} [ln d + ln E e^(uZ)]/u. Moments per draw of rate r:
 *   Laplace   -ln(1 - (u/r)^2). The discrete law's moment is smaller, since (cosh x - 1)/x^2 grows with x.
 *   K-norm    ln{[(1-y)^-d - (1+y)^-d]/(2dy)}, y = u/r: a coordinate is uniform on [-radius, radius], and the radius
 *             is Gamma(d+1). On the integers this is a midpoint sum, which differs by less than one part in 2^20 if
 *             r <= 2^-10: the bound is made larger by as much (INFLATE).
 *   Gaussian  u^2 variance/2, also for the discrete law (Canonne, Kamath and Steinke 2020). */
#include "plan/bounds_noise.h"

#include <math.h>

#define KNORM_RATE_MAX 0x1p-10
#define INFLATE (1 + 0x1p-20)

static double log_moment(const caucus_noise *noise, double dimension, double u) {
    const double parameter = caucus_rational_double(noise->parameter);
    const double y = u / parameter;
    switch (noise->kind) {
    case CAUCUS_NOISE_LAPLACE:
        return y < 1 ? -log1p(-y * y) : INFINITY;
    case CAUCUS_NOISE_KNORM: {
        if (!(y < 1))
            return INFINITY;
        const double up = -dimension * log1p(-y), down = -dimension * log1p(y);
        return fmax(0, up + log(-expm1(down - up)) - log(2 * dimension * y));
    }
    case CAUCUS_NOISE_GAUSSIAN:
        return u * u * parameter / 2;
    default:
        return 0;
    }
}

static double value_at(double log_u, double log_d, double dimension, const noise_term *terms, uint32_t count,
                       double variance) {
    const double u = exp(log_u);
    double sum = log_d + u * u * variance / 2;
    for (uint32_t i = 0; i < count; i++)
        sum += terms[i].copies * log_moment(terms[i].noise, dimension, u * terms[i].factor);
    return sum / u;
}

/* The largest u at which every moment is finite (infinite for Gaussian noise alone). */
static double limit_of(const noise_term *terms, uint32_t count) {
    double limit = INFINITY;
    for (uint32_t i = 0; i < count; i++)
        if (terms[i].noise->kind == CAUCUS_NOISE_LAPLACE || terms[i].noise->kind == CAUCUS_NOISE_KNORM)
            limit = fmin(limit, caucus_rational_double(terms[i].noise->parameter) / terms[i].factor);
    return limit;
}

double caucus_bounds_noise_max(double log_d, double dimension, const noise_term *terms, uint32_t count,
                               double variance) {
    const double ratio = 0.6180339887498949;
    double total = variance; /* a rough size of the answer, to centre the search */
    for (uint32_t i = 0; i < count; i++) {
        const caucus_noise *noise = terms[i].noise;
        const double parameter = caucus_rational_double(noise->parameter), f = terms[i].factor;
        if (noise->kind == CAUCUS_NOISE_KNORM && parameter > KNORM_RATE_MAX)
            return NAN;
        if (noise->kind == CAUCUS_NOISE_GAUSSIAN)
            total += terms[i].copies * f * f * parameter;
        else if (noise->kind != CAUCUS_NOISE_NONE)
            total += terms[i].copies * f * f / (parameter * parameter);
    }
    if (!(total > 0))
        return 0;
    const double limit = limit_of(terms, count);
    double hi = isfinite(limit) ? log(limit) : log(sqrt(2 * log_d / total)) + 3;
    double lo = fmin(hi, log(sqrt(2 * log_d / total))) - 24;
    for (int i = 0; i < 70; i++) {
        const double c = hi - ratio * (hi - lo), d = lo + ratio * (hi - lo);
        if (value_at(c, log_d, dimension, terms, count, variance) <=
            value_at(d, log_d, dimension, terms, count, variance))
            hi = d;
        else
            lo = c;
    }
    return value_at(lo, log_d, dimension, terms, count, variance) * INFLATE;
}
