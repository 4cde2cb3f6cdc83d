/* SPDX-License-Identifier: Apache-2.0 */
/* test_slots.c: clients at their own pace: kills, what is counted, saved states, and what is refused.
 *
 * Clients and coordinator are killed at any point between making an item, saving, sending, counting and committing;
 * whatever happens, every loss is in one item and every item in one decision (docs/PRIVACY.md, "At their own pace"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <caucus/client.h>
#include <caucus/coordinator.h>

#include "plan/plan.h"
#include "testing_settings.h"

#define M 3u
#define D 4u
#define LOSSES 400u /* rows of a client */
#define STATE 65536u

static caucus_plan *own_plan(caucus_trust trust, caucus_unit unit, uint64_t most) {
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_STOCH, trust, M, D, CAUCUS_ROUNDS_ENDLESS, 20);
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    s.pace = CAUCUS_PACE_OWN;
    s.unit = unit;
    s.most = most;
    if (caucus_plan_new(&s, &plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    return plan;
}

/* ---- kills ---- */

typedef struct world {
    caucus_plan *plan;
    caucus_key key;
    caucus_client *client[M];
    caucus_coordinator *coordinator;
    uint8_t client_state[M][STATE], coordinator_state[STATE];
    size_t client_bytes[M], coordinator_bytes;
    uint64_t fed[M], slot[M]; /* rows that the application has given; the device's clock */
    int64_t counted[D];       /* since the last commit */
    int64_t committed[D];
    uint64_t items, random;
} world;

static uint64_t pick(world *w, uint64_t below) { /* xorshift: any generator will do here */
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random % below;
}

static double loss_of(uint32_t i, uint64_t row, uint32_t y) {
    return (double)((i * 7 + row * 3 + y * 5 + row * y) % 5) / 4;
}

static void save_client(world *w, uint32_t i) {
    w->client_bytes[i] = caucus_client_state_bytes(w->client[i]);
    assert_true(w->client_bytes[i] <= STATE);
    assert_int_equal(caucus_client_save(w->client[i], w->client_state[i], w->client_bytes[i]), CAUCUS_OK);
}

static void kill_client(world *w, uint32_t i) {
    caucus_client_free(w->client[i]);
    w->client[i] = NULL;
    assert_int_equal(
        caucus_client_restore(w->plan, i + 1, &w->key, w->client_state[i], w->client_bytes[i], &w->client[i]),
        CAUCUS_OK);
    w->fed[i] = caucus_client_round(w->client[i]); /* the application goes on with the first that was not seen */
    assert_int_equal(caucus_client_slot(w->client[i], w->slot[i]), CAUCUS_OK);
}

static void commit(world *w) {
    w->coordinator_bytes = caucus_coordinator_state_bytes(w->coordinator);
    assert_true(w->coordinator_bytes <= STATE);
    assert_int_equal(caucus_coordinator_save(w->coordinator, w->coordinator_state, w->coordinator_bytes), CAUCUS_OK);
    for (uint32_t y = 0; y < D; y++)
        w->committed[y] += w->counted[y];
    memset(w->counted, 0, sizeof w->counted);
}

static void kill_coordinator(world *w) {
    caucus_coordinator_free(w->coordinator);
    w->coordinator = NULL;
    assert_int_equal(
        caucus_coordinator_restore(w->plan, &w->key, w->coordinator_state, w->coordinator_bytes, &w->coordinator),
        CAUCUS_OK);
    memset(w->counted, 0, sizeof w->counted); /* their clients send them again */
}

static void observe(world *w, uint32_t i) {
    double row[D];
    for (uint32_t y = 0; y < D; y++)
        row[y] = loss_of(i, w->fed[i], y);
    assert_int_equal(caucus_client_observe(w->client[i], row, 1), CAUCUS_OK);
    w->fed[i]++;
}

/* The item, unless a kill comes between: made, saved, sent, counted. */
static void send_item(world *w, uint32_t i, bool kills) {
    const caucus_report *r = caucus_client_report(w->client[i]);
    if (!r)
        return;
    if (kills && pick(w, 8) == 0) { /* after making, before saving */
        kill_client(w, i);
        return;
    }
    save_client(w, i);
    if (kills && pick(w, 8) == 0) { /* after saving, before sending */
        kill_client(w, i);
        return;
    }
    caucus_status status = caucus_coordinator_receive(w->coordinator, r);
    assert_true(status == CAUCUS_OK || status == CAUCUS_E_DUPLICATE || status == CAUCUS_E_ORDER);
    if (status == CAUCUS_OK) {
        w->items++;
        for (uint32_t y = 0; y < D; y++)
            w->counted[y] += r->value[y];
    }
    if (kills && pick(w, 8) == 0) /* after counting */
        kill_coordinator(w);
}

static void hear(world *w, uint32_t i) {
    uint64_t cost, next;
    bool answered;
    caucus_coordinator_counted(w->coordinator, i + 1, &cost, &next, &answered);
    caucus_status status = caucus_client_hear(w->client[i], caucus_coordinator_announcement(w->coordinator));
    assert_true(status == CAUCUS_OK || status == CAUCUS_E_DUPLICATE);
    assert_int_equal(caucus_client_acknowledge(w->client[i], next), CAUCUS_OK);
}

static void test_kills(void **state) {
    (void)state;
    static world w;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        memset(&w, 0, sizeof w);
        w.random = seed * UINT64_C(0x9e3779b97f4a7c15);
        w.plan = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_UNIT_EVENT, 1000);
        caucus_key_from_seed(seed, &w.key);
        assert_int_equal(caucus_coordinator_new(w.plan, &w.key, &w.coordinator), CAUCUS_OK);
        commit(&w);
        for (uint32_t i = 0; i < M; i++) {
            assert_int_equal(caucus_client_new(w.plan, i + 1, &w.key, &w.client[i]), CAUCUS_OK);
            hear(&w, i);
            for (; w.slot[i] < 2; w.slot[i]++)
                assert_int_equal(caucus_client_slot(w.client[i], w.slot[i]), CAUCUS_OK);
            w.slot[i] = 1;
            save_client(&w, i);
        }
        bool more = true;
        for (uint32_t step = 0; more; step++) {
            const bool kills = step < 6000;
            const uint32_t i = (uint32_t)pick(&w, M);
            switch (pick(&w, 8)) {
            case 0:
            case 1:
                if (w.fed[i] < LOSSES)
                    observe(&w, i);
                break;
            case 2:
                assert_int_equal(caucus_client_slot(w.client[i], ++w.slot[i]), CAUCUS_OK);
                break;
            case 3:
                hear(&w, i);
                break;
            case 4:
                if (kills)
                    kill_client(&w, i);
                break;
            case 5:
                assert_int_equal(caucus_coordinator_decide(w.coordinator), CAUCUS_OK);
                if (kills && pick(&w, 8) == 0) {
                    kill_coordinator(&w); /* decided, never committed: nobody has heard of it */
                } else {
                    commit(&w);
                    if (kills && pick(&w, 8) == 0)
                        kill_coordinator(&w); /* after the commit */
                }
                break;
            default:
                send_item(&w, i, kills);
            }
            int64_t all[D] = {0};
            for (uint32_t k = 0; k < M; k++)
                for (uint64_t row = 0; row < LOSSES; row++)
                    for (uint32_t y = 0; y < D; y++)
                        all[y] += (int64_t)(loss_of(k, row, y) * (double)w.plan->grid + 0.5);
            more = memcmp(all, w.committed, sizeof all) != 0;
            for (uint32_t y = 0; y < D; y++)
                assert_true(w.committed[y] <= all[y]); /* nothing is in two decisions */
            if (step > 200000)
                fail_msg("seed %d: some loss is in no decision", (int)seed);
        }
        for (uint32_t i = 0; i < M; i++)
            caucus_client_free(w.client[i]);
        caucus_coordinator_free(w.coordinator);
        caucus_plan_free(w.plan);
    }
}

