/* SPDX-License-Identifier: Apache-2.0 */
/* recommend_print.h: how a comparison looks, as text and as JSON.
 * layer: show */
#ifndef CAUCUS_SHOW_CHOICE_RECOMMEND_PRINT_H
#define CAUCUS_SHOW_CHOICE_RECOMMEND_PRINT_H

#include "show/choice/comparison.h"
#include "store/json.h"

typedef struct caucus_printer {
    FILE *text, *json; /* either may be NULL */
    int width;         /* columns of the screen that the text goes to; 0: as wide as it is */
    bool begun;        /* nothing is printed before the first situation, so that a refusal stands alone */
    caucus_json document;
} caucus_printer;

/** Print a situation, with what stands before the first one. */
void caucus_printer_situation(caucus_printer *printer, const caucus_comparison *comparison);
/** After the last one. */
void caucus_printer_end(caucus_printer *printer);

#endif
