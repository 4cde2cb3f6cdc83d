/* SPDX-License-Identifier: Apache-2.0 */
/* test_redial.c: which address a link dials and when, and how long it believes in silence: all of it a function of the
 * time that the test passes in. No clock, no socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "link/link_impl.h"
#include "testing_settings.h"

static caucus_plan *plan;
static const uint8_t hash[CAUCUS_PLAN_HASH_BYTES] = {7};

static caucus_link_settings settings_of(const caucus_key *key, const char *const *address, size_t addresses) {
    caucus_link_settings s;
    caucus_link_settings_init(&s);
    s.plan = plan;
    s.plan_hash = hash;
    s.index = 1;
    s.key = key;
    s.address = address;
    s.addresses = addresses;
    return s;
}

static caucus_link *link_of(const char *const *address, size_t addresses) {
    caucus_key key;
    caucus_link *link = NULL;
    caucus_key_from_seed(1, &key);
    caucus_link_settings s = settings_of(&key, address, addresses);
    assert_int_equal(caucus_link_new(&s, &link, NULL), CAUCUS_OK);
    return link;
}

static int open_plan(void **state) {
    (void)state;
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 2, 3, 8, 1);
    s.interval = 2;
    return caucus_plan_new(&s, &plan, NULL) == CAUCUS_OK ? 0 : 1;
}

static int close_plan(void **state) {
    (void)state;
    caucus_plan_free(plan);
    return 0;
}

static caucus_status tell(caucus_link *link, const caucus_frame *frame, caucus_error *ret_error) {
    uint8_t bytes[1024];
    size_t size = caucus_wire_put(frame, bytes, sizeof bytes);
    assert_true(size > 0);
    return caucus_link_receive(link, bytes, size, ret_error);
}

static void welcome(caucus_link *link, uint32_t deadline_ms) {
    caucus_frame frame = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION, .deadline_ms = deadline_ms};
    memcpy(frame.plan, hash, sizeof hash);
    assert_int_equal(tell(link, &frame, NULL), CAUCUS_OK);
}

static void announce(caucus_link *link, uint64_t serial) {
    caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT,
                          .announcement = {.serial = serial, .epoch = 1, .ask = CAUCUS_ASK_COST, .block = serial + 1}};
    assert_int_equal(tell(link, &frame, NULL), CAUCUS_OK);
}

static void play(caucus_link *link) {
    static const double row[3] = {0, 0.5, 1};
    while (caucus_link_ready(link))
        assert_int_equal(caucus_link_observe(link, row, NULL), CAUCUS_OK);
}

/* When the next attempt comes, exactly: waits so long, and not a millisecond less. */
static int64_t next_attempt(caucus_link *link, int64_t now, const char **ret_address) {
    int64_t wait = caucus_link_wait_ms(link, now);
    assert_true(wait >= 0);
    if (wait > 0)
        assert_null(caucus_link_next_address(link, now + wait - 1));
    *ret_address = caucus_link_next_address(link, now + wait);
    assert_non_null(*ret_address);
    return now + wait;
}

/* Doubles from 0.2 s to 30 s, never below half of it, not always the same; begins anew after a connection that brought
 * something; is longest after nonsense. */
static void test_pauses(void **state) {
    (void)state;
    const char *const address[] = {"a"};
    const char *where;
    int64_t least[12], most[12];
    for (int i = 0; i < 12; i++)
        least[i] = INT64_MAX, most[i] = 0;
    for (int run = 0; run < 200; run++) {
        caucus_link *link = link_of(address, 1);
        int64_t now = 1000;
        assert_string_equal(caucus_link_next_address(link, now), "a"); /* at once */
        for (int n = 0; n < 12; n++) {
            int64_t before = now;
            assert_null(caucus_link_next_address(link, now)); /* one attempt at a time */
            caucus_link_disconnected(link, now);
            now = next_attempt(link, now, &where);
            int64_t limit = n < 8 && 200 << n < 30000 ? 200 << n : 30000;
            assert_in_range(now - before, limit / 2, limit);
            least[n] = now - before < least[n] ? now - before : least[n];
            most[n] = now - before > most[n] ? now - before : most[n];
        }
        caucus_link_connected(link, now);
        welcome(link, 0);
        caucus_link_disconnected(link, now);
        int64_t again = next_attempt(link, now, &where);
        assert_in_range(again - now, 100, 200);
        caucus_link_connected(link, again);
        assert_int_equal(caucus_link_receive(link, (const uint8_t *)"\xff\xff\xff\xff\xff", 5, NULL), CAUCUS_E_FORMAT);
        caucus_link_disconnected(link, again);
        now = next_attempt(link, again, &where);
        assert_in_range(now - again, 15000, 30000);
        caucus_link_free(link);
    }
    for (int n = 0; n < 12; n++)
        assert_true(most[n] > least[n]); /* all 200 equal: below 1e-390 */
}

