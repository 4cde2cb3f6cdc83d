/* SPDX-License-Identifier: Apache-2.0 */
/* caucus/simulate.h: a scenario's text in, results out; what is refused; stopping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/trial.h"
#include <caucus/simulate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char small[] = "algorithm: [svt, hedge]\ntrust: coordinator\nclients: 3\nexperts: 4\nrounds: 20\n"
                            "trials: 5\nepsilon: 10\nseed: 7\n";

typedef struct seen {
    size_t calls, last_run, runs, stop_at; /* stop_at: the call that says stop; 0: none */
    uint64_t done, trials;
} seen;

static bool look(void *user, size_t run, size_t runs, uint64_t done, uint64_t trials) {
    seen *s = user;
    s->calls++;
    s->last_run = run;
    s->runs = runs;
    s->done = done;
    s->trials = trials;
    return s->calls != s->stop_at;
}

/* Without the figures that depend on the clock. */
static char *without_seconds(char *json) {
    for (char *at = json; (at = strstr(at, "\"seconds\": ")) != NULL;) {
        at += strlen("\"seconds\": ");
        char *end = at + strcspn(at, ",}\n");
        memmove(at, end, strlen(end) + 1);
    }
    return json;
}

static caucus_simulation *played(const char *scenario, seen *s) {
    caucus_simulation *simulation = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_simulation_new(scenario, strlen(scenario), s ? look : NULL, s, &simulation, &error),
                     CAUCUS_OK);
    return simulation;
}

static char *copy(const caucus_simulation *simulation) {
    size_t bytes = 0;
    char *json = NULL;
    assert_int_equal(caucus_simulation_show(simulation, CAUCUS_SIMULATION_VIEW_JSON, &json, &bytes), CAUCUS_OK);
    assert_int_equal(strlen(json), bytes);
    return json;
}

static void results_are_those_of_the_program(void **state) {
    (void)state;
    seen s = {0};
    caucus_simulation *first = played(small, &s), *second = played(small, NULL);
    char *json = copy(first), *again = copy(second);
    assert_non_null(strstr(json, "\"algorithm\": \"svt\""));
    assert_non_null(strstr(json, "\"algorithm\": \"hedge\""));
    assert_true(s.calls >= 2 && s.last_run == 1 && s.runs == 2 && s.done == 5 && s.trials == 5);
    assert_string_equal(without_seconds(json), without_seconds(again));
    free(json);
    free(again);
    caucus_simulation_free(first);
    caucus_simulation_free(second);
    caucus_simulation_free(NULL);
}

static void refused(const char *scenario, caucus_status want, const char *field, const char *words) {
    caucus_simulation *simulation = NULL;
    caucus_error error = {0};
    caucus_status status = caucus_simulation_new(scenario, strlen(scenario), NULL, NULL, &simulation, &error);
    printf("%s: %s\n", error.field, error.text);
    assert_int_equal(status, want);
    assert_string_equal(error.field, field);
    assert_non_null(strstr(error.text, words));
    assert_null(simulation); /* written on success alone */
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    refused("", CAUCUS_E_FORMAT, "", "scenario: empty");
    refused("algorithm: svt\ntrust: coordinator\nepsilon: 0\n", CAUCUS_E_RANGE, "", "scenario:3: epsilon: 0");
    refused("algorithm: svt\ntrust: coordinator\nepsilom: 1\n", CAUCUS_E_FORMAT, "", "scenario:3:");
    refused("algorithm: svt\n", CAUCUS_E_RANGE, "", "scenario: trust is missing");
    refused("algorithm: svt\ntrust: coordinator\nout: somewhere\n", CAUCUS_E_CONFLICT, "out", "nothing is written");
    refused("algorithm: svt\ntrust: coordinator\nformat: csv\n", CAUCUS_E_CONFLICT, "format", "results are returned");
}

static void it_stops_when_told(void **state) {
    (void)state;
    caucus_simulation *simulation = NULL;
    seen s = {.stop_at = 1};
    caucus_error error = {0};
    static const char many[] = "algorithm: svt\ntrust: coordinator\ntrials: 1000000\nrounds: 50\nexperts: 4\n";
    assert_int_equal(caucus_simulation_new(many, sizeof many - 1, look, &s, &simulation, &error), CAUCUS_E_STOPPED);
    assert_null(simulation);
    assert_string_equal(error.text, "stopped in run 1 of 1");
}

