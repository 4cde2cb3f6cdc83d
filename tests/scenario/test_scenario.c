/* SPDX-License-Identifier: Apache-2.0 */
/* test_scenario.c: scenario files and flags: what is read, what is refused, in which words, and which runs it makes. */
#include "scenario/scenario.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static caucus_status parse(caucus_scenario *s, const char *text, caucus_complaint *c) {
    return caucus_scenario_parse(s, "s.yaml", (const uint8_t *)text, strlen(text), c);
}

/* A file that must be refused while it is read. */
static void refused(const char *text, const char *line) {
    caucus_scenario s;
    caucus_complaint c = {.line = ""};
    caucus_scenario_init(&s);
    assert_int_equal(parse(&s, text, &c), CAUCUS_E_FORMAT);
    assert_string_equal(c.line, line);
    assert_true(c.in_file);
    for (size_t i = 0; i < CAUCUS_FIELD_COUNT; i++) /* what stood before the mistake is not taken */
        assert_int_equal(s.field[i].count, 0);
    caucus_scenario_free(&s);
}

/* A file that is read, but makes no runs. */
static void unresolved(const char *text, const char *line) {
    caucus_scenario s;
    caucus_prepared p;
    caucus_complaint c = {.line = ""};
    caucus_scenario_init(&s);
    assert_int_equal(parse(&s, text, &c), CAUCUS_OK);
    assert_int_not_equal(caucus_scenario_resolve(&s, &p, &c), CAUCUS_OK);
    assert_string_equal(c.line, line);
    caucus_scenario_free(&s);
}

static void files_that_are_no_scenario(void **state) {
    (void)state;
    const char *empty = "s.yaml: empty — expected fields, for example 'algorithm: svt' and 'trust: coordinator'";
    refused("", empty);
    refused("# nothing but a comment\n", empty);
    refused("---\n", empty);
    refused("svt\n", "s.yaml:1: expected fields, for example 'algorithm: svt'");
    refused("trust: coordinator\nalgoritm: svt\n", "s.yaml:2: unknown field 'algoritm' — did you mean 'algorithm'?");
    refused("\"tru\\nst\": 1\n", "s.yaml:1: unknown field 'tru?st' — did you mean 'trust'?");
    refused("xyz: 1\n", "s.yaml:1: unknown field 'xyz' — fields are called as the settings on the command line");
    refused("trust: coordinator\n\ntrust: nobody\n", "s.yaml:3: trust: given twice, first in line 1");
    refused("epsilon: [1, [2]]\n", "s.yaml:1: epsilon: nested too deep — expected a value or a list of values");
    refused("seed: {a: 1}\n", "s.yaml:1: seed: nested too deep — expected a value");
    refused("seed: [1, 2]\n", "s.yaml:1: seed: a list — this field takes one value");
    refused("epsilon: []\n", "s.yaml:1: epsilon: an empty list");
    refused("seed: 1\nepsilon:\n", "s.yaml:2: epsilon: no value");
    refused("epsilon: &a 1\n", "s.yaml:1: epsilon: an anchor — write the value itself");
    refused("epsilon: &a 1\ndelta: *a\n", "s.yaml:1: epsilon: an anchor — write the value itself");
    refused("seed: 1\n---\nseed: 2\n", "s.yaml:2: a second document — a scenario is one");
    refused("trust: \"a\\0b\"\n", "s.yaml:1: trust: a zero byte inside");
    refused("epsilon: 1\n\ttrust: x\n", "s.yaml:2: not YAML — found a tab character that violates indentation");
    char *large = malloc(CAUCUS_SCENARIO_BYTES + 2);
    assert_non_null(large);
    memset(large, '#', CAUCUS_SCENARIO_BYTES + 1);
    large[CAUCUS_SCENARIO_BYTES + 1] = '\0';
    refused(large, "s.yaml: 1048577 bytes — a scenario has at most 1048576");
    memset(large, '[', CAUCUS_SCENARIO_BYTES); /* no depth is followed */
    memcpy(large, "epsilon: ", 9);
    large[CAUCUS_SCENARIO_BYTES] = '\0';
    refused(large, "s.yaml:1: epsilon: nested too deep — expected a value or a list of values");
    free(large);
    refused("epsilon: [1,\n", "s.yaml:2: not YAML — did not find expected node content");
}

