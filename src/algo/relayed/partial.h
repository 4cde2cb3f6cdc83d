/* SPDX-License-Identifier: Apache-2.0 */
/* partial.h: what one counting thread has added up of the step in hand (see <caucus/coordinator.h>).
 * layer: algo
 *
 * Everything that reports of different clients share: vectors, votes, the cost of the expert in force, how many have
 * answered. What belongs to one client (what comes next from it) stays in the coordinator. All of it is sums of
 * integers, so it does not matter which partial a report went into: docs/ARCHITECTURE.md, "One idea". */
#ifndef CAUCUS_ALGO_PARTIAL_H
#define CAUCUS_ALGO_PARTIAL_H

#include <caucus/coordinator.h>

struct caucus_partial {
    int64_t *sum;    /* [d]: vectors; svt, hedge: for the coordinator's cum, stoch: for its sum */
    uint32_t *votes; /* [d], or NULL where nobody votes */
    uint32_t experts;
    bool filled;       /* sum or votes hold something */
    bool begun;        /* `serial` is set: it counts for that step and for no other */
    uint64_t serial;   /* of the announcement in force when it began */
    uint32_t answered; /* clients whose answer to that announcement is in it */

    /* Numbers that are the family's (caucus_machine_ops.take). svt: what `expert`, in force in `epoch`, has cost. */
    int64_t q;
    uint64_t epoch;
    uint32_t expert;
};

/** Empty it without merging it. */
void caucus_partial_clear(caucus_partial *partial);

/** What a partial has counted, as numbers that can be added to those of other processes whose clients answer the same
 *  announcement in the same way (sim/trial.c): cost, answers and, once vectors or votes are in it, all of them. The
 *  last replaces what is in it by their sum.
 *  Out:     ret [caucus_partial_numbers(p)]. */
size_t caucus_partial_numbers(const caucus_partial *p);
void caucus_partial_copy_out(const caucus_partial *p, int64_t *ret);
void caucus_partial_replace(caucus_partial *p, const int64_t *value);

#endif
