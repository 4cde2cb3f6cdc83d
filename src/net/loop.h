/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h: one event loop of the coordinator: its listener, its connections, its buffers, its clocks.
 * layer: net
 *
 * A connection costs what its socket and TLS cost and a hundred bytes: frames are read into the loop's arena and parsed
 * where they lie; only a frame whose rest is still to come gets a buffer, which grows with what has come. What is to be
 * sent is a cursor into the history, so a slow reader costs nothing; only bytes that the socket would not take are
 * kept, at most one chunk of them. */
#ifndef CAUCUS_NET_LOOP_H
#define CAUCUS_NET_LOOP_H

#include "net/lobby.h"
#include "net/server_impl.h"

#define CAUCUS_CHUNK_BYTES 4096u        /* sent at once */
#define CAUCUS_HELLO_BYTES 256u         /* the longest frame of somebody who has not said who it is */
#define CAUCUS_ARENA_BYTES (256u << 10) /* read between two visits to the machine */
#define CAUCUS_READ_BYTES (16u << 10)
#define CAUCUS_BATCH_REPORTS 1024u
#define CAUCUS_REVOKED_TEXT "the certificate is revoked"
#define CAUCUS_EXPIRED_TEXT "the certificate has expired, by the clock here: come again later"

/* Waiting with a limit: one list per limit, oldest first, so that the head is the next to expire. */
typedef enum caucus_wait {
    CAUCUS_WAIT_HELLO,
    CAUCUS_WAIT_FRAME,
    CAUCUS_WAIT_LEAVING,
    CAUCUS_WAIT_KINDS,
    CAUCUS_WAIT_NONE
} caucus_wait;

typedef struct caucus_connection {
    struct caucus_connection *wait_next, *wait_previous; /* in the list of `wait` */
    struct caucus_connection *again_next;                /* has bytes that epoll does not know of */
    struct caucus_connection *dead_next;
    struct caucus_connection *lobby_next, *lobby_previous; /* lobby.c */
    caucus_loop *loop;
    SSL *ssl; /* NULL: plain TCP, or nothing has come yet */
    uint64_t expires_ns;
    uint64_t session;             /* 0 until HELLO */
    struct sockaddr_storage peer; /* where it came from */
    char *refused_certificate;    /* name and serial number of one that was not accepted, as a text; NULL: none */
    int fd;
    uint32_t at;      /* place in loop->connection */
    uint32_t client;  /* 1..m; 0 until HELLO */
    int64_t ends;     /* when its certificate expires, in seconds since 1970; 0: it has none */
    uint64_t next;    /* serial of the next announcement to send */
    uint8_t *pending; /* a frame that has come in part */
    uint32_t pending_used, pending_room, pending_need;
    uint8_t *out; /* bytes that the socket did not take */
    uint32_t out_used, out_sent;
    uint32_t lobby_entry;
    uint8_t lobby_list;
    bool in_lobby;
    uint8_t wait;        /* caucus_wait */
    uint8_t align_shift; /* read this far past a boundary of 8 bytes: then a report's values begin at one */
    bool shaken;         /* TLS handshake done (plain: from the start) */
    bool want_write;     /* EPOLLOUT is asked for */
    bool leaving;        /* send what is in `out`, then close */
    bool drained;        /* all is sent and our side is shut: waiting for theirs */
    bool dead, again;
    bool said_goodbye;
    bool parked; /* a decision is being committed, and takes long: nothing of it is read until that is over */
    struct caucus_relay_client *relayed; /* at a relay: its place at the coordinator (net/relay); NULL: it has none */
} caucus_connection;

/* What one core counts with: no other core writes near it. */
#define CAUCUS_LINE_BYTES 64u

struct caucus_loop {
    _Alignas(CAUCUS_LINE_BYTES) pthread_mutex_t lock; /* of `partial`, and of what counting writes (server_impl.h) */
    caucus_partial *partial;
    _Atomic uint64_t bytes_in, bytes_out; /* written by this loop alone */
    _Atomic uint32_t strangers;           /* in the lobby, likewise */
    _Atomic int64_t ends;                 /* the first of its clients' certificates to expire, likewise; 0: none */

    _Alignas(CAUCUS_LINE_BYTES) caucus_server *server;
    uint32_t number; /* 0, 1, ...; loop 0 has the clock */
    pthread_t thread;
    bool running;
    int epoll, listener, wake; /* wake: eventfd */
    caucus_connection **connection;
    uint32_t connections, connections_room;
    caucus_connection *wait_head[CAUCUS_WAIT_KINDS], *wait_tail[CAUCUS_WAIT_KINDS];
    caucus_connection *again, *dead;
    caucus_lobby *lobby; /* those who have not said who they are */
    uint64_t now_ns;
    uint64_t waits_ns;     /* 0, or when to look at the list of the excused again */
    uint64_t stop_ns;      /* 0, or when to look again whether the run is to be ended */
    uint64_t log_ns;       /* 0, or when to tell again what was held back of the log */
    uint64_t accept_ns;    /* 0, or when to accept again: out of file descriptors */
    uint64_t watch_ns;     /* 0, or when to look at certificates again (watch.c) */
    uint64_t revoked_seen; /* the list as this loop has seen it (caucus_revoked_news) */