static void values_that_are_refused(void **state) {
    (void)state;
    unresolved(
        "seed: 1\n",
        "s.yaml: trust is missing: whom do the clients trust with their sums? coordinator, nobody, or paper-local "
        "to reproduce the paper");
#define T "trust: coordinator\n"
    unresolved(T "epsilon: 0\n",
               "s.yaml:2: epsilon: 0 — must be above 0 (0.01 to 100 is usual); for no privacy write infinite");
    unresolved(T "epsilon: [1, .nan]\n",
               "s.yaml:2: epsilon: .nan — must be above 0 (0.01 to 100 is usual); for no privacy write infinite");
    unresolved(T "delta: nan\n", "s.yaml:2: delta: nan — must be a finite number");
    unresolved(T "rho: 0x1\n", "s.yaml:2: rho: 0x1 — must be a finite number");
    unresolved(T "\nclients: ten\n", "s.yaml:3: clients: ten — must be a whole number from 1 to 16777216");
    unresolved(T "rounds: -1\n", "s.yaml:2: rounds: -1 — must be a whole number from 1 to 1073741824, or endless");
    unresolved(T "rounds: 99999999999999999999999\n",
               "s.yaml:2: rounds: 99999999999999999999999 — must be a whole number from 1 to 1073741824, or endless");
    unresolved(T "trials: 0\n", "s.yaml:2: trials: 0 — must be a whole number from 1 to 1000000");
    unresolved(T "range: [5, 1]\n", "s.yaml:2: range: 5,1 — must be a lower and a higher number, for example 0,1");
    unresolved(T "range: 1\n", "s.yaml:2: range: 1 — must be two numbers, for example 0,1");
    unresolved(T "front-load: maybe\n", "s.yaml:2: front-load: maybe — must be true or false");
    unresolved(T "trees: 8\n", "s.yaml:2: trees: 8 — must be 0 to 7, or auto");
    unresolved(T "losses: a.npy\nadversary: gaussian\n",
               "s.yaml:2: losses: a.npy — not used by adversary gaussian, only by losses");
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(here >= 0 && chdir("/") == 0); /* where no data/ml-1m is */
    unresolved(T "adversary: movielens\n",
               "s.yaml: data is missing: no MovieLens in data/ml-1m or ../shared/data/ml-1m — "
               "get ml-1m.zip from https://grouplens.org/datasets/movielens/1m/ and unpack "
               "it to data/ml-1m, or give its directory");
    assert_true(fchdir(here) == 0 && close(here) == 0);
    unresolved("trust: |\n  a\n  b\n", "s.yaml:1: trust: 'a?b?' (accepted: coordinator, nobody, paper-local)");
    unresolved("trust: me\n", "s.yaml:1: trust: 'me' (accepted: coordinator, nobody, paper-local)");
    unresolved(T "delta: 0.5\n", "s.yaml:2: delta: 0.5 (accepted: 0 for pure privacy, or above 0 and below 0.1)");
    unresolved(T "epsilon: infinite\n",
               "s.yaml:2: epsilon: infinite with svt (accepted: above 0, at most 1000; without privacy use "
               "algorithm hedge or leader)");
}

static void resolved(const char *text) {
    caucus_scenario s;
    caucus_prepared p;
    caucus_complaint c = {.line = ""};
    caucus_scenario_init(&s);
    assert_int_equal(parse(&s, text, &c), CAUCUS_OK);
    caucus_status status = caucus_scenario_resolve(&s, &p, &c);
    assert_string_equal(c.line, "");
    assert_int_equal(status, CAUCUS_OK);
    caucus_prepared_free(&p);
    caucus_scenario_free(&s);
}

