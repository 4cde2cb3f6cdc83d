/* SPDX-License-Identifier: Apache-2.0 */
/* markdown.c: Markdown to HTML, line by line. See markdown.h.
 * layer: study */
#include "study/markdown.h"

#include <ctype.h>
#include <string.h>

typedef struct span {
    const char *at;
    size_t length;
} span;

typedef struct reader {
    const char *at, *end;
    int level;
    caucus_text *out;
} reader;

static span trim(span s) {
    while (s.length > 0 && isspace((unsigned char)s.at[0]))
        s.at++, s.length--;
    while (s.length > 0 && isspace((unsigned char)s.at[s.length - 1]))
        s.length--;
    return s;
}

/* The line at r->at, without its end; does not move. */
static span peek(const reader *r) {
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    span line = {r->at, (size_t)((newline ? newline : r->end) - r->at)};
    if (line.length > 0 && line.at[line.length - 1] == '\r')
        line.length--;
    return line;
}

static void skip(reader *r) {
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->at = newline ? newline + 1 : r->end;
}

static bool starts(span s, const char *with) {
    size_t n = strlen(with);
    return s.length >= n && memcmp(s.at, with, n) == 0;
}

static void tag(reader *r, const char *name, span inside);

/* First `mark` in s from `from`, or s.length. A code span hides what is in it; a backslash hides the next byte. */
static size_t find(span s, size_t from, const char *mark) {
    size_t n = strlen(mark);
    for (size_t i = from; i + n <= s.length; i++) {
        if (memcmp(s.at + i, mark, n) == 0)
            return i;
        if (s.at[i] == '\\')
            i++;
    }
    return s.length;
}

static bool safe_address(span a) {
    if (starts(a, "http://") || starts(a, "https://") || starts(a, "#"))
        return true;
    for (size_t i = 0; i < a.length; i++)
        if (a.at[i] == ':' || a.at[i] == '\\')
            return false;
    return a.length > 0 && a.at[0] != '/';
}

static void inline_html(reader *r, span s);

/* [text](address) at s.at[i]: writes it and returns the bytes it took, or 0 if it is not a link. */
static size_t link_html(reader *r, span s, size_t i) {
    size_t close = find(s, i + 1, "](");
    if (close == s.length)
        return 0;
    size_t end = find(s, close + 2, ")");
    if (end == s.length)
        return 0;
    span address = {s.at + close + 2, end - close - 2};
    span text = {s.at + i + 1, close - i - 1};
    if (!safe_address(address) || memchr(text.at, '[', text.length))
        return 0;
    caucus_text_add(r->out, "<a href=\"");
    caucus_text_html(r->out, address.at, address.length);
    caucus_text_add(r->out, "\">");
    inline_html(r, text);
    caucus_text_add(r->out, "</a>");
    return end + 1 - i;
}

/* A pair of marks around something, at s.at[i]: writes it and returns the bytes it took, or 0. */
static size_t pair_html(reader *r, span s, size_t i, const char *mark, const char *name) {
    size_t n = strlen(mark);
    size_t end = find(s, i + n, mark);
    if (end == s.length || end == i + n || isspace((unsigned char)s.at[i + n]) || isspace((unsigned char)s.at[end - 1]))
        return 0;
    tag(r, name, (span){s.at + i + n, end - i - n});
    return end + n - i;
}

static void inline_html(reader *r, span s) {
    for (size_t i = 0; i < s.length;) {
        size_t took = 0;
        char c = s.at[i];
        if (c == '`') {
            const char *close = memchr(s.at + i + 1, '`', s.length - i - 1);
            if (close) {
                caucus_text_add(r->out, "<code>");
                caucus_text_html(r->out, s.at + i + 1, (size_t)(close - s.at) - i - 1);
                caucus_text_add(r->out, "</code>");
                took = (size_t)(close - s.at) + 1 - i;
            }
        } else if (c == '\\' && i + 1 < s.length && ispunct((unsigned char)s.at[i + 1])) {
            caucus_text_html(r->out, s.at + i + 1, 1);
            took = 2;
        } else if (c == '*' && i + 1 < s.length && s.at[i + 1] == '*') {
            took = pair_html(r, s, i, "**", "strong");
        } else if (c == '*') {
            took = pair_html(r, s, i, "*", "em");
        } else if (c == '[') {
            took = link_html(r, s, i);
        }
        if (took == 0) {
            caucus_text_html(r->out, s.at + i, 1);
            took = 1;
        }
        i += took;
    }
}

static void tag(reader *r, const char *name, span inside) {
    caucus_text_add(r->out, "<%s>", name);
    inline_html(r, inside);
    caucus_text_add(r->out, "</%s>", name);
}

static void code_block(reader *r) {
    skip(r);
    caucus_text_add(r->out, "<pre><code>");
    while (r->at < r->end && !starts(peek(r), "```")) {
        span line = peek(r);
        caucus_text_html(r->out, line.at, line.length);
        caucus_text_add(r->out, "\n");
        skip(r);
    }
    if (r->at < r->end)
        skip(r);
    caucus_text_add(r->out, "</code></pre>\n");
}

static size_t heading_level(span line) {
    size_t n = 0;
    while (n < line.length && line.at[n] == '#')
        n++;
    return n >= 1 && n <= 6 && n < line.length && line.at[n] == ' ' ? n : 0;
}

