/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.c: `caucus simulate`: any algorithm against any adversary, or your own losses.
 *
 * Everything is checked before anything is played or written. Results go to standard output, remarks and the progress
 * bar to standard error. */
#include "cli/complain.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/signals.h"
#include "cli/terminal/screen.h"
#include "cli/verbs.h"
#include "cli/wanted.h"
#include "num/fail.h"
#include "plan/plan.h"
#include "show/choice/shell_word.h"
#include "show/out_dir.h"
#include "sim/ledger_trial.h"
#include "store/atomic_file.h"
#include "store/clock.h"
#include "store/ledger_file.h"
#include "study/simulation_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const caucus_option options[] = {
#define OPTION(name, word, list, argument, fallback, help) {word, argument, fallback, help},
    CAUCUS_FIELD_LIST(OPTION)
#undef OPTION
        {"resume", NULL, NULL, "go on with what a stopped simulation left in --out"},
    {"plot", "FILE", NULL, "draw the results: FILE.svg or FILE.png (needs gnuplot)"},
    {"split", "WHAT", "trials", "over several ranks (caucus-mpi): deal trials, or the clients of each trial"},
    {NULL, NULL, NULL, NULL},
};

enum { RESUME = CAUCUS_FIELD_COUNT, PLOT, SPLIT, OPTIONS };

typedef struct simulation {
    int argc;
    char **argv;
    const caucus_ranks *ranks; /* NULL: alone */
    caucus_scenario scenario;
    const char *file;
    bool resume, split_clients;
    const char *plot; /* NULL: no picture */
    caucus_plot_kind plot_kind;
    caucus_wanted wanted;
    caucus_prepared prepared;
    caucus_unfinished *loaded; /* [prepared.count] */
    caucus_run_result *result; /* [prepared.count] */
    size_t begun;              /* runs with a result */
    caucus_ledger_file ledger;
    bool made_out;
    caucus_history found;          /* of somebody's own losses */
    const caucus_history *history; /* NULL: not looked at */
} simulation;

static int complain(const caucus_complaint *complaint, caucus_status status) {
    return caucus_complain_scenario("simulate", status, complaint);
}

static int complain_error(const simulation *s, caucus_status status, const caucus_error *error) {
    caucus_complaint complaint;
    caucus_error named = *error;
    caucus_complain_name(options, &named);
    (void)caucus_scenario_complain(&s->scenario, status, &named, &complaint);
    return complain(&complaint, status);
}

static void print_words(const char *title, const char *(*word)(unsigned), const char *(*help)(unsigned),
                        unsigned count) {
    printf("\n%s\n", title);
    for (unsigned i = 0; i < count; i++)
        printf("  %-22s %s\n", word(i), help(i));
}

#define WORDS(type)                                                                                                    \
    static const char *type##_word(unsigned i) {                                                                       \
        return caucus_##type##_word((caucus_##type)i);                                                                 \
    }                                                                                                                  \
    static const char *type##_help(unsigned i) {                                                                       \
        return caucus_##type##_help((caucus_##type)i);                                                                 \
    }
CAUCUS_EACH_CHOICE(WORDS)
WORDS(adversary_kind)

static const caucus_option_section sections[] = {
    {"What is simulated", CAUCUS_FIELD_ALGORITHM, CAUCUS_FIELD_EPSILON, NULL},
    {"Privacy and mechanisms", CAUCUS_FIELD_EPSILON, CAUCUS_FIELD_SEGMENTS, NULL},
    {"Simulated losses", CAUCUS_FIELD_SEGMENTS, CAUCUS_FIELD_DATA, NULL},
    {"Your own data", CAUCUS_FIELD_DATA, CAUCUS_FIELD_TRIALS, NULL},
    {"Running and results", CAUCUS_FIELD_TRIALS, OPTIONS, NULL},
    {NULL, 0, 0, NULL},
};

