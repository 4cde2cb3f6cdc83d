/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of families: every algorithm is in exactly one, has a name and all operations that are not optional; and
 * the properties that other layers ask for are those of the algorithms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/family.h"

static void every_algorithm_has_one_family(void **state) {
    (void)state;
    for (unsigned a = 0; a < CAUCUS_ALGORITHM_COUNT; a++) {
        unsigned found = 0;
        for (unsigned f = 0; f < CAUCUS_FAMILY_COUNT; f++) {
            const caucus_plan_ops *ops = caucus_family_ops((caucus_family)f);
            for (unsigned v = 0; v < CAUCUS_VARIANTS_MAX; v++)
                found += ops->variant[v].name != NULL && ops->variant[v].algorithm == (caucus_algorithm)a;
        }
        assert_int_equal(found, 1);
        const caucus_variant *variant = caucus_algorithm_variant((caucus_algorithm)a);
        assert_int_equal(variant->algorithm, a);
        assert_true(strlen(variant->name) > 0);
    }
}

static const char *const names[] = {
#define NAME(NAME, name) #name,
    CAUCUS_FAMILY_LIST(NAME)
#undef NAME
};

static void tables_are_complete(void **state) {
    (void)state;
    for (unsigned f = 0; f < CAUCUS_FAMILY_COUNT; f++) {
        const caucus_plan_ops *ops = caucus_family_ops((caucus_family)f);
        if (!ops->variant[0].name)
            fail_msg("caucus_plan_%s has no variant with a name", names[f]);
#define NEEDS(operation)                                                                                               \
    if (!ops->operation)                                                                                               \
    fail_msg("caucus_plan_%s has no %s", names[f], #operation)
        NEEDS(calibrate);
        NEEDS(bound);
        NEEDS(account);
        NEEDS(walk);
        NEEDS(blocks);
        NEEDS(selections);
        /* What may be left out: family.h says what NULL stands for there. */
        assert_true(!(ops->options & CAUCUS_OPTION_INTERVAL_AUTO) == !ops->interval);
        /* Whoever learns phase by phase has no blocks whose length could be chosen. */
        assert_true(!ops->phases || !(ops->options & CAUCUS_OPTION_INTERVAL));
    }
}

static void properties(void **state) {
    (void)state;
    static const struct {
        caucus_algorithm algorithm;
        caucus_family family;
        bool alone, reference, phases;
    } want[] = {
        {CAUCUS_ALGORITHM_SVT, CAUCUS_FAMILY_SVT, false, false, false},
        {CAUCUS_ALGORITHM_SPARSE_VECTOR, CAUCUS_FAMILY_SVT, true, false, false},
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_FAMILY_STOCH, false, false, true},
        {CAUCUS_ALGORITHM_LIMITED_UPDATES, CAUCUS_FAMILY_STOCH, true, false, true},
        {CAUCUS_ALGORITHM_HEDGE, CAUCUS_FAMILY_HEDGE, false, false, false},
        {CAUCUS_ALGORITHM_LEADER, CAUCUS_FAMILY_HEDGE, false, true, false},
    };
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const caucus_variant *variant = caucus_algorithm_variant(want[i].algorithm);
        assert_int_equal(caucus_algorithm_family(want[i].algorithm), want[i].family);
        assert_int_equal(variant->alone, want[i].alone);
        assert_int_equal(variant->reference, want[i].reference);
        assert_int_equal(caucus_family_ops(want[i].family)->phases, want[i].phases);
    }
    assert_true(caucus_algorithm_takes(CAUCUS_ALGORITHM_SPARSE_VECTOR, CAUCUS_OPTION_LSTAR));
    assert_false(caucus_algorithm_takes(CAUCUS_ALGORITHM_STOCH, CAUCUS_OPTION_LSTAR));
    assert_true(caucus_algorithm_takes(CAUCUS_ALGORITHM_LIMITED_UPDATES, CAUCUS_OPTION_CONVEX));
    assert_false(caucus_algorithm_takes(CAUCUS_ALGORITHM_LEADER, CAUCUS_OPTION_PAPER));
}

static void takers_in_words(void **state) {
    (void)state;
    assert_string_equal(caucus_option_takers(CAUCUS_OPTION_LSTAR, " and ").text, "svt and sparse-vector");
    assert_string_equal(caucus_option_takers(CAUCUS_OPTION_PAPER, ", ").text,
                        "svt, sparse-vector, stoch, limited-updates");
    assert_string_equal(caucus_option_takers(CAUCUS_OPTION_PAPER, " or ").text,
                        "svt, sparse-vector, stoch or limited-updates");
    assert_non_null(strstr(caucus_federating(" and ").text, "svt, stoch"));
    assert_null(strstr(caucus_federating(" and ").text, "leader"));
    assert_null(strstr(caucus_federating(" and ").text, "sparse-vector"));
}

/* Keys are known from the walks: of every family, of options and trusts that the plan in hand does not have. */
static void keys_are_known(void **state) {
    (void)state;
    static const char *const known[] = {
        "settings", "front-load",  "range",     "svt",           "thresholds",      "stoch", "phase-2", "phase-31",
        "clamps",   "leaf-noises", "vote-rate", "vertex-noises", "shortlist-noise", "hedge", "rate",    "rho-zcdp"};
    static const char *const unknown[] = {"", "phase-", "phase", "phase-2x", "clamp", "svt2", "2", "no-such-key"};
    bool is = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(caucus_walk_knows(known[i], &is), CAUCUS_OK);
        if (!is)
            fail_msg("'%s' is not known", known[i]);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_int_equal(caucus_walk_knows(unknown[i], &is), CAUCUS_OK);
        if (is)
            fail_msg("'%s' is known", unknown[i]);
    }
}

/* Blocks and selections of plans, against what is known of them. */
static void counts(void **state) {
    (void)state;
    caucus_settings s;
    caucus_error error;
    caucus_plan *plan = NULL;
    caucus_settings_init(&s);
    s.trust = CAUCUS_TRUST_COORDINATOR;
    s.rounds = 100;
    s.interval = 7;
    s.algorithm = CAUCUS_ALGORITHM_HEDGE;
    assert_int_equal(caucus_plan_new(&s, &plan, &error), CAUCUS_OK);
    assert_int_equal(caucus_plan_blocks(plan), 15);
    assert_int_equal(caucus_plan_selections(plan), 14);
    caucus_plan_free(plan);
    s.algorithm = CAUCUS_ALGORITHM_SVT;
    assert_int_equal(caucus_plan_new(&s, &plan, &error), CAUCUS_OK);
    assert_int_equal(caucus_plan_blocks(plan), 15);
    assert_in_range(caucus_plan_selections(plan), 1, 14);
    caucus_plan_free(plan);
    s.algorithm = CAUCUS_ALGORITHM_STOCH;
    s.interval = 1;
    assert_int_equal(caucus_plan_new(&s, &plan, &error), CAUCUS_OK);
    assert_int_equal(caucus_plan_blocks(plan), 7); /* 1, 2, 4, .., 32, 37 rounds */
    assert_int_equal(caucus_plan_selections(plan), 6);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_algorithm_has_one_family),
                                       cmocka_unit_test(tables_are_complete),
                                       cmocka_unit_test(properties),
                                       cmocka_unit_test(takers_in_words),
                                       cmocka_unit_test(keys_are_known),
                                       cmocka_unit_test(counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
