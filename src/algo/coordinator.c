/* SPDX-License-Identifier: Apache-2.0 */
/* coordinator.c: what every coordinator machine does: announce, count each report once, decide a step. */
#include "algo/coordinator.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "algo/coordinator_state.h"
#include "algo/look/look.h"
#include "algo/machine.h"
#include "algo/wipe.h"
#include "num/vector.h"
#include "plan/pace/pace.h"

caucus_status caucus_coordinator_hand_over(caucus_coordinator *c, caucus_status status, caucus_coordinator **ret) {
    if (status != CAUCUS_OK) {
        caucus_coordinator_free(c);
        return status;
    }
    if (c->now.ask == CAUCUS_ASK_NOTHING)
        caucus_coordinator_forget(c);
    *ret = c;
    return CAUCUS_OK;
}

caucus_status caucus_coordinator_new(const caucus_plan *plan, const caucus_key *key, caucus_coordinator **ret) {
    assert(plan && key && ret);
    caucus_coordinator *c = calloc(1, sizeof *c);
    if (!c)
        return CAUCUS_E_MEMORY;
    c->plan = plan;
    c->run_key = *key;
    caucus_key_epoch(&c->run_key, 0, &c->key);
    caucus_stream stream;
    caucus_coordinator_stream(c, &stream, CAUCUS_PURPOSE_INITIAL, 0, 0);
    c->now.expert = (uint32_t)caucus_uniform(&stream, plan->settings.experts);
    caucus_stream_wipe(&stream);
    c->ops = caucus_machine_ops_of(plan);
    size_t own = c->ops->own_bytes ? c->ops->own_bytes(plan) : 0;
    c->own = own > 0 ? calloc(1, own) : NULL;
    caucus_status status = own > 0 && !c->own ? CAUCUS_E_MEMORY : c->ops->new (c);
    if (status == CAUCUS_OK)
        caucus_coordinator_aim(c);
    return caucus_coordinator_hand_over(c, status, ret);
}

void caucus_coordinator_free(caucus_coordinator *c) {
    if (!c)
        return;
    caucus_coordinator_forget(c);
    free(c->own);
    free(c->cum);
    free(c->score);
    free(c->sum);
    free(c->past);
    free(c->stack);
    free(c->votes);
    free(c->votes_now);
    free(c->mean_num);
    free(c->mean_den);
    free(c->look);
    caucus_progress_free(c->cost_next);
    caucus_progress_free(c->sums_next);
    caucus_progress_free(c->step_done);
    caucus_wipe_free(c, sizeof *c);
}

const caucus_announcement *caucus_coordinator_announcement(const caucus_coordinator *c) {
    return &c->now;
}

uint64_t caucus_coordinator_selections(const caucus_coordinator *c) {
    return c->selections;
}

uint64_t caucus_coordinator_checks(const caucus_coordinator *c) {
    return c->checks;
}

uint32_t caucus_coordinator_waiting(const caucus_coordinator *c) {
    return c->now.ask == CAUCUS_ASK_NOTHING ? 0 : c->plan->settings.clients - c->answered;
}

void caucus_coordinator_announce(caucus_coordinator *c, caucus_ask ask, uint64_t block, uint32_t leaf) {
    c->now = (caucus_announcement){.serial = c->now.serial + 1,
                                   .expert = c->now.expert,
                                   .epoch = c->now.epoch,
                                   .ask = ask,
                                   .block = block,
                                   .leaf = leaf};
    c->answered = 0;
}

const caucus_progress *caucus_coordinator_asked(const caucus_coordinator *c) {
    return c->step_done ? c->step_done : c->now.ask == CAUCUS_ASK_COST ? c->cost_next : c->sums_next;
}

void caucus_coordinator_aim(caucus_coordinator *c) {
    if (c->now.ask == CAUCUS_ASK_NOTHING)
        return;
    if (c->step_done) {
        caucus_progress_ask(c->step_done, c->now.serial + 1);
        if (c->sums_next && caucus_pace_by_question(&c->plan->settings)) /* question p - 1 asks about phase p */
            caucus_progress_ask(c->sums_next, c->now.block);
        else if (c->sums_next) /* at own pace: an item after the other */
            caucus_progress_ask(c->sums_next, c->sums_next->common + 1);
    } else {
        caucus_progress_ask(c->now.ask == CAUCUS_ASK_COST ? c->cost_next : c->sums_next, c->now.block + 1);
    }
}

#define FEW 16u /* who has answered is in step, unless it is fewer than one in so many */

void caucus_coordinator_close_step(caucus_coordinator *c, bool follow) {
    caucus_progress *const all[] = {c->cost_next, c->sums_next, c->step_done};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i])
            caucus_progress_close(all[i], follow);
}

static void close_step(caucus_coordinator *c) {
    caucus_coordinator_close_step(c, (uint64_t)c->answered * FEW >= c->plan->settings.clients);
}

void caucus_coordinator_show(caucus_coordinator *c) {
    caucus_progress *const all[] = {c->cost_next, c->sums_next, c->step_done};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i])
            caucus_progress_show(all[i]);
}

