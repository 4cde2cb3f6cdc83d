/* SPDX-License-Identifier: Apache-2.0 */
/* One line a second for each reason and address: who is loud hides nobody else, and nobody fills a disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/refusals.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#define SECOND 1000000000u

static struct sockaddr_storage four(uint32_t address, uint16_t port) {
    struct sockaddr_storage ret = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&ret;
    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    in->sin_addr.s_addr = htonl(address);
    return ret;
}

static struct sockaddr_storage six(const char *text) {
    struct sockaddr_storage ret = {0};
    struct sockaddr_in6 *in = (struct sockaddr_in6 *)&ret;
    in->sin6_family = AF_INET6;
    assert_int_equal(inet_pton(AF_INET6, text, &in->sin6_addr), 1);
    return ret;
}

static void one_line_a_second_of_each(void **state) {
    (void)state;
    caucus_limiter l;
    caucus_limiter_init(&l);
    struct sockaddr_storage loud = four(0x0a000001, 1), other = four(0x0a000002, 1);
    uint64_t held = 9, now = SECOND;
    assert_true(caucus_limiter_ask(&l, CAUCUS_REASON_FORMAT, 0, &loud, now, &held));
    assert_int_equal(held, 0);
    for (uint16_t i = 0; i < 500; i++) { /* other ports, other moments of the same second */
        struct sockaddr_storage again = four(0x0a000001, i);
        assert_false(caucus_limiter_ask(&l, CAUCUS_REASON_FORMAT, 0, &again, now + i * 1000u, &held));
    }
    /* Other reasons, and another address, are heard meanwhile. */
    int heard = 0;
    for (uint32_t reason = 0; reason < CAUCUS_REASON_COUNT; reason++)
        heard += reason != CAUCUS_REASON_FORMAT && caucus_limiter_ask(&l, reason, 0, &loud, now, &held);
    heard += caucus_limiter_ask(&l, CAUCUS_REASON_FORMAT, 0, &other, now, &held);
    assert_int_equal(heard, CAUCUS_REASON_COUNT);
    assert_true(caucus_limiter_ask(&l, CAUCUS_REASON_FORMAT, 0, &loud, now + SECOND, &held));
    assert_int_equal(held, 500);
    caucus_limiter_close(&l);
}

/* A burst and then silence: how many there were is told all the same, once, a second later; of whom and why. */
static void what_is_held_back_is_told(void **state) {
    (void)state;
    caucus_limiter l;
    caucus_limiter_init(&l);
    struct sockaddr_storage loud = four(0x0a000001, 1), once = four(0x0a000002, 1);
    uint64_t ignored = 0, now = SECOND;
    caucus_held_back held = {0};
    for (int i = 0; i < 17; i++)
        (void)caucus_limiter_ask(&l, CAUCUS_REASON_EXPIRED, 0, &loud, now, &ignored);
    (void)caucus_limiter_ask(&l, CAUCUS_REASON_EXPIRED, 0, &once, now, &ignored);
    assert_false(caucus_limiter_take(&l, now, &held));     /* not yet */
    assert_false(caucus_limiter_take(&l, now - 1, &held)); /* nor by a loop that is a little behind */
    assert_true(caucus_limiter_take(&l, now + SECOND, &held));
    assert_int_equal(held.count, 16);
    assert_int_equal(held.what, CAUCUS_REASON_EXPIRED);
    assert_false(held.others);
    assert_memory_equal(&held.from, &loud, sizeof loud);
    assert_false(caucus_limiter_take(&l, now + 9 * (uint64_t)SECOND, &held));
    /* That was a line: what comes within a second of it is counted again. */
    assert_false(caucus_limiter_ask(&l, CAUCUS_REASON_EXPIRED, 0, &loud, now + SECOND + 1, &ignored));
    assert_true(caucus_limiter_take(&l, now + 3 * (uint64_t)SECOND, &held));
    assert_int_equal(held.count, 1);
    caucus_limiter_close(&l);
}

static void everybody_together(void **state) {
    (void)state;
    caucus_limiter l;
    caucus_limiter_init(&l);
    uint64_t ignored, said = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        struct sockaddr_storage from = four(i, 1);
        said += caucus_limiter_ask(&l, CAUCUS_REASON_HANDSHAKE, 0, &from, SECOND + i, &ignored);
    }
    assert_int_equal(said, CAUCUS_REFUSAL_SLOTS);
    caucus_held_back held = {0};
    uint64_t told = 0;
    while (caucus_limiter_take(&l, 3 * (uint64_t)SECOND, &held))
        told += held.count;
    assert_true(held.others); /* the last of them */
    assert_int_equal(said + told, 100000);
    caucus_limiter_close(&l);
}

static void an_address_is_a_network(void **state) {
    (void)state;
    caucus_limiter l;
    caucus_limiter_init(&l);
    uint64_t held;
    struct sockaddr_storage one = six("2001:db8:1:2::1"), same = six("2001:db8:1:2:ffff::7"),
                            mapped = six("::ffff:10.0.0.9"), plain = four(0x0a000009, 5);
    assert_true(caucus_limiter_ask(&l, 0, 0, &one, SECOND, &held));
    assert_false(caucus_limiter_ask(&l, 0, 0, &same, SECOND, &held));
    assert_true(caucus_limiter_ask(&l, 0, 0, &mapped, 3 * (uint64_t)SECOND, &held));
    assert_false(caucus_limiter_ask(&l, 0, 0, &plain, 3 * (uint64_t)SECOND, &held));
    caucus_limiter_close(&l);
}

static void every_reason_has_a_word(void **state) {
    (void)state;
    for (int i = 0; i < CAUCUS_REASON_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(caucus_reason_word((caucus_reason)i), caucus_reason_word((caucus_reason)j));
    for (int code = CAUCUS_REFUSAL_VERSION; code <= CAUCUS_REFUSAL_LATER; code++)
        assert_true(caucus_reason_of((caucus_refusal_code)code) < CAUCUS_REASON_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_a_second_of_each), cmocka_unit_test(what_is_held_back_is_told),
        cmocka_unit_test(everybody_together),        cmocka_unit_test(an_address_is_a_network),
        cmocka_unit_test(every_reason_has_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
