/* SPDX-License-Identifier: Apache-2.0 */
/* test_played_coordinator.c: a real relay, and a coordinator that the test plays over a real nats-server: slow to
 * answer, with its first words lost, and with notices that come late. */
#include "net/played_relay.h"
#include "testing_settings.h"

#include "net/relay/relay.h"

#define SLOW_MS 600  /* longer than a relay waits before it greets a second time */
#define QUIET_MS 200 /* so long nothing comes: too short can hide a fault, and never makes one */
#define SESSION 160u /* of the client's place */
#define GREETINGS 32u

typedef struct desk {
    broker nats;
    caucus_plan *plan;
    caucus_coordinator *machine;
    caucus_seal_owner coordinator, relay_owner;
    caucus_seal_about about;
    caucus_line *line;
    caucus_saying say;
    char up[CAUCUS_LINE_SUBJECT_BYTES], down[CAUCUS_LINE_SUBJECT_BYTES];
    caucus_seal seal[GREETINGS]; /* of each answer that was given */
    caucus_seal *session;        /* that the relay has taken up */
    uint32_t greetings, answered, heres, histories;
    uint64_t ticket; /* of the place that was asked for; 0: none yet */
    uint32_t places; /* how often one was asked for */
    struct {
        uint64_t due_ns;
        uint8_t bytes[CAUCUS_SEAL_GREETING_BYTES];
    } greeting[GREETINGS];
    uint64_t committed;
    hall h;
    caucus_relay *relay;
    _Atomic bool opened;
} desk;

static void *run_relay(void *user) {
    desk *d = user;
    d->h.status = caucus_server_open(&d->h.settings, &d->h.server, &d->h.error);
    atomic_store(&d->opened, true);
    if (d->h.status == CAUCUS_OK)
        d->h.status = caucus_server_run(d->h.server, &d->h.error);
    return NULL;
}

static void say(desk *d) {
    assert_true(caucus_saying_send(&d->say, d->session, d->line, d->down));
}

static void say_news(desk *d, bool first) {
    caucus_saying_begin(&d->say, first ? CAUCUS_SAY_STATE : CAUCUS_SAY_NEWS);
    if (first) {
        caucus_saying_put(&d->say, 0, 4);
        caucus_saying_put(&d->say, 1, 8);
        caucus_saying_put(&d->say, 1, 8);
    }
    caucus_saying_put(&d->say, d->committed, 8);
    caucus_saying_put(&d->say, 1, 1);
    caucus_saying_put(&d->say, 0, 8);
    caucus_saying_put_announcement(&d->say, caucus_coordinator_announcement(d->machine));
    say(d);
}

static void say_past(desk *d) {
    caucus_saying_begin(&d->say, CAUCUS_SAY_PAST);
    caucus_saying_put(&d->say, 0, 8);
    caucus_saying_put(&d->say, 0, 8);
    caucus_saying_put(&d->say, 1, 4);
    caucus_saying_put_announcement(&d->say, caucus_coordinator_announcement(d->machine));
    say(d);
}

static void say_out(desk *d, uint64_t session) {
    caucus_saying_begin(&d->say, CAUCUS_SAY_OUT);
    caucus_saying_put(&d->say, 1, 4);
    caucus_saying_put(&d->say, session, 8);
    caucus_saying_put(&d->say, CAUCUS_REFUSAL_ELSEWHERE, 1);
    caucus_saying_put_text(&d->say, "the same client has connected again");
    say(d);
}

static void say_placed(desk *d) {
    caucus_saying_begin(&d->say, CAUCUS_SAY_PLACED);
    caucus_saying_put(&d->say, 1, 4);
    caucus_saying_put(&d->say, d->ticket, 8);
    caucus_saying_put(&d->say, 1, 4);
    caucus_saying_put(&d->say, 0, 1);
    caucus_saying_put(&d->say, SESSION, 8);
    for (int i = 0; i < 5; i++)
        caucus_saying_put(&d->say, i == 2 ? 0 : 1, 8);
    caucus_saying_put(&d->say, d->committed, 8);
    caucus_saying_put_text(&d->say, "");
    say(d);
}

