/* SPDX-License-Identifier: Apache-2.0 */
/* test_kept.c: reports that a relay keeps: in their order, no more than fit, wiped when they are dropped, and in the
 * room that others have left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "net/relay/kept.h"

#define EXPERTS 500u

static int64_t values[EXPERTS];

static caucus_report report_of(uint32_t client, uint32_t count) {
    return (caucus_report){
        .client = client, .kind = CAUCUS_ASK_SUMS, .first = 1, .block = 1, .count = count, .value = values};
}

static void add(caucus_kept *k, caucus_kept_room *room, uint32_t client, uint32_t count) {
    const caucus_report r = report_of(client, count);
    assert_true(caucus_kept_add(k, room, &r, &(caucus_follower_mark){0}));
}

static void room_is_used_again_and_wiped(void **state) {
    (void)state;
    caucus_kept k;
    caucus_kept_room room = {.most = 3 * sizeof values};
    caucus_kept_report *at[3];
    for (uint32_t i = 0; i < EXPERTS; i++)
        values[i] = 1 + (int64_t)i;
    caucus_kept_init(&k);
    for (uint32_t i = 1; i <= 4; i++)
        add(&k, &room, i, EXPERTS);
    assert_int_equal(room.used, 3 * sizeof values);
    caucus_kept_sent(&k, 7);
    uint32_t count = 0;
    for (caucus_kept_report *r = caucus_kept_take_all(&k), *next; r; r = next) {
        next = r->next;
        assert_int_equal(r->report.client, ++count);
        assert_int_equal(r->n, 7);
        assert_int_equal(r->bytes, count <= 3 ? sizeof values : 0); /* the fourth does not fit: its name is kept */
        if (count <= 3) {
            at[count - 1] = r;
            assert_memory_equal(r->report.value, values, sizeof values);
        }
        caucus_kept_drop(&k, r, &room);
    }
    assert_int_equal(count, 4);
    assert_int_equal(room.used, 0);
    for (uint32_t i = 0; i < 3; i++) /* they are spare */
        for (uint32_t y = 0; y < EXPERTS; y++)
            assert_int_equal(at[i]->value[y], 0);
    for (uint32_t i = 0; i < 3; i++) { /* the one that was dropped last is used first */
        add(&k, &room, 9, EXPERTS);
        caucus_kept_report *last = *k.before_last;
        assert_ptr_equal(last, at[2 - i]);
        assert_memory_equal(last->report.value, values, sizeof values);
        assert_int_equal(last->n, 0);
    }
    caucus_kept_drop_last(&k, &room);
    add(&k, &room, 10, EXPERTS / 2); /* of another length: what is spare goes */
    assert_null(k.spare);
    add(&k, &room, 11, 1);
    assert_int_equal(room.used, 2 * sizeof values + sizeof values / 2 + sizeof values[0]);
    caucus_kept_free(&k, &room);
    assert_int_equal(room.used, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_used_again_and_wiped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
