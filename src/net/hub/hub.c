/* SPDX-License-Identifier: Apache-2.0 */
/* hub.c: sessions with relays, and what all of them are told. See hub.h. */
#include "net/hub/hub_impl.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo/relayed/relayed.h"
#include "num/fail.h"
#include "store/clock.h"
#include "store/coordinator/chain.h"

#define SECOND_NS 1000000000u
#define SILENT_NS (10u * (uint64_t)SECOND_NS)
#define TURN_MS 200

static caucus_hub_peer *find(caucus_hub *r, uint16_t number) {
    for (uint32_t i = 0; i < r->peers; i++)
        if (r->peer[i].entry.number == number)
            return &r->peer[i];
    return NULL;
}

void caucus_hub_say(caucus_hub *r, caucus_hub_peer *p) {
    (void)caucus_saying_send(&r->say, &p->seal, r->line, p->down);
}

void caucus_hub_count(caucus_hub_peer *p, uint32_t client, bool here) {
    const uint32_t more = here ? 1 : UINT32_MAX; /* one more, or one less */
    atomic_fetch_add(&p->clients, more);
    atomic_fetch_add(&p->in_chunk[(client - 1) / CAUCUS_CHUNK_CLIENTS], more);
}

void caucus_hub_uncount(caucus_hub *r, uint16_t relay, uint32_t client) {
    caucus_hub_peer *p = find(r, relay);
    if (p)
        caucus_hub_count(p, client, false);
}

/* ---- what is announced ---- */

/* Under `lock`: how far this is. */
static void put_news(caucus_hub *r, const caucus_hub_peer *p, uint64_t committed, bool started) {
    const caucus_announcement last = caucus_history_get(&r->server->history, committed - 1);
    caucus_saying_put(&r->say, committed, 8);
    caucus_saying_put(&r->say, started, 1);
    caucus_saying_put(&r->say, p->durable, 8);
    caucus_saying_put_announcement(&r->say, &last);
}

static void tell_news(caucus_hub *r, caucus_hub_peer *p, bool first) {
    caucus_server *s = r->server;
    uint64_t cost_next, sums_next;
    caucus_saying_begin(&r->say, first ? CAUCUS_SAY_STATE : CAUCUS_SAY_NEWS);
    pthread_mutex_lock(&s->lock);
    const uint64_t committed = atomic_load(&s->committed);
    const bool started = atomic_load(&s->started);
    if (first) {
        caucus_follower_common(s->machine, &cost_next, &sums_next);
        caucus_saying_put(&r->say, s->set.deadline_ms, 4);
        caucus_saying_put(&r->say, cost_next, 8);
        caucus_saying_put(&r->say, sums_next, 8);
    }
    put_news(r, p, committed, started);
    pthread_mutex_unlock(&s->lock);
    caucus_hub_say(r, p);
    p->told = committed;
    p->told_started = started;
    p->news_ns = caucus_clock_ns();
}

/* Announcements from a serial on, as many as fit in a message. */
static void tell_history(caucus_hub *r, caucus_hub_peer *p, caucus_hearing *message) {
    caucus_server *s = r->server;
    uint64_t from = caucus_hearing_get(message, 8);
    uint32_t count = 0;
    if (message->failed)
        return;
    caucus_saying_begin(&r->say, CAUCUS_SAY_PAST);
    pthread_mutex_lock(&s->lock); /* without an end places are used again */
    const uint64_t committed = atomic_load(&s->committed), first = caucus_history_from(&s->history, committed);
    if (from < first)
        from = first;
    caucus_saying_put(&r->say, p->durable, 8);
    caucus_saying_put(&r->say, from, 8);
    const size_t at = caucus_saying_size(&r->say);
    caucus_saying_put(&r->say, 0, 4);
    for (; from + count < committed && caucus_saying_size(&r->say) < CAUCUS_SAYING_BYTES / 2; count++) {
        const caucus_announcement a = caucus_history_get(&s->history, from + count);
        caucus_saying_put_announcement(&r->say, &a);
    }
    pthread_mutex_unlock(&s->lock);
    caucus_saying_set(&r->say, at, count, 4);
    caucus_hub_say(r, p);
}