static void print_help(void) {
    fputs("caucus simulate: any algorithm against any adversary, or your own losses, many trials at once\n"
          "\n"
          "  caucus simulate --algorithm svt,sparse-vector --epsilon 10 --trust coordinator\n"
          "  caucus simulate --losses mine.npy --algorithm svt,hedge --trust coordinator --format json\n"
          "  caucus simulate experiments/figure1.yaml --trials 10 --out out/figure1\n"
          "\n"
          "A scenario file has the same settings as the flags (epsilon: 10); flags override it. A list makes one run "
          "per value\n"
          "(--interval 1,10 or interval: [1, 10]), several lists every combination. Defaults in brackets; --trust must "
          "be said.\n",
          stdout);
    caucus_options_sections(options, sections);
    print_words("Algorithms", algorithm_word, algorithm_help, CAUCUS_ALGORITHM_COUNT);
    print_words("Adversaries", adversary_kind_word, adversary_kind_help, CAUCUS_ADVERSARY_COUNT);
    print_words("Trust", trust_word, trust_help, CAUCUS_TRUST_COUNT);
    print_words("Calibrations", calibration_word, calibration_help, CAUCUS_CALIBRATION_COUNT);
    print_words("Protocols (svt)", protocol_word, protocol_help, CAUCUS_PROTOCOL_COUNT);
    print_words("Units of privacy", unit_word, unit_help, CAUCUS_UNIT_COUNT);
    print_words("Selections (stoch, trust coordinator)", select_word, select_help, CAUCUS_SELECT_COUNT);
    print_words("Messages (stoch, trust nobody)", message_word, message_help, CAUCUS_MESSAGE_COUNT);
}

static int take_split(simulation *s, const char *value) {
    s->split_clients = strcmp(value, "clients") == 0;
    if (!s->split_clients && strcmp(value, "trials") != 0)
        return caucus_usage("simulate", "--split %s: must be trials or clients", value);
    if (s->split_clients && caucus_ranks_library() == NULL) {
        fputs("caucus simulate: --split clients: this program is one process — mpirun -n 2 caucus-mpi simulate …\n",
              stderr);
        return CAUCUS_EXIT_USAGE;
    }
    return 0;
}

static int take_option(void *user, size_t index, const char *value) {
    simulation *s = user;
    if (index == SIZE_MAX)
        return caucus_take_word("simulate", "scenario file", value, &s->file);
    if (index == SPLIT)
        return take_split(s, value);
    if (index == PLOT) {
        s->plot = value;
        return caucus_plot_kind_of(value, &s->plot_kind)
                   ? 0
                   : caucus_usage("simulate", "--plot %s: must end in .svg or .png", value);
    }
    if (index == RESUME)
        return caucus_take_switch("simulate", "resume", value, &s->resume);
    caucus_complaint complaint;
    caucus_status status = caucus_scenario_set(&s->scenario, (caucus_scenario_field)index, value, &complaint);
    return status == CAUCUS_OK ? 0 : complain(&complaint, status);
}

static int read_settings(simulation *s) {
    int code = caucus_options_parse("simulate", options, s->argc, s->argv, take_option, s);
    if (code != 0)
        return code;
    caucus_complaint complaint;
    caucus_status status = s->file != NULL ? caucus_scenario_load(&s->scenario, s->file, &complaint) : CAUCUS_OK;
    if (status == CAUCUS_OK)
        status = caucus_wanted_read(&s->scenario, &s->wanted, &complaint);
    if (status == CAUCUS_OK)
        status = caucus_scenario_resolve(&s->scenario, &s->prepared, &complaint);
    if (status != CAUCUS_OK)
        return complain(&complaint, status);
    for (size_t i = 0; s->split_clients && i < s->prepared.count; i++)
        if (s->prepared.run[i].settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX) {
            fputs("caucus simulate: --split clients: losses must be linear — convex ones are added up in floating "
                  "point, whose sums depend on the order; use --split trials\n",
                  stderr);
            return CAUCUS_EXIT_USAGE;
        }
    return 0;
}

