/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c: see machine.h. */
#include "algo/machine.h"

#define DECLARE(NAME, name) extern const caucus_machine_ops caucus_machine_##name;
CAUCUS_FAMILY_LIST(DECLARE)
#undef DECLARE

static const caucus_machine_ops *const machines[CAUCUS_FAMILY_COUNT] = {
#define ENTRY(NAME, name) &caucus_machine_##name,
    CAUCUS_FAMILY_LIST(ENTRY)
#undef ENTRY
};

const caucus_machine_ops *caucus_machine_ops_of(const caucus_plan *plan) {
    return machines[caucus_plan_family(plan)];
}
