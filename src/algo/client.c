/* SPDX-License-Identifier: Apache-2.0 */
/* client.c: what every client machine does: count rounds, hear announcements, know when a report is due.
 *
 * A report becomes due when the rounds it speaks of have all been observed. It is made once; asking again
 * gives the same bytes until the next announcement is heard. */
#include "algo/client.h"

#include <assert.h>
#include <sodium.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "algo/block_round.h"
#include "algo/borrowed_rows.h"
#include "algo/machine.h"
#include "algo/schedule.h"
#include "algo/slot/slot.h"
#include "algo/wipe.h"
#include "num/hand_over.h"

/* Clients of blocks (svt, hedge) talk after every round: what they do then is inline here (block_round.h). All others
 * are called through their table. */
#define CALL(c, operation, ...)                                                                                        \
    ((c)->ops == &caucus_block_client ? caucus_block_##operation(__VA_ARGS__) : (c)->ops->operation(__VA_ARGS__))

static size_t own_bytes(const caucus_plan *plan) {
    const caucus_client_ops *ops = caucus_machine_ops_of(plan)->client;
    return ops->own_bytes ? ops->own_bytes(plan) : 0;
}

caucus_status caucus_client_new(const caucus_plan *plan, uint32_t index, const caucus_key *key, caucus_client **ret) {
    return caucus_client_new_shared(plan, index, key, NULL, ret);
}

caucus_status caucus_client_new_shared(const caucus_plan *plan, uint32_t index, const caucus_key *key,
                                       const caucus_client *first, caucus_client **ret) {
    assert(plan && key && ret && (!first || (first->plan == plan && !first->started)));
    if (index < 1 || index > plan->settings.clients)
        return CAUCUS_E_RANGE;
    caucus_client *c = calloc(1, sizeof *c);
    if (!c)
        return CAUCUS_E_MEMORY;
    c->plan = plan;
    c->index = index;
    c->key = *key;
    c->grid = (caucus_grid){.lo = plan->settings.lo, .hi = plan->settings.hi, .steps = plan->grid};
    const caucus_machine_ops *machine = caucus_machine_ops_of(plan);
    c->ops = machine->client;
    c->costs = machine->costs;
    size_t own = own_bytes(plan);
    c->own = own > 0 ? calloc(1, own) : NULL;
    caucus_status status = own > 0 && !c->own ? CAUCUS_E_MEMORY : CAUCUS_OK;
    if (status == CAUCUS_OK && c->ops->new)
        status = c->ops->new (c, first);
    return CAUCUS_HAND_OVER(status, ret, c, caucus_client_free(c));
}

size_t caucus_client_shared_bytes(const caucus_plan *plan) {
    const size_t block = 16; /* what malloc adds to each */
    const caucus_client_ops *ops = caucus_machine_ops_of(plan)->client;
    size_t rows = ops->rows ? ops->rows(plan) : 0;
    return sizeof(caucus_client) + own_bytes(plan) + rows * plan->settings.experts * sizeof(int64_t) + 3 * block;
}

void caucus_client_free(caucus_client *c) {
    if (!c)
        return;
    if (c->ops->free)
        c->ops->free(c);
    caucus_wipe_free(c->own, c->own ? own_bytes(c->plan) : 0);
    caucus_wipe_free(c, sizeof *c);
}

void caucus_clients_free(caucus_client **client, uint32_t count) {
    for (uint32_t i = count; client != NULL && i > 0; i--) /* the first keeps what they share: it is freed last */
        caucus_client_free(client[i - 1]);
    free(client);
}

void caucus_client_set_gradient(caucus_client *c, caucus_gradient gradient, void *user) {
    c->gradient = gradient;
    c->gradient_user = user;
}

static inline uint64_t ready_round(const caucus_client *c) {
    const caucus_settings *s = &c->plan->settings;
    if (c->ops == &caucus_slot_client) /* it is never kept waiting */
        return caucus_slot_over(c) ? c->round : UINT64_MAX;
    switch (c->heard.ask) {
    case CAUCUS_ASK_NOTHING:
        return caucus_announcement_stops(&c->heard) ? c->round : s->rounds;
    case CAUCUS_ASK_COST:
    case CAUCUS_ASK_SUMS:
        return caucus_block_end(s, c->heard.block);
    default: /* stoch: phase p learns from phase p - 1 */
        return caucus_phase_first(c->plan, c->heard.block) - 1;
    }
}

void caucus_client_set_ready(caucus_client *c) {
    c->ready = c->started ? ready_round(c) : 0;
}

bool caucus_client_stopped(const caucus_client *c) {
    return c->started && caucus_announcement_stops(&c->heard);
}

uint64_t caucus_client_rounds_left(const caucus_client *c) {
    return c->ready > c->round ? c->ready - c->round : 0;
}

uint64_t caucus_client_round(const caucus_client *c) {
    return c->round;
}

uint32_t caucus_client_expert(const caucus_client *c) {
    return c->expert;
}

int64_t caucus_client_cost(const caucus_client *c) {
    return c->cost;
}

void caucus_client_clips(const caucus_client *c, uint64_t *ret_low, uint64_t *ret_high, uint64_t *ret_nan) {
    assert(c->borrowed_rounds == 0);
    *ret_low = c->clips.low;
    *ret_high = c->clips.high;
    *ret_nan = c->clips.nan;
}

/* Does this plan ever ask for this, in this order? A coordinator that asks twice for one noisy message would otherwise
 * collect fresh noise, or the same noise on other data (docs/PRIVACY.md, statements 18 and 25): blocks and
 * phases only move forward, and "nothing more" is the last word. */
static bool may_ask(const caucus_client *c, const caucus_announcement *a) {
    if (a->expert >= c->plan->settings.experts || (c->started && c->heard.ask == CAUCUS_ASK_NOTHING))
        return false;
    if (a->ask == CAUCUS_ASK_NOTHING)
        return true;
    return CALL(c, may_ask, c, a);
}

/* A shortlist names different experts of this plan. */
static bool list_is_sound(const caucus_client *c, const caucus_announcement *a) {
    for (uint32_t i = 0; i < a->listed; i++) {
        if (a->list[i] >= c->plan->settings.experts)
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (a->list[i] == a->list[j])
                return false;
    }
    return true;
}

/* The run is ended before its time: whatever was asked, and whatever was missed, is wanted no more. What a family
 * keeps of the rounds it has seen is left as it is, and goes with the client. */
static caucus_status hear_stop(caucus_client *c, const caucus_announcement *a) {
    if (caucus_client_stopped(c) || a->expert >= c->plan->settings.experts || a->listed > 0)
        return CAUCUS_E_FORMAT;
    caucus_client_return_rows(c);
    c->heard = *a;
    c->started = true;
    c->made = false;
    caucus_client_set_ready(c);
    return CAUCUS_OK;
}

/* A run without an end keeps no history: who was away goes on from the announcement in force. Rounds that were missed
 * are passed over, and what was observed of a block or phase that is over is forgotten where it cannot be used. */
static caucus_status hear_jump(caucus_client *c, const caucus_announcement *a) {
    const bool forward = !c->started || (c->heard.ask != CAUCUS_ASK_NOTHING && a->block > c->heard.block);
    if (a->expert >= c->plan->settings.experts || a->listed > CAUCUS_SHORTLIST || !forward || !list_is_sound(c, a) ||
        a->ask == CAUCUS_ASK_NOTHING || !c->ops->may_jump(c, a))
        return CAUCUS_E_FORMAT;
    const caucus_asked before = {.ask = c->heard.ask, .block = c->heard.block, .leaf = c->heard.leaf};
    const bool made = c->made;
    c->heard = *a;
    c->made = c->missed = false;
    c->ops->jump(c, c->started ? &before : NULL, made);
    c->started = true;
    caucus_client_set_ready(c);
    return CAUCUS_OK;
}

caucus_status caucus_client_hear(caucus_client *c, const caucus_announcement *a) {
    uint64_t expected = c->started ? c->heard.serial + 1 : 0;
    if (a->serial < expected)
        return CAUCUS_E_DUPLICATE;
    if (caucus_announcement_stops(a))
        return hear_stop(c, a);
    if (c->ops == &caucus_slot_client)
        return caucus_slot_hear(c, a);
    if (a->serial > expected && caucus_plan_is_endless(c->plan))
        return hear_jump(c, a);
    if (a->serial > expected || caucus_client_rounds_left(c) > 0)
        return CAUCUS_E_ORDER;
    if (a->listed > CAUCUS_SHORTLIST || !may_ask(c, a) || !list_is_sound(c, a))
        return CAUCUS_E_FORMAT;
    /* A report that nobody took is made all the same: what was asked has been used up. */
    if (c->started && !c->made && !c->missed)
        (void)caucus_client_report(c);
    caucus_asked before = {.ask = c->heard.ask, .block = c->heard.block, .leaf = c->heard.leaf};
    memcpy(&c->heard, a, offsetof(caucus_announcement, list));
    if (a->listed > 0)
        memcpy(c->heard.list, a->list, a->listed * sizeof a->list[0]);
    c->made = c->missed = false;
    CALL(c, hear, c, c->started ? &before : NULL);
    c->started = true;
    caucus_client_set_ready(c);
    return CAUCUS_OK;
}

void caucus_rows_add(caucus_client *c, int64_t *acc, caucus_rows rows, uint64_t rounds) {
    if (rows.f32)
        caucus_grid_add_rows_f32(&c->grid, acc, NULL, rows.f32, c->plan->settings.experts, rounds, &c->clips);
    else
        caucus_grid_add_rows_f64(&c->grid, acc, rows.f64, c->plan->settings.experts, rounds, &c->clips);
}

int32_t caucus_rows_loss(caucus_client *c, caucus_rows rows, size_t cell) {
    return caucus_grid_loss(&c->grid, rows.f32 ? (double)rows.f32[cell] : rows.f64[cell], &c->clips);
}

static caucus_status observe(caucus_client *c, caucus_rows rows, uint64_t rounds) {
    if (rounds > caucus_client_rounds_left(c))
        return CAUCUS_E_ORDER;
    if (rounds == 0)
        return CAUCUS_OK;
    c->ops->observe(c, rows, rounds);
    return CAUCUS_OK;
}

caucus_status caucus_client_observe(caucus_client *c, const double *loss, uint64_t rounds) {
    return observe(c, (caucus_rows){.f64 = loss}, rounds);
}

caucus_status caucus_client_observe_f32(caucus_client *c, const float *loss, uint64_t rounds) {
    return observe(c, (caucus_rows){.f32 = loss}, rounds);
}

caucus_status caucus_client_observe_whole(caucus_client *c, const double *loss, uint64_t rounds) {
    return observe(c, (caucus_rows){.f64 = loss, .whole = true}, rounds);
}

caucus_status caucus_client_borrow_f32(caucus_client *c, const float *loss, uint64_t rounds) {
    if (rounds > caucus_client_rounds_left(c))
        return CAUCUS_E_ORDER;
    if (c->ops->borrow && CALL(c, borrow, c, loss, rounds))
        return CAUCUS_OK;
    return observe(c, (caucus_rows){.f32 = loss, .whole = true}, rounds);
}

const caucus_report *caucus_client_report(caucus_client *c) {
    if (c->ops == &caucus_slot_client)
        return caucus_slot_report(c);
    if (c->made)
        return &c->report;
    if (!c->started || c->missed || c->heard.ask == CAUCUS_ASK_NOTHING || caucus_client_rounds_left(c) > 0)
        return NULL;
    if (c->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX && !c->gradient)
        return NULL; /* nothing to make it from */
    c->report.client = c->index;
    c->report.kind = c->heard.ask;
    c->report.first = c->report.block = c->heard.block;
    c->report.epoch_or_leaf = c->heard.leaf;
    c->report.count = 1;
    c->report.value = &c->scalar;
    CALL(c, report, c);
    c->made = true;
    return &c->report;
}
