/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h: how a family of algorithms is played: one table of operations for its clients, one for its coordinator.
 * layer: algo
 *
 * client.c, coordinator.c and their _state.c hold what all families share: rounds, announcements, who has answered,
 * keys, the frame of a saved state. Everything else is called through these tables. A machine looks its table up once,
 * when it is made. Two families may have the same clients (svt and hedge: block_client.c). The list of families is in
 * plan/family.h. */
#ifndef CAUCUS_ALGO_MACHINE_H
#define CAUCUS_ALGO_MACHINE_H

#include "algo/client.h"
#include "algo/coordinator.h"
#include "algo/pack.h"
#include "algo/releases.h"
#include "num/int128.h"
#include "plan/family.h"

typedef struct caucus_client_ops {
    /* The size of c->own: a struct that only the family knows, with its arrays behind it. It comes zeroed, is saved by
     * `pack`, and is wiped and freed with the client. NULL: it has none. */
    size_t (*own_bytes)(const caucus_plan *plan);
    /* Allocate what else it needs, and set up. `first` is the client it shares with, or NULL (borrowed_rows.h). NULL:
     * there is nothing to do. */
    caucus_status (*new)(caucus_client *c, const caucus_client *first);
    /* Wipe and free what `new` allocated, or a part of it. NULL: nothing. */
    void (*free)(caucus_client *c);
    /* Vectors of d numbers that are each client's own, beside c->own. NULL: none. */
    size_t (*rows)(const caucus_plan *plan);
    /* May this be asked now? Only called with a question; what has been answered must never be asked again. */
    bool (*may_ask)(const caucus_client *c, const caucus_announcement *a);
    /* The same of an announcement that does not follow the one in force, in a run without an end: what lies between is
     * not to be had any more. Blocks and phases only move forward. */
    bool (*may_jump)(const caucus_client *c, const caucus_announcement *a);
    /* c->heard is such an announcement: set c->round to the beginning of what is asked about, c->expert, and c->missed
     * if it cannot be answered. `before` as for hear(); `made`: whether it had been answered. */
    void (*jump)(caucus_client *c, const caucus_asked *before, bool made);
    void (*observe)(caucus_client *c, caucus_rows rows, uint64_t rounds);
    /* Observe rows that stay where they are; false: observe them now. NULL: always that. */
    bool (*borrow)(caucus_client *c, const float *rows, uint64_t rounds);
    /* Fill c->report, which says already what is answered and holds one value, c->scalar. */
    void (*report)(caucus_client *c);
    /* c->heard is new; `before` is what the one before it asked for, NULL if it is the first. */
    void (*hear)(caucus_client *c, const caucus_asked *before);
    /* The fields of a saved state that are the family's own (NULL: none); and, once all have been read, whether they
     * can be true of a client of this plan (what is not saved is worked out there). */
    void (*pack)(caucus_pack *p, caucus_client *c);
    bool (*sound)(caucus_client *c);
} caucus_client_ops;

typedef struct caucus_machine_ops {
    const caucus_client_ops *client;
    bool costs; /* asks what the expert in force has cost, before it asks for vectors */

    /* The size of c->own, as for clients. It is wiped when nothing more is asked, too: `sound` then sees zeros. */
    size_t (*own_bytes)(const caucus_plan *plan);
    /* Allocate what else it needs (sums of d numbers, what was counted of each client: coordinator.h, where they are
     * wiped and freed) and make the first announcement. */
    caucus_status (*new)(caucus_coordinator *c);
    /* Would an item of a client that exists be counted, whatever its values are? `count` asks first; so does whoever
     * takes sums that somebody else has made (algo/relayed). `count` and `value` of the report are not looked at. */
    caucus_status (*check)(const caucus_coordinator *c, const caucus_report *item);
    /* Count a report of a client that exists, with values; see coordinator.h on what may be written. */
    caucus_status (*count)(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r);
    /* Take numbers of a partial that are the family's (q, epoch, expert; partial.h). NULL: it counts none. */
    void (*take)(caucus_coordinator *c, const caucus_partial *p);
    /* Decide on what has been counted, and announce. */
    void (*decide)(caucus_coordinator *c);
    /* Could a coordinator of this plan ask this question? For announcements read from saved states. */
    bool (*asks)(const caucus_plan *plan, const caucus_announcement *a);
    /* As for clients. */
    void (*pack)(caucus_pack *p, caucus_coordinator *c);
    bool (*sound)(caucus_coordinator *c);

    /* Write to the ledger what deciding the step `before` with `after` releases (releases.h). */
    caucus_status (*record)(caucus_releases *r, const caucus_announcement *before, const caucus_announcement *after,
                            caucus_error *ret_error);
    /* For caucus_releases_take(): what the first n releases of a run cost together, in steps of 2^-30, rounded up once;
     * and how many there can be. NULL where a family does not call it. It is asked for n = 1, 2, ... in turn, with a
     * running sum that is the family's own and 0 at first: what a release costs to record must not grow with them. */
    caucus_u128 (*spent)(const caucus_plan *plan, uint64_t n, caucus_u128 *sum);
    uint64_t (*releases)(const caucus_plan *plan);
} caucus_machine_ops;

const caucus_machine_ops *caucus_machine_ops_of(const caucus_plan *plan);

extern const caucus_client_ops caucus_block_client; /* block_client.c */
extern const caucus_client_ops caucus_phase_client; /* phase_client.c */

#endif
