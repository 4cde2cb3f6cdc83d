/* SPDX-License-Identifier: Apache-2.0 */
/* show/choice/history.h: premises, on losses of which it is known whether they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "show/choice/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 12, ROUNDS = 400, EXPERTS = 5 };

static uint64_t state_of_draws = 1;

/* Uniform in [0,1): a linear congruential generator is enough for coins. */
static double draw(void) {
    state_of_draws = state_of_draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state_of_draws >> 11) * 0x1p-53;
}

typedef double (*law)(uint32_t client, uint64_t round, uint32_t expert);

static caucus_history look(law loss, double lo, double hi, double lstar, uint64_t rounds) {
    double *values = calloc((size_t)CLIENTS * rounds * EXPERTS, sizeof *values);
    assert_non_null(values);
    size_t at = 0;
    for (uint32_t i = 0; i < CLIENTS; i++)
        for (uint64_t t = 0; t < rounds; t++)
            for (uint32_t y = 0; y < EXPERTS; y++)
                values[at++] = loss(i, t, y);
    const caucus_loss_array array = {
        .values = values, .wide = true, .clients = CLIENTS, .experts = EXPERTS, .rounds = rounds};
    const caucus_adversary_settings settings = {.kind = CAUCUS_ADVERSARY_LOSSES, .array = &array};
    caucus_adversary *adversary = NULL;
    caucus_error error = {0};
    caucus_settings plan;
    caucus_history history;
    caucus_settings_init(&plan);
    plan.lo = lo;
    plan.hi = hi;
    plan.lstar = lstar;
    assert_int_equal(caucus_adversary_open(&settings, &adversary, &error), CAUCUS_OK);
    assert_int_equal(caucus_history_read(adversary, &plan, CLIENTS, rounds, &history, &error), CAUCUS_OK);
    caucus_adversary_close(adversary);
    free(values);
    return history;
}

static bool says(const caucus_history *history, const char *text) {
    char sentence[CAUCUS_HISTORY_SENTENCES][CAUCUS_HISTORY_BYTES];
    const size_t count = caucus_history_say(history, sentence);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        printf("%s\n", sentence[i]);
        found = found || strstr(sentence[i], text) != NULL;
    }
    return found;
}

/* Expert 3 errs in one round of ten, once in every ten at every client: exactly. */
static double counted(uint32_t client, uint64_t round, uint32_t expert) {
    return expert == 3 ? (round + client) % 10 == 0 : 0.5;
}

static void lstar_is_counted(void **state) {
    (void)state;
    caucus_history h = look(counted, 0, 1, 39, ROUNDS);
    assert_int_equal(h.safest, 3);
    assert_int_equal(h.best, 3);
    assert_true(h.safest_loss == 40);
    assert_false(caucus_history_realizable(&h));
    assert_true(says(&h, "loses 40 or more at some client, so nothing is proved for svt"));
    h = look(counted, 0, 1, 40, ROUNDS);
    assert_true(caucus_history_realizable(&h));
    assert_true(says(&h, "expert 3 loses at most 40 in all at every client"));
    h = look(counted, -1, 1, 440, ROUNDS); /* counted from the lower end of the range */
    assert_true(h.safest_loss == 440);
    caucus_settings svt;
    caucus_settings_init(&svt);
    svt.algorithm = CAUCUS_ALGORITHM_SVT;
    assert_false(caucus_history_refutes(&h, &svt));
    h.lstar = 439;
    assert_true(caucus_history_refutes(&h, &svt));
}

static double coin(uint32_t client, uint64_t round, uint32_t expert) {
    (void)client, (void)round;
    return draw() < 0.1 + 0.1 * expert;
}

/* All clients see the same: block means scatter as those of one client do, and that is no drift. */
static double shared(uint32_t client, uint64_t round, uint32_t expert) {
    static double kept[ROUNDS][EXPERTS];
    if (client == 0)
        kept[round][expert] = draw() < 0.1 + 0.1 * expert;
    return kept[round][expert];
}

static double turning(uint32_t client, uint64_t round, uint32_t expert) {
    (void)client;
    return draw() < (expert == (round < ROUNDS / 2 ? 0 : 1) ? 0.1 : 0.4);
}

/* A mean that creeps from .3 to .5. */
static double creeping(uint32_t client, uint64_t round, uint32_t expert) {
    (void)client;
    return draw() < (expert == 2 ? 0.3 + 0.2 * (double)round / ROUNDS : 0.4);
}

static void drift_is_seen_where_it_is(void **state) {
    (void)state;
    caucus_settings stoch;
    caucus_settings_init(&stoch);
    stoch.algorithm = CAUCUS_ALGORITHM_STOCH;
    caucus_history h = look(turning, 0, 1, 0, ROUNDS);
    assert_int_equal(h.drift, CAUCUS_HISTORY_DRIFTS);
    /* .3 less in half of the rounds; the best of noisy eighths is a little better still */
    assert_true(h.gain > 55 && h.gain < 70);
    assert_true(says(&h, "drifting: more than chance explains"));
    assert_true(caucus_history_refutes(&h, &stoch));
    stoch.longest_phase = 16;
    assert_false(caucus_history_refutes(&h, &stoch));
    h = look(creeping, 0, 1, 0, ROUNDS);
    assert_int_equal(h.drift, CAUCUS_HISTORY_DRIFTS);
    stoch.algorithm = CAUCUS_ALGORITHM_HEDGE;
    stoch.longest_phase = 0;
    assert_false(caucus_history_refutes(&h, &stoch));
}

