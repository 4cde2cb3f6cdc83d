/* SPDX-License-Identifier: Apache-2.0 */
/* test_relayed.c: reports that relays have counted leave the same state, byte for byte, as a coordinator that receives
 * them all; whatever else a relay sends is refused and leaves the state as it was. docs/PRIVACY.md, statement 27. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/coordinator.h"
#include "algo/phase_report.h"
#include "algo/relayed/relayed.h"
#include "num/little_endian.h"
#include "testing_settings.h"

#define CLIENTS 13u
#define EXPERTS 5u
#define RELAYS 3u

static uint64_t seed = 31;

static uint32_t below(uint32_t n) {
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) % n);
}

typedef struct bytes {
    uint8_t *at;
    size_t size;
} bytes;

static bytes state_of(const caucus_coordinator *c) {
    bytes b = {.size = caucus_coordinator_state_bytes(c)};
    b.at = malloc(b.size);
    assert_non_null(b.at);
    assert_int_equal(caucus_coordinator_save(c, b.at, b.size), CAUCUS_OK);
    return b;
}

static void expect_same(const caucus_coordinator *a, const caucus_coordinator *b) {
    bytes one = state_of(a), other = state_of(b);
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.at, other.at, one.size);
    free(one.at);
    free(other.at);
}

/* A machine that has heard what this one has announced. */
static caucus_coordinator *follow(const caucus_coordinator *c) {
    bytes b = state_of(c);
    caucus_coordinator *ret = NULL;
    caucus_key key;
    caucus_key_from_seed(3, &key);
    assert_int_equal(caucus_coordinator_restore(c->plan, &key, b.at, b.size, &ret), CAUCUS_OK);
    free(b.at);
    return ret;
}

static bytes written(const caucus_gather *g) {
    bytes b = {.size = caucus_gather_bytes(g)};
    b.at = malloc(b.size);
    assert_non_null(b.at);
    caucus_gather_write(g, b.at);
    return b;
}

static caucus_status take(caucus_coordinator *c, const bytes *b, const caucus_relayed_from *from, uint32_t *answered) {
    caucus_relayed p;
    caucus_status status = caucus_relayed_read(c->plan, b->at, b->size, &p);
    return status == CAUCUS_OK ? caucus_relayed_take(c, &p, from, answered) : status;
}

/* What a client may send in this step: the items still to come, some of them later than others. */
static uint32_t reports_of(const caucus_coordinator *c, uint32_t client, caucus_report ret[4],
                           int64_t value[4][EXPERTS]) {
    const caucus_announcement *now = caucus_coordinator_announcement(c);
    uint64_t cost = 0, sums = 0;
    bool answered = false;
    uint32_t count = 0;
    caucus_coordinator_counted(c, client, &cost, &sums, &answered);
    caucus_report r = phase_report(now, client, EXPERTS);
    if (now->ask <= CAUCUS_ASK_SUMS) {
        for (; cost > 0 && cost <= now->block && count < 3; cost++)
            ret[count++] =
                (caucus_report){.client = client,
                                .kind = CAUCUS_ASK_COST,
                                .first = cost,
                                .block = cost,
                                .epoch_or_leaf = now->epoch > 0 && below(4) == 0 ? now->epoch - 1 : now->epoch,
                                .count = 1};
        if (sums <= now->block && (now->ask == CAUCUS_ASK_SUMS || below(8) == 0)) {
            r = (caucus_report){.client = client,
                                .kind = CAUCUS_ASK_SUMS,
                                .first = sums,
                                .block = below(6) ? now->block : sums,
                                .epoch_or_leaf = now->epoch,
                                .count = EXPERTS};
            ret[count++] = r;
        }
    } else {
        ret[count++] = r;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t y = 0; y < EXPERTS; y++)
            value[i][y] = ret[i].kind == CAUCUS_ASK_VOTE ? below(EXPERTS)
                          : below(16) == 0               ? INT64_MAX /* clamped */
                                                         : (int64_t)below((uint32_t)c->plan->grid / 8);
        ret[i].value = value[i];
    }
    return count;
}

