/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_questions.c: unit client at the devices' own pace, exactly (docs/PRIVACY.md, statement 32).
 *
 * The record is everything that a device ever sees: in each of four slots nothing, or one loss of three kinds, 256
 * histories. A schedule says what happens to the device, and what a coordinator that need not be honest asks of it; the
 * real machine plays it with every history, and the laws of all messages that it sends are computed from the values
 * before noise (a plan with trust coordinator sends them as they are): two transcripts may differ by e^1 at most.
 * m 2 and 3, d 2, G 1; growth 4, so that question 1 is about one slot and question 2 about four, and epsilon is split
 * 1/3 : 2/3. Each rule has its twin, a client that breaks that rule and no other, which must exceed e^1. */
#include "dp/exact.h"

#include "algo/coordinator.h"
#include "algo/coordinator_state.h"
#include "plan/stoch.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

#define D 2
#define SEEN 4 /* slots with something of the record */
#define KINDS 4
#define HISTORIES 256
#define ITEMS 16
#define SLOTS 16
#define GROWTH 4

/* What a schedule is made of; a digit asks that question. */
enum { RECORD = 'R', NEXT_SLOT = '|', ACKNOWLEDGED = '!', LOST = 'X' };

/* How a twin is broken. */
typedef enum fault {
    RIGHT,
    AGAIN,  /* a question is answered whenever it is asked */
    FALLS,  /* a question below the last one is answered, too */
    REMADE, /* an item that is not acknowledged is made again */
    EARLY,  /* a question is answered before its end */
    KNOWS,  /* who has lost its state answers whatever is open */
} fault;

typedef struct items {
    uint32_t count;
    uint64_t question[ITEMS];
    int64_t value[ITEMS][D];
} items;

static caucus_plan *question_plan(caucus_trust trust, caucus_message message, uint32_t clients) {
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, trust, 1);
    s.unit = CAUCUS_UNIT_CLIENT;
    s.pace = CAUCUS_PACE_OWN;
    s.rounds = SLOTS;
    s.growth = GROWTH;
    s.message = message;
    s.clients = clients;
    s.grid = 1;
    caucus_plan *plan = exact_plan(&s);
    assert_int_equal(plan->stoch.described, 2);
    return plan;
}

/* What is seen in slot i of a history: nothing (0), or a loss. */
static uint32_t kind_at(uint32_t history, uint32_t i) {
    while (i-- > 0)
        history /= KINDS;
    return history % KINDS;
}

/* ---- the real machine ---- */

static void go_on(const caucus_plan *plan, const caucus_key *key, caucus_client **client) {
    const size_t bytes = caucus_client_state_bytes(*client);
    uint8_t *state = malloc(bytes);
    caucus_client *restored = NULL;
    assert_non_null(state);
    assert_int_equal(caucus_client_save(*client, state, bytes), CAUCUS_OK);
    assert_int_equal(caucus_client_restore(plan, 1, key, state, bytes, &restored), CAUCUS_OK);
    free(state);
    caucus_client_free(*client);
    *client = restored;
}

static void ask_machine(caucus_client *c, uint64_t serial, uint64_t question, items *ret) {
    const caucus_announcement a = {.serial = serial, .ask = CAUCUS_ASK_LEAF, .block = question + 1};
    const caucus_status heard = caucus_client_hear(c, &a);
    assert_true(heard == CAUCUS_OK || heard == CAUCUS_E_FORMAT); /* the second: it was asked that before */
    const caucus_report *r = caucus_client_report(c);
    if (!r)
        return;
    assert_int_equal(r->first, r->block);
    if (ret->count > 0 && r->block == ret->question[ret->count - 1]) { /* again: the same bytes */
        assert_memory_equal(ret->value[ret->count - 1], r->value, sizeof ret->value[0]);
        return;
    }
    ret->question[ret->count] = r->block;
    memcpy(ret->value[ret->count++], r->value, sizeof ret->value[0]);
}

