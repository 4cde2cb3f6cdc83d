/* SPDX-License-Identifier: Apache-2.0 */
/* run.h: many trials of one plan against one adversary, on all cores.
 * layer: sim
 *
 * Threads take whole trials from a counter; results are stored by trial number, so they are the same bytes for any
 * number of threads. Each holds all clients of its trial, so no more trials run at once than fit in CAUCUS_RUN_BYTES.
 *
 * Over ranks (ranks.h) every process has such threads, trials are dealt to the processes by number, and in the end each
 * of them has all results, the same bytes again. Or the clients of one trial are dealt (`split_clients`), where one
 * process has not enough memory for all. */
#ifndef CAUCUS_SIM_RUN_H
#define CAUCUS_SIM_RUN_H

#include "sim/ranks.h"
#include "sim/slot/activity.h"
#include "sim/trial.h"

typedef struct caucus_run {
    caucus_settings settings;            /* of the algorithm; `clients` as asked (the baselines play client 1) */
    caucus_adversary_settings adversary; /* seed, data, ...: its clients, experts, rounds follow `settings`;
                                          * where these have no end, its rounds are what is played */
    const caucus_plan *plan;             /* of `settings`, if they are calibrated already; NULL = calibrated here */
    uint32_t trials;
    uint32_t first;   /* number of the first trial (0): a stopped run goes on from there */
    uint64_t seed;    /* noise and losses */
    uint32_t threads; /* at most; 0 = all cores */
    /* Progress, from any thread but never two at once; may be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t trials);
    void *progress_user;
    const volatile int *stop; /* set from a signal handler to end early; NULL = never */
    /* Called about every CAUCUS_RUN_KEEP_SECONDS as trials end, with the first `done` results, all complete: what is
     * kept of them need not be played again. From any thread but never two at once, over ranks in rank 0 only; may be
     * NULL. A failure ends the run. */
    caucus_status (*keep)(void *user, const caucus_trial_result *trial, uint32_t done, caucus_error *ret_error);
    void *keep_user;
    const caucus_ranks *ranks; /* processes that play it together; NULL: this one is alone */
    bool split_clients;        /* linear losses: deal the clients of each trial over the ranks, if there are enough */
} caucus_run;

typedef struct caucus_run_result {
    const caucus_plan *plan;
    caucus_plan *made;          /* the same, if it was calibrated here; NULL: the caller's, who keeps it as long */
    caucus_trial_result *trial; /* [trials]: trial number run.first + i; only the first `done` are complete */
    uint32_t trials;            /* asked for */
    uint32_t done;              /* complete: trials 0 .. done-1 (fewer than asked only if stopped) */
    double seconds;             /* wall clock */
} caucus_run_result;

#define CAUCUS_RUN_KEEP_SECONDS 5.0

/** Rounds that a run plays: those of its plan, or as many of a plan without an end as its losses are drawn for; at the
 *  devices' own pace the slots. */
static inline uint64_t caucus_run_rounds(const caucus_run *run, const caucus_settings *settings) {
    const uint64_t rows = settings->pace == CAUCUS_PACE_OWN ? CAUCUS_SLOT_ROWS : 1;
    return settings->rounds == CAUCUS_ROUNDS_ENDLESS ? run->adversary.rounds / rows : settings->rounds;
}

/* What the clients of all trials under way may take together; one trial is always under way. */
#define CAUCUS_RUN_BYTES ((uint64_t)3 << 29)

/** Trials of a plan that may be under way at once in one process, 1 or more. */
uint32_t caucus_run_trials_that_fit(const caucus_plan *plan);

/** Whether the clients of each trial of this plan are dealt over the run's ranks: asked for, and a client for each. */
bool caucus_run_splits(const caucus_run *run, const caucus_plan *plan);

/** Calibrate if there is no plan, open the adversary, play.
 *  Returns: CAUCUS_OK, also when stopped early (then done < trials); the plan's and adversary's errors; the error names
 *           the field. The same in every rank. The `adversary` argument may share an already opened one (NULL = open
 *           here). */
caucus_status caucus_run_play(const caucus_run *run, const caucus_adversary *adversary, caucus_run_result *ret,
                              caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_run_result_free(caucus_run_result *result);

/* Summary over the complete trials. */
typedef struct caucus_summary {
    double mean, std, min, max; /* std with n - 1: NAN for one trial */
} caucus_summary;
caucus_summary caucus_run_regret(const caucus_run_result *result);
/* Regret against the best expert of every segment. */
caucus_summary caucus_run_regret_segments(const caucus_run_result *result);
/* At the devices' own pace: the same, each device weighing the same in every slot (slot_regret.h). */
caucus_summary caucus_run_regret_devices(const caucus_run_result *result);
caucus_summary caucus_run_bound(const caucus_run_result *result); /* there: of what was played */
caucus_summary caucus_run_switches(const caucus_run_result *result);
/* Means over trials of a traffic field: which = offsetof(caucus_trial_result, scalars_up) and the like. */
double caucus_run_mean_u64(const caucus_run_result *result, size_t field_offset);
/* Mean and standard deviation of the regret curve at point k. */
caucus_summary caucus_run_curve(const caucus_run_result *result, uint32_t k);

#endif
