/* SPDX-License-Identifier: Apache-2.0 */
/* family_rotation.c: rotation in the plan: after every block another expert, none that was drawn lately.
 *
 * Nothing that is announced or reported depends on a loss, so nothing is spent and nothing is calibrated; nothing is
 * learnt, so nothing is proved. docs/PRIVACY.md, "Rotation". */
#include "plan/family.h"

#include <inttypes.h>

/* Its integers: a struct of this file. */
typedef struct rotation_plan {
    uint64_t blocks;
    uint32_t memory; /* experts that were drawn last and are not drawn again: half of the others */
} rotation_plan;

static uint64_t blocks_of(const caucus_settings *s) {
    return (s->rounds - 1) / s->interval + 1;
}

static uint32_t memory_of(const caucus_settings *s) {
    return (s->experts - 1) / 2;
}

uint32_t caucus_rotation_memory(const caucus_plan *plan) {
    return ((const rotation_plan *)plan->part)->memory;
}

static uint64_t blocks(const caucus_plan *plan) {
    return ((const rotation_plan *)plan->part)->blocks;
}

static uint64_t selections(const caucus_plan *plan) {
    return blocks(plan) - 1;
}

static caucus_status calibrate(caucus_plan *plan, caucus_error *ret_error) {
    (void)ret_error;
    *(rotation_plan *)plan->part =
        (rotation_plan){.blocks = blocks_of(&plan->settings), .memory = memory_of(&plan->settings)};
    return CAUCUS_OK;
}

static caucus_status bound(caucus_plan *plan) {
    plan->bound_kind = CAUCUS_BOUND_NONE;
    plan->bound = plan->bound_uncapped = (double)plan->settings.rounds * (plan->settings.hi - plan->settings.lo);
    return CAUCUS_OK;
}

static caucus_status account(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error) {
    const rotation_plan *part = plan->part;
    if (part->blocks != blocks_of(&plan->settings) || part->memory >= plan->settings.experts)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "interval", "the plan has %" PRIu64 " blocks and memory %u",
                           part->blocks, part->memory);
    ret->epsilon_choices = 0;
    return CAUCUS_OK;
}

static void walk(caucus_walker *w, caucus_plan *plan) {
    rotation_plan *part = plan->part;
    w->open(w, "rotation");
    caucus_walk_u64(w, "blocks", &part->blocks);
    caucus_walk_u32(w, "memory", &part->memory);
    w->close(w);
}

const caucus_plan_ops caucus_plan_rotation = {
    .variant = {{CAUCUS_ALGORITHM_ROTATION, "Rotation", .alone = false}},
    .options = CAUCUS_OPTION_INTERVAL,
    .part_bytes = sizeof(rotation_plan),
    .calibrate = calibrate,
    .bound = bound,
    .account = account,
    .walk = walk,
    .blocks = blocks,
    .selections = selections,
};
