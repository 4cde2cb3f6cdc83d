/* SPDX-License-Identifier: Apache-2.0 */
/* relay_impl.h: what the parts of a relay share.
 * layer: net
 *
 *   relay.c         open, the thread, its clocks
 *   relay_begin.c   a session: greeting, state, history
 *   relay_hear.c    announcements, and partials that have to be made again
 *   relay_count.c   a loop's batch
 *   relay_send.c    partials
 *   relay_place.c   what loops ask for and are told: places
 *   relay_texts.c   its page and metrics
 *   kept.c          reports that are not durable yet */
#ifndef CAUCUS_NET_RELAY_RELAY_IMPL_H
#define CAUCUS_NET_RELAY_RELAY_IMPL_H

#include "net/loop.h"
#include "net/relay/kept.h"
#include "net/relay/relay.h"
#include "relay/line_thread.h"
#include "relay/saying.h"
#include "store/coordinator/chain.h"

/* What the coordinator has said about a client that wants a place. */
typedef struct caucus_relay_answer {
    uint64_t ticket, session, cost_next, sums_next, answered, cost_shown, sums_shown, committed;
    uint32_t client;
    uint8_t code;
    char text[CAUCUS_WIRE_TEXT_BYTES];
} caucus_relay_answer;

/* Somebody has no place here any more; session 0: whichever it has; code 0: it may come again at once. */
typedef struct caucus_relay_out {
    uint32_t client;
    uint64_t session;
    uint8_t code;
    char text[96];
} caucus_relay_out;

/* Lists that grow. */
typedef struct caucus_relay_asks {
    struct caucus_relay_asked {
        uint64_t ticket, heard;
        uint32_t client;
        char serial[CAUCUS_SERIAL_BYTES];
    } * at;
    uint32_t count, room;
} caucus_relay_asks;
typedef struct caucus_relay_lefts {
    struct caucus_relay_gone {
        uint64_t session;
        uint32_t client;
        bool goodbye;
    } * at;
    uint32_t count, room;
} caucus_relay_lefts;
typedef struct caucus_relay_answers {
    caucus_relay_answer *at;
    uint32_t count, room;
} caucus_relay_answers;
typedef struct caucus_relay_outs {
    caucus_relay_out *at;
    uint32_t count, room;
} caucus_relay_outs;

/* What a loop has beside what every loop has. */
struct caucus_relay_loop {
    caucus_gather *gather; /* under the loop's lock, as `kept` */
    caucus_kept kept;
    caucus_relay_answers answers; /* under relay->lock, as `outs` */
    caucus_relay_outs outs;
    _Atomic bool news;
    uint32_t waiting; /* connections that wait for their place; the loop's alone */
};

/* What a connection has beside what every connection has: the loop's alone. */
struct caucus_relay_client {
    uint64_t ticket; /* of the place it waits for; 0: it has one */
    uint64_t asked_ns;
    uint64_t heard;
    uint32_t client;
    bool placed; /* `answer` has come */
    caucus_relay_answer answer;
    char serial[CAUCUS_SERIAL_BYTES];
};

struct caucus_relay {
    caucus_relay_settings set;
    caucus_line *line;
    caucus_seal_owner owner;
    uint8_t coordinator_key[32];
    caucus_seal_about about;
    char up[CAUCUS_LINE_SUBJECT_BYTES], down[CAUCUS_LINE_SUBJECT_BYTES];
    caucus_server *server;
    caucus_saying say;

    /* The thread's, or of who begins a session. */
    caucus_seal_greeted greeted;
    caucus_seal seal;
    bool in_session;
    uint64_t term;    /* the highest that was authenticated */
    uint64_t heard;   /* announcements, in this process: whoever has committed fewer is an older copy */
    uint64_t chained; /* of these, from the first on, so many are in `chain` */
    uint8_t chain[CAUCUS_CHAIN_BYTES];
    uint64_t heard_ns; /* when the coordinator was last heard */
    uint64_t here_ns, greet_ns, history_ns, woke_ns;
    uint64_t greet_wait_ns; /* so long after the last greeting another one may come */
    uint64_t step_ns;       /* when the announcement in force was heard */
    uint64_t taken;         /* n of the last partial that was taken */
    uint64_t drain_ns;
    struct {
        uint8_t *bytes; /* NULL: none */
        size_t size;
        uint64_t n, serial, sent_ns;
        bool stale;
    } flight;
    caucus_relay_end end;

    caucus_line_thread thread;
    _Atomic uint64_t tickets;
    _Atomic uint64_t first_ns; /* when the first answer came that is not sent yet; 0: there is none */
    _Atomic uint16_t *pending; /* [m]: its reports that are kept */
    caucus_kept_room room;
    pthread_mutex_t lock; /* of the lists; nobody asks for another lock under it */
    caucus_relay_asks asks;
    caucus_relay_lefts lefts;
    _Atomic uint64_t shown_term, shown_session, sent, accepted, stale, refused, durable, in_flight, hung_up;
    _Atomic uint64_t shown_clients, shown_heard;
    _Atomic bool shown_ready;
};

/** Send what is in relay->say. */
void caucus_relay_say(caucus_relay *relay);
/** Open a message of the coordinator where it lies. Returns: false: it is not of this session. */
bool caucus_relay_unseal(caucus_relay *relay, caucus_letter *letter, caucus_hearing *ret);
/** Say it if NATS has ended the connection. */
void caucus_relay_look_after_line(caucus_relay *relay);
void caucus_relay_greet(caucus_relay *relay);
/** Is it the answer to the greeting, and of no term that is over? Then *ret is the session. */
bool caucus_relay_answers_greeting(caucus_relay *relay, const caucus_letter *letter, caucus_seal *ret);
void caucus_relay_ask_history(caucus_relay *relay, uint64_t from);
void caucus_relay_say_here(caucus_relay *relay);
/** An announcement was heard, maybe once more: if it is the next one the chain goes on with it. */
void caucus_relay_chain(caucus_relay *relay, const caucus_announcement *announcement);
/** The session is over, or the run: end the server. */
void caucus_relay_stop(caucus_relay *relay, caucus_relay_end why);

/** Announcements, rising, from a serial on; those up to partial n are in the last of them. */
void caucus_relay_hear(caucus_relay *relay, const caucus_announcement *list, uint32_t count, uint64_t durable,
                       bool started);
/** The partial in flight was refused because of these clients. */
void caucus_relay_leave_out(caucus_relay *relay, const uint32_t *client, uint32_t count);

/** A loop has counted, and has let go of its lock: is it time to send? */
void caucus_relay_counted(caucus_server *server);
/** Send what is due, or what is in flight again. Returns: when to look again, in ns; 0: when something happens. */
uint64_t caucus_relay_send(caucus_relay *relay);
void caucus_relay_forget_flight(caucus_relay *relay);
/** Is there anything that is not durable yet? */
bool caucus_relay_has_unsaved(caucus_relay *relay);

/** Send what loops ask for, and tell them what came. */
void caucus_relay_say_places(caucus_relay *relay);
void caucus_relay_hear_placed(caucus_relay *relay, caucus_hearing *message);
void caucus_relay_hear_out(caucus_relay *relay, caucus_hearing *message);
void caucus_relay_hang_up(caucus_relay *relay, uint32_t client);
void caucus_relay_wake_loops(caucus_relay *relay);

#endif
