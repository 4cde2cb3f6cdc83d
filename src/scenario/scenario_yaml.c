/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_yaml.c: scenario files: fields by name (yaml_sheet.h), read into what no flag has set. */
#include "scenario/scenario_convert.h"
#include "scenario/yaml_sheet.h"
#include "store/atomic_file.h"

#include <stdlib.h>
#include <string.h>

static const char *field_name(const void *user, size_t i) {
    (void)user;
    return i < CAUCUS_FIELD_COUNT ? caucus_fields[i].name : NULL;
}

/* A range is a pair and names are many, so a list is their natural form; other single fields take one value. */
static caucus_sheet_values field_takes(const void *user, size_t i) {
    (void)user;
    if (caucus_fields[i].many)
        return CAUCUS_SHEET_LIST;
    const bool pair =
        i == CAUCUS_FIELD_RANGE || i == CAUCUS_FIELD_BUDGET || i == CAUCUS_FIELD_MEANS || i == CAUCUS_FIELD_ACTIVITY;
    return pair || i == CAUCUS_FIELD_NAMES ? CAUCUS_SHEET_PAIR : CAUCUS_SHEET_ONE;
}

/* What was found goes to the fields that no flag has set. */
static void take(caucus_scenario *scenario, caucus_values *found) {
    for (size_t i = 0; i < CAUCUS_FIELD_COUNT; i++) {
        if (found[i].line == 0 || scenario->field[i].count != 0)
            continue;
        scenario->field[i] = found[i];
        found[i] = (caucus_values){0};
    }
}

caucus_status caucus_scenario_parse(caucus_scenario *scenario, const char *name, const uint8_t *bytes, size_t size,
                                    caucus_complaint *ret) {
    caucus_values found[CAUCUS_FIELD_COUNT] = {{0}};
    const caucus_sheet sheet = {.what = "a scenario",
                                .example = "algorithm: svt",
                                .examples = "'algorithm: svt' and 'trust: coordinator'",
                                .name = field_name,
                                .takes = field_takes,
                                .found = found};
    free(scenario->file);
    scenario->file = strdup(name);
    caucus_status status = caucus_sheet_parse(&sheet, name, bytes, size, ret);
    if (status == CAUCUS_OK && scenario->file == NULL) {
        caucus_error error = {0};
        status = caucus_scenario_complain(scenario, CAUCUS_E_MEMORY, &error, ret);
    }
    if (status == CAUCUS_OK) {
        take(scenario, found);
        status = caucus_scenario_read_names(scenario, ret);
    }
    for (size_t i = 0; i < CAUCUS_FIELD_COUNT; i++)
        caucus_values_clear(&found[i]);
    return status;
}

caucus_status caucus_scenario_load(caucus_scenario *scenario, const char *path, caucus_complaint *ret) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    caucus_error error = {0};
    caucus_status status = caucus_file_load(path, CAUCUS_SCENARIO_BYTES, "a scenario", &bytes, &size, &error);
    if (status != CAUCUS_OK)
        return caucus_scenario_complain(scenario, status, &error, ret);
    status = caucus_scenario_parse(scenario, path, bytes, size, ret);
    free(bytes);
    return status;
}
