/* SPDX-License-Identifier: Apache-2.0 */
/* statement_text.c: a statement as text, in plain characters: it is mailed, filed and printed. See statement.h. */
#include "show/plan_words.h"
#include "show/signing/statement.h"
#include "show/wrap.h"

#include <math.h>
#include <string.h>

static void head(caucus_statement_page *page, const char *what, const char *text) {
    char first[32];
    (void)snprintf(first, sizeof first, "%-12s", what);
    caucus_wrap_put(page->out, page->width, first, text);
}

static void warn(caucus_statement_page *page, const char *text) {
    caucus_wrap_put(page->out, page->width, "WEAK        ", text);
}

static void section(caucus_statement_page *page, const char *title) {
    fprintf(page->out, "\n%s\n", title);
}

static void end_section(caucus_statement_page *page) {
    (void)page;
}

static void say(caucus_statement_page *page, const char *text) {
    caucus_wrap_put(page->out, page->width, "  ", text);
}

static void item(caucus_statement_page *page, const char *text) {
    caucus_wrap_put(page->out, page->width, "  - ", text);
}

/* Words above or before it, then as many characters as fit, from 0 to 100 of 100. */
static void bar(caucus_statement_page *page, const char *whose, double right, const char *most) {
    enum { LABEL = 42, NUMBER = 8, LEAST = 10 };
    const int room = page->width - 2 - LABEL - NUMBER - 1, wide = room < LEAST ? LEAST : room > 40 ? 40 : room;
    const int full = (int)ceil(wide * right / 100);
    (void)most; /* the sentence above says it */
    if (room < LEAST)
        fprintf(page->out, "  %s\n  ", whose);
    else
        fprintf(page->out, "  %-*s", LABEL, whose);
    fprintf(page->out, "%5.4g  ", right);
    for (int i = 0; i < wide; i++)
        fputc(i < full ? '#' : '.', page->out);
    fputc('\n', page->out);
}

void caucus_statement_text(FILE *out, const caucus_statement *statement, int width) {
    caucus_statement_page page = {out, width, head, warn, section, end_section, say, item, bar};
    fputs("PRIVACY STATEMENT\n", out);
    caucus_statement_write(&page, statement);
    fputs("\nName ____________________  Signature ____________________\nDate ____________________\n", out);
}
