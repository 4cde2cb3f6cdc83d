/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_svt.c: noise, threshold and switch budget of Fed-SVT.
 *
 * Tight. One-sided geometric noise on the threshold and on every check, both with rate eps_AT: an epoch is
 * eps_AT-DP and epochs compose in parallel (lemma AT); each of kappa selections costs eta. With
 *     A = ln(M/(2 rho_c)) + ln((kappa+1)/rho_a),  rho_c = rho_a = rho/4,  kappa = kappa(d, rho/2, g)
 * the proved regret is (kappa+1) [L* + N + (A/eps_AT + g/eta)/m]. Pure: eps_AT + kappa*eta = epsilon, so
 *     eps_AT = epsilon sqrt(A)/(sqrt(A) + sqrt(g kappa)).
 * With delta > 0 a selection is eta^2/8-zCDP and eps_AT is found by golden section; whichever bound is
 * smaller is taken. g is searched in 3, 3.5, .., 8. At most M switches can happen, so kappa <= M.
 * A run without an end that does not renew itself has thresholds that grow (dp/growth.h): with M the checks of its
 * nominal rounds, ln(M/(2 rho_c)) becomes ln(C (M+1) ln^2(M+1)/(2 rho_c)), and kappa has no cap.
 * A run that renews itself is calibrated for one cycle. Its first expert is carried over from the cycle before, not
 * drawn from the Gibbs law of this one, so that dropping it may leave ln phi where it is: one more switch is allowed.
 *
 * Paper. Lap(4/eps) and Lap(8/eps), kappa = 3 ceil(log2 d) + ceil(24 ln(1/rho)), eta = eps/(2 kappa) or
 * eps/sqrt(kappa ln(1/delta)), L = m L* + 8 ln(2T^2/(N^2 rho))/eps + 4/eta.
 *
 * docs/PRIVACY.md, "Fed-SVT"; docs/PAPER.md. */
#include "plan/calibrate.h"

#include "dp/growth.h"
#include "plan/renewal.h"
#include "plan/zcdp.h"

#include <math.h>
#include <stdlib.h>

/* L* is about losses measured from the bottom of their range: the total of l - lo of the best expert. In block
 * means, only full blocks are ever reported, so a total of L* is a total of (L*)/N means. */
svt_facts caucus_calibrate_svt_facts(const caucus_settings *s) {
    const bool means = s->unit == CAUCUS_UNIT_CLIENT_BLOCK;
    const double range = s->hi - s->lo;
    const double per_unit = means ? range * (double)s->interval : range;
    const bool grows = caucus_settings_grow(s);
    const uint64_t cycle = caucus_settings_cycle(s);
    const uint64_t checks = grows ? s->nominal_rounds / s->interval : (cycle - 1) / s->interval;
    const uint64_t block = s->interval < cycle ? s->interval : cycle;
    return (svt_facts){
        .clients = s->clients,
        .experts = s->experts,
        .checks = (double)checks,
        .block_cost = means ? 1 : (double)block,
        .lstar = s->lstar / per_unit,
        .per_unit = per_unit,
    };
}

/* What false alarms ask of a threshold, times its rate: at the last check, or with growth at the nominal one. */
static double check_tail_of(const caucus_settings *s, double checks) {
    const double share = 2 * s->rho / 4;
    if (!caucus_settings_grow(s))
        return log(checks / share);
    const double n = checks + 1;
    return log(CAUCUS_GROWTH_CONSTANT * n * log(n) * log(n) / share);
}

static double bound_of(const svt_facts *f, double kappa, double inner) {
    return (kappa + 1) * (f->lstar + f->block_cost + inner / f->clients);
}

/* A/eps_AT + g/eta when the threshold gets eps_AT and zCDP selections what is left; *ret_rho is theirs. */
static double inner_zcdp(const caucus_settings *s, double a, double g, double kappa, double eps_at, double *ret_rho) {
    *ret_rho = caucus_zcdp_rho_with_pure(s->epsilon * (1 - CALIBRATE_SLACK), eps_at, s->delta);
    return *ret_rho > 0 ? a / eps_at + g / sqrt(8 * *ret_rho / kappa) : INFINITY;
}

/* The threshold's part of epsilon where selections are by zCDP: eps_AT with the smallest inner_zcdp(). It is searched
 * as a fraction of epsilon, by its logit: fractions near 0 and 1 are told apart as well as those in the middle. */
