/* SPDX-License-Identifier: Apache-2.0 */
/* audit.c: `caucus audit`: try to refute privacy claims: ours, a plan's, an outside program's.
 *
 * Results go to standard output, remarks and the progress bar to standard error. Exit code 0 only if every finding is
 * as expected. */
#include "audit/audit.h"
#include "cli/complain.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/signals.h"
#include "cli/terminal/dress.h"
#include "cli/terminal/screen.h"
#include "cli/verbs.h"
#include "num/nearest.h"
#include "num/number_text.h"
#include "show/out_dir.h"

#include <caucus/plan_file.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    QUICK,
    ONLY,
    LIST,
    TRIALS,
    CONFIDENCE,
    SEED,
    THREADS,
    FORMAT,
    OUT,
    PLAN,
    COMMAND,
    DATA0,
    DATA1,
    CLAIMED,
    DELTA,
    EXPECT,
    TIMEOUT,
    OPTIONS
};

static const caucus_option options[OPTIONS + 1] = {
    [QUICK] = {"quick", NULL, NULL, "fewer runs and audits: under a minute"},
    [ONLY] = {"only", "NAMES", NULL, "these audits alone, with their variants: svt,knorm"},
    [LIST] = {"list", NULL, NULL, "print the names of the audits and what they are of"},
    [TRIALS] = {"trials", "N", NULL, "runs per data set; half find the event, half count it (the audit's own number)"},
    [CONFIDENCE] = {"confidence", "P", "0.999999", "probability that one audit's lower bound is right"},
    [SEED] = {"seed", "N", "1", "of the runs"},
    [THREADS] = {"threads", "N", "all cores", "used at once; results do not depend on it"},
    [FORMAT] = {"format", "WORD", "table", "table, json or csv"},
    [OUT] = {"out", "DIR", NULL, "also write audit.html (with a plot), audit.json, audit.csv and twins.md there"},
    [PLAN] = {"plan", "FILE", NULL, "audit this plan: its own integers, on neighbouring data that are searched for"},
    [COMMAND] = {"command", "PROGRAM", NULL, "audit this program; words are split at spaces, no shell is used"},
    [DATA0] = {"data0", "FILE", NULL, "a data set; its path is the program's last argument"},
    [DATA1] = {"data1", "FILE", NULL, "a neighbouring data set: one record replaced"},
    [CLAIMED] = {"claimed", "E", NULL, "the epsilon the program claims"},
    [DELTA] = {"delta", "D", "0", "and its delta"},
    [EXPECT] = {"expect", "WORD", "not-refuted", "not-refuted or refuted: which finding is as expected"},
    [TIMEOUT] = {"timeout", "SECONDS", "10", "without a line after which the program is given up"},
    {NULL, NULL, NULL, NULL},
};

typedef enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV } format;

typedef struct audit {
    caucus_audit_options run;
    caucus_audit_command outside;
    bool given[OPTIONS];
    bool list;
    char *only;
    format format;
    const char *out, *plan;
} audit;

static int refuse(const char *option, const char *value, const char *accepted) {
    return caucus_usage("audit", "--%s %s: must be %s", option, value, accepted);
}

static bool yes_no(const char *value, bool *ret) {
    *ret = strcmp(value, "true") == 0;
    return *ret || strcmp(value, "false") == 0;
}

static int take_format(audit *a, const char *value) {
    static const char *const words[] = {"table", "json", "csv", NULL};
    for (unsigned i = 0; words[i] != NULL; i++)
        if (strcmp(value, words[i]) == 0) {
            a->format = (format)i;
            return 0;
        }
    return caucus_usage("audit", "--format %s: must be table, json or csv%s", value,
                        caucus_meant_of(value, words).text);
}

