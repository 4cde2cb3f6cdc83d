/* SPDX-License-Identifier: Apache-2.0 */
/* grid.c: losses to integers. The scalar functions are the definition; the row kernels give the same bits.
 * layer: num
 *
 * Rounding in the kernels adds and removes 1.5*2^52 (1.5*2^23 in single precision): the sum's low mantissa
 * bits are the integer nearest to the value, halves to even, which is what llrint gives. Single precision is
 * used only where it is exact: lo = 0, hi = 1 and G a power of two, so that loss*G changes the exponent alone. */
#include "num/grid.h"

#include "num/clones.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static double grid_scale(const caucus_grid *grid) {
    assert(grid->steps >= 1 && grid->steps <= CAUCUS_GRID_MAX && grid->lo < grid->hi);
    return caucus_grid_scale(grid);
}

static void count_clip(double x, double lo, double hi, caucus_clips *clips) {
    clips->low += x < lo;
    clips->high += x > hi;
    clips->nan += isnan(x) != 0;
}

int32_t caucus_grid_loss(const caucus_grid *grid, double loss, caucus_clips *clips) {
    assert(grid->steps >= 1 && grid->steps <= CAUCUS_GRID_MAX && grid->lo < grid->hi);
    count_clip(caucus_grid_position(grid, loss), 0, (double)grid->steps, clips);
    return caucus_grid_step(grid, loss);
}

int32_t caucus_grid_gradient(const caucus_grid *grid, double g, double alpha, caucus_clips *clips) {
    assert(grid->steps >= 1 && grid->steps <= CAUCUS_GRID_MAX && alpha > 0);
    double steps = (double)grid->steps;
    count_clip(g / alpha * steps, -steps, steps, clips);
    return caucus_grid_nearest(g / alpha * steps, -steps, steps);
}

/* What a kernel needs of a grid. */
typedef struct row {
    double lo, scale, steps, bottom; /* bottom = 0: a value to the compiler, or it makes branches of the maximum */
} row;

/* The integer nearest to x, 0 <= x <= 2^20, and whether `loss` had to be moved (or was -0, which the counter then lets
 * pass). In this order the two choices are one minimum and one maximum instruction, and NaN ends at the top. */
#define STEP(type, int_type, magic_value, scaled, ret_moved, ret_step)                                                 \
    do {                                                                                                               \
        const type magic = magic_value, top = (type)r->steps, bottom = (type)r->bottom;                                \
        type x = scaled;                                                                                               \
        type within = x < top ? x : top;                                                                               \
        within = within > bottom ? within : bottom;                                                                    \
        type shifted = within + magic;                                                                                 \
        int_type x_bits, within_bits, bits, zero;                                                                      \
        memcpy(&x_bits, &x, sizeof x_bits);                                                                            \
        memcpy(&within_bits, &within, sizeof within_bits);                                                             \
        memcpy(&bits, &shifted, sizeof bits);                                                                          \
        memcpy(&zero, &magic, sizeof zero);                                                                            \
        ret_moved |= x_bits ^ within_bits;                                                                             \
        ret_step = bits - zero;                                                                                        \
    } while (0)

#define STEP_WIDE(moved, step) STEP(double, int64_t, 0x1.8p52, ((double)loss[i] - lo) * scale, moved, step)
#define STEP_UNIT(moved, step) STEP(float, int32_t, 0x1.8p23f, loss[i] * (float)r->steps, moved, step)

/* One kernel per input type and use; returns whether any loss was moved. `restrict`: rows and sums never overlap. */
#define GRID_KERNEL(name, in_type, step_type, STEP_KIND)                                                               \
    CAUCUS_CLONES static bool name(const row *r, int64_t *restrict acc, const in_type *restrict loss, size_t n) {      \
        const double lo = r->lo, scale = r->scale;                                                                     \
        (void)lo, (void)scale;                                                                                         \
        step_type moved = 0;                                                                                           \
        for (size_t i = 0; i < n; i++) {                                                                               \
            step_type step;                                                                                            \
            STEP_KIND(moved, step);                                                                                    \
            acc[i] += step;                                                                                            \
        }                                                                                                              \
        return moved != 0;                                                                                             \
    }

GRID_KERNEL(add_f64, double, int64_t, STEP_WIDE)
GRID_KERNEL(add_f32, float, int64_t, STEP_WIDE)
GRID_KERNEL(add_unit_f32, float, int32_t, STEP_UNIT)

