/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c: what the paper does not have and a fleet needs: experts that change, clients that evaluate few experts. See
 * study.h.
 * layer: study
 *
 * Losses are 0 or 1, means of experts uniform in 0.1 to 0.5, d = 20, epsilon = 1: the settings of
 * experiments/fleet.yaml, whose rows judge more of them. Regret is against the best expert of every segment between two
 * changes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/clock.h"
#include "study/parts.h"

enum { EXPERTS = 20 };
#define EVENT CAUCUS_UNIT_EVENT
#define DEVICE CAUCUS_UNIT_CLIENT

/* panel, key, label, stroke, m, T, unit, longest phase, changes, x, trials, quick trials */
/* clang-format off */
static const caucus_fleet_spec specs[] = {
    {CAUCUS_FLEET_CHANGES, "changes-doubling", "phases that double, as the paper’s", CAUCUS_STROKE_RIVAL,
     50, 20000, EVENT, 0, 0, {1, 2, 5, 20}, 6, 2},
    {CAUCUS_FLEET_CHANGES, "changes-64", "phases of at most 64 rounds", CAUCUS_STROKE_SECOND,
     50, 20000, EVENT, 64, 0.25, {1, 2, 5, 20}, 6, 2},
    {CAUCUS_FLEET_CHANGES, "changes-auto", "longest phase chosen for 5 stretches", CAUCUS_STROKE_FIRST,
     50, 20000, EVENT, CAUCUS_PHASE_AUTO, 0.25, {1, 2, 5, 20}, 6, 2},
    {CAUCUS_FLEET_EVALUATE, "evaluate-50", "50 clients", CAUCUS_STROKE_RIVAL,
     50, 1024, EVENT, 0, 0, {1, 2, 5, 10, 20}, 40, 8},
    {CAUCUS_FLEET_EVALUATE, "evaluate-500", "500 clients", CAUCUS_STROKE_FIRST,
     500, 1024, EVENT, 0, 0, {1, 2, 5, 10, 20}, 6, 2},
    {CAUCUS_FLEET_DEVICE, "device-loss", "ε = 1 for one loss", CAUCUS_STROKE_FIRST,
     0, 1024, EVENT, 0, 0, {100, 200, 500, 2000}, 4, 2},
    {CAUCUS_FLEET_DEVICE, "device-whole", "ε = 1 for all that a device contributes", CAUCUS_STROKE_RIVAL,
     0, 1024, DEVICE, 0, 0, {100, 200, 500, 2000}, 16, 4},
};
/* clang-format on */

const char *caucus_fleet_key(const caucus_fleet_series *series) {
    return series->spec->key;
}

const char *caucus_fleet_label(const caucus_fleet_series *series) {
    return series->spec->label;
}

const char *caucus_fleet_axis(caucus_fleet_panel panel) {
    switch (panel) {
    case CAUCUS_FLEET_CHANGES:
        return "stretches with one best expert each";
    case CAUCUS_FLEET_EVALUATE:
        return "experts evaluated per client and round";
    case CAUCUS_FLEET_DEVICE:
        return "clients m";
    case CAUCUS_FLEET_PANELS:
        break;
    }
    return "?";
}

const char *caucus_fleet_file(caucus_fleet_panel panel) {
    static const char *const files[CAUCUS_FLEET_PANELS] = {"fleet-changes", "fleet-evaluate", "fleet-device"};
    return files[panel];
}

const caucus_fleet_series *caucus_study_fleet_series(const caucus_study *study, const char *key) {
    for (uint32_t i = 0; i < study->fleet.count; i++)
        if (strcmp(study->fleet.series[i].spec->key, key) == 0)
            return &study->fleet.series[i];
    return NULL;
}

caucus_summary caucus_study_fleet_at(const caucus_fleet_series *series, double x) {
    for (uint32_t k = 0; series && k < series->points; k++)
        if (!(fabs(series->x[k] - x) > 0.5))
            return series->regret[k];
    return (caucus_summary){.mean = NAN, .std = NAN};
}

