/* SPDX-License-Identifier: Apache-2.0 */
/* output_table.c: results as a table for people, and the remarks that go with any format. See output.h.
 *
 * Columns that are the same in every row are left out, except those everybody looks for. */
#include "plan/family.h"
#include "show/output.h"

#include "show/bound_fit.h"
#include "show/plan_words.h"
#include "show/story.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES 48
#define NOT_APPLICABLE "–" /* tells no rows apart */

typedef struct row {
    const caucus_run *run;
    const caucus_run_result *result;
    const caucus_settings *settings;
    const caucus_history *history;
} row;

typedef void (*cell_writer)(const row *r, char *ret);
static void cell(char *ret, const char *format, ...) CAUCUS_PRINTF(2, 3);
static void cell(char *ret, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(ret, CELL_BYTES, format, arguments);
    va_end(arguments);
}

/* A number that is 0 where there is none. */
static void whole_or(char *ret, uint64_t value, const char *none) {
    if (value != 0)
        cell(ret, "%" PRIu64, value);
    else
        cell(ret, "%s", none);
}

/* Decimals worth showing for numbers of this size: what a spread lets one read. */
static int decimals_of(double size) {
    return size >= 99.95 ? 0 : size >= 0.95 ? 1 : size >= 0.095 ? 2 : size > 0 ? 3 : 0;
}

static void amount(char *ret, size_t bytes, double value) {
    (void)snprintf(ret, bytes, "%.*f", decimals_of(fabs(value)), value);
}

/* The reference has no privacy to speak of. */
static bool leads(const row *r) {
    return caucus_algorithm_variant(r->settings->algorithm)->reference;
}

static void write_algorithm(const row *r, char *ret) {
    cell(ret, "%s", caucus_algorithm_word(r->settings->algorithm));
}
static void write_adversary(const row *r, char *ret) {
    cell(ret, "%s", caucus_adversary_kind_word(r->run->adversary.kind));
}
static void write_clients(const row *r, char *ret) {
    cell(ret, "%u", r->settings->clients);
}
static void write_experts(const row *r, char *ret) {
    cell(ret, "%u", r->settings->experts);
}
static void write_rounds(const row *r, char *ret) {
    cell(ret, "%" PRIu64, caucus_run_rounds(r->run, r->settings));
}
static void write_interval(const row *r, char *ret) {
    cell(ret, "%" PRIu64, r->settings->interval);
}
static void write_epsilon(const row *r, char *ret) {
    if (leads(r))
        cell(ret, NOT_APPLICABLE);
    else
        cell(ret, isinf(r->settings->epsilon) ? "infinite" : "%.6g", r->settings->epsilon);
}
static void write_range(const row *r, char *ret) {
    cell(ret, "[%.6g,%.6g]", r->settings->lo, r->settings->hi);
}
static void write_delta(const row *r, char *ret) {
    if (leads(r))
        cell(ret, NOT_APPLICABLE);
    else
        cell(ret, "%.6g", r->settings->delta);
}
static void write_trust(const row *r, char *ret) {
    cell(ret, "%s", caucus_trust_word(r->settings->trust));
}
static void write_calibration(const row *r, char *ret) {
    cell(ret, "%s", leads(r) ? NOT_APPLICABLE : caucus_calibration_word(r->settings->calibration));
}
static void write_protocol(const row *r, char *ret) {
    cell(ret, "%s", caucus_protocol_word(r->settings->protocol));
}
static void write_unit(const row *r, char *ret) {
    cell(ret, "%s", leads(r) ? NOT_APPLICABLE : caucus_unit_word(r->settings->unit));
}
static void write_select(const row *r, char *ret) {
    cell(ret, "%s", caucus_select_word(r->settings->select));
}
static void write_message(const row *r, char *ret) {
    cell(ret, "%s", caucus_message_word(r->settings->message));
}
static void write_trees(const row *r, char *ret) {
    if (r->run->settings.trees == CAUCUS_TREES_AUTO)
        cell(ret, "auto");
    else
        cell(ret, "%d", r->run->settings.trees);
}

