/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_messages.c: noise that clients add themselves (trust nobody), so that every message is private.
 *
 * Replacing one loss moves every coordinate of what a client sends by at most W, and a loss enters one message only
 * (one vertex of one tree of one phase), so each message may spend all of epsilon (unit client: its share of it):
 *   vote       permute-and-flip on the client's own V, rate epsilon/(2W);
 *   shortlist  a vote at epsilon/2, then K-norm noise of rate epsilon/(2W) on eight sums;
 *   knorm      P(z) ~ e^(-rate*max|z|), rate epsilon/W: private by the triangle inequality in the maximum norm;
 *   laplace-d  Laplace of rate epsilon/(d W) on d coordinates;
 *   gauss      discrete Gaussian of variance d W^2/(2 rho): rho-zCDP, rho = rho(epsilon, delta).
 * Trees send the increment of the one vertex just entered, with its own W_h. docs/PRIVACY.md, statement 21; what
 * the paper claims of its own noise does not hold (statement 22 there). */
#include "plan/calibrate.h"

#include <math.h>

/* Variances have at most 56 bits, numerator and denominator, for the exact sampler. */
static caucus_status gaussian(double variance, caucus_noise *ret, caucus_error *ret_error) {
    int exponent;
    variance *= 1 + CALIBRATE_SLACK;
    (void)frexp(variance, &exponent);
    if (!(variance < 0x1p55))
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "message",
                           "gauss needs the variance %.3g, above 2^55 grid steps: use knorm or a larger epsilon",
                           variance);
    const unsigned bits = exponent > 36 ? (unsigned)(56 - exponent) : 20;
    ret->kind = CAUCUS_NOISE_GAUSSIAN;
    return caucus_rational_ceil(variance, bits, &ret->parameter);
}

static caucus_status vertex(const caucus_plan *plan, caucus_spend spend, double w, caucus_noise *ret,
                            caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const double d = s->experts;
    if (w <= 0)
        return CAUCUS_OK; /* linear losses: the increment of a right vertex is exactly 0 whatever the data */
    if (plan->stoch.message == CAUCUS_MESSAGE_GAUSS) {
        if (!(spend.rho > 0))
            return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "message", "gauss cannot reach epsilon %g at delta %g",
                               s->epsilon, s->delta);
        return gaussian(d * w * w / (2 * spend.rho), ret, ret_error);
    }
    const bool knorm = plan->stoch.message == CAUCUS_MESSAGE_KNORM;
    ret->kind = knorm ? CAUCUS_NOISE_KNORM : CAUCUS_NOISE_LAPLACE;
    const double rate = knorm ? spend.epsilon / w : spend.epsilon / (d * w);
    return caucus_calibrate_rate(rate, s->epsilon, &ret->parameter, ret_error);
}

caucus_status caucus_calibrate_messages(const caucus_plan *plan, caucus_stoch_phase *phase, caucus_spend spend,
                                        caucus_error *ret_error) {
    const double epsilon = plan->settings.epsilon, each = spend.epsilon;
    const double width = (double)caucus_calibrate_sensitivity(plan, phase, 0);
    if (plan->stoch.message == CAUCUS_MESSAGE_VOTE)
        return caucus_calibrate_rate(each / (2 * width), epsilon, &phase->vote_rate, ret_error);
    if (plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST) {
        phase->shortlist_noise.kind = CAUCUS_NOISE_KNORM;
        caucus_status status = caucus_calibrate_rate(each / 2 / (2 * width), epsilon, &phase->vote_rate, ret_error);
        if (status == CAUCUS_OK)
            status = caucus_calibrate_rate(each / 2 / width, epsilon, &phase->shortlist_noise.parameter, ret_error);
        return status;
    }
    caucus_status status = CAUCUS_OK;
    for (uint32_t h = 0; h <= phase->trees && status == CAUCUS_OK; h++)
        status = vertex(plan, spend, (double)caucus_calibrate_sensitivity(plan, phase, h), &phase->vertex_noise[h],
                        ret_error);
    return status;
}
