/* SPDX-License-Identifier: Apache-2.0 */
/* plan_testing.h: what the tests of plans share. */
#ifndef TESTS_PLAN_TESTING_H
#define TESTS_PLAN_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <caucus/plan.h>

static inline void near(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.12g, want %.12g within %g", got, want, tolerance);
}

static inline caucus_settings plan_settings(caucus_algorithm algorithm, caucus_trust trust) {
    caucus_settings s;
    caucus_settings_init(&s);
    s.algorithm = algorithm;
    s.trust = trust;
    return s;
}

static inline caucus_plan *plan_made(const caucus_settings *s) {
    caucus_plan *plan = NULL;
    caucus_error error;
    caucus_status status = caucus_plan_new(s, &plan, &error);
    if (status != CAUCUS_OK)
        fail_msg("%s: %s %s", caucus_status_text(status), error.field, error.text);
    return plan;
}

/* The settings must be refused with this status and the error must name this field. */
static inline void plan_refused(const caucus_settings *s, caucus_status want, const char *field) {
    caucus_plan *plan = NULL;
    caucus_error error;
    memset(&error, 0, sizeof error);
    assert_int_equal(caucus_plan_new(s, &plan, &error), want);
    assert_null(plan);
    assert_string_equal(error.field, field);
    assert_true(strlen(error.text) > 0);
}

#endif
