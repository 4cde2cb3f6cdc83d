/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_wipe.c: a coordinator at work wipes each epoch off its state's directory once the next has begun, without
 * being asked or stopped, and the last one at the end. Runs are seeded, so the test knows every epoch's key. And what
 * it held of its clients' reports is blank when it goes. */
#define _GNU_SOURCE /* memmem */
#include "net/server_testing.h"

#include <malloc.h>

#include "net/loop.h"

#include <inttypes.h>

#include "store/store_testing.h"

#define SEED 11
#define CLIENTS 4

/* ---- memory: no report's values are left in what a closed server gives back ---- */

#define VALUES_BYTES 16 /* the last two values of a vector: nothing else says the same */

static uint8_t values[CLIENTS * MAX_ITEMS][VALUES_BYTES];
static size_t values_count, values_left;
static bool watching;

void __real_free(void *memory);
void __wrap_free(void *memory);

static bool holds_values(const void *memory, size_t size) {
    for (size_t i = 0; i < values_count; i++)
        if (memmem(memory, size, values[i], VALUES_BYTES))
            return true;
    return false;
}

void __wrap_free(void *memory) {
    if (watching && memory && holds_values(memory, malloc_usable_size(memory)))
        values_left++;
    __real_free(memory);
}

static void close_watched(hall *h, const peer *p) {
    values_count = values_left = 0;
    for (uint32_t i = 0; i < CLIENTS; i++)
        for (uint32_t k = 0; k < p[i].items; k++)
            if (p[i].sent[k].kind != CAUCUS_ASK_COST && p[i].sent[k].kind != CAUCUS_ASK_VOTE)
                memcpy(values[values_count++], p[i].sent[k].bytes + p[i].sent[k].size - VALUES_BYTES, VALUES_BYTES);
    bool there = false; /* to be found */
    for (uint32_t i = 0; i < h->server->loops; i++)
        there = there || holds_values(h->server->loop[i]->arena, CAUCUS_ARENA_BYTES);
    assert_true(there);
    watching = true;
    caucus_server_close(h->server);
    watching = false;
    h->server = NULL;
    print_message("%zu vectors came\n", values_count);
    assert_int_equal(values_left, 0);
}

/* ---- the store: no key of an epoch that is over is left in its files ---- */

static caucus_plan *plan_of(caucus_algorithm algorithm) {
    caucus_settings s;
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.clients = CLIENTS;
    s.experts = 12;
    s.rounds = 60;
    s.interval = algorithm == CAUCUS_ALGORITHM_STOCH ? 1 : 2;
    s.epsilon = 30;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    return plan;
}

static bool holds_key(const hall *h, const caucus_key *run, uint64_t epoch) {
    caucus_key key;
    caucus_key_epoch(run, epoch, &key);
    return dir_holds(h->dir, key.bytes, sizeof key.bytes) > 0;
}

/* It is wiped after the news has been sent: soon, not at once. */
static void expect_wiped(const hall *h, const caucus_key *run, uint64_t epoch) {
    for (int tries = 0; tries < PATIENCE_MS / 5; tries++) {
        if (!holds_key(h, run, epoch))
            return;
        (void)poll(NULL, 0, 5);
    }
    fail_msg("the key of epoch %llu stays in %s", (unsigned long long)epoch, h->dir);
}

static void losses(uint32_t client, uint32_t round, uint32_t d, double *ret) {
    hashed_losses(client, round, d, ret);
    for (uint32_t y = 0; y < d; y++)
        ret[y] = y == round / 10 % d ? 0 : 0.3 + ret[y] / 2;
}

static void run_wiped(caucus_algorithm algorithm) {
    caucus_plan *plan = plan_of(algorithm);
    hall h;
    hall_init(&h, plan, SEED);
    h.settings.linger_ms = 60000;
    caucus_key run = h.settings.key;
    hall_open(&h);
    assert_true(holds_key(&h, &run, 0)); /* what the test looks for is there to be found */
    static peer p[CLIENTS];
    for (uint32_t i = 0; i < CLIENTS; i++) {
        peer_open(&p[i], plan, SEED, i + 1);
        peer_connect(&p[i], &h, caucus_server_port(h.server));
    }
    uint64_t wiped = 0, seen = 1;
    while (!peers_over(p, CLIENTS)) {
        if (!peers_turn(p, CLIENTS, plan, losses, PATIENCE_MS))
            fail_msg("the federation hangs");
        caucus_server_status now;
        caucus_server_get_status(h.server, &now);
        for (; wiped < now.selections; wiped++)
            expect_wiped(&h, &run, wiped);
        seen += now.selections >= seen && holds_key(&h, &run, now.selections);
    }
    hall_wait(&h); /* the store is still open: nothing is due to its closing */
    caucus_server_status now;
    caucus_server_get_status(h.server, &now);
    print_message("%" PRIu64 " epochs, the keys of %" PRIu64 " were seen\n", now.selections, seen);
    assert_true(now.selections >= 3 && seen >= 2);
    for (uint32_t epoch = 0; epoch <= now.selections; epoch++)
        assert_false(holds_key(&h, &run, epoch));
    assert_int_equal(dir_holds(h.dir, run.bytes, sizeof run.bytes), 0);
    close_watched(&h, p);
    for (uint32_t i = 0; i < CLIENTS; i++)
        peer_close(&p[i]);
    hall_free(&h);
    caucus_plan_free(plan);
}

static void test_wiped(void **state) {
    (void)state;
    run_wiped(CAUCUS_ALGORITHM_SVT);
    run_wiped(CAUCUS_ALGORITHM_HEDGE);
    run_wiped(CAUCUS_ALGORITHM_STOCH);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wiped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
