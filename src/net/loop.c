/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c: one event loop. See loop.h. */
#define _GNU_SOURCE /* accept4 */
#include "net/loop.h"
#include "net/relay/relay.h"

#include "algo/wipe.h"

#include "num/fail.h"
#include "num/hand_over.h"
#include "store/clock.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 256
#define ACCEPTS 64 /* per turn */
#define LEAVING_MS 1000u
#define ACCEPT_PAUSE_MS 100u

static uint64_t wait_ns(const caucus_server *s, caucus_wait wait) {
    uint32_t ms = wait == CAUCUS_WAIT_HELLO   ? s->set.hello_ms
                  : wait == CAUCUS_WAIT_FRAME ? s->set.stall_ms
                                              : LEAVING_MS;
    return (uint64_t)ms * 1000000u;
}

void caucus_wait_for(caucus_connection *c, caucus_wait wait) {
    caucus_loop *loop = c->loop;
    if (c->wait != CAUCUS_WAIT_NONE) {
        *(c->wait_previous ? &c->wait_previous->wait_next : &loop->wait_head[c->wait]) = c->wait_next;
        *(c->wait_next ? &c->wait_next->wait_previous : &loop->wait_tail[c->wait]) = c->wait_previous;
    }
    c->wait = (uint8_t)wait;
    c->wait_next = c->wait_previous = NULL;
    if (wait == CAUCUS_WAIT_NONE)
        return;
    c->expires_ns = loop->now_ns + wait_ns(loop->server, wait);
    c->wait_previous = loop->wait_tail[wait];
    *(c->wait_previous ? &c->wait_previous->wait_next : &loop->wait_head[wait]) = c;
    loop->wait_tail[wait] = c;
}

void caucus_connection_listen(caucus_connection *c) {
    struct epoll_event event = {.events = (c->parked ? 0u : EPOLLIN) | (c->want_write ? EPOLLOUT : 0u), .data.ptr = c};
    if (epoll_ctl(c->loop->epoll, EPOLL_CTL_MOD, c->fd, &event) != 0)
        caucus_connection_end(c);
}

/* After the end the server stays for those who have not said goodbye: only that proves that they have heard of it. */
static void maybe_done(caucus_server *s) {
    if (atomic_load(&s->finished) && atomic_load(&s->expected_count) == 0 && atomic_load(&s->joined) > 0)
        caucus_step_over(s);
}

void caucus_loop_gone(caucus_server *s) {
    maybe_done(s);
    if (atomic_load(&s->last_wanted) && atomic_load(&s->present) == 0)
        caucus_step_look(s);
}

void caucus_connection_end(caucus_connection *c) {
    if (c->dead)
        return;
    c->dead = true;
    c->dead_next = c->loop->dead;
    c->loop->dead = c;
    caucus_wait_for(c, CAUCUS_WAIT_NONE);
}

/* Give the client's place up, unless another connection has it. Nothing of this one is left to count. */
static void leave(caucus_connection *c) {
    caucus_server *s = c->loop->server;
    caucus_relay_left(c);
    if (c->client == 0)
        return;
    uint64_t mine = c->session;
    if (atomic_compare_exchange_strong(&s->session[c->client - 1], &mine, 0)) {
        atomic_fetch_sub(&s->present, 1);
        caucus_loop_left(c);
    }
    caucus_loop_gone(s);
}

/* Free the dead. Nobody points at them any more: the batch is flushed, the turn is over. */
static void reap(caucus_loop *loop) {
    if (!loop->dead)
        return;
    assert(loop->reports == 0);
    caucus_connection **link = &loop->again;
    while (*link)
        if ((*link)->dead)
            *link = (*link)->again_next;
        else
            link = &(*link)->again_next;
    while (loop->dead) {
        caucus_connection *c = loop->dead;
        loop->dead = c->dead_next;
        leave(c);
        caucus_lobby_leave(loop->lobby, c);
        caucus_connection *last = loop->connection[--loop->connections];
        loop->connection[c->at] = last;
        last->at = c->at;
        if (c->client != 0)
            atomic_fetch_sub(&loop->server->connections, 1);
        SSL_free(c->ssl);
        /* Closing alone does not take it out of epoll while a child that was forked meanwhile has it open, too: its
         * next event would lead to memory that is free. */
        (void)epoll_ctl(loop->epoll, EPOLL_CTL_DEL, c->fd, NULL);
        close(c->fd);
        caucus_wipe_free(c->pending, c->pending_room);
        free(c->out);
        free(c->refused_certificate);
        free(c);
    }
    atomic_store_explicit(&loop->strangers, caucus_lobby_count(loop->lobby), memory_order_relaxed);
}

