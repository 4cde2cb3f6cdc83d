/* SPDX-License-Identifier: Apache-2.0 */
/* restored.h: machines that are saved, freed and restored in the middle of a run. */
#ifndef CAUCUS_TESTS_ALGO_RESTORED_H
#define CAUCUS_TESTS_ALGO_RESTORED_H

#include "dp/exact.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>

/* A coordinator and client 1 of one run, each from what it has saved; `own` is the client's key. */
static inline void restore_both(const caucus_plan *plan, const caucus_key *key, const caucus_key *own,
                                caucus_coordinator **coordinator, caucus_client **client) {
    uint8_t bytes[4096];
    size_t size = caucus_coordinator_state_bytes(*coordinator);
    assert_true(size <= sizeof bytes);
    assert_int_equal(caucus_coordinator_save(*coordinator, bytes, size), CAUCUS_OK);
    caucus_coordinator_free(*coordinator);
    assert_int_equal(caucus_coordinator_restore(plan, key, bytes, size, coordinator), CAUCUS_OK);
    size = caucus_client_state_bytes(*client);
    assert_true(size <= sizeof bytes);
    assert_int_equal(caucus_client_save(*client, bytes, size), CAUCUS_OK);
    caucus_client_free(*client);
    assert_int_equal(caucus_client_restore(plan, 1, own, bytes, size, client), CAUCUS_OK);
}

#endif
