/* SPDX-License-Identifier: Apache-2.0 */
/* phase_client.c: the client of stoch (Fed-DP-OPE-Stoch): learns from one phase, plays in the next.
 *
 * Linear losses need no samples in memory: each root's slice is a running sum, and right vertices add exactly 0
 * because the gradient does not depend on where it is taken. Under trust nobody every loss enters exactly one
 * message (a vote, a vertex's increment), drawn once. */
#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include <caucus/select.h>

#include "algo/machine.h"
#include "algo/schedule.h"
#include "algo/wipe.h"
#include "dp/wide.h"
#include "num/vector.h"
#include "plan/stoch/evaluate.h"
#include "rng/words.h"

static caucus_status phase_new(caucus_client *c, const caucus_client *first) {
    const caucus_plan *plan = c->plan;
    size_t d = plan->settings.experts, roots = caucus_phase_root_rows(plan), rows = caucus_phase_stack_rows(plan);
    c->phase = 1;
    c->trees = caucus_stoch_trees(plan);
    c->walks = c->trees > 0 || plan->settings.loss_shape != CAUCUS_LOSS_SHAPE_LINEAR;
    c->shares_common = first != NULL;
    if (first)
        c->common = first->common;
    else if (caucus_common_new(plan, &c->common) != CAUCUS_OK)
        return CAUCUS_E_MEMORY;
    if (roots > 0)
        c->root = calloc(roots * d, sizeof *c->root);
    if (rows > 0)
        c->stack = calloc(rows * d, sizeof *c->stack);
    const bool keeps = caucus_phase_value_rows(plan) > 0;
    if (keeps)
        c->own_value = calloc(d, sizeof *c->own_value);
    bool ok = (roots == 0 || c->root) && (rows == 0 || c->stack) && (!keeps || c->own_value);
    return ok ? CAUCUS_OK : CAUCUS_E_MEMORY;
}

static void phase_free(caucus_client *c) {
    size_t row = c->plan->settings.experts * sizeof(int64_t);
    caucus_wipe_free(c->root, caucus_phase_root_rows(c->plan) * row);
    caucus_wipe_free(c->stack, caucus_phase_stack_rows(c->plan) * row);
    caucus_wipe_free(c->own_value, row);
    if (!c->shares_common)
        caucus_common_free(c->plan, c->common);
}

/* The stream of this phase's draws, where the last of them left it. Kept as a place: an open stream is larger than the
 * whole machine, and there may be a million of them. */
static void open_play(caucus_stream *ret, const caucus_client *c) {
    if (c->play_words == 0)
        caucus_stream_init(ret, &c->key, CAUCUS_PURPOSE_PLAY, c->phase, c->play_index, c->play_lane);
    else
        caucus_stream_resume(ret, &c->key, CAUCUS_PURPOSE_PLAY, c->phase, c->play_index, c->play_lane, c->play_words);
}

static void close_play(caucus_stream *stream, caucus_client *c) {
    c->play_words = caucus_stream_drawn(stream);
    caucus_stream_wipe(stream);
}

/* An expert for one round, from the integer weights: one exact uniform draw. Post-processing of what was announced. */
static uint32_t draw_expert(const caucus_client *c, caucus_stream *play) {
    const caucus_weights *weights = &c->common->weights;
    return caucus_weights_at(weights, caucus_uniform(play, caucus_weights_mass(weights)));
}

static caucus_rows rows_from(const caucus_client *c, caucus_rows rows, uint64_t row) {
    size_t cells = row * c->plan->settings.experts;
    return (caucus_rows){.f64 = rows.f64 ? rows.f64 + cells : NULL, .f32 = rows.f32 ? rows.f32 + cells : NULL};
}

/* Add rows of the losses of phase p - 1 to the running sums of the roots that phase p will use. */
static void add_to_roots(caucus_client *c, uint64_t sample, caucus_rows rows, uint64_t rounds) {
    uint32_t d = c->plan->settings.experts;
    const caucus_stoch_phase *next = caucus_stoch_phase_of(c->plan, c->phase + 1);
    caucus_leaf leaf;
    caucus_leaf_first(&leaf, next->trees, next->batch);
    do {
        if (leaf.depth != 0)
            continue; /* a right vertex: linear losses add 0 there */
        int64_t *root = c->root + (size_t)(leaf.tree ? leaf.tree - 1 : 0) * d;
        uint64_t from = leaf.offset > sample ? leaf.offset : sample;
        uint64_t end = leaf.offset + leaf.count < sample + rounds ? leaf.offset + leaf.count : sample + rounds;
        if (from < end)
            caucus_rows_add(c, root, rows_from(c, rows, from - sample), end - from);
    } while (caucus_leaf_next(&leaf));
}

/* Pay for what was played, and draw what comes next. */
static void play_rows(caucus_client *c, caucus_rows rows, uint64_t rounds) {
    size_t d = c->plan->settings.experts;
    caucus_stream play;
    if (c->mixed)
        open_play(&play, c);
    for (uint64_t r = 0; r < rounds; r++) {
        c->cost += caucus_rows_loss(c, rows, r * d + c->expert);
        if (c->mixed)
            c->expert = draw_expert(c, &play);
    }
    if (c->mixed)
        close_play(&play, c);
}

