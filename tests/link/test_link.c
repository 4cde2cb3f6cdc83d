/* SPDX-License-Identifier: Apache-2.0 */
/* test_link.c: links over pipes that break: at every byte, with lost acknowledgements, restarts at every step, hostile
 * coordinators.
 *
 * What must hold: the same experts as an undisturbed federation of bare machines, each item counted once, and never two
 * different reports for one item (docs/PRIVACY.md, statement 25). */
#include "link/plain_link.h"
#include "net/hall.h"
#include "testing_settings.h"

#include <stdio.h>

#define SEED 20241u

static caucus_settings small(caucus_algorithm algorithm, caucus_trust trust, caucus_message message, uint32_t rounds) {
    caucus_settings s = testing_settings(algorithm, trust, 3, 6, rounds, 8);
    s.message = message;
    return s;
}

/* The plans of the tests: two-step svt, blocks of four, a vector per block, hedge, and stoch with noise from both
 * sides. */
static uint32_t test_plans(caucus_settings ret[8]) {
    uint32_t n = 0;
    ret[n++] = small(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 40);
    ret[n] = small(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 41);
    ret[n++].interval = 4;
    ret[n] = small(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 20);
    ret[n++].protocol = CAUCUS_PROTOCOL_PAPER;
    ret[n++] = small(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 20);
    ret[n++] = small(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 40);
    ret[n++] = small(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_VOTE, 40);
    ret[n++] = small(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_SHORTLIST, 40);
    ret[n++] = small(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_KNORM, 40);
    return n;
}

static void check_experts(const hall *h, const federation *reference) {
    for (uint32_t i = 0; i < h->m; i++)
        for (uint32_t round = 0; round < h->plan->settings.rounds; round++)
            if (h->seat[i].expert[round] != reference->expert[round])
                fail_msg("client %u round %u: expert %u, undisturbed %u", i + 1, round + 1, h->seat[i].expert[round],
                         reference->expert[round]);
}

/* Every item that counts did: what is asked for in the reference is counted here (all clients always answer). */
static void check_counted(const hall *h) {
    size_t counted = 0, asked = 0;
    for (size_t k = 0; k < h->seen_count; k++)
        counted += h->seen[k].counted;
    for (uint32_t serial = 0; serial < h->said_count; serial++)
        asked += h->said[serial].ask != CAUCUS_ASK_NOTHING;
    assert_int_equal(counted, asked * h->m);
}

/* Move everything on until nothing moves: client `skip` stays as it is. */
static void deliver_all(hall *h, uint32_t skip) {
    bool moved;
    do {
        moved = false;
        for (uint32_t i = 0; i < h->m; i++) {
            if (i == skip)
                continue;
            if (!h->seat[i].connected)
                hall_connect(h, i);
            moved = hall_up(h, i, SIZE_MAX) > 0 || moved;
            moved = hall_down(h, i, SIZE_MAX) > 0 || moved;
            moved = hall_play(h, i) || moved;
        }
    } while (moved);
}

static hall *hall_new(const caucus_plan *plan, uint64_t seed) {
    hall *h = malloc(sizeof *h);
    assert_non_null(h);
    hall_open(h, plan, seed);
    return h;
}

static void hall_delete(hall *h) {
    hall_close(h);
    free(h);
}

#define NOBODY UINT32_MAX

static void test_undisturbed(void **state) {
    (void)state;
    caucus_settings plans[8];
    uint32_t count = test_plans(plans);
    for (uint32_t p = 0; p < count; p++) {
        federation f;
        federation_open(&f, &plans[p], SEED + p);
        federation_play(&f, hashed_losses);
        hall *h = hall_new(f.plan, SEED + p);
        deliver_all(h, NOBODY);
        assert_true(hall_done(h));
        check_experts(h, &f);
        check_counted(h);
        for (uint32_t i = 0; i < h->m; i++) {
            caucus_link_counts counts;
            caucus_link_counts_init(&counts);
            assert_int_equal(caucus_link_count(h->seat[i].link, &counts), CAUCUS_OK);
            assert_int_equal(counts.again, 0);
            assert_int_equal(counts.reports, h->said_count - 1);
            assert_int_equal(counts.bytes_sent, h->seat[i].moved_up);
            assert_int_equal(counts.bytes_received, h->seat[i].moved_down);
        }
        hall_delete(h);
        federation_close(&f);
    }
}

