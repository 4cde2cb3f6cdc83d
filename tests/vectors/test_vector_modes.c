/* SPDX-License-Identifier: Apache-2.0 */
/* test_vector_modes.c: docs/vectors/runs.json has a run of every mode that a plan can have: of every combination of
 * unit, trust, message, shape of losses, trees and pace that caucus_plan_new() accepts for svt, stoch and hedge, of
 * every word of every other choice, and of every option. (To a client the baselines sparse-vector, limited-updates and
 * leader are svt, stoch and hedge: one run of each.) */
#include "json_tree.h"

#include "plan/plan.h"

#include <caucus/plan_file.h>

enum { RUNS_MAX = 256 };

static caucus_settings had[RUNS_MAX]; /* of the runs in the file */
static caucus_message drawn[RUNS_MAX];
static size_t count;

static void read_runs(void) {
    yaml_node_t *runs = get(tree_open("runs.json"), "runs");
    count = length(runs);
    assert_true(count > 0 && count <= RUNS_MAX);
    for (size_t n = 0; n < count; n++) {
        const char *name = text_of(at(runs, n), "name"), *words = text_of(at(runs, n), "plan");
        caucus_plan *plan = NULL;
        caucus_error error;
        assert_int_equal(caucus_plan_file_parse(name, words, strlen(words), &plan, &error), CAUCUS_OK);
        had[n] = *caucus_plan_settings(plan);
        had[n].names = NULL; /* they belong to the plan */
        drawn[n] = plan->stoch.message;
        caucus_plan_free(plan);
    }
    tree_close();
}

/* The parts of a mode that are combined with one another. */
typedef struct combined {
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_message message;
    caucus_unit unit;
    caucus_loss_shape shape;
    int trees;
    caucus_pace pace;
} combined;

static bool is_offered(const combined *c) {
    caucus_settings s;
    caucus_plan *plan = NULL;
    caucus_error error;
    caucus_settings_init(&s);
    s.algorithm = c->algorithm, s.trust = c->trust, s.message = c->message, s.unit = c->unit;
    s.loss_shape = c->shape, s.pace = c->pace;
    s.clients = 2, s.experts = 4, s.epsilon = 20;
    s.rounds = c->pace == CAUCUS_PACE_OWN && c->unit != CAUCUS_UNIT_CLIENT ? CAUCUS_ROUNDS_ENDLESS : 15;
    s.calibration = c->trust == CAUCUS_TRUST_PAPER_LOCAL ? CAUCUS_CALIBRATION_PAPER : CAUCUS_CALIBRATION_TIGHT;
    s.delta = c->message == CAUCUS_MESSAGE_GAUSS ? 1e-6 : 0;
    s.growth = c->unit == CAUCUS_UNIT_CLIENT ? 3 : 0;
    if (c->shape == CAUCUS_LOSS_SHAPE_CONVEX)
        s.lipschitz = 1.5, s.smoothness = 0.5;
    if (c->trees > 0 || c->shape == CAUCUS_LOSS_SHAPE_CONVEX || c->trust == CAUCUS_TRUST_PAPER_LOCAL)
        s.trees = c->trees;
    const bool offered = caucus_plan_new(&s, &plan, &error) == CAUCUS_OK;
    caucus_plan_free(plan);
    return offered;
}

static bool is_there(const combined *c) {
    for (size_t n = 0; n < count; n++) {
        const caucus_settings *s = &had[n];
        if (s->algorithm == c->algorithm && s->trust == c->trust && s->unit == c->unit && s->loss_shape == c->shape &&
            s->pace == c->pace && (s->trees > 0) == (c->trees > 0) &&
            (c->trust != CAUCUS_TRUST_NOBODY || drawn[n] == c->message))
            return true;
    }
    return false;
}

static void look_for(combined c, size_t *offered, size_t *missing) {
    /* A kind of message belongs to trust nobody; auto is one of the others. */
    if ((c.trust == CAUCUS_TRUST_NOBODY) != (c.message != CAUCUS_MESSAGE_AUTO) || !is_offered(&c))
        return;
    *offered += 1;
    if (is_there(&c))
        return;
    *missing += 1;
    print_message("no run: %s, trust %s, message %s, unit %s, %s losses, %d trees, pace %s\n",
                  caucus_algorithm_word(c.algorithm), caucus_trust_word(c.trust), caucus_message_word(c.message),
                  caucus_unit_word(c.unit), caucus_loss_shape_word(c.shape), c.trees, caucus_pace_word(c.pace));
}

