/* SPDX-License-Identifier: Apache-2.0 */
/* text_buffer.c: what pages and scripts add to a text. See text_buffer.h.
 * layer: study */
#include "study/text_buffer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "store/html.h"

void caucus_text_html(caucus_text *text, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *entity = caucus_html_entity(bytes[i]);
        if (entity != NULL)
            caucus_text_put(text, entity, strlen(entity));
        else
            caucus_text_put(text, &bytes[i], 1);
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
