/* SPDX-License-Identifier: Apache-2.0 */
/* refused_adversary.h: settings that no adversary is made from, and what is said about them. */
#ifndef CAUCUS_TESTS_SIM_REFUSED_ADVERSARY_H
#define CAUCUS_TESTS_SIM_REFUSED_ADVERSARY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/adversary.h"

static inline void check_refused(caucus_adversary_settings settings, caucus_status status, const char *field,
                                 const char *text) {
    caucus_adversary *adversary = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_adversary_open(&settings, &adversary, &error), status);
    assert_null(adversary);
    assert_string_equal(error.field, field);
    if (strstr(error.text, text) == NULL)
        print_error("got '%s'\n", error.text);
    assert_non_null(strstr(error.text, text));
}

#endif
