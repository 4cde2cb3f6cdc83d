/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.c: Table 1 measured: how regret and traffic grow with m, d, T, N and epsilon. See study.h.
 * layer: study
 *
 * Each row varies one parameter and fits ln(value) = c + slope ln(parameter) by least squares. A theorem bounds the
 * worst case; losses of a given kind may do better, so a slope is evidence beside a rate, not a proof of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/parts.h"

#include "store/clock.h"

#define SVT CAUCUS_ALGORITHM_SVT
#define STOCH CAUCUS_ALGORITHM_STOCH
#define HEDGE CAUCUS_ALGORITHM_HEDGE
#define TWO_STEP CAUCUS_PROTOCOL_TWO_STEP
#define AS_PAPER CAUCUS_PROTOCOL_PAPER
#define BY(name) CAUCUS_SWEEP_##name
#define REALIZABLE CAUCUS_ADVERSARY_REALIZABLE
#define BERNOULLI CAUCUS_ADVERSARY_BERNOULLI

/* Table 1's rates are upper bounds: a slope may be below them. 0.1 for what a finite sweep adds to a power; ln T itself
 * has a slope of up to 0.13 over these rounds. */
#define ROOM 0.1
#define ROOM_LOG 0.15

/* One sweep per entry: key, label, theory, slope, room, value, variable, algorithm, protocol,
 * adversary, m, d, T, N, epsilon, delta, x, trials, quick trials, stroke */
