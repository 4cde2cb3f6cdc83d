/* SPDX-License-Identifier: Apache-2.0 */
/* phase_coordinator.c: Fed-DP-OPE-Stoch. Learn from one phase, play in the next, each twice as long up
 * to the longest.
 *
 * Each leaf of a phase's trees is one step: the clients' estimates are added up and one expert is selected; the
 * clients mix the selected experts with the Frank-Wolfe weights. Linear losses have one leaf and no mixture.
 * Who adds the noise is the plan's `trust`: the coordinator in its selection, or each client in its messages. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <caucus/select.h>

#include "algo/look/look.h"
#include "algo/machine.h"
#include "algo/schedule.h"
#include "num/vector.h"
#include "plan/stoch/evaluate.h"

static bool by_votes(const caucus_coordinator *c) {
    caucus_message message = c->plan->stoch.message;
    return c->plan->settings.trust == CAUCUS_TRUST_NOBODY &&
           (message == CAUCUS_MESSAGE_VOTE || message == CAUCUS_MESSAGE_SHORTLIST);
}

static void ask_phase(caucus_coordinator *c, uint64_t phase) {
    bool more = phase <= c->plan->stoch.phases;
    caucus_ask ask = !more ? CAUCUS_ASK_NOTHING : by_votes(c) ? CAUCUS_ASK_VOTE : CAUCUS_ASK_LEAF;
    caucus_coordinator_announce(c, ask, more ? phase : c->plan->stoch.phases, 0);
    if (more)
        caucus_leaf_first(&c->leaf, caucus_coordinator_phase(c)->trees, caucus_coordinator_phase(c)->batch);
}

caucus_status caucus_phase_coordinator_new(caucus_coordinator *c) {
    const caucus_stoch_plan *plan = &c->plan->stoch;
    size_t d = c->plan->settings.experts;
    c->step_done = caucus_progress_new(c->plan->settings.clients, 0);
    c->sum = calloc(d, sizeof *c->sum);
    c->score = calloc(d, sizeof *c->score);
    c->past = calloc((plan->past ? plan->past : 1) * d, sizeof *c->past);
    if (!c->step_done || !c->sum || !c->score || !c->past)
        return CAUCUS_E_MEMORY;
    if (c->plan->settings.trust == CAUCUS_TRUST_NOBODY) {
        caucus_status status = caucus_phase_messages_new(c);
        if (status != CAUCUS_OK)
            return status;
    }
    ask_phase(c, 2);
    c->now.serial = 0;
    return caucus_look_new(c);
}

/* Public range of one coordinate of a leaf report without noise: gradients at the root, and clamped differences below
 * it. */
static void leaf_range(const caucus_coordinator *c, int64_t *ret_lo, int64_t *ret_hi) {
    const caucus_stoch_phase *phase = caucus_coordinator_phase(c);
    int64_t records = caucus_settings_means(&c->plan->settings) ? 1 : (int64_t)phase->batch;
    int64_t lo = c->plan->stoch.gradient_lo * records, hi = c->plan->stoch.gradient_hi * records;
    if (c->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX)
        for (uint32_t h = 1; h <= c->leaf.tree; h++) { /* 2^h * (b >> h) * C_h per depth of the path */
            int64_t step = (int64_t)(phase->batch >> h) * ((int64_t)1 << h) * phase->clamp[h];
            lo -= step;
            hi += step;
        }
    *ret_lo = lo;
    *ret_hi = hi;
}

void caucus_phase_range(const caucus_coordinator *c, int64_t *ret_lo, int64_t *ret_hi) {
    if (c->plan->settings.trust == CAUCUS_TRUST_COORDINATOR) {
        leaf_range(c, ret_lo, ret_hi);
        return;
    }
    *ret_hi =
        INT64_MAX / 2 / (int64_t)c->plan->settings.clients; /* a noisy value has no other range: sums must not wrap */
    *ret_lo = -*ret_hi;
}

static caucus_status add_values(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    uint32_t d = c->plan->settings.experts;
    int64_t lo, hi;
    if (r->kind == CAUCUS_ASK_VOTE) {
        if (r->count != 1 || r->value[0] < 0 || r->value[0] >= (int64_t)d)
            return CAUCUS_E_RANGE;
        p->votes[r->value[0]]++;
        return CAUCUS_OK;
    }
    if (r->count != (r->kind == CAUCUS_ASK_SHORTLIST ? c->now.listed : d))
        return CAUCUS_E_RANGE;
    caucus_phase_range(c, &lo, &hi);
    caucus_vector_add_clamped_i64(p->sum, r->value, r->count, lo, hi);
    return CAUCUS_OK;
}

