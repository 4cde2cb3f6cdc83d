/* SPDX-License-Identifier: Apache-2.0 */
/* phase_client_state.c: stoch's clients: what they may be asked, and their own part of a saved state. */
#include "algo/machine.h"
#include "algo/schedule.h"

/* Phases: leaf by leaf, or one vote and after it one shortlist; then the next phase. */
bool caucus_phase_may_ask(const caucus_client *c, const caucus_announcement *a) {
    const caucus_stoch_plan *plan = &c->plan->stoch;
    const caucus_announcement *h = &c->heard;
    bool votes = c->plan->settings.trust == CAUCUS_TRUST_NOBODY &&
                 (plan->message == CAUCUS_MESSAGE_VOTE || plan->message == CAUCUS_MESSAGE_SHORTLIST);
    bool next = a->block == (c->started ? h->block + 1 : 2) && a->leaf == 0;
    bool same = c->started && a->block == h->block;
    if (a->block < 2 || a->block > caucus_stoch_last(c->plan))
        return false;
    switch (a->ask) {
    case CAUCUS_ASK_LEAF:
        return !votes && (next || (same && h->ask == CAUCUS_ASK_LEAF && a->leaf == h->leaf + 1 &&
                                   a->leaf < caucus_tree_leaves(caucus_stoch_phase_of(c->plan, a->block)->trees)));
    case CAUCUS_ASK_VOTE:
        return votes && next;
    case CAUCUS_ASK_SHORTLIST:
        return plan->message == CAUCUS_MESSAGE_SHORTLIST && votes && same && h->ask == CAUCUS_ASK_VOTE &&
               a->leaf == 0 && a->listed >= 1;
    default:
        return false;
    }
}

/* Runs without an end have no trees: one question a phase, and perhaps a shortlist after it. */
bool caucus_phase_may_jump(const caucus_client *c, const caucus_announcement *a) {
    return caucus_machine_ops_of(c->plan)->asks(c->plan, a);
}

/* Places of the format that hold nothing: whatever is read there is dropped. */
static void pack_unused(caucus_pack *p, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t nothing = 0;
        caucus_pack_u64(p, &nothing);
    }
}

void caucus_phase_pack(caucus_pack *p, caucus_client *c) {
    size_t d = c->plan->settings.experts;
    caucus_common none = {0}, *w = c->common ? c->common : &none;
    caucus_pack_i64s(p, c->root, c->root ? caucus_phase_root_rows(c->plan) * d : 0);
    caucus_pack_i64s(p, caucus_phase_value(c), d);
    if (w->stack_x) { /* convex: one row for each depth */
        size_t rows = caucus_stoch_trees(c->plan) + 1, kept = caucus_phase_stack_rows(c->plan);
        caucus_pack_i64s(p, c->stack, kept * d);
        pack_unused(p, (rows - kept) * d);
        caucus_pack_u64s(p, w->stack_x, rows * d);
    }
    caucus_pack_u64s(p, w->stack_mass, CAUCUS_TREES_MAX + 1);
    caucus_pack_u64s(p, w->weights.count, d);
    caucus_pack_u32(p, &w->weights.steps);
    caucus_pack_u64(p, &c->phase);
    caucus_pack_bool(p, &c->mixed);
}

bool caucus_phase_sound(caucus_client *c) {
    const caucus_plan *plan = c->plan;
    size_t d = plan->settings.experts;
    if (!caucus_sums_fit(c->root, caucus_phase_root_rows(plan) * d) || !caucus_sums_fit(caucus_phase_value(c), d) ||
        !caucus_sums_fit(c->stack, caucus_phase_stack_rows(plan) * d) || !caucus_phase_counts_sound(c))
        return false;
    const caucus_weights *weights = c->walks ? &c->common->weights : NULL;
    uint64_t total = 0;
    for (uint32_t y = 0; weights && y < plan->settings.experts; y++)
        if (__builtin_add_overflow(total, weights->count[y], &total))
            return false;
    if (weights && (weights->steps > caucus_tree_leaves(CAUCUS_TREES_MAX) || total != caucus_weights_mass(weights)))
        return false;
    if (c->mixed && total == 0)
        return false;
    if (c->phase < 1 || c->phase > caucus_stoch_last(plan))
        return false;
    if (c->started && c->heard.ask != CAUCUS_ASK_NOTHING) { /* the leaf of the report made last */
        const caucus_stoch_phase *phase = caucus_stoch_phase_of(plan, c->heard.block);
        uint32_t behind = c->heard.ask == CAUCUS_ASK_LEAF && !c->made && c->heard.leaf > 0;
        caucus_leaf_at(&c->leaf, phase->trees, phase->batch, c->heard.leaf - behind);
    }
    return true;
}