static int take_option(void *user, size_t index, const char *value) {
    audit *a = user;
    uint64_t number = 0;
    double wide = 0;
    if (index == SIZE_MAX)
        return caucus_usage("audit", "'%s': only options are expected — 'caucus audit --help' lists them", value);
    if (a->given[index])
        return caucus_usage("audit", "--%s: given twice", options[index].name);
    if (value[0] == '\0')
        return caucus_usage("audit", "--%s: an empty value", options[index].name);
    a->given[index] = true;
    switch (index) {
    case QUICK:
        return yes_no(value, &a->run.quick) ? 0 : refuse("quick", value, "true or false");
    case LIST:
        return yes_no(value, &a->list) ? 0 : refuse("list", value, "true or false");
    case ONLY:
        a->only = strdup(value);
        return a->only != NULL ? 0 : caucus_complain_memory("audit");
    case TRIALS: /* chunks of runs are counted in 32 bits */
        return caucus_whole_parse(value, 2, 1000000000000u, &a->run.trials)
                   ? 0
                   : refuse("trials", value, "a whole number from 2 to 1000000000000");
    case CONFIDENCE:
        a->run.confidence = caucus_real_parse(value, &wide) ? wide : 0;
        return wide >= 0.5 && wide <= 1 - 1e-12 ? 0
                                                : refuse("confidence", value, "a number from 0.5 to 0.999999999999");
    case SEED:
        return caucus_whole_parse(value, 0, UINT64_MAX, &a->run.seed)
                   ? 0
                   : refuse("seed", value, "a whole number from 0 to 18446744073709551615");
    case THREADS:
        if (!caucus_whole_parse(value, 1, 1024, &number))
            return refuse("threads", value, "a whole number from 1 to 1024");
        a->run.threads = (uint32_t)number;
        return 0;
    case FORMAT:
        return take_format(a, value);
    case OUT:
        a->out = value;
        return 0;
    case PLAN:
        a->plan = value;
        return 0;
    case COMMAND:
        a->outside.command = value;
        return 0;
    case DATA0:
    case DATA1:
        a->outside.data[index - DATA0] = value;
        return 0;
    case CLAIMED:
        return caucus_real_parse(value, &a->outside.claimed) && a->outside.claimed > 0
                   ? 0
                   : refuse("claimed", value, "a number above 0");
    case DELTA:
        return caucus_real_parse(value, &a->outside.delta) && a->outside.delta >= 0 && a->outside.delta < 1
                   ? 0
                   : refuse("delta", value, "a number from 0 to below 1");
    case EXPECT:
        a->outside.refuted = strcmp(value, "refuted") == 0;
        return a->outside.refuted || strcmp(value, "not-refuted") == 0
                   ? 0
                   : refuse("expect", value, "not-refuted or refuted");
    default: /* TIMEOUT */
        return caucus_real_parse(value, &a->outside.timeout) && a->outside.timeout >= 0.1 && a->outside.timeout <= 86400
                   ? 0
                   : refuse("timeout", value, "a number of seconds from 0.1 to 86400");
    }
}

static const caucus_option_section sections[] = {
    {"What is audited", QUICK, FORMAT, NULL},
    {"Results", FORMAT, PLAN, NULL},
    {"A plan that is going to be signed", PLAN, COMMAND,
     "\n  A plan whose runs are short is run as it is; another one with the same rates and fewer clients, experts, "
     "rounds: the\n"
     "  output says which. Two broken twins of it, with noise / 1.25 and noise / 2, say what would have been "
     "noticed.\n"},
    {"A program that is not ours", COMMAND, OPTIONS,
     "\n  It prints one output per line, a number or a word, each an independent run on the data set whose path "
     "is its last\n"
     "  argument. It is started again until --trials lines (10000) have come from each data set; many lines per "
     "start are faster.\n"},
    {NULL, 0, 0, NULL},
};

static void print_help(void) {
    fputs("caucus audit: try to refute the privacy claims\n"
          "\n"
          "  caucus audit --quick\n"
          "  caucus audit --only svt,paper-local --out out/audit\n"
          "  caucus audit --plan plan.yaml\n"
          "  caucus audit --command './mechanism --epsilon 1' --data0 a.txt --data1 b.txt --claimed 1 --trials 20000\n"
          "\n"
          "Runs each mechanism and each algorithm on two neighbouring data sets, searches on half of the runs the "
          "event that tells them\n"
          "apart best, and counts it on the other half: a lower bound on epsilon. Our claims must not be refuted; the "
          "paper's false\n"
          "claims and mechanisms broken on purpose must be. Exit code 0 only if all of this is so, 1 if a claim of "
          "ours is refuted.\n",
          stdout);
    caucus_options_sections(options, sections);
}

/* An audit's name at the end of `user`, a table; for the nearest one. */
static const char *name_at(const void *user, size_t i) {
    (void)user;
    return caucus_audit_at(i) != NULL ? caucus_audit_at(i)->name : NULL;
}

/* A name, or the beginning of names up to a hyphen. */
static bool matches(const char *name, const char *word) {
    size_t length = strlen(word);
    return strncmp(name, word, length) == 0 && (name[length] == '\0' || name[length] == '-');
}

/* Mark what --only names. Returns: 0, or an exit code. */
static int choose(const audit *a, size_t count, bool *chosen) {
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        chosen[i] = a->only == NULL;
    for (char *word = a->only; word != NULL;) {
        char *comma = strchr(word, ',');
        bool found = false;
        if (comma != NULL)
            *comma = '\0';
        for (size_t i = 0; i < count; i++) {
            bool match = word[0] != '\0' && matches(caucus_audit_at(i)->name, word);
            chosen[i] = chosen[i] || match;
            found = found || match;
        }
        if (!found) {
            const char *meant = caucus_nearest(word, name_at, NULL);
            if (meant != NULL)
                return caucus_usage("audit", "--only '%s': no such audit — did you mean '%s'?", word, meant);
            return caucus_usage("audit", "--only '%s': no such audit — 'caucus audit --list' lists them", word);
        }
        word = comma != NULL ? comma + 1 : NULL;
    }
    for (size_t i = 0; i < count; i++) {
        chosen[i] = chosen[i] && (!a->run.quick || caucus_audit_at(i)->quick > 0);
        left += chosen[i];
    }
    if (left > 0)
        return 0;
    fputs("caucus audit: --quick leaves nothing of what --only names — run it without --quick\n", stderr);
    return CAUCUS_EXIT_USAGE;
}