/* What no run takes is refused; what one of several takes, or says only what is so anyway, is not. */
static void fields_that_would_be_ignored(void **state) {
    (void)state;
#define S T "experts: 8\nrounds: 16\n"
    const char *only = "only by svt and sparse-vector, whose bounds hold with a probability";
    char line[200];
    static const char *const others[] = {"stoch", "hedge", "limited-updates", "leader"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[120];
        (void)snprintf(text, sizeof text, S "algorithm: %s\nrho: 0.1\n", others[i]);
        (void)snprintf(line, sizeof line, "s.yaml:5: rho: 0.1 — not used by %s, %s", others[i], only);
        unresolved(text, line);
    }
    resolved(S "algorithm: [stoch, svt]\nrho: 0.1\n");
    unresolved(S "algorithm: leader\nunit: client-block\n",
               "s.yaml:5: unit: client-block — not used by leader, which protects nobody");
    unresolved(S "algorithm: leader\nunit: [event, client-block]\n",
               "s.yaml:5: unit: client-block — not used by leader, which protects nobody");
    unresolved(S "algorithm: leader\ncalibration: paper\n",
               "s.yaml:5: calibration: paper — not used by leader, which has no noise");
    unresolved(S "algorithm: leader\ndelta: 1e-6\n",
               "s.yaml:5: delta: 1e-6 — not used by leader, which protects nobody");
    unresolved(S "algorithm: leader\nepsilon: 2\n", "s.yaml:5: epsilon: 2 — not used by leader, which protects nobody");
    resolved(S "algorithm: leader\nepsilon: .inf\ndelta: 0\nunit: event\ncalibration: tight\n");
    resolved(S "algorithm: [svt, leader]\nepsilon: 2\ndelta: 1e-6\ncalibration: paper\n");
    resolved(S "algorithm: leader\nadversary: lower-bound-realizable\nepsilon: 0.5\n"); /* the losses take it */
    unresolved(S "algorithm: hedge\nepsilon: infinite\ndelta: 1e-6\n",
               "s.yaml:6: delta: 1e-6 — not used by hedge without privacy, which protects nobody");
    resolved(S "algorithm: hedge\nepsilon: [infinite, 1]\ndelta: 1e-6\n");
    unresolved(S "algorithm: [svt, hedge]\ntrees: auto\n",
               "s.yaml:5: trees: auto — not used by svt, only by stoch and limited-updates");
    resolved(S "algorithm: [svt, stoch]\ntrees: auto\n");
    unresolved(S "algorithm: [svt, stoch]\nadversary: cross-entropy\ntrees: auto\n",
               "s.yaml:6: trees: auto — makes cross-entropy a convex function of the mixture for stoch, while svt is "
               "charged single experts: not to be compared — run them apart, or leave this out");
    unresolved(S "algorithm: stoch\nadversary: cross-entropy\ntrees: auto\nrange: [0, 0.01]\n",
               "s.yaml:7: range: 0,0.01 — not used by convex losses (cross-entropy with trees), which are in 0,1 and "
               "have clamps of their own");
    resolved(S "algorithm: stoch\nadversary: cross-entropy\nrange: [0, 0.5]\n"); /* linear: it is used */
}

static void combinations_in_order(void **state) {
    (void)state;
    caucus_scenario s;
    caucus_prepared p;
    caucus_complaint c = {.line = ""};
    caucus_scenario_init(&s);
    assert_int_equal(
        parse(&s,
              "algorithm: [svt, leader]\nepsilon: [1, 2.5]\ntrust: coordinator\nrounds: 32\nexperts: 4\nseed: 7\n"
              "range: [-1, 3]\nrho: 0.1\nthreads: 2\nfront-load: no\n",
              &c),
        CAUCUS_OK);
    assert_int_equal(caucus_scenario_set(&s, CAUCUS_FIELD_INTERVAL, "1,8", &c), CAUCUS_OK);
    assert_int_equal(caucus_scenario_set(&s, CAUCUS_FIELD_SEED, "9", &c), CAUCUS_OK); /* a flag overrides the file */
    assert_int_equal(caucus_scenario_resolve(&s, &p, &c), CAUCUS_OK);
    assert_int_equal(p.count, 8);
    for (size_t i = 0; i < p.count; i++) {
        const caucus_settings *t = &p.run[i].settings;
        assert_int_equal(t->algorithm, i < 4 ? CAUCUS_ALGORITHM_SVT : CAUCUS_ALGORITHM_LEADER);
        assert_int_equal(t->interval, i / 2 % 2 == 0 ? 1 : 8);
        assert_true(t->epsilon == (i % 2 == 0 ? 1 : 2.5));
        assert_true(t->lo == -1 && t->hi == 3 && t->rho == 0.1);
        assert_int_equal(p.run[i].seed, 9);
        assert_int_equal(p.run[i].adversary.seed, 9);
        assert_int_equal(p.run[i].trials, 100);
        assert_int_equal(p.run[i].threads, 2);
        assert_ptr_equal(p.adversary[i], p.adversary[0]); /* the same losses are opened once */
    }
    caucus_prepared_free(&p);
    caucus_scenario_free(&s);
}

