/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_loops.c: several loops count at once. Clients change their loop in the middle of everything, and send the
 * same item by two connections at the same time: it is counted once, and the experts are those of one process. */
#include "net/server_testing.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "net/loop.h"
#include "testing_settings.h"

#define SEED 11
#define CLIENTS 8
#define LOOPS 4
#define GHOSTS 3 /* connections that a client has left behind, still open */

typedef struct mover {
    int ghost[GHOSTS];
    uint32_t next, moves;
} mover;

static void forget(mover *g) {
    for (uint32_t i = 0; i < GHOSTS; i++) {
        if (g->ghost[i] >= 0)
            close(g->ghost[i]);
        g->ghost[i] = -1;
    }
}

/* Whatever it sent last, without waiting to be asked. */
static void send_last(const peer *p, int fd) {
    if (p->items == 0)
        return;
    const item *last = &p->sent[p->items - 1];
    (void)!send(fd, last->bytes, last->size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Connect again, to whichever loop accepts, and leave the old connection open; the last item goes by both at once. */
static void move(peer *p, mover *g, const hall *h) {
    int *ghost = &g->ghost[g->next++ % GHOSTS];
    if (*ghost >= 0)
        close(*ghost);
    *ghost = p->wire.fd;
    p->wire.fd = -1;
    send_last(p, *ghost);
    peer_connect(p, h, caucus_server_port(h->server));
    send_last(p, p->wire.fd);
    send_last(p, *ghost);
    g->moves++;
}

/* Somebody looks at the numbers all the time. */
typedef struct watcher {
    pthread_t thread;
    caucus_server *server;
    atomic_bool stop;
    uint32_t odd;
} watcher;

static void *watch(void *user) {
    watcher *w = user;
    while (!atomic_load(&w->stop)) {
        uint8_t presence[CLIENTS];
        caucus_server_status now;
        caucus_server_get_status(w->server, &now);
        caucus_server_presence(w->server, presence);
        w->odd += now.answered > CLIENTS || now.present > CLIENTS;
        for (uint32_t i = 0; i < CLIENTS; i++)
            w->odd += presence[i] > 2;
        usleep(200);
    }
    return NULL;
}

static caucus_settings settings_of(caucus_algorithm algorithm, caucus_message message) {
    caucus_settings s =
        testing_settings(algorithm, message == CAUCUS_MESSAGE_AUTO ? CAUCUS_TRUST_COORDINATOR : CAUCUS_TRUST_NOBODY,
                         CLIENTS, 12, algorithm == CAUCUS_ALGORITHM_STOCH ? 512 : 240, 20);
    s.message = message;
    return s;
}

/* All of them have joined. Nobody answers before that, so with a clock, too, nothing is decided without them. */
static void join(hall *h, peer *p, const caucus_plan *plan) {
    for (uint32_t i = 0; i < CLIENTS; i++) {
        peer_open(&p[i], plan, SEED, i + 1);
        peer_connect(&p[i], h, caucus_server_port(h->server));
    }
    for (uint32_t tries = 0;; tries++) {
        caucus_server_status now;
        caucus_server_get_status(h->server, &now);
        if (now.present == CLIENTS)
            return;
        if (tries == PATIENCE_MS)
            fail_msg("%u of %u have joined", now.present, CLIENTS);
        usleep(1000);
    }
}

/* Play to the end; somebody moves every turn. Returns: moves. */
static uint32_t play(hall *h, peer *p, const caucus_plan *plan) {
    mover movers[CLIENTS];
    memset(movers, -1, sizeof movers);
    for (uint32_t i = 0; i < CLIENTS; i++)
        movers[i].next = movers[i].moves = 0;
    join(h, p, plan);
    watcher w = {.server = h->server};
    assert_int_equal(pthread_create(&w.thread, NULL, watch, &w), 0);
    for (uint32_t turn = 0; !peers_over(p, CLIENTS); turn++) {
        for (uint32_t i = 0; i < CLIENTS; i++)
            if (!p[i].connected && !p[i].over)
                peer_connect(&p[i], h, caucus_server_port(h->server));
        if (!peers_turn(p, CLIENTS, plan, hashed_losses, PATIENCE_MS))
            fail_msg("the federation hangs: client 1 has heard %u announcements", p[0].announcements);
        uint32_t who = turn % CLIENTS;
        if (p[who].connected)
            move(&p[who], &movers[who], h);
    }
    uint32_t moves = 0;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        moves += movers[i].moves;
        forget(&movers[i]);
    }
    hall_wait(h);
    atomic_store(&w.stop, true);
    assert_int_equal(pthread_join(w.thread, NULL), 0);
    assert_int_equal(w.odd, 0);
    for (uint32_t i = 0; i < LOOPS; i++) /* by chance one of them had no connection at all: below 1e-6 */
        assert_true(moves < 60 || h->server->loop[i]->bytes_in > 0);
    return moves;
}

static void open_hall(hall *h, const caucus_plan *plan) {
    hall_init(h, plan, SEED);
    h->settings.loops = LOOPS;
    h->settings.linger_ms = 60000; /* it ends because all have gone */
    h->settings.max_clients = 4096;
}

static void close_hall(hall *h, peer *p) {
    for (uint32_t i = 0; i < CLIENTS; i++)
        peer_close(&p[i]);
    free(p);
    hall_free(h);
}

static const struct {
    const char *name;
    caucus_algorithm algorithm;
    caucus_message message;
} kinds[] = {{"svt", CAUCUS_ALGORITHM_SVT, CAUCUS_MESSAGE_AUTO},
             {"hedge", CAUCUS_ALGORITHM_HEDGE, CAUCUS_MESSAGE_AUTO},
             {"stoch", CAUCUS_ALGORITHM_STOCH, CAUCUS_MESSAGE_AUTO},
             {"vote", CAUCUS_ALGORITHM_STOCH, CAUCUS_MESSAGE_VOTE},
             {"shortlist", CAUCUS_ALGORITHM_STOCH, CAUCUS_MESSAGE_SHORTLIST}};
#define KINDS (sizeof kinds / sizeof kinds[0])

static void test_moves(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        caucus_settings s = settings_of(kinds[k].algorithm, kinds[k].message);
        federation f;
        federation_open(&f, &s, SEED);
        federation_play(&f, hashed_losses);
        hall h;
        open_hall(&h, f.plan);
        hall_open(&h);
        peer *p = calloc(CLIENTS, sizeof *p);
        assert_non_null(p);
        uint32_t moves = play(&h, p, f.plan);
        peers_equal(p, &f);
        caucus_server_status now;
        caucus_server_get_status(h.server, &now);
        assert_int_equal(now.steps_decided, f.announcements);
        assert_int_equal(now.selections, caucus_coordinator_selections(f.coordinator));
        assert_int_equal(now.scalars_up, f.scalars_up); /* every item was counted once */
        assert_true(moves > f.announcements);
        uint32_t again = 0;
        for (uint32_t i = 0; i < CLIENTS; i++)
            again += p[i].again;
        print_message("%s: %" PRIu64 " steps, %u moves, %llu reports counted, %u came again\n", kinds[k].name,
                      now.steps_decided, moves, (unsigned long long)now.reports, again);
        assert_int_equal(now.reports, (uint64_t)CLIENTS * f.announcements);
        assert_true(again > 0);
        assert_int_equal(now.refused, 0); /* who comes again is nobody to worry about */
        close_hall(&h, p);
        federation_close(&f);
    }
}

/* The same with a clock that decides steps while answers come in: who is counted when is chance, but all of them play
 * the same experts and nobody waits for ever. */
static void test_deadline(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        caucus_settings s = settings_of(kinds[k].algorithm, kinds[k].message);
        caucus_plan *plan = NULL;
        assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
        hall h;
        open_hall(&h, plan);
        h.settings.deadline_ms = 5;
        h.settings.quorum = CLIENTS / 2;
        hall_open(&h);
        peer *p = calloc(CLIENTS, sizeof *p);
        assert_non_null(p);
        play(&h, p, plan);
        for (uint32_t i = 1; i < CLIENTS; i++)
            assert_memory_equal(p[i].expert, p[0].expert, s.rounds * sizeof *p[0].expert);
        close_hall(&h, p);
        caucus_plan_free(plan);
    }
}

int main(void) {
    (void)signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moves), cmocka_unit_test(test_deadline)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
