/* SPDX-License-Identifier: Apache-2.0 */
/* The client boundary: a loss becomes the nearest grid point, whatever is sent stays in range, and the fast rows
 * give the bits of the scalar definition. docs/PRIVACY.md, statement 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "num/grid.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static uint64_t word = 0x2545f4914f6cdd1du; /* seed, fixed */
static uint64_t next_word(void) {
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    return word;
}
static double next_unit(void) {
    return (double)(next_word() >> 11) * 0x1p-53;
}

static void points_and_halves(void **state) {
    (void)state;
    caucus_grid g = {0, 1, 4};
    caucus_clips c = {0};
    const double in[] = {0, -0.0, 0.125, 0.1251, 0.25, 0.375, 0.5, 0.625, 0.875, 1};
    const int32_t out[] = {0, 0, 0, 1, 1, 2, 2, 2, 4, 4}; /* halves to even: 0.5 -> 0, 1.5 -> 2, 2.5 -> 2, 3.5 -> 4 */
    for (size_t i = 0; i < sizeof in / sizeof in[0]; i++)
        assert_int_equal(caucus_grid_loss(&g, in[i], &c), out[i]);
    assert_true(c.low == 0 && c.high == 0 && c.nan == 0);
}

static void outside_is_moved_and_counted(void **state) {
    (void)state;
    caucus_grid g = {-1, 4, 1 << 20};
    caucus_clips c = {0};
    assert_int_equal(caucus_grid_loss(&g, -1.5, &c), 0);
    assert_int_equal(caucus_grid_loss(&g, -INFINITY, &c), 0);
    assert_int_equal(caucus_grid_loss(&g, 5, &c), 1 << 20);
    assert_int_equal(caucus_grid_loss(&g, DBL_MAX, &c), 1 << 20);
    assert_int_equal(caucus_grid_loss(&g, INFINITY, &c), 1 << 20);
    assert_int_equal(caucus_grid_loss(&g, (double)NAN, &c), 1 << 20);
    assert_true(c.low == 2 && c.high == 3 && c.nan == 1);
    assert_int_equal(caucus_grid_loss(&g, -1, &c), 0);
    assert_int_equal(caucus_grid_loss(&g, 4, &c), 1 << 20);
    assert_int_equal(caucus_grid_loss(&g, 1.5, &c), 1 << 19);
    assert_true(c.low == 2 && c.high == 3 && c.nan == 1);
}

static void rounding_costs_half_a_step(void **state) {
    (void)state;
    caucus_grid g = {2, 7, 1000};
    caucus_clips c = {0};
    for (int i = 0; i < 10000; i++) {
        double loss = 2 + 5 * next_unit();
        double back = 2 + 5 * caucus_grid_loss(&g, loss, &c) / 1000.0;
        assert_true(fabs(back - loss) <= 0.5 * 5 / 1000 * (1 + 1e-9));
    }
}

static void gradients(void **state) {
    (void)state;
    caucus_grid g = {0, 1, 1 << 16};
    caucus_clips c = {0};
    assert_int_equal(caucus_grid_gradient(&g, 2, 2, &c), 1 << 16);
    assert_int_equal(caucus_grid_gradient(&g, -2, 2, &c), -(1 << 16));
    assert_int_equal(caucus_grid_gradient(&g, -1, 2, &c), -(1 << 15));
    assert_int_equal(caucus_grid_gradient(&g, 0, 2, &c), 0);
    assert_true(c.low == 0 && c.high == 0 && c.nan == 0);
    assert_int_equal(caucus_grid_gradient(&g, 1e300, 2, &c), 1 << 16);
    assert_int_equal(caucus_grid_gradient(&g, -INFINITY, 2, &c), -(1 << 16));
    assert_int_equal(caucus_grid_gradient(&g, (double)NAN, 2, &c), 1 << 16);
    assert_true(c.low == 1 && c.high == 1 && c.nan == 1);
}

