/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_sheet.h: a file that is one mapping from names to values: scenarios, and settings of serve and join.
 * layer: scenario
 *
 *     algorithm: [svt, sparse-vector]
 *     epsilon: 10
 *     trust: coordinator */
#ifndef CAUCUS_SCENARIO_YAML_SHEET_H
#define CAUCUS_SCENARIO_YAML_SHEET_H

#include "scenario/scenario.h"

/* One value; a pair, for which a list is its natural form (0,1); a list. */
typedef enum caucus_sheet_values { CAUCUS_SHEET_ONE, CAUCUS_SHEET_PAIR, CAUCUS_SHEET_LIST } caucus_sheet_values;

/* What a file may hold, and what was found. */
typedef struct caucus_sheet {
    const char *what;                                /* "a scenario" */
    const char *example, *examples;                  /* for who has written something else */
    const char *(*name)(const void *user, size_t i); /* of field i; NULL behind the last one */
    caucus_sheet_values (*takes)(const void *user, size_t i);
    const void *user;
    caucus_values *found; /* one per field, empty at first; line 0: not in the file. The caller clears them. */
} caucus_sheet;

/** Returns: CAUCUS_OK, CAUCUS_E_FORMAT, CAUCUS_E_MEMORY; the complaint names file, line and field. */
caucus_status caucus_sheet_parse(const caucus_sheet *sheet, const char *name, const uint8_t *bytes, size_t size,
                                 caucus_complaint *ret) CAUCUS_MUST_CHECK;

#endif
