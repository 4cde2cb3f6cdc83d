/* SPDX-License-Identifier: Apache-2.0 */
/* loop_input.c: bytes to frames, frames to the batch that is counted next. See loop.h.
 *
 * Order of suspicion: a length beyond what the plan (or, before HELLO, any greeting) can need is refused before a byte
 * of it is kept; a client speaks for the index of its certificate only; what the machine calls out of range ends the
 * connection. Late and repeated reports are normal. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "net/loop.h"
#include "net/relay/relay.h"

#include "algo/wipe.h"

#include "dial/tls_judge.h"
#include "num/little_endian.h"

#include <errno.h>
#include <openssl/err.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define TURN_READS 16u /* per connection: then the others */

ptrdiff_t caucus_io_read(caucus_connection *c, uint8_t *to, size_t room) {
    ptrdiff_t ret;
    if (c->ssl) {
        size_t done = 0;
        ERR_clear_error();
        if (SSL_read_ex(c->ssl, to, room, &done) != 1)
            return caucus_io_tls_failed(c);
        ret = (ptrdiff_t)done;
    } else {
        do
            ret = recv(c->fd, to, room, 0);
        while (ret < 0 && errno == EINTR);
        if (ret <= 0)
            return ret < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? CAUCUS_IO_AGAIN : CAUCUS_IO_END;
    }
    caucus_loop_add(&c->loop->bytes_in, (uint64_t)ret);
    return ret;
}

/* ---- HELLO ---- */

static bool not_revoked(caucus_server *s, uint32_t client, const char *serial, const char **ret_why,
                        caucus_refusal_code *ret_code, caucus_reason *ret_reason) {
    caucus_revoked_answer answer = s->revoked ? caucus_revoked_ask(s->revoked, client, serial) : CAUCUS_REVOKED_NO;
    if (answer == CAUCUS_REVOKED_YES) {
        *ret_why = CAUCUS_REVOKED_TEXT;
        *ret_reason = CAUCUS_REASON_REVOKED;
        caucus_claims_drop(s, client); /* what it claims to have heard holds nobody up any longer */
        caucus_waits_refused(s, client, serial[0] ? serial : NULL);
    } else if (answer == CAUCUS_REVOKED_UNKNOWN) {
        *ret_why = "the list of the revoked cannot be read here: come again later";
        *ret_code = CAUCUS_REFUSAL_LATER;
        *ret_reason = CAUCUS_REASON_LATER;
        caucus_watch_list(s);
    }
    return answer == CAUCUS_REVOKED_NO;
}

/* The client this connection may speak for, or 0; plain TCP on loopback believes what is said. *ret_why: why not, and
 * *ret_code: whether for good. Only what is wrong with the client itself is. serial: its certificate's, if there is
 * one. */
static uint32_t certified(caucus_connection *c, uint32_t claimed, char serial[CAUCUS_SERIAL_BYTES],
                          const char **ret_why, caucus_refusal_code *ret_code, caucus_reason *ret_reason) {
    caucus_server *s = c->loop->server;
    uint32_t index = claimed;
    bool known = true;
    if (c->ssl) {
        index = caucus_tls_peer_index(c->ssl);
        known = caucus_tls_peer_serial(c->ssl, serial);
    }
    *ret_code = CAUCUS_REFUSAL_IDENTITY;
    *ret_reason = CAUCUS_REASON_IDENTITY;
    if (!known) {
        *ret_why = "out of memory: come again later";
        *ret_code = CAUCUS_REFUSAL_LATER;
        *ret_reason = CAUCUS_REASON_LATER;
    } else if (c->ssl && caucus_tls_peer_expiry(c->ssl) <= (int64_t)time(NULL)) { /* since the handshake */
        *ret_why = CAUCUS_EXPIRED_TEXT;
        *ret_code = CAUCUS_REFUSAL_LATER;
        *ret_reason = CAUCUS_REASON_EXPIRED;
    } else if (index == 0 || index > s->clients) {
        *ret_why = c->ssl ? "the certificate names no client of this plan" : "no such client in this plan";
    } else if (index != claimed) {
        *ret_why = "the certificate is another client's";
    } else {
        return not_revoked(s, index, serial, ret_why, ret_code, ret_reason) ? index : 0;
    }
    return 0;
}

static caucus_taken take_session(caucus_connection *c, uint32_t client) {
    caucus_server *s = c->loop->server;
    c->client = client;
    c->ends = c->ssl ? caucus_tls_peer_expiry(c->ssl) : 0;
    atomic_fetch_add(&s->connections, 1);
    caucus_lobby_leave(c->loop->lobby, c);
    const caucus_taken taken = caucus_step_take_session(c->loop, client);
    c->session = taken.session;
    if (taken.before != 0)
        caucus_server_wake(s);
    if (atomic_exchange(&s->expected[client - 1], 1) == 0)
        atomic_fetch_add(&s->expected_count, 1);
    atomic_fetch_add(&s->joined, 1);
    return taken;
}

