/* SPDX-License-Identifier: Apache-2.0 */
/* caucus/asked.h: plans from words, as the program reads them; what is refused and how; how a plan looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <caucus/asked.h>
#include <caucus/plan_file.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const caucus_named small[] = {{"algorithm", "svt"}, {"trust", "coordinator"}, {"clients", "3"},
                                     {"rounds", "20"},     {"epsilon", "10"},        {"names", "small,large"}};

static void the_plan_is_the_one_that_settings_make(void **state) {
    (void)state;
    caucus_plan *asked = NULL, *made = NULL;
    caucus_error error = {0};
    caucus_settings settings;
    caucus_settings_init(&settings);
    settings.trust = CAUCUS_TRUST_COORDINATOR;
    settings.clients = 3;
    settings.rounds = 20;
    settings.epsilon = 10;
    settings.experts = 2;
    settings.names = "small,large";
    assert_int_equal(caucus_plan_ask(small, COUNT(small), &asked, &error), CAUCUS_OK);
    assert_int_equal(caucus_plan_new(&settings, &made, &error), CAUCUS_OK);
    assert_string_equal(caucus_plan_hash_text(asked), caucus_plan_hash_text(made));
    caucus_plan_free(asked);
    caucus_plan_free(made);
}

static void settings_that_no_scenario_has(void **state) {
    (void)state;
    const caucus_named more[] = {{"trust", "coordinator"},
                                 {"algorithm", "stoch"},
                                 {"convex", "1,0.5"},
                                 {"grid", "1024"},
                                 {"federation", "kitchen"}};
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_plan_ask(more, COUNT(more), &plan, &error), CAUCUS_OK);
    const caucus_settings *s = caucus_plan_settings(plan);
    assert_int_equal(s->loss_shape, CAUCUS_LOSS_SHAPE_CONVEX);
    assert_true(s->lipschitz == 1 && s->smoothness == 0.5);
    assert_int_equal(caucus_plan_grid(plan), 1024);
    assert_string_equal(caucus_plan_federation(plan), "kitchen");
    caucus_plan_free(plan);
}

/* One setting beside trust coordinator. */
static void refused(const char *name, const char *value, caucus_status want, const char *field, const char *text) {
    const bool other = strcmp(name, "algorithm") != 0;
    const caucus_named asked[] = {
        {"trust", "coordinator"}, {name, value}, {other ? "algorithm" : "rounds", other ? "svt" : "512"}};
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    caucus_status status = caucus_plan_ask(asked, COUNT(asked), &plan, &error);
    printf("%s|%s|%s\n", error.field, error.text, error.hint);
    assert_int_equal(status, want);
    assert_null(plan); /* written on success alone */
    assert_string_equal(error.field, field);
    assert_memory_equal(error.text, text, strlen(text));
    assert_int_equal(caucus_plan_ask(asked, COUNT(asked), &plan, NULL), want);
}

static void what_is_wrong_is_said_as_the_program_says_it(void **state) {
    (void)state;
    refused("epsilon", "0", CAUCUS_E_RANGE, "epsilon", "0: must be above 0");
    refused("algorithm", "svd", CAUCUS_E_RANGE, "algorithm", "'svd'");
    refused("trust", "nobody", CAUCUS_E_FORMAT, "trust", ": given twice");
    refused("clients", "", CAUCUS_E_FORMAT, "clients", ": an empty value");
    refused("trees", "3", CAUCUS_E_RANGE, "trees", "3: not used by svt");
    refused("clients", "3,4", CAUCUS_E_RANGE, "clients", "4: a second value");
    refused("convex", "1", CAUCUS_E_RANGE, "convex", "1: must be two numbers");
    refused("grid", "0", CAUCUS_E_RANGE, "grid", "0: must be a whole number");
    refused("federation", "a,b", CAUCUS_E_FORMAT, "federation", ": ");
    refused("convex", "1,0", CAUCUS_E_INFEASIBLE, "convex", ": loss-shape ");
    refused("trials", "5", CAUCUS_E_RANGE, "", "'trials': no setting of a plan");
}

static void missing(void **state) {
    (void)state;
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_plan_ask(NULL, 0, &plan, &error), CAUCUS_E_RANGE);
    assert_string_equal(error.field, "losses-are");
    assert_non_null(strstr(error.text, "is missing: are the losses iid"));
    assert_non_null(strstr(error.hint, "'algorithm'"));
    const caucus_named named[] = {{"algorithm", "svt"}};
    assert_int_equal(caucus_plan_ask(named, 1, &plan, &error), CAUCUS_E_RANGE);
    assert_string_equal(error.field, "trust");
    assert_non_null(strstr(error.text, "is missing: whom do the clients trust"));
}

