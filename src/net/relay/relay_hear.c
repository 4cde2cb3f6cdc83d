/* SPDX-License-Identifier: Apache-2.0 */
/* relay_hear.c: announcements, and what has to be counted again because of them. See relay.h.
 *
 * An announcement says which partials are in it. Their reports are durable and forgotten. Whatever else was counted
 * here is of a step that was decided without it: that is undone, the latest first, so that each client is where its
 * durable items have left it; the announcement is heard; and the reports are counted again, in their order, as
 * reports that come late are: what is still wanted goes into the next partial. The same is done, without an
 * announcement, if the coordinator refuses items of a partial. Nobody counts meanwhile, and no client hears in
 * between. */
#include "net/relay/relay_impl.h"

#include <stdlib.h>

#include "store/clock.h"

/* A report, and of which loop. */
typedef struct undone {
    caucus_kept_report *kept;
    caucus_loop *loop;
} undone;

typedef struct undoing {
    undone *at;
    size_t count, room;
} undoing;

static int by_order(const void *a, const void *b) {
    const uint64_t one = ((const undone *)a)->kept->order, two = ((const undone *)b)->kept->order;
    return (one > two) - (one < two);
}

static void drop(caucus_relay *r, caucus_kept *of, caucus_kept_report *kept) {
    atomic_fetch_sub(&r->pending[kept->report.client - 1], 1);
    caucus_kept_drop(of, kept, &r->room);
}

/* Without memory for the list nothing can be undone in order: the session ends, and everybody sends again. */
static bool add(undoing *u, caucus_kept_report *kept, caucus_loop *loop) {
    if (u->count == u->room) {
        const size_t room = u->room ? 2 * u->room : 256;
        undone *grown = realloc(u->at, room * sizeof *grown);
        if (!grown)
            return false;
        u->at = grown;
        u->room = room;
    }
    u->at[u->count++] = (undone){.kept = kept, .loop = loop};
    return true;
}

/* Take out what was sent with partial `from` or later, or not yet; of the rest what is durable is forgotten. */
static bool collect(caucus_relay *r, uint64_t durable, uint64_t from, undoing *ret) {
    bool good = true;
    for (uint32_t i = 0; i < r->server->loops; i++) {
        caucus_loop *loop = r->server->loop[i];
        caucus_kept *kept = &loop->relayed->kept;
        for (caucus_kept_report *k = caucus_kept_take_all(kept), *next; k; k = next) {
            next = k->next;
            if (k->n != 0 && k->n <= durable)
                drop(r, kept, k);
            else if ((k->n != 0 && k->n < from) || !good)
                caucus_kept_put(kept, k);
            else if (!add(ret, k, loop)) {
                good = false;
                caucus_kept_put(kept, k);
            }
        }
        caucus_gather_clear(loop->relayed->gather);
    }
    if (ret->count > 1)
        qsort(ret->at, ret->count, sizeof *ret->at, by_order);
    return good;
}

static bool is_named(const uint32_t *client, uint32_t count, uint32_t one) {
    for (uint32_t i = 0; i < count; i++)
        if (client[i] == one)
            return true;
    return false;
}

/* Count them again; those of the clients named are left out, and so is what was not kept. */
static void count_again(caucus_relay *r, undoing *u, const uint32_t *named, uint32_t count) {
    caucus_server *s = r->server;
    for (size_t i = 0; i < u->count; i++) {
        caucus_kept_report *k = u->at[i].kept;
        struct caucus_relay_loop *at = u->at[i].loop->relayed;
        const uint32_t client = k->report.client;
        const bool lost = k->report.count > 0 && k->bytes == 0;
        if (lost || is_named(named, count, client)) {
            caucus_relay_hang_up(r, client);
            drop(r, &at->kept, k);
            continue;
        }
        caucus_follower_remember(s->machine, client, &k->before);
        k->n = 0;
        if (caucus_gather_count(at->gather, &k->report) == CAUCUS_OK) {
            uint64_t cost, sums;
            bool has = false;
            caucus_kept_put(&at->kept, k);
            caucus_coordinator_counted(s->machine, client, &cost, &sums, &has);
            atomic_fetch_add(&s->answered, has);
        } else {
            drop(r, &at->kept, k);
        }
    }
    if (u->count > 0)
        atomic_store(&r->first_ns, caucus_clock_ns());
    free(u->at);
}

static void undo(caucus_relay *r, const undoing *u) {
    for (size_t i = u->count; i-- > 0;)
        caucus_follower_undo(r->server->machine, u->at[i].kept->report.client, &u->at[i].kept->before);
}

/* All locks are held. */
static bool install(caucus_server *s, const caucus_announcement *list, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (caucus_follower_hear(s->machine, &list[i]) != CAUCUS_OK || !caucus_history_add(&s->history, &list[i]))
            return false;
        caucus_relay_chain(s->relay, &list[i]);
    }
    caucus_coordinator_show(s->machine);
    return true;
}

void caucus_relay_hear(caucus_relay *r, const caucus_announcement *list, uint32_t count, uint64_t durable,
                       bool started) {
    caucus_server *s = r->server;
    if (count == 0 && atomic_load(&s->started) == started)
        return;
    undoing u = {0};
    bool good = true;
    pthread_mutex_lock(&s->lock);
    caucus_step_hold_loops(s);
    if (count > 0) {
        good = collect(r, durable, durable + 1, &u);
        undo(r, &u);
        good = good && install(s, list, count);
        atomic_store(&s->answered, 0);
        atomic_store(&r->first_ns, 0);
        caucus_relay_forget_flight(r);
        r->taken = durable;
        atomic_store(&r->durable, durable);
        count_again(r, &u, NULL, 0);
        r->step_ns = caucus_clock_ns();
        atomic_store_explicit(&s->committed, list[count - 1].serial + 1, memory_order_release);
    }
    atomic_store(&s->started, started);
    if (started)
        r->heard = atomic_load(&s->committed);
    caucus_step_release_loops(s);
    pthread_mutex_unlock(&s->lock);
    if (!good) {
        caucus_server_log(s, 0, "what the coordinator announces cannot be followed: beginning again");
        caucus_relay_stop(r, CAUCUS_RELAY_LOST);
    }
    caucus_relay_wake_loops(r);
}

void caucus_relay_leave_out(caucus_relay *r, const uint32_t *client, uint32_t count) {
    caucus_server *s = r->server;
    undoing u = {0};
    pthread_mutex_lock(&s->lock);
    caucus_step_hold_loops(s);
    const bool good = collect(r, 0, r->flight.n, &u);
    undo(r, &u);
    caucus_relay_forget_flight(r);
    atomic_store(&s->answered, 0);
    count_again(r, &u, client, count);
    caucus_step_release_loops(s);
    pthread_mutex_unlock(&s->lock);
    if (!good || count == 0)
        caucus_relay_stop(r, CAUCUS_RELAY_LOST);
    caucus_relay_wake_loops(r);
}
