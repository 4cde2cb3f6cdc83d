/* SPDX-License-Identifier: Apache-2.0 */
/* up_compare.h: what a simulation of the same plan, losses and seed plays, client by client, to hold a live run
 * against. layer: cli */
#ifndef CAUCUS_CLI_UP_COMPARE_H
#define CAUCUS_CLI_UP_COMPARE_H

#include "sim/trial.h"

typedef struct caucus_up_compared {
    bool equal; /* every client played the same expert in every round */
    uint32_t client;
    uint64_t round; /* the first difference, both from 1 */
    uint32_t live, simulated;
    bool look;          /* the coordinator has shown last what the simulation has, to the last digit */
    double regret_live; /* per client, from what was really played */
    caucus_trial_result simulation;
} caucus_up_compared;

/** In: expert[client * T + round]: what was played; played[client]: rounds of it. stop: as in caucus_trial_play().
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY, CAUCUS_E_STOPPED. */
caucus_status caucus_up_compare(const caucus_plan *plan, const caucus_adversary *adversary, uint64_t seed,
                                const uint32_t *expert, const uint64_t *played, const volatile int *stop,
                                caucus_up_compared *ret) CAUCUS_MUST_CHECK;

#endif
