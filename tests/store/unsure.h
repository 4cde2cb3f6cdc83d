/* SPDX-License-Identifier: Apache-2.0 */
/* unsure.h: a backend that keeps what another one keeps and now and then cannot tell whether it did. */
#ifndef TESTS_STORE_UNSURE_H
#define TESTS_STORE_UNSURE_H

#include "store/coordinator/backend.h"

#include <pthread.h>
#include <string.h>

/* What becomes of a change whose outcome is not known. */
typedef enum unsure_fate {
    UNSURE_LOST, /* it is not made */
    UNSURE_MADE, /* it is made, and the answer is lost */
    UNSURE_LATE, /* it is made after the next look, if the fence still lets it */
    UNSURE_FATES
} unsure_fate;

static const caucus_store_backend *unsure_inner;
static unsigned unsure_times; /* so many of the next changes have an unknown outcome */
static unsure_fate unsure_next;
static unsigned unsure_settles;              /* so many settle() fail */
static unsigned unsure_changes, unsure_late; /* made or tried; late ones that came to nothing */
static unsigned unsure_every;                /* if not 0: every so many-th change is unsure, by turns in each way */
static caucus_store_change unsure_waiting;
static bool unsure_waits;
static void (*unsure_before_change)(void); /* once: something happens just before the next change */

static inline caucus_status unsure_change(caucus_store_place *at, const caucus_store_change *change,
                                          caucus_error *ret_error) {
    unsure_changes++;
    if (unsure_before_change) {
        void (*happen)(void) = unsure_before_change;
        unsure_before_change = NULL;
        happen();
    }
    if (unsure_every && unsure_changes % unsure_every == 0) {
        unsure_times = 1;
        unsure_next = (unsure_fate)(unsure_changes / unsure_every % 2); /* late ones would need a copy of it all */
    }
    if (unsure_times == 0)
        return unsure_inner->change(at, change, ret_error);
    unsure_times--;
    if (unsure_next == UNSURE_MADE) {
        caucus_status status = unsure_inner->change(at, change, ret_error);
        if (status != CAUCUS_OK)
            return status;
    } else if (unsure_next == UNSURE_LATE) {
        unsure_waiting = *change;
        unsure_waits = true;
    }
    return caucus_fail(ret_error, CAUCUS_E_UNKNOWN, "", "the answer was lost");
}

static inline caucus_status unsure_settle(caucus_store_place *at, caucus_error *ret_error) {
    if (unsure_settles > 0) {
        unsure_settles--;
        return caucus_fail(ret_error, CAUCUS_E_IO, "", "not reachable");
    }
    return unsure_inner->settle(at, ret_error);
}

static inline caucus_status unsure_look(caucus_store_place *at, bool *ret_found, caucus_store_row *ret,
                                        caucus_error *ret_error) {
    caucus_status status = unsure_inner->look(at, ret_found, ret, ret_error);
    if (unsure_waits) {
        unsure_waits = false;
        unsure_late += unsure_inner->change(at, &unsure_waiting, NULL) != CAUCUS_OK;
    }
    return status;
}

/* The backend, over another one. */
static inline const caucus_store_backend *unsure_over(const caucus_store_backend *inner) {
    static caucus_store_backend unsure;
    unsure_inner = inner;
    unsure = *inner;
    unsure.name = "unsure";
    unsure.change = unsure_change;
    unsure.settle = unsure_settle;
    unsure.look = unsure_look;
    unsure_times = unsure_settles = unsure_changes = unsure_late = unsure_every = 0;
    unsure_waits = false;
    unsure_before_change = NULL;
    return &unsure;
}

#endif
