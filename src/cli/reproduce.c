/* SPDX-License-Identifier: Apache-2.0 */
/* reproduce.c: `caucus reproduce`: the paper's experiments, run again, as a report.
 *
 * What can go wrong is looked for first (options, gnuplot, the folder), then everything is run, and only a complete
 * report is put in place. The exit code is 1 if something that must hold does not. */
#include "cli/complain.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/signals.h"
#include "cli/terminal/dress.h"
#include "cli/terminal/screen.h"
#include "cli/verbs.h"
#include "num/nearest.h"
#include "num/number_text.h"
#include "store/json.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum option { QUICK, ONLY, SEED, DATA, OUT, THREADS, FORMAT, OPTION_COUNT } option;

static const caucus_option options[] = {
    [QUICK] = {"quick", NULL, NULL, "fewer trials and seeds: a few seconds"},
    [ONLY] = {"only", "LIST", "all", "sections, by number or word"},
    [SEED] = {"seed", "N", "1", "everything but the timings depends on it alone"},
    [DATA] = {"data", "DIR", "data/ml-1m or ../shared/data/ml-1m", "MovieLens-1M, as unpacked"},
    [OUT] = {"out", "DIR", "out/report", "the report; an older report there is replaced"},
    [THREADS] = {"threads", "N", "all", "cores to use; results do not depend on it"},
    [FORMAT] = {"format", "NAME", "table", "table or json on standard output"},
    [OPTION_COUNT] = {NULL, NULL, NULL, NULL},
};

typedef struct reproduction {
    caucus_study_options study;
    const char *out;
    bool json;
    caucus_progress_bar progress;
    const char *step; /* whose bar is drawn */
} reproduction;

static int wrong(const char *name, const char *value, const char *accepted) {
    return caucus_usage("reproduce", "--%s %s: %s", name, value, accepted);
}

static int take_number(const char *name, const char *value, uint64_t least, uint64_t most, uint64_t *ret) {
    char accepted[96];
    if (caucus_whole_parse(value, least, most, ret))
        return 0;
    (void)snprintf(accepted, sizeof accepted, "must be a whole number from %llu to %llu", (unsigned long long)least,
                   (unsigned long long)most);
    return wrong(name, value, accepted);
}

static int take_only(reproduction *r, const char *value) {
    memset(r->study.only, 0, sizeof r->study.only);
    r->study.chosen = true;
    for (const char *at = value;;) {
        size_t length = strcspn(at, ",");
        char word[32];
        caucus_section section;
        caucus_error error = {0};
        (void)snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
        if (caucus_section_parse(word, &section, &error) != CAUCUS_OK)
            return caucus_usage("reproduce", "--only: %s", error.text);
        r->study.only[section] = true;
        if (at[length] == '\0')
            return 0;
        at += length + 1;
    }
}

static int take(void *user, size_t index, const char *value) {
    reproduction *r = user;
    uint64_t number = 0;
    int code = 0;
    if (index == SIZE_MAX)
        return caucus_usage("reproduce", "'%s': takes options only; a folder is named with --out %s", value, value);
    switch ((option)index) {
    case QUICK:
        return caucus_take_switch("reproduce", "quick", value, &r->study.quick);
    case ONLY:
        return take_only(r, value);
    case SEED:
        code = take_number("seed", value, 0, UINT64_MAX - 1000, &number);
        r->study.seed = number;
        return code;
    case DATA:
        r->study.data = value;
        return 0;
    case OUT:
        r->out = value;
        return 0;
    case THREADS:
        if (strcmp(value, "all") == 0)
            return 0;
        code = take_number("threads", value, 1, 4096, &number);
        r->study.threads = (uint32_t)number;
        return code;
    case FORMAT:
        if (strcmp(value, "table") != 0 && strcmp(value, "json") != 0)
            return caucus_usage("reproduce", "--format %s: must be table or json%s", value,
                                caucus_meant_of(value, (const char *const[]){"table", "json", NULL}).text);
        r->json = strcmp(value, "json") == 0;
        if (r->json)
            caucus_dress_data();
        return 0;
    case OPTION_COUNT:
        break;
    }
    return CAUCUS_EXIT_USAGE;
}

