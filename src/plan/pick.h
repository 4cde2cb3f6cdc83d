/* SPDX-License-Identifier: Apache-2.0 */
/* pick.h: one private choice of one of d columns: scores, the rate of the selection, what it guarantees.
 * layer: plan
 *
 * docs/PRIVACY.md, statement 7. From a table each row is one record: its values are clamped to a public range, rounded
 * to 0..G and added up, so that replacing a row by any other moves every score by at most G. From sums that somebody
 * else made, the caller states by how much one record can move one of them; they become integers in units of
 * sensitivity/G, which a replaced record then moves by at most G + 1 (rounding). Lower scores are better. The choice is
 * permute-and-flip at rate epsilon/(2W), W being that much. */
#ifndef CAUCUS_PLAN_PICK_H
#define CAUCUS_PLAN_PICK_H

#include "num/grid.h"
#include <caucus/select.h>

/** G of a pick. */
#define CAUCUS_PICK_GRID CAUCUS_GRID_MAX
/** The most rows: sums stay below 2^61. */
#define CAUCUS_PICK_ROWS (UINT64_C(1) << 41)

typedef struct caucus_pick {
    int64_t sensitivity;  /* W, in steps of the scores */
    caucus_rational rate; /* of the selection */
    double epsilon;       /* what that guarantees, recomputed from the two integers and rounded up; not above asked */
} caucus_pick;

/** Calibrate for scores that one record moves by at most `sensitivity` steps, both ways.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE ("epsilon": not above 0 and at most 1000), CAUCUS_E_INFEASIBLE. */
caucus_status caucus_pick_new(double epsilon, int64_t sensitivity, caucus_pick *ret,
                              caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Add a row of d values in [lo, hi] to the scores; `largest`: of the columns the largest total is wanted. A value that
 *  is not a number is the worst there is. Moves every score by 0 .. G. */
void caucus_pick_add(double lo, double hi, bool largest, const double *row, uint32_t d, int64_t *score,
                     caucus_clips *clips);

/** Scores of sums. Returns: how many were beyond 2^30 times the sensitivity, or no number, and were moved there, which
 *  moves no two of them further apart. */
uint32_t caucus_pick_sums(double sensitivity, bool largest, const double *sum, uint32_t d, int64_t *ret);

/** What is accepted as the public range of a value, and as what one person can change a sum by: finite, not so small
 *  or large that a division loses it. */
bool caucus_pick_is_range(double lo, double hi);
bool caucus_pick_is_sensitivity(double sensitivity);

/** Draw. */
uint32_t caucus_pick_draw(const caucus_pick *pick, caucus_stream *stream, const int64_t *score, uint32_t d);

#endif
