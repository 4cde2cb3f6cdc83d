/* SPDX-License-Identifier: Apache-2.0 */
/* phase_gradient.c: convex losses: the gradient estimates along a path of a DP-FW tree, in integers.
 *
 * V is b*v of the paper. At a root V = sum of quantised gradients at the current mixture. At a right child at
 * depth h, V = V(parent) + 2^h * sum of gradient differences between the current mixture and the parent's, each
 * clamped to [-C_h, C_h]: the clamp, not the loss's smoothness, is what bounds one sample's influence
 * (docs/PRIVACY.md, statement 13). The callback gets doubles made by one division from exact integer weights; its
 * answers are rounded to the grid at once, and everything after is integer. */
#include <assert.h>
#include <string.h>

#include "algo/client.h"
#include "algo/schedule.h"

static void as_mixture(const uint64_t *count, uint64_t mass, uint32_t d, double *ret) {
    for (uint32_t y = 0; y < d; y++)
        ret[y] = mass ? (double)count[y] / (double)mass : 1.0 / d;
}

static int64_t clamped(int64_t v, int64_t limit) {
    return v > limit ? limit : v < -limit ? -limit : v;
}

/* G(l, x) of the sample of one round, in steps of the grid, into the space for one that all clients share. */
static const int64_t *gradient_at(caucus_client *c, uint64_t round, const double *x) {
    const uint32_t d = c->plan->settings.experts;
    const caucus_common *w = c->common;
    c->gradient(c->gradient_user, round, x, w->slope, d);
    for (uint32_t y = 0; y < d; y++)
        w->here[y] = caucus_grid_gradient(&c->grid, w->slope[y], c->plan->settings.lipschitz, &c->clips);
    return w->here;
}

/* value[y] += sum over the leaf's samples of G(l, x). */
static void add_gradients(caucus_client *c, uint64_t first_round, int64_t *value) {
    for (uint64_t s = 0; s < c->leaf.count; s++) {
        const int64_t *here = gradient_at(c, first_round + s, c->common->x);
        for (uint32_t y = 0; y < c->plan->settings.experts; y++)
            value[y] += here[y];
    }
}

/* value[y] += 2^h * sum over the leaf's samples of clamp(G(l, x) - G(l, x_parent)). */
static void add_differences(caucus_client *c, uint64_t first_round, int64_t limit, int64_t *value) {
    uint32_t d = c->plan->settings.experts;
    double alpha = c->plan->settings.lipschitz;
    const caucus_common *w = c->common;
    for (uint64_t s = 0; s < c->leaf.count; s++) {
        const int64_t *here = gradient_at(c, first_round + s, w->x);
        c->gradient(c->gradient_user, first_round + s, w->x_parent, w->slope, d);
        for (uint32_t y = 0; y < d; y++) {
            int64_t there = caucus_grid_gradient(&c->grid, w->slope[y], alpha, &c->clips);
            value[y] += clamped(here[y] - there, limit) * ((int64_t)1 << c->leaf.depth);
        }
    }
}

/* Note the mixture at the vertex just entered, and at the left children below it. */
static void enter_mixture(caucus_common *w, const caucus_leaf *leaf, size_t d) {
    uint64_t *top_x = w->stack_x + leaf->depth * d;
    memcpy(top_x, w->weights.count, d * sizeof *top_x);
    w->stack_mass[leaf->depth] = caucus_weights_mass(&w->weights);
    as_mixture(top_x, w->stack_mass[leaf->depth], (uint32_t)d, w->x);
    if (leaf->depth > 0)
        as_mixture(top_x - d, w->stack_mass[leaf->depth - 1], (uint32_t)d, w->x_parent);
    for (uint32_t below = leaf->depth + 1; below <= leaf->tree; below++) {
        memcpy(w->stack_x + below * d, top_x, d * sizeof *top_x);
        w->stack_mass[below] = w->stack_mass[leaf->depth];
    }
}

/* From the increment of the vertex just entered to V of the leaf, in `value`. Row h of c->stack is V at depth h, which
 * the right child at depth h + 1 will ask for; nobody asks again after that child, so its own V takes the row. */
static void climb(caucus_client *c, int64_t *value, size_t d) {
    uint32_t h = c->leaf.depth;
    for (size_t y = 0; h > 0 && y < d; y++)
        value[y] += c->stack[(h - 1) * d + y];
    for (uint32_t row = h > 0 ? h - 1 : 0; row < c->leaf.tree; row++)
        memcpy(c->stack + row * d, value, d * sizeof *value);
}

void caucus_phase_client_convex(caucus_client *c, bool increment) {
    assert(c->gradient);
    size_t d = c->plan->settings.experts;
    const caucus_stoch_phase *phase = caucus_stoch_phase_of(c->plan, c->heard.block);
    uint64_t first_round = caucus_phase_first(c->plan, c->heard.block - 1) + c->leaf.offset;
    int64_t *value = caucus_phase_value(c);
    enter_mixture(c->common, &c->leaf, d);
    memset(value, 0, d * sizeof *value);
    if (c->leaf.depth == 0)
        add_gradients(c, first_round, value);
    else
        add_differences(c, first_round, phase->clamp[c->leaf.depth], value);
    if (!increment)
        climb(c, value, d);
}
