/* text_buffer.c: text that grows while it is written. See text_buffer.h.
 * layer: study */
#include "study/text_buffer.h"

#include <math.h>
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

void caucus_text_html(caucus_text *text, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        switch (bytes[i]) {
        case '&':
            caucus_text_put(text, "&amp;", 5);
            break;
        case '<':
            caucus_text_put(text, "&lt;", 4);
            break;
        case '>':
            caucus_text_put(text, "&gt;", 4);
            break;
        case '"':
            caucus_text_put(text, "&quot;", 6);
            break;
        default:
            caucus_text_put(text, &bytes[i], 1);
        }
    }
}

void caucus_text_shell(caucus_text *text, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        caucus_text_put(text, word, strlen(word));
        return;
    }
    caucus_text_put(text, "'", 1);
    for (; *word != '\0'; word++)
        caucus_text_put(text, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    caucus_text_put(text, "'", 1);
}

void caucus_text_thousands(caucus_text *text, double value) {
    char digits[64];
    int length = snprintf(digits, sizeof digits, "%.0f", value);
    if (length < 0 || (size_t)length >= sizeof digits || !isfinite(value)) {
        caucus_text_add(text, "%g", value);
        return;
    }
    int start = digits[0] == '-';
    caucus_text_put(text, digits, (size_t)start);
    for (int i = start; i < length; i++) {
        if (i > start && (length - i) % 3 == 0)
            caucus_text_put(text, ",", 1);
        caucus_text_put(text, &digits[i], 1);
    }
}

void caucus_text_spread(caucus_text *text, double value, double spread) {
    double scale = fabs(spread) > 0 ? fabs(spread) : fabs(value);
    int decimals = scale >= 10 || scale == 0 ? 0 : scale >= 0.1 ? 1 : scale >= 0.01 ? 2 : 3;
    if (scale < 1 && scale >= 0.1)
        decimals = 2;
    caucus_text_add(text, "%.*f ± %.*f", decimals, value, decimals, spread);
}

void caucus_text_free(caucus_text *text) {
    free(text->data);
    *text = (caucus_text){0};
}
