/* SPDX-License-Identifier: Apache-2.0 */
/* dial.c: see dial.h. */
#include "dial/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dial/route.h"
#include "dial/tls.h"
#include "dial/tls_judge.h"
#include "link/link_impl.h"
#include "num/fail.h"
#include "num/hand_over.h"
#include "store/clock.h"

/* A host that vanished sends nothing, not even an end: 20 s of silence and the kernel asks, every 5 s, whether it is
 * still there; and 30 s after the first byte that nobody acknowledged the connection is over (else: the kernel's
 * retries, 15 minutes and more). */
#define SILENCE_SECONDS 20
#define ASK_SECONDS 5
#define ASK_TIMES 2
#define UNACKNOWLEDGED_MS 30000
/* A name stands for several machines, and this one does not answer: the next one. */
#define NEXT_MS 2500
/* What has been said is said again, with how often it has happened since. */
#define REPEAT_MS 600000u

typedef enum dial_state { APART, CONNECTING, SHAKING, OPEN } dial_state;

struct caucus_dial {
    const char *connect; /* the address in hand: the link's; NULL: none yet */
    caucus_route route;  /* all that it stands for */
    int64_t next_ms;     /* CONNECTING: when the next of them is tried instead */
    caucus_dial_settings set;
    SSL_CTX *context;        /* NULL: plain */
    int64_t ends, warn_from; /* of its certificate (caucus_tls_own_expiry) */
    SSL *ssl;
    SSL_SESSION *session;    /* of the last connection that got as far as a ticket, */
    const char *session_for; /* and whose it was */
    int fd;
    dial_state state;
    bool want_write;  /* the handshake or a record waits for room in the socket */
    bool has_read;    /* this connection has brought something */
    bool accepted;    /* and so has an earlier one with this certificate, or this one */
    bool said_late;   /* that no announcement comes */
    int64_t leave_ms; /* the tick that what is to be sent waits for; 0: nothing waits */
    char last[256];   /* the last notice: nobody wants to read it every 30 seconds; */
    int64_t last_ms;  /* when it was said, */
    uint32_t since;   /* and how often there would have been the same to say since */
};

static caucus_status beyond_this_machine(const char *connect, caucus_error *ret_error) {
    return caucus_fail_hint(ret_error,
                            caucus_fail(ret_error, CAUCUS_E_RANGE, "connect",
                                        "%.100s: is not this machine, and without certificates nothing may leave it",
                                        connect),
                            "give 'cert', 'key' and 'ca'");
}

caucus_status caucus_dial_new(const caucus_dial_settings *s, caucus_dial **ret, caucus_error *ret_error) {
    caucus_dial *d = calloc(1, sizeof *d);
    if (!d)
        return caucus_fail_memory(ret_error, "connect");
    d->fd = -1;
    d->set = *s;
    caucus_status status = CAUCUS_OK;
    if (s->cert)
        status = caucus_tls_client_new(s->cert, s->key, s->ca, &d->context, ret_error);
    if (d->context)
        d->ends = caucus_tls_own_expiry(d->context, &d->warn_from);
    return CAUCUS_HAND_OVER(status, ret, d, caucus_dial_free(d));
}

caucus_status caucus_dial_check(const caucus_dial *d, const char *connect, caucus_error *ret_error) {
    caucus_address address;
    caucus_status status = caucus_address_split(connect, "connect", &address, ret_error);
    if (status == CAUCUS_OK && address.port == 0)
        status = caucus_fail(ret_error, CAUCUS_E_RANGE, "connect", "%.150s: port 0 cannot be dialled", connect);
    if (status == CAUCUS_OK && !d->context) { /* without TLS nothing may leave this machine */
        caucus_route route = {0};
        status = caucus_route_begin(&route, connect, true, ret_error);
        if (status == CAUCUS_OK && !caucus_route_has_next(&route))
            status = beyond_this_machine(connect, ret_error);
    }
    return status;
}

static void hang_up(caucus_dial *d) {
    SSL_free(d->ssl);
    d->ssl = NULL;
    if (d->fd >= 0)
        (void)close(d->fd);
    d->fd = -1;
    d->leave_ms = 0;
    d->want_write = false;
}

void caucus_dial_free(caucus_dial *d) {
    if (!d)
        return;
    hang_up(d);
    SSL_SESSION_free(d->session);
    SSL_CTX_free(d->context);
    free(d);
}

