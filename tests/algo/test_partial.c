/* SPDX-License-Identifier: Apache-2.0 */
/* test_partial.c: reports dealt over any number of partials, in any order and on any thread, leave the same state, byte
 * for byte, as one coordinator that receives them all; and every report gets the same answer. */
#include "algo/federation.h"
#include "algo/phase_report.h"
#include "plan/plan.h"
#include "testing_settings.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#define CLIENTS 13
#define EXPERTS 12
#define PARTIALS 8
#define REPORTS 8 /* of one client in one step, at most */

/* splitmix64: anything that is the same everywhere. */
static uint64_t next(uint64_t *seed) {
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t *seed, uint32_t n) {
    return (uint32_t)(next(seed) % n);
}

/* What one client sends in one step, and what it is told. */
typedef struct sent {
    caucus_report report[REPORTS];
    int64_t value[REPORTS][EXPERTS];
    caucus_status answer[REPORTS];
    uint32_t reports;
} sent;

static caucus_report *add_report(sent *s, uint64_t *seed, caucus_report report, int64_t most) {
    int64_t *value = s->value[s->reports];
    for (uint32_t y = 0; y < EXPERTS; y++) {
        uint32_t kind = below(seed, 16); /* lies, too: they are clamped */
        value[y] = kind == 0 ? INT64_MAX : kind == 1 ? INT64_MIN : (int64_t)(next(seed) % (uint64_t)(most + 1));
    }
    report.value = value;
    s->report[s->reports] = report;
    return &s->report[s->reports++];
}

/* Blocks: the items that are still to come, late ones first; not all of them, so that some are late next time. */
static void send_blocks(sent *s, uint64_t *seed, const caucus_coordinator *c, const caucus_plan *plan,
                        uint32_t client) {
    const caucus_announcement *now = caucus_coordinator_announcement(c);
    uint64_t cost = 0, sums = 0;
    bool answered = false;
    caucus_coordinator_counted(c, client, &cost, &sums, &answered);
    for (; cost > 0 && cost <= now->block && s->reports < 4; cost++) {
        uint64_t epoch = below(seed, 8) || now->epoch == 0 ? now->epoch : now->epoch - 1;
        add_report(s, seed,
                   (caucus_report){.client = client,
                                   .kind = CAUCUS_ASK_COST,
                                   .first = cost,
                                   .block = cost,
                                   .epoch_or_leaf = epoch,
                                   .count = 1},
                   plan->grid / 16);
    }
    if ((now->ask == CAUCUS_ASK_SUMS || below(seed, 8) == 0) && sums <= now->block)
        add_report(s, seed,
                   (caucus_report){.client = client,
                                   .kind = CAUCUS_ASK_SUMS,
                                   .first = sums,
                                   .block = below(seed, 8) ? now->block : sums,
                                   .epoch_or_leaf = now->epoch,
                                   .count = EXPERTS},
                   plan->grid);
}

static void send_phase(sent *s, uint64_t *seed, const caucus_announcement *now, const caucus_plan *plan,
                       uint32_t client) {
    const caucus_report r = phase_report(now, client, EXPERTS);
    add_report(s, seed, r, now->ask == CAUCUS_ASK_VOTE ? EXPERTS - 1 : plan->grid);
}

/* One client's reports of this step: what it should send, now and then nothing, twice the same, or nonsense. */
static void fill(sent *s, uint64_t *seed, const caucus_coordinator *c, const caucus_plan *plan, uint32_t client) {
    const caucus_announcement *now = caucus_coordinator_announcement(c);
    uint32_t mood = below(seed, 10);
    s->reports = 0;
    if (mood == 0)
        return;
    if (now->ask >= CAUCUS_ASK_LEAF)
        send_phase(s, seed, now, plan, client);
    else
        send_blocks(s, seed, c, plan, client);
    if (mood == 1 && s->reports > 0)
        s->report[s->reports] = s->report[s->reports - 1], s->reports++;
    if (mood == 2)
        add_report(s, seed, (caucus_report){.client = client, .kind = now->ask, .block = now->block, .count = 3}, 1);
    if (mood == 3) {
        uint64_t block = now->block + below(seed, 2);
        add_report(s, seed, (caucus_report){.client = client, .kind = now->ask, .block = block, .count = EXPERTS}, 1);
    }
}