static void write_segments(const row *r, char *ret) {
    cell(ret, "%" PRIu64, r->run->adversary.segments);
}
static void write_spread(const row *r, char *ret) {
    if (caucus_adversary_kind_has_means(r->run->adversary.kind))
        cell(ret, "%.6g", r->run->adversary.spread);
    else
        cell(ret, NOT_APPLICABLE);
}
static void write_drift(const row *r, char *ret) {
    if (r->run->adversary.kind == CAUCUS_ADVERSARY_DRIFTING)
        cell(ret, "%.6g", r->run->adversary.drift);
    else
        cell(ret, NOT_APPLICABLE);
}
static void write_longest(const row *r, char *ret) {
    whole_or(ret, r->settings->longest_phase, NOT_APPLICABLE);
}

static void write_evaluate(const row *r, char *ret) {
    whole_or(ret, r->settings->evaluate, "all");
}

static void write_growth(const row *r, char *ret) {
    if (r->settings->unit == CAUCUS_UNIT_CLIENT)
        cell(ret, "%" PRIu64, r->settings->growth);
    else
        cell(ret, NOT_APPLICABLE);
}

static void write_show_loss(const row *r, char *ret) {
    if (r->settings->show_loss > 0)
        cell(ret, "%g", r->settings->show_loss);
    else
        cell(ret, NOT_APPLICABLE);
}

static void write_renew(const row *r, char *ret) {
    whole_or(ret, r->settings->renew, NOT_APPLICABLE);
}

static void write_summary(const row *r, caucus_summary s, char *ret) {
    int decimals = decimals_of(fmax(fabs(s.mean), s.std)); /* fmax takes the number where one is NAN */
    if (r->result->done == 0)
        cell(ret, "no trial done");
    else if (isnan(s.std))
        cell(ret, "%.*f ± –", decimals, s.mean);
    else
        cell(ret, "%.*f ± %.*f", decimals, s.mean, decimals, s.std);
}

static void write_regret(const row *r, char *ret) {
    write_summary(r, caucus_run_regret(r->result), ret);
}
static void write_regret_segments(const row *r, char *ret) {
    write_summary(r, caucus_run_regret_segments(r->result), ret);
}

/* Decisions from means, at the devices' own pace, follow the devices and not their losses. */
static bool by_devices(const row *r) {
    return r->settings->pace == CAUCUS_PACE_OWN && caucus_settings_means(r->settings);
}
static void write_regret_devices(const row *r, char *ret) {
    if (by_devices(r))
        write_summary(r, caucus_run_regret_devices(r->result), ret);
    else
        cell(ret, NOT_APPLICABLE);
}

static caucus_played_bound bound_of(const row *r) {
    return caucus_bound_played(r->result, &r->run->adversary);
}

static bool vacuous(const row *r) {
    const caucus_played_bound played = bound_of(r);
    return played.uncapped > played.value;
}

/* Of somebody's own losses nothing is known but what was looked at, and that can only refute. */
static caucus_bound_fit fit_of(const row *r) {
    const caucus_played_bound played = bound_of(r);
    if (!isfinite(played.value))
        return CAUCUS_BOUND_FIT_NONE;
    const caucus_bound_fit fit = played.fit;
    const bool refuted =
        fit == CAUCUS_BOUND_FIT_UNKNOWN && r->history != NULL && caucus_history_refutes(r->history, r->settings);
    return refuted ? CAUCUS_BOUND_FIT_FAILS : fit;
}

/* A number only where it is proven for these losses; for a file's, under its condition. */
static void write_bound(const row *r, char *ret) {
    const caucus_plan *plan = r->result->plan;
    const char *assumes = caucus_premise_word(caucus_premise_of(plan)), *star, *empty;
    char value[24];
    amount(value, sizeof value, bound_of(r).value);
    star = plan->bound_kind == CAUCUS_BOUND_EXPECTATION ? "*" : "";
    empty = vacuous(r) ? " (vacuous)" : "";
    switch (fit_of(r)) {
    case CAUCUS_BOUND_FIT_HOLDS:
        cell(ret, "%s%s%s", value, star, empty);
        break;
    case CAUCUS_BOUND_FIT_UNKNOWN:
        cell(ret, "%s%s%s if %s", value, star, empty, assumes);
        break;
    case CAUCUS_BOUND_FIT_FAILS:
        cell(ret, "none: assumes %s", assumes);
        break;
    case CAUCUS_BOUND_FIT_NONE:
        cell(ret, "none");
        break;
    }
}

