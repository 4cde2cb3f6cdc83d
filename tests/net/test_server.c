/* SPDX-License-Identifier: Apache-2.0 */
/* test_server.c: over the network, the same seed and the same losses give the same experts, switch for switch; clients
 * may vanish and the coordinator may be killed at any commit. */
#include "net/server_testing.h"
#include "plan/ledger.h"
#include "store/unsure.h" /* tests/store */
#include "testing_settings.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define SEED 7

typedef struct setup {
    const char *name;
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_message message;
    uint32_t rounds, interval, experts;
} setup;

static const setup setups[] = {
    {"svt", CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 60, 2, 12},
    {"stoch", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 64, 1, 12},
    {"stoch vote", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_VOTE, 64, 1, 12},
    {"stoch shortlist", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_SHORTLIST, 64, 1, 12},
    {"hedge", CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 40, 4, 12},
    {"hedge, long frames", CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 30, 2, 6000},
};
#define SETUPS (sizeof setups / sizeof setups[0])

static caucus_settings settings_of(const setup *from, uint32_t clients) {
    caucus_settings s = testing_settings(from->algorithm, from->trust, clients, from->experts, from->rounds, 20);
    s.message = from->message;
    s.interval = from->interval;
    return s;
}

/* The undisturbed run in one process. */
static void reference(federation *f, const setup *from, uint32_t clients) {
    caucus_settings s = settings_of(from, clients);
    federation_open(f, &s, SEED);
    federation_play(f, hashed_losses);
}

static peer *open_peers(const caucus_plan *plan, uint32_t m) {
    peer *p = calloc(m, sizeof *p);
    assert_non_null(p);
    for (uint32_t i = 0; i < m; i++)
        peer_open(&p[i], plan, SEED, i + 1);
    return p;
}

static void close_peers(peer *p, uint32_t m) {
    for (uint32_t i = 0; i < m; i++)
        peer_close(&p[i]);
    free(p);
}

static void test_equal(void **state) {
    (void)state;
    for (size_t k = 0; k < SETUPS; k++)
        for (uint32_t loops = 1; loops <= 3; loops += 2) {
            federation f;
            reference(&f, &setups[k], 9);
            hall h;
            hall_init(&h, f.plan, SEED);
            h.settings.loops = loops;
            h.settings.linger_ms = 60000;            /* it must end because all have gone */
            h.settings.tick_ms = loops == 1 ? 0 : 3; /* when announcements leave changes nothing */
            hall_open(&h);
            peer *p = open_peers(f.plan, f.m);
            for (uint32_t i = 0; i < f.m; i++)
                peer_connect(&p[i], &h, caucus_server_port(h.server));
            peers_finish(p, f.m, f.plan, hashed_losses);
            hall_wait(&h);
            peers_equal(p, &f);
            caucus_server_status now;
            caucus_server_get_status(h.server, &now);
            assert_true(now.finished);
            assert_int_equal(now.selections, caucus_coordinator_selections(f.coordinator));
            assert_int_equal(now.steps_decided, f.announcements);
            assert_int_equal(now.commits, f.announcements + 2); /* the opening, the start, and one per step */
            assert_int_equal(now.reports, (uint64_t)f.m * f.announcements);
            assert_int_equal(now.scalars_up, f.scalars_up);
            assert_int_equal(now.refused, 0);
            assert_true(now.epsilon_spent > 0 && now.epsilon_spent <= now.epsilon_choices * (1 + 1e-6));
            caucus_announcement last;
            assert_int_equal(caucus_server_history(h.server, f.announcements, &last, 1), f.announcements + 1);
            assert_int_equal(last.ask, CAUCUS_ASK_NOTHING);
            print_message("%s, %u loops: %" PRIu64 " steps, %" PRIu64 " selections\n", setups[k].name, loops,
                          now.steps_decided, now.selections);
            close_peers(p, f.m);
            hall_free(&h);
            federation_close(&f);
        }
}

