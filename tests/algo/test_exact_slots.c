/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_slots.c: clients at their own pace, exactly (docs/PRIVACY.md, statement 19).
 *
 * The record is everything that a device sees in one slot: 0 to 2 losses, each pair of them. A schedule says what
 * happens to the device, and what a coordinator that need not be honest asks of it; the real machine plays it in both
 * worlds. Its values before noise are looked at (a plan with trust coordinator sends them as they are), and the exact
 * laws of the messages that nobody need trust are computed from them: two transcripts may differ by e^1 at most.
 * Each rule has its twin, a client that breaks that rule and no other, which must exceed e^1. With no rule broken the
 * twin does what the machine does. */
#include "dp/exact.h"

#include "plan/stoch.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define RECORDS 21 /* nothing; one loss of 4 kinds; two losses of 16 kinds */
#define ITEMS 32
#define D 2

/* What a schedule is made of. */
enum {
    LOSS = '.',
    RECORD = 'R',
    NEXT_SLOT = '|',
    CLOCK_BACK = '<',
    CLOCK_FORTH = '>',
    QUESTION = '?',
    ACKNOWLEDGED = '!'
};

/* How a twin is broken. */
typedef enum fault {
    RIGHT,
    IN_PLACE,    /* an item is made of the open slot too */
    REMADE,      /* an item that is not acknowledged is made again, from sums that are still there */
    CLOCK_FALLS, /* the slot follows the clock back, and a change of slot is an end of a slot */
    SHOWS_EMPTY  /* nothing is sent where nothing was seen */
} fault;

typedef struct items {
    uint32_t count;
    int64_t value[ITEMS][D];
} items;

static caucus_plan *own_plan(caucus_trust trust, caucus_message message, uint32_t clients) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, trust, 1);
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    s.pace = CAUCUS_PACE_OWN;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    s.message = message;
    s.clients = clients;
    s.grid = 1;
    return exact_plan(&s);
}

/* The losses of record r: how many, and loss i of expert y. */
static uint32_t record_losses(uint32_t r) {
    return r == 0 ? 0 : r < 5 ? 1 : 2;
}

static double record_loss(uint32_t r, uint32_t i, uint32_t y) {
    const uint32_t bits = r == 0 ? 0 : r < 5 ? r - 1 : r - 5;
    return bits >> (2 * i + y) & 1;
}

/* ---- the real machine ---- */

static caucus_announcement question(uint64_t number) {
    return (caucus_announcement){.serial = number, .ask = CAUCUS_ASK_LEAF, .block = number + 2};
}

static void play_machine(const caucus_plan *plan, const char *schedule, uint32_t record, items *ret) {
    caucus_key key;
    caucus_client *c = NULL;
    uint64_t questions = 0, clock = 100;
    *ret = (items){0};
    caucus_key_from_seed(1, &key);
    assert_int_equal(caucus_client_new(plan, 1, &key, &c), CAUCUS_OK);
    caucus_announcement a = question(questions++);
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
    assert_int_equal(caucus_client_slot(c, clock++), CAUCUS_OK); /* the first is not counted */
    assert_int_equal(caucus_client_slot(c, clock), CAUCUS_OK);
    for (const char *at = schedule; *at != '\0'; at++) {
        if (*at == LOSS)
            assert_int_equal(caucus_client_observe(c, (double[]){1, 0}, 1), CAUCUS_OK);
        for (uint32_t i = 0; *at == RECORD && i < record_losses(record); i++)
            assert_int_equal(
                caucus_client_observe(c, (double[]){record_loss(record, i, 0), record_loss(record, i, 1)}, 1),
                CAUCUS_OK);
        clock += *at == NEXT_SLOT || *at == CLOCK_FORTH ? 1 : *at == CLOCK_BACK ? UINT64_MAX : 0;
        assert_int_equal(caucus_client_slot(c, clock), CAUCUS_OK);
        if (*at == QUESTION) {
            a = question(questions++);
            assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
            const caucus_report *r = caucus_client_report(c);
            if (!r)
                continue;
            assert_int_equal(r->first, r->block);
            assert_int_equal(r->epoch_or_leaf, 0);
            if (r->block == ret->count) { /* again: the same bytes */
                assert_memory_equal(ret->value[ret->count - 1], r->value, sizeof ret->value[0]);
                continue;
            }
            assert_int_equal(r->block, ret->count + 1);
            memcpy(ret->value[ret->count++], r->value, sizeof ret->value[0]);
        }
        if (*at == ACKNOWLEDGED)
            assert_int_equal(caucus_client_acknowledge(c, ret->count + 1), CAUCUS_OK);
    }
    caucus_client_free(c);
}