/* Inputs near everything that could go wrong: halves, borders, denormals, infinities, NaN of both signs. */
static double hard_value(const caucus_grid *g, unsigned i) {
    double width = g->hi - g->lo, step = width / (double)g->steps;
    switch (next_word() % (i % 3 == 0 ? 14 : 3)) {
    case 0:
        return g->lo + width * next_unit();
    case 1:
        return g->lo + step * ((double)(next_word() % (uint64_t)g->steps) + 0.5);
    case 2:
        return g->lo + step * (double)(next_word() % (uint64_t)(g->steps + 1));
    case 3:
        return nextafter(g->hi, INFINITY);
    case 4:
        return nextafter(g->lo, -INFINITY);
    case 5:
        return (double)NAN;
    case 6:
        return -(double)NAN;
    case 7:
        return INFINITY;
    case 8:
        return -INFINITY;
    case 9:
        return 5e-324;
    case 10:
        return -5e-324;
    case 11:
        return (double)FLT_MAX;
    case 12:
        return (double)FLT_TRUE_MIN;
    default:
        return -0.0;
    }
}

#define ROOM 300
/* All lengths up to 70 and some beyond, at odd offsets: vector bodies, tails and misalignment. */
#define COMPARE_ROWS(in_type, out_type, fast, reference)                                                               \
    do {                                                                                                               \
        in_type loss[ROOM];                                                                                            \
        out_type a[ROOM], b[ROOM];                                                                                     \
        for (size_t n = 0; n < ROOM - 4; n += n < 70 ? 1 : 37)                                                         \
            for (size_t shift = 0; shift < 4; shift++) {                                                               \
                bool calm = next_word() % 2 == 0;                                                                      \
                for (unsigned i = 0; i < ROOM; i++) {                                                                  \
                    loss[i] = (in_type)(calm ? g.lo + (g.hi - g.lo) * next_unit() : hard_value(&g, i));                \
                    a[i] = b[i] = (out_type)(next_word() >> 40);                                                       \
                }                                                                                                      \
                caucus_clips x = {1, 2, 3}, y = x;                                                                     \
                fast(&g, a + shift, loss + shift, n, &x);                                                              \
                reference(&g, b + shift, loss + shift, n, &y);                                                         \
                assert_memory_equal(a, b, sizeof a);                                                                   \
                assert_memory_equal(&x, &y, sizeof x);                                                                 \
                rows++;                                                                                                \
            }                                                                                                          \
    } while (0)

static void rows_equal_the_reference(void **state) {
    (void)state;
    const caucus_grid grids[] = {{0, 1, 1 << 20},        {0, 1, 1 << 16},    {0, 1, 1},
                                 {0, 1, 1000003},        {0, 5, 1 << 20},    {-3, 0.7, 999},
                                 {1e-30, 1e30, 1 << 20}, {-1e200, 1e200, 77}};
    int rows = 0;
    for (size_t k = 0; k < sizeof grids / sizeof grids[0]; k++) {
        caucus_grid g = grids[k];
        COMPARE_ROWS(float, int64_t, caucus_grid_add_f32, caucus_grid_add_f32_ref);
        COMPARE_ROWS(double, int64_t, caucus_grid_add_f64, caucus_grid_add_f64_ref);
    }
    assert_true(rows > 2000);
}

/* Many rows at once are many rows: tiles, more rows than 32-bit sums can hold (all at the top of the grid), clips. */
static void rows_at_once_equal_rows_one_by_one(void **state) {
    (void)state;
    const caucus_grid grids[] = {{0, 1, 1 << 20}, {0, 1, 1000003}};
    const size_t shapes[][2] = {{1, 1}, {3, 2}, {100, 7}, {257, 5}, {600, 3}, {2, 5000}, {7, 2048}, {5, 0}};
    static float f[20000];
    static double g64[20000];
    for (size_t k = 0; k < 2; k++)
        for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++)
            for (int kind = 0; kind < 3; kind++) { /* within range, all at the top, hard */
                size_t d = shapes[shape][0], count = shapes[shape][1];
                for (unsigned i = 0; i < d * count; i++) {
                    g64[i] = kind == 0 ? next_unit() : kind == 1 ? 1 : hard_value(&grids[k], i);
                    f[i] = (float)g64[i];
                }
                int64_t a[600] = {5}, also[600] = {5}, b[600] = {5}, a64[600] = {5}, b64[600] = {5};
                caucus_clips x = {0}, y = {0}, x64 = {0}, y64 = {0};
                caucus_grid_add_rows_f32(&grids[k], a, kind == 1 ? NULL : also, f, d, count, &x);
                caucus_grid_add_rows_f64(&grids[k], a64, g64, d, count, &x64);
                for (size_t t = 0; t < count; t++) {
                    caucus_grid_add_f32_ref(&grids[k], b, f + t * d, d, &y);
                    caucus_grid_add_f64_ref(&grids[k], b64, g64 + t * d, d, &y64);
                }
                assert_memory_equal(a, b, sizeof a);
                assert_true(kind == 1 || memcmp(also, b, sizeof also) == 0);
                assert_memory_equal(a64, b64, sizeof a64);
                assert_memory_equal(&x, &y, sizeof x);
                assert_memory_equal(&x64, &y64, sizeof x64);
            }
}

