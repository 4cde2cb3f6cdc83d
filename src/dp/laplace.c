/* SPDX-License-Identifier: Apache-2.0 */
/* laplace.c: the discrete Laplace law, P(y) = tanh(rate/2) e^(-rate*|y|), y any integer.
 *
 * A geometric with a random sign counts 0 twice (+0 and -0): drop -0 and draw again. */
#include "dp/draws.h"
#include "dp/laws.h"

#include <math.h>

int64_t caucus_laplace(caucus_stream *stream, caucus_rational rate) {
    for (;;) {
        bool negative = caucus_uniform(stream, 2) == 1;
        int64_t y = caucus_geometric(stream, rate);
        if (!negative) {
            return y;
        }
        if (y != 0) {
            return -y;
        }
    }
}

double caucus_laplace_log_pmf(int64_t y, caucus_rational rate) {
    double r = (double)rate.num / (double)rate.den;
    return log(tanh(r / 2)) - r * fabs((double)y);
}
