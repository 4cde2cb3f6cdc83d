/* SPDX-License-Identifier: Apache-2.0 */
/* What experts and runs are called: copied into the plan, asked by number, refused where they are no labels. */
#include "plan/plan.h"
#include "plan/plan_testing.h"

#include <string.h>

static caucus_settings named(const char *names, const char *federation) {
    caucus_settings s = plan_settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
    s.experts = 3;
    s.names = names;
    s.federation = federation;
    return s;
}

static void kept(void **state) {
    (void)state;
    char names[] = "small,distilled,large", federation[] = "phones";
    caucus_settings s = named(names, federation);
    caucus_plan *plan = plan_made(&s);
    memset(names, 'x', sizeof names - 1); /* the plan has its own */
    memset(federation, 'x', sizeof federation - 1);
    assert_string_equal(caucus_plan_expert_name(plan, 0), "small");
    assert_string_equal(caucus_plan_expert_name(plan, 2), "large");
    assert_null(caucus_plan_expert_name(plan, 3));
    assert_string_equal(caucus_plan_federation(plan), "phones");
    assert_string_equal(caucus_plan_settings(plan)->names, "small,distilled,large");
    assert_string_equal(caucus_plan_expert_words(plan, 1).text, "distilled (1)");
    caucus_plan *again = plan_made(caucus_plan_settings(plan));
    assert_memory_equal(caucus_plan_hash(plan), caucus_plan_hash(again), CAUCUS_PLAN_HASH_BYTES);
    caucus_plan_free(again);
    caucus_plan_free(plan);
    s = named(NULL, NULL);
    plan = plan_made(&s);
    assert_null(caucus_plan_expert_name(plan, 0));
    assert_null(caucus_plan_federation(plan));
    assert_string_equal(caucus_plan_expert_words(plan, 1).text, "1");
    caucus_plan_free(plan);
}

static void refused(const char *names, const char *federation, caucus_status status, const char *field,
                    const char *says) {
    caucus_settings s = named(names, federation);
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_plan_new(&s, &plan, &error), status);
    assert_string_equal(error.field, field);
    if (strstr(error.text, says) == NULL)
        fail_msg("'%s' not in '%s'", says, error.text);
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), status);
}

static void refusals(void **state) {
    (void)state;
    refused("a,b", NULL, CAUCUS_E_CONFLICT, "names", "2 labels for 3 experts");
    refused("a,b,c,d", NULL, CAUCUS_E_CONFLICT, "names", "4 labels for 3 experts");
    refused("a,b,", NULL, CAUCUS_E_FORMAT, "names", "0 bytes");
    refused("", NULL, CAUCUS_E_FORMAT, "names", "0 bytes");
    refused("a,b,b", NULL, CAUCUS_E_FORMAT, "names", "'b' names both expert 1 and expert 2");
    refused("a,b,\n", NULL, CAUCUS_E_FORMAT, "names", "control character");
    refused(NULL, "a,b", CAUCUS_E_FORMAT, "federation", "comma");
    refused(NULL, "", CAUCUS_E_FORMAT, "federation", "0 bytes");
}

/* Settings of a version that had no names. */
static void older_settings(void **state) {
    (void)state;
    caucus_settings s = named("a,b,c", NULL);
    s.size = offsetof(caucus_settings, names);
    caucus_plan *plan = plan_made(&s);
    assert_null(caucus_plan_expert_name(plan, 0));
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept), cmocka_unit_test(refusals),
                                       cmocka_unit_test(older_settings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
