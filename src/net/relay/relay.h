/* SPDX-License-Identifier: Apache-2.0 */
/* relay.h: a relay: to its clients a coordinator, to the coordinator the sums of what they report.
 * layer: net
 *
 * It is the coordinator's own server (server.h) with another machine: a follower (algo/relayed), which hears what was
 * announced and counts, has no key, decides nothing and keeps nothing on disk. What a client sends is counted by the
 * loop that has the client, as ever, into sums of that loop that remember which items they are (caucus_gather); a
 * thread sends them on as a partial, hears announcements and asks for places.
 *
 * Before a client is let in the coordinator has placed it (WELCOME waits for that), with what has been counted of
 * it. One session with the coordinator is one life of the server: a coordinator that was started again, or one that
 * has not been heard for too long, ends it: every client is told goodbye and comes again, here or elsewhere, and
 * sends again what is not durable. So nothing has to be carried over from one session to the next but how much was
 * heard.
 *
 * Reports are kept until an announcement says that they are in it (kept.h): a partial that comes too late for its
 * step is made again from them. What is no longer kept cannot be made again: its clients are hung up on, and send it
 * again. */
#ifndef CAUCUS_NET_RELAY_RELAY_H
#define CAUCUS_NET_RELAY_RELAY_H

#include <caucus/message.h>

#include "relay/line.h"
#include "relay/seal.h"

struct caucus_server;
struct caucus_loop;
struct caucus_connection;
struct caucus_frame;
typedef struct caucus_relay caucus_relay;

typedef struct caucus_relay_settings {
    caucus_line_settings line;
    const char *key, *coordinator; /* files: its own secret key, the coordinator's public one */
    uint16_t number;               /* from 1 */
    const char *name;              /* of the run; NULL = "live" */
    uint8_t plan_hash[32];
    uint32_t gather_ms;  /* how long answers are waited for after the first; 0 = 20 */
    uint32_t cut_off_ms; /* so long without the coordinator: clients are told goodbye; 0 = 30000 */
    uint64_t keep_bytes; /* of reports; 0 = 256 MB */
} caucus_relay_settings;

typedef enum caucus_relay_end {
    CAUCUS_RELAY_LOST,    /* the session is over: open the server again */
    CAUCUS_RELAY_OVER,    /* the run is */
    CAUCUS_RELAY_STOPPED, /* somebody wanted it to */
    CAUCUS_RELAY_CLOSED   /* the coordinator has stopped: it may come again */
} caucus_relay_end;

/* What may be shown of it. */
typedef struct caucus_relay_own_status {
    uint64_t term, session, sent, accepted, stale, refused, durable, in_flight, kept_bytes, hung_up, reconnects, drops;
    uint64_t clients, announcements; /* that are here, that were heard, as of a moment ago */
    bool up;                         /* connected to a server of NATS */
    bool ready;                      /* the coordinator has been heard just now, and clients are let in */
} caucus_relay_own_status;

/** Connect to NATS; the settings' strings are borrowed.
 *  Returns: as caucus_line_open(), and what is wrong with the key files. */
caucus_status caucus_relay_open(const caucus_relay_settings *settings, caucus_relay **ret,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** After its server is closed. NULL is allowed. */
void caucus_relay_close(caucus_relay *relay);
/** Why the server has ended. */
caucus_relay_end caucus_relay_ended(const caucus_relay *relay);
void caucus_relay_get_status(const caucus_relay *relay, caucus_relay_own_status *ret);

/* For the server. */

/** Wait for the coordinator, and hear all that was announced: then there is a machine, and who knocks may be let in.
 *  *stop: not 0: give up.
 *  Returns: CAUCUS_OK, CAUCUS_E_STOPPED, CAUCUS_E_FORMAT (it announces what this plan never does), CAUCUS_E_MEMORY. */
caucus_status caucus_relay_begin(caucus_relay *relay, struct caucus_server *server,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The loops run: a thread of its own from now on, until the server ends. */
caucus_status caucus_relay_run(caucus_relay *relay, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_relay_end_run(caucus_relay *relay);
/** Somebody wants to stop, or something was counted. Async-signal-safe. */
void caucus_relay_wake(caucus_relay *relay);

/** For a loop: ask for the place of a client that has said HELLO; that it has gone; take what the thread has for it. */
void caucus_relay_ask(struct caucus_connection *connection, uint32_t client, uint64_t heard, const char *serial);
void caucus_relay_left(struct caucus_connection *connection);
void caucus_relay_turn(struct caucus_loop *loop);
/** What a loop of a relay has beside others, made with the loop. */
caucus_status caucus_relay_loop_new(struct caucus_loop *loop, caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_relay_loop_free(struct caucus_loop *loop);
/** For a loop: count its batch, as caucus_step_count() does. */
void caucus_relay_count(struct caucus_loop *loop);
/** A connection has its client's place here from now on: what the coordinator has counted of it. */
void caucus_relay_placed(struct caucus_connection *connection);
/** What a connection may be told was counted of its client: until the next announcement what the coordinator has said.
 *  Under the loop's lock. */
void caucus_relay_shown(const struct caucus_connection *connection, uint64_t *ret_cost_next, uint64_t *ret_sums_next);

#endif