/* ---- sessions ---- */

static void end_session(caucus_hub *r, caucus_hub_peer *p) {
    if (p->here)
        caucus_hub_displace(r, p);
    caucus_hub_forget_partial(p);
    caucus_seal_end(&p->seal);
    p->answered = p->here = false;
    atomic_store(&p->shown_here, false);
}

void caucus_hub_bar(caucus_hub *r, caucus_hub_peer *p, const char *why) {
    caucus_server_log(r->server, 0, "relay %u is cut off: %s", p->entry.number, why);
    atomic_fetch_add(&r->cut_off, 1);
    p->barred = true;
    end_session(r, p);
}

/* Somebody says that it is this relay, and that a session begins. It may be an old greeting that somebody repeats: the
 * session that is in force stays so until the new one proves that it is alive, so the answer is kept beside it. */
static void greeted(caucus_hub *r, caucus_hub_peer *p, const caucus_letter *letter) {
    caucus_server *s = r->server;
    uint8_t answer[CAUCUS_SEAL_ANSWER_BYTES];
    caucus_seal made;
    const caucus_status status = caucus_seal_answer(&r->owner, p->entry.key, &p->about, atomic_load(&s->term),
                                                    r->sessions + 1, letter->bytes, letter->size, answer, &made);
    if (status != CAUCUS_OK) {
        caucus_server_log(s, 0, "relay %u is not let in: %s", p->entry.number,
                          status == CAUCUS_E_REFUSED    ? "its greeting is not signed with the key that is listed"
                          : status == CAUCUS_E_MISMATCH ? "it has another plan"
                          : status == CAUCUS_E_CONFLICT ? "it is of another run or version"
                                                        : caucus_status_text(status));
        return;
    }
    r->sessions++;
    if (!p->here) {
        caucus_seal_end(&p->seal);
        p->seal = made;
    } else {
        caucus_seal_end(&p->next_seal);
        p->next_seal = made;
    }
    p->answered = true;
    caucus_seal_end(&made);
    (void)caucus_line_say(r->line, p->down, answer, sizeof answer);
}

/* The first sealed word of a session: it is in force from now on, and whatever was before it is over. */
static void confirmed(caucus_hub *r, caucus_hub_peer *p) {
    caucus_server *s = r->server;
    p->here = true;
    p->has_state = false;
    pthread_mutex_lock(&s->lock); /* who decides looks at these */
    p->taken = p->decided = p->durable = 0;
    pthread_mutex_unlock(&s->lock);
    atomic_store(&p->shown_here, true);
    atomic_store(&p->shown_durable, 0);
    caucus_server_log_about(s, &(caucus_log_line){.level = 1, .event = "relay"}, "relay %u is here, session %" PRIu64,
                            p->entry.number, p->seal.session);
}

/* Of so many announcements, which are committed: has it heard others? It says so with the chain over them. */
static bool is_other_chain(const caucus_server *s, uint64_t heard, const caucus_hearing *message) {
    uint8_t chain[CAUCUS_CHAIN_BYTES];
    if (s->history.endless || (size_t)(message->end - message->at) != sizeof chain)
        return false;
    caucus_chain_begin(s->set.plan_hash, chain);
    for (uint64_t i = 0; i < heard; i++) {
        const caucus_announcement a = caucus_history_get(&s->history, i);
        caucus_chain_add(chain, &a);
    }
    return memcmp(chain, message->at, sizeof chain) != 0;
}

/* It has heard so many. More than there are, or others: this is an older copy of the state. */
static void relay_heard(caucus_hub *r, caucus_hub_peer *p, caucus_hearing *message) {
    caucus_server *s = r->server;
    const uint64_t heard = caucus_hearing_get(message, 8);
    const uint64_t committed = atomic_load(&s->committed);
    if (message->failed)
        return;
    if ((heard > committed || (!p->has_state && is_other_chain(s, heard, message))) && !s->set.ignore_claims)
        caucus_step_rolled_back(s, p->entry.number, heard);
    else if (!p->has_state || heard < p->told)
        tell_news(r, p, !p->has_state); /* also if what was said last was lost */
}

