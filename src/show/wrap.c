/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.c: see wrap.h. */
#include "show/wrap.h"

#include "show/plan_words.h"

#include <string.h>

#define NO_BREAK "\xc2\xa0"

/* A word as wide as it is on a screen; `length` bytes of it. */
static int columns(const char *word, size_t length) {
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)word[i] & 0xc0) != 0x80;
    return count;
}

/* Bytes of a word's first characters, as many as fit. */
static size_t fitting(const char *word, size_t length, int room) {
    size_t bytes = 0;
    for (int used = 0; bytes < length; bytes++) {
        used += ((unsigned char)word[bytes] & 0xc0) != 0x80;
        if (used > room)
            break;
    }
    return bytes;
}

static void put_word(FILE *out, const char *word, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const bool joined = i + 1 < length && memcmp(word + i, NO_BREAK, 2) == 0;
        fputc(joined ? ' ' : word[i], out);
        i += joined;
    }
}

void caucus_wrap_put(FILE *out, int width, const char *first, const char *text) {
    const int indent = caucus_words_width(first);
    int at = indent;
    bool begun = false;
    fputs(first, out);
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        const size_t length = strcspn(text, " ");
        const int wide = columns(text, length);
        if (begun && at + 1 + wide > width) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        } else if (begun) {
            fputc(' ', out);
            at++;
        }
        if (at + wide > width && width > indent) { /* wider than a line: what fits of it; the rest is a word again */
            const size_t fits = fitting(text, length, width - at);
            put_word(out, text, fits);
            fprintf(out, "\n%*s", indent, "");
            at = indent;
            text += fits;
            begun = false;
            continue;
        }
        put_word(out, text, length);
        at += wide;
        text += length;
        begun = true;
    }
    fputc('\n', out);
}
