/* SPDX-License-Identifier: Apache-2.0 */
/* show/choice/recommend.h: what is named first on losses of which it is known what suits them, that something is always
 * played, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "show/choice/quick.h"
#include "show/choice/recommend.h"

#include <caucus/advice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct said {
    char *text, *json;
    size_t text_bytes, json_bytes;
} said;

static said ask(const caucus_question *question) {
    said s = {0};
    caucus_error error = {0};
    FILE *text = open_memstream(&s.text, &s.text_bytes), *json = open_memstream(&s.json, &s.json_bytes);
    assert_true(text != NULL && json != NULL);
    const caucus_status status = caucus_recommend(text, json, question, &error);
    assert_int_equal(fclose(text), 0);
    assert_int_equal(fclose(json), 0);
    printf("%s%s %s\n", s.text, error.field, error.text);
    assert_int_equal(status, CAUCUS_OK);
    return s;
}

static void forget(said *s) {
    free(s->text);
    free(s->json);
}

static caucus_question question_of(uint32_t clients, uint32_t experts, uint64_t rounds, double epsilon) {
    caucus_question q = {.known = CAUCUS_KNOWLEDGE_COUNT, .interval_open = true};
    caucus_settings_init(&q.settings);
    q.settings.trust = CAUCUS_TRUST_COORDINATOR;
    q.settings.clients = clients;
    q.settings.experts = experts;
    q.settings.rounds = rounds;
    q.settings.epsilon = epsilon;
    return q;
}

/* Whether the first candidate of the first situation, the best in the simulation, has this algorithm. */
static bool first_is(const said *s, const char *algorithm) {
    char wanted[64];
    const char *first = strstr(s->json, "\"candidates\": [");
    assert_non_null(first);
    first = strstr(first, "{\"algorithm\": ");
    assert_non_null(first);
    (void)snprintf(wanted, sizeof wanted, "{\"algorithm\": \"%s\"", algorithm);
    return strncmp(first, wanted, strlen(wanted)) == 0;
}

static uint64_t draws = 5;
static double draw(void) {
    draws = draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(draws >> 11) * 0x1p-53;
}

/* 500 devices, 20 models whose error rates lie between .1 and .5, 1,024 rounds. */
static void a_fleets_history(void **state) {
    (void)state;
    enum { CLIENTS = 500, ROUNDS = 1024, EXPERTS = 20 };
    float *values = malloc((size_t)CLIENTS * ROUNDS * EXPERTS * sizeof *values);
    double mean[EXPERTS];
    assert_non_null(values);
    for (size_t y = 0; y < EXPERTS; y++)
        mean[y] = 0.1 + 0.4 * draw();
    for (size_t i = 0; i < (size_t)CLIENTS * ROUNDS * EXPERTS; i++)
        values[i] = draw() < mean[i % EXPERTS];
    const caucus_loss_array array = {
        .values = values, .wide = false, .clients = CLIENTS, .experts = EXPERTS, .rounds = ROUNDS};
    caucus_question q = question_of(1, 2, 1, 1);
    q.array = &array;
    q.clients_open = q.experts_open = q.rounds_open = true;
    said s = ask(&q);
    assert_non_null(strstr(s.text, "  500 clients, 20 experts, 1,024 rounds, epsilon 1 (pure), unit: event\n"));
    assert_non_null(strstr(s.text, "NOT PRIVATE: this comparison reads your losses as they are"));
    assert_true(first_is(&s, "stoch"));
    assert_non_null(strstr(s.text, "    Take stoch"));
    assert_non_null(strstr(s.text, "not realizable: svt assumes an expert that loses at most L* = 0 in all"));
    assert_non_null(strstr(s.text, "so nothing is proved for svt"));
    assert_non_null(strstr(s.text, "steady: no drift beyond chance"));
    assert_non_null(strstr(s.text, "evaluate 1"));
    assert_non_null(strstr(s.text, "unit client-block"));
    assert_non_null(strstr(s.text, "      caucus plan --algorithm stoch --clients 500 --experts 20 --rounds 1024 "
                                   "--epsilon 1 --trust coordinator"));
    forget(&s);
    free(values);
}