static void write_switches(const row *r, char *ret) {
    amount(ret, CELL_BYTES, caucus_run_switches(r->result).mean);
}

static void write_scalars(const row *r, char *ret) {
    double total = caucus_run_mean_u64(r->result, offsetof(caucus_trial_result, scalars_up));
    cell(ret, "%.0f", total / r->settings->clients);
}

static void write_privacy(char *ret, double epsilon, double delta) {
    if (isnan(epsilon))
        cell(ret, "trusted");
    else if (isinf(epsilon))
        cell(ret, "not private");
    else if (delta > 0)
        cell(ret, "%.4g, delta %.3g", epsilon, delta);
    else
        cell(ret, "%.4g", epsilon);
}

static void write_choices(const row *r, char *ret) {
    write_privacy(ret, r->result->plan->guarantee.epsilon_choices, r->result->plan->guarantee.delta);
}

static void write_messages(const row *r, char *ret) {
    write_privacy(ret, r->result->plan->guarantee.epsilon_messages, r->result->plan->guarantee.delta);
}

static void write_device(const row *r, char *ret) {
    const double device = caucus_plan_epsilon_device(r->result->plan);
    if (leads(r))
        cell(ret, NOT_APPLICABLE);
    else if (isfinite(device))
        write_privacy(ret, device, r->result->plan->guarantee.delta);
    else
        cell(ret, "no bound");
}

