/* SPDX-License-Identifier: Apache-2.0 */
/* relay_place.c: places: what loops ask the coordinator for, and what becomes of it. See relay.h. */
#include "net/relay/relay_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/fail.h"
#include "store/clock.h"

#define BATCH 1000u                         /* in a message: far below its limit */
#define ASK_AGAIN_NS (UINT64_C(2000000000)) /* for a place, if nothing is heard of it */

/* Room for one more in a list. Returns: its place; NULL without memory. */
#define GROW(list)                                                                                                     \
    ((list)->count < (list)->room || grow((void **)&(list)->at, &(list)->room, sizeof *(list)->at)                     \
         ? &(list)->at[(list)->count++]                                                                                \
         : NULL)

static bool grow(void **at, uint32_t *room, size_t each) {
    const uint32_t more = *room ? 2 * *room : 64;
    void *grown = realloc(*at, more * each);
    if (!grown)
        return false;
    *at = grown;
    *room = more;
    return true;
}

/* ---- for loops ---- */

caucus_status caucus_relay_loop_new(caucus_loop *loop, caucus_error *ret_error) {
    struct caucus_relay_loop *own = calloc(1, sizeof *own);
    if (!own || caucus_gather_new(loop->server->machine, &own->gather) != CAUCUS_OK) {
        free(own);
        return caucus_fail_memory(ret_error, "");
    }
    caucus_kept_init(&own->kept);
    loop->relayed = own;
    return CAUCUS_OK;
}

void caucus_relay_loop_free(caucus_loop *loop) {
    struct caucus_relay_loop *own = loop->relayed;
    if (!own)
        return;
    caucus_gather_free(own->gather);
    caucus_kept_free(&own->kept, &loop->server->relay->room);
    free(own->answers.at);
    free(own->outs.at);
    free(own);
    loop->relayed = NULL;
}

void caucus_relay_shown(const caucus_connection *c, uint64_t *ret_cost_next, uint64_t *ret_sums_next) {
    const caucus_relay_answer *a = &c->relayed->answer;
    if (atomic_load(&c->loop->server->committed) > a->committed)
        return; /* what was counted elsewhere before it came here is durable by now, and the machine knows of it */
    *ret_cost_next = a->cost_shown;
    *ret_sums_next = a->sums_shown;
}

/* Ask for a place, with a ticket of its own each time: the answer to an earlier one, if it comes all the same, is about
 * a session that is over with this one. Returns: false without memory. */
static bool ask_for(caucus_loop *loop, struct caucus_relay_client *own) {
    caucus_relay *r = loop->server->relay;
    pthread_mutex_lock(&r->lock);
    struct caucus_relay_asked *ask = GROW(&r->asks);
    if (ask) {
        own->ticket = (atomic_fetch_add(&r->tickets, 1) + 1) * CAUCUS_LOOPS_MAX + loop->number;
        *ask = (struct caucus_relay_asked){.ticket = own->ticket, .heard = own->heard, .client = own->client};
        memcpy(ask->serial, own->serial, sizeof ask->serial);
    }
    pthread_mutex_unlock(&r->lock);
    own->asked_ns = caucus_clock_ns();
    caucus_line_wake(r->line);
    return ask != NULL;
}

void caucus_relay_ask(caucus_connection *c, uint32_t client, uint64_t heard, const char *serial) {
    struct caucus_relay_client *own = calloc(1, sizeof *own);
    if (own) {
        own->client = client;
        own->heard = heard;
        (void)snprintf(own->serial, sizeof own->serial, "%s", serial);
    }
    if (!own || !ask_for(c->loop, own)) {
        free(own);
        caucus_output_refuse(c, CAUCUS_REFUSAL_LATER, "out of memory: come again later");
        return;
    }
    c->relayed = own;
    c->loop->relayed->waiting++;
}

static void say_gone(caucus_relay *r, uint32_t client, uint64_t session, bool goodbye) {
    pthread_mutex_lock(&r->lock);
    struct caucus_relay_gone *gone = GROW(&r->lefts);
    if (gone)
        *gone = (struct caucus_relay_gone){.client = client, .session = session, .goodbye = goodbye};
    pthread_mutex_unlock(&r->lock);
    caucus_line_wake(r->line);
}

void caucus_relay_left(caucus_connection *c) {
    struct caucus_relay_client *own = c->relayed;
    if (!own)
        return;
    if (own->ticket != 0)
        c->loop->relayed->waiting--;
    if (own->placed && own->answer.code == 0)
        say_gone(c->loop->server->relay, own->client, own->answer.session, c->said_goodbye);
    free(own);
    c->relayed = NULL;
}

