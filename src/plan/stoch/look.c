/* SPDX-License-Identifier: Apache-2.0 */
/* look.c: see look.h.
 *
 * Two-sided geometric noise Z of rate r has P(|Z| > t) = 2 e^(-r(t+1))/(1 + e^-r). show_reach is the least t for which
 * that is at most 0.05: t + 1 >= ln(40/(1 + e^-r))/r. Half the width of an interval is R t/(G n), n the divisor, so a
 * figure is shown where 2t <= G n.
 * Trust nobody: the noises of a messages have the variance a v together, v of one coordinate of one message:
 * (d+1)(d+2)/(3 r^2) for knorm (of the continuous law; the grid changes it by a part in r^2), 2/r^2 for laplace-d
 * (above what it is), v for gauss. Half the width is 1.96 R sqrt(a v)/(G n). */
#include "plan/stoch/look.h"

#include "num/int128.h"
#include "plan/account.h"
#include "plan/calibrate.h"
#include "plan/family.h"
#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"

#include <math.h>

#define NORMAL 1.96 /* of a normal law 0.95 lies within so many standard deviations */

static bool noisy_sums(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const caucus_message message = plan->stoch.message;
    return s->trust == CAUCUS_TRUST_NOBODY && s->pace == CAUCUS_PACE_TOGETHER &&
           s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR && caucus_stoch_trees(plan) == 0 &&
           (message == CAUCUS_MESSAGE_KNORM || message == CAUCUS_MESSAGE_LAPLACE_D || message == CAUCUS_MESSAGE_GAUSS);
}

bool caucus_look_shows(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    return caucus_algorithm_takes(s->algorithm, CAUCUS_OPTION_SHOW_LOSS) && (s->show_loss > 0 || noisy_sums(plan));
}

caucus_status caucus_settings_check_look(const caucus_settings *s, caucus_error *e) {
    if (s->show_loss == 0)
        return CAUCUS_OK;
    if (!(s->show_loss > 0 && s->show_loss < s->epsilon)) /* also refuses NaN */
        return caucus_fail(e, CAUCUS_E_RANGE, "show-loss",
                           "%.10g (accepted: above 0 and below epsilon, which is %.10g)", s->show_loss, s->epsilon);
    if (!caucus_algorithm_takes(s->algorithm, CAUCUS_OPTION_SHOW_LOSS))
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "show-loss", "%.10g with %s (accepted: 0; or algorithm %s)",
                           s->show_loss, caucus_algorithm_word(s->algorithm),
                           caucus_option_takers(CAUCUS_OPTION_SHOW_LOSS, ", ").text);
    if (s->trust == CAUCUS_TRUST_NOBODY)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "show-loss",
                           "%.10g with trust nobody, where what clients send is private already and the loss is shown "
                           "without it: message knorm, laplace-d or gauss, pace together (accepted: 0)",
                           s->show_loss);
    if (s->trust != CAUCUS_TRUST_COORDINATOR || s->calibration == CAUCUS_CALIBRATION_PAPER ||
        s->loss_shape != CAUCUS_LOSS_SHAPE_LINEAR || s->trees > 0)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "show-loss",
                           "%.10g (accepted only with trust coordinator, linear losses without trees, calibration "
                           "tight)",
                           s->show_loss);
    if (s->pace == CAUCUS_PACE_OWN && s->unit == CAUCUS_UNIT_EVENT)
        return caucus_fail(e, CAUCUS_E_INFEASIBLE, "show-loss",
                           "%.10g with pace own and unit event, where dividing by the losses counted would tell how "
                           "many there were (accepted with unit client-block)",
                           s->show_loss);
    return CAUCUS_OK;
}

static int64_t reach_of(caucus_rational rate) {
    const double r = caucus_rational_double(rate);
    const double least = ceil(log(2 / ((1 - CAUCUS_LOOK_CONFIDENCE) * (1 + exp(-r)))) / r - 1);
    return least > 0 ? (int64_t)least : 0;
}

uint64_t caucus_look_divisor(const caucus_plan *plan, const caucus_stoch_phase *phase) {
    const caucus_settings *s = &plan->settings;
    if (caucus_evaluates_some(s))
        return caucus_evaluate_least(s, phase->samples);
    return (uint64_t)s->clients * (caucus_settings_means(s) ? 1 : phase->samples);
}

