/* SPDX-License-Identifier: Apache-2.0 */
/* rotation.c: the machines of rotation. After each block but the last the coordinator draws uniformly among the experts
 * that were not in force lately; it remembers those, which is its own state. A client answers every block with the
 * number of rounds it has played the expert in force, which is its own state and says nothing about its losses. */
#include <stdlib.h>

#include "algo/machine.h"
#include "algo/schedule.h"

typedef struct client_state {
    uint64_t held; /* rounds since the expert in force came into force */
} client_state;

static size_t client_bytes(const caucus_plan *plan) {
    (void)plan;
    return sizeof(client_state);
}

static bool client_may_ask(const caucus_client *c, const caucus_announcement *a) {
    return caucus_block_asks(c->plan, a) && a->ask == CAUCUS_ASK_COST &&
           a->block == (c->started ? c->heard.block + 1 : 1);
}

static void client_observe(caucus_client *c, caucus_rows rows, uint64_t rounds) {
    for (uint64_t r = 0; r < rounds; r++)
        c->cost += caucus_rows_loss(c, rows, r * c->plan->settings.experts + c->expert);
    c->round += rounds;
    ((client_state *)c->own)->held += rounds;
}

static void client_report(caucus_client *c) {
    c->scalar = (int64_t)((const client_state *)c->own)->held;
}

static void client_hear(caucus_client *c, const caucus_asked *before) {
    if (before && c->expert != c->heard.expert)
        ((client_state *)c->own)->held = 0;
    c->expert = c->heard.expert;
}

static void client_pack(caucus_pack *p, caucus_client *c) {
    caucus_pack_u64(p, &((client_state *)c->own)->held);
}

static bool client_sound(caucus_client *c) {
    return ((const client_state *)c->own)->held <= c->round;
}

static const caucus_client_ops client = {
    .own_bytes = client_bytes,
    .may_ask = client_may_ask,
    .observe = client_observe,
    .report = client_report,
    .hear = client_hear,
    .pack = client_pack,
    .sound = client_sound,
};

typedef struct coordinator_state {
    uint32_t recent; /* entries of `expert`, at most the plan's memory */
    uint32_t expert[];
} coordinator_state;

static size_t coordinator_bytes(const caucus_plan *plan) {
    return sizeof(coordinator_state) + caucus_rotation_memory(plan) * sizeof(uint32_t);
}

static void ask_next(caucus_coordinator *c, uint64_t block) {
    bool more = block + 1 < caucus_plan_blocks(c->plan);
    caucus_coordinator_announce(c, more ? CAUCUS_ASK_COST : CAUCUS_ASK_NOTHING, more ? block + 1 : block, 0);
}

static caucus_status rotation_new(caucus_coordinator *c) {
    c->step_done = calloc(c->plan->settings.clients, sizeof *c->step_done);
    if (!c->step_done)
        return CAUCUS_E_MEMORY;
    ask_next(c, 0);
    c->now.serial = 0;
    return CAUCUS_OK;
}

static caucus_status rotation_count(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    if (c->now.ask == CAUCUS_ASK_NOTHING || r->kind != c->now.ask || r->block != c->now.block)
        return CAUCUS_E_ORDER;
    if (r->count != 1 || r->first != r->block || r->value[0] < 1)
        return CAUCUS_E_RANGE;
    if (c->step_done[r->client - 1] == c->now.serial + 1)
        return CAUCUS_E_DUPLICATE;
    c->step_done[r->client - 1] = c->now.serial + 1;
    p->answered++;
    return CAUCUS_OK;
}

static bool is_recent(const coordinator_state *s, uint32_t expert) {
    for (uint32_t i = 0; i < s->recent; i++)
        if (s->expert[i] == expert)
            return true;
    return false;
}

/* The expert in force becomes the last one of those that are not drawn; the oldest makes room for it. */
static void remember(const caucus_coordinator *c, coordinator_state *s) {
    const uint32_t memory = caucus_rotation_memory(c->plan);
    if (memory == 0)
        return;
    if (s->recent == memory) {
        for (uint32_t i = 1; i < memory; i++)
            s->expert[i - 1] = s->expert[i];
        s->recent--;
    }
    s->expert[s->recent++] = c->now.expert;
}

static void rotation_decide(caucus_coordinator *c) {
    coordinator_state *s = c->own;
    uint64_t block = c->now.block;
    caucus_stream stream;
    remember(c, s);
    caucus_coordinator_stream(c, &stream, CAUCUS_PURPOSE_SELECT, 0, block);
    uint32_t place = (uint32_t)caucus_uniform(&stream, c->plan->settings.experts - s->recent);
    caucus_stream_wipe(&stream);
    uint32_t expert = 0;
    while (is_recent(s, expert) || place-- > 0)
        expert++;
    c->now.expert = expert;
    caucus_coordinator_selected(c);
    c->now.epoch = c->selections;
    ask_next(c, block);
}

static void rotation_pack(caucus_pack *p, caucus_coordinator *c) {
    coordinator_state *s = c->own;
    const uint32_t memory = caucus_rotation_memory(c->plan);
    caucus_pack_u64s(p, c->step_done, c->plan->settings.clients);
    caucus_pack_u32(p, &s->recent);
    caucus_pack_below(p, s->recent, (uint64_t)memory + 1);
    caucus_pack_u32s(p, s->expert, memory);
}

static bool rotation_sound(caucus_coordinator *c) {
    const coordinator_state *s = c->own;
    for (uint32_t i = 0; i < s->recent; i++)
        if (s->expert[i] >= c->plan->settings.experts)
            return false;
    return c->selections <= caucus_plan_selections(c->plan);
}

/* No decision releases anything. */
static caucus_status rotation_record(caucus_releases *r, const caucus_announcement *before,
                                     const caucus_announcement *after, caucus_error *ret_error) {
    (void)r, (void)before, (void)after, (void)ret_error;
    return CAUCUS_OK;
}

const caucus_machine_ops caucus_machine_rotation = {
    .client = &client,
    .costs = true,
    .own_bytes = coordinator_bytes,
    .new = rotation_new,
    .count = rotation_count,
    .decide = rotation_decide,
    .asks = caucus_block_asks,
    .pack = rotation_pack,
    .sound = rotation_sound,
    .record = rotation_record,
};
