/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_pace.c: the fields of a run at the devices' own pace. See scenario_pace.h. */
#include "scenario/scenario_pace.h"

#include <string.h>

#include "num/number_text.h"
#include "plan/pace/pace.h"
#include "scenario/scenario_convert.h"
#include "sim/slot/activity.h"

#define SLOTS_MAX ((1u << 30) / (uint32_t)CAUCUS_SLOT_ROWS)
#define ACTIVITY_MEAN_MAX 1024.0
#define ACTIVITY_SPREAD_MAX 2.0

/* Seconds, or a number with one of s, m, h, d behind it. */
static bool parse_time(const char *text, uint32_t *ret) {
    static const struct {
        char letter;
        uint32_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    char digits[16];
    const size_t length = strlen(text);
    uint32_t unit = 0;
    uint64_t value = 0;
    if (length == 0 || length >= sizeof digits)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (text[length - 1] == units[i].letter)
            unit = units[i].seconds;
    memcpy(digits, text, length + 1);
    if (unit != 0)
        digits[length - 1] = '\0';
    if (!caucus_whole_parse(digits, 0, CAUCUS_PHASE_TIME_MAX, &value) ||
        value * (unit != 0 ? unit : 1) > CAUCUS_PHASE_TIME_MAX)
        return false;
    *ret = (uint32_t)value * (unit != 0 ? unit : 1);
    return true;
}

caucus_status caucus_scenario_pace(const caucus_scenario *scenario, caucus_settings *ret,
                                   caucus_complaint *ret_complaint) {
    caucus_scenario_text t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_PACE, 0, ret_complaint);
    caucus_error error = {0};
    caucus_settings s = *ret;
    caucus_status status = caucus_pace_parse(t.text, &s.pace, &error);
    if (status != CAUCUS_OK)
        return caucus_scenario_complain(scenario, status, &error, ret_complaint);
    t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_PHASE_TIME, 0, ret_complaint);
    if (!parse_time(t.text, &s.phase_time) || s.phase_time == 0)
        return caucus_scenario_refuse(&t, "must be a time from 1s to 366d, for example 1d, 6h, 90m, 30s");
    t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_GRACE, 0, ret_complaint);
    if (strcmp(t.text, "auto") != 0 && !parse_time(t.text, &s.grace))
        return caucus_scenario_refuse(&t, "must be a time below phase-time, for example 90m, or auto");
    t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_MOST, 0, ret_complaint);
    status = caucus_scenario_whole(&t, 1, CAUCUS_MOST_MAX, &s.most);
    if (status == CAUCUS_OK)
        *ret = s;
    return status;
}

caucus_status caucus_scenario_slots(const caucus_scenario *scenario, const size_t at[CAUCUS_FIELD_COUNT],
                                    uint64_t *ret_rows, caucus_complaint *ret_complaint) {
    caucus_scenario_text t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_PLAY, at[CAUCUS_FIELD_PLAY], ret_complaint);
    uint64_t slots = 0;
    caucus_status status = caucus_scenario_whole(&t, 1, SLOTS_MAX, &slots);
    if (status == CAUCUS_OK)
        *ret_rows = slots * CAUCUS_SLOT_ROWS;
    return status;
}

caucus_status caucus_scenario_activity(const caucus_scenario *scenario, const size_t at[CAUCUS_FIELD_COUNT],
                                       caucus_adversary_settings *ret, caucus_complaint *ret_complaint) {
    double mean = 0, spread = 0;
    caucus_scenario_text t =
        caucus_scenario_text_of(scenario, CAUCUS_FIELD_ADVERSARY, at[CAUCUS_FIELD_ADVERSARY], ret_complaint);
    if (!caucus_activity_takes(ret->kind)) {
        t.text = caucus_adversary_kind_word(ret->kind);
        return caucus_scenario_refuse(&t,
                                      "has its losses by rounds, which pace own has not (accepted: gaussian, "
                                      "bernoulli, realizable, halving, creeping, cross-entropy, shifting, drifting)");
    }
    t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_ACTIVITY, 0, ret_complaint);
    caucus_status status = caucus_scenario_pair(&t, false, &mean, &spread);
    if (status != CAUCUS_OK)
        return status;
    if (!(mean > 0 && mean <= ACTIVITY_MEAN_MAX && spread >= 0 && spread <= ACTIVITY_SPREAD_MAX))
        return caucus_scenario_refuse(&t, "must be a mean above 0 and at most %g, and a spread from 0 to %g",
                                      ACTIVITY_MEAN_MAX, ACTIVITY_SPREAD_MAX);
    t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_SEGMENTS, at[CAUCUS_FIELD_SEGMENTS], ret_complaint);
    if (ret->segments > 1 && ret->rounds / CAUCUS_SLOT_ROWS % ret->segments != 0)
        return caucus_scenario_refuse(&t, "must divide the phases that are played, which are %llu",
                                      (unsigned long long)(ret->rounds / CAUCUS_SLOT_ROWS));
    ret->activity_mean = mean;
    ret->activity_spread = spread;
    return CAUCUS_OK;
}
