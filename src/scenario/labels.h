/* SPDX-License-Identifier: Apache-2.0 */
/* labels.h: what experts are called, as people write it: small,distilled,large or @FILE.
 * layer: scenario */
#ifndef CAUCUS_SCENARIO_LABELS_H
#define CAUCUS_SCENARIO_LABELS_H

#include <caucus/status.h>

#include <stdint.h>

/* Labels that have been checked (num/label.h). */
typedef struct caucus_labels {
    char **label;   /* [count] */
    uint32_t count; /* 0: none, or at least 2 */
} caucus_labels;

/** Read a list: labels separated by commas, or @ and the path of a file with one label a line. A list whose first label
 *  begins with @ is written with another @ before it.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (field "names"), CAUCUS_E_PATH, CAUCUS_E_MEMORY. */
caucus_status caucus_labels_read(const char *text, caucus_labels *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** A checked copy. */
caucus_status caucus_labels_copy(const char *const *label, uint32_t count, caucus_labels *ret,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_labels_free(caucus_labels *labels);

#endif