/* ---- its twin ---- */

typedef struct sums {
    int64_t sum[D], count;
} sums;

static void add_sums(sums *to, sums *from) {
    for (uint32_t y = 0; y < D; y++)
        to->sum[y] += from->sum[y];
    to->count += from->count;
    *from = (sums){0};
}

static void play_twin(fault broken, const char *schedule, uint32_t record, items *ret) {
    sums open = {0}, done = {0};
    bool complete = false, outstanding = false;
    int64_t clock = 0, slot = 0;
    *ret = (items){0};
    for (const char *at = schedule; *at != '\0'; at++) {
        if (*at == LOSS)
            add_sums(&open, &(sums){.sum = {1, 0}, .count = 1});
        for (uint32_t i = 0; *at == RECORD && i < record_losses(record); i++)
            add_sums(&open, &(sums){.sum = {(int64_t)record_loss(record, i, 0), (int64_t)record_loss(record, i, 1)},
                                    .count = 1});
        clock += *at == NEXT_SLOT || *at == CLOCK_FORTH ? 1 : *at == CLOCK_BACK ? -1 : 0;
        if (clock > slot || (broken == CLOCK_FALLS && clock != slot)) {
            add_sums(&done, &open);
            complete = true;
            slot = clock;
        }
        if (*at == ACKNOWLEDGED)
            outstanding = false;
        if (*at != QUESTION)
            continue;
        if (broken == IN_PLACE) {
            add_sums(&done, &open);
            complete = true;
        }
        if (broken == REMADE)
            complete |= outstanding;
        if ((outstanding && broken != REMADE && broken != IN_PLACE) || !complete ||
            (broken == SHOWS_EMPTY && done.count == 0))
            continue;
        for (uint32_t y = 0; y < D; y++)
            ret->value[ret->count][y] = done.count > 0 ? (2 * done.sum[y] + done.count) / (2 * done.count) : 0;
        ret->count++;
        if (broken != REMADE)
            done = (sums){0};
        complete = false;
        outstanding = true;
    }
}

/* ---- laws ---- */

/* The largest log-ratio of one message made of these values. */
static long double message_epsilon(const caucus_plan *nobody, const int64_t *a, const int64_t *b) {
    const caucus_stoch_phase *phase = &nobody->stoch.phase[0];
    if (nobody->stoch.message == CAUCUS_MESSAGE_VOTE) {
        long double p[D], q[D];
        caucus_select_flip_law(a, D, phase->vote_rate, p);
        caucus_select_flip_law(b, D, phase->vote_rate, q);
        return fmaxl(exact_ratio(p[0], q[0]), exact_ratio(p[1], q[1]));
    }
    long double far = 0; /* K-norm: the density falls with the largest coordinate */
    for (uint32_t y = 0; y < D; y++)
        far = fmaxl(far, fabsl((long double)(a[y] - b[y])));
    return far * exact_rate(phase->vertex_noise[0].parameter);
}

