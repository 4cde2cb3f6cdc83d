/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_used.c: fields that were given and would change nothing. See scenario.h.
 *
 * The library refuses settings that contradict each other (settings.c); but it cannot know whether a value was asked
 * for or is a default. Here that is known. A field is refused if it was given and none of the runs takes it; where
 * several algorithms are compared it applies to those that do. */
#include "plan/family.h"
#include "plan/pace/pace.h"
#include "scenario/scenario_convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which run takes a field, and what is said if none does. */
static bool takes_rho(const caucus_run *run) {
    return caucus_algorithm_takes(run->settings.algorithm, CAUCUS_OPTION_RHO);
}

static bool takes_trees(const caucus_run *run) {
    return caucus_algorithm_takes(run->settings.algorithm, CAUCUS_OPTION_TREES);
}

static bool takes_evaluate(const caucus_run *run) {
    return caucus_algorithm_takes(run->settings.algorithm, CAUCUS_OPTION_EVALUATE);
}

static bool takes_show_loss(const caucus_run *run) {
    return caucus_algorithm_takes(run->settings.algorithm, CAUCUS_OPTION_SHOW_LOSS);
}

static bool takes_privacy(const caucus_run *run) {
    return !caucus_algorithm_variant(run->settings.algorithm)->reference;
}

static bool takes_epsilon(const caucus_run *run) { /* of the lower bound the losses themselves depend on it */
    return takes_privacy(run) || run->adversary.kind == CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE;
}

static bool takes_delta(const caucus_run *run) {
    return takes_privacy(run) && isfinite(run->settings.epsilon);
}

static bool takes_means(const caucus_run *run) {
    return caucus_adversary_kind_has_means(run->adversary.kind);
}

static bool takes_drift(const caucus_run *run) {
    return run->adversary.kind == CAUCUS_ADVERSARY_DRIFTING;
}

static bool takes_play(const caucus_run *run) {
    return run->settings.rounds == CAUCUS_ROUNDS_ENDLESS;
}

static bool takes_changes(const caucus_run *run) {
    return run->settings.longest_phase != 0 ||
           (run->settings.pace == CAUCUS_PACE_OWN && !caucus_pace_by_question(&run->settings));
}

static bool takes_slots(const caucus_run *run) {
    return run->settings.pace == CAUCUS_PACE_OWN;
}

static bool takes_start(const caucus_run *run) {
    return caucus_pace_by_question(&run->settings);
}

static bool takes_growth(const caucus_run *run) {
    return run->settings.unit == CAUCUS_UNIT_CLIENT;
}

static bool takes_nominal(const caucus_run *run) {
    return caucus_settings_grow(&run->settings);
}

static const struct rule {
    caucus_scenario_field field;
    bool (*takes)(const caucus_run *run);
    const char *silent; /* a value that says no more than what is so anyway; NULL: none */
    const char *why;
    caucus_plan_option option; /* 0, or: the algorithms that take it are named before `why` */
} rules[] = {
    {CAUCUS_FIELD_MEANS, takes_means, NULL, "only by bernoulli, shifting and drifting", 0},
    {CAUCUS_FIELD_SPREAD, takes_means, NULL, "only by bernoulli, shifting and drifting", 0},
    {CAUCUS_FIELD_DRIFT, takes_drift, NULL, "only by drifting", 0},
    {CAUCUS_FIELD_PLAY, takes_play, NULL, "whose run has an end", 0},
    {CAUCUS_FIELD_EPSILON, takes_epsilon, "infinite", "which protects nobody", 0},
    {CAUCUS_FIELD_DELTA, takes_delta, "0", "which protects nobody", 0},
    {CAUCUS_FIELD_CALIBRATION, takes_privacy, "tight", "which has no noise", 0},
    {CAUCUS_FIELD_UNIT, takes_privacy, "event", "which protects nobody", 0},
    {CAUCUS_FIELD_TREES, takes_trees, NULL, "", CAUCUS_OPTION_TREES},
    {CAUCUS_FIELD_EVALUATE, takes_evaluate, "all", "", CAUCUS_OPTION_EVALUATE},
    {CAUCUS_FIELD_GROWTH, takes_growth, "auto", "whose unit is another (unit client)", 0},
    {CAUCUS_FIELD_SHOW_LOSS, takes_show_loss, "0", "", CAUCUS_OPTION_SHOW_LOSS},
    {CAUCUS_FIELD_CHANGES, takes_changes, NULL, "which has no longest-phase", 0},
    {CAUCUS_FIELD_PHASE_TIME, takes_slots, NULL, "whose clients are in step (pace own)", 0},
    {CAUCUS_FIELD_GRACE, takes_slots, NULL, "whose clients are in step (pace own)", 0},
    {CAUCUS_FIELD_MOST, takes_slots, NULL, "whose clients are in step (pace own)", 0},
    {CAUCUS_FIELD_START, takes_start, "none", "whose runs need none (pace own with unit client)", 0},
    {CAUCUS_FIELD_ACTIVITY, takes_slots, NULL, "whose clients are in step (pace own)", 0},
    {CAUCUS_FIELD_NOMINAL_ROUNDS, takes_nominal, NULL, "which has an end or renews itself", 0},
    {CAUCUS_FIELD_RHO, takes_rho, NULL, ", whose bounds hold with a probability", CAUCUS_OPTION_RHO},
};