static void take_sealed(caucus_hub *r, caucus_hub_peer *p, uint8_t *bytes, size_t size) {
    caucus_hearing message = {.at = bytes, .end = bytes + size};
    p->heard_ns = caucus_clock_ns();
    switch ((caucus_saying_kind)caucus_hearing_get(&message, 1)) {
    case CAUCUS_SAY_HERE:
        relay_heard(r, p, &message);
        break;
    case CAUCUS_SAY_PLACE:
        caucus_hub_place(r, p, &message);
        break;
    case CAUCUS_SAY_LEFT:
        caucus_hub_left(r, p, &message);
        break;
    case CAUCUS_SAY_PARTIAL:
        caucus_hub_partial(r, p, &message);
        break;
    case CAUCUS_SAY_HISTORY: /* what a relay says once it has the state */
        p->has_state = true;
        tell_history(r, p, &message);
        break;
    default:
        message.failed = true;
        break;
    }
    if (message.failed && !p->barred)
        caucus_hub_bar(r, p, "a message that relays of this version do not send");
}

static void take_letter(caucus_hub *r, caucus_letter *letter) {
    caucus_hub_peer *p = find(r, caucus_subject_relay(letter->subject));
    if (!p || p->barred) /* nobody of the list, or not any more */
        return;
    if (caucus_seal_greets(letter->bytes, letter->size) != 0) {
        greeted(r, p, letter);
        return;
    }
    if (letter->size < CAUCUS_SEAL_MORE_BYTES)
        return;
    uint8_t *open = letter->bytes + 8;
    const size_t size = letter->size - CAUCUS_SEAL_MORE_BYTES;
    bool first = false;
    caucus_status status = CAUCUS_E_FORMAT;
    if (p->answered && p->here && p->next_seal.session != 0) { /* is it the new session that speaks? */
        uint8_t *copy = malloc(size + 1);
        status = copy ? caucus_seal_take(&p->next_seal, p->up, letter->bytes, letter->size, copy) : CAUCUS_E_MEMORY;
        if (status == CAUCUS_OK) {
            const caucus_seal next = p->next_seal;
            end_session(r, p);
            p->seal = next;
            p->answered = first = true;
            caucus_seal_end(&p->next_seal);
            memcpy(open, copy, size);
        }
        if (copy)
            sodium_memzero(copy, size);
        free(copy);
    }
    if (status != CAUCUS_OK && p->answered)
        status = caucus_seal_take(&p->seal, p->up, letter->bytes, letter->size, open);
    if (status != CAUCUS_OK) /* of a session that is over, or delivered twice, or made up */
        return;
    first = first || !p->here;
    if (first)
        confirmed(r, p);
    take_sealed(r, p, open, size);
    sodium_memzero(open, size);
}

/* ---- the thread ---- */

static void tell_notices(caucus_hub *r) {
    pthread_mutex_lock(&r->notice_lock);
    caucus_hub_notice *list = r->notice;
    r->notice = NULL;
    r->notice_last = &r->notice;
    pthread_mutex_unlock(&r->notice_lock);
    while (list) {
        caucus_hub_notice *n = list;
        caucus_hub_peer *p = find(r, n->relay);
        list = n->next;
        if (p && p->here) {
            caucus_saying_begin(&r->say, CAUCUS_SAY_OUT);
            caucus_saying_put(&r->say, n->client, 4);
            caucus_saying_put(&r->say, n->session, 8);
            caucus_saying_put(&r->say, n->code, 1);
            caucus_saying_put_text(&r->say, n->text);
            caucus_hub_say(r, p);
        }
        free(n);
    }
}

static void look_after_line(caucus_hub *r) {
    char why[CAUCUS_LINE_WHY_BYTES];
    if (caucus_line_lost(r->line, why))
        caucus_server_log(r->server, 0, CAUCUS_LINE_LOST_TEXT, why);
}