/* Nothing is too large: it is played smaller, and that is said. */
static void something_is_always_played(void **state) {
    (void)state;
    caucus_question q = question_of(1000000, 50, 100000, 1);
    q.known = CAUCUS_KNOWLEDGE_IID;
    said s = ask(&q);
    assert_non_null(strstr(s.text, "a smaller run than yours (fewer clients, fewer rounds)"));
    assert_non_null(strstr(s.text, "    Numbers up are those of the "));
    assert_non_null(strstr(s.json, "\"smaller\": true"));
    assert_null(strstr(s.text, "too large"));
    assert_non_null(strstr(s.text, " ± "));
    forget(&s);
}

/* Losses that follow the expert before: whoever stays with one loses nearly every round, and hedge does not. */
static void adaptive_losses_follow(void **state) {
    (void)state;
    caucus_question q = question_of(10, 10, 512, 1);
    q.known = CAUCUS_KNOWLEDGE_ADAPTIVE;
    said s = ask(&q);
    assert_non_null(strstr(s.text, " rounds of adaptive losses.\n"));
    assert_non_null(strstr(s.text, "    Take hedge (interval "));
    assert_true(first_is(&s, "hedge"));
    assert_null(strstr(s.text, " lost less here"));
    forget(&s);
}

static void without_an_end(void **state) {
    (void)state;
    caucus_question q = question_of(20, 5, CAUCUS_ROUNDS_ENDLESS, 5);
    q.known = CAUCUS_KNOWLEDGE_DRIFTING;
    said s = ask(&q);
    assert_non_null(strstr(s.text, "rounds without an end"));
    assert_non_null(strstr(s.text, "    Take stoch (longest phase "));
    assert_non_null(strstr(s.text, " --rounds endless "));
    forget(&s);
}

/* What an algorithm lacks for a run without an end is an option with a usual value: hedge's renewal among them. */
static void without_an_end_what_is_proved_is_taken(void **state) {
    (void)state;
    static const caucus_knowledge known[] = {CAUCUS_KNOWLEDGE_ANY, CAUCUS_KNOWLEDGE_ADAPTIVE};
    caucus_question q = question_of(20, 5, CAUCUS_ROUNDS_ENDLESS, 5);
    q.settings.trust = CAUCUS_TRUST_COUNT;
    for (size_t i = 0; i < 2; i++) {
        q.known = known[i];
        said s = ask(&q);
        assert_non_null(strstr(s.text, "    Take hedge ("));
        assert_non_null(strstr(s.text, " in 4,096 rounds proved.\n"));
        assert_non_null(strstr(s.text, " --interval auto --epsilon 5 --trust coordinator --renew 4096 --write"));
        assert_null(strstr(s.text, "does not fit"));
        assert_non_null(strstr(s.json, "\"proven_rounds\": 4096"));
        forget(&s);
    }
    q.known = CAUCUS_KNOWLEDGE_COUNT;
    q.settings.trust = CAUCUS_TRUST_NOBODY;
    said s = ask(&q);
    assert_non_null(strstr(s.text, "    Take stoch (knorm, longest phase 64) with trust nobody"));
    assert_non_null(strstr(s.text, "Nothing that fits is made for such losses. Least was lost by stoch ("));
    assert_non_null(strstr(s.text, "With trust coordinator instead this is made for them: hedge ("));
    assert_null(strstr(s.text, "does not fit"));
    forget(&s);
}

