/* SPDX-License-Identifier: Apache-2.0 */
/* coordinator_state.c: a coordinator's state as bytes, and back.
 *
 * Saved when a step has been decided: then nothing of the next step has been counted, and whatever arrives later and is
 * lost with the process is sent again by its client. The epoch's key is part of it, so that a verdict that was never
 * committed is computed again with the same noise; the run key is not: the epochs after this one are the new process's
 * (coordinator_epoch.c). When nothing more is asked, key, threshold and sums in it are zeros. */
#include <sodium.h>

#include "algo/announcement_pack.h"
#include "algo/machine.h"
#include "algo/pack.h"

#define MAGIC 0x33436361u /* "acC3"; "acC2" had 32-bit blocks, epochs and serials */

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
    c->ops->pack(p, c);
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

/* What the fields must be to one another; the plan's part in it was checked as they were read. */
static bool is_sound(caucus_coordinator *c) {
    const caucus_plan *plan = c->plan;
    if (c->answered > plan->settings.clients)
        return false;
    /* There is a key as long as something can be drawn from it: zeros would be noise that everybody knows. */
    if ((sodium_is_zero(c->key.bytes, sizeof c->key.bytes) == 1) != (c->now.ask == CAUCUS_ASK_NOTHING))
        return false;
    return c->ops->sound(c);
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

uint64_t caucus_coordinator_answered(const caucus_coordinator *c, uint32_t client) {
    if (c->step_done)
        return c->step_done[client - 1];
    const bool cost = c->cost_next && c->cost_next[client - 1] > 1, sums = c->sums_next && c->sums_next[client - 1] > 1;
    return cost || sums;
}
