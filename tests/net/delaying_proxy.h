/* SPDX-License-Identifier: Apache-2.0 */
/* delaying_proxy.h: a slow line between clients and a coordinator, in a thread: every byte takes as long as it is told,
 * in each direction. (Kernels can do this themselves, with netem; not every kernel has it.) */
#ifndef CAUCUS_TEST_DELAYING_PROXY_H
#define CAUCUS_TEST_DELAYING_PROXY_H

#include "net/server_testing.h"
#include "store/clock.h"

#define PROXY_PAIRS 64
#define PROXY_CHUNKS 256
#define PROXY_CHUNK_BYTES 4096

typedef struct proxy_chunk {
    int64_t due_ms;
    size_t size, sent; /* size 0: the end */
    uint8_t bytes[PROXY_CHUNK_BYTES];
} proxy_chunk;

/* What goes from one side to the other. */
typedef struct proxy_way {
    proxy_chunk *chunk[PROXY_CHUNKS];
    unsigned first, count;
    bool ended; /* nothing more is read */
} proxy_way;

typedef struct proxy_pair {
    int fd[2]; /* client, coordinator; -1: none */
    proxy_way way[2];
} proxy_pair;

typedef struct delaying_proxy {
    int listener;
    uint16_t port, to;
    int64_t delay_ms; /* one way */
    _Atomic bool stop;
    pthread_t thread;
    proxy_pair pair[PROXY_PAIRS];
} delaying_proxy;

static inline void proxy_end(proxy_pair *p) {
    for (int side = 0; side < 2; side++) {
        if (p->fd[side] >= 0)
            close(p->fd[side]);
        proxy_way *w = &p->way[side];
        for (; w->count > 0; w->count--, w->first = (w->first + 1) % PROXY_CHUNKS)
            free(w->chunk[w->first]);
        *w = (proxy_way){0};
        p->fd[side] = -1;
    }
}

static inline void proxy_accept(delaying_proxy *x) {
    int fd = accept4(x->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    for (int i = 0; fd >= 0 && i < PROXY_PAIRS; i++)
        if (x->pair[i].fd[0] < 0) {
            int out = dial_port(x->to);
            if (out < 0)
                break;
            assert_int_equal(fcntl(out, F_SETFL, O_NONBLOCK), 0);
            x->pair[i].fd[0] = fd;
            x->pair[i].fd[1] = out;
            return;
        }
    if (fd >= 0)
        close(fd);
}

/* Read from one side; it is due at the other in a while. */
static inline void proxy_read(delaying_proxy *x, proxy_pair *p, int side) {
    proxy_way *w = &p->way[side];
    if (w->ended || w->count == PROXY_CHUNKS)
        return;
    proxy_chunk *c = malloc(sizeof *c);
    assert_non_null(c);
    ssize_t n = recv(p->fd[side], c->bytes, sizeof c->bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        free(c);
        return;
    }
    c->due_ms = caucus_clock_ms() + x->delay_ms;
    c->size = n > 0 ? (size_t)n : 0;
    c->sent = 0;
    w->ended = n <= 0;
    w->chunk[(w->first + w->count++) % PROXY_CHUNKS] = c;
}

/* Deliver what is due. False: the connection is over. */
static inline bool proxy_deliver(proxy_pair *p, int side, int64_t now) {
    proxy_way *w = &p->way[side];
    while (w->count > 0 && w->chunk[w->first]->due_ms <= now) {
        proxy_chunk *c = w->chunk[w->first];
        if (c->size == 0)
            return false;
        ssize_t n = send(p->fd[!side], c->bytes + c->sent, c->size - c->sent, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        c->sent += (size_t)n;
        if (c->sent < c->size)
            return true;
        free(c);
        w->first = (w->first + 1) % PROXY_CHUNKS;
        w->count--;
    }
    return true;
}

static inline void *proxy_run(void *user) {
    delaying_proxy *x = user;
    while (!x->stop) {
        struct pollfd look[1 + 2 * PROXY_PAIRS] = {{.fd = x->listener, .events = POLLIN}};
        for (int i = 0; i < PROXY_PAIRS; i++)
            for (int side = 0; side < 2; side++)
                look[1 + 2 * i + side] =
                    (struct pollfd){.fd = x->pair[i].way[side].ended ? -1 : x->pair[i].fd[side], .events = POLLIN};
        (void)poll(look, sizeof look / sizeof look[0], 1);
        int64_t now = caucus_clock_ms();
        for (int i = 0; i < PROXY_PAIRS; i++) {
            proxy_pair *p = &x->pair[i];
            bool alive = p->fd[0] >= 0;
            for (int side = 0; alive && side < 2; side++) {
                if (look[1 + 2 * i + side].revents)
                    proxy_read(x, p, side);
                alive = proxy_deliver(p, side, now);
            }
            if (p->fd[0] >= 0 && !alive)
                proxy_end(p);
        }
        if (look[0].revents)
            proxy_accept(x);
    }
    return NULL;
}

/* A line to the coordinator at `to`, with this round trip. Dial x->port. */
static inline delaying_proxy *proxy_open(uint16_t to, int64_t round_trip_ms) {
    delaying_proxy *x = calloc(1, sizeof *x);
    assert_non_null(x);
    x->to = to;
    x->delay_ms = round_trip_ms / 2;
    for (int i = 0; i < PROXY_PAIRS; i++)
        x->pair[i].fd[0] = x->pair[i].fd[1] = -1;
    x->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    assert_int_equal(bind(x->listener, (struct sockaddr *)&here, sizeof here), 0);
    assert_int_equal(listen(x->listener, 64), 0);
    assert_int_equal(getsockname(x->listener, (struct sockaddr *)&here, &size), 0);
    x->port = ntohs(here.sin_port);
    assert_int_equal(pthread_create(&x->thread, NULL, proxy_run, x), 0);
    return x;
}

static inline void proxy_close(delaying_proxy *x) {
    x->stop = true;
    assert_int_equal(pthread_join(x->thread, NULL), 0);
    for (int i = 0; i < PROXY_PAIRS; i++)
        proxy_end(&x->pair[i]);
    close(x->listener);
    free(x);
}

#endif
