/* SPDX-License-Identifier: Apache-2.0 */
/* adversary_means.c: losses of 0 and 1 that are coins with given means: bernoulli, shifting, drifting, and the fair
 * coins of lower-bound-oblivious.
 * layer: sim
 *
 * The loss of (client, round, expert) is 1 if draw number round*d + expert of the client's key is below 2^32 times
 *      mean(round, expert) + spread*z(client, expert),    clamped to [0, 1 - 2^-32],
 * z standard normal, drawn once per client. bernoulli has one mean per expert, shifting one per expert and segment,
 * drifting a walk. Rows of equal means are made together: their thresholds are repeated over a table ("tiled") and read
 * in a straight line, as in adversary_random.c. */
#include "sim/adversary_impl.h"

typedef caucus_adversary_trial trial_t;

uint32_t caucus_adversary_threshold(double mean) {
    const double scaled = mean * 0x1p32;
    return scaled <= 0 ? 0 : scaled >= 0x1p32 - 1 ? UINT32_MAX : (uint32_t)scaled;
}

/* What client and expert differ by: spread*z for `count` experts from `first` on; zeros without a spread. */
static void draw_offsets(const trial_t *trial, caucus_fast_key key, uint32_t first, uint32_t count, float *ret) {
    const float spread = (float)trial->adversary->spread;
    if (spread > 0)
        caucus_fast_normal(caucus_fast_child(key, CAUCUS_ADVERSARY_LABEL_SPREAD), first, count, ret);
    for (uint32_t n = 0; n < count; n++)
        ret[n] = spread > 0 ? spread * ret[n] : 0.0f;
}

static void set_thresholds(const double *mean, const float *offset, uint32_t count, uint32_t *ret) {
    for (uint32_t n = 0; n < count; n++)
        ret[n] = caucus_adversary_threshold(mean[n] + (double)offset[n]);
}

/* The rows of a plain bernoulli: one table for all clients, made with the trial. */
static void fill_plain(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const size_t d = trial->adversary->experts;
    caucus_fast_key key = caucus_adversary_client_key(trial, client);
    CAUCUS_FOR_PIECES(d, first, count,
                      caucus_fast_bernoulli(key, begin + at, piece, trial->threshold + phase, ret + at));
}

/* `count` rows of equal means, few experts: a table of this client's own, repeated. */
static void fill_narrow(const trial_t *trial, caucus_fast_key key, const double *mean, uint64_t first, uint64_t count,
                        float *ret) {
    const uint32_t d = trial->adversary->experts;
    float offset[CAUCUS_FAST_RUN];
    uint32_t threshold[2 * CAUCUS_FAST_RUN];
    draw_offsets(trial, key, 0, d, offset);
    set_thresholds(mean, offset, d, threshold);
    const uint64_t draws = count * d, needed = d + (draws < CAUCUS_FAST_RUN ? draws : CAUCUS_FAST_RUN);
    for (size_t k = d; k < needed; k++)
        threshold[k] = threshold[k - d];
    CAUCUS_FOR_PIECES(d, first, count, caucus_fast_bernoulli(key, begin + at, piece, threshold + phase, ret + at));
}

/* The same with many experts: a piece of them after the other, all rows of each. */
static void fill_broad(const trial_t *trial, caucus_fast_key key, const double *mean, uint64_t first, uint64_t count,
                       float *ret) {
    const uint32_t d = trial->adversary->experts;
    float offset[CAUCUS_FAST_RUN];
    uint32_t threshold[CAUCUS_FAST_RUN];
    for (uint32_t n = 0; n < d; n += CAUCUS_FAST_RUN) {
        const uint32_t piece = d - n < CAUCUS_FAST_RUN ? d - n : CAUCUS_FAST_RUN;
        draw_offsets(trial, key, n, piece, offset);
        set_thresholds(mean + n, offset, piece, threshold);
        for (uint64_t row = 0; row < count; row++)
            caucus_fast_bernoulli(key, (first + row) * d + n, piece, threshold, ret + row * d + n);
    }
}

/* bernoulli (one segment as far as its means go) and shifting, from the table of means. */
static void fill_segments(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, uint64_t segments,
                          float *ret) {
    const caucus_adversary *adversary = trial->adversary;
    const size_t d = adversary->experts;
    const caucus_fast_key key = caucus_adversary_client_key(trial, client);
    while (count > 0) {
        const uint64_t segment = first * segments / adversary->rounds;
        const uint64_t end = ((segment + 1) * adversary->rounds + segments - 1) / segments;
        const uint64_t rows = end - first < count ? end - first : count;
        (d <= CAUCUS_FAST_RUN ? fill_narrow : fill_broad)(trial, key, trial->means + segment * d, first, rows, ret);
        first += rows;
        count -= rows;
        ret += rows * d;
    }
}