static caucus_run run_of(const caucus_study *study, const caucus_fleet_spec *spec, double x) {
    const bool changes = spec->panel == CAUCUS_FLEET_CHANGES;
    caucus_run run = {.trials = study->options.quick ? spec->quick_trials : spec->trials,
                      .seed = study->options.seed,
                      .adversary = {.kind = changes ? CAUCUS_ADVERSARY_SHIFTING : CAUCUS_ADVERSARY_BERNOULLI,
                                    .segments = changes ? (uint64_t)x : 1,
                                    .has_means = true,
                                    .mean_lo = 0.1,
                                    .mean_hi = 0.5}};
    caucus_settings *s = &run.settings;
    caucus_settings_init(s);
    s->algorithm = CAUCUS_ALGORITHM_STOCH;
    s->trust = CAUCUS_TRUST_COORDINATOR;
    s->epsilon = 1;
    s->clients = spec->clients ? spec->clients : (uint32_t)x;
    s->unit = spec->unit;
    s->experts = EXPERTS;
    s->rounds = spec->rounds;
    s->longest_phase = spec->longest_phase;
    if (spec->longest_phase)
        s->changes = spec->changes;
    if (spec->panel == CAUCUS_FLEET_EVALUATE && (uint32_t)x < EXPERTS)
        s->evaluate = (uint32_t)x;
    return run;
}

static caucus_status run_series(caucus_study *study, caucus_fleet_series *series, caucus_error *ret_error) {
    const caucus_fleet_spec *spec = series->spec;
    for (uint32_t k = 0; k < CAUCUS_FLEET_POINTS && spec->x[k] > 0; k++) {
        const caucus_run run = run_of(study, spec, spec->x[k]);
        caucus_run_result result;
        const caucus_status status = caucus_study_play(study, spec->key, &run, NULL, &result, ret_error);
        if (status != CAUCUS_OK)
            return status;
        series->x[k] = spec->x[k];
        series->regret[k] = caucus_run_regret_segments(&result);
        series->trials = result.done;
        series->points = k + 1;
        caucus_run_result_free(&result);
    }
    return CAUCUS_OK;
}

caucus_status caucus_study_fleet_run(caucus_study *study, caucus_error *ret_error) {
    const double start = caucus_clock_seconds();
    const uint32_t count = sizeof specs / sizeof specs[0];
    study->fleet.series = calloc(count, sizeof *study->fleet.series);
    if (!study->fleet.series)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "no memory for a report");
    caucus_status status = CAUCUS_OK;
    for (uint32_t i = 0; status == CAUCUS_OK && i < count; i++) {
        study->fleet.series[i].spec = &specs[i];
        status = run_series(study, &study->fleet.series[i], ret_error);
        study->fleet.count = i + 1;
    }
    study->fleet.seconds = caucus_clock_seconds() - start;
    return status;
}

/* "12 ± 3" at a value, or what is known of it. */
static void at(caucus_text *ret, const caucus_study *study, const char *key, double x) {
    const caucus_summary s = caucus_study_fleet_at(caucus_study_fleet_series(study, key), x);
    caucus_text_spread(ret, s.mean, s.std);
}

void caucus_fleet_title(const caucus_study *study, caucus_fleet_panel panel, caucus_text *ret) {
    if (panel == CAUCUS_FLEET_CHANGES) {
        const double doubling = caucus_study_fleet_at(caucus_study_fleet_series(study, "changes-doubling"), 5).mean,
                     following = caucus_study_fleet_at(caucus_study_fleet_series(study, "changes-auto"), 5).mean;
        caucus_text_add(ret, "Where the best expert changes four times, phases with a longest length lose ");
        caucus_text_times_less(ret, doubling / following);
        caucus_text_add(ret, " than phases that double");
    } else if (panel == CAUCUS_FLEET_DEVICE) {
        const double whole = caucus_study_fleet_at(caucus_study_fleet_series(study, "device-whole"), 500).mean,
                     loss = caucus_study_fleet_at(caucus_study_fleet_series(study, "device-loss"), 500).mean;
        caucus_text_add(ret, "ε = 1 for a whole device costs 500 clients %.1f in 1,024 rounds, for one loss %.2f",
                        whole, loss);
    } else {
        const double few = caucus_study_fleet_at(caucus_study_fleet_series(study, "evaluate-500"), 1).mean;
        caucus_text_add(ret, "500 clients that evaluate one expert of 20 lose %.1f in 1,024 rounds", few);
    }
}

