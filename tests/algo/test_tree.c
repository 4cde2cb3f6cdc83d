/* SPDX-License-Identifier: Apache-2.0 */
/* test_tree.c: the order in which DP-FW visits its trees, and how samples are dealt out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algo/schedule.h"
#include "algo/tree.h"

/* For every depth: 2^(T1+1)-2 leaves, one new vertex before each, tree j uses b(1 + j/2) samples, slices follow one
 * another and never overlap: a sample is in at most one vertex. */
static void test_layout(void **state) {
    (void)state;
    for (uint32_t trees = 1; trees <= 7; trees++) {
        uint32_t batch = 3u << trees, leaves = 0, tree = 1;
        uint64_t used = 0, in_tree = 0;
        caucus_leaf leaf;
        caucus_leaf_first(&leaf, trees, batch);
        do {
            if (leaf.tree != tree) {
                assert_int_equal(in_tree, batch + batch * tree / 2);
                assert_int_equal(leaf.path, 0);
                in_tree = 0;
                tree = leaf.tree;
            }
            assert_int_equal(leaf.number, leaves);
            assert_int_equal(leaf.offset, used);
            assert_true(leaf.depth <= leaf.tree);
            assert_int_equal(leaf.depth == 0, leaf.path == 0);
            assert_int_equal(leaf.count, batch >> leaf.depth);
            if (leaf.path > 0) /* a right child: the path to it ends in a 1 at its depth */
                assert_int_equal((leaf.path >> (leaf.tree - leaf.depth)) & 1, 1);
            used += leaf.count;
            in_tree += leaf.count;
            leaves++;
        } while (caucus_leaf_next(&leaf));
        assert_int_equal(tree, trees);
        assert_int_equal(in_tree, batch + batch * trees / 2);
        assert_int_equal(leaves, caucus_tree_leaves(trees));
        assert_int_equal(leaves, (2u << trees) - 2);
        assert_int_equal(4 * used, batch * trees * (trees + 5)); /* b T1 (T1+5)/4 */
    }
}

static void test_root_only(void **state) {
    (void)state;
    caucus_leaf leaf;
    caucus_leaf_first(&leaf, 0, 17);
    assert_int_equal(leaf.tree, 0);
    assert_int_equal(leaf.depth, 0);
    assert_int_equal(leaf.count, 17);
    assert_false(caucus_leaf_next(&leaf));
    assert_int_equal(caucus_tree_leaves(0), 1);
}

/* Blocks cover every round once, also where T is no multiple of N, N > T, or T = 1. */
static void test_blocks(void **state) {
    (void)state;
    static const uint32_t cases[][2] = {{10, 3},      {9, 3}, {1, 1}, {1, 5}, {512, 30}, {7, 7}, {1u << 30, 1u << 30},
                                        {1u << 30, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        caucus_settings s;
        caucus_settings_init(&s);
        s.rounds = cases[i][0];
        s.interval = cases[i][1];
        uint64_t blocks = ((uint64_t)s.rounds + s.interval - 1) / s.interval;
        assert_int_equal(caucus_block_end(&s, 0), 0);
        assert_int_equal(caucus_block_end(&s, (uint32_t)blocks), s.rounds);
        assert_int_equal(caucus_blocks_rounds(&s, 1, (uint32_t)blocks), s.rounds);
        if (blocks > 1) {
            assert_int_equal(caucus_blocks_rounds(&s, 1, 1), s.interval);
            uint64_t rest = s.rounds % s.interval;
            assert_int_equal(caucus_blocks_rounds(&s, (uint32_t)blocks, (uint32_t)blocks), rest ? rest : s.interval);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_root_only),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
