/* SPDX-License-Identifier: Apache-2.0 */
/* output_json.c: results as JSON. See output.h; docs/schemas/simulate.json. */
#include "show/output.h"

#include "plan/pace/pace.h"
#include "plan/stoch/look.h"
#include "show/bound_fit.h"
#include "show/plan_words.h"
#include "show/story.h"
#include "store/look_json.h"

#include <math.h>
#include <string.h>

/* What tells runs of one simulation apart beyond the first lines, as asked for: "auto" stays "auto". */
static void mechanism(caucus_json *j, const caucus_run *run, const caucus_settings *s) {
    caucus_json_text(j, "select", caucus_select_word(s->select));
    caucus_json_text(j, "message", caucus_message_word(s->message));
    if (run->settings.trees == CAUCUS_TREES_AUTO)
        caucus_json_text(j, "trees", "auto");
    else
        caucus_json_signed(j, "trees", run->settings.trees);
    caucus_json_truth(j, "front_load", s->front_load);
    caucus_json_truth(j, "past_phases", s->past_phases);
    if (s->pace == CAUCUS_PACE_OWN) {
        caucus_json_text(j, "pace", caucus_pace_word(s->pace));
        caucus_json_whole(j, "phase_time", s->phase_time);
        caucus_json_whole(j, "grace", s->grace);
        caucus_json_whole(j, "most", s->most);
        if (!caucus_pace_by_question(s))
            caucus_json_real(j, "changes", s->changes);
        else if (s->start != 1)
            caucus_json_whole(j, "start", s->start);
        caucus_json_text(j, "comparator", caucus_settings_means(s) ? "devices" : "segments");
        caucus_json_list_row(j, "activity");
        caucus_json_real(j, NULL, run->adversary.activity_mean);
        caucus_json_real(j, NULL, run->adversary.activity_spread);
        caucus_json_close(j);
    } else if (s->longest_phase != 0) {
        caucus_json_whole(j, "longest_phase", s->longest_phase);
        caucus_json_whole(j, "first_phase", s->first_phase);
        caucus_json_real(j, "changes", s->changes);
    }
    if (s->renew != 0)
        caucus_json_whole(j, "renew", s->renew);
    if (caucus_settings_grow(s))
        caucus_json_whole(j, "nominal_rounds", s->nominal_rounds);
    if (s->evaluate != 0)
        caucus_json_whole(j, "evaluate", s->evaluate);
    if (s->unit == CAUCUS_UNIT_CLIENT)
        caucus_json_whole(j, "growth", s->growth);
    if (s->show_loss > 0)
        caucus_json_real(j, "show_loss", s->show_loss);
    caucus_json_real(j, "rho", s->rho);
    caucus_json_real(j, "lstar", s->lstar);
    caucus_json_list_row(j, "range");
    caucus_json_real(j, NULL, s->lo);
    caucus_json_real(j, NULL, s->hi);
    caucus_json_close(j);
}

/* Where the losses come from; what an adversary does not use is null. */
static void law(caucus_json *j, const caucus_adversary_settings *a) {
    const bool means = caucus_adversary_kind_has_means(a->kind);
    caucus_json_text(j, "adversary", caucus_adversary_kind_word(a->kind));
    caucus_json_whole(j, "segments", a->segments == 0 ? 1 : a->segments);
    if (means) {
        caucus_json_list_row(j, "means");
        caucus_json_real(j, NULL, a->mean_lo);
        caucus_json_real(j, NULL, a->mean_hi);
        caucus_json_close(j);
    } else {
        caucus_json_null(j, "means");
    }
    caucus_json_real(j, "spread", means ? a->spread : (double)NAN);
    caucus_json_real(j, "drift", a->kind == CAUCUS_ADVERSARY_DRIFTING ? a->drift : (double)NAN);
}

