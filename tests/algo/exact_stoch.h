/* SPDX-License-Identifier: Apache-2.0 */
/* exact_stoch.h: the exact law of one phase of Fed-DP-OPE-Stoch for two experts (test_exact_stoch.c,
 * test_exact_renyi.c).
 *
 * A transcript is the expert selected at each leaf. Selections depend on scores only through the gap V(1) - V(0),
 * so a leaf's law is a table by gap. Each leaf enters one vertex with data (algo/tree.h, the walk the product itself
 * uses), hence vertices are numbered by leaf: the vertex adds 2^depth times the sum of its samples' gaps. A sample's
 * gap is in [-R, R] at a root and, being a clamped difference of gradients, in [-2C, 2C] elsewhere. Gradients may
 * depend on x, that is on the selections so far, in any way at all; but the ratio P(w)/P'(w) of one transcript w only
 * sees the gradients along w, so fixed gaps per vertex lose nothing. */
#ifndef CAUCUS_TESTS_EXACT_STOCH_H
#define CAUCUS_TESTS_EXACT_STOCH_H

#include "dp/exact.h"

#include "algo/tree.h"
#include "plan/plan.h"

#define STOCH_LEAVES_MAX 6 /* two trees */

typedef struct exact_stoch {
    uint32_t leaves, transcripts;
    caucus_leaf leaf[STOCH_LEAVES_MAX];
    int64_t sample[STOCH_LEAVES_MAX]; /* largest gap of one sample in this vertex, already times 2^depth */
    int64_t unit[STOCH_LEAVES_MAX];   /* 2^depth: gaps of a vertex are multiples of it */
    int64_t others[STOCH_LEAVES_MAX]; /* largest gap of all other samples of this vertex together */
    int64_t widest;                   /* no leaf's gap is larger */
    long double *log_law[3];          /* by tree: ln P(expert w) at [2*(gap + widest) + w] */
} exact_stoch;

static inline void exact_stoch_build(exact_stoch *ret, const caucus_plan *plan, const caucus_stoch_phase *phase) {
    const caucus_stoch_plan *stoch = &plan->stoch;
    int64_t range = stoch->gradient_hi - stoch->gradient_lo, clients = plan->settings.clients;
    memset(ret, 0, sizeof *ret);
    ret->leaves = caucus_tree_leaves(phase->trees);
    ret->transcripts = (uint32_t)1 << ret->leaves;
    assert_true(ret->leaves <= STOCH_LEAVES_MAX);
    caucus_leaf leaf;
    caucus_leaf_first(&leaf, phase->trees, phase->batch);
    for (uint32_t k = 0; k < ret->leaves; k++) {
        ret->leaf[k] = leaf;
        ret->unit[k] = (int64_t)1 << leaf.depth;
        ret->sample[k] = leaf.depth == 0 ? range : 2 * phase->clamp[leaf.depth] * ret->unit[k];
        ret->others[k] = (clients * (int64_t)leaf.count - 1) * ret->sample[k];
        ret->widest += ret->sample[k] + ret->others[k];
        assert_true(leaf.count >= 1);
        assert_int_equal(caucus_leaf_next(&leaf), k + 1 < ret->leaves);
    }
    assert_true(ret->leaf[ret->leaves - 1].offset + ret->leaf[ret->leaves - 1].count <= phase->samples);
    for (uint32_t j = phase->trees ? 1 : 0; j <= phase->trees; j++) {
        ret->log_law[j] = malloc(sizeof(long double) * (size_t)(4 * ret->widest + 2));
        assert_non_null(ret->log_law[j]);
        for (int64_t gap = -ret->widest; gap <= ret->widest; gap++) {
            const int64_t score[2] = {0, gap};
            long double law[2];
            exact_select_law(stoch->select, score, 2, phase->select_rate[j], law);
            ret->log_law[j][2 * (gap + ret->widest)] = logl(law[0]);
            ret->log_law[j][2 * (gap + ret->widest) + 1] = logl(law[1]);
        }
    }
}