/* ---- what is counted ---- */

static caucus_client *new_client(const caucus_plan *plan) {
    caucus_key key;
    caucus_client *c = NULL;
    const caucus_announcement a = {.ask = CAUCUS_ASK_LEAF, .block = 2};
    caucus_key_from_seed(5, &key);
    assert_int_equal(caucus_client_new(plan, 1, &key, &c), CAUCUS_OK);
    assert_int_equal(caucus_client_rounds_left(c), 0); /* it does not know yet what to play */
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
    return c;
}

static void test_first_losses_of_a_slot(void **state) {
    (void)state;
    caucus_plan *plan = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_UNIT_EVENT, 3);
    caucus_client *c = new_client(plan);
    const int64_t g = plan->grid;
    double rows[5 * D];
    for (uint32_t i = 0; i < 5 * D; i++)
        rows[i] = i % D == 0;
    assert_int_equal(caucus_client_observe(c, rows, 5), CAUCUS_OK); /* of no slot */
    assert_int_equal(caucus_client_slot(c, 8), CAUCUS_OK);
    assert_int_equal(caucus_client_observe(c, rows, 5), CAUCUS_OK); /* of a slot it may know only a part of */
    assert_int_equal(caucus_client_slot(c, 9), CAUCUS_OK);
    assert_null(caucus_client_report(c));
    assert_int_equal(caucus_client_observe(c, rows, 2), CAUCUS_OK);
    assert_int_equal(caucus_client_slot(c, 10), CAUCUS_OK);
    assert_int_equal(caucus_client_observe(c, rows, 2), CAUCUS_OK); /* together more than `most`: left out whole */
    assert_int_equal(caucus_client_slot(c, 11), CAUCUS_OK);
    assert_int_equal(caucus_client_observe(c, rows, 5), CAUCUS_OK); /* the first three */
    assert_int_equal(caucus_client_report(c)->value[0], 2 * g);
    assert_int_equal(caucus_client_acknowledge(c, 2), CAUCUS_OK);
    assert_null(caucus_client_report(c)); /* no slot was completed since */
    assert_int_equal(caucus_client_slot(c, 12), CAUCUS_OK);
    assert_int_equal(caucus_client_report(c)->value[0], 3 * g);
    assert_int_equal(caucus_client_round(c), 19);
    assert_int_equal(caucus_client_cost(c), 19 * g); /* all were played */
    caucus_client_free(c);
    caucus_plan_free(plan);
}