/* An announcement is awaited after the last round of a block, and only then: not before the first, not while there is a
 * round to play, not after the last. */
static void test_awaits(void **state) {
    (void)state;
    caucus_settings plans[8];
    uint32_t count = test_plans(plans);
    for (uint32_t p = 0; p < count; p++) {
        federation f;
        federation_open(&f, &plans[p], SEED + p);
        hall *h = hall_new(f.plan, SEED + p);
        for (uint32_t i = 0; i < h->m; i++)
            assert_false(caucus_link_awaits(h->seat[i].link));
        deliver_all(h, 0); /* the others have reported; the step stays open for client 1 */
        assert_false(caucus_link_awaits(h->seat[0].link));
        for (uint32_t i = 1; i < h->m; i++) {
            assert_false(caucus_link_ready(h->seat[i].link));
            assert_true(caucus_link_awaits(h->seat[i].link));
        }
        deliver_all(h, NOBODY);
        assert_true(hall_done(h));
        for (uint32_t i = 0; i < h->m; i++)
            assert_false(caucus_link_awaits(h->seat[i].link));
        hall_delete(h);
        federation_close(&f);
    }
}

/* Client 1's connection breaks after exactly `up` bytes to the coordinator and `down` bytes from it (whichever comes
 * first). */
static bool run_with_cut(const federation *f, uint64_t seed, size_t up, size_t down) {
    hall *h = hall_new(f->plan, seed);
    seat *s = &h->seat[0];
    bool cut = false;
    while (!hall_done(h)) {
        deliver_all(h, 0);
        if (!s->connected)
            hall_connect(h, 0);
        bool moved = hall_up(h, 0, cut ? SIZE_MAX : up - s->moved_up) > 0;
        if (!cut && s->moved_up == up) {
            hall_break(h, 0, up % 2);
            moved = cut = true;
        } else {
            moved = hall_down(h, 0, cut ? SIZE_MAX : down - s->moved_down) > 0 || moved;
            if (!cut && s->moved_down == down) {
                hall_break(h, 0, true);
                moved = cut = true;
            }
        }
        moved = hall_play(h, 0) || moved;
        assert_true(moved || hall_done(h));
    }
    check_experts(h, f);
    check_counted(h);
    hall_delete(h);
    return cut;
}

static void test_cut_at_every_byte(void **state) {
    (void)state;
    caucus_settings plans[8];
    uint32_t count = test_plans(plans);
    size_t runs = 0;
    for (uint32_t p = 0; p < count; p++) {
        federation f;
        plans[p].clients = 2;
        plans[p].experts = 4;
        plans[p].rounds = plans[p].algorithm == CAUCUS_ALGORITHM_STOCH ? 16 : 9;
        federation_open(&f, &plans[p], SEED + p);
        federation_play(&f, hashed_losses);
        for (size_t at = 1; run_with_cut(&f, SEED + p, at, SIZE_MAX); at++)
            runs++;
        for (size_t at = 1; run_with_cut(&f, SEED + p, SIZE_MAX, at); at++)
            runs++;
        federation_close(&f);
    }
    print_message("%zu cuts\n", runs);
    assert_true(runs > 1000);
}

