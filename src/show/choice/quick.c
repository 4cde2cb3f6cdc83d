/* SPDX-License-Identifier: Apache-2.0 */
/* quick.c: how much of a run is played quickly, and the playing of one plan. See quick.h. */
#include "show/choice/quick.h"

#include "num/fail.h"
#include "plan/family.h"

#include <math.h>

enum { TRIALS_MOST = 20, TRIALS_LEAST = 3, ROUNDS_LEAST = 256, ALONE_PART = 16 };
/* The largest epsilon of settings (plan/settings.c). */
#define EPSILON_MOST 1000.0
/* What the clients of a trial may take. */
#define MEMORY_BYTES 1e9

static uint64_t power_of_two_below(double value) {
    uint64_t power = 1;
    while ((double)power * 2 <= value && power < (uint64_t)1 << 40)
        power *= 2;
    return power;
}

/* One client is left, and is still too much: fewer rounds than any algorithm shows its worth in, then fewer trials. */
static double cut_alone(caucus_scale *scale, double each, uint64_t least, double losses) {
    const double rounds = losses / (each * TRIALS_LEAST);
    const uint64_t floor_rounds = least / ALONE_PART > 2 ? least / ALONE_PART : 2;
    if (rounds >= (double)scale->rounds)
        return TRIALS_LEAST;
    const uint64_t shorter = power_of_two_below(rounds), kept = shorter > floor_rounds ? shorter : floor_rounds;
    scale->shorter = scale->shorter || kept < scale->rounds;
    scale->rounds = kept < scale->rounds ? kept : scale->rounds;
    return fmin(TRIALS_LEAST, fmax(1, losses / (each * (double)scale->rounds)));
}

void caucus_scale_cut(caucus_scale *scale, double each, uint64_t least, double losses) {
    double trials = losses / (each * scale->clients * (double)scale->rounds);
    if (trials < TRIALS_LEAST) {
        const uint64_t shorter = power_of_two_below((double)scale->rounds * trials / TRIALS_LEAST);
        const uint64_t rounds = shorter > least ? shorter : least;
        scale->shorter = scale->shorter || rounds < scale->rounds;
        scale->rounds = rounds < scale->rounds ? rounds : scale->rounds;
        const double clients = losses / (each * TRIALS_LEAST * (double)scale->rounds);
        scale->fewer = scale->fewer || (clients < scale->clients && scale->clients > 1);
        if (clients < scale->clients)
            scale->clients = clients < 1 ? 1 : (uint32_t)clients;
        trials = clients < 1 ? cut_alone(scale, each, least, losses) : TRIALS_LEAST;
    }
    scale->trials = trials < TRIALS_MOST ? (uint32_t)trials : TRIALS_MOST;
}

/* The epsilon with the fleet's noise, whether or not settings accept it. */
static double epsilon_of_noise(const caucus_scale *scale, const caucus_settings *s) {
    const double ratio = (double)s->clients / scale->clients;
    return s->epsilon * (s->trust == CAUCUS_TRUST_COORDINATOR ? ratio : sqrt(ratio));
}

bool caucus_scale_capped(const caucus_scale *scale, const caucus_settings *s) {
    return scale->clients < s->clients && isfinite(s->epsilon) && epsilon_of_noise(scale, s) > EPSILON_MOST;
}

double caucus_scale_epsilon(const caucus_scale *scale, const caucus_settings *s) {
    if (scale->clients >= s->clients || isinf(s->epsilon))
        return s->epsilon;
    return fmin(EPSILON_MOST, epsilon_of_noise(scale, s));
}

caucus_settings caucus_scale_settings(const caucus_scale *scale, const caucus_plan *plan, bool own) {
    caucus_settings s = plan->settings;
    const uint64_t rounds = scale->rounds;
    s.epsilon = caucus_scale_epsilon(scale, &plan->settings);
    if (s.message == CAUCUS_MESSAGE_AUTO && s.trust == CAUCUS_TRUST_NOBODY)
        s.message = plan->stoch.message; /* another epsilon may choose another */
    s.clients = scale->clients;
    if (s.rounds != CAUCUS_ROUNDS_ENDLESS && s.rounds != rounds) {
        s.rounds = rounds;
        s.interval = s.interval < rounds ? s.interval : rounds;
        s.renew = s.renew <= rounds ? s.renew : 0;
        s.longest_phase = s.longest_phase <= rounds ? s.longest_phase : rounds;
        s.first_phase = s.first_phase <= rounds ? s.first_phase : 1;
    }
    if (!own) {
        s.lstar /= s.hi - s.lo;
        s.lo = 0;
        s.hi = 1;
    }
    if (s.rounds != CAUCUS_ROUNDS_ENDLESS)
        s.lstar = fmin(s.lstar, (double)s.rounds * (s.hi - s.lo)); /* the division may round up */
    return s;
}

