/* SPDX-License-Identifier: Apache-2.0 */
/* exact_machines.h: a coordinator and its clients in tests of exact laws: what each run does between decisions. */
#ifndef CAUCUS_TESTS_ALGO_EXACT_MACHINES_H
#define CAUCUS_TESTS_ALGO_EXACT_MACHINES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <caucus/client.h>
#include <caucus/coordinator.h>

/** Everybody hears the announcement in force. */
static inline void machines_hear(caucus_client **client, uint32_t m, const caucus_coordinator *coordinator) {
    for (uint32_t i = 0; i < m; i++)
        assert_int_equal(caucus_client_hear(client[i], caucus_coordinator_announcement(coordinator)), CAUCUS_OK);
}

static inline void machines_free(caucus_client **client, uint32_t m, caucus_coordinator *coordinator) {
    for (uint32_t i = 0; i < m; i++)
        caucus_client_free(client[i]);
    caucus_coordinator_free(coordinator);
}

#endif
