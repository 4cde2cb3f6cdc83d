/* SPDX-License-Identifier: Apache-2.0 */
/* server_stop.c: a run that is ended for good, before its time.
 *
 * `caucus stop` leaves a request in the state (store/coordinator/stop.c), which loop 0 looks for once a second. The end
 * is a commit like any other, and is announced like any other: from then on nothing is asked, counted or released, and
 * the coordinator stays as after any run until those who were there have heard of it. The reports that have come for
 * the step in hand are not decided on: a decision that nobody will play would be released for nothing.
 *
 * A state whose run was ended is not served again. With `stay` it is: not to go on, but to tell clients that were
 * away. */
#include "net/loop.h"

#include <inttypes.h>
#include <string.h>

#define LOOK_MS 1000u

caucus_status caucus_stop_prepare(caucus_server *s, caucus_error *ret_error) {
    for (uint32_t i = 0; i < s->loops; i++)
        if (s->loop[i])
            caucus_coordinator_merge(s->machine, s->loop[i]->partial); /* they are empty from now on */
    caucus_coordinator_stop(s->machine);
    const caucus_announcement *last = caucus_coordinator_announcement(s->machine);
    if (!caucus_history_add(&s->history, last))
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "history", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    return CAUCUS_OK;
}

typedef struct reading {
    caucus_server *server;
    bool good;
} reading;

static void read_announcement(void *user, const caucus_announcement *a) {
    reading *r = user;
    r->good = r->good && caucus_history_add(&r->server->history, a);
}

caucus_status caucus_stop_restore(caucus_server *s, const caucus_store_state *state, caucus_error *ret_error) {
    const caucus_announcement *last = caucus_store_last(s->store);
    caucus_coordinator_tally tally = {0};
    if (!s->set.stay)
        return caucus_fail_hint(
            ret_error,
            caucus_fail(ret_error, CAUCUS_E_OVER, "state",
                        "%.100s: this run was ended for good after step %" PRIu64 " (caucus stop)", s->set.state_dir,
                        caucus_announcement_steps(last)),
            "a new run needs a new 'state' and its own budget; 'stay' only tells clients that were away");
    caucus_status status = caucus_coordinator_tally_read(&state->root, last, &tally);
    if (status == CAUCUS_OK)
        status = caucus_coordinator_new_stopped(s->set.plan, &s->set.key, last, &tally, &s->machine);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "state", "%s", caucus_status_text(status));
    caucus_ledger_free(s->ledger); /* that of a new state */
    s->ledger = NULL;
    status = caucus_store_ledger(s->store, false, &s->ledger, ret_error);
    if (status != CAUCUS_OK)
        return status;
    reading r = {.server = s, .good = s->ledger != NULL};
    status = caucus_store_announcements(s->store, read_announcement, &r, ret_error);
    if (status == CAUCUS_OK && !r.good)
        status = caucus_fail(ret_error, CAUCUS_E_MEMORY, "state", "%s", caucus_status_text(CAUCUS_E_MEMORY));
    if (status != CAUCUS_OK)
        return status;
    s->begun = true;
    atomic_store(&s->started, true);
    atomic_store(&s->ended, true);
    memset(s->expected, 1, s->clients);
    atomic_store(&s->expected_count, s->clients);
    return CAUCUS_OK;
}

/* Without an answer to decide on, no commit would ever tell, and clients would wait here for nothing. */
static void end_taken_over(caucus_server *s) {
    caucus_error error = {0};
    const caucus_status status = caucus_store_refuse_fenced(s->store, &error);
    pthread_mutex_lock(&s->lock);
    if (s->failure == CAUCUS_OK && !s->finished_ns)
        caucus_step_give_up(s, status, &error);
    pthread_mutex_unlock(&s->lock);
}

void caucus_stop_turn(caucus_loop *loop) {
    caucus_server *s = loop->server;
    if (loop->stop_ns == 0 || loop->stop_ns > loop->now_ns)
        return;
    loop->stop_ns = loop->now_ns + LOOK_MS * 1000000u;
    if (caucus_store_taken_over(s->store)) {
        end_taken_over(s);
        return;
    }
    if (atomic_load(&s->ended) || !caucus_store_stop_requested(s->store))
        return;
    pthread_mutex_lock(&s->lock);
    caucus_step_stop(s);
    pthread_mutex_unlock(&s->lock);
}