/* ---- new connections ---- */

static bool add_connection(caucus_loop *loop, int fd, const struct sockaddr_storage *from) {
    if (loop->connections == loop->connections_room) {
        uint32_t room = loop->connections_room ? loop->connections_room * 2 : 64;
        caucus_connection **grown = realloc(loop->connection, room * sizeof *grown);
        if (!grown)
            return false;
        loop->connection = grown;
        loop->connections_room = room;
    }
    caucus_connection *c = calloc(1, sizeof *c);
    if (!c)
        return false;
    *c = (caucus_connection){.loop = loop,
                             .fd = fd,
                             .at = loop->connections,
                             .wait = CAUCUS_WAIT_NONE,
                             .shaken = !loop->server->secure,
                             .peer = *from};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        free(c);
        return false;
    }
    loop->connection[loop->connections++] = c;
    caucus_lobby_enter(loop->lobby, c, from);
    caucus_wait_for(c, CAUCUS_WAIT_HELLO);
    return true;
}

/* May it come in? Somebody else may have to go for it (lobby.h). */
static bool make_room(caucus_loop *loop, int fd, const struct sockaddr_storage *from) {
    caucus_connection *victim = NULL;
    bool admitted = caucus_lobby_admit(loop->lobby, from, &victim);
    if (victim) {
        caucus_loop_refused(loop, victim, &victim->peer, CAUCUS_REASON_FULL, "no HELLO yet, and its place is wanted");
        caucus_connection_end(victim);
        reap(loop);
    }
    if (admitted)
        return true;
    caucus_frame frame = {.kind = CAUCUS_FRAME_REFUSAL,
                          .code = CAUCUS_REFUSAL_FULL,
                          .text = "as many connections as allowed: come again later"};
    caucus_loop_refused(loop, NULL, from, CAUCUS_REASON_FULL, frame.text);
    uint8_t bytes[512];
    size_t size = caucus_wire_put(&frame, bytes, sizeof bytes);
    if (!loop->server->secure) /* nothing can be said before a handshake */
        (void)!send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    return false;
}

static void accept_some(caucus_loop *loop) {
    for (int i = 0; i < ACCEPTS; i++) {
        struct sockaddr_storage from = {0};
        socklen_t bytes = sizeof from;
        int fd = accept4(loop->listener, (struct sockaddr *)&from, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                struct epoll_event event = {.events = 0, .data.ptr = &loop->listener};
                caucus_descriptors_out(loop, errno);
                epoll_ctl(loop->epoll, EPOLL_CTL_MOD, loop->listener, &event);
                loop->accept_ns = loop->now_ns + ACCEPT_PAUSE_MS * 1000000u;
            }
            break;
        }
        if (!make_room(loop, fd, &from) || !add_connection(loop, fd, &from))
            close(fd);
    }
    atomic_store_explicit(&loop->strangers, caucus_lobby_count(loop->lobby), memory_order_relaxed);
}

/* ---- a turn ---- */

/* Has a whole ClientHello come? Then the other side speaks TLS, and is in the middle of its handshake: in the lobby it
 * is no longer one of the silent ones, who have to go first (lobby.h). */
static bool has_spoken(const SSL *ssl) {
    OSSL_HANDSHAKE_STATE state = SSL_get_state(ssl);
    return state != TLS_ST_BEFORE && state != TLS_ST_SR_CLNT_HELLO;
}