/* Between steps a relay's process ends, and another takes its clients. */
static void restart(const caucus_plan *plan, const caucus_coordinator *coordinator, caucus_coordinator **follower,
                    caucus_gather **gather) {
    uint64_t cost, sums;
    bool answered;
    caucus_gather_free(*gather);
    caucus_coordinator_free(*follower);
    caucus_follower_common(coordinator, &cost, &sums);
    assert_int_equal(caucus_follower_new(plan, caucus_coordinator_announcement(coordinator), cost, sums, follower),
                     CAUCUS_OK);
    for (uint32_t i = 1; i <= CLIENTS; i++) {
        caucus_coordinator_counted(coordinator, i, &cost, &sums, &answered);
        caucus_follower_place(*follower, i, cost, sums, caucus_coordinator_answered(coordinator, i));
    }
    assert_int_equal(caucus_gather_new(*follower, gather), CAUCUS_OK);
}

static void play(const char *name, const caucus_settings *settings) {
    caucus_error error = {0};
    caucus_plan *plan = NULL;
    caucus_key key;
    if (caucus_plan_new(settings, &plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s: %s", name, error.field, error.text);
    caucus_key_from_seed(3, &key);
    caucus_coordinator *direct = NULL, *behind = NULL;
    assert_int_equal(caucus_coordinator_new(plan, &key, &direct), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_new(plan, &key, &behind), CAUCUS_OK);
    const caucus_relayed_from from = {0};
    uint32_t steps = 0, items = 0;
    caucus_coordinator *follower[RELAYS];
    caucus_gather *gather[RELAYS];
    for (uint32_t k = 0; k < RELAYS; k++) { /* without a key: they hear what is announced, and know what they counted */
        assert_int_equal(caucus_follower_new(plan, caucus_coordinator_announcement(behind), 1, 1, &follower[k]),
                         CAUCUS_OK);
        assert_int_equal(caucus_gather_new(follower[k], &gather[k]), CAUCUS_OK);
    }
    for (; caucus_coordinator_announcement(direct)->ask != CAUCUS_ASK_NOTHING; steps++) {
        uint32_t waiting = caucus_coordinator_waiting(behind);
        if (steps % 5 == 3) /* one of them is started again, and told what was counted of its clients */
            restart(plan, behind, &follower[steps % RELAYS], &gather[steps % RELAYS]);
        for (uint32_t i = 1; i <= CLIENTS; i++) {
            caucus_report r[4];
            int64_t value[4][EXPERTS];
            const uint32_t count = below(8) == 0 ? 0 : reports_of(direct, i, r, value);
            for (uint32_t k = 0; k < count; k++) { /* each of them twice: the second is a duplicate everywhere */
                assert_int_equal(caucus_coordinator_receive(direct, &r[k]), CAUCUS_OK);
                assert_int_equal(caucus_gather_count(gather[i % RELAYS], &r[k]), CAUCUS_OK);
                assert_int_equal(caucus_coordinator_receive(direct, &r[k]),
                                 caucus_gather_count(gather[i % RELAYS], &r[k]));
                items++;
            }
        }
        for (uint32_t k = 0; k < RELAYS; k++) {
            uint32_t answered = 0;
            bytes b = written(gather[k]);
            assert_int_equal(take(behind, &b, &from, &answered), CAUCUS_OK);
            waiting -= answered;
            assert_int_equal(caucus_coordinator_waiting(behind), waiting);
            bytes before = state_of(behind);
            const bool any = caucus_gather_items(gather[k]) > 0; /* replayed: nothing of it counts a second time */
            assert_int_equal(take(behind, &b, &from, &answered), any ? CAUCUS_E_CONFLICT : CAUCUS_OK);
            bytes after = state_of(behind);
            assert_memory_equal(before.at, after.at, before.size);
            free(before.at);
            free(after.at);
            free(b.at);
            caucus_gather_clear(gather[k]);
        }
        expect_same(direct, behind);
        assert_int_equal(caucus_coordinator_decide(direct), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_decide(behind), CAUCUS_OK);
        expect_same(direct, behind);
        for (uint32_t k = 0; k < RELAYS; k++) {
            const caucus_announcement *now = caucus_coordinator_announcement(behind);
            assert_int_equal(caucus_follower_hear(follower[k], now), CAUCUS_OK);
            assert_int_equal(caucus_follower_hear(follower[k], now), CAUCUS_E_ORDER);
        }
    }
    for (uint32_t k = 0; k < RELAYS; k++) {
        caucus_gather_free(gather[k]);
        caucus_coordinator_free(follower[k]);
    }
    print_message("%s: %u steps, %u items\n", name, steps, items);
    assert_true(steps > 5 && items > 5 * CLIENTS);
    caucus_coordinator_free(direct);
    caucus_coordinator_free(behind);
    caucus_plan_free(plan);
}

/* A relay has few of a plan's clients. As long as they answer each step they are in step: names in a group, of two
 * bytes or a bit each, and not in the list. */
static void few_are_in_step(void **state) {
    (void)state;
    enum { ALL = 1000, HERE = 3, HEAD = 33, GROUP = 8 };
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, ALL, EXPERTS, 20, 30);
    caucus_plan *plan = NULL;
    caucus_coordinator *coordinator = NULL, *follower = NULL;
    caucus_gather *g = NULL;
    caucus_key key;
    caucus_error error;
    caucus_key_from_seed(3, &key);
    assert_int_equal(caucus_plan_new(&s, &plan, &error), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_new(plan, &key, &coordinator), CAUCUS_OK);
    assert_int_equal(caucus_follower_new(plan, caucus_coordinator_announcement(coordinator), 1, 1, &follower),
                     CAUCUS_OK);
    assert_int_equal(caucus_gather_new(follower, &g), CAUCUS_OK);
    for (uint32_t step = 0; step < 5; step++) {
        for (uint32_t i = 1; i <= HERE; i++) {
            caucus_report r[4];
            int64_t value[4][EXPERTS];
            const uint32_t count = reports_of(follower, i, r, value);
            for (uint32_t k = 0; k < count; k++)
                assert_int_equal(caucus_gather_count(g, &r[k]), CAUCUS_OK);
        }
        assert_int_equal(caucus_gather_bytes(g), HEAD + GROUP + 2 * HERE + 8 * EXPERTS);
        bytes b = written(g);
        uint32_t answered = 0;
        assert_int_equal(take(coordinator, &b, &(caucus_relayed_from){0}, &answered), CAUCUS_OK);
        assert_int_equal(answered, HERE);
        free(b.at);
        caucus_gather_clear(g);
        assert_int_equal(caucus_coordinator_decide(coordinator), CAUCUS_OK);
        assert_int_equal(caucus_follower_hear(follower, caucus_coordinator_announcement(coordinator)), CAUCUS_OK);
    }
    caucus_gather_free(g);
    caucus_coordinator_free(follower);
    caucus_coordinator_free(coordinator);
    caucus_plan_free(plan);
}

static void relayed_is_direct(void **state) {
    (void)state;
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CLIENTS, EXPERTS, 80, 30);
    play("svt", &s);
    s = testing_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CLIENTS, EXPERTS, 80, 30);
    play("hedge", &s);
    s.renew = 20;
    play("hedge that renews itself", &s);
    s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CLIENTS, EXPERTS, 80, 30);
    s.renew = 20;
    play("svt that renews itself", &s);
    s = testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CLIENTS, EXPERTS, 256, 30);
    play("stoch", &s);
    s = testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CLIENTS, EXPERTS, 256, 30);
    s.message = CAUCUS_MESSAGE_VOTE;
    play("votes", &s);
    s.message = CAUCUS_MESSAGE_SHORTLIST;
    play("shortlist", &s);
    s.message = CAUCUS_MESSAGE_KNORM;
    play("knorm", &s);
}

