/* SPDX-License-Identifier: Apache-2.0 */
/* test_seal.c: a session between a relay and the coordinator, and somebody in between who has everything that was ever
 * sent: replays, reorders, alters, reflects, mixes sessions and runs, and is another relay. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sodium.h>
#include <string.h>

#include "num/little_endian.h"
#include "relay/seal.h"

#define UP "caucus.run.up.1"
#define DOWN "caucus.run.down.1"

typedef struct pair {
    caucus_seal_owner relay, coordinator;
    caucus_seal_about about;
    caucus_seal_greeted greeted;
    uint8_t answer[CAUCUS_SEAL_ANSWER_BYTES];
    caucus_seal at_relay, at_coordinator;
} pair;

static caucus_status answer_as(pair *p, const caucus_seal_about *about, const uint8_t *greeting, size_t size) {
    caucus_seal session;
    uint8_t answer[CAUCUS_SEAL_ANSWER_BYTES];
    return caucus_seal_answer(&p->coordinator, p->relay.public_key, about, 3, 7, greeting, size, answer, &session);
}

static void shake(pair *p, uint64_t term, uint64_t session) {
    assert_int_equal(caucus_seal_greet(&p->relay, &p->about, &p->greeted), CAUCUS_OK);
    assert_int_equal(caucus_seal_greets(p->greeted.greeting, sizeof p->greeted.greeting), p->about.relay);
    assert_int_equal(caucus_seal_answer(&p->coordinator, p->relay.public_key, &p->about, term, session,
                                        p->greeted.greeting, sizeof p->greeted.greeting, p->answer, &p->at_coordinator),
                     CAUCUS_OK);
    assert_int_equal(
        caucus_seal_hear(&p->greeted, p->coordinator.public_key, p->answer, sizeof p->answer, &p->at_relay), CAUCUS_OK);
    assert_true(p->at_relay.term == term && p->at_relay.session == session);
}

static void open_pair(pair *p) {
    memset(p, 0, sizeof *p);
    assert_int_equal(caucus_seal_owner_new(&p->relay), CAUCUS_OK);
    assert_int_equal(caucus_seal_owner_new(&p->coordinator), CAUCUS_OK);
    memset(p->about.plan, 0x11, sizeof p->about.plan);
    memset(p->about.run, 0x22, sizeof p->about.run);
    p->about.relay = 1;
    shake(p, 3, 7);
}

static void close_pair(pair *p) {
    caucus_seal_end(&p->at_relay);
    caucus_seal_end(&p->at_coordinator);
    caucus_seal_forget(&p->greeted);
}

#define TEXT "sums of fifty thousand clients"
#define TEXT_BYTES (sizeof TEXT)
#define SEALED_BYTES (TEXT_BYTES + CAUCUS_SEAL_MORE_BYTES)

static void put(caucus_seal *from, const char *subject, uint8_t sealed[SEALED_BYTES]) {
    caucus_seal_put(from, subject, (const uint8_t *)TEXT, TEXT_BYTES, sealed);
}

static caucus_status take(caucus_seal *at, const char *subject, const uint8_t *sealed) {
    uint8_t text[TEXT_BYTES] = {0};
    const caucus_status status = caucus_seal_take(at, subject, sealed, SEALED_BYTES, text);
    assert_int_equal(status == CAUCUS_OK, memcmp(text, TEXT, sizeof text) == 0);
    return status;
}

static void messages_arrive_once_and_in_order(void **state) {
    (void)state;
    pair p;
    uint8_t sealed[4][SEALED_BYTES];
    open_pair(&p);
    for (int i = 0; i < 4; i++)
        put(&p.at_relay, UP, sealed[i]);
    assert_null(memmem(sealed[0], SEALED_BYTES, "clients", 7));
    assert_int_equal(take(&p.at_coordinator, UP, sealed[0]), CAUCUS_OK);
    assert_int_equal(take(&p.at_coordinator, UP, sealed[0]), CAUCUS_E_DUPLICATE);
    assert_int_equal(take(&p.at_coordinator, UP, sealed[2]), CAUCUS_OK); /* one was lost: it stays lost */
    assert_int_equal(take(&p.at_coordinator, UP, sealed[1]), CAUCUS_E_DUPLICATE);
    assert_int_equal(take(&p.at_coordinator, UP, sealed[3]), CAUCUS_OK);
    put(&p.at_coordinator, DOWN, sealed[0]);
    assert_int_equal(take(&p.at_relay, DOWN, sealed[0]), CAUCUS_OK);
    close_pair(&p);
}

