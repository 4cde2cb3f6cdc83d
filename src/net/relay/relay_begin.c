/* SPDX-License-Identifier: Apache-2.0 */
/* relay_begin.c: a session with the coordinator, from the greeting to the last announcement. See relay.h. */
#include "net/relay/relay_impl.h"

#include <inttypes.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>

#include "num/fail.h"
#include "store/clock.h"

#define AGAIN_MS 200
#define SECOND_NS 1000000000u
#define DOUBT_NS (3u * (uint64_t)SECOND_NS)
#define GREET_SOON_NS ((uint64_t)SECOND_NS / 4)
#define GREET_LATE_NS (8u * (uint64_t)SECOND_NS)

/* A greeting makes the one before it void, and with it the answer that may be on its way. So each comes later after
 * the last than that one did: on a machine where answers are slow there is time for one in the end. */
void caucus_relay_greet(caucus_relay *r) {
    r->greet_ns = caucus_clock_ns();
    r->greet_wait_ns = r->greet_wait_ns == 0                  ? GREET_SOON_NS
                       : r->greet_wait_ns < GREET_LATE_NS / 2 ? 2 * r->greet_wait_ns
                                                              : GREET_LATE_NS;
    caucus_seal_forget(&r->greeted);
    if (caucus_seal_greet(&r->owner, &r->about, &r->greeted) == CAUCUS_OK)
        (void)caucus_line_say(r->line, r->up, r->greeted.greeting, sizeof r->greeted.greeting);
}

bool caucus_relay_answers_greeting(caucus_relay *r, const caucus_letter *letter, caucus_seal *ret) {
    if (caucus_seal_hear(&r->greeted, r->coordinator_key, letter->bytes, letter->size, ret) != CAUCUS_OK)
        return false;
    if (ret->term >= r->term)
        return true;
    caucus_seal_end(ret); /* of a coordinator that another has followed */
    return false;
}

void caucus_relay_say_here(caucus_relay *r) {
    r->here_ns = caucus_clock_ns();
    caucus_saying_begin(&r->say, CAUCUS_SAY_HERE);
    caucus_saying_put(&r->say, r->heard, 8);
    if (r->heard > 0 && r->chained == r->heard)
        for (size_t i = 0; i < sizeof r->chain; i++)
            caucus_saying_put(&r->say, r->chain[i], 1);
    caucus_relay_say(r);
}

void caucus_relay_chain(caucus_relay *r, const caucus_announcement *a) {
    if (a->serial != r->chained)
        return;
    if (r->chained == 0)
        caucus_chain_begin(r->about.plan, r->chain);
    caucus_chain_add(r->chain, a);
    r->chained++;
}

void caucus_relay_ask_history(caucus_relay *r, uint64_t from) {
    r->history_ns = caucus_clock_ns();
    caucus_saying_begin(&r->say, CAUCUS_SAY_HISTORY);
    caucus_saying_put(&r->say, from, 8);
    caucus_relay_say(r);
}

/* What is known of the session that begins. */
typedef struct beginning {
    caucus_relay *relay;
    caucus_server *server;
    bool has_state;
    uint64_t cost_next, sums_next, next; /* next: announcements in history; as many as `last` says: all */
    bool started, any, ready;
    caucus_announcement last;
    caucus_status status;
} beginning;

static void hear_state(beginning *b, caucus_hearing *message) {
    caucus_server *s = b->server;
    const uint32_t deadline_ms = (uint32_t)caucus_hearing_get(message, 4);
    const uint64_t cost_next = caucus_hearing_get(message, 8), sums_next = caucus_hearing_get(message, 8);
    const uint64_t committed = caucus_hearing_get(message, 8);
    const bool started = caucus_hearing_get(message, 1) != 0;
    (void)caucus_hearing_get(message, 8);
    const caucus_announcement last = caucus_hearing_announcement(message);
    if (message->failed || last.serial + 1 != committed || b->has_state)
        return;
    b->has_state = true;
    b->relay->greet_wait_ns = 0;
    b->last = last;
    b->cost_next = cost_next;
    b->sums_next = sums_next;
    b->started = started;
    s->set.deadline_ms = deadline_ms;
    caucus_relay_ask_history(b->relay, 0);
}

static void hear_past(beginning *b, caucus_hearing *message) {
    (void)caucus_hearing_get(message, 8);
    const uint64_t first = caucus_hearing_get(message, 8);
    const uint32_t count = (uint32_t)caucus_hearing_get(message, 4);
    if (!b->has_state || message->failed || (b->any && first > b->next))
        return;
    for (uint32_t i = 0; i < count && b->status == CAUCUS_OK; i++) {
        const caucus_announcement a = caucus_hearing_announcement(message);
        if (message->failed || a.serial > b->last.serial)
            break; /* made since: it comes again as news */
        if (b->any && a.serial != b->next)
            continue;
        if (!caucus_history_add(&b->server->history, &a))
            b->status = CAUCUS_E_MEMORY;
        caucus_relay_chain(b->relay, &a);
        b->any = true;
        b->next = a.serial + 1;
    }
    if (b->next == b->last.serial + 1)
        b->ready = true;
    else
        caucus_relay_ask_history(b->relay, b->next);
}