/* A situation in which nothing fits says so, and what would. */
static void what_would_fit(void **state) {
    (void)state;
    caucus_question q = question_of(20, 5, CAUCUS_ROUNDS_ENDLESS, 5);
    q.settings.unit = CAUCUS_UNIT_CLIENT;
    q.known = CAUCUS_KNOWLEDGE_IID;
    said s = ask(&q);
    assert_non_null(strstr(s.text, "unit client in a run without an end"));
    assert_non_null(strstr(s.text, "    Nothing fits these settings.\n"));
    assert_non_null(strstr(s.text, "    With unit client-block instead these fit: svt, stoch (longest phase "));
    assert_non_null(strstr(s.text, "    With unit event instead these fit: svt, stoch (longest phase "));
    assert_non_null(strstr(s.text, "    With a number of rounds instead this fits: stoch.\n"));
    assert_null(strstr(s.text, "    Next\n"));
    assert_null(strstr(s.text, "    Take "));
    forget(&s);
}

/* Rows that differ in the unit say so, also where few evaluations were asked for. */
static void rows_of_few_evaluations(void **state) {
    (void)state;
    caucus_question q = question_of(50, 10, 128, 5);
    q.settings.evaluate = 5;
    q.known = CAUCUS_KNOWLEDGE_IID;
    said s = ask(&q);
    assert_non_null(strstr(s.text, " stoch            evaluate 5  "));
    assert_non_null(strstr(s.text, " stoch            evaluate 5, unit client-block "));
    assert_non_null(strstr(s.text, " stoch            evaluate 5, unit client  "));
    assert_non_null(strstr(s.text, "You asked for evaluate 5: in the rows that do not say so")); /* hedge, svt */
    assert_non_null(strstr(s.text, "    For unit client (everything one client contributes to the run"));
    forget(&s);
}

static void at_their_own_pace(void **state) {
    (void)state;
    caucus_question q = question_of(20, 5, CAUCUS_ROUNDS_ENDLESS, 5);
    q.settings.pace = CAUCUS_PACE_OWN;
    said s = ask(&q);
    assert_non_null(strstr(s.text, "each at its own pace"));
    assert_non_null(strstr(s.text, "    Take stoch (own pace)"));
    assert_non_null(strstr(s.text, " --pace own --phase-time 1d"));
    assert_non_null(strstr(s.text,
                           "    Regret, simulated and proven, is per 1,000 losses of a device, against the best "
                           "expert on "));
    assert_non_null(strstr(s.text, " lost per 1,000 losses in the simulation, at most "));
    assert_non_null(strstr(s.text, " per 1,000 losses proved"));
    forget(&s);
}

/* Losses that change their best expert in the middle: phases with a longest length are taken, and the plain ones are
 * not proved any more. */
static void a_history_that_drifts(void **state) {
    (void)state;
    enum { CLIENTS = 40, ROUNDS = 512, EXPERTS = 4 };
    double *values = malloc((size_t)CLIENTS * ROUNDS * EXPERTS * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < (size_t)CLIENTS * ROUNDS * EXPERTS; i++) {
        const size_t round = i / EXPERTS % ROUNDS, best = round < ROUNDS / 2 + 20 ? 1 : 2;
        values[i] = draw() < (i % EXPERTS == best ? 0.1 : 0.5);
    }
    const caucus_loss_array array = {
        .values = values, .wide = true, .clients = CLIENTS, .experts = EXPERTS, .rounds = ROUNDS};
    caucus_question q = question_of(CLIENTS, EXPERTS, ROUNDS, 2);
    q.array = &array;
    said s = ask(&q);
    assert_non_null(strstr(s.text, "drifting: more than chance explains"));
    assert_non_null(strstr(s.text, "    Take stoch (longest phase "));
    assert_non_null(strstr(s.json, "\"drifts\": \"yes\""));
    assert_non_null(strstr(s.text, "    Simulated regret is against the best expert of each of 8 segments of equal "));
    assert_non_null(strstr(s.json, "\"segments\": 8"));
    forget(&s);
    free(values);
}

/* One client's history for a fleet of many: what is proved decides, and that is said; and so is what lies outside the
 * range. */
