/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.c: the fields of a scenario, set by flags, and the lines that refuse them. See scenario.h. */
#include "scenario/scenario_convert.h"

#include "num/error_line.h"
#include "num/label.h"
#include "num/printable.h"
#include "scenario/labels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { one = 0, many = 1 };
const caucus_scenario_field_info caucus_fields[CAUCUS_FIELD_COUNT] = {
#define FIELD(name, word, list, argument, fallback, help) {word, list, argument, fallback, help},
    CAUCUS_FIELD_LIST(FIELD)
#undef FIELD
};

const caucus_scenario_field caucus_plan_fields[CAUCUS_PLAN_FIELDS] = {
    CAUCUS_FIELD_ALGORITHM,   CAUCUS_FIELD_CLIENTS,        CAUCUS_FIELD_EXPERTS,
    CAUCUS_FIELD_NAMES,       CAUCUS_FIELD_ROUNDS,         CAUCUS_FIELD_INTERVAL,
    CAUCUS_FIELD_LSTAR,       CAUCUS_FIELD_RANGE,          CAUCUS_FIELD_EPSILON,
    CAUCUS_FIELD_DELTA,       CAUCUS_FIELD_TRUST,          CAUCUS_FIELD_UNIT,
    CAUCUS_FIELD_RHO,         CAUCUS_FIELD_CALIBRATION,    CAUCUS_FIELD_PROTOCOL,
    CAUCUS_FIELD_SELECT,      CAUCUS_FIELD_MESSAGE,        CAUCUS_FIELD_TREES,
    CAUCUS_FIELD_FRONT_LOAD,  CAUCUS_FIELD_PAST_PHASES,    CAUCUS_FIELD_LONGEST_PHASE,
    CAUCUS_FIELD_FIRST_PHASE, CAUCUS_FIELD_CHANGES,        CAUCUS_FIELD_RENEW,
    CAUCUS_FIELD_PACE,        CAUCUS_FIELD_PHASE_TIME,     CAUCUS_FIELD_GRACE,
    CAUCUS_FIELD_MOST,        CAUCUS_FIELD_NOMINAL_ROUNDS, CAUCUS_FIELD_EVALUATE,
    CAUCUS_FIELD_GROWTH,      CAUCUS_FIELD_SHOW_LOSS,      CAUCUS_FIELD_START,
};

void caucus_scenario_init(caucus_scenario *ret) {
    memset(ret, 0, sizeof *ret);
}

void caucus_values_clear(caucus_values *values) {
    for (size_t i = 0; i < values->count; i++)
        free(values->text[i]);
    free(values->text);
    memset(values, 0, sizeof *values);
}

void caucus_scenario_free(caucus_scenario *scenario) {
    for (size_t i = 0; i < CAUCUS_FIELD_COUNT; i++)
        caucus_values_clear(&scenario->field[i]);
    free(scenario->file);
    memset(scenario, 0, sizeof *scenario);
}

caucus_scenario_field caucus_field_find(const char *name) {
    for (size_t i = 0; i < CAUCUS_FIELD_COUNT; i++)
        if (strcmp(caucus_fields[i].name, name) == 0)
            return (caucus_scenario_field)i;
    return CAUCUS_FIELD_COUNT;
}

/* Names of the library's settings that people write differently. */
static caucus_scenario_field field_of_setting(const char *name) {
    if (strcmp(name, "lo") == 0 || strcmp(name, "hi") == 0)
        return CAUCUS_FIELD_RANGE;
    if (strcmp(name, "lipschitz") == 0 || strcmp(name, "smoothness") == 0)
        return CAUCUS_FIELD_TREES;
    return caucus_field_find(name);
}

void caucus_complaint_clean(caucus_complaint *complaint) {
    caucus_printable(complaint->line);
}

