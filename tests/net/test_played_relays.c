/* SPDX-License-Identifier: Apache-2.0 */
/* test_played_relays.c: what two relays may send that is late, double, reordered, made up or another's, while a run
 * goes on behind them: each time every client plays the experts of the undisturbed run, and the coordinator has counted
 * each report once. */
#include "net/played_relay.h"
#include "num/little_endian.h"
#include "store/coordinator/chain.h"
#include "testing_settings.h"

#define SEED 7
#define EXPERTS 5u
#define LAST_STEP 11u /* of blocks of two rounds: nothing is decided after the last */
#define QUIET_MS 200  /* so long nothing comes: too short can hide a fault, and never makes one */
enum { A, B, RELAYS };

static broker nats;

typedef struct stage {
    federation f; /* the undisturbed run */
    hall h;
    caucus_seal_owner owner[RELAYS], coordinator;
    char list[96], key[96];
    played relay[RELAYS];
    caucus_client *client[PLAYED_CLIENTS];
    uint32_t expert[PLAYED_CLIENTS][PLAYED_ROUNDS];
    uint64_t heard[PLAYED_CLIENTS];
    int at[PLAYED_CLIENTS]; /* the relay that each client is at */
} stage;

static void write_keys(stage *s) {
    (void)snprintf(s->list, sizeof s->list, "%s/relays.list", nats.dir);
    (void)snprintf(s->key, sizeof s->key, "%s/coordinator.secret", nats.dir);
    assert_int_equal(caucus_seal_owner_new(&s->coordinator), CAUCUS_OK);
    FILE *list = fopen(s->list, "w"), *key = fopen(s->key, "w");
    assert_true(list && key && caucus_keys_write_secret(key, &s->coordinator));
    for (uint16_t i = 0; i < RELAYS; i++) {
        assert_int_equal(caucus_seal_owner_new(&s->owner[i]), CAUCUS_OK);
        assert_true(caucus_keys_write_listed(list, (uint16_t)(i + 1), s->owner[i].public_key));
    }
    assert_int_equal(fclose(list) + fclose(key), 0);
}

/* A client's rounds of the block in hand. */
static void play_client(stage *s, uint32_t i, const caucus_announcement *a) {
    double row[EXPERTS];
    if (s->heard[i] > a->serial)
        return;
    assert_int_equal(caucus_client_hear(s->client[i], a), CAUCUS_OK);
    s->heard[i] = a->serial + 1;
    while (caucus_client_rounds_left(s->client[i]) > 0) {
        const uint64_t round = caucus_client_round(s->client[i]) + 1;
        s->expert[i][round - 1] = caucus_client_expert(s->client[i]);
        hashed_losses(i + 1, (uint32_t)round, EXPERTS, row);
        assert_int_equal(caucus_client_observe(s->client[i], row, 1), CAUCUS_OK);
    }
}

static void count(stage *s, played *p, uint32_t client) {
    assert_int_equal(caucus_gather_count(p->gather, caucus_client_report(s->client[client - 1])), CAUCUS_OK);
}

/* What its clients report in this step, into its sums. */
static void gather(stage *s, int which) {
    played *p = &s->relay[which];
    for (uint32_t i = 0; i < PLAYED_CLIENTS; i++)
        if (s->at[i] == which) {
            play_client(s, i, &p->last);
            count(s, p, i + 1);
        }
}

static void send_gathered(stage *s, int which) {
    size_t size;
    uint8_t *bytes = played_partial(&s->relay[which], &size);
    assert_int_equal(played_offer(&s->relay[which], s->relay[which].n + 1, bytes, size), CAUCUS_ANSWER_TAKEN);
    free(bytes);
}

/* Both hear of the next announcement. */
static void next_step(stage *s, uint64_t step) {
    for (int k = 0; k < RELAYS; k++)
        PLAYED_UNTIL(&s->relay[k], s->relay[k].committed > step && s->relay[k].started);
}

