/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_claims.c: clients that have heard more than is committed: each is told to come again, no step is decided
 * while one of them stands by it, and enough of them mean that this state is an older copy. */
#include "net/server_testing.h"
#include "testing_settings.h"

#define SEED 11

typedef struct fleet {
    federation f; /* the undisturbed run */
    hall h;
    peer *p;
} fleet;

static void fleet_open(fleet *x, uint32_t clients, bool ignore) {
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, clients, 8, 40, 20);
    federation_open(&x->f, &s, SEED);
    federation_play(&x->f, hashed_losses);
    hall_init(&x->h, x->f.plan, SEED);
    x->h.settings.linger_ms = 60000;
    x->h.settings.ignore_claims = ignore;
    hall_open(&x->h);
    x->p = calloc(clients, sizeof *x->p);
    assert_non_null(x->p);
    for (uint32_t i = 0; i < clients; i++)
        peer_open(&x->p[i], x->f.plan, SEED, i + 1);
}

static void fleet_close(fleet *x) {
    for (uint32_t i = 0; i < x->f.m; i++)
        peer_close(&x->p[i]);
    free(x->p);
    hall_free(&x->h);
    federation_close(&x->f);
}

static void join(fleet *x, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++)
        peer_connect(&x->p[i], &x->h, caucus_server_port(x->h.server));
}

/* Somebody with this client's name says that it has heard so much. Returns how it is refused. */
static uint32_t claim(fleet *x, uint32_t client, uint64_t heard) {
    wire_end *w = calloc(1, sizeof *w);
    caucus_frame got, hello = hello_of(&x->h, client, heard);
    assert_non_null(w);
    wire_open(w, caucus_server_port(x->h.server));
    assert_true(wire_send(w, &hello));
    assert_int_equal(wire_receive(w, x->f.d, &got, PATIENCE_MS), 1);
    assert_int_equal(got.kind, CAUCUS_FRAME_REFUSAL);
    const uint32_t code = got.code;
    wire_close(w);
    free(w);
    return code;
}

static caucus_server_status status_of(fleet *x) {
    caucus_server_status now;
    caucus_server_get_status(x->h.server, &now);
    return now;
}

/* Everybody is there and answers; only the claim keeps the step open, until the client comes as it is. */
static void no_step_is_decided_meanwhile(void **state) {
    (void)state;
    fleet x;
    fleet_open(&x, 5, false);
    join(&x, 0, 5);
    while (x.p[0].announcements < 3)
        assert_true(peers_turn(x.p, 5, x.f.plan, hashed_losses, PATIENCE_MS));
    assert_int_equal(claim(&x, 5, 1000), CAUCUS_REFUSAL_LATER);
    caucus_server_status then = status_of(&x), now;
    assert_int_equal(then.rollback_claims, 1);
    assert_false(then.rolled_back);
    for (int tries = 0; tries < 2; tries++) { /* the first time a decision from before the claim may yet be announced */
        then = status_of(&x);
        for (int i = 0; i < 20; i++) /* whatever is still on its way comes, and whatever is due is sent */
            (void)peers_turn(x.p, 5, x.f.plan, hashed_losses, 20);
        now = status_of(&x);
    }
    assert_int_equal(now.now.serial, then.now.serial);
    assert_int_equal(now.answered, 5);
    assert_int_equal(claim(&x, 5, 1001), CAUCUS_REFUSAL_LATER); /* the same one again is no second */
    assert_int_equal(status_of(&x).rollback_claims, 1);
    peer_disconnect(&x.p[4]);
    join(&x, 4, 5);
    peers_finish(x.p, 5, x.f.plan, hashed_losses);
    hall_wait(&x.h);
    assert_int_equal(status_of(&x).rollback_claims, 0);
    peers_equal(x.p, &x.f);
    fleet_close(&x);
}

/* Two different ones, or one in a fleet of fewer than four. */
static void enough_of_them_are_believed(void **state) {
    (void)state;
    const struct { uint32_t clients, enough; } cases[] = {{1, 1}, {2, 1}, {3, 1}, {4, 2}, {5, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        fleet x;
        fleet_open(&x, cases[k].clients, false);
        for (uint32_t i = 1; i <= cases[k].enough; i++) {
            assert_false(status_of(&x).rolled_back);
            assert_int_equal(claim(&x, i, 4), CAUCUS_REFUSAL_LATER);
            assert_int_equal(status_of(&x).rollback_claims, i);
        }
        assert_true(status_of(&x).rolled_back);
        assert_false(status_of(&x).started);
        caucus_server_stop(x.h.server);
        assert_int_equal(pthread_join(x.h.thread, NULL), 0);
        assert_int_equal(x.h.status, CAUCUS_E_ROLLED_BACK);
        assert_non_null(strstr(x.h.error.text, "this state is an older copy"));
        fleet_close(&x);
    }
}

/* A person knows better: they are refused for good, and the others play on. */
static void a_person_knows_better(void **state) {
    (void)state;
    fleet x;
    fleet_open(&x, 3, true);
    assert_int_equal(claim(&x, 1, 4), CAUCUS_REFUSAL_ORDER);
    assert_int_equal(claim(&x, 2, 4), CAUCUS_REFUSAL_ORDER);
    assert_int_equal(status_of(&x).rollback_claims, 0);
    join(&x, 0, 3);
    peers_finish(x.p, 3, x.f.plan, hashed_losses);
    hall_wait(&x.h);
    peers_equal(x.p, &x.f);
    fleet_close(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_is_decided_meanwhile),
        cmocka_unit_test(enough_of_them_are_believed),
        cmocka_unit_test(a_person_knows_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