static caucus_status phase_check(const caucus_coordinator *c, const caucus_report *r) {
    if (c->now.ask == CAUCUS_ASK_NOTHING || r->kind != c->now.ask || r->block != c->now.block ||
        r->epoch_or_leaf != c->now.leaf)
        return CAUCUS_E_ORDER; /* a message about a step that is decided is never carried over */
    if (caucus_progress_get(c->step_done, r->client - 1) == c->now.serial + 1)
        return CAUCUS_E_DUPLICATE;
    return CAUCUS_OK;
}

caucus_status caucus_phase_count_checked(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    caucus_status status = add_values(c, p, r);
    if (status == CAUCUS_OK) {
        p->filled = true;
        p->answered += caucus_coordinator_note(c, r);
    }
    return status;
}

static caucus_status phase_count(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    caucus_status status = phase_check(c, r);
    return status == CAUCUS_OK ? caucus_phase_count_checked(c, p, r) : status;
}

/* The score of a phase: its own sums, and with past_phases those of earlier phases at their weights: docs/PRIVACY.md,
 * statement 31. */
static const int64_t *weighted_score(caucus_coordinator *c) {
    const caucus_stoch_plan *plan = &c->plan->stoch;
    size_t d = c->plan->settings.experts;
    if (plan->past <= 1)
        return c->sum;
    memmove(c->past + d, c->past, (plan->past - 1) * d * sizeof *c->past);
    memcpy(c->past, c->sum, d * sizeof *c->past);
    for (size_t y = 0; y < d; y++) {
        int64_t score = 0; /* below 2^62: checked when the plan was made */
        for (uint32_t a = 0; a < plan->past; a++)
            score += (int64_t)plan->past_weights[a] * c->past[a * d + y];
        c->score[y] = score;
    }
    return c->score;
}

uint32_t caucus_phase_draw(const caucus_coordinator *c, const int64_t *score, uint32_t count, caucus_rational rate) {
    caucus_stream stream;
    uint32_t chosen;
    caucus_coordinator_stream(c, &stream, CAUCUS_PURPOSE_SELECT, c->now.block, c->now.leaf);
    if (c->plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL)
        chosen = caucus_select_min(&stream, score, count);
    else if (c->plan->stoch.select == CAUCUS_SELECT_NOISY_MIN)
        chosen = caucus_select_noisy_min(&stream, score, count, rate);
    else if (c->plan->stoch.select == CAUCUS_SELECT_EXPONENTIAL)
        chosen = caucus_select_exponential(&stream, score, count, rate);
    else
        chosen = caucus_select_flip(&stream, score, count, rate);
    caucus_stream_wipe(&stream);
    return chosen;
}

static uint32_t choose(caucus_coordinator *c) {
    const caucus_rational rate = caucus_coordinator_phase(c)->select_rate[c->leaf.tree];
    return caucus_phase_draw(c, weighted_score(c), c->plan->settings.experts, rate);
}

void caucus_phase_finish(caucus_coordinator *c) {
    c->now.epoch = 0;
    ask_phase(c, c->now.block + 1);
}

void caucus_phase_decide(caucus_coordinator *c) {
    if (c->now.ask == CAUCUS_ASK_VOTE) {
        caucus_phase_count_votes(c);
    } else if (c->now.ask == CAUCUS_ASK_SHORTLIST) {
        caucus_phase_decide_shortlist(c);
    } else {
        if (!caucus_evaluates_some(&c->plan->settings)) /* else where the evaluations are counted */
            caucus_look_take(c, c->answered * caucus_phase_records(c));
        c->now.expert = c->plan->settings.trust == CAUCUS_TRUST_NOBODY ? caucus_phase_noisy_winner(c)
                        : caucus_evaluates_some(&c->plan->settings)    ? caucus_phase_choose_some(c)
                                                                       : choose(c);
        caucus_coordinator_selected(c);
        c->now.epoch++;
        if (caucus_leaf_next(&c->leaf))
            caucus_coordinator_announce(c, CAUCUS_ASK_LEAF, c->now.block, c->leaf.number);
        else
            caucus_phase_finish(c);
    }
    memset(c->sum, 0, c->plan->settings.experts * sizeof *c->sum);
}

const caucus_machine_ops caucus_machine_stoch = {
    .client = &caucus_phase_client,
    .own_bytes = caucus_phase_own_bytes,
    .new = caucus_phase_coordinator_new,
    .check = phase_check,
    .count = phase_count,
    .decide = caucus_phase_decide,
    .asks = caucus_phase_asks,
    .pack = caucus_phase_coordinator_pack,
    .sound = caucus_phase_coordinator_sound,
    .record = caucus_phase_record,
};
