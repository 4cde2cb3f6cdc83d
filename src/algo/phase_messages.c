/* SPDX-License-Identifier: Apache-2.0 */
/* phase_messages.c: stoch under trust nobody: what becomes of messages that are private by themselves.
 *
 * Everything here is post-processing of private messages, so using all of them again in later phases is free
 * (docs/PRIVACY.md, statement 21):
 *  - votes: V <- V/2 + votes; the winner is the expert with the largest V among those voted for in this phase;
 *  - noisy sums: each phase's mean is weighted by the inverse of its variance (plan/message_weight.h).
 * With a longest phase what is best may change, and an average over all phases would never notice: there each choice
 * is made from the last phase alone.
 * All in integers, so that every machine announces the same expert. */
#include <stdlib.h>
#include <string.h>

#include "algo/coordinator.h"
#include "num/checked.h"
#include "plan/message_weight.h"

#define VOTE_UNIT ((int64_t)1 << 20) /* one vote; twenty halvings before a vote is forgotten */

size_t caucus_coordinator_stack_rows(const caucus_coordinator *c) {
    return (size_t)caucus_stoch_trees(c->plan) + 1;
}

caucus_status caucus_phase_messages_new(caucus_coordinator *c) {
    size_t d = c->plan->settings.experts;
    c->stack = calloc(caucus_coordinator_stack_rows(c) * d, sizeof *c->stack);
    c->votes = calloc(d, sizeof *c->votes);
    c->votes_now = calloc(d, sizeof *c->votes_now);
    c->mean_num = calloc(d, sizeof *c->mean_num);
    c->mean_den = calloc(d, sizeof *c->mean_den);
    return c->stack && c->votes && c->votes_now && c->mean_num && c->mean_den ? CAUCUS_OK : CAUCUS_E_MEMORY;
}

/* The largest accumulated vote among experts with a vote in this phase; nobody voted: the expert in force stays. */
static uint32_t most_votes(caucus_coordinator *c) {
    uint32_t d = c->plan->settings.experts, best = c->now.expert, ties = 0;
    caucus_stream stream;
    caucus_coordinator_stream(c, &stream, CAUCUS_PURPOSE_TIE, c->now.block, 0);
    for (uint32_t y = 0; y < d; y++) {
        if (c->votes_now[y] == 0)
            continue;
        if (ties == 0 || c->votes[y] > c->votes[best]) {
            best = y;
            ties = 1;
        } else if (c->votes[y] == c->votes[best]) { /* the k-th of equals replaces the choice with probability 1/k */
            ties++;
            if (caucus_uniform(&stream, ties) == 0)
                best = y;
        }
    }
    caucus_stream_wipe(&stream);
    return best;
}

/* The experts with the most accumulated votes, most first, ties to the lower number; none without a vote, ever. */
static void fill_shortlist(caucus_coordinator *c) {
    caucus_announcement *a = &c->now;
    for (uint32_t y = 0; y < c->plan->settings.experts; y++) {
        if (c->votes[y] == 0)
            continue;
        uint32_t at = a->listed;
        while (at > 0 && c->votes[a->list[at - 1]] < c->votes[y])
            at--;
        if (at >= CAUCUS_SHORTLIST)
            continue;
        uint32_t last = a->listed < CAUCUS_SHORTLIST ? a->listed++ : CAUCUS_SHORTLIST - 1;
        memmove(&a->list[at + 1], &a->list[at], (last - at) * sizeof a->list[0]);
        a->list[at] = y;
    }
}

void caucus_phase_count_votes(caucus_coordinator *c) {
    uint32_t d = c->plan->settings.experts;
    for (uint32_t y = 0; y < d; y++) {
        const int64_t before = caucus_stoch_forgets(c->plan) ? 0 : c->votes[y] / 2;
        c->votes[y] = before + (int64_t)c->votes_now[y] * VOTE_UNIT;
    }
    uint32_t winner = most_votes(c);
    memset(c->votes_now, 0, d * sizeof *c->votes_now);
    if (c->plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST && c->answered > 0) {
        caucus_coordinator_announce(c, CAUCUS_ASK_SHORTLIST, c->now.block, 0);
        fill_shortlist(c);
        return;
    }
    c->now.expert = winner;
    caucus_coordinator_selected(c);
    caucus_phase_finish(c);
}