/* Has the other side ended already? A process that died while we were slow has left its HELLO in the queue: it must not
 * take the place of the one that was started after it. */
static bool is_gone(const caucus_connection *c) {
    struct pollfd look = {.fd = c->fd, .events = POLLRDHUP};
    return poll(&look, 1, 0) == 1 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void caucus_input_welcome(caucus_connection *c, uint32_t client, uint64_t heard, const char *serial,
                          const caucus_taken *shown) {
    caucus_server *s = c->loop->server;
    caucus_wait_for(c, CAUCUS_WAIT_NONE);
    const caucus_taken taken = take_session(c, client);
    if (c->relayed)
        caucus_relay_placed(c);
    if (!shown)
        shown = &taken;
    caucus_waits_joined(c->loop, client, serial);
    c->next = heard;
    caucus_frame welcome = {.kind = CAUCUS_FRAME_WELCOME,
                            .version = CAUCUS_WIRE_VERSION,
                            .cost_next = shown->cost_next,
                            .sums_next = shown->sums_next,
                            .answered = shown->answered,
                            .deadline_ms = s->set.deadline_ms};
    memcpy(welcome.plan, s->set.plan_hash, sizeof welcome.plan);
    caucus_output_frame(c, &welcome);
    caucus_loop_joined(c);
    caucus_step_joined(s);
    caucus_output_send(c);
}

static void greet(caucus_connection *c, const caucus_frame *hello) {
    caucus_server *s = c->loop->server;
    const char *why = "";
    caucus_refusal_code code;
    caucus_reason reason;
    char text[CAUCUS_WIRE_TEXT_BYTES], serial[CAUCUS_SERIAL_BYTES] = "";
    uint32_t client;
    uint64_t committed;
    if (hello->version != CAUCUS_WIRE_VERSION) {
        snprintf(text, sizeof text, "protocol version %u is spoken here, not %u", CAUCUS_WIRE_VERSION, hello->version);
        caucus_output_refuse(c, CAUCUS_REFUSAL_VERSION, text);
    } else if (memcmp(hello->plan, s->set.plan_hash, sizeof hello->plan) != 0) {
        char own[9], other[9];
        snprintf(text, sizeof text, "the plan here is %s..., not %s...: use the coordinator's plan file",
                 sodium_bin2hex(own, sizeof own, s->set.plan_hash, 4),
                 sodium_bin2hex(other, sizeof other, hello->plan, 4));
        caucus_output_refuse(c, CAUCUS_REFUSAL_PLAN, text);
    } else if ((client = certified(c, hello->client, serial, &why, &code, &reason)) == 0) {
        caucus_output_refuse_for(c, code, reason, why);
    } else if (!s->relay && hello->heard > (committed = atomic_load(&s->started) ? atomic_load(&s->committed) : 0)) {
        if (caucus_claims_note(s, client, hello->heard, committed))
            caucus_output_refuse_for(c, CAUCUS_REFUSAL_LATER, CAUCUS_REASON_AHEAD,
                                     "this client has heard more than is committed here: come again later");
        else
            caucus_output_refuse(c, CAUCUS_REFUSAL_ORDER,
                                 "this client has heard more than was ever said here: the coordinator's state or the "
                                 "client's is not of this run");
    } else if (is_gone(c)) {
        caucus_connection_end(c);
    } else if (atomic_load(&s->connections) >= s->set.max_clients) {
        caucus_output_refuse(c, CAUCUS_REFUSAL_FULL, "as many connections as allowed: come again later");
    } else if (s->relay) {
        if (atomic_load(&s->last_wanted) || c->relayed) /* said twice, while it waits for its place */
            caucus_output_refuse(c, CAUCUS_REFUSAL_LATER, "this relay lets nobody in at present: come again later");
        else
            caucus_relay_ask(c, client, hello->heard, serial);
    } else {
        caucus_claims_drop(s, client);
        caucus_input_welcome(c, client, hello->heard, serial, NULL);
    }
}

/* ---- frames ---- */

void caucus_input_flush(caucus_loop *loop) {
    if (loop->reports > 0 && loop->relayed)
        caucus_relay_count(loop);
    else if (loop->reports > 0)
        caucus_step_count(loop);
    for (size_t i = 0; i < loop->reports; i++)
        if (loop->answer[i] == CAUCUS_E_RANGE)
            caucus_output_refuse_for(loop->from[i], CAUCUS_REFUSAL_FORMAT, CAUCUS_REASON_REPORT,
                                     "a report that this plan never asks for");
        else if (loop->answer[i] == CAUCUS_E_LATER) /* it was read just as the commit began: it sends it again */
            caucus_output_goodbye(loop->from[i], "a decision is being committed: come again later");
    loop->reports = loop->arena_used = loop->scratch_used = 0;
}

static void goodbye(caucus_connection *c) {
    caucus_input_flush(c->loop); /* its reports before this frame count */
    caucus_waits_expects_not(c->loop->server, c->client);
    c->said_goodbye = true;
    caucus_connection_end(c);
}

static void take_frame(caucus_connection *c, const caucus_frame *frame) {
    caucus_loop *loop = c->loop;
    if (c->client == 0) {
        if (frame->kind == CAUCUS_FRAME_HELLO)
            greet(c, frame);
        else
            caucus_output_refuse(c, CAUCUS_REFUSAL_FORMAT, "HELLO comes first");
    } else if (frame->kind == CAUCUS_FRAME_REPORT) {
        if (frame->report.client != c->client) {
            caucus_output_refuse_for(c, CAUCUS_REFUSAL_IDENTITY, CAUCUS_REASON_REPORT,
                                     "a report in another client's name");
            return;
        }
        if (frame->report.value == loop->scratch + loop->scratch_used)
            loop->scratch_used += frame->report.count;
        loop->report[loop->reports] = frame->report;
        loop->from[loop->reports++] = c;
    } else if (frame->kind == CAUCUS_FRAME_GOODBYE) {
        goodbye(c);
    } else {
        caucus_output_refuse(c, CAUCUS_REFUSAL_FORMAT, "a frame that clients do not send");
    }
}

static uint32_t frame_bytes(const uint8_t *head) {
    uint32_t length = caucus_le_get32(head);
    return length > UINT32_MAX - CAUCUS_WIRE_HEAD_BYTES ? UINT32_MAX : length + CAUCUS_WIRE_HEAD_BYTES;
}

/* Choose where the next frame of this connection is read to, so that its values lie on a multiple of 8 bytes and can be
 * added up where they are, without a copy. Reports of a client have the same length, and our clients put the values at
 * the end of a frame: the next one is taken to be laid out like this one. Where that is wrong its values are copied. */
static void align_next(caucus_connection *c, const caucus_frame *frame, size_t used) {
    if (frame->kind == CAUCUS_FRAME_REPORT && used >= 8 * (size_t)frame->report.count)
        c->align_shift = (uint8_t)(-(used - 8 * (size_t)frame->report.count) % 8);
}

/* Is the frame that begins here longer than it may be? Then it is refused unread. */
static bool too_long(caucus_connection *c, const uint8_t *bytes, size_t size) {
    size_t most = c->client == 0 ? CAUCUS_HELLO_BYTES : c->loop->server->frame_max;
    if (size < CAUCUS_WIRE_HEAD_BYTES || frame_bytes(bytes) <= most)
        return false;
    caucus_output_refuse(c, CAUCUS_REFUSAL_FORMAT, "a frame longer than this plan needs");
    return true;
}

/* Take whole frames from the bytes. Returns: bytes taken; the connection may be over. */
static size_t take_frames(caucus_connection *c, const uint8_t *bytes, size_t size) {
    caucus_loop *loop = c->loop;
    size_t taken = 0;
    while (!c->dead && !c->leaving && taken < size) {
        if (too_long(c, bytes + taken, size - taken))
            break;
        if (loop->reports == CAUCUS_BATCH_REPORTS || loop->scratch_room - loop->scratch_used < loop->server->experts) {
            size_t used = loop->arena_used; /* these bytes are still being read */
            caucus_input_flush(loop);
            loop->arena_used = used;
            if (c->dead || c->leaving)
                break;
        }
        caucus_frame frame;
        caucus_error error = {0};
        size_t used = 0;
        caucus_status status = caucus_wire_take(bytes + taken, size - taken, loop->server->experts,
                                                loop->scratch + loop->scratch_used, &used, &frame, &error);
        if (status != CAUCUS_OK) {
            caucus_output_refuse(c, CAUCUS_REFUSAL_FORMAT, error.text[0] ? error.text : "a malformed frame");
            break;
        }
        if (used == 0)
            break;
        if (taken == 0)
            align_next(c, &frame, used);
        taken += used;
        take_frame(c, &frame);
    }
    return taken;
}

/* ---- a frame that comes in parts ---- */

/* Room for at least one byte more. It grows with what has come, not with what was promised. */
static bool pending_grow(caucus_connection *c) {
    if (c->pending_used < c->pending_room)
        return true;
    uint32_t room = c->pending_room < 512 ? 512 : c->pending_room * 2;
    if (room > c->pending_need)
        room = c->pending_need;
    uint8_t *grown = caucus_wipe_grow(c->pending, c->pending_used, c->pending_room, room);
    if (!grown) {
        caucus_connection_end(c);
        return false;
    }
    c->pending = grown;
    c->pending_room = room;
    return true;
}

/* Keep what is left of a read: the beginning of a frame whose rest is still to come. */
static void pending_keep(caucus_connection *c, const uint8_t *bytes, size_t size) {
    c->pending_used = (uint32_t)size;
    c->pending_need = size >= CAUCUS_WIRE_HEAD_BYTES ? frame_bytes(bytes) : CAUCUS_WIRE_HEAD_BYTES;
    c->pending_room = c->pending_need < 512 ? c->pending_need : size > 512 ? (uint32_t)size : 512;
    c->pending = malloc(c->pending_room);
    if (!c->pending) {
        c->pending_used = c->pending_room = 0;
        caucus_connection_end(c);
        return;
    }
    memcpy(c->pending, bytes, size);
    if (c->client != 0) /* one limit for the whole frame: sending a byte now and then does not extend it */
        caucus_wait_for(c, CAUCUS_WAIT_FRAME);
}

static void pending_drop(caucus_connection *c) {
    caucus_wipe_free(c->pending, c->pending_room);
    c->pending = NULL;
    c->pending_used = c->pending_room = c->pending_need = 0;
    if (c->client != 0 && c->wait == CAUCUS_WAIT_FRAME)
        caucus_wait_for(c, CAUCUS_WAIT_NONE);
}

/* Read on where a frame has broken off. Returns as caucus_io_read. */
static ptrdiff_t read_pending(caucus_connection *c) {
    if (!pending_grow(c))
        return CAUCUS_IO_END;
    ptrdiff_t n = caucus_io_read(c, c->pending + c->pending_used, c->pending_room - c->pending_used);
    if (n <= 0)
        return n;
    c->pending_used += (uint32_t)n;
    if (c->pending_used < c->pending_need)
        return n;
    if (too_long(c, c->pending, c->pending_used))
        return n;
    c->pending_need = frame_bytes(c->pending);
    if (c->pending_used < c->pending_need)
        return n;
    take_frames(c, c->pending, c->pending_used);
    caucus_input_flush(c->loop); /* the report's values lie in `pending` */
    pending_drop(c);
    return n;
}

/* Read a stretch into the arena and take its frames. */
static ptrdiff_t read_stretch(caucus_connection *c) {
    caucus_loop *loop = c->loop;
    if (CAUCUS_ARENA_BYTES - loop->arena_used < CAUCUS_READ_BYTES + 8)
        caucus_input_flush(loop);
    if (c->dead || c->leaving)
        return 0;
    uint8_t *to = loop->arena + loop->arena_used + c->align_shift;
    ptrdiff_t n = caucus_io_read(c, to, CAUCUS_READ_BYTES);
    if (n <= 0)
        return n;
    loop->arena_used += (c->align_shift + (size_t)n + 7) / 8 * 8;
    size_t taken = take_frames(c, to, (size_t)n);
    if (!c->dead && !c->leaving && taken < (size_t)n)
        pending_keep(c, to + taken, (size_t)n - taken);
    return n;
}

/* Somebody who has been told to go: what it still says is thrown away. */
static ptrdiff_t read_away(caucus_connection *c) {
    uint8_t away[4096];
    return caucus_io_read(c, away, sizeof away);
}

void caucus_input_read(caucus_connection *c) {
    for (unsigned reads = 0; !c->dead; reads++) {
        if (reads == TURN_READS) { /* TLS may hold bytes that epoll will not report again */
            if (c->ssl && SSL_has_pending(c->ssl) && !c->again) {
                c->again = true;
                c->again_next = c->loop->again;
                c->loop->again = c;
            }
            return;
        }
        bool partial = c->pending != NULL;
        ptrdiff_t n = c->leaving ? read_away(c) : partial ? read_pending(c) : read_stretch(c);
        if (n == CAUCUS_IO_END)
            caucus_connection_end(c);
        if (n < 0 || c->dead)
            return;
        if (c->ssl ? !SSL_has_pending(c->ssl) : !partial && n < (ptrdiff_t)CAUCUS_READ_BYTES)
            return; /* epoll reports whatever else there is */
    }
}
