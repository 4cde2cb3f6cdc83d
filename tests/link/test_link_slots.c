/* SPDX-License-Identifier: Apache-2.0 */
/* test_link_slots.c: a link at its own pace that is killed and given its losses again, in a later slot.
 *
 * A loss belongs to the slot in which the link has taken it. The link saves that before it says so: whoever is killed
 * then, comes back from the state a slot later and is given whatever the state does not know must have all losses of a
 * slot in one item (docs/PRIVACY.md, "At their own pace", rule 4). Exactly, for every record of a device, with a twin
 * whose journal forgets what was saved for the sake of losses alone; and for kills after any call, loss by loss. */
#include "dp/exact.h"

#include <inttypes.h>

#include "link/plain_link.h"
#include "plan/stoch.h"
#include "wire/wire.h"

#define D 2
#define RECORDS 21 /* nothing; one loss of 4 kinds; two losses of 16 kinds */
#define ITEMS 512
#define FRAME_BYTES 4096

typedef struct device {
    const caucus_plan *plan;
    caucus_link *link;
    uint8_t *saved;
    size_t saved_bytes;
    bool forgets, observing; /* the twin keeps no state that was saved because losses were taken */
    uint64_t slot, said;     /* announcements so far */
    uint32_t items;
    int64_t value[ITEMS][D];
} device;

static caucus_plan *own_plan(caucus_trust trust, caucus_unit unit, uint32_t grid) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, trust, 1);
    s.unit = unit;
    s.pace = CAUCUS_PACE_OWN;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.message = trust == CAUCUS_TRUST_NOBODY ? CAUCUS_MESSAGE_KNORM : CAUCUS_MESSAGE_AUTO;
    s.clients = 1;
    s.grid = grid;
    return exact_plan(&s);
}

static bool save(void *user, const uint8_t *bytes, size_t size) {
    device *v = user;
    if (v->forgets && v->observing)
        return true;
    v->saved = realloc(v->saved, size);
    assert_non_null(v->saved);
    memcpy(v->saved, bytes, size);
    v->saved_bytes = size;
    return true;
}

/* What the device sends goes to the list of items; one that comes again has the same values. */
static void collect(device *v) {
    for (;;) {
        size_t size = 0, used = 0;
        const uint8_t *bytes = caucus_link_to_send(v->link, &size);
        if (size == 0)
            return;
        int64_t scratch[D];
        caucus_frame frame;
        assert_int_equal(caucus_wire_take(bytes, size, D, scratch, &used, &frame, NULL), CAUCUS_OK);
        assert_true(used > 0);
        if (frame.kind == CAUCUS_FRAME_REPORT) {
            const uint64_t number = frame.report.block;
            assert_true(number >= 1 && number <= v->items + 1 && number <= ITEMS);
            if (number <= v->items)
                assert_memory_equal(v->value[number - 1], frame.report.value, sizeof v->value[0]);
            memcpy(v->value[number - 1], frame.report.value, sizeof v->value[0]);
            v->items = number > v->items ? (uint32_t)number : v->items;
        }
        caucus_link_sent(v->link, used);
    }
}

static void tell(device *v, const caucus_frame *frame) {
    uint8_t bytes[FRAME_BYTES];
    caucus_error error = {0};
    const size_t size = caucus_wire_put(frame, bytes, sizeof bytes);
    assert_true(size > 0);
    if (caucus_link_receive(v->link, bytes, size, &error) != CAUCUS_OK)
        fail_msg("link: %s %s", error.field, error.text);
}

/* The next question; everything that was sent is said to be counted. */
static void announce(device *v) {
    const caucus_frame frame = {
        .kind = CAUCUS_FRAME_ANNOUNCEMENT,
        .sums_next = v->items + 1,
        .announcement = {.serial = v->said, .ask = CAUCUS_ASK_LEAF, .block = v->said + 2},
    };
    v->said++;
    tell(v, &frame);
    collect(v);
}

