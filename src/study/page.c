/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: the page itself: plain HTML, no script, nothing from another host. See study.h.
 * layer: study */
#include <math.h>
#include <string.h>

#include <caucus/version.h>

#include "study/markdown.h"
#include "study/parts.h"

static const char style[] =
    ":root{color-scheme:light "
    "dark;--ink:#1c1c1c;--soft:#5a5a5a;--line:#d4d4d4;--back:#fff;--card:#f6f6f4;--good:#00694d;--bad:#b03a00;"
    "--link:#005a8d}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8e6;--soft:#a9a9a6;--line:#474744;--back:#1b1b1a;--card:#272725;"
    "--good:#4fd0a8;"
    "--bad:#ff9a62;--link:#7cc4f0}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:48rem;padding:1.2rem 1rem 4rem;font:1rem/1.55 system-ui,sans-serif;color:var(--ink);"
    "background:var(--back);overflow-wrap:break-word}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:.4rem 0 .6rem}\n"
    "h2{font-size:1.3rem;line-height:1.3;margin:3rem 0 .4rem;padding-top:.9rem;border-top:2px solid var(--line)}\n"
    "h3{font-size:1.05rem;margin:1.8rem 0 .4rem}h4{font-size:1rem;margin:1.4rem 0 .3rem}\n"
    "a{color:var(--link)}small,.soft{color:var(--soft)}\n"
    "figure{margin:1rem auto;max-width:35rem;background:#fff;border:1px solid "
    "var(--line);border-radius:4px;padding:.4rem}\n"
    "figure.panels{max-width:none}figure svg{display:block;width:100%;height:auto}\n"
    "figcaption{color:#5a5a5a;font-size:.85rem;padding:.3rem .4rem}\n"
    ".many{display:grid;grid-template-columns:repeat(3,1fr);gap:.2rem}\n"
    ".wide{overflow-x:auto;margin:.6rem 0}\n"
    "table{border-collapse:collapse;font-size:.9rem;line-height:1.4;font-variant-numeric:tabular-nums;width:100%}\n"
    "th,td{text-align:left;vertical-align:top;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line)}\n"
    "td:first-child{min-width:8.5rem}.number{text-align:right;white-space:nowrap;padding-left:.5rem}"
    "th,th.number{font-weight:600;border-bottom-width:2px;white-space:normal;vertical-align:bottom}\n"
    "pre{background:var(--card);padding:.6rem "
    ".7rem;border-radius:4px;font-size:.82rem;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "td code{overflow-wrap:anywhere}.words{min-width:14rem}\n"
    "#departures table{table-layout:fixed;min-width:44rem}#departures td code{font-size:.85em}\n"
    "code{font-family:ui-monospace,monospace;font-size:.92em}\n"
    ".claims{list-style:none;padding:0;margin:.6rem 0}.claims li{padding:.45rem 0 .45rem 4.6rem;border-bottom:1px "
    "solid var(--line);"
    "position:relative}\n"
    ".claims b{position:absolute;left:0;font-weight:700}.holds b{color:var(--good)}.fails b{color:var(--bad)}\n"
    ".claims span{display:block;color:var(--soft);font-size:.92rem}\n"
    "@media(max-width:34rem){.many{grid-template-columns:repeat(2,1fr)}"
    "figure{margin:1rem -1rem;border-width:1px 0;border-radius:0;padding:.3rem 2px}"
    ".wide{overflow:visible}table,tbody,tr,td{display:block}"
    "thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    "tr{border:1px solid var(--line);border-radius:4px;padding:.4rem .7rem;margin:.6rem 0}"
    "td,td:first-child,.words,.number{min-width:0;border:0;padding:.12rem 0}"
    "td:first-child{font-weight:600}.number{text-align:left;white-space:normal}"
    "td[data-label]:not(:first-child){display:grid;grid-template-columns:46% 1fr;gap:.6rem}"
    "td[data-label]:not(:first-child)::before{content:attr(data-label);color:var(--soft)}"
    "td.words,#departures td{display:block!important}td.words::before,#departures td::before{display:block}"
    "#departures table{min-width:0}#departures td:first-child{font-weight:400}}\n"
    ".remark{border-left:4px solid var(--line);padding:.1rem .8rem}\n"
    "@media print{body{max-width:none;font-size:10pt}h2{break-after:avoid}figure,tr,.claims li{break-inside:avoid}"
    ".wide{overflow:visible}a{color:inherit}}\n";