/* Client 1 is started again from its saved state after its n-th call; with another key, as in life, if `fresh`. */
static bool run_with_restart(const federation *f, uint64_t seed, uint32_t n, bool fresh) {
    hall *h = hall_new(f->plan, seed);
    seat *s = &h->seat[0];
    bool restarted = false;
    while (!hall_done(h)) {
        bool moved = false;
        deliver_all(h, 0);
        if (!s->connected)
            hall_connect(h, 0);
        for (int what = 0; what < 3; what++) {
            moved = (what == 0   ? hall_up(h, 0, 25) > 0
                     : what == 1 ? hall_down(h, 0, 40) > 0
                                 : hall_play(h, 0)) ||
                    moved;
            if (!restarted && s->handled >= n) {
                hall_start(h, 0, fresh ? seed + 1000 + n : seed);
                hall_connect(h, 0);
                restarted = moved = true;
            }
        }
        assert_true(moved || hall_done(h));
    }
    bool noisy = f->plan->settings.trust != CAUCUS_TRUST_COORDINATOR;
    if (!(fresh && noisy)) /* with another key what was not yet sent gets other noise, rightly */
        check_experts(h, f);
    check_counted(h);
    hall_delete(h);
    return restarted;
}

static void test_restart_at_every_step(void **state) {
    (void)state;
    caucus_settings plans[8];
    uint32_t count = test_plans(plans);
    size_t runs = 0;
    for (uint32_t p = 0; p < count; p++) {
        federation f;
        plans[p].clients = 2;
        federation_open(&f, &plans[p], SEED + p);
        federation_play(&f, hashed_losses);
        for (uint32_t n = 1; run_with_restart(&f, SEED + p, n, n % 2 == 0); n++)
            runs++;
        federation_close(&f);
    }
    print_message("%zu restarts\n", runs);
    assert_true(runs > 200);
}

static uint64_t dice; /* splitmix64 */
static uint32_t roll(uint32_t sides) {
    uint64_t z = (dice += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) % sides);
}

/* Everything at once: short reads and writes, breaks, restarts, repeated and old announcements, disks that fill up. */
static void run_storm(const federation *f, uint64_t seed, uint64_t storm) {
    hall *h = hall_new(f->plan, seed);
    dice = storm;
    uint64_t steps = 0;
    while (!hall_done(h)) {
        assert_true(++steps < 2000000);
        uint32_t i = roll(h->m);
        seat *s = &h->seat[i];
        if (!s->connected && roll(3) == 0)
            hall_connect(h, i);
        switch (roll(12)) {
        case 0:
            if (roll(4) == 0)
                hall_break(h, i, roll(2));
            break;
        case 1:
            if (roll(6) == 0) {
                s->disk_full = false;
                hall_start(h, i, seed);
            }
            break;
        case 2: /* an announcement of old, again; only between frames */
            if (s->hello && s->down.size == 0 && s->moved_down > 0 &&
                caucus_client_heard(caucus_link_client(s->link)) > 0 && roll(4) == 0)
                announce_to(h, i, roll((uint32_t)caucus_client_heard(caucus_link_client(s->link))));
            break;
        case 3:
            s->disk_full = roll(8) == 0;
            break;
        case 4:
        case 5:
            hall_play(h, i);
            break;
        default:
            hall_up(h, i, roll(60));
            if (!s->disk_full)
                hall_down(h, i, roll(80));
        }
    }
    check_experts(h, f);
    check_counted(h);
    hall_delete(h);
}

static void test_storm(void **state) {
    (void)state;
    caucus_settings plans[8];
    uint32_t count = test_plans(plans);
    for (uint32_t p = 0; p < count; p++) {
        federation f;
        federation_open(&f, &plans[p], SEED + p);
        federation_play(&f, hashed_losses);
        for (uint64_t storm = 1; storm <= 40; storm++)
            run_storm(&f, SEED + p, storm);
        federation_close(&f);
    }
}

/* A federation that was played in memory, and the same one over links: what the one chose the other must choose. */
static hall *open_both(federation *f, const caucus_settings *s) {
    federation_open(f, s, SEED);
    federation_play(f, hashed_losses);
    hall *h = hall_new(f->plan, SEED);
    return h;
}