static void play_step(stage *s, uint64_t step) {
    for (int k = 0; k < RELAYS; k++) {
        gather(s, k);
        if (caucus_gather_items(s->relay[k].gather) > 0)
            send_gathered(s, k);
    }
    next_step(s, step + 1);
}

static void place(stage *s, int which, uint32_t client) {
    assert_int_equal(played_place(&s->relay[which], client, s->heard[client - 1]), 0);
    s->at[client - 1] = which;
}

static void stage_open(stage *s) {
    memset(s, 0, sizeof *s);
    caucus_settings settings =
        testing_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, PLAYED_CLIENTS, EXPERTS, PLAYED_ROUNDS, 20);
    settings.interval = 2;
    federation_open(&s->f, &settings, SEED);
    federation_play(&s->f, hashed_losses);
    write_keys(s);
    hall_init(&s->h, s->f.plan, SEED);
    s->h.settings.relays = (caucus_hub_settings){.line = {.url = nats.url}, .list = s->list, .key = s->key};
    hall_open(&s->h);
    caucus_key run, key;
    caucus_key_from_seed(SEED, &run);
    for (uint32_t i = 0; i < PLAYED_CLIENTS; i++) {
        caucus_key_derive(&run, i + 1, &key);
        assert_int_equal(caucus_client_new(s->f.plan, i + 1, &key, &s->client[i]), CAUCUS_OK);
    }
    for (uint16_t k = 0; k < RELAYS; k++) {
        played_open(&s->relay[k], (uint16_t)(k + 1), nats.url, s->f.plan, s->h.settings.plan_hash, "live", &s->owner[k],
                    &s->coordinator);
        played_begin(&s->relay[k]);
    }
    for (uint32_t i = 1; i <= PLAYED_CLIENTS; i++)
        place(s, i <= 2 ? A : B, i);
    next_step(s, 0);
}

/* Play on to the end from a step, and compare. */
static void stage_close(stage *s, uint64_t step) {
    for (; step < LAST_STEP; step++)
        play_step(s, step);
    caucus_server_status now;
    caucus_server_get_status(s->h.server, &now);
    assert_int_equal(now.reports, PLAYED_CLIENTS * LAST_STEP);
    assert_int_equal(now.steps_decided, s->f.announcements);
    for (uint32_t i = 0; i < PLAYED_CLIENTS; i++) {
        played *p = &s->relay[s->at[i]];
        play_client(s, i, &p->last);
        played_left(p, i + 1, p->session[i], true);
        assert_memory_equal(s->expert[i], s->f.expert, sizeof s->expert[i]);
    }
    hall_wait(&s->h);
    for (int k = 0; k < RELAYS; k++)
        played_close(&s->relay[k]);
    for (uint32_t i = 0; i < PLAYED_CLIENTS; i++)
        caucus_client_free(s->client[i]);
    hall_free(&s->h);
    federation_close(&s->f);
}

static uint64_t cut_off(stage *s) {
    caucus_server_status now;
    caucus_server_get_status(s->h.server, &now);
    return now.relays.cut_off;
}

/* ---- what is sent twice ---- */

