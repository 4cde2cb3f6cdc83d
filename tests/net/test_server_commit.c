/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_commit.c: a commit that does not come back (a disk that hangs, a standby that does not answer): who looks
 * and who joins is answered meanwhile, nothing is counted, announced or told that depends on the verdict, and the run
 * goes on as if nothing had happened when it does come back. */
#include "net/http.h"
#include "net/server_testing.h"
#include "store/unsure.h" /* tests/store */
#include "testing_settings.h"

#include <semaphore.h>
#include <stdatomic.h>

#define SEED 13

static unsigned changes, hang_at;
static atomic_bool hangs;
static sem_t go_on;

/* In front of every change of the store; always the same thread, or before there are others. */
static void hang(void) {
    unsure_before_change = hang;
    if (++changes != hang_at)
        return;
    atomic_store(&hangs, true);
    while (sem_wait(&go_on) != 0)
        continue;
    atomic_store(&hangs, false);
}

typedef struct fleet {
    federation f; /* the undisturbed run */
    hall h;
    peer *p;
} fleet;

/* The run until the change before which the store hangs is wanted. */
static void fleet_open(fleet *x, caucus_algorithm algorithm, uint32_t loops, unsigned at) {
    caucus_settings s = testing_settings(algorithm, CAUCUS_TRUST_COORDINATOR, 3, 8, 32, 20);
    federation_open(&x->f, &s, SEED);
    federation_play(&x->f, hashed_losses);
    hall_init(&x->h, x->f.plan, SEED);
    x->h.settings.linger_ms = 60000;
    x->h.settings.loops = loops;
    x->h.settings.backend = unsure_over(&caucus_store_sqlite);
    unsure_before_change = hang;
    changes = 0;
    hang_at = at;
    assert_int_equal(sem_init(&go_on, 0, 0), 0);
    hall_open(&x->h);
    x->p = calloc(x->f.m, sizeof *x->p);
    assert_non_null(x->p);
    for (uint32_t i = 0; i < x->f.m; i++) {
        peer_open(&x->p[i], x->f.plan, SEED, i + 1);
        peer_connect(&x->p[i], &x->h, caucus_server_port(x->h.server));
    }
    for (int turns = 0; !atomic_load(&hangs); turns++) {
        assert_true(turns < PATIENCE_MS);
        (void)peers_turn(x->p, x->f.m, x->f.plan, hashed_losses, 1);
    }
}

/* It comes back: the rest of the run is as ever. */
static void fleet_close(fleet *x) {
    assert_int_equal(sem_post(&go_on), 0);
    for (uint32_t i = 0; i < x->f.m; i++)
        if (!x->p[i].connected && !x->p[i].over)
            peer_connect(&x->p[i], &x->h, caucus_server_port(x->h.server));
    peers_finish(x->p, x->f.m, x->f.plan, hashed_losses);
    hall_wait(&x->h);
    peers_equal(x->p, &x->f);
    for (uint32_t i = 0; i < x->f.m; i++)
        peer_close(&x->p[i]);
    free(x->p);
    hall_free(&x->h);
    federation_close(&x->f);
    assert_int_equal(sem_destroy(&go_on), 0);
}

/* Wait until the commit takes so long that clients are not read any more. Returns what is shown then. */
static caucus_server_status while_it_hangs(fleet *x) {
    caucus_server_status now = {0};
    for (int tries = 0; now.committing_seconds < 0.3; tries++) {
        assert_true(tries < PATIENCE_MS);
        assert_true(caucus_server_try_status(x->h.server, PATIENCE_MS, &now, NULL));
        (void)poll(NULL, 0, 1);
    }
    return now;
}

/* Somebody joins as this client. Returns the connection; *ret_welcome: what it is told. */
static wire_end *join_again(fleet *x, uint32_t client, caucus_frame *ret_welcome) {
    wire_end *w = calloc(1, sizeof *w);
    caucus_frame hello = hello_of(&x->h, client, caucus_client_heard(x->p[client - 1].client));
    assert_non_null(w);
    peer_disconnect(&x->p[client - 1]);
    wire_open(w, caucus_server_port(x->h.server));
    assert_true(wire_send(w, &hello));
    assert_int_equal(wire_receive(w, x->f.d, ret_welcome, PATIENCE_MS), 1);
    assert_int_equal(ret_welcome->kind, CAUCUS_FRAME_WELCOME);
    return w;
}

static void leave(wire_end *w) {
    wire_close(w);
    free(w);
}

