/* SPDX-License-Identifier: Apache-2.0 */
/* audit_page.c: audits as one page: claimed against measured epsilon, a row each. See audit.h.
 *
 * Self-contained: no script, no outside host. The plot says nothing that the table below it does not say in words;
 * colours are Okabe and Ito's and never the only sign (shapes differ, too). */
#include "audit/audit.h"

#include <inttypes.h>
#include <math.h>

#include "store/html.h"

enum { NAME = 250, WIDE = 520, ROW = 18, TOP = 34 };

static void head(FILE *out) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>caucus: privacy "
          "audit</title>\n<style>\n"
          "body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: "
          "#1a1a1a; background: #fff }\n"
          "svg { max-width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: #1a1a1a }\n"
          "table { border-collapse: collapse; width: 100%; font-size: 0.85rem } th, td { text-align: left; padding: "
          "0.2rem 0.5rem; border-bottom: 1px solid #ddd }\n"
          "td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } .wrong { font-weight: bold; color: "
          "#a00000 }\n"
          ".scroll { overflow-x: auto }\n</style>\n</head>\n<body>\n<h1>Can the privacy claims be refuted?</h1>\n",
          out);
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
    fprintf(out,
            "%zu claims must not be refuted. That one is not refuted proves nothing by itself: the bound says how "
            "much of the claim was seen. %zu must be refuted, because they are the paper's where docs/PAPER.md says "
            "it errs or because a mechanism was broken on purpose: they say what the audits would have "
            "noticed.</p>\n",
            sound, count - sound);
    if (count > 0)
        fprintf(out,
                "<p>Each audit runs the program many times on two neighbouring data sets, searches on half of the runs "
                "the event that tells them apart "
                "best, and counts it on the other half. The measured epsilon is a lower bound (Clopper and Pearson), "
                "wrong with probability at most "
                "%.3g in each audit.</p>\n",
                1 - result[0].confidence);
}

/* Largest value on the axis: a whole number. */
static double axis_of(const caucus_audit_result *result, size_t count) {
    double most = 1;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fmax(fmin(result[i].claimed, 1000), result[i].lower_bound));
    return ceil(most);
}

static void plot(FILE *out, const caucus_audit_result *result, size_t count) {
    double most = axis_of(result, count), step = fmax(1, ceil(most / 10)), unit = WIDE / most;
    int height = TOP + ROW * (int)count + 10;
    fprintf(out,
            "<h2>Claimed against measured epsilon</h2>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" "
            "aria-labelledby=\"plot-title plot-text\">\n"
            "<title id=\"plot-title\">Claimed against measured epsilon</title>\n"
            "<desc id=\"plot-text\">One row per audit: a bar up to the measured lower bound, a line at the claim. The "
            "table below holds the same numbers.</desc>\n",
            NAME + WIDE + 20, height);
    for (double v = 0; v <= most; v += step)
        fprintf(out,
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#dddddd\"/><text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%g</text>\n",
                NAME + v * unit, TOP - 6, NAME + v * unit, height - 8, NAME + v * unit, TOP - 12, v);
    for (size_t i = 0; i < count; i++) {
        const caucus_audit_result *r = &result[i];
        int y = TOP + ROW * (int)i;
        double claim = NAME + fmin(most, r->claimed) * unit;
        fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\"%s>", NAME - 8, y + 12,
                caucus_audit_pass(r) ? "" : " font-weight=\"bold\"");
        caucus_html_put(out, r->name);
        /* sound: a full bar; broken or the paper's: a hollow one */
        fprintf(out,
                "</text><rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\" stroke=\"%s\" "
                "stroke-width=\"1.5\"/>",
                NAME, y + 3, r->lower_bound * unit, ROW - 7, r->expected ? "#ffffff" : "#0072B2",
                r->expected ? "#D55E00" : "#0072B2");
        fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#000000\" stroke-width=\"2\"/>\n",
                claim, y + 1, claim, y + ROW - 2);
    }
    fputs("</svg>\n<p>Black line: the claim. Full blue bar: a claim of ours; it must not pass the line. "
          "Hollow orange bar: a claim that "
          "is false; it must.</p>\n",
          out);
}

static void rows(FILE *out, const caucus_audit_result *result, size_t count) {
    fputs("<h2>Every audit</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>Audit</th><th>Of</th><th "
          "class=\"n\">Claimed</th><th class=\"n\">Delta</th><th class=\"n\">At "
          "least</th><th class=\"n\">Runs per data set</th><th>Broken</th><th>Verdict</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < count; i++) {
        const caucus_audit_result *r = &result[i];
        char words[CAUCUS_AUDIT_WORDS_BYTES];
        fputs("<tr><td>", out);
        caucus_html_put(out, r->name);
        fputs("</td><td>", out);
        caucus_html_put(out, r->target);
        fprintf(out,
                "</td><td class=\"n\">%g</td><td class=\"n\">%g</td><td class=\"n\">%.3f</td><td class=\"n\">%" PRIu64
                "</td><td>",
                r->claimed, r->delta, r->lower_bound, r->trials);
        caucus_html_put(out, r->wrong != NULL ? r->wrong : "");
        fprintf(out, "</td><td%s>", caucus_audit_pass(r) ? "" : " class=\"wrong\"");
        caucus_audit_words(r, words);
        caucus_html_put(out, words);
        fprintf(out, "%s</td></tr>\n", caucus_audit_pass(r) ? "" : ", not as expected");
    }
    fputs("</tbody></table></div>\n<p>The same as data: <a href=\"audit.csv\">audit.csv</a>, <a "
          "href=\"audit.json\">audit.json</a>; broken twins by audit: <a href=\"twins.md\">twins.md</a>.</p>\n",
          out);
}

/* Of a plan: which one, how it was run, on which pair. */
static void plan_words(FILE *out, const caucus_audit_plan_result *p) {
    fprintf(out, "<p>The plan <code>%s</code>, ", p->hash);
    fputs(p->reduced[0] != '\0' ? "on a reduced plan with the same rates: " : "run as it is", out);
    caucus_html_put(out, p->reduced);
    fprintf(out, ". The worst of %" PRIu32 " pairs of neighbouring data sets: ", p->pairs);
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
    plot(out, result, count);
    rows(out, result, count);
    fputs("</body>\n</html>\n", out);
}
