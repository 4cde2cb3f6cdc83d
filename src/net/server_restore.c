/* SPDX-License-Identifier: Apache-2.0 */
/* server_restore.c: what a coordinator begins with: what the store holds, or a state of its own. */
#include "net/server_impl.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "num/fail.h"
#include "plan/ledger.h"

caucus_status caucus_step_reserve(caucus_server *s, caucus_error *ret_error) {
    const caucus_guarantee *g = &s->set.plan->guarantee;
    char label[CAUCUS_RUN_NAME_BYTES];
    uint32_t run = 0;
    caucus_status status = caucus_budget_label(s, label, ret_error);
    if (status == CAUCUS_OK) /* epsilon_messages may be NAN: fmax() takes the other one */
        status = caucus_ledger_new(fmax(g->epsilon_choices, g->epsilon_messages), g->delta, &s->ledger, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_ledger_reserve(s->ledger, s->set.plan, label, s->set.key.seeded, &run, ret_error);
    if (status == CAUCUS_OK && s->set.budget.path != NULL && !caucus_store_exists(s->set.state_dir))
        status = caucus_budget_open(s, label, true, ret_error);
    return status;
}

/* A state of its own: budget, run, first announcement, in one commit. */
static caucus_status begin(caucus_server *s, caucus_error *ret_error) {
    caucus_status status = caucus_coordinator_new(s->set.plan, &s->set.key, &s->machine);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "", "%s", caucus_status_text(status));
    if (!caucus_history_add(&s->history, caucus_coordinator_announcement(s->machine)))
        return caucus_fail_memory(ret_error, "");
    const caucus_status begun = caucus_commit_begin(s, CAUCUS_COMMIT_DECISION, 0, ret_error);
    return begun == CAUCUS_OK ? caucus_commit_over(s, ret_error) : begun;
}

typedef struct reading {
    caucus_server *server;
    uint64_t next;
    caucus_status status;
} reading;

static void read_announcement(void *user, const caucus_announcement *a) {
    reading *r = user;
    if (r->status == CAUCUS_OK && a->serial != r->next)
        r->status = CAUCUS_E_FORMAT;
    if (r->status == CAUCUS_OK && !caucus_history_add(&r->server->history, a))
        r->status = CAUCUS_E_MEMORY;
    r->next++;
}

static const char no_older_copy[] = "run no older copy; a new run needs a new 'state' and its own budget";

static caucus_status restore(caucus_server *s, const caucus_store_state *state, caucus_error *ret_error) {
    const uint32_t chunks = caucus_coordinator_chunks(s->set.plan);
    s->waits.kept = state->chunks >= 2 * chunks ? chunks : 0; /* a state keeps the chunks that it began with */
    s->waits.kept_serials = state->chunks >= 3 * chunks ? chunks : 0;
    caucus_status status =
        caucus_coordinator_restore_parts(s->set.plan, &s->set.key, &state->root, state->chunk,
                                         state->chunks - s->waits.kept - s->waits.kept_serials, &s->machine);
    if (status == CAUCUS_OK && !caucus_waits_restore(s, state->chunk + chunks))
        status = CAUCUS_E_FORMAT;
    if (status == CAUCUS_E_MEMORY)
        return caucus_fail(ret_error, status, "state", "%s", caucus_status_text(status));
    if (status != CAUCUS_OK)
        return caucus_fail_hint(ret_error,
                                caucus_fail(ret_error, CAUCUS_E_DAMAGED, "state",
                                            "%.60s: the machine's state is damaged (%.60s)", s->set.state_dir,
                                            caucus_status_text(status)),
                                no_older_copy);
    caucus_ledger_free(s->ledger); /* that of a new state */
    s->ledger = NULL;
    status = caucus_store_ledger(s->store, false, &s->ledger, ret_error);
    if (status != CAUCUS_OK)
        return status;
    reading r = {.server = s, .next = caucus_store_first(s->store)};
    status = caucus_store_announcements(s->store, read_announcement, &r, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (r.status == CAUCUS_E_MEMORY)
        return caucus_fail(ret_error, r.status, "state", "%s", caucus_status_text(r.status));
    uint64_t serial = caucus_coordinator_announcement(s->machine)->serial;
    if (r.status != CAUCUS_OK || r.next != serial + 1 || !s->ledger)
        return caucus_fail_hint(
            ret_error,
            caucus_fail(ret_error, CAUCUS_E_DAMAGED, "state", "%.60s: history and state do not fit", s->set.state_dir),
            no_older_copy);
    s->begun = serial > 0 || caucus_store_begun(s->store);
    atomic_store(&s->started, s->begun);
    memset(s->expected, 1, s->clients); /* any of them may have joined before this process, and come back for the end */
    atomic_store(&s->expected_count, s->clients);
    return CAUCUS_OK;
}

/* The state holds this run's tag; now the ledger that it shares with others gets to know of it. */
static caucus_status reserve_shared(caucus_server *s, caucus_error *ret_error) {
    for (size_t i = 0; i < caucus_ledger_count(s->ledger); i++) {
        const caucus_entry *e = caucus_ledger_entry(s->ledger, i);
        if (e != NULL && e->kind == CAUCUS_ENTRY_RUN)
            return caucus_budget_open(s, e->what, false, ret_error);
    }
    return caucus_fail(ret_error, CAUCUS_E_DAMAGED, "state", "%.100s: its ledger names no run", s->set.state_dir);
}

caucus_status caucus_step_restore(caucus_server *s, bool *ret_restored, caucus_error *ret_error) {
    const caucus_server_settings *set = &s->set;
    const caucus_store_where where = {.state = set->state_dir,
                                      .key_file = set->state_key,
                                      .require_sync = set->require_sync,
                                      .promoted = set->promoted,
                                      .backend = set->backend};
    caucus_status status = caucus_store_open_where(&where, set->plan_hash, set->key.seeded, &s->store, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_store_fault(s->store, s->set.fault_commit, s->set.fault_after);
    if (caucus_plan_is_endless(set->plan))
        caucus_store_keep_last(s->store);
    caucus_store_state state = {0};
    status = caucus_store_load(s->store, &state, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_store_last(s->store) && caucus_announcement_stops(caucus_store_last(s->store))
                     ? caucus_stop_restore(s, &state, ret_error)
                 : state.root.size == 0 ? begin(s, ret_error)
                                        : restore(s, &state, ret_error);
    *ret_restored = state.root.size != 0;
    caucus_store_state_free(&state);
    sodium_memzero(s->set.key.bytes, sizeof s->set.key.bytes); /* the machine has it */
    if (status == CAUCUS_OK)
        status = reserve_shared(s, ret_error);
    return status;
}
