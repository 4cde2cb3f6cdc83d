/* SPDX-License-Identifier: Apache-2.0 */
/* What a relay and its coordinator do when memory runs out: a follower is made or is not, a report is counted whole or
 * not at all, and a partial is taken whole or leaves the coordinator as it was. */
#include "fault/failing_alloc.h"

#include <stdlib.h>

#include "algo/coordinator.h"
#include "algo/relayed/relayed.h"
#include "testing_settings.h"

#define CLIENTS 40u
#define EXPERTS 5u

/* What the pointers hold while nothing has been made. */
#define UNTOUCHED ((void *)8)

typedef struct relayed {
    caucus_plan *plan;
    caucus_coordinator *coordinator; /* as a partial finds it */
    caucus_key key;
    uint8_t *state, *partial;
    size_t state_bytes, partial_bytes;
    int64_t value[CLIENTS][EXPERTS];
} relayed;

static uint64_t digest_of(const caucus_coordinator *c) {
    const size_t bytes = caucus_coordinator_state_bytes(c);
    uint8_t *state = malloc(bytes);
    assert_non_null(state);
    assert_int_equal(caucus_coordinator_save(c, state, bytes), CAUCUS_OK);
    const uint64_t digest = failing_digest(1, state, bytes);
    free(state);
    return digest;
}

static caucus_report report_of(relayed *r, uint32_t client) {
    const caucus_announcement *now = caucus_coordinator_announcement(r->coordinator);
    for (uint32_t y = 0; y < EXPERTS; y++)
        r->value[client - 1][y] = client + y;
    return (caucus_report){.client = client,
                           .kind = now->ask,
                           .first = now->block,
                           .block = now->block,
                           .epoch_or_leaf = now->ask <= CAUCUS_ASK_SUMS ? now->epoch : now->leaf,
                           .count = now->ask == CAUCUS_ASK_COST ? 1 : EXPERTS,
                           .value = r->value[client - 1]};
}

static caucus_coordinator *follower_of(const relayed *r) {
    caucus_coordinator *follower = NULL;
    uint64_t cost, sums;
    caucus_follower_common(r->coordinator, &cost, &sums);
    const caucus_announcement *now = caucus_coordinator_announcement(r->coordinator);
    assert_int_equal(caucus_follower_new(r->plan, now, cost, sums, &follower), CAUCUS_OK);
    return follower;
}

static caucus_status new_follower(void *user, uint64_t *ret_digest) {
    relayed *r = user;
    caucus_coordinator *follower = UNTOUCHED;
    uint64_t cost, sums;
    caucus_follower_common(r->coordinator, &cost, &sums);
    failing_begin();
    caucus_status status =
        caucus_follower_new(r->plan, caucus_coordinator_announcement(r->coordinator), cost, sums, &follower);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(follower, UNTOUCHED);
        return status;
    }
    *ret_digest = caucus_coordinator_announcement(follower)->serial;
    caucus_coordinator_free(follower);
    return CAUCUS_OK;
}

/* Reports until one is refused for want of memory: those before it are in the bytes, and it is not. */
static caucus_status gather(void *user, uint64_t *ret_digest) {
    relayed *r = user;
    caucus_coordinator *follower = follower_of(r);
    caucus_gather *g = UNTOUCHED;
    uint64_t counted = 0;
    failing_begin();
    caucus_status status = caucus_gather_new(follower, &g);
    for (uint32_t i = 1; status == CAUCUS_OK && i <= CLIENTS; i++) {
        const caucus_report report = report_of(r, i);
        status = caucus_gather_count(g, &report);
        counted += status == CAUCUS_OK;
    }
    if (g == UNTOUCHED) {
        failing_end();
        assert_int_not_equal(status, CAUCUS_OK);
    } else {
        failing.fail = 0; /* whatever has failed has failed */
        assert_int_equal(caucus_gather_items(g), counted);
        const size_t bytes = caucus_gather_bytes(g);
        uint8_t *partial = malloc(bytes);
        assert_non_null(partial);
        caucus_gather_write(g, partial);
        caucus_relayed read;
        assert_int_equal(caucus_relayed_read(r->plan, partial, bytes, &read), CAUCUS_OK);
        *ret_digest = failing_digest(1, partial, bytes);
        free(partial);
        caucus_gather_free(g);
        failing_end();
    }
    caucus_coordinator_free(follower);
    return status;
}

static caucus_status take(void *user, uint64_t *ret_digest) {
    relayed *r = user;
    caucus_coordinator *c = NULL;
    assert_int_equal(caucus_coordinator_restore(r->plan, &r->key, r->state, r->state_bytes, &c), CAUCUS_OK);
    const uint64_t before = digest_of(c);
    const caucus_relayed_from from = {0};
    caucus_relayed partial;
    uint32_t answered = 77;
    assert_int_equal(caucus_relayed_read(r->plan, r->partial, r->partial_bytes, &partial), CAUCUS_OK);
    failing_begin();
    caucus_status status = caucus_relayed_take(c, &partial, &from, &answered);
    failing_end();
    const uint64_t after = digest_of(c);
    if (status == CAUCUS_OK) {
        assert_int_equal(answered, CLIENTS);
        *ret_digest = after;
    } else {
        assert_int_equal(answered, 77);
        assert_int_equal(before, after);
    }
    caucus_coordinator_free(c);
    return status;
}

static void each(caucus_algorithm algorithm) {
    relayed r = {0};
    const caucus_settings s = testing_settings(algorithm, CAUCUS_TRUST_COORDINATOR, CLIENTS, EXPERTS, 40, 8);
    assert_int_equal(caucus_plan_new(&s, &r.plan, NULL), CAUCUS_OK);
    caucus_key_from_seed(5, &r.key);
    assert_int_equal(caucus_coordinator_new(r.plan, &r.key, &r.coordinator), CAUCUS_OK);
    r.state_bytes = caucus_coordinator_state_bytes(r.coordinator);
    r.state = malloc(r.state_bytes);
    assert_non_null(r.state);
    assert_int_equal(caucus_coordinator_save(r.coordinator, r.state, r.state_bytes), CAUCUS_OK);
    caucus_coordinator *follower = follower_of(&r);
    caucus_gather *g = NULL;
    assert_int_equal(caucus_gather_new(follower, &g), CAUCUS_OK);
    for (uint32_t i = 1; i <= CLIENTS; i++) {
        const caucus_report report = report_of(&r, i);
        assert_int_equal(caucus_gather_count(g, &report), CAUCUS_OK);
    }
    r.partial_bytes = caucus_gather_bytes(g);
    r.partial = malloc(r.partial_bytes);
    assert_non_null(r.partial);
    caucus_gather_write(g, r.partial);
    caucus_gather_free(g);
    caucus_coordinator_free(follower);
    failing_each(&(failing_test){.name = "follower", .operation = new_follower, .user = &r, .at_least = 2});
    failing_each(&(failing_test){.name = "gather", .operation = gather, .user = &r, .at_least = 3});
    failing_each(&(failing_test){.name = "take", .operation = take, .user = &r, .at_least = 1});
    free(r.partial);
    free(r.state);
    caucus_coordinator_free(r.coordinator);
    caucus_plan_free(r.plan);
}

static void test_relayed(void **state) {
    (void)state;
    each(CAUCUS_ALGORITHM_SVT);
    each(CAUCUS_ALGORITHM_STOCH);
    each(CAUCUS_ALGORITHM_HEDGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_relayed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
