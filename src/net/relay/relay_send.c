/* SPDX-License-Identifier: Apache-2.0 */
/* relay_send.c: when a partial is sent, and that it is sent again. See relay.h.
 *
 * It is time when everybody who is here has answered, or `gather` after the first answer, or a little before the step's
 * deadline. What comes later goes into further partials. One is in flight at a time: a loop's sums after another's. */
#include "net/relay/relay_impl.h"

#include <stdlib.h>

#include "algo/wipe.h"
#include "store/clock.h"

#define MS_NS ((uint64_t)1000000)
#define AGAIN_NS (2000 * MS_NS)
#define BEFORE_DEADLINE_MS 100u
#define PIECE_BYTES (CAUCUS_SAYING_BYTES - 64u)

void caucus_relay_forget_flight(caucus_relay *r) {
    caucus_wipe_free(r->flight.bytes, r->flight.size);
    r->flight.bytes = NULL;
    atomic_store(&r->in_flight, 0);
}

static void say_flight(caucus_relay *r) {
    for (size_t at = 0; at < r->flight.size; at += PIECE_BYTES) {
        const size_t left = r->flight.size - at;
        caucus_saying_begin(&r->say, CAUCUS_SAY_PARTIAL);
        caucus_saying_put(&r->say, r->flight.n, 8);
        caucus_saying_put(&r->say, r->flight.size, 4);
        caucus_saying_put(&r->say, at, 4);
        caucus_saying_put_bytes(&r->say, r->flight.bytes + at, left < PIECE_BYTES ? left : PIECE_BYTES);
        caucus_relay_say(r);
    }
    r->flight.sent_ns = caucus_clock_ns();
    atomic_fetch_add(&r->sent, 1);
}

/* What this loop has counted, if anything, is in flight from now on. */
static bool take_off(caucus_relay *r, caucus_loop *loop) {
    struct caucus_relay_loop *own = loop->relayed;
    pthread_mutex_lock(&loop->lock);
    const uint64_t items = caucus_gather_items(own->gather);
    const size_t size = items > 0 ? caucus_gather_bytes(own->gather) : 0;
    r->flight.bytes = items > 0 ? malloc(size) : NULL;
    if (r->flight.bytes) {
        caucus_gather_write(own->gather, r->flight.bytes);
        caucus_gather_clear(own->gather);
        r->flight.size = size;
        r->flight.n = r->taken + 1;
        r->flight.serial = caucus_coordinator_announcement(r->server->machine)->serial;
        r->flight.stale = false;
        caucus_kept_sent(&own->kept, r->flight.n);
    }
    pthread_mutex_unlock(&loop->lock);
    return r->flight.bytes != NULL;
}

static uint64_t due_ns(const caucus_relay *r, uint64_t first) {
    const uint32_t deadline = r->server->set.deadline_ms;
    const uint32_t before = deadline / 10 > BEFORE_DEADLINE_MS ? deadline / 10 : BEFORE_DEADLINE_MS;
    const uint64_t gathered = first + r->set.gather_ms * MS_NS;
    const uint64_t latest = deadline > before ? r->step_ns + (deadline - before) * MS_NS : gathered;
    return gathered < latest ? gathered : latest;
}

uint64_t caucus_relay_send(caucus_relay *r) {
    caucus_server *s = r->server;
    const uint64_t now = caucus_clock_ns();
    if (r->flight.bytes) {
        if (!r->flight.stale && now - r->flight.sent_ns > AGAIN_NS)
            say_flight(r);
        return r->flight.sent_ns + AGAIN_NS;
    }
    const uint64_t first = atomic_load(&r->first_ns);
    if (first == 0)
        return 0;
    const bool all = atomic_load(&s->answered) >= atomic_load(&s->present) || atomic_load(&s->last_wanted);
    if (!all && now < due_ns(r, first))
        return due_ns(r, first);
    for (uint32_t i = 0; i < s->loops; i++)
        if (take_off(r, s->loop[i])) {
            atomic_store(&r->in_flight, 1);
            say_flight(r);
            return r->flight.sent_ns + AGAIN_NS;
        }
    /* Nothing is left, unless a loop has counted since it was looked at: it has seen first_ns, and says nothing. */
    atomic_store(&r->first_ns, 0);
    for (uint32_t i = 0; i < s->loops; i++) {
        pthread_mutex_lock(&s->loop[i]->lock);
        const bool any = caucus_gather_items(s->loop[i]->relayed->gather) > 0;
        pthread_mutex_unlock(&s->loop[i]->lock);
        if (any)
            atomic_store(&r->first_ns, now);
    }
    return atomic_load(&r->first_ns) ? now : 0;
}

bool caucus_relay_has_unsaved(caucus_relay *r) {
    bool unsaved = r->flight.bytes != NULL;
    for (uint32_t i = 0; !unsaved && i < r->server->loops; i++) {
        pthread_mutex_lock(&r->server->loop[i]->lock);
        unsaved = r->server->loop[i]->relayed->kept.first != NULL;
        pthread_mutex_unlock(&r->server->loop[i]->lock);
    }
    return unsaved;
}
