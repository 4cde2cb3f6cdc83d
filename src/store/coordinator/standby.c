/* SPDX-License-Identifier: Apache-2.0 */
/* standby.c: waiting for a run that another coordinator has, and following it.
 *
 * A standby asks every quarter of a second whether a coordinator has the lock (store/postgres/keeper.c) and does
 * nothing until nobody has. That decides when it tries, not whether it may: opening raises the term, and whoever had
 * the run before can commit no more, also if it was only stopped and moves again.
 *
 * Now and then it reads what is committed, checks all of it as an opening would, and moves its own key file on: a copy
 * from the beginning of the run would lead to every state since. What it finds wrong ends the waiting, long before it
 * is needed. */
#include "store/coordinator/impl.h"

#include <stdlib.h>
#include <time.h>

#include "num/fail.h"
#include "store/clock.h"

#define LOOK_NS 250000000
#define FOLLOW_MS 5000
#define FOLLOW_SHARE 20 /* following takes at most one part in so many of the time */

/* Can it be otherwise in a moment: a server that is gone, or one that has just been promoted? */
static bool may_pass(caucus_status status) {
    return status == CAUCUS_E_NETWORK || status == CAUCUS_E_IO || status == CAUCUS_E_BUSY || status == CAUCUS_E_MEMORY;
}

static void leave(caucus_store *r) {
    if (r->at != NULL)
        r->backend->close(r->at, false);
    r->at = NULL;
}

/* Read everything, as of one moment, and move the key file on to it. */
static caucus_status follow(caucus_store *r, const uint8_t plan_hash[32], bool seeded, caucus_error *ret_error) {
    bool found = false;
    caucus_status status = r->backend->look(r->at, &found, &r->now.row, ret_error);
    if (status != CAUCUS_OK || !found)
        return status;
    status = caucus_store_check_found(r, plan_hash, seeded, ret_error);
    if (status == CAUCUS_OK && r->now.row.announcements > r->mark.count) {
        status = caucus_store_mark(r, ret_error);
        if (status == CAUCUS_OK)
            status = caucus_mark_wipe(&r->mark, ret_error);
    }
    caucus_mark_close(&r->mark);
    return status;
}

static bool is_other(const caucus_store_waiting *a, const caucus_store_waiting *b) {
    return a->reached != b->reached || a->term != b->term || a->announcements != b->announcements;
}

caucus_status caucus_store_wait(const caucus_store_where *where, const uint8_t plan_hash[32], bool seeded,
                                void (*waiting)(void *user, const caucus_store_waiting *now), void *user,
                                caucus_error *ret_error) {
    const caucus_store_backend *backend =
        where->backend != NULL ? where->backend : caucus_store_backend_of(where->state, ret_error);
    if (backend == NULL)
        return CAUCUS_E_PATH;
    if (!backend->remote || where->key_file == NULL)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "standby",
                           "goes with a state in PostgreSQL and its 'state-key'");
    caucus_store r = {.backend = backend, .key_file = where->key_file, .mark = {.fd = -1}};
    caucus_status status = CAUCUS_OK;
    int64_t next = 0;
    caucus_store_waiting seen = {0};
    for (bool held = true, first = true; held; first = false) {
        held = true;
        if (r.at == NULL)
            status = backend->watch(where, &r.at, ret_error);
        if (status == CAUCUS_OK)
            status = backend->held(r.at, &held, ret_error);
        if (status == CAUCUS_OK && held && caucus_clock_ms() >= next) {
            const int64_t began = caucus_clock_ms();
            status = follow(&r, plan_hash, seeded, ret_error);
            const int64_t took = caucus_clock_ms() - began;
            next = began + took + (took * FOLLOW_SHARE > FOLLOW_MS ? took * FOLLOW_SHARE : FOLLOW_MS);
        }
        caucus_store_waiting now = seen;
        now.reached = status == CAUCUS_OK;
        if (now.reached) {
            now.term = r.now.row.term;
            now.announcements = r.now.row.announcements;
        }
        if (status != CAUCUS_OK) {
            leave(&r);
            if (first || !may_pass(status)) /* what is wrong from the beginning is said at once */
                break;
            status = CAUCUS_OK;
        }
        if (held && waiting != NULL && (first || is_other(&now, &seen)))
            waiting(user, &now);
        seen = now;
        if (held)
            (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    leave(&r);
    caucus_mark_close(&r.mark);
    free(r.now.chunk_hash);
    free(r.then.chunk_hash);
    return status;
}
