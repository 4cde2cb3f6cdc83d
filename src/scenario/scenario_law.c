/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_law.c: the fields that say how losses are drawn. See scenario.h. */
#include "scenario/scenario_convert.h"

caucus_status caucus_scenario_law(const caucus_scenario *scenario, const size_t at[CAUCUS_FIELD_COUNT],
                                  caucus_adversary_settings *ret, caucus_complaint *ret_complaint) {
    caucus_adversary_settings law = *ret;
    caucus_scenario_text t =
        caucus_scenario_text_of(scenario, CAUCUS_FIELD_SEGMENTS, at[CAUCUS_FIELD_SEGMENTS], ret_complaint);
    caucus_status status = caucus_scenario_whole(&t, 1, CAUCUS_SEGMENTS_MAX, &law.segments);
    if (status == CAUCUS_OK && caucus_adversary_kind_has_means(law.kind)) {
        t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_MEANS, 0, ret_complaint);
        law.has_means = true;
        status = caucus_scenario_pair(&t, false, &law.mean_lo, &law.mean_hi);
        if (status == CAUCUS_OK) {
            t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_SPREAD, at[CAUCUS_FIELD_SPREAD], ret_complaint);
            status = caucus_scenario_real(&t, false, &law.spread);
        }
    }
    if (status == CAUCUS_OK && law.kind == CAUCUS_ADVERSARY_DRIFTING) {
        t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_DRIFT, at[CAUCUS_FIELD_DRIFT], ret_complaint);
        status = caucus_scenario_real(&t, false, &law.drift);
    }
    if (status == CAUCUS_OK)
        *ret = law;
    return status;
}