static int complain(caucus_status status, const caucus_error *error) {
    return caucus_complain("audit", options, status, error);
}

static int report_plan(const audit *a, const caucus_audit_result *result, size_t count, size_t asked,
                       const caucus_audit_plan_result *plan) {
    /* mpirun stands before a terminal, and what it hands on is the same bytes everywhere. */
    const int width = caucus_ranks_here() == NULL ? caucus_screen_table_width() : 0;
    const caucus_audit_report all = {result, count, plan, width};
    caucus_error error = {0};
    bool pass = count == asked;
    if (a->out != NULL && count == asked) {
        caucus_status status = caucus_audit_write(a->out, &all, &error);
        if (status != CAUCUS_OK)
            return complain(status, &error);
    }
    if (a->format != FORMAT_TABLE)
        caucus_dress_data();
    if (a->format == FORMAT_JSON)
        caucus_audit_json(stdout, &all);
    else if (a->format == FORMAT_CSV)
        caucus_audit_csv(stdout, &all);
    else if (count > 0)
        caucus_audit_print(stdout, &all);
    for (size_t i = 0; i < count; i++)
        pass = pass && caucus_audit_pass(&result[i]);
    if (count < asked)
        fprintf(stderr, "caucus audit: %sstopped after %zu of %zu audits%s\n", caucus_cli_gone(a->run.ranks), count,
                asked, a->out != NULL ? "; nothing was written" : "");
    else if (a->out != NULL)
        fprintf(stderr, "caucus audit: see %s/audit.html\n", a->out);
    return pass ? CAUCUS_EXIT_DONE : CAUCUS_EXIT_FAILED;
}

static int report(const audit *a, const caucus_audit_result *result, size_t count, size_t asked) {
    return report_plan(a, result, count, asked, NULL);
}

static int run_table(audit *a) {
    size_t count = 0, done = 0, asked = 0;
    while (caucus_audit_at(count) != NULL)
        count++;
    caucus_audit_result *result = calloc(count, sizeof *result);
    bool *chosen = calloc(count, sizeof *chosen);
    caucus_error error = {0};
    caucus_status status = result != NULL && chosen != NULL ? CAUCUS_OK : CAUCUS_E_MEMORY;
    int code = status == CAUCUS_OK ? choose(a, count, chosen) : 0;
    int width = 0;
    for (size_t i = 0; code == 0 && status == CAUCUS_OK && i < count; i++) {
        asked += chosen[i];
        int length = (int)strlen(caucus_audit_at(i)->name);
        width = chosen[i] && length > width ? length : width;
    }
    for (size_t i = 0; code == 0 && status == CAUCUS_OK && i < count; i++) {
        if (!chosen[i])
            continue;
        if (caucus_ranks_any(a->run.ranks, caucus_stopped()))
            break;
        caucus_progress_bar progress;
        caucus_progress_begin(&progress, caucus_audit_at(i)->name, width);
        a->run.progress_user = &progress;
        status = caucus_audit_run(caucus_audit_at(i), &a->run, &result[done], &error);
        caucus_progress_end(&progress);
        done += status == CAUCUS_OK;
    }
    if (code == 0 && !caucus_ranks_first(a->run.ranks))
        code = CAUCUS_RANKS_EXIT_ELSEWHERE; /* every rank has the same results; one reports them */
    else if (code == 0 && (status == CAUCUS_OK || status == CAUCUS_E_STOPPED))
        code = report(a, result, done, asked);
    else if (code == 0)
        code = complain(status, &error);
    free(result);
    free(chosen);
    return code;
}

