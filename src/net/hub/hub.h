/* SPDX-License-Identifier: Apache-2.0 */
/* hub.h: the coordinator's side of relays: who is placed where, and the partials they send.
 * layer: net
 *
 * One thread of its own hears all relays (relay/line.h). A client is placed at a relay as it is at a connection
 * here: it has a session number in server->session, higher than any before it, so that whoever comes later has the
 * place and whoever had it finds out; server->placed says at which relay. A partial is merged with all locks held
 * (server_impl.h), as a step is decided: what is read of `placed` and of the machine cannot change meanwhile.
 *
 * A relay that is not heard for ten seconds has ended, as a connection does: its clients are away. */
#ifndef CAUCUS_NET_HUB_HUB_H
#define CAUCUS_NET_HUB_HUB_H

#include "relay/keys.h"
#include "relay/line.h"

struct caucus_server;
struct caucus_server_relays;
typedef struct caucus_hub caucus_hub;

typedef struct caucus_hub_settings {
    caucus_line_settings line; /* line.url NULL: no relays */
    const char *list, *key;    /* files: --relays, --relay-key */
} caucus_hub_settings;

#define CAUCUS_RELAYS_LISTED 64u /* so many are shown one by one */

/* What may be shown of them. */
typedef struct caucus_relay_status {
    uint16_t number;
    bool here;                         /* a session is in force */
    uint32_t clients;                  /* placed there */
    uint64_t accepted, stale, refused; /* partials */
    uint64_t durable;                  /* the last one that is in an announcement, of this session */
} caucus_relay_status;
typedef struct caucus_hub_status {
    uint32_t count; /* listed; 0: none */
    uint32_t here, clients;
    uint64_t accepted, stale, refused, cut_off, reports, reconnects, drops;
    bool up; /* connected to a server of NATS */
} caucus_hub_status;

/** Read the files and connect; nobody is heard before caucus_hub_run(). The server's settings say with whom.
 *  Returns: as caucus_line_open() and caucus_keys_read_list(). */
caucus_status caucus_hub_open(struct caucus_server *server, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Begin to hear them, in a thread. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_hub_run(caucus_hub *hub, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The server is ending: say so, and end the thread. NULL is allowed. */
void caucus_hub_end(caucus_hub *hub);
void caucus_hub_close(caucus_hub *hub);
/** Something has been announced, or it is time to go. Async-signal-safe; NULL is allowed. */
void caucus_hub_wake(caucus_hub *hub);

/** All locks are held: a step was decided on what has been taken so far; it may be announced now. NULL is allowed. */
void caucus_hub_decided(caucus_hub *hub);
void caucus_hub_published(caucus_hub *hub);
/** The place that this client had at a relay by this session is another's, or it is not let in any more: text says
 *  why. Any thread, holding any lock. */
void caucus_hub_out(caucus_hub *hub, uint16_t relay, uint32_t client, uint64_t session, uint8_t code, const char *text);

/** All locks are held: it is placed at a relay, and is not let in any more. */
void caucus_hub_remove(caucus_hub *hub, uint32_t client, uint8_t code, const char *text);
/** Likewise, since it has connected here. */
void caucus_hub_moved(caucus_hub *hub, uint16_t relay, uint32_t client, uint64_t session);

/** For people. ret_each [room] may be NULL. */
void caucus_hub_get_status(caucus_hub *hub, caucus_hub_status *ret, caucus_relay_status *ret_each, uint32_t room);

#endif
