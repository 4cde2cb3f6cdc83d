/* schedule.h: which rounds make a block or a phase. Rounds, blocks and phases count from 1.
 *
 * Blocks (svt, hedge): block n covers rounds (n-1)N+1 .. min(nN, T).
 * Phases (stoch): phase p covers rounds 2^(p-1) .. min(2^p - 1, T); a phase learns from the one before it. */
#ifndef CAUCUS_ALGO_SCHEDULE_H
#define CAUCUS_ALGO_SCHEDULE_H

#include <caucus/plan.h>

static inline uint32_t caucus_block_end(const caucus_settings *s, uint32_t block) {
    uint64_t end = (uint64_t)block * s->interval;
    return end < s->rounds ? (uint32_t)end : s->rounds;
}

/* Rounds in blocks first..last together. */
static inline uint32_t caucus_blocks_rounds(const caucus_settings *s, uint32_t first, uint32_t last) {
    return caucus_block_end(s, last) - caucus_block_end(s, first - 1);
}

/* First round of phase p. */
static inline uint32_t caucus_phase_start(uint32_t phase) {
    return (uint32_t)1 << (phase - 1);
}

static inline bool caucus_plan_is_stoch(const caucus_plan *plan) {
    return plan->settings.algorithm == CAUCUS_ALGORITHM_STOCH ||
           plan->settings.algorithm == CAUCUS_ALGORITHM_LIMITED_UPDATES;
}

static inline bool caucus_plan_is_svt(const caucus_plan *plan) {
    return plan->settings.algorithm == CAUCUS_ALGORITHM_SVT ||
           plan->settings.algorithm == CAUCUS_ALGORITHM_SPARSE_VECTOR;
}

#endif