static void hear(desk *d, caucus_letter *letter) {
    if (caucus_seal_greets(letter->bytes, letter->size) != 0) {
        assert_true(d->greetings < GREETINGS);
        d->greeting[d->greetings].due_ns = caucus_clock_ns() + (uint64_t)SLOW_MS * 1000000u;
        memcpy(d->greeting[d->greetings++].bytes, letter->bytes, CAUCUS_SEAL_GREETING_BYTES);
        return;
    }
    uint8_t *open = letter->bytes + 8;
    for (uint32_t i = d->answered; i-- > 0;)
        if (caucus_seal_take(&d->seal[i], d->up, letter->bytes, letter->size, open) == CAUCUS_OK) {
            caucus_hearing m = {.at = open, .end = open + (letter->size - CAUCUS_SEAL_MORE_BYTES)};
            const uint64_t kind = caucus_hearing_get(&m, 1);
            d->session = &d->seal[i];
            if (kind == CAUCUS_SAY_HERE && ++d->heres == 2) /* the answer to the first was lost */
                say_news(d, true);
            if (kind == CAUCUS_SAY_HISTORY && ++d->histories == 2) /* likewise */
                say_past(d);
            if (kind == CAUCUS_SAY_PLACE) {
                (void)caucus_hearing_get(&m, 4);
                d->ticket = caucus_hearing_get(&m, 8);
                d->places++;
            }
            return;
        }
}

static void turn(desk *d) {
    struct pollfd wait = {.fd = caucus_line_wait(d->line), .events = POLLIN};
    (void)poll(&wait, 1, 10);
    for (caucus_letter *letter = caucus_line_take(d->line), *next; letter; letter = next) {
        next = letter->next;
        hear(d, letter);
        free(letter);
    }
    while (d->answered < d->greetings && caucus_clock_ns() >= d->greeting[d->answered].due_ns) {
        uint8_t answer[CAUCUS_SEAL_ANSWER_BYTES];
        assert_int_equal(caucus_seal_answer(&d->coordinator, d->relay_owner.public_key, &d->about, 1, d->answered + 1,
                                            d->greeting[d->answered].bytes, CAUCUS_SEAL_GREETING_BYTES, answer,
                                            &d->seal[d->answered]),
                         CAUCUS_OK);
        d->answered++;
        assert_true(caucus_line_say(d->line, d->down, answer, sizeof answer));
    }
}

#define TURN_UNTIL(d, condition)                                                                                       \
    do {                                                                                                               \
        const uint64_t turn_end = caucus_clock_ns() + (uint64_t)PATIENCE_MS * 1000000u;                                \
        while (!(condition)) {                                                                                         \
            turn(d);                                                                                                   \
            if (caucus_clock_ns() > turn_end)                                                                          \
                fail_msg("%s does not come true", #condition);                                                         \
        }                                                                                                              \
    } while (0)

static void open_desk(desk *d, char secret[128], char public_key[128]) {
    caucus_error error = {0};
    caucus_key key;
    memset(d, 0, sizeof *d);
    broker_open(&d->nats);
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, 2, 5, 24, 20);
    assert_int_equal(caucus_plan_new(&s, &d->plan, &error), CAUCUS_OK);
    caucus_key_from_seed(7, &key);
    assert_int_equal(caucus_coordinator_new(d->plan, &key, &d->machine), CAUCUS_OK);
    d->committed = 1;
    hall_init(&d->h, d->plan, 7);
    assert_int_equal(caucus_seal_owner_new(&d->coordinator), CAUCUS_OK);
    assert_int_equal(caucus_seal_owner_new(&d->relay_owner), CAUCUS_OK);
    (void)snprintf(secret, 128, "%s/relay.secret", d->nats.dir);
    (void)snprintf(public_key, 128, "%s/coordinator.public", d->nats.dir);
    FILE *one = fopen(secret, "w"), *two = fopen(public_key, "w");
    assert_true(one && two && caucus_keys_write_secret(one, &d->relay_owner) &&
                caucus_keys_write_public(two, d->coordinator.public_key));
    assert_int_equal(fclose(one) + fclose(two), 0);
    d->about.relay = 1;
    memcpy(d->about.plan, d->h.settings.plan_hash, sizeof d->about.plan);
    caucus_seal_run(d->about.plan, "live", d->about.run);
    caucus_subject(&d->about, true, 1, d->up);
    caucus_subject(&d->about, false, 1, d->down);
    assert_int_equal(caucus_line_open(&(caucus_line_settings){.url = d->nats.url, .name = "desk"}, &d->line, &error),
                     CAUCUS_OK);
    assert_int_equal(caucus_line_hear(d->line, d->up), CAUCUS_OK);
}