void caucus_fleet_alternative(const caucus_study *study, caucus_fleet_panel panel, caucus_text *ret) {
    caucus_text_add(ret, "Regret per client against %s, both axes logarithmic.", caucus_fleet_axis(panel));
    for (uint32_t i = 0; i < study->fleet.count; i++) {
        const caucus_fleet_series *f = &study->fleet.series[i];
        if (f->spec->panel != panel)
            continue;
        caucus_text_add(ret, " %s:", f->spec->label);
        for (uint32_t k = 0; k < f->points; k++) {
            caucus_text_add(ret, "%s at %g ", k ? "," : "", f->x[k]);
            caucus_text_spread(ret, f->regret[k].mean, f->regret[k].std);
        }
        caucus_text_add(ret, ".");
    }
}

void caucus_fleet_paragraph(const caucus_study *study, caucus_fleet_panel panel, caucus_text *ret) {
    if (panel == CAUCUS_FLEET_CHANGES) {
        caucus_text_add(
            ret,
            "50 clients, 20 experts, 20,000 rounds, ε = 1. The rounds are cut into stretches of equal length, and in "
            "each of them every expert has another mean: this is <dfn>drift</dfn>, losses whose law changes. Regret "
            "is counted against the best expert <em>of every stretch</em>. Phases that double, as in the paper, stay "
            "wrong after a change for as long as they were right. With a <dfn>longest phase</dfn> "
            "(<code>--longest-phase</code>) all losses of one phase decide the next and no more, so the choice "
            "follows, at the same ε; where nothing ever changes that costs ");
        at(ret, study, "changes-auto", 1);
        caucus_text_add(ret, " against ");
        at(ret, study, "changes-doubling", 1);
        caucus_text_add(ret, ".");
    } else if (panel == CAUCUS_FLEET_DEVICE) {
        caucus_text_add(ret,
                        "20 experts, 1,024 rounds. ε for <em>one loss</em> comes to up to 1,024 times that for all "
                        "that a device contributes. With <code>--unit client</code> it is the <dfn>whole "
                        "device</dfn> that ε = 1 protects: each client sends the mean of all its losses so far, a "
                        "few times in a run. It needs a fleet: it costs ");
        at(ret, study, "device-whole", 100);
        caucus_text_add(ret, " with 100 clients, ");
        at(ret, study, "device-whole", 500);
        caucus_text_add(ret, " with 500 and ");
        at(ret, study, "device-whole", 2000);
        caucus_text_add(ret, " with 2,000.");
    } else {
        caucus_text_add(ret,
                        "20 experts, 1,024 rounds, ε = 1. A client need not run every model on every round: with "
                        "<code>--evaluate k</code> a public rule that knows no data tells it which k experts to try, "
                        "all equally often but for one time in a phase; an expert is judged by the mean of the losses "
                        "seen of it. That is a twentieth of the work at k = 1, and pays with spread, which more "
                        "clients average out: evaluating all costs ");
        at(ret, study, "evaluate-500", 20);
        caucus_text_add(ret, " with 500 clients and ");
        at(ret, study, "evaluate-50", 20);
        caucus_text_add(ret, " with 50; evaluating one costs ");
        at(ret, study, "evaluate-500", 1);
        caucus_text_add(ret, " and ");
        at(ret, study, "evaluate-50", 1);
        caucus_text_add(ret, ".");
    }
}