/* Which clips there were: a second pass, over the rows that had any. Branch-free, so that it costs the same for one
 * clip and for many. */
#define CLIP_COUNTER(name, in_type)                                                                                    \
    CAUCUS_CLONES static void name(const row *r, const in_type *restrict loss, size_t n, caucus_clips *clips) {        \
        const double lo = r->lo, scale = r->scale, steps = r->steps;                                                   \
        uint64_t low = 0, high = 0, nan = 0;                                                                           \
        for (size_t i = 0; i < n; i++) {                                                                               \
            double x = ((double)loss[i] - lo) * scale;                                                                 \
            low += x < 0;                                                                                              \
            high += x > steps;                                                                                         \
            nan += x != x;                                                                                             \
        }                                                                                                              \
        clips->low += low;                                                                                             \
        clips->high += high;                                                                                           \
        clips->nan += nan;                                                                                             \
    }

CLIP_COUNTER(count_f32, float)
CLIP_COUNTER(count_f64, double)

static row grid_row(const caucus_grid *grid) {
    return (row){grid->lo, grid_scale(grid), (double)grid->steps, 0};
}

static bool single_is_exact(const caucus_grid *grid) {
    return grid->lo == 0 && grid->hi == 1 && (grid->steps & (grid->steps - 1)) == 0;
}

#define GRID_ROW(name, in_type, kernel, counter)                                                                       \
    void name(const caucus_grid *grid, int64_t *acc, const in_type *loss, size_t n, caucus_clips *clips) {             \
        row r = grid_row(grid);                                                                                        \
        if (kernel(&r, acc, loss, n))                                                                                  \
            counter(&r, loss, n, clips);                                                                               \
    }

GRID_ROW(caucus_grid_add_f64, double, add_f64, count_f64)
GRID_ROW(caucus_grid_add_f32, float, (single_is_exact(grid) ? add_unit_f32 : add_f32), count_f32)

/* Many rows of single precision: sums of a tile of columns stay in 32 bits, in the first-level cache, until they are
 * flushed. 2^20 * ROWS_AT_ONCE < 2^31. */
#define TILE 256
#define ROWS_AT_ONCE 2047

CAUCUS_CLONES static bool add_tile(const row *r, int64_t *restrict acc, int64_t *restrict also,
                                   const float *restrict rows, size_t stride, size_t width, size_t count) {
    int32_t sum[TILE], moved = 0;
    memset(sum, 0, width * sizeof *sum);
    for (size_t t = 0; t < count; t++) {
        const float *restrict loss = rows + t * stride;
        for (size_t i = 0; i < width; i++) {
            int32_t step;
            STEP_UNIT(moved, step);
            sum[i] += step;
        }
    }
    for (size_t i = 0; i < width; i++)
        acc[i] += sum[i];
    for (size_t i = 0; also && i < width; i++)
        also[i] += sum[i];
    return moved != 0;
}

void caucus_grid_add_rows_f32(const caucus_grid *grid, int64_t *acc, int64_t *also, const float *loss, size_t d,
                              size_t count, caucus_clips *clips) {
    if (!single_is_exact(grid) || (count < 2 && !also)) {
        caucus_clips again = {0};
        for (size_t t = 0; t < count; t++) {
            caucus_grid_add_f32(grid, acc, loss + t * d, d, clips);
            if (also)
                caucus_grid_add_f32(grid, also, loss + t * d, d, &again);
        }
        return;
    }
    row r = grid_row(grid);
    for (size_t first = 0; first < count; first += ROWS_AT_ONCE) {
        size_t rows = count - first < ROWS_AT_ONCE ? count - first : ROWS_AT_ONCE;
        const float *from = loss + first * d;
        bool moved = false;
        for (size_t at = 0; at < d; at += TILE)
            moved |= add_tile(&r, acc + at, also ? also + at : NULL, from + at, d, d - at < TILE ? d - at : TILE, rows);
        if (moved)
            count_f32(&r, from, rows * d, clips);
    }
}

void caucus_grid_add_rows_f64(const caucus_grid *grid, int64_t *acc, const double *loss, size_t d, size_t count,
                              caucus_clips *clips) {
    for (size_t t = 0; t < count; t++)
        caucus_grid_add_f64(grid, acc, loss + t * d, d, clips);
}

CAUCUS_CLONES static bool any_moved(const row *r, const float *restrict loss, size_t n) {
    int32_t moved = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t step;
        STEP_UNIT(moved, step);
        (void)step;
    }
    return moved != 0;
}