static void test_relay(void **state) {
    (void)state;
    static desk d;
    char secret[128], public_key[128];
    caucus_error error = {0};
    open_desk(&d, secret, public_key);
    caucus_relay_settings set = {
        .line = {.url = d.nats.url}, .key = secret, .coordinator = public_key, .number = 1, .cut_off_ms = 600000};
    memcpy(set.plan_hash, d.about.plan, sizeof set.plan_hash);
    assert_int_equal(caucus_relay_open(&set, &d.relay, &error), CAUCUS_OK);
    d.h.settings.relay = d.relay;
    assert_int_equal(pthread_create(&d.h.thread, NULL, run_relay, &d), 0);

    /* Answers are slow: greetings come further and further apart, until one is answered before the next. And both the
     * state and the history have to be said twice. */
    TURN_UNTIL(&d, atomic_load(&d.opened));
    assert_int_equal(d.h.status, CAUCUS_OK);
    assert_true(d.greetings >= 2 && d.heres >= 2 && d.histories >= 2);

    /* A client that has heard one announcement more than this relay waits until that has come. */
    wire_end w;
    caucus_frame frame, hello = hello_of(&d.h, 1, 2);
    wire_open(&w, caucus_server_port(d.h.server));
    assert_true(wire_send(&w, &hello));
    TURN_UNTIL(&d, d.ticket != 0);
    const uint64_t lost = d.ticket; /* nothing is said to it: the relay asks again, and takes that one's answer only */
    TURN_UNTIL(&d, d.places == 2);
    assert_true(d.ticket != lost);
    say_placed(&d);
    assert_int_equal(wire_receive(&w, 5, &frame, QUIET_MS), -1);
    assert_int_equal(caucus_coordinator_decide(d.machine), CAUCUS_OK);
    d.committed = 2;
    say_news(&d, false);
    assert_int_equal(wire_receive(&w, 5, &frame, PATIENCE_MS), 1);
    assert_int_equal(frame.kind, CAUCUS_FRAME_WELCOME);

    /* That it has moved is about the session that is named: an earlier one of the same client is over already. */
    say_out(&d, SESSION - 64);
    int got = wire_receive(&w, 5, &frame, QUIET_MS);
    assert_true(got == -1 || (got == 1 && frame.kind != CAUCUS_FRAME_REFUSAL));
    say_out(&d, SESSION);
    while ((got = wire_receive(&w, 5, &frame, PATIENCE_MS)) == 1 && frame.kind != CAUCUS_FRAME_REFUSAL)
        continue;
    assert_int_equal(got, 1);
    assert_int_equal(frame.code, CAUCUS_REFUSAL_ELSEWHERE);
    wire_close(&w);

    caucus_saying_begin(&d.say, CAUCUS_SAY_END);
    caucus_saying_put(&d.say, 1, 1);
    say(&d);
    hall_wait(&d.h);
    assert_int_equal(caucus_relay_ended(d.relay), CAUCUS_RELAY_OVER);
    hall_free(&d.h);
    caucus_relay_close(d.relay);
    caucus_line_close(d.line);
    caucus_saying_free(&d.say);
    caucus_coordinator_free(d.machine);
    caucus_plan_free(d.plan);
    broker_close(&d.nats);
}

int main(void) {
    if (!caucus_line_version()) {
        printf("skipped: this program has no relays\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_relay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