static void print_help(void) {
    fputs("caucus reproduce: the paper's experiments, with its constants and with ours, as a report with figures\n"
          "\n"
          "  caucus reproduce\n"
          "  caucus reproduce --quick --only 1,2\n"
          "  caucus reproduce --only movielens --data ~/ml-1m --out out/ratings\n"
          "\n"
          "Writes index.html (one page, nothing from elsewhere), CSV and SVG files, and prints what holds. Exit code 1 "
          "if\n"
          "something does not. Defaults in brackets. Needs gnuplot.\n"
          "\n"
          "Options\n",
          stdout);
    caucus_options_help(options, 0, OPTION_COUNT);
    fputs("\nSections\n", stdout);
    for (unsigned i = 0; i < CAUCUS_SECTION_COUNT; i++)
        printf("  %u  %-10s %s\n", i + 1, caucus_section_word((caucus_section)i),
               caucus_section_help((caucus_section)i));
}

static void show_progress(void *user, const char *step, uint64_t done, uint64_t total) {
    reproduction *r = user;
    if (r->step != step) {
        caucus_progress_end(&r->progress);
        caucus_progress_begin(&r->progress, step, 26);
        r->step = step;
    }
    caucus_progress_update(&r->progress, done, total);
}

enum { TABLE_WIDTH = 118 }; /* columns of the tables below */

/* On a narrower screen a series is a line, and its numbers stand below. */
static void print_series(const caucus_figure *figure) {
    const int width = caucus_screen_table_width();
    const bool narrow = width > 0 && width < TABLE_WIDTH;
    if (!narrow)
        printf("  %-36s  %-11s  %17s  %10s  %12s  %s\n", "algorithm", "calibration", "regret per client",
               "proven at most", "numbers sent", "epsilon (choices)");
    for (uint32_t i = 0; i < figure->count; i++) {
        const caucus_series *s = &figure->series[i];
        const caucus_plan *plan = s->run.plan;
        caucus_summary regret = caucus_run_regret(&s->run);
        caucus_text spread = {0};
        char bound[32] = "-";
        caucus_text_spread(&spread, regret.mean, regret.std);
        if (plan->bound_kind != CAUCUS_BOUND_NONE)
            (void)snprintf(bound, sizeof bound, plan->bound_uncapped > plan->bound ? "vacuous" : "%.1f", plan->bound);
        /* the plus-minus sign is two bytes and one column */
        printf(narrow ? "  %s, calibration %s\n    regret per client %s, proven at most %s,\n    numbers sent %.0f, "
                        "epsilon (choices) %g\n"
                      : "  %-36s  %-11s  %18s  %14s  %12.0f  %g\n",
               s->spec->label, caucus_calibration_word(s->spec->calibration), spread.data ? spread.data : "", bound,
               caucus_run_mean_u64(&s->run, offsetof(caucus_trial_result, scalars_up)) / plan->settings.clients,
               plan->guarantee.epsilon_choices);
        caucus_text_free(&spread);
    }
}

static void print_fleet(const caucus_fleet *fleet) {
    printf("%u  %s\n", (unsigned)CAUCUS_SECTION_FLEET + 1, caucus_section_help(CAUCUS_SECTION_FLEET));
    for (uint32_t i = 0; i < fleet->count; i++) {
        const caucus_fleet_series *f = &fleet->series[i];
        printf("  %-20s", caucus_fleet_key(f));
        for (uint32_t k = 0; k < f->points; k++)
            printf("  %g: %.3g", f->x[k], f->regret[k].mean);
        printf("   %s\n", caucus_fleet_label(f));
    }
    putchar('\n');
}

/* The paper's own losses stand before ours. */
static const caucus_experiment in_order[CAUCUS_EXPERIMENT_COUNT] = {
    CAUCUS_EXPERIMENT_PER_EXPERT, CAUCUS_EXPERIMENT_MIXTURE,         CAUCUS_EXPERIMENT_STOCH,
    CAUCUS_EXPERIMENT_SVT,        CAUCUS_EXPERIMENT_MOVIELENS_PAPER, CAUCUS_EXPERIMENT_MOVIELENS};