/* Some cells of rows: those of the reference, one by one, of whole rows and of rows that hold no others; without sums
 * clips alone; and rows that are said to be within the range have none. */
static void cells_equal_the_reference(void **state) {
    (void)state;
    enum { D = 23, COUNT = 9 };
    const caucus_grid grids[] = {{0, 1, 1 << 20}, {0, 1, 1000003}, {-3, 0.7, 999}};
    unsigned within = 0;
    for (unsigned turn = 0; turn < 600; turn++) {
        const caucus_grid *g = &grids[turn % 3];
        const bool whole = turn % 2 == 0, calm = turn % 5 == 0;
        const size_t k = 1 + next_word() % D;
        float f[COUNT * D];
        double g64[COUNT * D];
        uint32_t first[COUNT];
        for (unsigned i = 0; i < COUNT * D; i++) {
            g64[i] = calm ? g->lo + (g->hi - g->lo) * next_unit() : hard_value(g, i);
            f[i] = (float)g64[i];
        }
        for (unsigned t = 0; t < COUNT; t++)
            first[t] = (uint32_t)(next_word() % D);
        const caucus_grid_cells cells = {
            .d = D, .k = k, .count = COUNT, .stride = whole ? D : k, .first = first, .whole = whole};
        int64_t a[D] = {5}, b[D] = {5}, a64[D] = {5}, b64[D] = {5};
        caucus_clips x = {0}, y = {0}, x64 = {0}, y64 = {0}, alone = {0};
        for (size_t t = 0; t < COUNT; t++)
            for (size_t j = 0; j < k; j++) {
                const size_t expert = (first[t] + j) % D, at = t * cells.stride + (whole ? expert : j);
                b[expert] += caucus_grid_loss(g, (double)f[at], &y);
                b64[expert] += caucus_grid_loss(g, g64[at], &y64);
            }
        caucus_grid_add_cells_f32(g, a, f, &cells, &x);
        caucus_grid_add_cells_f64(g, a64, g64, &cells, &x64);
        caucus_grid_add_cells_f32(g, NULL, f, &cells, &alone);
        assert_memory_equal(a, b, sizeof a);
        assert_memory_equal(a64, b64, sizeof a64);
        assert_memory_equal(&x, &y, sizeof x);
        assert_memory_equal(&x64, &y64, sizeof x64);
        assert_memory_equal(&alone, &y, sizeof alone);
        if (caucus_grid_within_f32(g, f, (whole ? D : k) * COUNT)) {
            assert_true(y.low == 0 && y.high == 0 && y.nan == 0);
            within++;
        }
    }
    assert_true(within > 10);
}

/* Every float exponent, both signs, through the single-precision path and the double one. */
static void single_precision_path_is_exact(void **state) {
    (void)state;
    caucus_grid g = {0, 1, 1 << 20};
    for (uint32_t high = 0; high < 1u << 14; high++) {
        float loss[64];
        int64_t a[64] = {0}, b[64] = {0};
        for (unsigned i = 0; i < 64; i++) {
            uint32_t bits = high << 18 | (uint32_t)(next_word() >> 46);
            memcpy(&loss[i], &bits, sizeof bits);
        }
        caucus_clips x = {0}, y = {0};
        caucus_grid_add_f32(&g, a, loss, 64, &x);
        caucus_grid_add_f32_ref(&g, b, loss, 64, &y);
        assert_memory_equal(a, b, sizeof a);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_and_halves),          cmocka_unit_test(outside_is_moved_and_counted),
        cmocka_unit_test(rounding_costs_half_a_step), cmocka_unit_test(gradients),
        cmocka_unit_test(rows_equal_the_reference),   cmocka_unit_test(single_precision_path_is_exact),
        cmocka_unit_test(cells_equal_the_reference),  cmocka_unit_test(rows_at_once_equal_rows_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
