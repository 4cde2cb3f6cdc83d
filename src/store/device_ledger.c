/* SPDX-License-Identifier: Apache-2.0 */
/* device_ledger.c: a client's run in its device's own ledger (caucus/journal.h, budget.h).
 *
 * The order matters: the number is on disk in the state before the entry that names it is in the ledger. Killed in
 * between, a restart finds the number and makes the entry; killed after, it finds the entry. */
#include "num/fail.h"
#include "store/budget.h"
#include "store/journal.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

caucus_status caucus_journal_reserve(caucus_journal *journal, const caucus_plan *plan, uint32_t index, bool seeded,
                                     const char *ledger, double epsilon, double delta, caucus_error *ret_error) {
    caucus_budget budget = {.path = ledger, .given = !isnan(epsilon), .epsilon = epsilon, .delta = delta};
    if (isinf(epsilon))
        budget.delta = nextafter(1, 0); /* no limit on either, as in a simulation's ledger */
    uint8_t *state = NULL, number[CAUCUS_RUN_ID_BYTES];
    size_t bytes = 0;
    char name[24], tag[CAUCUS_RUN_TAG_BYTES], label[CAUCUS_RUN_NAME_BYTES];
    (void)snprintf(name, sizeof name, "join %u", index);
    caucus_status status = caucus_journal_read(journal, &state, &bytes, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_journal_number(journal, state, bytes, number, ret_error);
    if (state)
        sodium_memzero(state, bytes); /* it holds this client's sums */
    free(state);
    if (status == CAUCUS_OK) {
        caucus_run_tag(caucus_plan_hash(plan), number, tag);
        status = caucus_run_label(name, tag, label, ret_error);
    }
    caucus_ledger_totals totals;
    if (status == CAUCUS_OK)
        status = caucus_budget_reserve(&budget, plan, label, seeded, false, &totals, ret_error);
    return status;
}