static void warn(const simulation *s) {
    bool local = false;
    for (size_t i = 0; i < s->prepared.count; i++)
        local = local || s->prepared.run[i].settings.trust == CAUCUS_TRUST_PAPER_LOCAL;
    if (local)
        fputs("caucus simulate: trust paper-local: messages are NOT epsilon-private, the epsilon of messages says what "
              "they are; for "
              "reproduction only\n",
              stderr);
    if (s->prepared.genre_from_data)
        fputs("caucus simulate: NOT PRIVATE: genre from-data takes the best genre from the ratings themselves; "
              "neighbouring data then "
              "differ everywhere\n",
              stderr);
}

/* Threads were asked for that would have no memory to play in. */
static void warn_threads(const simulation *s) {
    for (size_t i = 0; i < s->prepared.count; i++) {
        const caucus_run *run = &s->prepared.run[i];
        uint32_t asked = run->threads < run->trials ? run->threads : run->trials;
        uint32_t fit = caucus_run_trials_that_fit(s->prepared.plan[i]);
        if (asked <= fit || caucus_run_splits(run, s->prepared.plan[i]))
            continue;
        fprintf(stderr,
                "caucus simulate: --threads %u: %u trial%s of %u clients at once, to stay under %.1f GiB (results do "
                "not depend on it)\n",
                run->threads, fit, fit == 1 ? "" : "s", run->settings.clients,
                (double)CAUCUS_RUN_BYTES / (double)(1 << 30));
        return;
    }
}

/* What an earlier simulation left in the directory. Nothing is made yet. */
static int load_unfinished(simulation *s) {
    const char *out = s->wanted.out;
    caucus_error error = {0};
    if (out == NULL && s->resume) {
        fputs("caucus simulate: --resume: needs --out, the directory of the simulation that was stopped\n", stderr);
        return CAUCUS_EXIT_USAGE;
    }
    if (out == NULL)
        return 0;
    bool unfinished = caucus_out_dir_unfinished(out);
    if (unfinished && !s->resume) {
        fprintf(stderr,
                "caucus simulate: --out %s: holds a simulation that was stopped — add --resume to go on, or remove "
                "%s/unfinished.csv\n",
                out, out);
        return CAUCUS_EXIT_USAGE;
    }
    if (unfinished) {
        caucus_status status = caucus_unfinished_load(out, s->prepared.run, s->prepared.count, s->loaded, &error);
        if (status != CAUCUS_OK)
            return complain_error(s, status, &error);
    } else if (s->resume) {
        fprintf(stderr, "caucus simulate: %s holds nothing unfinished: this begins with the first trial\n", out);
    }
    return 0;
}

/* Play trial 1 of run i, note in the ledger what it releases, and keep its result as if it had been loaded: the run
 * goes on from there. */
static caucus_status record_first(simulation *s, size_t i, uint32_t ledger_run, caucus_error *ret_error) {
    const caucus_prepared *p = &s->prepared;
    caucus_trial_result *trial = malloc(sizeof *trial);
    bool played = false;
    if (trial == NULL)
        return caucus_fail_memory(ret_error, "trials");
    caucus_status status = caucus_ledger_trial(s->ledger.ledger, ledger_run, p->plan[i], p->adversary[i],
                                               p->run[i].seed, &caucus_stop, &played, trial, ret_error);
    if (status == CAUCUS_OK && played)
        s->loaded[i] = (caucus_unfinished){.trial = trial, .done = 1};
    else
        free(trial);
    return status;
}

/* Reserve every run, and note what trial 1 of each releases: in memory, so that nothing is spent unless the budget
 * allows all. */
