/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: `caucus plan`: calibrate a run before it is run.
 *
 * The settings are the fields of a scenario (scenario/scenario.h), so a flag means here what it means in simulate. */
#include "cli/complain.h"
#include "cli/terminal/screen.h"
#include "cli/verbs.h"
#include "scenario/scenario_convert.h"
#include "show/choice/losses_are.h"
#include "show/choice/recommend.h"
#include "show/plan_asked.h"
#include "show/plan_print.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fields of a scenario that make a plan come first. */
enum { FIELDS = CAUCUS_PLAN_FIELDS, FIRST_PRIVACY = CAUCUS_PLAN_FIELDS_PRIVACY };
enum { FIRST_MECHANISM = CAUCUS_PLAN_FIELDS_MECHANISM };
static const caucus_scenario_field *const fields = caucus_plan_fields;

/* Options of this verb alone, after the fields. */
enum {
    OPTION_CONVEX = FIELDS,
    OPTION_GRID,
    OPTION_KNOWN,
    OPTION_RECOMMEND,
    OPTION_LOSSES,
    OPTION_EXPLAIN,
    OPTION_FEDERATION,
    OPTION_FORMAT,
    OPTION_WRITE,
    OPTION_FORCE,
    OPTIONS
};
static const caucus_option own[] = {
    {"convex", "A,B", NULL, "stoch: convex losses with gradients up to A, smoothness B"},
    {"grid", "G", "fits", "steps of the loss grid, 1 to 1048576"},
    {"losses-are", "WHAT", NULL, "what is known of the losses chooses the algorithm"},
    {"recommend", NULL, NULL, "compare everything that fits in a simulation, and say which to take"},
    {"losses", "FILE", NULL, "--recommend: on your own losses, NumPy or CSV (reads them as they are: NOT PRIVATE)"},
    {"explain", NULL, NULL, "also show how every number came about"},
    {"federation", "NAME", NULL, "what the run is called: a label, part of the plan"},
    {"format", "NAME", "text", "text or json on standard output"},
    {"write", "FILE", NULL, "keep the plan in a file"},
    {"force", NULL, NULL, "let --write replace another plan"},
};

typedef struct planning {
    caucus_option options[OPTIONS + 1];
    caucus_scenario scenario;
    const char *value[OPTIONS - FIELDS]; /* of the options of this verb alone */
    const char *file;
    caucus_settings settings;
    caucus_knowledge known;
    bool json, longest_given; /* given: before --losses-are chose */
    caucus_plan *plan;
} planning;

static const char *value_of(const planning *p, int option) {
    return p->value[option - FIELDS];
}

static void fill_options(planning *p) {
    for (size_t i = 0; i < FIELDS; i++) {
        const caucus_scenario_field_info *f = &caucus_fields[fields[i]];
        p->options[i] = (caucus_option){f->name, f->argument, f->fallback, f->help};
        if (fields[i] == CAUCUS_FIELD_ALGORITHM) /* the wrong one costs hundreds: there is no default */
            p->options[i] = (caucus_option){f->name, f->argument, NULL, "what is planned; or --losses-are chooses it"};
    }
    memcpy(&p->options[FIELDS], own, sizeof own);
}

static const caucus_option_section sections[] = {
    {"Privacy", FIRST_PRIVACY, FIRST_MECHANISM, NULL},
    {"Mechanisms", FIRST_MECHANISM, OPTION_KNOWN, NULL},
    {"What to do with it", OPTION_KNOWN, OPTIONS, NULL},
    {NULL, 0, 0, NULL},
};