static void play_machine(const caucus_plan *plan, const char *schedule, bool restarts, uint32_t history, items *ret) {
    caucus_key key;
    caucus_client *c = NULL;
    uint64_t serial = 0, clock = plan->settings.start, seen = 0, asked = 1;
    *ret = (items){0};
    caucus_key_from_seed(1, &key);
    assert_int_equal(caucus_client_new(plan, 1, &key, &c), CAUCUS_OK);
    assert_int_equal(caucus_client_slot(c, clock - 1), CAUCUS_OK); /* the first is not counted */
    assert_int_equal(caucus_client_slot(c, clock), CAUCUS_OK);
    const caucus_announcement first = {.serial = serial++, .ask = CAUCUS_ASK_LEAF, .block = 2};
    assert_int_equal(caucus_client_hear(c, &first), CAUCUS_OK);
    for (const char *at = schedule; *at != '\0'; at++) {
        const uint32_t kind = *at == RECORD ? kind_at(history, (uint32_t)seen++) : 0;
        if (kind > 0)
            assert_int_equal(caucus_client_observe(c, (double[]){kind % 2, (double)(kind / 2)}, 1), CAUCUS_OK);
        if (*at == LOST) {
            caucus_client_free(c);
            assert_int_equal(caucus_client_new(plan, 1, &key, &c), CAUCUS_OK);
            const caucus_announcement a = {.serial = serial - 1, .ask = CAUCUS_ASK_LEAF, .block = asked + 1};
            assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK); /* it is told what is open when it comes again */
        }
        clock += *at == NEXT_SLOT;
        assert_int_equal(caucus_client_slot(c, clock), CAUCUS_OK);
        if (*at >= '1' && *at <= '9') {
            asked = (uint64_t)(*at - '0');
            ask_machine(c, serial++, asked, ret);
        }
        if (*at == ACKNOWLEDGED && ret->count > 0)
            assert_int_equal(caucus_client_acknowledge(c, ret->question[ret->count - 1] + 1), CAUCUS_OK);
        if (restarts)
            go_on(plan, &key, &c);
    }
    caucus_client_free(c);
}

/* ---- its twin ---- */

typedef struct sums {
    int64_t sum[D], count;
} sums;

static void play_twin(fault broken, const char *schedule, uint32_t history, items *ret) {
    static const uint64_t end[] = {0, 1, 4}; /* of each question, in slots from the start */
    sums open = {0}, done = {0};
    uint64_t clock = 0, seen = 0, last = 0, outstanding = 0, heard = 1, asked = 1;
    bool passing = false;
    *ret = (items){0};
    for (const char *at = schedule; *at != '\0'; at++) {
        const uint32_t kind = *at == RECORD ? kind_at(history, (uint32_t)seen++) : 0;
        if (kind > 0 && !passing) {
            open.sum[0] += kind % 2;
            open.sum[1] += kind / 2;
            open.count++;
        }
        if (*at == LOST) {
            open = done = (sums){0};
            passing = true;
            outstanding = last = 0;
            heard = asked;
            for (uint64_t q = 1; q <= 2 && broken != KNOWS && broken != EARLY; q++)
                last = end[q] <= clock ? q : last;
        }
        if (*at == NEXT_SLOT) {
            clock++;
            done.sum[0] += open.sum[0];
            done.sum[1] += open.sum[1];
            done.count += open.count;
            open = (sums){0};
            passing = false;
        }
        if (*at == ACKNOWLEDGED)
            outstanding = 0;
        if (*at < '1' || *at > '9')
            continue;
        const uint64_t question = (uint64_t)(*at - '0');
        const bool rises = question > last && question >= heard;
        asked = question;
        heard = question > heard ? question : heard;
        const bool repeats = (broken == AGAIN && question == last) || (broken == FALLS && question < last) ||
                             (broken == REMADE && question == outstanding);
        if ((!rises && !repeats) || (end[question] > clock && broken != EARLY))
            continue;
        for (uint32_t y = 0; y < D; y++)
            ret->value[ret->count][y] = done.count > 0 ? (2 * done.sum[y] + done.count) / (2 * done.count) : 0;
        ret->question[ret->count++] = question;
        last = outstanding = question;
    }
}

/* ---- laws ---- */

static long double message_epsilon(const caucus_plan *nobody, uint64_t question, const int64_t *a, const int64_t *b) {
    const caucus_stoch_phase *phase = caucus_stoch_phase_of(nobody, question + 1);
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

/* The largest log-ratio of everything the device sends, over all pairs of histories. */
static long double schedule_epsilon(const caucus_plan *nobody, const char *schedule, bool machine, fault broken) {
    static items sent[HISTORIES];
    caucus_plan *clear = question_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 1);
    long double worst = 0;
    for (uint32_t h = 0; h < HISTORIES; h++)
        if (machine)
            play_machine(clear, schedule, false, h, &sent[h]);
        else
            play_twin(broken, schedule, h, &sent[h]);
    for (uint32_t a = 0; a < HISTORIES; a++)
        for (uint32_t b = 0; b < a; b++) {
            long double sum = sent[a].count == sent[b].count ? 0 : (long double)INFINITY;
            for (uint32_t i = 0; i < sent[a].count && i < sent[b].count; i++) {
                assert_int_equal(sent[a].question[i], sent[b].question[i]);
                sum += message_epsilon(nobody, sent[a].question[i], sent[a].value[i], sent[b].value[i]);
            }
            exact_raise(&worst, sum);
        }
    caucus_plan_free(clear);
    return worst;
}

