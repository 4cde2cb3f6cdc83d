/* SPDX-License-Identifier: Apache-2.0 */
/* relay_count.c: a loop's batch, counted into sums that remember which items they are. See relay.h. */
#include "net/relay/relay_impl.h"

/* Under the loop's lock: one report. ret_answered: it answers the announcement in force. */
static caucus_status count_one(caucus_loop *loop, const caucus_report *report, bool *ret_answered) {
    caucus_relay *r = loop->server->relay;
    struct caucus_relay_loop *own = loop->relayed;
    caucus_follower_mark before;
    uint64_t cost, sums;
    caucus_follower_remember(loop->server->machine, report->client, &before);
    /* Room first: what is counted cannot be taken out of the sums again. */
    if (!caucus_kept_add(&own->kept, &r->room, report, &before))
        return CAUCUS_E_MEMORY;
    const caucus_status status = caucus_gather_count(own->gather, report);
    if (status != CAUCUS_OK) {
        caucus_kept_drop_last(&own->kept, &r->room);
        return status;
    }
    atomic_fetch_add(&r->pending[report->client - 1], 1);
    caucus_coordinator_counted(loop->server->machine, report->client, &cost, &sums, ret_answered);
    return CAUCUS_OK;
}

void caucus_relay_count(caucus_loop *loop) {
    caucus_server *s = loop->server;
    uint32_t answered = 0, counted = 0;
    uint64_t scalars = 0;
    pthread_mutex_lock(&loop->lock);
    for (size_t i = 0; i < loop->reports; i++) {
        const caucus_connection *from = loop->from[i];
        const bool in_force = atomic_load(&s->session[from->client - 1]) == from->session;
        bool has = false;
        loop->answer[i] = in_force ? count_one(loop, &loop->report[i], &has) : CAUCUS_E_ORDER;
        counted += loop->answer[i] == CAUCUS_OK;
        answered += loop->answer[i] == CAUCUS_OK && has;
        scalars += loop->answer[i] == CAUCUS_OK ? loop->report[i].count : 0;
    }
    atomic_fetch_add(&s->answered, answered);
    pthread_mutex_unlock(&loop->lock);
    atomic_fetch_add_explicit(&s->scalars_up, scalars, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->reports, counted, memory_order_relaxed);
    if (counted > 0)
        caucus_relay_counted(s);
}
