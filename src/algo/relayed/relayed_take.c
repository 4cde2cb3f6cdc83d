/* SPDX-License-Identifier: Apache-2.0 */
/* relayed_take.c: merge a partial that a relay has made: whole or not at all. See relayed.h; docs/PRIVACY.md,
 * statement 27.
 *
 * First the items of the list, in their order, are checked and noted, each as its report would be: an item can follow
 * another of the same client. What they overwrite is kept. Then the clients in groups are checked; they come after the
 * list, and nobody is in them twice, so nothing has to be noted for that. If everything passes and the sums are within
 * what the items can reach, the groups are noted and the sums added. Otherwise what was overwritten is put back.
 *
 * Sums: each of a client's values is clamped to its range before it is added, so a sum is within the ranges of its
 * items added up. The plan bounds those of everything that m clients can ever send by 2^62, and that is what keeps a
 * coordinator's sums from overflowing: one that is out of range would be the end of that proof. */
#include <stdlib.h>
#include <string.h>

#include "algo/relayed/relayed_taking.h"
#include "algo/wipe.h"
#include "num/little_endian.h"
#include "plan/pace/pace.h"

uint64_t caucus_coordinator_first_in_step(const caucus_coordinator *c) {
    const bool own_pace = c->step_done && c->sums_next;
    if (own_pace && caucus_pace_by_question(&c->plan->settings)) /* what answers the question in hand, whoever it is */
        return c->now.block - 1;
    return c->sums_next && (c->now.ask == CAUCUS_ASK_SUMS || own_pace) ? c->sums_next->common : c->now.block;
}

caucus_report caucus_coordinator_item_asked(const caucus_coordinator *c, uint64_t first) {
    const bool own_pace = c->step_done && c->sums_next;
    return (caucus_report){.kind = c->now.ask,
                           .first = first,
                           .block = own_pace ? first : c->now.block,
                           .epoch_or_leaf = own_pace       ? 0
                                            : c->step_done ? c->now.leaf
                                                           : c->now.epoch};
}

/* Add what `times` such items can reach. */
static void add_reach(caucus_taking *t, const caucus_report *item, uint64_t times) {
    const caucus_coordinator *c = t->c;
    const caucus_settings *s = &c->plan->settings;
    caucus_taking_reach *r = &t->reach;
    int64_t lo = 0, hi = 0;
    if (item->kind == CAUCUS_ASK_COST || item->kind == CAUCUS_ASK_SUMS) {
        hi = caucus_coordinator_most(c, item->first, item->block);
        const bool costs = item->kind == CAUCUS_ASK_COST ||
                           (s->protocol == CAUCUS_PROTOCOL_PAPER && c->ops->costs && item->first == item->block);
        if (costs && item->epoch_or_leaf == c->now.epoch)
            r->q += (caucus_i128)hi * (caucus_i128)times;
    } else if (item->kind != CAUCUS_ASK_VOTE) {
        caucus_phase_range(c, &lo, &hi);
    }
    if (c->look)
        r->q += (caucus_i128)times; /* devices that have seen nothing */
    if (item->kind == CAUCUS_ASK_VOTE) {
        r->votes += times;
    } else if (item->kind != CAUCUS_ASK_COST) {
        r->vectors += times;
        r->lo += (caucus_i128)lo * (caucus_i128)times;
        r->hi += (caucus_i128)hi * (caucus_i128)times;
    }
}

static bool is_here(const caucus_taking *t, uint32_t client) {
    return !t->from->placed || t->from->placed[client - 1] == t->from->relay;
}

static void refuse(caucus_taking *t, uint32_t client, caucus_status why) {
    if (why == CAUCUS_E_RANGE) { /* a relay would not have counted it */
        t->status = CAUCUS_E_FORMAT;
        return;
    }
    if (t->status == CAUCUS_OK)
        t->status = CAUCUS_E_CONFLICT;
    if (t->from->refused)
        t->from->refused(t->from->user, client, why);
}

static caucus_status check(const caucus_taking *t, const caucus_report *item) {
    return is_here(t, item->client) ? t->c->ops->check(t->c, item) : CAUCUS_E_PATH;
}

static void keep(caucus_taking *t, uint32_t client) {
    caucus_progress *array[CAUCUS_CLIENT_ARRAYS];
    const size_t arrays = caucus_coordinator_arrays(t->c, array), i = client - 1;
    for (size_t k = 0; k < arrays; k++)
        t->undo[t->undos++] = (caucus_taking_before){.of = array[k],
                                                     .client = client - 1,
                                                     .form = array[k]->form[i],
                                                     .value = array[k]->value[i],
                                                     .shown = array[k]->shown[i]};
}

static void put_back(caucus_taking *t) {
    while (t->undos > 0) {
        const caucus_taking_before *b = &t->undo[--t->undos];
        b->of->form[b->client] = b->form;
        b->of->value[b->client] = b->value;
        b->of->shown[b->client] = b->shown;
    }
}

static void note_answered(caucus_taking *t, uint32_t client) {
    t->answered++;
    if (t->from->answered)
        t->from->answered(t->from->user, client);
}

static void take_items(caucus_taking *t, const caucus_relayed *p) {
    for (uint32_t i = 0; i < p->items && t->status != CAUCUS_E_FORMAT; i++) {
        const caucus_report item = caucus_relayed_item(p, i);
        const caucus_status status = check(t, &item);
        if (status != CAUCUS_OK) {
            refuse(t, item.client, status);
            continue;
        }
        keep(t, item.client);
        if (caucus_coordinator_note(t->c, &item))
            note_answered(t, item.client);
        add_reach(t, &item, 1);
    }
}

