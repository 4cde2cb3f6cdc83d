/* SPDX-License-Identifier: Apache-2.0 */
/* hub_step.c: what a partial does to the step in hand. See hub.h and server_step.c. */
#include "net/hub/hub_impl.h"

#include <inttypes.h>

#include "algo/relayed/relayed.h"
#include "num/fail.h"
#include "num/little_endian.h"

/* Who is waited for among those that answer with a partial. */
typedef struct answering {
    const caucus_relayed_from *from;
    const caucus_server *server;
    uint32_t waited;
} answering;

static void note_refused(void *user, uint32_t client, caucus_status why) {
    const answering *a = user;
    a->from->refused(a->from->user, client, why);
}

static void note_answered(void *user, uint32_t client) {
    answering *a = user;
    a->waited += caucus_waits_for(a->server, client);
}

static void note_answered_eight(void *user, uint32_t first, uint8_t bits) {
    answering *a = user;
    const uint64_t off = caucus_le_get(a->server->waits.off + first, 8);
    if (off == 0 && bits == 0xff) { /* nearly always */
        a->waited += 8;
        return;
    }
    for (uint32_t i = 0; i < 8; i++)
        a->waited += (bits >> i & 1u) & caucus_waits_for(a->server, first + i + 1);
}

static void note_answered_all(void *user, uint32_t first, uint32_t count) {
    answering *a = user;
    const uint8_t *off = a->server->waits.off + first;
    uint32_t not_waited = 0;
    for (uint32_t i = 0; i < count; i++)
        not_waited += off[i] != 0;
    a->waited += count - not_waited;
}

caucus_status caucus_step_take(caucus_server *s, const caucus_relayed *partial, const caucus_relayed_from *from,
                               uint64_t *taken, uint64_t n, uint32_t *ret_items) {
    answering who = {.from = from, .server = s};
    const caucus_relayed_from asked = {.placed = from->placed,
                                       .relay = from->relay,
                                       .refused = note_refused,
                                       .answered = note_answered,
                                       .answered_eight = note_answered_eight,
                                       .answered_all = note_answered_all,
                                       .user = &who};
    uint32_t answered = 0;
    caucus_status status = CAUCUS_E_ORDER;
    pthread_mutex_lock(&s->lock);
    caucus_step_hold_loops(s);
    if (s->begun && s->failure == CAUCUS_OK && !caucus_commit_closed(s))
        status = caucus_relayed_take(s->machine, partial, &asked, &answered);
    if (status == CAUCUS_OK) {
        *taken = n;
        *ret_items = caucus_relayed_count(s->set.plan, partial);
        atomic_fetch_add(&s->answered, answered);
        atomic_fetch_add(&s->waits.answered, who.waited);
        atomic_fetch_add_explicit(&s->reports, *ret_items, memory_order_relaxed);
        atomic_fetch_add_explicit(
            &s->scalars_up, caucus_relayed_scalars(s->set.plan, partial, caucus_coordinator_announcement(s->machine)),
            memory_order_relaxed);
    }
    caucus_step_release_loops(s);
    pthread_mutex_unlock(&s->lock);
    if (status == CAUCUS_OK && answered > 0)
        caucus_step_look(s);
    return status;
}

void caucus_step_rolled_back(caucus_server *s, uint16_t relay, uint64_t heard) {
    caucus_error error = {0};
    pthread_mutex_lock(&s->lock);
    if (s->failure == CAUCUS_OK) {
        const uint64_t committed = atomic_load(&s->committed);
        const caucus_status status =
            heard > committed
                ? caucus_fail(&error, CAUCUS_E_ROLLED_BACK, "",
                              "this state is an older copy: relay %u has heard %" PRIu64 " announcements, and %" PRIu64
                              " are committed here",
                              relay, heard, committed)
                : caucus_fail(&error, CAUCUS_E_ROLLED_BACK, "",
                              "this state is an older copy: relay %u has heard other announcements than those "
                              "committed here",
                              relay);
        caucus_step_hold_loops(s);
        caucus_step_give_up(s, status, &error);
        caucus_step_release_loops(s);
    }
    pthread_mutex_unlock(&s->lock);
    caucus_server_wake(s);
}