/* What a kind of losses stands for; a setting that is given keeps its value, and so does an algorithm. */
static void what_losses_are_chooses(void **state) {
    (void)state;
    static const struct row {
        const char *kind, *name, *value;
        caucus_algorithm algorithm;
        uint64_t interval, longest;
        caucus_pace pace;
    } rows[] = {
        {"iid", "rounds", "512", CAUCUS_ALGORITHM_STOCH, 1, 0, CAUCUS_PACE_TOGETHER},
        {"drifting", "rounds", "512", CAUCUS_ALGORITHM_STOCH, 1, 33, CAUCUS_PACE_TOGETHER},
        {"drifting", "longest-phase", "7", CAUCUS_ALGORITHM_STOCH, 1, 7, CAUCUS_PACE_TOGETHER},
        {"drifting", "phase-time", "1h", CAUCUS_ALGORITHM_STOCH, 1, 64, CAUCUS_PACE_OWN},
        {"realizable", "rounds", "512", CAUCUS_ALGORITHM_SVT, 1, 0, CAUCUS_PACE_TOGETHER},
        {"any", "interval", "3", CAUCUS_ALGORITHM_HEDGE, 3, 0, CAUCUS_PACE_TOGETHER},
        {"any", "rounds", "512", CAUCUS_ALGORITHM_HEDGE, 7, 0, CAUCUS_PACE_TOGETHER},
        {"adaptive", "rounds", "512", CAUCUS_ALGORITHM_HEDGE, 7, 0, CAUCUS_PACE_TOGETHER},
        {"any", "algorithm", "svt", CAUCUS_ALGORITHM_SVT, 1, 0, CAUCUS_PACE_TOGETHER},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const caucus_named asked[] = {
            {"losses-are", rows[i].kind}, {"trust", "coordinator"}, {rows[i].name, rows[i].value}};
        caucus_plan *plan = NULL;
        caucus_error error = {0};
        assert_int_equal(caucus_plan_ask(asked, COUNT(asked), &plan, &error), CAUCUS_OK);
        const caucus_settings *s = caucus_plan_settings(plan);
        printf("%s: %s %llu %llu\n", rows[i].kind, caucus_algorithm_word(s->algorithm), (unsigned long long)s->interval,
               (unsigned long long)s->longest_phase);
        assert_int_equal(s->algorithm, rows[i].algorithm);
        assert_true(s->interval == rows[i].interval);
        assert_true(s->longest_phase == rows[i].longest);
        assert_int_equal(s->pace, rows[i].pace);
        caucus_plan_free(plan);
    }
    refused("losses-are", "iidd", CAUCUS_E_RANGE, "losses-are", "'iidd'");
}

static char *shown(const caucus_plan *plan, caucus_plan_view view) {
    char *text = NULL;
    size_t size = 0;
    caucus_error error = {0};
    assert_int_equal(caucus_plan_show(plan, view, &text, &size, &error), CAUCUS_OK);
    assert_int_equal(strlen(text), size);
    return text;
}

static void it_looks_as_the_program_shows_it(void **state) {
    (void)state;
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_plan_ask(small, COUNT(small), &plan, &error), CAUCUS_OK);
    static const char *const begin[] = {[CAUCUS_PLAN_VIEW_TEXT] = "  Fed-SVT, 3 clients, 2 experts, 20 rounds",
                                        [CAUCUS_PLAN_VIEW_EXPLAIN] = "\n",
                                        [CAUCUS_PLAN_VIEW_JSON] = "{\n"};
    static const char *const inside[] = {[CAUCUS_PLAN_VIEW_TEXT] = "Privacy",
                                         [CAUCUS_PLAN_VIEW_EXPLAIN] = "docs/PRIVACY.md",
                                         [CAUCUS_PLAN_VIEW_JSON] = "\"epsilon_device\""};
    for (int view = 0; view <= CAUCUS_PLAN_VIEW_JSON; view++) {
        char *text = shown(plan, (caucus_plan_view)view);
        printf("%s", text);
        assert_memory_equal(text, begin[view], strlen(begin[view]));
        assert_non_null(strstr(text, inside[view]));
        free(text);
    }
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_is_the_one_that_settings_make),
        cmocka_unit_test(settings_that_no_scenario_has),
        cmocka_unit_test(what_is_wrong_is_said_as_the_program_says_it),
        cmocka_unit_test(missing),
        cmocka_unit_test(what_losses_are_chooses),
        cmocka_unit_test(it_looks_as_the_program_shows_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
