/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: text that grows while it is written.
 * layer: num
 *
 * Running out of memory is remembered, not reported call by call: look at `failed` once, at the end. libc's
 * open_memstream() is no replacement: when it cannot grow it drops what was to be written, and neither ferror() nor
 * fclose() says so. */
#ifndef CAUCUS_NUM_TEXT_H
#define CAUCUS_NUM_TEXT_H

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
void caucus_text_free(caucus_text *text);

#endif