static void close_both(hall *h, federation *f) {
    hall_delete(h);
    federation_close(f);
}

/* Nothing is handed out that could not be saved, and what waits goes out once the disk has room. */
static void test_disk_full(void **state) {
    (void)state;
    caucus_settings s = small(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 10);
    s.clients = 1;
    federation f;
    hall *h = open_both(&f, &s);
    h->seat[0].disk_full = true;
    deliver_all(h, NOBODY);
    assert_int_equal(h->seen_count, 0);
    assert_int_equal(caucus_link_round(h->seat[0].link), 1);
    h->seat[0].disk_full = false;
    caucus_error error = {0};
    assert_int_equal(caucus_link_receive(h->seat[0].link, NULL, 0, &error), CAUCUS_OK);
    deliver_all(h, NOBODY);
    assert_true(hall_done(h));
    check_experts(h, &f);
    close_both(h, &f);
}

/* Leaving in the middle of a block keeps the rounds observed; the farewell goes out and nothing after it. */
static void test_leave(void **state) {
    (void)state;
    caucus_settings s = small(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 30);
    s.interval = 10;
    federation f;
    hall *h = open_both(&f, &s);
    hall_connect(h, 0);
    (void)hall_up(h, 0, SIZE_MAX);
    (void)hall_down(h, 0, SIZE_MAX);
    for (int i = 0; i < 7; i++)
        assert_true(hall_play(h, 0));
    caucus_error error = {0};
    assert_int_equal(caucus_link_leave(h->seat[0].link, "stopped", &error), CAUCUS_OK);
    h->seat[0].hello_bytes = SIZE_MAX; /* what follows is no item */
    assert_true(hall_up(h, 0, SIZE_MAX) > 0);
    hall_start(h, 0, SEED);
    assert_int_equal(caucus_link_round(h->seat[0].link), 7);
    deliver_all(h, NOBODY);
    assert_true(hall_done(h));
    check_experts(h, &f);
    check_counted(h);
    close_both(h, &f);
}

/* Once nothing more is asked, a client that dies goes on without a coordinator. */
static void test_alone_at_the_end(void **state) {
    (void)state;
    caucus_settings s = small(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 40);
    s.interval = 30;
    federation f;
    hall *h = open_both(&f, &s);
    deliver_all(h, NOBODY);
    assert_true(hall_done(h));
    hall_start(h, 0, SEED + 1); /* killed in the last block, and the coordinator has gone */
    assert_int_equal(caucus_link_round(h->seat[0].link), 30);
    while (hall_play(h, 0))
        ;
    assert_true(caucus_link_done(h->seat[0].link));
    check_experts(h, &f);
    close_both(h, &f);
}

/* A lone link and a coordinator that says what it likes. */
typedef struct duel {
    caucus_plan *plan;
    caucus_link *link;
    seat save;
    uint8_t hash[32];
} duel;

static void duel_open(duel *d, const caucus_settings *settings) {
    memset(d, 0, sizeof *d);
    assert_int_equal(caucus_plan_new(settings, &d->plan, NULL), CAUCUS_OK);
    caucus_key key;
    client_key(SEED, 1, &key);
    assert_int_equal(plain_link(d->plan, d->hash, 1, &key, NULL, 0, seat_save, &d->save, &d->link, NULL), CAUCUS_OK);
}

static void duel_close(duel *d) {
    caucus_link_free(d->link);
    caucus_plan_free(d->plan);
    free(d->save.saved);
}

static caucus_status say(duel *d, const caucus_frame *frame, caucus_error *error) {
    uint8_t bytes[4096];
    size_t size = caucus_wire_put(frame, bytes, sizeof bytes);
    assert_true(size > 0);
    return caucus_link_receive(d->link, bytes, size, error);
}

static caucus_status say_welcome(duel *d, uint32_t cost_next) {
    caucus_frame frame = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION, .cost_next = cost_next};
    caucus_error error;
    return say(d, &frame, &error);
}