static void enter_slot(device *v, uint64_t slot) {
    caucus_error error = {0};
    v->slot = slot;
    assert_int_equal(caucus_link_slot(v->link, slot, &error), CAUCUS_OK);
    collect(v);
}

static void give(device *v, const double *loss, uint64_t rows) {
    caucus_error error = {0};
    v->observing = true;
    assert_int_equal(caucus_link_observe_rows(v->link, loss, rows, &error), CAUCUS_OK);
    v->observing = false;
    collect(v);
}

/* A life begins, from the state if there is one, and is connected. */
static void begin(device *v, uint64_t seed) {
    caucus_key key;
    caucus_error error = {0};
    caucus_key_from_seed(seed, &key);
    caucus_link_free(v->link); /* killed: what was not saved is gone */
    v->link = NULL;
    assert_int_equal(plain_link(v->plan, NULL, 1, &key, v->saved, v->saved_bytes, save, v, &v->link, &error),
                     CAUCUS_OK);
    caucus_link_connected(v->link, 0);
    collect(v);
    caucus_frame welcome = {
        .kind = CAUCUS_FRAME_WELCOME, .version = CAUCUS_WIRE_VERSION, .sums_next = v->items > 0 ? v->items : 1};
    memcpy(welcome.plan, caucus_plan_hash(v->plan), sizeof welcome.plan);
    tell(v, &welcome);
    collect(v);
}

static void end(device *v) {
    caucus_link_free(v->link);
    free(v->saved);
}

/* The losses of record r: how many, and loss i of expert y. */
static uint32_t record_losses(uint32_t r) {
    return r == 0 ? 0 : r < 5 ? 1 : 2;
}

static void record_loss(uint32_t r, uint32_t i, double ret[D]) {
    const uint32_t bits = r == 0 ? 0 : r < 5 ? r - 1 : r - 5;
    for (uint32_t y = 0; y < D; y++)
        ret[y] = bits >> (2 * i + y) & 1;
}

/* The record is slot 104. Between its two losses an item about an earlier slot is made and saved, the open slot with
 * it; then the device is killed, and comes back in slot 105 to an application that gives what the state lacks. */
static void play_killed(device *v, uint32_t record) {
    double loss[D];
    begin(v, 1);
    announce(v);
    for (uint64_t slot = 101; slot <= 103; slot++) /* the first does not count; the item of 102 is on its way in 103 */
        enter_slot(v, slot);
    assert_int_equal(v->items, 1);
    enter_slot(v, 104);
    const uint64_t before = caucus_link_round(v->link);
    for (uint32_t i = 0; i < record_losses(record); i++) {
        record_loss(record, i, loss);
        give(v, loss, 1);
        if (i == 0)
            announce(v);
    }
    if (record_losses(record) == 0)
        announce(v);
    assert_int_equal(v->items, 2); /* the item of slot 103 */
    begin(v, 2);
    enter_slot(v, 105);
    for (uint64_t known = caucus_link_round(v->link) - before; known < record_losses(record); known++) {
        record_loss(record, (uint32_t)known, loss);
        give(v, loss, 1);
    }
    announce(v);
    for (uint64_t slot = 106; slot <= 108; slot++) {
        enter_slot(v, slot);
        announce(v);
    }
}

/* The largest log-ratio of all that the device sends where nobody is trusted: K-norm's density falls with the largest
 * coordinate of each item. */
static long double killed_epsilon(bool forgets) {
    static device sent[RECORDS];
    caucus_plan *clear = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_UNIT_CLIENT_BLOCK, 1);
    caucus_plan *nobody = own_plan(CAUCUS_TRUST_NOBODY, CAUCUS_UNIT_CLIENT_BLOCK, 1);
    const long double rate = exact_rate(nobody->stoch.phase[0].vertex_noise[0].parameter);
    long double worst = 0;
    for (uint32_t r = 0; r < RECORDS; r++) {
        sent[r] = (device){.plan = clear, .forgets = forgets};
        play_killed(&sent[r], r);
        assert_int_equal(sent[r].items, 6);
    }
    for (uint32_t a = 0; a < RECORDS; a++)
        for (uint32_t b = 0; b < RECORDS; b++) {
            long double sum = 0;
            for (uint32_t i = 0; i < sent[a].items; i++) {
                long double far = 0;
                for (uint32_t y = 0; y < D; y++)
                    far = fmaxl(far, fabsl((long double)(sent[a].value[i][y] - sent[b].value[i][y])));
                sum += far * rate;
            }
            exact_raise(&worst, sum);
        }
    for (uint32_t r = 0; r < RECORDS; r++)
        end(&sent[r]);
    caucus_plan_free(clear);
    caucus_plan_free(nobody);
    return worst;
}

