/* SPDX-License-Identifier: Apache-2.0 */
/* test_output.c: results as JSON, CSV and a table, from results made by hand; and the files of a stopped simulation. */
#include "show/out_dir.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct made {
    caucus_run run[2];
    caucus_run_result result[2];
    caucus_plan plan[2];
    caucus_trial_result trial[2][3];
} made;

static void make(made *m) {
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < 2; i++) {
        caucus_plan *plan = &m->plan[i];
        caucus_settings_init(&plan->settings);
        plan->settings.trust = CAUCUS_TRUST_COORDINATOR;
        plan->settings.rounds = 4;
        plan->svt.checks = 3;
        plan->guarantee = (caucus_guarantee){.epsilon_choices = 1, .epsilon_messages = NAN, .note = "say \"so\"\\\n"};
        plan->bound_kind = CAUCUS_BOUND_PROBABILITY;
        plan->bound = plan->bound_uncapped = 2.5;
        m->run[i] = (caucus_run){.settings = plan->settings,
                                 .adversary = {.kind = CAUCUS_ADVERSARY_REALIZABLE, .segments = 1},
                                 .trials = 3,
                                 .seed = 11};
        m->result[i] = (caucus_run_result){.plan = plan, .trial = m->trial[i], .trials = 3, .done = 3, .seconds = 0.25};
        for (uint32_t k = 0; k < 3; k++)
            m->trial[i][k] = (caucus_trial_result){.regret = 0.25 * (k + 1),
                                                   .regret_segments = 0.5 * (k + 1),
                                                   .switches = k,
                                                   .selections = k,
                                                   .scalars_up = 10 + k,
                                                   .scalars_down = 20,
                                                   .bytes_up = 30,
                                                   .bytes_down = 40,
                                                   .losses = 40,
                                                   .loss = 1 + 0.25 * (k + 1),
                                                   .since = k,
                                                   .choices = {.count = 1},
                                                   .digest = UINT64_MAX - k,
                                                   .curve = {[63] = 0.25 * (k + 1)}};
    }
    m->plan[1].settings.algorithm = CAUCUS_ALGORITHM_LEADER;
    m->plan[1].settings.epsilon = INFINITY;
    m->plan[1].guarantee.epsilon_choices = INFINITY;
    m->plan[1].bound_kind = CAUCUS_BOUND_NONE;
    m->run[1].settings = m->plan[1].settings;
}

static char *text_of(void (*write)(FILE *, const caucus_outcome *), const made *m, size_t count) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    write(out, &(caucus_outcome){.run = m->run, .result = m->result, .count = count});
    fclose(out);
    return text;
}

static void json(void **state) {
    (void)state;
    made m;
    make(&m);
    char *text = text_of(caucus_output_json, &m, 1);
    assert_string_equal(
        text,
        "{\n  \"version\": 1,\n  \"history\": null,\n  \"runs\": [\n    {\n      \"algorithm\": \"svt\",\n      "
        "\"clients\": 10,\n      "
        "\"experts\": 100,\n      \"rounds\": 4,\n      \"endless\": false,\n"
        "      \"interval\": 1,\n      \"epsilon\": 1,\n      \"delta\": 0,\n      \"trust\": \"coordinator\",\n"
        "      \"calibration\": \"tight\",\n      \"protocol\": \"two-step\",\n      \"unit\": \"event\",\n      "
        "\"loss_shape\": \"linear\",\n"
        "      \"select\": \"auto\",\n      \"message\": \"auto\",\n      \"trees\": \"auto\",\n"
        "      \"front_load\": false,\n      \"past_phases\": false,\n      \"rho\": 0.05,\n      \"lstar\": 0,\n"
        "      \"range\": [0, 1],\n"
        "      \"adversary\": \"realizable\",\n      \"segments\": 1,\n      \"means\": null,\n"
        "      \"spread\": null,\n      \"drift\": null,\n      \"trials\": 3,\n      \"seed\": 11,\n"
        "      \"regret\": {\"mean\": 0.5, \"std\": 0.25, \"min\": 0.25, \"max\": 0.75, "
        "\"values\": [0.25, 0.5, 0.75], \"segments\": {\"mean\": 1, \"std\": 0.5, \"min\": 0.5, \"max\": 1.5, "
        "\"values\": [0.5, 1, 1.5]}},\n"
        "      \"last\": {\"experts\": [0, 0, 0], \"names\": null},\n"
        "      \"best\": {\"experts\": [0, 0, 0], \"names\": null},\n"
        "      \"switches\": {\"mean\": 1, \"values\": [0, 1, 2]},\n"
        "      \"losses\": 40,\n"
        "      \"loss\": 1.5,\n      \"best_loss\": 1,\n      \"ended_with_best\": 3,\n"
        "      \"rounds_in_force\": 3,\n      \"ran_out\": null,\n      \"clipped_share\": 0,\n"
        "      \"scalars_up\": 11,\n      \"scalars_down\": 20,\n      \"bytes_up\": 30,\n      \"bytes_down\": 40,\n"
        "      \"clipped\": 0,\n      \"nan\": 0,\n      \"bound\": {\"value\": 2.5, \"kind\": \"probability\"},\n"
        "      \"bound_assumes\": \"realizable\",\n      \"premise_refuted\": false,\n"
        "      \"privacy\": {\"epsilon_choices\": 1, \"epsilon_messages\": null, \"delta\": 0, "
        "\"unit\": \"one loss of one client\", \"epsilon_device\": 3, \"weak\": [], "
        "\"note\": \"say \\\"so\\\"\\\\\\u000a\"},\n      \"seconds\": 0.25\n    }\n  ]\n}\n");
    free(text);
    text = text_of(caucus_output_json, &m, 2);
    assert_non_null(strstr(text, "\"epsilon\": null"));
    assert_non_null(strstr(text, "\"bound\": null,\n      \"bound_assumes\": null"));
    free(text);
}