/* The largest log-ratio of everything the device sends, over all pairs of records. */
static long double schedule_epsilon(const caucus_plan *nobody, const char *schedule, bool machine, fault broken) {
    static items sent[RECORDS];
    caucus_plan *clear = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 1);
    long double worst = 0;
    for (uint32_t r = 0; r < RECORDS; r++)
        if (machine)
            play_machine(clear, schedule, r, &sent[r]);
        else
            play_twin(broken, schedule, r, &sent[r]);
    for (uint32_t a = 0; a < RECORDS; a++)
        for (uint32_t b = 0; b < RECORDS; b++) {
            long double sum = sent[a].count == sent[b].count ? 0 : (long double)INFINITY;
            for (uint32_t i = 0; i < sent[a].count && i < sent[b].count; i++)
                sum += message_epsilon(nobody, sent[a].value[i], sent[b].value[i]);
            exact_raise(&worst, sum);
        }
    caucus_plan_free(clear);
    return worst;
}

static const struct {
    const char *what, *schedule;
    fault broken;
    long double knorm, vote; /* of the twin */
} controls[] = {
    {"asked twice in one slot", "R?!R?!|?!", IN_PLACE, 2, 1.6636L},
    {"asked 24 times in one slot", "R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!R?!|?!",
     IN_PLACE, 24, 19.963L},
    {"asked in a slot after one that is over", "|R?!R|?!", IN_PLACE, 2, 1.6636L},
    {"acknowledgement withheld three times", "R|?.|?.|?!|?!", REMADE, 3, 0},
    {"clock set back, forth, back", "R<R?!>R?!<R?!>|?!", CLOCK_FALLS, 2, 1.6636L},
    {"slot empty or not", "R|?!|?!", SHOWS_EMPTY, INFINITY, INFINITY},
};

static void test_one_message_per_slot(void **state) {
    (void)state;
    caucus_plan *knorm = own_plan(CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_KNORM, 1);
    caucus_plan *vote = own_plan(CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_AUTO, 1);
    assert_int_equal(vote->stoch.message, CAUCUS_MESSAGE_VOTE);
    assert_true(knorm->guarantee.epsilon_messages <= 1 && vote->guarantee.epsilon_messages <= 1);
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        const char *schedule = controls[i].schedule;
        exact_assert(controls[i].what, schedule_epsilon(knorm, schedule, true, RIGHT), 1, 0.999999L);
        exact_assert("  votes", schedule_epsilon(vote, schedule, true, RIGHT), 0.83180L, 0.9999L);
        exact_assert_broken("  broken, K-norm", schedule_epsilon(knorm, schedule, false, controls[i].broken), 1,
                            controls[i].knorm * 0.9999L);
        if (controls[i].vote > 0)
            exact_assert_broken("  broken, votes", schedule_epsilon(vote, schedule, false, controls[i].broken), 1,
                                controls[i].vote * 0.9999L);
    }
    caucus_plan_free(knorm);
    caucus_plan_free(vote);
}

/* The twin with nothing broken is the machine, or the controls above would show nothing. */
static void test_twin_is_the_machine(void **state) {
    (void)state;
    static const char *const others[] = {"|?!|?!", ".|.|.|?!.?|!?", "R|?R|?.|!?!|?|?!", "|||R||?!R?|?<|?!"};
    caucus_plan *clear = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 1);
    for (size_t i = 0; i < sizeof controls / sizeof controls[0] + sizeof others / sizeof others[0]; i++) {
        const size_t known = sizeof controls / sizeof controls[0];
        const char *schedule = i < known ? controls[i].schedule : others[i - known];
        for (uint32_t r = 0; r < RECORDS; r++) {
            items machine, twin;
            play_machine(clear, schedule, r, &machine);
            play_twin(RIGHT, schedule, r, &twin);
            assert_int_equal(machine.count, twin.count);
            assert_memory_equal(machine.value, twin.value, sizeof machine.value);
        }
    }
    caucus_plan_free(clear);
}

/* ---- selections of a coordinator that is trusted ---- */

