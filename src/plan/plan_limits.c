/* SPDX-License-Identifier: Apache-2.0 */
/* plan_limits.c: no sum of a run can leave 62 bits. A wrap would void every sensitivity, so it is excluded by public
 * numbers before the run starts: m*T*G for sums of losses, and what a family adds up besides (family.h).
 * docs/PRIVACY.md, "The grid". */
#include "plan/calibrate.h"
#include "plan/family.h"

#include <inttypes.h>

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
    if (!caucus_plan_limits_fit((caucus_u128)s->clients * s->rounds * (caucus_u128)(uint64_t)plan->grid))
        return caucus_plan_limits_refuse(plan, "sums of losses", ret_error);
    return ops->limits ? ops->limits(plan, ret_error) : CAUCUS_OK;
}
