/* SPDX-License-Identifier: Apache-2.0 */
/* relay.c: a relay's thread: what it hears, and its clocks. See relay.h. */
#include "net/relay/relay_impl.h"

#include <inttypes.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "num/fail.h"
#include "num/hand_over.h"
#include "relay/keys.h"
#include "store/clock.h"

#define MS_NS 1000000u
#define SECOND_NS (1000u * (uint64_t)MS_NS)
#define DOUBT_NS (3u * SECOND_NS) /* the coordinator says something every second */
#define DRAIN_NS (10u * SECOND_NS)
#define GATHER_MS 20u
#define CUT_OFF_MS 30000u
#define KEEP_BYTES ((uint64_t)256 << 20)
#define TURN_NS (100u * (uint64_t)MS_NS)

void caucus_relay_say(caucus_relay *r) {
    (void)caucus_saying_send(&r->say, &r->seal, r->line, r->up);
}

bool caucus_relay_unseal(caucus_relay *r, caucus_letter *letter, caucus_hearing *ret) {
    if (!r->in_session || letter->size < CAUCUS_SEAL_MORE_BYTES)
        return false;
    uint8_t *open = letter->bytes + 8;
    if (caucus_seal_take(&r->seal, r->down, letter->bytes, letter->size, open) != CAUCUS_OK)
        return false;
    r->heard_ns = caucus_clock_ns();
    *ret = (caucus_hearing){.at = open, .end = open + (letter->size - CAUCUS_SEAL_MORE_BYTES)};
    return true;
}

void caucus_relay_stop(caucus_relay *r, caucus_relay_end why) {
    r->end = why;
    if (why == CAUCUS_RELAY_OVER)
        atomic_store(&r->server->finished, true);
    atomic_store(&r->server->stopping, true);
    caucus_server_wake(r->server);
}

/* ---- what is heard ---- */

static void hear_news(caucus_relay *r, caucus_hearing *message) {
    const uint64_t committed = caucus_hearing_get(message, 8);
    const bool started = caucus_hearing_get(message, 1) != 0;
    const uint64_t durable = caucus_hearing_get(message, 8);
    const caucus_announcement last = caucus_hearing_announcement(message);
    const uint64_t have = atomic_load(&r->server->committed);
    if (message->failed || last.serial + 1 != committed)
        message->failed = true;
    else if (committed == have)
        caucus_relay_hear(r, NULL, 0, durable, started);
    else if (committed == have + 1)
        caucus_relay_hear(r, &last, 1, durable, started);
    else if (committed > have && caucus_clock_ns() - r->history_ns > SECOND_NS)
        caucus_relay_ask_history(r, have);
}

static void hear_past(caucus_relay *r, caucus_hearing *message) {
    const uint64_t durable = caucus_hearing_get(message, 8), first = caucus_hearing_get(message, 8);
    const uint32_t count = (uint32_t)caucus_hearing_get(message, 4);
    const uint64_t have = atomic_load(&r->server->committed);
    if (message->failed || first > have || count > CAUCUS_SAYING_BYTES) {
        /* Without an end, those in between are gone: what is counted here can no longer be followed. */
        if (!message->failed && first > have)
            caucus_relay_stop(r, CAUCUS_RELAY_LOST);
        return;
    }
    caucus_announcement *list = calloc(count + 1, sizeof *list);
    uint32_t news = 0;
    for (uint32_t i = 0; list && i < count; i++) {
        list[news] = caucus_hearing_announcement(message);
        news += list[news].serial >= have && !message->failed;
    }
    if (list && !message->failed && news > 0)
        caucus_relay_hear(r, list, news, durable, true);
    free(list);
    r->history_ns = 0;
}

static void hear_taken(caucus_relay *r, caucus_hearing *message) {
    const uint64_t n = caucus_hearing_get(message, 8), serial = caucus_hearing_get(message, 8);
    const uint64_t what = caucus_hearing_get(message, 1);
    const uint32_t count = (uint32_t)caucus_hearing_get(message, 4);
    const uint8_t *named = caucus_hearing_bytes(message, (size_t)4 * count);
    if (message->failed || !r->flight.bytes || n != r->flight.n || serial != r->flight.serial)
        return; /* of one that was given up meanwhile */
    if (what == CAUCUS_ANSWER_TAKEN) {
        r->taken = n;
        atomic_fetch_add(&r->accepted, 1);
        caucus_relay_forget_flight(r);
    } else if (what == CAUCUS_ANSWER_STALE) {
        atomic_fetch_add(&r->stale, 1);
        r->flight.stale = true; /* it is made again when the announcement comes */
        caucus_relay_say_here(r);
    } else {
        uint32_t *client = calloc(count + 1, sizeof *client);
        caucus_hearing names = {.at = named, .end = named + (size_t)4 * count};
        for (uint32_t i = 0; client && i < count; i++)
            client[i] = (uint32_t)caucus_hearing_get(&names, 4);
        atomic_fetch_add(&r->refused, 1);
        if (client)
            caucus_relay_leave_out(r, client, count);
        free(client);
    }
}