static inline void exact_stoch_free(exact_stoch *world) {
    for (uint32_t j = 0; j < 3; j++) {
        free(world->log_law[j]);
    }
}

/* ln P of every transcript, bit k of its number being the expert selected at leaf k; gap[k]: what vertex k adds. */
static inline void exact_stoch_law(const exact_stoch *world, const int64_t *gap, long double *ret) {
    long double at[STOCH_LEAVES_MAX][2];
    int64_t stack[CAUCUS_TREES_MAX + 1];
    for (uint32_t k = 0; k < world->leaves; k++) {
        const caucus_leaf *leaf = &world->leaf[k];
        int64_t value = gap[k] + (leaf->depth > 0 ? stack[leaf->depth - 1] : 0);
        for (uint32_t h = leaf->depth; h <= leaf->tree; h++) {
            stack[h] = value; /* left children copy their parent */
        }
        assert_true(value >= -world->widest && value <= world->widest);
        at[k][0] = world->log_law[leaf->tree][2 * (value + world->widest)];
        at[k][1] = world->log_law[leaf->tree][2 * (value + world->widest) + 1];
    }
    ret[0] = 0;
    for (uint32_t k = 0, half = 1; k < world->leaves; k++, half *= 2) {
        for (uint32_t t = 0; t < half; t++) {
            ret[t + half] = ret[t] + at[k][1];
            ret[t] += at[k][0];
        }
    }
}

/* Visit all pairs of phases that differ in one sample: every vertex, every gap of the sample before and after, and the
 * other samples of each vertex at one of three levels (all one way, balanced, all the other way). Returns how many. */
typedef void stoch_visit(const exact_stoch *world, const long double *a, const long double *b, void *context);
static inline uint64_t exact_stoch_pairs(const exact_stoch *world, stoch_visit *visit, void *context) {
    uint32_t levels = 1;
    uint64_t pairs = 0;
    for (uint32_t k = 0; k < world->leaves; k++) {
        levels *= 3;
    }
    for (uint32_t level = 0; level < levels; level++) {
        int64_t gap[STOCH_LEAVES_MAX];
        for (uint32_t k = 0, rest = level; k < world->leaves; k++, rest /= 3) {
            gap[k] = ((int64_t)(rest % 3) - 1) * world->others[k];
        }
        for (uint32_t v = 0; v < world->leaves; v++) {
            int64_t base = gap[v], count = 2 * world->sample[v] / world->unit[v] + 1;
            long double law[256][1 << STOCH_LEAVES_MAX];
            assert_true(count <= 256);
            for (int64_t i = 0; i < count; i++) {
                gap[v] = base - world->sample[v] + i * world->unit[v];
                exact_stoch_law(world, gap, law[i]);
                for (int64_t other = 0; other < i; other++, pairs++) {
                    visit(world, law[i], law[other], context);
                }
            }
            gap[v] = base;
        }
    }
    return pairs;
}

static inline void stoch_visit_ratio(const exact_stoch *world, const long double *a, const long double *b,
                                     void *context) {
    for (uint32_t t = 0; t < world->transcripts; t++) {
        exact_raise(context, fabsl(a[t] - b[t]));
    }
}

static inline long double exact_stoch_epsilon(const exact_stoch *world) {
    long double worst = 0;
    assert_true(exact_stoch_pairs(world, stoch_visit_ratio, &worst) > 0);
    return worst;
}

/* The phase of a plan with this many trees, the last such. */
static inline const caucus_stoch_phase *exact_stoch_phase(const caucus_plan *plan, uint32_t trees) {
    for (uint64_t p = plan->stoch.phases; p >= 2; p--) {
        if (plan->stoch.phase[p - 2].trees == trees) {
            return &plan->stoch.phase[p - 2];
        }
    }
    fail_msg("the plan has no phase with %u trees", trees);
    return NULL;
}

#endif
