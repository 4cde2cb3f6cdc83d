/* uniform.c: the machines of uniform. After each block but the last the coordinator draws an expert uniformly.
 *
 * A client answers every block with the number 0: it says that the block is over, and nothing about its losses. */
#include <stdlib.h>

#include "algo/machine.h"
#include "algo/schedule.h"

static caucus_status client_new(caucus_client *c, const caucus_client *first) {
    (void)c, (void)first; /* no vectors, nothing to share */
    return CAUCUS_OK;
}

static void client_free(caucus_client *c) {
    (void)c;
}

static size_t client_rows(const caucus_plan *plan) {
    (void)plan;
    return 0;
}

static bool client_may_ask(const caucus_client *c, const caucus_announcement *a) {
    return caucus_block_asks(c->plan, a) && a->ask == CAUCUS_ASK_COST &&
           a->block == (c->started ? c->heard.block + 1 : 1);
}

static void client_observe(caucus_client *c, caucus_rows rows, uint64_t rounds) {
    for (uint64_t r = 0; r < rounds; r++)
        c->cost += caucus_rows_loss(c, rows, r * c->plan->settings.experts + c->expert);
    c->round += rounds;
}

static void client_report(caucus_client *c) {
    c->scalar = 0;
}

static void client_hear(caucus_client *c, const caucus_asked *before) {
    (void)before;
    c->expert = c->heard.expert;
}

static void client_pack(caucus_pack *p, caucus_client *c) {
    (void)p, (void)c; /* what it has played and paid is saved for all families */
}

static bool client_sound(caucus_client *c) {
    return c->scalar == 0;
}

static const caucus_client_ops client = {
    .new = client_new,
    .free = client_free,
    .rows = client_rows,
    .may_ask = client_may_ask,
    .observe = client_observe,
    .report = client_report,
    .hear = client_hear,
    .pack = client_pack,
    .sound = client_sound,
};

static void ask_next(caucus_coordinator *c, uint64_t block) {
    bool more = block + 1 < caucus_plan_blocks(c->plan);
    caucus_coordinator_announce(c, more ? CAUCUS_ASK_COST : CAUCUS_ASK_NOTHING, more ? block + 1 : block, 0);
}

static caucus_status uniform_new(caucus_coordinator *c) {
    c->step_done = calloc(c->plan->settings.clients, sizeof *c->step_done);
    if (!c->step_done)
        return CAUCUS_E_MEMORY;
    ask_next(c, 0);
    c->now.serial = 0;
    return CAUCUS_OK;
}

static caucus_status uniform_count(const caucus_coordinator *c, caucus_partial *p, const caucus_report *r) {
    if (c->now.ask == CAUCUS_ASK_NOTHING || r->kind != c->now.ask || r->block != c->now.block)
        return CAUCUS_E_ORDER;
    if (r->count != 1 || r->first != r->block)
        return CAUCUS_E_RANGE;
    if (c->step_done[r->client - 1] == c->now.serial + 1)
        return CAUCUS_E_DUPLICATE;
    c->step_done[r->client - 1] = c->now.serial + 1;
    p->answered++;
    return CAUCUS_OK;
}

static void uniform_decide(caucus_coordinator *c) {
    uint64_t block = c->now.block;
    caucus_stream stream;
    caucus_coordinator_stream(c, &stream, CAUCUS_PURPOSE_SELECT, 0, block);
    c->now.expert = (uint32_t)caucus_uniform(&stream, c->plan->settings.experts);
    caucus_stream_wipe(&stream);
    caucus_coordinator_selected(c);
    c->now.epoch = c->selections;
    ask_next(c, block);
}

static void uniform_pack(caucus_pack *p, caucus_coordinator *c) {
    caucus_pack_u64s(p, c->step_done, c->plan->settings.clients);
}

static bool uniform_sound(caucus_coordinator *c) {
    return c->selections <= caucus_plan_selections(c->plan);
}

/* No decision releases anything. */
static caucus_status uniform_record(caucus_releases *r, const caucus_announcement *before,
                                    const caucus_announcement *after, caucus_error *ret_error) {
    (void)r, (void)before, (void)after, (void)ret_error;
    return CAUCUS_OK;
}

const caucus_machine_ops caucus_machine_uniform = {
    .client = &client,
    .costs = true,
    .new = uniform_new,
    .count = uniform_count,
    .decide = uniform_decide,
    .asks = caucus_block_asks,
    .pack = uniform_pack,
    .sound = uniform_sound,
    .record = uniform_record,
};
