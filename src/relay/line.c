/* SPDX-License-Identifier: Apache-2.0 */
/* line.c: see line.h. With line_connect.c, all that this program knows of libnats. */
#ifdef CAUCUS_NATS

#define _GNU_SOURCE /* memrchr, memmem */
#include "relay/line_impl.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "dial/address.h"
#include "num/fail.h"
#include "num/hand_over.h"

#define QUEUE_BYTES ((size_t)256 << 20) /* of what nobody has taken yet */
#define CLOSE_SECONDS 5
#define SHOWN_BYTES 101

const char *caucus_line_version(void) {
    return nats_GetVersion();
}

void caucus_line_wake(caucus_line *line) {
    const int before = errno;
    const uint64_t once = 1;
    (void)!write(line->wake, &once, sizeof once);
    errno = before;
}

void caucus_line_on_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *user) {
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

/* The URLs without the names and passwords before their hosts, for messages; cut if they are long. */
static void without_secrets(const char *urls, char ret[SHOWN_BYTES]) {
    size_t length = 0;
    for (const char *url = urls; *url != '\0';) {
        const size_t size = strcspn(url, ",");
        const char *end = url + size, *host = memrchr(url, '@', size);
        const char *scheme = host != NULL ? memmem(url, size, "://", 3) : NULL;
        const int before = scheme != NULL && scheme < host ? (int)(scheme + 3 - url) : 0;
        const char *from = host != NULL ? host + 1 : url;
        const int wrote = snprintf(ret + length, SHOWN_BYTES - length, "%s%.*s%.*s", url > urls ? "," : "", before, url,
                                   (int)(end - from), from);
        length = (size_t)wrote < SHOWN_BYTES - length ? length + (size_t)wrote : SHOWN_BYTES - 1;
        url = end + (*end == ',');
    }
    ret[length] = '\0';
}

/* Is it a URL of a server that may be spoken to? `host` is "host:port". */
static caucus_status check_url(const char *url, bool *ret_tls, caucus_error *ret_error) {
    const bool tls = strncmp(url, "tls://", 6) == 0, plain = strncmp(url, "nats://", 7) == 0;
    const char *host = strrchr(url, '@') ? strrchr(url, '@') + 1 : url + (tls ? 6 : 7);
    caucus_address address;
    char shown[SHOWN_BYTES];
    without_secrets(url, shown);
    if (!tls && !plain)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "nats",
                           "'%.80s': tls://HOST:PORT is expected, or nats://HOST:PORT "
                           "on this machine",
                           shown);
    *ret_tls = *ret_tls || tls;
    if (tls)
        return CAUCUS_OK;
    const caucus_status status = caucus_address_resolve(host, "nats", false, &address, ret_error);
    if (status != CAUCUS_OK)
        return status;
    return address.loopback ? CAUCUS_OK
                            : caucus_fail_hint(ret_error,
                                               caucus_fail(ret_error, CAUCUS_E_RANGE, "nats",
                                                           "%.80s: without TLS only on this machine", shown),
                                               "write tls:// and let the server have a certificate");
}

static caucus_status fail_nats(natsStatus s, const char *url, caucus_error *ret_error) {
    char shown[SHOWN_BYTES];
    without_secrets(url, shown);
    return caucus_fail(ret_error, s == NATS_NO_MEMORY ? CAUCUS_E_MEMORY : CAUCUS_E_NETWORK, "nats", "%s: %s", shown,
                       natsStatus_GetText(s));
}

bool caucus_line_lost(caucus_line *line, char ret_why[CAUCUS_LINE_WHY_BYTES]) {
    pthread_mutex_lock(&line->lock);
    const bool ret = line->given_up && !line->told;
    if (ret) {
        line->told = true;
        memcpy(ret_why, line->why, sizeof line->why);
    }
    pthread_mutex_unlock(&line->lock);
    return ret;
}

static char *copy_of(const char *text, bool *good) {
    char *ret = text ? strdup(text) : NULL;
    *good = *good && (ret || !text);
    return ret;
}

