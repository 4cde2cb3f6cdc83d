/* SPDX-License-Identifier: Apache-2.0 */
/* text_buffer.h: what HTML pages, CSV files and gnuplot scripts add to a text that grows (num/text.h).
 * layer: study */
#ifndef CAUCUS_STUDY_TEXT_BUFFER_H
#define CAUCUS_STUDY_TEXT_BUFFER_H

#include "num/text.h"

/** Append for HTML: & < > " are escaped. */
void caucus_text_html(caucus_text *text, const char *bytes, size_t count);
/** Append as one word of a shell: quoted where it needs it. */
void caucus_text_shell(caucus_text *text, const char *word);
/** Append a whole number with a thin mark every three digits: 51200 -> 51,200. */
void caucus_text_thousands(caucus_text *text, double value);
/** Append value and spread, as many digits as the spread deserves: "2.1 ± 0.7", "203 ± 12". */
void caucus_text_spread(caucus_text *text, double value, double spread);

#endif