/* Of clients whose numbers are the common ones the answer is the same for all of them. */
static bool is_in_step(const caucus_coordinator *c, uint32_t client) {
    const size_t i = client - 1;
    return (!c->cost_next || c->cost_next->form[i] == CAUCUS_PROGRESS_IN) &&
           (!c->sums_next || c->sums_next->form[i] == CAUCUS_PROGRESS_IN) &&
           (!c->step_done || c->step_done->form[i] == CAUCUS_PROGRESS_IN);
}

static bool check_grouped(void *user, uint32_t client) {
    caucus_taking *t = user;
    caucus_status status = is_here(t, client) ? CAUCUS_OK : CAUCUS_E_PATH;
    t->asked.client = client;
    if (status == CAUCUS_OK && !is_in_step(t->c, client)) {
        status = t->c->ops->check(t->c, &t->asked);
    } else if (status == CAUCUS_OK) {
        if (!t->in_step_known)
            t->in_step = t->c->ops->check(t->c, &t->asked);
        t->in_step_known = true;
        status = t->in_step;
    }
    if (status != CAUCUS_OK)
        refuse(t, client, status);
    t->grouped++;
    return t->status != CAUCUS_E_FORMAT;
}

static bool note_grouped(void *user, uint32_t client) {
    caucus_taking *t = user;
    t->asked.client = client;
    if (caucus_coordinator_note(t->c, &t->asked))
        note_answered(t, client);
    return true;
}

/* What an item of a group moves, and to what is asked for? */
static void aim(caucus_taking *t) {
    caucus_coordinator *c = t->c;
    t->moves[0] = c->step_done ? c->step_done : t->asked.kind == CAUCUS_ASK_COST ? c->cost_next : c->sums_next;
    t->moves[1] = c->step_done ? c->sums_next : NULL;
    const uint64_t to[2] = {c->step_done ? c->now.serial + 1 : t->asked.block + 1, t->asked.block + 1};
    t->moves_all = true;
    for (size_t k = 0; k < 2 && t->moves[k]; k++)
        t->moves_all = t->moves_all && t->moves[k]->asked && t->moves[k]->moved == to[k];
}

/* Are the numbers such as these items can have? */
static bool within_reach(const caucus_taking *t, const caucus_relayed *p) {
    const caucus_coordinator *c = t->c;
    const uint32_t d = c->plan->settings.experts, listed = c->now.ask == CAUCUS_ASK_SHORTLIST ? c->now.listed : d;
    const caucus_taking_reach *r = &t->reach;
    const uint8_t values = r->votes > 0     ? CAUCUS_RELAYED_VOTES
                           : r->vectors > 0 ? CAUCUS_RELAYED_SUMS
                                            : CAUCUS_RELAYED_NOTHING;
    if (p->q < 0 || p->q > r->q || p->values != values || (r->votes > 0 && r->vectors > 0))
        return false;
    uint64_t votes = 0;
    for (uint32_t y = 0; y < d; y++) {
        if (values == CAUCUS_RELAYED_VOTES)
            votes += caucus_relayed_votes(p, y);
        if (values != CAUCUS_RELAYED_SUMS)
            continue;
        const int64_t sum = caucus_relayed_sum(p, y);
        if (y >= listed ? sum != 0 : sum < r->lo || sum > r->hi)
            return false;
    }
    return votes == r->votes;
}

static void add_values(caucus_coordinator *c, const caucus_relayed *p, uint32_t answered) {
    const uint32_t d = c->plan->settings.experts;
    int64_t *sum = c->cum ? c->cum : c->sum;
    for (uint32_t y = 0; p->values == CAUCUS_RELAYED_SUMS && y < d; y++)
        sum[y] += caucus_relayed_sum(p, y);
    for (uint32_t y = 0; p->values == CAUCUS_RELAYED_VOTES && y < d; y++)
        c->votes_now[y] += caucus_relayed_votes(p, y);
    /* Costs of an expert that nothing can be decided about any more (svt, closed) are nobody's. */
    const bool wanted = !c->ops->costs || c->threshold.open;
    const caucus_partial numbers = {
        .q = wanted ? p->q : 0, .epoch = c->now.epoch, .expert = c->now.expert, .answered = answered};
    caucus_coordinator_take_numbers(c, &numbers);
}

static caucus_status try_all(caucus_taking *t, const caucus_relayed *p) {
    take_items(t, p);
    if (t->status != CAUCUS_E_FORMAT)
        caucus_taking_check(t, p, check_grouped);
    if (t->status == CAUCUS_OK && t->grouped > 0)
        add_reach(t, &t->asked, t->grouped);
    if (t->status == CAUCUS_OK && !within_reach(t, p))
        t->status = CAUCUS_E_FORMAT;
    return t->status;
}

caucus_status caucus_relayed_take(caucus_coordinator *c, const caucus_relayed *p, const caucus_relayed_from *from,
                                  uint32_t *ret_answered) {
    if (p->serial != c->now.serial || c->now.ask == CAUCUS_ASK_NOTHING)
        return CAUCUS_E_ORDER;
    caucus_taking t = {.c = c, .from = from, .asked = caucus_coordinator_item_asked(c, p->first), .status = CAUCUS_OK};
    const size_t room = (size_t)p->items * CAUCUS_CLIENT_ARRAYS + 1;
    t.undo = calloc(room, sizeof *t.undo);
    if (!t.undo)
        return CAUCUS_E_MEMORY;
    const caucus_status status = try_all(&t, p);
    if (status == CAUCUS_OK) {
        aim(&t);
        caucus_taking_note(&t, p, note_grouped);
        add_values(c, p, t.answered);
        *ret_answered = t.answered;
    } else {
        put_back(&t);
    }
    caucus_wipe_free(t.undo, room * sizeof *t.undo);
    return status;
}
