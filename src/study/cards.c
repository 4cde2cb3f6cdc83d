/* SPDX-License-Identifier: Apache-2.0 */
/* cards.c: tables that can be read on a phone. See parts.h.
 * layer: study
 *
 * On a narrow screen the page's style shows every row as a card, one cell below the other, and the header is out of
 * sight: so every cell is told the name of its column, in the attribute data-label. Done once, to the whole page, since
 * tables come from several places (page.c, docs/PAPER.md). The HTML is our own: tags are lower case and
 * closed. */
#include <stdlib.h>
#include <string.h>

#include "study/parts.h"

#define COLUMNS 12

typedef struct columns {
    caucus_text label[COLUMNS];
    size_t known; /* labels of this table */
    size_t at;    /* column of the next cell */
} columns;

static bool opens(const char *at, const char *tag) {
    size_t length = strlen(tag);
    return strncmp(at, tag, length) == 0 && (at[length] == '>' || at[length] == ' ');
}

/* The text of a header cell, without markup; escapes stay as they are. */
static void learn(columns *c, const char *cell) {
    const char *end = strstr(cell, "</th>");
    if (c->known == COLUMNS || !end)
        return;
    caucus_text *label = &c->label[c->known++];
    bool markup = true; /* inside <th ...> */
    label->length = 0;
    for (const char *at = cell; at < end; at++) {
        if (*at == '<')
            markup = true;
        else if (*at == '>' && markup)
            markup = false;
        else if (!markup)
            caucus_text_put(label, *at == '"' ? "&quot;" : at, *at == '"' ? 6 : 1);
    }
}

/* How many columns the cell that begins here takes. */
static size_t span_of(const char *cell) {
    const char *end = strchr(cell, '>'), *span = strstr(cell, "colspan=\"");
    return span && end && span < end ? strtoul(span + 9, NULL, 10) : 1;
}

void caucus_page_label_cells(const caucus_text *page, caucus_text *ret) {
    columns c = {.known = 0};
    const char *from = page->data;
    for (const char *at = from; at && (at = strchr(at, '<')) != NULL; at++) {
        if (opens(at, "<table"))
            c.known = 0;
        else if (opens(at, "<tr"))
            c.at = 0;
        else if (opens(at, "<th"))
            learn(&c, at);
        else if (opens(at, "<td")) {
            size_t span = span_of(at);
            if (span == 1 && c.at < c.known && c.label[c.at].length > 0) {
                caucus_text_put(ret, from, (size_t)(at + 3 - from));
                caucus_text_add(ret, " data-label=\"%s\"", c.label[c.at].data);
                from = at + 3;
            }
            c.at += span;
        }
    }
    if (from)
        caucus_text_put(ret, from, strlen(from));
    for (size_t i = 0; i < COLUMNS; i++) {
        ret->failed = ret->failed || c.label[i].failed;
        caucus_text_free(&c.label[i]);
    }
    ret->failed = ret->failed || page->failed;
}