static uint8_t *saved(const caucus_coordinator *c, size_t *ret_bytes) {
    *ret_bytes = caucus_coordinator_state_bytes(c);
    uint8_t *state = malloc(*ret_bytes);
    assert_non_null(state);
    assert_int_equal(caucus_coordinator_save(c, state, *ret_bytes), CAUCUS_OK);
    return state;
}

static void assert_same_state(const caucus_coordinator *a, const caucus_coordinator *b) {
    size_t as, bs;
    uint8_t *x = saved(a, &as), *y = saved(b, &bs);
    assert_int_equal(as, bs);
    assert_memory_equal(x, y, as);
    free(x);
    free(y);
}

/* A coordinator whose reports are dealt over partials. */
typedef struct dealer {
    caucus_coordinator *coordinator;
    caucus_partial *partial[PARTIALS];
    uint32_t partials;
} dealer;

static void open_dealer(dealer *d, const caucus_plan *plan, const caucus_key *key, uint32_t partials) {
    *d = (dealer){.partials = partials};
    assert_int_equal(caucus_coordinator_new(plan, key, &d->coordinator), CAUCUS_OK);
    for (uint32_t i = 0; i < partials; i++)
        assert_int_equal(caucus_partial_new(d->coordinator, &d->partial[i]), CAUCUS_OK);
}

static void close_dealer(dealer *d) {
    for (uint32_t i = 0; i < d->partials; i++)
        caucus_partial_free(d->partial[i]);
    caucus_coordinator_free(d->coordinator);
}

static void merge(dealer *d) {
    uint32_t before = caucus_coordinator_waiting(d->coordinator), answered = 0;
    for (uint32_t i = 0; i < d->partials; i++) {
        answered += caucus_partial_answered(d->partial[i]);
        caucus_coordinator_merge(d->coordinator, d->partial[i]);
        assert_int_equal(caucus_partial_answered(d->partial[i]), 0);
    }
    assert_int_equal(caucus_coordinator_waiting(d->coordinator), before - answered);
}

/* Every client in turn, beginning anywhere, each report into any partial; merged now and then in between. */
static void deal(dealer *d, uint64_t *seed, const sent *from) {
    uint32_t start = below(seed, CLIENTS), step = 1 + below(seed, CLIENTS - 1); /* 13 is prime: all of them */
    for (uint32_t k = 0; k < CLIENTS; k++) {
        const sent *s = &from[(start + k * step) % CLIENTS];
        for (uint32_t i = 0; i < s->reports; i++)
            assert_int_equal(
                caucus_coordinator_count(d->coordinator, d->partial[below(seed, d->partials)], &s->report[i]),
                s->answer[i]);
        if (below(seed, 8) == 0)
            merge(d);
    }
    merge(d);
}

/* The same on threads: each takes the clients that are its own and adds up in its own partial. */
typedef struct worker {
    dealer *dealer;
    const sent *from;
    uint32_t number;
    bool differs;
} worker;

static void *work(void *user) {
    worker *w = user;
    for (uint32_t k = w->number; k < CLIENTS; k += w->dealer->partials)
        for (uint32_t i = 0; i < w->from[k].reports; i++)
            w->differs |= caucus_coordinator_count(w->dealer->coordinator, w->dealer->partial[w->number],
                                                   &w->from[k].report[i]) != w->from[k].answer[i];
    return NULL;
}

