/* SPDX-License-Identifier: Apache-2.0 */
/* output_csv.c: results as CSV, for spreadsheets and plots. See output.h. No field holds a comma or a quote. */
#include "show/output.h"

#include "num/number_text.h"

#include <inttypes.h>
#include <math.h>

#define SETTINGS_HEAD                                                                                                  \
    "run,algorithm,clients,experts,rounds,interval,epsilon,delta,trust,calibration,protocol,unit,select,message,"      \
    "trees,front_load,past_phases,longest_phase,first_phase,changes,renew,evaluate,growth,show_loss,rho,lstar,"        \
    "range_lo,range_hi,adversary,segments,"                                                                            \
    "means_lo,means_hi,spread,drift,pace,phase_time,grace,most,activity_mean,activity_spread,seed"

/* NaN and infinities print as `other`. */
static void print_number(FILE *out, double value, const char *other) {
    char text[CAUCUS_REAL_TEXT_BYTES];
    if (isfinite(value))
        caucus_real_text(value, text);
    fputs(isfinite(value) ? text : other, out);
}

/* As asked for: "auto" stays "auto". */
static void mechanism(FILE *out, const caucus_run *run, const caucus_settings *s) {
    fprintf(out, "%s,%s,", caucus_select_word(s->select), caucus_message_word(s->message));
    if (run->settings.trees == CAUCUS_TREES_AUTO)
        fputs("auto", out);
    else
        fprintf(out, "%d", run->settings.trees);
    fprintf(out, ",%s,%s,", s->front_load ? "true" : "false", s->past_phases ? "true" : "false");
    if (s->longest_phase != 0 && s->pace != CAUCUS_PACE_OWN)
        fprintf(out, "%" PRIu64 ",%" PRIu64 ",%.17g,", s->longest_phase, s->first_phase, s->changes);
    else
        fputs(",,,", out); /* phases only double */
    if (s->renew != 0)
        fprintf(out, "%" PRIu64, s->renew);
    fputc(',', out);
    if (s->evaluate != 0)
        fprintf(out, "%u", s->evaluate);
    fputc(',', out);
    if (s->unit == CAUCUS_UNIT_CLIENT)
        fprintf(out, "%" PRIu64, s->growth);
    fputc(',', out);
    if (s->show_loss > 0)
        print_number(out, s->show_loss, "nan");
    fputc(',', out);
    const double reals[] = {s->rho, s->lstar, s->lo, s->hi};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        print_number(out, reals[i], "nan");
        fputc(',', out);
    }
}

/* Where the losses come from; what an adversary does not use is empty. */
static void law(FILE *out, const caucus_adversary_settings *a) {
    const bool means = caucus_adversary_kind_has_means(a->kind);
    const double reals[] = {a->mean_lo, a->mean_hi, a->spread, a->drift};
    fprintf(out, "%s,%" PRIu64 ",", caucus_adversary_kind_word(a->kind), a->segments == 0 ? 1 : a->segments);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        if (i < 3 ? means : a->kind == CAUCUS_ADVERSARY_DRIFTING)
            print_number(out, reals[i], "nan");
        fputc(',', out);
    }
}

/* Empty but for the word where clients are in step. */
static void pace(FILE *out, const caucus_settings *s, const caucus_adversary_settings *a) {
    fprintf(out, "%s,", caucus_pace_word(s->pace));
    if (s->pace != CAUCUS_PACE_OWN) {
        fputs(",,,,,", out);
        return;
    }
    fprintf(out, "%u,%u,%" PRIu64 ",", s->phase_time, s->grace, s->most);
    print_number(out, a->activity_mean, "nan");
    fputc(',', out);
    print_number(out, a->activity_spread, "nan");
    fputc(',', out);
}

static void settings(FILE *out, const caucus_outcome *outcome, size_t i) {
    const caucus_settings *s = &outcome->result[i].plan->settings;
    fprintf(out, "%zu,%s,%u,%u,%" PRIu64 ",%" PRIu64 ",", i + 1, caucus_algorithm_word(s->algorithm), s->clients,
            s->experts, caucus_run_rounds(&outcome->run[i], s), s->interval);
    print_number(out, s->epsilon, "inf");
    fputc(',', out);
    print_number(out, s->delta, "nan");
    fprintf(out, ",%s,%s,%s,%s,", caucus_trust_word(s->trust), caucus_calibration_word(s->calibration),
            caucus_protocol_word(s->protocol), caucus_unit_word(s->unit));
    mechanism(out, &outcome->run[i], s);
    law(out, &outcome->run[i].adversary);
    pace(out, s, &outcome->run[i].adversary);
    fprintf(out, "%" PRIu64 ",", outcome->run[i].seed);
}