/* Another address is tried after a short pause, whatever the state of the first; one that worked is tried again
 * first. */
static void test_choice(void **state) {
    (void)state;
    const char *const address[] = {"a", "b", "c"};
    const char *where;
    caucus_link *link = link_of(address, 3);
    int64_t now = 0;
    for (int i = 0; i < 3; i++) { /* in their order, each soon after the one before */
        int64_t before = now;
        now = next_attempt(link, now, &where);
        assert_string_equal(where, address[i]);
        assert_in_range(now - before, i ? 100 : 0, 200);
        caucus_link_disconnected(link, now);
    }
    int seen[3] = {0};
    for (int i = 0; i < 30; i++) { /* and then each on its own account */
        now = next_attempt(link, now, &where);
        seen[where[0] - 'a']++;
        caucus_link_disconnected(link, now);
    }
    for (int i = 0; i < 3; i++)
        assert_in_range(seen[i], 5, 15);
    now = next_attempt(link, now, &where);
    char good = where[0];
    for (int i = 0; i < 5; i++) {
        caucus_link_connected(link, now);
        welcome(link, 0);
        caucus_link_disconnected(link, now);
        now = next_attempt(link, now, &where);
        assert_int_equal(where[0], good);
    }
    caucus_link_free(link);
}

/* A refusal for good ends one address; all of them end the client. "Full" ends none. */
static void test_refusals(void **state) {
    (void)state;
    const char *const address[] = {"a", "b", "c"};
    const char *where;
    caucus_link *link = link_of(address, 3);
    int64_t now = next_attempt(link, 0, &where);
    assert_string_equal(where, "a");
    caucus_link_connected(link, now);
    caucus_frame no = {.kind = CAUCUS_FRAME_REFUSAL, .code = CAUCUS_REFUSAL_IDENTITY, .text = "revoked"};
    assert_int_equal(tell(link, &no, NULL), CAUCUS_E_REFUSED);
    caucus_link_disconnected(link, now);
    assert_false(caucus_link_refused(link));
    now = next_attempt(link, now, &where);
    assert_string_equal(where, "b");
    caucus_link_refuse(link); /* TLS, say */
    caucus_link_disconnected(link, now);
    for (int i = 0; i < 4; i++) { /* only one is left, and it is never given up */
        now = next_attempt(link, now, &where);
        assert_string_equal(where, "c");
        caucus_link_connected(link, now);
        caucus_frame full = {.kind = CAUCUS_FRAME_REFUSAL, .code = CAUCUS_REFUSAL_FULL, .text = "full"};
        assert_int_equal(tell(link, &full, NULL), CAUCUS_E_LATER);
        caucus_link_disconnected(link, now);
        assert_false(caucus_link_refused(link));
        assert_in_range(caucus_link_wait_ms(link, now), 15000, 30000);
    }
    now = next_attempt(link, now, &where);
    caucus_link_connected(link, now);
    caucus_frame welcome = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION};
    memcpy(welcome.plan, hash, sizeof hash);
    assert_int_equal(tell(link, &welcome, NULL), CAUCUS_OK);
    caucus_link_disconnected(link, now);
    for (int64_t most = 400; most <= 30000; most *= 2) { /* "later" is a failure like others: pauses grow */
        now = next_attempt(link, now, &where);
        caucus_link_connected(link, now);
        caucus_frame later = {.kind = CAUCUS_FRAME_REFUSAL, .code = CAUCUS_REFUSAL_LATER, .text = "later"};
        assert_int_equal(tell(link, &later, NULL), CAUCUS_E_LATER);
        caucus_link_disconnected(link, now);
        assert_in_range(caucus_link_wait_ms(link, now), most / 2, most);
    }
    now = next_attempt(link, now, &where);
    caucus_link_connected(link, now);
    caucus_frame other = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION}; /* another plan's */
    assert_int_equal(tell(link, &other, NULL), CAUCUS_E_MISMATCH);
    caucus_link_disconnected(link, now);
    assert_true(caucus_link_refused(link));
    assert_null(caucus_link_next_address(link, now + 1000000));
    assert_int_equal(caucus_link_wait_ms(link, now), 0); /* do not sleep over it */
    caucus_link_free(link);
}