/* Every setting that takes a list, or differs between adversaries, is somewhere in a row. */
static void rows_can_be_told_apart(void **state) {
    (void)state;
    enum { WAYS = 13 };
    static const char *const column[WAYS] = {"   select   ",
                                             "   message   ",
                                             NULL,
                                             NULL,
                                             NULL,
                                             NULL,
                                             "   losses in   ",
                                             "   trees   ",
                                             "   epsilon   ",
                                             "   segments   ",
                                             NULL /* one pair of means */,
                                             "   spread   ",
                                             "   drift   "};
    for (int which = 0; which < WAYS; which++) {
        made first, second, both;
        make(&first);
        make(&second);
        caucus_settings *s = &second.plan[0].settings;
        s->select = which == 0 ? CAUCUS_SELECT_FLIP : CAUCUS_SELECT_AUTO;
        s->message = which == 1 ? CAUCUS_MESSAGE_GAUSS : CAUCUS_MESSAGE_AUTO;
        s->front_load = which == 2;
        s->past_phases = which == 3;
        s->rho = which == 4 ? 0.1 : 0.05;
        s->lstar = which == 5 ? 2 : 0;
        s->hi = which == 6 ? 5 : 1;
        s->trees = which == 7 ? 0 : CAUCUS_TREES_AUTO;
        s->epsilon = which == 8 ? 2 : 1;
        second.run[0].settings = *s;
        caucus_adversary_settings *a = &second.run[0].adversary;
        if (which >= 10)
            first.run[0].adversary.kind = a->kind = CAUCUS_ADVERSARY_DRIFTING;
        a->segments = which == 9 ? 5 : 1;
        a->mean_hi = which == 10 ? 0.5 : 0;
        a->spread = which == 11 ? 0.1 : 0;
        a->drift = which == 12 ? 0.1 : 0;
        void (*const writers[])(FILE *, const caucus_outcome *) = {caucus_output_json, caucus_output_trials,
                                                                   caucus_output_curves};
        for (size_t w = 0; w < 3; w++) {
            char *one = text_of(writers[w], &first, 1), *other = text_of(writers[w], &second, 1);
            assert_string_not_equal(one, other);
            free(one);
            free(other);
        }
        make(&both);
        both.plan[1] = second.plan[0];
        both.run[0].adversary = first.run[0].adversary;
        both.run[1] = second.run[0];
        char *table = text_of(caucus_output_table, &both, 2);
        if (column[which] != NULL)
            assert_non_null(strstr(table, column[which]));
        free(table);
    }
}

