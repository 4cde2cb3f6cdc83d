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

#include "algo/borrowed_rows.h"
#include "algo/schedule.h"
#include "algo/wipe.h"

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
    c->stoch = caucus_plan_is_stoch(plan);
    caucus_status status = c->stoch ? caucus_phase_client_new(c, first) : caucus_block_client_new(c);
    if (status != CAUCUS_OK) {
        caucus_client_free(c);
        return status;
    }
    *ret = c;
    return CAUCUS_OK;
}

size_t caucus_client_shared_bytes(const caucus_plan *plan) {
    const size_t block = 16; /* what malloc adds to each */
    size_t rows = caucus_plan_is_stoch(plan)
                      ? caucus_phase_root_rows(plan) + caucus_phase_stack_rows(plan) + caucus_phase_value_rows(plan)
                      : caucus_block_rows(plan);
    return sizeof(caucus_client) + rows * plan->settings.experts * sizeof(int64_t) + 3 * block;
}

void caucus_client_free(caucus_client *c) {
    if (!c)
        return;
    size_t row = c->plan->settings.experts * sizeof(int64_t);
    caucus_wipe_free(c->sums, row);
    caucus_wipe_free(c->block_sums, row);
    if (c->stoch)
        caucus_phase_client_free(c);
    sodium_memzero(c, sizeof *c);
    free(c);
}

void caucus_client_set_gradient(caucus_client *c, caucus_gradient gradient, void *user) {
    c->gradient = gradient;
    c->gradient_user = user;
}

static uint64_t ready_round(const caucus_client *c) {
    const caucus_settings *s = &c->plan->settings;
    switch (c->heard.ask) {
    case CAUCUS_ASK_NOTHING:
        return s->rounds;
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

/* Blocks: the cost of each in turn, or the vector of each in turn; svt may ask for the vector of a block right after
 * its cost. */
static bool may_ask_block(const caucus_client *c, const caucus_announcement *a) {
    const caucus_plan *plan = c->plan;
    bool svt = caucus_plan_is_svt(plan);
    uint64_t next = c->started ? c->heard.block + 1 : 1;
    if (a->block > (svt ? plan->svt.blocks : plan->hedge.blocks))
        return false;
    if (a->ask == CAUCUS_ASK_COST)
        return svt && a->block == next;
    return a->ask == CAUCUS_ASK_SUMS &&
           (a->block == next || (c->started && c->heard.ask == CAUCUS_ASK_COST && a->block == c->heard.block));
}

/* Phases: leaf by leaf, or one vote and after it one shortlist; then the next phase. */
static bool may_ask_phase(const caucus_client *c, const caucus_announcement *a) {
    const caucus_stoch_plan *plan = &c->plan->stoch;
    const caucus_announcement *h = &c->heard;
    bool votes = c->plan->settings.trust == CAUCUS_TRUST_NOBODY &&
                 (plan->message == CAUCUS_MESSAGE_VOTE || plan->message == CAUCUS_MESSAGE_SHORTLIST);
    bool next = a->block == (c->started ? h->block + 1 : 2) && a->step == 0;
    bool same = c->started && a->block == h->block;
    if (a->block < 2 || a->block > plan->phases)
        return false;
    switch (a->ask) {
    case CAUCUS_ASK_LEAF:
        return !votes && (next || (same && h->ask == CAUCUS_ASK_LEAF && a->step == h->step + 1 &&
                                   a->step < caucus_tree_leaves(plan->phase[a->block - 2].trees)));
    case CAUCUS_ASK_VOTE:
        return votes && next;
    case CAUCUS_ASK_SHORTLIST:
        return plan->message == CAUCUS_MESSAGE_SHORTLIST && votes && same && h->ask == CAUCUS_ASK_VOTE &&
               a->step == 0 && a->listed >= 1;
    default:
        return false;
    }
}

/* Does this plan ever ask for this, in this order? A coordinator that asks twice for one noisy message would otherwise
 * collect fresh noise, or the same noise on other data (docs/PRIVACY.md, "Reports on a network that fails"): blocks and
 * phases only move forward, and "nothing more" is the last word. */
static bool may_ask(const caucus_client *c, const caucus_announcement *a) {
    if (a->expert >= c->plan->settings.experts || (c->started && c->heard.ask == CAUCUS_ASK_NOTHING))
        return false;
    if (a->ask == CAUCUS_ASK_NOTHING)
        return true;
    return c->stoch ? may_ask_phase(c, a) : may_ask_block(c, a);
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

caucus_status caucus_client_hear(caucus_client *c, const caucus_announcement *a) {
    uint64_t expected = c->started ? c->heard.serial + 1 : 0;
    if (a->serial < expected)
        return CAUCUS_E_DUPLICATE;
    if (a->serial > expected || caucus_client_rounds_left(c) > 0)
        return CAUCUS_E_ORDER;
    if (a->listed > CAUCUS_SHORTLIST || !may_ask(c, a) || !list_is_sound(c, a))
        return CAUCUS_E_FORMAT;
    /* A report that nobody took is made all the same: what was asked has been used up. */
    if (c->started && !c->made)
        (void)caucus_client_report(c);
    caucus_asked before = {.ask = c->heard.ask, .block = c->heard.block, .step = c->heard.step};
    memcpy(&c->heard, a, offsetof(caucus_announcement, list));
    if (a->listed > 0)
        memcpy(c->heard.list, a->list, a->listed * sizeof a->list[0]);
    c->made = false;
    if (c->stoch)
        caucus_phase_client_heard(c, c->started ? &before : NULL);
    else
        caucus_block_client_heard(c, c->started ? &before : NULL);
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
    if (c->stoch)
        caucus_phase_client_observe(c, rows, rounds);
    else
        caucus_block_client_observe(c, rows, rounds);
    return CAUCUS_OK;
}

caucus_status caucus_client_observe(caucus_client *c, const double *loss, uint64_t rounds) {
    return observe(c, (caucus_rows){.f64 = loss}, rounds);
}

caucus_status caucus_client_observe_f32(caucus_client *c, const float *loss, uint64_t rounds) {
    return observe(c, (caucus_rows){.f32 = loss}, rounds);
}

caucus_status caucus_client_borrow_f32(caucus_client *c, const float *loss, uint64_t rounds) {
    if (rounds > caucus_client_rounds_left(c))
        return CAUCUS_E_ORDER;
    if (!c->stoch && caucus_block_client_borrow(c, loss, rounds))
        return CAUCUS_OK;
    return caucus_client_observe_f32(c, loss, rounds);
}

const caucus_report *caucus_client_report(caucus_client *c) {
    if (c->made)
        return &c->report;
    if (!c->started || c->heard.ask == CAUCUS_ASK_NOTHING || caucus_client_rounds_left(c) > 0)
        return NULL;
    if (c->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX && !c->gradient)
        return NULL; /* nothing to make it from */
    c->report.client = c->index;
    c->report.kind = c->heard.ask;
    c->report.first = c->report.block = c->heard.block;
    c->report.step = c->heard.step;
    c->report.count = 1;
    c->report.value = &c->scalar;
    if (c->stoch)
        caucus_phase_client_make(c);
    else
        caucus_block_client_make(c);
    c->made = true;
    return &c->report;
}
