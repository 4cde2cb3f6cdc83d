/* SPDX-License-Identifier: Apache-2.0 */
/* test_lobby.c: who has to go when there are too many who have not said who they are. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "net/lobby.h"
#include "net/loop.h"

#define MOST 32u

static struct sockaddr_storage address(const char *text) {
    struct sockaddr_storage ret = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&ret;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ret;
    if (strchr(text, ':')) {
        in6->sin6_family = AF_INET6;
        assert_int_equal(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
    } else {
        in->sin_family = AF_INET;
        assert_int_equal(inet_pton(AF_INET, text, &in->sin_addr), 1);
    }
    return ret;
}

typedef struct scene {
    caucus_lobby *lobby;
    caucus_connection c[4096];
    uint32_t used;
} scene;

static scene *open_scene(void) {
    scene *s = test_calloc(1, sizeof *s);
    assert_int_equal(caucus_lobby_new(MOST, &s->lobby), CAUCUS_OK);
    return s;
}

static void close_scene(scene *s) {
    for (uint32_t i = 0; i < s->used; i++)
        caucus_lobby_leave(s->lobby, &s->c[i]);
    assert_int_equal(caucus_lobby_count(s->lobby), 0);
    caucus_lobby_free(s->lobby);
    test_free(s);
}

/* Somebody comes. Returns its connection, NULL if it is turned away; *ret_victim: who has gone for it. */
static caucus_connection *come(scene *s, const char *from, caucus_connection **ret_victim) {
    struct sockaddr_storage where = address(from);
    if (!caucus_lobby_admit(s->lobby, &where, ret_victim)) {
        assert_null(*ret_victim);
        return NULL;
    }
    if (*ret_victim)
        assert_false((*ret_victim)->in_lobby);
    assert_true(s->used < sizeof s->c / sizeof s->c[0]);
    caucus_connection *c = &s->c[s->used++];
    c->expires_ns = s->used; /* the later, the younger */
    caucus_lobby_enter(s->lobby, c, &where);
    assert_true(caucus_lobby_count(s->lobby) <= MOST);
    return c;
}

static caucus_connection *come_in(scene *s, const char *from) {
    caucus_connection *victim, *c = come(s, from, &victim);
    assert_non_null(c);
    assert_null(victim);
    return c;
}

/* One address has half of the room and no more; of those the one that is silent longest goes. */
static void test_half(void **state) {
    (void)state;
    scene *s = open_scene();
    caucus_connection *first = come_in(s, "192.0.2.1"), *victim;
    for (uint32_t i = 1; i < MOST / 2; i++)
        (void)come_in(s, "192.0.2.1");
    assert_non_null(come(s, "192.0.2.1", &victim));
    assert_ptr_equal(victim, first);
    assert_int_equal(caucus_lobby_count(s->lobby), MOST / 2);
    for (uint32_t i = 0; i < s->used; i++)
        caucus_lobby_speaks(s->lobby, &s->c[i]);
    assert_null(come(s, "192.0.2.1", &victim)); /* all are in the middle of their handshake: the newcomer goes */
    caucus_lobby_told(s->lobby, &s->c[5]);
    assert_non_null(come(s, "192.0.2.1", &victim));
    assert_ptr_equal(victim, &s->c[5]);
    close_scene(s);
}

/* Two floods, and a client whose handshake takes long: the floods pay. */
static void test_floods(void **state) {
    (void)state;
    scene *s = open_scene();
    caucus_connection *victim, *slow = come_in(s, "198.51.100.7");
    caucus_lobby_speaks(s->lobby, slow);
    caucus_connection *quiet = come_in(s, "198.51.100.8");
    for (uint32_t i = 0; i < 1000; i++) {
        const char *from = i % 2 ? "192.0.2.1" : "192.0.2.2";
        if (come(s, from, &victim) && victim)
            assert_true(victim != slow && victim != quiet);
        if (i % 3 == 0 && s->c[s->used - 1].in_lobby && &s->c[s->used - 1] != quiet)
            caucus_lobby_speaks(s->lobby, &s->c[s->used - 1]); /* some of them speak, too */
    }
    assert_true(slow->in_lobby && quiet->in_lobby);
    assert_int_equal(caucus_lobby_count(s->lobby), MOST);
    caucus_connection *late = come(s, "198.51.100.9", &victim); /* somebody else still comes in */
    assert_non_null(late);
    assert_non_null(victim);
    assert_true(victim != slow && victim != quiet);
    close_scene(s);
}

/* As many addresses as connections: who is silent longest goes, and nobody in the middle of a handshake. */
static void test_many(void **state) {
    (void)state;
    scene *s = open_scene();
    char from[32];
    caucus_connection *victim;
    for (uint32_t i = 0; i < MOST; i++) {
        (void)snprintf(from, sizeof from, "10.0.0.%u", i + 1);
        caucus_connection *c = come_in(s, from);
        if (i < 5)
            caucus_lobby_speaks(s->lobby, c);
    }
    for (uint32_t i = 0; i < MOST - 5; i++) { /* each newcomer speaks, so the silent go one after the other */
        (void)snprintf(from, sizeof from, "10.0.1.%u", i + 1);
        caucus_connection *c = come(s, from, &victim);
        assert_non_null(c);
        assert_ptr_equal(victim, &s->c[5 + i]);
        caucus_lobby_speaks(s->lobby, c);
    }
    assert_null(come(s, "10.0.2.1", &victim));
    close_scene(s);
}

/* A network of 64 bits is one address; one that IPv4 has is the same by either listener. */
static void test_networks(void **state) {
    (void)state;
    scene *s = open_scene();
    char from[64];
    caucus_connection *victim;
    for (uint32_t i = 0; i < MOST / 2; i++) {
        (void)snprintf(from, sizeof from, "2001:db8:0:1::%x", i + 1);
        (void)come_in(s, from);
    }
    assert_non_null(come(s, "2001:db8:0:1:ffff::1", &victim));
    assert_ptr_equal(victim, &s->c[0]);
    (void)come_in(s, "2001:db8:0:2::1");
    close_scene(s);
    s = open_scene();
    for (uint32_t i = 0; i < MOST / 2; i++)
        (void)come_in(s, i % 2 ? "192.0.2.1" : "::ffff:192.0.2.1");
    assert_non_null(come(s, "192.0.2.1", &victim));
    assert_non_null(victim);
    (void)come_in(s, "::ffff:192.0.2.2");
    close_scene(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_half), cmocka_unit_test(test_floods),
                                       cmocka_unit_test(test_many), cmocka_unit_test(test_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
