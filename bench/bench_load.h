/* SPDX-License-Identifier: Apache-2.0 */
/* bench_load.h: m clients in one process: they join, and answer every announcement with a report at once.
 *
 * One thread, one epoll, real sockets. It cannot tell the coordinator from the bare loop, so whatever it costs, it
 * costs both. Commands come over `control`:
 *   LOAD_JOIN        connect, shake hands, say HELLO; done when every client has an announcement in hand
 *   LOAD_PLAY n      n announcements, or to the end of the run, each answered as it comes; the time of all of it
 *   LOAD_LAST n      n announcements: all clients but one answer, the rest is silence, then the last one does */
#ifndef CAUCUS_BENCH_LOAD_H
#define CAUCUS_BENCH_LOAD_H

#include "bench_process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <sys/epoll.h>

#include "wire/wire.h"

typedef enum load_what { LOAD_JOIN = 1, LOAD_PLAY, LOAD_LAST } load_what;

typedef struct load_command {
    load_what what;
    uint32_t count;
} load_command;

#define LOAD_LATENCIES 64

typedef struct load_answer {
    double seconds;
    size_t report_bytes, announcement_bytes; /* of the last ones */
    double first[LOAD_LATENCIES],
        all[LOAD_LATENCIES]; /* LOAD_LAST: from the last report to the first announcement, to all */
} load_answer;

/* Clients' certificates, read once before any process is started: reading keys takes longer than shaking hands. */
typedef struct load_identity {
    X509 *certificate;
    EVP_PKEY *key;
} load_identity;

typedef struct load_settings {
    uint32_t clients, experts;
    uint8_t plan_hash[CAUCUS_PLAN_HASH_BYTES];
    const char *certificates; /* directory, or NULL: plain TCP */
    const load_identity *identity;
    uint16_t port;
    int64_t cost; /* what the expert in force costs a client in a block */
} load_settings;

typedef struct load_connection {
    int fd;
    SSL *ssl;
    bool greeted;
    uint32_t heard;
    uint64_t sums_next;
    caucus_announcement now;
} load_connection;

typedef struct load {
    const load_settings *set;
    int epoll;
    SSL_CTX *tls;
    load_connection *c;
    int64_t *value; /* what everybody reports: d numbers */
    int64_t *scratch;
    uint8_t *bytes;
    size_t room;
    size_t report_bytes, announcement_bytes;
} load;

static inline void load_write(load *l, load_connection *c, const caucus_frame *frame) {
    size_t size = caucus_wire_put(frame, l->bytes, l->room), done = 0;
    if (!c->ssl)
        done = (size_t)send(c->fd, l->bytes, size, MSG_NOSIGNAL);
    else if (SSL_write_ex(c->ssl, l->bytes, size, &done) != 1)
        done = 0;
    if (done != size)
        bench_die("a client could not write", strerror(errno));
    l->report_bytes = size;
}

static inline void load_report(load *l, load_connection *c) {
    bool cost = c->now.ask == CAUCUS_ASK_COST;
    caucus_frame frame = {.kind = CAUCUS_FRAME_REPORT,
                          .report = {.client = (uint32_t)(c - l->c) + 1,
                                     .kind = c->now.ask,
                                     .first = cost ? c->now.block : c->sums_next,
                                     .block = c->now.block,
                                     .epoch_or_leaf = c->now.epoch,
                                     .count = cost ? 1 : l->set->experts,
                                     .value = cost ? &l->set->cost : l->value}};
    load_write(l, c, &frame);
}

/* Read what has come. Returns: announcements among it. */
static inline uint32_t load_read(load *l, load_connection *c) {
    uint32_t heard = 0;
    do {
        size_t n = 0;
        if (!c->ssl) {
            ssize_t got = recv(c->fd, l->bytes, l->room, 0);
            n = got > 0 ? (size_t)got : 0;
        } else if (SSL_read_ex(c->ssl, l->bytes, l->room, &n) != 1) {
            if (SSL_get_error(c->ssl, 0) != SSL_ERROR_WANT_READ)
                bench_die("a client was cut off", "TLS");
            return heard;
        }
        if (n == 0)
            bench_die("a client was cut off", strerror(errno));
        for (size_t at = 0, used; at < n; at += used) {
            caucus_frame frame;
            caucus_error error = {0};
            if (caucus_wire_take(l->bytes + at, n - at, l->set->experts, l->scratch, &used, &frame, &error) !=
                    CAUCUS_OK ||
                used == 0 || frame.kind == CAUCUS_FRAME_REFUSAL)
                bench_die("a client was told", frame.kind == CAUCUS_FRAME_REFUSAL ? frame.text : "half a frame");
            if (frame.kind != CAUCUS_FRAME_ANNOUNCEMENT)
                continue;
            c->now = frame.announcement;
            c->sums_next = frame.sums_next;
            c->heard++;
            heard++;
            l->announcement_bytes = used;
        }
    } while (c->ssl && SSL_has_pending(c->ssl));
    return heard;
}

static inline load_identity *load_identities(const char *dir, uint32_t clients) {
    load_identity *who = calloc(clients, sizeof *who);
    for (uint32_t i = 0; i < clients; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/client-%u.pem", dir, i + 1);
        FILE *certificate = fopen(path, "r");
        snprintf(path, sizeof path, "%s/client-%u.key", dir, i + 1);
        FILE *key = fopen(path, "r");
        if (!certificate || !key || !(who[i].certificate = PEM_read_X509(certificate, NULL, NULL, NULL)) ||
            !(who[i].key = PEM_read_PrivateKey(key, NULL, NULL, NULL)))
            bench_die("a client's certificate", path);
        fclose(certificate);
        fclose(key);
    }
    return who;
}

