/* SPDX-License-Identifier: Apache-2.0 */
/* hedge_coordinator.c: Fed-Hedge (one shared draw per block) and leader (follow the leader, no privacy).
 *
 * After each block but the last the coordinator draws P(y) ~ exp(-rate*cum(y)), rate = e_H/(m*grid), on the sums over
 * all clients and all time. Each draw is (2 e_H/m)-bounded-range for one replaced loss: docs/PRIVACY.md, "Fed-Hedge".
 * Where the run renews itself the last block of a cycle is not drawn from: the expert in force is carried over, and
 * sums begin again at 0 (docs/PRIVACY.md, statement 16). */
#include <stdlib.h>

#include <caucus/select.h>

#include "algo/machine.h"

static void ask_next(caucus_coordinator *c, uint64_t block) {
    bool more = block + 1 < c->plan->hedge.blocks;
    caucus_coordinator_announce(c, more ? CAUCUS_ASK_SUMS : CAUCUS_ASK_NOTHING, more ? block + 1 : block, 0);
}

static caucus_status hedge_new(caucus_coordinator *c) {
    const uint32_t d = c->plan->settings.experts;
    c->sums_next = caucus_progress_new(c->plan->settings.clients, 1);
    c->cum = calloc(d, sizeof *c->cum);
    if (!c->sums_next || !c->cum)
        return CAUCUS_E_MEMORY;
    ask_next(c, 0);
    c->now.serial = 0;
    return CAUCUS_OK;
}

static void hedge_decide(caucus_coordinator *c) {
    uint32_t d = c->plan->settings.experts;
    uint64_t block = c->now.block;
    bool leader = caucus_algorithm_variant(c->plan->settings.algorithm)->reference;
    if (caucus_cycle_ends(&c->plan->settings, block)) {
        caucus_coordinator_renewed(c, block);
        ask_next(c, block);
        return;
    }
    caucus_stream stream;
    caucus_coordinator_stream(c, &stream, leader ? CAUCUS_PURPOSE_TIE : CAUCUS_PURPOSE_SELECT, 0, block);
    c->now.expert = leader ? caucus_select_min(&stream, c->cum, d)
                           : caucus_select_exponential(&stream, c->cum, d, c->plan->hedge.rate);
    caucus_stream_wipe(&stream);
    caucus_coordinator_selected(c);
    c->now.epoch = caucus_coordinator_epoch(c);
    ask_next(c, block);
}

static void hedge_pack(caucus_pack *p, caucus_coordinator *c) {
    caucus_pack_progress(p, c->sums_next);
    caucus_pack_i64s(p, c->cum, c->plan->settings.experts);
}

static bool hedge_sound(caucus_coordinator *c) {
    return c->selections < c->plan->hedge.blocks;
}

/* n equal draws: exactly, unless that needs more than 128 bits. */
static caucus_u128 hedge_spent(const caucus_plan *plan, uint64_t n, caucus_u128 *sum) {
    (void)sum;
    caucus_rational rate = plan->hedge.rate;
    caucus_u128 exact, each = (caucus_u128)(2 * (uint64_t)plan->grid) * rate.num;
    if (!__builtin_mul_overflow(each << 30, (caucus_u128)n, &exact))
        return exact / rate.den + (exact % rate.den != 0);
    return caucus_releases_steps(n * caucus_releases_amount(plan, 2, rate));
}

static uint64_t hedge_releases(const caucus_plan *plan) {
    return plan->hedge.blocks;
}

static caucus_status hedge_record(caucus_releases *r, const caucus_announcement *before,
                                  const caucus_announcement *after, caucus_error *ret_error) {
    (void)after;
    if (r->plan->settings.renew != 0)
        return caucus_releases_once(r, before->block, "cycles", ret_error);
    return caucus_releases_take(r, before->block, "draw", ret_error);
}

const caucus_machine_ops caucus_machine_hedge = {
    .client = &caucus_block_client,
    .new = hedge_new,
    .check = caucus_coordinator_check_sums,
    .count = caucus_coordinator_count_sums,
    .decide = hedge_decide,
    .asks = caucus_block_asks,
    .pack = hedge_pack,
    .sound = hedge_sound,
    .record = hedge_record,
    .spent = hedge_spent,
    .releases = hedge_releases,
};