static void heading(reader *r, size_t hashes) {
    span line = peek(r);
    skip(r);
    int level = (int)hashes + r->level;
    char name[3] = {'h', (char)('0' + (level > 6 ? 6 : level)), '\0'};
    tag(r, name, trim((span){line.at + hashes, line.length - hashes}));
    caucus_text_add(r->out, "\n");
}

/* Length of a list mark ("- ", "12. "), 0 if the line is no item. */
static size_t list_mark(span line, bool *ret_numbered) {
    *ret_numbered = false;
    if (starts(line, "- ") || starts(line, "* "))
        return 2;
    size_t n = 0;
    while (n < line.length && isdigit((unsigned char)line.at[n]))
        n++;
    if (n > 0 && n + 1 < line.length && line.at[n] == '.' && line.at[n + 1] == ' ') {
        *ret_numbered = true;
        return n + 2;
    }
    return 0;
}

static bool is_rule(span line) {
    span s = trim(line);
    size_t n = 0;
    while (n < s.length && s.at[n] == '-')
        n++;
    return n == s.length && n >= 3;
}

/* A paragraph, an item or a quote ends where another block or an empty line begins. */
static bool starts_block(span line) {
    bool numbered;
    return trim(line).length == 0 || heading_level(line) || list_mark(line, &numbered) || starts(line, "```") ||
           starts(line, "|") || starts(line, ">") || is_rule(line);
}

/* Consecutive lines of one paragraph, joined by newlines, are contiguous in the input: one span. */
static span gather(reader *r, span first) {
    const char *end = first.at + first.length;
    skip(r);
    while (r->at < r->end && !starts_block(peek(r))) {
        span line = peek(r);
        end = line.at + line.length;
        skip(r);
    }
    return trim((span){first.at, (size_t)(end - first.at)});
}

static void list(reader *r, bool numbered) {
    caucus_text_add(r->out, numbered ? "<ol>\n" : "<ul>\n");
    bool same = numbered;
    while (r->at < r->end) {
        span line = peek(r);
        size_t mark = list_mark(line, &same);
        if (mark == 0 || same != numbered)
            break;
        tag(r, "li", gather(r, (span){line.at + mark, line.length - mark}));
        caucus_text_add(r->out, "\n");
    }
    caucus_text_add(r->out, numbered ? "</ol>\n" : "</ul>\n");
}

/* The cells of "| a | b |": a code span may hold a bar, and "\|" is one. */
static void table_row(reader *r, span line, const char *cell) {
    line = trim(line);
    size_t start = 1;
    bool code = false;
    caucus_text_add(r->out, "<tr>");
    for (size_t i = 1; i <= line.length; i++) {
        bool last = i == line.length;
        if (!last && line.at[i] == '`')
            code = !code;
        if (!last && line.at[i] == '\\') {
            i++;
            continue;
        }
        if ((last && i > start) || (!last && line.at[i] == '|' && !code)) {
            tag(r, cell, trim((span){line.at + start, i - start}));
            start = i + 1;
        }
    }
    caucus_text_add(r->out, "</tr>\n");
}

static bool is_table_line(span line) {
    bool dash = false;
    for (size_t i = 0; i < line.length; i++) {
        if (!strchr("|-: ", line.at[i]))
            return false;
        dash = dash || line.at[i] == '-';
    }
    return dash;
}

static void table(reader *r) {
    span first = peek(r);
    skip(r);
    bool head = r->at < r->end && is_table_line(peek(r));
    caucus_text_add(r->out, "<div class=\"wide\"><table>\n");
    if (head) {
        caucus_text_add(r->out, "<thead>");
        table_row(r, first, "th");
        caucus_text_add(r->out, "</thead>\n");
        skip(r);
    }
    caucus_text_add(r->out, "<tbody>\n");
    if (!head)
        table_row(r, first, "td");
    while (r->at < r->end && starts(peek(r), "|")) {
        table_row(r, peek(r), "td");
        skip(r);
    }
    caucus_text_add(r->out, "</tbody></table></div>\n");
}

static void quote(reader *r) {
    caucus_text_add(r->out, "<blockquote>");
    while (r->at < r->end && starts(peek(r), ">")) {
        span line = peek(r);
        tag(r, "p", trim((span){line.at + 1, line.length - 1}));
        skip(r);
    }
    caucus_text_add(r->out, "</blockquote>\n");
}

static void block(reader *r) {
    span line = peek(r);
    bool numbered;
    size_t hashes = heading_level(line);
    if (trim(line).length == 0) {
        skip(r);
    } else if (hashes) {
        heading(r, hashes);
    } else if (starts(line, "```")) {
        code_block(r);
    } else if (is_rule(line)) {
        caucus_text_add(r->out, "<hr>\n");
        skip(r);
    } else if (starts(line, "|")) {
        table(r);
    } else if (starts(line, ">")) {
        quote(r);
    } else if (list_mark(line, &numbered)) {
        list(r, numbered);
    } else {
        tag(r, "p", gather(r, line));
        caucus_text_add(r->out, "\n");
    }
}

void caucus_markdown_html(const char *markdown, size_t length, int level, caucus_text *ret) {
    reader r = {.at = markdown, .end = markdown + length, .level = level, .out = ret};
    while (r.at < r.end)
        block(&r);
}