static double split_zcdp(const caucus_settings *s, double a, double g, double kappa) {
    const double ratio = 0.6180339887498949;
    double lo = -9, hi = 4, rho;
    for (int i = 0; i < 32; i++) {
        double c = hi - ratio * (hi - lo), d = lo + ratio * (hi - lo);
        double fc = inner_zcdp(s, a, g, kappa, s->epsilon / (1 + exp(-c)), &rho);
        double fd = inner_zcdp(s, a, g, kappa, s->epsilon / (1 + exp(-d)), &rho);
        if (fc <= fd)
            hi = d;
        else
            lo = c;
    }
    return s->epsilon / (1 + exp(-(lo + hi) / 2));
}

static void consider(svt_real *best, const svt_facts *f, svt_real candidate, double inner, double check_tail) {
    candidate.bound = bound_of(f, candidate.switches, inner);
    candidate.threshold =
        f->clients * f->lstar + candidate.margin / candidate.eta + check_tail / candidate.epsilon_threshold;
    if (candidate.bound < best->bound)
        *best = candidate;
}

caucus_status caucus_calibrate_svt_real(const caucus_settings *s, svt_real *ret) {
    const svt_facts f = caucus_calibrate_svt_facts(s);
    const double check_tail = check_tail_of(s, f.checks);
    *ret = (svt_real){.bound = INFINITY};
    for (int i = 6; i <= 16; i++) {
        const double g = i / 2.0;
        uint32_t enough = 0;
        const caucus_status status = caucus_renewal_switches(s->experts, s->rho / 2, g, &enough);
        if (status != CAUCUS_OK)
            return status;
        enough += caucus_settings_cycles(s) > 1 ? 1 : 0; /* for the expert that is carried over */
        const double kappa = enough < f.checks || caucus_settings_grow(s) ? enough : f.checks;
        const double a = check_tail + log((kappa + 1) / (s->rho / 4));
        const double b = g * kappa;
        svt_real pure = {.margin = g, .switches = (uint32_t)kappa};
        pure.epsilon_threshold = s->epsilon * sqrt(a) / (sqrt(a) + sqrt(b));
        pure.eta = (s->epsilon - pure.epsilon_threshold) / kappa;
        consider(ret, &f, pure, a / pure.epsilon_threshold + g / pure.eta, check_tail);
        if (s->delta > 0) {
            svt_real mixed = {.margin = g, .switches = (uint32_t)kappa};
            mixed.epsilon_threshold = split_zcdp(s, a, g, kappa);
            double inner = inner_zcdp(s, a, g, kappa, mixed.epsilon_threshold, &mixed.rho_zcdp);
            mixed.eta = sqrt(8 * mixed.rho_zcdp / kappa);
            if (mixed.eta > 0)
                consider(ret, &f, mixed, inner, check_tail);
        }
    }
    return CAUCUS_OK;
}

/* Weight of selection k: constant, or front-loaded; the etas are eta_total * weight / norm. */
static double eta_of(const caucus_settings *s, const svt_real *r, uint32_t k) {
    if (!s->front_load)
        return r->eta;
    double sum = 0;
    for (uint32_t i = 0; i < r->switches; i++)
        sum += 1.0 / (i + 3);
    if (r->rho_zcdp > 0) /* eta_k ~ 1/sqrt(k+3), sum of eta_k^2/8 = rho */
        return sqrt(8 * r->rho_zcdp / (sum * (k + 3)));
    return r->eta * r->switches / (sum * (k + 3)); /* eta_k ~ 1/(k+3), same sum */
}

static caucus_status allocate(caucus_svt_plan *svt, caucus_error *ret_error) {
    svt->threshold = calloc(svt->switches, sizeof *svt->threshold);
    svt->select_rate = calloc(svt->switches, sizeof *svt->select_rate);
    if (!svt->threshold || !svt->select_rate)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%u switches", svt->switches);
    return CAUCUS_OK;
}

/* A real number of grid units, rounded up; thresholds beyond 2^61 would leave no room for noise. */
static caucus_status units_up(double value, int64_t *ret, caucus_error *ret_error) {
    if (!(value < 0x1p61))
        return caucus_fail(ret_error, CAUCUS_E_OVERFLOW, "epsilon", "gives a threshold of %.3g grid steps, above 2^61",
                           value);
    *ret = (int64_t)ceil(value);
    return CAUCUS_OK;
}

/* m*L* in grid units. Rounding each loss to the grid can add half a step to it, T times, and rounding the mean of a
 * block another half; not if L* is 0, since a loss at the bottom of the range is on the grid. Without an end there is
 * no T: L* is then about the losses as they are on the grid. */