/* ---- what a relay must not send ---- */

typedef struct refused {
    uint32_t count, last;
    caucus_status why;
} refused;

static void note_refused(void *user, uint32_t client, caucus_status why) {
    refused *r = user;
    *r = (refused){.count = r->count + 1, .last = client, .why = why};
}

typedef struct office {
    caucus_plan *plan;
    caucus_coordinator *machine;
    uint16_t placed[CLIENTS];
    caucus_relayed_from from;
    refused refused;
    bytes partial; /* of clients 1 to 4, at relay 1 */
} office;

static void open_office(office *o, const caucus_settings *settings) {
    caucus_error error = {0};
    caucus_key key;
    memset(o, 0, sizeof *o);
    if (caucus_plan_new(settings, &o->plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    caucus_key_from_seed(3, &key);
    assert_int_equal(caucus_coordinator_new(o->plan, &key, &o->machine), CAUCUS_OK);
    for (uint32_t i = 0; i < CLIENTS; i++)
        o->placed[i] = i < 4 ? 1 : 2;
    o->from = (caucus_relayed_from){.placed = o->placed, .relay = 1, .refused = note_refused, .user = &o->refused};
    caucus_coordinator *follower = follow(o->machine);
    caucus_gather *gather = NULL;
    assert_int_equal(caucus_gather_new(follower, &gather), CAUCUS_OK);
    for (uint32_t i = 1; i <= 4; i++) {
        caucus_report r[4];
        int64_t value[4][EXPERTS];
        const uint32_t count = reports_of(follower, i, r, value);
        for (uint32_t k = 0; k < count; k++)
            if (r[k].kind == caucus_coordinator_announcement(follower)->ask)
                assert_int_equal(caucus_gather_count(gather, &r[k]), CAUCUS_OK);
    }
    o->partial = written(gather);
    caucus_gather_free(gather);
    caucus_coordinator_free(follower);
}

static void close_office(office *o) {
    free(o->partial.at);
    caucus_coordinator_free(o->machine);
    caucus_plan_free(o->plan);
}

/* Answered so, with nothing changed. */
static void expect_refused(office *o, caucus_status why) {
    uint32_t answered = 77;
    bytes before = state_of(o->machine);
    o->refused = (refused){0};
    assert_int_equal(take(o->machine, &o->partial, &o->from, &answered), why);
    bytes after = state_of(o->machine);
    assert_memory_equal(before.at, after.at, before.size);
    assert_int_equal(answered, 77);
    free(before.at);
    free(after.at);
}

/* Alter a number of the partial, see it refused, and put it back. */
static void expect_altered(office *o, size_t at, size_t width, uint64_t value, caucus_status why) {
    const uint64_t before = caucus_le_get(o->partial.at + at, width);
    (void)caucus_le_put(o->partial.at + at, value, width);
    expect_refused(o, why);
    (void)caucus_le_put(o->partial.at + at, before, width);
}

static void hostile_partials_change_nothing(void **state) {
    (void)state;
    static const struct {
        caucus_algorithm algorithm;
        caucus_trust trust;
        caucus_message message;
    } all[] = {{CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO},
               {CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO},
               {CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO},
               {CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_VOTE}};
    for (size_t a = 0; a < sizeof all / sizeof all[0]; a++) {
        caucus_settings s = testing_settings(all[a].algorithm, all[a].trust, CLIENTS, EXPERTS, 80, 30);
        if (all[a].trust == CAUCUS_TRUST_NOBODY)
            s.message = all[a].message;
        office o;
        open_office(&o, &s);
        for (size_t cut = 0; cut < o.partial.size; cut++) { /* cut short anywhere, or with something behind it */
            bytes shorter = {.at = malloc(cut + 1), .size = cut};
            uint32_t answered;
            assert_non_null(shorter.at);
            memcpy(shorter.at, o.partial.at, cut);
            assert_int_equal(take(o.machine, &shorter, &o.from, &answered), CAUCUS_E_FORMAT);
            free(shorter.at);
        }
        expect_altered(&o, 0, 8, 1, CAUCUS_E_ORDER);           /* of another announcement */
        expect_altered(&o, 8, 8, UINT64_MAX, CAUCUS_E_FORMAT); /* q below 0 */
        expect_altered(&o, 8, 8, INT64_MAX, CAUCUS_E_FORMAT);  /* and beyond what four clients can have lost */
        expect_altered(&o, 24, 1, 3, CAUCUS_E_FORMAT);         /* no such values */
        expect_altered(&o, 33, 4, 1, CAUCUS_E_FORMAT);         /* no such chunk */
        expect_altered(&o, 37, 4, 5, CAUCUS_E_FORMAT);         /* more clients than are there */
        expect_altered(&o, 41, 2, CLIENTS, CAUCUS_E_FORMAT);   /* one beyond the plan's */
        expect_altered(&o, 43, 2, 0, CAUCUS_E_FORMAT);         /* the same client twice */
        expect_altered(&o, 47, 2, 9, CAUCUS_E_CONFLICT);       /* one that is elsewhere: client 10 */
        o.placed[1] = 2;
        expect_refused(&o, CAUCUS_E_CONFLICT);
        assert_true(o.refused.count == 1 && o.refused.last == 2 && o.refused.why == CAUCUS_E_PATH);
        o.placed[1] = 1;
        const size_t values = 49; /* head 33, one group 8 + 4 * 2 */
        if (all[a].algorithm != CAUCUS_ALGORITHM_SVT) {
            const bool votes = all[a].trust == CAUCUS_TRUST_NOBODY;
            expect_altered(&o, values, votes ? 4 : 8, votes ? 5 : INT64_MAX, CAUCUS_E_FORMAT);
            expect_altered(&o, values, votes ? 4 : 8, votes ? UINT32_MAX : (uint64_t)INT64_MIN, CAUCUS_E_FORMAT);
        }
        uint32_t answered = 0; /* and the partial itself is good */
        assert_int_equal(take(o.machine, &o.partial, &o.from, &answered), CAUCUS_OK);
        assert_int_equal(answered, 4);
        expect_refused(&o, CAUCUS_E_CONFLICT);
        assert_int_equal(o.refused.count, 4);
        assert_int_equal(o.refused.why, CAUCUS_E_DUPLICATE);
        close_office(&o);
    }
}

/* Sums at the very edge of what the items can reach, and one beyond it. */
static void sums_reach_no_further_than_their_items(void **state) {
    (void)state;
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CLIENTS, EXPERTS, 80, 30);
    office o;
    open_office(&o, &s);
    const uint64_t most = 4 * (uint64_t)caucus_coordinator_most(o.machine, 1, 1);
    expect_altered(&o, 49, 8, most + 1, CAUCUS_E_FORMAT);
    expect_altered(&o, 49 + 8 * (EXPERTS - 1), 8, most + 1, CAUCUS_E_FORMAT);
    (void)caucus_le_put(o.partial.at + 49, most, 8);
    uint32_t answered = 0;
    assert_int_equal(take(o.machine, &o.partial, &o.from, &answered), CAUCUS_OK);
    assert_true(o.machine->cum[0] == (int64_t)most);
    close_office(&o);
}

/* An item out of order in a list: nothing of the list stays, what came before it included. */
static void a_list_is_taken_whole(void **state) {
    (void)state;
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CLIENTS, EXPERTS, 80, 30);
    office o;
    open_office(&o, &s);
    assert_int_equal(caucus_coordinator_decide(o.machine), CAUCUS_OK); /* nobody has answered: block 2 is asked about */
    caucus_coordinator *follower = follow(o.machine);
    caucus_gather *gather = NULL;
    assert_int_equal(caucus_gather_new(follower, &gather), CAUCUS_OK);
    const int64_t value[EXPERTS] = {1, 2, 3, 4, 5};
    for (uint32_t i = 1; i <= 2; i++) /* client 2: block 1, then block 2; client 1 both at once */
        for (uint64_t block = 1; block <= 2; block++) {
            const caucus_report r = {.client = i,
                                     .kind = CAUCUS_ASK_SUMS,
                                     .first = i == 1 ? 1 : block,
                                     .block = i == 1 ? 2 : block,
                                     .epoch_or_leaf = follower->now.epoch,
                                     .count = EXPERTS,
                                     .value = value};
            assert_int_equal(caucus_gather_count(gather, &r), i == 1 && block == 2 ? CAUCUS_E_DUPLICATE : CAUCUS_OK);
        }
    free(o.partial.at);
    o.partial = written(gather);
    const size_t head = 33, group = caucus_gather_items(gather) == 3 ? 8 + 2 : 0, item = 29;
    assert_int_equal(o.partial.size, head + group + 2 * item + 8 * EXPERTS); /* client 1's is what is asked in step */
    expect_altered(&o, head + group + item + 5, 8, 1, CAUCUS_E_CONFLICT);    /* `first` of client 2's second item */
    assert_int_equal(o.refused.last, 2);
    assert_int_equal(o.refused.why, CAUCUS_E_ORDER);
    o.placed[1] = 2; /* client 2, of whom both items are in the list, is elsewhere */
    expect_refused(&o, CAUCUS_E_CONFLICT);
    assert_int_equal(o.refused.count, 2);
    assert_int_equal(o.refused.why, CAUCUS_E_PATH);
    o.placed[1] = 1;
    uint32_t answered = 0;
    assert_int_equal(take(o.machine, &o.partial, &o.from, &answered), CAUCUS_OK);
    assert_int_equal(answered, 2);
    assert_true(o.machine->cum[4] == 3 * 5);
    caucus_gather_clear(gather);
    assert_int_equal(caucus_gather_items(gather), 0);
    assert_int_equal(caucus_gather_bytes(gather), head);
    caucus_gather_free(gather);
    caucus_coordinator_free(follower);
    close_office(&o);
}