static void fill_bernoulli(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    if (trial->threshold != NULL)
        fill_plain(trial, client, first, count, ret);
    else
        fill_segments(trial, client, first, count, 1, ret);
}

static void fill_shifting(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    fill_segments(trial, client, first, count, trial->adversary->segments, ret);
}

typedef struct walking {
    caucus_fast_key key;
    uint32_t d, expert, count; /* experts expert .. expert+count-1 */
    uint64_t first, end;       /* rows that are wanted; the first is row 0 of ret */
    uint64_t step_rows;        /* rows of one mean */
    float offset[CAUCUS_WALK_WIDTH];
    float *ret;
} walking;

static void walk_row(void *user, uint64_t step, const double *mean) {
    const walking *w = user;
    uint32_t threshold[CAUCUS_WALK_WIDTH];
    set_thresholds(mean, w->offset, w->count, threshold);
    uint64_t row = step * w->step_rows, end = row + w->step_rows;
    row = row < w->first ? w->first : row;
    end = end > w->end ? w->end : end;
    for (; row < end; row++)
        caucus_fast_bernoulli(w->key, row * w->d + w->expert, w->count, threshold,
                              w->ret + (row - w->first) * w->d + w->expert);
}

static void fill_drifting(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const uint32_t d = trial->adversary->experts;
    const uint64_t rows = caucus_adversary_step_rows(trial->adversary), end = first + count;
    walking w = {.key = caucus_adversary_client_key(trial, client),
                 .d = d,
                 .first = first,
                 .end = end,
                 .step_rows = rows,
                 .ret = ret};
    for (; count > 0 && w.expert < d; w.expert += w.count) {
        w.count = d - w.expert < CAUCUS_WALK_WIDTH ? d - w.expert : CAUCUS_WALK_WIDTH;
        draw_offsets(trial, w.key, w.expert, w.count, w.offset);
        caucus_adversary_walk(trial, w.expert, w.count, first / rows, (end - 1) / rows - first / rows + 1, walk_row,
                              &w);
    }
}

/* One source for all clients. */
static void fill_coins(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    (void)client;
    fill_plain(trial, 0, first, count, ret);
}

static bool draw_bernoulli(trial_t *trial) {
    const caucus_adversary *adversary = trial->adversary;
    return adversary->spread > 0 ? caucus_adversary_draw_means(trial, 1)
                                 : caucus_adversary_draw_thresholds(trial, adversary->mean_lo, adversary->mean_hi);
}

static bool draw_shifting(trial_t *trial) {
    return caucus_adversary_draw_means(trial, trial->adversary->segments);
}

static bool draw_coins(trial_t *trial) {
    return caucus_adversary_draw_thresholds(trial, 0.5, 0.5);
}

static caucus_status check_shifting(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                                    caucus_error *ret_error) {
    (void)settings;
    if (adversary->segments <= CAUCUS_SEGMENT_MEANS_MAX / adversary->experts)
        return CAUCUS_OK;
    return caucus_fail(ret_error, CAUCUS_E_RANGE, "segments",
                       "%llu (accepted by shifting with %u experts: at most %llu; each has a mean per expert)",
                       (unsigned long long)adversary->segments, adversary->experts,
                       (unsigned long long)(CAUCUS_SEGMENT_MEANS_MAX / adversary->experts));
}

const caucus_adversary_ops caucus_adversary_BERNOULLI = {
    .class = {.iid_rounds = true, .iid_clients = true},
    .highest = 1,
    .means = true,
    .draw = draw_bernoulli,
    .fill = fill_bernoulli,
};

/* Independent draws, but not from one distribution. */
const caucus_adversary_ops caucus_adversary_SHIFTING = {
    .highest = 1,
    .means = true,
    .check = check_shifting,
    .draw = draw_shifting,
    .fill = fill_shifting,
};

const caucus_adversary_ops caucus_adversary_DRIFTING = {
    .highest = 1,
    .means = true,
    .draw = caucus_adversary_draw_walk,
    .fill = fill_drifting,
};

/* Fair coins that all clients share are independent over rounds only. */
const caucus_adversary_ops caucus_adversary_LOWER_BOUND_OBLIVIOUS = {
    .class = {.iid_rounds = true},
    .highest = 1,
    .draw = draw_coins,
    .fill = fill_coins,
};
