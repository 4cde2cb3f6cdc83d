/* SPDX-License-Identifier: Apache-2.0 */
/* convex_trial.h: playing mixtures against convex losses (cross-entropy as a function of the mixture).
 * layer: sim
 *
 * All clients hold the same mixture, so what is played is a point of the simplex and its cost a real number, computed
 * here for the report only. Regret is against the best fixed mixture in hindsight, which for cross-entropy is
 * known exactly (convex.h). */
#ifndef CAUCUS_SIM_CONVEX_TRIAL_H
#define CAUCUS_SIM_CONVEX_TRIAL_H

#include <caucus/client.h>

#include "sim/adversary.h"

typedef struct caucus_convex caucus_convex;

/** NULL if out of memory. */
caucus_convex *caucus_convex_new(const caucus_adversary_trial *losses, uint32_t clients, uint32_t experts);
void caucus_convex_free(caucus_convex *convex);

/** Give client `index` its gradients. */
void caucus_convex_attach(caucus_convex *convex, caucus_client *client, uint32_t index);

/** Every client plays rounds first .. first+count-1 (from 0). */
void caucus_convex_play(caucus_convex *convex, caucus_client *const *client, uint64_t first, uint64_t count);

/** Per client, so far: what was played has cost, and its regret. */
double caucus_convex_cost(const caucus_convex *convex);
double caucus_convex_regret(const caucus_convex *convex);

#endif