/* A bound is a number only where the losses are what it assumes. */
static void bounds_need_their_premise(void **state) {
    (void)state;
    made m;
    make(&m);
    m.run[0].adversary.kind = CAUCUS_ADVERSARY_BERNOULLI;
    char *text = text_of(caucus_output_json, &m, 1);
    assert_non_null(strstr(text, "\"bound\": null,\n      \"bound_assumes\": \"realizable\""));
    free(text);
    text = text_of(caucus_output_table, &m, 1);
    assert_non_null(strstr(text, "   none: assumes realizable   "));
    assert_non_null(strstr(text, "\n  assumes realizable: proved only if some expert loses at most L* in all at every "
                                 "client, which is not so in these rows.\n"));
    assert_null(strstr(text, "Bounds hold"));
    free(text);
    m.run[0].adversary.kind = CAUCUS_ADVERSARY_LOSSES; /* nobody knows: a condition for people, null for programs */
    text = text_of(caucus_output_json, &m, 1);
    assert_non_null(strstr(text, "\"bound\": null,\n      \"bound_assumes\": \"realizable\""));
    free(text);
    text = text_of(caucus_output_table, &m, 1);
    assert_non_null(strstr(text, "   2.5 if realizable   "));
    assert_non_null(strstr(text,
                           "\n  if realizable: proved only if some expert loses at most L* in all at every client; "
                           "nobody has checked that of your losses.\n"));
    free(text);
    m.plan[0].settings.algorithm = CAUCUS_ALGORITHM_HEDGE; /* assumes nothing of them */
    m.plan[0].bound_kind = CAUCUS_BOUND_EXPECTATION;
    text = text_of(caucus_output_json, &m, 1);
    assert_non_null(strstr(text, "\"bound\": {\"value\": 2.5, \"kind\": \"expectation\"},\n      \"bound_assumes\": "
                                 "\"any\""));
    free(text);
}

/* n - 1 = 0: the spread of one trial is not 0, there is none. */
static void one_trial_has_no_spread(void **state) {
    (void)state;
    made m;
    make(&m);
    m.result[0].done = m.result[0].trials = 1;
    assert_true(isnan(caucus_run_regret(&m.result[0]).std));
    char *text = text_of(caucus_output_json, &m, 1);
    assert_non_null(strstr(text, "\"mean\": 0.25, \"std\": null, \"min\": 0.25"));
    free(text);
    text = text_of(caucus_output_table, &m, 1);
    assert_non_null(strstr(text, "   0.25 ± –   "));
    free(text);
    text = text_of(caucus_output_curves, &m, 1);
    assert_non_null(strstr(text, ",1,4,0,\n"));
    free(text);
}

static void stopped_runs_say_so(void **state) {
    (void)state;
    made m;
    make(&m);
    m.result[0].done = 2;
    char *text = text_of(caucus_output_json, &m, 1);
    assert_non_null(strstr(text, "\"trials\": 3,\n      \"done\": 2,"));
    assert_non_null(strstr(text, "\"values\": [0.25, 0.5]"));
    free(text);
    m.result[0].done = 0; /* no trial: no number is made up */
    text = text_of(caucus_output_json, &m, 1);
    assert_non_null(strstr(text,
                           "\"regret\": {\"mean\": null, \"std\": null, \"min\": null, \"max\": null, \"values\": [], "
                           "\"segments\": {\"mean\": null, "));
    assert_non_null(strstr(text, "\"bytes_up\": null"));
    free(text);
    text = text_of(caucus_output_table, &m, 1);
    assert_non_null(strstr(text, "no trial done"));
    free(text);
}

static void csv(void **state) {
    (void)state;
    made m;
    make(&m);
    char *text = text_of(caucus_output_trials, &m, 2);
    assert_non_null(strstr(
        text, "\n1,svt,10,100,4,1,1,0,coordinator,tight,two-step,event,auto,auto,auto,false,false,,,,,,,,0.05,0,0,1,"
              "realizable,1,,,,,together,,,,,,11,3,0.75,2,2,12,20,30,40,0,0,1.5,0,,0,,40,1.75,3,\n"));
    assert_non_null(strstr(
        text,
        "\n2,leader,10,100,4,1,inf,0,coordinator,tight,two-step,event,auto,auto,auto,false,false,,,,,,,,0.05,0,0,1,"
        "realizable,1,,,,,together,,,,,,11,1,0.25,0,0,10,20,30,40,0,0,0.5,0,,0,,40,1.25,1,\n"));
    free(text);
    text = text_of(caucus_output_curves, &m, 1); /* four rounds: four lines */
    size_t lines = 0;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 5);
    free(text);
}