static int reserve(simulation *s) {
    const caucus_prepared *p = &s->prepared;
    /* A simulation that goes on has been recorded when it began. */
    const caucus_wanted *w = &s->wanted;
    if (w->ledger == NULL || (s->resume && caucus_out_dir_unfinished(w->out)))
        return 0;
    double epsilon = w->has_budget ? w->budget_epsilon : INFINITY;
    double delta = w->has_budget && !isinf(epsilon) ? w->budget_delta : nextafter(1, 0);
    caucus_error error = {0};
    caucus_status status = caucus_ledger_file_open(w->ledger, epsilon, delta, w->has_budget, &s->ledger, &error);
    if (status != CAUCUS_OK)
        return complain_error(s, status, &error);
    for (size_t i = 0; status == CAUCUS_OK && i < p->count; i++) {
        char name[CAUCUS_RUN_NAME_BYTES];
        uint32_t run = 0;
        (void)snprintf(name, sizeof name, "simulate %s", caucus_algorithm_word(p->run[i].settings.algorithm));
        status = caucus_ledger_reserve(s->ledger.ledger, p->plan[i], name, true, &run, &error);
        if (status == CAUCUS_E_BUDGET)
            fprintf(stderr, "caucus simulate: %s: the budget does not allow run %zu of %zu: %s %s — nothing was run\n",
                    w->ledger, i + 1, p->count, error.field, error.text);
        if (status == CAUCUS_E_BUDGET)
            return caucus_exit_code(status);
        if (status == CAUCUS_OK)
            status = record_first(s, i, run, &error);
    }
    return status == CAUCUS_OK ? 0 : complain_error(s, status, &error);
}

/* The first things written: the directory, and the ledger before anything it speaks of. */
static int open_files(simulation *s) {
    caucus_error error = {0};
    caucus_status status = s->wanted.out != NULL ? caucus_out_dir_make(s->wanted.out, &s->made_out, &error) : CAUCUS_OK;
    if (status == CAUCUS_OK && s->ledger.ledger != NULL)
        status = caucus_ledger_file_sync(&s->ledger, &error);
    return status == CAUCUS_OK ? 0 : complain_error(s, status, &error);
}

/* The trials that rank 0 has loaded for a run, to the other ranks. */
static int share_loaded(const simulation *s, caucus_unfinished *loaded) {
    caucus_error error = {0};
    caucus_status status = s->ranks->share(&loaded->done, sizeof loaded->done);
    if (status == CAUCUS_OK && s->ranks->rank > 0) {
        loaded->trial = calloc(loaded->done > 0 ? loaded->done : 1, sizeof *loaded->trial);
        if (loaded->trial == NULL)
            status = caucus_fail_memory(&error, "trials");
    }
    status = caucus_ranks_agree(s->ranks, status, &error);
    if (status == CAUCUS_OK && loaded->done > 0)
        status = s->ranks->share(loaded->trial, loaded->done * sizeof *loaded->trial);
    return status == CAUCUS_OK ? 0 : complain_error(s, status, &error);
}

/* Put the trials loaded before those just played: one result, as if nothing had happened. */
static bool join_loaded(caucus_run_result *result, const caucus_unfinished *loaded, uint32_t used) {
    if (used == 0)
        return true;
    caucus_trial_result *all = calloc((size_t)used + result->trials, sizeof *all);
    if (all == NULL)
        return false;
    memcpy(all, loaded->trial, used * sizeof *all);
    memcpy(all + used, result->trial, result->done * sizeof *all);
    free(result->trial);
    result->trial = all;
    result->trials += used;
    result->done += used;
    return true;
}

static caucus_outcome outcome_of(const simulation *s) {
    /* mpirun stands before a terminal, and what it hands on is the same bytes everywhere. */
    const int width = s->ranks == NULL ? caucus_screen_table_width() : 0;
    const bool unnamed = s->scenario.field[CAUCUS_FIELD_ALGORITHM].count == 0;
    return (caucus_outcome){s->prepared.run, s->result, s->begun, width, unnamed, s->history};
}