static void phase_observe(caucus_client *c, caucus_rows rows, uint64_t rounds) {
    bool linear = c->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_LINEAR;
    bool used = linear && c->phase < c->plan->stoch.phases;
    if (caucus_evaluates_some(&c->plan->settings)) {
        caucus_phase_observe_some(c, rows, rounds);
        return;
    }
    if (used && !c->walks) { /* one root takes all: the expert's cost is what its sum grew by */
        int64_t before = c->root[c->expert];
        caucus_rows_add(c, c->root, rows, rounds);
        c->cost += c->root[c->expert] - before;
    } else if (linear) {
        if (used)
            add_to_roots(c, c->round + 1 - caucus_phase_first(c->plan, c->phase), rows, rounds);
        /* Losses out of range are counted once: adding up for the roots has looked at all of them, so that what
         * playing counts again is taken back. */
        caucus_clips clips = c->clips;
        play_rows(c, rows, rounds);
        if (used)
            c->clips = clips;
    }
    c->round += rounds;
}

/* Unit client-block: everything of a phase counts as one record, so its mean is what is reported; unit client: the mean
 * of everything so far. Out: ret [d], which may be `sum` itself. */
static void to_mean(const int64_t *sum, uint32_t d, int64_t n, int64_t *ret) {
    const caucus_ratio one = caucus_ratio_prepare(1, (uint64_t)n);
    for (uint32_t y = 0; y < d; y++)
        ret[y] = caucus_rounded_mean(sum[y], n, &one);
}

static void vote(caucus_client *c, const int64_t *value, const caucus_stoch_phase *phase) {
    caucus_stream stream;
    caucus_stream_init(&stream, &c->key, CAUCUS_PURPOSE_MESSAGE, c->heard.block, 0, 0);
    c->scalar = caucus_select_flip(&stream, value, c->plan->settings.experts, phase->vote_rate);
    caucus_stream_wipe(&stream);
}

/* The sums are not needed again after this answer, so it takes the place of the first of them. */
static void answer_shortlist(caucus_client *c, int64_t *value, const caucus_stoch_phase *phase) {
    int64_t sums[CAUCUS_SHORTLIST];
    for (uint32_t i = 0; i < c->heard.listed; i++)
        sums[i] = value[c->heard.list[i]];
    caucus_stream stream;
    caucus_stream_init(&stream, &c->key, CAUCUS_PURPOSE_SHORTLIST, c->heard.block, 0, 0);
    caucus_noise_add(&stream, &phase->shortlist_noise, sums, c->heard.listed);
    caucus_stream_wipe(&stream);
    memcpy(value, sums, c->heard.listed * sizeof *sums);
    sodium_memzero(sums, sizeof sums);
    c->report.value = value;
    c->report.count = c->heard.listed;
}

static void add_noise(caucus_client *c, int64_t *value, const caucus_noise *noise) {
    caucus_stream stream;
    caucus_stream_init(&stream, &c->key, CAUCUS_PURPOSE_MESSAGE, c->heard.block, c->heard.leaf, 0);
    caucus_noise_add(&stream, noise, value, c->plan->settings.experts);
    caucus_stream_wipe(&stream);
}

/* The leaf's estimate V (or, under trust nobody, the increment of the vertex just entered), before any noise. */
static int64_t *leaf_value(caucus_client *c, const caucus_stoch_phase *phase, bool increment) {
    uint32_t d = c->plan->settings.experts;
    if (c->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX) {
        if (c->heard.ask != CAUCUS_ASK_SHORTLIST)
            caucus_phase_client_convex(c, increment);
        return caucus_phase_value(c);
    }
    int64_t *root = c->root + (size_t)(c->leaf.tree ? c->leaf.tree - 1 : 0) * d;
    if (c->plan->settings.unit == CAUCUS_UNIT_CLIENT) { /* its sums go on */
        if (caucus_phase_counts(c->plan))
            caucus_phase_means_so_far(c, c->own_value);
        else if (c->heard.ask != CAUCUS_ASK_SHORTLIST)
            to_mean(root, d, (int64_t)phase->samples, c->own_value);
        return c->own_value;
    }
    if (c->plan->settings.unit == CAUCUS_UNIT_CLIENT_BLOCK && caucus_evaluates_some(&c->plan->settings))
        caucus_phase_means_of_some(c, root);
    else if (c->plan->settings.unit == CAUCUS_UNIT_CLIENT_BLOCK && c->heard.ask != CAUCUS_ASK_SHORTLIST)
        to_mean(root, d, (int64_t)phase->samples, root);
    if (!c->walks)
        return root;
    int64_t *value = c->common->value;
    if (increment && c->leaf.depth > 0)
        memset(value, 0, d * sizeof *value);
    else
        memcpy(value, root, d * sizeof *value);
    return value;
}