static void table(void **state) {
    (void)state;
    made m;
    make(&m);
    m.trial[0][1].nan = 2;
    m.trial[0][1].clipped = 5;
    char *text = text_of(caucus_output_table, &m, 2);
    assert_string_equal(
        text,
        "  NOT PRIVATE (seeded): seed 11.\n"
        "  Unit: one loss of one client. Everything that one client contributes: epsilon 3 at most.\n"
        "  algorithm    m   regret per client   proven ≤   switches   scalars/client   epsilon (choices)\n"
        "  svt         10         0.50 ± 0.25        2.5        1.0                1                   1\n"
        "  leader      10         0.50 ± 0.25       none        1.0                1         not private\n"
        "\n  Run 1, svt, lost 1.5 per client, the best expert in hindsight 1. It ended with that expert in 3 of 3 "
        "trials. The last\n  expert was in force for the last 3 of 4 rounds on average. In the first trial expert 0 "
        "was in "
        "force at the end; best\n  in hindsight: 0.\n"
        "  Run 2, leader, lost 1.5 per client, the best expert in hindsight 1. It ended with that expert in 3 of 3 "
        "trials. The\n  last expert was in force for the last 3 of 4 rounds on average. In the first trial expert 0 "
        "was in "
        "force at the end;\n  best in hindsight: 0.\n"
        "\n  Regret against the best expert in hindsight, losses in [0,1].\n"
        "  Bounds hold with probability 95 %.\n");
    free(text);
    m.plan[0].guarantee.epsilon_choices = 20; /* what is weak is said first, and once */
    text = text_of(caucus_output_table, &m, 2);
    assert_non_null(strstr(text,
                           "  NOT PRIVATE (seeded): seed 11.\n  WEAK: epsilon 20 is above 10: it protects little\n"
                           "  Unit: one loss of one client. Everything that one client contributes: epsilon 60 at "
                           "most.\n"));
    m.plan[0].guarantee.epsilon_choices = 1;
    free(text);
    text = text_of(caucus_output_remarks, &m, 2);
    assert_string_equal(text,
                        "  Losses that were not a number, counted as the worst loss: 2 (at most 2 in one trial).\n"
                        "  Losses outside their range, moved to its end: 3, 0.01 % of all — if losses can be larger, "
                        "the setting range says so.\n");
    free(text);
    /* Columns that tell rows apart, messages that are private, bounds that say nothing. */
    m.plan[1] = m.plan[0];
    m.plan[1].settings.interval = 2;
    m.plan[1].guarantee.epsilon_messages = 1;
    m.plan[1].bound_kind = CAUCUS_BOUND_EXPECTATION;
    m.plan[1].settings.algorithm = CAUCUS_ALGORITHM_HEDGE;
    m.plan[1].bound = 4;
    m.plan[1].bound_uncapped = 9;
    text = text_of(caucus_output_table, &m, 2);
    assert_non_null(strstr(text, "contributes: as in the column epsilon (device).\n"));
    assert_non_null(strstr(text, "epsilon (messages)   epsilon (device)\n"));
    assert_non_null(strstr(text, "  algorithm   interval    m   regret per client"));
    assert_non_null(strstr(text, "epsilon (messages)"));
    assert_non_null(strstr(text, "4.0* (vacuous)"));
    assert_non_null(strstr(text, "Bounds hold with probability 95 %, those with * on average."));
    free(text);
}