/* clang-format off */
static const caucus_sweep_spec specs[] = {
    {"svt-regret-clients", "svt, realizable losses", "1/m", -1, ROOM, BY(REGRET), BY(CLIENTS), SVT, TWO_STEP,
     REALIZABLE, 0, 100, 4096, 1, 1, 0, {1, 2, 4, 8, 16, 32}, 20, 5, CAUCUS_STROKE_FIRST},
    {"svt-regret-epsilon", "svt, realizable losses", "1/ε", -1, ROOM, BY(REGRET), BY(EPSILON), SVT, TWO_STEP,
     REALIZABLE, 10, 100, 4096, 1, 0, 0, {0.25, 0.5, 1, 2, 4}, 20, 5, CAUCUS_STROKE_HIDDEN},
    {"svt-regret-rounds", "svt, realizable losses", "log T", 0, ROOM_LOG, BY(REGRET), BY(ROUNDS), SVT, TWO_STEP,
     REALIZABLE, 10, 100, 0, 1, 1, 0, {512, 1024, 2048, 4096, 8192}, 20, 5, CAUCUS_STROKE_HIDDEN},
    {"stoch-regret-clients", "stoch, Bernoulli losses", "1/√m", -0.5, ROOM, BY(REGRET), BY(CLIENTS), STOCH, TWO_STEP,
     BERNOULLI, 0, 100, 4096, 1, 10, 0, {1, 2, 4, 8, 16, 32}, 20, 5, CAUCUS_STROKE_SECOND},
    {"stoch-regret-epsilon", "stoch, small ε", "1/ε and a term without ε", NAN, NAN, BY(REGRET), BY(EPSILON), STOCH,
     TWO_STEP, BERNOULLI, 10, 100, 4096, 1, 0, 0, {0.02, 0.04, 0.08, 0.16, 0.32}, 20, 5, CAUCUS_STROKE_HIDDEN},
    {"stoch-regret-rounds", "stoch, Bernoulli losses", "√T", 0.5, ROOM, BY(REGRET), BY(ROUNDS), STOCH, TWO_STEP,
     BERNOULLI, 10, 100, 0, 1, 10, 0, {512, 1024, 2048, 4096, 8192}, 20, 5, CAUCUS_STROKE_HIDDEN},
    {"identical-regret-clients", "hedge without privacy, identical losses (Theorem 2)", "1: no speed-up", 0,
     NAN, BY(REGRET), BY(CLIENTS), HEDGE, TWO_STEP, CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS, 0, 100, 1024, 1, INFINITY,
     0, {1, 2, 4, 8, 16, 32}, 100, 10, CAUCUS_STROKE_GREY_FIRST},
    {"identical-private-clients", "hedge, ε = 1, identical losses (Theorem 2)", "1: no speed-up", 0, NAN, BY(REGRET),
     BY(CLIENTS), HEDGE, TWO_STEP, CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS, 0, 100, 1024, 1, 1, 1e-6, {1, 4, 16, 32},
     100, 10, CAUCUS_STROKE_HIDDEN},
    {"hedge-regret-clients", "hedge, ε = 1, losses that halve the field", "1/m until sampling dominates", NAN,
     NAN, BY(REGRET), BY(CLIENTS), HEDGE, TWO_STEP, CAUCUS_ADVERSARY_HALVING, 0, 100, 1024, 1, 1, 1e-6, {1, 2, 4, 8,
     16, 32}, 20, 5, CAUCUS_STROKE_THIRD},
    {"last-rounds-regret-clients", "svt, losses only at the end (Theorem 3)", "at least 1/m", -1, NAN, BY(REGRET),
     BY(CLIENTS), SVT, TWO_STEP, CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE, 0, 100, 512, 1, 0.25, 0, {1, 2, 4, 8,
     16, 32}, 40, 20, CAUCUS_STROKE_RIVAL},
    {"svt-traffic-clients", "svt, the paper's messages", "m", 1, NAN, BY(SCALARS), BY(CLIENTS), SVT, AS_PAPER,
     REALIZABLE, 0, 100, 512, 1, 10, 0, {1, 4, 16, 64}, 2, 2, CAUCUS_STROKE_HIDDEN},
    {"svt-traffic-experts", "svt, the paper's messages", "d", 1, NAN, BY(SCALARS), BY(EXPERTS), SVT, AS_PAPER,
     REALIZABLE, 10, 0, 512, 1, 10, 0, {32, 64, 128, 256, 512}, 2, 2, CAUCUS_STROKE_HIDDEN},
    {"svt-traffic-rounds", "svt, the paper's messages", "T", 1, NAN, BY(SCALARS), BY(ROUNDS), SVT, AS_PAPER, REALIZABLE,
     10, 100, 0, 1, 10, 0, {256, 512, 1024, 2048}, 2, 2, CAUCUS_STROKE_HIDDEN},
    {"svt-traffic-interval", "svt, the paper's messages", "1/N", -1, NAN, BY(SCALARS), BY(INTERVAL), SVT, AS_PAPER,
     REALIZABLE, 10, 100, 2048, 0, 10, 0, {1, 2, 4, 8, 16}, 2, 2, CAUCUS_STROKE_HIDDEN},
    {"svt-two-step-experts", "svt in two steps (ours)", "d, on switches only", NAN, NAN, BY(SCALARS), BY(EXPERTS), SVT,
     TWO_STEP, REALIZABLE, 10, 0, 512, 1, 10, 0, {32, 64, 128, 256, 512}, 20, 5, CAUCUS_STROKE_HIDDEN},
    {"svt-two-step-rounds", "svt in two steps (ours)", "T", 1, NAN, BY(SCALARS), BY(ROUNDS), SVT, TWO_STEP, REALIZABLE,
     10, 100, 0, 1, 10, 0, {512, 1024, 2048, 4096, 8192}, 20, 5, CAUCUS_STROKE_HIDDEN},
    {"stoch-traffic-clients", "stoch", "m", 1, NAN, BY(SCALARS), BY(CLIENTS), STOCH, TWO_STEP, BERNOULLI, 0, 100, 512,
     1, 10, 0, {1, 4, 16, 64}, 2, 2, CAUCUS_STROKE_HIDDEN},
    {"stoch-traffic-experts", "stoch", "d", 1, NAN, BY(SCALARS), BY(EXPERTS), STOCH, TWO_STEP, BERNOULLI, 10, 0, 512, 1,
     10, 0, {32, 64, 128, 256, 512}, 2, 2, CAUCUS_STROKE_HIDDEN},
    {"stoch-traffic-rounds", "stoch", "log T", 1, NAN, BY(SCALARS), BY(PHASES), STOCH, TWO_STEP, BERNOULLI, 10, 100, 0,
     1, 10, 0, {16, 64, 256, 1024, 4096}, 2, 2, CAUCUS_STROKE_HIDDEN},
};
/* clang-format on */

const char *caucus_sweep_variable_text(caucus_sweep_variable variable) {
    switch (variable) {
    case CAUCUS_SWEEP_CLIENTS:
        return "clients m";
    case CAUCUS_SWEEP_EPSILON:
        return "privacy ε";
    case CAUCUS_SWEEP_ROUNDS:
        return "rounds T";
    case CAUCUS_SWEEP_EXPERTS:
        return "experts d";
    case CAUCUS_SWEEP_INTERVAL:
        return "interval N";
    case CAUCUS_SWEEP_PHASES:
        return "log2 of T";
    }
    return "?";
}

const char *caucus_sweep_key(const caucus_sweep *sweep) {
    return sweep->spec->key;
}

const char *caucus_sweep_theory(const caucus_sweep *sweep) {
    return sweep->spec->theory;
}

double caucus_study_fair_coins(uint32_t rounds, uint32_t experts) {
    const double n = rounds;
    double below = 0, mean = 0; /* P(B <= k); E max = sum over k of P(max > k) */
    for (uint32_t k = 0; k < rounds; k++) {
        below += exp(lgamma(n + 1) - lgamma(k + 1.0) - lgamma(n - k + 1) - n * log(2));
        mean += 1 - pow(fmin(below, 1), experts);
    }
    return mean - n / 2;
}

