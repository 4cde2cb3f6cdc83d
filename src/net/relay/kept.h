/* SPDX-License-Identifier: Apache-2.0 */
/* kept.h: reports that a relay has counted and that are not durable yet.
 * layer: net
 *
 * Each with what was counted of its client before it, so that counting it can be undone. Reports whose values do not
 * fit into what may be kept are undone, too, but cannot be counted again. One list a loop, under the loop's lock;
 * wiped.
 *
 * Long ones are all of one length, and as many of them come with the next step: what held them is used again, wiped, so
 * that memory is not given to the system and asked for once a report. */
#ifndef CAUCUS_NET_RELAY_KEPT_H
#define CAUCUS_NET_RELAY_KEPT_H

#include <stdatomic.h>

#include "algo/relayed/relayed.h"

typedef struct caucus_kept_report {
    struct caucus_kept_report *next;
    uint64_t order; /* in which they were counted, over all loops */
    uint64_t n;     /* of the partial it was sent with; 0: none yet */
    size_t bytes;   /* of values; 0 and report.count > 0: they are not kept */
    caucus_follower_mark before;
    caucus_report report; /* value: those below */
    int64_t value[];
} caucus_kept_report;

typedef struct caucus_kept {
    caucus_kept_report *first, **last, **before_last;
    caucus_kept_report *spare; /* wiped, with room for spare_bytes of values each */
    size_t spare_bytes;
} caucus_kept;

/** What all loops may keep together. */
typedef struct caucus_kept_room {
    _Atomic uint64_t used, order;
    uint64_t most;
} caucus_kept_room;

void caucus_kept_init(caucus_kept *kept);
/** One that is about to be counted. Returns: false without memory: it is not to be. */
bool caucus_kept_add(caucus_kept *kept, caucus_kept_room *room, const caucus_report *report,
                     const caucus_follower_mark *before) CAUCUS_MUST_CHECK;
/** All that are not sent yet are sent with partial n. */
void caucus_kept_sent(caucus_kept *kept, uint64_t n);
/** Take all of them out: a list, in order; the caller puts them back or drops them. */
caucus_kept_report *caucus_kept_take_all(caucus_kept *kept);
/** The one that was added last, which was not counted after all. */
void caucus_kept_drop_last(caucus_kept *kept, caucus_kept_room *room);
void caucus_kept_put(caucus_kept *kept, caucus_kept_report *report);
/** Forget it. kept: the list whose report it was. */
void caucus_kept_drop(caucus_kept *kept, caucus_kept_report *report, caucus_kept_room *room);
void caucus_kept_free(caucus_kept *kept, caucus_kept_room *room);

#endif
