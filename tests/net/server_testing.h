/* SPDX-License-Identifier: Apache-2.0 */
/* server_testing.h: a coordinator in a thread of this process, and clients that speak to it over loopback: real
 * machines, the wire's codec, and a little book of what was sent, but none of the product's client code. */
#ifndef CAUCUS_TEST_SERVER_TESTING_H
#define CAUCUS_TEST_SERVER_TESTING_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "algo/federation.h"
#include "algo/wipe.h"
#include "net/forked.h"

#include "dial/tls.h"
#include "net/server.h"
#include "scratch.h"
#include "wire/wire.h"

#define MAX_EXPERTS 8192
#define PATIENCE_MS 20000 /* without any progress: something hangs */

/* ---- a coordinator ---- */

typedef struct hall {
    char dir[64];
    caucus_server_settings settings;
    caucus_server *server;
    pthread_t thread;
    caucus_status status;
    caucus_error error;
} hall;

static inline void hall_init(hall *h, const caucus_plan *plan, uint64_t seed) {
    memset(h, 0, sizeof *h);
    (void)snprintf(h->dir, sizeof h->dir, "%s/caucus-test-XXXXXX", scratch_root());
    assert_non_null(mkdtemp(h->dir));
    caucus_key run;
    caucus_key_from_seed(seed, &run);
    h->settings = (caucus_server_settings){
        .plan = plan, .state_dir = h->dir, .listen = "127.0.0.1:0", .loops = 2, .linger_ms = 200, .name = NULL};
    memset(h->settings.plan_hash, 0xa5, sizeof h->settings.plan_hash);
    caucus_key_derive(&run, 0, &h->settings.key);
}

static inline void *hall_thread(void *user) {
    hall *h = user;
    h->status = caucus_server_run(h->server, &h->error);
    return NULL;
}

static inline void hall_open(hall *h) {
    caucus_error error = {0};
    if (caucus_server_open(&h->settings, &h->server, &error) != CAUCUS_OK)
        fail_msg("server: %s: %s", error.field, error.text);
    assert_int_equal(pthread_create(&h->thread, NULL, hall_thread, h), 0);
}

/* Wait until it ends by itself. */
static inline void hall_wait(hall *h) {
    assert_int_equal(pthread_join(h->thread, NULL), 0);
    if (h->status != CAUCUS_OK)
        fail_msg("server ended: %s: %s", h->error.field, h->error.text);
}

static inline void hall_stop(hall *h) {
    caucus_server_stop(h->server);
    hall_wait(h);
}

static inline void hall_free(hall *h) {
    caucus_server_close(h->server);
    h->server = NULL;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", h->dir);
    assert_int_equal(system(command), 0);
}

/* ---- a connection ---- */

typedef struct wire_end {
    int fd;
    SSL *ssl;
    uint8_t in[1 << 16];
    size_t used;
} wire_end;