static void take_letter(beginning *b, caucus_letter *letter) {
    caucus_relay *r = b->relay;
    caucus_hearing message;
    caucus_seal made;
    if (!b->has_state && caucus_relay_answers_greeting(r, letter, &made)) {
        caucus_seal_end(&r->seal);
        r->seal = made;
        r->in_session = true;
        r->term = made.term;
        atomic_store(&r->shown_term, made.term);
        atomic_store(&r->shown_session, made.session);
        caucus_seal_end(&made);
        r->heard_ns = caucus_clock_ns();
        caucus_relay_say_here(r);
    } else if (caucus_relay_unseal(r, letter, &message)) {
        const uint64_t kind = caucus_hearing_get(&message, 1);
        if (kind == CAUCUS_SAY_STATE)
            hear_state(b, &message);
        else if (kind == CAUCUS_SAY_PAST)
            hear_past(b, &message);
    }
}

void caucus_relay_look_after_line(caucus_relay *r) {
    char why[CAUCUS_LINE_WHY_BYTES];
    if (caucus_line_lost(r->line, why))
        caucus_server_log(r->server, 0, CAUCUS_LINE_LOST_TEXT, why);
}

/* Whatever was lost is asked for again. */
static void ask_again(beginning *b, uint64_t now, bool *said) {
    caucus_relay *r = b->relay;
    if (!r->in_session || now - r->heard_ns > DOUBT_NS) {
        if (now - r->greet_ns > r->greet_wait_ns)
            caucus_relay_greet(r);
        if (!*said && now - b->server->opened_ns > DOUBT_NS) {
            *said = true;
            caucus_server_log(b->server, 1, "waiting for the coordinator%s: nobody is let in meanwhile",
                              caucus_line_is_up(r->line) ? "" : " (NATS cannot be reached)");
        }
    } else if (!b->has_state && now - r->here_ns > SECOND_NS) {
        caucus_relay_say_here(r);
    } else if (b->has_state && now - r->history_ns > SECOND_NS) {
        caucus_relay_ask_history(r, b->any ? b->next : 0);
    }
}

static void reset(caucus_relay *r) {
    caucus_relay_forget_flight(r);
    r->in_session = false;
    r->taken = r->drain_ns = r->greet_ns = r->greet_wait_ns = r->history_ns = 0;
    r->end = CAUCUS_RELAY_LOST;
    r->asks.count = r->lefts.count = 0;
    atomic_store(&r->first_ns, 0);
    atomic_store(&r->durable, 0);
    for (uint32_t i = 0; i < r->server->clients; i++)
        atomic_store_explicit(&r->pending[i], 0, memory_order_relaxed);
}

caucus_status caucus_relay_begin(caucus_relay *r, caucus_server *s, caucus_error *ret_error) {
    beginning b = {.relay = r, .server = s, .status = CAUCUS_OK};
    bool said = false;
    r->server = s;
    if (!r->pending)
        r->pending = calloc(s->clients, sizeof *r->pending);
    if (!r->pending)
        return caucus_fail_memory(ret_error, "");
    reset(r);
    while (b.status == CAUCUS_OK && !b.ready) {
        if (r->in_session && caucus_clock_ns() - r->heard_ns > DOUBT_NS && b.has_state)
            b = (beginning){.relay = r, .server = s, .status = CAUCUS_OK, .any = b.any, .next = b.next};
        ask_again(&b, caucus_clock_ns(), &said);
        struct pollfd wait = {.fd = caucus_line_wait(r->line), .events = POLLIN};
        (void)poll(&wait, 1, AGAIN_MS);
        for (caucus_letter *letter = caucus_line_take(r->line), *next; letter; letter = next) {
            next = letter->next;
            take_letter(&b, letter);
            sodium_memzero(letter->bytes, letter->size);
            free(letter);
        }
        caucus_relay_look_after_line(r);
    }
    if (b.status == CAUCUS_OK)
        b.status = caucus_follower_new(s->set.plan, &b.last, b.cost_next, b.sums_next, &s->machine);
    if (b.status != CAUCUS_OK)
        return caucus_fail(ret_error, b.status, "", "%s", caucus_status_text(b.status));
    atomic_store(&s->committed, b.last.serial + 1);
    atomic_store(&s->started, b.started);
    if (b.last.serial + 1 > r->heard && b.started)
        r->heard = b.last.serial + 1;
    r->step_ns = caucus_clock_ns();
    caucus_server_log_about(s, &(caucus_log_line){.level = 1, .event = "relay"},
                            "the coordinator is here: term %" PRIu64 ", session %" PRIu64 ", announcement %" PRIu64,
                            r->seal.term, r->seal.session, b.last.serial);
    return CAUCUS_OK;
}
