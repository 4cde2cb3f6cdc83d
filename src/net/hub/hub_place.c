/* SPDX-License-Identifier: Apache-2.0 */
/* hub_place.c: clients that come to a relay, and those that leave it. See hub.h.
 *
 * A relay asks for its clients' places in batches. Each is judged as at a listener of this process: is it on the
 * list of the revoked, has it heard more than is committed. Who is placed is told what has been counted of it (so
 * that the relay counts as this machine would) and what of that is durable (so that the client is told no more). */
#include "net/hub/hub_impl.h"

#include <stdlib.h>

#define PLACES_MAX 4096u /* in a message */

typedef struct place {
    uint64_t ticket, heard, session, before, cost_next, sums_next, answered, cost_shown, sums_shown, committed;
    uint32_t client;
    uint16_t relay_before;
    uint8_t code; /* of the refusal; 0: placed */
    const char *text;
    char serial[CAUCUS_SERIAL_BYTES];
} place;

/* May it have a place? Without any lock. */
static void judge(caucus_server *s, place *p) {
    const uint64_t committed = atomic_load(&s->started) ? atomic_load(&s->committed) : 0;
    const caucus_revoked_answer answer =
        s->revoked ? caucus_revoked_ask(s->revoked, p->client, p->serial) : CAUCUS_REVOKED_NO;
    if (answer == CAUCUS_REVOKED_YES) {
        p->code = CAUCUS_REFUSAL_IDENTITY;
        p->text = CAUCUS_REVOKED_TEXT;
        caucus_claims_drop(s, p->client);
        caucus_waits_refused(s, p->client, p->serial[0] ? p->serial : NULL);
    } else if (answer == CAUCUS_REVOKED_UNKNOWN) {
        p->code = CAUCUS_REFUSAL_LATER;
        p->text = "the list of the revoked cannot be read at the coordinator: come again later";
    } else if (p->heard > committed) {
        const bool later = caucus_claims_note(s, p->client, p->heard, committed);
        p->code = later ? CAUCUS_REFUSAL_LATER : CAUCUS_REFUSAL_ORDER;
        p->text = later ? "this client has heard more than is committed: come again later"
                        : "this client has heard more than was ever said: the coordinator's state or the client's is "
                          "not of this run";
    } else {
        caucus_claims_drop(s, p->client);
    }
}

/* All locks are held: it has the place from now on. */
static void take_place(caucus_server *s, const caucus_hub_peer *peer, place *p) {
    bool has;
    p->session = (atomic_fetch_add(&s->sessions, 1) + 1) * CAUCUS_LOOPS_MAX;
    p->before = atomic_exchange(&s->session[p->client - 1], p->session);
    p->relay_before = s->placed[p->client - 1];
    s->placed[p->client - 1] = peer->entry.number;
    if (p->before == 0)
        atomic_fetch_add(&s->present, 1);
    if (atomic_exchange(&s->expected[p->client - 1], 1) == 0)
        atomic_fetch_add(&s->expected_count, 1);
    atomic_fetch_add(&s->joined, 1);
    caucus_coordinator_counted(s->machine, p->client, &p->cost_next, &p->sums_next, &has);
    p->answered = caucus_coordinator_answered(s->machine, p->client);
    caucus_coordinator_shown(s->machine, p->client, &p->cost_shown, &p->sums_shown);
    p->committed = atomic_load(&s->committed);
}

/* Whoever had the place is told. */
static void tell_before(caucus_hub *r, const place *p, bool *wake) {
    static const char text[] = "the same client has connected again";
    if (p->before == 0)
        return;
    if (p->relay_before == 0)
        *wake = true; /* it is connected here, and finds out by its number */
    else
        caucus_hub_out(r, p->relay_before, p->client, p->before, CAUCUS_REFUSAL_ELSEWHERE, text);
}

static void put_placed(caucus_saying *say, const place *p) {
    caucus_saying_put(say, p->ticket, 8);
    caucus_saying_put(say, p->client, 4);
    caucus_saying_put(say, p->code, 1);
    caucus_saying_put(say, p->session, 8);
    caucus_saying_put(say, p->cost_next, 8);
    caucus_saying_put(say, p->sums_next, 8);
    caucus_saying_put(say, p->answered, 8);
    caucus_saying_put(say, p->cost_shown, 8);
    caucus_saying_put(say, p->sums_shown, 8);
    caucus_saying_put(say, p->committed, 8);
    caucus_saying_put_text(say, p->text ? p->text : "");
}

