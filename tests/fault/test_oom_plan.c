/* SPDX-License-Identifier: Apache-2.0 */
/* Plans when memory runs out: making, writing as text, parsing. A plan that comes out is the plan that always comes
 * out: a failed allocation must never be read as "the other way of calculating it". */
#include "fault/failing_alloc.h"

#include <math.h>
#include <stdlib.h>

#include <caucus/plan.h>

#include "plan/text/plan_text.h"
#include "testing_settings.h"
#include <caucus/plan_file.h>

static caucus_settings settings(caucus_algorithm algorithm, caucus_trust trust) {
    caucus_settings s = testing_settings(algorithm, trust, 4, 12, 200, 8);
    return s;
}

static caucus_plan *made(const caucus_settings *s) {
    caucus_plan *plan = NULL;
    caucus_error error = {0};
    if (caucus_plan_new(s, &plan, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    return plan;
}

/* The canonical text and the bounds, which are not part of it. */
static uint64_t digest_of(const caucus_plan *plan) {
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(caucus_plan_text(plan, &text, &size), CAUCUS_OK);
    uint64_t digest = failing_digest(1, text, size);
    free(text);
    digest = failing_digest(digest, &plan->bound, sizeof plan->bound);
    return failing_digest(digest, &plan->bound_kind, sizeof plan->bound_kind);
}

static caucus_plan untouched;

/* What both ways to a plan end with: the same plan, or none. */
static caucus_status end_plan(caucus_status status, caucus_plan *plan, uint64_t *ret_digest) {
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(plan, &untouched);
        return status;
    }
    *ret_digest = digest_of(plan);
    caucus_plan_free(plan);
    return CAUCUS_OK;
}

static caucus_status make(void *user, uint64_t *ret_digest) {
    caucus_plan *plan = &untouched;
    caucus_error error = {0};
    failing_begin();
    caucus_status status = caucus_plan_new(user, &plan, &error);
    return end_plan(status, plan, ret_digest);
}

static void test_make(void **state) {
    (void)state;
    caucus_settings s = settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    failing_each(&(failing_test){.name = "svt", .operation = make, .user = &s, .at_least = 14});
    s.delta = 1e-6;
    failing_each(&(failing_test){.name = "svt, delta", .operation = make, .user = &s, .at_least = 14});
    s = settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    s.calibration = CAUCUS_CALIBRATION_PAPER;
    s.rounds = 20000; /* enough that the paper's constants leave the margin that its bound needs */
    s.epsilon = 500;
    failing_each(&(failing_test){.name = "svt, paper", .operation = make, .user = &s, .at_least = 3});
    s = settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    s.epsilon = 1e-5; /* does not fit the fine grid: the second attempt allocates anew */
    failing_each(&(failing_test){.name = "svt, coarse grid", .operation = make, .user = &s, .at_least = 14});
    s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    failing_each(&(failing_test){.name = "stoch", .operation = make, .user = &s, .at_least = 2});
    s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY);
    failing_each(&(failing_test){.name = "stoch, nobody", .operation = make, .user = &s, .at_least = 2});
    s = settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
    s.epsilon = INFINITY;
    failing_each(&(failing_test){.name = "hedge", .operation = make, .user = &s, .at_least = 1});
}

/* What a plan may have besides: each option has its own tables and its own search. */
static void mode(const char *name, const caucus_settings *s) {
    failing_each(&(failing_test){.name = name, .operation = make, .user = (void *)s, .at_least = 2});
}

static void test_modes(void **state) {
    (void)state;
    const caucus_settings stoch = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    const caucus_settings svt = settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR);
    caucus_settings s = stoch;
    s.unit = CAUCUS_UNIT_CLIENT;
    s.clients = 500;
    mode("unit client", &s);
    s.evaluate = 2;
    mode("unit client, evaluate", &s);
    s.evaluate = 0;
    s.show_loss = 1;
    mode("unit client, show-loss", &s);
    s = stoch;
    s.evaluate = 2;
    mode("evaluate", &s);
    s = stoch;
    s.show_loss = 1;
    mode("show-loss", &s);
    s = stoch;
    s.past_phases = true;
    mode("past phases", &s);
    s = stoch;
    s.longest_phase = CAUCUS_PHASE_AUTO;
    mode("longest phase, auto", &s);
    s.longest_phase = 16;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    mode("longest phase, without an end", &s);
    s = stoch;
    s.pace = CAUCUS_PACE_OWN;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    mode("own pace", &s);
    s.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    s.trust = CAUCUS_TRUST_NOBODY;
    mode("own pace, nobody", &s);
    s = svt;
    s.renew = 50;
    mode("renew", &s);
    s.algorithm = CAUCUS_ALGORITHM_HEDGE;
    s.interval = CAUCUS_INTERVAL_AUTO;
    s.renew = 0;
    mode("hedge, interval auto", &s);
    s = svt;
    s.rounds = CAUCUS_ROUNDS_ENDLESS;
    mode("svt without an end", &s);
    s = svt;
    s.front_load = true;
    mode("front-load", &s);
    s = svt;
    static char names[] = "a,b,c,d,e,f,g,h,i,j,k,l";
    s.names = names;
    s.federation = "clinics";
    mode("names", &s);
}

static caucus_status write_text(void *user, uint64_t *ret_digest) {
    char *text = NULL;
    size_t size = 0;
    failing_begin();
    caucus_status status = caucus_plan_file_text(user, &text, &size);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_true(text == NULL && size == 0);
        return status;
    }
    *ret_digest = failing_digest(1, text, size);
    free(text);
    return CAUCUS_OK;
}

typedef struct piece {
    char *text;
    size_t size;
} piece;

static caucus_status parse(void *user, uint64_t *ret_digest) {
    const piece *from = user;
    caucus_plan *plan = &untouched;
    caucus_error error = {0};
    failing_begin();
    caucus_status status = caucus_plan_file_parse("plan.yaml", from->text, from->size, &plan, &error);
    return end_plan(status, plan, ret_digest);
}

static void test_text(void **state) {
    (void)state;
    const caucus_settings both[] = {settings(CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR),
                                    settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY)};
    for (size_t i = 0; i < 2; i++) {
        caucus_plan *plan = made(&both[i]);
        piece text = {0};
        assert_int_equal(caucus_plan_file_text(plan, &text.text, &text.size), CAUCUS_OK);
        failing_each(&(failing_test){.name = "text", .operation = write_text, .user = plan, .at_least = 2});
        failing_each(&(failing_test){.name = "parse", .operation = parse, .user = &text, .at_least = 10});
        free(text.text);
        caucus_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_make), cmocka_unit_test(test_modes),
                                       cmocka_unit_test(test_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