static const struct {
    const char *what, *schedule;
    fault broken;
    long double right, knorm; /* of the machine, and of the twin */
} controls[] = {
    {"question 2 asked three times", "R|1!R|R|R|2!2!|2!", AGAIN, 1, 7.0L / 3},
    {"questions that fall", "R|1!R|R|R|2!1!2!|1!", FALLS, 1, 2},
    {"acknowledgement withheld", "R|1R1R|1R|R|2!", REMADE, 1, 5.0L / 3},
    {"asked before the end, and the state lost", "R|12!XR|R|R|2!", EARLY, 1, 5.0L / 3},
    {"the state lost after question 2", "R|1!R|||2XR|R|2!", KNOWS, 1, 5.0L / 3},
    {"a question that was missed", "R|R|R|R|2!1!2!", FALLS, 2.0L / 3, 5.0L / 3},
};

static void test_one_message_per_question(void **state) {
    (void)state;
    caucus_plan *knorm = question_plan(CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_KNORM, 1);
    caucus_plan *vote = question_plan(CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_AUTO, 1);
    assert_int_equal(vote->stoch.message, CAUCUS_MESSAGE_VOTE);
    assert_true(knorm->guarantee.epsilon_messages <= 1 && vote->guarantee.epsilon_messages <= 1);
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        const char *schedule = controls[i].schedule;
        exact_assert(controls[i].what, schedule_epsilon(knorm, schedule, true, RIGHT), 1,
                     controls[i].right * 0.999999L);
        exact_assert("  votes", schedule_epsilon(vote, schedule, true, RIGHT), 1, controls[i].right * 0.87L);
        exact_assert_broken("  broken, K-norm", schedule_epsilon(knorm, schedule, false, controls[i].broken), 1,
                            controls[i].knorm * 0.9999L);
    }
    caucus_plan_free(knorm);
    caucus_plan_free(vote);
}

/* The twin with nothing broken is the machine, also where that is saved and restored after everything that happens. */
static void test_twin_is_the_machine(void **state) {
    (void)state;
    static const char *const others[] = {"|1!|||2!", "R|R|R|R|1!2!", "R|1R|2R|R|2!|", "XR|1R|R|R|2X||2",
                                         "R1|1R|R|R|122|2"};
    const size_t known = sizeof controls / sizeof controls[0];
    caucus_plan *clear = question_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 1);
    for (size_t i = 0; i < known + sizeof others / sizeof others[0]; i++) {
        const char *schedule = i < known ? controls[i].schedule : others[i - known];
        for (uint32_t h = 0; h < HISTORIES; h += i < known ? 1 : 7) {
            items machine, twin, restarted;
            play_machine(clear, schedule, false, h, &machine);
            play_twin(RIGHT, schedule, h, &twin);
            assert_memory_equal(&machine, &twin, sizeof machine);
            if (h % 25 > 0)
                continue;
            play_machine(clear, schedule, true, h, &restarted);
            assert_memory_equal(&machine, &restarted, sizeof machine);
        }
    }
    caucus_plan_free(clear);
}

/* ---- selections of a coordinator that is trusted ---- */

/* The largest log-ratio of one selection at this rate with so many items of the device in it. */
static long double selection_epsilon(caucus_rational rate, int64_t others, int64_t at_once) {
    long double worst = 0;
    for (int64_t gap = -others; gap <= others; gap++) /* what all others leave between the two experts */
        for (int64_t here = -1; here <= 1; here++)
            for (int64_t there = -1; there <= 1; there++) {
                const int64_t a[D] = {0, gap + here * at_once}, b[D] = {0, gap + there * at_once};
                long double p[D], q[D];
                exact_select_law(CAUCUS_SELECT_FLIP, a, D, rate, p);
                exact_select_law(CAUCUS_SELECT_FLIP, b, D, rate, q);
                exact_raise(&worst, fmaxl(exact_ratio(p[0], q[0]), exact_ratio(p[1], q[1])));
            }
    return worst;
}