static void take_letter(caucus_relay *r, caucus_letter *letter) {
    caucus_hearing message;
    caucus_seal other;
    if (caucus_relay_answers_greeting(r, letter, &other)) { /* it has been started again, or had given this one up */
        caucus_seal_end(&other);
        caucus_relay_stop(r, CAUCUS_RELAY_LOST);
        return;
    }
    if (!caucus_relay_unseal(r, letter, &message))
        return;
    switch ((caucus_saying_kind)caucus_hearing_get(&message, 1)) {
    case CAUCUS_SAY_NEWS:
        hear_news(r, &message);
        break;
    case CAUCUS_SAY_PAST:
        hear_past(r, &message);
        break;
    case CAUCUS_SAY_PLACED:
        caucus_relay_hear_placed(r, &message);
        break;
    case CAUCUS_SAY_TAKEN:
        hear_taken(r, &message);
        break;
    case CAUCUS_SAY_OUT:
        caucus_relay_hear_out(r, &message);
        break;
    case CAUCUS_SAY_END:
        caucus_relay_stop(r, caucus_hearing_get(&message, 1) ? CAUCUS_RELAY_OVER : CAUCUS_RELAY_CLOSED);
        break;
    default: /* STATE, a second time, after a first that was slow */
        break;
    }
}

/* ---- the thread ---- */

/* Is the coordinator there? If it is not heard, ask by a greeting: it answers with a new session if it does not have
 * this one, and then this one is over. */
static void look_after_session(caucus_relay *r, uint64_t now) {
    const uint64_t silent = now - r->heard_ns;
    if (now - r->here_ns > SECOND_NS)
        caucus_relay_say_here(r);
    if (silent <= DOUBT_NS)
        r->greet_wait_ns = 0;
    else if (now - r->greet_ns > SECOND_NS && now - r->greet_ns > r->greet_wait_ns)
        caucus_relay_greet(r);
    if (silent <= (uint64_t)r->set.cut_off_ms * MS_NS)
        return;
    const uint64_t committed = atomic_load(&r->server->committed);
    const bool over = caucus_history_get(&r->server->history, committed - 1).ask == CAUCUS_ASK_NOTHING;
    caucus_server_log(r->server, 0, "cut off: the coordinator has not been heard for %.3g seconds",
                      r->set.cut_off_ms / 1e3);
    caucus_relay_stop(r, over ? CAUCUS_RELAY_OVER : CAUCUS_RELAY_LOST);
}

/* Somebody wants to stop: what was counted is sent, and waited for until it is durable, for a while. */
static void drain(caucus_relay *r, uint64_t now) {
    if (!atomic_load(&r->server->last_wanted))
        return;
    if (r->drain_ns == 0)
        r->drain_ns = now + DRAIN_NS;
    if (now >= r->drain_ns || !caucus_relay_has_unsaved(r))
        caucus_relay_stop(r, CAUCUS_RELAY_STOPPED);
}

static void turn(caucus_relay *r, uint64_t until) {
    struct pollfd wait = {.fd = caucus_line_wait(r->line), .events = POLLIN};
    const uint64_t then = caucus_clock_ns(), left = until > then ? until - then : 0;
    (void)poll(&wait, 1, (int)((left < TURN_NS ? left : TURN_NS) / MS_NS + 1));
    for (caucus_letter *letter = caucus_line_take(r->line), *next; letter; letter = next) {
        next = letter->next;
        if (!atomic_load(&r->server->stopping))
            take_letter(r, letter);
        sodium_memzero(letter->bytes, letter->size);
        free(letter);
    }
    const uint64_t now = caucus_clock_ns();
    caucus_relay_look_after_line(r);
    if (now - r->woke_ns > SECOND_NS) { /* loops look after those who wait for a place */
        r->woke_ns = now;
        caucus_relay_wake_loops(r);
    }
    caucus_relay_say_places(r);
    look_after_session(r, now);
    drain(r, now);
    atomic_store(&r->shown_clients, atomic_load(&r->server->present));
    atomic_store(&r->shown_heard, atomic_load(&r->server->committed));
    atomic_store(&r->shown_ready, now - r->heard_ns <= DOUBT_NS && !atomic_load(&r->server->stopping) &&
                                      !atomic_load(&r->server->last_wanted));
}