static void deal_on_threads(dealer *d, const sent *from) {
    worker w[PARTIALS];
    pthread_t thread[PARTIALS];
    for (uint32_t i = 0; i < d->partials; i++) {
        w[i] = (worker){.dealer = d, .from = from, .number = i};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (uint32_t i = 0; i < d->partials; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_false(w[i].differs);
    }
    merge(d);
}

/* Play the coordinator's side of a whole run. */
static void play(const char *name, const caucus_settings *settings) {
    enum { DEALT = 4 }; /* 1, 3 and 8 partials, and 3 on threads */
    static const uint32_t partials[DEALT] = {1, 3, 8, 3};
    caucus_error error = {0};
    caucus_plan *plan = NULL;
    if (caucus_plan_new(settings, &plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s: %s", name, error.field, error.text);
    caucus_key key;
    caucus_key_from_seed(3, &key);
    caucus_coordinator *plain = NULL;
    assert_int_equal(caucus_coordinator_new(plan, &key, &plain), CAUCUS_OK);
    dealer d[DEALT];
    for (uint32_t k = 0; k < DEALT; k++)
        open_dealer(&d[k], plan, &key, partials[k]);
    uint64_t seed = 11;
    uint32_t counted = 0, refused = 0, steps = 0;
    sent *from = calloc(CLIENTS, sizeof *from);
    assert_non_null(from);
    for (; caucus_coordinator_announcement(plain)->ask != CAUCUS_ASK_NOTHING; steps++) {
        for (uint32_t i = 0; i < CLIENTS; i++) {
            fill(&from[i], &seed, plain, plan, i + 1);
            for (uint32_t r = 0; r < from[i].reports; r++) {
                from[i].answer[r] = caucus_coordinator_receive(plain, &from[i].report[r]);
                *(from[i].answer[r] == CAUCUS_OK ? &counted : &refused) += 1;
            }
        }
        for (uint32_t k = 0; k < DEALT; k++) {
            if (k == 3)
                deal_on_threads(&d[k], from);
            else
                deal(&d[k], &seed, from);
            assert_same_state(plain, d[k].coordinator);
            assert_int_equal(caucus_coordinator_decide(d[k].coordinator), CAUCUS_OK);
        }
        assert_int_equal(caucus_coordinator_decide(plain), CAUCUS_OK);
        for (uint32_t k = 0; k < DEALT; k++)
            assert_same_state(plain, d[k].coordinator);
    }
    print_message("%s: %u steps, %" PRIu64 " selections, %u reports counted, %u refused\n", name, steps,
                  caucus_coordinator_selections(plain), counted, refused);
    assert_true(caucus_coordinator_selections(plain) > 2 && counted > 3 * CLIENTS && refused > 0);
    free(from);
    for (uint32_t k = 0; k < DEALT; k++)
        close_dealer(&d[k]);
    caucus_coordinator_free(plain);
    caucus_plan_free(plan);
}

static caucus_settings settings_of(caucus_algorithm algorithm, caucus_trust trust) {
    caucus_settings s =
        testing_settings(algorithm, trust, CLIENTS, EXPERTS, algorithm == CAUCUS_ALGORITHM_STOCH ? 256 : 80, 30);
    return s;
}

static void test_svt(void **state) {
    (void)state;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    play("svt two-step", &s);
    s.interval = 3;
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    play("svt two-step, client-block", &s);
    s.interval = 1;
    s.unit = CAUCUS_UNIT_EVENT;
    s.protocol = CAUCUS_PROTOCOL_PAPER;
    play("svt paper", &s);
}

static void test_hedge(void **state) {
    (void)state;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
    s.interval = 4;
    play("hedge", &s);
}

static void test_stoch(void **state) {
    (void)state;
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    play("stoch", &s);
    s.past_phases = true;
    play("stoch, past phases", &s);
    s.past_phases = false;
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = 1;
    s.trees = 3;
    play("stoch, trees", &s);
    s.trust = CAUCUS_TRUST_PAPER_LOCAL;
    s.calibration = CAUCUS_CALIBRATION_PAPER;
    s.loss_shape = CAUCUS_LOSS_SHAPE_LINEAR;
    s.smoothness = 0;
    s.trees = 0;
    play("stoch, paper-local", &s);
}

static void test_nobody(void **state) {
    (void)state;
    static const struct {
        const char *name;
        caucus_message message;
    } kind[] = {{"nobody, vote", CAUCUS_MESSAGE_VOTE},
                {"nobody, shortlist", CAUCUS_MESSAGE_SHORTLIST},
                {"nobody, laplace-d", CAUCUS_MESSAGE_LAPLACE_D},
                {"nobody, knorm", CAUCUS_MESSAGE_KNORM}};
    caucus_settings s = settings_of(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY);
    for (size_t k = 0; k < sizeof kind / sizeof kind[0]; k++) {
        s.message = kind[k].message;
        play(kind[k].name, &s);
    }
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = 1;
    s.trees = 3;
    play("nobody, knorm, trees", &s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_svt),
        cmocka_unit_test(test_hedge),
        cmocka_unit_test(test_stoch),
        cmocka_unit_test(test_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