/* Without a deadline everybody is waited for: connections that break all the time change nothing. */
static void test_reconnects(void **state) {
    (void)state;
    for (size_t k = 0; k < SETUPS; k++) {
        federation f;
        reference(&f, &setups[k], 5);
        hall h;
        hall_init(&h, f.plan, SEED);
        h.settings.linger_ms = 60000; /* who was cut off from the last word comes back for it */
        hall_open(&h);
        peer *p = open_peers(f.plan, f.m);
        for (uint32_t i = 0; i < f.m; i++)
            peer_connect(&p[i], &h, caucus_server_port(h.server));
        while (p[0].items == 0)
            if (!peers_turn(p, 1, f.plan, hashed_losses, PATIENCE_MS))
                fail_msg("the federation does not begin");
        peer_disconnect(&p[0]);
        peer_connect(&p[0], &h, caucus_server_port(h.server));
        while (p[0].again == 0) /* it has answered, nobody else has, so nothing is counted for good: it answers again */
            if (!peers_turn(p, 1, f.plan, hashed_losses, PATIENCE_MS))
                fail_msg("a report was forgotten");
        for (uint32_t turn = 0, again = 0; !peers_over(p, f.m); turn++) {
            for (uint32_t i = 0; i < f.m; i++)
                if (!p[i].connected && !p[i].over)
                    peer_connect(&p[i], &h, caucus_server_port(h.server));
            if (!peers_turn(p, f.m, f.plan, hashed_losses, PATIENCE_MS))
                fail_msg("the federation hangs");
            if (turn % 3 == 2 && p[again % f.m].connected)
                peer_disconnect(&p[again++ % f.m]); /* a report may be on its way, or not */
        }
        hall_wait(&h);
        peers_equal(p, &f);
        close_peers(p, f.m);
        hall_free(&h);
        federation_close(&f);
    }
}

/* A plan for so many clients, and a coordinator of it that is not open yet. */
static caucus_plan *plan_and_hall(uint32_t clients, hall *ret) {
    const caucus_settings s = settings_of(&setups[0], clients);
    caucus_plan *plan = NULL;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    hall_init(ret, plan, SEED);
    return plan;
}

/* The end of a test: nothing of it is left. */
static void leave(hall *h, peer *p, uint32_t peers, caucus_plan *plan) {
    close_peers(p, peers);
    hall_free(h);
    caucus_plan_free(plan);
}

/* With a deadline and a quorum the others go on; who comes back walks through what it missed and its items still
 * count. */
static void test_deadline(void **state) {
    (void)state;
    for (size_t k = 0; k < SETUPS; k++) {
        caucus_settings s = settings_of(&setups[k], 4);
        caucus_plan *plan = NULL;
        assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
        hall h;
        hall_init(&h, plan, SEED);
        h.settings.deadline_ms = 30;
        h.settings.quorum = 3;
        hall_open(&h);
        peer *p = open_peers(plan, 4);
        for (uint32_t i = 0; i < 3; i++)
            peer_connect(&p[i], &h,
                         caucus_server_port(h.server)); /* the fourth is away: a quorum starts at the deadline */
        while (p[0].announcements < 3)
            assert_true(peers_turn(p, 4, plan, hashed_losses, PATIENCE_MS));
        caucus_server_status now;
        caucus_server_get_status(h.server, &now);
        assert_true(now.started);
        assert_int_equal(now.present, 3);
        uint8_t presence[4];
        caucus_server_presence(h.server, presence);
        assert_int_equal(presence[3], 0);
        assert_true(presence[0] >= 1);
        peer_connect(&p[3], &h, caucus_server_port(h.server));
        peers_finish(p, 4, plan, hashed_losses);
        assert_int_equal(p[3].announcements, p[0].announcements);
        hall_wait(&h);
        leave(&h, p, 4, plan);
    }
}

