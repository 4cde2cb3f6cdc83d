/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.h: whole simulated federations: a scenario in, results out.
 * layer: show
 *
 * In the library caucus-sim, and experimental: what is here may still change before 1.0. A binding needs none of our
 * structures: a scenario is the YAML that `caucus simulate FILE` reads (man caucus-simulate), the results are arrays of
 * numbers, or the texts that the program prints, JSON among them, the same bytes for any number of threads but for
 * `seconds`. Nothing is written to a file. Simulations are seeded, and so NOT PRIVATE. */
#ifndef CAUCUS_SIMULATE_H
#define CAUCUS_SIMULATE_H

#include <caucus/asked.h>
#include <caucus/losses.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Called now and then, from any thread but never from two at once: so many trials of run number `run` (from 0) of
 *  `runs` are complete.
 *  Returns: true to go on, false to stop. */
typedef bool (*caucus_simulation_progress)(void *user, size_t run, size_t runs, uint64_t done, uint64_t trials);

/** The results of a scenario. */
typedef struct caucus_simulation caucus_simulation;

/** Play every run of a scenario.
 *  In:      scenario  YAML; the fields format, out, ledger and budget are the program's and are refused.
 *           progress  may be NULL; `user` is passed to it.
 *  Returns: CAUCUS_OK; CAUCUS_E_STOPPED if `progress` said so, without results; else what the scenario, its data or
 *           the plans of its runs were refused for: the error names the line and the field.
 *  Cost:    all trials of all runs, on as many threads as the scenario says (by default all cores). */
CAUCUS_API caucus_status caucus_simulation_new(const char *scenario, size_t scenario_bytes,
                                               caucus_simulation_progress progress, void *user, caucus_simulation **ret,
                                               caucus_error *ret_error) CAUCUS_MUST_CHECK;
CAUCUS_API void caucus_simulation_free(caucus_simulation *simulation);

/** The same from settings in words, as behind flags of `caucus simulate` (asked.h): errors read as those of
 *  caucus_plan_ask(). A list has commas and makes one run per value.
 *  In:      plan      NULL: every setting is in words. Otherwise this plan is played, and the words say only against
 *                     what, how often, and from which seed; borrowed until caucus_simulation_free(). Convex losses
 *                     have only the adversary cross-entropy.
 *           losses    NULL, or the losses, in the place of a file's (setting `losses`); borrowed for the call.
 *  Returns: as caucus_simulation_new(). */
CAUCUS_API caucus_status caucus_simulation_ask(const caucus_plan *plan, const caucus_named *setting, size_t settings,
                                               const caucus_loss_array *losses, caucus_simulation_progress progress,
                                               void *user, caucus_simulation **ret,
                                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Ways to show results, each as the program prints or writes it. */
typedef enum caucus_simulation_view {
    CAUCUS_SIMULATION_VIEW_TABLE = 0, /* for people */
    CAUCUS_SIMULATION_VIEW_TRIALS,    /* trials.csv: one line per run and trial */
    CAUCUS_SIMULATION_VIEW_CURVES,    /* curves.csv: mean and spread of the regret so far */
    CAUCUS_SIMULATION_VIEW_JSON       /* docs/schemas/simulate.json */
} caucus_simulation_view;

/** The results in one of these forms.
 *  Out:     *ret  ends in a zero that is not counted in *ret_size; freed by the caller with free().
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
CAUCUS_API caucus_status caucus_simulation_show(const caucus_simulation *simulation, caucus_simulation_view view,
                                                char **ret, size_t *ret_size) CAUCUS_MUST_CHECK;

/** How many runs were played. */
CAUCUS_API size_t caucus_simulation_runs(const caucus_simulation *simulation);

/** Numbers of a run: one per trial, or one per point of its curve, whose rounds grow. */
typedef enum caucus_simulation_figure {
    CAUCUS_SIMULATION_REGRET = 0,  /* of a trial: per client, against the best expert in hindsight */
    CAUCUS_SIMULATION_SWITCHES,    /* how often the expert in force changed */
    CAUCUS_SIMULATION_LAST,        /* the expert in force at the end, from 0; -1 where a mixture is played */
    CAUCUS_SIMULATION_BEST,        /* the best expert in hindsight; -1 where there is none */
    CAUCUS_SIMULATION_CURVE_ROUND, /* of a point: so many rounds were played, */
    CAUCUS_SIMULATION_CURVE_MEAN,  /* the mean over trials of the regret so far, */
    CAUCUS_SIMULATION_CURVE_STD,   /* and its standard deviation: NAN for one trial */
    CAUCUS_SIMULATION_BOUND        /* the regret that is proved for these losses: one number, or none */
} caucus_simulation_figure;

/** How many numbers a figure of a run has. run: from 0, below caucus_simulation_runs(). */
CAUCUS_API size_t caucus_simulation_count(const caucus_simulation *simulation, size_t run,
                                          caucus_simulation_figure figure);
/** The numbers themselves, whole ones among them exactly.
 *  In:      ret_count  room for so many: caucus_simulation_count() of them are written.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (no such run, or not the room for them). */
CAUCUS_API caucus_status caucus_simulation_values(const caucus_simulation *simulation, size_t run,
                                                  caucus_simulation_figure figure, double *ret,
                                                  size_t ret_count) CAUCUS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