/* Text, escaped; markup goes through caucus_text_add. */
static void say(caucus_text *t, const char *text) {
    caucus_text_html(t, text, strlen(text));
}

static void number_cell(caucus_text *t, double value, double spread) {
    caucus_text_add(t, "<td class=\"number\">");
    caucus_text_spread(t, value, spread);
    caucus_text_add(t, "</td>");
}

caucus_summary caucus_study_traffic(const caucus_run_result *run, size_t field_offset, double by) {
    caucus_summary s = {.mean = caucus_run_mean_u64(run, field_offset) / by};
    for (uint32_t i = 0; i < run->done; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&run->trial[i] + field_offset, sizeof value);
        s.std += ((double)value / by - s.mean) * ((double)value / by - s.mean);
    }
    s.std = run->done > 1 ? sqrt(s.std / (run->done - 1)) : 0;
    return s;
}

static void head(const caucus_study *study, caucus_text *t) {
    caucus_text_add(
        t,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"generator\" content=\"caucus reproduce\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Federated prediction from experts, reproduced</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n",
        style);
    uint32_t hold = 0;
    for (uint32_t i = 0; i < study->claims; i++)
        hold += study->claim[i].holds;
    caucus_text_add(t, "<h1>Federated prediction from experts with differential privacy, reproduced</h1>\n");
    caucus_text_add(
        t,
        "<p class=\"remark\"><strong>NOT PRIVATE (seeded)</strong>: noise and losses come from seed %llu, so "
        "that everything here can be made again. A live run draws its noise from the operating system.</p>\n",
        (unsigned long long)study->options.seed);
    caucus_text_add(
        t,
        "<p>caucus %s ran the paper’s experiments again, with the paper’s constants and with its own (compared where "
        "both guarantee the same ε): ",
        CAUCUS_VERSION);
    if (study->claims == 0)
        caucus_text_add(t, "<strong>nothing could be checked</strong>.");
    else if (hold == study->claims)
        caucus_text_add(t, "<strong>all %u checks hold</strong>.", hold);
    else
        caucus_text_add(t, "<strong>%u of %u checks hold</strong>.", hold, study->claims);
    caucus_text_add(t, " %u runs, ", study->runs);
    caucus_text_thousands(t, study->trials);
    caucus_text_add(t,
                    " trials, %.1f seconds%s. Regret is counted per client against the best single expert in "
                    "hindsight; ± is one standard "
                    "deviation over trials.</p>\n",
                    study->seconds, study->options.quick ? " (<code>--quick</code>: fewer trials)" : "");
}

