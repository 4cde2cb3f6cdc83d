/* SPDX-License-Identifier: Apache-2.0 */
/* simulate_play.c: the runs of `caucus simulate`, one after the other, each from what was loaded of it on; what is
 * complete is kept now and then. */
#include "cli/simulate/simulate.h"

#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/terminal/screen.h"
#include "num/fail.h"
#include "store/clock.h"

#include <stdlib.h>
#include <string.h>

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

caucus_outcome caucus_simulate_outcome(const caucus_simulate *s) {
    /* mpirun stands before a terminal, and what it hands on is the same bytes everywhere. */
    const int width = s->ranks == NULL ? caucus_screen_table_width() : 0;
    const bool unnamed = s->scenario.field[CAUCUS_FIELD_ALGORITHM].count == 0;
    return (caucus_outcome){s->prepared.run, s->result, s->begun, width, unnamed, s->history};
}

caucus_status caucus_simulate_save(const caucus_simulate *s, caucus_error *ret_error) {
    caucus_outcome outcome = caucus_simulate_outcome(s);
    return caucus_unfinished_save(s->wanted.out, s->prepared.run, s->prepared.count, &outcome, ret_error);
}

/* Fits caucus_run.keep: what is complete of the run in hand, after the runs that are done. */
static caucus_status keep(void *user, const caucus_trial_result *trial, uint32_t done, caucus_error *ret_error) {
    caucus_simulate *s = user;
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
    caucus_status status = caucus_simulate_save(s, ret_error);
    s->begun--;
    *now = before;
    free(all);
    return status;
}

static caucus_status play_run(caucus_simulate *s, size_t i, int label_width, caucus_error *ret_error) {
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

int caucus_simulate_play(caucus_simulate *s) {
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
            status = caucus_simulate_save(s, &error);
            saved = caucus_clock_seconds();
        }
        if (status != CAUCUS_OK)
            return caucus_simulate_complain(s, status, &error);
    }
    return 0;
}