void caucus_coordinator_stop(caucus_coordinator *c) {
    close_step(c);
    caucus_coordinator_announce(c, CAUCUS_ASK_NOTHING, c->now.block, CAUCUS_LEAF_STOPPED);
    caucus_coordinator_forget(c);
}

caucus_coordinator_tally caucus_coordinator_tally_of(const caucus_coordinator *c) {
    return (caucus_coordinator_tally){c->selections, c->checks, c->since_serial, c->since_block};
}

caucus_status caucus_coordinator_new_stopped(const caucus_plan *plan, const caucus_key *key,
                                             const caucus_announcement *last, const caucus_coordinator_tally *tally,
                                             caucus_coordinator **ret) {
    caucus_coordinator *c = NULL;
    if (!caucus_announcement_stops(last) || last->expert >= plan->settings.experts ||
        tally->since_serial > last->serial || tally->since_block > last->block)
        return CAUCUS_E_FORMAT;
    caucus_status status = caucus_coordinator_new(plan, key, &c);
    if (status != CAUCUS_OK)
        return status;
    caucus_coordinator_stop(c);
    c->now = *last;
    c->selections = tally->selections;
    c->checks = tally->checks;
    c->since_serial = tally->since_serial;
    c->since_block = tally->since_block;
    *ret = c;
    return CAUCUS_OK;
}

static inline caucus_status count(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    if (r->client < 1 || r->client > c->plan->settings.clients || !r->value)
        return CAUCUS_E_RANGE;
    return c->ops->count(c, p, r);
}

caucus_status caucus_coordinator_count(caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    assert(!p->begun || p->serial == c->now.serial); /* merged before the last step was decided */
    caucus_status status = count(c, p, r);
    p->begun |= status == CAUCUS_OK;
    p->serial = c->now.serial;
    return status;
}

caucus_status caucus_coordinator_receive(caucus_coordinator *c, const caucus_report *r) {
    caucus_partial own = {.sum = c->cum ? c->cum : c->sum, .votes = c->votes_now};
    caucus_status status = count(c, &own, r);
    caucus_coordinator_take_numbers(c, &own);
    return status;
}

caucus_status caucus_coordinator_decide(caucus_coordinator *c) {
    if (c->now.ask == CAUCUS_ASK_NOTHING)
        return CAUCUS_E_ORDER;
    const uint32_t before = c->now.expert;
    close_step(c);
    c->ops->decide(c);
    if (c->now.expert != before) {
        c->since_serial = c->now.serial;
        c->since_block = c->now.block;
    }
    caucus_coordinator_aim(c);
    if (c->now.ask == CAUCUS_ASK_NOTHING)
        caucus_coordinator_forget(c);
    return CAUCUS_OK;
}

caucus_status caucus_coordinator_pass(caucus_coordinator *c) {
    const size_t d = c->plan->settings.experts;
    if (c->now.ask == CAUCUS_ASK_NOTHING || !caucus_pace_by_question(&c->plan->settings))
        return CAUCUS_E_ORDER;
    close_step(c);
    memset(c->sum, 0, d * sizeof *c->sum);
    if (c->votes_now)
        memset(c->votes_now, 0, d * sizeof *c->votes_now);
    if (c->look)
        c->look->unseen = 0;
    caucus_phase_finish(c);
    caucus_coordinator_aim(c);
    if (c->now.ask == CAUCUS_ASK_NOTHING)
        caucus_coordinator_forget(c);
    return CAUCUS_OK;
}

bool caucus_block_asks(const caucus_plan *plan, const caucus_announcement *a) {
    const caucus_settings *s = &plan->settings;
    return a->block >= 1 && a->block <= (s->rounds - 1) / s->interval &&
           (a->ask == CAUCUS_ASK_SUMS || (a->ask == CAUCUS_ASK_COST && caucus_machine_ops_of(plan)->costs));
}

caucus_status caucus_coordinator_check_sums(const caucus_coordinator *c, const caucus_report *r) {
    if (r->kind != CAUCUS_ASK_SUMS)
        return CAUCUS_E_RANGE;
    const uint64_t next = caucus_progress_get(c->sums_next, r->client - 1);
    if (r->block < next)
        return CAUCUS_E_DUPLICATE;
    /* Who was away in a run without an end has nothing to say about what it missed. */
    const bool follows = caucus_plan_is_endless(c->plan) ? r->first >= next && r->first <= r->block : r->first == next;
    return !follows || c->now.ask == CAUCUS_ASK_NOTHING || r->block > c->now.block ? CAUCUS_E_ORDER : CAUCUS_OK;
}

caucus_status caucus_coordinator_count_sums(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    const uint32_t d = c->plan->settings.experts;
    caucus_status status = r->count == d ? caucus_coordinator_check_sums(c, r) : CAUCUS_E_RANGE;
    if (status != CAUCUS_OK)
        return status;
    caucus_vector_add_clamped_i64(p->sum, r->value, d, 0, caucus_coordinator_most(c, r->first, r->block));
    p->filled = true;
    p->answered += caucus_coordinator_note(c, r);
    return CAUCUS_OK;
}
