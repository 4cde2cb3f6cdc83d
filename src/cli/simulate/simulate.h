/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.h: one call of `caucus simulate`, from its command line to its results.
 * layer: cli
 *
 * Everything is checked before anything is played or written. Results go to standard output, remarks and the progress
 * bar to standard error. Of several ranks (cli/ranks.h) the first reads and writes files for all. */
#ifndef CAUCUS_CLI_SIMULATE_SIMULATE_H
#define CAUCUS_CLI_SIMULATE_SIMULATE_H

#include "cli/complain.h"
#include "cli/ranks.h"
#include "cli/wanted.h"
#include "show/out_dir.h"
#include "store/ledger_file.h"
#include "study/simulation_plot.h"

typedef struct caucus_simulate {
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
} caucus_simulate;

/* simulate_options.c */

/** Read flags and scenario, and resolve them to runs. Returns: 0, an exit code, or CAUCUS_OPTIONS_HELP. */
int caucus_simulate_read(caucus_simulate *s);
void caucus_simulate_help(void);
/** Say what is wrong: with the place in the scenario if it was given there; or with a flag. Returns: the exit code. */
int caucus_simulate_complain(const caucus_simulate *s, caucus_status status, const caucus_error *error);
int caucus_simulate_refuse(caucus_status status, const caucus_error *error);

/* simulate_begin.c: what is said, looked at and written before anything is played. Returns: 0 or an exit code. */
int caucus_simulate_begin(caucus_simulate *s);

/* simulate_play.c */

/** Play all runs, from what was loaded on. Returns: 0 or an exit code. */
int caucus_simulate_play(caucus_simulate *s);
caucus_outcome caucus_simulate_outcome(const caucus_simulate *s);
/** Keep what is complete, for --resume. */
caucus_status caucus_simulate_save(const caucus_simulate *s, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* simulate_end.c: results, files, the picture. Returns: the exit code. */
int caucus_simulate_end(caucus_simulate *s);

#endif
