/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: text that grows while it is written. See text.h.
 * layer: num */
#include "num/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and the final 0. */
static bool reserve(caucus_text *text, size_t more) {
    if (text->failed)
        return false;
    size_t need = text->length + more + 1;
    if (need <= text->room)
        return true;
    size_t room = text->room ? text->room : 1024;
    while (room < need)
        room *= 2;
    char *data = realloc(text->data, room);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void caucus_text_put(caucus_text *text, const char *bytes, size_t count) {
    if (!reserve(text, count))
        return;
    if (count > 0)
        memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void caucus_text_add(caucus_text *text, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (need < 0)
        text->failed = true;
    else if (reserve(text, (size_t)need)) {
        (void)vsnprintf(text->data + text->length, (size_t)need + 1, format, again);
        text->length += (size_t)need;
    }
    va_end(again);
}

void caucus_text_free(caucus_text *text) {
    free(text->data);
    *text = (caucus_text){0};
}