static void test_doubled(void **state) {
    (void)state;
    stage s;
    stage_open(&s);
    size_t size;
    gather(&s, A);
    uint8_t *bytes = played_partial(&s.relay[A], &size);
    assert_int_equal(played_offer(&s.relay[A], 1, bytes, size), CAUCUS_ANSWER_TAKEN);
    assert_int_equal(played_offer(&s.relay[A], 1, bytes, size), CAUCUS_ANSWER_TAKEN); /* its answer was lost */
    assert_int_equal(played_offer(&s.relay[A], 2, bytes, size), CAUCUS_ANSWER_ITEMS); /* the same as another one */
    assert_int_equal(s.relay[A].names, 2);
    assert_int_equal(played_offer(&s.relay[A], 9, bytes, size), CAUCUS_ANSWER_STALE); /* a number is missing */
    free(bytes);
    /* Two of one number: the first is taken, and what the second holds is not counted as it. */
    gather(&s, B);
    caucus_gather_clear(s.relay[B].gather);
    caucus_follower_place(s.relay[B].follower, 3, 1, 1, 0);
    count(&s, &s.relay[B], 3);
    bytes = played_partial(&s.relay[B], &size);
    assert_int_equal(played_offer(&s.relay[B], 1, bytes, size), CAUCUS_ANSWER_TAKEN);
    free(bytes);
    caucus_gather_clear(s.relay[B].gather);
    caucus_follower_place(s.relay[B].follower, 4, 1, 1, 0);
    count(&s, &s.relay[B], 4);
    bytes = played_partial(&s.relay[B], &size);
    assert_int_equal(played_offer(&s.relay[B], 1, bytes, size), CAUCUS_ANSWER_TAKEN);
    played_turn(&s.relay[A], QUIET_MS);
    assert_int_equal(s.relay[A].committed, 1); /* client 4 is still waited for */
    assert_int_equal(played_offer(&s.relay[B], 2, bytes, size), CAUCUS_ANSWER_TAKEN);
    free(bytes);
    next_step(&s, 1);
    assert_int_equal(cut_off(&s), 0);
    stage_close(&s, 1);
}

/* ---- what is another's ---- */

static void test_overlapping(void **state) {
    (void)state;
    stage s;
    stage_open(&s);
    size_t size, more;
    gather(&s, B);
    uint8_t *own = played_partial(&s.relay[B], &size);
    play_client(&s, 0, &s.relay[A].last);
    count(&s, &s.relay[B], 1); /* it is at relay A */
    uint8_t *overlapping = played_partial(&s.relay[B], &more);
    assert_int_equal(played_offer(&s.relay[B], 1, overlapping, more), CAUCUS_ANSWER_ITEMS);
    assert_int_equal(s.relay[B].names, 1);
    assert_int_equal(s.relay[B].name[0], 1);
    assert_int_equal(played_offer(&s.relay[B], 1, own, size), CAUCUS_ANSWER_TAKEN);
    free(own);
    /* Counted at A, it comes to B and sends again what it does not know to be counted. */
    gather(&s, A);
    caucus_gather_clear(s.relay[A].gather);
    caucus_follower_place(s.relay[A].follower, 1, 1, 1, 0);
    count(&s, &s.relay[A], 1);
    send_gathered(&s, A);
    place(&s, B, 1);
    assert_int_equal(played_offer(&s.relay[B], 2, overlapping, more), CAUCUS_ANSWER_ITEMS);
    assert_int_equal(s.relay[B].names, 3);
    free(overlapping);
    caucus_gather_clear(s.relay[A].gather);
    caucus_follower_place(s.relay[A].follower, 2, 1, 1, 0);
    count(&s, &s.relay[A], 2);
    send_gathered(&s, A);
    next_step(&s, 1);
    stage_close(&s, 1);
}

/* A to B and back to A; what A says late of its first session, and what it is told of it, is about that one. */
static void test_to_and_fro(void **state) {
    (void)state;
    stage s;
    stage_open(&s);
    const uint64_t first = s.relay[A].session[0];
    place(&s, B, 1);
    const uint64_t second = s.relay[B].session[0];
    place(&s, A, 1);
    assert_true(first < second && second < s.relay[A].session[0]);
    PLAYED_UNTIL(&s.relay[A], s.relay[A].outs == 1);
    PLAYED_UNTIL(&s.relay[B], s.relay[B].outs == 1);
    assert_int_equal(s.relay[A].out_session, first);
    assert_int_equal(s.relay[B].out_session, second);
    assert_int_equal(s.relay[A].out_client, 1);
    played_left(&s.relay[A], 1, first, true);
    played_left(&s.relay[B], 1, second, true);
    stage_close(&s, 0);
}

