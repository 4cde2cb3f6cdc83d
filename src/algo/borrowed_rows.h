/* SPDX-License-Identifier: Apache-2.0 */
/* borrowed_rows.h: a fast path for the simulator, which holds the losses of many clients in memory.
 * layer: algo
 *
 * A client of svt or hedge sends one number per block until a vector is asked for, so most of the d columns it sees are
 * never needed. With borrowed rows it keeps a pointer to the caller's rows instead of adding each one to its sums, and
 * adds them up in one pass when a vector is due: the same integers, several times faster (bench_simulate, Figure 2).
 * Clients of one thread can also share what all of them know (caucus_client_new_shared). */
#ifndef CAUCUS_ALGO_BORROWED_ROWS_H
#define CAUCUS_ALGO_BORROWED_ROWS_H

#include <caucus/client.h>

/** Also add borrowed losses to total[d] whenever they are added to the client's sums, until nothing more is asked for.
 *  Returns: false where the client never adds up later (stoch; unit client-block with blocks of several rounds): then
 *  nothing is done. */
bool caucus_client_add_total(caucus_client *client, int64_t *total);

/** As caucus_client_observe(), with the losses of all d experts also where the client evaluates some: it takes those
 *  that are its own to evaluate, and knows what the expert that it played has cost. */
caucus_status caucus_client_observe_whole(caucus_client *client, const double *loss, uint64_t rounds) CAUCUS_MUST_CHECK;

/** The same in single precision; the rows must not change before caucus_client_return_rows(). */
caucus_status caucus_client_borrow_f32(caucus_client *client, const float *loss, uint64_t rounds) CAUCUS_MUST_CHECK;

/** Add up the rows that are borrowed; the caller may then overwrite them. Must be called before caucus_client_clips(),
 *  _save() and _free(). */
void caucus_client_return_rows(caucus_client *client);

/** As caucus_client_new(), sharing with `first`, a client of the same plan that has heard nothing yet, what both know
 *  and the memory where reports are made. One thread moves all of them in step: `first` hears every announcement before
 *  the others do, and a report is used up before another client is asked for its own. `first` is freed last. NULL: a
 *  client that shares nothing. */
caucus_status caucus_client_new_shared(const caucus_plan *plan, uint32_t index, const caucus_key *key,
                                       const caucus_client *first, caucus_client **ret) CAUCUS_MUST_CHECK;

/** Free client[0] .. client[count - 1], of which the others share with the first, and the array. NULL is nothing. */
void caucus_clients_free(caucus_client **client, uint32_t count);

/** Memory that each further client takes which shares with another, about. */
size_t caucus_client_shared_bytes(const caucus_plan *plan);

#endif