static caucus_status save(const simulation *s, caucus_error *ret_error) {
    caucus_outcome outcome = outcome_of(s);
    return caucus_unfinished_save(s->wanted.out, s->prepared.run, s->prepared.count, &outcome, ret_error);
}

/* Fits caucus_run.keep: what is complete of the run in hand, after the runs that are done. */
static caucus_status keep(void *user, const caucus_trial_result *trial, uint32_t done, caucus_error *ret_error) {
    simulation *s = user;
    caucus_run_result *now = &s->result[s->begun];
    const caucus_unfinished *loaded = &s->loaded[s->begun];
    uint32_t asked = s->prepared.run[s->begun].trials, used = loaded->done < asked ? loaded->done : asked;
    caucus_trial_result *all = malloc(((size_t)used + done) * sizeof *all);
    if (all == NULL)
        return caucus_fail_memory(ret_error, "trials");
    if (used > 0)
        memcpy(all, loaded->trial, used * sizeof *all);
    memcpy(all + used, trial, done * sizeof *all);
    const caucus_run_result before = *now;
    *now = (caucus_run_result){.trial = all, .trials = asked, .done = used + done};
    s->begun++;
    caucus_status status = save(s, ret_error);
    s->begun--;
    *now = before;
    free(all);
    return status;
}

static caucus_status play_run(simulation *s, size_t i, int label_width, caucus_error *ret_error) {
    caucus_run run = s->prepared.run[i];
    uint32_t used = s->loaded[i].done < run.trials ? s->loaded[i].done : run.trials;
    caucus_progress_bar progress;
    caucus_progress_begin(&progress, caucus_algorithm_word(run.settings.algorithm), label_width);
    run.first = used;
    run.trials -= used;
    run.plan = s->prepared.plan[i];
    run.progress = caucus_progress_update;
    run.progress_user = &progress;
    run.stop = &caucus_stop;
    run.ranks = s->ranks;
    run.split_clients = s->split_clients;
    if (s->wanted.out != NULL) {
        run.keep = keep;
        run.keep_user = s;
    }
    caucus_status status = caucus_run_play(&run, s->prepared.adversary[i], &s->result[i], ret_error);
    caucus_progress_end(&progress);
    if (status == CAUCUS_OK && !join_loaded(&s->result[i], &s->loaded[i], used)) {
        caucus_run_result_free(&s->result[i]);
        status = caucus_fail_memory(ret_error, "trials");
    }
    s->begun += status == CAUCUS_OK;
    return status;
}

static int play(simulation *s) {
    caucus_error error = {0};
    int label_width = 0;
    for (size_t i = 0; i < s->prepared.count; i++) {
        int width = (int)strlen(caucus_algorithm_word(s->prepared.run[i].settings.algorithm));
        label_width = width > label_width ? width : label_width;
    }
    double saved = caucus_clock_seconds();
    /* After a signal the other runs still take what was loaded for them, so that nothing saved is lost. */
    for (size_t i = 0;
         i < s->prepared.count && (!caucus_ranks_any(s->ranks, caucus_stopped()) || s->loaded[i].done > 0); i++) {
        caucus_status status = play_run(s, i, label_width, &error);
        if (status == CAUCUS_OK && s->wanted.out != NULL && caucus_ranks_first(s->ranks) &&
            caucus_clock_seconds() - saved > CAUCUS_RUN_KEEP_SECONDS) {
            status = save(s, &error);
            saved = caucus_clock_seconds();
        }
        if (status != CAUCUS_OK)
            return complain_error(s, status, &error);
    }
    return 0;
}

static bool complete(const simulation *s) {
    if (s->begun < s->prepared.count)
        return false;
    for (size_t i = 0; i < s->begun; i++)
        if (s->result[i].done < s->result[i].trials)
            return false;
    return true;
}