static const caucus_named words[] = {
    {"algorithm", "svt,hedge"}, {"trust", "coordinator"}, {"clients", "3"},  {"experts", "4"},
    {"rounds", "20"},           {"trials", "5"},          {"epsilon", "10"}, {"seed", "7"}};
#define WORDS (sizeof words / sizeof *words)

static caucus_simulation *asked(const caucus_plan *plan, const caucus_named *setting, size_t settings,
                                const caucus_loss_array *losses) {
    caucus_simulation *simulation = NULL;
    caucus_error error = {0};
    if (caucus_simulation_ask(plan, setting, settings, losses, NULL, NULL, &simulation, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    return simulation;
}

/* The numbers of a list in JSON, after a key and behind an offset; how many. */
static size_t listed(const char *json, const char *key, const char *list, double *ret, size_t room) {
    const char *at = strstr(json, key);
    size_t count = 0;
    assert_non_null(at);
    at = strstr(at, list);
    assert_non_null(at);
    at = strchr(at, '[') + 1;
    while (*at != ']') {
        char *end = NULL;
        assert_true(count < room);
        ret[count++] = strtod(at, &end);
        assert_ptr_not_equal(end, at);
        at = end + strspn(end, ", \n");
    }
    return count;
}

static void numbers_are_those_of_the_texts(void **state) {
    (void)state;
    static const struct {
        caucus_simulation_figure figure;
        const char *key, *list;
    } rows[] = {{CAUCUS_SIMULATION_REGRET, "\"regret\"", "\"values\""},
                {CAUCUS_SIMULATION_SWITCHES, "\"switches\"", "\"values\""},
                {CAUCUS_SIMULATION_LAST, "\"last\"", "\"experts\""},
                {CAUCUS_SIMULATION_BEST, "\"best\"", "\"experts\""}};
    caucus_simulation *simulation = played(small, NULL);
    char *json = copy(simulation);
    double got[CAUCUS_CURVE_POINTS], said[CAUCUS_CURVE_POINTS];
    assert_int_equal(caucus_simulation_runs(simulation), 2);
    const char *run[2] = {strstr(json, "\"svt\""), strstr(json, "\"hedge\"")};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            const size_t count = caucus_simulation_count(simulation, i, rows[k].figure);
            assert_int_equal(count, 5);
            assert_int_equal(caucus_simulation_values(simulation, i, rows[k].figure, got, count), CAUCUS_OK);
            assert_int_equal(listed(run[i], rows[k].key, rows[k].list, said, 5), count);
            for (size_t n = 0; n < count; n++)
                assert_true(got[n] == said[n]);
        }
    free(json);
    const size_t points = caucus_simulation_count(simulation, 1, CAUCUS_SIMULATION_CURVE_ROUND);
    assert_true(points > 1 && points <= CAUCUS_CURVE_POINTS);
    assert_int_equal(caucus_simulation_values(simulation, 1, CAUCUS_SIMULATION_CURVE_ROUND, said, points), CAUCUS_OK);
    for (size_t n = 1; n < points; n++)
        assert_true(said[n] > said[n - 1]);
    assert_int_equal(caucus_simulation_values(simulation, 1, CAUCUS_SIMULATION_CURVE_MEAN, got, points), CAUCUS_OK);
    assert_int_equal(caucus_simulation_values(simulation, 1, CAUCUS_SIMULATION_REGRET, said, 5), CAUCUS_OK);
    const double mean = (said[0] + said[1] + said[2] + said[3] + said[4]) / 5;
    assert_true(fabs(got[points - 1] - mean) < 1e-9); /* the curve ends where the trials end */
    got[0] = 7;
    assert_int_equal(caucus_simulation_values(simulation, 1, CAUCUS_SIMULATION_REGRET, got, 4), CAUCUS_E_RANGE);
    assert_int_equal(caucus_simulation_values(simulation, 2, CAUCUS_SIMULATION_REGRET, got, 5), CAUCUS_E_RANGE);
    assert_int_equal(caucus_simulation_count(simulation, 2, CAUCUS_SIMULATION_REGRET), 0);
    assert_true(got[0] == 7);
    caucus_simulation_free(simulation);
}

static void words_say_what_a_scenario_says(void **state) {
    (void)state;
    caucus_simulation *scenario = played(small, NULL), *worded = asked(NULL, words, WORDS, NULL);
    char *json = copy(scenario), *again = copy(worded);
    assert_string_equal(without_seconds(json), without_seconds(again));
    free(json);
    free(again);
    static const char *const inside[] = {"regret per client", "trial,regret,switches", "round,regret_mean,regret_std",
                                         "\"runs\": ["};
    for (int view = 0; view <= CAUCUS_SIMULATION_VIEW_JSON; view++) {
        char *text = NULL;
        size_t size = 0;
        assert_int_equal(caucus_simulation_show(worded, (caucus_simulation_view)view, &text, &size), CAUCUS_OK);
        assert_int_equal(strlen(text), size);
        assert_non_null(strstr(text, inside[view]));
        free(text);
    }
    caucus_simulation_free(scenario);
    caucus_simulation_free(worded);
}

/* Of a plan the words say only against what and how often; the results are those of the same settings. */
static void a_plan_is_played(void **state) {
    (void)state;
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    const caucus_named hedge[] = {{"algorithm", "hedge"}, {"trust", "coordinator"}, {"clients", "3"}, {"experts", "4"},
                                  {"rounds", "20"},       {"epsilon", "10"},        {"trials", "5"},  {"seed", "7"}};
    assert_int_equal(caucus_plan_ask(hedge, 6, &plan, &error), CAUCUS_OK);
    caucus_simulation *planned = asked(plan, hedge + 6, 2, NULL), *worded = asked(NULL, hedge, 8, NULL);
    char *json = copy(planned), *again = copy(worded);
    assert_string_equal(without_seconds(json), without_seconds(again));
    free(json);
    free(again);
    caucus_simulation_free(planned);
    caucus_simulation_free(worded);
    caucus_simulation *none = NULL;
    assert_int_equal(caucus_simulation_ask(plan, hedge + 5, 3, NULL, NULL, NULL, &none, &error), CAUCUS_E_RANGE);
    assert_string_equal(error.field, "epsilon");
    assert_string_equal(error.text, "10: the plan has its settings already");
    assert_null(none);
    caucus_plan_free(plan);
}

/* float and double, the same values: the same results; and what does not fit them is refused. */
static void losses_in_memory(void **state) {
    (void)state;
    static float narrow[3 * 20 * 4];
    static double wide[3 * 20 * 4];
    for (size_t i = 0; i < 3 * 20 * 4; i++)
        wide[i] = narrow[i] = (float)(i % 4) / 4;
    const caucus_named few[] = {{"trust", "coordinator"}, {"epsilon", "10"}, {"trials", "5"}, {"adversary", "halving"}};
    caucus_loss_array array;
    caucus_loss_array_init(&array);
    array.values = narrow;
    array.clients = 3;
    array.experts = 4;
    array.rounds = 20;
    caucus_simulation *first = asked(NULL, few, 3, &array);
    array.values = wide;
    array.wide = true;
    caucus_simulation *second = asked(NULL, few, 3, &array);
    char *json = copy(first), *again = copy(second);
    assert_non_null(strstr(json, "\"adversary\": \"losses\""));
    assert_non_null(strstr(json, "\"best\": {\"experts\": [0, 0, 0, 0, 0]"));
    assert_string_equal(without_seconds(json), without_seconds(again));
    free(json);
    free(again);
    caucus_simulation_free(first);
    caucus_simulation_free(second);
    caucus_simulation *none = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_simulation_ask(NULL, few, 4, &array, NULL, NULL, &none, &error), CAUCUS_E_CONFLICT);
    assert_string_equal(error.field, "losses");
    assert_string_equal(error.text, "not used by adversary halving, only by losses");
    array.experts = 1;
    assert_int_equal(caucus_simulation_ask(NULL, few, 3, &array, NULL, NULL, &none, &error), CAUCUS_E_FORMAT);
    assert_non_null(strstr(error.text, "losses: shape (3, 20, 1) has 1 expert"));
    array.size--;
    assert_int_equal(caucus_simulation_ask(NULL, few, 3, &array, NULL, NULL, &none, &error), CAUCUS_E_RANGE);
    assert_string_equal(error.field, "size");
    assert_null(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_the_program),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(it_stops_when_told),
        cmocka_unit_test(numbers_are_those_of_the_texts),
        cmocka_unit_test(words_say_what_a_scenario_says),
        cmocka_unit_test(a_plan_is_played),
        cmocka_unit_test(losses_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
