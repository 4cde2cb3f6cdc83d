/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.c: a scenario's text in, its results out, as numbers or as texts (caucus/simulate.h). */
#include <caucus/simulate.h>

#include "data/npy.h"
#include "num/fail.h"
#include "num/hand_over.h"
#include "scenario/scenario.h"
#include "show/bound_fit.h"
#include "show/output.h"
#include "show/plan_asked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What is asked for and what came of it; it stays until the results are done with, which point into it. */
struct caucus_simulation {
    caucus_scenario scenario;
    caucus_prepared prepared;
    caucus_run_result *result; /* [prepared.count] */
    caucus_simulation_progress progress;
    void *user;
    size_t begun;                  /* runs with a result, and so the number of the run in hand */
    caucus_history found;          /* of somebody's own losses */
    const caucus_history *history; /* NULL: not looked at */
    int stop;                      /* set once `progress` said so */
};
typedef struct caucus_simulation playing;

/* What only the program does with results. */
static caucus_status refuse_files(const playing *s, caucus_error *ret_error) {
    static const char *const programs[] = {"format", "out", "ledger", "budget"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        caucus_scenario_field field = caucus_field_find(programs[i]);
        if (field < CAUCUS_FIELD_COUNT && s->scenario.field[field].count > 0)
            return caucus_fail(ret_error, CAUCUS_E_CONFLICT, programs[i],
                               "is for the program; here results are returned and nothing is written");
    }
    return CAUCUS_OK;
}

static void note_progress(void *user, uint64_t done, uint64_t trials) {
    playing *s = user;
    if (s->progress != NULL && !s->progress(s->user, s->begun, s->prepared.count, done, trials))
        __atomic_store_n(&s->stop, 1, __ATOMIC_RELAXED);
}

static caucus_status play(playing *s, caucus_error *ret_error) {
    s->result = calloc(s->prepared.count, sizeof *s->result);
    if (s->result == NULL)
        return caucus_fail_memory(ret_error, "");
    for (size_t i = 0; i < s->prepared.count; i++) {
        caucus_run run = s->prepared.run[i];
        if (run.plan == NULL)
            run.plan = s->prepared.plan[i]; /* calibrated once */
        run.progress = note_progress;
        run.progress_user = s;
        run.stop = &s->stop;
        caucus_status status = caucus_run_play(&run, s->prepared.adversary[i], &s->result[i], ret_error);
        if (status != CAUCUS_OK)
            return status;
        s->begun++;
        if (s->result[i].done < s->result[i].trials)
            return caucus_fail(ret_error, CAUCUS_E_STOPPED, "", "stopped in run %zu of %zu", i + 1, s->prepared.count);
    }
    return CAUCUS_OK;
}

static caucus_outcome outcome_of(const playing *s) {
    const bool unnamed = s->scenario.field[CAUCUS_FIELD_ALGORITHM].count == 0 && s->scenario.plan == NULL;
    return (caucus_outcome){
        .run = s->prepared.run, .result = s->result, .count = s->begun, .unnamed = unnamed, .history = s->history};
}

static void print(FILE *out, const playing *s, void (*output)(FILE *out, const caucus_outcome *outcome)) {
    const caucus_outcome outcome = outcome_of(s);
    output(out, &outcome);
}

static void print_json(FILE *out, const void *s) {
    print(out, s, caucus_output_json);
}

static void print_table(FILE *out, const void *s) {
    print(out, s, caucus_output_table);
    print(out, s, caucus_output_remarks);
}

static void print_trials(FILE *out, const void *s) {
    print(out, s, caucus_output_trials);
}

static void print_curves(FILE *out, const void *s) {
    print(out, s, caucus_output_curves);
}