uint32_t caucus_dial_index(const caucus_dial *d) {
    const X509 *own = d->context ? SSL_CTX_get0_certificate(d->context) : NULL;
    return own ? caucus_tls_certificate_index(own) : 0;
}

int64_t caucus_dial_expiry(const caucus_dial *d, bool *ret_soon) {
    *ret_soon = d->context && (int64_t)time(NULL) >= d->warn_from;
    return d->ends;
}

bool caucus_dial_is_open(const caucus_dial *d) {
    return d->state == OPEN;
}

static void notice(caucus_dial *d, const char *line) {
    if (d->set.notice)
        d->set.notice(d->set.user, line);
}

static void say(caucus_dial *d, const char *what, int64_t pause) {
    char line[512], where[CAUCUS_ADDRESS_BYTES] = "", again[48] = "";
    const int64_t now = caucus_clock_ms();
    const bool same = strncmp(d->last, what, sizeof d->last - 1) == 0;
    d->since = same ? d->since + 1 : 0;
    if (same && now - d->last_ms < (int64_t)(d->set.repeat_ms ? d->set.repeat_ms : REPEAT_MS))
        return;
    if (same)
        (void)snprintf(again, sizeof again, " (%u times since this was last said)", d->since);
    (void)snprintf(d->last, sizeof d->last, "%s", what);
    d->last_ms = now;
    d->since = 0;
    if (d->route.count > 1 && d->route.now) /* which of those that the name stands for */
        caucus_address_text(&d->route.now->socket, where);
    (void)snprintf(line, sizeof line, "%.100s%s%.60s%s: %.250s%s — trying again in %.1f s", d->connect,
                   where[0] ? " (" : "", where, where[0] ? ")" : "", what, again, (double)pause / 1000);
    notice(d, line);
}

/* The connection is gone, or never came. why: for the notice; NULL: there is nothing to say. */
static void lose(caucus_dial *d, caucus_link *link, const char *why) {
    hang_up(d);
    caucus_route_end(&d->route, d->has_read);
    int64_t now = caucus_clock_ms();
    caucus_link_disconnected(link, now);
    d->state = APART;
    if (why)
        say(d, why, caucus_link_wait_ms(link, now));
}

/* The address in hand refuses for good, as the link has been told. The last one takes the client with it. */
static caucus_status refused(caucus_dial *d, caucus_link *link, caucus_status status, const caucus_error *why,
                             caucus_error *ret_error) {
    if (caucus_route_refused(&d->route))
        caucus_redial_forgive(&link->redial);
    if (caucus_link_refused(link)) {
        hang_up(d);
        caucus_link_disconnected(link, caucus_clock_ms());
        d->state = APART;
        if (ret_error)
            *ret_error = *why;
        return status;
    }
    char line[300];
    (void)snprintf(line, sizeof line, "%s%s%s", why->field, why->field[0] ? " " : "", why->text);
    lose(d, link, line);
    return CAUCUS_OK;
}

void caucus_dial_drop(caucus_dial *d, caucus_link *link, const caucus_error *why) {
    char line[300];
    (void)snprintf(line, sizeof line, "%s%s%s", why->field, why->field[0] ? " " : "", why->text);
    lose(d, link, line);
}

/* Files for files: what is there now takes the place of what was read before. */
static caucus_status read_again(caucus_dial *d, caucus_error *ret_error) {
    SSL_CTX *fresh = NULL;
    caucus_status status = caucus_tls_client_new(d->set.cert, d->set.key, d->set.ca, &fresh, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (caucus_tls_certificate_index(SSL_CTX_get0_certificate(fresh)) != caucus_dial_index(d)) {
        SSL_CTX_free(fresh);
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "cert", "%.120s: is another client's now", d->set.cert);
    }
    SSL_CTX_free(d->context); /* a connection that uses it keeps it */
    d->context = fresh;
    d->ends = caucus_tls_own_expiry(fresh, &d->warn_from);
    SSL_SESSION_free(d->session);
    d->session = NULL;
    d->session_for = NULL;
    d->accepted = false;
    return CAUCUS_OK;
}

