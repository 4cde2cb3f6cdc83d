/* phase_gradient.c: convex losses: the gradient estimates along a path of a DP-FW tree, in integers.
 *
 * V is b*v of the paper. At a root V = sum of quantised gradients at the current mixture. At a right child at
 * depth h, V = V(parent) + 2^h * sum of gradient differences between the current mixture and the parent's, each
 * clamped to [-C_h, C_h]: the clamp, not the loss's smoothness, is what bounds one sample's influence
 * (docs/PRIVACY.md, "Trees"). The callback gets doubles made by one division from exact integer weights; its
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

/* value[y] += sum over the leaf's samples of G(l, x). */
static void add_gradients(caucus_client *c, uint32_t first_round, int64_t *value) {
    uint32_t d = c->plan->settings.experts;
    double alpha = c->plan->settings.lipschitz;
    for (uint32_t s = 0; s < c->leaf.count; s++) {
        c->gradient(c->gradient_user, first_round + s, c->x, c->slope);
        for (uint32_t y = 0; y < d; y++)
            value[y] += caucus_grid_gradient(&c->grid, c->slope[y], alpha, &c->clips);
    }
}

/* value[y] += 2^h * sum over the leaf's samples of clamp(G(l, x) - G(l, x_parent)). */
static void add_differences(caucus_client *c, uint32_t first_round, int64_t limit, int64_t *here, int64_t *value) {
    uint32_t d = c->plan->settings.experts;
    double alpha = c->plan->settings.lipschitz;
    for (uint32_t s = 0; s < c->leaf.count; s++) {
        c->gradient(c->gradient_user, first_round + s, c->x, c->slope);
        for (uint32_t y = 0; y < d; y++)
            here[y] = caucus_grid_gradient(&c->grid, c->slope[y], alpha, &c->clips);
        c->gradient(c->gradient_user, first_round + s, c->x_parent, c->slope);
        for (uint32_t y = 0; y < d; y++) {
            int64_t there = caucus_grid_gradient(&c->grid, c->slope[y], alpha, &c->clips);
            value[y] += clamped(here[y] - there, limit) * ((int64_t)1 << c->leaf.depth);
        }
    }
}

void caucus_phase_client_convex(caucus_client *c, bool increment) {
    assert(c->gradient);
    size_t d = c->plan->settings.experts;
    const caucus_stoch_phase *phase = &c->plan->stoch.phase[c->heard.block - 2];
    uint32_t first_round = caucus_phase_start(c->heard.block - 1) + c->leaf.offset;
    uint32_t h = c->leaf.depth;
    int64_t *top = c->stack + h * d;
    uint64_t *top_x = c->stack_x + h * d;
    memcpy(top_x, c->weights.count, d * sizeof *top_x);
    c->stack_mass[h] = caucus_weights_mass(&c->weights);
    as_mixture(top_x, c->stack_mass[h], (uint32_t)d, c->x);
    /* The increment is gathered in c->value; the leaf's report overwrites it below where V itself is wanted. */
    memset(c->value, 0, d * sizeof *c->value);
    if (h == 0) {
        add_gradients(c, first_round, c->value);
        memcpy(top, c->value, d * sizeof *top);
    } else {
        as_mixture(top_x - d, c->stack_mass[h - 1], (uint32_t)d, c->x_parent);
        add_differences(c, first_round, phase->clamp[h], top, c->value);
        const int64_t *parent = top - d;
        for (size_t y = 0; y < d; y++)
            top[y] = parent[y] + c->value[y];
    }
    for (uint32_t below = h + 1; below <= c->leaf.tree; below++) { /* left children copy */
        memcpy(c->stack + below * d, top, d * sizeof *top);
        memcpy(c->stack_x + below * d, top_x, d * sizeof *top_x);
        c->stack_mass[below] = c->stack_mass[h];
    }
    if (!increment)
        memcpy(c->value, c->stack + c->leaf.tree * d, d * sizeof *c->value);
}