static void what_ran(const caucus_study *study, caucus_text *t) {
    caucus_text_add(t,
                    "<div class=\"wide\"><table>\n<thead><tr><th>What was run</th><th class=\"number\">clients "
                    "m</th><th class=\"number\">experts d"
                    "</th><th class=\"number\">rounds T</th><th class=\"number\">ε</th><th class=\"number\">trials</th>"
                    "<th class=\"number\">seconds</th></tr></thead>\n<tbody>\n");
    for (unsigned s = 0; s < CAUCUS_SECTION_SCALING; s++) {
        const caucus_figure *f = &study->figure[s];
        if (!f->spec)
            continue;
        caucus_text_add(t, "<tr><td><a href=\"#%s\">%s</a></td>", caucus_section_word((caucus_section)s),
                        caucus_section_help((caucus_section)s));
        if (f->missing[0]) {
            caucus_text_add(t, "<td colspan=\"6\">not run: the data is not here</td></tr>\n");
            continue;
        }
        caucus_text_add(t,
                        "<td class=\"number\">%u</td><td class=\"number\">%u</td><td class=\"number\">%u</td><td "
                        "class=\"number\">%g</td>"
                        "<td class=\"number\">%u</td><td class=\"number\">%.1f</td></tr>\n",
                        f->spec->clients, f->spec->experts, f->spec->rounds, f->spec->epsilon, f->series[0].run.done,
                        f->seconds);
    }
    if (study->scaling.count)
        caucus_text_add(t,
                        "<tr><td><a href=\"#scaling\">%s</a></td><td colspan=\"5\">%u sweeps of 4 to 6 points</td>"
                        "<td class=\"number\">%.1f</td></tr>\n",
                        caucus_section_help(CAUCUS_SECTION_SCALING), study->scaling.count, study->scaling.seconds);
    caucus_text_add(t, "</tbody></table></div>\n");
}

static void what_holds(const caucus_study *study, caucus_text *t) {
    caucus_text_add(t, study->claims ? "<h3>What holds</h3>\n<ul class=\"claims\">\n" : "<ul class=\"claims\">\n");
    for (uint32_t i = 0; i < study->claims; i++) {
        const caucus_claim *c = &study->claim[i];
        caucus_text_add(t, "<li class=\"%s\"><b>%s</b> ", c->holds ? "holds" : "fails",
                        c->holds ? "✓ holds" : "✗ fails");
        say(t, c->text);
        caucus_text_add(t, "<span>");
        say(t, c->measured);
        caucus_text_add(t, "</span></li>\n");
    }
    caucus_text_add(t, "</ul>\n");
}

static void measured_table(const caucus_figure *f, caucus_text *t) {
    caucus_text_add(t, "<div class=\"wide\"><table>\n<thead><tr><th>Algorithm</th><th>constants</th><th "
                       "class=\"number\">regret per client</th>"
                       "<th class=\"number\">proven ≤</th><th class=\"number\">switches</th><th "
                       "class=\"number\">numbers sent per client</th>"
                       "<th class=\"number\">trials</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < f->count; i++) {
        const caucus_series *s = &f->series[i];
        const caucus_plan *plan = s->run.plan;
        caucus_summary regret = caucus_run_regret(&s->run), switches = caucus_run_switches(&s->run);
        caucus_summary sent =
            caucus_study_traffic(&s->run, offsetof(caucus_trial_result, scalars_up), plan->settings.clients);
        caucus_text_add(t, "<tr><td>");
        say(t, s->spec->label);
        caucus_text_add(t, "</td><td>%s</td>", caucus_calibration_word(s->spec->calibration));
        number_cell(t, regret.mean, regret.std);
        if (plan->bound_kind == CAUCUS_BOUND_NONE)
            caucus_text_add(t, "<td class=\"number\">nothing</td>");
        else if (plan->bound_uncapped > plan->bound)
            caucus_text_add(t, "<td class=\"number\">vacuous</td>");
        else
            caucus_text_add(t, "<td class=\"number\">%.*f%s</td>", plan->bound < 100 ? 1 : 0, plan->bound,
                            plan->bound_kind == CAUCUS_BOUND_EXPECTATION ? " (mean)" : "");
        number_cell(t, switches.mean, switches.std);
        caucus_text_add(t, "<td class=\"number\">");
        caucus_text_thousands(t, sent.mean);
        caucus_text_add(t, " ± %.0f</td><td class=\"number\">%u</td></tr>\n", sent.std, s->run.done);
    }
    caucus_text_add(t, "</tbody></table></div>\n");
}

static bool same_guarantee(const caucus_run_result *a, const caucus_run_result *b) {
    double off = a->plan->guarantee.epsilon_choices - b->plan->guarantee.epsilon_choices;
    return fabs(off) < 0.001 * a->plan->guarantee.epsilon_choices &&
           strcmp(a->plan->guarantee.note, b->plan->guarantee.note) == 0;
}

