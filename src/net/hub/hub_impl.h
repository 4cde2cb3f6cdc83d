/* SPDX-License-Identifier: Apache-2.0 */
/* hub_impl.h: what the parts of hub.h share.
 * layer: net
 *
 *   hub.c          sessions, their clocks, what is said to everybody
 *   hub_place.c    who comes to a relay and who leaves it
 *   hub_partial.c  partials
 *   hub_step.c     what they do to the step in hand */
#ifndef CAUCUS_NET_HUB_HUB_IMPL_H
#define CAUCUS_NET_HUB_HUB_IMPL_H

#include "net/hub/hub.h"
#include "net/loop.h"
#include "relay/line_thread.h"
#include "relay/saying.h"

/* A relay. But for what is said below it belongs to the thread. */
typedef struct caucus_hub_peer {
    caucus_relay_entry entry;
    caucus_seal_about about;
    caucus_seal seal, next_seal; /* in force; of a greeting that was answered meanwhile */
    char down[CAUCUS_LINE_SUBJECT_BYTES], up[CAUCUS_LINE_SUBJECT_BYTES];
    bool answered;             /* a greeting of it: a session, which is not in force before it has said something */
    bool here;                 /* it is in force */
    bool has_state;            /* it has said something that shows so; until then it is told whenever it is heard */
    bool barred;               /* it has sent what no relay sends: not heard again by this process */
    uint64_t heard_ns;         /* when it was last heard */
    uint64_t told;             /* announcements it was told of */
    bool told_started;         /* and whether the run has begun */
    uint64_t news_ns;          /* when it was told something last */
    uint64_t taken;            /* n of the last partial that was taken; written with all locks held */
    uint64_t decided, durable; /* the last one that a decision, and an announcement, is made of; likewise */
    uint8_t *partial;          /* the pieces so far */
    size_t partial_size, partial_used;
    uint64_t partial_n;
    _Atomic bool shown_here; /* for caucus_hub_get_status(), from here on */
    _Atomic uint32_t clients;
    _Atomic uint32_t *in_chunk; /* [chunks]: of its clients, so many are in each; never fewer than `placed` says */
    _Atomic uint64_t accepted, stale, refused, shown_durable;
} caucus_hub_peer;

/* Somebody has no place there any more: to be told by the thread. */
typedef struct caucus_hub_notice {
    struct caucus_hub_notice *next;
    uint16_t relay;
    uint32_t client;
    uint64_t session;
    uint8_t code;
    char text[96];
} caucus_hub_notice;

struct caucus_hub {
    caucus_server *server;
    caucus_line *line;
    caucus_seal_owner owner;
    caucus_hub_peer *peer;
    uint32_t peers;
    caucus_saying say;
    uint64_t sessions; /* given out to relays by this process */
    caucus_line_thread thread;
    pthread_mutex_t notice_lock;
    caucus_hub_notice *notice, **notice_last;
    _Atomic uint64_t reports, cut_off;
};

/** Send what is in hub->say to this relay. */
void caucus_hub_say(caucus_hub *hub, caucus_hub_peer *peer);
/** It has sent what no relay sends: hear it no more. */
void caucus_hub_bar(caucus_hub *hub, caucus_hub_peer *peer, const char *why);

void caucus_hub_place(caucus_hub *hub, caucus_hub_peer *peer, caucus_hearing *message);
void caucus_hub_left(caucus_hub *hub, caucus_hub_peer *peer, caucus_hearing *message);
/** All of its clients are away. */
void caucus_hub_displace(caucus_hub *hub, caucus_hub_peer *peer);
void caucus_hub_partial(caucus_hub *hub, caucus_hub_peer *peer, caucus_hearing *message);
/** This client is placed at the relay, or is no more. */
void caucus_hub_count(caucus_hub_peer *peer, uint32_t client, bool here);
void caucus_hub_uncount(caucus_hub *hub, uint16_t relay, uint32_t client);
void caucus_hub_forget_partial(caucus_hub_peer *peer);

#endif
