/* SPDX-License-Identifier: Apache-2.0 */
/* grid.h: from a loss to an integer, once, at the client's boundary.
 * layer: num
 *
 * A loss in [lo, hi] becomes round((loss-lo) * G/(hi-lo)) in 0..G, halves to even. This maps each record
 * by itself, so it costs nothing in epsilon; it costs at most T/G of regret per client
 * (half a step for what was played, half for the best expert). Whatever is
 * outside the public range is moved to its border: only the clamp bounds what one record can do, never a
 * promise about the data. NaN counts as the worst value. How often that happened is counted for the
 * owner of the data and never sent. docs/PRIVACY.md, statement 1. */
#ifndef CAUCUS_NUM_GRID_H
#define CAUCUS_NUM_GRID_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `lo` -> 0, `hi` -> steps. lo < hi, both and G/(hi-lo) finite; steps in 1..2^20. */
typedef struct caucus_grid {
    double lo, hi;
    int64_t steps;
} caucus_grid;

/* Values that were moved: below, above, not a number. */
typedef struct caucus_clips {
    uint64_t low, high, nan;
} caucus_clips;

#define CAUCUS_GRID_MAX ((int64_t)1 << 20)

/* G/(hi-lo). A division per row would show. */
static inline double caucus_grid_scale(const caucus_grid *grid) {
    double width = grid->hi - grid->lo;
    return width == 1 ? (double)grid->steps : (double)grid->steps / width;
}

/* Clamped before it is rounded: the bounds are integers, so the order does not matter, and lrint stays in range. */
static inline int32_t caucus_grid_nearest(double x, double lo, double hi) {
    if (!(x < hi)) /* NaN too */
        return (int32_t)hi;
    return x > lo ? (int32_t)lrint(x) : (int32_t)lo;
}

/* The definition: where a loss lies on the grid, and the step it becomes. */
static inline double caucus_grid_position(const caucus_grid *grid, double loss) {
    return (loss - grid->lo) * caucus_grid_scale(grid);
}

/** One loss whose clips are counted elsewhere. Returns: 0..steps. */
static inline int32_t caucus_grid_step(const caucus_grid *grid, double loss) {
    return caucus_grid_nearest(caucus_grid_position(grid, loss), 0, (double)grid->steps);
}

/** One loss, its clips counted. Returns: 0..steps. */
int32_t caucus_grid_loss(const caucus_grid *grid, double loss, caucus_clips *clips);

/** One gradient coordinate, |g| <= alpha expected: round(g/alpha * G) in -G..G. NaN -> +G, the worst direction.
 *  alpha finite, above 0. lo and hi play no part. */
int32_t caucus_grid_gradient(const caucus_grid *grid, double g, double alpha, caucus_clips *clips);

/** A row of n losses, acc[i] += caucus_grid_loss(loss[i]): the client's inner loop. Same bits as the scalar function,
 *  any alignment. */
void caucus_grid_add_f32(const caucus_grid *grid, int64_t *acc, const float *loss, size_t n, caucus_clips *clips);
void caucus_grid_add_f64(const caucus_grid *grid, int64_t *acc, const double *loss, size_t n, caucus_clips *clips);

/** `count` rows of d losses, row by row, added to acc[d] (single precision: and to also[d], unless NULL): the sum of
 *  the calls above, cheaper where rows are many. */
void caucus_grid_add_rows_f32(const caucus_grid *grid, int64_t *acc, int64_t *also, const float *loss, size_t d,
                              size_t count, caucus_clips *clips);
void caucus_grid_add_rows_f64(const caucus_grid *grid, int64_t *acc, const double *loss, size_t d, size_t count,
                              caucus_clips *clips);

/** Whether all of n losses are within the range: none of them is a clip. May say no where the answer is yes. */
bool caucus_grid_within_f32(const caucus_grid *grid, const float *loss, size_t n);

/* Some cells of many rows: of row r those of `k` of d experts, from first[r] on, d - 1 being followed by 0. */
typedef struct caucus_grid_cells {
    size_t d, k, count;    /* 1 <= k <= d; rows */
    size_t stride;         /* from one row to the next */
    const uint32_t *first; /* [count], each below d; NULL: 0 */
    bool whole;            /* rows of d values, of which those are taken; else rows of k values, which they are */
} caucus_grid_cells;

/** acc[y] += caucus_grid_loss() of each cell, y its expert: same bits as the scalar function, any alignment.
 *  In:      acc    [d]; NULL: clips are counted, and nothing added.
 *           clips  NULL: they are counted elsewhere. */
void caucus_grid_add_cells_f32(const caucus_grid *grid, int64_t *acc, const float *loss, const caucus_grid_cells *cells,
                               caucus_clips *clips);
void caucus_grid_add_cells_f64(const caucus_grid *grid, int64_t *acc, const double *loss,
                               const caucus_grid_cells *cells, caucus_clips *clips);

/** The plain loops over caucus_grid_loss that these are tested against. */
void caucus_grid_add_f32_ref(const caucus_grid *grid, int64_t *acc, const float *loss, size_t n, caucus_clips *clips);
void caucus_grid_add_f64_ref(const caucus_grid *grid, int64_t *acc, const double *loss, size_t n, caucus_clips *clips);

#endif