/* As many as make a bitmap, in more than one chunk. */
static void large_groups_are_bitmaps(void **state) {
    (void)state;
    enum { FLEET = 70003 };
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, FLEET, EXPERTS, 80, 30);
    caucus_plan *plan = NULL;
    caucus_key key;
    caucus_coordinator *machine = NULL, *follower = NULL;
    caucus_gather *gather = NULL;
    const caucus_relayed_from from = {0};
    const int64_t one = 1;
    uint32_t answered = 0;
    caucus_key_from_seed(3, &key);
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_new(plan, &key, &machine), CAUCUS_OK);
    follower = follow(machine);
    assert_int_equal(caucus_gather_new(follower, &gather), CAUCUS_OK);
    uint32_t sent = 0;
    for (uint32_t i = 1; i <= FLEET; i++) {
        const caucus_report r = {
            .client = i, .kind = CAUCUS_ASK_COST, .first = 1, .block = 1, .count = 1, .value = &one};
        if (i % 5 == 0)
            continue;
        assert_int_equal(caucus_gather_count(gather, &r), CAUCUS_OK);
        sent++;
    }
    bytes b = written(gather);
    assert_true(b.size < 20000);
    assert_int_equal(take(machine, &b, &from, &answered), CAUCUS_OK);
    assert_int_equal(answered, sent);
    assert_int_equal(caucus_coordinator_waiting(machine), FLEET - sent);
    assert_true(machine->threshold.q == sent);
    b.at[33 + 8 + 8191] ^= 0x40; /* one client more or less in the first bitmap */
    assert_int_equal(take(machine, &b, &from, &answered), CAUCUS_E_FORMAT);
    free(b.at);
    caucus_gather_free(gather);
    caucus_coordinator_free(follower);
    caucus_coordinator_free(machine);
    caucus_plan_free(plan);
}

