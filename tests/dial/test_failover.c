/* SPDX-License-Identifier: Apache-2.0 */
/* test_failover.c: a name that stands for several machines, and several names: the next one is tried, and a client ends
 * only when all have refused.
 *
 * The names are this test's own: it answers for the resolver. "fleet" is 127.0.0.2, 127.0.0.3 and 127.0.0.4. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "dial/dial.h"
#include "wire/wire.h"

#define MACHINES 3
#define TURNS 2000

int __real_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **ret);
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **ret);

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **ret) {
    if (strcmp(host, "fleet") != 0)
        return __real_getaddrinfo(host, port, hints, ret);
    struct addrinfo **link = ret;
    for (int i = 0; i < MACHINES; i++) {
        char number[32];
        (void)snprintf(number, sizeof number, "127.0.0.%d", i + 2);
        assert_int_equal(__real_getaddrinfo(number, port, hints, link), 0);
        while (*link)
            link = &(*link)->ai_next;
    }
    return 0;
}

/* ---- a machine that answers every HELLO in one way ---- */

typedef struct machine {
    int listener;
    caucus_frame answer; /* kind 0: the connection is closed without a word */
    _Atomic int visits;
    pthread_t thread;
} machine;

static void *run_machine(void *user) {
    machine *m = user;
    for (;;) {
        int fd = accept(m->listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        uint8_t bytes[512];
        m->visits++;
        (void)!recv(fd, bytes, sizeof bytes, 0); /* HELLO */
        if (m->answer.kind != 0) {
            size_t size = caucus_wire_put(&m->answer, bytes, sizeof bytes);
            (void)!send(fd, bytes, size, MSG_NOSIGNAL);
            (void)!recv(fd, bytes, 1, 0); /* until the client goes */
        }
        (void)close(fd);
    }
}

/* Machine i (from 0) on this port; port 0: any. Returns the port. */
static uint16_t open_machine(machine *m, int i, uint16_t port) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(port)};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + (uint32_t)i);
    socklen_t size = sizeof here;
    int on = 1;
    m->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(m->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    assert_int_equal(bind(m->listener, (struct sockaddr *)&here, sizeof here), 0);
    assert_int_equal(listen(m->listener, 5), 0);
    assert_int_equal(getsockname(m->listener, (struct sockaddr *)&here, &size), 0);
    assert_int_equal(pthread_create(&m->thread, NULL, run_machine, m), 0);
    return ntohs(here.sin_port);
}

static void close_machine(machine *m) {
    (void)shutdown(m->listener, SHUT_RDWR);
    assert_int_equal(pthread_join(m->thread, NULL), 0);
    (void)close(m->listener);
}

static const uint8_t hash[CAUCUS_PLAN_HASH_BYTES] = {7};

static caucus_frame welcome(void) {
    caucus_frame frame = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION};
    memcpy(frame.plan, hash, sizeof hash);
    return frame;
}

static caucus_frame refusal(caucus_refusal_code code) {
    return (caucus_frame){.kind = CAUCUS_FRAME_REFUSAL, .code = code, .text = "no"};
}

/* ---- a client ---- */

typedef struct visitor {
    caucus_plan *plan;
    caucus_dial *dial;
    caucus_link *link;
    caucus_error error;
} visitor;

static void open_visitor(visitor *v, const char *const *address, size_t addresses) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.clients = 2;
    s.experts = 3;
    s.rounds = 4;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    *v = (visitor){0};
    assert_int_equal(caucus_plan_new(&s, &v->plan, NULL), CAUCUS_OK);
    caucus_dial_settings plain = {0};
    assert_int_equal(caucus_dial_new(&plain, &v->dial, NULL), CAUCUS_OK);
    caucus_key key;
    caucus_key_from_seed(1, &key);
    caucus_link_settings link;
    caucus_link_settings_init(&link);
    link.plan = v->plan;
    link.plan_hash = hash;
    link.index = 1;
    link.key = &key;
    link.address = address;
    link.addresses = addresses;
    link.pause_first_ms = 5;
    link.pause_most_ms = 20;
    assert_int_equal(caucus_link_new(&link, &v->link, NULL), CAUCUS_OK);
    for (size_t i = 0; i < addresses; i++)
        assert_int_equal(caucus_dial_check(v->dial, address[i], NULL), CAUCUS_OK);
}