uint64_t caucus_phase_records(const caucus_coordinator *c) {
    return caucus_settings_means(&c->plan->settings) ? 1 : caucus_coordinator_phase(c)->samples;
}

static uint64_t phase_weight(const caucus_coordinator *c, const caucus_noise *noise, uint32_t dimension) {
    return caucus_message_weight(c->plan->grid, noise, caucus_phase_records(c), dimension);
}

/* Add this phase's noisy sum of expert y. `value` is summed over the clients that answered. */
static void accumulate(caucus_coordinator *c, uint32_t y, int64_t value, uint64_t weight) {
    if (caucus_stoch_forgets(c->plan))
        c->mean_num[y] = c->mean_den[y] = 0;
    c->mean_num[y] += (caucus_i128)value * (caucus_i128)weight;
    c->mean_den[y] += (caucus_i128)weight * (caucus_i128)caucus_phase_records(c) * c->answered;
}

/* Accumulated mean of expert y in grid units times 2^16. |num| < 2^63 * 2^13 * phases, so the shift stays in 127
 * bits. */
static caucus_i128 mean_of(const caucus_coordinator *c, uint32_t y) {
    return c->mean_num[y] * ((caucus_i128)1 << 16) / c->mean_den[y];
}

void caucus_phase_decide_shortlist(caucus_coordinator *c) {
    caucus_announcement *a = &c->now;
    uint32_t best = a->list[0];
    if (c->answered > 0) {
        uint64_t weight = phase_weight(c, &caucus_coordinator_phase(c)->shortlist_noise, a->listed);
        for (uint32_t i = 0; i < a->listed; i++)
            accumulate(c, a->list[i], c->sum[i], weight);
        for (uint32_t i = 1; i < a->listed; i++) /* ties stay with the one more voted for */
            if (mean_of(c, a->list[i]) < mean_of(c, best))
                best = a->list[i];
    }
    a->expert = best;
    caucus_coordinator_selected(c);
    caucus_phase_finish(c);
}

/* Trees: the clients sent the noisy increment of one vertex; add it to its parent's. Saturating: one lying client can
 * place a sum at the end of its range, and a path has several. */
static const int64_t *leaf_sum(caucus_coordinator *c) {
    size_t d = c->plan->settings.experts;
    int64_t *top = c->stack + c->leaf.depth * d;
    if (c->leaf.depth == 0)
        memset(top, 0, d * sizeof *top);
    else
        memcpy(top, top - d, d * sizeof *top);
    for (size_t y = 0; y < d; y++)
        top[y] = caucus_add_saturating(top[y], c->sum[y]);
    for (uint32_t below = c->leaf.depth + 1; below <= c->leaf.tree; below++)
        memcpy(c->stack + below * d, top, d * sizeof *top);
    return c->stack + c->leaf.tree * d;
}

uint32_t caucus_phase_noisy_winner(caucus_coordinator *c) {
    uint32_t d = c->plan->settings.experts, best = 0;
    if (c->answered == 0)
        return c->now.expert;
    if (caucus_coordinator_phase(c)->trees > 0 || c->plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX) {
        /* Gradients at different mixtures are not samples of one mean: no accumulation. */
        const int64_t *v = leaf_sum(c);
        for (uint32_t y = 1; y < d; y++)
            if (v[y] < v[best])
                best = y;
        return best;
    }
    uint64_t weight = phase_weight(c, &caucus_coordinator_phase(c)->vertex_noise[0], d);
    for (uint32_t y = 0; y < d; y++)
        accumulate(c, y, c->sum[y], weight);
    for (uint32_t y = 1; y < d; y++)
        if (mean_of(c, y) < mean_of(c, best))
            best = y;
    return best;
}
