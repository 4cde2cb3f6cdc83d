/* SPDX-License-Identifier: Apache-2.0 */
/* test_epoch.c: whose noise it is. A verdict that was computed and thrown away comes out the same from the saved state,
 * whatever key the next process has; the next epoch's noise is that process's own; no stream serves two decisions; and
 * at the end nothing is left. docs/PRIVACY.md, statement 28. */
#include "algo/federation.h"

#include <sodium.h>
#include <stdio.h>

#include "algo/coordinator.h"
#include "algo/pack.h"
#include "algo/schedule.h"
#include "algo/streams_opened.h"
#include "plan/family.h"
#include "testing_settings.h"

/* ---- plans ---- */

enum { SVT, SVT_PAPER, SVT_BLOCKS, HEDGE, LEADER, STOCH, STOCH_TREES, VOTE, SHORTLIST, LOOK, KINDS };

static caucus_settings settings_of(int kind) {
    caucus_settings s = testing_settings(
        CAUCUS_ALGORITHM_SVT, kind == VOTE || kind == SHORTLIST ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR, 3, 12,
        130, kind == HEDGE ? 2 : 30);
    s.algorithm = kind <= SVT_BLOCKS ? CAUCUS_ALGORITHM_SVT
                  : kind == HEDGE    ? CAUCUS_ALGORITHM_HEDGE
                  : kind == LEADER   ? CAUCUS_ALGORITHM_LEADER
                                     : CAUCUS_ALGORITHM_STOCH;
    s.interval = kind == HEDGE || kind == LEADER || kind == SVT_BLOCKS ? 5 : 1;
    s.protocol = kind == SVT_PAPER ? CAUCUS_PROTOCOL_PAPER : CAUCUS_PROTOCOL_TWO_STEP;
    if (kind == STOCH_TREES)
        s.calibration = CAUCUS_CALIBRATION_PAPER;
    if (kind == VOTE || kind == SHORTLIST)
        s.message = kind == VOTE ? CAUCUS_MESSAGE_VOTE : CAUCUS_MESSAGE_SHORTLIST;
    s.show_loss = kind == LOOK ? 10 : 0;
    return s;
}

/* Now this expert is bad, now that: every epoch ends. */
static void turning_losses(uint32_t client, uint32_t round, uint32_t d, double *ret) {
    hashed_losses(client, round, d, ret);
    for (uint32_t y = 0; y < d; y++)
        ret[y] = y == (round / 20 + 3) % d ? 0 : 0.25 + ret[y] / 2;
}

/* ---- the steps of a run, seen from its coordinator ---- */

static uint8_t *saved(const caucus_coordinator *c, size_t *ret_bytes) {
    *ret_bytes = caucus_coordinator_state_bytes(c);
    uint8_t *state = malloc(*ret_bytes);
    assert_non_null(state);
    assert_int_equal(caucus_coordinator_save(c, state, *ret_bytes), CAUCUS_OK);
    return state;
}

static caucus_coordinator *restored(const caucus_plan *plan, const caucus_key *run, const uint8_t *state,
                                    size_t bytes) {
    caucus_coordinator *c = NULL;
    assert_int_equal(caucus_coordinator_restore(plan, run, state, bytes, &c), CAUCUS_OK);
    return c;
}

static void count_reports(federation *f, caucus_coordinator *c) {
    for (uint32_t i = 0; i < f->m; i++)
        assert_int_equal(caucus_coordinator_receive(c, caucus_client_report(f->client[i])), CAUCUS_OK);
}

typedef struct figures {
    uint32_t steps, fired, ended, other_thetas;
} figures;

/* The step in hand, from the state it began with, by a process with another key: the verdict must be that of f's own
 * coordinator, which comes next. Returns that other process. */
static caucus_coordinator *elsewhere(federation *f, const caucus_key *run, const uint8_t *state, size_t bytes) {
    caucus_coordinator *c = restored(f->plan, run, state, bytes);
    count_reports(f, c);
    assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
    return c;
}

