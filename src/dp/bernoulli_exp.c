/* SPDX-License-Identifier: Apache-2.0 */
/* bernoulli_exp.c: a coin that shows heads with probability exp(-a/b), without computing exp.
 *
 * For g = a/b <= 1 (von Neumann 1951; Canonne, Kamath and Steinke 2020): draw Bernoulli(g/k) for
 * k = 1, 2, ... until the first failure, at K. P(K > k) = g^k/k!, so
 *     P(K odd) = sum over even k of P(K > k) - P(K > k+1) = 1 - g + g^2/2! - g^3/3! + ... = exp(-g).
 * For g > 1: exp(-g) = exp(-1) * exp(-(g-1)), one coin for each factor, stopping at the first tails. */
#include "dp/draws.h"

#include <assert.h>
#include <stdlib.h>

/* P(K > 255) <= 1/255! < 2^-1600. With b < 2^119 the product b*255 stays below 2^127. */
#define SERIES_LIMIT 255u

bool caucus_bernoulli_exp_unit(caucus_stream *stream, caucus_u128 a, caucus_u128 b) {
    assert(a <= b && b >= 1 && b >> 119 == 0);
    unsigned k = 1;
    while (caucus_bernoulli_wide(stream, a, b * k)) {
        if (++k > SERIES_LIMIT) {
            abort();
        }
    }
    return k % 2 == 1;
}

bool caucus_bernoulli_exp_wide(caucus_stream *stream, caucus_u128 a, caucus_u128 b) {
    while (a > b) {
        if (!caucus_bernoulli_exp_unit(stream, 1, 1)) {
            return false;
        }
        a -= b;
    }
    return caucus_bernoulli_exp_unit(stream, a, b);
}

bool caucus_bernoulli_exp(caucus_stream *stream, uint64_t a, uint64_t b) {
    return caucus_bernoulli_exp_wide(stream, a, b);
}