static void turn(caucus_hub *r) {
    struct pollfd wait = {.fd = caucus_line_wait(r->line), .events = POLLIN};
    (void)poll(&wait, 1, TURN_MS);
    for (caucus_letter *letter = caucus_line_take(r->line), *next; letter; letter = next) {
        next = letter->next;
        take_letter(r, letter);
        free(letter);
    }
    look_after_line(r);
    tell_notices(r);
    const uint64_t now = caucus_clock_ns(), committed = atomic_load(&r->server->committed);
    const bool started = atomic_load(&r->server->started);
    for (uint32_t i = 0; i < r->peers; i++) {
        caucus_hub_peer *p = &r->peer[i];
        if (!p->here)
            continue;
        if (now - p->heard_ns > SILENT_NS) {
            caucus_server_log_about(r->server, &(caucus_log_line){.level = 1, .event = "relay"},
                                    "relay %u has not been heard for 10 seconds: its clients are away",
                                    p->entry.number);
            end_session(r, p);
        } else if (p->told < committed || p->told_started != started || now - p->news_ns > SECOND_NS) {
            tell_news(r, p, false);
        }
    }
}

static void *run(void *user) {
    caucus_hub *r = user;
    while (!atomic_load(&r->thread.ending))
        turn(r);
    for (uint32_t i = 0; i < r->peers; i++) {
        caucus_hub_peer *p = &r->peer[i];
        if (!p->here || atomic_load(&r->server->aborting))
            continue;
        if (p->told < atomic_load(&r->server->committed))
            tell_news(r, p, false);
        caucus_saying_begin(&r->say, CAUCUS_SAY_END);
        caucus_saying_put(&r->say, atomic_load(&r->server->finished), 1);
        caucus_hub_say(r, p);
    }
    return NULL;
}

caucus_status caucus_hub_run(caucus_hub *r, caucus_error *ret_error) {
    return caucus_line_thread_start(&r->thread, run, r, ret_error);
}

void caucus_hub_end(caucus_hub *r) {
    if (r)
        caucus_line_thread_end(&r->thread, r->line);
}

void caucus_hub_wake(caucus_hub *r) {
    if (r)
        caucus_line_wake(r->line);
}

/* ---- open and close ---- */

static caucus_status open_peers(caucus_hub *r, caucus_error *ret_error) {
    const caucus_server_settings *set = &r->server->set;
    caucus_relay_entry *list = NULL;
    const caucus_status status = caucus_keys_read_list(set->relays.list, "relays", &list, &r->peers, ret_error);
    if (status != CAUCUS_OK)
        return status;
    r->peer = calloc(r->peers, sizeof *r->peer);
    if (!r->peer) {
        free(list);
        return caucus_fail_memory(ret_error, "relays");
    }
    bool good = true;
    for (uint32_t i = 0; i < r->peers; i++) {
        caucus_hub_peer *p = &r->peer[i];
        p->entry = list[i];
        p->about.relay = list[i].number;
        memcpy(p->about.plan, set->plan_hash, sizeof p->about.plan);
        caucus_seal_run(set->plan_hash, set->name ? set->name : "live", p->about.run);
        caucus_subject(&p->about, false, p->entry.number, p->down);
        caucus_subject(&p->about, true, p->entry.number, p->up);
        p->in_chunk = calloc(caucus_coordinator_chunks(set->plan), sizeof *p->in_chunk);
        good = good && p->in_chunk;
    }
    free(list);
    return good ? CAUCUS_OK : caucus_fail_memory(ret_error, "relays");
}