static int run_outside(audit *a) {
    caucus_audit_command *c = &a->outside;
    for (unsigned i = DATA0; i <= CLAIMED; i++)
        if (!a->given[i])
            return caucus_usage("audit", "--%s is missing: --command needs --data0, --data1 and --claimed",
                                options[i].name);
    if (a->run.ranks != NULL)
        return caucus_usage("audit", "--command: the program is started by one process, not %u — without mpirun",
                            a->run.ranks->size);
    if (a->given[QUICK] || a->given[ONLY] || a->given[PLAN] || a->given[SEED] || a->given[THREADS]) {
        fputs("caucus audit: --quick, --only, --plan, --seed and --threads have no meaning for --command\n", stderr);
        return CAUCUS_EXIT_USAGE;
    }
    if (a->run.trials > 100000000) {
        fputs("caucus audit: --trials: for --command must be at most 100000000\n", stderr);
        return CAUCUS_EXIT_USAGE;
    }
    for (unsigned w = 0; w < 2; w++) {
        FILE *file = fopen(c->data[w], "re");
        if (file == NULL) {
            caucus_error error = {0};
            caucus_status status =
                caucus_fail_os(&error, CAUCUS_E_PATH, errno, options[DATA0 + w].name, "%.150s", c->data[w]);
            return complain(status, &error);
        }
        fclose(file);
    }
    caucus_error error = {0};
    caucus_audit_result result;
    caucus_progress_bar progress;
    caucus_progress_begin(&progress, "command", 0);
    c->trials = a->run.trials > 0 ? a->run.trials : 10000;
    c->confidence = a->run.confidence;
    c->progress = caucus_progress_update;
    c->progress_user = &progress;
    c->stop = &caucus_stop;
    caucus_status status = caucus_audit_command_run(c, &result, &error);
    caucus_progress_end(&progress);
    if (status == CAUCUS_E_STOPPED)
        return report(a, &result, 0, 1);
    return status == CAUCUS_OK ? report(a, &result, 1, 1) : complain(status, &error);
}

static int run_plan(audit *a) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    if (a->given[ONLY]) {
        fputs("caucus audit: --only has no meaning for --plan\n", stderr);
        return CAUCUS_EXIT_USAGE;
    }
    caucus_status status = caucus_plan_file_read(a->plan, &plan, &error);
    if (status != CAUCUS_OK)
        return complain(status, &error);
    caucus_progress_bar progress;
    caucus_progress_begin(&progress, "plan", 0);
    a->run.progress_user = &progress;
    caucus_audit_plan_result result;
    status = caucus_audit_plan_run(plan, &a->run, &result, &error);
    caucus_progress_end(&progress);
    if (!caucus_ranks_first(a->run.ranks)) { /* every rank has the same results; one reports them */
        caucus_plan_free(plan);
        return CAUCUS_RANKS_EXIT_ELSEWHERE;
    }
    int code = status == CAUCUS_OK          ? report_plan(a, result.result, result.count, result.count, &result)
               : status == CAUCUS_E_STOPPED ? report(a, NULL, 0, 1)
                                            : complain(status, &error);
    caucus_plan_free(plan);
    return code;
}

static void print_list(void) {
    for (size_t i = 0; caucus_audit_at(i) != NULL; i++) {
        const caucus_audit *one = caucus_audit_at(i);
        printf("%-29s %s%s%s\n", one->name, one->target, one->wrong != NULL ? "; broken: " : "",
               one->wrong != NULL ? one->wrong : "");
    }
}

static int run(audit *a, int argc, char **argv) {
    int code = caucus_options_parse("audit", options, argc, argv, take_option, a);
    if (code != 0)
        return code;
    if (a->list && a->given[FORMAT]) {
        fputs("caucus audit: --list: a list of names as text — leave --format out\n", stderr);
        return CAUCUS_EXIT_USAGE;
    }
    if (a->list) {
        print_list();
        return CAUCUS_EXIT_DONE;
    }
    for (unsigned i = DATA0; i < OPTIONS && !a->given[COMMAND]; i++)
        if (a->given[i])
            return caucus_usage("audit", "--%s: only for --command", options[i].name);
    bool made = false;
    caucus_error error = {0};
    if (a->out != NULL && caucus_ranks_first(a->run.ranks)) { /* before minutes of work, not after */
        caucus_status status = caucus_out_dir_make(a->out, &made, &error);
        code = status != CAUCUS_OK ? complain(status, &error) : 0;
    }
    code = caucus_cli_share_code(a->run.ranks, code);
    if (code == 0)
        code = caucus_cli_same_input(a->run.ranks, "audit", a->plan);
    if (code != 0)
        return code;
    caucus_stop_on_signals();
    code = a->given[COMMAND] ? run_outside(a) : a->plan != NULL ? run_plan(a) : run_table(a);
    if (made && code != CAUCUS_EXIT_DONE)
        (void)rmdir(a->out); /* only if nothing is in it */
    return code;
}

int caucus_cli_audit(int argc, char **argv) {
    audit a = {.run = {.seed = 1,
                       .confidence = CAUCUS_AUDIT_CONFIDENCE,
                       .progress = caucus_progress_update,
                       .stop = &caucus_stop,
                       .ranks = caucus_ranks_here()},
               .outside = {.timeout = 10}};
    int code = run(&a, argc, argv);
    if (code == CAUCUS_OPTIONS_HELP) {
        print_help();
        code = CAUCUS_EXIT_DONE;
    }
    free(a.only);
    return code;
}