static caucus_report item_of(uint32_t client, uint64_t number, const int64_t *value) {
    return (caucus_report){
        .client = client, .kind = CAUCUS_ASK_LEAF, .first = number, .block = number, .count = D, .value = value};
}

static void test_one_item_per_decision(void **state) {
    (void)state;
    static const int64_t value[D] = {1, 0};
    for (uint32_t m = 2; m <= 3; m++) {
        caucus_plan *plan = question_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, m);
        caucus_coordinator *c = NULL;
        caucus_key key;
        uint64_t cost, next;
        bool answered;
        caucus_key_from_seed(2, &key);
        assert_int_equal(caucus_coordinator_new(plan, &key, &c), CAUCUS_OK);
        const caucus_report one = item_of(1, 1, value), two = item_of(1, 2, value), late = item_of(2, 1, value),
                            missed = item_of(2, 2, value);
        assert_int_equal(caucus_coordinator_receive(c, &two), CAUCUS_E_ORDER); /* not what is open */
        assert_int_equal(caucus_coordinator_receive(c, &one), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_receive(c, &one), CAUCUS_E_DUPLICATE);
        caucus_coordinator_counted(c, 1, &cost, &next, &answered);
        assert_true(answered && next == 1); /* acknowledged with the decision, not before */
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        caucus_coordinator_counted(c, 1, &cost, &next, &answered);
        assert_true(!answered && next == 2);
        caucus_coordinator_counted(c, 2, &cost, &next, &answered);
        assert_true(!answered && next == 1);                                       /* it has missed a question */
        assert_int_equal(caucus_coordinator_receive(c, &one), CAUCUS_E_DUPLICATE); /* into no second decision */
        assert_int_equal(caucus_coordinator_receive(c, &late), CAUCUS_E_ORDER);    /* nor into a later one */
        assert_int_equal(caucus_coordinator_receive(c, &missed), CAUCUS_OK);       /* and goes on with the next */
        assert_int_equal(caucus_coordinator_receive(c, &missed), CAUCUS_E_DUPLICATE);
        assert_int_equal(caucus_coordinator_receive(c, &two), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        caucus_coordinator_counted(c, 2, &cost, &next, &answered);
        assert_int_equal(next, 3);
        assert_int_equal(caucus_coordinator_announcement(c)->ask, CAUCUS_ASK_NOTHING);
        caucus_coordinator_free(c);

        /* Passed over: what was counted is dropped, the expert stays, and who answered goes on with the next. */
        assert_int_equal(caucus_coordinator_new(plan, &key, &c), CAUCUS_OK);
        const uint32_t expert = caucus_coordinator_announcement(c)->expert;
        assert_int_equal(caucus_coordinator_receive(c, &one), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_pass(c), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_announcement(c)->block, 3);
        assert_int_equal(caucus_coordinator_announcement(c)->expert, expert);
        assert_int_equal(caucus_coordinator_selections(c), 0);
        for (uint32_t y = 0; y < D; y++)
            assert_int_equal(c->sum[y], 0);
        assert_int_equal(caucus_coordinator_receive(c, &one), CAUCUS_E_DUPLICATE);
        assert_int_equal(caucus_coordinator_receive(c, &two), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_pass(c), CAUCUS_OK);
        assert_int_equal(caucus_coordinator_announcement(c)->ask, CAUCUS_ASK_NOTHING);
        assert_int_equal(caucus_coordinator_pass(c), CAUCUS_E_ORDER);
        caucus_coordinator_free(c);

        const caucus_rational rate[2] = {plan->stoch.phase[0].select_rate[0], plan->stoch.phase[1].select_rate[0]};
        const int64_t others = (int64_t)m - 1;
        assert_true(fabsl(2 * exact_rate(rate[0]) - 1 / 3.0L) < 1e-9L);
        const long double first = selection_epsilon(rate[0], others, 1), second = selection_epsilon(rate[1], others, 1);
        exact_assert("one item in each of two selections", first + second, 1, 0.999999L);
        const caucus_rational whole = caucus_rational_make(rate[1].num / 2 * 3, rate[1].den);
        exact_assert_broken("  epsilon in each of them", 2 * selection_epsilon(whole, others, 1), 1, 1.9999L);
        exact_assert_broken("  question 2 decided on twice", first + 2 * second, 1, 1.6666L);
        exact_assert_broken("  a late item beside the one that is asked for",
                            first + selection_epsilon(rate[1], others, 2), 1, m == 2 ? 1.5L : 1.6666L);
        caucus_plan_free(plan);
    }
}

