/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c: see machine.h. */
#include "algo/slot/slot.h"

#define DECLARE(NAME, name) extern const caucus_machine_ops caucus_machine_##name;
CAUCUS_FAMILY_LIST(DECLARE)
#undef DECLARE

static const caucus_machine_ops *const machines[CAUCUS_FAMILY_COUNT] = {
#define ENTRY(NAME, name) &caucus_machine_##name,
    CAUCUS_FAMILY_LIST(ENTRY)
#undef ENTRY
};

const caucus_machine_ops *caucus_machine_ops_of(const caucus_plan *plan) {
    if (plan->settings.pace == CAUCUS_PACE_OWN)
        return &caucus_machine_slot;
    return machines[caucus_plan_family(plan)];
}