bool caucus_grid_within_f32(const caucus_grid *grid, const float *loss, size_t n) {
    const row r = grid_row(grid);
    return single_is_exact(grid) && !any_moved(&r, loss, n);
}

/* The two runs of a row's cells: up to the last expert, and from the first one on. */
#define CELL_RUNS(in_type)                                                                                             \
    const in_type *row_at = rows + t * cells->stride;                                                                  \
    const size_t y = cells->first ? cells->first[t] : 0, up = cells->k < cells->d - y ? cells->k : cells->d - y;       \
    const in_type *restrict upper = cells->whole ? row_at + y : row_at;                                                \
    const in_type *restrict lower = cells->whole ? row_at : row_at + up

#define CELL_KERNEL(name, in_type, step_type, STEP_KIND)                                                               \
    CAUCUS_CLONES static bool name(const row *r, int64_t *restrict acc, const in_type *restrict rows,                  \
                                   const caucus_grid_cells *cells) {                                                   \
        const double lo = r->lo, scale = r->scale;                                                                     \
        (void)lo, (void)scale;                                                                                         \
        step_type moved = 0, step;                                                                                     \
        for (size_t t = 0; t < cells->count; t++) {                                                                    \
            CELL_RUNS(in_type);                                                                                        \
            const in_type *restrict loss = upper;                                                                      \
            for (size_t i = 0; i < up; i++) {                                                                          \
                STEP_KIND(moved, step);                                                                                \
                acc[y + i] += step;                                                                                    \
            }                                                                                                          \
            loss = lower;                                                                                              \
            for (size_t i = 0; i < cells->k - up; i++) {                                                               \
                STEP_KIND(moved, step);                                                                                \
                acc[i] += step;                                                                                        \
            }                                                                                                          \
        }                                                                                                              \
        return moved != 0;                                                                                             \
    }

CELL_KERNEL(add_cells_f64, double, int64_t, STEP_WIDE)
CELL_KERNEL(add_cells_f32, float, int64_t, STEP_WIDE)
CELL_KERNEL(add_unit_cells_f32, float, int32_t, STEP_UNIT)

#define CELL_COUNTER(name, in_type)                                                                                    \
    CAUCUS_CLONES static void name(const row *r, const in_type *restrict rows, const caucus_grid_cells *cells,         \
                                   caucus_clips *clips) {                                                              \
        const double lo = r->lo, scale = r->scale, steps = r->steps;                                                   \
        uint64_t low = 0, high = 0, nan = 0;                                                                           \
        for (size_t t = 0; t < cells->count; t++) {                                                                    \
            CELL_RUNS(in_type);                                                                                        \
            for (size_t i = 0; i < cells->k; i++) {                                                                    \
                const double x = ((double)(i < up ? upper[i] : lower[i - up]) - lo) * scale;                           \
                low += x < 0;                                                                                          \
                high += x > steps;                                                                                     \
                nan += x != x;                                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        clips->low += low;                                                                                             \
        clips->high += high;                                                                                           \
        clips->nan += nan;                                                                                             \
    }

CELL_COUNTER(count_cells_f32, float)
CELL_COUNTER(count_cells_f64, double)

#define GRID_CELLS(name, in_type, kernel, counter)                                                                     \
    void name(const caucus_grid *grid, int64_t *acc, const in_type *rows, const caucus_grid_cells *cells,              \
              caucus_clips *clips) {                                                                                   \
        const row r = grid_row(grid);                                                                                  \
        const bool moved = acc == NULL || kernel(&r, acc, rows, cells);                                                \
        if (moved && clips)                                                                                            \
            counter(&r, rows, cells, clips);                                                                           \
    }

GRID_CELLS(caucus_grid_add_cells_f64, double, add_cells_f64, count_cells_f64)
GRID_CELLS(caucus_grid_add_cells_f32, float, (single_is_exact(grid) ? add_unit_cells_f32 : add_cells_f32),
           count_cells_f32)

#define GRID_REFERENCE(name, in_type)                                                                                  \
    void name(const caucus_grid *grid, int64_t *acc, const in_type *loss, size_t n, caucus_clips *clips) {             \
        for (size_t i = 0; i < n; i++)                                                                                 \
            acc[i] += caucus_grid_loss(grid, (double)loss[i], clips);                                                  \
    }

GRID_REFERENCE(caucus_grid_add_f64_ref, double)
GRID_REFERENCE(caucus_grid_add_f32_ref, float)