/* After the same verdict: within an epoch all the same; in a new one the keys are as different as the processes'. */
static void compare(const caucus_coordinator *own, const caucus_coordinator *same, const caucus_coordinator *other,
                    bool ended, figures *sum) {
    assert_memory_equal(&own->now, &same->now, sizeof own->now);
    assert_memory_equal(&own->now, &other->now, sizeof own->now);
    assert_memory_equal(own->key.bytes, same->key.bytes, sizeof own->key.bytes);
    assert_int_equal(own->threshold.theta, same->threshold.theta);
    if (own->now.ask == CAUCUS_ASK_NOTHING)
        return;
    if (ended) {
        assert_memory_not_equal(own->key.bytes, other->key.bytes, sizeof own->key.bytes);
        sum->other_thetas += own->threshold.theta != other->threshold.theta;
    } else {
        assert_memory_equal(own->key.bytes, other->key.bytes, sizeof own->key.bytes);
        assert_int_equal(own->threshold.theta, other->threshold.theta);
    }
    assert_memory_not_equal(own->run_key.bytes, other->run_key.bytes, sizeof own->run_key.bytes);
}

static void play_step(federation *f, const caucus_key *run, const caucus_key *stranger, figures *sum) {
    size_t bytes, after;
    uint8_t *state = saved(f->coordinator, &bytes);
    uint8_t key[CAUCUS_KEY_BYTES];
    memcpy(key, f->coordinator->key.bytes, sizeof key);
    uint64_t selections = f->coordinator->selections;
    caucus_coordinator *same = elsewhere(f, run, state, bytes), *other = elsewhere(f, stranger, state, bytes);
    count_reports(f, f->coordinator);
    assert_int_equal(caucus_coordinator_decide(f->coordinator), CAUCUS_OK);
    bool ended = f->coordinator->selections > selections;
    compare(f->coordinator, same, other, ended, sum);
    sum->steps++;
    sum->fired += f->coordinator->now.ask == CAUCUS_ASK_SUMS && caucus_plan_family(f->plan) == CAUCUS_FAMILY_SVT;
    sum->ended += ended;
    uint8_t *next = saved(f->coordinator, &after);
    if (ended || f->coordinator->now.ask == CAUCUS_ASK_NOTHING) /* the old key is nowhere in the new state */
        assert_null(memmem(next, after, key, sizeof key));
    else
        assert_non_null(memmem(next, after, key, sizeof key));
    caucus_coordinator_free(same);
    caucus_coordinator_free(other);
    free(state);
    free(next);
    for (uint32_t i = 0; i < f->m; i++)
        assert_int_equal(caucus_client_hear(f->client[i], caucus_coordinator_announcement(f->coordinator)), CAUCUS_OK);
}

static void play(int kind, uint64_t seed, figures *sum) {
    caucus_settings s = settings_of(kind);
    federation f;
    federation_open(&f, &s, seed);
    caucus_key seeded, run, stranger;
    caucus_key_from_seed(seed, &seeded);
    caucus_key_derive(&seeded, 0, &run);
    caucus_key_from_seed(seed + 1000000, &stranger);
    double row[12];
    for (uint32_t round = 1; round <= s.rounds; round++) {
        for (uint32_t i = 0; i < f.m; i++) {
            turning_losses(i + 1, round, f.d, row);
            assert_int_equal(caucus_client_observe(f.client[i], row, 1), CAUCUS_OK);
        }
        while (caucus_client_report(f.client[0]))
            play_step(&f, &run, &stranger, sum);
    }
    assert_int_equal(caucus_coordinator_announcement(f.coordinator)->ask, CAUCUS_ASK_NOTHING);
    federation_close(&f);
}