/* Fewer than the quorum: the deadline passes and nothing is decided, until enough have come. */
static void test_quorum_missing(void **state) {
    (void)state;
    hall h;
    caucus_plan *plan = plan_and_hall(4, &h);
    h.settings.deadline_ms = 20;
    h.settings.quorum = 3;
    hall_open(&h);
    peer *p = open_peers(plan, 4);
    for (uint32_t i = 0; i < 2; i++)
        peer_connect(&p[i], &h, caucus_server_port(h.server));
    while (peers_turn(p, 4, plan, hashed_losses, 200)) /* welcomes, and no more */
        ;
    assert_int_equal(p[0].announcements, 0);
    peer_connect(&p[2], &h, caucus_server_port(h.server));
    while (p[2].announcements < 4)
        assert_true(peers_turn(p, 4, plan, hashed_losses, PATIENCE_MS));
    peer_disconnect(&p[1]); /* two of three left: the step stays open */
    while (peers_turn(p, 4, plan, hashed_losses, 200))
        ;
    uint32_t stuck = p[0].announcements;
    assert_false(p[0].over);
    peer_connect(&p[1], &h, caucus_server_port(h.server));
    while (p[0].announcements == stuck)
        assert_true(peers_turn(p, 4, plan, hashed_losses, PATIENCE_MS));
    hall_stop(&h);
    leave(&h, p, 4, plan);
}

/* A quorum is enough at the deadline, not before: until then everybody is waited for. WELCOME is sent after the
 * coordinator has looked whether it is to start, so what is seen after it is final. */
static void test_start_waits(void **state) {
    (void)state;
    hall h;
    caucus_plan *plan = plan_and_hall(3, &h);
    h.settings.deadline_ms = 3600000;
    h.settings.quorum = 2;
    hall_open(&h);
    peer *p = open_peers(plan, 3);
    caucus_frame frame;
    caucus_server_status now;
    for (uint32_t i = 0; i < 3; i++) {
        caucus_server_get_status(h.server, &now);
        assert_false(now.started);
        assert_int_equal(now.present, i);
        peer_connect(&p[i], &h, caucus_server_port(h.server));
        assert_int_equal(wire_receive(&p[i].wire, plan->settings.experts, &frame, PATIENCE_MS), 1);
        assert_int_equal(frame.kind, CAUCUS_FRAME_WELCOME);
    }
    while (p[0].announcements < 2)
        assert_true(peers_turn(p, 3, plan, hashed_losses, PATIENCE_MS));
    caucus_server_get_status(h.server, &now);
    assert_true(now.started);
    caucus_server_stop(h.server);
    hall_stop(&h); /* the second time: at once */
    leave(&h, p, 3, plan);
}

/* A plan that spends nothing is served like any other. */
static void test_nothing_to_spend(void **state) {
    (void)state;
    for (size_t k = 0; k < SETUPS; k++)
        for (uint32_t rounds = 1; rounds <= 2; rounds++) {
            setup small = setups[k];
            if (small.trust == CAUCUS_TRUST_NOBODY && rounds > 1)
                continue;
            small.rounds = small.algorithm == CAUCUS_ALGORITHM_STOCH ? 1 : rounds;
            small.interval = rounds;
            if (small.algorithm == CAUCUS_ALGORITHM_STOCH)
                small.interval = 1;
            federation f;
            reference(&f, &small, 2);
            assert_true(f.plan->guarantee.epsilon_choices == 0);
            hall h;
            hall_init(&h, f.plan, SEED);
            h.settings.linger_ms = 60000;
            hall_open(&h);
            peer *p = open_peers(f.plan, 2);
            for (uint32_t i = 0; i < 2; i++)
                peer_connect(&p[i], &h, caucus_server_port(h.server));
            peers_finish(p, 2, f.plan, hashed_losses);
            hall_wait(&h);
            peers_equal(p, &f);
            close_peers(p, 2);
            hall_free(&h);
            federation_close(&f);
        }
}

/* Goodbye, and the number of announcements before it. */
static uint32_t until_goodbye(peer *p, const caucus_plan *plan) {
    caucus_frame frame;
    uint32_t announcements = 0;
    for (;;) {
        assert_int_equal(wire_receive(&p->wire, plan->settings.experts, &frame, PATIENCE_MS), 1);
        if (frame.kind == CAUCUS_FRAME_GOODBYE)
            return announcements;
        announcements += frame.kind == CAUCUS_FRAME_ANNOUNCEMENT;
    }
}

