/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c: the numbers beside the figures. See parts.h.
 * layer: study
 *
 * One header line; decimal points; every file can be read back without knowing the others. */
#include "show/bound_fit.h"

#include "study/parts.h"
#include <inttypes.h>

static void curve_rows(const caucus_series *series, bool with_seed, caucus_text *ret) {
    for (uint32_t k = 0; k < CAUCUS_CURVE_POINTS; k++) {
        caucus_summary at = caucus_run_curve(&series->run, k);
        if (with_seed)
            caucus_text_add(ret, "%llu,", (unsigned long long)series->seed);
        caucus_text_add(ret, "%s,%" PRIu64 ",%.9g,%.9g,%u\n", series->spec->key,
                        caucus_curve_round(series->run.plan->settings.rounds, k), at.mean, at.std, series->run.done);
    }
}

void caucus_study_csv_curves(const caucus_figure *figure, caucus_text *ret) {
    caucus_text_add(ret, "series,round,regret_mean,regret_std,trials\n");
    for (uint32_t i = 0; i < figure->count; i++)
        curve_rows(&figure->series[i], false, ret);
}

void caucus_study_csv_seeds(const caucus_figure *figure, caucus_text *ret) {
    caucus_text_add(ret, "seed,series,round,regret_mean,regret_std,trials\n");
    for (uint32_t i = 0; i < figure->seeds * figure->small_count; i++)
        curve_rows(&figure->small[i], true, ret);
}

void caucus_study_csv_trials(const caucus_figure *figure, caucus_text *ret) {
    caucus_text_add(
        ret,
        "series,algorithm,trust,calibration,protocol,interval,clients,epsilon_asked,epsilon_choices,bound,trial,regret,"
        "switches,scalars_up,bytes_up,experts_digest\n");
    for (uint32_t i = 0; i < figure->count; i++) {
        const caucus_series_spec *spec = figure->series[i].spec;
        const caucus_run_result *run = &figure->series[i].run;
        for (uint32_t t = 0; t < run->done; t++) {
            const caucus_trial_result *r = &run->trial[t];
            caucus_text_add(ret, "%s,%s,%s,%s,%s,%u,%u,%.9g,%.9g,", spec->key, caucus_algorithm_word(spec->algorithm),
                            caucus_trust_word(spec->trust), caucus_calibration_word(spec->calibration),
                            caucus_protocol_word(spec->protocol), spec->interval, run->plan->settings.clients,
                            run->plan->settings.epsilon, run->plan->guarantee.epsilon_choices);
            if (caucus_bound_holds(run->plan, &(caucus_adversary_settings){.kind = figure->spec->adversary}))
                caucus_text_add(ret, "%.9g", run->plan->bound);
            caucus_text_add(ret, ",%u,%.9g,%" PRIu64 ",%llu,%llu,%016llx\n", t, r->regret, r->switches,
                            (unsigned long long)r->scalars_up, (unsigned long long)r->bytes_up,
                            (unsigned long long)r->digest);
        }
    }
}

void caucus_study_csv_scaling(const caucus_scaling *scaling, caucus_text *ret) {
    caucus_text_add(ret, "sweep,variable,x,regret_mean,regret_std,scalars_up_mean,trials,slope,slope_error\n");
    for (uint32_t i = 0; i < scaling->count; i++) {
        const caucus_sweep *w = &scaling->sweep[i];
        for (uint32_t k = 0; k < w->points; k++)
            caucus_text_add(ret, "%s,%s,%.9g,%.9g,%.9g,%.9g,%u,%.6g,%.6g\n", w->spec->key,
                            caucus_sweep_variable_text(w->spec->variable), w->x[k], w->regret[k].mean, w->regret[k].std,
                            w->scalars[k], w->trials, w->slope, w->slope_error);
    }
}

void caucus_study_csv_fleet(const caucus_fleet *fleet, caucus_text *ret) {
    caucus_text_add(ret, "series,variable,x,regret_mean,regret_std,trials\n");
    for (uint32_t i = 0; i < fleet->count; i++) {
        const caucus_fleet_series *f = &fleet->series[i];
        for (uint32_t k = 0; k < f->points; k++)
            caucus_text_add(ret, "%s,%s,%.9g,%.9g,%.9g,%u\n", f->spec->key, caucus_fleet_axis(f->spec->panel), f->x[k],
                            f->regret[k].mean, f->regret[k].std, f->trials);
    }
}
