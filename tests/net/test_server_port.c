/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_port.c: a coordinator with several loops has its port from the first bind on: at no moment could another
 * process take it, and a coordinator that is there already is found out. */
#include "net/server_testing.h"

#define LOOPS 4

static uint16_t port;       /* of the coordinator, once it has one */
static bool watching;       /* while the coordinator opens */
static int binds, intruded; /* what it bound; how often somebody else could have */

int __real_bind(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size);
int __real_close(int fd);
int __wrap_close(int fd);

/* Somebody else tries to have the port. */
static void intrude(void) {
    if (!watching || port == 0)
        return;
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(port)};
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    assert_true(fd >= 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (__real_bind(fd, (const struct sockaddr *)&there, sizeof there) == 0 && listen(fd, 1) == 0)
        intruded++;
    __real_close(fd);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size) {
    intrude();
    int result = __real_bind(fd, address, size);
    struct sockaddr_in own;
    socklen_t own_size = sizeof own;
    if (watching && result == 0 && getsockname(fd, (struct sockaddr *)&own, &own_size) == 0 && own.sin_port != 0) {
        port = ntohs(own.sin_port);
        binds++;
    }
    return result;
}

int __wrap_close(int fd) {
    int result = __real_close(fd);
    intrude();
    return result;
}

static caucus_plan *small_plan(void) {
    caucus_settings s;
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = 2;
    s.experts = 3;
    s.rounds = 4;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    return plan;
}

static void test_port(void **state) {
    (void)state;
    caucus_plan *plan = small_plan();
    hall h, other;
    hall_init(&h, plan, 3);
    h.settings.loops = LOOPS;
    caucus_error error = {0};
    watching = true;
    assert_int_equal(caucus_server_open(&h.settings, &h.server, &error), CAUCUS_OK);
    watching = false;
    assert_int_equal(caucus_server_port(h.server), port);
    assert_int_equal(intruded, 0);
    assert_int_equal(binds, LOOPS);

    /* A second coordinator, one loop or several, does not share a port with the first. */
    char where[32];
    (void)snprintf(where, sizeof where, "127.0.0.1:%u", (unsigned)port);
    for (uint32_t loops = 1; loops <= 2; loops++) {
        hall_init(&other, plan, 4);
        other.settings.loops = loops;
        other.settings.listen = where;
        caucus_server *server = NULL;
        assert_int_not_equal(caucus_server_open(&other.settings, &server, &error), CAUCUS_OK);
        assert_string_equal(error.field, "listen");
        assert_null(server);
        hall_free(&other);
    }
    hall_free(&h);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_port)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