static void test_newest_announcement_counts(void **state) {
    (void)state;
    caucus_plan *plan = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_UNIT_CLIENT_BLOCK, 64);
    caucus_client *c = new_client(plan);
    caucus_announcement a = {.serial = 40, .ask = CAUCUS_ASK_LEAF, .block = 42, .expert = 3};
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
    assert_int_equal(caucus_client_expert(c), 3);
    a.serial = 39;
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_DUPLICATE);
    a = (caucus_announcement){.serial = 41, .ask = CAUCUS_ASK_LEAF, .block = 42};
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_FORMAT); /* question numbers only rise */
    a = (caucus_announcement){.serial = 41, .ask = CAUCUS_ASK_LEAF, .block = 43, .expert = D};
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_FORMAT);
    a = (caucus_announcement){.serial = 41, .ask = CAUCUS_ASK_VOTE, .block = 43};
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_client_slot(c, 1), CAUCUS_OK);
    assert_int_equal(caucus_client_slot(c, 2), CAUCUS_OK);
    assert_int_equal(caucus_client_slot(c, 3), CAUCUS_OK);
    assert_non_null(caucus_client_report(c));
    a = (caucus_announcement){.serial = 77, .ask = CAUCUS_ASK_NOTHING, .leaf = CAUCUS_LEAF_STOPPED};
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK); /* the end */
    assert_null(caucus_client_report(c));
    assert_int_equal(caucus_client_rounds_left(c), 0);
    caucus_client_free(c);
    caucus_plan_free(plan);
}

/* Clients in step know nothing of slots. */
static void test_in_step(void **state) {
    (void)state;
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, M, D, 64, 20);
    caucus_plan *plan = NULL;
    caucus_client *c = NULL;
    caucus_key key;
    caucus_key_from_seed(5, &key);
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    assert_int_equal(caucus_client_new(plan, 1, &key, &c), CAUCUS_OK);
    assert_int_equal(caucus_client_slot(c, 1), CAUCUS_E_ORDER);
    assert_int_equal(caucus_client_acknowledge(c, 1), CAUCUS_E_ORDER);
    assert_int_equal(caucus_client_item(c), 0);
    caucus_client_free(c);
    caucus_plan_free(plan);
}

/* A state comes back byte for byte, with the item that waits and the noise it was drawn with. */
static void test_saved_states(void **state) {
    (void)state;
    for (int nobody = 0; nobody <= 1; nobody++) {
        caucus_plan *plan =
            own_plan(nobody ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR, CAUCUS_UNIT_CLIENT_BLOCK, 64);
        caucus_key key;
        caucus_client *c = NULL, *back = NULL;
        uint8_t bytes[4096], again[4096];
        caucus_announcement a = {.ask = nobody ? CAUCUS_ASK_VOTE : CAUCUS_ASK_LEAF, .block = 2};
        caucus_key_from_seed(6, &key);
        assert_int_equal(caucus_client_new(plan, 1, &key, &c), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
        for (uint64_t slot = 4; slot < 7; slot++) {
            assert_int_equal(caucus_client_slot(c, slot), CAUCUS_OK);
            assert_int_equal(caucus_client_observe(c, (double[D]){0, 1, 0.5, 0.25}, 1), CAUCUS_OK);
        }
        assert_non_null(caucus_client_report(c));
        const size_t size = caucus_client_state_bytes(c);
        assert_true(size <= sizeof bytes);
        assert_int_equal(caucus_client_save(c, bytes, size), CAUCUS_OK);
        assert_int_equal(caucus_client_restore(plan, 1, &key, bytes, size, &back), CAUCUS_OK);
        assert_int_equal(caucus_client_save(back, again, size), CAUCUS_OK);
        assert_memory_equal(bytes, again, size);
        assert_int_equal(caucus_client_report(back)->block, 1);
        assert_memory_equal(caucus_client_report(back)->value, caucus_client_report(c)->value,
                            caucus_client_report(c)->count * sizeof(int64_t));
        caucus_client_free(back);
        caucus_client_free(c);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kills),        cmocka_unit_test(test_first_losses_of_a_slot),
        cmocka_unit_test(test_in_step),      cmocka_unit_test(test_newest_announcement_counts),
        cmocka_unit_test(test_saved_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
