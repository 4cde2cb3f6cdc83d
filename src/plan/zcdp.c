/* SPDX-License-Identifier: Apache-2.0 */
/* zcdp.c: conversions between zero-concentrated and approximate differential privacy.
 *
 * A rho-zCDP mechanism is (epsilon, delta)-DP for every order a > 1 with
 *     epsilon = a*rho + ln((a-1)/a) + (ln(1/delta) - ln a)/(a-1)
 * (Canonne, Kamath and Steinke 2020). Every order gives a valid epsilon, so a search for the best one
 * needs no proof: only the value at the order it ends with must be rounded the safe way. The derivative
 * in a is rho - (ln(1/delta) - ln a)/(a-1)^2, which changes sign once: one valley.
 *
 * A pure e-DP mechanism composed with it adds its Renyi divergence of order a, at most that of
 * randomised response:  ln[(e^(ae) + e^((1-a)e))/(1 + e^e)]/(a-1)
 *     = e + [ln(1 + e^(-(2a-1)e)) - ln(1 + e^(-e))]/(a-1)  <= e.
 * docs/PRIVACY.md, statement 24. */
#include "plan/zcdp.h"

#include <float.h>
#include <math.h>

/* Orders are searched as t = a - 1 on a logarithmic scale. */
#define LOG_T_MIN (-14.0)
#define LOG_T_MAX 24.0

/* Each value below is a sum of a few terms, each with a relative error of a few DBL_EPSILON (libm is
 * good to 1 ulp): SAFE times the sum of their magnitudes covers it with room. */
#define SAFE (32 * DBL_EPSILON)

/* Renyi divergence of order 1+t of a pure e-DP mechanism, rounded up. */
static double pure_divergence(double e, double t) {
    if (e <= 0)
        return 0;
    double gain = (log1p(exp(-(2 * t + 1) * e)) - log1p(exp(-e))) / t;
    double value = e + gain + SAFE * (e + 1.0 / t);
    return value < e ? value : e;
}

/* ln((a-1)/a) + (ln(1/delta) - ln a)/(a-1) at a = 1+t, rounded up. */
static double conversion(double t, double delta) {
    double log_t = log(t);
    double log_a = log1p(t);
    double tail = -log(delta);
    double value = log_t - log_a + (tail - log_a) / t;
    return value + SAFE * (fabs(log_t) + log_a + (tail + log_a) / t);
}

/* Epsilon at order 1+t, rounded up. */
static double epsilon_at(double t, double rho, double pure, double delta) {
    double value = (1 + t) * rho * (1 + SAFE) + pure_divergence(pure, t) + conversion(t, delta);
    return value + SAFE * fabs(value);
}

/* Rho that order 1+t allows, rounded down; negative if none. */
static double rho_at(double t, double epsilon, double pure, double delta) {
    double divergence = pure_divergence(pure, t);
    double shift = conversion(t, delta);
    double room = epsilon - divergence - shift - SAFE * (epsilon + divergence + fabs(shift));
    return room / (1 + t) * (room > 0 ? 1 - SAFE : 1 + SAFE);
}

typedef double (*order_function)(double t, double x, double pure, double delta);

/* The smallest sign*f on [lo, hi], scale ln t, by golden section. */
static double golden(order_function f, double sign, double x, double pure, double delta, double lo, double hi) {
    const double ratio = 0.6180339887498949;
    double c = hi - ratio * (hi - lo), d = lo + ratio * (hi - lo);
    double fc = sign * f(exp(c), x, pure, delta), fd = sign * f(exp(d), x, pure, delta);
    for (int i = 0; i < 34; i++) {
        if (fc < fd) {
            hi = d;
            d = c;
            fd = fc;
            c = hi - ratio * (hi - lo);
            fc = sign * f(exp(c), x, pure, delta);
        } else {
            lo = c;
            c = d;
            fc = fd;
            d = lo + ratio * (hi - lo);
            fd = sign * f(exp(d), x, pure, delta);
        }
    }
    return fc < fd ? fc : fd;
}

/* The smallest value of sign*f over t: a coarse scan (with a pure part the function may have two valleys),
 * then golden section in every valley, so that searches for rho and for epsilon agree. */
static double search(order_function f, double sign, double x, double pure, double delta) {
    enum { CELLS = 38 };
    const double step = (LOG_T_MAX - LOG_T_MIN) / CELLS;
    double value[CELLS + 1];
    for (int i = 0; i <= CELLS; i++)
        value[i] = sign * f(exp(LOG_T_MIN + step * i), x, pure, delta);
    double best = INFINITY;
    for (int i = 0; i <= CELLS; i++) {
        if ((i > 0 && value[i - 1] < value[i]) || (i < CELLS && value[i + 1] < value[i]))
            continue;
        double at = LOG_T_MIN + step * i;
        double least = golden(f, sign, x, pure, delta, at - step, at + step);
        best = least < best ? least : best;
    }
    return sign * best;
}

double caucus_zcdp_epsilon_with_pure(double rho, double epsilon_pure, double delta) {
    if (!(rho > 0))
        return epsilon_pure > 0 ? epsilon_pure : 0;
    double value = search(epsilon_at, 1, rho, epsilon_pure, delta);
    return value > 0 ? value : 0;
}

double caucus_zcdp_epsilon(double rho, double delta) {
    return caucus_zcdp_epsilon_with_pure(rho, 0, delta);
}

double caucus_zcdp_rho_with_pure(double epsilon, double epsilon_pure, double delta) {
    if (!(epsilon > epsilon_pure))
        return 0;
    double value = search(rho_at, -1, epsilon, epsilon_pure, delta);
    return value > 0 ? value : 0;
}

double caucus_zcdp_rho(double epsilon, double delta) {
    return caucus_zcdp_rho_with_pure(epsilon, 0, delta);
}
