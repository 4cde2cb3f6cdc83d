/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_scenario.c: any bytes as a scenario file. Either it is refused with one line, or every field has values and a
 * line. Resolving is left out on purpose: a valid scenario may ask for hours of work. */
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    caucus_scenario scenario;
    caucus_complaint complaint = {.line = ""};
    caucus_scenario_init(&scenario);
    caucus_status status = caucus_scenario_parse(&scenario, "fuzz.yaml", data, size, &complaint);
    if (status != CAUCUS_OK && (strncmp(complaint.line, "fuzz.yaml:", 10) != 0 || strchr(complaint.line, '\n') != NULL))
        abort();
    for (size_t i = 0; status == CAUCUS_OK && i < CAUCUS_FIELD_COUNT; i++) {
        const caucus_values *values = &scenario.field[i];
        if (values->count > 0 && (values->line == 0 || (values->count > 1 && !caucus_fields[i].many)))
            abort();
        for (size_t k = 0; k < values->count; k++)
            if (values->text[k] == NULL || values->text[k][0] == '\0')
                abort();
    }
    caucus_scenario_free(&scenario);
    return 0;
}
