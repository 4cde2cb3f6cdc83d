/* SPDX-License-Identifier: Apache-2.0 */
/* knorm.c: the l-infinity K-norm law (Hardt and Talwar 2010) on integer vectors, P(z) ~ e^(-rate*max|z_n|).
 *
 * In layers: if P(r) ~ (2r+1)^d e^(-rate*r) and z is uniform on the cube {-r..r}^d, then
 *     P(z) = sum over r >= max|z_n| of P(r)/(2r+1)^d ~ sum over r >= max|z_n| of e^(-rate*r) ~ e^(-rate*max|z_n|).
 * The radius: the sum r of d+1 geometrics has P(r) ~ (r+1)(r+2)...(r+d) e^(-rate*r); keeping it with
 * probability prod_{i=1..d} (2r+1)/(2(r+i)) leaves (2r+1)^d e^(-rate*r). Acceptance is about
 * e^(-rate*d/2), that is about 1 where a unit of loss is thousands of grid steps. */
#include "dp/draws.h"
#include "dp/laws.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

bool caucus_knorm_accept(caucus_stream *stream, uint64_t r, size_t d) {
    for (size_t i = 1; i <= d; i++) {
        if (!caucus_bernoulli(stream, 2 * r + 1, 2 * (r + i))) {
            return false;
        }
    }
    return true;
}

void caucus_knorm(caucus_stream *stream, caucus_rational rate, int64_t *ret, size_t d) {
    assert(d >= 1);
    uint64_t r;
    do {
        r = 0;
        for (size_t i = 0; i <= d; i++) {
            r += (uint64_t)caucus_geometric(stream, rate);
            if (r >= (uint64_t)CAUCUS_DRAW_LIMIT) {
                abort();
            }
        }
    } while (!caucus_knorm_accept(stream, r, d));
    for (size_t n = 0; n < d; n++) {
        ret[n] = (int64_t)caucus_uniform(stream, 2 * r + 1) - (int64_t)r;
    }
}

double caucus_knorm_log_weight(int64_t radius, caucus_rational rate, size_t d) {
    double r = (double)rate.num / (double)rate.den;
    return radius < 0 ? -HUGE_VAL : (double)d * log(2 * (double)radius + 1) - r * (double)radius;
}
