/* SPDX-License-Identifier: Apache-2.0 */
/* follower.c: a machine that hears announcements and counts, for a relay. See relayed.h.
 *
 * It is a coordinator's machine without its secrets: what counting reads of one is public (the announcement in force,
 * the plan) or the client's own (what comes next from it). Whether a check can still fire, which svt's costs depend on,
 * is not known here: they are always added up, and the coordinator leaves them out if nothing can come of them. */
#include "algo/coordinator_state.h"
#include "algo/machine.h"
#include "algo/relayed/relayed.h"

static bool can_be(const caucus_coordinator *c, const caucus_announcement *a) {
    const uint32_t d = c->plan->settings.experts;
    if (a->expert >= d || a->listed > CAUCUS_SHORTLIST || a->listed > d)
        return false;
    for (uint32_t i = 0; i < a->listed; i++)
        if (a->list[i] >= d)
            return false;
    return a->ask == CAUCUS_ASK_NOTHING || c->ops->asks(c->plan, a);
}

/* From now on this is in force. */
static void install(caucus_coordinator *c, const caucus_announcement *a) {
    c->now = *a;
    c->answered = 0;
    if (c->ops->costs)
        c->threshold = (caucus_threshold){.open = true, .epoch = a->epoch, .expert = a->expert};
    if (c->step_done && a->ask != CAUCUS_ASK_NOTHING) {
        const caucus_stoch_phase *phase = caucus_coordinator_phase(c);
        caucus_leaf_at(&c->leaf, phase->trees, phase->batch, a->leaf);
    }
    caucus_coordinator_aim(c);
}

caucus_status caucus_follower_new(const caucus_plan *plan, const caucus_announcement *now, uint64_t cost_next,
                                  uint64_t sums_next, caucus_coordinator **ret) {
    caucus_coordinator *c = NULL;
    const caucus_key none = {.seeded = true}; /* what is drawn with it is thrown away below */
    caucus_status status = caucus_coordinator_new(plan, &none, &c);
    if (status != CAUCUS_OK)
        return status;
    if (!can_be(c, now)) {
        caucus_coordinator_free(c);
        return CAUCUS_E_FORMAT;
    }
    caucus_coordinator_forget(c);
    if (c->cost_next)
        caucus_progress_restore(c->cost_next, cost_next);
    if (c->sums_next)
        caucus_progress_restore(c->sums_next, sums_next);
    if (c->step_done)
        caucus_progress_restore(c->step_done, now->serial); /* it has answered the one before */
    install(c, now);
    *ret = c;
    return CAUCUS_OK;
}

caucus_status caucus_follower_hear(caucus_coordinator *c, const caucus_announcement *next) {
    const uint64_t block = c->now.block;
    if (next->serial != c->now.serial + 1)
        return CAUCUS_E_ORDER;
    if (!can_be(c, next))
        return CAUCUS_E_FORMAT;
    /* However few of all clients are here: it is theirs to be in step, and who is elsewhere is placed when it comes. */
    caucus_coordinator_close_step(c, true);
    if (!c->step_done && next->block > block && caucus_cycle_ends(&c->plan->settings, block)) {
        caucus_progress_reset(c->sums_next, block + 1);
        if (c->cost_next)
            caucus_progress_reset(c->cost_next, block + 1);
    }
    install(c, next);
    return CAUCUS_OK;
}

void caucus_follower_place(caucus_coordinator *c, uint32_t client, uint64_t cost_next, uint64_t sums_next,
                           uint64_t answered) {
    if (c->cost_next)
        caucus_progress_restore_one(c->cost_next, client - 1, cost_next);
    if (c->sums_next)
        caucus_progress_restore_one(c->sums_next, client - 1, sums_next);
    if (c->step_done)
        caucus_progress_restore_one(c->step_done, client - 1, answered);
}

_Static_assert(CAUCUS_FOLLOWER_ARRAYS == CAUCUS_CLIENT_ARRAYS, "all that belongs to a client");

void caucus_follower_remember(const caucus_coordinator *c, uint32_t client, caucus_follower_mark *ret) {
    caucus_progress *array[CAUCUS_CLIENT_ARRAYS];
    const size_t arrays = caucus_coordinator_arrays(c, array), i = client - 1;
    *ret = (caucus_follower_mark){0};
    for (size_t k = 0; k < arrays; k++) {
        ret->form[k] = array[k]->form[i];
        ret->value[k] = array[k]->value[i];
        ret->shown[k] = array[k]->shown[i];
    }
}

void caucus_follower_undo(caucus_coordinator *c, uint32_t client, const caucus_follower_mark *mark) {
    caucus_progress *array[CAUCUS_CLIENT_ARRAYS];
    const size_t arrays = caucus_coordinator_arrays(c, array), i = client - 1;
    for (size_t k = 0; k < arrays; k++) {
        array[k]->form[i] = mark->form[k];
        array[k]->value[i] = mark->value[k];
        array[k]->shown[i] = mark->shown[k];
    }
}

void caucus_follower_common(const caucus_coordinator *c, uint64_t *ret_cost_next, uint64_t *ret_sums_next) {
    *ret_cost_next = c->cost_next ? c->cost_next->common : 0;
    *ret_sums_next = c->sums_next ? c->sums_next->common : 0;
}