static caucus_status ask(duel *d, uint32_t serial, caucus_ask what, uint32_t block, uint32_t expert) {
    caucus_frame frame = {.kind = CAUCUS_FRAME_ANNOUNCEMENT,
                          .announcement = {.serial = serial, .ask = what, .block = block, .expert = expert}};
    caucus_error error;
    return say(d, &frame, &error);
}

/* All the bytes it has to send now. */
static size_t drain(duel *d, uint8_t *to, size_t room) {
    size_t done = 0, size = 0;
    const uint8_t *bytes;
    while ((bytes = caucus_link_to_send(d->link, &size)) != NULL) {
        assert_true(done + size <= room);
        memcpy(to + done, bytes, size);
        caucus_link_sent(d->link, size);
        done += size;
    }
    return done;
}

static void meet(duel *d) {
    uint8_t hello[512];
    caucus_link_connected(d->link, 0);
    assert_true(drain(d, hello, sizeof hello) > 0);
}

static void observe(duel *d, uint32_t rounds) {
    double row[64];
    caucus_error error;
    for (uint32_t r = 0; r < rounds; r++) {
        hashed_losses(1, (uint32_t)caucus_link_round(d->link) + 1, d->plan->settings.experts, row);
        assert_int_equal(caucus_link_observe(d->link, row, &error), CAUCUS_OK);
    }
}

/* Trust nobody: whoever withholds the acknowledgement, asks again, or asks out of turn gets the same vote, or
 * nothing. */
static void test_no_fresh_noise(void **state) {
    (void)state;
    caucus_settings s = small(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_VOTE, 40);
    duel d;
    duel_open(&d, &s);
    uint8_t first[512], again[512];
    meet(&d);
    assert_int_equal(say_welcome(&d, 0), CAUCUS_OK);
    assert_int_equal(ask(&d, 0, CAUCUS_ASK_VOTE, 2, 0), CAUCUS_OK);
    observe(&d, 1);
    size_t size = drain(&d, first, sizeof first);
    assert_true(size > 0);
    assert_int_equal(drain(&d, again, sizeof again), 0);
    for (int i = 0; i < 10; i++) { /* never acknowledged; every other time the process dies, too, and has another key */
        caucus_link_disconnected(d.link, 0);
        if (i % 2) {
            caucus_key key;
            client_key(SEED + 100 + (uint64_t)i, 1, &key);
            caucus_link_free(d.link);
            assert_int_equal(plain_link(d.plan, d.hash, 1, &key, d.save.saved, d.save.saved_bytes, seat_save, &d.save,
                                        &d.link, NULL),
                             CAUCUS_OK);
        }
        meet(&d);
        assert_int_equal(drain(&d, again, sizeof again), 0); /* not before the welcome */
        assert_int_equal(say_welcome(&d, 0), CAUCUS_OK);
        assert_int_equal(drain(&d, again, sizeof again), size);
        assert_memory_equal(first, again, size);
        assert_int_equal(ask(&d, 0, CAUCUS_ASK_VOTE, 2, 0), CAUCUS_OK); /* repeated: ignored */
        assert_int_equal(drain(&d, again, sizeof again), 0);
        assert_int_equal(ask(&d, 1, CAUCUS_ASK_VOTE, 2, 0), CAUCUS_E_FORMAT); /* the same question under a new number */
        caucus_link_disconnected(d.link, 0);
        assert_int_equal(drain(&d, again, sizeof again), 0);
    }
    caucus_link_counts counts = {.size = 1};
    assert_int_equal(caucus_link_count(d.link, &counts), CAUCUS_E_RANGE); /* of another library's header */
    caucus_link_counts_init(&counts);
    assert_int_equal(caucus_link_count(d.link, &counts), CAUCUS_OK);
    assert_true(counts.again > 0);
    /* The next phase's question closes this one: the vote is not sent again. */
    meet(&d);
    assert_int_equal(say_welcome(&d, 0), CAUCUS_OK);
    assert_int_equal(ask(&d, 1, CAUCUS_ASK_VOTE, 3, 0), CAUCUS_OK);
    assert_int_equal(drain(&d, again, sizeof again), 0);
    duel_close(&d);
}