typedef enum shown { ALWAYS, IF_SEVERAL, IF_MESSAGES, IF_SEGMENTS, IF_DEVICES } shown;
static const struct column {
    const char *head;
    cell_writer write;
    shown when;
} columns[] = {
    {"algorithm", write_algorithm, ALWAYS},
    {"adversary", write_adversary, IF_SEVERAL},
    {"trust", write_trust, IF_SEVERAL},
    {"calibration", write_calibration, IF_SEVERAL},
    {"protocol", write_protocol, IF_SEVERAL},
    {"unit", write_unit, IF_SEVERAL},
    {"select", write_select, IF_SEVERAL},
    {"message", write_message, IF_SEVERAL},
    {"trees", write_trees, IF_SEVERAL},
    {"longest phase", write_longest, IF_SEVERAL},
    {"renew", write_renew, IF_SEVERAL},
    {"evaluate", write_evaluate, IF_SEVERAL},
    {"growth", write_growth, IF_SEVERAL},
    {"show loss", write_show_loss, IF_SEVERAL},
    {"epsilon", write_epsilon, IF_SEVERAL},
    {"delta", write_delta, IF_SEVERAL},
    {"d", write_experts, IF_SEVERAL},
    {"T", write_rounds, IF_SEVERAL},
    {"interval", write_interval, IF_SEVERAL},
    {"losses in", write_range, IF_SEVERAL},
    {"segments", write_segments, IF_SEVERAL},
    {"spread", write_spread, IF_SEVERAL},
    {"drift", write_drift, IF_SEVERAL},
    {"m", write_clients, ALWAYS},
    {"regret per client", write_regret, ALWAYS},
    {"of segments", write_regret_segments, IF_SEGMENTS},
    {"of devices", write_regret_devices, IF_DEVICES},
    {"proven ≤", write_bound, ALWAYS},
    {"switches", write_switches, ALWAYS},
    {"scalars/client", write_scalars, ALWAYS},
    {"epsilon (choices)", write_choices, ALWAYS},
    {"epsilon (messages)", write_messages, IF_MESSAGES},
    {"epsilon (device)", write_device, IF_SEVERAL},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Columns a text takes on a screen: bytes that do not continue a character. */
static int width(const char *text) {
    int count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static row row_of(const caucus_outcome *outcome, size_t i) {
    return (row){&outcome->run[i], &outcome->result[i], &outcome->result[i].plan->settings, outcome->history};
}

static bool is_shown(const caucus_outcome *outcome, const struct column *column) {
    char first[CELL_BYTES] = NOT_APPLICABLE, other[CELL_BYTES];
    if (column->when == ALWAYS)
        return true;
    for (size_t i = 0; i < outcome->count; i++) {
        row r = row_of(outcome, i);
        const bool open = strcmp(first, NOT_APPLICABLE) == 0;
        column->write(&r, open ? first : other);
        if (column->when == IF_MESSAGES && !isnan(r.result->plan->guarantee.epsilon_messages))
            return true;
        if (column->when == IF_SEGMENTS && r.run->adversary.segments > 1)
            return true;
        if (column->when == IF_DEVICES && by_devices(&r))
            return true;
        if (column->when == IF_SEVERAL && !open && strcmp(other, NOT_APPLICABLE) != 0 && strcmp(first, other) != 0)
            return true;
    }
    return false;
}

static void print_cell(FILE *out, const char *text, int wide, bool left) {
    int pad = wide - width(text);
    fprintf(out, "%*s%s%*s", left ? 0 : pad, "", text, left ? pad : 0, "");
}

enum { RUN_NUMBER = 5 }; /* columns of a run's number and the space before it */

/* The first column and those from `from` to before `to`; `numbered`: a run's number before them. */
static void print_columns(FILE *out, const caucus_outcome *outcome, const bool show[], const int wide[], size_t from,
                          size_t to, bool numbered) {
    char text[CELL_BYTES];
    for (size_t line = 0; line <= outcome->count; line++) {
        if (numbered && line == 0)
            fprintf(out, "%*s", RUN_NUMBER, "run");
        else if (numbered)
            fprintf(out, "%*zu", RUN_NUMBER, line);
        for (size_t c = 0; c < to; c = c == 0 ? from : c + 1) {
            if (!show[c])
                continue;
            if (line > 0) {
                row r = row_of(outcome, line - 1);
                columns[c].write(&r, text);
            }
            fputs(c == 0 ? "  " : "   ", out);
            print_cell(out, line == 0 ? columns[c].head : text, wide[c], c == 0);
        }
        fputc('\n', out);
    }
}

static void print_grid(FILE *out, const caucus_outcome *outcome) {
    bool show[COLUMNS];
    int wide[COLUMNS];
    int whole = -1;
    char text[CELL_BYTES];
    for (size_t c = 0; c < COLUMNS; c++) {
        show[c] = is_shown(outcome, &columns[c]);
        wide[c] = width(columns[c].head);
        for (size_t i = 0; show[c] && i < outcome->count; i++) {
            row r = row_of(outcome, i);
            columns[c].write(&r, text);
            wide[c] = width(text) > wide[c] ? width(text) : wide[c];
        }
        whole += show[c] ? 3 + wide[c] : 0;
    }
    /* As many columns as fit, and the others below, each time with the first one again, and with the number of the run
     * where there are several: their first columns may be alike. */
    const bool numbered = outcome->width > 0 && whole > outcome->width && outcome->count > 1;
    for (size_t from = 1, to; from < COLUMNS; from = to) {
        const int first = (numbered ? RUN_NUMBER : 0) + 2 + wide[0];
        int used = first;
        for (to = from; to < COLUMNS; to++) {
            const int more = show[to] ? 3 + wide[to] : 0;
            if (outcome->width > 0 && used + more > outcome->width && used > first)
                break;
            used += more;
        }
        if (from > 1)
            fputc('\n', out);
        print_columns(out, outcome, show, wide, from, to, numbered);
    }
}

/* Why a bound is not shown, or shown with an "if": a line for every premise that is in doubt. */
static void print_premises(FILE *out, const caucus_outcome *outcome) {
    bool fails[CAUCUS_PREMISE_COUNT] = {false}, unknown[CAUCUS_PREMISE_COUNT] = {false};
    for (size_t i = 0; i < outcome->count; i++) {
        row r = row_of(outcome, i);
        const caucus_premise premise = caucus_premise_of(r.result->plan);
        if (premise == CAUCUS_PREMISE_COUNT)
            continue;
        fails[premise] = fails[premise] || fit_of(&r) == CAUCUS_BOUND_FIT_FAILS;
        unknown[premise] = unknown[premise] || fit_of(&r) == CAUCUS_BOUND_FIT_UNKNOWN;
    }
    for (unsigned p = 0; p < CAUCUS_PREMISE_COUNT; p++) {
        const char *word = caucus_premise_word((caucus_premise)p), *help = caucus_premise_help((caucus_premise)p);
        if (fails[p])
            fprintf(out, "  assumes %s: proved only if %s, which is not so in these rows.\n", word, help);
        if (unknown[p])
            fprintf(out, "  if %s: proved only if %s; %s.\n", word, help,
                    outcome->history != NULL ? "your losses do not refute it"
                                             : "nobody has checked that of your losses");
    }
}

/* What is proved of a plan whose bound is not about what was played: a line for the first such row. */
static void print_stretch(FILE *out, const caucus_outcome *outcome) {
    for (size_t i = 0; i < outcome->count; i++) {
        const row r = row_of(outcome, i);
        const caucus_plan *plan = r.result->plan;
        if (fit_of(&r) != CAUCUS_BOUND_FIT_NONE || plan->bound_kind == CAUCUS_BOUND_NONE || !isfinite(plan->bound))
            continue;
        char what[128];
        if (caucus_plan_stretch_of(plan) == CAUCUS_STRETCH_CYCLE)
            (void)snprintf(what, sizeof what, "each %s rounds between renewals",
                           caucus_words_whole(r.settings->renew).text);
        else
            (void)snprintf(what, sizeof what, "1,000 rounds of a long run");
        char value[24];
        amount(value, sizeof value, plan->bound);
        fprintf(out, "  none: nothing is proved of what was played. For %s\n  at most %s is proved", what, value);
        if (plan->bound_kind == CAUCUS_BOUND_PROBABILITY)
            fprintf(out, " with probability %.6g %% (caucus plan).\n", 100 * (1 - r.settings->rho));
        else
            fputs(" on average (caucus plan).\n", out);
        return;
    }
}

static void print_footer(FILE *out, const caucus_outcome *outcome) {
    bool probable = false, mean = false, empty = false, convex = false, one_range = true, segments = false;
    bool devices = false;
    const caucus_settings *first = &outcome->result[0].plan->settings;
    for (size_t i = 0; i < outcome->count; i++) {
        row r = row_of(outcome, i);
        const bool printed = fit_of(&r) <= CAUCUS_BOUND_FIT_UNKNOWN;
        caucus_bound_kind kind = printed ? r.result->plan->bound_kind : CAUCUS_BOUND_NONE;
        probable = probable || kind == CAUCUS_BOUND_PROBABILITY;
        mean = mean || kind == CAUCUS_BOUND_EXPECTATION;
        empty = empty || (kind != CAUCUS_BOUND_NONE && vacuous(&r));
        convex = convex || r.settings->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX;
        segments = segments || r.run->adversary.segments > 1;
        devices = devices || by_devices(&r);
        one_range = one_range && r.settings->lo == first->lo && r.settings->hi == first->hi;
    }
    fputs("\n  Regret against the best expert in hindsight", out);
    if (one_range)
        fprintf(out, ", losses in [%.6g,%.6g]", first->lo, first->hi);
    fputs(".\n", out);
    if (first->pace == CAUCUS_PACE_OWN && outcome->result[0].done > 0)
        fprintf(out,
                "  At their own pace: about %s losses of a device in %s slots; the best expert is that on all of "
                "them, each counting the same.\n",
                caucus_words_about(caucus_run_mean_u64(&outcome->result[0], offsetof(caucus_trial_result, losses)) /
                                   first->clients)
                    .text,
                caucus_words_whole(caucus_run_rounds(&outcome->run[0], first)).text);
    if (probable)
        fprintf(out, "  Bounds hold with probability %.6g %%%s\n", 100 * (1 - first->rho),
                mean ? ", those with * on average." : ".");
    else if (mean)
        fputs("  Bounds with * hold on average.\n", out);
    if (empty)
        fputs("  vacuous: no better than losing everything; more clients, rounds or epsilon make the bound useful.\n",
              out);
    print_premises(out, outcome);
    print_stretch(out, outcome);
    if (segments)
        fputs("  of segments: regret against the best expert of each segment of the run.\n", out);
    if (devices)
        fprintf(out,
                "  of devices: regret against the best expert%s on average over devices, each weighing the same in "
                "every slot;\n  decisions follow that average, and what is proved is about it.\n",
                segments ? " of each segment" : "");
    if (convex)
        fputs("  Losses are a convex function of the mixture: regret is against the best fixed mixture.\n", out);
}

void caucus_output_table(FILE *out, const caucus_outcome *outcome) {
    if (outcome->count == 0)
        return;
    caucus_output_head(out, outcome);
    print_grid(out, outcome);
    fputc('\n', out);
    caucus_story_print(out, outcome);
    print_footer(out, outcome);
}

/* What a share of losses that were moved looks like: never 0 % where there was one. */
/* One piece: what comes in several is not fitted to a terminal's width. */
static void print_clipped(FILE *out, uint64_t clipped, double share) {
    char words[32] = "less than 0.01 %";
    if (share >= 0.0001)
        (void)snprintf(words, sizeof words, "%.*f %%", share < 0.01 ? 2 : share < 0.1 ? 1 : 0, 100 * share);
    fprintf(out,
            "  Losses outside their range, moved to its end: %" PRIu64
            ", %s of all — if losses can be larger, the setting range says so.\n",
            clipped, words);
}

void caucus_output_remarks(FILE *out, const caucus_outcome *outcome) {
    uint64_t clipped = 0, nan = 0, most = 0;
    double losses = 0;
    bool gradients = false;
    for (size_t i = 0; i < outcome->count; i++) {
        row r = row_of(outcome, i);
        gradients = gradients || r.settings->loss_shape == CAUCUS_LOSS_SHAPE_CONVEX;
        for (uint32_t k = 0; k < r.result->done; k++) {
            const caucus_trial_result *t = &r.result->trial[k];
            clipped += t->clipped - t->nan;
            nan += t->nan;
            losses += (double)t->losses * r.settings->experts;
            most = t->nan > most ? t->nan : most;
        }
    }
    if (nan > 0)
        fprintf(out,
                "  Losses that were not a number, counted as the worst loss: %" PRIu64 " (at most %" PRIu64
                " in one trial).\n",
                nan, most);
    if (clipped > 0 && gradients) {
        fprintf(out, "  Losses or gradients outside their range, moved to its end: %" PRIu64 ".\n", clipped);
    } else if (clipped > 0) {
        print_clipped(out, clipped, (double)clipped / losses);
    }
    char sentence[CAUCUS_HISTORY_SENTENCES][CAUCUS_HISTORY_BYTES];
    const size_t count = outcome->history != NULL ? caucus_history_say(outcome->history, sentence) : 0;
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s\n", i == 0 ? "  Your losses: " : "               ", sentence[i]);
}

caucus_status caucus_outcome_look(const caucus_run *run, const caucus_adversary *adversary, caucus_history *found,
                                  const caucus_history **ret, caucus_error *ret_error) {
    *ret = NULL;
    if (run->adversary.kind != CAUCUS_ADVERSARY_LOSSES)
        return CAUCUS_OK;
    caucus_status status =
        caucus_history_read(adversary, &run->settings, run->adversary.clients, run->adversary.rounds, found, ret_error);
    if (status == CAUCUS_OK)
        *ret = found;
    return status;
}
