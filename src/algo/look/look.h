/* SPDX-License-Identifier: Apache-2.0 */
/* look.h: the coordinator's private look at the loss of the expert in force (plan/stoch/look.h says what it is).
 * layer: algo
 *
 * A figure is made when a step is decided, from the same reports, before the selection ends the epoch; it is part of
 * the state that is committed with the decision, so that it is drawn once, whatever happens to the process. What is
 * kept is public: sums with noise. It is never used to choose. */
#ifndef CAUCUS_ALGO_LOOK_LOOK_H
#define CAUCUS_ALGO_LOOK_LOOK_H

#include "algo/coordinator.h"
#include "algo/pack.h"

/* Own pace: every value of an item of slots in which nothing was seen. Below every range, so that it counts as 0. */
#define CAUCUS_LOOK_UNSEEN ((int64_t)-1)

typedef struct caucus_shown {
    uint64_t phase;   /* whose losses these are */
    uint64_t divisor; /* losses, or means, behind the sum */
    int64_t sum;      /* of the losses of `expert`, grid units, with noise */
    uint32_t expert;  /* that was in force */
    uint32_t answers; /* clients */
} caucus_shown;

struct caucus_looking {
    uint64_t unseen; /* own pace: items of this step in which nothing was seen */
    uint32_t count;  /* entries of `shown`, the latest first */
    caucus_shown shown[CAUCUS_LOOKS];
};

/** Memory for it, where the plan shows anything. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_look_new(caucus_coordinator *coordinator) CAUCUS_MUST_CHECK;
/** Look at the sum of the expert in force, of `divisor` losses or means; nothing where nothing is shown, or too few
 *  have answered. Before the step's selection. */
void caucus_look_take(caucus_coordinator *coordinator, uint64_t divisor);
/** The phases that were shown, the latest first: as many of them as there are, and fit into ret[ret_count].
 *  Returns: how many were written. */
uint32_t caucus_look_all(const caucus_coordinator *coordinator, caucus_look *ret, uint32_t ret_count);
/** Its fields of a saved state, and whether they can be true. */
void caucus_look_pack(caucus_pack *pack, caucus_coordinator *coordinator);
bool caucus_look_sound(const caucus_coordinator *coordinator);

#endif