typedef struct named {
    uint32_t refused, last, answered;
    uint32_t at_once;
} named;

static void name_refused(void *user, uint32_t client, caucus_status why) {
    named *n = user;
    assert_int_equal(why, CAUCUS_E_PATH);
    n->refused++;
    n->last = client;
}
static void name_answered(void *user, uint32_t client) {
    (void)client;
    ((named *)user)->answered++;
}
static void name_eight(void *user, uint32_t first, uint8_t bits) {
    assert_int_equal(first % 8, 0);
    ((named *)user)->answered += (uint32_t)__builtin_popcount(bits);
}

static void name_all(void *user, uint32_t first, uint32_t count) {
    assert_int_equal(first % count, 0);
    ((named *)user)->answered += count;
    ((named *)user)->at_once += count;
}

/* A large group is taken 64 or eight clients at a time where they are all in step: the state is that of a coordinator
 * that counts one after the other, also where some were away before, or one of them is at another relay. */
static void many_at_once(void **state) {
    (void)state;
    enum { FLEET = 70003, STEPS = 4 };
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, FLEET, EXPERTS, 80, 30);
    caucus_plan *plan = NULL;
    caucus_key key;
    caucus_coordinator *direct = NULL, *behind = NULL, *follower = NULL;
    caucus_gather *gather = NULL;
    static uint16_t placed[FLEET];
    caucus_key_from_seed(3, &key);
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_new(plan, &key, &direct), CAUCUS_OK);
    assert_int_equal(caucus_coordinator_new(plan, &key, &behind), CAUCUS_OK);
    assert_int_equal(caucus_follower_new(plan, caucus_coordinator_announcement(behind), 1, 1, &follower), CAUCUS_OK);
    assert_int_equal(caucus_gather_new(follower, &gather), CAUCUS_OK);
    for (uint32_t i = 0; i < FLEET; i++)
        placed[i] = 1;
    for (uint32_t step = 1; step <= STEPS; step++) {
        const int64_t none = 0;
        uint32_t one = 0, answered = 0;
        assert_int_equal(caucus_coordinator_announcement(direct)->ask, CAUCUS_ASK_COST);
        for (uint32_t i = 1; i <= FLEET; i++) {
            uint64_t cost, sums;
            bool has;
            if (below(step == 2 ? 3 : 200) == 0)
                continue;
            caucus_coordinator_counted(direct, i, &cost, &sums, &has);
            one = cost == step && i < 60000 ? i : one;
            for (; cost <= step; cost++) {
                const caucus_report r = {
                    .client = i, .kind = CAUCUS_ASK_COST, .first = cost, .block = cost, .count = 1, .value = &none};
                assert_int_equal(caucus_coordinator_receive(direct, &r), CAUCUS_OK);
                assert_int_equal(caucus_gather_count(gather, &r), CAUCUS_OK);
            }
        }
        named n = {0};
        caucus_relayed_from from = {.placed = placed,
                                    .relay = 1,
                                    .refused = name_refused,
                                    .answered = name_answered,
                                    .answered_eight = step % 2 ? name_eight : NULL,
                                    .answered_all = step < 3 ? name_all : NULL,
                                    .user = &n};
        bytes b = written(gather), before = state_of(behind);
        placed[one - 1] = 2;
        assert_int_equal(take(behind, &b, &from, &answered), CAUCUS_E_CONFLICT);
        assert_int_equal(n.refused, 1);
        assert_int_equal(n.last, one);
        bytes after = state_of(behind);
        assert_memory_equal(before.at, after.at, before.size);
        placed[one - 1] = 1;
        n.answered = 0;
        assert_int_equal(take(behind, &b, &from, &answered), CAUCUS_OK);
        assert_int_equal(n.answered, answered);
        assert_true(step != 1 || n.at_once > FLEET / 2);
        assert_int_equal(caucus_coordinator_waiting(direct), FLEET - answered);
        expect_same(direct, behind);
        assert_int_equal(caucus_coordinator_decide(direct), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_decide(behind), CAUCUS_OK);
        expect_same(direct, behind);
        assert_int_equal(caucus_follower_hear(follower, caucus_coordinator_announcement(behind)), CAUCUS_OK);
        caucus_gather_clear(gather);
        free(b.at);
        free(before.at);
        free(after.at);
    }
    caucus_gather_free(gather);
    caucus_coordinator_free(follower);
    caucus_coordinator_free(direct);
    caucus_coordinator_free(behind);
    caucus_plan_free(plan);
}

