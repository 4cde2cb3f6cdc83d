/* SPDX-License-Identifier: Apache-2.0 */
/* relayed_machine.h: the machines that take partials of fuzz_relayed.c: a plan of state_plans.h, after some steps that
 * its first client alone has answered, chosen by one byte. */
#ifndef TESTS_FUZZ_RELAYED_MACHINE_H
#define TESTS_FUZZ_RELAYED_MACHINE_H

#include "state_plans.h"

enum { RELAYED_STEPS = 4 };

/* What client 1 answers; its values are 1. */
static inline caucus_report relayed_answer(const caucus_coordinator *c, uint32_t client) {
    static const int64_t one[CAUCUS_SHORTLIST] = {1, 1, 1, 1, 1, 1, 1, 1};
    const caucus_announcement *a = caucus_coordinator_announcement(c);
    uint64_t cost, sums;
    bool answered;
    caucus_coordinator_counted(c, client, &cost, &sums, &answered);
    const bool block = a->ask == CAUCUS_ASK_COST || a->ask == CAUCUS_ASK_SUMS;
    return (caucus_report){.client = client,
                           .kind = a->ask,
                           .first = a->ask == CAUCUS_ASK_SUMS   ? sums
                                    : a->ask == CAUCUS_ASK_COST ? cost
                                                                : a->block,
                           .block = a->ask == CAUCUS_ASK_COST ? cost : a->block,
                           .epoch_or_leaf = block ? a->epoch : a->leaf,
                           .count = a->ask == CAUCUS_ASK_COST || a->ask == CAUCUS_ASK_VOTE ? 1
                                    : a->ask == CAUCUS_ASK_SHORTLIST                       ? a->listed
                                                                                           : 3,
                           .value = one};
}

static inline caucus_coordinator *relayed_machine(uint8_t choice) {
    caucus_coordinator *c = NULL;
    caucus_key key;
    caucus_key_from_seed(1, &key);
    if (caucus_coordinator_new(plans[choice % PLANS], &key, &c) != CAUCUS_OK)
        abort();
    for (int step = 0; step < choice / PLANS % RELAYED_STEPS; step++) {
        const caucus_report r = relayed_answer(c, 1);
        (void)!caucus_coordinator_receive(c, &r);
        (void)!caucus_coordinator_decide(c);
    }
    return c;
}

#endif
