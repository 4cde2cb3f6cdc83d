/* SPDX-License-Identifier: Apache-2.0 */
/* test_serials.c: whose certificate is whose: found by its serial number however many zeros are before it, not found
 * any more once its client has come with another, and the same after a restart; an unchanged chunk is not written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "net/waits/serials.h"

#define CLIENTS 70000u /* two chunks */

typedef struct found {
    uint32_t count, last;
} found;

static void note(void *user, uint32_t client) {
    found *f = user;
    f->count++;
    f->last = client;
}

static found find(caucus_serials *s, const char *serial) {
    found f = {0};
    caucus_serials_find(s, serial, note, &f);
    return f;
}

static const char *serial_of(uint32_t client, uint32_t edition) {
    static char text[32];
    (void)snprintf(text, sizeof text, "%s%06X%02X", client % 2 ? "" : "00", client, edition);
    return text;
}

static void everybody_is_found_by_the_latest_certificate(void **state) {
    (void)state;
    caucus_serials s;
    assert_true(caucus_serials_open(&s, CLIENTS));
    for (uint32_t edition = 1; edition <= 3; edition++)
        for (uint32_t i = 1; i <= CLIENTS; i++)
            caucus_serials_note(&s, i, serial_of(i, edition));
    for (uint32_t i = 1; i <= CLIENTS; i += 7) {
        char zeros[40];
        (void)snprintf(zeros, sizeof zeros, "0000%s", serial_of(i, 3));
        assert_true(find(&s, serial_of(i, 3)).count == 1 && find(&s, serial_of(i, 3)).last == i);
        assert_int_equal(find(&s, zeros).last, i);
        assert_int_equal(find(&s, serial_of(i, 2)).count, 0);
        assert_true(caucus_serials_is(&s, i, zeros));
        assert_false(caucus_serials_is(&s, i, serial_of(i, 2)));
    }
    caucus_serials_note(&s, 5, NULL);
    assert_int_equal(find(&s, serial_of(5, 3)).count, 0);
    caucus_serials_note(&s, 5, serial_of(6, 3)); /* nobody does, but then both of them are revoked by it */
    assert_int_equal(find(&s, serial_of(6, 3)).count, 2);
    char text[64];
    caucus_serials_of(&s, 7, text, sizeof text);
    assert_string_equal(text, serial_of(7, 3));
    caucus_serials_close(&s);
}

static void comes_and_goes_within_its_room(void **state) {
    (void)state;
    caucus_serials s;
    assert_true(caucus_serials_open(&s, 100));
    for (uint32_t edition = 0; edition < 100000; edition++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%08X", edition + 1);
        caucus_serials_note(&s, edition % 3 + 1, text);
    }
    assert_true(s.room <= 1024); /* what is out of date does not make it grow */
    assert_int_equal(find(&s, "000186A0").last, 99999 % 3 + 1);
    assert_int_equal(find(&s, "000186A0").count, 1);
    caucus_serials_close(&s);
}

static void is_kept_over_a_restart(void **state) {
    (void)state;
    caucus_serials s, again;
    caucus_piece chunk[2] = {0};
    assert_true(caucus_serials_open(&s, CLIENTS) && caucus_serials_open(&again, CLIENTS));
    for (uint32_t i = 1; i <= CLIENTS; i += 3)
        caucus_serials_note(&s, i, serial_of(i, 1));
    for (uint32_t k = 0; k < 2; k++) {
        assert_true(caucus_serials_save(&s, k, &chunk[k]));
        assert_true(caucus_serials_restore(&again, k, &chunk[k]));
    }
    for (uint32_t i = 1; i <= CLIENTS; i++)
        assert_int_equal(caucus_serials_is(&again, i, serial_of(i, 1)), i % 3 == 1);
    const uint64_t stamp[2] = {chunk[0].stamp, chunk[1].stamp};
    caucus_serials_note(&s, 4, serial_of(4, 1)); /* the same again */
    assert_true(caucus_serials_save(&s, 0, &chunk[0]) && caucus_serials_save(&s, 1, &chunk[1]));
    assert_true(chunk[0].stamp == stamp[0] && chunk[1].stamp == stamp[1]);
    caucus_serials_note(&s, 4, serial_of(4, 2));
    assert_true(caucus_serials_save(&s, 0, &chunk[0]) && caucus_serials_save(&s, 1, &chunk[1]));
    assert_true(chunk[0].stamp != stamp[0] && chunk[1].stamp == stamp[1]);
    caucus_piece_free(&chunk[0]);
    caucus_piece_free(&chunk[1]);
    caucus_serials_close(&s);
    caucus_serials_close(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_is_found_by_the_latest_certificate),
        cmocka_unit_test(comes_and_goes_within_its_room),
        cmocka_unit_test(is_kept_over_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
