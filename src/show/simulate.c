/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.c: a scenario's text in, its results as JSON out (caucus/simulate.h). */
#include <caucus/simulate.h>

#include "scenario/scenario.h"
#include "show/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The results, as they are given out. */
struct caucus_simulation {
    char *json;
    size_t bytes;
};

typedef struct playing {
    caucus_scenario scenario;
    caucus_prepared prepared;
    caucus_run_result *result; /* [prepared.count] */
    caucus_simulation_progress progress;
    void *user;
    size_t begun; /* runs with a result, and so the number of the run in hand */
    int stop;     /* set once `progress` said so */
} playing;

static caucus_status refuse(caucus_error *ret_error, caucus_status status, const caucus_complaint *complaint) {
    const char *field = !complaint->placed && complaint->field != NULL ? complaint->field : "";
    return caucus_fail(ret_error, status, field, "%s", complaint->line);
}

/* What only the program does with results. */
static caucus_status refuse_files(const playing *s, caucus_error *ret_error) {
    static const char *const programs[] = {"format", "out", "ledger", "budget"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        caucus_scenario_field field = caucus_field_find(programs[i]);
        if (field < CAUCUS_FIELD_COUNT && s->scenario.field[field].count > 0)
            return caucus_fail(ret_error, CAUCUS_E_CONFLICT, programs[i],
                               "is for the program; here results are returned as JSON and nothing is written");
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
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    for (size_t i = 0; i < s->prepared.count; i++) {
        caucus_run run = s->prepared.run[i];
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

static caucus_status write_json(const playing *s, caucus_simulation **ret, caucus_error *ret_error) {
    caucus_simulation *simulation = calloc(1, sizeof *simulation);
    FILE *out = simulation != NULL ? open_memstream(&simulation->json, &simulation->bytes) : NULL;
    bool whole = false;
    if (out != NULL) {
        caucus_output_json(out, &(caucus_outcome){s->prepared.run, s->result, s->begun});
        whole = !ferror(out);
        whole = fclose(out) == 0 && whole;
    }
    if (!whole) {
        caucus_simulation_free(simulation);
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    }
    *ret = simulation;
    return CAUCUS_OK;
}

static caucus_status simulate(playing *s, const char *scenario, size_t scenario_bytes, caucus_simulation **ret,
                              caucus_error *ret_error) {
    caucus_complaint complaint;
    caucus_status status =
        caucus_scenario_parse(&s->scenario, "scenario", (const uint8_t *)scenario, scenario_bytes, &complaint);
    if (status != CAUCUS_OK)
        return refuse(ret_error, status, &complaint);
    status = refuse_files(s, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = caucus_scenario_resolve(&s->scenario, &s->prepared, &complaint);
    if (status != CAUCUS_OK)
        return refuse(ret_error, status, &complaint);
    status = play(s, ret_error);
    return status == CAUCUS_OK ? write_json(s, ret, ret_error) : status;
}

caucus_status caucus_simulation_new(const char *scenario, size_t scenario_bytes, caucus_simulation_progress progress,
                                    void *user, caucus_simulation **ret, caucus_error *ret_error) {
    playing s = {.progress = progress, .user = user};
    caucus_scenario_init(&s.scenario);
    caucus_status status = simulate(&s, scenario, scenario_bytes, ret, ret_error);
    for (size_t i = 0; i < s.begun; i++)
        caucus_run_result_free(&s.result[i]);
    free(s.result);
    caucus_prepared_free(&s.prepared);
    caucus_scenario_free(&s.scenario);
    return status;
}

void caucus_simulation_free(caucus_simulation *simulation) {
    if (simulation == NULL)
        return;
    free(simulation->json);
    free(simulation);
}

const char *caucus_simulation_json(const caucus_simulation *simulation, size_t *ret_bytes) {
    *ret_bytes = simulation->bytes;
    return simulation->json;
}
