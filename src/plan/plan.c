/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: settings in, an immutable plan out: calibrate, bound, and let the accountant judge the integers. */
#include "num/hand_over.h"
#include "plan/calibrate.h"
#include "plan/family.h"
#include "plan/text/plan_text.h"

#include <inttypes.h>
#include <stdlib.h>

#define GRID_FINE (1 << 20)
#define GRID_COARSE (1 << 16)

void caucus_plan_free(caucus_plan *plan) {
    if (!plan)
        return;
    const caucus_plan_ops *ops = caucus_plan_ops_of(plan);
    if (ops->free_part)
        ops->free_part(plan);
    free(plan->part);
    free(plan->names);
    free(plan->federation);
    free(plan->label);
    free(plan);
}

/* Limits: no sum of a run can leave 62 bits. A wrap would void every sensitivity, so it is excluded by public numbers
 * before the run starts: m*n*G for sums of losses over n rounds, T or those of the longest phase, and what a family
 * adds up besides. docs/PRIVACY.md, "The grid". */
caucus_status caucus_plan_limits_refuse(const caucus_plan *plan, const char *what, caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_OVERFLOW, "rounds",
                       "%s could leave 62 bits with %u clients, %" PRIu64 " rounds, grid %lld: "
                       "use fewer rounds or clients",
                       what, plan->settings.clients, plan->settings.rounds, (long long)plan->grid);
}

bool caucus_plan_limits_fit(caucus_u128 value) {
    return value >> 62 == 0;
}

caucus_status caucus_plan_limits(const caucus_plan *plan, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const caucus_plan_ops *ops = caucus_plan_ops_of(plan);
    if (!caucus_plan_limits_fit((caucus_u128)s->clients * caucus_settings_span(s) * (caucus_u128)(uint64_t)plan->grid))
        return caucus_plan_limits_refuse(plan, "sums of losses", ret_error);
    return ops->limits ? ops->limits(plan, ret_error) : CAUCUS_OK;
}

static caucus_status calibrate(caucus_plan *plan, caucus_error *ret_error) {
    caucus_status status = caucus_plan_limits(plan, ret_error);
    if (status != CAUCUS_OK)
        return status;
    status = caucus_plan_ops_of(plan)->calibrate(plan, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_plan_ops_of(plan)->bound(plan);
    return status;
}

static caucus_status name(caucus_plan *plan, caucus_error *ret_error) {
    char *text = NULL;
    size_t size = 0;
    caucus_status status = caucus_plan_text(plan, &text, &size);
    if (status != CAUCUS_OK)
        return caucus_fail(ret_error, status, "", "the text of a plan");
    caucus_plan_set_hash(plan, text, size);
    free(text);
    return CAUCUS_OK;
}

static caucus_status new_part(caucus_plan *plan) {
    const size_t bytes = caucus_plan_ops_of(plan)->part_bytes;
    plan->part = bytes > 0 ? calloc(1, bytes) : NULL;
    return bytes > 0 && !plan->part ? CAUCUS_E_MEMORY : CAUCUS_OK;
}

/* One plan on one grid. */
static caucus_status make(const caucus_settings *settings, uint32_t grid, caucus_plan **ret_plan,
                          caucus_error *ret_error) {
    caucus_plan *plan = malloc(sizeof *plan);
    if (!plan)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "a plan");
    *plan = (caucus_plan){.settings = *settings, .grid = grid};
    plan->settings.grid = grid;
    caucus_status status = new_part(plan);
    if (status != CAUCUS_OK) {
        free(plan);
        return caucus_fail(ret_error, status, "", "a plan");
    }
    status = caucus_plan_take_names(plan, ret_error);
    if (status == CAUCUS_OK)
        status = calibrate(plan, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_plan_account(plan, &plan->guarantee, ret_error);
    if (status == CAUCUS_OK)
        status = name(plan, ret_error);
    return CAUCUS_HAND_OVER(status, ret_plan, plan, caucus_plan_free(plan));
}

caucus_status caucus_plan_new(const caucus_settings *settings, caucus_plan **ret_plan, caucus_error *ret_error) {
    caucus_settings checked;
    caucus_status status = caucus_settings_take(settings, &checked, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_settings_check(&checked, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (checked.interval == CAUCUS_INTERVAL_AUTO)
        checked.interval = caucus_family_ops(caucus_algorithm_family(checked.algorithm))->interval(&checked);
    if (checked.grid != 0)
        return make(&checked, checked.grid, ret_plan, ret_error);
    status = make(&checked, GRID_FINE, ret_plan, ret_error);
    /* Sums, rates and variances all shrink with the grid: what does not fit the fine one may fit the coarse one. */
    if (status == CAUCUS_E_OVERFLOW || status == CAUCUS_E_INFEASIBLE)
        status = make(&checked, GRID_COARSE, ret_plan, ret_error);
    return status;
}
