/* SPDX-License-Identifier: Apache-2.0 */
/* bench_vector.c: the coordinator's and the simulator's inner loops against what the machine's memory can do.
 *
 * From memory: rows of d = 100 int64 from a buffer far larger than any cache, added to one accumulator, against
 * memcpy of the same bytes, by turns in the same run; bytes read are counted once on both sides. In cache: the same
 * row again and again. Selections and the grid are timed alone.   usage: bench_vector [--json] */
#include "bench.h"
#include "num/grid.h"
#include "num/vector.h"

#include <caucus/select.h>

enum { D = 100, ROWS = 400000, TURNS = 9, D_LARGE = 10000, BATCH = 64 }; /* 320 MB of rows */

typedef struct rows {
    int64_t *from, *to;
    _Alignas(64) int64_t acc[D];
    _Alignas(64) int64_t out[D];
    _Alignas(64) float loss[BATCH * D];
    int64_t *score;
    uint32_t d;
    caucus_stream stream;
    uint64_t sink;
} rows;

static const caucus_grid unit_grid = {0, 1, 1 << 20};
static const caucus_rational select_rate = {1, 1 << 20};

static void add_rows(void *argument) {
    rows *r = argument;
    for (size_t i = 0; i < ROWS; i++)
        caucus_vector_add_i64(r->acc, r->from + i * D, D);
}

static void add_rows_clamped(void *argument) {
    rows *r = argument;
    for (size_t i = 0; i < ROWS; i++)
        caucus_vector_add_clamped_i64(r->acc, r->from + i * D, D, 0, 1 << 20);
}

static void copy_rows(void *argument) {
    rows *r = argument;
    memcpy(r->to, r->from, sizeof *r->from * ROWS * D);
}

enum { CACHED = 64000, SELECTIONS = 2000 };

static void add_cached(void *argument) {
    rows *r = argument;
    for (int i = 0; i < CACHED; i++)
        caucus_vector_add_i64(r->acc, r->out, D);
}

static void add_losses(void *argument) {
    rows *r = argument;
    caucus_clips clips = {0};
    for (int i = 0; i < CACHED; i++)
        caucus_grid_add_f32(&unit_grid, r->acc, r->loss, D, &clips);
    r->sink += clips.high;
}

static void add_loss_rows(void *argument) {
    rows *r = argument;
    caucus_clips clips = {0};
    for (int i = 0; i < CACHED / BATCH; i++)
        caucus_grid_add_rows_f32(&unit_grid, r->acc, NULL, r->loss, D, BATCH, &clips);
    r->sink += clips.high;
}

static void add_losses_plainly(void *argument) {
    rows *r = argument;
    caucus_clips clips = {0};
    for (int i = 0; i < CACHED; i++)
        caucus_grid_add_f32_ref(&unit_grid, r->acc, r->loss, D, &clips);
    r->sink += clips.high;
}

static void select_exponential(void *argument) {
    rows *r = argument;
    for (int i = 0; i < SELECTIONS; i++)
        r->sink += caucus_select_exponential(&r->stream, r->score, r->d, select_rate);
}

static void select_flip(void *argument) {
    rows *r = argument;
    for (int i = 0; i < SELECTIONS; i++)
        r->sink += caucus_select_flip(&r->stream, r->score, r->d, select_rate);
}

static int make_rows(rows *r) {
    r->from = malloc(sizeof *r->from * ROWS * D);
    r->to = malloc(sizeof *r->to * ROWS * D);
    r->score = malloc(sizeof *r->score * D_LARGE);
    if (!r->from || !r->to || !r->score)
        return -1;
    for (size_t i = 0; i < (size_t)ROWS * D; i++)
        r->from[i] = (int64_t)(i * 2654435761u % (1u << 20));
    memset(r->to, 1, sizeof *r->to * ROWS * D);
    for (int i = 0; i < D; i++) {
        r->out[i] = i;
        for (int row = 0; row < BATCH; row++)
            r->loss[row * D + i] = (float)i / (D - 1);
    }
    for (uint32_t i = 0; i < D_LARGE;
         i++) /* gaps of up to 16 in the exponent: about one expert in sixteen is a contender */
        r->score[i] = (int64_t)(i * 2654435761u % (16u << 20));
    caucus_key key;
    caucus_key_from_seed(1, &key);
    caucus_stream_init(&r->stream, &key, CAUCUS_PURPOSE_TEST, 0, 0, 0);
    return 0;
}