/* How a stop goes, with client 1's answer in and client 2's not. */
typedef enum stopping {
    STOP_EARLY,     /* before client 2 has come: at once */
    STOP_ANSWERED,  /* client 2 answers: the step is decided, everybody hears of it */
    STOP_QUORUM,    /* at the deadline it is decided */
    STOP_DEADLINE,  /* the deadline passes without a quorum */
    STOP_UNBOUNDED, /* there is no deadline: linger is the limit */
    STOP_TWICE,     /* a second call: at once */
    STOP_ALONE,     /* all have gone: at once */
    STOPS
} stopping;

/* It has understood that it is to stop, and waits for the step. */
static void hear_waiting(void *user, const caucus_log_line *line) {
    if (strstr(line->text, "stopping when the step in hand is decided"))
        atomic_store((atomic_bool *)user, true);
}

static void stop_one(stopping how) {
    atomic_bool waits = false;
    hall h;
    caucus_plan *plan = plan_and_hall(2, &h);
    h.settings.linger_ms = how == STOP_UNBOUNDED ? 300 : 3600000; /* what must not wait would never end */
    h.settings.deadline_ms = how == STOP_QUORUM || how == STOP_DEADLINE ? 500 : 0;
    h.settings.quorum = how == STOP_QUORUM ? 1 : 0;
    h.settings.log = hear_waiting;
    h.settings.log_user = &waits;
    hall_open(&h);
    peer *p = open_peers(plan, 2);
    for (uint32_t i = 0; i < (how == STOP_EARLY ? 1u : 2u); i++)
        peer_connect(&p[i], &h, caucus_server_port(h.server));
    while (how != STOP_EARLY && p[0].items == 0)
        assert_true(peers_turn(p, 1, plan, hashed_losses, PATIENCE_MS));
    caucus_server_status now = {0};
    while (how != STOP_EARLY && now.answered == 0 && now.steps_decided == 0)
        caucus_server_get_status(h.server, &now);
    if (how == STOP_ALONE)
        for (uint32_t i = 0; i < 2; i++)
            peer_disconnect(&p[i]);
    caucus_server_stop(h.server);
    if (how == STOP_TWICE)
        caucus_server_stop(h.server);
    if (how == STOP_ANSWERED) {
        for (int tries = 0; !atomic_load(&waits); tries++) {
            assert_true(tries < PATIENCE_MS);
            usleep(1000);
        }
        while (p[1].items == 0)
            assert_true(peers_turn(p + 1, 1, plan, hashed_losses, PATIENCE_MS));
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(until_goodbye(&p[i], plan), 1); /* the decision, then goodbye */
    }
    hall_wait(&h);
    caucus_server_get_status(h.server, &now);
    if (how == STOP_ANSWERED || how == STOP_QUORUM)
        assert_int_equal(now.steps_decided, 1);
    else
        assert_int_equal(now.steps_decided, 0);
    leave(&h, p, 2, plan);
}

static void test_stop(void **state) {
    (void)state;
    for (int how = 0; how < STOPS; how++)
        stop_one((stopping)how);
}

/* The step in hand is the last: the run is over, and nobody is told to come again. */
static void test_stop_at_the_end(void **state) {
    (void)state;
    setup two_blocks = setups[4];
    two_blocks.rounds = 2 * two_blocks.interval;
    caucus_settings s = settings_of(&two_blocks, 2);
    caucus_plan *plan = NULL;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    atomic_bool waits = false;
    hall h;
    hall_init(&h, plan, SEED);
    h.settings.linger_ms = 3600000;
    h.settings.log = hear_waiting;
    h.settings.log_user = &waits;
    hall_open(&h);
    peer *p = open_peers(plan, 2);
    for (uint32_t i = 0; i < 2; i++)
        peer_connect(&p[i], &h, caucus_server_port(h.server));
    while (p[0].items == 0)
        assert_true(peers_turn(p, 1, plan, hashed_losses, PATIENCE_MS));
    caucus_server_stop(h.server);
    for (int tries = 0; !atomic_load(&waits); tries++) {
        assert_true(tries < PATIENCE_MS);
        usleep(1000);
    }
    while (p[1].items == 0)
        assert_true(peers_turn(p + 1, 1, plan, hashed_losses, PATIENCE_MS));
    caucus_frame frame;
    assert_int_equal(wire_receive(&p[0].wire, plan->settings.experts, &frame, PATIENCE_MS), 1);
    assert_int_equal(frame.kind, CAUCUS_FRAME_ANNOUNCEMENT);
    assert_int_equal(frame.announcement.ask, CAUCUS_ASK_NOTHING);
    assert_int_equal(wire_receive(&p[0].wire, plan->settings.experts, &frame, 300), -1); /* no goodbye */
    caucus_server_status now;
    caucus_server_get_status(h.server, &now);
    assert_true(now.finished);
    for (uint32_t i = 0; i < 2; i++) {
        caucus_frame goodbye = {.kind = CAUCUS_FRAME_GOODBYE, .text = "done"};
        assert_true(wire_send(&p[i].wire, &goodbye));
    }
    hall_wait(&h);
    leave(&h, p, 2, plan);
}

