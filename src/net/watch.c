/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c: once a second, what has become of the certificates of those who are connected. See loop.h.
 *
 * A certificate is judged when its owner joins; what becomes of it later is found out here. Who has been put on the
 * list of the revoked is refused, and nothing it says from then on is read. A list that cannot be read any more is
 * said once, and so is its mending: it is not the clients' fault, so none of them ends by it (revoked.h). */
#include "net/loop.h"

#include "num/error_line.h"

#define WATCH_MS 1000u

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
static void cut_off(caucus_connection *c, const char *why) {
    caucus_server *s = c->loop->server;
    caucus_output_refuse_for(c, CAUCUS_REFUSAL_IDENTITY, CAUCUS_REASON_REVOKED, why);
    if (atomic_exchange(&s->expected[c->client - 1], 0) == 1)
        atomic_fetch_sub(&s->expected_count, 1);
}

static void look_for_revoked(caucus_loop *loop) {
    caucus_server *s = loop->server;
    if (!s->revoked || !caucus_revoked_news(s->revoked, &loop->revoked_seen))
        return;
    for (uint32_t i = 0; i < loop->connections; i++) {
        caucus_connection *c = loop->connection[i];
        char serial[CAUCUS_SERIAL_BYTES] = "";
        if (c->client == 0 || c->dead || c->leaving)
            continue;
        if (c->ssl && !caucus_tls_peer_serial(c->ssl, serial))
            caucus_connection_end(c); /* no memory to look it up: it comes again, and is looked up then */
        else if (caucus_revoked_lists(s->revoked, c->client, serial))
            cut_off(c, CAUCUS_REVOKED_TEXT);
    }
}

void caucus_watch_turn(caucus_loop *loop) {
    if (loop->watch_ns == 0 || loop->watch_ns > loop->now_ns)
        return;
    loop->watch_ns = loop->now_ns + WATCH_MS * 1000000u;
    caucus_watch_list(loop->server);
    look_for_revoked(loop);
}