static caucus_status score_floor(caucus_plan *plan, const svt_facts *f, caucus_error *ret_error) {
    const double each = plan->settings.unit == CAUCUS_UNIT_CLIENT_BLOCK ? 1 : f->block_cost / 2;
    const double rounding = f->lstar > 0 && !caucus_settings_grow(&plan->settings) ? (f->checks + 1) * each : 0;
    return units_up(f->clients * (f->lstar * (double)plan->grid + rounding), &plan->svt.score_floor, ret_error);
}

static caucus_status tight(caucus_plan *plan, const svt_facts *f, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const double grid = (double)plan->grid;
    caucus_svt_plan *svt = &plan->svt;
    svt_real real;
    caucus_status status = caucus_calibrate_svt_real(s, &real);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "", "the law of the switches");
    svt->switches = real.switches;
    svt->margin = real.margin;
    status = allocate(svt, ret_error);
    caucus_rational rate = {0, 1};
    if (status == CAUCUS_OK)
        status = caucus_calibrate_rate(real.epsilon_threshold / grid, s->epsilon, &rate, ret_error);
    svt->threshold_noise = svt->check_noise = (caucus_noise){CAUCUS_NOISE_GEOMETRIC, rate};
    /* Where thresholds grow, what they begin with: the machine adds caucus_growth() at every check. */
    const double tail =
        (caucus_settings_grow(s) ? log(CAUCUS_GROWTH_CONSTANT / (2 * s->rho / 4)) : check_tail_of(s, f->checks)) /
        caucus_rational_double(rate);
    for (uint32_t k = 0; status == CAUCUS_OK && k < svt->switches; k++) {
        status = caucus_calibrate_rate(eta_of(s, &real, k) / (2 * grid), s->epsilon, &svt->select_rate[k], ret_error);
        if (status == CAUCUS_OK) /* g/eta_k is g/(2*rate) grid units */
            status = units_up((double)svt->score_floor +
                                  real.margin / (2 * caucus_rational_double(svt->select_rate[k])) + tail,
                              &svt->threshold[k], ret_error);
    }
    svt->epsilon_threshold = caucus_rational_double(rate) * grid;
    return status;
}

static caucus_status paper(caucus_plan *plan, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const double grid = (double)plan->grid;
    caucus_svt_plan *svt = &plan->svt;
    uint32_t log2_d = 0;
    while (((uint64_t)1 << log2_d) < s->experts)
        log2_d++;
    svt->switches = 3 * log2_d + (uint32_t)ceil(24 * log(1 / s->rho));
    svt->margin = 4;
    const double kappa = svt->switches;
    const double eta = s->delta > 0 ? s->epsilon / sqrt(kappa * log(1 / s->delta)) : s->epsilon / (2 * kappa);
    const double blocks = (double)s->rounds / (double)s->interval;
    caucus_status status = allocate(svt, ret_error);
    svt->threshold_noise.kind = svt->check_noise.kind = CAUCUS_NOISE_LAPLACE;
    if (status == CAUCUS_OK)
        status = caucus_calibrate_rate(s->epsilon / (4 * grid), s->epsilon, &svt->threshold_noise.parameter, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_calibrate_rate(s->epsilon / (8 * grid), s->epsilon, &svt->check_noise.parameter, ret_error);
    const double above = grid * (8 * log(2 * blocks * blocks / s->rho) / s->epsilon + 4 / eta);
    for (uint32_t k = 0; status == CAUCUS_OK && k < svt->switches; k++) {
        status = caucus_calibrate_rate(eta / (2 * grid), s->epsilon, &svt->select_rate[k], ret_error);
        if (status == CAUCUS_OK)
            status = units_up((double)svt->score_floor + above, &svt->threshold[k], ret_error);
    }
    svt->epsilon_threshold = caucus_rational_double(svt->threshold_noise.parameter) * grid;
    return status;
}

caucus_status caucus_calibrate_svt(caucus_plan *plan, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const svt_facts f = caucus_calibrate_svt_facts(s);
    plan->svt.checks = caucus_settings_grow(s) ? caucus_settings_most_blocks(s, plan->grid) : (uint64_t)f.checks;
    plan->svt.blocks = caucus_settings_blocks(s);
    caucus_status status = score_floor(plan, &f, ret_error);
    if (status != CAUCUS_OK || plan->svt.checks == 0)
        return status; /* no check: nothing is decided, drawn or spent */
    return s->calibration == CAUCUS_CALIBRATION_PAPER ? paper(plan, ret_error) : tight(plan, &f, ret_error);
}