/* ---- what is made up ---- */

/* A relay is cut off for it, and is heard no more; the other one takes its clients. */
static void expect_barred(void (*spoil)(uint8_t *bytes, size_t size)) {
    stage s;
    stage_open(&s);
    size_t size;
    play_step(&s, 0);
    gather(&s, A);
    uint8_t *bytes = played_partial(&s.relay[A], &size);
    spoil(bytes, size);
    played_send(&s.relay[A], s.relay[A].n + 1, bytes, size);
    free(bytes);
    const uint64_t end = caucus_clock_ns() + (uint64_t)PATIENCE_MS * 1000000u;
    while (cut_off(&s) == 0 && caucus_clock_ns() < end)
        played_turn(&s.relay[B], 10);
    assert_int_equal(cut_off(&s), 1);
    assert_int_equal(s.relay[A].taken, -1);
    assert_false(played_greet(&s.relay[A], QUIET_MS));
    place(&s, B, 1);
    place(&s, B, 2);
    for (uint64_t step = 1; step < LAST_STEP; step++) {
        gather(&s, B);
        send_gathered(&s, B);
        PLAYED_UNTIL(&s.relay[B], s.relay[B].committed > step + 1);
    }
    stage_close(&s, LAST_STEP);
}

static void too_large(uint8_t *bytes, size_t size) {
    (void)caucus_le_put(bytes + size - 8, (uint64_t)1 << 40, 8);
}
static void negative(uint8_t *bytes, size_t size) {
    (void)caucus_le_put(bytes + size - 8, UINT64_MAX, 8);
}
static void cut_short(uint8_t *bytes, size_t size) {
    (void)size;
    (void)caucus_le_put32(bytes + 25, UINT32_MAX); /* groups that are not there */
}

static void test_made_up(void **state) {
    (void)state;
    expect_barred(too_large);
    expect_barred(negative);
    expect_barred(cut_short);
}

/* Items that name another first block, and a partial of an announcement that is over. */
static void test_out_of_step(void **state) {
    (void)state;
    stage s;
    stage_open(&s);
    size_t size;
    play_step(&s, 0);
    gather(&s, A);
    uint8_t *bytes = played_partial(&s.relay[A], &size);
    const uint64_t first = caucus_le_get(bytes + 16, 8), serial = caucus_le_get(bytes, 8);
    (void)caucus_le_put(bytes + 16, first - 1, 8);
    assert_int_equal(played_offer(&s.relay[A], 2, bytes, size), CAUCUS_ANSWER_ITEMS);
    assert_int_equal(s.relay[A].names, 2);
    (void)caucus_le_put(bytes + 16, first, 8);
    (void)caucus_le_put(bytes, serial - 1, 8);
    assert_int_equal(played_offer(&s.relay[A], 2, bytes, size), CAUCUS_ANSWER_STALE);
    (void)caucus_le_put(bytes, serial + 1, 8);
    assert_int_equal(played_offer(&s.relay[A], 2, bytes, size), CAUCUS_ANSWER_STALE);
    (void)caucus_le_put(bytes, serial, 8);
    assert_int_equal(played_offer(&s.relay[A], 2, bytes, size), CAUCUS_ANSWER_TAKEN);
    free(bytes);
    gather(&s, B);
    send_gathered(&s, B);
    next_step(&s, 2);
    stage_close(&s, 2);
}

/* A client that has heard more than is committed is told to come again; the relay may be right about it. */
static void test_ahead(void **state) {
    (void)state;
    stage s;
    stage_open(&s);
    assert_int_equal(played_place(&s.relay[A], 1, 2), CAUCUS_REFUSAL_LATER);
    assert_int_equal(played_place(&s.relay[A], 1, 1), 0);
    stage_close(&s, 0);
}

/* ---- who is not let in ---- */