static void test_combinations(void **state) {
    (void)state;
    static const caucus_algorithm played[] = {CAUCUS_ALGORITHM_SVT, CAUCUS_ALGORITHM_STOCH, CAUCUS_ALGORITHM_HEDGE};
    size_t offered = 0, missing = 0;
    for (unsigned a = 0; a < 3; a++)
        for (unsigned trust = 0; trust < CAUCUS_TRUST_COUNT; trust++)
            for (unsigned message = 0; message < CAUCUS_MESSAGE_COUNT; message++)
                for (unsigned unit = 0; unit < CAUCUS_UNIT_COUNT; unit++)
                    for (unsigned rest = 0; rest < 8; rest++)
                        look_for((combined){played[a], (caucus_trust)trust, (caucus_message)message, (caucus_unit)unit,
                                            (caucus_loss_shape)(rest & 1), (int)(rest >> 1 & 1),
                                            (caucus_pace)(rest >> 2)},
                                 &offered, &missing);
    print_message("%zu combinations are offered\n", offered);
    assert_true(offered > 40);
    assert_int_equal(missing, 0);
}

/* Every word of a choice stands in some plan. */
#define EACH_WORD(type, TYPE, field)                                                                                   \
    for (unsigned word = 0; word < CAUCUS_##TYPE##_COUNT; word++) {                                                    \
        bool found = false;                                                                                            \
        for (size_t n = 0; n < count; n++)                                                                             \
            found = found || had[n].field == (caucus_##type)word;                                                      \
        if (!found)                                                                                                    \
            fail_msg("no run has %s %s", #type, caucus_##type##_word((caucus_##type)word));                            \
    }

static void test_words(void **state) {
    (void)state;
    EACH_WORD(algorithm, ALGORITHM, algorithm)
    EACH_WORD(trust, TRUST, trust)
    EACH_WORD(calibration, CALIBRATION, calibration)
    EACH_WORD(protocol, PROTOCOL, protocol)
    EACH_WORD(unit, UNIT, unit)
    EACH_WORD(select, SELECT, select)
    EACH_WORD(message, MESSAGE, message)
    EACH_WORD(loss_shape, LOSS_SHAPE, loss_shape)
    EACH_WORD(pace, PACE, pace)
}

/* Some run has the option, with each of these. */
#define HAS(condition)                                                                                                 \
    do {                                                                                                               \
        bool found = false;                                                                                            \
        for (size_t n = 0; n < count && !found; n++) {                                                                 \
            const caucus_settings *s = &had[n];                                                                        \
            found = (condition);                                                                                       \
        }                                                                                                              \
        if (!found)                                                                                                    \
            fail_msg("no run has %s", #condition);                                                                     \
    } while (0)

static void test_options(void **state) {
    (void)state;
    for (unsigned word = 0; word < CAUCUS_UNIT_COUNT; word++) {
        HAS(s->evaluate > 0 && s->unit == (caucus_unit)word);
        HAS(s->show_loss > 0 && s->unit == (caucus_unit)word);
    }
    HAS(s->past_phases && s->pace == CAUCUS_PACE_TOGETHER);
    HAS(s->past_phases && s->pace == CAUCUS_PACE_OWN);
    HAS(s->past_phases && s->evaluate > 0);
    HAS(s->rounds == CAUCUS_ROUNDS_ENDLESS && s->algorithm == CAUCUS_ALGORITHM_SVT && s->renew == 0);
    HAS(s->rounds == CAUCUS_ROUNDS_ENDLESS && s->algorithm == CAUCUS_ALGORITHM_SVT && s->renew > 0);
    HAS(s->rounds == CAUCUS_ROUNDS_ENDLESS && s->algorithm == CAUCUS_ALGORITHM_HEDGE && s->renew > 0);
    HAS(s->rounds == CAUCUS_ROUNDS_ENDLESS && s->longest_phase > 0 && s->trust == CAUCUS_TRUST_NOBODY);
    HAS(s->rounds == CAUCUS_ROUNDS_ENDLESS && s->evaluate > 0);
    HAS(s->rounds != CAUCUS_ROUNDS_ENDLESS && s->longest_phase > 0 && s->first_phase > 1);
    HAS(s->renew > 0 && s->unit == CAUCUS_UNIT_CLIENT_BLOCK);
    HAS(s->growth > 0);
    HAS(s->front_load);
    HAS(s->delta > 0 && s->trust == CAUCUS_TRUST_COORDINATOR);
    HAS(s->interval > 1);
}

static int group_setup(void **state) {
    (void)state;
    read_runs();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_combinations), cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_options)};
    return cmocka_run_group_tests(tests, group_setup, NULL);
}
