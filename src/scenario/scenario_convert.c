/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_convert.c: texts to numbers. See scenario_convert.h. */
#include "scenario/scenario_convert.h"
#include "num/number_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool from_file(const caucus_scenario_text *t) {
    const caucus_values *values = &t->scenario->field[t->field];
    return values->count != 0 && values->line != 0;
}

caucus_scenario_text caucus_scenario_text_of(const caucus_scenario *scenario, caucus_scenario_field field, size_t i,
                                             caucus_complaint *complaint) {
    const caucus_values *values = &scenario->field[field];
    const char *text = values->count != 0 ? values->text[i] : caucus_fields[field].fallback;
    return (caucus_scenario_text){scenario, field, text, complaint};
}

caucus_status caucus_scenario_refuse(const caucus_scenario_text *t, const char *format, ...) {
    char why[280];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    const char *name = caucus_fields[t->field].name;
    caucus_complaint *c = t->complaint;
    c->in_file = from_file(t);
    if (c->in_file)
        (void)snprintf(c->line, sizeof c->line, "%.200s:%u: %s: %.60s — %s", t->scenario->file,
                       t->scenario->field[t->field].line, name, t->text, why);
    else
        (void)snprintf(c->line, sizeof c->line, " %.60s: %s", t->text, why);
    c->field = c->in_file ? NULL : name;
    caucus_complaint_clean(c);
    return CAUCUS_E_RANGE;
}

/* Digits only: no sign, no space, no fraction, and nothing after them. */
caucus_status caucus_scenario_whole(const caucus_scenario_text *t, uint64_t least, uint64_t most, uint64_t *ret) {
    if (!caucus_whole_parse(t->text, least, most, ret))
        return caucus_scenario_refuse(t, "must be a whole number from %" PRIu64 " to %" PRIu64, least, most);
    return CAUCUS_OK;
}

static bool is_infinite_word(const char *text) {
    return strcmp(text, "infinite") == 0 || strcmp(text, "infinity") == 0 || strcmp(text, "inf") == 0 ||
           strcmp(text, ".inf") == 0;
}

caucus_status caucus_scenario_real(const caucus_scenario_text *t, bool infinite, double *ret) {
    if (infinite && is_infinite_word(t->text)) {
        *ret = INFINITY;
        return CAUCUS_OK;
    }
    if (!caucus_real_parse(t->text, ret))
        return caucus_scenario_refuse(t, infinite ? "must be a number, or infinite" : "must be a finite number");
    return CAUCUS_OK;
}

caucus_status caucus_scenario_epsilon(const caucus_scenario_text *t, double *ret) {
    double value = 0;
    if (is_infinite_word(t->text))
        value = INFINITY;
    else if (!caucus_real_parse(t->text, &value) || !(value > 0))
        return caucus_scenario_refuse(t, "must be above 0 (0.01 to 100 is usual); for no privacy write infinite");
    *ret = value;
    return CAUCUS_OK;
}

caucus_status caucus_scenario_pair(const caucus_scenario_text *t, bool infinite, double *ret_first,
                                   double *ret_second) {
    char part[2][64];
    const char *comma = strchr(t->text, ',');
    size_t first = comma != NULL ? (size_t)(comma - t->text) : strlen(t->text);
    const char *rest = comma != NULL ? comma + 1 + strspn(comma + 1, " ") : "";
    if (first >= sizeof part[0] || strlen(rest) >= sizeof part[1])
        return caucus_scenario_refuse(t, "must be two numbers, for example 0,1");
    memcpy(part[0], t->text, first);
    part[0][first] = '\0';
    memcpy(part[1], rest, strlen(rest) + 1);
    double a = INFINITY, b = 0;
    bool good = (infinite && is_infinite_word(part[0])) || caucus_real_parse(part[0], &a);
    if (infinite && comma == NULL)
        b = *ret_second; /* the second may be left out */
    else
        good = good && caucus_real_parse(part[1], &b);
    if (!good)
        return caucus_scenario_refuse(t, infinite ? "must be epsilon, or epsilon and delta: 10 or 10,1e-6; or infinite"
                                                  : "must be two numbers, for example 0,1");
    *ret_first = a;
    *ret_second = b;
    return CAUCUS_OK;
}

caucus_status caucus_scenario_switch(const caucus_scenario_text *t, bool *ret) {
    if (strcmp(t->text, "true") == 0 || strcmp(t->text, "yes") == 0 || strcmp(t->text, "on") == 0)
        *ret = true;
    else if (strcmp(t->text, "false") == 0 || strcmp(t->text, "no") == 0 || strcmp(t->text, "off") == 0)
        *ret = false;
    else
        return caucus_scenario_refuse(t, "must be true or false");
    return CAUCUS_OK;
}