/* ---- what else the machine keeps to ---- */

/* Noise has the number of its question: each is drawn once, and two are not alike. */
static void test_noise_by_question(void **state) {
    (void)state;
    caucus_plan *plan = question_plan(CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_KNORM, 1);
    caucus_key key;
    caucus_client *c = NULL;
    int64_t drawn[2][D];
    caucus_key_from_seed(5, &key);
    assert_int_equal(caucus_client_new(plan, 1, &key, &c), CAUCUS_OK);
    for (uint64_t q = 1; q <= 2; q++) {
        const caucus_announcement a = {.serial = q - 1, .ask = CAUCUS_ASK_LEAF, .block = q + 1};
        for (uint64_t slot = 0; slot <= (q == 1 ? 2u : 5u); slot++)
            assert_int_equal(caucus_client_slot(c, slot), CAUCUS_OK);
        assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
        const caucus_report *r = caucus_client_report(c);
        assert_non_null(r);
        assert_int_equal(r->block, q); /* 1 is dropped unacknowledged when 2 is heard of */
        caucus_stream stream;
        int64_t expected[D] = {0, 0};
        caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_MESSAGE, q, 0, 0);
        caucus_noise_add(&stream, &plan->stoch.phase[q - 1].vertex_noise[0], expected, D);
        caucus_stream_wipe(&stream);
        memcpy(drawn[q - 1], r->value, sizeof drawn[0]);
        assert_memory_equal(drawn[q - 1], expected, sizeof expected);
    }
    assert_memory_not_equal(drawn[0], drawn[1], sizeof drawn[0]);
    caucus_client_free(c);
    caucus_plan_free(plan);
}

/* What is before the start and after the end of the run is played and not counted; after it nothing more is played. */
static void test_start_and_end(void **state) {
    (void)state;
    caucus_settings s;
    exact_settings(&s, CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, 1);
    s.unit = CAUCUS_UNIT_CLIENT;
    s.pace = CAUCUS_PACE_OWN;
    s.rounds = SLOTS;
    s.growth = GROWTH;
    s.clients = 1;
    s.grid = 4;
    s.start = 20000;
    caucus_plan *plan = exact_plan(&s);
    caucus_key key;
    caucus_client *c = NULL;
    caucus_key_from_seed(6, &key);
    assert_int_equal(caucus_client_new(plan, 1, &key, &c), CAUCUS_OK);
    caucus_announcement a = {.serial = 0, .ask = CAUCUS_ASK_LEAF, .block = 2};
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
    for (uint64_t slot = 19998; slot <= 20001; slot++) { /* 1 in slots before the start, 0 in its first slot */
        assert_int_equal(caucus_client_slot(c, slot), CAUCUS_OK);
        if (slot <= 20000)
            assert_int_equal(caucus_client_observe(c, (double[]){slot < 20000, 0.5}, 1), CAUCUS_OK);
        assert_true(slot < 20001 ? caucus_client_report(c) == NULL : caucus_client_report(c) != NULL);
    }
    assert_int_equal(caucus_client_report(c)->value[0], 0);
    assert_int_equal(caucus_client_report(c)->value[1], 2);
    a = (caucus_announcement){.serial = 2, .ask = CAUCUS_ASK_NOTHING, .block = 3};
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_OK);
    assert_null(caucus_client_report(c)); /* no question is open */
    assert_int_equal(caucus_client_slot(c, 20000 + SLOTS - 1), CAUCUS_OK);
    assert_true(caucus_client_rounds_left(c) > 0);
    assert_int_equal(caucus_client_slot(c, 20000 + SLOTS), CAUCUS_OK);
    assert_int_equal(caucus_client_rounds_left(c), 0);
    assert_int_equal(caucus_client_observe(c, (double[]){0, 0}, 1), CAUCUS_E_ORDER);
    a.serial = 3;
    a.ask = CAUCUS_ASK_LEAF;
    assert_int_equal(caucus_client_hear(c, &a), CAUCUS_E_FORMAT); /* that was the last word */
    caucus_client_free(c);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_message_per_question),
        cmocka_unit_test(test_twin_is_the_machine),
        cmocka_unit_test(test_one_item_per_decision),
        cmocka_unit_test(test_noise_by_question),
        cmocka_unit_test(test_start_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