/* The command as it can be typed again. */
static void print_command(const simulation *s) {
    if (s->ranks != NULL)
        fprintf(stderr, "mpirun -n %u caucus-mpi simulate", s->ranks->size);
    else
        fputs("caucus simulate", stderr);
    for (int i = 1; i < s->argc; i++)
        if (strncmp(s->argv[i], "--resume", 8) != 0) {
            fputc(' ', stderr);
            caucus_shell_word(stderr, s->argv[i]);
        }
}

static void say_stopped(const simulation *s) {
    uint64_t done = 0, asked = 0;
    for (size_t i = 0; i < s->prepared.count; i++) {
        done += i < s->begun ? s->result[i].done : 0;
        asked += s->prepared.run[i].trials;
    }
    fprintf(stderr, "caucus simulate: %sstopped after %llu of %llu trials", caucus_cli_gone(s->ranks),
            (unsigned long long)done, (unsigned long long)asked);
    if (s->wanted.out == NULL) {
        fputs(" — with --out DIR they are kept, and --resume goes on from there\n", stderr);
        return;
    }
    fprintf(stderr, ", kept in %s — to go on: ", s->wanted.out);
    print_command(s);
    fputs(" --resume\n", stderr);
}

static void print_results(const simulation *s) {
    caucus_outcome outcome = outcome_of(s);
    if (s->wanted.format == CAUCUS_FORMAT_JSON)
        caucus_output_json(stdout, &outcome);
    else if (s->wanted.format == CAUCUS_FORMAT_CSV)
        caucus_output_trials(stdout, &outcome);
    else
        caucus_output_table(stdout, &outcome);
    caucus_output_remarks(stderr, &outcome);
}

/* The picture comes last: what fails here takes nothing away from the results. */
static caucus_status draw(const simulation *s, caucus_error *ret_error) {
    const caucus_outcome outcome = outcome_of(s);
    caucus_text picture = {0};
    caucus_status status = caucus_plot_simulation(&outcome, s->plot_kind, &picture, ret_error);
    if (status == CAUCUS_OK && picture.failed)
        status = caucus_fail_memory(ret_error, "plot");
    if (status == CAUCUS_OK && !caucus_atomic_file_write(s->plot, picture.data, picture.length, 0666, true))
        status = caucus_fail_path(ret_error, CAUCUS_E_PATH, "plot", s->plot);
    caucus_text_free(&picture);
    return status;
}

static int finish(simulation *s) {
    caucus_error error = {0};
    caucus_outcome outcome = outcome_of(s);
    bool whole = complete(s);
    caucus_status status = CAUCUS_OK;
    if (s->wanted.out != NULL && !whole)
        status = save(s, &error);
    if (status == CAUCUS_OK && !whole)
        say_stopped(s); /* at once: whoever has stopped us may be about to kill us */
    if (s->wanted.out != NULL && status == CAUCUS_OK)
        status = caucus_out_dir_write(s->wanted.out, &outcome, &error);
    if (status != CAUCUS_OK)
        return complain_error(s, status, &error);
    if (s->wanted.out != NULL && whole)
        caucus_unfinished_remove(s->wanted.out);
    print_results(s);
    if (s->plot != NULL)
        status = draw(s, &error);
    if (status != CAUCUS_OK)
        return caucus_complain("simulate", options, status, &error);
    return whole ? CAUCUS_EXIT_DONE : CAUCUS_EXIT_FAILED;
}

/* A picture that cannot be drawn or put where it is wanted is refused before hours of playing. */
static int check_plot(const simulation *s) {
    char folder[4096];
    caucus_error error = {0};
    if (s->plot == NULL)
        return 0;
    caucus_status status = caucus_plot_check(&error);
    const char *slash = strrchr(s->plot, '/');
    const size_t length = slash == NULL ? 0 : slash == s->plot ? 1 : (size_t)(slash - s->plot);
    (void)snprintf(folder, sizeof folder, "%.*s", length == 0 ? 1 : (int)length, length == 0 ? "." : s->plot);
    if (status == CAUCUS_OK && access(folder, W_OK | X_OK) != 0)
        status = caucus_fail_path(&error, CAUCUS_E_PATH, "plot", s->plot);
    return status == CAUCUS_OK ? 0 : caucus_complain("simulate", options, status, &error);
}