static inline int dial_port(uint16_t port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static inline void wire_open(wire_end *w, uint16_t port) {
    memset(w, 0, sizeof *w);
    w->fd = dial_port(port);
    assert_true(w->fd >= 0);
}

static inline void wire_close(wire_end *w) {
    SSL_free(w->ssl);
    if (w->fd >= 0)
        close(w->fd);
    w->ssl = NULL;
    w->fd = -1;
    w->used = 0;
}

static inline bool wire_send_bytes(wire_end *w, const void *bytes, size_t size) {
    for (size_t sent = 0; sent < size;) {
        ssize_t n = w->ssl ? SSL_write(w->ssl, (const uint8_t *)bytes + sent, (int)(size - sent))
                           : send(w->fd, (const uint8_t *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        sent += (size_t)n;
    }
    return true;
}

static inline bool wire_send(wire_end *w, const caucus_frame *frame) {
    uint8_t bytes[1 << 16];
    size_t size = caucus_wire_put(frame, bytes, sizeof bytes);
    assert_true(size > 0);
    return wire_send_bytes(w, bytes, size);
}

/* The next frame: 1, or 0 at the end of the connection. wait_ms: -1 if nothing has come by then. */
static inline int wire_receive(wire_end *w, uint32_t d, caucus_frame *ret, int wait_ms) {
    static _Thread_local int64_t scratch[MAX_EXPERTS];
    for (;;) {
        size_t used = 0;
        caucus_error error = {0};
        if (caucus_wire_take(w->in, w->used, d, scratch, &used, ret, &error) != CAUCUS_OK)
            fail_msg("the coordinator sent nonsense: %s", error.text);
        if (used > 0) {
            memmove(w->in, w->in + used, w->used - used);
            w->used -= used;
            return 1;
        }
        struct pollfd ready = {.fd = w->fd, .events = POLLIN};
        if (!(w->ssl && SSL_has_pending(w->ssl)) && poll(&ready, 1, wait_ms) == 0)
            return -1;
        ssize_t n = w->ssl ? SSL_read(w->ssl, w->in + w->used, (int)(sizeof w->in - w->used))
                           : recv(w->fd, w->in + w->used, sizeof w->in - w->used, 0);
        if (n <= 0)
            return 0;
        w->used += (size_t)n;
    }
}

static inline caucus_frame hello_of(const hall *h, uint32_t client, uint64_t heard) {
    caucus_frame hello = {.kind = CAUCUS_FRAME_HELLO, .version = CAUCUS_WIRE_VERSION, .client = client, .heard = heard};
    memcpy(hello.plan, h->settings.plan_hash, sizeof hello.plan);
    return hello;
}

/* ---- a client ---- */

#define MAX_ITEMS 4096

typedef struct item {
    caucus_ask kind;
    uint64_t block, serial; /* serial: of the announcement it answers */
    uint8_t *bytes;
    size_t room;
    size_t size;
} item;

typedef struct peer {
    uint32_t index;
    caucus_client *client;
    wire_end wire;
    bool connected, over; /* over: everything is played and goodbye is said */
    bool refused;
    bool lies;        /* says of losses of 0 and 1 far more than there is */
    uint64_t serial;  /* last announcement heard */
    uint32_t *expert; /* by round */
    item sent[MAX_ITEMS];
    uint32_t items;
    uint32_t announcements, again;
} peer;

static inline void peer_open(peer *p, const caucus_plan *plan, uint64_t seed, uint32_t index) {
    memset(p, 0, sizeof *p);
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    caucus_key_derive(&run, index, &key);
    p->index = index;
    p->wire.fd = -1;
    p->expert = calloc(plan->settings.rounds + 1, sizeof *p->expert);
    assert_non_null(p->expert);
    assert_int_equal(caucus_client_new(plan, index, &key, &p->client), CAUCUS_OK);
}

static inline void peer_disconnect(peer *p) {
    wire_close(&p->wire);
    p->connected = false;
}

static inline void peer_close(peer *p) {
    peer_disconnect(p);
    caucus_client_free(p->client);
    for (uint32_t i = 0; i < p->items; i++) /* blank: a server of this process may be given the memory next */
        caucus_wipe_free(p->sent[i].bytes, p->sent[i].room);
    free(p->expert);
}

static inline void peer_connect(peer *p, const hall *h, uint16_t port) {
    wire_open(&p->wire, port);
    caucus_frame hello = hello_of(h, p->index, caucus_client_heard(p->client));
    assert_true(wire_send(&p->wire, &hello));
    p->connected = true;
}

/* As far from what is true as a number goes, to the same side. */
static inline const int64_t *lie_about(const caucus_report *report) {
    static int64_t lie[MAX_EXPERTS];
    for (uint32_t i = 0; i < report->count; i++)
        lie[i] = report->value[i] > 0 ? INT64_MAX - i : INT64_MIN + i;
    return lie;
}

/* Play all rounds that can be played; send what is due. */
static inline void peer_play(peer *p, const caucus_plan *plan, loss_function losses) {
    double row[MAX_EXPERTS];
    size_t room = caucus_wire_max_bytes(plan->settings.experts);
    while (caucus_client_rounds_left(p->client) > 0) {
        uint64_t round = caucus_client_round(p->client) + 1;
        p->expert[round - 1] = caucus_client_expert(p->client);
        losses(p->index, (uint32_t)round, plan->settings.experts, row);
        assert_int_equal(caucus_client_observe(p->client, row, 1), CAUCUS_OK);
    }
    const caucus_report *report = caucus_client_report(p->client);
    if (report) {
        caucus_frame frame = {.kind = CAUCUS_FRAME_REPORT, .report = *report};
        if (p->lies)
            frame.report.value = lie_about(report);
        item *i = &p->sent[p->items++];
        assert_true(p->items < MAX_ITEMS);
        *i = (item){
            .kind = report->kind, .block = report->block, .serial = p->serial, .bytes = malloc(room), .room = room};
        assert_non_null(i->bytes);
        i->size = caucus_wire_put(&frame, i->bytes, room);
        assert_true(i->size > 0);
        if (!wire_send_bytes(&p->wire, i->bytes, i->size))
            peer_disconnect(p);
    }
}

/* After WELCOME: whatever is not known to be counted, as it was. */
static inline void peer_resend(peer *p, const caucus_frame *welcome) {
    for (uint32_t i = 0; p->connected && i < p->items; i++) {
        const item *it = &p->sent[i];
        bool wanted = it->kind == CAUCUS_ASK_COST   ? it->block >= welcome->cost_next
                      : it->kind == CAUCUS_ASK_SUMS ? it->block >= welcome->sums_next
                                                    : it->serial + 1 == caucus_client_heard(p->client);
        if (wanted) {
            p->again++;
            if (!wire_send_bytes(&p->wire, it->bytes, it->size))
                peer_disconnect(p);
        }
    }
}

/* Deal with one frame, or the end of the connection. */
static inline void peer_take(peer *p, const caucus_plan *plan, loss_function losses, int got,
                             const caucus_frame *frame) {
    if (got == 0) {
        peer_disconnect(p);
        return;
    }
    switch (frame->kind) {
    case CAUCUS_FRAME_WELCOME:
        peer_resend(p, frame);
        break;
    case CAUCUS_FRAME_ANNOUNCEMENT:
        assert_int_equal(frame->announcement.serial, caucus_client_heard(p->client));
        p->serial = frame->announcement.serial;
        p->announcements++;
        assert_int_equal(caucus_client_hear(p->client, &frame->announcement), CAUCUS_OK);
        peer_play(p, plan, losses);
        if (frame->announcement.ask == CAUCUS_ASK_NOTHING) {
            assert_int_equal(caucus_client_round(p->client), plan->settings.rounds);
            caucus_frame goodbye = {.kind = CAUCUS_FRAME_GOODBYE, .text = "done"};
            (void)wire_send(&p->wire, &goodbye);
            p->over = true;
            peer_disconnect(p);
        }
        break;
    case CAUCUS_FRAME_REFUSAL:
        p->refused = true;
        break;
    default:
        break;
    }
}

/* One frame for each peer that has one. False: nothing has come for a while. */
static inline bool peers_turn(peer *p, uint32_t m, const caucus_plan *plan, loss_function losses, int wait_ms) {
    struct pollfd ready[MAX_CLIENTS];
    bool waiting = false;
    for (uint32_t i = 0; i < m; i++) {
        ready[i] = (struct pollfd){.fd = p[i].connected ? p[i].wire.fd : -1, .events = POLLIN};
        waiting =
            waiting || (p[i].connected && p[i].wire.used > 0) || (p[i].wire.ssl && SSL_has_pending(p[i].wire.ssl));
    }
    if (poll(ready, m, waiting ? 0 : wait_ms) == 0 && !waiting)
        return false;
    for (uint32_t i = 0; i < m; i++) {
        caucus_frame frame;
        int got = p[i].connected ? wire_receive(&p[i].wire, plan->settings.experts, &frame, 0) : -1;
        if (got >= 0)
            peer_take(&p[i], plan, losses, got, &frame);
    }
    return true;
}

static inline bool peers_over(const peer *p, uint32_t m) {
    for (uint32_t i = 0; i < m; i++)
        if (!p[i].over)
            return false;
    return true;
}

static inline void peers_finish(peer *p, uint32_t m, const caucus_plan *plan, loss_function losses) {
    while (!peers_over(p, m))
        if (!peers_turn(p, m, plan, losses, PATIENCE_MS))
            fail_msg("the federation hangs: client 1 has heard %u announcements", p[0].announcements);
}

/* Every client played the same experts as the federation in one process. */
static inline void peers_equal(const peer *p, const federation *f) {
    for (uint32_t i = 0; i < f->m; i++)
        assert_memory_equal(p[i].expert, f->expert, f->plan->settings.rounds * sizeof *f->expert);
}

#endif
