/* bounds_svt.c: the regret that Fed-SVT is proved to keep to with probability 1 - rho.
 *
 * (i) A false alarm (a switch although q is below threshold - c) has total probability at most rho_c. (ii) All kappa+1
 * threshold noises stay small with probability 1 - rho_a. (iii) Without false alarms every switch raises the
 * dropped expert's score by g/eta, so there are at most kappa switches with probability 1 - rho_Z (renewal.c).
 * (iv) While no check fires q is at most threshold + noise, and the block that fires adds at most m*N. So
 *     regret per client <= (kappa+1) [N + (threshold + noise)/m].
 * Geometric noise (tight): P(nu > c + xi) <= e^(-c rate)/2 and a geometric xi is below ln((kappa+1)/rho_a)/rate.
 * Laplace noise (paper): with c_Q = ln(M/(2 r))/rate_Q and c_T = ln((kappa+1)/(2 r))/rate_T, r = rho/8, none of the
 * four tails (either sign, either noise) exceeds its c except with probability 4r = rho/2; the margin
 * that the threshold leaves beyond c_Q + c_T must then make kappa switches enough with probability 1 - rho/2.
 * docs/PRIVACY.md, "Bounds". */
#include "plan/calibrate.h"

#include "plan/renewal.h"

#include <math.h>

/* Of a noise threshold, in grid units, that the proof adds to L; NAN if the plan leaves too small a margin. */
static double paper_noise(const caucus_plan *plan, const svt_facts *f) {
    const caucus_svt_plan *svt = &plan->svt;
    const double r = plan->settings.rho / 8;
    /* Whole numbers of grid steps: for them the discrete Laplace tail is at most half the exponential. */
    const double cq = ceil(log(f->checks / (2 * r)) / caucus_rational_double(svt->check_noise.parameter));
    const double ct =
        ceil(log((svt->switches + 1.0) / (2 * r)) / caucus_rational_double(svt->threshold_noise.parameter));
    const double eta = 2 * caucus_rational_double(svt->select_rate[0]); /* per grid step */
    double margin = eta * ((double)(svt->threshold[0] - svt->score_floor) - cq - ct);
    margin = margin < 16 ? margin : 16; /* a larger margin is also a margin of 16 */
    if (!(margin >= RENEWAL_MARGIN_MIN))
        return NAN;
    double needed = caucus_renewal_switches(plan->settings.experts, plan->settings.rho / 2, margin);
    needed = needed < f->checks ? needed : f->checks;
    return needed <= svt->switches ? cq + ct : NAN;
}

void caucus_bounds_svt(caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const caucus_svt_plan *svt = &plan->svt;
    const svt_facts f = caucus_calibrate_svt_facts(s);
    const double grid = (double)plan->grid;
    const double all = s->rounds * (s->hi - s->lo);
    plan->bound_kind = CAUCUS_BOUND_PROBABILITY;
    plan->bound = plan->bound_uncapped = all;
    if (svt->checks == 0)
        return;
    double noise;
    if (s->front_load && s->calibration == CAUCUS_CALIBRATION_TIGHT)
        noise = NAN; /* the renewal proof needs a constant eta */
    else if (s->calibration == CAUCUS_CALIBRATION_PAPER)
        noise = paper_noise(plan, &f);
    else
        noise = log((svt->switches + 1.0) / (s->rho / 4)) / caucus_rational_double(svt->check_noise.parameter);
    if (isnan(noise)) {
        plan->bound_kind = CAUCUS_BOUND_NONE;
        return;
    }
    const double per_epoch = f.block_cost + ((double)svt->threshold[0] + noise) / (grid * f.clients);
    plan->bound_uncapped = (svt->switches + 1.0) * per_epoch * f.per_unit + all / grid;
    plan->bound = plan->bound_uncapped < all ? plan->bound_uncapped : all;
}