/* (a) and (b): the same verdict from the saved state under any key, in every kind of step, and another next epoch. */
static void test_same_verdict(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        figures sum = {0};
        for (uint64_t seed = 1; seed <= 25; seed++) {
            streams_count = 0;
            play(kind, seed, &sum);
        }
        printf("kind %d: %u steps, %u fired, %u epochs ended, %u with another threshold\n", kind, sum.steps, sum.fired,
               sum.ended, sum.other_thetas);
        assert_true(sum.steps > 100 && sum.ended >= 25);
        if (kind == SVT || kind == SVT_BLOCKS)
            assert_true(sum.fired >= 25);
        if (kind <= SVT_BLOCKS)
            assert_true(sum.other_thetas >= 10);
    }
}

/* Two processes go on from one state with keys of their own: the first choice is the same, later ones differ; with one
 * key nothing ever differs. Many experts and little data, so that choices are nearly coin flips. */
static void test_later_epochs(void **state) {
    (void)state;
    caucus_settings s = settings_of(HEDGE);
    uint32_t first_differs = 0, later_differs = 0, later = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        streams_count = 0;
        federation f;
        federation_open(&f, &s, seed);
        caucus_key seeded, run, stranger;
        caucus_key_from_seed(seed, &seeded);
        caucus_key_derive(&seeded, 0, &run);
        caucus_key_from_seed(seed + 77, &stranger);
        size_t bytes;
        uint8_t *begin = saved(f.coordinator, &bytes);
        caucus_coordinator *same = restored(f.plan, &run, begin, bytes),
                           *other = restored(f.plan, &stranger, begin, bytes);
        for (uint32_t step = 0; step < 6; step++) { /* nobody reports: a deadline without a quorum to speak of */
            assert_int_equal(caucus_coordinator_decide(f.coordinator), CAUCUS_OK);
            assert_int_equal(caucus_coordinator_decide(same), CAUCUS_OK);
            assert_int_equal(caucus_coordinator_decide(other), CAUCUS_OK);
            assert_int_equal(f.coordinator->now.expert, same->now.expert);
            bool differs = f.coordinator->now.expert != other->now.expert;
            first_differs += step == 0 && differs;
            later_differs += step > 0 && differs;
            later += step > 0;
        }
        caucus_coordinator_free(same);
        caucus_coordinator_free(other);
        free(begin);
        federation_close(&f);
    }
    assert_int_equal(first_differs, 0);
    assert_true(later_differs > later / 2); /* 11/12 expected; P < 1e-9 for independent draws */
}

/* (c): whole runs of every kind; each client has a key of its own, so all streams of a run go into one list. */
static void test_no_stream_twice(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        caucus_settings s = settings_of(kind);
        streams_count = 0;
        federation f;
        federation_open(&f, &s, 5);
        federation_play(&f, turning_losses);
        size_t count = streams_count;
        federation_close(&f);
        assert_true(count >= 6);
        assert_int_equal(streams_opened_twice(), 0);
    }
    streams_count = 0; /* and the list would have shown it */
    caucus_key key;
    caucus_stream stream;
    caucus_key_from_seed(1, &key);
    for (int i = 0; i < 2; i++)
        caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, 1, 2, 3);
    __wrap_caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_TEST, 1, 3, 3);
    assert_int_equal(streams_opened_twice(), 1);
}

