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

/* Days from 1970 to a day of the Gregorian calendar: years are counted from March, so that a leap day is a year's last.
 * 719,468 days lie between the first of March of the year 0 and 1970. */
static uint64_t days_to(uint64_t year, uint64_t month, uint64_t day) {
    const uint64_t y = month > 2 ? year : year - 1, months = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * months + 2) / 5 + day - 1 - 719468;
}

static uint64_t days_of_month(uint64_t year, uint64_t month) {
    return days_to(month < 12 ? year : year + 1, month < 12 ? month + 1 : 1, 1) - days_to(year, month, 1);
}

/* `count` digits at `text`, within bounds. */
static bool digits_at(const char *text, size_t count, uint64_t least, uint64_t most, uint64_t *ret) {
    char digits[8] = "";
    memcpy(digits, text, count);
    return strspn(digits, "0123456789") == count && caucus_whole_parse(digits, least, most, ret);
}

/* YYYY-MM-DD, YYYY-MM-DDTHH:MM or YYYY-MM-DDTHH:MM:SS, in UTC: the first slot that does not begin before it. */
static bool parse_start(const char *text, uint32_t phase_time, uint64_t *ret) {
    const size_t length = strlen(text);
    uint64_t year, month, day, hour = 0, minute = 0, second = 0;
    if ((length != 10 && length != 16 && length != 19) || text[4] != '-' || text[7] != '-' ||
        !digits_at(text, 4, 1970, 2200, &year) || !digits_at(text + 5, 2, 1, 12, &month) ||
        !digits_at(text + 8, 2, 1, days_of_month(year, month), &day))
        return false;
    if (length > 10 && (text[10] != 'T' || text[13] != ':' || !digits_at(text + 11, 2, 0, 23, &hour) ||
                        !digits_at(text + 14, 2, 0, 59, &minute)))
        return false;
    if (length > 16 && (text[16] != ':' || !digits_at(text + 17, 2, 0, 59, &second)))
        return false;
    const uint64_t seconds = days_to(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *ret = (seconds + phase_time - 1) / phase_time;
    return *ret > 1;
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
    if (status != CAUCUS_OK)
        return status;
    t = caucus_scenario_text_of(scenario, CAUCUS_FIELD_START, 0, ret_complaint);
    if (strcmp(t.text, "none") != 0 && !parse_start(t.text, s.phase_time, &s.start))
        return caucus_scenario_refuse(&t, "must be a day, 2027-01-31, or a time, 2027-01-31T06:00, in UTC, or none");
    *ret = s;
    return status;
}

caucus_status caucus_scenario_slots(const caucus_scenario *scenario, const size_t at[CAUCUS_FIELD_COUNT],
                                    const caucus_settings *settings, uint64_t *ret_rows,
                                    caucus_complaint *ret_complaint) {
    const bool endless = settings->rounds == CAUCUS_ROUNDS_ENDLESS;
    const caucus_scenario_field field = endless ? CAUCUS_FIELD_PLAY : CAUCUS_FIELD_ROUNDS;
    caucus_scenario_text t = caucus_scenario_text_of(scenario, field, at[field], ret_complaint);
    uint64_t slots = settings->rounds;
    caucus_status status = CAUCUS_OK;
    if (endless)
        status = caucus_scenario_whole(&t, 1, SLOTS_MAX, &slots);
    else if (slots > SLOTS_MAX)
        status = caucus_scenario_refuse(&t, "more slots than can be simulated, which are %u", SLOTS_MAX);
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