static void test_killed_and_given_again(void **state) {
    (void)state;
    exact_assert("killed, losses given again in the next slot", killed_epsilon(false), 1, 0.999999L);
    exact_assert_broken("  broken: saved with items alone", killed_epsilon(true), 1, 1.9999L);
}

/* ---- kills after any call ---- */

#define LOSSES 20 /* loss j of expert 0 is 2^j grid steps: sums say which losses are in them */

static uint32_t draw(uint64_t *state, uint32_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

/* Whatever call a kill comes after: a loss that was taken is in one item, and all that were taken in a slot in one. */
static void play_at_random(const caucus_plan *plan, uint64_t seed) {
    device v = {.plan = plan};
    uint64_t state = seed, slot_of[LOSSES] = {0}, life = 1;
    begin(&v, life++);
    announce(&v);
    for (uint64_t slot = 101; slot <= 103; slot++) /* an item, and so a state; without one a slot is passed over */
        enter_slot(&v, slot);
    for (uint32_t taken = 0, calls = 0; taken < LOSSES || calls < 200; calls++) {
        switch (draw(&state, 4)) {
        case 0:
            announce(&v);
            break;
        case 1:
            enter_slot(&v, v.slot + draw(&state, 2));
            break;
        default: {
            const uint32_t rows = taken == LOSSES ? 0 : 1 + draw(&state, LOSSES - taken < 3 ? LOSSES - taken : 3);
            double loss[3][D] = {{0}};
            for (uint32_t i = 0; i < rows; i++) {
                loss[i][0] = (double)((uint64_t)1 << (taken + i)) / (double)plan->grid;
                slot_of[taken + i] = v.slot;
            }
            give(&v, loss[0], rows);
            taken += rows;
        }
        }
        if (draw(&state, 3) == 0) {
            begin(&v, life++);
            assert_int_equal(caucus_link_round(v.link), taken); /* nothing is to be given again */
            enter_slot(&v, v.slot + draw(&state, 2));
            v.said--; /* the coordinator repeats its question */
            announce(&v);
        }
    }
    for (uint64_t last = v.slot + 4; v.slot < last;) {
        enter_slot(&v, v.slot + 1);
        announce(&v);
    }
    uint64_t item_of_slot[512] = {0};
    for (uint32_t j = 0; j < LOSSES; j++) {
        uint32_t found = 0, item = 0;
        for (uint32_t i = 0; i < v.items; i++)
            if (v.value[i][0] >> j & 1) {
                found++;
                item = i + 1;
            }
        if (found != 1)
            fail_msg("seed %" PRIu64 ": loss %u is in %u items", seed, j, found);
        assert_true(slot_of[j] - 101 < 512);
        uint64_t *known = &item_of_slot[slot_of[j] - 101];
        if (*known != 0 && *known != item)
            fail_msg("seed %" PRIu64 ": slot %" PRIu64 " is in two items", seed, slot_of[j]);
        *known = item;
    }
    end(&v);
}

static void test_kills_at_random(void **state) {
    (void)state;
    caucus_plan *plan = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_UNIT_EVENT, 1u << 20);
    for (uint64_t seed = 1; seed <= 200; seed++)
        play_at_random(plan, seed);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_and_given_again),
        cmocka_unit_test(test_kills_at_random),
    };
    return cmocka_run_group_tests_name("link-slots", tests, NULL, NULL);
}