caucus_status caucus_dial_reload(caucus_dial *d, caucus_link *link, caucus_error *ret_error) {
    if (!d->context)
        return CAUCUS_OK;
    caucus_status status = read_again(d, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_route_forgive(&d->route); /* who refused the last certificate has not seen this one */
    caucus_redial_forgive_all(&link->redial);
    if (d->state != APART)
        lose(d, link, NULL);
    return CAUCUS_OK;
}

/* Why TLS failed; true if coming again cannot help: the coordinator does not accept this client's certificate. A
 * coordinator whose certificate is not accepted here (it has expired, or something stands in between) is not this
 * client's fault: nothing was said to it, and it may be mended. Nor is its clock: one that is ahead calls a certificate
 * expired, one that is behind calls it bad, because it is not valid yet. Which of the two clocks is wrong nobody knows;
 * only a certificate that has expired by both is left to its owner. */
static bool tls_failure(caucus_dial *d, char *ret, size_t bytes) {
    /* OpenSSL gives alerts as 1000 + their number. About the certificate itself: bad, unsupported, revoked, expired,
     * unknown (42 to 46), none (116). */
    const int reason = ERR_GET_REASON(ERR_peek_error()), bad = 1042, expired = 1045, unknown_authority = 1048;
    const bool refused = (reason >= 1042 && reason <= 1046) || reason == 1116 || reason == unknown_authority;
    bool soon, mendable = d->accepted && reason == unknown_authority; /* it has got another authority's file */
    if (reason == bad || reason == expired)
        mendable = caucus_dial_expiry(d, &soon) > (int64_t)time(NULL);
    char why[160];
    caucus_tls_why(d->ssl, why, sizeof why);
    (void)snprintf(ret, bytes, "%s%s", refused ? "it does not accept this client's certificate: " : "TLS: ", why);
    return refused && !mendable;
}

static caucus_status broken_tls(caucus_dial *d, caucus_link *link, caucus_error *ret_error) {
    char why[240];
    if (!tls_failure(d, why, sizeof why)) {
        lose(d, link, why);
        return CAUCUS_OK;
    }
    caucus_error error;
    caucus_link_refuse(link);
    (void)caucus_fail(&error, CAUCUS_E_REFUSED, "", "%.80s: %.140s", d->connect, why);
    return refused(d, link, CAUCUS_E_REFUSED, &error, ret_error);
}

static void set_options(int fd) {
    int on = 1, idle = SILENCE_SECONDS, every = ASK_SECONDS, times = ASK_TIMES;
    unsigned most = UNACKNOWLEDGED_MS;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof most);
}

/* Connect to the next machine that the name stands for. Only when none is left is the attempt lost, for the reason of
 * the last one. */