caucus_status caucus_hub_open(caucus_server *s, caucus_error *ret_error) {
    if (!s->set.relays.line.url)
        return CAUCUS_OK;
    caucus_hub *r = calloc(1, sizeof *r);
    s->placed = calloc(s->clients, sizeof *s->placed);
    if (!r || !s->placed) {
        free(r);
        return caucus_fail_memory(ret_error, "relays");
    }
    s->relays = r;
    r->server = s;
    r->notice_last = &r->notice;
    pthread_mutex_init(&r->notice_lock, NULL);
    char all[CAUCUS_LINE_SUBJECT_BYTES];
    caucus_status status = caucus_keys_read_secret(s->set.relays.key, "relay-key", &r->owner, ret_error);
    if (status == CAUCUS_OK)
        status = open_peers(r, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_line_open(&s->set.relays.line, &r->line, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_subject(&r->peer[0].about, true, 0, all);
    status = caucus_line_hear(r->line, all);
    return status == CAUCUS_OK ? status : caucus_fail(ret_error, status, "nats", "cannot subscribe");
}

void caucus_hub_close(caucus_hub *r) {
    if (!r)
        return;
    caucus_hub_end(r);
    caucus_line_close(r->line);
    for (uint32_t i = 0; r->peer && i < r->peers; i++) {
        caucus_hub_forget_partial(&r->peer[i]);
        caucus_seal_end(&r->peer[i].seal);
        caucus_seal_end(&r->peer[i].next_seal);
        free((void *)r->peer[i].in_chunk);
    }
    for (caucus_hub_notice *n = r->notice, *next; n; n = next) {
        next = n->next;
        free(n);
    }
    free(r->peer);
    caucus_saying_free(&r->say);
    sodium_memzero(&r->owner, sizeof r->owner);
    pthread_mutex_destroy(&r->notice_lock);
    free(r);
}

/* ---- for the server ---- */

void caucus_hub_decided(caucus_hub *r) {
    for (uint32_t i = 0; r && i < r->peers; i++)
        r->peer[i].decided = r->peer[i].taken;
}

void caucus_hub_published(caucus_hub *r) {
    for (uint32_t i = 0; r && i < r->peers; i++) {
        r->peer[i].durable = r->peer[i].decided;
        atomic_store(&r->peer[i].shown_durable, r->peer[i].durable);
    }
}

void caucus_hub_out(caucus_hub *r, uint16_t relay, uint32_t client, uint64_t session, uint8_t code, const char *text) {
    caucus_hub_notice *n = calloc(1, sizeof *n);
    if (!n)
        return; /* it finds out when its next item is refused */
    *n = (caucus_hub_notice){.relay = relay, .client = client, .session = session, .code = code};
    (void)snprintf(n->text, sizeof n->text, "%s", text);
    pthread_mutex_lock(&r->notice_lock);
    *r->notice_last = n;
    r->notice_last = &n->next;
    pthread_mutex_unlock(&r->notice_lock);
    caucus_line_wake(r->line);
}

void caucus_hub_moved(caucus_hub *r, uint16_t relay, uint32_t client, uint64_t session) {
    caucus_hub_uncount(r, relay, client);
    caucus_hub_out(r, relay, client, session, CAUCUS_REFUSAL_ELSEWHERE, "the same client has connected again");
}

void caucus_hub_get_status(caucus_hub *r, caucus_hub_status *ret, caucus_relay_status *ret_each, uint32_t room) {
    *ret = (caucus_hub_status){.count = r->peers,
                               .reports = atomic_load(&r->reports),
                               .cut_off = atomic_load(&r->cut_off),
                               .reconnects = caucus_line_reconnects(r->line),
                               .drops = caucus_line_drops(r->line),
                               .up = caucus_line_is_up(r->line)};
    for (uint32_t i = 0; i < r->peers; i++) {
        caucus_hub_peer *p = &r->peer[i];
        const caucus_relay_status each = {.number = p->entry.number,
                                          .here = atomic_load(&p->shown_here),
                                          .clients = atomic_load(&p->clients),
                                          .accepted = atomic_load(&p->accepted),
                                          .stale = atomic_load(&p->stale),
                                          .refused = atomic_load(&p->refused),
                                          .durable = atomic_load(&p->shown_durable)};
        ret->here += each.here;
        ret->clients += each.clients;
        ret->accepted += each.accepted;
        ret->stale += each.stale;
        ret->refused += each.refused;
        if (ret_each && i < room)
            ret_each[i] = each;
    }
}