/* What no coordinator of the plan announces is not followed. */
static void only_what_can_be_announced_is_heard(void **state) {
    (void)state;
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CLIENTS, EXPERTS, 80, 30);
    office o;
    open_office(&o, &s);
    caucus_coordinator *follower = NULL, *none = NULL;
    const caucus_announcement now = *caucus_coordinator_announcement(o.machine);
    assert_int_equal(caucus_follower_new(o.plan, &now, 1, 1, &follower), CAUCUS_OK);
    caucus_announcement bad[5];
    for (int i = 0; i < 5; i++) {
        bad[i] = now;
        bad[i].serial = now.serial + 1;
        bad[i].block = now.block + 1;
    }
    bad[0].expert = EXPERTS;
    bad[1].ask = CAUCUS_ASK_LEAF;
    bad[2].block = 80;
    bad[3].listed = EXPERTS + 1;
    bad[4].listed = 1;
    bad[4].list[0] = EXPERTS;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(caucus_follower_hear(follower, &bad[i]), CAUCUS_E_FORMAT);
        assert_int_equal(caucus_follower_new(o.plan, &bad[i], 1, 1, &none), CAUCUS_E_FORMAT);
        assert_memory_equal(caucus_coordinator_announcement(follower), &now, sizeof now);
    }
    assert_null(none);
    caucus_coordinator_free(follower);
    close_office(&o);
}

int main(void) {
    printf("seed %llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relayed_is_direct),
        cmocka_unit_test(few_are_in_step),
        cmocka_unit_test(only_what_can_be_announced_is_heard),
        cmocka_unit_test(hostile_partials_change_nothing),
        cmocka_unit_test(sums_reach_no_further_than_their_items),
        cmocka_unit_test(a_list_is_taken_whole),
        cmocka_unit_test(large_groups_are_bitmaps),
        cmocka_unit_test(many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
