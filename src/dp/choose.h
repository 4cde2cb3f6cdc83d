/* SPDX-License-Identifier: Apache-2.0 */
/* choose.h: private selections in one pass, with work that does not depend on scores.
 * layer: dp
 *
 * Both are functions of uniform real numbers that stand at places of the stream (rng/words.h), so their laws are exact:
 *   permute-and-flip       place n of d belongs to expert n: the expert with the largest -ln(U_n) - rate*score[n] wins;
 *   exponential mechanism  one place: the first expert n with U*(w_0 + ... + w_(d-1)) < w_0 + ... + w_n wins,
 *                          w_n = e^(-rate*(score[n] - smallest)).
 * (caucus_select_flip in choose_flip.c, caucus_select_exponential in choose_exponential.c.)
 * Intervals with proved ends decide nearly always; where they overlap, all experts that may have won are compared
 * exactly, by as many digits as that takes (docs/PRIVACY.md, statements 4, 5 and 30, which give the probability). */
#ifndef CAUCUS_DP_CHOOSE_H
#define CAUCUS_DP_CHOOSE_H

#include "dp/lazy_uniform.h"

#include <caucus/select.h>

/* The scores of a selection as the exact comparisons see them. */
typedef struct caucus_scores {
    const int64_t *score;
    uint32_t d;
    int64_t smallest;
    caucus_rational rate;
} caucus_scores;

static inline uint64_t caucus_scores_gap(const caucus_scores *choice, uint32_t n) {
    /* Exact in 64 unsigned bits whatever the signs. */
    return (uint64_t)choice->score[n] - (uint64_t)choice->smallest;
}

/** The same maps, plainly (choose_plain.c): the references that the fast versions are tested against, and what those
 *  turn to. Does expert n, whose number is u, beat expert k, whose number is v? */
bool caucus_choose_beats(const caucus_scores *choice, uint32_t n, caucus_lazy *u, uint32_t k, caucus_lazy *v);
/** All of permute-and-flip: the stream is at its first place, and moves on by d. */
uint32_t caucus_choose_flip_plain(const caucus_scores *choice, caucus_stream *stream);
/** All of the exponential mechanism: U stands at `place` of the stream, where `word` is. */
uint32_t caucus_choose_exponential_plain(const caucus_scores *choice, const caucus_stream *stream, uint64_t place,
                                         uint64_t word);

#endif