static void close_visitor(visitor *v) {
    caucus_link_free(v->link);
    caucus_dial_free(v->dial);
    caucus_plan_free(v->plan);
}

static bool was_welcomed(const visitor *v) {
    caucus_link_counts counts;
    caucus_link_counts_init(&counts);
    assert_int_equal(caucus_link_count(v->link, &counts), CAUCUS_OK);
    return caucus_dial_is_open(v->dial) && counts.bytes_received > 0;
}

/* Until it is welcomed (CAUCUS_OK) or ends. */
static caucus_status step_until(visitor *v, const machine *m) {
    caucus_status status = CAUCUS_OK;
    bool awake;
    for (int i = 0; i < TURNS && status == CAUCUS_OK && !(m && m->visits > 0 && was_welcomed(v)); i++)
        status = caucus_dial_step(v->dial, v->link, -1, 5, &awake, &v->error);
    return status;
}

/* Two of three machines are gone: the third is found, in the first attempt. */
static void test_gone(void **state) {
    (void)state;
    machine third = {.answer = welcome()};
    char where[32];
    const char *address = where;
    (void)snprintf(where, sizeof where, "fleet:%u", (unsigned)open_machine(&third, 2, 0));
    visitor v;
    open_visitor(&v, &address, 1);
    assert_int_equal(step_until(&v, &third), CAUCUS_OK);
    assert_true(was_welcomed(&v));
    assert_int_equal(third.visits, 1);
    close_visitor(&v);
    close_machine(&third);
}

/* The first hangs up, the second refuses, the third is it. */
static void test_one_refuses(void **state) {
    (void)state;
    machine m[MACHINES] = {{.answer.kind = 0}, {.answer = refusal(CAUCUS_REFUSAL_IDENTITY)}, {.answer = welcome()}};
    char where[32];
    const char *address = where;
    uint16_t port = 0;
    for (int i = 0; i < MACHINES; i++)
        port = open_machine(&m[i], i, port);
    (void)snprintf(where, sizeof where, "fleet:%u", (unsigned)port);
    visitor v;
    open_visitor(&v, &address, 1);
    assert_int_equal(step_until(&v, &m[2]), CAUCUS_OK);
    assert_true(was_welcomed(&v));
    assert_true(m[0].visits >= 1);
    assert_int_equal(m[1].visits, 1); /* for good */
    close_visitor(&v);
    for (int i = 0; i < MACHINES; i++)
        close_machine(&m[i]);
}

/* All have refused, of one name and of another: only then it ends. */
static void test_all_refuse(void **state) {
    (void)state;
    machine m[MACHINES], other = {.answer = refusal(CAUCUS_REFUSAL_IDENTITY)};
    char where[2][32];
    const char *const address[] = {where[0], where[1]};
    uint16_t port = 0;
    for (int i = 0; i < MACHINES; i++) {
        m[i] = (machine){.answer = refusal(CAUCUS_REFUSAL_PLAN)};
        port = open_machine(&m[i], i, port);
    }
    (void)snprintf(where[0], sizeof where[0], "fleet:%u", (unsigned)port);
    (void)snprintf(where[1], sizeof where[1], "127.0.0.5:%u", (unsigned)open_machine(&other, 3, 0));
    visitor v;
    open_visitor(&v, address, 2);
    assert_true(caucus_status_is_final(step_until(&v, NULL)));
    for (int i = 0; i < MACHINES; i++)
        assert_int_equal(m[i].visits, 1);
    assert_int_equal(other.visits, 1);
    close_visitor(&v);
    for (int i = 0; i < MACHINES; i++)
        close_machine(&m[i]);
    close_machine(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gone), cmocka_unit_test(test_one_refuses),
                                       cmocka_unit_test(test_all_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
