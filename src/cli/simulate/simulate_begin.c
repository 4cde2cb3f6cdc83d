/* SPDX-License-Identifier: Apache-2.0 */
/* simulate_begin.c: what `caucus simulate` says, looks at and writes before it plays: warnings, what an earlier
 * simulation has left, the ledger, the folder of the results. */
#include "cli/simulate/simulate.h"

#include "cli/signals.h"
#include "num/fail.h"
#include "sim/ledger_trial.h"
#include "store/atomic_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void warn(const caucus_simulate *s) {
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
static void warn_threads(const caucus_simulate *s) {
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
static int load_unfinished(caucus_simulate *s) {
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
            return caucus_simulate_complain(s, status, &error);
    } else if (s->resume) {
        fprintf(stderr, "caucus simulate: %s holds nothing unfinished: this begins with the first trial\n", out);
    }
    return 0;
}

/* Play trial 1 of run i, note in the ledger what it releases, and keep its result as if it had been loaded: the run
 * goes on from there. */
static caucus_status record_first(caucus_simulate *s, size_t i, uint32_t ledger_run, caucus_error *ret_error) {
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
static int reserve(caucus_simulate *s) {
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
        return caucus_simulate_complain(s, status, &error);
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
    return status == CAUCUS_OK ? 0 : caucus_simulate_complain(s, status, &error);
}

/* The first things written: the directory, and the ledger before anything it speaks of. */
static int open_files(caucus_simulate *s) {
    caucus_error error = {0};
    caucus_status status = s->wanted.out != NULL ? caucus_out_dir_make(s->wanted.out, &s->made_out, &error) : CAUCUS_OK;
    if (status == CAUCUS_OK && s->ledger.ledger != NULL)
        status = caucus_ledger_file_sync(&s->ledger, &error);
    return status == CAUCUS_OK ? 0 : caucus_simulate_complain(s, status, &error);
}

/* The trials that rank 0 has loaded for a run, to the other ranks. */
static int share_loaded(const caucus_simulate *s, caucus_unfinished *loaded) {
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
    return status == CAUCUS_OK ? 0 : caucus_simulate_complain(s, status, &error);
}

/* A picture that cannot be drawn or put where it is wanted is refused before hours of playing. */
static int check_plot(const caucus_simulate *s) {
    char folder[4096];
    caucus_error error = {0};
    if (s->plot == NULL)
        return 0;
    caucus_status status = caucus_plot_check(s->prepared.run, s->prepared.plan, s->prepared.count, &error);
    const char *slash = strrchr(s->plot, '/');
    const size_t length = slash == NULL ? 0 : slash == s->plot ? 1 : (size_t)(slash - s->plot);
    (void)snprintf(folder, sizeof folder, "%.*s", length == 0 ? 1 : (int)length, length == 0 ? "." : s->plot);
    if (status == CAUCUS_OK && access(folder, W_OK | X_OK) != 0)
        status = caucus_fail_path(&error, CAUCUS_E_PATH, "plot", s->plot);
    return status == CAUCUS_OK ? 0 : caucus_simulate_refuse(status, &error);
}

/* Which premises somebody's own losses refute. */
static int look(caucus_simulate *s) {
    caucus_error error = {0};
    caucus_status status =
        caucus_outcome_look(&s->prepared.run[0], s->prepared.adversary[0], &s->found, &s->history, &error);
    return status == CAUCUS_OK ? 0 : caucus_simulate_complain(s, status, &error);
}

/* What is looked at and written before anything is played: by rank 0, for all. */
int caucus_simulate_begin(caucus_simulate *s) {
    int code = 0;
    warn(s);
    warn_threads(s);
    caucus_stop_on_signals();
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
