/* SPDX-License-Identifier: Apache-2.0 */
/* line_connect.c: a connection to NATS: made, and made anew where the library gives it up. See line.h. */
#ifdef CAUCUS_NATS

#include "relay/line_impl.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/clock.h"

#define PING_MS 5000
#define AGAIN_MS CAUCUS_LINE_AGAIN_MS
#define AGAIN_MOST_MS 8000

static void let_go(caucus_line *line) {
    pthread_mutex_lock(&line->lock);
    line->using -= 1;
    pthread_cond_signal(&line->unused);
    pthread_mutex_unlock(&line->lock);
}

/* A subscription's thread says nothing more. */
static void on_complete(void *user) {
    let_go(user);
}

/* Under `lock`: there is no connection, and another one is made after a while, longer each time. */
static void make_again_later(caucus_line *line, const char *why) {
    line->given_up = true;
    line->again_ns = caucus_clock_ns() + line->wait_ms * 1000000u;
    line->wait_ms = 2 * line->wait_ms < AGAIN_MOST_MS ? 2 * line->wait_ms : AGAIN_MOST_MS;
    (void)snprintf(line->why, sizeof line->why, "%s", why);
}

/* Under `lock`: somebody is there. */
static void made(caucus_line *line) {
    line->wait_ms = AGAIN_MS;
    line->told = false;
}

/* The connection's says nothing more, either. However often it may try, the library gives a connection up if a server
 * refuses the same nkey twice, or ends it with an error that the library does not know (too many connections). */
static void on_closed(natsConnection *connection, void *user) {
    caucus_line *line = user;
    const char *why = NULL;
    const natsStatus s = natsConnection_GetLastError(connection, &why);
    if (s == NATS_NO_SERVER) /* left, that is, of those that it was told */
        why = "no server lets it in";
    pthread_mutex_lock(&line->lock);
    if (!line->closing && (connection == line->connection || line->connecting)) /* not one that was let go of */
        make_again_later(line, why && why[0] ? why : natsStatus_GetText(s));
    pthread_mutex_unlock(&line->lock);
    caucus_line_wake(line);
    let_go(line);
}

static void on_reconnected(natsConnection *connection, void *user) {
    caucus_line *line = user;
    (void)connection;
    atomic_fetch_add(&line->reconnects, 1);
    pthread_mutex_lock(&line->lock);
    made(line);
    pthread_mutex_unlock(&line->lock);
    caucus_line_wake(line);
}

/* The library's own queue of a subscription was full, or the like. Without this it would write to standard error. */
static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus why, void *user) {
    caucus_line *line = user;
    (void)connection, (void)subscription;
    if (why == NATS_SLOW_CONSUMER)
        atomic_fetch_add(&line->drops, 1);
}

/* The library frees what it is given. */
static natsStatus sign(char **ret_text, unsigned char **ret, int *ret_size, const char *nonce, void *user) {
    const caucus_line *line = user;
    (void)ret_text;
    *ret = malloc(64);
    if (!*ret)
        return NATS_NO_MEMORY;
    caucus_nkey_sign(&line->nkey, nonce, *ret);
    *ret_size = 64;
    return NATS_OK;
}

