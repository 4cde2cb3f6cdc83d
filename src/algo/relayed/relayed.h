/* SPDX-License-Identifier: Apache-2.0 */
/* relayed.h: sums that a relay has made of its clients' reports, and which items they are: as bytes, and merged.
 * layer: algo
 *
 * A relay counts reports as the coordinator would and sends what they add up to, with the names of the items, without
 * their values: the coordinator checks each name as it would check the report, bounds the sums by what the items can
 * reach, and takes the partial whole or not at all. So whoever sends it can do no more than its clients could by lying,
 * and no sum leaves the range that the plan was made for. How many have answered is counted from the items.
 *
 * As bytes, least significant byte first:
 *   serial 8, q 8, first 8, values 1 (0 none, 1 sums, 2 votes), groups 4, items 4
 *   groups, rising: chunk 4 (of 65,536 clients), count 4 (from 1), then up to 4,096 clients: count times, rising,
 *     client - first client of the chunk 2; more: one bit a client of the chunk, lowest bit first, in whole bytes
 *   items, in the order in which they were counted: client 4, kind 1, first 8, block 8, epoch or leaf 8
 *   sums: d times 8; votes: d times 4
 * Groups hold the clients whose item is what the announcement asks for and begins with the block `first` (at own pace:
 * is the item of that number), as those of clients in step do; it comes after all their items of the list. */
#ifndef CAUCUS_ALGO_RELAYED_H
#define CAUCUS_ALGO_RELAYED_H

#include <caucus/coordinator.h>

/* A partial that was read: it points into the bytes. */
typedef struct caucus_relayed {
    uint64_t serial; /* of the announcement in force when it was made */
    uint64_t first;  /* of the items of groups */
    int64_t q; /* svt: what the expert in force has cost; otherwise as the family counts it (algo/relayed/partial.h) */
    uint8_t values; /* 0 none, 1 sums, 2 votes */
    uint32_t groups, items;
    const uint8_t *group, *item, *value;
} caucus_relayed;

/** Returns: CAUCUS_OK, CAUCUS_E_FORMAT. */
caucus_status caucus_relayed_read(const caucus_plan *plan, const uint8_t *bytes, size_t size,
                                  caucus_relayed *ret) CAUCUS_MUST_CHECK;

/** Items in it, and the numbers that their reports had, if this is in force. */
uint32_t caucus_relayed_count(const caucus_plan *plan, const caucus_relayed *partial);
uint64_t caucus_relayed_scalars(const caucus_plan *plan, const caucus_relayed *partial, const caucus_announcement *now);

/* Who may send for whom, and what is said of items that are not taken. */
typedef struct caucus_relayed_from {
    const uint16_t *placed; /* [m]: at which relay each client is; NULL: all are here */
    uint16_t relay;
    void (*refused)(void *user, uint32_t client, caucus_status why); /* NULL: nobody asks */
    void (*answered)(void *user, uint32_t client); /* each that answers, if it is taken in the end; NULL: nobody asks */
    /* The same for clients first + 1, ..., first + 8 whose bits are set; NULL: one by one. */
    void (*answered_eight)(void *user, uint32_t first, uint8_t bits);
    /* The same for all of clients first + 1, ..., first + count; NULL: eight by eight. */
    void (*answered_all)(void *user, uint32_t first, uint32_t count);
    void *user;
} caucus_relayed_from;

/** Merge it, whole or not at all; nobody counts meanwhile.
 *  Out:     *ret_answered  how many answers to the announcement in force were in it.
 *  Returns: CAUCUS_OK: taken; CAUCUS_E_ORDER: it is not of the announcement in force; CAUCUS_E_CONFLICT: it has items
 *           that are not counted, which `refused` was told: CAUCUS_E_DUPLICATE, CAUCUS_E_ORDER, or CAUCUS_E_PATH, its
 *           client is elsewhere; CAUCUS_E_FORMAT: no relay that counts as this coordinator does can have made it;
 *           CAUCUS_E_MEMORY. But for CAUCUS_OK the machine is as it was.
 *  Privacy: nothing is released.
 *  Cost:    O(items + clients in groups + d). */
caucus_status caucus_relayed_take(caucus_coordinator *coordinator, const caucus_relayed *partial,
                                  const caucus_relayed_from *from, uint32_t *ret_answered) CAUCUS_MUST_CHECK;

#define CAUCUS_FOLLOWER_ARRAYS 3

/* The other side. A follower is a machine that counts as the coordinator does and decides nothing: it has no key, and
 * hears what was announced. Everything is asked of it as of a coordinator but decisions and saved states. */

/** In:      now        the announcement in force
 *           cost_next, sums_next  what comes next from clients in step (caucus_follower_common() of the coordinator)
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (no coordinator of this plan announces that), CAUCUS_E_MEMORY. */
caucus_status caucus_follower_new(const caucus_plan *plan, const caucus_announcement *now, uint64_t cost_next,
                                  uint64_t sums_next, caucus_coordinator **ret) CAUCUS_MUST_CHECK;
/** Hear the next one. What was counted stays counted; a cycle that has ended is forgotten as by the coordinator.
 *  Returns: CAUCUS_OK, CAUCUS_E_ORDER (it is not the next), CAUCUS_E_FORMAT; then it is as it was. */
caucus_status caucus_follower_hear(caucus_coordinator *follower, const caucus_announcement *next) CAUCUS_MUST_CHECK;
/** What the coordinator has counted of a client (1..m) that comes to this relay: caucus_coordinator_counted() and
 *  caucus_coordinator_answered() of it. Nothing of the client is counted here meanwhile. */
void caucus_follower_place(caucus_coordinator *follower, uint32_t client, uint64_t cost_next, uint64_t sums_next,
                           uint64_t answered);
/** What was counted of a client (1..m), and back to it: for who counts an item that is not counted in the end. Between
 *  the two the follower may hear nothing. */
typedef struct caucus_follower_mark {
    uint64_t value[CAUCUS_FOLLOWER_ARRAYS], shown[CAUCUS_FOLLOWER_ARRAYS];
    uint8_t form[CAUCUS_FOLLOWER_ARRAYS];
} caucus_follower_mark;
void caucus_follower_remember(const caucus_coordinator *follower, uint32_t client, caucus_follower_mark *ret);
void caucus_follower_undo(caucus_coordinator *follower, uint32_t client, const caucus_follower_mark *mark);
/** What comes next from clients in step, in a coordinator or a follower; 0 where the algorithm has none. */
void caucus_follower_common(const caucus_coordinator *coordinator, uint64_t *ret_cost_next, uint64_t *ret_sums_next);

/* Count reports, and remember which. */
typedef struct caucus_gather caucus_gather;

/** In:      follower  a machine that has heard what the coordinator has announced; it notes what it counts; borrowed.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_gather_new(caucus_coordinator *follower, caucus_gather **ret) CAUCUS_MUST_CHECK;
/** Wipes; NULL is allowed. */
void caucus_gather_free(caucus_gather *gather);
/** As caucus_coordinator_receive(), or CAUCUS_E_MEMORY: not counted. */
caucus_status caucus_gather_count(caucus_gather *gather, const caucus_report *report) CAUCUS_MUST_CHECK;
/** Items that are in it. */
uint64_t caucus_gather_items(const caucus_gather *gather);
/** The partial as bytes. ret has caucus_gather_bytes(). */
size_t caucus_gather_bytes(const caucus_gather *gather);
void caucus_gather_write(const caucus_gather *gather, uint8_t *ret);
/** Begin the next one: it is empty again, and what it held is wiped. */
void caucus_gather_clear(caucus_gather *gather);

#endif
