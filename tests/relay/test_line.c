/* SPDX-License-Identifier: Apache-2.0 */
/* test_line.c: a connection to a real nats-server that ends it for good: the library gives it up, and it is made anew
 * until the server accepts it again, and hears what it heard before. */
#include "net/played_relay.h"
#include "testing_settings.h"

static const char one[] = "authorization { user: caucus, password: one }\n",
                  other[] = "authorization { user: caucus, password: other }\n";
static const char subject[] = "caucus.test.line";

/* As a thread that takes what has come does. Returns: how much it was. */
static uint32_t turn(caucus_line *line) {
    struct pollfd wait = {.fd = caucus_line_wait(line), .events = POLLIN};
    uint32_t letters = 0;
    (void)poll(&wait, 1, 10);
    for (caucus_letter *letter = caucus_line_take(line), *next; letter; letter = next) {
        next = letter->next;
        letters++;
        free(letter);
    }
    return letters;
}

static caucus_line *open_line(const broker *b, const char *password) {
    char url[96];
    caucus_error error = {0};
    caucus_line *ret = NULL;
    (void)snprintf(url, sizeof url, "nats://caucus:%s@%s", password, b->url + strlen("nats://"));
    if (caucus_line_open(&(caucus_line_settings){.url = url, .name = "line"}, &ret, &error) != CAUCUS_OK)
        fail_msg("nats: %s", error.text);
    return ret;
}

static void test_refused_for_a_while(void **state) {
    (void)state;
    broker b;
    char why[CAUCUS_LINE_WHY_BYTES] = "";
    const uint8_t word = 1;
    broker_open_as(&b, one);
    caucus_line *line = open_line(&b, "one");
    assert_int_equal(caucus_line_hear(line, subject), CAUCUS_OK);
    assert_true(caucus_line_is_up(line));
    assert_false(caucus_line_lost(line, why));

    broker_configure(&b, other);
    for (int tries = 0; !caucus_line_lost(line, why) && tries < PATIENCE_MS / 10; tries++)
        assert_int_equal(turn(line), 0);
    if (!strstr(why, "uthorization"))
        fail_msg("why: %s", why);
    assert_false(caucus_line_is_up(line));
    assert_false(caucus_line_say(line, subject, &word, 1));
    for (int tries = 0; tries < 60; tries++) { /* it is refused again: that is not said twice */
        (void)turn(line);
        assert_false(caucus_line_lost(line, why));
    }

    broker_configure(&b, one);
    for (int tries = 0; !caucus_line_is_up(line) && tries < PATIENCE_MS / 10; tries++)
        (void)turn(line);
    assert_true(caucus_line_is_up(line));
    assert_true(caucus_line_reconnects(line) > 0);
    caucus_line *speaker = open_line(&b, "one");
    uint32_t letters = 0;
    for (int tries = 0; letters == 0 && tries < PATIENCE_MS / 10; tries++) {
        (void)caucus_line_say(speaker, subject, &word, 1);
        letters += turn(line);
    }
    assert_true(letters > 0);
    caucus_line_close(speaker);
    caucus_line_close(line);
    broker_close(&b);
}

/* It need not have been accepted before: whoever puts things right lets it in. */
static void test_refused_at_first(void **state) {
    (void)state;
    broker b;
    char why[CAUCUS_LINE_WHY_BYTES] = "";
    broker_open_as(&b, one);
    caucus_line *line = open_line(&b, "other");
    for (int tries = 0; !caucus_line_lost(line, why) && tries < PATIENCE_MS / 10; tries++)
        assert_int_equal(turn(line), 0);
    if (!strstr(why, "no server lets it in"))
        fail_msg("why: %s", why);
    broker_configure(&b, other);
    for (int tries = 0; !caucus_line_is_up(line) && tries < PATIENCE_MS / 10; tries++)
        (void)turn(line);
    assert_true(caucus_line_is_up(line));
    caucus_line_close(line);
    broker_close(&b);
}

int main(void) {
    if (!caucus_line_version()) {
        printf("skipped: this program has no relays\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_for_a_while),
        cmocka_unit_test(test_refused_at_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