void caucus_quick_note(caucus_quick *quick, const caucus_run *run, const caucus_run_result *result, double range) {
    const uint32_t clients = result->plan->settings.clients;
    quick->done = result->done > 0;
    quick->trials = result->done;
    quick->epsilon = result->plan->settings.epsilon;
    quick->adversary = run->adversary.kind;
    const caucus_settings *s = &result->plan->settings;
    const bool own_pace = s->pace == CAUCUS_PACE_OWN;
    quick->regret = run->adversary.segments > 1 ? caucus_run_regret_segments(result) : caucus_run_regret(result);
    if (own_pace && s->unit != CAUCUS_UNIT_EVENT) /* what the bound of means is against (slot_regret.h) */
        quick->regret = caucus_run_regret_devices(result);
    else if (own_pace)
        quick->regret = caucus_run_regret_segments(result);
    if (own_pace)
        range *= 1000 * clients / caucus_run_mean_u64(result, offsetof(caucus_trial_result, losses));
    quick->regret.mean *= range;
    quick->regret.std *= range;
    quick->regret.min *= range;
    quick->regret.max *= range;
    quick->switches = caucus_run_switches(result).mean;
    quick->scalars = caucus_run_mean_u64(result, offsetof(caucus_trial_result, scalars_up)) / clients;
    quick->bytes = caucus_run_mean_u64(result, offsetof(caucus_trial_result, bytes_up)) / clients;
}

/* Losses drawn per trial, and other work in the same currency: a round of a client costs about as much as 150 losses
 * more, a decision as much as 300, a noisy number as much as 30. */
static double work_of(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const caucus_plan_traffic t = caucus_plan_traffic_of(plan);
    const double each = (s->experts + 150.0) * (s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX ? 10 : 1);
    const double sends = (double)t.scalars * (s->trust == CAUCUS_TRUST_COORDINATOR ? 1 : 30);
    return s->clients * ((double)s->rounds * each + sends) + 300.0 * (double)t.reports;
}

/* How much of the plan's run is played. What it costs is spread evenly over clients and rounds. */
static caucus_scale scale_of(const caucus_plan *plan, double losses) {
    const caucus_settings *s = &plan->settings;
    caucus_scale scale = {.clients = s->clients, .rounds = s->rounds};
    const double fit = MEMORY_BYTES / (double)caucus_plan_traffic_of(plan).client_memory;
    scale.fewer = fit < scale.clients;
    if (scale.fewer)
        scale.clients = fit < 1 ? 1 : (uint32_t)fit;
    caucus_scale_cut(&scale, work_of(plan) / ((double)s->clients * (double)s->rounds), ROUNDS_LEAST, losses);
    return scale;
}

caucus_status caucus_plan_quick(const caucus_plan *plan, caucus_knowledge known, double losses, caucus_quick *ret,
                                caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const bool convex = s->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX;
    *ret = (caucus_quick){.adversary = caucus_knowledge_adversary(known, convex)};
    if (caucus_plan_is_endless(plan) || s->pace == CAUCUS_PACE_OWN) /* how active devices are is not in a plan */
        return CAUCUS_OK;
    ret->scale = scale_of(plan, losses);
    const caucus_scale *scale = &ret->scale;
    caucus_run run = {.settings = caucus_scale_settings(scale, plan, false), .trials = scale->trials, .seed = 1};
    caucus_plan *smaller = NULL;
    caucus_error refused = {0};
    if (!caucus_scale_is_smaller(scale) && s->lo == 0 && s->hi == 1 && run.settings.lstar == s->lstar) {
        run.plan = plan; /* nothing was changed */
    } else {
        const caucus_status status = caucus_plan_new(&run.settings, &smaller, &refused);
        if (status == CAUCUS_E_MEMORY)
            return caucus_fail_memory(ret_error, "");
        if (status != CAUCUS_OK)
            return CAUCUS_OK; /* it does not fit at the size that could be played */
        run.plan = smaller;
    }
    run.adversary = (caucus_adversary_settings){.kind = ret->adversary,
                                                .seed = 1,
                                                .clients = scale->clients,
                                                .experts = s->experts,
                                                .rounds = scale->rounds,
                                                .segments = caucus_knowledge_segments(s, ret->adversary, scale->rounds),
                                                .convex = convex};
    caucus_run_result result;
    const caucus_status status = caucus_run_play(&run, NULL, &result, ret_error);
    if (status == CAUCUS_OK) {
        caucus_quick_note(ret, &run, &result, convex ? 1 : s->hi - s->lo);
        caucus_run_result_free(&result);
    }
    caucus_plan_free(smaller);
    return status;
}