/* A stop says goodbye; the same directory goes on, with the same experts. */
static void test_stop_and_go_on(void **state) {
    (void)state;
    federation f;
    reference(&f, &setups[0], 3);
    hall h;
    hall_init(&h, f.plan, SEED);
    peer *p = open_peers(f.plan, f.m);
    for (uint32_t life = 0; !peers_over(p, f.m); life++) {
        hall_open(&h);
        for (uint32_t i = 0; i < f.m; i++)
            if (!p[i].over)
                peer_connect(&p[i], &h, caucus_server_port(h.server));
        uint32_t until = (life + 1) * 7;
        while (p[0].announcements < until && !peers_over(p, f.m))
            assert_true(peers_turn(p, f.m, f.plan, hashed_losses, PATIENCE_MS));
        hall_stop(&h);
        for (bool any = true; any;) { /* what was sent before goodbye, then the end */
            any = false;
            for (uint32_t i = 0; i < f.m; i++)
                any = any || p[i].connected;
            if (any)
                assert_true(peers_turn(p, f.m, f.plan, hashed_losses, PATIENCE_MS));
        }
        caucus_server_close(h.server);
        h.server = NULL;
    }
    peers_equal(p, &f);
    close_peers(p, f.m);
    hall_free(&h);
    federation_close(&f);
}

static void note_decided(void *user, const caucus_log_line *line) {
    if (line->level == 2 && strstr(line->text, " decided with "))
        atomic_fetch_add((atomic_uint *)user, 1);
}

/* How many announcements the store holds, whoever has it. */
static uint64_t kept(const hall *h) {
    caucus_store_glance seen = {0};
    assert_int_equal(caucus_store_peek(h->settings.state_dir, &seen, NULL), CAUCUS_OK);
    return seen.any ? seen.last.serial + 1 : 0;
}

/* Somebody comes as this client, and reports about the next block as if the verdict were a switch (or none). */
static void send_guess(wire_end *w, const hall *h, const federation *f, uint32_t client, bool switched) {
    const int64_t nothing = 0;
    const caucus_report report = {.kind = CAUCUS_ASK_COST,
                                  .client = client,
                                  .first = 2,
                                  .block = 2,
                                  .epoch_or_leaf = switched,
                                  .value = &nothing,
                                  .count = 1};
    const caucus_frame hello = hello_of(h, client, 1);
    caucus_frame got;
    wire_open(w, caucus_server_port(h->server));
    assert_true(wire_send(w, &hello));
    assert_int_equal(wire_receive(w, f->d, &got, PATIENCE_MS), 1);
    assert_int_equal(got.kind, CAUCUS_FRAME_WELCOME);
    assert_true(got.cost_next <= 1); /* what was counted with the verdict is not told either */
    assert_true(wire_send(w, &(caucus_frame){.kind = CAUCUS_FRAME_REPORT, .report = report}));
}

/* A verdict is committed at once and waits for its tick: until then nothing shows it, in whatever way somebody asks.
 * Stopped before the tick, the next process announces the same. */