/* The first value that is not silent, or NULL. */
static const char *loud(const caucus_values *values, const struct rule *rule) {
    for (size_t i = 0; i < values->count; i++) {
        const char *text = values->text[i];
        bool silent = rule->silent != NULL && strcmp(text, rule->silent) == 0;
        if (rule->field == CAUCUS_FIELD_EPSILON) /* its text was read before: a number, or a word for infinity */
            silent = strspn(text, "+-.0123456789eE") < strlen(text);
        else if (rule->field == CAUCUS_FIELD_DELTA)
            silent = strtod(text, NULL) == 0;
        if (!silent)
            return text;
    }
    return NULL;
}

static caucus_status check_rule(const caucus_scenario *scenario, const struct rule *rule, const caucus_run *run,
                                size_t count, caucus_complaint *complaint) {
    caucus_scenario_text t = {scenario, rule->field, loud(&scenario->field[rule->field], rule), complaint};
    if (t.text == NULL)
        return CAUCUS_OK;
    for (size_t i = 0; i < count; i++)
        if (rule->takes(&run[i]))
            return CAUCUS_OK;
    if (rule->takes == takes_means || rule->takes == takes_drift)
        return caucus_scenario_refuse(&t, "not used by adversary %s, %s",
                                      caucus_adversary_kind_word(run[0].adversary.kind), rule->why);
    const bool free = isinf(run[0].settings.epsilon) && takes_privacy(&run[0]); /* hedge at epsilon infinite */
    if (rule->option != 0)
        return caucus_scenario_refuse(&t, "not used by %s, only by %s%s",
                                      caucus_algorithm_word(run[0].settings.algorithm),
                                      caucus_option_takers(rule->option, " and ").text, rule->why);
    return caucus_scenario_refuse(&t, "not used by %s%s, %s", caucus_algorithm_word(run[0].settings.algorithm),
                                  free ? " without privacy" : "", rule->why);
}

/* Convex losses have values of their own, and only algorithms that play mixtures can be charged them. */
static caucus_status check_convex(const caucus_scenario *scenario, const caucus_run *run, size_t count,
                                  caucus_complaint *complaint) {
    const caucus_run *convex = NULL, *linear = NULL;
    for (size_t i = 0; i < count; i++)
        if (run[i].settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
            convex = &run[i];
        else if (run[i].adversary.kind == CAUCUS_ADVERSARY_CROSS_ENTROPY)
            linear = &run[i];
    const caucus_values *range = &scenario->field[CAUCUS_FIELD_RANGE], *trees = &scenario->field[CAUCUS_FIELD_TREES];
    if (convex != NULL && range->count != 0) {
        caucus_scenario_text t = {scenario, CAUCUS_FIELD_RANGE, range->text[0], complaint};
        return caucus_scenario_refuse(&t,
                                      "not used by convex losses (cross-entropy with trees), which are in 0,1 and have "
                                      "clamps of their own");
    }
    if (convex != NULL && linear != NULL) {
        caucus_scenario_text t = {scenario, CAUCUS_FIELD_TREES, trees->text[0], complaint};
        return caucus_scenario_refuse(
            &t,
            "makes cross-entropy a convex function of the mixture for %s, while %s is charged "
            "single experts: not to be compared — run them apart, or leave this out",
            caucus_algorithm_word(convex->settings.algorithm), caucus_algorithm_word(linear->settings.algorithm));
    }
    return CAUCUS_OK;
}

caucus_status caucus_scenario_check_used(const caucus_scenario *scenario, const caucus_run *run, size_t count,
                                         caucus_complaint *ret_complaint) {
    caucus_status status = CAUCUS_OK;
    for (size_t i = 0; status == CAUCUS_OK && i < sizeof rules / sizeof rules[0]; i++)
        status = check_rule(scenario, &rules[i], run, count, ret_complaint);
    return status == CAUCUS_OK ? check_convex(scenario, run, count, ret_complaint) : status;
}
