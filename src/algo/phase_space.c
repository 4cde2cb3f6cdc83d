/* SPDX-License-Identifier: Apache-2.0 */
/* phase_space.c: the memory of stoch's clients: which vectors a plan needs, and what clients have in common. */
#include <stdlib.h>

#include "algo/client.h"
#include "algo/wipe.h"
#include "num/hand_over.h"
#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"

static bool is_linear(const caucus_plan *plan) {
    return plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_LINEAR;
}

/* Unit client with few evaluations: behind the sums stands how often each expert was evaluated, in all rounds so far;
 * to count that anew for every report would take as long as the rounds themselves. */
size_t caucus_phase_root_rows(const caucus_plan *plan) {
    size_t trees = caucus_stoch_trees(plan);
    return !is_linear(plan) ? 0 : caucus_phase_counts(plan) ? 2 : trees ? trees : 1;
}

bool caucus_phase_counts(const caucus_plan *plan) {
    return plan->settings.unit == CAUCUS_UNIT_CLIENT && caucus_evaluates_some(&plan->settings);
}

size_t caucus_phase_stack_rows(const caucus_plan *plan) {
    bool increments = plan->settings.trust == CAUCUS_TRUST_NOBODY;
    return is_linear(plan) || increments ? 0 : caucus_stoch_trees(plan);
}

/* A vote uses its sums up at once, so clients in one process can make them in one place. A shortlist asks for some of
 * the same sums again, after the other clients have voted. Linear losses keep theirs in c->root anyway; but under unit
 * client those are added to until the end, and what is reported is made beside them. */
size_t caucus_phase_value_rows(const caucus_plan *plan) {
    if (plan->settings.unit == CAUCUS_UNIT_CLIENT)
        return 1;
    return !is_linear(plan) && plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST ? 1 : 0;
}

int64_t *caucus_phase_value(const caucus_client *c) {
    return c->own_value ? c->own_value : c->common ? c->common->value : NULL;
}

caucus_status caucus_common_new(const caucus_plan *plan, caucus_common **ret) {
    size_t d = plan->settings.experts, trees = caucus_stoch_trees(plan);
    bool linear = is_linear(plan);
    const bool some = caucus_evaluates_some(&plan->settings) && plan->settings.unit == CAUCUS_UNIT_CLIENT_BLOCK;
    *ret = NULL;
    if (trees == 0 && linear && !some)
        return CAUCUS_OK;
    caucus_common *c = calloc(1, sizeof *c);
    if (!c)
        return CAUCUS_E_MEMORY;
    if (some) { /* no trees, linear: nothing else */
        c->evaluated = calloc(d, sizeof *c->evaluated);
        *ret = c->evaluated ? c : NULL;
        if (!c->evaluated)
            free(c);
        return *ret ? CAUCUS_OK : CAUCUS_E_MEMORY;
    }
    bool ok =
        (c->value = calloc(d, sizeof *c->value)) != NULL && caucus_weights_init(&c->weights, (uint32_t)d) == CAUCUS_OK;
    if (ok && !linear) {
        c->stack_x = calloc((trees + 1) * d, sizeof *c->stack_x);
        c->x = calloc(d, sizeof *c->x);
        c->x_parent = calloc(d, sizeof *c->x_parent);
        c->slope = calloc(d, sizeof *c->slope);
        c->here = calloc(d, sizeof *c->here);
        ok = c->stack_x && c->x && c->x_parent && c->slope && c->here;
    }
    const caucus_status status = ok ? CAUCUS_OK : CAUCUS_E_MEMORY;
    return CAUCUS_HAND_OVER(status, ret, c, caucus_common_free(plan, c));
}

void caucus_common_free(const caucus_plan *plan, caucus_common *c) {
    if (!c)
        return;
    size_t d = plan->settings.experts;
    caucus_wipe_free(c->evaluated, d * sizeof *c->evaluated);
    caucus_wipe_free(c->value, d * sizeof *c->value);
    caucus_wipe_free(c->slope, d * sizeof *c->slope);
    caucus_wipe_free(c->here, d * sizeof *c->here);
    if (c->weights.count) /* mixtures are public; but all of a machine's memory is blank when it goes */
        caucus_weights_reset(&c->weights);
    caucus_weights_free(&c->weights);
    caucus_wipe_free(c->stack_x, (caucus_stoch_trees(plan) + 1) * d * sizeof *c->stack_x);
    caucus_wipe_free(c->x, d * sizeof *c->x);
    caucus_wipe_free(c->x_parent, d * sizeof *c->x_parent);
    caucus_wipe_free(c, sizeof *c);
}