static int by_ticket(const void *a, const void *b) {
    const uint64_t one = ((const caucus_relay_answer *)a)->ticket, two = ((const caucus_relay_answer *)b)->ticket;
    return (one > two) - (one < two);
}

/* The place is this connection's, so that no other one counts for the client. What is kept of it here was counted on
 * top of what the coordinator has of it. */
void caucus_relay_placed(caucus_connection *c) {
    const struct caucus_relay_client *own = c->relayed;
    caucus_server *s = c->loop->server;
    pthread_mutex_lock(&c->loop->lock);
    if (atomic_load(&s->relay->pending[own->client - 1]) == 0)
        caucus_follower_place(s->machine, own->client, own->answer.cost_next, own->answer.sums_next,
                              own->answer.answered);
    pthread_mutex_unlock(&c->loop->lock);
}

/* Who has an answer, and has heard no more than was heard here, is let in or turned away. */
static void admit(caucus_connection *c) {
    struct caucus_relay_client *own = c->relayed;
    caucus_server *s = c->loop->server;
    if (!own->placed || c->dead || c->leaving)
        return;
    if (own->answer.code == 0 && own->heard > (atomic_load(&s->started) ? atomic_load(&s->committed) : 0))
        return; /* the announcement is on its way */
    own->ticket = 0;
    c->loop->relayed->waiting--;
    if (own->answer.code != 0) {
        caucus_output_refuse(c, (caucus_refusal_code)own->answer.code, own->answer.text);
        return;
    }
    const caucus_taken taken = {
        .cost_next = own->answer.cost_shown, .sums_next = own->answer.sums_shown, .answered = own->answer.answered};
    caucus_input_welcome(c, own->client, own->heard, own->serial, &taken);
}

static void take_answers(caucus_loop *loop, caucus_relay_answers *answers) {
    qsort(answers->at, answers->count, sizeof *answers->at, by_ticket);
    for (uint32_t i = 0; i < loop->connections; i++) {
        struct caucus_relay_client *own = loop->connection[i]->relayed;
        if (!own || own->ticket == 0 || own->placed)
            continue;
        const caucus_relay_answer key = {.ticket = own->ticket};
        caucus_relay_answer *found = bsearch(&key, answers->at, answers->count, sizeof key, by_ticket);
        if (found) {
            own->answer = *found;
            own->placed = true;
            found->client = 0; /* it has been claimed */
        }
    }
    for (uint32_t i = 0; i < answers->count; i++) /* whose connection has ended meanwhile */
        if (answers->at[i].client != 0 && answers->at[i].code == 0)
            say_gone(loop->server->relay, answers->at[i].client, answers->at[i].session, false);
}

static void take_outs(caucus_loop *loop, const caucus_relay_outs *outs) {
    for (uint32_t i = 0; i < loop->connections; i++) {
        caucus_connection *c = loop->connection[i];
        for (uint32_t k = 0; k < outs->count && !c->dead && !c->leaving && c->client != 0 && c->relayed; k++) {
            const caucus_relay_out *out = &outs->at[k];
            if (out->client != c->client || (out->session != 0 && out->session != c->relayed->answer.session))
                continue;
            if (out->code != 0)
                caucus_output_refuse(c, (caucus_refusal_code)out->code, out->text);
            else
                caucus_output_goodbye(c, "come again, and send again what is not counted");
        }
    }
}

void caucus_relay_turn(caucus_loop *loop) {
    struct caucus_relay_loop *own = loop->relayed;
    caucus_relay *r = loop->server->relay;
    if (atomic_exchange(&own->news, false)) {
        pthread_mutex_lock(&r->lock);
        caucus_relay_answers answers = own->answers;
        caucus_relay_outs outs = own->outs;
        own->answers = (caucus_relay_answers){0};
        own->outs = (caucus_relay_outs){0};
        pthread_mutex_unlock(&r->lock);
        if (answers.count > 0)
            take_answers(loop, &answers);
        if (outs.count > 0)
            take_outs(loop, &outs);
        free(answers.at);
        free(outs.at);
    }
    const uint64_t now = own->waiting > 0 ? caucus_clock_ns() : 0;
    for (uint32_t i = 0; own->waiting > 0 && i < loop->connections; i++) {
        caucus_connection *c = loop->connection[i];
        if (!c->relayed || c->relayed->ticket == 0)
            continue;
        if (!c->relayed->placed && !c->dead && !c->leaving && now - c->relayed->asked_ns > ASK_AGAIN_NS)
            (void)ask_for(loop, c->relayed); /* the question was lost, or the answer; without memory: a second later */
        else
            admit(c);
    }
}

/* ---- for the thread ---- */