static void test_no_answer(void **state) {
    (void)state;
    caucus_link *link = link_of(NULL, 0);
    assert_string_equal(caucus_link_next_address(link, 5), ""); /* a caller who knows where: one address, no name */
    assert_int_equal(caucus_link_wait_ms(link, 5), 10000);
    assert_int_equal(caucus_link_timeout(link, 10004), CAUCUS_LINK_IN_TIME);
    assert_int_equal(caucus_link_timeout(link, 10005), CAUCUS_LINK_NO_ANSWER);
    assert_int_equal(caucus_link_missing_ms(link, 10005), 10000);
    caucus_link_disconnected(link, 10005);
    assert_int_equal(caucus_link_timeout(link, 10005), CAUCUS_LINK_IN_TIME);
    caucus_link_connected(link, 15000);
    assert_int_equal(caucus_link_missing_ms(link, 20000), 19995); /* somebody has accepted: nothing was heard yet */
    welcome(link, 0);
    assert_int_equal(caucus_link_missing_ms(link, 20000), 0);
    assert_int_equal(caucus_link_wait_ms(link, 20000), -1); /* connected, and nothing is due */
    caucus_link_free(link);
}

/* A proxy in front of a coordinator that is gone: every connection is accepted, and closed. */
static void test_accepted_in_vain(void **state) {
    (void)state;
    caucus_link *link = link_of(NULL, 0);
    int64_t now = 1000;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(caucus_link_missing_ms(link, now), now - 1000);
        assert_non_null(caucus_link_next_address(link, now));
        caucus_link_connected(link, now);
        assert_int_equal(caucus_link_missing_ms(link, now + 1), now + 1 - 1000);
        caucus_link_disconnected(link, now + 1);
        now += 1 + caucus_link_wait_ms(link, now + 1);
    }
    caucus_link_free(link);
}

/* After a block: the deadline and two seconds; then twice as long each time, up to five minutes; and the client has
 * been without a coordinator since the last time that one kept its deadline. */
static void test_patience(void **state) {
    (void)state;
    caucus_link *link = link_of(NULL, 0);
    int64_t now = 0, limit = 3000;
    assert_non_null(caucus_link_next_address(link, now));
    caucus_link_connected(link, now);
    welcome(link, 1000);
    announce(link, 0);
    assert_int_equal(caucus_link_timeout(link, 500000), CAUCUS_LINK_IN_TIME); /* losses are due, not the coordinator */
    play(link);
    assert_true(caucus_link_awaits(link));
    now = 600000;
    assert_int_equal(caucus_link_wait_ms(link, now), limit + 1); /* waiting begins when it is looked at */
    for (int i = 0; i < 12; i++) {
        assert_int_equal(caucus_link_timeout(link, now + limit), CAUCUS_LINK_IN_TIME);
        assert_int_equal(caucus_link_late(link), i > 0);
        now += limit + 1;
        assert_int_equal(caucus_link_timeout(link, now), CAUCUS_LINK_NO_ANNOUNCEMENT);
        assert_true(caucus_link_late(link));
        caucus_link_disconnected(link, now);
        assert_int_equal(caucus_link_timeout(link, now + 77), CAUCUS_LINK_IN_TIME); /* not while there is nobody */
        now += caucus_link_wait_ms(link, now);
        assert_non_null(caucus_link_next_address(link, now));
        caucus_link_connected(link, now);
        welcome(link, 1000);
        assert_true(caucus_link_missing_ms(link, now) > 0); /* connected again, but not yet in time again */
        limit = 2 * limit < 300000 ? 2 * limit : 300000;
        assert_int_equal(caucus_link_wait_ms(link, now), limit + 1);
    }
    announce(link, 1); /* here it is: patience as at first */
    assert_int_equal(caucus_link_timeout(link, now), CAUCUS_LINK_IN_TIME);
    assert_false(caucus_link_late(link));
    assert_int_equal(caucus_link_missing_ms(link, now), 0);
    play(link);
    assert_int_equal(caucus_link_wait_ms(link, now), 3001);
    caucus_link_free(link);
}

