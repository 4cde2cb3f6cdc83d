/* adversary_fill.c: rows of losses.
 * layer: sim
 *
 * Draw number e = round*d + expert belongs to (round, expert), so a run of rounds is one run of draws whatever d is; it
 * is made in pieces of at most CAUCUS_FAST_RUN, each starting at expert e mod d of the tiled tables. */
#include "sim/adversary_impl.h"

#include <assert.h>
#include <string.h>

#define LABEL_CLIENT (UINT64_C(1) << 32) /* above the labels of adversary_trial.c */

typedef caucus_adversary_trial trial_t;

static caucus_fast_key client_key(const trial_t *trial, uint32_t client) {
    return caucus_fast_child(trial->key, LABEL_CLIENT + client);
}

static void fill_uniform(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const size_t d = trial->adversary->experts;
    caucus_fast_uniform(client_key(trial, client), first * d, count * d, ret);
    for (size_t row = 0; row < count; row++)
        ret[row * d + trial->hidden] = 0.0f;
}

/* Calls `draw` for pieces of a run of rows; `phase` is the expert a piece begins with. */
#define FOR_PIECES(d, first, count, draw)                                                                              \
    do {                                                                                                               \
        uint64_t begin = (first) * (d), left = (count) * (d);                                                          \
        size_t phase = 0, at = 0;                                                                                      \
        while (left > 0) {                                                                                             \
            size_t piece = left < CAUCUS_FAST_RUN ? (size_t)left : CAUCUS_FAST_RUN;                                    \
            draw;                                                                                                      \
            at += piece;                                                                                               \
            left -= piece;                                                                                             \
            phase = (phase + piece) % (d);                                                                             \
        }                                                                                                              \
    } while (0)

static void fill_gaussian(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const size_t d = trial->adversary->experts;
    caucus_fast_key key = client_key(trial, client);
    FOR_PIECES(
        d, first, count,
        caucus_fast_normal_clamped(key, begin + at, piece, trial->mean + phase, trial->deviation + phase, ret + at));
}

static void fill_bernoulli(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const size_t d = trial->adversary->experts;
    caucus_fast_key key = client_key(trial, client);
    FOR_PIECES(d, first, count, caucus_fast_bernoulli(key, begin + at, piece, trial->threshold + phase, ret + at));
}

/* 1 - y_n*K (convex.h), y = e^score over its sum. */
static void fill_cross_entropy(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const size_t d = trial->adversary->experts;
    caucus_fast_key key = client_key(trial, client);
    FOR_PIECES(d, first, count,
               caucus_fast_lognormal(key, begin + at, piece, trial->mean + phase, trial->deviation + phase, ret + at));
    for (size_t row = 0; row < count; row++) {
        float *loss = ret + row * d;
        caucus_fast_complement((float)((double)trial->adversary->gain / caucus_fast_sum(loss, d)), d, loss);
    }
}

void caucus_adversary_scores(const trial_t *trial, uint32_t client, uint64_t round, uint32_t first, uint32_t count,
                             float *ret) {
    caucus_fast_lognormal(client_key(trial, client), round * trial->adversary->experts + first, count,
                          trial->mean + first, trial->deviation + first, ret);
}

/* Block r = 1, 2, ... leaves ceil(keep/2) of the experts good, the first of the hidden order, until one is left. */
static void fill_halving(const trial_t *trial, uint64_t first, uint64_t count, float *ret) {
    const uint32_t d = trial->adversary->experts, blocks = 32u - (uint32_t)__builtin_clz(d - 1); /* ceil(log2 d) */
    uint64_t length = trial->adversary->rounds / (blocks + 1);
    length = length == 0 ? 1 : length;
    for (size_t row = 0; row < count; row++) {
        uint64_t block = (first + row) / length;
        uint32_t keep = d;
        for (uint32_t r = 0; r <= block && r < blocks; r++)
            keep = keep / 2 + keep % 2;
        for (uint32_t n = 0; n < d; n++)
            ret[row * d + n] = block < blocks && trial->rank[n] >= keep ? 1.0f : 0.0f;
    }
}

