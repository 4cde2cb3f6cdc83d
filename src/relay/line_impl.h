/* SPDX-License-Identifier: Apache-2.0 */
/* line_impl.h: what the parts of line.h share.
 * layer: relay
 *
 *   line.c          open, close, the queue, publishing
 *   line_connect.c  a connection: made, and made anew if the library has given it up
 *   line_none.c     of a program without libnats */
#ifndef CAUCUS_RELAY_LINE_IMPL_H
#define CAUCUS_RELAY_LINE_IMPL_H

#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>

#include "relay/line.h"
#include "relay/nkey.h"

#define CAUCUS_LINE_SUBJECTS 8
#define CAUCUS_LINE_SERVERS 16
#define CAUCUS_LINE_AGAIN_MS 250

struct caucus_line {
    char *urls, *ca, *seed, *name;
    const char *server[CAUCUS_LINE_SERVERS]; /* in urls */
    int servers;
    bool tls;
    natsConnection *connection; /* written under `lock`, by who takes letters */
    natsSubscription *subscription[CAUCUS_LINE_SUBJECTS];
    char subject[CAUCUS_LINE_SUBJECTS][CAUCUS_LINE_SUBJECT_BYTES];
    uint32_t subscriptions;
    int wake;
    pthread_mutex_t lock; /* of the queue, and of all until `first` */
    pthread_cond_t unused;
    uint32_t using; /* by how many threads of the library */
    bool closing;   /* by caucus_line_close() */
    bool connecting;
    bool given_up; /* by the library: another connection is made at again_ns */
    bool told;     /* that it was, since somebody was there */
    uint64_t again_ns, wait_ms;
    char why[CAUCUS_LINE_WHY_BYTES];
    caucus_letter *first, **last;
    size_t queued;
    _Atomic uint64_t reconnects, drops;
    caucus_nkey nkey; /* kept for connecting again */
};

/* The library's: something has come. */
void caucus_line_on_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *user);

/** Connect. Returns: NATS_OK, also if nobody is there yet: the library goes on trying. */
natsStatus caucus_line_connect(caucus_line *line);
/** Hear subject number i. */
natsStatus caucus_line_subscribe(caucus_line *line, uint32_t i);
/** Let go of the connection. */
void caucus_line_disconnect(caucus_line *line);
/** If the library has given the connection up and it is time: make another, which hears the same. */
void caucus_line_connect_again(caucus_line *line);

#endif
