/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h: a plan played once in a simulated run: the real state machines, driven round by round against one adversary.
 * layer: sim
 *
 * Nothing of the algorithms is written here a second time: clients and coordinator are those of src/algo, and a trial
 * only moves their messages. Memory: the clients, and a buffer of losses of fixed size; none of it grows with T. */
#ifndef CAUCUS_SIM_TRIAL_H
#define CAUCUS_SIM_TRIAL_H

#include <caucus/client.h>
#include <caucus/coordinator.h>

#include "plan/plan.h"
#include "sim/adversary.h"
#include "sim/choices.h"
#include "sim/ranks.h"

/* Points of a regret curve: after rounds ceil(T*k/CAUCUS_CURVE_POINTS), k = 1.. */
#define CAUCUS_CURVE_POINTS 64

typedef struct caucus_trial_result {
    double regret;          /* per client, in the units of the losses */
    double regret_segments; /* the same against the best expert of each segment (adversary.h); convex: regret */
    double regret_devices;  /* at the devices' own pace: the same, each device weighing the same (slot_regret.h) */
    double bound;           /* there: what is proved for the counts of this trial; NAN: nothing */
    uint32_t last, best;    /* the expert in force at the end; the best in hindsight, UINT32_MAX of convex losses */
    uint64_t losses;        /* rows that clients saw, over all of them */
    uint64_t switches;      /* times the expert in force changed */
    uint64_t selections;    /* releases of a choice, after the first uniform one */
    uint64_t scalars_up, scalars_down, bytes_up, bytes_down; /* over all clients */
    uint64_t clipped; /* losses (or gradients) outside their range, NaN among them */
    uint64_t nan;     /* of those, not a number */
    double loss;      /* per client, what was played has cost, in the units of the losses */
    uint64_t since;   /* rounds (slots, at the devices' own pace) before `last` came into force for the last time */
    uint64_t digest;  /* of the sequence of experts in force (announcement by announcement, requests left out) */
    double curve[CAUCUS_CURVE_POINTS]; /* regret so far, against the best expert so far */
    caucus_choices choices;
    caucus_look look; /* what was shown last; clients 0: nothing */
} caucus_trial_result;

/* Called for every announcement with the round it takes effect after; for tests and live views. */
typedef void (*caucus_trial_watch)(void *user, uint64_t round, const caucus_announcement *announcement);

/** Play trial number `trial` (its losses and, from `seed`, its noise).
 *  In:      plan and adversary agree on d and T; the plan's clients are the first of the adversary's. stop: checked
 *           now and then, NULL = never.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY, CAUCUS_E_STOPPED, CAUCUS_E_CHANGED (caucus_adversary_whole() says what
 *           is wrong).
 *  Privacy: none: seeded noise, and regret is computed from everybody's losses. */
caucus_status caucus_trial_play(const caucus_plan *plan, const caucus_adversary *adversary, uint64_t seed,
                                uint32_t trial, const volatile int *stop, caucus_trial_watch watch, void *user,
                                caucus_trial_result *ret) CAUCUS_MUST_CHECK;

/** Play the trial over ranks that each hold some of its clients. Every rank has a coordinator of its own, which counts
 *  its clients' reports; what they add up to is added up over the ranks before it decides, so that all decide alike.
 *  Integers only: the result is the same bytes as that of one process, in every rank.
 *  In:      losses are linear, and there are at least as many clients as ranks; everything else as above.
 *  Returns: as above, and the same in every rank. */
caucus_status caucus_trial_play_split(const caucus_plan *plan, const caucus_adversary *adversary, uint64_t seed,
                                      uint32_t trial, const caucus_ranks *ranks, const volatile int *stop,
                                      caucus_trial_result *ret) CAUCUS_MUST_CHECK;

/** Round of curve point k (0-based). */
uint64_t caucus_curve_round(uint64_t rounds, uint32_t k);

#endif
