/* SPDX-License-Identifier: Apache-2.0 */
/* block_client.c: the client of svt, hedge and leader: sums of losses, block by block.
 *
 * It keeps one vector: the losses not yet reported as a vector. A COST report is the cost of the expert in
 * force in one block; a SUMS report is that vector, which then starts again at 0. So every loss enters the
 * coordinator's scores once, and q of the epoch it was played in once.
 * Where the run renews itself the vector also starts again at 0 with every cycle: which blocks make a cycle follows
 * from their numbers, and no loss of one cycle enters another.
 * Unit client-block (docs/PRIVACY.md, statement 10): the mean of a block is rounded to the grid before it goes
 * anywhere, so that a whole block of a client moves every sum by at most the grid's range. */
#include <stdlib.h>
#include <string.h>

#include "algo/block_round.h"
#include "algo/borrowed_rows.h"
#include "algo/machine.h"
#include "algo/schedule.h"
#include "algo/wipe.h"
#include "dp/wide.h"

/* Unit client-block keeps the block's sums apart until their mean is known; one round is its own mean. */
static size_t block_rows(const caucus_plan *plan) {
    return plan->settings.unit == CAUCUS_UNIT_CLIENT_BLOCK && plan->settings.interval > 1 ? 2 : 1;
}

static caucus_status block_new(caucus_client *c, const caucus_client *first) {
    (void)first; /* nothing to share */
    uint32_t d = c->plan->settings.experts;
    c->sums = calloc(d, sizeof *c->sums);
    bool block = block_rows(c->plan) > 1;
    if (block)
        c->block_sums = calloc(d, sizeof *c->block_sums);
    c->sums_first = 1;
    return c->sums && (!block || c->block_sums) ? CAUCUS_OK : CAUCUS_E_MEMORY;
}

static void block_free(caucus_client *c) {
    size_t row = c->plan->settings.experts * sizeof(int64_t);
    caucus_wipe_free(c->sums, row);
    caucus_wipe_free(c->block_sums, row);
}

/* Any later block; a vector that goes with a cost which was never asked for here is asked for in vain. */
static bool block_may_jump(const caucus_client *c, const caucus_announcement *a) {
    const caucus_settings *s = &c->plan->settings;
    return a->block >= 1 && a->block <= (s->rounds - 1) / s->interval &&
           (a->ask == CAUCUS_ASK_SUMS || (a->ask == CAUCUS_ASK_COST && c->costs));
}

/* The block is over: its rounded mean takes the place of its sum. */
static void finish_block_mean(caucus_client *c, int64_t rounds) {
    const caucus_ratio one = caucus_ratio_prepare(1, (uint64_t)rounds);
    for (uint32_t y = 0; y < c->plan->settings.experts; y++)
        c->sums[y] += caucus_rounded_mean(c->block_sums[y], rounds, &one);
    c->block_cost = caucus_rounded_mean(c->block_cost, rounds, &one);
    memset(c->block_sums, 0, c->plan->settings.experts * sizeof *c->block_sums);
}

static void block_observe(caucus_client *c, caucus_rows rows, uint64_t rounds) {
    uint32_t d = c->plan->settings.experts;
    bool wanted = c->heard.ask != CAUCUS_ASK_NOTHING;
    int64_t *into = c->block_sums ? c->block_sums : c->sums;
    int64_t cost = 0;
    if (wanted) { /* the expert in force is one of those added up: its cost is what its sum grew by */
        int64_t before = into[c->expert];
        caucus_rows_add(c, into, rows, rounds);
        cost = into[c->expert] - before;
    } else { /* no more reports: only the cost matters */
        for (uint64_t r = 0; r < rounds; r++)
            cost += caucus_rows_loss(c, rows, r * d + c->expert);
    }
    caucus_block_played(c, cost, rounds);
    if (wanted && c->block_sums && caucus_client_rounds_left(c) == 0)
        finish_block_mean(c, (int64_t)caucus_blocks_rounds(&c->plan->settings, c->heard.block, c->heard.block));
}

void caucus_block_borrow_other(caucus_client *c, const float *rows) {
    caucus_client_return_rows(c);
    c->borrowed = rows;
}

bool caucus_client_add_total(caucus_client *c, int64_t *total) {
    bool ok = c->sums && !c->block_sums;
    c->total = ok ? total : NULL;
    return ok;
}

void caucus_client_return_rows(caucus_client *c) {
    if (c->borrowed_rounds > 0)
        caucus_grid_add_rows_f32(&c->grid, c->sums, c->total, c->borrowed, c->plan->settings.experts,
                                 c->borrowed_rounds, &c->clips);
    c->borrowed = NULL;
    c->borrowed_rounds = 0;
}

/* The vector keeps what it holds, if that was not reported and its cycle goes on: each loss is in one report all the
 * same. A block that was not played to its end has no mean. */
static void block_jump(caucus_client *c, const caucus_asked *before, bool made) {
    const caucus_settings *s = &c->plan->settings;
    const uint64_t block = c->heard.block;
    const uint64_t blocks = s->renew != 0 ? s->renew / s->interval : UINT64_MAX; /* of a cycle: all of them */
    const bool reported = before && before->ask == CAUCUS_ASK_SUMS && made;
    if (!before || reported || (before->block - 1) / blocks != (block - 1) / blocks) {
        memset(c->sums, 0, s->experts * sizeof *c->sums);
        const uint64_t cycle = (block - 1) / blocks * blocks + 1;
        c->sums_first = !before ? block : reported && before->block >= cycle ? before->block + 1 : cycle;
    }
    if (c->block_sums)
        memset(c->block_sums, 0, s->experts * sizeof *c->block_sums);
    c->block_cost = 0;
    c->expert = c->heard.expert;
    c->missed = c->costs && c->heard.ask == CAUCUS_ASK_SUMS;
    c->round = caucus_block_end(s, c->missed ? block : block - 1);
}

static void block_pack(caucus_pack *p, caucus_client *c) {
    size_t d = c->plan->settings.experts;
    caucus_pack_i64s(p, c->sums, d);
    caucus_pack_i64s(p, c->block_sums, d);
    caucus_pack_u64(p, &c->sums_first);
    caucus_pack_i64(p, &c->block_cost);
}

static bool block_sound(caucus_client *c) {
    size_t d = c->plan->settings.experts;
    return caucus_sums_fit(&c->block_cost, 1) && caucus_sums_fit(c->sums, d) && caucus_sums_fit(c->block_sums, d);
}

const caucus_client_ops caucus_block_client = {
    .new = block_new,
    .free = block_free,
    .rows = block_rows,
    .may_ask = caucus_block_may_ask,
    .may_jump = block_may_jump,
    .jump = block_jump,
    .observe = block_observe,
    .borrow = caucus_block_borrow,
    .report = caucus_block_report,
    .hear = caucus_block_hear,
    .pack = block_pack,
    .sound = block_sound,
};
