/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c: once a second, what has become of the certificates of those who are connected. See loop.h.
 *
 * A certificate is judged when its owner joins; what becomes of it later is found out here. Who has been put on the
 * list of the revoked is refused, and nothing it says from then on is read. A list that cannot be read any more is
 * said once, and so is its mending: it is not the clients' fault, so none of them ends by it (revoked.h). Who has a
 * certificate that has expired since is cut off as well, and told to come again: it may have been renewed, and it is
 * this machine's clock that says so, which may be wrong. The coordinator's own is looked at, too, and read again when
 * somebody asks for it (SIGHUP): by loop 0, and used for the connections that come from then on. */
#include "net/loop.h"

#include "dial/tls_judge.h"
#include "num/error_line.h"

#include <time.h>

#define WATCH_MS 1000u
#define DAY_SECONDS 86400

void caucus_watch_list(caucus_server *s) {
    caucus_error why;
    if (!s->revoked)
        return;
    bool broken = caucus_revoked_broken(s->revoked, &why);
    if (atomic_exchange(&s->list_broken, broken) == broken)
        return;
    if (!broken) {
        caucus_server_log(s, 1, "the list of the revoked can be read again");
        return;
    }
    char line[CAUCUS_ERROR_LINE_BYTES];
    caucus_error_line(&why, CAUCUS_E_FORMAT, line);
    caucus_server_log(s, 0,
                      "the list of the revoked cannot be read: %.300s; the last good one stays in force, and newcomers "
                      "are told to come again",
                      line);
}

/* Cut it off, and do not hold up the end of the run for it. */
static void cut_off(caucus_connection *c, caucus_refusal_code code, caucus_reason reason, const char *why) {
    caucus_output_refuse_for(c, code, reason, why);
    caucus_waits_expects_not(c->loop->server, c->client);
}

static void cut_off_revoked(caucus_connection *c, const char *serial) {
    cut_off(c, CAUCUS_REFUSAL_IDENTITY, CAUCUS_REASON_REVOKED, CAUCUS_REVOKED_TEXT);
    caucus_waits_revoked(c->loop->server, c->client, serial[0] ? serial : NULL);
}

#define JUMP_SECONDS 60

/* The time of day as it would be if nobody had set the clock since this process was started. */
static int64_t steady_now(const caucus_loop *loop) {
    const caucus_server *s = loop->server;
    return s->opened_seconds + (int64_t)((loop->now_ns - s->opened_ns) / 1000000000u);
}

/* A clock that has jumped may be wrong, and jump back: then the client comes again, and is waited for meanwhile as one
 * that is away. A clock that is corrected by less than a minute has not jumped, nor has one whose second began before
 * the steady one's: nobody would look at this client again, and it would be waited for for ever. */
static void cut_off_expired(caucus_connection *c) {
    const bool by_a_jump = c->ends > steady_now(c->loop) + JUMP_SECONDS;
    cut_off(c, CAUCUS_REFUSAL_LATER, CAUCUS_REASON_EXPIRED, CAUCUS_EXPIRED_TEXT);
    if (!by_a_jump)
        caucus_waits_expired(c->loop->server, c->client);
}

static void look_for_revoked(caucus_loop *loop) {
    caucus_server *s = loop->server;
    if (!s->revoked)
        return;
    const bool news = caucus_revoked_news(s->revoked, &loop->revoked_seen);
    if (loop->number == 0)
        caucus_waits_list(s,
                          news); /* news or not: another loop may have found somebody on a list that is gone by now */
    if (!news)
        return;
    for (uint32_t i = 0; i < loop->connections; i++) {
        caucus_connection *c = loop->connection[i];
        char serial[CAUCUS_SERIAL_BYTES] = "";
        if (c->client == 0 || c->dead || c->leaving)
            continue;
        if (c->ssl && !caucus_tls_peer_serial(c->ssl, serial))
            caucus_connection_end(c); /* no memory to look it up: it comes again, and is looked up then */
        else if (caucus_revoked_lists(s->revoked, c->client, serial))
            cut_off_revoked(c, serial);
    }
}