static void connect_next(caucus_dial *d, caucus_link *link, const char *why) {
    const caucus_address *to;
    while ((to = caucus_route_next(&d->route)) != NULL) {
        hang_up(d);
        d->fd = socket(to->socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (d->fd >= 0) {
            set_options(d->fd);
            d->state = CONNECTING;
            d->next_ms = caucus_clock_ms() + NEXT_MS;
            if (connect(d->fd, (const struct sockaddr *)&to->socket, to->bytes) == 0 || errno == EINPROGRESS)
                return;
        }
        why = strerror(errno);
    }
    lose(d, link, why);
}

static caucus_status begin(caucus_dial *d, caucus_link *link, caucus_error *ret_error) {
    caucus_error error = {0};
    bool soon;
    d->has_read = false;
    if (d->context && caucus_dial_expiry(d, &soon) <= (int64_t)time(NULL))
        (void)!read_again(d, NULL); /* it has expired: perhaps somebody has renewed it, and told nobody */
    if (caucus_route_begin(&d->route, d->connect, d->context == NULL, &error) != CAUCUS_OK) {
        lose(d, link, error.text);
        return CAUCUS_OK;
    }
    if (!d->context && !caucus_route_has_next(&d->route)) {
        caucus_link_refuse(link);
        return refused(d, link, beyond_this_machine(d->connect, &error), &error, ret_error);
    }
    connect_next(d, link, "all that this name stands for have refused");
    return CAUCUS_OK;
}

static void opened(caucus_dial *d, caucus_link *link) {
    d->state = OPEN;
    d->want_write = false;
    caucus_link_connected(link, caucus_clock_ms());
}

static caucus_status shake(caucus_dial *d, caucus_link *link, caucus_error *ret_error) {
    ERR_clear_error();
    int result = SSL_do_handshake(d->ssl);
    if (result == 1) {
        opened(d, link);
        return CAUCUS_OK;
    }
    int why = SSL_get_error(d->ssl, result);
    d->want_write = why == SSL_ERROR_WANT_WRITE;
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return CAUCUS_OK;
    return broken_tls(d, link, ret_error);
}

/* Has connect() finished? */
static caucus_status reached(caucus_dial *d, caucus_link *link, caucus_error *ret_error) {
    struct pollfd one = {.fd = d->fd, .events = POLLOUT};
    if (poll(&one, 1, 0) < 1) {
        if (caucus_route_has_next(&d->route) && caucus_clock_ms() >= d->next_ms)
            connect_next(d, link, "no answer");
        return CAUCUS_OK;
    }
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    if (error != 0) {
        connect_next(d, link, strerror(error));
        return CAUCUS_OK;
    }
    if (!d->context) {
        opened(d, link);
        return CAUCUS_OK;
    }
    caucus_error tls = {0};
    SSL_SESSION *session = d->session_for == d->connect ? d->session : NULL;
    if (caucus_tls_client_open(d->context, d->fd, d->route.now->host, session, &d->ssl, &tls) != CAUCUS_OK) {
        lose(d, link, tls.text);
        return CAUCUS_OK;
    }
    d->state = SHAKING;
    return shake(d, link, ret_error);
}

/* Move n bytes: > 0 moved, 0 not now, -1 the connection is gone, -2 TLS failed. */
static int classify(caucus_dial *d, int result) {
    if (result > 0)
        return result;
    int why = SSL_get_error(d->ssl, result);
    d->want_write = why == SSL_ERROR_WANT_WRITE;
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return 0;
    return why == SSL_ERROR_SSL ? -2 : -1;
}

static int put_bytes(caucus_dial *d, const uint8_t *bytes, size_t size) {
    int most = size > 1 << 20 ? 1 << 20 : (int)size;
    if (d->ssl) {
        ERR_clear_error();
        return classify(d, SSL_write(d->ssl, bytes, most));
    }
    ssize_t n = send(d->fd, bytes, (size_t)most, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        d->want_write = true;
        return 0;
    }
    return n > 0 ? (int)n : -1;
}

static int get_bytes(caucus_dial *d, uint8_t *to, size_t room) {
    if (d->ssl) {
        ERR_clear_error();
        return classify(d, SSL_read(d->ssl, to, (int)room));
    }
    ssize_t n = recv(d->fd, to, room, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n > 0 ? (int)n : -1;
}

static caucus_status gone(caucus_dial *d, caucus_link *link, int result, caucus_error *ret_error) {
    if (result == -2)
        return broken_tls(d, link, ret_error);
    const char *words = caucus_link_last_words(link);
    char why[240];
    (void)snprintf(why, sizeof why, "%s%.180s", words[0] ? "the coordinator said: " : "the connection was closed",
                   words);
    lose(d, link, why);
    return CAUCUS_OK;
}

/* May what is to be sent leave now? With ticks it waits for the first one after it was there. */
static bool may_leave(caucus_dial *d) {
    if (d->set.tick_ms == 0)
        return true;
    int64_t now = caucus_clock_ms(), tick = d->set.tick_ms;
    if (d->leave_ms == 0)
        d->leave_ms = (now / tick + 1) * tick;
    return now >= d->leave_ms;
}

static caucus_status send_all(caucus_dial *d, caucus_link *link, bool *ret_moved, caucus_error *ret_error) {
    size_t size = 0;
    const uint8_t *bytes;
    d->want_write = false;
    while (d->state == OPEN && (bytes = caucus_link_to_send(link, &size)) != NULL) {
        if (!may_leave(d))
            return CAUCUS_OK;
        int n = put_bytes(d, bytes, size);
        if (n < 0)
            return gone(d, link, n, ret_error);
        if (n == 0)
            break;
        caucus_link_sent(link, (size_t)n);
        *ret_moved = true;
    }
    if (!d->want_write)
        d->leave_ms = 0;
    return CAUCUS_OK;
}

static caucus_status receive_some(caucus_dial *d, caucus_link *link, bool *ret_moved, caucus_error *ret_error) {
    uint8_t buffer[16384];
    if (!caucus_link_wants(link))
        return CAUCUS_OK;
    int n = get_bytes(d, buffer, sizeof buffer);
    if (n < 0)
        return gone(d, link, n, ret_error);
    if (n == 0)
        return CAUCUS_OK;
    *ret_moved = true;
    if (d->ssl && !d->has_read) {
        SSL_SESSION *session = caucus_tls_session(d->ssl);
        if (session) {
            SSL_SESSION_free(d->session);
            d->session = session;
            d->session_for = d->connect;
        }
    }
    caucus_error error = {0};
    caucus_status status = caucus_link_receive(link, buffer, (size_t)n, &error);
    if (status == CAUCUS_OK) {
        d->has_read = d->accepted = true;
        d->last[0] = '\0';
    } else if (caucus_status_is_final(status)) {
        return refused(d, link, status, &error, ret_error);
    } else if (status == CAUCUS_E_SAVE) { /* nothing wrong with the line */
        *ret_error = error;
        return status;
    } else {
        caucus_dial_drop(d, link, &error);
    }
    return CAUCUS_OK;
}

/* Nobody answered, or no announcement came: dial again. A coordinator without a quorum is late every time; once is
 * said. */
static void mind_time(caucus_dial *d, caucus_link *link) {
    caucus_link_overdue overdue = caucus_link_timeout(link, caucus_clock_ms());
    d->said_late = d->said_late && caucus_link_late(link);
    if (overdue == CAUCUS_LINK_NO_ANSWER)
        lose(d, link, "no answer");
    if (overdue != CAUCUS_LINK_NO_ANNOUNCEMENT)
        return;
    if (!d->said_late) {
        char line[300];
        (void)snprintf(line, sizeof line,
                       "no announcement %g s after the deadline (%g s): dialling %.100s again — the coordinator hangs, "
                       "is gone, or waits for a quorum",
                       link->redial.grace_ms / 1000.0, caucus_link_deadline_ms(link) / 1000.0, d->connect);
        notice(d, line);
    }
    d->said_late = true;
    lose(d, link, NULL);
}

static caucus_status act(caucus_dial *d, caucus_link *link, bool *ret_moved, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    const char *next = d->state == APART ? caucus_link_next_address(link, caucus_clock_ms()) : NULL;
    if (next) {
        d->connect = next;
        status = begin(d, link, ret_error);
    }
    if (status == CAUCUS_OK && d->state == CONNECTING)
        status = reached(d, link, ret_error);
    else if (status == CAUCUS_OK && d->state == SHAKING)
        status = shake(d, link, ret_error);
    if (status == CAUCUS_OK && d->state == OPEN)
        status = receive_some(d, link, ret_moved, ret_error);
    if (status == CAUCUS_OK && d->state == OPEN)
        status = send_all(d, link, ret_moved, ret_error);
    if (status == CAUCUS_OK)
        mind_time(d, link);
    return status;
}

caucus_status caucus_dial_step(caucus_dial *d, caucus_link *link, int wake, int timeout_ms, bool *ret_awake,
                               caucus_error *ret_error) {
    bool moved = false;
    *ret_awake = false;
    caucus_status status = act(d, link, &moved, ret_error);
    if (status != CAUCUS_OK)
        return status;
    int64_t wait = moved ? 0 : timeout_ms, left = caucus_link_wait_ms(link, caucus_clock_ms());
    if (left >= 0 && left < wait)
        wait = left;
    left = d->next_ms - caucus_clock_ms();
    if (d->state == CONNECTING && caucus_route_has_next(&d->route) && left < wait)
        wait = left > 0 ? left : 0;
    left = d->leave_ms - caucus_clock_ms();
    if (d->state == OPEN && d->leave_ms != 0 && !d->want_write && left < wait)
        wait = left > 0 ? left : 0;
    short events = d->want_write || d->state == CONNECTING ? POLLOUT : 0;
    if (d->state == SHAKING || (d->state == OPEN && caucus_link_wants(link)))
        events |= POLLIN;
    struct pollfd fds[2] = {{.fd = d->fd, .events = events}, {.fd = wake, .events = POLLIN}};
    if (poll(fds, 2, (int)wait) > 0)
        *ret_awake = wake >= 0 && (fds[1].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0;
    return CAUCUS_OK;
}

void caucus_dial_finish(caucus_dial *d, caucus_link *link, int timeout_ms) {
    int64_t until = caucus_clock_ms() + timeout_ms;
    d->set.tick_ms = 0; /* a farewell tells nothing */
    caucus_error error;
    size_t size = 0;
    while (d->state == OPEN && caucus_link_to_send(link, &size) != NULL && caucus_clock_ms() < until) {
        bool moved = false;
        if (send_all(d, link, &moved, &error) != CAUCUS_OK)
            break;
        if (!moved && d->state == OPEN) {
            struct pollfd one = {.fd = d->fd, .events = POLLOUT};
            (void)poll(&one, 1, 50);
        }
    }
    if (d->state == OPEN && d->ssl) {
        ERR_clear_error();
        (void)SSL_shutdown(d->ssl);
        ERR_clear_error();
    }
    hang_up(d);
    d->state = APART;
    caucus_link_disconnected(link, caucus_clock_ms());
}