static void test_hostile(void **state) {
    (void)state;
    caucus_settings s = small(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 40);
    caucus_error error;
    for (int what = 0; what < 12; what++) {
        duel d;
        duel_open(&d, &s);
        meet(&d);
        caucus_status got = CAUCUS_OK, want = CAUCUS_E_FORMAT;
        caucus_frame f = {.kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION};
        static const int64_t value[1] = {1};
        if (what != 0 && what < 8)
            assert_int_equal(say_welcome(&d, 1), CAUCUS_OK);
        switch (what) {
        case 0: /* before the welcome */
            got = ask(&d, 0, CAUCUS_ASK_COST, 1, 0);
            break;
        case 1: /* a gap */
            got = ask(&d, 1, CAUCUS_ASK_COST, 1, 0);
            break;
        case 2: /* an expert that is not there */
            got = ask(&d, 0, CAUCUS_ASK_COST, 1, 6);
            break;
        case 3: /* what this plan never asks */
            got = ask(&d, 0, CAUCUS_ASK_VOTE, 2, 0);
            break;
        case 4: /* after the last one */
            assert_int_equal(ask(&d, 0, CAUCUS_ASK_NOTHING, 1, 0), CAUCUS_OK);
            got = ask(&d, 1, CAUCUS_ASK_COST, 2, 0);
            break;
        case 5: /* a second welcome */
            got = say_welcome(&d, 1);
            break;
        case 6: /* what only clients send */
            f = (caucus_frame){
                .kind = CAUCUS_FRAME_REPORT,
                .report = {.client = 1, .kind = CAUCUS_ASK_COST, .first = 1, .block = 1, .count = 1, .value = value}};
            got = say(&d, &f, &error);
            break;
        case 7: { /* a length no plan allows */
            static const uint8_t huge[8] = {0xff, 0xff, 0xff, 0x7f, 1, 2, 3, 4};
            got = caucus_link_receive(d.link, huge, sizeof huge, &error);
            break;
        }
        case 8: /* another plan */
            f.plan[7] = 1;
            got = say(&d, &f, &error);
            want = CAUCUS_E_MISMATCH;
            break;
        case 9: /* another version */
            f.version = CAUCUS_WIRE_VERSION + 1;
            got = say(&d, &f, &error);
            want = CAUCUS_E_REFUSED;
            break;
        case 10:
            f = (caucus_frame){.kind = CAUCUS_FRAME_REFUSAL, .code = CAUCUS_REFUSAL_IDENTITY, .text = "who are you"};
            got = say(&d, &f, &error);
            assert_string_equal(caucus_link_last_words(d.link), "who are you");
            want = CAUCUS_E_REFUSED;
            break;
        default:
            f = (caucus_frame){.kind = CAUCUS_FRAME_REFUSAL, .code = CAUCUS_REFUSAL_FULL, .text = "full"};
            got = say(&d, &f, &error);
            want = CAUCUS_E_LATER; /* come again later */
        }
        if (got != want)
            fail_msg("case %d: %s, expected %s", what, caucus_status_text(got), caucus_status_text(want));
        duel_close(&d);
    }
}

