/* SPDX-License-Identifier: Apache-2.0 */
/* loop_output.c: what leaves: announcements from the shared history, refusals, goodbyes. See loop.h. */
#include "net/loop.h"
#include "net/relay/relay.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Sent to one connection in one turn; the others wait no longer than that. */
#define TURN_BYTES (64u << 10)

ptrdiff_t caucus_io_write(caucus_connection *c, const uint8_t *from, size_t bytes) {
    ptrdiff_t ret;
    if (c->ssl) {
        size_t done = 0;
        ERR_clear_error();
        if (SSL_write_ex(c->ssl, from, bytes, &done) != 1)
            return caucus_io_tls_failed(c);
        ret = (ptrdiff_t)done;
    } else {
        do
            ret = send(c->fd, from, bytes, MSG_NOSIGNAL);
        while (ret < 0 && errno == EINTR);
        if (ret < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? CAUCUS_IO_AGAIN : CAUCUS_IO_END;
    }
    caucus_loop_add(&c->loop->bytes_out, (uint64_t)ret);
    return ret;
}

/* Everything is sent: shut our side. The connection stays until the other side has read it and closes, too (closing at
 * once with bytes unread would reset it and could destroy the last words), for a second at most. */
static void drain(caucus_connection *c) {
    if (c->drained)
        return;
    c->drained = true;
    if (c->ssl && c->shaken)
        SSL_shutdown(c->ssl);
    ERR_clear_error();
    shutdown(c->fd, SHUT_WR);
    caucus_wait_for(c, CAUCUS_WAIT_LEAVING);
}

/* Write what was left over. True: nothing is left. */
static bool send_leftovers(caucus_connection *c) {
    while (c->out_sent < c->out_used) {
        ptrdiff_t n = caucus_io_write(c, c->out + c->out_sent, c->out_used - c->out_sent);
        if (n < 0) {
            if (n == CAUCUS_IO_END)
                caucus_connection_end(c);
            return false;
        }
        c->out_sent += (uint32_t)n;
    }
    free(c->out);
    c->out = NULL;
    c->out_used = c->out_sent = 0;
    return true;
}

/* Keep bytes for later. */
static void keep(caucus_connection *c, const uint8_t *bytes, size_t size) {
    size_t left = c->out_used - c->out_sent;
    uint8_t *out = malloc(left + size);
    if (!out) {
        caucus_connection_end(c);
        return;
    }
    if (left > 0)
        memcpy(out, c->out + c->out_sent, left);
    memcpy(out + left, bytes, size);
    free(c->out);
    c->out = out;
    c->out_used = (uint32_t)(left + size);
    c->out_sent = 0;
}

/* As many of the announcements it has not been sent as fit in a chunk. */
static size_t fill_chunk(caucus_connection *c) {
    caucus_server *s = c->loop->server;
    if (c->client == 0 || c->leaving || !atomic_load(&s->started))
        return 0;
    const bool endless = s->history.endless;
    uint64_t cost_next, sums_next;
    pthread_mutex_lock(&c->loop->lock); /* what is counted of it; and without an end places are used again */
    if (atomic_load(&s->session[c->client - 1]) != c->session) { /* another loop counts for the client by now */
        pthread_mutex_unlock(&c->loop->lock);
        return 0;
    }
    caucus_coordinator_shown(s->machine, c->client, &cost_next, &sums_next);
    if (c->relayed)
        caucus_relay_shown(c, &cost_next, &sums_next);
    uint64_t committed = atomic_load_explicit(&s->committed, memory_order_acquire);
    size_t used = 0;
    if (endless && c->next < caucus_history_from(&s->history, committed))
        c->next = committed - 1; /* it goes on from the announcement in force */
    if (atomic_load(&s->ended) && c->next + 1 < committed)
        c->next = committed - 1; /* the run was ended before its time: nothing before that matters any more */
    while (c->next < committed) {
        caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT,
                              .cost_next = cost_next,
                              .sums_next = sums_next,
                              .announcement = caucus_history_get(&s->history, c->next)};
        size_t bytes = caucus_wire_put(&frame, c->loop->chunk + used, sizeof c->loop->chunk - used);
        if (bytes == 0)
            break;
        used += bytes;
        c->next++;
    }
    pthread_mutex_unlock(&c->loop->lock);
    return used;
}

void caucus_output_send(caucus_connection *c) {
    if (c->dead || !c->shaken)
        return;
    size_t sent = 0;
    while (!c->dead && send_leftovers(c) && sent < TURN_BYTES) {
        size_t size = fill_chunk(c);
        if (size == 0)
            break;
        ptrdiff_t n = caucus_io_write(c, c->loop->chunk, size);
        if (n == CAUCUS_IO_END)
            caucus_connection_end(c);
        else if (n < (ptrdiff_t)size)
            keep(c, c->loop->chunk + (n < 0 ? 0 : n), size - (size_t)(n < 0 ? 0 : n));
        sent += size;
    }
    if (c->dead)
        return;
    bool more = c->out_used > 0 || sent >= TURN_BYTES;
    if (!more && c->leaving)
        drain(c);
    if (more != c->want_write) {
        c->want_write = more;
        caucus_connection_listen(c);
    }
}

void caucus_output_frame(caucus_connection *c, const caucus_frame *frame) {
    uint8_t bytes[512];
    size_t size = caucus_wire_put(frame, bytes, sizeof bytes);
    if (size > 0)
        keep(c, bytes, size);
}

static void say_farewell(caucus_connection *c, caucus_frame_kind kind, uint32_t code, const char *text) {
    caucus_frame frame = {.kind = kind, .code = code};
    size_t length = strlen(text);
    for (size_t i = 0; i < length && i + 1 < sizeof frame.text; i++) /* the wire takes printable ASCII */
        frame.text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    if (c->dead || c->leaving)
        return;
    c->leaving = true;
    caucus_lobby_told(c->loop->lobby, c);
    caucus_wait_for(c, CAUCUS_WAIT_LEAVING);
    if (!c->shaken) {
        caucus_connection_end(c);
        return;
    }
    caucus_output_frame(c, &frame);
    caucus_output_send(c);
}

void caucus_output_refuse_for(caucus_connection *c, caucus_refusal_code code, caucus_reason reason, const char *text) {
    if (code != CAUCUS_REFUSAL_ELSEWHERE) /* a client that has come again is nothing to worry about */
        caucus_loop_refused(c->loop, c, &c->peer, reason, text);
    say_farewell(c, CAUCUS_FRAME_REFUSAL, code, text);
}

void caucus_output_refuse(caucus_connection *c, caucus_refusal_code code, const char *text) {
    caucus_output_refuse_for(c, code, caucus_reason_of(code), text);
}

void caucus_output_goodbye(caucus_connection *c, const char *text) {
    say_farewell(c, CAUCUS_FRAME_GOODBYE, 0, text);
}