/* Its number and its name; both empty where there is none. */
static void expert(FILE *out, const caucus_plan *plan, uint32_t number) {
    const char *name = caucus_plan_expert_name(plan, number);
    if (number == UINT32_MAX)
        fputs(",,", out);
    else
        fprintf(out, ",%u,%s", number, name != NULL ? name : "");
}

void caucus_output_trials(FILE *out, const caucus_outcome *outcome) {
    fputs(SETTINGS_HEAD ",trial,regret,switches,selections,scalars_up,scalars_down,bytes_up,bytes_down,clipped,nan,"
                        "regret_segments,last,last_name,best,best_name,losses,loss,last_since,regret_devices\n",
          out);
    for (size_t i = 0; i < outcome->count; i++)
        for (uint32_t k = 0; k < outcome->result[i].done; k++) {
            const caucus_trial_result *t = &outcome->result[i].trial[k];
            settings(out, outcome, i);
            fprintf(out, "%u,", k + 1);
            print_number(out, t->regret, "nan");
            fprintf(out,
                    ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                    t->switches, t->selections, t->scalars_up, t->scalars_down, t->bytes_up, t->bytes_down, t->clipped,
                    t->nan);
            print_number(out, t->regret_segments, "nan");
            expert(out, outcome->result[i].plan, t->last);
            expert(out, outcome->result[i].plan, t->best);
            fprintf(out, ",%" PRIu64 ",", t->losses);
            print_number(out, t->loss, "nan");
            fprintf(out, ",%" PRIu64 ",", t->since + 1);
            if (outcome->result[i].plan->settings.pace == CAUCUS_PACE_OWN)
                print_number(out, t->regret_devices, "nan");
            fputc('\n', out);
        }
}

void caucus_output_choices(FILE *out, const caucus_outcome *outcome) {
    fputs("run,algorithm,trial,from_round,to_round,expert,name,best,exact\n", out);
    for (size_t i = 0; i < outcome->count; i++) {
        const caucus_run_result *result = &outcome->result[i];
        const uint64_t rounds = caucus_run_rounds(&outcome->run[i], &result->plan->settings);
        for (uint32_t k = 0; k < result->done; k++) {
            const caucus_trial_result *t = &result->trial[k];
            const caucus_choices *c = &t->choices;
            for (uint32_t n = 0; n < c->count; n++) {
                fprintf(out, "%zu,%s,%u,%" PRIu64 ",%" PRIu64, i + 1,
                        caucus_algorithm_word(result->plan->settings.algorithm), k + 1, c->before[n] + 1,
                        n + 1 < c->count ? c->before[n + 1] : rounds);
                expert(out, result->plan, c->expert[n]);
                fprintf(out, ",%s,%s\n", c->expert[n] == t->best ? "true" : "false", c->thinned ? "false" : "true");
            }
        }
    }
}

void caucus_output_curves(FILE *out, const caucus_outcome *outcome) {
    fputs(SETTINGS_HEAD ",trials,round,regret_mean,regret_std\n", out);
    for (size_t i = 0; i < outcome->count; i++) {
        const caucus_run_result *result = &outcome->result[i];
        uint64_t last = 0; /* fewer rounds than points: a round appears once */
        for (uint32_t k = 0; result->done > 0 && k < CAUCUS_CURVE_POINTS; k++) {
            uint64_t round = caucus_curve_round(caucus_run_rounds(&outcome->run[i], &result->plan->settings), k);
            if (round == last)
                continue;
            last = round;
            caucus_summary point = caucus_run_curve(result, k);
            settings(out, outcome, i);
            fprintf(out, "%u,%" PRIu64 ",", result->done, round);
            print_number(out, point.mean, "nan");
            fputc(',', out);
            print_number(out, point.std, ""); /* one trial has no spread */
            fputc('\n', out);
        }
    }
}