static void test_verdict_waits_for_its_tick(void **state) {
    (void)state;
    federation f;
    reference(&f, &setups[0], 3);
    hall h;
    atomic_uint closed = 0;
    hall_init(&h, f.plan, SEED);
    h.settings.tick_ms = 1000u * 3600 * 24; /* it does not come while the test runs */
    h.settings.linger_ms = 300;
    h.settings.log = note_decided;
    h.settings.log_user = &closed;
    hall_open(&h);
    peer *p = open_peers(f.plan, f.m);
    for (uint32_t i = 0; i < f.m; i++)
        peer_connect(&p[i], &h, caucus_server_port(h.server));
    while (kept(&h) < 2)
        (void)peers_turn(p, f.m, f.plan, hashed_losses, 10);
    caucus_server_status now, later;
    caucus_announcement said[2];
    uint8_t presence[3] = {0};
    caucus_server_get_status(h.server, &now);
    assert_int_equal(now.now.serial, 0);
    assert_int_equal(now.commits, 2); /* the opening and the start: the verdict's does not show */
    assert_int_equal(caucus_server_history(h.server, 0, said, 2), 1);
    assert_int_equal(p[0].announcements, 1);
    assert_int_equal(atomic_load(&closed), 0); /* nor does the log tell */
    caucus_server_presence(h.server, presence);
    for (uint32_t i = 0; i < f.m; i++)
        assert_int_equal(presence[i], 2); /* has answered what was asked; what is asked next is not public */

    /* Reports that are right if there was a switch, and if there was none, are neither counted nor refused. Those who
     * come meanwhile are let in, so the loop has looked at both. */
    wire_end *guess = calloc(3, sizeof *guess), *other = &guess[2];
    assert_non_null(guess);
    for (uint32_t i = 0; i < 2; i++) {
        peer_disconnect(&p[i]);
        send_guess(&guess[i], &h, &f, i + 1, i == 1);
    }
    for (int i = 0; i < 4; i++) {
        const caucus_frame hello = hello_of(&h, 3, 1);
        caucus_frame got;
        peer_disconnect(&p[2]);
        wire_open(other, caucus_server_port(h.server));
        assert_true(wire_send(other, &hello));
        assert_int_equal(wire_receive(other, f.d, &got, PATIENCE_MS), 1);
        assert_int_equal(got.kind, CAUCUS_FRAME_WELCOME);
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(wire_receive(&guess[k], f.d, &got, 0), -1);
        wire_close(other);
    }
    caucus_server_get_status(h.server, &later);
    assert_int_equal(later.reports, now.reports);
    assert_int_equal(later.answered, now.answered);
    assert_int_equal(later.refused, now.refused);
    for (uint32_t i = 0; i < 2; i++)
        wire_close(&guess[i]);
    free(guess);
    hall_stop(&h);
    for (uint32_t i = 0; i < f.m; i++)
        while (p[i].connected)
            (void)peers_turn(p, f.m, f.plan, hashed_losses, PATIENCE_MS);
    assert_int_equal(p[0].announcements, 1);
    caucus_server_close(h.server);
    h.settings.tick_ms = 0;
    h.settings.linger_ms = 60000;
    hall_open(&h);
    assert_int_equal(caucus_server_history(h.server, 0, said, 2), 2); /* there it is */
    for (uint32_t i = 0; i < f.m; i++)
        peer_connect(&p[i], &h, caucus_server_port(h.server));
    peers_finish(p, f.m, f.plan, hashed_losses);
    hall_wait(&h);
    peers_equal(p, &f);
    close_peers(p, f.m);
    hall_free(&h);
    federation_close(&f);
}

/* Times that are shown are of one clock of whole tenths: they change together. Each cut by itself would change at a
 * moment of its own, and whoever asks often would learn to the millisecond when the step began. */
static void test_times_in_tenths(void **state) {
    (void)state;
    federation f;
    reference(&f, &setups[0], 3);
    hall h;
    hall_init(&h, f.plan, SEED);
    hall_open(&h);
    caucus_server_status now;
    caucus_server_get_status(h.server, &now);
    const double first = now.uptime_seconds, apart = now.uptime_seconds - now.seconds_in_step;
    do {
        caucus_server_get_status(h.server, &now);
        assert_true(now.uptime_seconds * 10 == rint(now.uptime_seconds * 10));
        assert_true(now.seconds_in_step * 10 == rint(now.seconds_in_step * 10));
        assert_true(fabs(now.uptime_seconds - now.seconds_in_step - apart) < 0.01);
    } while (now.uptime_seconds < first + 0.35);
    hall_stop(&h);
    hall_free(&h);
    federation_close(&f);
}