/* The largest log-ratio where the record's items enter selections: in how many each, and how many of them in one. */
static long double selections_epsilon(const caucus_plan *plan, uint32_t times, uint32_t at_once) {
    const caucus_rational rate = plan->stoch.phase[0].select_rate[0];
    const int64_t others = (int64_t)plan->settings.clients - 1;
    long double worst = 0;
    for (int64_t gap = -others; gap <= others; gap++) /* what all others leave between the two experts */
        for (int64_t here = -1; here <= 1; here++)
            for (int64_t there = -1; there <= 1; there++) {
                const int64_t a[D] = {0, gap + here * (int64_t)at_once}, b[D] = {0, gap + there * (int64_t)at_once};
                long double p[D], q[D];
                exact_select_law(CAUCUS_SELECT_FLIP, a, D, rate, p);
                exact_select_law(CAUCUS_SELECT_FLIP, b, D, rate, q);
                exact_raise(&worst, times * fmaxl(exact_ratio(p[0], q[0]), exact_ratio(p[1], q[1])));
            }
    return worst;
}

static caucus_report item_of(uint32_t client, uint64_t number, const int64_t *value) {
    return (caucus_report){
        .client = client, .kind = CAUCUS_ASK_LEAF, .first = number, .block = number, .count = D, .value = value};
}

static void test_one_item_one_decision(void **state) {
    (void)state;
    static const int64_t value[D] = {1, 0};
    for (uint32_t m = 2; m <= 3; m++) {
        caucus_plan *plan = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, m);
        caucus_coordinator *c = NULL;
        caucus_key key;
        uint64_t cost, next;
        bool answered;
        caucus_key_from_seed(2, &key);
        assert_int_equal(caucus_coordinator_new(plan, &key, &c), CAUCUS_OK);
        caucus_report first = item_of(1, 1, value), second = item_of(1, 2, value), third = item_of(1, 3, value);
        assert_int_equal(caucus_coordinator_receive(c, &second), CAUCUS_E_ORDER); /* not its next one */
        assert_int_equal(caucus_coordinator_receive(c, &first), CAUCUS_OK);
        caucus_coordinator_counted(c, 1, &cost, &next, &answered);
        assert_true(answered && next == 1); /* counted; acknowledged with the decision, not before */
        assert_int_equal(caucus_coordinator_receive(c, &first), CAUCUS_E_DUPLICATE);
        assert_int_equal(caucus_coordinator_receive(c, &second), CAUCUS_E_ORDER); /* a second one in this step */
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        caucus_coordinator_counted(c, 1, &cost, &next, &answered);
        assert_true(!answered && next == 2);
        assert_int_equal(caucus_coordinator_receive(c, &first), CAUCUS_E_DUPLICATE); /* into no second decision */
        assert_int_equal(caucus_coordinator_receive(c, &third), CAUCUS_E_ORDER);
        assert_int_equal(caucus_coordinator_receive(c, &second), CAUCUS_OK);
        exact_assert("an item in one selection", selections_epsilon(plan, 1, 1), 1, 0.999999L);
        exact_assert_broken("  in two selections", selections_epsilon(plan, 2, 1), 1, 1.9999L);
        exact_assert_broken("  two items of a device in one", selections_epsilon(plan, 1, 2), 1,
                            m == 2 ? 1.8317L : 1.9999L);
        caucus_coordinator_free(c);
        caucus_plan_free(plan);
    }
}

/* ---- numbers, noise and old copies ---- */

/* The noise of item `number` of a client with this key, which has seen nothing: its values are zeros. */
static void noise_of_item(const caucus_plan *plan, const caucus_key *key, uint64_t number, int64_t *ret) {
    caucus_client *c = NULL;
    const caucus_announcement a = question(0);
    assert_int_equal(caucus_client_new(plan, 1, key, &c), CAUCUS_OK);
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
    assert_int_equal(caucus_client_acknowledge(c, number), CAUCUS_OK);
    for (uint64_t slot = 1; slot <= 3; slot++)
        assert_int_equal(caucus_client_slot(c, slot), CAUCUS_OK);
    const caucus_report *r = caucus_client_report(c);
    assert_non_null(r);
    assert_int_equal(r->block, number);
    memcpy(ret, r->value, D * sizeof *ret);
    caucus_client_free(c);
}