static void print_figure(bool json, bool last, const char *name, const char *words, double value, const char *unit,
                         const char *goal) {
    if (json)
        printf("\"%s\": %.4g%s", name, value, last ? "" : ", ");
    else
        printf("  %-46s %8.3g %-8s %s\n", words, value, unit, goal);
}

int main(int argc, char **argv) {
    bool json = bench_wants_json(argc, argv);
    char where[200];
    static rows r;
    if (make_rows(&r) != 0) {
        fprintf(stderr, "bench_vector: needs 640 MB of memory\n");
        return 1;
    }
    bench_where(where, sizeof where);
    printf(json ? "{\"where\": \"%s\", " : "%s\n\n", where);
    const double bytes = (double)sizeof(int64_t) * ROWS * D;
    bench_pair plain = bench_side_by_side(copy_rows, &r, add_rows, &r, TURNS);
    bench_pair clamped = bench_side_by_side(copy_rows, &r, add_rows_clamped, &r, TURNS);
    bench_pair loops = bench_side_by_side(add_losses_plainly, &r, add_losses, &r, TURNS);
    bench_pair many = bench_side_by_side(add_losses_plainly, &r, add_loss_rows, &r, TURNS);
    bench_pair cached = bench_side_by_side(add_cached, &r, add_cached, &r, TURNS);
    print_figure(json, false, "copy_gb_s", "memcpy, large buffers", bytes / plain.a * 1e-9, "GB/s", "");
    print_figure(json, false, "add_gb_s", "adding rows of 100 from memory", bytes / plain.b * 1e-9, "GB/s", "");
    print_figure(json, false, "add_of_copy", "  as a fraction of memcpy", plain.ratio, "", "goal 0.8 or more");
    print_figure(json, false, "add_clamped_of_copy", "  clamped to a report's range", clamped.ratio, "",
                 "goal 0.8 or more");
    print_figure(json, false, "add_cached_gb_s", "adding one row again and again", 8.0 * D * CACHED / cached.a * 1e-9,
                 "GB/s", "");
    print_figure(json, false, "grid_ns", "float loss to grid and sum, per loss", loops.b / CACHED / D * 1e9, "ns",
                 "goal below 0.25");
    print_figure(json, false, "grid_rows_ns", "  many rows at once", many.b / (CACHED / BATCH * BATCH) / D * 1e9, "ns",
                 "");
    print_figure(json, false, "grid_speedup", "  times as fast as the plain loop", loops.ratio, "", "");
    const uint32_t sizes[] = {D, D_LARGE};
    for (int i = 0; i < 2; i++) {
        r.d = sizes[i];
        bench_pair pair = bench_side_by_side(select_exponential, &r, select_flip, &r, 5);
        char name[64], words[64];
        snprintf(name, sizeof name, "exponential_%u_us", r.d);
        snprintf(words, sizeof words, "exponential mechanism, d = %u", r.d);
        print_figure(json, false, name, words, pair.a / SELECTIONS * 1e6, "us", "");
        snprintf(name, sizeof name, "flip_%u_us", r.d);
        snprintf(words, sizeof words, "permute-and-flip, d = %u", r.d);
        print_figure(json, i == 1, name, words, pair.b / SELECTIONS * 1e6, "us", "");
    }
    printf(json ? "}\n" : "\n");
    volatile uint64_t keep = r.sink + (uint64_t)r.acc[0]; /* so that nothing is optimised away */
    (void)keep;
    caucus_stream_wipe(&r.stream);
    free(r.from);
    free(r.to);
    free(r.score);
    return 0;
}
