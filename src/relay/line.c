/* SPDX-License-Identifier: Apache-2.0 */
/* line.c: see line.h. All that this program knows of libnats. */
#include "relay/line.h"

#include <stdio.h>
#include <string.h>

#include "dial/address.h"
#include "num/fail.h"
#include "num/hand_over.h"
#include "relay/nkey.h"

#ifdef CAUCUS_NATS

#include <errno.h>
#include <nats/nats.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define SUBJECTS 8
#define SERVERS 16
#define QUEUE_BYTES ((size_t)256 << 20) /* of what nobody has taken yet */
#define PING_MS 5000
#define AGAIN_MS 250
#define CLOSE_SECONDS 5

struct caucus_line {
    natsConnection *connection;
    natsSubscription *subscription[SUBJECTS];
    uint32_t subscriptions;
    int wake;
    pthread_mutex_t lock; /* of the queue, and of `using` */
    pthread_cond_t unused;
    uint32_t using; /* by how many threads of the library */
    caucus_letter *first, **last;
    size_t queued;
    _Atomic uint64_t reconnects, drops;
    caucus_nkey nkey; /* kept for connecting again */
};

const char *caucus_line_version(void) {
    return nats_GetVersion();
}

void caucus_line_wake(caucus_line *line) {
    const int before = errno;
    const uint64_t once = 1;
    (void)!write(line->wake, &once, sizeof once);
    errno = before;
}

static void on_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *user) {
    caucus_line *line = user;
    (void)connection, (void)subscription;
    const size_t size = (size_t)natsMsg_GetDataLength(message), length = strlen(natsMsg_GetSubject(message));
    caucus_letter *letter = NULL;
    if (size <= CAUCUS_LINE_MESSAGE_BYTES && length < CAUCUS_LINE_SUBJECT_BYTES)
        letter = malloc(sizeof *letter + size);
    if (letter) {
        letter->next = NULL;
        letter->size = size;
        memcpy(letter->subject, natsMsg_GetSubject(message), length + 1);
        if (size > 0)
            memcpy(letter->bytes, natsMsg_GetData(message), size);
        pthread_mutex_lock(&line->lock);
        if (line->queued + size <= QUEUE_BYTES) {
            *line->last = letter;
            line->last = &letter->next;
            line->queued += size;
            letter = NULL;
        }
        pthread_mutex_unlock(&line->lock);
        caucus_line_wake(line);
    } else {
        atomic_fetch_add(&line->drops, 1);
    }
    if (letter) {
        free(letter);
        atomic_fetch_add(&line->drops, 1);
    }
    natsMsg_Destroy(message);
}

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

/* The connection's does not. */
static void on_closed(natsConnection *connection, void *user) {
    (void)connection;
    let_go(user);
}

static void on_reconnected(natsConnection *connection, void *user) {
    caucus_line *line = user;
    (void)connection;
    atomic_fetch_add(&line->reconnects, 1);
    caucus_line_wake(line);
}

/* The library's own queue of a subscription was full, or the like. Without this it would write to standard error. */
static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus why, void *user) {
    caucus_line *line = user;
    (void)connection, (void)subscription;
    if (why == NATS_SLOW_CONSUMER)
        atomic_fetch_add(&line->drops, 1);
}

/* Is it a URL of a server that may be spoken to? `host` is "host:port". */
static caucus_status check_url(const char *url, bool *ret_tls, caucus_error *ret_error) {
    const bool tls = strncmp(url, "tls://", 6) == 0, plain = strncmp(url, "nats://", 7) == 0;
    const char *host = strrchr(url, '@') ? strrchr(url, '@') + 1 : url + (tls ? 6 : 7);
    caucus_address address;
    if (!tls && !plain)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "nats",
                           "'%.80s': tls://HOST:PORT is expected, or nats://HOST:PORT "
                           "on this machine",
                           url);
    *ret_tls = *ret_tls || tls;
    if (tls)
        return CAUCUS_OK;
    const caucus_status status = caucus_address_resolve(host, "nats", false, &address, ret_error);
    if (status != CAUCUS_OK)
        return status;
    return address.loopback ? CAUCUS_OK
                            : caucus_fail_hint(ret_error,
                                               caucus_fail(ret_error, CAUCUS_E_RANGE, "nats",
                                                           "%.80s: without TLS only on this machine", url),
                                               "write tls:// and let the server have a certificate");
}