/* At round t experts 0 .. floor(t/T*(d-1)) of the hidden order are bad; the last one never is. */
static void fill_creeping(const trial_t *trial, uint64_t first, uint64_t count, float *ret) {
    const uint32_t d = trial->adversary->experts;
    for (size_t row = 0; row < count; row++) {
        uint32_t bad = (uint32_t)((first + row) * (uint64_t)(d - 1) / trial->adversary->rounds);
        for (uint32_t n = 0; n < d; n++)
            ret[row * d + n] = trial->rank[n] <= bad ? 1.0f : 0.0f;
    }
}

static void fill_lower_bound(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const caucus_adversary *adversary = trial->adversary;
    const uint32_t d = adversary->experts;
    uint64_t quiet = adversary->clients * adversary->rounds - adversary->elements;
    for (size_t row = 0; row < count; row++) {
        uint64_t element = (first + row) * adversary->clients + (client - 1);
        for (uint32_t n = 0; n < d; n++)
            ret[row * d + n] = element >= quiet && n != trial->hidden ? 1.0f : 0.0f;
    }
}

/* A client's users stand together in the permutation, so that they stay the same when more clients come. */
static void fill_movielens(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const caucus_adversary *adversary = trial->adversary;
    const size_t d = adversary->experts;
    for (size_t row = 0; row < count; row++) {
        uint32_t user = trial->user[(size_t)(client - 1) * adversary->rounds + first + row];
        memcpy(ret + row * d, adversary->user_losses + user * d, d * sizeof *ret);
    }
}

static void check(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count) {
    const caucus_adversary *adversary = trial->adversary;
    assert(client >= 1 && client <= adversary->clients);
    assert(first <= adversary->rounds && count <= adversary->rounds - first);
    (void)adversary, (void)client, (void)first, (void)count;
}

void caucus_adversary_fill(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    check(trial, client, first, count);
    switch (trial->adversary->kind) {
    case CAUCUS_ADVERSARY_GAUSSIAN:
        fill_gaussian(trial, client, first, count, ret);
        break;
    case CAUCUS_ADVERSARY_BERNOULLI:
        fill_bernoulli(trial, client, first, count, ret);
        break;
    case CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS:
        fill_bernoulli(trial, 0, first, count, ret); /* one source for all clients */
        break;
    case CAUCUS_ADVERSARY_REALIZABLE:
        fill_uniform(trial, client, first, count, ret);
        break;
    case CAUCUS_ADVERSARY_HALVING:
        fill_halving(trial, first, count, ret);
        break;
    case CAUCUS_ADVERSARY_CREEPING:
        fill_creeping(trial, first, count, ret);
        break;
    case CAUCUS_ADVERSARY_CROSS_ENTROPY:
        fill_cross_entropy(trial, client, first, count, ret);
        break;
    case CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE:
        fill_lower_bound(trial, client, first, count, ret);
        break;
    case CAUCUS_ADVERSARY_MOVIELENS:
        fill_movielens(trial, client, first, count, ret);
        break;
    case CAUCUS_ADVERSARY_LOSSES:
        caucus_npy_fill(&trial->adversary->npy, client - 1, first, count, ret);
        break;
    case CAUCUS_ADVERSARY_COUNT:
        break; /* caucus_adversary_open refuses it */
    }
}

/* Floats are made where they belong, at the end of the doubles' own memory, and widened from the front: the double
 * written at k ends before the float still to be read at k + 1. */
void caucus_adversary_fill64(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, double *ret) {
    check(trial, client, first, count);
    if (trial->adversary->kind == CAUCUS_ADVERSARY_LOSSES) {
        caucus_npy_fill64(&trial->adversary->npy, client - 1, first, count, ret);
        return;
    }
    size_t values = count * trial->adversary->experts;
    float *narrow = (float *)(void *)ret + values;
    caucus_adversary_fill(trial, client, first, count, narrow);
    for (size_t k = 0; k < values; k++) {
        float value;
        memcpy(&value, (const char *)(const void *)narrow + k * sizeof value, sizeof value);
        ret[k] = (double)value;
    }
}