/* Numbers with their names beside, and a sentence for people. */
static void names_beside_numbers(void **state) {
    (void)state;
    made m;
    make(&m);
    char *label[] = {"small", "distilled", "large"};
    m.plan[0].settings.experts = 3;
    m.plan[0].label = label;
    for (uint32_t k = 0; k < 3; k++) {
        m.trial[0][k].last = k < 2 ? 1 : 2;
        m.trial[0][k].best = 1;
    }
    char *text = text_of(caucus_output_json, &m, 1);
    assert_non_null(
        strstr(text, "\"last\": {\"experts\": [1, 1, 2], \"names\": [\"distilled\", \"distilled\", \"large\"]}"));
    free(text);
    text = text_of(caucus_output_trials, &m, 1);
    assert_non_null(strstr(text, ",2,large,1,distilled,40,1.75,3,\n"));
    free(text);
    text = text_of(caucus_output_table, &m, 1);
    assert_non_null(strstr(text, " Expert distilled (1) in force at the end in 2 of 3"));
    assert_non_null(strstr(text, "distilled (1) in 3 of 3 trials.\n"));
    free(text);
    m.trial[0][0].choices = (caucus_choices){.count = 2, .before = {0, 2}, .expert = {2, 1}};
    text = text_of(caucus_output_choices, &m, 1);
    assert_non_null(strstr(text, "\n1,svt,1,1,2,2,large,false,true\n1,svt,1,3,4,1,distilled,true,true\n"));
    free(text);
}

static void unfinished_comes_back_to_the_bit(void **state) {
    (void)state;
    made m;
    make(&m);
    m.trial[0][2].regret = 1.0 / 3;
    m.trial[0][2].regret_segments = 2.0 / 3;
    m.trial[0][2].regret_devices = 1.0 / 7;
    m.trial[0][2].bound = 1e300 / 3;
    m.trial[0][2].last = 7;
    m.trial[0][2].best = UINT32_MAX;
    m.trial[0][2].look = (caucus_look){.phase = 9, .expert = 3, .clients = 5, .loss = 1.0 / 7, .low = 0, .high = 0.9};
    m.trial[0][2].curve[5] = -0x1.23456789abcdep-40;
    m.result[0].done = 3;
    char directory[] = "/tmp/caucus-output-XXXXXX", path[64];
    caucus_error error = {0};
    caucus_unfinished loaded[2] = {{0}};
    caucus_outcome outcome = {.run = m.run, .result = m.result, .count = 1}; /* the second run was not begun */
    assert_non_null(mkdtemp(directory));
    assert_false(caucus_out_dir_unfinished(directory));
    assert_int_equal(caucus_unfinished_save(directory, m.run, 2, &outcome, &error), CAUCUS_OK);
    assert_true(caucus_out_dir_unfinished(directory));
    assert_int_equal(caucus_unfinished_load(directory, m.run, 2, loaded, &error), CAUCUS_OK);
    assert_int_equal(loaded[0].done, 3);
    assert_int_equal(loaded[1].done, 0);
    for (size_t k = 0; k < 3; k++)
        assert_memory_equal(&loaded[0].trial[k], &m.trial[0][k], sizeof m.trial[0][k]);
    free(loaded[0].trial);
    memset(loaded, 0, sizeof loaded);
    assert_int_equal(caucus_unfinished_load(directory, m.run, 1, loaded, &error),
                     CAUCUS_E_CONFLICT); /* there were two runs */
    free(loaded[0].trial);
    memset(loaded, 0, sizeof loaded);
    m.run[0].seed++;
    assert_int_equal(caucus_unfinished_load(directory, m.run, 2, loaded, &error), CAUCUS_E_CONFLICT);
    m.run[0].seed--;
    m.run[0].adversary.spread = 0.1;
    assert_int_equal(caucus_unfinished_load(directory, m.run, 2, loaded, &error), CAUCUS_E_CONFLICT);
    m.run[0].adversary.spread = 0;
    (void)snprintf(path, sizeof path, "%s/unfinished.csv", directory);
    FILE *file = fopen(path, "r+"); /* cut anywhere: refused, never half taken for whole */
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    fclose(file);
    for (long at = size - 1; at >= 0; at -= 7) {
        assert_int_equal(truncate(path, at), 0);
        memset(loaded, 0, sizeof loaded);
        assert_int_equal(caucus_unfinished_load(directory, m.run, 2, loaded, &error), CAUCUS_E_FORMAT);
        free(loaded[0].trial);
    }
    caucus_unfinished_remove(directory);
    assert_int_equal(rmdir(directory), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json),
        cmocka_unit_test(rows_can_be_told_apart),
        cmocka_unit_test(bounds_need_their_premise),
        cmocka_unit_test(one_trial_has_no_spread),
        cmocka_unit_test(stopped_runs_say_so),
        cmocka_unit_test(csv),
        cmocka_unit_test(table),
        cmocka_unit_test(unfinished_comes_back_to_the_bit),
        cmocka_unit_test(names_beside_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