static natsStatus set_options(natsOptions *o, caucus_line *line, const caucus_line_settings *set, const char **server,
                              int servers, bool tls) {
    natsStatus s = natsOptions_SetServers(o, server, servers);
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
        s = natsOptions_SetName(o, set->name);
    if (s == NATS_OK)
        s = natsOptions_SetReconnectedCB(o, on_reconnected, line);
    if (s == NATS_OK)
        s = natsOptions_SetErrorHandler(o, on_error, line);
    if (s == NATS_OK)
        s = natsOptions_SetClosedCB(o, on_closed, line);
    if (s == NATS_OK && tls)
        s = natsOptions_SetSecure(o, true);
    if (s == NATS_OK && set->ca)
        s = natsOptions_LoadCATrustedCertificates(o, set->ca);
    return s;
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

static caucus_status fail_nats(natsStatus s, const char *url, caucus_error *ret_error) {
    return caucus_fail(ret_error, s == NATS_NO_MEMORY ? CAUCUS_E_MEMORY : CAUCUS_E_NETWORK, "nats", "%.100s: %s", url,
                       natsStatus_GetText(s));
}

static caucus_status connect_to(caucus_line *line, const caucus_line_settings *set, const char **server, int servers,
                                bool tls, caucus_error *ret_error) {
    natsOptions *options = NULL;
    natsStatus s = natsOptions_Create(&options);
    if (s == NATS_OK)
        s = set_options(options, line, set, server, servers, tls);
    caucus_status status = CAUCUS_OK;
    if (s == NATS_OK && set->seed)
        status = caucus_nkey_read(set->seed, &line->nkey, ret_error);
    if (s == NATS_OK && status == CAUCUS_OK && set->seed)
        s = natsOptions_SetNKey(options, line->nkey.name, sign, line);
    if (s == NATS_OK && status == CAUCUS_OK)
        s = natsConnection_Connect(&line->connection, options);
    natsOptions_Destroy(options);
    if (status == CAUCUS_OK && s != NATS_OK && s != NATS_NOT_YET_CONNECTED)
        status = fail_nats(s, set->url, ret_error);
    line->using = line->connection != NULL;
    return status;
}

caucus_status caucus_line_open(const caucus_line_settings *set, caucus_line **ret, caucus_error *ret_error) {
    const char *server[SERVERS];
    int servers = 0;
    bool tls = false;
    char *urls = strdup(set->url), *rest = NULL;
    caucus_line *line = calloc(1, sizeof *line);
    if (!urls || !line) {
        free(urls);
        free(line);
        return caucus_fail_memory(ret_error, "");
    }
    pthread_mutex_init(&line->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&line->unused, &monotonic);
    pthread_condattr_destroy(&monotonic);
    line->last = &line->first;
    line->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    caucus_status status =
        line->wake >= 0 ? CAUCUS_OK : caucus_fail_os(ret_error, CAUCUS_E_IO, errno, "nats", "cannot make an event");
    for (char *url = strtok_r(urls, ",", &rest); url && status == CAUCUS_OK; url = strtok_r(NULL, ",", &rest)) {
        status = servers < SERVERS ? check_url(url, &tls, ret_error)
                                   : caucus_fail(ret_error, CAUCUS_E_RANGE, "nats", "more than %d servers", SERVERS);
        if (status == CAUCUS_OK)
            server[servers++] = url;
    }
    if (status == CAUCUS_OK && servers == 0)
        status = caucus_fail(ret_error, CAUCUS_E_RANGE, "nats", "tls://HOST:PORT is expected");
    if (status == CAUCUS_OK)
        status = connect_to(line, set, server, servers, tls, ret_error);
    free(urls);
    return CAUCUS_HAND_OVER(status, ret, line, caucus_line_close(line));
}

/* Wait until no thread of the library uses it. (nats_Close() would, too, but it frees what OpenSSL frees again at the
 * end of the process.) Returns: false: it took too long. */
static bool is_unused(caucus_line *line) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += CLOSE_SECONDS;
    int failed = 0;
    pthread_mutex_lock(&line->lock);
    while (line->using > 0 && failed == 0)
        failed = pthread_cond_timedwait(&line->unused, &line->lock, &until);
    const bool ret = line->using == 0;
    pthread_mutex_unlock(&line->lock);
    return ret;
}