static void *run(void *user) {
    caucus_relay *r = user;
    uint64_t until = 0;
    while (!atomic_load(&r->thread.ending)) {
        turn(r, until ? until : UINT64_MAX);
        until = atomic_load(&r->server->stopping) ? 0 : caucus_relay_send(r);
    }
    caucus_relay_say_places(r); /* who has left while the server ended */
    atomic_store(&r->shown_clients, 0);
    atomic_store(&r->shown_ready, false);
    return NULL;
}

caucus_status caucus_relay_run(caucus_relay *r, caucus_error *ret_error) {
    return caucus_line_thread_start(&r->thread, run, r, ret_error);
}

void caucus_relay_end_run(caucus_relay *r) {
    if (r)
        caucus_line_thread_end(&r->thread, r->line);
}

void caucus_relay_wake(caucus_relay *r) {
    caucus_line_wake(r->line);
}

void caucus_relay_counted(caucus_server *s) {
    caucus_relay *r = s->relay;
    uint64_t none = 0;
    const bool first = atomic_compare_exchange_strong(&r->first_ns, &none, caucus_clock_ns());
    if (first || atomic_load(&s->answered) >= atomic_load(&s->present))
        caucus_line_wake(r->line);
}

/* ---- open and close ---- */

caucus_status caucus_relay_open(const caucus_relay_settings *set, caucus_relay **ret, caucus_error *ret_error) {
    caucus_relay *r = calloc(1, sizeof *r);
    if (!r)
        return caucus_fail_memory(ret_error, "");
    r->set = *set;
    r->set.gather_ms = set->gather_ms ? set->gather_ms : GATHER_MS;
    r->set.cut_off_ms = set->cut_off_ms ? set->cut_off_ms : CUT_OFF_MS;
    r->room.most = set->keep_bytes ? set->keep_bytes : KEEP_BYTES;
    pthread_mutex_init(&r->lock, NULL);
    r->about.relay = set->number;
    memcpy(r->about.plan, set->plan_hash, sizeof r->about.plan);
    caucus_seal_run(set->plan_hash, set->name ? set->name : "live", r->about.run);
    caucus_subject(&r->about, true, set->number, r->up);
    caucus_subject(&r->about, false, set->number, r->down);
    caucus_status status = caucus_keys_read_secret(set->key, "relay-key", &r->owner, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_keys_read_public(set->coordinator, "coordinator", r->coordinator_key, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_line_open(&set->line, &r->line, ret_error);
    if (status == CAUCUS_OK) {
        status = caucus_line_hear(r->line, r->down);
        if (status != CAUCUS_OK)
            caucus_fail(ret_error, status, "nats", "cannot subscribe");
    }
    return CAUCUS_HAND_OVER(status, ret, r, caucus_relay_close(r));
}

void caucus_relay_close(caucus_relay *r) {
    if (!r)
        return;
    caucus_relay_end_run(r);
    caucus_line_close(r->line);
    caucus_relay_forget_flight(r);
    caucus_seal_forget(&r->greeted);
    caucus_seal_end(&r->seal);
    caucus_saying_free(&r->say);
    sodium_memzero(&r->owner, sizeof r->owner);
    free((void *)r->pending);
    free(r->asks.at);
    free(r->lefts.at);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

caucus_relay_end caucus_relay_ended(const caucus_relay *r) {
    return r->end;
}

void caucus_relay_get_status(const caucus_relay *r, caucus_relay_own_status *ret) {
    *ret = (caucus_relay_own_status){.term = atomic_load(&r->shown_term),
                                     .session = atomic_load(&r->shown_session),
                                     .sent = atomic_load(&r->sent),
                                     .accepted = atomic_load(&r->accepted),
                                     .stale = atomic_load(&r->stale),
                                     .refused = atomic_load(&r->refused),
                                     .durable = atomic_load(&r->durable),
                                     .in_flight = atomic_load(&r->in_flight),
                                     .kept_bytes = atomic_load(&r->room.used),
                                     .hung_up = atomic_load(&r->hung_up),
                                     .reconnects = caucus_line_reconnects(r->line),
                                     .drops = caucus_line_drops(r->line),
                                     .clients = atomic_load(&r->shown_clients),
                                     .announcements = atomic_load(&r->shown_heard),
                                     .ready = atomic_load(&r->shown_ready),
                                     .up = caucus_line_is_up(r->line)};
}