void caucus_relay_wake_loops(caucus_relay *r) {
    caucus_server_wake(r->server);
}

/* Begin to say those of `count` from `from` on. Returns: the end of what one saying holds. */
static uint32_t begin_batch(caucus_relay *r, caucus_saying_kind kind, uint32_t from, uint32_t count) {
    const uint32_t to = count - from < BATCH ? count : from + BATCH;
    caucus_saying_begin(&r->say, kind);
    caucus_saying_put(&r->say, to - from, 4);
    return to;
}

void caucus_relay_say_places(caucus_relay *r) {
    pthread_mutex_lock(&r->lock);
    caucus_relay_asks asks = r->asks;
    caucus_relay_lefts lefts = r->lefts;
    r->asks = (caucus_relay_asks){0};
    r->lefts = (caucus_relay_lefts){0};
    pthread_mutex_unlock(&r->lock);
    for (uint32_t from = 0; from < lefts.count; from += BATCH) {
        const uint32_t to = begin_batch(r, CAUCUS_SAY_LEFT, from, lefts.count);
        for (uint32_t i = from; i < to; i++) {
            caucus_saying_put(&r->say, lefts.at[i].client, 4);
            caucus_saying_put(&r->say, lefts.at[i].session, 8);
            caucus_saying_put(&r->say, lefts.at[i].goodbye, 1);
        }
        caucus_relay_say(r);
    }
    for (uint32_t from = 0; from < asks.count; from += BATCH) {
        const uint32_t to = begin_batch(r, CAUCUS_SAY_PLACE, from, asks.count);
        for (uint32_t i = from; i < to; i++) {
            caucus_saying_put(&r->say, asks.at[i].ticket, 8);
            caucus_saying_put(&r->say, asks.at[i].client, 4);
            caucus_saying_put(&r->say, asks.at[i].heard, 8);
            caucus_saying_put_text(&r->say, asks.at[i].serial);
        }
        caucus_relay_say(r);
    }
    free(asks.at);
    free(lefts.at);
}

static void give_to(caucus_relay *r, uint32_t loop, const caucus_relay_answer *answer, const caucus_relay_out *out) {
    struct caucus_relay_loop *own = r->server->loop[loop]->relayed;
    pthread_mutex_lock(&r->lock);
    if (answer) {
        caucus_relay_answer *to = GROW(&own->answers);
        if (to)
            *to = *answer;
    }
    if (out) {
        caucus_relay_out *to = GROW(&own->outs);
        if (to)
            *to = *out;
    }
    pthread_mutex_unlock(&r->lock);
    atomic_store(&own->news, true);
}

void caucus_relay_hear_placed(caucus_relay *r, caucus_hearing *message) {
    const uint32_t count = (uint32_t)caucus_hearing_get(message, 4);
    for (uint32_t i = 0; i < count && !message->failed; i++) {
        caucus_relay_answer a = {.ticket = caucus_hearing_get(message, 8)};
        a.client = (uint32_t)caucus_hearing_get(message, 4);
        a.code = (uint8_t)caucus_hearing_get(message, 1);
        a.session = caucus_hearing_get(message, 8);
        a.cost_next = caucus_hearing_get(message, 8);
        a.sums_next = caucus_hearing_get(message, 8);
        a.answered = caucus_hearing_get(message, 8);
        a.cost_shown = caucus_hearing_get(message, 8);
        a.sums_shown = caucus_hearing_get(message, 8);
        a.committed = caucus_hearing_get(message, 8);
        caucus_hearing_text(message, a.text, sizeof a.text);
        const uint32_t loop = (uint32_t)(a.ticket % CAUCUS_LOOPS_MAX);
        if (!message->failed && loop < r->server->loops && a.client >= 1 && a.client <= r->server->clients)
            give_to(r, loop, &a, NULL);
    }
    caucus_relay_wake_loops(r);
}

static void put_out(caucus_relay *r, const caucus_relay_out *out) {
    for (uint32_t i = 0; i < r->server->loops; i++)
        give_to(r, i, NULL, out);
}

void caucus_relay_hear_out(caucus_relay *r, caucus_hearing *message) {
    caucus_relay_out out = {.client = (uint32_t)caucus_hearing_get(message, 4)};
    out.session = caucus_hearing_get(message, 8);
    out.code = (uint8_t)caucus_hearing_get(message, 1);
    caucus_hearing_text(message, out.text, sizeof out.text);
    if (message->failed)
        return;
    put_out(r, &out);
    caucus_relay_wake_loops(r);
}

void caucus_relay_hang_up(caucus_relay *r, uint32_t client) {
    atomic_fetch_add(&r->hung_up, 1);
    put_out(r, &(caucus_relay_out){.client = client});
}