static void print_table(const caucus_study *study, const char *out) {
    printf("NOT PRIVATE (seeded): noise and losses come from seed %llu, so that everything can be made again.\n\n",
           (unsigned long long)study->options.seed);
    for (unsigned s = 0; s < CAUCUS_EXPERIMENT_COUNT; s++) {
        const caucus_figure *figure = &study->figure[in_order[s]];
        if (!figure->spec)
            continue;
        printf("%u  %s\n", (unsigned)figure->spec->section + 1, figure->spec->name);
        if (figure->missing[0])
            printf("  %s\n\n", figure->missing);
        else {
            print_series(figure);
            putchar('\n');
        }
    }
    if (study->scaling.count) {
        printf("%u  %s\n", (unsigned)CAUCUS_SECTION_SCALING + 1, caucus_section_help(CAUCUS_SECTION_SCALING));
        for (uint32_t i = 0; i < study->scaling.count; i++) {
            const caucus_sweep *w = &study->scaling.sweep[i];
            printf("  %-28s  slope %6.2f ± %.2f   theory %s\n", caucus_sweep_key(w), w->slope, w->slope_error,
                   caucus_sweep_theory(w));
        }
        putchar('\n');
    }
    if (study->fleet.count)
        print_fleet(&study->fleet);
    puts("What holds");
    for (unsigned s = 0; s < CAUCUS_SECTION_COUNT; s++)
        if (caucus_study_not_run(study, (caucus_section)s))
            printf("  NOT RUN, and so not checked: %s (its data is not here)\n",
                   caucus_section_help((caucus_section)s));
    for (uint32_t i = 0; i < study->claims; i++)
        printf("  %-5s  %s\n         %s\n", study->claim[i].holds ? "holds" : "FAILS", study->claim[i].text,
               study->claim[i].measured);
    printf("\n  Report: %s/index.html\n", out);
}

static void json_series(caucus_json *j, const caucus_figure *figure, const caucus_series *one) {
    const caucus_plan *plan = one->run.plan;
    caucus_summary regret = caucus_run_regret(&one->run);
    caucus_json_object_row(j, NULL);
    caucus_json_text(j, "section", caucus_section_word(figure->spec->section));
    caucus_json_text(j, "experiment", figure->spec->file);
    caucus_json_text(j, "series", one->spec->key);
    caucus_json_text(j, "calibration", caucus_calibration_word(one->spec->calibration));
    caucus_json_whole(j, "trials", one->run.done);
    caucus_json_real(j, "regret_mean", regret.mean);
    caucus_json_real(j, "regret_std", regret.std);
    caucus_json_real(j, "bound", plan->bound_kind == CAUCUS_BOUND_NONE ? (double)NAN : plan->bound);
    caucus_json_real(j, "scalars_per_client",
                     caucus_run_mean_u64(&one->run, offsetof(caucus_trial_result, scalars_up)) /
                         plan->settings.clients);
    caucus_json_real(j, "epsilon_choices", plan->guarantee.epsilon_choices);
    caucus_json_real(j, "epsilon_messages", plan->guarantee.epsilon_messages);
    caucus_json_text(j, "guarantee", plan->guarantee.note);
    caucus_json_close(j);
}