void caucus_line_close(caucus_line *line) {
    if (!line)
        return;
    if (line->connection && caucus_line_is_up(line))
        (void)natsConnection_FlushTimeout(line->connection, 500);
    for (uint32_t i = 0; i < line->subscriptions; i++)
        natsSubscription_Destroy(line->subscription[i]);
    natsConnection_Destroy(line->connection);
    if (!is_unused(line))
        return; /* what is still used is not freed: the process is about to end */
    for (caucus_letter *letter = line->first, *next; letter; letter = next) {
        next = letter->next;
        free(letter);
    }
    if (line->wake >= 0)
        close(line->wake);
    pthread_cond_destroy(&line->unused);
    pthread_mutex_destroy(&line->lock);
    sodium_memzero(&line->nkey, sizeof line->nkey);
    free(line);
}

caucus_status caucus_line_hear(caucus_line *line, const char *subject) {
    natsSubscription *made = NULL;
    if (line->subscriptions == SUBJECTS)
        return CAUCUS_E_MEMORY;
    const natsStatus s = natsConnection_Subscribe(&made, line->connection, subject, on_message, line);
    if (s != NATS_OK)
        return s == NATS_NO_MEMORY ? CAUCUS_E_MEMORY : CAUCUS_E_NETWORK;
    if (natsSubscription_SetOnCompleteCB(made, on_complete, line) == NATS_OK) {
        pthread_mutex_lock(&line->lock);
        line->using += 1;
        pthread_mutex_unlock(&line->lock);
    }
    line->subscription[line->subscriptions++] = made;
    return CAUCUS_OK;
}

bool caucus_line_say(caucus_line *line, const char *subject, const uint8_t *bytes, size_t size) {
    return caucus_line_is_up(line) && natsConnection_Publish(line->connection, subject, bytes, (int)size) == NATS_OK;
}

int caucus_line_wait(const caucus_line *line) {
    return line->wake;
}

caucus_letter *caucus_line_take(caucus_line *line) {
    uint64_t times;
    (void)!read(line->wake, &times, sizeof times);
    pthread_mutex_lock(&line->lock);
    caucus_letter *ret = line->first;
    line->first = NULL;
    line->last = &line->first;
    line->queued = 0;
    pthread_mutex_unlock(&line->lock);
    return ret;
}

bool caucus_line_is_up(const caucus_line *line) {
    return natsConnection_Status(line->connection) == NATS_CONN_STATUS_CONNECTED;
}

uint64_t caucus_line_reconnects(const caucus_line *line) {
    return atomic_load(&line->reconnects);
}

uint64_t caucus_line_drops(const caucus_line *line) {
    return atomic_load(&line->drops);
}

#else

/* Built without libnats: a line cannot be opened, so nothing is ever asked of one. */

const char *caucus_line_version(void) {
    return NULL;
}

caucus_status caucus_line_open(const caucus_line_settings *settings, caucus_line **ret, caucus_error *ret_error) {
    (void)settings, (void)ret;
    return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "nats", "this program was built without libnats (libnats-dev)");
}

void caucus_line_close(caucus_line *line) {
    (void)line;
}

caucus_status caucus_line_hear(caucus_line *line, const char *subject) {
    (void)line, (void)subject;
    return CAUCUS_E_NETWORK;
}

bool caucus_line_say(caucus_line *line, const char *subject, const uint8_t *bytes, size_t size) {
    (void)line, (void)subject, (void)bytes, (void)size;
    return false;
}

int caucus_line_wait(const caucus_line *line) {
    (void)line;
    return -1;
}

void caucus_line_wake(caucus_line *line) {
    (void)line;
}

caucus_letter *caucus_line_take(caucus_line *line) {
    (void)line;
    return NULL;
}

bool caucus_line_is_up(const caucus_line *line) {
    (void)line;
    return false;
}

uint64_t caucus_line_reconnects(const caucus_line *line) {
    (void)line;
    return 0;
}

uint64_t caucus_line_drops(const caucus_line *line) {
    (void)line;
    return 0;
}

#endif
