/* SPDX-License-Identifier: Apache-2.0 */
/* dress.c: how one line fits a terminal. See dress.h; the streams are in dress_streams.c. */
#include "cli/terminal/dress.h"

#include "cli/options.h"
#include "cli/terminal/screen.h"
#include "num/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const color_words[] = {"auto", "always", "never", NULL};

bool caucus_color_parse(const char *word, caucus_color *ret) {
    for (size_t i = 0; color_words[i] != NULL; i++)
        if (strcmp(word, color_words[i]) == 0) {
            *ret = (caucus_color)i;
            return true;
        }
    return false;
}

static int refuse_color(const char *value) {
    fprintf(stderr, "caucus: --color%s%s: must be auto, always or never%s\n", value[0] != '\0' ? " " : "", value,
            caucus_meant_of(value, color_words).text);
    return CAUCUS_EXIT_USAGE;
}

int caucus_color_take(int *argc, char **argv, caucus_color *ret) {
    static const char option[] = "--color";
    int kept = 1, at = 1;
    *ret = CAUCUS_COLOR_AUTO;
    for (; at < *argc && strcmp(argv[at], "--") != 0; at++) {
        const char *value = NULL;
        if (strcmp(argv[at], option) == 0) {
            if (at + 1 >= *argc)
                return refuse_color("");
            value = argv[++at];
        } else if (strncmp(argv[at], "--color=", sizeof option) == 0) {
            value = argv[at] + sizeof option;
        }
        if (value == NULL)
            argv[kept++] = argv[at];
        else if (!caucus_color_parse(value, ret))
            return refuse_color(value);
    }
    for (; at < *argc; at++)
        argv[kept++] = argv[at];
    argv[kept] = NULL;
    *argc = kept;
    return 0;
}

caucus_dress caucus_dress_of(int fd, bool terminal, caucus_color when) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    const bool wanted = (no_color == NULL || no_color[0] == '\0') && (term == NULL || strcmp(term, "dumb") != 0);
    const bool ascii = !caucus_screen_utf8();
    if (!terminal || isatty(fd) != 1)
        return (caucus_dress){.ascii = ascii, .foreign = true, .coloured = when == CAUCUS_COLOR_ALWAYS};
    return (caucus_dress){.width = caucus_screen_width(fd, 0),
                          .ascii = ascii,
                          .coloured = when == CAUCUS_COLOR_ALWAYS || (when == CAUCUS_COLOR_AUTO && wanted)};
}

/* The characters that this program prints, in ASCII; NULL: it is none of them. */
static const char *plain(const char *character, size_t length) {
    static const struct {
        const char *fine, *plain;
    } signs[] = {
        {"—", "-"}, {"–", "-"},     {"…", "..."}, {"±", "+-"}, {"≤", "<="},     {"×", "x"},
        {"→", ">"}, {"√", "root "}, {"’", "'"},   {"━", "#"},  {"█", "#"},      {"▒", "="},
        {"░", "."}, {"·", "."},     {"│", "|"},   {"╋", "+"},  {"\u00a0", " "},
    };
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strlen(signs[i].fine) == length && memcmp(signs[i].fine, character, length) == 0)
            return signs[i].plain;
    return NULL;
}

static size_t character_bytes(const char *at, const char *end) {
    size_t length = 1;
    while (at + length < end && ((unsigned char)at[length] & 0xc0u) == 0x80u)
        length++;
    return length;
}

static void put_ascii(const char *line, size_t length, bool foreign, caucus_text *ret) {
    for (const char *at = line, *end = line + length; at < end;) {
        const size_t bytes = character_bytes(at, end);
        const char *sign = (unsigned char)*at < 0x80u ? NULL : plain(at, bytes);
        if (sign != NULL)
            caucus_text_add(ret, "%s", sign);
        else if ((unsigned char)*at < 0x80u || foreign)
            caucus_text_put(ret, at, bytes);
        else
            caucus_text_add(ret, "?");
        at += bytes;
    }
}

