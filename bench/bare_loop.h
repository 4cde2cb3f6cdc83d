/* bare_loop.h: the floor under the coordinator: an event loop that only moves the bytes.
 *
 * The same system calls as src/net/loop*.c, and the same TLS: wait, read from whoever has sent, and when everybody has
 * sent one report, write one reply to each. It parses nothing, adds nothing, decides nothing, keeps nothing. */
#ifndef CAUCUS_BENCH_BARE_LOOP_H
#define CAUCUS_BENCH_BARE_LOOP_H

#include "bench_process.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

#include "net/tls.h"

typedef struct bare_connection {
    int fd;
    SSL *ssl;
    bool shaken, joined;
    size_t got;
} bare_connection;

typedef struct bare_settings {
    uint32_t clients;
    const char *certificates; /* directory, or NULL: plain TCP */
} bare_settings;

/* What one turn moves: a report from each, then a reply to each. */
typedef struct bare_sizes {
    size_t report; /* the shortest there can be */
    size_t reply;
    uint8_t reply_bytes[512];
} bare_sizes;

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

static inline int bare_listen(uint16_t *ret_port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof at;
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &bytes) != 0)
        bench_die("cannot listen", strerror(errno));
    *ret_port = ntohs(at.sin_port);
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

/* One process of its own. control: sizes come in, nothing is said but the port. */
static inline void bare_serve(const bare_settings *set, int control) {
    uint16_t port;
    int listener = bare_listen(&port), epoll = epoll_create1(0);
    SSL_CTX *tls = NULL;
    if (set->certificates)
        tls = bench_tls(set->certificates, "coordinator", true);
    uint32_t m = set->clients, accepted = 0, joined = 0, answered = 0;
    bare_connection *c = calloc(m, sizeof *c);
    uint8_t *bytes = malloc(16u << 10);
    struct epoll_event listens = {.events = EPOLLIN, .data.ptr = NULL}, asks = {.events = EPOLLIN, .data.ptr = &m};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &listens);
    epoll_ctl(epoll, EPOLL_CTL_ADD, control, &asks);
    bench_send(control, &port, sizeof port);
    bare_sizes sizes;
    bench_receive(control, &sizes, sizeof sizes);
    for (;;) {
        struct epoll_event event[256];
        int count = epoll_wait(epoll, event, 256, -1);
        for (int i = 0; i < count; i++) {
            bare_connection *from = event[i].data.ptr;
            if (!from) {
                accepted = bare_accept(epoll, listener, tls, c, accepted, m);
                continue;
            }
            if (event[i].data.ptr == (void *)&m) {
                bench_receive(control, &sizes, sizeof sizes); /* ends the process with its parent */
                bench_send(control, &port, sizeof port);
                continue;
            }
            if (!from->shaken && !(from->shaken = SSL_do_handshake(from->ssl) == 1))
                continue;
            do {
                ptrdiff_t n = bare_read(from, bytes, 16u << 10);
                if (n == 0 && !from->ssl)
                    exit(0);
                from->got += n > 0 ? (size_t)n : 0;
            } while (from->ssl && SSL_has_pending(from->ssl));
            if (!from->joined && from->got > 0) { /* its HELLO, whatever its size */
                from->joined = true;
                from->got = 0;
                joined++;
                answered += joined == m ? m : 0;
            } else if (from->joined && from->got >= sizes.report) {
                from->got = 0; /* one is under way at a time; indices differ in length by a byte or two */
                answered++;
            }
        }
        if (answered == m) {
            answered = 0;
            for (uint32_t i = 0; i < m; i++)
                bare_write(&c[i], sizes.reply_bytes, sizes.reply);
        }
    }
}

#endif
