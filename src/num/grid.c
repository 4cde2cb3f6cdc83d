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

/* Counters of a chunk are 32 bits wide, so that they fill vector lanes as the losses do. */
#define CHUNK ((size_t)1 << 30)

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

static void count_clip(double value, double lo, double hi, caucus_clips *clips) {
    clips->low += value < lo;
    clips->high += value > hi;
    clips->nan += isnan(value) != 0;
}

int32_t caucus_grid_loss(const caucus_grid *grid, double loss, caucus_clips *clips) {
    double scale = grid_scale(grid);
    count_clip(loss, grid->lo, grid->hi, clips);
    return nearest_within((loss - grid->lo) * scale, 0, (double)grid->steps);
}

int32_t caucus_grid_gradient(const caucus_grid *grid, double g, double alpha, caucus_clips *clips) {
    assert(grid->steps >= 1 && grid->steps <= CAUCUS_GRID_MAX && alpha > 0);
    double steps = (double)grid->steps;
    count_clip(g, -alpha, alpha, clips);
    return nearest_within(g / alpha * steps, -steps, steps);
}

/* What a kernel needs of a grid, and what it counted. */
typedef struct row {
    double lo, hi, scale, steps;
} row;
typedef struct tally {
    uint32_t low, high, nan;
} tally;

static inline __attribute__((always_inline)) int64_t step_f64(double loss, double lo, double scale, double steps) {
    const double magic = 0x1.8p52;
    double x = (loss - lo) * scale;
    x = x < steps ? x : steps; /* NaN -> steps */
    x = x > 0 ? x : 0;
    double shifted = x + magic;
    int64_t bits, zero;
    memcpy(&bits, &shifted, sizeof bits);
    memcpy(&zero, &magic, sizeof zero);
    return bits - zero;
}

static inline __attribute__((always_inline)) int32_t step_unit_f32(float loss, float steps) {
    const float magic = 0x1.8p23f;
    float x = loss * steps;
    x = x < steps ? x : steps; /* NaN -> steps */
    x = x > 0 ? x : 0;
    float shifted = x + magic;
    int32_t bits, zero;
    memcpy(&bits, &shifted, sizeof bits);
    memcpy(&zero, &magic, sizeof zero);
    return bits - zero;
}

/* One kernel per input type and use. `restrict`: rows and sums never overlap. */
#define GRID_KERNEL(name, in_type, out_type, op, count_type, lo_value, hi_value, step)                        \
    CAUCUS_CLONES static tally name(const row *r, out_type *restrict out, const in_type *restrict loss, size_t n) { \
        const double lo = r->lo, hi = r->hi, scale = r->scale, steps = r->steps;                              \
        const count_type below = (count_type)(lo_value), above = (count_type)(hi_value);                      \
        (void)lo, (void)hi, (void)scale;                                                                      \
        uint32_t low = 0, high = 0, nan = 0;                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                      \
            count_type l = (count_type)loss[i];                                                               \
            low += l < below;                                                                                 \
            high += l > above;                                                                                \
            nan += l != l;                                                                                    \
            out[i] op(out_type)(step);                                                                        \
        }                                                                                                     \
        return (tally){low, high, nan};                                                                       \
    }

GRID_KERNEL(add_f64, double, int64_t, +=, double, lo, hi, step_f64(l, lo, scale, steps))
GRID_KERNEL(add_f32, float, int64_t, +=, double, lo, hi, step_f64(l, lo, scale, steps))
GRID_KERNEL(add_unit_f32, float, int64_t, +=, float, 0, 1, step_unit_f32(l, (float)steps))
GRID_KERNEL(put_f64, double, int32_t, =, double, lo, hi, step_f64(l, lo, scale, steps))
GRID_KERNEL(put_f32, float, int32_t, =, double, lo, hi, step_f64(l, lo, scale, steps))
GRID_KERNEL(put_unit_f32, float, int32_t, =, float, 0, 1, step_unit_f32(l, (float)steps))

static row grid_row(const caucus_grid *grid) {
    return (row){grid->lo, grid->hi, grid_scale(grid), (double)grid->steps};
}

static bool single_is_exact(const caucus_grid *grid) {
    return grid->lo == 0 && grid->hi == 1 && (grid->steps & (grid->steps - 1)) == 0;
}

#define GRID_ROW(name, in_type, out_type, kernel)                                                                  \
    void name(const caucus_grid *grid, out_type *out, const in_type *loss, size_t n, caucus_clips *clips) {        \
        row r = grid_row(grid);                                                                                    \
        for (size_t done = 0; done < n;) {                                                                         \
            size_t part = n - done < CHUNK ? n - done : CHUNK;                                                     \
            tally t = kernel(&r, out + done, loss + done, part);                                                   \
            clips->low += t.low;                                                                                   \
            clips->high += t.high;                                                                                 \
            clips->nan += t.nan;                                                                                   \
            done += part;                                                                                          \
        }                                                                                                          \
    }

GRID_ROW(caucus_grid_add_f64, double, int64_t, add_f64)
GRID_ROW(caucus_grid_add_f32, float, int64_t, (single_is_exact(grid) ? add_unit_f32 : add_f32))
GRID_ROW(caucus_grid_quantise_f64, double, int32_t, put_f64)
GRID_ROW(caucus_grid_quantise_f32, float, int32_t, (single_is_exact(grid) ? put_unit_f32 : put_f32))

#define GRID_REFERENCE(name, in_type, out_type, op)                                                           \
    void name(const caucus_grid *grid, out_type *out, const in_type *loss, size_t n, caucus_clips *clips) {   \
        for (size_t i = 0; i < n; i++)                                                                        \
            out[i] op caucus_grid_loss(grid, (double)loss[i], clips);                                         \
    }

GRID_REFERENCE(caucus_grid_add_f64_ref, double, int64_t, +=)
GRID_REFERENCE(caucus_grid_add_f32_ref, float, int64_t, +=)
GRID_REFERENCE(caucus_grid_quantise_f64_ref, double, int32_t, =)
GRID_REFERENCE(caucus_grid_quantise_f32_ref, float, int32_t, =)
