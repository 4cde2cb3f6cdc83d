/* plan_limits.c: no sum of a run can leave 62 bits. A wrap would void every sensitivity, so it is excluded by public
 * numbers before the run starts: m*T*G for block sums; m*b*(G + sum of clamps) for a leaf; with weights on
 * earlier phases m*R*sum_a w_a n_a; and for noisy messages the noise as well, up to a tail of probability e^-60.
 * docs/PRIVACY.md, "The grid".
 * Also here: the K-norm sampler keeps about e^(-rate*d/2) of its tries, which must not be few. */
#include "num/int128.h"
#include "plan/calibrate.h"

#include <math.h>

static caucus_status refuse(const caucus_plan *plan, const char *what, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_OVERFLOW, "rounds",
                       "%s could leave 62 bits with %u clients, %u rounds, grid %lld: "
                       "use fewer rounds or clients",
                       what, plan->settings.clients, plan->settings.rounds, (long long)plan->grid);
}

static bool fits(caucus_u128 value) {
    return value >> 62 == 0;
}

/* Grid steps that one draw of a noise vector of dimension d exceeds with negligible probability. */
static double noise_reach(const caucus_noise *noise, double d) {
    const double parameter = caucus_rational_double(noise->parameter);
    switch (noise->kind) {
    case CAUCUS_NOISE_KNORM:
        return (d + 12 * sqrt(d) + 80) / parameter;
    case CAUCUS_NOISE_GAUSSIAN:
        return sqrt(2 * (log(d) + 60) * parameter);
    case CAUCUS_NOISE_NONE:
        return 0;
    default:
        return (log(d) + 60) / parameter;
    }
}

/* K-norm noise at a rate that is large per grid step: only a very coarse grid gets there. */
static bool knorm_is_slow(const caucus_noise *noise, uint32_t dimension) {
    return noise->kind == CAUCUS_NOISE_KNORM && caucus_rational_double(noise->parameter) * dimension > 16;
}

static caucus_status phase_limits(const caucus_plan *plan, const caucus_stoch_phase *phase, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    caucus_u128 one = (caucus_u128)(uint64_t)plan->grid * phase->batch;
    for (uint32_t h = 1; h <= phase->trees && h <= CAUCUS_TREES_MAX; h++)
        one += (caucus_u128)(uint64_t)phase->clamp[h] * phase->batch;
    if (!fits(one) || !fits(one * s->clients))
        return refuse(plan, "sums of a phase", ret_error);
    for (uint32_t h = 0; h <= CAUCUS_TREES_MAX; h++)
        if (knorm_is_slow(&phase->vertex_noise[h], s->experts) ||
            knorm_is_slow(&phase->shortlist_noise, CAUCUS_SHORTLIST))
            return caucus_fail(
                ret_error, CAUCUS_E_INFEASIBLE, "grid",
                "%lld steps are too few for K-norm noise at epsilon %g with %u experts: use a finer grid",
                (long long)plan->grid, s->epsilon, s->experts);
    double noise = 0;
    for (uint32_t h = 0; h <= CAUCUS_TREES_MAX; h++)
        noise += noise_reach(&phase->vertex_noise[h], s->experts) + noise_reach(&phase->leaf_noise[h], s->experts);
    noise += noise_reach(&phase->shortlist_noise, CAUCUS_SHORTLIST);
    if (!((noise + (double)one) * s->clients < 0x1p62))
        return refuse(plan, "noisy messages", ret_error);
    return CAUCUS_OK;
}

/* past_phases: the score of the phase that has most behind it, the last. */
static caucus_status past_limits(const caucus_plan *plan, caucus_error *ret_error) {
    const caucus_stoch_plan *stoch = &plan->stoch;
    const uint32_t most = sizeof stoch->past_weights / sizeof stoch->past_weights[0];
    caucus_u128 sum = 0;
    for (uint32_t a = 0; a < stoch->past && a < most && a + 2 <= stoch->phases; a++) {
        if (stoch->past_weights[a] >> 32 != 0)
            return refuse(plan, "weighted scores", ret_error);
        sum += (caucus_u128)stoch->past_weights[a] << (stoch->phases - 2 - a);
    }
    const caucus_u128 width = (caucus_u128)(uint64_t)(stoch->gradient_hi - stoch->gradient_lo);
    if (!fits(sum) || !fits(sum * plan->settings.clients) || !fits(sum * plan->settings.clients * width))
        return refuse(plan, "weighted scores", ret_error);
    return CAUCUS_OK;
}

caucus_status caucus_plan_limits(const caucus_plan *plan, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    if (!fits((caucus_u128)s->clients * s->rounds * (caucus_u128)(uint64_t)plan->grid))
        return refuse(plan, "sums of losses", ret_error);
    if (s->algorithm == CAUCUS_ALGORITHM_SVT || s->algorithm == CAUCUS_ALGORITHM_SPARSE_VECTOR) {
        for (uint32_t k = 0; plan->svt.threshold && k < plan->svt.switches; k++)
            if (plan->svt.threshold[k] < 0 || plan->svt.threshold[k] >= (int64_t)1 << 61)
                return refuse(plan, "a threshold", ret_error);
        if (plan->svt.score_floor < 0 || plan->svt.score_floor >= (int64_t)1 << 62)
            return refuse(plan, "the score's floor", ret_error);
        return CAUCUS_OK;
    }
    if (s->algorithm != CAUCUS_ALGORITHM_STOCH && s->algorithm != CAUCUS_ALGORITHM_LIMITED_UPDATES)
        return CAUCUS_OK;
    if (plan->stoch.phases > 31 || (plan->stoch.phases > 1 && !plan->stoch.phase))
        return refuse(plan, "phases", ret_error);
    caucus_status status = past_limits(plan, ret_error);
    for (uint32_t i = 0; status == CAUCUS_OK && i + 1 < plan->stoch.phases; i++)
        status = phase_limits(plan, &plan->stoch.phase[i], ret_error);
    return status;
}