static void print_help(const planning *p) {
    fputs("caucus plan: calibrate a run: noise, budget, regret bound, bytes\n"
          "\n"
          "  caucus plan --losses-are iid --clients 500 --experts 20 --rounds 1024 --epsilon 1 --trust coordinator\n"
          "  caucus plan --clients 1000 --experts 50 --rounds 10000 --epsilon 1 --recommend\n"
          "  caucus plan --epsilon 1 --recommend --losses mine.npy\n"
          "  caucus plan --algorithm hedge --epsilon 1 --trust coordinator --explain --write plan.yaml\n"
          "  caucus plan plan.yaml                                    shows and checks a plan that was written\n"
          "\nThe run\n",
          stdout);
    caucus_options_help(p->options, 0, FIRST_PRIVACY);
    caucus_options_sections(p->options, sections);
    fputs("\nLosses are\n", stdout);
    for (unsigned i = 0; i < CAUCUS_KNOWLEDGE_COUNT; i++)
        printf("  %-22s %s\n", caucus_knowledge_word((caucus_knowledge)i), caucus_knowledge_help((caucus_knowledge)i));
    fputs("  iid: stoch; drifting: stoch, --longest-phase auto, or --pace own where --phase-time is given; realizable: "
          "svt;\n  any and adaptive: hedge, --interval auto. With --rounds endless also --longest-phase auto, --renew "
          "4096\n"
          "  adaptive: the expert of a block is announced at its start; whoever reacts to the expert being served is "
          "not covered\n",
          stdout);
    fputs("\nAlgorithms\n", stdout);
    for (unsigned i = 0; i < CAUCUS_ALGORITHM_COUNT; i++)
        printf("  %-22s %s\n", caucus_algorithm_word((caucus_algorithm)i), caucus_algorithm_help((caucus_algorithm)i));
    fputs("\nTrust\n", stdout);
    for (unsigned i = 0; i < CAUCUS_TRUST_COUNT; i++)
        printf("  %-22s %s\n", caucus_trust_word((caucus_trust)i), caucus_trust_help((caucus_trust)i));
    fputs("\nThe words of the other choices: caucus simulate --help. Defaults in brackets; --trust must be said, "
          "except with --recommend.\n",
          stdout);
}

static int complain(const caucus_complaint *complaint, caucus_status status) {
    return caucus_complain_scenario("plan", status, complaint);
}

static int complain_error(const planning *p, caucus_status status, const caucus_error *error) {
    caucus_error extra = *error;
    if (caucus_plan_extra_refused(&extra)) { /* settings that only this verb's own options set */
        fprintf(stderr, "caucus plan: --%s%s\n", extra.field, extra.text);
        return caucus_exit_code(status);
    }
    caucus_complaint complaint;
    caucus_error named = *error;
    if (value_of(p, OPTION_RECOMMEND) == NULL)
        caucus_losses_are_blame(value_of(p, OPTION_KNOWN), p->longest_given, &p->settings, &named);
    caucus_complain_name(p->options, &named);
    (void)caucus_scenario_complain(&p->scenario, status, &named, &complaint);
    return complain(&complaint, status);
}