/* What each plan really guarantees, and to whom; plans with the same guarantee share a row. */
static void guarantee_table(const caucus_figure *f, caucus_text *t) {
    caucus_text_add(
        t,
        "<h3>What each really guarantees, at ε = %g asked</h3>\n<div class=\"wide\"><table>\n<thead><tr><th>Plans</th>"
        "<th class=\"number\">ε of choices</th><th class=\"number\">ε of messages</th><th>In "
        "words</th></tr></thead>\n<tbody>\n",
        f->spec->epsilon);
    for (uint32_t i = 0; i < f->count; i++) {
        bool told = false;
        for (uint32_t k = 0; k < i; k++)
            told = told || same_guarantee(&f->series[k].run, &f->series[i].run);
        if (told)
            continue;
        caucus_text_add(t, "<tr><td>");
        const char *comma = "";
        for (uint32_t k = i; k < f->count; k++)
            if (same_guarantee(&f->series[k].run, &f->series[i].run)) {
                caucus_text_add(t, "%s", comma);
                say(t, f->series[k].spec->label);
                caucus_text_add(t, f->series[k].spec->calibration == CAUCUS_CALIBRATION_PAPER ? " (paper)" : "");
                comma = "; ";
            }
        const caucus_guarantee *g = &f->series[i].run.plan->guarantee;
        caucus_text_add(t, "</td><td class=\"number\">%.3g</td>", g->epsilon_choices);
        if (isnan(g->epsilon_messages))
            caucus_text_add(t, "<td class=\"number\">trusted</td><td class=\"words\">");
        else
            caucus_text_add(t, "<td class=\"number\">%.3g</td><td class=\"words\">", g->epsilon_messages);
        say(t, g->note);
        caucus_text_add(t, "</td></tr>\n");
    }
    caucus_text_add(t, "</tbody></table></div>\n");
}

static void picture(const caucus_text *svg, const char *caption, const char *grid, caucus_text *t) {
    if (svg->length == 0)
        return;
    caucus_text_add(t, grid[0] ? "<figure class=\"panels\"><div class=\"many\">" : "<figure>");
    caucus_text_put(t, svg->data, svg->length);
    caucus_text_add(t, "%s<figcaption>%s</figcaption></figure>\n", grid[0] ? "</div>" : "", caption);
}

static void begin_section(const caucus_study *study, caucus_section s, caucus_text *t) {
    caucus_text_add(t, "<section id=\"%s\">\n<h2>", caucus_section_word(s));
    caucus_study_title(study, s, t);
    caucus_text_add(t, "</h2>\n<p class=\"soft\">%s</p>\n", caucus_section_help(s));
}

static void paragraph(const caucus_study *study, caucus_section s, caucus_text *t) {
    caucus_text_add(t, "<p>");
    caucus_study_paragraph(study, s, t);
    caucus_text_add(t, "</p>\n");
}

static void again(const caucus_study *study, caucus_section s, caucus_text *t) {
    caucus_text command = {0};
    caucus_study_command(study, s, &command);
    caucus_text_add(t, "<p>Make it again:</p>\n<pre>");
    if (command.data)
        caucus_text_html(t, command.data, command.length);
    caucus_text_add(t, "</pre>\n");
    caucus_text_free(&command);
}