static void flags_are_refused_as_flags(void **state) {
    (void)state;
    caucus_scenario s;
    caucus_prepared p;
    caucus_complaint c = {.line = ""};
    caucus_scenario_init(&s);
    assert_int_equal(caucus_scenario_set(&s, CAUCUS_FIELD_TRUST, "coordinator", &c), CAUCUS_OK);
    assert_int_equal(caucus_scenario_set(&s, CAUCUS_FIELD_TRUST, "nobody", &c), CAUCUS_E_FORMAT);
    assert_string_equal(c.field, "trust");
    assert_string_equal(c.line, ": given twice");
    assert_int_equal(caucus_scenario_set(&s, CAUCUS_FIELD_ROUNDS, "1,,2", &c), CAUCUS_E_FORMAT);
    assert_string_equal(c.field, "rounds");
    assert_string_equal(c.line, ": an empty value");
    assert_int_equal(caucus_scenario_set(&s, CAUCUS_FIELD_EPSILON, "1,0", &c), CAUCUS_OK);
    assert_int_equal(caucus_scenario_resolve(&s, &p, &c), CAUCUS_E_RANGE);
    assert_string_equal(c.field, "epsilon");
    assert_string_equal(c.line, " 0: must be above 0 (0.01 to 100 is usual); for no privacy write infinite");
    assert_false(c.in_file);
    caucus_scenario_free(&s);
}

static void trees_make_cross_entropy_convex(void **state) {
    (void)state;
    caucus_scenario s;
    caucus_prepared p;
    caucus_complaint c = {.line = ""};
    caucus_scenario_init(&s);
    assert_int_equal(
        parse(&s,
              "algorithm: stoch\nadversary: [cross-entropy, gaussian]\ntrust: coordinator\ntrees: auto\nexperts: 8\n",
              &c),
        CAUCUS_OK);
    assert_int_equal(caucus_scenario_resolve(&s, &p, &c), CAUCUS_OK);
    assert_int_equal(p.count, 2);
    assert_int_equal(p.run[0].settings.loss_shape, CAUCUS_LOSS_SHAPE_CONVEX);
    assert_true(p.run[0].settings.smoothness > 0);
    assert_int_equal(p.run[1].settings.loss_shape, CAUCUS_LOSS_SHAPE_LINEAR);
    caucus_prepared_free(&p);
    caucus_scenario_free(&s);
}

static void too_many_runs(void **state) {
    (void)state;
    caucus_scenario s;
    caucus_prepared p;
    caucus_complaint c = {.line = ""};
    char list[300];
    for (size_t i = 0; i < sizeof list; i++) /* 150 times a 1 */
        list[i] = i + 1 == sizeof list ? '\0' : i % 2 == 0 ? '1' : ',';
    caucus_scenario_init(&s);
    assert_int_equal(caucus_scenario_set(&s, CAUCUS_FIELD_TRUST, "coordinator", &c), CAUCUS_OK);
    assert_int_equal(caucus_scenario_set(&s, CAUCUS_FIELD_CLIENTS, list, &c), CAUCUS_OK);
    assert_int_equal(caucus_scenario_set(&s, CAUCUS_FIELD_ROUNDS, list, &c), CAUCUS_OK);
    assert_int_equal(caucus_scenario_resolve(&s, &p, &c), CAUCUS_E_RANGE);
    assert_string_equal(c.field, "rounds");
    assert_string_equal(c.line, " 1: with its other values this makes more than 10000 runs");
    caucus_scenario_free(&s);
}

/* The files people start from must stay valid (their data is not here, so they are only read). */
static void experiments_are_read(void **state) {
    (void)state;
    static const char *const names[] = {"figure1", "figure1-cross-entropy", "figure2", "movielens", "own-losses"};
    const char *source = getenv("CAUCUS_SOURCE");
    if (source == NULL)
        skip();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[4096];
        caucus_scenario s;
        caucus_complaint c = {.line = ""};
        caucus_scenario_init(&s);
        (void)snprintf(path, sizeof path, "%s/experiments/%s.yaml", source, names[i]);
        caucus_status status = caucus_scenario_load(&s, path, &c);
        assert_string_equal(c.line, "");
        assert_int_equal(status, CAUCUS_OK);
        assert_string_equal(s.field[CAUCUS_FIELD_TRUST].text[0], "coordinator");
        caucus_scenario_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_are_no_scenario),
        cmocka_unit_test(values_that_are_refused),
        cmocka_unit_test(fields_that_would_be_ignored),
        cmocka_unit_test(combinations_in_order),
        cmocka_unit_test(flags_are_refused_as_flags),
        cmocka_unit_test(trees_make_cross_entropy_convex),
        cmocka_unit_test(too_many_runs),
        cmocka_unit_test(experiments_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
