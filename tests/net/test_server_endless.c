/* SPDX-License-Identifier: Apache-2.0 */
/* test_server_endless.c: runs without an end, from states that no test would live to see: phase 2^16 - 2, block and
 * round 2^32 - 2, serial 2^32 - 2. They pass each edge, over the network as in one process, announcement for
 * announcement; clients that have heard nothing go on from the one in force, and the store keeps that one alone. At
 * their own pace also item 2^16 - 2 and 2^32 - 2, slot 2^32 - 2 and 2^32 - 2 losses seen. */
#include "net/history.h"
#include "net/server_testing.h"
#include "store/coordinator/impl.h"
#include "store/coordinator/sqlite.h"
#include "testing_settings.h"

#include "algo/client.h"
#include "algo/coordinator.h"
#include "algo/schedule.h"

#define SEED 7
#define CLIENTS 3u
#define EXPERTS 5u
#define STEPS 12u
#define SERIAL (((uint64_t)1 << 32) - 2)
#define PHASE ((1u << 16) - 2)

typedef struct setup {
    const char *name;
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_message message;
    uint64_t longest, renew, interval, block;
    uint64_t item;    /* own pace: the number of every client's next item; 0: in step */
    double show_loss; /* own pace */
} setup;

static const setup setups[] = {
    {"stoch", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 2, 0, 1, PHASE, 0, 0},
    {"stoch vote", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_VOTE, 2, 0, 1, PHASE, 0, 0},
    {"stoch shortlist", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_SHORTLIST, 2, 0, 1, PHASE, 0, 0},
    {"svt", CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 0, 8, 1, SERIAL, 0, 0},
    {"svt growing", CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 0, 0, 1, SERIAL, 0, 0},
    {"hedge", CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 0, 8, 2, SERIAL / 2, 0, 0},
    {"own pace", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 0, 0, 1, PHASE, SERIAL, 0},
    {"own pace, a look", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 0, 0, 1, PHASE, PHASE,
     10},
    {"own pace, vote", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_VOTE, 0, 0, 1, PHASE, PHASE, 0},
    {"own pace, knorm", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_KNORM, 0, 0, 1, PHASE, SERIAL, 0},
    {"own pace, late", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_VOTE, 0, 0, 1, SERIAL, SERIAL, 0},
};
#define SETUPS (sizeof setups / sizeof setups[0])