static void figure_section(const caucus_study *study, caucus_section s, const caucus_pictures *pictures,
                           caucus_text *t) {
    const caucus_figure *f = &study->figure[s];
    begin_section(study, s, t);
    if (f->missing[0]) {
        caucus_text_add(t, "<p class=\"remark\">");
        say(t, f->missing);
        caucus_text_add(t, "</p>\n</section>\n");
        return;
    }
    picture(&pictures->figure[s], "Mean over trials; bands: one standard deviation. Grey: the paper’s constants.", "",
            t);
    paragraph(study, s, t);
    measured_table(f, t);
    guarantee_table(f, t);
    if (f->seeds) {
        caucus_text_add(t, "<h3>The same with %u other seeds</h3>\n", f->seeds);
        picture(
            &pictures->small[s],
            "Other losses and other noise; colours, dashes and axes as above (regret per client against the round).",
            "many", t);
    }
    again(study, s, t);
    caucus_text_add(t, "<p>Numbers: <a href=\"%s.csv\">curves</a>, <a href=\"%s-trials.csv\">every trial</a>",
                    f->spec->file, f->spec->file);
    if (f->seeds)
        caucus_text_add(t, ", <a href=\"%s-seeds.csv\">other seeds</a>", f->spec->file);
    caucus_text_add(t, "; the figure as <a href=\"%s.svg\">SVG</a>.</p>\n</section>\n", f->spec->file);
}

static void scaling_section(const caucus_study *study, const caucus_pictures *pictures, caucus_text *t) {
    const caucus_section s = CAUCUS_SECTION_SCALING;
    begin_section(study, s, t);
    picture(&pictures->figure[s], "Mean over trials; bars: one standard deviation.", "", t);
    paragraph(study, s, t);
    caucus_text_add(
        t, "<div class=\"wide\"><table>\n<thead><tr><th>What grows</th><th>Algorithm</th><th>with</th><th>theory</th>"
           "<th class=\"number\">slope in theory</th><th class=\"number\">slope measured</th><th class=\"number\">from "
           "… to</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < study->scaling.count; i++) {
        const caucus_sweep *w = &study->scaling.sweep[i];
        caucus_text_add(t, "<tr><td>%s</td><td>",
                        w->spec->value == CAUCUS_SWEEP_REGRET ? "regret per client" : "numbers sent");
        say(t, w->spec->label);
        caucus_text_add(t, "</td><td>%s</td><td>%s</td>", caucus_sweep_variable_text(w->spec->variable),
                        w->spec->theory);
        if (isnan(w->spec->slope))
            caucus_text_add(t, "<td class=\"number\">–</td>");
        else
            caucus_text_add(t, "<td class=\"number\">%g</td>", w->spec->slope);
        caucus_text_add(t, "<td class=\"number\">%.2f ± %.2f</td><td class=\"number\">%g … %g</td></tr>\n", w->slope,
                        w->slope_error, w->x[0], w->x[w->points - 1]);
    }
    caucus_text_add(t, "</tbody></table></div>\n<p><small>Slopes: least squares of logarithms, ± one standard error of "
                       "the fit; all with "
                       "<code>trust coordinator</code> and our calibration. A rate of log T has no slope of its own: "
                       "near 0 for regret, and "
                       "1 in log2 of T for traffic.</small></p>\n");
    again(study, s, t);
    caucus_text_add(t, "<p>Numbers: <a href=\"scaling.csv\">every point</a>; the figure as <a "
                       "href=\"scaling.svg\">SVG</a>.</p>\n</section>\n");
}

static void whole_page(const caucus_study *study, const caucus_pictures *pictures, caucus_text *ret) {
    head(study, ret);
    what_ran(study, ret);
    what_holds(study, ret);
    for (unsigned s = 0; s < CAUCUS_SECTION_SCALING; s++)
        if (study->figure[s].spec)
            figure_section(study, (caucus_section)s, pictures, ret);
    if (study->scaling.count)
        scaling_section(study, pictures, ret);
    caucus_text_add(ret, "<section id=\"departures\">\n");
    caucus_markdown_html(caucus_paper_md, caucus_paper_md_length, 1, ret);
    caucus_text_add(ret, "</section>\n</main>\n</body>\n</html>\n");
}

void caucus_study_page(const caucus_study *study, const caucus_pictures *pictures, caucus_text *ret) {
    caucus_text page = {0};
    whole_page(study, pictures, &page);
    caucus_page_label_cells(&page, ret);
    caucus_text_free(&page);
}
