/* SPDX-License-Identifier: Apache-2.0 */
/* wanted.c: see wanted.h. */
#include "cli/wanted.h"

#include "num/nearest.h"
#include "scenario/scenario_convert.h"

#include <math.h>
#include <string.h>

static caucus_status read_budget(const caucus_scenario_text *t, const char *ledger, double *ret_epsilon,
                                 double *ret_delta) {
    if (ledger == NULL)
        return caucus_scenario_refuse(t, "a budget belongs to a ledger: give ledger too");
    caucus_status status = caucus_scenario_pair(t, true, ret_epsilon, ret_delta);
    if (status == CAUCUS_OK && !(*ret_epsilon > 0 && *ret_delta >= 0 && *ret_delta < 1))
        status = caucus_scenario_refuse(t, "must have epsilon above 0, and delta from 0 to below 1");
    return status;
}

caucus_status caucus_wanted_budget(const char *ledger, const char *budget, caucus_budget *ret,
                                   caucus_complaint *ret_complaint) {
    caucus_budget wanted = {.path = ledger, .given = budget != NULL};
    caucus_scenario none;
    caucus_scenario_init(&none);
    caucus_scenario_text t = {
        .scenario = &none, .field = CAUCUS_FIELD_BUDGET, .text = budget, .complaint = ret_complaint};
    caucus_status status = wanted.given ? read_budget(&t, ledger, &wanted.epsilon, &wanted.delta) : CAUCUS_OK;
    caucus_scenario_free(&none);
    if (status != CAUCUS_OK)
        return status;
    if (isinf(wanted.epsilon))
        wanted.delta = nextafter(1, 0); /* no limit on either, as in a simulation's ledger */
    *ret = wanted;
    return CAUCUS_OK;
}

caucus_status caucus_wanted_read(const caucus_scenario *scenario, caucus_wanted *ret, caucus_complaint *ret_complaint) {
    static const char *const formats[] = {"table", "json", "csv", NULL};
    caucus_scenario_text t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_FORMAT, 0, ret_complaint);
    size_t format = 0;
    while (format < 3 && strcmp(t.text, formats[format]) != 0)
        format++;
    if (format == 3)
        return caucus_scenario_refuse(&t, "must be table, json or csv%s", caucus_meant_of(t.text, formats).text);
    caucus_wanted wanted = {
        .format = (caucus_format)format,
        .out = caucus_scenario_text_of(scenario, CAUCUS_FIELD_OUT, 0, ret_complaint).text,
        .ledger = caucus_scenario_text_of(scenario, CAUCUS_FIELD_LEDGER, 0, ret_complaint).text,
        .has_budget = scenario->field[CAUCUS_FIELD_BUDGET].count != 0,
    };
    t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_BUDGET, 0, ret_complaint);
    caucus_status status =
        wanted.has_budget ? read_budget(&t, wanted.ledger, &wanted.budget_epsilon, &wanted.budget_delta) : CAUCUS_OK;
    if (status == CAUCUS_OK)
        *ret = wanted;
    return status;
}