static void whatever_is_altered_is_refused(void **state) {
    (void)state;
    pair p;
    uint8_t sealed[SEALED_BYTES], text[TEXT_BYTES];
    open_pair(&p);
    put(&p.at_relay, UP, sealed);
    for (size_t bit = 0; bit < 8 * sizeof sealed; bit++) {
        sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(take(&p.at_coordinator, UP, sealed), CAUCUS_E_FORMAT);
        sealed[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t size = 0; size < sizeof sealed; size++)
        assert_int_equal(caucus_seal_take(&p.at_coordinator, UP, sealed, size, text), CAUCUS_E_FORMAT);
    assert_int_equal(take(&p.at_coordinator, DOWN, sealed), CAUCUS_E_FORMAT); /* by another subject */
    assert_int_equal(take(&p.at_relay, UP, sealed), CAUCUS_E_FORMAT);         /* back to who sent it */
    caucus_seal mirror = p.at_relay;                                          /* even if both directions had one key */
    memcpy(mirror.take_key, mirror.send_key, sizeof mirror.take_key);
    assert_int_equal(take(&mirror, UP, sealed), CAUCUS_E_FORMAT);
    assert_int_equal(take(&p.at_coordinator, UP, sealed), CAUCUS_OK);
    close_pair(&p);
}

/* A relay that is started again, and whoever has recorded all it ever sent. */
static void nothing_of_another_session_or_run_is_taken(void **state) {
    (void)state;
    pair p;
    uint8_t before[SEALED_BYTES], now[SEALED_BYTES];
    open_pair(&p);
    put(&p.at_relay, UP, before);
    caucus_seal_greeted first = p.greeted;
    const caucus_seal old = p.at_coordinator;
    shake(&p, 3, 8);
    assert_int_equal(take(&p.at_coordinator, UP, before), CAUCUS_E_FORMAT);
    put(&p.at_relay, UP, now);
    assert_memory_equal(before, now, 8);                            /* the same counter ... */
    assert_memory_not_equal(before + 8, now + 8, SEALED_BYTES - 8); /* ... under another key */
    assert_memory_not_equal(old.take_key, p.at_coordinator.take_key, 32);
    assert_memory_not_equal(p.at_relay.send_key, p.at_relay.take_key, 32);
    caucus_seal answered; /* the answer of one greeting does not answer another */
    assert_int_equal(caucus_seal_hear(&first, p.coordinator.public_key, p.answer, sizeof p.answer, &answered),
                     CAUCUS_E_ORDER);
    /* A greeting that is repeated is answered, with keys that whoever repeats it does not have. */
    uint8_t answer[CAUCUS_SEAL_ANSWER_BYTES];
    assert_int_equal(caucus_seal_answer(&p.coordinator, p.relay.public_key, &p.about, 3, 9, first.greeting,
                                        sizeof first.greeting, answer, &answered),
                     CAUCUS_OK);
    assert_int_equal(take(&answered, UP, before), CAUCUS_E_FORMAT);
    assert_int_equal(take(&answered, UP, now), CAUCUS_E_FORMAT);
    /* The same two, another run: keys that fit do not help, what is said is about that run. */
    caucus_seal other = p.at_coordinator;
    other.about.run[0] ^= 1;
    assert_int_equal(take(&other, UP, now), CAUCUS_E_FORMAT);
    other = p.at_coordinator;
    other.about.plan[31] ^= 1;
    assert_int_equal(take(&other, UP, now), CAUCUS_E_FORMAT);
    other = p.at_coordinator;
    other.session++;
    assert_int_equal(take(&other, UP, now), CAUCUS_E_FORMAT);
    assert_int_equal(take(&p.at_coordinator, UP, now), CAUCUS_OK);
    close_pair(&p);
}

static void only_the_right_ones_begin(void **state) {
    (void)state;
    pair p;
    caucus_seal_owner stranger;
    caucus_seal_greeted greeted;
    caucus_seal session;
    open_pair(&p);
    assert_int_equal(caucus_seal_owner_new(&stranger), CAUCUS_OK);
    const size_t size = sizeof greeted.greeting;
    assert_int_equal(caucus_seal_greet(&stranger, &p.about, &greeted), CAUCUS_OK); /* somebody who is not listed */
    assert_int_equal(answer_as(&p, &p.about, greeted.greeting, size), CAUCUS_E_REFUSED);
    caucus_seal_about about = p.about;
    about.relay = 2; /* relay 1 under another's number */
    assert_int_equal(caucus_seal_greet(&p.relay, &about, &greeted), CAUCUS_OK);
    assert_int_equal(answer_as(&p, &p.about, greeted.greeting, size), CAUCUS_E_REFUSED);
    about = p.about;
    about.plan[5] ^= 1;
    assert_int_equal(caucus_seal_greet(&p.relay, &about, &greeted), CAUCUS_OK);
    assert_int_equal(answer_as(&p, &p.about, greeted.greeting, size), CAUCUS_E_MISMATCH);
    about = p.about;
    about.run[5] ^= 1;
    assert_int_equal(caucus_seal_greet(&p.relay, &about, &greeted), CAUCUS_OK);
    assert_int_equal(answer_as(&p, &p.about, greeted.greeting, size), CAUCUS_E_CONFLICT);
    for (size_t bit = 0; bit < 8 * size; bit++) { /* every bit is signed, or is the signature */
        p.greeted.greeting[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(answer_as(&p, &p.about, p.greeted.greeting, size), CAUCUS_OK);
        p.greeted.greeting[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * sizeof p.answer; bit++) {
        p.answer[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(
            caucus_seal_hear(&p.greeted, p.coordinator.public_key, p.answer, sizeof p.answer, &session), CAUCUS_OK);
        p.answer[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(caucus_seal_hear(&p.greeted, stranger.public_key, p.answer, sizeof p.answer, &session),
                     CAUCUS_E_REFUSED);
    assert_int_equal(caucus_seal_hear(&p.greeted, p.coordinator.public_key, p.answer, sizeof p.answer - 1, &session),
                     CAUCUS_E_FORMAT);
    assert_int_equal(answer_as(&p, &p.about, p.greeted.greeting, size - 1), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_seal_greets(p.answer, sizeof p.answer), 0);
    close_pair(&p);
}

/* Signed all the same by a program that counts otherwise, or speaks other versions. */
static void other_programs_are_told_apart(void **state) {
    (void)state;
    pair p;
    open_pair(&p);
    static const struct {
        size_t at, bytes;
        uint64_t value;
        caucus_status status;
    } cases[] = {{8, 2, 0, CAUCUS_OK},
                 {8, 2, 2, CAUCUS_E_CONFLICT},
                 {10, 2, 9, CAUCUS_OK},
                 {10, 2, 0, CAUCUS_E_CONFLICT},
                 {12, 4, 2, CAUCUS_E_CONFLICT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t greeting[CAUCUS_SEAL_GREETING_BYTES];
        memcpy(greeting, p.greeted.greeting, sizeof greeting);
        (void)caucus_le_put(greeting + cases[i].at, cases[i].value, cases[i].bytes);
        (void)crypto_sign_detached(greeting + sizeof greeting - 64, NULL, greeting, sizeof greeting - 64,
                                   p.relay.secret_key);
        assert_int_equal(answer_as(&p, &p.about, greeting, sizeof greeting), cases[i].status);
    }
    close_pair(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_arrive_once_and_in_order),
        cmocka_unit_test(whatever_is_altered_is_refused),
        cmocka_unit_test(nothing_of_another_session_or_run_is_taken),
        cmocka_unit_test(only_the_right_ones_begin),
        cmocka_unit_test(other_programs_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
