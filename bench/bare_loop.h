/* SPDX-License-Identifier: Apache-2.0 */
/* bare_loop.h: the floor under the coordinator: event loops that only move the bytes.
 *
 * The same system calls as src/net/loop*.c, and the same TLS: wait, read from whoever has sent, and when everybody has
 * sent one report, write one reply to each. It parses nothing, adds nothing, decides nothing, keeps nothing. Several
 * loops have a thread, a listener and connections each; whoever reads the last report wakes the others. */
#ifndef CAUCUS_BENCH_BARE_LOOP_H
#define CAUCUS_BENCH_BARE_LOOP_H

#include "bench_process.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "dial/tls.h"

typedef struct bare_connection {
    int fd;
    SSL *ssl;
    bool shaken, joined;
    size_t got;
} bare_connection;

typedef struct bare_settings {
    uint32_t clients, loops;
    const char *certificates; /* directory, or NULL: plain TCP */
} bare_settings;

/* What one turn moves: a report from each, then a reply to each. */
typedef struct bare_sizes {
    size_t report; /* the shortest there can be */
    size_t reply;
    uint8_t reply_bytes[512];
} bare_sizes;

#define BARE_LOOPS 16u

/* What the loops share. Sizes change only while everybody is silent. */
typedef struct bare_all {
    uint32_t clients, loops;
    SSL_CTX *tls;
    bare_sizes sizes;
    int control;
    uint16_t port;
    int wake[BARE_LOOPS];
    _Atomic uint32_t joined, answered;
} bare_all;

typedef struct bare_loop {
    bare_all *all;
    uint32_t number;
    int listener, epoll;
    bare_connection *c;
    uint32_t accepted;
    uint8_t *bytes;
} bare_loop;

static inline ptrdiff_t bare_read(bare_connection *c, uint8_t *to, size_t room) {
    if (!c->ssl)
        return recv(c->fd, to, room, 0);
    size_t done = 0;
    return SSL_read_ex(c->ssl, to, room, &done) == 1 ? (ptrdiff_t)done : -1;
}

static inline void bare_write(bare_connection *c, const uint8_t *from, size_t bytes) {
    size_t done = 0;
    if (!c->ssl)
        done = (size_t)send(c->fd, from, bytes, MSG_NOSIGNAL);
    else if (SSL_write_ex(c->ssl, from, bytes, &done) != 1)
        done = 0;
    if (done != bytes)
        bench_die("the bare loop could not write", strerror(errno));
}

static inline int bare_listen(uint16_t *port, bool share) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof at;
    if (fd >= 0 && share)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &bytes) != 0)
        bench_die("cannot listen", strerror(errno));
    *port = ntohs(at.sin_port);
    return fd;
}

static inline uint32_t bare_accept(int epoll, int listener, SSL_CTX *tls, bare_connection *c, uint32_t at, uint32_t m) {
    int fd, on = 1;
    while (at < m && (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        c[at] = (bare_connection){.fd = fd, .shaken = tls == NULL};
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &c[at]};
        if ((tls && caucus_tls_server_open(tls, fd, &c[at].ssl) != CAUCUS_OK) ||
            epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
            bench_die("the bare loop could not take a connection", strerror(errno));
        at++;
    }
    return at;
}

/* Read what has come. Returns: 1 if that was somebody's turn. */
static inline uint32_t bare_take(bare_loop *l, bare_connection *from) {
    bare_all *all = l->all;
    if (!from->shaken && !(from->shaken = SSL_do_handshake(from->ssl) == 1))
        return 0;
    do {
        ptrdiff_t n = bare_read(from, l->bytes, 16u << 10);
        if (n == 0 && !from->ssl)
            exit(0);
        from->got += n > 0 ? (size_t)n : 0;
    } while (from->ssl && SSL_has_pending(from->ssl));
    if (!from->joined && from->got > 0) { /* its HELLO, whatever its size */
        from->joined = true;
        from->got = 0;
        return atomic_fetch_add(&all->joined, 1) + 1 == all->clients ? all->clients : 0;
    }
    if (!from->joined || from->got < all->sizes.report)
        return 0;
    from->got = 0; /* one is under way at a time; indices differ in length by a byte or two */
    return 1;
}

static inline void bare_reply(bare_loop *l) {
    for (uint32_t i = 0; i < l->accepted; i++)
        bare_write(&l->c[i], l->all->sizes.reply_bytes, l->all->sizes.reply);
}

/* Everybody has had a turn: the others are woken; one loop alone needs no waking. */
static inline void bare_close(bare_loop *l) {
    uint64_t once = 1;
    atomic_store(&l->all->answered, 0);
    if (l->all->loops == 1)
        bare_reply(l);
    else
        for (uint32_t i = 0; i < l->all->loops; i++)
            (void)!write(l->all->wake[i], &once, sizeof once);
}

static inline void *bare_run(void *argument) {
    bare_loop *l = argument;
    bare_all *all = l->all;
    for (;;) {
        struct epoll_event event[256];
        int count = epoll_wait(l->epoll, event, 256, -1);
        uint32_t answered = 0;
        for (int i = 0; i < count; i++) {
            void *what = event[i].data.ptr;
            uint64_t times;
            if (what == &l->listener) {
                l->accepted = bare_accept(l->epoll, l->listener, all->tls, l->c, l->accepted, all->clients);
            } else if (what == &all->control) {
                bench_receive(all->control, &all->sizes, sizeof all->sizes); /* ends the process with its parent */
                bench_send(all->control, &all->port, sizeof all->port);
            } else if (what == &all->wake) {
                if (read(all->wake[l->number], &times, sizeof times) == (ssize_t)sizeof times)
                    bare_reply(l);
            } else {
                answered += bare_take(l, what);
            }
        }
        if (answered > 0 && atomic_fetch_add(&all->answered, answered) + answered == all->clients)
            bare_close(l);
    }
    return NULL;
}

static inline void bare_add(bare_loop *l, int fd, void *what) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        bench_die("the bare loop", strerror(errno));
}

/* One process of its own. control: sizes come in, nothing is said but the port. */
static inline void bare_serve(const bare_settings *set, int control) {
    static bare_all all;
    static bare_loop loop[BARE_LOOPS];
    all.clients = set->clients;
    all.loops = set->loops;
    all.control = control;
    if (set->certificates)
        all.tls = bench_tls(set->certificates, "coordinator", true);
    for (uint32_t i = 0; i < set->loops; i++) {
        bare_loop *l = &loop[i];
        *l = (bare_loop){.all = &all, .number = i, .epoll = epoll_create1(0), .bytes = malloc(16u << 10)};
        l->listener = bare_listen(&all.port, set->loops > 1);
        l->c = calloc(set->clients, sizeof *l->c);
        all.wake[i] = eventfd(0, EFD_NONBLOCK);
        bare_add(l, l->listener, &l->listener);
        bare_add(l, all.wake[i], &all.wake);
    }
    bare_add(&loop[0], control, &all.control);
    bench_send(control, &all.port, sizeof all.port);
    bench_receive(control, &all.sizes, sizeof all.sizes);
    for (uint32_t i = 1; i < set->loops; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, bare_run, &loop[i]) != 0)
            bench_die("cannot start a thread", strerror(errno));
    }
    bare_run(&loop[0]);
}

#endif