static void shake_hands(caucus_connection *c) {
    if (!c->ssl) {
        if (caucus_watch_open(c) != CAUCUS_OK) {
            caucus_connection_end(c);
            return;
        }
        caucus_loop_note_certificate(c);
    }
    ERR_clear_error();
    int done = SSL_do_handshake(c->ssl);
    if (done == 1) {
        c->shaken = true;
        caucus_lobby_speaks(c->loop->lobby, c);
        caucus_output_send(c); /* if there is nothing to send: no longer asks epoll when there is room to write */
        return;
    }
    if (has_spoken(c->ssl))
        caucus_lobby_speaks(c->loop->lobby, c);
    int why = SSL_get_error(c->ssl, done);
    bool write = why == SSL_ERROR_WANT_WRITE;
    if (why == SSL_ERROR_SYSCALL || why == SSL_ERROR_ZERO_RETURN) {
        caucus_connection_end(c); /* it has gone by itself, or the network has: nobody was refused */
    } else if (why != SSL_ERROR_WANT_READ && !write) {
        char text[160];
        caucus_tls_why(c->ssl, text, sizeof text);
        /* Without a handshake no refusal can be sent: it is counted, logged, and the connection is closed. */
        caucus_output_refuse_for(c, CAUCUS_REFUSAL_IDENTITY, CAUCUS_REASON_HANDSHAKE, text);
    } else if (write != c->want_write) {
        c->want_write = write;
        caucus_connection_listen(c);
    }
}

/* While a decision is being committed nothing can be counted. If that takes long, who speaks for a client is left alone
 * until it is over (look_around), so that the loop has time for others: strangers, and those who only listen. */
static void read_unless_parked(caucus_connection *c) {
    const bool parked = c->client != 0 && !c->leaving && caucus_commit_is_long(c->loop->server);
    if (parked == c->parked) {
        if (!parked)
            caucus_input_read(c);
        return;
    }
    c->parked = parked;
    caucus_connection_listen(c);
    if (!parked && !c->dead)
        caucus_input_read(c);
}

static void serve(caucus_connection *c, uint32_t events) {
    if (c->dead)
        return;
    if (!c->shaken && !c->ssl && (events & (EPOLLHUP | EPOLLERR)))
        caucus_connection_end(c); /* it has gone before it said a word */
    else if (!c->shaken)
        shake_hands(c);
    if (c->dead || !c->shaken)
        return;
    if (events & EPOLLOUT)
        caucus_output_send(c);
    if (events & (EPOLLHUP | EPOLLERR)) /* it is gone: what it has left is read now, or never */
        caucus_input_read(c);
    else if (events & EPOLLIN)
        read_unless_parked(c);
}

/* Something has been announced, or somebody has taken another's place, or it is time to go. */
static void look_around(caucus_loop *loop) {
    caucus_server *s = loop->server;
    bool stopping = atomic_load(&s->stopping);
    for (uint32_t i = 0; i < loop->connections; i++) {
        caucus_connection *c = loop->connection[i];
        if (c->dead || c->leaving)
            continue;
        if (c->client != 0 && atomic_load(&s->session[c->client - 1]) != c->session)
            caucus_output_refuse(c, CAUCUS_REFUSAL_ELSEWHERE, "the same client has connected again");
        else if (c->client != 0 && !c->want_write)
            caucus_output_send(c);
        if (c->parked && !c->dead)
            read_unless_parked(c);
        if (stopping && !c->dead)
            caucus_output_goodbye(c, atomic_load(&s->finished) ? "the run is over"
                                     : s->relay                ? "this relay stops: come again later"
                                                               : "the coordinator stops: come again later");
    }
    caucus_input_flush(loop); /* of those that were parked */
}

