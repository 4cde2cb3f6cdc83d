/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h: which rounds make a block or a phase. Rounds, blocks and phases count from 1.
 *
 * Blocks (svt, hedge): block n covers rounds (n-1)N+1 .. min(nN, T).
 * Phases (stoch): plan/stoch.h; a phase learns from the one before it. */
#ifndef CAUCUS_ALGO_SCHEDULE_H
#define CAUCUS_ALGO_SCHEDULE_H

#include "plan/stoch.h"

static inline uint64_t caucus_block_end(const caucus_settings *s, uint64_t block) {
    uint64_t end;
    return !__builtin_mul_overflow(block, s->interval, &end) && end < s->rounds ? end : s->rounds;
}

/* Rounds in blocks first..last together. */
static inline uint64_t caucus_blocks_rounds(const caucus_settings *s, uint64_t first, uint64_t last) {
    return caucus_block_end(s, last) - caucus_block_end(s, first - 1);
}

/* Renewal: cycles of renew/N blocks each. Does one end with this block? The run's last block is never asked about. */
static inline bool caucus_cycle_ends(const caucus_settings *s, uint64_t block) {
    return s->renew != 0 && block != 0 && block % (s->renew / s->interval) == 0;
}

/* Does another cycle begin after the one that holds block + 1, in a run of `blocks` blocks? */
static inline bool caucus_cycle_follows(const caucus_settings *s, uint64_t block, uint64_t blocks) {
    const uint64_t cycle = s->renew / s->interval;
    return s->renew != 0 && (block / cycle + 1) * cycle < blocks;
}

/* First round of phase p, as the plan says: nothing here depends on phases being powers of two. Phases that are not
 * described one by one are of equal length. */
static inline uint64_t caucus_phase_first(const caucus_plan *plan, uint64_t phase) {
    const uint64_t last = plan->stoch.described + 1;
    if (phase <= 1)
        return 1;
    if (phase <= last)
        return plan->stoch.phase[phase - 2].first;
    return plan->stoch.phase[last - 2].first + (phase - last) * plan->settings.longest_phase;
}

#endif