/* A false alarm in one look has probability 1/1000; in 20 of them at most 2 %, and the draws are fixed. */
static void and_only_there(void **state) {
    (void)state;
    state_of_draws = 7;
    for (int i = 0; i < 10; i++) {
        caucus_history h = look(coin, 0, 1, 0, ROUNDS);
        assert_int_equal(h.drift, CAUCUS_HISTORY_STEADY);
        h = look(shared, 0, 1, 0, ROUNDS);
        assert_int_equal(h.drift, CAUCUS_HISTORY_STEADY);
    }
    caucus_history h = look(coin, 0, 1, 0, 15);
    assert_int_equal(h.drift, CAUCUS_HISTORY_TOO_FEW);
    h = look(coin, 0, 1, 0, 1);
    assert_int_equal(h.drift, CAUCUS_HISTORY_TOO_FEW);
    h = look(counted, 0, 1, 0, ROUNDS);
    assert_int_equal(h.drift, CAUCUS_HISTORY_STEADY); /* nothing scatters at all */
}

/* 0.5 of 0..9.5 in steps of a half: 3 of 20 are within 0,1. */
static double stars(uint32_t client, uint64_t round, uint32_t expert) {
    return (double)((client * 7 + round * EXPERTS + expert) % 20) / 2;
}

static double with_gaps(uint32_t client, uint64_t round, uint32_t expert) {
    return expert == 4 && round % 4 == 0 ? (double)NAN : 0.01 * client;
}

static double below(uint32_t client, uint64_t round, uint32_t expert) {
    (void)client, (void)expert;
    return round % 2 == 0 ? -0.4 : 0.7;
}

static double with_infinities(uint32_t client, uint64_t round, uint32_t expert) {
    return round % 4 == 0 ? (double)INFINITY : round % 4 == 1 ? -(double)INFINITY : stars(client, round, expert);
}

static double all_infinite(uint32_t client, uint64_t round, uint32_t expert) {
    (void)client, (void)round, (void)expert;
    return (double)INFINITY;
}

/* They are outside of every range, and none that holds them is proposed. */
static void infinities(void **state) {
    (void)state;
    caucus_history h = look(with_infinities, 0, 10, 0, ROUNDS);
    assert_true(h.outside == 0.5 && h.least >= 0 && h.most <= 9.5);
    assert_true(says(&h, "50 % of the losses are outside 0,10"));
    assert_false(says(&h, "inf"));
    h = look(with_infinities, 0, 1, 0, ROUNDS);
    assert_true(says(&h, "did you mean the range 0,10?"));
    h = look(all_infinite, 0, 1, 0, ROUNDS);
    assert_true(h.outside == 1 && h.least == 0 && h.most == 0);
    assert_false(says(&h, "did you mean"));
}

static void the_range(void **state) {
    (void)state;
    caucus_history h = look(stars, 0, 1, 0, ROUNDS);
    assert_true(h.outside == 0.85 && h.least == 0 && h.most == 9.5);
    assert_true(says(&h, "85 % of the losses are outside 0,1: did you mean the range 0,10?"));
    h = look(stars, 0, 10, 0, ROUNDS);
    assert_true(h.outside == 0);
    assert_false(says(&h, "range:"));
    h = look(with_gaps, 0, 1, 0, ROUNDS);
    assert_true(fabs(h.nan - 0.05) < 1e-12);
    assert_true(says(&h, "not a number: 5.0 % of the losses"));
    assert_true(says(&h, "the largest loss is 0.11"));
    h = look(below, 0, 1, 0, ROUNDS);
    assert_true(says(&h, "50 % of the losses are outside 0,1: did you mean the range -0.5,1?"));
}

/* Where losses drift a bound has to be about the best expert between changes: that of hedge is not refuted by drift,
 * but says nothing of what is compared there. */
static void drift_decides_what_is_covered(void **state) {
    static const struct {
        caucus_algorithm algorithm;
        uint64_t longest;
        bool drifting, steady;
    } expected[] = {
        {CAUCUS_ALGORITHM_STOCH, 0, false, true},
        {CAUCUS_ALGORITHM_STOCH, 16, true, true},
        {CAUCUS_ALGORITHM_HEDGE, 0, false, true},
        {CAUCUS_ALGORITHM_SVT, 0, false, false},
    };
    (void)state;
    caucus_comparison c = {.own = true, .known = CAUCUS_KNOWLEDGE_COUNT};
    const caucus_history drifting = look(turning, 0, 1, 0, ROUNDS), steady = look(coin, 0, 1, 0, ROUNDS);
    assert_int_equal(drifting.drift, CAUCUS_HISTORY_DRIFTS);
    assert_int_equal(steady.drift, CAUCUS_HISTORY_STEADY);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        caucus_candidate x = {.alone = false};
        caucus_error error = {0};
        caucus_settings_init(&x.asked);
        x.asked.algorithm = expected[i].algorithm;
        x.asked.trust = CAUCUS_TRUST_COORDINATOR;
        x.asked.longest_phase = expected[i].longest;
        assert_false(caucus_candidate_covers(&c, &x)); /* no plan: nothing is proved */
        assert_int_equal(caucus_plan_new(&x.asked, &x.plan, &error), CAUCUS_OK);
        c.history = drifting;
        assert_int_equal(caucus_candidate_covers(&c, &x), expected[i].drifting);
        c.history = steady;
        assert_int_equal(caucus_candidate_covers(&c, &x), expected[i].steady);
        caucus_plan_free(x.plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lstar_is_counted), cmocka_unit_test(drift_is_seen_where_it_is),
        cmocka_unit_test(and_only_there),   cmocka_unit_test(the_range),
        cmocka_unit_test(infinities),       cmocka_unit_test(drift_decides_what_is_covered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