static void phase_report(caucus_client *c) {
    const caucus_stoch_phase *phase = caucus_stoch_phase_of(c->plan, c->heard.block);
    caucus_trust trust = c->plan->settings.trust;
    if (c->heard.ask != CAUCUS_ASK_SHORTLIST) { /* the shortlist follows the vote: same leaf */
        if (c->heard.leaf == 0)
            caucus_leaf_first(&c->leaf, phase->trees, phase->batch);
        else
            (void)caucus_leaf_next(&c->leaf);
        assert(c->leaf.number == c->heard.leaf);
    }
    bool increment = trust == CAUCUS_TRUST_NOBODY && c->heard.ask == CAUCUS_ASK_LEAF;
    int64_t *value = leaf_value(c, phase, increment);
    if (c->heard.ask == CAUCUS_ASK_VOTE) {
        vote(c, value, phase);
        return;
    }
    if (c->heard.ask == CAUCUS_ASK_SHORTLIST) {
        answer_shortlist(c, value, phase);
        return;
    }
    c->report.value = value;
    c->report.count = c->plan->settings.experts;
    if (trust == CAUCUS_TRUST_NOBODY)
        add_noise(c, value, &phase->vertex_noise[c->leaf.depth]);
    else if (trust == CAUCUS_TRUST_PAPER_LOCAL)
        add_noise(c, value, &phase->leaf_noise[c->leaf.tree]);
}

/* The phase's learning is over: play its result, and start summing for the next, or go on (unit client). */
static void begin_phase(caucus_client *c, uint64_t phase) {
    c->phase = phase;
    /* One row for each tree: known without looking at all phases, of which there may be very many. */
    if (c->root && c->plan->settings.unit != CAUCUS_UNIT_CLIENT)
        memset(c->root, 0, (size_t)(c->trees ? c->trees : 1) * c->plan->settings.experts * sizeof *c->root);
    c->mixed = c->walks && c->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_LINEAR &&
               caucus_weights_support(&c->common->weights) > 1;
    c->play_index = c->play_lane = 0;
    c->play_words = 0;
    if (c->mixed) {
        caucus_stream play;
        open_play(&play, c);
        c->expert = draw_expert(c, &play);
        close_play(&play, c);
    }
}

static void phase_hear(caucus_client *c, const caucus_asked *before) {
    c->expert = c->heard.expert;
    if (!before)
        return; /* phase 1 plays the initial expert */
    if (before->ask == CAUCUS_ASK_NOTHING)
        return;
    bool chosen = c->heard.ask != CAUCUS_ASK_SHORTLIST; /* a shortlist is not a choice */
    if (!chosen)
        return;
    if (c->walks && !c->shares_common) {
        if (before->leaf == 0)
            caucus_weights_reset(&c->common->weights);
        caucus_weights_push(&c->common->weights, c->heard.expert);
    }
    bool more = c->heard.ask == CAUCUS_ASK_LEAF && c->heard.block == before->block;
    if (!more)
        begin_phase(c, before->block);
}

/* The phase before the one that is asked about is played from its beginning, and what was seen of an earlier one is
 * forgotten: its step is decided. Who has not voted on a phase has nothing to say about its shortlist. */
static void phase_jump(caucus_client *c, const caucus_asked *before, bool made) {
    (void)before, (void)made;
    c->missed = c->heard.ask == CAUCUS_ASK_SHORTLIST;
    c->expert = c->heard.expert;
    begin_phase(c, c->heard.block - 1);
    c->round = caucus_phase_first(c->plan, c->missed ? c->heard.block : c->heard.block - 1) - 1;
}

caucus_status caucus_client_mixture(const caucus_client *c, double *ret, size_t ret_count) {
    uint32_t d = c->plan->settings.experts;
    if (ret_count < d)
        return CAUCUS_E_RANGE;
    const caucus_weights *weights = c->walks ? &c->common->weights : NULL;
    bool built = weights && caucus_weights_mass(weights) > 0;
    bool middle =
        c->walks && c->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX; /* phase 1: the middle of the simplex */
    for (uint32_t y = 0; y < d; y++) {
        if (built)
            ret[y] = caucus_weights_value(weights, y);
        else
            ret[y] = middle ? 1.0 / d : y == c->expert ? 1.0 : 0.0;
    }
    return CAUCUS_OK;
}

static size_t phase_rows(const caucus_plan *plan) {
    return caucus_phase_root_rows(plan) + caucus_phase_stack_rows(plan) + caucus_phase_value_rows(plan);
}

const caucus_client_ops caucus_phase_client = {
    .new = phase_new,
    .free = phase_free,
    .rows = phase_rows,
    .may_ask = caucus_phase_may_ask,
    .may_jump = caucus_phase_may_jump,
    .jump = phase_jump,
    .observe = phase_observe,
    .report = phase_report,
    .hear = phase_hear,
    .pack = caucus_phase_pack,
    .sound = caucus_phase_sound,
};