static caucus_plan *plan_of(const setup *from) {
    const bool own = from->item != 0;
    const bool grows =
        !own && from->longest == 0 && from->renew == 0; /* it has only so many selections: a few are made */
    caucus_settings s =
        testing_settings(from->algorithm, from->trust, CLIENTS, EXPERTS, CAUCUS_ROUNDS_ENDLESS, grows ? 1 : 20);
    s.message = from->message;
    s.longest_phase = from->longest;
    s.renew = from->renew;
    s.interval = from->interval;
    if (own) {
        s.pace = CAUCUS_PACE_OWN;
        s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
        s.show_loss = from->show_loss;
    }
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    if (caucus_plan_new(&s, &plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    return plan;
}

static void key_of(uint32_t index, caucus_key *ret) {
    caucus_key run;
    caucus_key_from_seed(SEED, &run);
    caucus_key_derive(&run, index, ret);
}

/* A coordinator just before the edge. */
static caucus_coordinator *machine_at(const caucus_plan *plan, const setup *from) {
    caucus_coordinator *c = NULL;
    caucus_key key;
    key_of(0, &key);
    assert_int_equal(caucus_coordinator_new(plan, &key, &c), CAUCUS_OK);
    c->now.serial = SERIAL;
    c->now.block = from->block;
    if (c->sums_next)
        caucus_progress_restore(c->sums_next, from->item != 0 ? from->item : from->block);
    if (c->cost_next)
        caucus_progress_restore(c->cost_next, from->block);
    caucus_coordinator_aim(c);
    return c;
}

static void client_at(const caucus_plan *plan, uint32_t index, caucus_client **ret) {
    caucus_key key;
    key_of(index, &key);
    assert_int_equal(caucus_client_new(plan, index, &key, ret), CAUCUS_OK);
    if (plan->settings.pace == CAUCUS_PACE_OWN)
        (*ret)->round = SERIAL; /* it has seen so many losses; nothing else of it is left */
}

/* At its own pace: hear, and take what is counted; then slot SERIAL + 1 + step is seen, some without a loss, and
 * is over. The first slot of a client is not counted. */
static const caucus_report *play_slot(caucus_client *c, const caucus_announcement *a, uint64_t sums_next,
                                      uint32_t index, uint32_t step) {
    double row[EXPERTS];
    assert_int_equal(caucus_client_hear(c, a), CAUCUS_OK);
    assert_int_equal(caucus_client_acknowledge(c, sums_next), CAUCUS_OK);
    for (uint64_t slot = SERIAL; step == 0 && slot <= SERIAL + 1; slot++)
        assert_int_equal(caucus_client_slot(c, slot), CAUCUS_OK);
    for (uint32_t k = 0; k < (step + index) % 3; k++) {
        for (uint32_t y = 0; y < EXPERTS; y++)
            row[y] = (step / 3 + index * k + y) % EXPERTS == 0 ? 0.1 : 0.8;
        assert_int_equal(caucus_client_observe(c, row, 1), CAUCUS_OK);
    }
    assert_int_equal(caucus_client_slot(c, SERIAL + 2 + step), CAUCUS_OK);
    assert_true(caucus_client_item(c) == sums_next);
    return caucus_client_report(c);
}

/* The rounds that an announcement wants, and the report; NULL if nothing is due. */
static const caucus_report *play(caucus_client *c, uint32_t index, uint32_t *ret_rounds) {
    double row[EXPERTS];
    *ret_rounds = 0;
    while (caucus_client_rounds_left(c) > 0) {
        const uint64_t round = caucus_client_round(c) + 1;
        for (uint32_t y = 0; y < EXPERTS; y++)
            row[y] = (round / 3 + index + y) % EXPERTS == 0 ? 0.1 : 0.8;
        assert_int_equal(caucus_client_observe(c, row, 1), CAUCUS_OK);
        (*ret_rounds)++;
    }
    return caucus_client_report(c);
}

/* The run in one process: its announcements. */
static void simulate(const caucus_plan *plan, const setup *from, caucus_announcement *ret) {
    caucus_coordinator *c = machine_at(plan, from);
    caucus_client *client[CLIENTS];
    for (uint32_t i = 0; i < CLIENTS; i++)
        client_at(plan, i + 1, &client[i]);
    for (uint32_t step = 0; step < STEPS; step++) {
        ret[step] = *caucus_coordinator_announcement(c);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            uint32_t rounds;
            uint64_t cost = 0, sums = 0;
            bool answered = false;
            const caucus_report *report;
            if (from->item != 0) {
                caucus_coordinator_counted(c, i + 1, &cost, &sums, &answered);
                report = play_slot(client[i], &ret[step], sums, i + 1, step);
            } else {
                assert_int_equal(caucus_client_hear(client[i], &ret[step]), CAUCUS_OK);
                report = play(client[i], i + 1, &rounds);
            }
            assert_non_null(report);
            assert_int_equal(caucus_coordinator_receive(c, report), CAUCUS_OK);
        }
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        assert_true(from->longest != 0 || caucus_client_round(client[i]) > (uint64_t)1 << 32);
        caucus_client_free(client[i]);
    }
    caucus_coordinator_free(c);
}

/* A store that holds that coordinator, as if it had come so far. */
static void make_state(const hall *h, const caucus_plan *plan, const setup *from) {
    caucus_store *store = NULL;
    caucus_ledger *ledger = NULL;
    uint32_t run = 0;
    char line[2][CAUCUS_LEDGER_LINE_BYTES];
    const char *const lines[] = {line[0], line[1]};
    assert_int_equal(caucus_ledger_new(1000, 0, &ledger, NULL), CAUCUS_OK);
    assert_int_equal(caucus_ledger_reserve(ledger, plan, "live #01234567-0123456789abcdef", true, &run, NULL),
                     CAUCUS_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(caucus_ledger_line(ledger, i, line[i], sizeof line[i]), CAUCUS_OK);
    assert_int_equal(caucus_store_open(h->dir, h->settings.plan_hash, true, &store, NULL), CAUCUS_OK);
    caucus_store_keep_last(store);
    assert_int_equal(caucus_store_begin(store, NULL), CAUCUS_OK);
    caucus_coordinator *c = machine_at(plan, from);
    char sql[96];
    (void)snprintf(sql, sizeof sql, "UPDATE run SET announcements = %llu", (unsigned long long)SERIAL);
    assert_int_equal(sqlite3_exec(((caucus_sqlite *)store->at)->db, sql, NULL, NULL, NULL), SQLITE_OK);
    store->now.row.announcements = SERIAL;
    const uint32_t chunks = caucus_coordinator_chunks(plan);
    caucus_piece root = {0}, *chunk = calloc(chunks, sizeof *chunk);
    assert_non_null(chunk);
    assert_true(caucus_store_room(&store->now, chunks) && caucus_store_room(&store->then, chunks));
    store->now.row.chunks = chunks;
    assert_int_equal(caucus_coordinator_save_parts(c, &root, chunk), CAUCUS_OK);
    memset(store->now.chunk_hash, 0, chunks * sizeof *store->now.chunk_hash); /* all are new */
    caucus_error error = {0};
    if (caucus_store_commit(store, &root, chunk, chunks, caucus_coordinator_announcement(c), lines, 2, &error) !=
        CAUCUS_OK)
        fail_msg("commit: %s", error.text);
    caucus_piece_free(&root);
    for (uint32_t i = 0; i < chunks; i++)
        caucus_piece_free(&chunk[i]);
    free(chunk);
    caucus_store_close(store);
    caucus_ledger_free(ledger);
    caucus_coordinator_free(c);
}

typedef struct talker {
    wire_end wire;
    caucus_client *client;
} talker;

static void join(talker *t, const hall *h, uint32_t index) {
    const caucus_frame hello = hello_of(h, index, caucus_client_heard(t->client));
    wire_open(&t->wire, caucus_server_port(h->server));
    assert_true(wire_send(&t->wire, &hello));
    caucus_frame frame;
    assert_int_equal(wire_receive(&t->wire, EXPERTS, &frame, PATIENCE_MS), 1);
    assert_int_equal(frame.kind, CAUCUS_FRAME_WELCOME);
}

static caucus_frame frame_of(talker *t) {
    caucus_frame frame;
    assert_int_equal(wire_receive(&t->wire, EXPERTS, &frame, PATIENCE_MS), 1);
    assert_int_equal(frame.kind, CAUCUS_FRAME_ANNOUNCEMENT);
    return frame;
}

static caucus_announcement next_of(talker *t) {
    return frame_of(t).announcement;
}

static void answer(talker *t, uint32_t index) {
    uint32_t rounds;
    const caucus_report *report = t->client->plan->settings.pace == CAUCUS_PACE_OWN ? caucus_client_report(t->client)
                                                                                    : play(t->client, index, &rounds);
    assert_non_null(report);
    const caucus_frame frame = {.kind = CAUCUS_FRAME_REPORT, .report = *report};
    assert_true(wire_send(&t->wire, &frame));
}

static void kept_alone(const hall *h, const caucus_plan *plan, uint64_t serial) {
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/coordinator.db", h->dir);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT count(*), max(serial), (SELECT count(*) FROM ledger) FROM "
                                        "announcement",
                                        -1, &row, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(row, 0), 1);
    assert_true((uint64_t)sqlite3_column_int64(row, 1) == serial);
    /* Budget, run, and one release for all of it; where thresholds grow one for all checks and one a selection. */
    const int lines = sqlite3_column_int(row, 2);
    assert_true(lines >= 3 && lines <= (caucus_settings_grow(&plan->settings) ? 3 + (int)plan->svt.switches : 3));
    sqlite3_finalize(row);
    sqlite3_close(db);
}

static void test_edges(void **state) {
    (void)state;
    for (size_t k = 0; k < SETUPS; k++) {
        caucus_plan *plan = plan_of(&setups[k]);
        caucus_announcement expected[STEPS];
        simulate(plan, &setups[k], expected);
        hall h;
        talker t[CLIENTS] = {0};
        hall_init(&h, plan, SEED);
        make_state(&h, plan, &setups[k]);
        for (uint32_t i = 0; i < CLIENTS; i++)
            client_at(plan, i + 1, &t[i].client);
        for (uint32_t step = 0; step < STEPS; step++) {
            if (step % 4 == 0) { /* started again now and then: nothing but the last announcement is there */
                if (step > 0) {
                    for (uint32_t i = 0; i < CLIENTS; i++)
                        (void)next_of(&t[i]); /* it is decided; it is said again below */
                    caucus_server_stop(h.server);
                    hall_stop(&h); /* the second time: at once */
                    for (uint32_t i = 0; i < CLIENTS; i++)
                        wire_close(&t[i].wire);
                    caucus_server_close(h.server);
                    kept_alone(&h, plan, SERIAL + step);
                    key_of(0, &h.settings.key);
                }
                hall_open(&h);
                for (uint32_t i = 0; i < CLIENTS; i++)
                    join(&t[i], &h, i + 1);
            }
            for (uint32_t i = 0; i < CLIENTS; i++) {
                const caucus_frame frame = frame_of(&t[i]);
                const caucus_announcement a = frame.announcement;
                assert_true(a.serial == expected[step].serial && a.block == expected[step].block);
                assert_int_equal(a.ask, expected[step].ask);
                assert_int_equal(a.expert, expected[step].expert);
                assert_true(a.epoch == expected[step].epoch);
                if (setups[k].item != 0) {
                    assert_true(frame.sums_next == setups[k].item + step);
                    assert_non_null(play_slot(t[i].client, &a, frame.sums_next, i + 1, step));
                } else {
                    assert_int_equal(caucus_client_hear(t[i].client, &a), CAUCUS_OK);
                }
            }
            for (uint32_t i = 0; i < CLIENTS; i++)
                answer(&t[i], i + 1);
        }
        for (uint32_t i = 0; i < CLIENTS; i++) {
            (void)next_of(&t[i]);
            wire_close(&t[i].wire);
            caucus_client_free(t[i].client);
        }
        caucus_server_stop(h.server);
        hall_stop(&h);
        hall_free(&h);
        print_message("%s: %u steps from serial %llu on\n", setups[k].name, STEPS, (unsigned long long)SERIAL);
        caucus_plan_free(plan);
    }
}

/* A client that was away for longer than the coordinator remembers goes on from the announcement in force. */
static void test_catches_up(void **state) {
    (void)state;
    const uint32_t away = 3 * CAUCUS_HISTORY_KEPT / 2;
    for (size_t k = 0; k < SETUPS && setups[k].item == 0; k++) { /* at their own pace nobody catches up */
        caucus_plan *plan = plan_of(&setups[k]);
        hall h;
        talker t[CLIENTS] = {0};
        hall_init(&h, plan, SEED);
        h.settings.deadline_ms = 1;
        h.settings.quorum = CLIENTS - 1;
        hall_open(&h);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            client_at(plan, i + 1, &t[i].client);
            join(&t[i], &h, i + 1);
        }
        const caucus_announcement first = next_of(&t[CLIENTS - 1]);
        assert_int_equal(first.serial, 0);
        assert_int_equal(caucus_client_hear(t[CLIENTS - 1].client, &first), CAUCUS_OK);
        wire_close(&t[CLIENTS - 1].wire); /* gone, and not a word */
        uint64_t serial = 0;
        for (uint32_t step = 0; step < away; step++) {
            for (uint32_t i = 0; i + 1 < CLIENTS; i++) {
                const caucus_announcement a = next_of(&t[i]);
                assert_int_equal(caucus_client_hear(t[i].client, &a), CAUCUS_OK);
                serial = a.serial;
            }
            for (uint32_t i = 0; i + 1 < CLIENTS; i++)
                answer(&t[i], i + 1);
        }
        for (uint32_t i = 0; i + 1 < CLIENTS; i++)
            serial = next_of(&t[i]).serial;
        const uint64_t before = caucus_client_round(t[CLIENTS - 1].client);
        join(&t[CLIENTS - 1], &h, CLIENTS);
        const caucus_announcement now = next_of(&t[CLIENTS - 1]);
        assert_true(now.serial == serial && now.serial > 1);
        assert_int_equal(caucus_client_hear(t[CLIENTS - 1].client, &now), CAUCUS_OK);
        assert_true(caucus_client_round(t[CLIENTS - 1].client) > before);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            wire_close(&t[i].wire);
            caucus_client_free(t[i].client);
        }
        caucus_server_stop(h.server);
        hall_stop(&h);
        hall_free(&h);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_edges), cmocka_unit_test(test_catches_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