static void expire(caucus_loop *loop) {
    for (int wait = 0; wait < CAUCUS_WAIT_KINDS; wait++)
        while (loop->wait_head[wait] && loop->wait_head[wait]->expires_ns <= loop->now_ns) {
            caucus_connection *c = loop->wait_head[wait];
            const char *why = wait == CAUCUS_WAIT_FRAME ? "half a frame, and not the rest in time"
                              : c->shaken               ? "no HELLO in time"
                                                        : "no handshake in time";
            if (wait != CAUCUS_WAIT_LEAVING)
                caucus_loop_refused(loop, c, &c->peer,
                                    wait == CAUCUS_WAIT_FRAME ? CAUCUS_REASON_SLOW_FRAME
                                    : c->shaken               ? CAUCUS_REASON_SLOW_HELLO
                                                              : CAUCUS_REASON_SLOW_HANDSHAKE,
                                    why);
            if (wait == CAUCUS_WAIT_LEAVING || !c->shaken) {
                caucus_connection_end(c);
            } else {
                /* A network that stood still is no reason to turn a client away for good: it may come again. */
                caucus_output_goodbye(c, why);
                if (c->wait == wait) /* it was told to go before, so that the goodbye did nothing: cut it off */
                    caucus_connection_end(c);
            }
        }
    if (loop->accept_ns && loop->accept_ns <= loop->now_ns) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &loop->listener};
        loop->accept_ns = 0;
        epoll_ctl(loop->epoll, EPOLL_CTL_MOD, loop->listener, &event);
    }
}

static int patience_ms(const caucus_loop *loop) {
    uint64_t next = loop->accept_ns ? loop->accept_ns : UINT64_MAX, now = caucus_clock_ns();
    if (loop->watch_ns && (loop->connections > 0 || loop->number == 0) && loop->watch_ns < next)
        next = loop->watch_ns;
    if (loop->waits_ns && loop->waits_ns < next)
        next = loop->waits_ns;
    if (loop->stop_ns && loop->stop_ns < next)
        next = loop->stop_ns;
    if (loop->log_ns && loop->log_ns < next)
        next = loop->log_ns;
    for (int wait = 0; wait < CAUCUS_WAIT_KINDS; wait++)
        if (loop->wait_head[wait] && loop->wait_head[wait]->expires_ns < next)
            next = loop->wait_head[wait]->expires_ns;
    if (loop->again)
        return 0;
    if (next == UINT64_MAX)
        return -1;
    return next <= now ? 0 : (int)((next - now + 999999u) / 1000000u);
}

static void turn(caucus_loop *loop) {
    struct epoll_event event[EVENTS];
    caucus_server *s = loop->server;
    int count = epoll_wait(loop->epoll, event, EVENTS, patience_ms(loop));
    loop->now_ns = caucus_clock_ns();
    bool woken = false, rung = false, knocked = false;
    caucus_connection *again = loop->again;
    loop->again = NULL;
    while (again) {
        caucus_connection *c = again;
        again = c->again_next; /* reading may put it on the new list */
        c->again = false;
        read_unless_parked(c);
    }
    for (int i = 0; i < count; i++) {
        void *what = event[i].data.ptr;
        uint64_t times;
        if (what == &loop->listener) {
            knocked = true;
        } else if (what == &loop->wake) {
            woken = read(loop->wake, &times, sizeof times) == (ssize_t)sizeof times;
        } else if (what == &s->timer) {
            rung = read(s->timer, &times, sizeof times) == (ssize_t)sizeof times;
        } else {
            serve(what, event[i].events);
        }
    }
    caucus_input_flush(loop);
    if (rung)
        caucus_step_clock(s);
    if (woken) {
        if (loop->number == 0 && atomic_exchange(&s->reload_wanted, false))
            caucus_watch_reload(loop);
        caucus_step_last(s);
        if (loop->relayed)
            caucus_relay_turn(loop);
        look_around(loop);
        caucus_step_wipe(s); /* on disk, and after the announcement has been sent: no client waits for it */
    }
    caucus_watch_turn(loop);
    caucus_waits_turn(loop);
    caucus_stop_turn(loop);
    caucus_loop_log_turn(loop);
    expire(loop);
    reap(loop);
    if (knocked && loop->listener >= 0)
        accept_some(loop);
}