static void test_strangers(void **state) {
    (void)state;
    stage s;
    played stranger;
    caucus_seal_owner other;
    stage_open(&s);
    assert_int_equal(caucus_seal_owner_new(&other), CAUCUS_OK);
    /* A number that is not listed, and a listed number with a key that is not, or is no longer, the listed one. */
    for (uint16_t number = 1; number <= 9; number += 8) {
        played_open(&stranger, number, nats.url, s.f.plan, s.h.settings.plan_hash, "live", &other, &s.coordinator);
        assert_false(played_greet(&stranger, QUIET_MS));
        played_close(&stranger);
    }
    /* A listed relay in another run of the plan says there what it says here. */
    played_open(&stranger, 1, nats.url, s.f.plan, s.h.settings.plan_hash, "other", &s.owner[A], &s.coordinator);
    caucus_seal_greeted greeted;
    assert_int_equal(caucus_seal_greet(&s.owner[A], &stranger.about, &greeted), CAUCUS_OK);
    assert_true(caucus_line_say(stranger.line, s.relay[A].up, greeted.greeting, sizeof greeted.greeting));
    caucus_seal_forget(&greeted);
    played_close(&stranger);
    play_step(&s, 0); /* the session that is in force stays so */
    stage_close(&s, 1);
}

/* ---- what somebody has listened to ---- */

typedef struct heard_letters {
    caucus_letter *at[4096];
    uint32_t count;
} heard_letters;

static void listen_in(caucus_line *line, heard_letters *h, int wait_ms) {
    struct pollfd wait = {.fd = caucus_line_wait(line), .events = POLLIN};
    (void)poll(&wait, 1, wait_ms);
    for (caucus_letter *letter = caucus_line_take(line); letter; letter = letter->next) {
        assert_true(h->count < 4096);
        h->at[h->count++] = letter;
    }
}

/* Until there are so many at least, and then a while longer for further ones. */
static void listen_for(caucus_line *line, heard_letters *h, uint32_t least) {
    for (int tries = 0; h->count < least && tries < PATIENCE_MS / 20; tries++)
        listen_in(line, h, 20);
    listen_in(line, h, QUIET_MS);
}

/* Everything that relay A has sent, over two lives of it, is sent again, by somebody else and in another order: nothing
 * comes of it. And no two messages were sealed alike: where the counter is the same the bytes are not. */