const caucus_sweep *caucus_study_sweep(const caucus_study *study, const char *key) {
    for (uint32_t i = 0; i < study->scaling.count; i++)
        if (strcmp(study->scaling.sweep[i].spec->key, key) == 0)
            return &study->scaling.sweep[i];
    return NULL;
}

caucus_sweep_extent caucus_study_extent(const caucus_sweep *sweep, double floor) {
    caucus_sweep_extent e = {.least = INFINITY, .most = -INFINITY, .below = -INFINITY};
    for (uint32_t i = 0; i < sweep->points; i++) {
        const double mean = sweep->regret[i].mean, error = sweep->regret[i].std / sqrt(sweep->trials);
        e.least = fmin(e.least, mean);
        e.most = fmax(e.most, mean);
        e.below = fmax(e.below, (floor - mean) / error);
    }
    return e;
}

void caucus_study_fit(const double *x, const double *y, uint32_t points, double *ret_slope, double *ret_error) {
    double mx = 0, my = 0, sxx = 0, sxy = 0, residual = 0;
    for (uint32_t i = 0; i < points; i++) {
        mx += log(x[i]) / points;
        my += log(y[i]) / points;
    }
    for (uint32_t i = 0; i < points; i++) {
        sxx += (log(x[i]) - mx) * (log(x[i]) - mx);
        sxy += (log(x[i]) - mx) * (log(y[i]) - my);
    }
    *ret_slope = sxy / sxx;
    for (uint32_t i = 0; i < points; i++) {
        double off = log(y[i]) - my - *ret_slope * (log(x[i]) - mx);
        residual += off * off;
    }
    *ret_error = points > 2 ? sqrt(residual / (points - 2) / sxx) : NAN;
}

static caucus_run run_of(const caucus_study *study, const caucus_sweep_spec *spec, double x) {
    caucus_run run = {.trials = study->options.quick ? spec->quick_trials : spec->trials,
                      .seed = study->options.seed,
                      .adversary = {.kind = spec->adversary}};
    caucus_settings *s = &run.settings;
    caucus_settings_init(s);
    s->algorithm = spec->algorithm;
    s->trust = CAUCUS_TRUST_COORDINATOR;
    s->protocol = spec->protocol;
    s->clients = spec->variable == CAUCUS_SWEEP_CLIENTS ? (uint32_t)x : spec->clients;
    s->experts = spec->variable == CAUCUS_SWEEP_EXPERTS ? (uint32_t)x : spec->experts;
    s->rounds =
        spec->variable == CAUCUS_SWEEP_ROUNDS || spec->variable == CAUCUS_SWEEP_PHASES ? (uint32_t)x : spec->rounds;
    s->interval = spec->variable == CAUCUS_SWEEP_INTERVAL ? (uint32_t)x : spec->interval;
    s->epsilon = spec->variable == CAUCUS_SWEEP_EPSILON ? x : spec->epsilon;
    s->delta = spec->delta;
    return run;
}

static caucus_status run_sweep(caucus_study *study, caucus_sweep *sweep, caucus_error *ret_error) {
    const caucus_sweep_spec *spec = sweep->spec;
    double value[CAUCUS_SWEEP_POINTS];
    for (uint32_t i = 0; i < CAUCUS_SWEEP_POINTS && spec->x[i] > 0; i++) {
        caucus_run run = run_of(study, spec, spec->x[i]);
        caucus_run_result result;
        caucus_status status = caucus_study_play(study, spec->key, &run, NULL, &result, ret_error);
        if (status != CAUCUS_OK)
            return status;
        sweep->x[i] = spec->variable == CAUCUS_SWEEP_PHASES ? log2(spec->x[i]) : spec->x[i];
        sweep->regret[i] = caucus_run_regret(&result);
        sweep->scalars[i] = caucus_run_mean_u64(&result, offsetof(caucus_trial_result, scalars_up));
        sweep->trials = result.done;
        value[i] = spec->value == CAUCUS_SWEEP_REGRET ? sweep->regret[i].mean : sweep->scalars[i];
        sweep->points = i + 1;
        caucus_run_result_free(&result);
    }
    caucus_study_fit(sweep->x, value, sweep->points, &sweep->slope, &sweep->slope_error);
    return CAUCUS_OK;
}

caucus_status caucus_study_scaling_run(caucus_study *study, caucus_error *ret_error) {
    const double start = caucus_clock_seconds();
    uint32_t count = sizeof specs / sizeof specs[0];
    study->scaling.sweep = calloc(count, sizeof *study->scaling.sweep);
    if (!study->scaling.sweep)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "no memory for a report");
    caucus_status status = CAUCUS_OK;
    for (uint32_t i = 0; status == CAUCUS_OK && i < count; i++) {
        study->scaling.sweep[i].spec = &specs[i];
        status = run_sweep(study, &study->scaling.sweep[i], ret_error);
        study->scaling.count = i + 1;
    }
    study->scaling.seconds = caucus_clock_seconds() - start;
    return status;
}