/* Without a deadline the coordinator waits for everybody, and so does the client. */
static void test_no_deadline(void **state) {
    (void)state;
    caucus_link *link = link_of(NULL, 0);
    assert_non_null(caucus_link_next_address(link, 0));
    caucus_link_connected(link, 0);
    welcome(link, 0);
    announce(link, 0);
    play(link);
    assert_true(caucus_link_awaits(link));
    assert_int_equal(caucus_link_timeout(link, 0), CAUCUS_LINK_IN_TIME);
    assert_int_equal(caucus_link_timeout(link, INT32_MAX), CAUCUS_LINK_IN_TIME);
    assert_int_equal(caucus_link_wait_ms(link, INT32_MAX), -1);
    caucus_link_free(link);
}

/* Who has refused a certificate for good has not seen the one that a client was given since (SIGHUP). */
static void test_another_certificate(void **state) {
    (void)state;
    static const char *const address[] = {"a:1", "b:2"};
    caucus_link *link = link_of(address, 2);
    caucus_redial *r = &link->redial;
    int64_t now = 0;
    assert_string_equal(caucus_redial_next(r, now), "a:1");
    caucus_redial_refused(r);
    caucus_redial_lost(r, now);
    for (int i = 0; i < 5; i++) {
        now += 3600000;
        assert_string_equal(caucus_redial_next(r, now), "b:2");
        caucus_redial_lost(r, now);
    }
    caucus_redial_forgive_all(r);
    bool dialled = false;
    for (int i = 0; i < 5 && !dialled; i++) {
        now += 3600000;
        const char *next = caucus_redial_next(r, now);
        assert_non_null(next);
        dialled = strcmp(next, "a:1") == 0;
        caucus_redial_lost(r, now);
    }
    assert_true(dialled);
    caucus_link_free(link);
}

static void refused_settings(const caucus_link_settings *s, const char *field) {
    caucus_link *link = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_link_new(s, &link, &error), CAUCUS_E_RANGE);
    assert_string_equal(error.field, field);
    assert_null(link);
}

static void test_settings(void **state) {
    (void)state;
    caucus_key key;
    caucus_key_from_seed(1, &key);
    const char *const hole[] = {"a", NULL};
    caucus_link_settings good = settings_of(&key, hole, 1), s = good;
    assert_int_equal(s.size, sizeof s);
    s.size = 0;
    refused_settings(&s, "size");
    s.size = sizeof s + 8;
    refused_settings(&s, "size");
    s = good, s.index = 0;
    refused_settings(&s, "client");
    s = good, s.index = 3;
    refused_settings(&s, "client");
    s = good, s.addresses = 2;
    refused_settings(&s, "address");
    s = good, s.pause_first_ms = 0;
    refused_settings(&s, "pause");
    s = good, s.pause_most_ms = s.pause_first_ms - 1;
    refused_settings(&s, "pause");
    /* An older caller's struct ends earlier; what it does not know has its default. */
    s = good, s.size = offsetof(caucus_link_settings, pause_first_ms);
    memset(&s.pause_first_ms, 0xff, sizeof s - s.size);
    caucus_link *link = NULL;
    assert_int_equal(caucus_link_new(&s, &link, NULL), CAUCUS_OK);
    assert_int_equal(link->redial.open_ms, 10000);
    caucus_link_free(link);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pauses),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_accepted_in_vain),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_no_deadline),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_another_certificate),
    };
    return cmocka_run_group_tests(tests, open_plan, close_plan);
}