/* ---- killed at a commit ---- */

/* A coordinator in a process of its own, which dies at commit number n of its life, or cannot make files longer than
 * `limit`. */
static pid_t spawn(hall *h, uint64_t n, bool after, rlim_t limit, uint16_t *ret_port) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = forked();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        h->settings.fault_commit = n;
        h->settings.fault_after = after;
        caucus_server *server = NULL;
        if (caucus_server_open(&h->settings, &server, NULL) != CAUCUS_OK)
            _exit(2);
        if (limit != 0) {
            struct rlimit files = {limit, limit};
            signal(SIGXFSZ, SIG_IGN);
            if (setrlimit(RLIMIT_FSIZE, &files) != 0)
                _exit(4);
        }
        uint16_t port = caucus_server_port(server);
        if (write(ends[1], &port, sizeof port) != (ssize_t)sizeof port)
            _exit(3);
        _exit(caucus_server_run(server, NULL) == CAUCUS_OK ? 0 : 1);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], ret_port, sizeof *ret_port);
    close(ends[0]);
    if (got == (ssize_t)sizeof *ret_port)
        return child;
    int status = 0; /* it died before it could listen: at its very first commit */
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return 0;
}

/* Take part until the coordinator is gone, and say how it went. */
static int follow(peer *p, const federation *f, const hall *h, pid_t child, uint16_t port) {
    for (uint32_t i = 0; i < f->m; i++)
        if (!p[i].over)
            peer_connect(&p[i], h, port);
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = 0; i < f->m; i++)
            any = any || p[i].connected;
        if (any)
            assert_true(peers_turn(p, f->m, f->plan, hashed_losses, PATIENCE_MS));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Kill it again and again, at the n-th commit of each life. */
