/* calibrate_hedge.c: the learning rate of Fed-Hedge, and its bound.
 *
 * After every block but the last one expert is drawn for all, P(y) ~ exp(-e_H*cum(y)/m). Replacing one loss moves
 * cum by at most 1, so a draw has range 2 e_H/m; the draw of the first block sees no data. With B-1 draws
 *     pure: epsilon = 2 (B-1) e_H/m;   zCDP: rho = (B-1) e_H^2/(2 m^2);
 * expected regret per client <= ln d/e_H + e_H * sum of (block length)^2 / 8, smallest at the e_H where both are equal,
 * which is used if the budget allows it and otherwise the largest e_H that it allows.
 * docs/PRIVACY.md, "Fed-Hedge". */
#include "plan/calibrate.h"

#include "plan/zcdp.h"

#include <math.h>

static double squares(const caucus_settings *s) {
    const uint32_t full = s->rounds / s->interval;
    const double n = s->interval, rest = s->rounds % s->interval;
    return full * n * n + rest * rest;
}

caucus_status caucus_calibrate_hedge(caucus_plan *plan, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    caucus_hedge_plan *hedge = &plan->hedge;
    hedge->blocks = (s->rounds - 1) / s->interval + 1;
    hedge->rate = (caucus_rational){0, 1};
    if (s->algorithm == CAUCUS_ALGORITHM_LEADER)
        return CAUCUS_OK;
    const double draws = hedge->blocks - 1;
    const double m = s->clients;
    double most = INFINITY;
    if (isfinite(s->epsilon) && draws > 0) {
        most = m * s->epsilon / (2 * draws);
        if (s->delta > 0)
            most = fmax(most, m * sqrt(2 * caucus_zcdp_rho(s->epsilon * (1 - CALIBRATE_SLACK), s->delta) / draws));
    }
    const double rate = fmin(sqrt(8 * log((double)s->experts) / squares(s)), most);
    caucus_status status = caucus_calibrate_rate(rate / (m * (double)plan->grid), s->epsilon, &hedge->rate, ret_error);
    if (status == CAUCUS_OK)
        hedge->learning_rate = caucus_rational_double(hedge->rate) * m * (double)plan->grid;
    return status;
}

void caucus_bounds_hedge(caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const double all = s->rounds * (s->hi - s->lo);
    plan->bound = plan->bound_uncapped = all;
    plan->bound_kind = CAUCUS_BOUND_NONE;
    if (s->algorithm == CAUCUS_ALGORITHM_LEADER)
        return;
    const double e = plan->hedge.learning_rate;
    plan->bound_kind = CAUCUS_BOUND_EXPECTATION;
    plan->bound_uncapped =
        (log((double)s->experts) / e + e * squares(s) / 8) * (s->hi - s->lo) + all / (double)plan->grid;
    plan->bound = plan->bound_uncapped < all ? plan->bound_uncapped : all;
}