static caucus_line *new_line(const caucus_line_settings *set) {
    caucus_line *line = calloc(1, sizeof *line);
    bool good = line != NULL;
    if (line) {
        line->urls = copy_of(set->url, &good);
        line->ca = copy_of(set->ca, &good);
        line->seed = copy_of(set->seed, &good);
        line->name = copy_of(set->name, &good);
        line->last = &line->first;
        line->wait_ms = CAUCUS_LINE_AGAIN_MS;
        line->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        pthread_mutex_init(&line->lock, NULL);
        pthread_condattr_t monotonic;
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(&line->unused, &monotonic);
        pthread_condattr_destroy(&monotonic);
    }
    if (good)
        return line;
    caucus_line_close(line);
    return NULL;
}

caucus_status caucus_line_open(const caucus_line_settings *set, caucus_line **ret, caucus_error *ret_error) {
    char *rest = NULL;
    caucus_line *line = new_line(set);
    if (!line)
        return caucus_fail_memory(ret_error, "");
    caucus_status status =
        line->wake >= 0 ? CAUCUS_OK : caucus_fail_os(ret_error, CAUCUS_E_IO, errno, "nats", "cannot make an event");
    for (char *url = strtok_r(line->urls, ",", &rest); url && status == CAUCUS_OK; url = strtok_r(NULL, ",", &rest)) {
        status = line->servers < CAUCUS_LINE_SERVERS
                     ? check_url(url, &line->tls, ret_error)
                     : caucus_fail(ret_error, CAUCUS_E_RANGE, "nats", "more than %d servers", CAUCUS_LINE_SERVERS);
        if (status == CAUCUS_OK)
            line->server[line->servers++] = url;
    }
    if (status == CAUCUS_OK && line->servers == 0)
        status = caucus_fail(ret_error, CAUCUS_E_RANGE, "nats", "tls://HOST:PORT is expected");
    if (status == CAUCUS_OK && set->seed)
        status = caucus_nkey_read(set->seed, &line->nkey, ret_error);
    const natsStatus s = status == CAUCUS_OK ? caucus_line_connect(line) : NATS_OK;
    if (s != NATS_OK)
        status = fail_nats(s, set->url, ret_error);
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
    if (caucus_line_is_up(line))
        (void)natsConnection_FlushTimeout(line->connection, 500);
    pthread_mutex_lock(&line->lock);
    line->closing = true;
    pthread_mutex_unlock(&line->lock);
    caucus_line_disconnect(line);
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
    free(line->urls);
    free(line->ca);
    free(line->seed);
    free(line->name);
    free(line);
}

caucus_status caucus_line_hear(caucus_line *line, const char *subject) {
    if (line->subscriptions == CAUCUS_LINE_SUBJECTS)
        return CAUCUS_E_MEMORY;
    const uint32_t i = line->subscriptions;
    (void)snprintf(line->subject[i], sizeof line->subject[i], "%s", subject);
    const natsStatus s = caucus_line_subscribe(line, i);
    line->subscriptions += s == NATS_OK;
    return s == NATS_OK ? CAUCUS_OK : s == NATS_NO_MEMORY ? CAUCUS_E_MEMORY : CAUCUS_E_NETWORK;
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
    caucus_line_connect_again(line);
    pthread_mutex_lock(&line->lock);
    caucus_letter *ret = line->first;
    line->first = NULL;
    line->last = &line->first;
    line->queued = 0;
    pthread_mutex_unlock(&line->lock);
    return ret;
}

bool caucus_line_is_up(caucus_line *line) {
    pthread_mutex_lock(&line->lock);
    const bool ret = line->connection && natsConnection_Status(line->connection) == NATS_CONN_STATUS_CONNECTED;
    pthread_mutex_unlock(&line->lock);
    return ret;
}

uint64_t caucus_line_reconnects(const caucus_line *line) {
    return atomic_load(&line->reconnects);
}

uint64_t caucus_line_drops(const caucus_line *line) {
    return atomic_load(&line->drops);
}

#endif
