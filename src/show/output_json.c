/* output_json.c: results as JSON. See output.h. Words come from fixed lists; only the note is free text and is escaped.
 */
#include "show/output.h"

#include "show/bound_fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void caucus_print_number(FILE *out, double value, const char *other) {
    char text[32];
    if (!isfinite(value)) {
        fputs(other, out);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fputs(text, out);
}

static void number(FILE *out, const char *key, double value) {
    fprintf(out, "\"%s\": ", key);
    caucus_print_number(out, value, "null");
}

static void string(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20 || *c == 0x7f)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void switched(FILE *out, const char *key, bool on) {
    fprintf(out, "    \"%s\": %s,\n", key, on ? "true" : "false");
}

/* What tells runs of one simulation apart beyond the first lines, as asked for: "auto" stays "auto". */
static void mechanism(FILE *out, const caucus_run *run, const caucus_settings *s) {
    fprintf(out, "    \"select\": \"%s\",\n", caucus_select_word(s->select));
    fprintf(out, "    \"message\": \"%s\",\n", caucus_message_word(s->message));
    if (run->settings.trees == CAUCUS_TREES_AUTO)
        fputs("    \"trees\": \"auto\",\n", out);
    else
        fprintf(out, "    \"trees\": %d,\n", run->settings.trees);
    switched(out, "front_load", s->front_load);
    switched(out, "past_phases", s->past_phases);
    fputs("    ", out);
    number(out, "rho", s->rho);
    fputs(",\n    ", out);
    number(out, "lstar", s->lstar);
    fputs(",\n    \"range\": [", out);
    caucus_print_number(out, s->lo, "null");
    fputs(", ", out);
    caucus_print_number(out, s->hi, "null");
    fputs("],\n", out);
}

static void settings(FILE *out, const caucus_run *run, const caucus_run_result *result) {
    const caucus_settings *s = &result->plan->settings;
    fprintf(out, "    \"algorithm\": \"%s\",\n", caucus_algorithm_word(s->algorithm));
    fprintf(out,
            "    \"clients\": %u,\n    \"experts\": %u,\n    \"rounds\": %" PRIu64 ",\n    \"interval\": %" PRIu64
            ",\n    ",
            s->clients, s->experts, s->rounds, s->interval);
    number(out, "epsilon", s->epsilon);
    fputs(",\n    ", out);
    number(out, "delta", s->delta);
    fprintf(out, ",\n    \"trust\": \"%s\",\n", caucus_trust_word(s->trust));
    fprintf(out, "    \"calibration\": \"%s\",\n", caucus_calibration_word(s->calibration));
    fprintf(out, "    \"protocol\": \"%s\",\n", caucus_protocol_word(s->protocol));
    fprintf(out, "    \"unit\": \"%s\",\n", caucus_unit_word(s->unit));
    mechanism(out, run, s);
    fprintf(out, "    \"adversary\": \"%s\",\n", caucus_adversary_kind_word(run->adversary.kind));
    fprintf(out, "    \"trials\": %u,\n", result->trials);
    if (result->done < result->trials)
        fprintf(out, "    \"done\": %u,\n", result->done);
    fprintf(out, "    \"seed\": %" PRIu64 ",\n", run->seed);
}

static void results(FILE *out, const caucus_run_result *result) {
    caucus_summary regret = caucus_run_regret(result), switches = caucus_run_switches(result);
    bool any = result->done > 0;
    fputs("    \"regret\": {", out);
    number(out, "mean", any ? regret.mean : NAN);
    fputs(", ", out);
    number(out, "std", any ? regret.std : NAN);
    fputs(", ", out);
    number(out, "min", any ? regret.min : NAN);
    fputs(", ", out);
    number(out, "max", any ? regret.max : NAN);
    fputs(", \"values\": [", out);
    for (uint32_t i = 0; i < result->done; i++) {
        fputs(i == 0 ? "" : ", ", out);
        caucus_print_number(out, result->trial[i].regret, "null");
    }
    fputs("]},\n    \"switches\": {", out);
    number(out, "mean", any ? switches.mean : NAN);
    fputs(", \"values\": [", out);
    for (uint32_t i = 0; i < result->done; i++)
        fprintf(out, "%s%" PRIu64, i == 0 ? "" : ", ", result->trial[i].switches);
    fputs("]},\n", out);
}

static void traffic(FILE *out, const char *key, const caucus_run_result *result, size_t offset) {
    fputs("    ", out);
    number(out, key, result->done > 0 ? caucus_run_mean_u64(result, offset) : NAN);
    fputs(",\n", out);
}

/* A bound only where its premise holds for these losses; the premise in any case. */
static void bound(FILE *out, const caucus_plan *plan, caucus_adversary_kind adversary) {
    const caucus_premise premise = caucus_premise_of(plan);
    fputs("    \"bound\": ", out);
    if (!caucus_bound_holds(plan, adversary) || !isfinite(plan->bound)) {
        fputs("null", out);
    } else {
        fputc('{', out);
        number(out, "value", plan->bound);
        fprintf(out, ", \"kind\": \"%s\"}",
                plan->bound_kind == CAUCUS_BOUND_PROBABILITY ? "probability" : "expectation");
    }
    if (premise == CAUCUS_PREMISE_COUNT)
        fputs(",\n    \"bound_assumes\": null,\n", out);
    else
        fprintf(out, ",\n    \"bound_assumes\": \"%s\",\n", caucus_premise_word(premise));
}

static void guarantees(FILE *out, const caucus_plan *plan) {
    fputs("    \"privacy\": {", out);
    number(out, "epsilon_choices", plan->guarantee.epsilon_choices);
    fputs(", ", out);
    number(out, "epsilon_messages", plan->guarantee.epsilon_messages);
    fputs(", ", out);
    number(out, "delta", plan->guarantee.delta);
    fputs(", \"note\": ", out);
    string(out, plan->guarantee.note);
    fputs("},\n", out);
}

void caucus_output_json(FILE *out, const caucus_outcome *outcome) {
    fputs("[", out);
    for (size_t i = 0; i < outcome->count; i++) {
        const caucus_run_result *result = &outcome->result[i];
        fputs(i == 0 ? "\n  {\n" : ",\n  {\n", out);
        settings(out, &outcome->run[i], result);
        results(out, result);
        traffic(out, "scalars_up", result, offsetof(caucus_trial_result, scalars_up));
        traffic(out, "scalars_down", result, offsetof(caucus_trial_result, scalars_down));
        traffic(out, "bytes_up", result, offsetof(caucus_trial_result, bytes_up));
        traffic(out, "bytes_down", result, offsetof(caucus_trial_result, bytes_down));
        traffic(out, "clipped", result, offsetof(caucus_trial_result, clipped));
        traffic(out, "nan", result, offsetof(caucus_trial_result, nan));
        bound(out, result->plan, outcome->run[i].adversary.kind);
        guarantees(out, result->plan);
        fputs("    ", out);
        number(out, "seconds", result->seconds);
        fputs("\n  }", out);
    }
    fputs("\n]\n", out);
}