/* Words that should not be read past. */
static size_t warning_at(const char *at, size_t length) {
    static const char *const words[] = {"NOT PRIVATE", "NOT COVERED", "SWITCHES RAN OUT", "WEAK", "LESS"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t size = strlen(words[i]);
        if (size <= length && memcmp(at, words[i], size) == 0)
            return size;
    }
    return 0;
}

static void put_coloured(const char *part, size_t length, bool coloured, caucus_text *ret) {
    for (size_t i = 0; i < length;) {
        const bool begins = i == 0 || part[i - 1] == ' ' || part[i - 1] == '(';
        const size_t size = coloured && begins ? warning_at(part + i, length - i) : 0;
        if (size > 0)
            caucus_text_add(ret, "\033[1;33m%.*s\033[0m", (int)size, part + i);
        else
            caucus_text_put(ret, part + i, 1);
        i += size > 0 ? size : 1;
    }
}

/* Where further lines begin: under the text after a label that is set off by two blanks or more ("  Noise       none"),
 * else a little after the line's own beginning, unless that is the margin (prose) or far from it (a line that goes on
 * from the one before). */
static int hang_of(const char *line, size_t length, int width) {
    size_t at = 0;
    while (at < length && line[at] == ' ')
        at++;
    const bool remark = length > 7 && memcmp(line, "caucus ", 7) == 0;
    const int own = at > 4 || (at == 0 && !remark) ? (int)at : (int)at + 2;
    while (at + 1 < length && !(line[at] == ' ' && line[at + 1] == ' '))
        at++;
    while (at < length && line[at] == ' ')
        at++;
    return at < length && (int)at <= width / 2 ? (int)at : own < width / 2 ? own : 0;
}

enum { HALF = 32 }; /* digits of a hash, which may stand in two lines: 64 do not fit 60 columns */

static bool hash_at(const char *line, size_t at, size_t length) {
    static const char digits[] = "0123456789abcdef";
    size_t count = 0;
    if (at > 0 && line[at - 1] != ' ')
        return false;
    while (at + count < length && memchr(digits, line[at + count], sizeof digits - 1) != NULL)
        count++;
    return count == 2 * (size_t)HALF;
}

/* Bytes of a line's beginning that fit `room` columns, cut before a blank, or in the middle of a hash; all of a first
 * word that is wider. */
static size_t fitting(const char *line, size_t length, int room) {
    size_t at = 0, blank = 0, text = 0;
    while (text < length && line[text] == ' ')
        text++;
    for (int used = 0; at < length; used++) {
        if (used + 2 * HALF > room && used + HALF <= room && hash_at(line, at, length))
            return at + HALF;
        if (line[at] == ' ' && at > text)
            blank = at;
        if (used == room && blank > 0)
            return blank;
        if (used >= room && line[at] == ' ' && at > text)
            return at;
        at += character_bytes(line + at, line + length);
    }
    return length;
}

void caucus_dress_line(const caucus_dress *dress, const char *line, size_t length, caucus_text *ret) {
    caucus_text own = {0};
    if (dress->ascii) {
        put_ascii(line, length, dress->foreign, &own);
        if (own.failed || own.data == NULL) {
            caucus_text_free(&own);
            return;
        }
        line = own.data;
        length = own.length;
    }
    const int hang = dress->width > 0 ? hang_of(line, length, dress->width) : 0;
    for (int room = dress->width; dress->width > 0;) {
        const size_t part = fitting(line, length, room);
        if (part == length)
            break;
        size_t text = part;
        while (text > 0 && line[text - 1] == ' ')
            text--;
        put_coloured(line, text, dress->coloured, ret);
        caucus_text_add(ret, "\n%*s", hang, "");
        line += part;
        length -= part;
        while (length > 0 && line[0] == ' ') {
            line++;
            length--;
        }
        room = dress->width - hang;
    }
    put_coloured(line, length, dress->coloured, ret);
    caucus_text_free(&own);
}
