/* SPDX-License-Identifier: Apache-2.0 */
/* phase_coordinator_state.c: stoch's coordinator: what it can ask, its own part of a saved state, and its releases. */
#include "algo/look/look.h"
#include "algo/machine.h"

/* What follows indexes by the phase and the leaf. */
bool caucus_phase_asks(const caucus_plan *plan, const caucus_announcement *a) {
    bool votes = plan->settings.trust == CAUCUS_TRUST_NOBODY &&
                 (plan->stoch.message == CAUCUS_MESSAGE_VOTE || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST);
    if (a->block < 2 || a->block > caucus_stoch_last(plan))
        return false;
    if (a->ask == CAUCUS_ASK_LEAF)
        return !votes && a->leaf < caucus_tree_leaves(caucus_stoch_phase_of(plan, a->block)->trees);
    return votes && a->leaf == 0 && (a->ask == CAUCUS_ASK_VOTE || (a->ask == CAUCUS_ASK_SHORTLIST && a->listed >= 1));
}

/* A 128-bit sum as two words. */
static void pack_wide(caucus_pack *p, caucus_i128 *value) {
    uint64_t low = (uint64_t)*value, high = (uint64_t)((caucus_u128)*value >> 64);
    caucus_pack_u64(p, &low);
    caucus_pack_u64(p, &high);
    *value = (caucus_i128)(((caucus_u128)high << 64) | low);
}

void caucus_phase_coordinator_pack(caucus_pack *p, caucus_coordinator *c) {
    const caucus_plan *plan = c->plan;
    size_t d = plan->settings.experts;
    caucus_pack_progress(p, c->step_done);
    caucus_pack_i64s(p, c->sum, d);
    caucus_pack_i64s(p, c->past, (plan->stoch.past ? plan->stoch.past : 1) * d);
    caucus_pack_i64s(p, c->votes, d);
    caucus_pack_u32s(p, c->votes_now, d);
    for (size_t y = 0; c->mean_num && y < d; y++) {
        pack_wide(p, &c->mean_num[y]);
        pack_wide(p, &c->mean_den[y]);
    }
    caucus_pack_i64s(p, c->stack, caucus_coordinator_stack_rows(c) * d);
    caucus_phase_pack_some(p, c);
    caucus_look_pack(p, c);
}

static bool within(caucus_i128 value, caucus_i128 limit) {
    return value <= limit && value >= -limit;
}

/* Accumulated sums as large as a run can make them, so that what is computed from them cannot overflow: noisy sums are
 * below 2^63 each, their weights at most 2^12 and phases at most 31; weighted scores of past phases below 2^62. */
static bool sums_fit(const caucus_coordinator *c) {
    const caucus_stoch_plan *stoch = &c->plan->stoch;
    size_t d = c->plan->settings.experts;
    for (size_t y = 0; c->mean_den && y < d; y++)
        if (c->mean_den[y] < 0 || !within(c->mean_den[y], (caucus_i128)1 << 90) ||
            !within(c->mean_num[y], (caucus_i128)1 << 90))
            return false;
    caucus_i128 weights = 1;
    for (uint32_t a = 0; a < stoch->past; a++)
        weights += (caucus_i128)stoch->past_weights[a];
    for (size_t i = 0; c->past && i < stoch->past * d; i++)
        if (!within(c->past[i], ((caucus_i128)1 << 62) / weights))
            return false;
    return true;
}

bool caucus_phase_coordinator_sound(caucus_coordinator *c) {
    if (!sums_fit(c) || !caucus_phase_sound_some(c) || !caucus_look_sound(c))
        return false;
    if (c->now.ask != CAUCUS_ASK_NOTHING) {
        const caucus_stoch_phase *phase = caucus_coordinator_phase(c);
        caucus_leaf_at(&c->leaf, phase->trees, phase->batch, c->now.leaf);
    }
    return true;
}

/* Phases learn from different losses: the first to be learnt, phase 2, is charged the whole, later ones nothing
 * more. Unit client: they learn from the same ones, and the whole is what all of them cost together. */
caucus_status caucus_phase_record(caucus_releases *r, const caucus_announcement *before,
                                  const caucus_announcement *after, caucus_error *ret_error) {
    const caucus_guarantee *g = &r->plan->guarantee;
    caucus_status status = CAUCUS_OK;
    (void)after;
    if (r->plan->settings.longest_phase != 0)
        return caucus_releases_once(r, before->block, "phases", ret_error);
    while (status == CAUCUS_OK && r->taken + 2 <= before->block) {
        caucus_rational choices = {0, 1}, messages = {0, 1};
        if (r->taken == 0) {
            status = caucus_releases_whole(g->epsilon_choices, &choices, ret_error);
            if (status == CAUCUS_OK)
                status = caucus_releases_whole(g->epsilon_messages, &messages, ret_error);
        }
        if (status == CAUCUS_OK)
            status = caucus_ledger_release(r->ledger, r->run, r->taken + 2, "phase", choices, messages, ret_error);
        if (status == CAUCUS_OK)
            r->taken++;
    }
    return status;
}
