/* coordinator_state.c: a coordinator's state as bytes, and back.
 *
 * Saved when a step has been closed: then nothing of the next step has been counted, and whatever arrives later and is
 * lost with the process is sent again by its client. The epoch's key is part of it, so that a verdict that was never
 * committed is computed again with the same noise; the run key is not: the epochs after this one are the new process's
 * (coordinator_epoch.c). When nothing more is asked, key, threshold and sums in it are zeros. */
#include <sodium.h>

#include "algo/announcement_pack.h"
#include "algo/coordinator.h"
#include "algo/pack.h"
#include "algo/schedule.h"

#define MAGIC 0x33436361u /* "acC3"; "acC2" had 32-bit blocks, epochs and serials */

static void pack_threshold(caucus_pack *p, caucus_threshold *at) {
    caucus_pack_u32(p, &at->expert);
    caucus_pack_u64(p, &at->epoch);
    caucus_pack_bool(p, &at->open);
    caucus_pack_i64(p, &at->q);
    caucus_pack_i64(p, &at->theta);
    caucus_pack_u64(p, &at->checks);
}

/* A 128-bit sum as two words. */
static void pack_wide(caucus_pack *p, caucus_i128 *value) {
    uint64_t low = (uint64_t)*value, high = (uint64_t)((caucus_u128)*value >> 64);
    caucus_pack_u64(p, &low);
    caucus_pack_u64(p, &high);
    *value = (caucus_i128)(((caucus_u128)high << 64) | low);
}

static void pack_fields(caucus_pack *p, caucus_coordinator *c) {
    const caucus_plan *plan = c->plan;
    size_t m = plan->settings.clients, d = plan->settings.experts;
    caucus_pack_head(p, MAGIC, (uint32_t)m, (uint32_t)d);
    caucus_pack_announcement(p, plan, &c->now);
    caucus_pack_u32(p, &c->answered);
    caucus_pack_u64(p, &c->selections);
    caucus_pack_u64(p, &c->checks);
    caucus_pack_bytes(p, c->key.bytes, sizeof c->key.bytes);
    caucus_pack_bool(p, &c->key.seeded);
    pack_threshold(p, &c->at);
    caucus_pack_u64s(p, c->cost_next, m);
    caucus_pack_u64s(p, c->sums_next, m);
    caucus_pack_i64s(p, c->cum, d);
    caucus_pack_u64s(p, c->step_done, m);
    caucus_pack_i64s(p, c->sum, d);
    caucus_pack_i64s(p, c->past, (plan->stoch.past ? plan->stoch.past : 1) * d);
    caucus_pack_i64s(p, c->votes, d);
    caucus_pack_u32s(p, c->votes_now, d);
    for (size_t y = 0; c->mean_num && y < d; y++) {
        pack_wide(p, &c->mean_num[y]);
        pack_wide(p, &c->mean_den[y]);
    }
    caucus_pack_i64s(p, c->stack, caucus_coordinator_stack_rows(c) * d);
    caucus_pack_seal(p);
}

size_t caucus_coordinator_state_bytes(const caucus_coordinator *c) {
    caucus_pack p = {.mode = CAUCUS_PACK_MEASURE};
    caucus_coordinator copy = *c; /* measuring reads the arrays and changes nothing */
    pack_fields(&p, &copy);
    sodium_memzero(&copy, sizeof copy);
    return p.used;
}

caucus_status caucus_coordinator_save(const caucus_coordinator *c, uint8_t *ret, size_t ret_bytes) {
    caucus_pack p = {.mode = CAUCUS_PACK_WRITE, .to = ret, .size = ret_bytes};
    caucus_coordinator copy = *c;
    pack_fields(&p, &copy);
    sodium_memzero(&copy, sizeof copy);
    return p.failed ? CAUCUS_E_RANGE : CAUCUS_OK;
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

/* What the fields must be to one another; the plan's part in it was checked as they were read. */
static bool is_sound(caucus_coordinator *c) {
    const caucus_plan *plan = c->plan;
    if (c->answered > plan->settings.clients)
        return false;
    /* There is a key as long as something can be drawn from it: zeros would be noise that everybody knows. */
    if ((sodium_is_zero(c->key.bytes, sizeof c->key.bytes) == 1) != (c->now.ask == CAUCUS_ASK_NOTHING))
        return false;
    if (!sums_fit(c))
        return false;
    if (caucus_plan_is_stoch(plan)) {
        if (c->now.ask != CAUCUS_ASK_NOTHING) {
            const caucus_stoch_phase *phase = &plan->stoch.phase[c->now.block - 2];
            caucus_leaf_at(&c->leaf, phase->trees, phase->batch, c->now.step);
        }
        return !c->at.open;
    }
    if (caucus_plan_is_svt(plan) && c->selections > plan->svt.switches)
        return false;
    bool two_step = caucus_plan_is_svt(plan) && plan->settings.protocol == CAUCUS_PROTOCOL_TWO_STEP;
    if (two_step && c->now.ask == CAUCUS_ASK_SUMS && (c->at.open || c->selections == plan->svt.switches))
        return false; /* vectors are asked for when a check has fired, and only if a selection is left */
    if (two_step && c->now.ask == CAUCUS_ASK_COST && !c->at.open)
        return false;
    /* An open epoch is about the expert in force, and has a selection left to end with. */
    return !c->at.open || (caucus_plan_is_svt(plan) && c->at.expert == c->now.expert && c->at.epoch == c->selections &&
                           c->selections < plan->svt.switches);
}

caucus_status caucus_coordinator_restore(const caucus_plan *plan, const caucus_key *key, const uint8_t *state,
                                         size_t bytes, caucus_coordinator **ret) {
    caucus_pack p;
    if (!caucus_pack_init_read(&p, state, bytes))
        return CAUCUS_E_FORMAT;
    caucus_coordinator *c = NULL;
    caucus_status status = caucus_coordinator_new(plan, key, &c);
    if (status != CAUCUS_OK)
        return status;
    pack_fields(&p, c);
    if (p.failed || !is_sound(c))
        status = CAUCUS_E_FORMAT;
    else if (c->key.seeded != key->seeded)
        status =
            CAUCUS_E_CONFLICT; /* a private run must not go on with a seed, nor a seeded one as if it were private */
    if (status != CAUCUS_OK) {
        caucus_coordinator_free(c);
        return status;
    }
    if (c->now.ask == CAUCUS_ASK_NOTHING)
        caucus_coordinator_forget(c);
    *ret = c;
    return CAUCUS_OK;
}

void caucus_coordinator_counted(const caucus_coordinator *c, uint32_t client, uint64_t *ret_cost_next,
                                uint64_t *ret_sums_next, bool *ret_answered) {
    *ret_cost_next = c->cost_next ? c->cost_next[client - 1] : 0;
    *ret_sums_next = c->sums_next ? c->sums_next[client - 1] : 0;
    if (c->step_done)
        *ret_answered = c->step_done[client - 1] == c->now.serial + 1;
    else if (c->now.ask == CAUCUS_ASK_COST)
        *ret_answered = *ret_cost_next > c->now.block;
    else
        *ret_answered = *ret_sums_next > c->now.block;
}