static void one_client_stands_for_many(void **state) {
    (void)state;
    enum { ROUNDS = 64, EXPERTS = 4 };
    double values[ROUNDS * EXPERTS];
    for (size_t i = 0; i < ROUNDS * EXPERTS; i++)
        values[i] = 10 * draw();
    const caucus_loss_array array = {
        .values = values, .wide = true, .clients = 1, .experts = EXPERTS, .rounds = ROUNDS};
    caucus_question q = question_of(100000, EXPERTS, ROUNDS, 1);
    q.array = &array;
    q.range_open = true;
    said s = ask(&q);
    assert_non_null(strstr(s.text, "    One simulated client stands for 100,000 here"));
    assert_non_null(strstr(s.text, "what is proved decides the order, not what was simulated.\n"));
    assert_non_null(strstr(s.json, "\"ranked_by\": \"proved\""));
    assert_non_null(strstr(s.text, "    Take stoch with trust coordinator: at most "));
    assert_true(first_is(&s, "stoch"));
    assert_null(strstr(s.text, "One client alone"));
    assert_non_null(strstr(s.text,
                           "    Fewer clients with more noise than your fleet has: simulated with epsilon 1,000 "
                           "(1,000 is the most that is accepted)."));
    assert_non_null(strstr(s.text, " of your losses are outside the range 0,1 and were taken for its ends"));
    assert_non_null(strstr(s.text, " --trust coordinator --range=0,10 --write plan.yaml\n"));
    assert_non_null(strstr(s.json, " --range=0,10 --write plan.yaml\""));
    forget(&s);
    q.range_open = false; /* it was stated: so it stays */
    s = ask(&q);
    assert_null(strstr(s.text, "--range="));
    assert_non_null(strstr(s.text, "compare again with another range."));
    forget(&s);
}

/* A million experts: one client plays so few rounds that all candidates of all situations are played in seconds. */
static void a_million_experts_are_cut(void **state) {
    (void)state;
    caucus_scale scale = {.clients = 1000000, .rounds = 1000};
    const double each = 1.5 * 1048576;
    caucus_scale_cut(&scale, each, 256, CAUCUS_QUICK_LOSSES / CAUCUS_KNOWLEDGE_COUNT);
    assert_true(scale.clients == 1 && scale.rounds == 16 && scale.trials == 3 && scale.fewer && scale.shorter);
    scale = (caucus_scale){.clients = 1, .rounds = 1000};
    caucus_scale_cut(&scale, 10 * each, 256, CAUCUS_QUICK_LOSSES / CAUCUS_KNOWLEDGE_COUNT);
    assert_true(scale.clients == 1 && scale.rounds == 16 && scale.trials == 1 && !scale.fewer && scale.shorter);
}

static void what_is_refused(void **state) {
    (void)state;
    caucus_error error = {0};
    caucus_question q = question_of(10, 5, 64, 1);
    q.settings.trust = CAUCUS_TRUST_PAPER_LOCAL;
    assert_int_equal(caucus_recommend(stdout, NULL, &q, &error), CAUCUS_E_INFEASIBLE);
    assert_string_equal(error.field, "trust");
    q = question_of(10, 5, 64, 1);
    const double value[] = {0, 1};
    const caucus_loss_array array = {.values = value, .wide = true, .clients = 1, .experts = 2, .rounds = 1};
    q.array = &array; /* 2 experts, and 5 were asked for */
    assert_int_equal(caucus_recommend(stdout, NULL, &q, &error), CAUCUS_E_CONFLICT);
    q.settings.pace = CAUCUS_PACE_OWN;
    assert_int_equal(caucus_recommend(stdout, NULL, &q, &error), CAUCUS_E_CONFLICT);
    assert_string_equal(error.field, "losses");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fleets_history),
        cmocka_unit_test(something_is_always_played),
        cmocka_unit_test(without_an_end),
        cmocka_unit_test(without_an_end_what_is_proved_is_taken),
        cmocka_unit_test(what_would_fit),
        cmocka_unit_test(rows_of_few_evaluations),
        cmocka_unit_test(at_their_own_pace),
        cmocka_unit_test(a_history_that_drifts),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(adaptive_losses_follow),
        cmocka_unit_test(one_client_stands_for_many),
        cmocka_unit_test(a_million_experts_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
