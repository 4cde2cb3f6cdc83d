/* text_buffer.h: text that grows while it is written: HTML pages, CSV files, gnuplot scripts.
 * layer: study
 *
 * Running out of memory is remembered, not reported call by call: look at `failed` once, at the end. */
#ifndef CAUCUS_STUDY_TEXT_BUFFER_H
#define CAUCUS_STUDY_TEXT_BUFFER_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct caucus_text {
    char *data;    /* always ends in 0 once anything was added; NULL before */
    size_t length; /* without the 0 */
    size_t room;
    bool failed;
} caucus_text;

/** Append, like printf. */
void caucus_text_add(caucus_text *text, const char *format, ...) CAUCUS_PRINTF(2, 3);
/** Append bytes as they are. */
void caucus_text_put(caucus_text *text, const char *bytes, size_t count);
/** Append for HTML: & < > " are escaped. */
void caucus_text_html(caucus_text *text, const char *bytes, size_t count);
/** Append as one word of a shell: quoted where it needs it. */
void caucus_text_shell(caucus_text *text, const char *word);
/** Append a whole number with a thin mark every three digits: 51200 -> 51,200. */
void caucus_text_thousands(caucus_text *text, double value);
/** Append value and spread, as many digits as the spread deserves: "2.1 ± 0.7", "203 ± 12". */
void caucus_text_spread(caucus_text *text, double value, double spread);
void caucus_text_free(caucus_text *text);

#endif