static void end_all(caucus_loop *loop) {
    for (uint32_t i = 0; i < loop->connections; i++)
        caucus_connection_end(loop->connection[i]);
    reap(loop);
}

void *caucus_loop_run(void *user) {
    caucus_loop *loop = user;
    caucus_server *s = loop->server;
    while (!atomic_load(&s->stopping))
        turn(loop);
    if (!atomic_load(&s->aborting)) {
        close(loop->listener);
        loop->listener = -1;
        loop->now_ns = caucus_clock_ns();
        look_around(loop);
        reap(loop);
        while (loop->connections > 0 && !atomic_load(&s->aborting))
            turn(loop); /* ends: all of them were told to go, and whoever does not is cut off (expire) */
    }
    end_all(loop);
    return NULL;
}

caucus_status caucus_loop_new(caucus_server *server, int listener, uint32_t number, caucus_loop **ret,
                              caucus_error *ret_error) {
    caucus_loop *loop = aligned_alloc(CAUCUS_LINE_BYTES, sizeof *loop);
    caucus_partial *partial = NULL;
    if (!loop || caucus_partial_new(server->machine, &partial) != CAUCUS_OK) {
        free(loop);
        close(listener);
        return caucus_fail_memory(ret_error, "");
    }
    memset(loop, 0, sizeof *loop);
    pthread_mutex_init(&loop->lock, NULL);
    loop->partial = partial;
    loop->server = server;
    loop->number = number;
    loop->listener = listener;
    loop->now_ns = caucus_clock_ns();
    loop->watch_ns = server->revoked || server->secure ? loop->now_ns : 0;
    loop->waits_ns = server->set.excused && number == 0 ? loop->now_ns : 0;
    loop->log_ns = number == 0 ? loop->now_ns : 0;
    loop->stop_ns = server->relay ? 0 : loop->log_ns;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    loop->arena = malloc(CAUCUS_ARENA_BYTES);
    loop->scratch_room = CAUCUS_ARENA_BYTES / sizeof(int64_t) + server->experts;
    loop->scratch = malloc(loop->scratch_room * sizeof *loop->scratch);
    struct epoll_event accepts = {.events = EPOLLIN, .data.ptr = &loop->listener};
    struct epoll_event wakes = {.events = EPOLLIN, .data.ptr = &loop->wake};
    struct epoll_event rings = {.events = EPOLLIN, .data.ptr = &server->timer};
    caucus_status lobby = caucus_lobby_new(server->set.max_strangers / server->loops, &loop->lobby);
    caucus_status status = CAUCUS_OK;
    if (lobby != CAUCUS_OK || !loop->arena || !loop->scratch || loop->epoll < 0 || loop->wake < 0 ||
        epoll_ctl(loop->epoll, EPOLL_CTL_ADD, listener, &accepts) != 0 ||
        epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wake, &wakes) != 0 ||
        (number == 0 && epoll_ctl(loop->epoll, EPOLL_CTL_ADD, server->timer, &rings) != 0))
        status = caucus_fail_os(ret_error, CAUCUS_E_IO, errno, "loops", "cannot make an event loop");
    if (status == CAUCUS_OK && server->relay)
        status = caucus_relay_loop_new(loop, ret_error);
    return CAUCUS_HAND_OVER(status, ret, loop, caucus_loop_free(loop));
}

void caucus_loop_free(caucus_loop *loop) {
    if (!loop)
        return;
    end_all(loop);
    caucus_lobby_free(loop->lobby);
    free(loop->connection);
    if (loop->listener >= 0)
        close(loop->listener);
    if (loop->wake >= 0)
        close(loop->wake);
    if (loop->epoll >= 0)
        close(loop->epoll);
    caucus_wipe_free(loop->arena, CAUCUS_ARENA_BYTES); /* reports: under trust coordinator, clients' sums */
    caucus_wipe_free(loop->scratch, loop->scratch_room * sizeof *loop->scratch);
    caucus_partial_free(loop->partial);
    caucus_relay_loop_free(loop);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}