/* Far behind: thousands of announcements wait, reading stops, and every report still goes out in order, once. */
static void test_far_behind(void **state) {
    (void)state;
    caucus_settings s = small(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 6001);
    s.clients = 1;
    duel d;
    duel_open(&d, &s);
    meet(&d);
    assert_int_equal(say_welcome(&d, 1), CAUCUS_OK);
    uint32_t serial = 0;
    while (caucus_link_wants(d.link) && serial < 6000) {
        assert_int_equal(ask(&d, serial, CAUCUS_ASK_COST, serial + 1, serial % 6), CAUCUS_OK);
        serial++;
    }
    assert_true(serial > 4000 && serial < 6000);
    d.save.saves = 0;
    d.save.disk_full = false;
    uint8_t bytes[512];
    int64_t scratch[6];
    for (uint32_t block = 1; block < 6000; block++) {
        assert_int_equal(caucus_link_expert(d.link), (block - 1) % 6);
        observe(&d, 1);
        size_t size = drain(&d, bytes, sizeof bytes), used = 0;
        caucus_frame frame;
        assert_int_equal(caucus_wire_take(bytes, size, 6, scratch, &used, &frame, NULL), CAUCUS_OK);
        assert_int_equal(used, size);
        assert_int_equal(frame.report.block, block);
        caucus_frame next = {
            .kind = CAUCUS_FRAME_ANNOUNCEMENT, /* acknowledges */
            .cost_next = block + 1,
            .announcement = {.serial = serial, .ask = CAUCUS_ASK_COST, .block = serial + 1, .expert = serial % 6}};
        caucus_error error;
        if (serial < 6000) {
            assert_int_equal(say(&d, &next, &error), CAUCUS_OK);
            serial++;
        }
    }
    duel_close(&d);
}

/* Any byte changed or missing, another plan, another client: refused. */
static void test_damaged_state(void **state) {
    (void)state;
    caucus_settings s = small(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 40);
    duel d;
    duel_open(&d, &s);
    meet(&d);
    assert_int_equal(say_welcome(&d, 1), CAUCUS_OK);
    assert_int_equal(ask(&d, 0, CAUCUS_ASK_COST, 1, 0), CAUCUS_OK);
    observe(&d, 1);
    assert_true(d.save.saved_bytes > 0);
    caucus_key key;
    client_key(SEED, 1, &key);
    caucus_link *link = NULL;
    uint8_t *bytes = d.save.saved;
    for (size_t i = 0; i < d.save.saved_bytes; i++) {
        bytes[i] ^= 1;
        assert_int_equal(plain_link(d.plan, d.hash, 1, &key, bytes, d.save.saved_bytes, NULL, NULL, &link, NULL),
                         CAUCUS_E_FORMAT);
        bytes[i] ^= 1;
        assert_int_equal(plain_link(d.plan, d.hash, 1, &key, bytes, i, NULL, NULL, &link, NULL), CAUCUS_E_FORMAT);
    }
    uint8_t other[32] = {1};
    assert_int_equal(plain_link(d.plan, other, 1, &key, bytes, d.save.saved_bytes, NULL, NULL, &link, NULL),
                     CAUCUS_E_MISMATCH);
    assert_int_equal(plain_link(d.plan, d.hash, 2, &key, bytes, d.save.saved_bytes, NULL, NULL, &link, NULL),
                     CAUCUS_E_CONFLICT);
    assert_int_equal(plain_link(d.plan, d.hash, 4, &key, NULL, 0, NULL, NULL, &link, NULL), CAUCUS_E_RANGE);
    assert_int_equal(plain_link(d.plan, d.hash, 1, &key, bytes, d.save.saved_bytes, NULL, NULL, &link, NULL),
                     CAUCUS_OK);
    caucus_link_free(link);
    duel_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_undisturbed),
                                       cmocka_unit_test(test_awaits),
                                       cmocka_unit_test(test_cut_at_every_byte),
                                       cmocka_unit_test(test_restart_at_every_step),
                                       cmocka_unit_test(test_storm),
                                       cmocka_unit_test(test_disk_full),
                                       cmocka_unit_test(test_leave),
                                       cmocka_unit_test(test_alone_at_the_end),
                                       cmocka_unit_test(test_no_fresh_noise),
                                       cmocka_unit_test(test_hostile),
                                       cmocka_unit_test(test_far_behind),
                                       cmocka_unit_test(test_damaged_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