static void test_captured(void **state) {
    (void)state;
    stage s;
    caucus_error error = {0};
    caucus_line *spy = NULL;
    heard_letters heard = {0};
    stage_open(&s);
    assert_int_equal(caucus_line_open(&(caucus_line_settings){.url = nats.url, .name = "spy"}, &spy, &error),
                     CAUCUS_OK);
    assert_int_equal(caucus_line_hear(spy, s.relay[A].up), CAUCUS_OK);
    for (int tries = 0; heard.count == 0 && tries < PATIENCE_MS / 20; tries++) {
        played_here(&s.relay[A]); /* until the subscription is there */
        listen_in(spy, &heard, 20);
    }
    play_step(&s, 0);
    listen_for(spy, &heard, 2);
    const uint32_t before = heard.count;
    played_begin(&s.relay[A]); /* another life */
    place(&s, A, 1);
    place(&s, A, 2);
    play_step(&s, 1);
    listen_for(spy, &heard, before + 5);
    assert_true(before >= 2 && heard.count >= before + 5);
    for (uint32_t i = 0; i < heard.count; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_true(heard.at[i]->size != heard.at[k]->size ||
                        memcmp(heard.at[i]->bytes, heard.at[k]->bytes, heard.at[i]->size) != 0);
    caucus_server_status then, now;
    caucus_server_get_status(s.h.server, &then);
    for (uint32_t i = heard.count; i-- > 0;)
        assert_true(caucus_line_say(spy, s.relay[A].up, heard.at[i]->bytes, heard.at[i]->size));
    play_step(&s, 2); /* after it on the same way */
    caucus_server_get_status(s.h.server, &now);
    assert_int_equal(now.reports, then.reports + PLAYED_CLIENTS);
    assert_int_equal(now.relays.cut_off, 0);
    for (uint32_t i = 0; i < heard.count; i++)
        free(heard.at[i]);
    caucus_line_close(spy);
    stage_close(&s, 3);
}

/* The first that a session hears was lost: until the relay shows that it has it, it is said again. */
static void test_state_lost(void **state) {
    (void)state;
    stage s;
    stage_open(&s);
    memset(s.relay[A].session, 0, sizeof s.relay[A].session);
    const uint64_t states = s.relay[A].states;
    assert_true(played_greet(&s.relay[A], PATIENCE_MS));
    s.relay[A].n = 0;
    for (uint64_t i = 1; i <= 3; i++) {
        played_here(&s.relay[A]);
        PLAYED_UNTIL(&s.relay[A], s.relay[A].states == states + i);
    }
    place(&s, A, 1);
    place(&s, A, 2);
    stage_close(&s, 0);
}

/* A relay that has heard so many, with a chain over them, begins a session. */
static void say_chain(stage *s, uint64_t heard, bool other) {
    played *p = &s->relay[A];
    uint8_t chain[CAUCUS_CHAIN_BYTES];
    caucus_announcement a;
    memset(p->session, 0, sizeof p->session);
    assert_true(played_greet(p, PATIENCE_MS));
    p->n = 0;
    caucus_chain_begin(s->h.settings.plan_hash, chain);
    for (uint64_t i = 0; i < heard; i++) {
        assert_true(caucus_server_history(s->h.server, i, &a, 1) > i);
        a.expert ^= other && i == 0; /* long ago */
        caucus_chain_add(chain, &a);
    }
    caucus_saying_begin(&p->say, CAUCUS_SAY_HERE);
    caucus_saying_put(&p->say, heard, 8);
    for (size_t i = 0; i < sizeof chain; i++)
        caucus_saying_put(&p->say, chain[i], 1);
    played_say(p);
}

/* What a relay has heard is what is committed, or a part of it; if it is something else this coordinator has gone on
 * from an older copy of its state, and ends. */
static void test_chain(void **state) {
    (void)state;
    stage s;
    stage_open(&s);
    play_step(&s, 0);
    play_step(&s, 1);
    for (uint64_t heard = 1; heard <= 3; heard++) {
        const uint64_t states = s.relay[A].states;
        say_chain(&s, heard, false);
        PLAYED_UNTIL(&s.relay[A], s.relay[A].states > states);
    }
    say_chain(&s, 2, true);
    assert_int_equal(pthread_join(s.h.thread, NULL), 0);
    assert_int_equal(s.h.status, CAUCUS_E_ROLLED_BACK);
    assert_non_null(strstr(s.h.error.text, "has heard other announcements"));
    for (int k = 0; k < RELAYS; k++)
        played_close(&s.relay[k]);
    for (uint32_t i = 0; i < PLAYED_CLIENTS; i++)
        caucus_client_free(s.client[i]);
    hall_free(&s.h);
    federation_close(&s.f);
}

static int open_broker(void **state) {
    (void)state;
    broker_open(&nats);
    return 0;
}
static int close_broker(void **state) {
    (void)state;
    broker_close(&nats);
    return 0;
}

int main(void) {
    if (!caucus_line_version()) {
        printf("skipped: this program has no relays\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubled),   cmocka_unit_test(test_overlapping), cmocka_unit_test(test_to_and_fro),
        cmocka_unit_test(test_made_up),   cmocka_unit_test(test_out_of_step), cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_strangers), cmocka_unit_test(test_captured),    cmocka_unit_test(test_state_lost),
        cmocka_unit_test(test_chain),
    };
    return cmocka_run_group_tests(tests, open_broker, close_broker);
}