    uint8_t *arena; /* CAUCUS_ARENA_BYTES */
    size_t arena_used;
    int64_t *scratch; /* values that lie unaligned in the arena */
    size_t scratch_used, scratch_room;
    caucus_report report[CAUCUS_BATCH_REPORTS];
    caucus_connection *from[CAUCUS_BATCH_REPORTS];
    caucus_status answer[CAUCUS_BATCH_REPORTS];
    size_t reports;
    uint8_t chunk[CAUCUS_CHUNK_BYTES];
    struct caucus_relay_loop *relayed; /* of a relay (net/relay); NULL: this is none */
};

/** A loop on a bound, listening, non-blocking socket, which it owns from now on. */
caucus_status caucus_loop_new(caucus_server *server, int listener, uint32_t number, caucus_loop **ret,
                              caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_loop_free(caucus_loop *loop);
void *caucus_loop_run(void *loop); /* until the server stops */

/* Who came, who went, who was turned away (loop_log.c): lines with addresses and certificates. The same about the same
 * address or client is written once a second at most (refusals.h). */

/** Somebody is turned away or given up: count it, and say so. c: the connection, NULL if it was never made one. */
void caucus_loop_refused(caucus_loop *loop, const caucus_connection *c, const struct sockaddr_storage *from,
                         caucus_reason reason, const char *why);
/** Somebody has gone, with or without a goodbye: is that the end? */
void caucus_loop_gone(caucus_server *server);
void caucus_loop_joined(const caucus_connection *c);
void caucus_loop_left(const caucus_connection *c);
/** Lines that were held back because the same was said a moment ago are told by their number, or a burst would leave
 *  one line and be forgotten. Loop 0 does so once a second. */
void caucus_loop_tell_held_back(caucus_server *server, uint64_t now_ns);
void caucus_loop_log_turn(caucus_loop *loop);
/** For a new TLS connection: remember the certificate that is being judged, also if it is found wrong. */
void caucus_loop_note_certificate(caucus_connection *c);

/* Between loop.c, loop_input.c, loop_output.c and watch.c. */

void caucus_wait_for(caucus_connection *c, caucus_wait wait); /* CAUCUS_WAIT_NONE takes it off its list */
void caucus_connection_end(caucus_connection *c);             /* mark dead: freed at the end of this turn */
void caucus_connection_listen(caucus_connection *c);          /* tell epoll what is wanted now */

/** No file could be opened for a connection: count it, and say so, a line a minute at most. (descriptors.c) */
void caucus_descriptors_out(caucus_loop *loop, int why);

/** If a second has passed: cut off who must not be here any longer. */
void caucus_watch_turn(caucus_loop *loop);
/** The coordinator's side of TLS, with the certificate in force. */
caucus_status caucus_watch_open(caucus_connection *c) CAUCUS_MUST_CHECK;

/** Read what has come and deal with it. */
void caucus_input_read(caucus_connection *c);
/** Count the batch; the arena is free again. */
void caucus_input_flush(caucus_loop *loop);

/** It is let in, having heard so many: what it is told of has been counted of it. */
void caucus_input_welcome(caucus_connection *c, uint32_t client, uint64_t heard, const char *serial,
                          const caucus_taken *shown);

/** Send what can be sent: leftovers, then announcements. */
void caucus_output_send(caucus_connection *c);
/** Send one frame before anything else that is not under way yet. */
void caucus_output_frame(caucus_connection *c, const caucus_frame *frame);
/** Say why and close. */
void caucus_output_refuse(caucus_connection *c, caucus_refusal_code code, const char *text);
/** The same where the code does not say enough for logs and metrics. */
void caucus_output_refuse_for(caucus_connection *c, caucus_refusal_code code, caucus_reason reason, const char *text);
void caucus_output_goodbye(caucus_connection *c, const char *text);

#define CAUCUS_IO_AGAIN (-1)
#define CAUCUS_IO_END (-2)
/** Add to a number that only this loop writes and others read. */
static inline void caucus_loop_add(_Atomic uint64_t *number, uint64_t more) {
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + more, memory_order_relaxed);
}
/** What has become of a connection on which OpenSSL could not read or write: CAUCUS_IO_AGAIN or CAUCUS_IO_END. */
static inline ptrdiff_t caucus_io_tls_failed(const caucus_connection *c) {
    const int why = SSL_get_error(c->ssl, 0);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? CAUCUS_IO_AGAIN : CAUCUS_IO_END;
}
/** Bytes read or written, CAUCUS_IO_AGAIN, or CAUCUS_IO_END (closed or broken). */
ptrdiff_t caucus_io_read(caucus_connection *c, uint8_t *to, size_t room);
ptrdiff_t caucus_io_write(caucus_connection *c, const uint8_t *from, size_t bytes);

#endif
