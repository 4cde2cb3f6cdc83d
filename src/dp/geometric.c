/* SPDX-License-Identifier: Apache-2.0 */
/* geometric.c: P(y) = (1 - e^-s/t) e^(-y*s/t), y = 0, 1, ...
 *
 * U uniform on 0..t-1 kept with probability e^(-U/t), and V the number of heads of an e^-1 coin, make
 * X = U + t*V with P(X) ~ e^(-X/t). Then floor(X/s) has P(y) ~ e^(-y*s/t), since each y collects the s
 * values s*y .. s*y+s-1, whose weights are those of y = 0 times e^(-y*s/t) (Canonne, Kamath, Steinke 2020). */
#include "dp/draws.h"
#include "dp/laws.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

int64_t caucus_geometric(caucus_stream *stream, caucus_rational rate) {
    assert(rate.num >= 1 && rate.den >= 1 && rate.den <= CAUCUS_DEN_MAX);
    uint64_t u;
    do {
        u = caucus_uniform(stream, rate.den);
    } while (!caucus_bernoulli_exp_unit(stream, u, rate.den));
    uint64_t v = 0;
    while (caucus_bernoulli_exp_unit(stream, 1, 1)) {
        v++;
    }
    caucus_u128 y = (u + (caucus_u128)rate.den * v) / rate.num;
    if (y >= (caucus_u128)CAUCUS_DRAW_LIMIT) {
        abort();
    }
    return (int64_t)y;
}

double caucus_geometric_log_pmf(int64_t y, caucus_rational rate) {
    double r = (double)rate.num / (double)rate.den;
    return y < 0 ? -HUGE_VAL : log(-expm1(-r)) - r * (double)y;
}
