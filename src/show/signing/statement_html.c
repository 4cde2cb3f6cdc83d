/* SPDX-License-Identifier: Apache-2.0 */
/* statement_html.c: a statement as one HTML document. See statement.h.
 *
 * Self-contained, without a script. Sizes are chosen so that the longest statement fits one sheet of A4 or letter; on a
 * screen it follows the reader's choice of light or dark. The bars are said in numbers beside them. */
#include "show/plan_words.h"
#include "show/signing/statement.h"
#include "store/html.h"

#include <string.h>

static const char style[] =
    ":root { color-scheme: light dark; --ink: #1a1a1a; --paper: #ffffff; --line: #767676; --bar: #0072b2; --weak: "
    "#9a3b00 }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #16181b; --line: #9a9a9a; --bar: #56b4e9; "
    "--weak: #ffb380 } }\n"
    "body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 46rem; "
    "margin: 1.5rem auto; padding: 0 1rem }\n"
    "h1 { font-size: 1.4rem; margin: 0 0 0.6rem } h2 { font-size: 1rem; margin: 0.9rem 0 0.2rem }\n"
    "p { margin: 0.15rem 0 } ul { margin: 0.15rem 0; padding-left: 1.2rem; overflow-wrap: anywhere }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: 0 } dt { font-weight: 600 } "
    "dd { margin: 0; overflow-wrap: anywhere }\n"
    ".weak { font-weight: 600; color: var(--weak); border-left: 4px solid; padding-left: 0.6rem; margin: 0.4rem 0 }\n"
    "table { border-collapse: collapse; width: 100%; margin: 0.3rem 0 } th { font-weight: normal; text-align: left } "
    "td.n { text-align: right; font-variant-numeric: tabular-nums; padding: 0 0.6rem; white-space: nowrap }\n"
    "th { white-space: nowrap } td.b { width: 40% } svg { display: block; width: 100%; height: 0.8rem }\n"
    "svg * { vector-effect: non-scaling-stroke } svg .whole { fill: none; stroke: var(--line) } svg .part { fill: "
    "var(--bar) } .mid { stroke: var(--ink) }\n"
    ".sign { display: flex; gap: 1.5rem; margin-top: 2.2rem } .sign span { flex: 1; border-top: 1px solid var(--ink) "
    "}\n"
    "@media (max-width: 36rem) { th, td.n { display: inline-block; padding-left: 0 } th { padding-right: 0.6rem } td.b "
    "{ display: block; width: 100% } tr { display: "
    "block; margin: 0.4rem 0 } }\n"
    "@page { margin: 14mm }\n"
    "@media print { :root { color-scheme: light; --ink: #000000; --paper: #ffffff; --line: #767676; --bar: #0072b2; "
    "--weak: #000000 }\n"
    "body { font-size: 8.8pt; line-height: 1.22; margin: 0; padding: 0; max-width: none } h2 { margin-top: 0.4rem } "
    ".weak { margin: 0.2rem 0 } .sign { margin-top: 1.6rem } "
    "svg { print-color-adjust: exact; -webkit-print-color-adjust: exact } }\n";

/* Which list the next line belongs to: it is opened with its first line and closed by what is not of it. */
typedef struct html_page {
    caucus_statement_page page;
    const char *open; /* "dl", "ul" or "table", NULL: none */
} html_page;

static void within(caucus_statement_page *page, const char *list) {
    html_page *p = (html_page *)page;
    if (p->open != NULL && (list == NULL || strcmp(p->open, list) != 0)) {
        fprintf(page->out, "%s</%s>\n", strcmp(p->open, "table") == 0 ? "</tbody>" : "", p->open);
        p->open = NULL;
    }
    if (list != NULL && p->open == NULL) {
        fprintf(page->out, "<%s>%s\n", list, strcmp(list, "table") == 0 ? "<tbody>" : "");
        p->open = list;
    }
}

static void element(caucus_statement_page *page, const char *tag, const char *text) {
    fprintf(page->out, "<%s>", tag);
    caucus_html_put(page->out, text);
    fprintf(page->out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

static void head(caucus_statement_page *page, const char *what, const char *text) {
    within(page, "dl");
    element(page, "dt", what);
    element(page, "dd", text);
}

static void warn(caucus_statement_page *page, const char *text) {
    within(page, NULL);
    fputs("<p class=\"weak\">Weak: ", page->out);
    caucus_html_put(page->out, text);
    fputs("</p>\n", page->out);
}

static void section(caucus_statement_page *page, const char *title) {
    within(page, NULL);
    fputs("<section>\n", page->out);
    element(page, "h2", title);
}

static void end_section(caucus_statement_page *page) {
    within(page, NULL);
    fputs("</section>\n", page->out);
}

static void say(caucus_statement_page *page, const char *text) {
    within(page, NULL);
    element(page, "p", text);
}

static void item(caucus_statement_page *page, const char *text) {
    within(page, "ul");
    element(page, "li", text);
}

static void bar(caucus_statement_page *page, const char *whose, double right, const char *most) {
    within(page, "table");
    fputs("<tr>", page->out);
    element(page, "th scope=\"row\"", whose);
    fprintf(page->out,
            "<td class=\"n\">%s %.4g of 100</td><td class=\"b\"><svg viewBox=\"0 0 1000 16\" "
            "preserveAspectRatio=\"none\" "
            "aria-hidden=\"true\"><rect class=\"whole\" x=\"1\" y=\"1\" width=\"998\" height=\"14\"/><rect "
            "class=\"part\" x=\"1\" y=\"1\" width=\"%.0f\" height=\"14\"/><path class=\"mid\" d=\"M500 0V16\"/></svg>"
            "</td></tr>\n",
            most, right, right * 9.98);
}

void caucus_statement_html(FILE *out, const caucus_statement *statement) {
    html_page p = {.page = {out, 0, head, warn, section, end_section, say, item, bar}};
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
          "<title>Privacy statement</title>\n<style>\n",
          out);
    fputs(style, out);
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>Privacy statement</h1>\n", out);
    caucus_statement_write(&p.page, statement);
    fputs("<div class=\"sign\"><span>Name</span><span>Signature</span><span>Date</span></div>\n</main>\n</body>\n"
          "</html>\n",
          out);
}
