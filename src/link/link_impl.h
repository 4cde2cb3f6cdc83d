/* SPDX-License-Identifier: Apache-2.0 */
/* link_impl.h: what link.c (the session) and link_state.c (what survives a restart) share.
 * layer: link */
#ifndef CAUCUS_LINK_LINK_IMPL_H
#define CAUCUS_LINK_LINK_IMPL_H

#include <caucus/link.h>

#include "link/redial.h"
#include "plan/plan.h"
#include "wire/wire.h"

/* Announcements that may wait for their losses; a coordinator that is further ahead is not read from. */
#define CAUCUS_LINK_QUEUE 4096u
/* Reports that may wait to be counted. An honest coordinator counts them with every announcement. */
#define CAUCUS_LINK_ITEMS 65536u

/* One report: an immutable item (docs/PRIVACY.md, "Reports on a network that fails"). */
typedef struct caucus_link_item {
    uint8_t *bytes; /* the whole frame, made once */
    size_t size;
    uint64_t serial; /* of the announcement it answers */
    caucus_ask kind;
    uint64_t block;
    bool saved;    /* durable: only now may it be sent */
    bool sent;     /* wholly handed out before, by this process or perhaps by the one it was restored from */
    bool unwanted; /* counted while it was being sent again: the frame is finished, then it goes */
} caucus_link_item;

struct caucus_link {
    const caucus_plan *plan;
    uint8_t plan_hash[CAUCUS_PLAN_HASH_BYTES];
    uint32_t index;
    caucus_client *machine;
    caucus_link_save save;
    void *user;
    uint64_t answered; /* announcements whose report has become an item, or was not wanted: serial + 1; own pace: the
                          number of the last item */
    bool over;         /* the machine has heard that nothing more is asked */
    bool over_saved;
    bool unkept;      /* own pace: losses were taken that are not in a saved state yet */
    bool born;        /* made without a state, and not welcomed yet: is its state lost? */
    bool careful;     /* made without a state: reports that nobody can count any more are not made */
    bool new_device;  /* a person says that it is not */
    uint64_t counted; /* announcements below it were answered before the state was lost (stoch) */

    caucus_link_item *item; /* [items], oldest first */
    size_t items, items_room;
    size_t next;   /* the item to send next on this connection */
    size_t offset; /* bytes of it already handed out */

    caucus_announcement *queue; /* ring of CAUCUS_LINK_QUEUE */
    uint32_t queue_first, queue_count;
    bool over_received;            /* the last one in the queue (or heard) asks for nothing more */
    uint64_t cost_next, sums_next; /* the most the coordinator has said to have counted */

    caucus_redial redial; /* which address, when, how long */
    bool connected, welcomed, leaving;
    uint32_t deadline_ms;                                /* of the last WELCOME; 0 = none, or not welcomed yet */
    uint8_t control[2 * (CAUCUS_WIRE_TEXT_BYTES + 128)]; /* HELLO, GOODBYE */
    size_t control_size, control_sent;
    uint8_t *in; /* bytes received and not yet read */
    size_t in_size, in_room;
    int64_t *scratch; /* [d]: what caucus_wire_take wants */
    char last_words[CAUCUS_WIRE_TEXT_BYTES];
    caucus_link_counts counts;
    uint64_t received_before; /* bytes received when this connection began */
};

void caucus_link_item_free(caucus_link_item *item);
/* Room for one more item, zeroed, at the end; NULL if there is no memory. */
caucus_link_item *caucus_link_item_add(caucus_link *link);

/* A connection begins: put the greeting in place. And ends: forget what belonged to it. (link.c) */
void caucus_link_greet(caucus_link *link);
void caucus_link_forget_connection(caucus_link *link);

/* Give the state to `save`. On success every item is saved. (link_state.c) */
caucus_status caucus_link_store(caucus_link *link, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/* Machine, items, answered and over from bytes; the rest of *link is set up already. (link_state.c) */
caucus_status caucus_link_load(caucus_link *link, const caucus_key *key, const uint8_t *state, size_t bytes,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