/* Of a decision that hangs nothing is seen, and everybody is let in. at: the opening and the start are the first. */
static void hang_one(caucus_algorithm algorithm, uint32_t loops, unsigned at) {
    fleet x;
    caucus_frame welcome, got;
    caucus_announcement said[2];
    fleet_open(&x, algorithm, loops, at);
    const caucus_server_status now = while_it_hangs(&x);
    const uint64_t serial = at - 3;
    assert_int_equal(now.now.serial, serial);
    assert_int_equal(now.steps_decided, serial);
    assert_int_equal(caucus_server_history(x.h.server, serial, said, 2), serial + 1);
    assert_int_equal(now.commits, at - 1);

    /* One of them guesses that the verdict is a switch: whether its report is wrong would tell. */
    wire_end *guess = join_again(&x, 1, &welcome);
    const int64_t nothing = 0;
    const caucus_report report = {.kind = CAUCUS_ASK_COST,
                                  .client = 1,
                                  .first = now.now.block + 1,
                                  .block = now.now.block + 1,
                                  .epoch_or_leaf = now.now.epoch + 1,
                                  .value = &nothing,
                                  .count = 1};
    assert_true(wire_send(guess, &(caucus_frame){.kind = CAUCUS_FRAME_REPORT, .report = report}));
    /* Whoever comes after it, to any of the loops, is answered: the guess is not what they are at. */
    for (uint32_t i = 0; i < 4 * loops; i++)
        leave(join_again(&x, 2, &welcome));
    assert_int_equal(wire_receive(guess, x.f.d, &got, 0), -1);
    /* What was sent before the decision is not known to be counted yet. */
    assert_true((now.now.ask == CAUCUS_ASK_COST ? welcome.cost_next : welcome.sums_next) <= now.now.block);
    leave(guess);
    fleet_close(&x);
}

static void test_decision_hangs(void **state) {
    (void)state;
    for (uint32_t loops = 1; loops <= 2; loops++) {
        hang_one(CAUCUS_ALGORITHM_SVT, loops, 2 + loops);
        hang_one(CAUCUS_ALGORITHM_STOCH, loops, 2 + loops);
    }
}

/* That the run has begun cannot be kept: nothing is announced, and who comes is let in. */
static void test_start_hangs(void **state) {
    (void)state;
    fleet x;
    caucus_frame welcome;
    fleet_open(&x, CAUCUS_ALGORITHM_SVT, 1, 2);
    const caucus_server_status now = while_it_hangs(&x);
    assert_false(now.started);
    wire_end *w = join_again(&x, 3, &welcome);
    assert_int_equal(x.p[0].announcements, 0);
    leave(w);
    fleet_close(&x);
}

/* Asked to stop meanwhile, it waits for the commit, tells everybody, has the step after it decided, and goes. */
static void test_stopped_meanwhile(void **state) {
    (void)state;
    fleet x;
    fleet_open(&x, CAUCUS_ALGORITHM_SVT, 2, 3);
    (void)while_it_hangs(&x);
    caucus_server_stop(x.h.server);
    assert_int_equal(sem_post(&go_on), 0);
    for (uint32_t i = 0; i < x.f.m; i++)
        while (x.p[i].connected)
            assert_true(peers_turn(x.p, x.f.m, x.f.plan, hashed_losses, PATIENCE_MS));
    hall_wait(&x.h);
    assert_true(x.p[0].announcements >= 2);
    caucus_server_close(x.h.server);
    hang_at = 0;
    hall_open(&x.h);
    fleet_close(&x);
}

/* Pages and probes are answered, and say what is the matter. */
static void test_page(void **state) {
    (void)state;
    fleet x;
    caucus_http *http = NULL;
    fleet_open(&x, CAUCUS_ALGORITHM_SVT, 1, 3);
    const caucus_http_settings settings = {
        .listen = "127.0.0.1:0", .plan = x.f.plan, .plan_hash = x.h.settings.plan_hash};
    assert_int_equal(caucus_http_open(x.h.server, &settings, &http, NULL), CAUCUS_OK);
    static const char *const path[] = {"/", "/metrics", "/api/v1/status", "/readyz"};
    static const char *const says[] = {"Waiting for a commit", "caucus_committing_seconds ", "\"committing_seconds\"",
                                       "busy: one decision is being committed"};
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        char answer[1 << 16] = "";
        for (int tries = 0; !strstr(answer, says[i]); tries++) { /* a second has to pass first */
            assert_true(tries < 200);
            (void)poll(NULL, 0, 100);
            wire_end *w = calloc(1, sizeof *w);
            assert_non_null(w);
            wire_open(w, caucus_http_port(http));
            char ask[128];
            const int length = snprintf(ask, sizeof ask, "GET %s HTTP/1.0\r\n\r\n", path[i]);
            assert_true(wire_send_bytes(w, ask, (size_t)length));
            size_t used = 0;
            for (ssize_t n; (n = recv(w->fd, answer + used, sizeof answer - 1 - used, 0)) > 0;)
                used += (size_t)n;
            answer[used] = 0;
            leave(w);
        }
    }
    caucus_http_close(http);
    fleet_close(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decision_hangs),
        cmocka_unit_test(test_start_hangs),
        cmocka_unit_test(test_stopped_meanwhile),
        cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