caucus_status caucus_look_calibrate(caucus_plan *plan, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    caucus_stoch_plan *stoch = &plan->stoch;
    stoch->show_noise = (caucus_noise){CAUCUS_NOISE_NONE, {0, 1}};
    stoch->show_reach = 0;
    if (!(s->show_loss > 0))
        return CAUCUS_OK;
    caucus_noise noise = {.kind = CAUCUS_NOISE_LAPLACE};
    caucus_status status = caucus_calibrate_rate(s->show_loss / caucus_look_times(plan) / (double)plan->grid,
                                                 s->epsilon, &noise.parameter, ret_error);
    if (status != CAUCUS_OK)
        return status;
    stoch->show_noise = noise;
    stoch->show_reach = reach_of(noise.parameter);
    uint64_t most = 1;
    for (uint32_t i = 0; i < stoch->described; i++) {
        const uint64_t divisor = caucus_look_divisor(plan, &stoch->phase[i]);
        most = divisor > most ? divisor : most;
        if (caucus_look_wanted(plan, &stoch->phase[i], divisor, s->clients))
            return CAUCUS_OK;
    }
    /* The interval is about as wide as the noise. What is suggested must do: rounded up to two digits, hence 1.06. */
    const double needed = 1.06 * s->show_loss * 2 * (double)stoch->show_reach / ((double)plan->grid * (double)most);
    return caucus_fail(
        ret_error, CAUCUS_E_INFEASIBLE, "show-loss",
        "%.10g would show nothing: every interval is wider than the range of a loss (accepted: from about "
        "%.2g on, below epsilon; or more clients)",
        s->show_loss, needed);
}

caucus_status caucus_look_account(const caucus_plan *plan, long double *ret, caucus_error *ret_error) {
    const caucus_stoch_plan *stoch = &plan->stoch;
    *ret = 0;
    if (!(plan->settings.show_loss > 0))
        return CAUCUS_OK;
    if (stoch->show_noise.kind != CAUCUS_NOISE_LAPLACE || !account_usable(stoch->show_noise.parameter) ||
        stoch->show_reach < 0 || stoch->show_reach >> 61 != 0)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "show-noise", "noise that no plan has");
    *ret = account_cost(caucus_look_times(plan), plan->grid, stoch->show_noise.parameter);
    return CAUCUS_OK;
}

/* Of one coordinate of one message, in grid steps. */
static double variance_of(const caucus_plan *plan, const caucus_noise *noise) {
    const double parameter = caucus_rational_double(noise->parameter), d = plan->settings.experts;
    if (noise->kind == CAUCUS_NOISE_GAUSSIAN)
        return parameter;
    if (noise->kind == CAUCUS_NOISE_KNORM)
        return (d + 1) * (d + 2) / (3 * parameter * parameter);
    return 2 / (parameter * parameter);
}

bool caucus_look_wanted(const caucus_plan *plan, const caucus_stoch_phase *phase, uint64_t divisor, uint32_t answers) {
    if (divisor == 0)
        return false;
    if (plan->settings.show_loss > 0)
        return (caucus_u128)(uint64_t)plan->stoch.show_reach * 2 <= (caucus_u128)(uint64_t)plan->grid * divisor;
    const double whole = (double)plan->grid * (double)divisor;
    return answers >= CAUCUS_LOOK_CLIENTS &&
           4 * NORMAL * NORMAL * answers * variance_of(plan, &phase->vertex_noise[0]) <= whole * whole;
}

uint32_t caucus_look_first(const caucus_plan *plan) {
    const uint32_t phases = caucus_look_shows(plan) ? plan->stoch.described : 0;
    for (uint32_t i = 0; i < phases; i++) {
        const caucus_stoch_phase *phase = &plan->stoch.phase[i];
        if (caucus_look_wanted(plan, phase, caucus_look_divisor(plan, phase), plan->settings.clients))
            return i;
    }
    return UINT32_MAX;
}

double caucus_look_half(const caucus_plan *plan, const caucus_stoch_phase *phase, uint64_t divisor, uint32_t answers) {
    const double range = plan->settings.hi - plan->settings.lo, whole = (double)plan->grid * (double)divisor;
    if (plan->settings.show_loss > 0)
        return range * (double)plan->stoch.show_reach / whole;
    return range * NORMAL * sqrt(answers * variance_of(plan, &phase->vertex_noise[0])) / whole;
}

double caucus_look_loss(const caucus_plan *plan, int64_t sum, uint64_t divisor) {
    const caucus_settings *s = &plan->settings;
    return s->lo + (s->hi - s->lo) * (double)sum / ((double)plan->grid * (double)divisor);
}