/* At the end: no key, no threshold, no sums, and the state that says so is restored and asks for nothing. */
static void test_the_end(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        caucus_settings s = settings_of(kind);
        streams_count = 0;
        federation f;
        federation_open(&f, &s, 6);
        federation_play(&f, turning_losses);
        const caucus_coordinator *c = f.coordinator;
        size_t bytes, again, d = f.d;
        uint8_t *end = saved(c, &bytes);
        caucus_key other;
        caucus_key_from_seed(9, &other);
        caucus_coordinator *r = restored(f.plan, &other, end, bytes);
        const caucus_coordinator *both[] = {c, r};
        for (int i = 0; i < 2; i++) {
            assert_int_equal(both[i]->now.ask, CAUCUS_ASK_NOTHING);
            assert_true(sodium_is_zero(both[i]->key.bytes, sizeof c->key.bytes));
            assert_true(sodium_is_zero(both[i]->run_key.bytes, sizeof c->run_key.bytes));
            assert_true(both[i]->key.seeded);
            assert_true(both[i]->threshold.theta == 0 && both[i]->threshold.q == 0 && !both[i]->threshold.open);
            const int64_t *sums[] = {both[i]->cum, both[i]->score, both[i]->sum, both[i]->past, both[i]->votes};
            for (size_t k = 0; k < sizeof sums / sizeof sums[0]; k++)
                assert_true(!sums[k] || sodium_is_zero((const unsigned char *)sums[k], d * sizeof *sums[k]));
            assert_int_equal(both[i]->selections, c->selections);
            assert_int_equal(caucus_coordinator_decide(f.coordinator), CAUCUS_E_ORDER);
        }
        for (uint32_t i = 1; i <= f.m; i++) { /* what clients are told is still there */
            uint64_t cost[2], sums[2];
            bool answered[2];
            caucus_coordinator_counted(c, i, &cost[0], &sums[0], &answered[0]);
            caucus_coordinator_counted(r, i, &cost[1], &sums[1], &answered[1]);
            assert_true(cost[0] == cost[1] && sums[0] == sums[1] && answered[0] == answered[1]);
            assert_true(kind > LEADER || sums[0] > 1);
        }
        uint8_t *same = saved(r, &again);
        assert_int_equal(bytes, again);
        assert_memory_equal(end, same, bytes);
        caucus_coordinator_free(r);
        free(end);
        free(same);
        federation_close(&f);
    }
}

static caucus_status restore_sealed(const caucus_plan *plan, const caucus_key *key, uint8_t *state, size_t bytes) {
    caucus_coordinator *c = NULL;
    crypto_hash_sha256(state + bytes - CAUCUS_PACK_HASH_BYTES, state, bytes - CAUCUS_PACK_HASH_BYTES);
    caucus_status status = caucus_coordinator_restore(plan, key, state, bytes, &c);
    assert_true((status == CAUCUS_OK) == (c != NULL));
    caucus_coordinator_free(c);
    return status;
}

/* A seeded run stays seeded and a private one private; a state of the first format, and one without a key, are refused
 * even with a right checksum. */
static void test_refused(void **state) {
    (void)state;
    caucus_settings s = settings_of(SVT);
    caucus_plan *plan = NULL;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    for (int seeded = 0; seeded < 2; seeded++) {
        caucus_key key[2];
        caucus_key_from_seed(4, &key[1]);
        assert_int_equal(caucus_key_generate(&key[0]), CAUCUS_OK);
        streams_count = 0;
        caucus_coordinator *c = NULL;
        assert_int_equal(caucus_coordinator_new(plan, &key[seeded], &c), CAUCUS_OK);
        size_t bytes;
        uint8_t *good = saved(c, &bytes), *bad = malloc(bytes);
        assert_non_null(bad);
        assert_int_equal(restore_sealed(plan, &key[seeded], good, bytes), CAUCUS_OK);
        assert_int_equal(restore_sealed(plan, &key[!seeded], good, bytes), CAUCUS_E_CONFLICT);
        memcpy(bad, good, bytes);
        memcpy(bad, "acC1", 4);
        assert_int_equal(restore_sealed(plan, &key[seeded], bad, bytes), CAUCUS_E_FORMAT);
        memcpy(bad, good, bytes);
        uint8_t *at = memmem(bad, bytes, c->key.bytes, sizeof c->key.bytes);
        assert_non_null(at);
        memset(at, 0, sizeof c->key.bytes);
        assert_int_equal(restore_sealed(plan, &key[seeded], bad, bytes), CAUCUS_E_FORMAT);
        assert_null(memmem(good, bytes, key[seeded].bytes, CAUCUS_KEY_BYTES)); /* the run key is in no state */
        caucus_coordinator_free(c);
        free(good);
        free(bad);
    }
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_verdict), cmocka_unit_test(test_later_epochs),
                                       cmocka_unit_test(test_no_stream_twice), cmocka_unit_test(test_the_end),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
