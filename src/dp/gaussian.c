/* SPDX-License-Identifier: Apache-2.0 */
/* gaussian.c: the discrete Gaussian law, P(y) ~ e^(-y^2/(2*variance)), y any integer.
 *
 * Rejection from a discrete Laplace (Canonne, Kamath, Steinke 2020). With variance v = p/q and
 * t = floor(sqrt(v)) + 1, a proposal P(y) ~ e^(-|y|/t) is kept with probability
 *     exp(-(|y| - v/t)^2 / (2v)) = exp(-D^2/b),   D = ||y|*t*q - p|,   b = 2*p*q*t^2,
 * and e^(-|y|/t) times that is e^(-y^2/(2v)) times a constant.
 *
 * Bits. p, q <= 2^56. If q > p then t = 1 and b = 2pq <= 2^113. Otherwise t <= 2*sqrt(p/q), so
 * b <= 8p^2 <= 2^115, below the 2^119 that the coin e^(-a/b) accepts. t*q <= 2*sqrt(p*q) <= 2^57 (or q)
 * and |y| < 2^62, so D < 2^119. D^2 fits 128 bits while D < 2^64, which fails with probability below
 * e^-60 (D < 2^58*(1 + |y|/t)). Then D^2 = k*b + r is divided out bit by bit and exp(-D^2/b) is k coins
 * e^-1 and one coin e^(-r/b): still exact. */
#include "dp/draws.h"
#include "dp/laws.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* More heads than this in a row have probability e^-1024 < 2^-1000. */
#define COINS_LIMIT 1024u

static uint64_t square_root(uint64_t n) { /* floor */
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= n) {
            root += bit;
        }
    }
    return root;
}

caucus_gaussian_proposal caucus_gaussian_prepare(caucus_rational variance) {
    uint64_t a = variance.num, b = variance.den;
    assert(a >= 1 && b >= 1);
    while (b != 0) { /* Euclid; a ends as the greatest common divisor */
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    caucus_gaussian_proposal g = {.p = variance.num / a, .q = variance.den / a};
    assert(g.p <= CAUCUS_DEN_MAX && g.q <= CAUCUS_DEN_MAX);
    g.t = square_root(g.p / g.q) + 1; /* floor(sqrt(p/q)) = floor(sqrt(floor(p/q))) */
    g.b = 2 * (caucus_u128)g.p * g.q * g.t * g.t;
    return g;
}

caucus_u128 caucus_gaussian_distance(const caucus_gaussian_proposal *g, int64_t y) {
    caucus_u128 scaled = (caucus_u128)(y < 0 ? -y : y) * ((caucus_u128)g->t * g->q);
    return scaled > g->p ? scaled - g->p : g->p - scaled;
}

/* k and r with d^2 = k*b + r, r < b < 2^119. Horner over the bits of d: (k, r) stands for d*(bits so far).
 * k saturates at COINS_LIMIT. */
static unsigned divide_square(caucus_u128 d, caucus_u128 b, caucus_u128 *ret_remainder) {
    caucus_u128 k = 0, r = 0, d_quotient = d / b, d_remainder = d % b;
    for (int bit = 127; bit >= 0; bit--) {
        k *= 2;
        r *= 2;
        if (d >> bit & 1) {
            k += d_quotient;
            r += d_remainder;
        }
        k += r / b; /* r < 3b */
        r %= b;
        if (k > COINS_LIMIT) {
            k = COINS_LIMIT;
        }
    }
    *ret_remainder = r;
    return (unsigned)k;
}

bool caucus_gaussian_accept(caucus_stream *stream, const caucus_gaussian_proposal *g, caucus_u128 distance) {
    if (distance >> 64 == 0) {
        return caucus_bernoulli_exp_wide(stream, distance * distance, g->b);
    }
    caucus_u128 rest;
    unsigned coins = divide_square(distance, g->b, &rest);
    for (unsigned i = 0; i < coins; i++) {
        if (!caucus_bernoulli_exp_unit(stream, 1, 1)) {
            return false;
        }
    }
    if (coins == COINS_LIMIT) {
        abort();
    }
    return caucus_bernoulli_exp_unit(stream, rest, g->b);
}

int64_t caucus_gaussian(caucus_stream *stream, caucus_rational variance) {
    caucus_gaussian_proposal g = caucus_gaussian_prepare(variance);
    for (;;) {
        int64_t y = caucus_laplace(stream, (caucus_rational){1, g.t});
        if (caucus_gaussian_accept(stream, &g, caucus_gaussian_distance(&g, y))) {
            return y;
        }
    }
}

/* ln of the sum over all integers of e^(-y^2/(2v)): directly if v is small, else by Poisson summation
 * sqrt(2*pi*v) * sum_k e^(-2*pi^2*v*k^2); both converge in a few terms on their side of v = 1/4. */
static double log_normaliser(double v) {
    const double pi = 3.14159265358979323846;
    double sum = 1;
    for (int k = 1; k <= 6; k++) {
        sum += 2 * (v < 0.25 ? exp(-k * k / (2 * v)) : exp(-2 * pi * pi * v * k * k));
    }
    return log(sum) + (v < 0.25 ? 0 : log(2 * pi * v) / 2);
}

double caucus_gaussian_log_pmf(int64_t y, caucus_rational variance) {
    double v = (double)variance.num / (double)variance.den;
    return -(double)y * (double)y / (2 * v) - log_normaliser(v);
}
