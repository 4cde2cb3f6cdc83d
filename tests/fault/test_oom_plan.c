/* Plans when memory runs out. A plan that comes out is the plan that always comes out:
 * a failed allocation must never be read as "the other way of calculating it". */
#include "fault/failing_alloc.h"

#include <math.h>
#include <stdlib.h>

#include <caucus/plan.h>

#include "plan/plan_text.h"

static caucus_settings settings(caucus_algorithm algorithm, caucus_trust trust) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = trust;
    s.clients = 4;
    s.experts = 12;
    s.rounds = 200;
    s.epsilon = 8;
    return s;
}

/* The canonical text and the bounds, which are not part of it. */
static uint64_t digest_of(const caucus_plan *plan) {
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(caucus_plan_file_text(plan, &text, &size), CAUCUS_OK);
    uint64_t digest = failing_digest(1, text, size);
    free(text);
    digest = failing_digest(digest, &plan->bound, sizeof plan->bound);
    return failing_digest(digest, &plan->bound_kind, sizeof plan->bound_kind);
}

static caucus_status make(void *user, uint64_t *ret_digest) {
    static caucus_plan untouched;
    caucus_plan *plan = &untouched;
    caucus_error error = {0};
    failing_begin();
    caucus_status status = caucus_plan_new(user, &plan, &error);
    failing_end();
    if (status != CAUCUS_OK) {
        assert_ptr_equal(plan, &untouched);
        return status;
    }
    *ret_digest = digest_of(plan);
    caucus_plan_free(plan);
    return CAUCUS_OK;
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
    s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR);
    failing_each(&(failing_test){.name = "stoch", .operation = make, .user = &s, .at_least = 2});
    s = settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY);
    failing_each(&(failing_test){.name = "stoch, nobody", .operation = make, .user = &s, .at_least = 2});
    s = settings(CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR);
    s.epsilon = INFINITY;
    failing_each(&(failing_test){.name = "hedge", .operation = make, .user = &s, .at_least = 1});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_make)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