static void settings(caucus_json *j, const caucus_run *run, const caucus_run_result *result) {
    const caucus_settings *s = &result->plan->settings;
    caucus_json_text(j, "algorithm", caucus_algorithm_word(s->algorithm));
    caucus_json_whole(j, "clients", s->clients);
    caucus_json_whole(j, "experts", s->experts);
    caucus_json_whole(j, "rounds", caucus_run_rounds(run, s));
    caucus_json_truth(j, "endless", caucus_plan_is_endless(result->plan));
    caucus_json_whole(j, "interval", s->interval);
    caucus_json_real(j, "epsilon", s->epsilon);
    caucus_json_real(j, "delta", s->delta);
    caucus_json_text(j, "trust", caucus_trust_word(s->trust));
    caucus_json_text(j, "calibration", caucus_calibration_word(s->calibration));
    caucus_json_text(j, "protocol", caucus_protocol_word(s->protocol));
    caucus_json_text(j, "unit", caucus_unit_word(s->unit));
    caucus_json_text(j, "loss_shape", caucus_loss_shape_word(s->loss_shape));
    mechanism(j, run, s);
    law(j, &run->adversary);
    caucus_json_whole(j, "trials", result->trials);
    if (result->done < result->trials)
        caucus_json_whole(j, "done", result->done);
    caucus_json_whole(j, "seed", run->seed);
}

/* One number of every trial, the one at `offset`. */
static void summary(caucus_json *j, const caucus_run_result *result, caucus_summary of, size_t offset) {
    const bool any = result->done > 0;
    caucus_json_real(j, "mean", any ? of.mean : (double)NAN);
    caucus_json_real(j, "std", any ? of.std : (double)NAN);
    caucus_json_real(j, "min", any ? of.min : (double)NAN);
    caucus_json_real(j, "max", any ? of.max : (double)NAN);
    caucus_json_list_row(j, "values");
    for (uint32_t i = 0; i < result->done; i++) {
        double value;
        memcpy(&value, (const char *)&result->trial[i] + offset, sizeof value);
        caucus_json_real(j, NULL, value);
    }
    caucus_json_close(j);
}

/* One expert per trial, by number; and their names beside, where they have some. */
static void experts(caucus_json *j, const char *key, const caucus_run_result *result, size_t offset) {
    const bool names = caucus_plan_expert_name(result->plan, 0) != NULL;
    caucus_json_object_row(j, key);
    for (int name = 0; name < 2; name++) {
        if (name == 1 && !names) {
            caucus_json_null(j, "names");
            break;
        }
        caucus_json_list_row(j, name ? "names" : "experts");
        for (uint32_t i = 0; i < result->done; i++) {
            uint32_t number;
            memcpy(&number, (const char *)&result->trial[i] + offset, sizeof number);
            if (name)
                caucus_json_text(j, NULL, caucus_plan_expert_name(result->plan, number));
            else if (number == UINT32_MAX)
                caucus_json_null(j, NULL);
            else
                caucus_json_whole(j, NULL, number);
        }
        caucus_json_close(j);
    }
    caucus_json_close(j);
}

static void results(caucus_json *j, const caucus_run_result *result) {
    const caucus_summary switches = caucus_run_switches(result);
    const bool any = result->done > 0;
    caucus_json_object_row(j, "regret");
    summary(j, result, caucus_run_regret(result), offsetof(caucus_trial_result, regret));
    caucus_json_object_row(j, "segments");
    summary(j, result, caucus_run_regret_segments(result), offsetof(caucus_trial_result, regret_segments));
    caucus_json_close(j);
    if (result->plan->settings.pace == CAUCUS_PACE_OWN) {
        caucus_json_object_row(j, "devices");
        summary(j, result, caucus_run_regret_devices(result), offsetof(caucus_trial_result, regret_devices));
        caucus_json_close(j);
    }
    caucus_json_close(j);
    experts(j, "last", result, offsetof(caucus_trial_result, last));
    experts(j, "best", result, offsetof(caucus_trial_result, best));
    caucus_json_object_row(j, "switches");
    caucus_json_real(j, "mean", any ? switches.mean : (double)NAN);
    caucus_json_list_row(j, "values");
    for (uint32_t i = 0; i < result->done; i++)
        caucus_json_whole(j, NULL, result->trial[i].switches);
    caucus_json_close(j);
    caucus_json_close(j);
}

/* What each trial showed last; null: nothing yet. */
static void looks(caucus_json *j, const caucus_run_result *result) {
    if (!caucus_look_shows(result->plan))
        return;
    caucus_json_list(j, "look");
    for (uint32_t i = 0; i < result->done; i++)
        caucus_look_json(j, NULL, result->trial[i].look.clients > 0 ? &result->trial[i].look : NULL, result->plan);
    caucus_json_close(j);
}