static void test_noise_is_named_by_the_item(void **state) {
    (void)state;
    caucus_plan *plan = own_plan(CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_KNORM, 1);
    caucus_key key, other;
    uint32_t same = 0, again = 0, stored = 0;
    for (uint64_t seed = 0; seed < 64; seed++) {
        int64_t second[D], far[D], twice[D], fresh[D];
        caucus_key_from_seed(seed, &key);
        caucus_key_from_seed(seed + 1000, &other);
        noise_of_item(plan, &key, 2, second);
        noise_of_item(plan, &key, 65538, far);
        noise_of_item(plan, &key, 2, twice);
        noise_of_item(plan, &other, 2, fresh);
        same += memcmp(second, far, sizeof far) == 0;
        stored += memcmp(second, twice, sizeof twice) == 0;
        again += memcmp(second, fresh, sizeof fresh) == 0;
    }
    assert_int_equal(stored, 64); /* a key that is stored draws the same noise for an old copy's item: infinite */
    assert_true(same < 32 && again < 32); /* independent draws are equal now and then: the grid has one step */
    caucus_plan_free(plan);
}

static caucus_client *copy_of(const caucus_plan *plan, const caucus_client *c, const caucus_key *key) {
    uint8_t state[4096];
    const size_t bytes = caucus_client_state_bytes(c);
    caucus_client *copy = NULL;
    assert_true(bytes <= sizeof state);
    assert_int_equal(caucus_client_save(c, state, bytes), CAUCUS_OK);
    assert_int_equal(caucus_client_restore(plan, 1, key, state, bytes, &copy), CAUCUS_OK);
    return copy;
}

/* An old copy of a journal: a coordinator that is honest names a number that the copy cannot know, and it forgets what
 * was sent already. One that lies gets the slot a second time: 2.0, as documented. */
static void test_old_journal(void **state) {
    (void)state;
    caucus_plan *plan = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 1);
    caucus_key key;
    caucus_client *c = NULL;
    caucus_announcement a = question(0);
    caucus_key_from_seed(3, &key);
    assert_int_equal(caucus_client_new(plan, 1, &key, &c), CAUCUS_OK);
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
    for (uint64_t slot = 1; slot <= 2; slot++)
        assert_int_equal(caucus_client_slot(c, slot), CAUCUS_OK);
    assert_int_equal(caucus_client_observe(c, (double[]){1, 0}, 1), CAUCUS_OK);
    assert_int_equal(caucus_client_slot(c, 3), CAUCUS_OK);
    caucus_client *honest = copy_of(plan, c, &key), *lied_to = copy_of(plan, c, &key);
    assert_int_equal(caucus_client_report(c)->value[0], 1);
    assert_int_equal(caucus_client_report(lied_to)->value[0], 1); /* once more */
    assert_int_equal(caucus_client_acknowledge(honest, 2), CAUCUS_OK);
    assert_null(caucus_client_report(honest));
    assert_int_equal(caucus_client_item(honest), 2);
    assert_int_equal(caucus_client_observe(honest, (double[]){1, 0}, 1),
                     CAUCUS_OK); /* of the slot in hand: passed over */
    assert_int_equal(caucus_client_slot(honest, 4), CAUCUS_OK);
    assert_null(caucus_client_report(honest));
    assert_int_equal(caucus_client_slot(honest, 5), CAUCUS_OK);
    assert_int_equal(caucus_client_report(honest)->value[0], 0);
    assert_int_equal(caucus_client_report(honest)->block, 2);
    assert_int_equal(caucus_client_acknowledge(honest, 0), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_client_acknowledge(honest, (uint64_t)1 << 63), CAUCUS_E_FORMAT);
    assert_int_equal(caucus_client_acknowledge(honest, 1), CAUCUS_OK); /* mistaken: what waits stays */
    assert_int_equal(caucus_client_report(honest)->block, 2);
    caucus_client_free(c);
    caucus_client_free(honest);
    caucus_client_free(lied_to);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_message_per_slot),  cmocka_unit_test(test_twin_is_the_machine),
        cmocka_unit_test(test_one_item_one_decision), cmocka_unit_test(test_noise_is_named_by_the_item),
        cmocka_unit_test(test_old_journal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