static void place_all(caucus_hub *r, caucus_hub_peer *peer, place *list, uint32_t count) {
    caucus_server *s = r->server;
    bool wake = false;
    for (uint32_t i = 0; i < count; i++)
        judge(s, &list[i]);
    pthread_mutex_lock(&s->lock);
    caucus_step_hold_loops(s);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].code == 0)
            take_place(s, peer, &list[i]);
    caucus_step_release_loops(s);
    pthread_mutex_unlock(&s->lock);
    caucus_saying_begin(&r->say, CAUCUS_SAY_PLACED);
    caucus_saying_put(&r->say, count, 4);
    for (uint32_t i = 0; i < count; i++) {
        put_placed(&r->say, &list[i]);
        if (list[i].code != 0)
            continue;
        tell_before(r, &list[i], &wake);
        /* It has taken the place of another connection at the same relay: then that one is counted already. */
        caucus_hub_count(peer, list[i].client, true);
        if (list[i].relay_before != 0)
            caucus_hub_uncount(r, list[i].relay_before, list[i].client);
    }
    caucus_hub_say(r, peer);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].code == 0)
            caucus_waits_joined(s->loop[0], list[i].client, list[i].serial);
    if (wake)
        caucus_server_wake(s);
    caucus_step_joined(s);
}

void caucus_hub_place(caucus_hub *r, caucus_hub_peer *peer, caucus_hearing *message) {
    const uint32_t count = (uint32_t)caucus_hearing_get(message, 4);
    message->failed = message->failed || count > PLACES_MAX;
    place *list = message->failed ? NULL : calloc(count + 1, sizeof *list);
    for (uint32_t i = 0; list && i < count; i++) {
        list[i].ticket = caucus_hearing_get(message, 8);
        list[i].client = (uint32_t)caucus_hearing_get(message, 4);
        list[i].heard = caucus_hearing_get(message, 8);
        caucus_hearing_text(message, list[i].serial, sizeof list[i].serial);
        if (list[i].client == 0 || list[i].client > r->server->clients)
            message->failed = true; /* a relay has looked at the certificate, and at the plan */
    }
    if (list && !message->failed)
        place_all(r, peer, list, count);
    free(list);
}

/* All locks are held: it has the place no more. */
static void give_up_place(caucus_server *s, uint32_t client) {
    atomic_store(&s->session[client - 1], 0);
    s->placed[client - 1] = 0;
    atomic_fetch_sub(&s->present, 1);
}

void caucus_hub_remove(caucus_hub *r, uint32_t client, uint8_t code, const char *text) {
    caucus_server *s = r->server;
    const uint16_t relay = s->placed[client - 1];
    caucus_hub_out(r, relay, client, atomic_load(&s->session[client - 1]), code, text);
    give_up_place(s, client);
    caucus_hub_uncount(r, relay, client);
}

void caucus_hub_left(caucus_hub *r, caucus_hub_peer *peer, caucus_hearing *message) {
    caucus_server *s = r->server;
    const uint32_t count = (uint32_t)caucus_hearing_get(message, 4);
    pthread_mutex_lock(&s->lock);
    caucus_step_hold_loops(s);
    for (uint32_t i = 0; i < count && !message->failed; i++) {
        const uint32_t client = (uint32_t)caucus_hearing_get(message, 4);
        const uint64_t session = caucus_hearing_get(message, 8);
        const bool goodbye = caucus_hearing_get(message, 1) != 0;
        if (message->failed || client == 0 || client > s->clients) {
            message->failed = true;
            break;
        }
        if (s->placed[client - 1] != peer->entry.number || atomic_load(&s->session[client - 1]) != session)
            continue; /* it is elsewhere by now: this is old news */
        give_up_place(s, client);
        caucus_hub_count(peer, client, false);
        if (goodbye)
            caucus_waits_expects_not(s, client);
    }
    caucus_step_release_loops(s);
    pthread_mutex_unlock(&s->lock);
    caucus_loop_gone(s);
}

void caucus_hub_displace(caucus_hub *r, caucus_hub_peer *peer) {
    caucus_server *s = r->server;
    pthread_mutex_lock(&s->lock);
    caucus_step_hold_loops(s);
    for (uint32_t k = 0; k < caucus_coordinator_chunks(s->set.plan); k++) {
        uint32_t first;
        const uint32_t count = caucus_chunk_clients(s->clients, k, &first);
        if (atomic_load(&peer->in_chunk[k]) == 0) /* nothing is looked at of those that are elsewhere */
            continue;
        for (uint32_t i = first; i < first + count; i++)
            if (s->placed[i] == peer->entry.number) {
                give_up_place(s, i + 1);
                caucus_hub_count(peer, i + 1, false); /* who has just moved is counted off by who has moved it */
            }
    }
    caucus_step_release_loops(s);
    pthread_mutex_unlock(&s->lock);
    caucus_loop_gone(s);
}
