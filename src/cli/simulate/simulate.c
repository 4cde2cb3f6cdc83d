/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.c: `caucus simulate`: any algorithm against any adversary, or your own losses. See simulate.h. */
#include "cli/simulate/simulate.h"

#include "cli/verbs.h"

#include <stdlib.h>
#include <unistd.h>

/* Whatever is read, all ranks read the same: the scenario first, since it says what else there is. The runs of a
 * scenario differ in lists of settings, and neither the losses nor the data are one. */
static int same_input(const caucus_simulate *s) {
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

static int simulate(caucus_simulate *s) {
    int code = caucus_cli_agree_code(s->ranks, caucus_simulate_read(s));
    if (code == 0)
        code = same_input(s);
    if (code != 0)
        return code;
    s->loaded = calloc(s->prepared.count, sizeof *s->loaded);
    s->result = calloc(s->prepared.count, sizeof *s->result);
    if (s->loaded == NULL || s->result == NULL)
        return caucus_complain_memory("simulate");
    code = caucus_simulate_begin(s);
    if (code == 0)
        code = caucus_simulate_play(s);
    if (code != 0) {
        if (s->made_out)
            (void)rmdir(s->wanted.out); /* only if nothing is in it */
        return code;
    }
    return caucus_ranks_first(s->ranks) ? caucus_simulate_end(s) : CAUCUS_RANKS_EXIT_ELSEWHERE;
}

int caucus_cli_simulate(int argc, char **argv) {
    caucus_simulate s = {.argc = argc, .argv = argv, .ranks = caucus_ranks_here(), .ledger = {.fd = -1}};
    caucus_scenario_init(&s.scenario);
    int code = simulate(&s);
    if (code == CAUCUS_OPTIONS_HELP) {
        caucus_simulate_help();
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