/* Which premises somebody's own losses refute. */
static int look(simulation *s) {
    caucus_error error = {0};
    caucus_status status =
        caucus_outcome_look(&s->prepared.run[0], s->prepared.adversary[0], &s->found, &s->history, &error);
    return status == CAUCUS_OK ? 0 : complain_error(s, status, &error);
}

/* What is looked at and written before anything is played: by rank 0, for all. */
static int prepare(simulation *s) {
    int code = 0;
    if (caucus_ranks_first(s->ranks)) {
        code = check_plot(s);
        if (code == 0)
            code = look(s);
        if (code == 0)
            code = load_unfinished(s);
        if (code == 0)
            code = reserve(s);
        if (code == 0)
            code = open_files(s);
    }
    code = caucus_cli_share_code(s->ranks, code);
    for (size_t i = 0; code == 0 && s->ranks != NULL && i < s->prepared.count; i++)
        code = share_loaded(s, &s->loaded[i]);
    return code;
}

/* Whatever is read, all ranks read the same: the scenario first, since it says what else there is. The runs of a
 * scenario differ in lists of settings, and neither the losses nor the data are one. */
static int same_input(const simulation *s) {
    int code = caucus_cli_same_input(s->ranks, "simulate", s->file);
    if (code != 0 || s->prepared.count == 0)
        return code;
    const caucus_adversary_settings *a = &s->prepared.run[0].adversary;
    code = caucus_cli_same_input(s->ranks, "simulate", a->losses);
    for (size_t i = 0; code == 0 && i < s->prepared.count; i++)
        if (s->prepared.run[i].adversary.kind == CAUCUS_ADVERSARY_MOVIELENS)
            return caucus_cli_same_movielens(s->ranks, "simulate", a->data);
    return code;
}

static int simulate(simulation *s) {
    int code = caucus_cli_agree_code(s->ranks, read_settings(s));
    if (code == 0)
        code = same_input(s);
    if (code != 0)
        return code;
    s->loaded = calloc(s->prepared.count, sizeof *s->loaded);
    s->result = calloc(s->prepared.count, sizeof *s->result);
    if (s->loaded == NULL || s->result == NULL)
        return caucus_complain_memory("simulate");
    warn(s);
    warn_threads(s);
    caucus_stop_on_signals();
    code = prepare(s);
    if (code == 0)
        code = play(s);
    if (code != 0) {
        if (s->made_out)
            (void)rmdir(s->wanted.out); /* only if nothing is in it */
        return code;
    }
    return caucus_ranks_first(s->ranks) ? finish(s) : CAUCUS_RANKS_EXIT_ELSEWHERE;
}

int caucus_cli_simulate(int argc, char **argv) {
    simulation s = {.argc = argc, .argv = argv, .ranks = caucus_ranks_here(), .ledger = {.fd = -1}};
    caucus_scenario_init(&s.scenario);
    int code = simulate(&s);
    if (code == CAUCUS_OPTIONS_HELP) {
        print_help();
        code = CAUCUS_EXIT_DONE;
    }
    for (size_t i = 0; i < s.prepared.count; i++) {
        if (s.loaded != NULL)
            free(s.loaded[i].trial);
        if (s.result != NULL)
            caucus_run_result_free(&s.result[i]);
    }
    free(s.loaded);
    free(s.result);
    caucus_ledger_file_close(&s.ledger);
    caucus_prepared_free(&s.prepared);
    caucus_scenario_free(&s.scenario);
    return code;
}