/* The scenario is there: check it, play it, note the results. */
static caucus_status simulate(playing *s, caucus_error *ret_error) {
    caucus_complaint complaint;
    caucus_status status = refuse_files(s, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = caucus_scenario_resolve(&s->scenario, &s->prepared, &complaint);
    if (status != CAUCUS_OK)
        return caucus_asked_refuse(ret_error, status, &complaint);
    status = caucus_outcome_look(&s->prepared.run[0], s->prepared.adversary[0], &s->found, &s->history, ret_error);
    return status == CAUCUS_OK ? play(s, ret_error) : status;
}

static playing *begin(caucus_simulation_progress progress, void *user, caucus_error *ret_error) {
    playing *s = calloc(1, sizeof *s);
    if (s == NULL) {
        (void)caucus_fail_memory(ret_error, "");
        return NULL;
    }
    s->progress = progress;
    s->user = user;
    caucus_scenario_init(&s->scenario);
    return s;
}

static caucus_status end(playing *s, caucus_status status, caucus_simulation **ret) {
    return CAUCUS_HAND_OVER(status, ret, s, caucus_simulation_free(s));
}

caucus_status caucus_simulation_new(const char *scenario, size_t scenario_bytes, caucus_simulation_progress progress,
                                    void *user, caucus_simulation **ret, caucus_error *ret_error) {
    caucus_complaint complaint;
    playing *s = begin(progress, user, ret_error);
    if (s == NULL)
        return CAUCUS_E_MEMORY;
    caucus_status status =
        caucus_scenario_parse(&s->scenario, "scenario", (const uint8_t *)scenario, scenario_bytes, &complaint);
    if (status == CAUCUS_OK)
        status = simulate(s, ret_error);
    else
        status = caucus_asked_refuse(ret_error, status, &complaint);
    return end(s, status, ret);
}

caucus_status caucus_simulation_ask(const caucus_plan *plan, const caucus_named *setting, size_t settings,
                                    const caucus_loss_array *losses, caucus_simulation_progress progress, void *user,
                                    caucus_simulation **ret, caucus_error *ret_error) {
    caucus_status status = caucus_loss_array_check(losses, ret_error);
    if (status != CAUCUS_OK)
        return status;
    playing *s = begin(progress, user, ret_error);
    if (s == NULL)
        return CAUCUS_E_MEMORY;
    for (size_t i = 0; status == CAUCUS_OK && i < settings; i++)
        if (!caucus_asked_set(&s->scenario, &setting[i], &status, ret_error))
            status = caucus_fail(ret_error, CAUCUS_E_RANGE, "", "'%.60s': no setting of a simulation is called so",
                                 setting[i].name);
    s->scenario.plan = plan;
    s->scenario.array = losses;
    if (status == CAUCUS_OK)
        status = simulate(s, ret_error);
    return end(s, status, ret);
}

void caucus_simulation_free(caucus_simulation *simulation) {
    if (simulation == NULL)
        return;
    for (size_t i = 0; i < simulation->begun; i++)
        caucus_run_result_free(&simulation->result[i]);
    free(simulation->result);
    caucus_prepared_free(&simulation->prepared);
    caucus_scenario_free(&simulation->scenario);
    free(simulation);
}

caucus_status caucus_simulation_show(const caucus_simulation *simulation, caucus_simulation_view view, char **ret,
                                     size_t *ret_size) {
    static void (*const print[])(FILE *, const void *) = {
        [CAUCUS_SIMULATION_VIEW_TABLE] = print_table,
        [CAUCUS_SIMULATION_VIEW_TRIALS] = print_trials,
        [CAUCUS_SIMULATION_VIEW_CURVES] = print_curves,
        [CAUCUS_SIMULATION_VIEW_JSON] = print_json,
    };
    return caucus_asked_print(print[view], simulation, ret, ret_size);
}

/* ---- numbers ---- */

size_t caucus_simulation_runs(const caucus_simulation *simulation) {
    return simulation->begun;
}

/* The points of a curve: fewer rounds than points, and a round appears once. ret: NULL, or room for all of them. */
static size_t curve(const playing *s, size_t run, caucus_simulation_figure figure, double *ret) {
    const caucus_run_result *result = &s->result[run];
    const uint64_t rounds = caucus_run_rounds(&s->prepared.run[run], &result->plan->settings);
    size_t count = 0;
    uint64_t last = 0;
    for (uint32_t k = 0; result->done > 0 && k < CAUCUS_CURVE_POINTS; k++) {
        const uint64_t round = caucus_curve_round(rounds, k);
        if (round == last)
            continue;
        last = round;
        if (ret != NULL && figure == CAUCUS_SIMULATION_CURVE_ROUND) {
            ret[count] = (double)round;
        } else if (ret != NULL) {
            const caucus_summary point = caucus_run_curve(result, k);
            ret[count] = figure == CAUCUS_SIMULATION_CURVE_MEAN ? point.mean : point.std;
        }
        count++;
    }
    return count;
}

/* NAN where nothing is proved. */
static double bound_of(const playing *s, size_t run) {
    const caucus_played_bound played = caucus_bound_played(&s->result[run], &s->prepared.run[run].adversary);
    return played.fit == CAUCUS_BOUND_FIT_HOLDS && isfinite(played.value) ? played.value : (double)NAN;
}

size_t caucus_simulation_count(const caucus_simulation *simulation, size_t run, caucus_simulation_figure figure) {
    if (run >= simulation->begun)
        return 0;
    switch (figure) {
    case CAUCUS_SIMULATION_REGRET:
    case CAUCUS_SIMULATION_SWITCHES:
    case CAUCUS_SIMULATION_LAST:
    case CAUCUS_SIMULATION_BEST:
        return simulation->result[run].done;
    case CAUCUS_SIMULATION_CURVE_ROUND:
    case CAUCUS_SIMULATION_CURVE_MEAN:
    case CAUCUS_SIMULATION_CURVE_STD:
        return curve(simulation, run, figure, NULL);
    case CAUCUS_SIMULATION_BOUND:
        return isfinite(bound_of(simulation, run)) ? 1u : 0u;
    }
    return 0;
}

static double of_expert(uint32_t number) {
    return number == UINT32_MAX ? -1.0 : (double)number;
}

static double of_trial(const caucus_trial_result *trial, caucus_simulation_figure figure) {
    return figure == CAUCUS_SIMULATION_REGRET ? trial->regret
           : figure == CAUCUS_SIMULATION_SWITCHES
               ? (double)trial->switches
               : of_expert(figure == CAUCUS_SIMULATION_LAST ? trial->last : trial->best);
}

caucus_status caucus_simulation_values(const caucus_simulation *simulation, size_t run, caucus_simulation_figure figure,
                                       double *ret, size_t ret_count) {
    const size_t count = caucus_simulation_count(simulation, run, figure);
    if (run >= simulation->begun || ret_count < count)
        return CAUCUS_E_RANGE;
    if (figure == CAUCUS_SIMULATION_BOUND && count > 0)
        ret[0] = bound_of(simulation, run);
    else if (figure >= CAUCUS_SIMULATION_CURVE_ROUND && figure <= CAUCUS_SIMULATION_CURVE_STD)
        (void)curve(simulation, run, figure, ret);
    else
        for (size_t i = 0; i < count; i++)
            ret[i] = of_trial(&simulation->result[run].trial[i], figure);
    return CAUCUS_OK;
}
