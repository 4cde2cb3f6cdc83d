/* SPDX-License-Identifier: Apache-2.0 */
/* adversary_random.c: losses that are drawn afresh in every round: gaussian, realizable and cross-entropy. Coins are in
 * adversary_means.c.
 * layer: sim
 *
 * Draw number e = round*d + expert belongs to (round, expert), so a run of rounds is one run of draws whatever d is; it
 * is made in pieces of at most CAUCUS_FAST_RUN, each starting at expert e mod d of the tiled tables. */
#include "sim/adversary_impl.h"
#include "sim/convex.h"

typedef caucus_adversary_trial trial_t;

static void fill_uniform(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const size_t d = trial->adversary->experts;
    caucus_fast_uniform(caucus_adversary_client_key(trial, client), first * d, count * d, ret);
    for (size_t row = 0; row < count; row++)
        ret[row * d + trial->hidden] = 0.0f;
}

static void fill_gaussian(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const size_t d = trial->adversary->experts;
    caucus_fast_key key = caucus_adversary_client_key(trial, client);
    CAUCUS_FOR_PIECES(
        d, first, count,
        caucus_fast_normal_clamped(key, begin + at, piece, trial->mean + phase, trial->deviation + phase, ret + at));
}

/* 1 - y_n*K (convex.h), y = e^score over its sum. */
static void fill_cross_entropy(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const size_t d = trial->adversary->experts;
    caucus_fast_key key = caucus_adversary_client_key(trial, client);
    CAUCUS_FOR_PIECES(
        d, first, count,
        caucus_fast_lognormal(key, begin + at, piece, trial->mean + phase, trial->deviation + phase, ret + at));
    for (size_t row = 0; row < count; row++) {
        float *loss = ret + row * d;
        caucus_fast_complement((float)((double)trial->adversary->gain / caucus_fast_sum(loss, d)), d, loss);
    }
}

void caucus_adversary_scores(const trial_t *trial, uint32_t client, uint64_t round, uint32_t first, uint32_t count,
                             float *ret) {
    caucus_fast_lognormal(caucus_adversary_client_key(trial, client), round * trial->adversary->experts + first, count,
                          trial->mean + first, trial->deviation + first, ret);
}

static caucus_status note_gain(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                               caucus_error *ret_error) {
    (void)settings, (void)ret_error;
    adversary->gain = (float)caucus_convex_gain(adversary->experts);
    return CAUCUS_OK;
}

const caucus_adversary_ops caucus_adversary_GAUSSIAN = {
    .class = {.iid_rounds = true, .iid_clients = true},
    .highest = 1,
    .draw = caucus_adversary_draw_normals,
    .fill = fill_gaussian,
};

/* The hidden expert never errs and the others' losses are independent: it is both. */
const caucus_adversary_ops caucus_adversary_REALIZABLE = {
    .class = {.faultless = true, .iid_rounds = true, .iid_clients = true},
    .highest = 1,
    .draw = caucus_adversary_draw_hidden,
    .fill = fill_uniform,
};

const caucus_adversary_ops caucus_adversary_CROSS_ENTROPY = {
    .class = {.iid_rounds = true, .iid_clients = true},
    .highest = 1,
    .convex = true,
    .check = note_gain,
    .draw = caucus_adversary_draw_normals,
    .fill = fill_cross_entropy,
};
