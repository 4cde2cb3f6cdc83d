/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h: the order in which DP-FW visits its trees (the paper's Algorithm 3, indexed by leaf).
 *
 * Tree j = 1..T1 has depth j and 2^j leaves. Between two consecutive leaves exactly one new vertex
 * that carries data is entered: the root (leaf 0, b samples) or a right child at depth h = j - ctz(u)
 * (b >> h samples); left children copy their parent. Samples are consecutive slices in visiting order, so
 * every sample is used in at most one vertex of one tree of one phase: the privacy proof needs this. */
#ifndef CAUCUS_ALGO_TREE_H
#define CAUCUS_ALGO_TREE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct caucus_leaf {
    uint64_t batch;  /* b */
    uint32_t trees;  /* T1; 0 = one root-only step */
    uint32_t number; /* of the leaf within the phase, from 0 */
    uint32_t tree;   /* j, 1..T1, or 0 for the root-only step */
    uint32_t path;   /* u, 0..2^j - 1 */
    uint32_t depth;  /* of the vertex entered just before this leaf: 0 = root */
    uint64_t offset; /* first sample of that vertex */
    uint64_t count;  /* its samples */
} caucus_leaf;

/* Leaves of a phase: K = 2^(T1+1) - 2, or 1. */
static inline uint32_t caucus_tree_leaves(uint32_t trees) {
    return trees ? ((uint32_t)2 << trees) - 2 : 1;
}

/* The first leaf, and the next one (false after the last); and leaf number `number` of a phase at once. */
void caucus_leaf_first(caucus_leaf *leaf, uint32_t trees, uint64_t batch);
bool caucus_leaf_next(caucus_leaf *leaf);
void caucus_leaf_at(caucus_leaf *leaf, uint32_t trees, uint64_t batch, uint32_t number);

#endif