caucus_status caucus_scenario_complain(const caucus_scenario *scenario, caucus_status status, const caucus_error *error,
                                       caucus_complaint *ret) {
    caucus_scenario_field field = field_of_setting(error->field);
    char text[CAUCUS_ERROR_LINE_BYTES];
    caucus_error_line(error, status, text);
    ret->in_file = false;
    ret->field = NULL;
    if (error->field[0] == '\0') { /* the text names a file itself */
        ret->in_file = true;
        (void)snprintf(ret->line, sizeof ret->line, "%s", text);
    } else if (field == CAUCUS_FIELD_COUNT) {
        (void)snprintf(ret->line, sizeof ret->line, "%s: %s", error->field, text);
    } else if (scenario->field[field].count != 0 && scenario->field[field].line != 0) {
        ret->in_file = true;
        (void)snprintf(ret->line, sizeof ret->line, "%.200s:%u: %s: %s", scenario->file, scenario->field[field].line,
                       caucus_fields[field].name, text);
    } else {
        ret->field = caucus_fields[field].name;
        (void)snprintf(ret->line, sizeof ret->line, " %s", text);
    }
    caucus_complaint_clean(ret);
    return status;
}

static caucus_status refuse_flag(caucus_scenario_field field, const char *what, caucus_complaint *ret) {
    ret->in_file = false;
    ret->field = caucus_fields[field].name;
    (void)snprintf(ret->line, sizeof ret->line, ": %s", what);
    return CAUCUS_E_FORMAT;
}

/* Cut at commas; an empty piece is refused by the caller. */
static bool split(const char *text, bool at_commas, caucus_values *ret) {
    size_t pieces = 1;
    for (const char *c = text; at_commas && *c != '\0'; c++)
        pieces += *c == ',';
    ret->text = calloc(pieces, sizeof *ret->text);
    if (ret->text == NULL)
        return false;
    for (const char *start = text; ret->count < pieces;) {
        size_t length = at_commas ? strcspn(start, ",") : strlen(start);
        char *copy = strndup(start, length);
        if (copy == NULL)
            return false;
        ret->text[ret->count++] = copy;
        start += length + 1;
    }
    return true;
}

caucus_status caucus_scenario_read_names(caucus_scenario *scenario, caucus_complaint *ret) {
    caucus_values *values = &scenario->field[CAUCUS_FIELD_NAMES];
    if (values->count == 0)
        return CAUCUS_OK;
    caucus_labels labels = {0};
    caucus_error error = {0};
    caucus_status status = caucus_labels_read(values->text[0], &labels, &error);
    if (status != CAUCUS_OK)
        return caucus_scenario_complain(scenario, status, &error, ret);
    char *joined = caucus_labels_text((const char *const *)labels.label, labels.count);
    caucus_labels_free(&labels);
    if (joined == NULL) {
        (void)refuse_flag(CAUCUS_FIELD_NAMES, caucus_status_text(CAUCUS_E_MEMORY), ret);
        return CAUCUS_E_MEMORY;
    }
    free(values->text[0]);
    values->text[0] = joined;
    return CAUCUS_OK;
}

caucus_status caucus_scenario_set(caucus_scenario *scenario, caucus_scenario_field field, const char *text,
                                  caucus_complaint *ret) {
    caucus_values *values = &scenario->field[field], fresh = {0};
    if (values->count != 0 && values->line == 0)
        return refuse_flag(field, "given twice", ret);
    if (!split(text, caucus_fields[field].many, &fresh)) {
        caucus_values_clear(&fresh);
        (void)refuse_flag(field, caucus_status_text(CAUCUS_E_MEMORY), ret);
        return CAUCUS_E_MEMORY;
    }
    for (size_t i = 0; i < fresh.count; i++)
        if (fresh.text[i][0] == '\0') {
            caucus_values_clear(&fresh);
            return refuse_flag(field, "an empty value", ret);
        }
    caucus_values_clear(values);
    *values = fresh;
    return field == CAUCUS_FIELD_NAMES ? caucus_scenario_read_names(scenario, ret) : CAUCUS_OK;
}