static void print_json(const caucus_study *study, const char *out) {
    caucus_json j;
    caucus_json_begin(&j, stdout, false);
    caucus_json_truth(&j, "private", false);
    caucus_json_whole(&j, "seed", study->options.seed);
    caucus_json_text(&j, "report", out);
    caucus_json_list(&j, "series");
    for (unsigned s = 0; s < CAUCUS_EXPERIMENT_COUNT; s++) {
        const caucus_figure *figure = &study->figure[in_order[s]];
        for (uint32_t i = 0; figure->spec && !figure->missing[0] && i < figure->count; i++)
            json_series(&j, figure, &figure->series[i]);
    }
    caucus_json_close(&j);
    caucus_json_list(&j, "slopes");
    for (uint32_t i = 0; i < study->scaling.count; i++) {
        const caucus_sweep *sweep = &study->scaling.sweep[i];
        caucus_json_object_row(&j, NULL);
        caucus_json_text(&j, "sweep", caucus_sweep_key(sweep));
        caucus_json_real(&j, "slope", sweep->slope);
        caucus_json_real(&j, "error", sweep->slope_error);
        caucus_json_close(&j);
    }
    caucus_json_close(&j);
    caucus_json_list(&j, "fleet");
    for (uint32_t i = 0; i < study->fleet.count; i++) {
        const caucus_fleet_series *f = &study->fleet.series[i];
        for (uint32_t k = 0; k < f->points; k++) {
            caucus_json_object_row(&j, NULL);
            caucus_json_text(&j, "series", caucus_fleet_key(f));
            caucus_json_real(&j, "x", f->x[k]);
            caucus_json_whole(&j, "trials", f->trials);
            caucus_json_real(&j, "regret_mean", f->regret[k].mean);
            caucus_json_real(&j, "regret_std", f->regret[k].std);
            caucus_json_close(&j);
        }
    }
    caucus_json_close(&j);
    caucus_json_list(&j, "not_run");
    for (unsigned s = 0; s < CAUCUS_SECTION_COUNT; s++)
        if (caucus_study_not_run(study, (caucus_section)s))
            caucus_json_text(&j, NULL, caucus_section_word((caucus_section)s));
    caucus_json_close(&j);
    caucus_json_list(&j, "claims");
    for (uint32_t i = 0; i < study->claims; i++) {
        caucus_json_object_row(&j, NULL);
        caucus_json_truth(&j, "holds", study->claim[i].holds);
        caucus_json_text(&j, "claim", study->claim[i].text);
        caucus_json_text(&j, "measured", study->claim[i].measured);
        caucus_json_close(&j);
    }
    caucus_json_close(&j);
    caucus_json_end(&j);
}

/* Write the report and print what holds. Returns: the exit code. */
static int publish(const reproduction *r, const caucus_study *study) {
    caucus_error error = {0};
    caucus_status status = caucus_study_write(study, r->out, &error);
    if (status != CAUCUS_OK)
        return caucus_complain("reproduce", options, status, &error);
    if (r->json)
        print_json(study, r->out);
    else
        print_table(study, r->out);
    bool all = true;
    for (uint32_t i = 0; i < study->claims; i++)
        all = all && study->claim[i].holds;
    return all ? CAUCUS_EXIT_DONE : CAUCUS_EXIT_FAILED;
}

static int reproduce(reproduction *r) {
    const caucus_ranks *ranks = r->study.ranks;
    caucus_error error = {0};
    caucus_study study = {0};
    int code = 0;
    caucus_stop_on_signals();
    if (caucus_ranks_first(ranks)) { /* only it draws and writes */
        caucus_status status = caucus_study_check(r->out, &error);
        code = status == CAUCUS_OK ? 0 : caucus_complain("reproduce", options, status, &error);
    }
    code = caucus_cli_share_code(ranks, code);
    if (code == 0)
        code = caucus_cli_same_movielens(ranks, "reproduce", r->study.data);
    if (code != 0)
        return code;
    caucus_status status = caucus_study_run(&r->study, &study, &error);
    caucus_progress_end(&r->progress);
    if (status == CAUCUS_E_STOPPED)
        (void)caucus_fail(&error, status, "", "%sstopped", caucus_cli_gone(ranks));
    if (status != CAUCUS_OK)
        code = caucus_complain("reproduce", options, status, &error);
    else if (caucus_ranks_first(ranks))
        code = publish(r, &study);
    else
        code = CAUCUS_RANKS_EXIT_ELSEWHERE;
    caucus_study_free(&study);
    return code;
}

int caucus_cli_reproduce(int argc, char **argv) {
    reproduction r = {.out = "out/report", .study = {.seed = 1, .stop = &caucus_stop, .progress = show_progress}};
    r.study.progress_user = &r;
    r.study.ranks = caucus_ranks_here();
    for (unsigned i = 0; i < CAUCUS_SECTION_COUNT; i++)
        r.study.only[i] = true;
    int code = caucus_options_parse("reproduce", options, argc, argv, take, &r);
    return caucus_options_over(&code, print_help) ? code : reproduce(&r);
}
