/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h: which rounds make a block or a phase. Rounds, blocks and phases count from 1.
 *
 * Blocks (svt, hedge): block n covers rounds (n-1)N+1 .. min(nN, T).
 * Phases (stoch): phase p covers rounds 2^(p-1) .. min(2^p - 1, T); a phase learns from the one before it. */
#ifndef CAUCUS_ALGO_SCHEDULE_H
#define CAUCUS_ALGO_SCHEDULE_H

#include "plan/plan.h"

static inline uint64_t caucus_block_end(const caucus_settings *s, uint64_t block) {
    uint64_t end;
    return !__builtin_mul_overflow(block, s->interval, &end) && end < s->rounds ? end : s->rounds;
}

/* Rounds in blocks first..last together. */
static inline uint64_t caucus_blocks_rounds(const caucus_settings *s, uint64_t first, uint64_t last) {
    return caucus_block_end(s, last) - caucus_block_end(s, first - 1);
}

/* First round of phase p, as the plan says: nothing here depends on phases being powers of two. */
static inline uint64_t caucus_phase_first(const caucus_plan *plan, uint64_t phase) {
    return phase <= 1 ? 1 : plan->stoch.phase[phase - 2].first;
}

#endif
