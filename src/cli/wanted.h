/* SPDX-License-Identifier: Apache-2.0 */
/* wanted.h: what is to become of the results of a scenario: the fields that only the program knows. */
#ifndef CAUCUS_CLI_WANTED_H
#define CAUCUS_CLI_WANTED_H

#include "scenario/scenario.h"
#include "store/budget.h"

typedef enum caucus_format { CAUCUS_FORMAT_TABLE, CAUCUS_FORMAT_JSON, CAUCUS_FORMAT_CSV } caucus_format;

typedef struct caucus_wanted {
    caucus_format format;
    const char *out;    /* NULL: no directory; the text belongs to the scenario */
    const char *ledger; /* NULL: no ledger */
    bool has_budget;
    double budget_epsilon, budget_delta;
} caucus_wanted;

/** Returns: CAUCUS_OK or the first refusal, which the complaint explains. *ret is written only on success. */
caucus_status caucus_wanted_read(const caucus_scenario *scenario, caucus_wanted *ret,
                                 caucus_complaint *ret_complaint) CAUCUS_MUST_CHECK;

/** --ledger and --budget of a live run (NULL: not given). Returns: as above. */
caucus_status caucus_wanted_budget(const char *ledger, const char *budget, caucus_budget *ret,
                                   caucus_complaint *ret_complaint) CAUCUS_MUST_CHECK;

#endif
