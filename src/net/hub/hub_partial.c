/* SPDX-License-Identifier: Apache-2.0 */
/* hub_partial.c: partials: put together from their pieces, merged, answered. See hub.h.
 *
 * A partial has a number, n = 1, 2, 3, ... of its session, and only the next one is taken; one that was taken before
 * gets the same answer again. What is not taken does not use its number up: it comes again, made anew. */
#include "net/hub/hub_impl.h"

#include <stdlib.h>
#include <string.h>

#include "algo/relayed/relayed.h"
#include "algo/wipe.h"
#include "num/little_endian.h"

#define REFUSED_MAX 32768u /* clients named in an answer; those after them are named in the next */

void caucus_hub_forget_partial(caucus_hub_peer *p) {
    caucus_wipe_free(p->partial, p->partial_size);
    p->partial = NULL;
    p->partial_size = p->partial_used = 0;
}

/* Room for them is made with the first: nearly every partial has none. */
typedef struct refusals {
    uint32_t *client;
    uint32_t count;
    bool failed;
} refusals;

static void note_refused(void *user, uint32_t client, caucus_status why) {
    refusals *r = user;
    (void)why;
    if (!r->client && !r->failed) {
        r->client = calloc(REFUSED_MAX, sizeof *r->client);
        r->failed = !r->client;
    }
    if (r->client && r->count < REFUSED_MAX)
        r->client[r->count++] = client;
}

static void answer(caucus_hub *r, caucus_hub_peer *p, uint64_t n, uint64_t serial, caucus_partial_answer what,
                   const refusals *refused) {
    const uint32_t count = refused ? refused->count : 0;
    atomic_fetch_add(what == CAUCUS_ANSWER_TAKEN   ? &p->accepted
                     : what == CAUCUS_ANSWER_STALE ? &p->stale
                                                   : &p->refused,
                     1);
    caucus_saying_begin(&r->say, CAUCUS_SAY_TAKEN);
    caucus_saying_put(&r->say, n, 8);
    caucus_saying_put(&r->say, serial, 8);
    caucus_saying_put(&r->say, what, 1);
    caucus_saying_put(&r->say, count, 4);
    for (uint32_t i = 0; i < count; i++)
        caucus_saying_put(&r->say, refused->client[i], 4);
    caucus_hub_say(r, p);
}

static void take(caucus_hub *r, caucus_hub_peer *p, uint64_t n) {
    caucus_server *s = r->server;
    caucus_relayed partial;
    refusals refused = {0};
    if (caucus_relayed_read(s->set.plan, p->partial, p->partial_size, &partial) != CAUCUS_OK) {
        caucus_hub_bar(r, p, "a partial that cannot be read");
        return;
    }
    const caucus_relayed_from from = {
        .placed = s->placed, .relay = p->entry.number, .refused = note_refused, .user = &refused};
    uint32_t reports = 0;
    const caucus_status status = n <= p->taken      ? CAUCUS_OK
                                 : n > p->taken + 1 ? CAUCUS_E_ORDER
                                                    : caucus_step_take(s, &partial, &from, &p->taken, n, &reports);
    atomic_fetch_add(&r->reports, reports);
    if (status == CAUCUS_OK)
        answer(r, p, n, partial.serial, CAUCUS_ANSWER_TAKEN, NULL);
    else if (status == CAUCUS_E_CONFLICT && !refused.failed)
        answer(r, p, n, partial.serial, CAUCUS_ANSWER_ITEMS, &refused);
    else if (status == CAUCUS_E_ORDER)
        answer(r, p, n, partial.serial, CAUCUS_ANSWER_STALE, NULL);
    else if (status == CAUCUS_E_FORMAT)
        caucus_hub_bar(r, p, "a partial whose sums its items cannot have");
    free(refused.client); /* without memory for it, it comes again */
}

void caucus_hub_partial(caucus_hub *r, caucus_hub_peer *p, caucus_hearing *message) {
    const uint64_t n = caucus_hearing_get(message, 8);
    const size_t total = (size_t)caucus_hearing_get(message, 4), at = (size_t)caucus_hearing_get(message, 4);
    const size_t size = (size_t)(message->end - message->at);
    if (message->failed || n == 0 || total > CAUCUS_PARTIAL_BYTES || at > total || size > total - at || size == 0) {
        message->failed = true;
        return;
    }
    if (at == 0) {
        caucus_hub_forget_partial(p);
        p->partial = malloc(total);
        p->partial_size = p->partial ? total : 0;
        p->partial_n = n;
    }
    if (!p->partial || n != p->partial_n || total != p->partial_size || at != p->partial_used)
        return; /* a piece is missing: it comes again, whole */
    memcpy(p->partial + at, message->at, size);
    p->partial_used += size;
    if (p->partial_used < total)
        return;
    take(r, p, n);
    caucus_hub_forget_partial(p);
}
