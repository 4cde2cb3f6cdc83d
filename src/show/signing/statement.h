/* SPDX-License-Identifier: Apache-2.0 */
/* statement.h: one page about a plan for the person who signs it off, as text and as HTML.
 * layer: show
 *
 * The page says the same in both forms: its words are written once (statement.c), to a caucus_statement_page that
 * knows how a heading, a sentence, an item and a bar look. It claims nothing that docs/PRIVACY.md does not prove, and
 * says what is not protected beside what is; tests/cli/statement.sh holds it against a list of overclaims. */
#ifndef CAUCUS_SHOW_STATEMENT_H
#define CAUCUS_SHOW_STATEMENT_H

#include "plan/plan.h"

#include <stdio.h>

typedef struct caucus_statement {
    const caucus_plan *plan;
    const char *file; /* the plan's, for the commands that the page names */
    const char *date; /* of the statement, in words */
} caucus_statement;

/** Text, in lines of at most `width` columns. */
void caucus_statement_text(FILE *out, const caucus_statement *statement, int width);
/** An HTML document that needs nothing else and prints on one sheet, A4 or letter. */
void caucus_statement_html(FILE *out, const caucus_statement *statement);

/** How often, of 100 times, somebody guesses right which of two values a record has, who knows all other data and has
 *  seen an (epsilon, delta)-private output; before, it was 50. At most 100 (e^epsilon + delta)/(e^epsilon + 1), rounded
 *  up to a tenth, so that no less is said than may be. */
double caucus_statement_guess(double epsilon, double delta);

/* How a page is written. */
typedef struct caucus_statement_page {
    FILE *out;
    int width; /* of text */
    void (*head)(struct caucus_statement_page *page, const char *what, const char *text);
    void (*warn)(struct caucus_statement_page *page, const char *text);
    void (*section)(struct caucus_statement_page *page, const char *title);
    void (*end_section)(struct caucus_statement_page *page);
    void (*say)(struct caucus_statement_page *page, const char *text);
    void (*item)(struct caucus_statement_page *page, const char *text);
    /* How often a guess is right, of 100, under words that say whose it is; `most`: "at most" or "". */
    void (*bar)(struct caucus_statement_page *page, const char *whose, double right, const char *most);
} caucus_statement_page;
/** The words, in order. */
void caucus_statement_write(caucus_statement_page *page, const caucus_statement *statement);

#endif
