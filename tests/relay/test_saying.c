/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between relay and coordinator: what is put is what is read, what is cut short is found out, and a message is
 * opened by nobody but for whom it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "relay/saying.h"

static const caucus_announcement announced = {
    .serial = 41, .expert = 3, .epoch = 2, .ask = CAUCUS_ASK_COST, .block = 17, .listed = 2, .list = {5, 9}};

static void write_all(caucus_saying *s) {
    caucus_saying_begin(s, CAUCUS_SAY_NEWS);
    caucus_saying_put(s, 0x0102030405060708u, 8);
    const size_t at = caucus_saying_size(s);
    caucus_saying_put(s, 0, 4);
    caucus_saying_put_text(s, "5E4EB48F");
    caucus_saying_put_announcement(s, &announced);
    caucus_saying_put_bytes(s, "bytes", 5);
    caucus_saying_set(s, at, 77, 4);
    assert_false(s->failed);
}

static bool read_all(const uint8_t *bytes, size_t size) {
    caucus_hearing h = {.at = bytes, .end = bytes + size};
    char text[32];
    const bool kind = caucus_hearing_get(&h, 1) == CAUCUS_SAY_NEWS;
    const bool number = caucus_hearing_get(&h, 8) == 0x0102030405060708u;
    const bool set = caucus_hearing_get(&h, 4) == 77;
    caucus_hearing_text(&h, text, sizeof text);
    const caucus_announcement a = caucus_hearing_announcement(&h);
    const uint8_t *rest = caucus_hearing_bytes(&h, 5);
    return !h.failed && kind && number && set && strcmp(text, "5E4EB48F") == 0 && a.serial == announced.serial &&
           a.expert == announced.expert && a.block == announced.block && a.listed == 2 && a.list[1] == 9 && rest &&
           memcmp(rest, "bytes", 5) == 0 && h.at == h.end;
}

static void test_round_trip(void **state) {
    (void)state;
    caucus_saying s = {0};
    for (int again = 0; again < 2; again++) {
        write_all(&s);
        const uint8_t *bytes = s.bytes + CAUCUS_SEAL_MORE_BYTES;
        const size_t size = caucus_saying_size(&s);
        assert_true(read_all(bytes, size));
        for (size_t cut = 0; cut < size; cut++) { /* in memory of its own, so that a byte too many is found */
            uint8_t *part = malloc(cut + 1);
            assert_non_null(part);
            memcpy(part, bytes, cut);
            assert_false(read_all(part, cut));
            free(part);
        }
    }
    caucus_saying_free(&s);
}

static void test_text(void **state) {
    (void)state;
    caucus_saying s = {0};
    char long_text[400], text[8];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    caucus_saying_begin(&s, CAUCUS_SAY_OUT);
    caucus_saying_put_text(&s, long_text); /* 255 of them */
    caucus_saying_put_text(&s, "a\nb");
    caucus_hearing h = {.at = s.bytes + CAUCUS_SEAL_MORE_BYTES + 1, .end = s.bytes + s.used};
    caucus_hearing_text(&h, text, sizeof text);
    assert_string_equal(text, "xxxxxxx");
    caucus_hearing_text(&h, text, sizeof text);
    assert_string_equal(text, "a?b");
    assert_false(h.failed);
    assert_ptr_equal(h.at, h.end);
    caucus_saying_free(&s);
}

/* A frame that is no announcement is refused, also one with more values than there is room for. */
static void test_no_announcement(void **state) {
    (void)state;
    uint8_t bytes[512];
    for (unsigned fill = 0; fill < 256; fill++) {
        memset(bytes, (int)fill, sizeof bytes);
        caucus_hearing h = {.at = bytes, .end = bytes + sizeof bytes};
        (void)caucus_hearing_announcement(&h);
        assert_true(h.failed);
    }
}

static void test_subjects(void **state) {
    (void)state;
    caucus_seal_about about = {.relay = 7}, other = {.relay = 7};
    char up[CAUCUS_LINE_SUBJECT_BYTES], down[CAUCUS_LINE_SUBJECT_BYTES], all[CAUCUS_LINE_SUBJECT_BYTES];
    const uint8_t plan[32] = {1};
    caucus_seal_run(plan, "live", about.run);
    caucus_seal_run(plan, "lives", other.run);
    assert_memory_not_equal(about.run, other.run, sizeof about.run);
    caucus_subject(&about, true, 7, up);
    caucus_subject(&about, false, 65535, down);
    caucus_subject(&about, true, 0, all);
    assert_int_equal(caucus_subject_relay(up), 7);
    assert_int_equal(caucus_subject_relay(down), 65535);
    assert_int_equal(caucus_subject_relay(all), 0);
    assert_int_equal(caucus_subject_relay("caucus.x.up.65536"), 0);
    assert_int_equal(caucus_subject_relay("caucus"), 0);
    assert_int_equal(strncmp(up, all, strlen(all) - 1), 0);
    assert_true(strlen(down) < CAUCUS_SEAL_SUBJECT_BYTES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_no_announcement),
        cmocka_unit_test(test_subjects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