static inline void load_open(load *l, uint32_t i) {
    load_connection *c = &l->c[i];
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(l->set->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof to) != 0)
        bench_die("a client could not connect", strerror(errno));
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (l->tls) {
        caucus_error error = {0};
        const load_identity *who = &l->set->identity[i];
        if (caucus_tls_client_open(l->tls, c->fd, "127.0.0.1", NULL, &c->ssl, &error) != CAUCUS_OK ||
            SSL_use_certificate(c->ssl, who->certificate) != 1 || SSL_use_PrivateKey(c->ssl, who->key) != 1)
            bench_die("a client's TLS", error.text);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event);
}

/* Shake hands if need be, then say HELLO. True: said just now. */
static inline bool load_greet(load *l, load_connection *c) {
    if (c->greeted)
        return false;
    int done = c->ssl ? SSL_do_handshake(c->ssl) : 1;
    if (done != 1) {
        if (SSL_get_error(c->ssl, done) != SSL_ERROR_WANT_READ)
            bench_die("a client's handshake failed", "TLS");
        return false;
    }
    caucus_frame hello = {
        .kind = CAUCUS_FRAME_HELLO, .version = CAUCUS_WIRE_VERSION, .client = (uint32_t)(c - l->c) + 1};
    memcpy(hello.plan, l->set->plan_hash, sizeof hello.plan);
    load_write(l, c, &hello);
    return c->greeted = true;
}

/* A few at a time: nobody waits long between connecting and HELLO. */
static inline void load_join(load *l) {
    uint32_t m = l->set->clients, opened = 0, greeted = 0, ready = 0;
    while (ready < m) {
        for (; opened < m && opened - greeted < 32; opened++) {
            load_open(l, opened);
            greeted += load_greet(l, &l->c[opened]);
        }
        struct epoll_event event[256];
        int count = epoll_wait(l->epoll, event, 256, opened < m && opened - greeted < 32 ? 0 : -1);
        for (int i = 0; i < count; i++) {
            load_connection *c = event[i].data.ptr;
            if (!c->greeted)
                greeted += load_greet(l, c);
            else
                ready += load_read(l, c);
        }
    }
}

static inline void load_play(load *l, uint32_t announcements) {
    uint32_t m = l->set->clients, done = 0, target = l->c[0].heard + announcements;
    if (l->c[0].now.ask == CAUCUS_ASK_NOTHING)
        bench_die("the run is over", "the plan has too few blocks");
    for (uint32_t i = 0; i < m; i++)
        load_report(l, &l->c[i]);
    while (done < m) {
        struct epoll_event event[256];
        int count = epoll_wait(l->epoll, event, 256, -1);
        for (int i = 0; i < count; i++) {
            load_connection *c = event[i].data.ptr;
            if (load_read(l, c) == 0)
                continue;
            if (c->heard < target && c->now.ask != CAUCUS_ASK_NOTHING)
                load_report(l, c);
            else
                done++;
        }
    }
}

static inline void load_last(load *l, uint32_t i, load_answer *ret) {
    uint32_t m = l->set->clients, done = 0;
    double start = 0;
    for (uint32_t k = 0; k < m; k++) {
        if (k + 1 == m) {
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* everything before is counted by now */
            start = caucus_clock_seconds();
        }
        load_report(l, &l->c[k]);
    }
    while (done < m) {
        struct epoll_event event[256];
        int count = epoll_wait(l->epoll, event, 256, -1);
        for (int k = 0; k < count; k++) {
            uint32_t heard = load_read(l, event[k].data.ptr);
            if (done == 0 && heard > 0)
                ret->first[i] = caucus_clock_seconds() - start;
            done += heard;
        }
    }
    ret->all[i] = caucus_clock_seconds() - start;
}

static inline void load_run(void *argument, int control) {
    const load_settings *set = argument;
    load l = {.set = set,
              .epoll = epoll_create1(0),
              .c = calloc(set->clients, sizeof *l.c),
              .value = calloc(set->experts, sizeof *l.value),
              .scratch = calloc(set->experts, sizeof *l.scratch),
              .room = caucus_wire_max_bytes(set->experts) + 4096};
    l.bytes = malloc(l.room);
    if (set->certificates)
        l.tls = bench_tls(set->certificates, "client-1", false);
    for (uint32_t y = 0; y < set->experts; y++)
        l.value[y] = 1000 + 37 * (int64_t)y;
    for (;;) {
        load_command command;
        load_answer answer = {0};
        bench_receive(control, &command, sizeof command);
        double start = caucus_clock_seconds();
        if (command.what == LOAD_JOIN)
            load_join(&l);
        else if (command.what == LOAD_PLAY)
            load_play(&l, command.count);
        else
            for (uint32_t i = 0; i < command.count && i < LOAD_LATENCIES; i++)
                load_last(&l, i, &answer);
        answer.seconds = caucus_clock_seconds() - start;
        answer.report_bytes = l.report_bytes;
        answer.announcement_bytes = l.announcement_bytes;
        bench_send(control, &answer, sizeof answer);
    }
}

static inline load_answer load_do(bench_child *child, load_what what, uint32_t count) {
    load_command command = {.what = what, .count = count};
    load_answer answer;
    bench_send(child->control, &command, sizeof command);
    if (recv(child->control, &answer, sizeof answer, MSG_WAITALL) != (ssize_t)sizeof answer)
        exit(1); /* it has said why */
    return answer;
}

#endif
