/* SPDX-License-Identifier: Apache-2.0 */
/* relayed_taking.h: a partial that is being merged (relayed_take.c), and the walk over the clients of its groups
 * (relayed_walk.c).
 * layer: algo */
#ifndef CAUCUS_ALGO_RELAYED_TAKING_H
#define CAUCUS_ALGO_RELAYED_TAKING_H

#include "algo/coordinator_state.h"
#include "algo/machine.h"
#include "algo/relayed/relayed_bytes.h"

/* What an item has overwritten. */
typedef struct caucus_taking_before {
    caucus_progress *of;
    uint32_t client; /* from 0 */
    uint8_t form;
    uint64_t value, shown;
} caucus_taking_before;

/* What the items can add up to. */
typedef struct caucus_taking_reach {
    caucus_i128 lo, hi, q; /* of each sum; of q, from 0 */
    uint64_t votes, vectors;
} caucus_taking_reach;

typedef struct caucus_taking {
    caucus_coordinator *c;
    const caucus_relayed_from *from;
    caucus_taking_before *undo;
    size_t undos;
    caucus_taking_reach reach;
    caucus_report asked; /* the item of those in groups, without its client */
    caucus_status in_step;
    bool in_step_known;
    caucus_status status; /* CAUCUS_E_FORMAT, or CAUCUS_E_CONFLICT: some are refused */
    uint32_t answered;
    uint64_t grouped;
    caucus_progress *moves[2]; /* what an item of a group moves, if it is one that is asked for; NULL: nothing */
    bool moves_all;            /* and such an item is all that there is in groups */
} caucus_taking;

/** Check, or note, the clients of groups: many at once where they are all in step and at this relay, the others by
 *  `each`; false ends it. */
void caucus_taking_check(caucus_taking *taking, const caucus_relayed *partial,
                         bool (*each)(void *user, uint32_t client));
void caucus_taking_note(caucus_taking *taking, const caucus_relayed *partial,
                        bool (*each)(void *user, uint32_t client));

#endif