static void kill_again(const federation *f, uint64_t n, bool after) {
    hall h;
    hall_init(&h, f->plan, SEED);
    h.settings.loops = 1;
    peer *p = open_peers(f->plan, f->m);
    uint32_t kills = 0;
    while (!peers_over(p, f->m)) {
        assert_true(kills < 1000);
        uint16_t port = 0;
        pid_t child = spawn(&h, n, after, 0, &port);
        if (child == 0) {
            kills++;
            continue;
        }
        int status = follow(p, f, &h, child, port);
        bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        assert_true(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
        kills += killed;
    }
    peers_equal(p, f);
    assert_true(kills > 2);
    caucus_ledger *ledger = NULL;
    assert_int_equal(caucus_store_open_ledger(h.dir, &ledger, NULL), CAUCUS_OK);
    caucus_ledger_totals totals = caucus_ledger_totals_of(ledger);
    assert_true(totals.any_seeded);
    assert_int_equal(totals.runs, 1);
    assert_true(totals.released_choices > 0 &&
                totals.released_choices <= f->plan->guarantee.epsilon_choices * (1 + 1e-6));
    caucus_ledger_free(ledger);
    close_peers(p, f->m);
    hall_free(&h);
}

static void test_killed(void **state) {
    (void)state;
    for (size_t k = 0; k < SETUPS; k++) {
        setup small = setups[k];
        small.rounds = small.algorithm == CAUCUS_ALGORITHM_STOCH ? 64 : 24;
        small.interval = small.algorithm == CAUCUS_ALGORITHM_STOCH ? 1 : 2;
        federation f;
        reference(&f, &small, 3);
        kill_again(&f, 1, true);  /* every decision is kept and never told */
        kill_again(&f, 2, false); /* every second decision is lost before it is kept */
        federation_close(&f);
    }
}

/* A full disk: the decision that cannot be kept is not told; with room again the run goes on as if nothing had
 * happened. No file may have a sixth page: a log that is full is emptied, a database that must grow ends the run. */
static void test_disk_full(void **state) {
    (void)state;
    setup small = setups[0];
    small.rounds = 40;
    small.interval = 1;
    federation f;
    reference(&f, &small, 3);
    hall h;
    hall_init(&h, f.plan, SEED);
    peer *p = open_peers(f.plan, f.m);
    uint16_t port = 0;
    pid_t child = spawn(&h, 0, false, 22 << 10, &port);
    int status = follow(p, &f, &h, child, port);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_false(peers_over(p, f.m));
    assert_true(p[0].announcements > 0);
    child = spawn(&h, 0, false, 0, &port);
    status = follow(p, &f, &h, child, port);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(peers_over(p, f.m));
    peers_equal(p, &f);
    close_peers(p, f.m);
    hall_free(&h);
    federation_close(&f);
}

/* ---- commits of which nobody can tell whether they were made ---- */

static void note_unknown(void *user, const caucus_log_line *line) {
    if (line->level == 0 && strstr(line->text, "nothing is announced until it is"))
        atomic_fetch_add((atomic_uint *)user, 1);
}

/* Every third change of the store has an unknown outcome, made or not by turns: found out each time, and clients hear
 * what they hear in an undisturbed run, no serial twice (peers_equal). */
static void test_unknown_outcomes(void **state) {
    (void)state;
    for (size_t k = 0; k < SETUPS - 1; k++) {
        federation f;
        reference(&f, &setups[k], 5);
        hall h;
        atomic_uint unknown = 0;
        hall_init(&h, f.plan, SEED);
        h.settings.linger_ms = 60000;
        h.settings.backend = unsure_over(&caucus_store_sqlite);
        h.settings.log = note_unknown;
        h.settings.log_user = &unknown;
        unsure_every = 3;
        hall_open(&h);
        peer *p = open_peers(f.plan, f.m);
        for (uint32_t i = 0; i < f.m; i++)
            peer_connect(&p[i], &h, caucus_server_port(h.server));
        peers_finish(p, f.m, f.plan, hashed_losses);
        hall_wait(&h);
        peers_equal(p, &f);
        caucus_server_status now;
        caucus_server_get_status(h.server, &now);
        assert_true(now.finished);
        assert_int_equal(now.steps_decided, f.announcements);
        assert_int_equal(now.commits, f.announcements + 2);
        assert_true(atomic_load(&unknown) >= f.announcements / 3);
        assert_int_equal(now.unknown_outcomes, atomic_load(&unknown));
        assert_true(now.term > now.unknown_outcomes); /* each was found out under a term of its own */
        close_peers(p, f.m);
        hall_free(&h);
        federation_close(&f);
    }
}

/* It cannot be found out: the process ends without a word, and the next one knows. */
static void test_unknown_to_the_end(void **state) {
    (void)state;
    setup small = setups[0];
    small.rounds = 30;
    federation f;
    reference(&f, &small, 3);
    hall h;
    hall_init(&h, f.plan, SEED);
    h.settings.loops = 1;
    peer *p = open_peers(f.plan, f.m);
    uint32_t ends = 0;
    while (!peers_over(p, f.m)) {
        assert_true(ends < 100);
        h.settings.backend = unsure_over(&caucus_store_sqlite);
        unsure_every = 6 + ends % 2;                  /* in the child */
        unsure_changes = ends % 2 ? unsure_every : 0; /* by turns made and not made */
        unsure_settles = UINT32_MAX;
        uint16_t port = 0;
        pid_t child = spawn(&h, 0, false, 0, &port);
        int status = follow(p, &f, &h, child, port);
        assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 1));
        ends += WEXITSTATUS(status) == 1;
    }
    assert_true(ends >= 2);
    peers_equal(p, &f);
    close_peers(p, f.m);
    hall_free(&h);
    federation_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed), /* forks: before there are threads */
        cmocka_unit_test(test_unknown_to_the_end),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_unknown_outcomes),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_reconnects),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_quorum_missing),
        cmocka_unit_test(test_stop_and_go_on),
        cmocka_unit_test(test_start_waits),
        cmocka_unit_test(test_nothing_to_spend),
        cmocka_unit_test(test_verdict_waits_for_its_tick),
        cmocka_unit_test(test_times_in_tenths),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