static natsStatus set_options(natsOptions *o, caucus_line *line) {
    natsStatus s = natsOptions_SetServers(o, line->server, line->servers);
    if (s == NATS_OK)
        s = natsOptions_SetMaxReconnect(o, -1);
    if (s == NATS_OK)
        s = natsOptions_SetReconnectWait(o, AGAIN_MS);
    if (s == NATS_OK)
        s = natsOptions_SetReconnectJitter(o, AGAIN_MS / 2, AGAIN_MS);
    if (s == NATS_OK)
        s = natsOptions_SetRetryOnFailedConnect(o, true, on_reconnected, line);
    if (s == NATS_OK)
        s = natsOptions_SetPingInterval(o, PING_MS);
    if (s == NATS_OK)
        s = natsOptions_SetReconnectBufSize(o, 0);
    if (s == NATS_OK)
        s = natsOptions_SetNoEcho(o, true);
    if (s == NATS_OK)
        s = natsOptions_SetSendAsap(o, true);
    if (s == NATS_OK)
        s = natsOptions_SetName(o, line->name);
    if (s == NATS_OK)
        s = natsOptions_SetReconnectedCB(o, on_reconnected, line);
    if (s == NATS_OK)
        s = natsOptions_SetErrorHandler(o, on_error, line);
    if (s == NATS_OK)
        s = natsOptions_SetClosedCB(o, on_closed, line);
    if (s == NATS_OK && line->tls)
        s = natsOptions_SetSecure(o, true);
    if (s == NATS_OK && line->ca)
        s = natsOptions_LoadCATrustedCertificates(o, line->ca);
    if (s == NATS_OK && line->seed)
        s = natsOptions_SetNKey(o, line->nkey.name, sign, line);
    return s;
}

natsStatus caucus_line_connect(caucus_line *line) {
    natsOptions *options = NULL;
    natsConnection *connection = NULL;
    natsStatus s = natsOptions_Create(&options);
    if (s == NATS_OK)
        s = set_options(options, line);
    pthread_mutex_lock(&line->lock);
    line->given_up = false; /* before somebody can say that it is */
    line->connecting = true;
    pthread_mutex_unlock(&line->lock);
    if (s == NATS_OK)
        s = natsConnection_Connect(&connection, options);
    natsOptions_Destroy(options);
    pthread_mutex_lock(&line->lock);
    if (s == NATS_OK)
        made(line);
    else if (s == NATS_NOT_YET_CONNECTED)
        s = NATS_OK;
    line->connection = connection;
    line->connecting = false;
    line->using += connection != NULL;
    pthread_mutex_unlock(&line->lock);
    return s;
}

natsStatus caucus_line_subscribe(caucus_line *line, uint32_t i) {
    natsSubscription *own = NULL;
    const natsStatus s =
        natsConnection_Subscribe(&own, line->connection, line->subject[i], caucus_line_on_message, line);
    if (s == NATS_OK && natsSubscription_SetOnCompleteCB(own, on_complete, line) == NATS_OK) {
        pthread_mutex_lock(&line->lock);
        line->using += 1;
        pthread_mutex_unlock(&line->lock);
    }
    line->subscription[i] = own;
    return s;
}

void caucus_line_disconnect(caucus_line *line) {
    for (uint32_t i = 0; i < line->subscriptions; i++) {
        natsSubscription_Destroy(line->subscription[i]);
        line->subscription[i] = NULL;
    }
    pthread_mutex_lock(&line->lock);
    natsConnection *before = line->connection;
    line->connection = NULL;
    pthread_mutex_unlock(&line->lock);
    natsConnection_Destroy(before);
}

/* Files are read again: that they have changed may be why. */
void caucus_line_connect_again(caucus_line *line) {
    pthread_mutex_lock(&line->lock);
    const bool due = line->given_up && caucus_clock_ns() >= line->again_ns;
    pthread_mutex_unlock(&line->lock);
    if (!due)
        return;
    caucus_nkey nkey;
    caucus_line_disconnect(line);
    if (line->seed && caucus_nkey_read(line->seed, &nkey, NULL) == CAUCUS_OK)
        line->nkey = nkey;
    sodium_memzero(&nkey, sizeof nkey);
    natsStatus s = caucus_line_connect(line);
    for (uint32_t i = 0; s == NATS_OK && i < line->subscriptions; i++)
        s = caucus_line_subscribe(line, i);
    if (s != NATS_OK) {
        pthread_mutex_lock(&line->lock);
        if (!line->given_up) /* else that has been said */
            make_again_later(line, natsStatus_GetText(s));
        pthread_mutex_unlock(&line->lock);
        return;
    }
    atomic_fetch_add(&line->reconnects, 1);
}

#endif
