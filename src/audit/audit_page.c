/* SPDX-License-Identifier: Apache-2.0 */
/* audit_page.c: audits as one page: what must hold, and what must be caught, a row each. See audit.h.
 *
 * Self-contained: no script, no outside host, no style attribute. A bar is drawn in per cent of its cell, so that it
 * fits a phone, where a row is a card. It says nothing that the cells beside it do not say in words; colours are Okabe
 * and Ito's and never the only sign (shapes differ, too). */
#include "audit/audit.h"

#include <inttypes.h>
#include <math.h>

#include "store/html.h"

static const char style[] =
    ":root { color-scheme: light dark; --ink: #1a1a1a; --soft: #595959; --line: #d4d4d4; --back: #fff; --sound: "
    "#0072B2; --broken: #b34a00; --bad: #a00000 }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e6; --soft: #a9a9a6; --line: #474744; --back: #1b1b1a; "
    "--sound: #56B4E9; --broken: #E69F00; --bad: #ff9a8a } a { color: #7cc4f0 } }\n"
    "body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: "
    "var(--ink); background: var(--back); overflow-wrap: break-word }\n"
    "h1, h2 { line-height: 1.25 } h2 { margin-top: 2.2rem }\n"
    "table { border-collapse: collapse; width: 100%; font-size: 0.9rem } th, td { text-align: left; vertical-align: "
    "top; padding: 0.3rem 0.5rem; border-bottom: 1px solid var(--line) }\n"
    "td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } td.bar { min-width: 9rem }\n"
    ".wrong { font-weight: bold; color: var(--bad) } .soft { color: var(--soft) }\n"
    "svg { display: block; width: 100%; height: 1.1rem } .axis { stroke: var(--line) } .claim { stroke: var(--ink); "
    "stroke-width: 2 }\n"
    ".holds { fill: var(--sound) } .broken { fill: none; stroke: var(--broken); stroke-width: 2 }\n"
    "@media (max-width: 48rem) { table, tbody, tr, td { display: block } thead { position: absolute; width: 1px; "
    "height: 1px; overflow: hidden; clip-path: inset(50%) }\n"
    "tr { border: 1px solid var(--line); border-radius: 4px; padding: 0.4rem 0.7rem; margin: 0.6rem 0 } td, td.n { "
    "border: 0; padding: 0.1rem 0; text-align: left }\n"
    "td:first-child { font-weight: bold } td[data-label]::before { content: attr(data-label) \": \"; color: "
    "var(--soft) } td.bar { padding: 0.3rem 0 } td:empty { display: none } }\n"
    "@media print { body { max-width: none; font-size: 10pt } tr, h2 { break-inside: avoid; break-after: auto } }\n";

static void head(FILE *out) {
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>caucus: privacy "
            "audit</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>Can the privacy claims be "
            "refuted?</h1>\n",
            style);
}

static size_t wrong_of(const caucus_audit_result *result, size_t count) {
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += !caucus_audit_pass(&result[i]);
    return wrong;
}

static void summary(FILE *out, const caucus_audit_result *result, size_t count) {
    size_t wrong = wrong_of(result, count), sound = 0;
    for (size_t i = 0; i < count; i++)
        sound += !result[i].expected;
    if (count > 0 && result[0].seeded)
        fprintf(out,
                "<p><strong>NOT PRIVATE (seeded)</strong>: the runs come from seed %" PRIu64
                ", so that they repeat to the last bit.</p>\n",
                result[0].seed);
    if (wrong == 0)
        fprintf(out, "<p><strong>All %zu audits came out as expected.</strong> ", count);
    else
        fprintf(out, "<p class=\"wrong\">%zu of %zu audits did not come out as expected. ", wrong, count);
    if (sound > 0)
        fprintf(out, "<a href=\"#hold\">%zu must hold</a>%s", sound, count > sound ? "; " : ".");
    if (count > sound)
        fprintf(out, "<a href=\"#caught\">%zu must be caught</a>, and say what the audits would have noticed.",
                count - sound);
    fputs("</p>\n", out);
    if (count > 0)
        fprintf(out,
                "<p>Each audit runs the program many times on two neighbouring data sets, searches on half of the runs "
                "the event that tells them apart "
                "best, and counts it on the other half. The measured epsilon is a lower bound (Clopper and Pearson), "
                "wrong with probability at most "
                "%.3g in each audit.</p>\n",
                1 - result[0].confidence);
}

/* From 0 to twice the claim, which is a line in the middle: a full bar for what must hold, a hollow one for what must
 * be caught. */
