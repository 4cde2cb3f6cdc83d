/* SPDX-License-Identifier: Apache-2.0 */
/* phase_report.h: the report that an announcement of stoch asks of a client, without its values. */
#ifndef CAUCUS_TESTS_ALGO_PHASE_REPORT_H
#define CAUCUS_TESTS_ALGO_PHASE_REPORT_H

#include <caucus/message.h>

static inline caucus_report phase_report(const caucus_announcement *now, uint32_t client, uint32_t experts) {
    return (caucus_report){.client = client,
                           .kind = now->ask,
                           .first = now->block,
                           .block = now->block,
                           .epoch_or_leaf = now->leaf,
                           .count = now->ask == CAUCUS_ASK_VOTE        ? 1
                                    : now->ask == CAUCUS_ASK_SHORTLIST ? now->listed
                                                                       : experts};
}

#endif