/* Once its certificate has expired a client is no longer who it says. And which of them is next? */
static void look_for_expired(caucus_loop *loop, int64_t now) {
    int64_t next = 0;
    for (uint32_t i = 0; i < loop->connections; i++) {
        caucus_connection *c = loop->connection[i];
        if (c->client == 0 || c->dead || c->leaving || c->ends == 0)
            continue;
        if (c->ends <= now)
            cut_off_expired(c);
        else if (next == 0 || c->ends < next)
            next = c->ends;
    }
    atomic_store_explicit(&loop->ends, next, memory_order_relaxed);
}

/* ---- the coordinator's own ---- */

caucus_status caucus_watch_open(caucus_connection *c) {
    caucus_server *s = c->loop->server;
    pthread_mutex_lock(&s->tls_lock);
    caucus_status status = caucus_tls_server_open(s->tls, c->fd, &c->ssl);
    pthread_mutex_unlock(&s->tls_lock);
    return status;
}

void caucus_watch_own(caucus_server *s) {
    atomic_store(&s->ends, caucus_tls_own_expiry(s->tls, &s->expiry_warn_from));
    s->expiry_said = 0;
}

static void date_of(int64_t seconds, char ret[24]) {
    const time_t when = (time_t)seconds;
    struct tm parts;
    if (!gmtime_r(&when, &parts) || strftime(ret, 24, "%Y-%m-%d %H:%MZ", &parts) == 0)
        ret[0] = '\0';
}

/* Said once a day, from two weeks before on, and when it has expired. */
static void look_at_own(caucus_server *s, int64_t now) {
    const int64_t ends = atomic_load(&s->ends);
    char date[24];
    const bool just_expired = s->expiry_said < ends && ends <= now;
    if (!s->secure || now < s->expiry_warn_from ||
        (s->expiry_said != 0 && now - s->expiry_said < DAY_SECONDS && !just_expired))
        return;
    s->expiry_said = now;
    date_of(ends, date);
    const char *who = s->relay ? "relay" : "coordinator";
    if (ends <= now)
        caucus_server_log(s, 0,
                          "the certificate of this %s has expired (%s): no client accepts it any more; renew it and "
                          "send SIGHUP",
                          who, date);
    else
        caucus_server_log(s, 1, "the certificate of this %s expires in %lld days (%s): renew it and send SIGHUP", who,
                          (long long)((ends - now) / DAY_SECONDS), date);
}

void caucus_watch_reload(caucus_loop *loop) {
    caucus_server *s = loop->server;
    const caucus_server_settings *set = &s->set;
    SSL_CTX *fresh = NULL;
    caucus_error error = {0};
    char line[CAUCUS_ERROR_LINE_BYTES], date[24];
    if (s->revoked) {
        caucus_revoked_again(s->revoked);
        caucus_watch_list(s);
    }
    caucus_waits_reload(loop);
    if (!s->secure) {
        caucus_server_log(s, 1, "read again: what there is to read");
        return;
    }
    caucus_status status = caucus_tls_server_new(set->cert, set->key_file, set->client_ca, &fresh, &error);
    atomic_store(&s->reload_failed, status != CAUCUS_OK);
    if (status != CAUCUS_OK) {
        caucus_error_line(&error, status, line);
        caucus_server_log(s, 0, "not read again: --%s %.300s; what was read before stays in force", error.field, line);
        return;
    }
    pthread_mutex_lock(&s->tls_lock);
    SSL_CTX *before = s->tls;
    s->tls = fresh;
    pthread_mutex_unlock(&s->tls_lock);
    SSL_CTX_free(before); /* connections that use it keep it */
    caucus_watch_own(s);
    date_of(atomic_load(&s->ends), date);
    caucus_server_log(s, 1, "read again: certificate (it expires %s), key, authority and lists", date);
}

void caucus_watch_turn(caucus_loop *loop) {
    if (loop->watch_ns == 0 || loop->watch_ns > loop->now_ns)
        return;
    loop->watch_ns = loop->now_ns + WATCH_MS * 1000000u;
    const int64_t now = (int64_t)time(NULL); /* certificates have dates, so this is the one clock that is set */
    caucus_watch_list(loop->server);
    look_for_revoked(loop);
    look_for_expired(loop, now);
    if (loop->number == 0)
        look_at_own(loop->server, now);
}
