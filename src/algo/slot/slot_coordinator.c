/* SPDX-License-Identifier: Apache-2.0 */
/* slot_coordinator.c: stoch for clients at their own pace: a question is always open, and who has an item sends it.
 *
 * Of client i the item with number sums_next[i] is counted and no other, and one of them in a step: so an item is in at
 * most one decision, and a decision has at most one item of a device, late ones included (docs/PRIVACY.md, "At their
 * own pace"). sums_next is saved with the decision; until then nothing is acknowledged
 * (caucus_coordinator_counted). Everything else is stoch's: phase_coordinator.c.
 *
 * Unit client: an item has the number of the question that it answers, and that is counted only while it is open;
 * sums_next[i] is the question after the last one that client i has an item in. */
#include <stdlib.h>

#include "algo/look/look.h"
#include "algo/slot/slot.h"
#include "plan/pace/pace.h"

static caucus_status slot_new(caucus_coordinator *c) {
    c->sums_next = caucus_progress_new(c->plan->settings.clients, 1);
    return c->sums_next ? caucus_phase_coordinator_new(c) : CAUCUS_E_MEMORY;
}

static caucus_status slot_check(const caucus_coordinator *c, const caucus_report *r) {
    const uint64_t next = caucus_progress_get(c->sums_next, r->client - 1);
    if (c->now.ask == CAUCUS_ASK_NOTHING || r->kind != c->now.ask || r->first != r->block || r->epoch_or_leaf != 0)
        return CAUCUS_E_ORDER;
    const bool by_question = caucus_pace_by_question(&c->plan->settings);
    if (r->block < next)
        return CAUCUS_E_DUPLICATE;
    if (r->block > (by_question ? c->now.block - 1 : next) || (by_question && r->block < c->now.block - 1) ||
        caucus_progress_get(c->step_done, r->client - 1) == c->now.serial + 1)
        return CAUCUS_E_ORDER; /* not the next one, or one too many in this step */
    return CAUCUS_OK;
}

static caucus_status slot_count(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    caucus_status status = slot_check(c, r);
    if (status == CAUCUS_OK)
        status = caucus_phase_count_checked(c, p, r);
    if (status == CAUCUS_OK && c->look && r->value[c->now.expert] == CAUCUS_LOOK_UNSEEN)
        p->q++;
    return status;
}

/* Devices that have seen nothing: what a look takes for theirs is known when it is decided. */
static void slot_take(caucus_coordinator *c, const caucus_partial *p) {
    if (c->look)
        c->look->unseen += (uint64_t)p->q;
}

static void slot_pack(caucus_pack *p, caucus_coordinator *c) {
    caucus_pack_progress(p, c->sums_next);
    caucus_phase_coordinator_pack(p, c);
}

static bool slot_sound(caucus_coordinator *c) {
    for (size_t i = 0; i < c->plan->settings.clients; i++) {
        const uint64_t next = caucus_progress_get(c->sums_next, i);
        if (next == 0 || next >> 63 != 0)
            return false;
    }
    return caucus_phase_coordinator_sound(c);
}

const caucus_machine_ops caucus_machine_slot = {
    .client = &caucus_slot_client,
    .new = slot_new,
    .check = slot_check,
    .count = slot_count,
    .take = slot_take,
    .decide = caucus_phase_decide,
    .asks = caucus_phase_asks,
    .pack = slot_pack,
    .sound = slot_sound,
    .record = caucus_phase_record,
};
