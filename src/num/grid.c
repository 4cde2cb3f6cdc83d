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
    return (double)grid->steps / (grid->hi - grid->lo);
}

/* Clamped before it is rounded: the bounds are integers, so the order does not matter, and llrint stays in range. */
static int32_t nearest_within(double x, double lo, double hi) {
    if (!(x < hi)) /* NaN too */
        return (int32_t)hi;
    return x > lo ? (int32_t)llrint(x) : (int32_t)lo;
}

static int32_t place(double x, double lo, double hi, caucus_clips *clips) {
    clips->low += x < lo;
    clips->high += x > hi;
    clips->nan += isnan(x) != 0;
    return nearest_within(x, lo, hi);
}

int32_t caucus_grid_loss(const caucus_grid *grid, double loss, caucus_clips *clips) {
    double scale = grid_scale(grid);
    return place((loss - grid->lo) * scale, 0, (double)grid->steps, clips);
}

int32_t caucus_grid_gradient(const caucus_grid *grid, double g, double alpha, caucus_clips *clips) {
    assert(grid->steps >= 1 && grid->steps <= CAUCUS_GRID_MAX && alpha > 0);
    double steps = (double)grid->steps;
    return place(g / alpha * steps, -steps, steps, clips);
}

/* What a kernel needs of a grid. */
typedef struct row {
    double lo, scale, steps;
} row;

/* The integer nearest to x, 0 <= x <= 2^20, and whether `loss` had to be moved. */
#define STEP(type, int_type, magic_value, scaled, ret_moved, ret_step) \
    do {                                                               \
        const type magic = magic_value, top = (type)r->steps;          \
        type x = scaled;                                               \
        type within = x <= 0 ? 0 : x;                                  \
        within = within < top ? within : top; /* NaN -> top */         \
        ret_moved |= within != x;                                      \
        type shifted = within + magic;                                 \
        int_type bits, zero;                                           \
        memcpy(&bits, &shifted, sizeof bits);                          \
        memcpy(&zero, &magic, sizeof zero);                            \
        ret_step = bits - zero;                                        \
    } while (0)

#define STEP_WIDE(moved, step) STEP(double, int64_t, 0x1.8p52, ((double)loss[i] - lo) * scale, moved, step)
#define STEP_UNIT(moved, step) STEP(float, int32_t, 0x1.8p23f, loss[i] * (float)r->steps, moved, step)

/* One kernel per input type and use; returns whether any loss was moved. `restrict`: rows and sums never overlap. */
#define GRID_KERNEL(name, in_type, out_type, op, step_type, flag_type, STEP_KIND)                                 \
    CAUCUS_CLONES static bool name(const row *r, out_type *restrict out, const in_type *restrict loss, size_t n) { \
        const double lo = r->lo, scale = r->scale;                                                                \
        (void)lo, (void)scale;                                                                                    \
        flag_type moved = 0;                                                                                      \
        for (size_t i = 0; i < n; i++) {                                                                          \
            step_type step;                                                                                       \
            STEP_KIND(moved, step);                                                                               \
            out[i] op(out_type) step;                                                                             \
        }                                                                                                         \
        return moved != 0;                                                                                        \
    }

GRID_KERNEL(add_f64, double, int64_t, +=, int64_t, uint64_t, STEP_WIDE)
GRID_KERNEL(add_f32, float, int64_t, +=, int64_t, uint64_t, STEP_WIDE)
GRID_KERNEL(add_unit_f32, float, int64_t, +=, int32_t, uint32_t, STEP_UNIT)
GRID_KERNEL(put_f64, double, int32_t, =, int64_t, uint64_t, STEP_WIDE)
GRID_KERNEL(put_f32, float, int32_t, =, int64_t, uint64_t, STEP_WIDE)
GRID_KERNEL(put_unit_f32, float, int32_t, =, int32_t, uint32_t, STEP_UNIT)

/* Which clips there were: a second pass, over the rows that had any. Branch-free, so that it costs the same for one
 * clip and for many. */
#define CLIP_COUNTER(name, in_type)                                                                    \
    CAUCUS_CLONES static void name(const row *r, const in_type *restrict loss, size_t n, caucus_clips *clips) { \
        const double lo = r->lo, scale = r->scale, steps = r->steps;                                   \
        uint64_t low = 0, high = 0, nan = 0;                                                           \
        for (size_t i = 0; i < n; i++) {                                                               \
            double x = ((double)loss[i] - lo) * scale;                                                 \
            low += x < 0;                                                                              \
            high += x > steps;                                                                         \
            nan += x != x;                                                                             \
        }                                                                                              \
        clips->low += low;                                                                             \
        clips->high += high;                                                                           \
        clips->nan += nan;                                                                             \
    }

CLIP_COUNTER(count_f32, float)
CLIP_COUNTER(count_f64, double)

static row grid_row(const caucus_grid *grid) {
    return (row){grid->lo, grid_scale(grid), (double)grid->steps};
}

static bool single_is_exact(const caucus_grid *grid) {
    return grid->lo == 0 && grid->hi == 1 && (grid->steps & (grid->steps - 1)) == 0;
}

#define GRID_ROW(name, in_type, out_type, kernel, counter)                                                         \
    void name(const caucus_grid *grid, out_type *out, const in_type *loss, size_t n, caucus_clips *clips) {        \
        row r = grid_row(grid);                                                                                    \
        if (kernel(&r, out, loss, n))                                                                              \
            counter(&r, loss, n, clips);                                                                           \
    }

GRID_ROW(caucus_grid_add_f64, double, int64_t, add_f64, count_f64)
GRID_ROW(caucus_grid_add_f32, float, int64_t, (single_is_exact(grid) ? add_unit_f32 : add_f32), count_f32)
GRID_ROW(caucus_grid_quantise_f64, double, int32_t, put_f64, count_f64)
GRID_ROW(caucus_grid_quantise_f32, float, int32_t, (single_is_exact(grid) ? put_unit_f32 : put_f32), count_f32)

#define GRID_REFERENCE(name, in_type, out_type, op)                                                           \
    void name(const caucus_grid *grid, out_type *out, const in_type *loss, size_t n, caucus_clips *clips) {   \
        for (size_t i = 0; i < n; i++)                                                                        \
            out[i] op caucus_grid_loss(grid, (double)loss[i], clips);                                         \
    }

GRID_REFERENCE(caucus_grid_add_f64_ref, double, int64_t, +=)
GRID_REFERENCE(caucus_grid_add_f32_ref, float, int64_t, +=)
GRID_REFERENCE(caucus_grid_quantise_f64_ref, double, int32_t, =)
GRID_REFERENCE(caucus_grid_quantise_f32_ref, float, int32_t, =)