static void story(caucus_json *j, const caucus_run *run, const caucus_run_result *result) {
    const bool any = result->done > 0;
    const caucus_story s = any ? caucus_story_of(run, result) : (caucus_story){.clipped_share = (double)NAN};
    caucus_json_real(j, "loss", any ? s.loss : (double)NAN);
    caucus_json_real(j, "best_loss", any ? s.best_loss : (double)NAN);
    caucus_json_real(j, "ended_with_best", s.experts ? s.ended_with_best : (double)NAN);
    caucus_json_real(j, "rounds_in_force", s.experts ? s.rounds_in_force : (double)NAN);
    caucus_json_real(j, "ran_out", s.limited ? s.ran_out : (double)NAN);
    caucus_json_real(j, "clipped_share", s.clipped_share);
}

static void traffic(caucus_json *j, const char *key, const caucus_run_result *result, size_t offset) {
    caucus_json_real(j, key, result->done > 0 ? caucus_run_mean_u64(result, offset) : (double)NAN);
}

/* A bound only where its premise holds for these losses; the premise in any case. */
static void bound(caucus_json *j, const caucus_run_result *result, const caucus_adversary_settings *adversary) {
    const caucus_plan *plan = result->plan;
    const caucus_premise premise = caucus_premise_of(plan);
    const caucus_played_bound played = caucus_bound_played(result, adversary);
    if (played.fit != CAUCUS_BOUND_FIT_HOLDS || !isfinite(played.value)) {
        caucus_json_null(j, "bound");
    } else {
        caucus_json_object_row(j, "bound");
        caucus_json_real(j, "value", played.value);
        caucus_json_text(j, "kind", plan->bound_kind == CAUCUS_BOUND_PROBABILITY ? "probability" : "expectation");
        caucus_json_close(j);
    }
    caucus_json_text(j, "bound_assumes", premise == CAUCUS_PREMISE_COUNT ? NULL : caucus_premise_word(premise));
}

/* What should not be read past: texts, in most cases none. */
static void weak(caucus_json *j, const caucus_plan *plan) {
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    const size_t count = caucus_plan_weaknesses(plan, weak);
    caucus_json_list_row(j, "weak");
    for (size_t i = 0; i < count; i++)
        caucus_json_text(j, NULL, weak[i]);
    caucus_json_close(j);
}

static void guarantees(caucus_json *j, const caucus_plan *plan) {
    caucus_json_object_row(j, "privacy");
    caucus_json_real(j, "epsilon_choices", plan->guarantee.epsilon_choices);
    caucus_json_real(j, "epsilon_messages", plan->guarantee.epsilon_messages);
    caucus_json_real(j, "delta", plan->guarantee.delta);
    caucus_json_text(j, "unit", caucus_words_unit(&plan->settings));
    caucus_json_real(j, "epsilon_device", caucus_plan_epsilon_device(plan));
    weak(j, plan);
    caucus_json_text(j, "note", plan->guarantee.note);
    caucus_json_close(j);
}

void caucus_output_json(FILE *out, const caucus_outcome *outcome) {
    caucus_json j;
    caucus_json_begin(&j, out, false);
    caucus_history_json(&j, outcome->history);
    caucus_json_list(&j, "runs");
    for (size_t i = 0; i < outcome->count; i++) {
        const caucus_run_result *result = &outcome->result[i];
        caucus_json_object(&j, NULL);
        settings(&j, &outcome->run[i], result);
        results(&j, result);
        looks(&j, result);
        traffic(&j, "losses", result, offsetof(caucus_trial_result, losses));
        story(&j, &outcome->run[i], result);
        traffic(&j, "scalars_up", result, offsetof(caucus_trial_result, scalars_up));
        traffic(&j, "scalars_down", result, offsetof(caucus_trial_result, scalars_down));
        traffic(&j, "bytes_up", result, offsetof(caucus_trial_result, bytes_up));
        traffic(&j, "bytes_down", result, offsetof(caucus_trial_result, bytes_down));
        traffic(&j, "clipped", result, offsetof(caucus_trial_result, clipped));
        traffic(&j, "nan", result, offsetof(caucus_trial_result, nan));
        bound(&j, result, &outcome->run[i].adversary);
        caucus_json_truth(&j, "premise_refuted",
                          outcome->history != NULL &&
                              caucus_history_refutes(outcome->history, &result->plan->settings));
        guarantees(&j, result->plan);
        caucus_json_real(&j, "seconds", result->seconds);
        caucus_json_close(&j);
    }
    caucus_json_close(&j);
    caucus_json_end(&j);
}
