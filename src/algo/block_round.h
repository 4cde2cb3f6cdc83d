/* SPDX-License-Identifier: Apache-2.0 */
/* block_round.h: of a client of blocks (block_client.c), what is called after every round.
 * layer: algo
 *
 * A client of svt with blocks of one round observes, reports and hears once a round: calls between files are a tenth of
 * what a simulated round takes. So these are inline, in the one table (block_client.c) and where client.c calls them
 * directly. */
#ifndef CAUCUS_ALGO_BLOCK_ROUND_H
#define CAUCUS_ALGO_BLOCK_ROUND_H

#include <string.h>

#include "algo/borrowed_rows.h"
#include "algo/machine.h"
#include "algo/schedule.h"

/* Blocks: the cost of each in turn, or the vector of each in turn; svt may ask for the vector of a block right after
 * its cost. */
static inline bool caucus_block_may_ask(const caucus_client *c, const caucus_announcement *a) {
    const caucus_settings *s = &c->plan->settings;
    if (a->ask == CAUCUS_ASK_SUMS && c->started && c->heard.ask == CAUCUS_ASK_COST && a->block == c->heard.block)
        return true;
    return a->block == (c->started ? c->heard.block + 1 : 1) &&
           caucus_block_end(s, a->block - 1) < s->rounds && /* there is such a block */
           (a->ask == CAUCUS_ASK_SUMS || (a->ask == CAUCUS_ASK_COST && c->costs));
}

/* Count rounds played and what they cost. */
static inline void caucus_block_played(caucus_client *c, int64_t cost, uint64_t rounds) {
    c->cost += cost;
    c->block_cost += cost;
    c->round += rounds;
}

/* Rows that do not follow those borrowed before. Rare: kept out of the way of the common case. */
__attribute__((cold)) void caucus_block_borrow_other(caucus_client *c, const float *rows);

static inline bool caucus_block_borrow(caucus_client *c, const float *rows, uint64_t rounds) {
    size_t d = c->plan->settings.experts;
    if (c->block_sums || c->heard.ask == CAUCUS_ASK_NOTHING)
        return false;
    if (c->borrowed_rounds == 0 || c->borrowed + c->borrowed_rounds * d != rows)
        caucus_block_borrow_other(c, rows);
    c->borrowed_rounds += rounds;
    const float *cell = rows + c->expert;
    int64_t cost = 0;
    for (uint64_t r = 0; r < rounds; r++, cell += d) /* clips are counted when the rows are added up */
        cost += caucus_grid_step(&c->grid, (double)*cell);
    __builtin_prefetch(cell); /* most likely what comes next */
    caucus_block_played(c, cost, rounds);
    return true;
}

static inline void caucus_block_report(caucus_client *c) {
    c->report.epoch_or_leaf = c->heard.epoch;
    if (c->heard.ask == CAUCUS_ASK_COST) {
        c->scalar = c->block_cost;
        return;
    }
    caucus_client_return_rows(c);
    c->report.first = c->sums_first;
    c->report.count = c->plan->settings.experts;
    c->report.value = c->sums; /* nothing is observed until the next announcement: these bytes stand still */
}

static inline void caucus_block_hear(caucus_client *c, const caucus_asked *before) {
    if (before && before->ask == CAUCUS_ASK_SUMS) { /* the vector has been reported: its losses are not sent again */
        memset(c->sums, 0, c->plan->settings.experts * sizeof *c->sums);
        c->sums_first = before->block + 1;
    }
    if (before && caucus_cycle_ends(&c->plan->settings, before->block) && c->heard.block > before->block) {
        caucus_client_return_rows(c); /* a simulation adds them to its totals */
        memset(c->sums, 0, c->plan->settings.experts * sizeof *c->sums);
        c->sums_first = before->block + 1;
    }
    /* A new block begins unless the coordinator asks for the vector of the block just reported. */
    if (!before || c->heard.ask != CAUCUS_ASK_SUMS || before->ask != CAUCUS_ASK_COST)
        c->block_cost = 0;
    c->expert = c->heard.expert;
}

#endif