static int take_option(void *user, size_t index, const char *value) {
    planning *p = user;
    if (index == SIZE_MAX)
        return caucus_take_word("plan", "plan file", value, &p->file);
    if (index >= FIELDS) {
        /* The table ends with this verb's own options; cppcheck does not see how long it is. */
        // cppcheck-suppress arrayIndexOutOfBoundsCond
        const caucus_option *option = &p->options[index];
        if (option->argument == NULL && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return caucus_usage("plan", "--%s %s: must be true or false", option->name, value);
        if (p->value[index - FIELDS] != NULL)
            return caucus_usage("plan", "--%s: given twice", option->name);
        p->value[index - FIELDS] = option->argument == NULL && strcmp(value, "false") == 0 ? NULL : value;
        return 0;
    }
    caucus_complaint complaint;
    caucus_status status = caucus_scenario_set(&p->scenario, fields[index], value, &complaint);
    return status == CAUCUS_OK ? 0 : complain(&complaint, status);
}

/* --convex, --grid, --federation, --format. */
static int read_own(planning *p) {
    static const int extras[] = {OPTION_CONVEX, OPTION_GRID, OPTION_FEDERATION};
    caucus_error error = {0};
    for (size_t i = 0; i < sizeof extras / sizeof extras[0]; i++) {
        const char *text = value_of(p, extras[i]);
        if (text != NULL && caucus_plan_extra(p->options[extras[i]].name, text, &p->settings, &error) != CAUCUS_OK)
            return caucus_usage("plan", "--%s %s", error.field, error.text);
    }
    return caucus_take_format("plan", value_of(p, OPTION_FORMAT), &p->json);
}

/* Options that would be ignored together are refused. */
static int check_together(const planning *p) {
    const bool recommend = value_of(p, OPTION_RECOMMEND) != NULL;
    if (value_of(p, OPTION_FORCE) != NULL && value_of(p, OPTION_WRITE) == NULL)
        return caucus_usage("plan", "--force: belongs to --write");
    if (recommend && (value_of(p, OPTION_WRITE) != NULL || value_of(p, OPTION_EXPLAIN) != NULL || p->file != NULL))
        return caucus_usage("plan", "--recommend: compares plans and keeps none — leave out %s",
                            p->file != NULL                     ? "the plan file"
                            : value_of(p, OPTION_WRITE) != NULL ? "--write"
                                                                : "--explain");
    if (recommend && p->scenario.field[CAUCUS_FIELD_ALGORITHM].count > 0)
        return caucus_usage("plan", "--recommend: compares all algorithms — leave out --algorithm");
    if (!recommend && value_of(p, OPTION_LOSSES) != NULL)
        return caucus_usage("plan", "--losses: belongs to --recommend; caucus simulate plays one plan on them");
    if (value_of(p, OPTION_LOSSES) != NULL && value_of(p, OPTION_KNOWN) != NULL)
        return caucus_usage("plan", "--losses: are looked at for what they are — leave out --losses-are");
    if (recommend && value_of(p, OPTION_FEDERATION) != NULL)
        return caucus_usage("plan", "--recommend: compares plans and names none — leave out --federation");
    if (recommend && value_of(p, OPTION_CONVEX) != NULL)
        return caucus_usage(
            "plan",
            "--recommend: for convex losses there is only stoch — leave out --convex, or use --algorithm stoch");
    if (value_of(p, OPTION_EXPLAIN) != NULL && p->json)
        return caucus_usage("plan", "--explain: is text for people — leave out --format json");
    if (p->file == NULL)
        return 0;
    for (size_t i = 0; i < FIELDS; i++)
        if (p->scenario.field[fields[i]].count > 0)
            return caucus_usage("plan", "--%s: a plan file has its settings already", caucus_fields[fields[i]].name);
    static const int settings[] = {OPTION_CONVEX, OPTION_GRID, OPTION_FEDERATION};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (value_of(p, settings[i]) != NULL)
            return caucus_usage("plan", "--%s: a plan file has its settings already", p->options[settings[i]].name);
    return 0;
}

/* What --losses-are means: the algorithm, or with --recommend the situation that is looked at. */
static caucus_status read_known(planning *p, caucus_error *ret_error) {
    const char *said = value_of(p, OPTION_KNOWN);
    p->known = CAUCUS_KNOWLEDGE_COUNT;
    p->longest_given = p->scenario.field[CAUCUS_FIELD_LONGEST_PHASE].count > 0;
    if (value_of(p, OPTION_RECOMMEND) == NULL && p->file == NULL)
        return caucus_losses_are_choose(&p->scenario, said, &p->known, ret_error);
    return said != NULL ? caucus_knowledge_parse(said, &p->known, ret_error) : CAUCUS_OK;
}

static int read_settings(planning *p) {
    caucus_complaint complaint;
    caucus_status status = CAUCUS_OK;
    const bool trust_said = p->scenario.field[CAUCUS_FIELD_TRUST].count > 0;
    if (value_of(p, OPTION_RECOMMEND) != NULL && !trust_said)
        status = caucus_scenario_set(&p->scenario, CAUCUS_FIELD_TRUST, "coordinator", &complaint);
    /* Who says how long a slot is speaks of devices that keep their own time. */
    if (status == CAUCUS_OK && value_of(p, OPTION_RECOMMEND) != NULL &&
        p->scenario.field[CAUCUS_FIELD_PHASE_TIME].count > 0 && p->scenario.field[CAUCUS_FIELD_PACE].count == 0)
        status = caucus_scenario_set(&p->scenario, CAUCUS_FIELD_PACE, "own", &complaint);
    if (status == CAUCUS_OK)
        status = caucus_scenario_settings(&p->scenario, &p->settings, &complaint);
    const caucus_run run = {.settings = p->settings, .adversary = {.kind = CAUCUS_ADVERSARY_REALIZABLE}};
    if (status == CAUCUS_OK && value_of(p, OPTION_RECOMMEND) == NULL)
        status = caucus_scenario_check_used(&p->scenario, &run, 1, &complaint);
    if (status != CAUCUS_OK)
        return complain(&complaint, status);
    if (value_of(p, OPTION_RECOMMEND) != NULL && !trust_said)
        p->settings.trust = CAUCUS_TRUST_COUNT; /* compare them all */
    return 0;
}

static int make_plan(planning *p) {
    caucus_error error = {0};
    caucus_status status = p->file != NULL ? caucus_plan_file_read(p->file, &p->plan, &error)
                                           : caucus_plan_new(&p->settings, &p->plan, &error);
    if (status == CAUCUS_OK)
        return 0;
    return complain_error(p, status, &error);
}

static int show(planning *p) {
    caucus_plan_report report;
    caucus_error error = {0};
    caucus_status status = caucus_plan_report_make(p->plan, p->known, &report, &error);
    const char *write = value_of(p, OPTION_WRITE);
    /* The file first: what is shown is then there. */
    if (status == CAUCUS_OK && write != NULL)
        status = caucus_plan_file_write(p->plan, write, value_of(p, OPTION_FORCE) != NULL, &error);
    if (status != CAUCUS_OK)
        return complain_error(p, status, &error);
    if (p->json)
        caucus_plan_print_json(stdout, &report);
    else {
        report.width = caucus_screen_table_width();
        caucus_plan_print(stdout, &report);
    }
    if (!p->json && write == NULL && p->file == NULL)
        fputs("  Next        --write plan.yaml, then: caucus serve --plan plan.yaml …   (--explain shows how it came "
              "about)\n",
              stdout);
    if (value_of(p, OPTION_EXPLAIN) != NULL)
        caucus_plan_explain(stdout, p->plan);
    if (write != NULL)
        fprintf(stderr, "caucus plan: %s holds plan %s\n", write, caucus_plan_hash_text(p->plan));
    return CAUCUS_EXIT_DONE;
}

static int recommend(planning *p) {
    caucus_error error = {0};
    const caucus_values *given = p->scenario.field;
    const caucus_question question = {.settings = p->settings,
                                      .known = p->known,
                                      .interval_open = given[CAUCUS_FIELD_INTERVAL].count == 0,
                                      .losses = value_of(p, OPTION_LOSSES),
                                      .range_open = given[CAUCUS_FIELD_RANGE].count == 0,
                                      .clients_open = given[CAUCUS_FIELD_CLIENTS].count == 0,
                                      .experts_open = given[CAUCUS_FIELD_EXPERTS].count == 0,
                                      .rounds_open = given[CAUCUS_FIELD_ROUNDS].count == 0,
                                      .width = caucus_screen_table_width()};
    caucus_status status = caucus_recommend(p->json ? NULL : stdout, p->json ? stdout : NULL, &question, &error);
    return status == CAUCUS_OK ? CAUCUS_EXIT_DONE : complain_error(p, status, &error);
}

static int plan(planning *p, int argc, char **argv) {
    int code = caucus_options_parse("plan", p->options, argc, argv, take_option, p);
    if (code != 0)
        return code;
    caucus_error error = {0};
    caucus_status status = read_known(p, &error);
    if (status != CAUCUS_OK)
        return caucus_complain("plan", p->options, status, &error);
    if (p->file == NULL)
        code = read_settings(p);
    if (code == 0)
        code = read_own(p);
    if (code == 0)
        code = check_together(p);
    if (code != 0)
        return code;
    if (value_of(p, OPTION_RECOMMEND) != NULL)
        return recommend(p);
    code = make_plan(p);
    return code == 0 ? show(p) : code;
}

int caucus_cli_plan(int argc, char **argv) {
    planning p = {.file = NULL};
    caucus_scenario_init(&p.scenario);
    fill_options(&p);
    int code = plan(&p, argc, argv);
    if (code == CAUCUS_OPTIONS_HELP) {
        print_help(&p);
        code = CAUCUS_EXIT_DONE;
    }
    caucus_plan_free(p.plan);
    caucus_scenario_free(&p.scenario);
    return code;
}