static void bar(FILE *out, const caucus_audit_result *r) {
    const double share = isfinite(r->claimed) && r->claimed > 0 ? 50 * fmin(2, r->lower_bound / r->claimed) : 0;
    fprintf(out,
            "<td class=\"bar\"><svg role=\"img\" aria-label=\"at least %.3f of %g claimed\"><line class=\"axis\" "
            "x1=\"0\" y1=\"50%%\" x2=\"100%%\" y2=\"50%%\"/><rect class=\"%s\" x=\"0\" y=\"20%%\" "
            "width=\"%.1f%%\" height=\"60%%\"/><line class=\"claim\" x1=\"50%%\" y1=\"0\" x2=\"50%%\" "
            "y2=\"100%%\"/></svg></td>",
            r->lower_bound, r->claimed, r->expected ? "broken" : "holds", share);
}

static void row(FILE *out, const caucus_audit_result *r) {
    const bool pass = caucus_audit_pass(r);
    fprintf(out, "<tr><td%s>", pass ? "" : " class=\"wrong\"");
    caucus_html_put(out, r->name);
    fprintf(out, "</td><td data-label=\"%s\">", r->wrong != NULL ? "broken" : "of");
    caucus_html_put(out, r->wrong != NULL ? r->wrong : r->target);
    fputs("</td>", out);
    bar(out, r);
    fprintf(out,
            "<td class=\"n\" data-label=\"claimed epsilon\">%g</td><td class=\"n\" data-label=\"measured, at "
            "least\">%.3f</td><td class=\"n\" data-label=\"delta\">%g</td><td class=\"n\" data-label=\"runs per data "
            "set\">%" PRIu64 "</td><td data-label=\"finding\"%s>%s%s</td></tr>\n",
            r->claimed, r->lower_bound, r->delta, r->trials, pass ? "" : " class=\"wrong\"",
            r->refuted ? "refuted" : "not refuted", pass ? "" : ", NOT as expected");
}

/* One group: those that did not come out as expected stand first, where nobody can miss them. */
static void group(FILE *out, const caucus_audit_result *result, size_t count, bool caught) {
    size_t in = 0, well = 0;
    for (size_t i = 0; i < count; i++) {
        in += result[i].expected == caught;
        well += result[i].expected == caught && caucus_audit_pass(&result[i]);
    }
    if (in == 0)
        return;
    fprintf(out, "<section id=\"%s\">\n<h2>%s: %zu of %zu %s</h2>\n<p>%s</p>\n", caught ? "caught" : "hold",
            caught ? "Must be caught" : "Must hold", well, in, caught ? "are" : "do",
            caught ? "These claims are false: the paper's where docs/PAPER.md says it errs, or a mechanism that was "
                     "broken on purpose. An audit that did not refute them would notice nothing in ours either. "
                     "Hollow bar: it must pass the line, which is the claim."
                   : "Claims of ours. That one is not refuted proves nothing by itself; the bar says how much of the "
                     "claim was seen. It must not pass the line, which is the claim.");
    fputs("<table>\n<thead><tr><th>Audit</th><th>", out);
    fputs(caught ? "What is wrong" : "Of", out);
    fputs("</th><th>0 … claim … twice</th><th class=\"n\">Claimed epsilon</th><th class=\"n\">Measured, at "
          "least</th><th class=\"n\">Delta</th><th class=\"n\">Runs per data set</th><th>Verdict</th></tr></thead>\n"
          "<tbody>\n",
          out);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++)
            if (result[i].expected == caught && caucus_audit_pass(&result[i]) == (pass == 1))
                row(out, &result[i]);
    fputs("</tbody></table>\n</section>\n", out);
}

/* Of a plan: which one, how it was run, on which pair. */
static void plan_words(FILE *out, const caucus_audit_plan_result *p) {
    fprintf(out, "<p>The plan <code>%s</code>, ", p->hash);
    fputs(p->reduced[0] != '\0' ? "on a reduced plan with the same rates: " : "run as it is", out);
    caucus_html_put(out, p->reduced);
    fprintf(out, ". Unit %s: neighbouring data sets differ in ", caucus_unit_word(p->unit));
    caucus_html_put(out, p->record);
    fprintf(out, ". The worst of %" PRIu32 " pairs of them: ", p->pairs);
    caucus_html_put(out, p->pair);
    fputs(".</p>\n", out);
}

void caucus_audit_page(FILE *out, const caucus_audit_report *report) {
    const caucus_audit_result *result = report->result;
    const size_t count = report->count;
    head(out);
    if (report->plan != NULL)
        plan_words(out, report->plan);
    summary(out, result, count);
    group(out, result, count, false);
    group(out, result, count, true);
    fputs("<p>The same as data: <a href=\"audit.csv\">audit.csv</a>, <a href=\"audit.json\">audit.json</a>; broken "
          "twins by audit: <a href=\"twins.md\">twins.md</a>.</p>\n</main>\n</body>\n</html>\n",
          out);
}
