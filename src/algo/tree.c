/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c: walking the trees of DP-FW leaf by leaf. See tree.h. */
#include "algo/tree.h"

void caucus_leaf_first(caucus_leaf *leaf, uint32_t trees, uint64_t batch) {
    *leaf = (caucus_leaf){.trees = trees, .batch = batch, .tree = trees ? 1 : 0, .count = batch};
}

bool caucus_leaf_next(caucus_leaf *leaf) {
    if (leaf->number + 1 >= caucus_tree_leaves(leaf->trees))
        return false;
    leaf->number++;
    leaf->offset += leaf->count;
    leaf->path++;
    if (leaf->path == (uint32_t)1 << leaf->tree) { /* next tree, at its root */
        leaf->tree++;
        leaf->path = 0;
        leaf->depth = 0;
        leaf->count = leaf->batch;
    } else {
        leaf->depth = leaf->tree - (uint32_t)__builtin_ctz(leaf->path);
        leaf->count = leaf->batch >> leaf->depth;
    }
    return true;
}

void caucus_leaf_at(caucus_leaf *leaf, uint32_t trees, uint64_t batch, uint32_t number) {
    caucus_leaf_first(leaf, trees, batch);
    while (leaf->number < number && caucus_leaf_next(leaf))
        continue;
}
