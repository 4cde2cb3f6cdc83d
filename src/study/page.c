/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: the page itself: plain HTML, no script, nothing from another host. See study.h.
 * layer: study
 *
 * Figures first: the paper's, as the paper draws them, then ours against them, then what the paper does not have. What
 * must hold, what was run and where we depart from the paper come after. */
#include <string.h>

#include <caucus/version.h>

#include "study/markdown.h"
#include "study/parts.h"

static bool has_panels(const caucus_study *study, bool paper) {
    for (unsigned p = 0; p < CAUCUS_PANELS; p++)
        if (caucus_panels[p].paper == paper && study->figure[caucus_panels[p].experiment].spec)
            return true;
    return false;
}

static void summary(const caucus_study *study, caucus_text *t) {
    uint32_t hold = 0;
    for (uint32_t i = 0; i < study->claims; i++)
        hold += study->claim[i].holds;
    caucus_text_add(t,
                    "<p>caucus %s ran the paper’s experiments again, as the paper has them and with its own "
                    "constants: ",
                    CAUCUS_VERSION);
    if (study->claims == 0)
        caucus_text_add(t, "<strong>nothing could be checked</strong>.");
    else if (hold == study->claims)
        caucus_text_add(t, "<strong><a href=\"#holds\">all %u checks hold</a></strong>.", hold);
    else
        caucus_text_add(t, "<strong><a href=\"#holds\">%u of %u checks hold</a></strong>.", hold, study->claims);
    for (unsigned s = 0; s < CAUCUS_SECTION_COUNT; s++)
        if (caucus_study_not_run(study, (caucus_section)s))
            caucus_text_add(t, " <strong>Not run, and not checked: %s</strong> (its data is not here).",
                            caucus_section_help((caucus_section)s));
    caucus_text_add(t, " %u runs, ", study->runs);
    caucus_text_thousands(t, study->trials);
    caucus_text_add(t, " trials, %.1f seconds%s.</p>\n", study->seconds,
                    study->options.quick ? " (<code>--quick</code>: fewer trials)" : "");
}

static void head(const caucus_study *study, caucus_text *t) {
    caucus_text_add(
        t,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"generator\" content=\"caucus reproduce\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Federated prediction from experts, reproduced</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<main>\n"
        "<h1>Federated prediction from experts with differential privacy, reproduced</h1>\n"
        "<p class=\"remark\"><strong>NOT PRIVATE (seeded)</strong>: noise and losses come from seed %llu, so "
        "that everything here can be made again. A live run draws its noise from the operating system.</p>\n",
        caucus_page_style, caucus_page_style_narrow, (unsigned long long)study->options.seed);
    summary(study, t);
    caucus_text_add(
        t,
        "<p>m <dfn>clients</dfn> (devices, hospitals, users) follow one of d <dfn>experts</dfn> (models, settings, "
        "genres), the same for all. In each of T <dfn>rounds</dfn> every client sees what every expert would have cost "
        "it, a <dfn>loss</dfn>. <dfn>Regret</dfn> is what was lost more than with the "
        "best single expert in hindsight, per client. <dfn>ε</dfn> bounds what can be learnt about one loss: "
        "changing it changes the probability of anything that is announced by a factor of at most e^ε. The "
        "<dfn>guaranteed ε</dfn> is what is proved; what was asked for may be more or less. <dfn>Constants</dfn> are "
        "how much noise and how late a switch an algorithm takes for it: the paper’s, or ours "
        "(<code>--calibration</code>). A <dfn>trial</dfn> is one run with its own losses and noise; ± and bands are "
        "one "
        "standard deviation over trials.</p>\n");
}

static void contents_panels(const caucus_study *study, bool paper, caucus_text *t) {
    caucus_text_add(t, "<ul>\n");
    for (unsigned p = 0; p < CAUCUS_PANELS; p++) {
        const caucus_panel *panel = &caucus_panels[p];
        if (panel->paper != paper || panel->aside || !caucus_panel_has(study, panel))
            continue;
        caucus_text title = {0};
        panel->title(study, &title);
        caucus_text_add(t, "<li><a href=\"#%s-panel\">", panel->file);
        caucus_page_say(t, title.data ? title.data : "");
        caucus_text_add(t, "</a></li>\n");
        t->failed = t->failed || title.failed;
        caucus_text_free(&title);
    }
    caucus_text_add(t, "</ul>\n");
}

static void contents(const caucus_study *study, caucus_text *t) {
    caucus_text_add(t, "<nav aria-label=\"Contents\">\n<p>Contents</p>\n<ul>\n");
    if (has_panels(study, true)) {
        caucus_text_add(t, "<li><a href=\"#paper\">The paper’s figures, as the paper draws them</a>\n");
        contents_panels(study, true, t);
        caucus_text_add(t, "</li>\n<li><a href=\"#ours\">Ours against the paper’s, at equal guaranteed ε</a>\n");
        contents_panels(study, false, t);
        caucus_text_add(t, "</li>\n");
    }
    if (study->scaling.count)
        caucus_text_add(t, "<li><a href=\"#scaling\">Table 1: how regret and traffic grow</a></li>\n");
    if (study->fleet.count)
        caucus_text_add(t, "<li><a href=\"#fleet\">What the paper does not have: fleets</a></li>\n");
    if (study->claims)
        caucus_text_add(t, "<li><a href=\"#holds\">What must hold, and whether it does</a></li>\n");
    caucus_text_add(t, "<li><a href=\"#run\">What was run, and how to make it again</a></li>\n"
                       "<li><a href=\"#departures\">Where we depart from the paper, and why</a></li>\n</ul>\n</nav>\n");
}

static void picture(const caucus_text *svg, const char *caption, bool many, caucus_text *t) {
    if (svg->length == 0)
        return;
    caucus_text_add(t, many ? "<figure class=\"panels\"><div class=\"many\">" : "<figure>");
    caucus_text_put(t, svg->data, svg->length);
    caucus_text_add(t, "%s<figcaption>%s</figcaption></figure>\n", many ? "</div>" : "", caption);
}

/* A panel: title, picture, paragraph, what its curves end at. */
static void show_panel(const caucus_study *study, unsigned p, const caucus_pictures *pictures, caucus_text *t) {
    const caucus_panel *panel = &caucus_panels[p];
    const char *level = panel->aside ? "h4" : "h3";
    caucus_text title = {0};
    panel->title(study, &title);
    caucus_text_add(t, "<div id=\"%s-panel\">\n<%s>", panel->file, level);
    caucus_page_say(t, title.data ? title.data : "");
    caucus_text_add(t, "</%s>\n", level);
    picture(&pictures->panel[p], "Mean over trials; bands: one standard deviation.", false, t);
    if (panel->paragraph) {
        caucus_text_add(t, "<p>");
        panel->paragraph(study, t);
        caucus_text_add(t, "</p>\n");
    }
    caucus_page_lines(study, panel, t);
    caucus_text_add(t, "<p><small><a href=\"%s.svg\">SVG</a></small></p>\n</div>\n", panel->file);
    t->failed = t->failed || title.failed;
    caucus_text_free(&title);
}

static void missing(const caucus_figure *figure, caucus_text *t) {
    caucus_text_add(t, "<h3>%s: the data is not here</h3>\n<p class=\"remark\">", figure->spec->name);
    caucus_page_say(t, figure->missing);
    caucus_text_add(t, "</p>\n");
}

/* Panels of one kind; those that are smaller stand side by side. */
static void show_panels(const caucus_study *study, bool paper, const caucus_pictures *pictures, caucus_text *t) {
    bool pair = false;
    caucus_experiment last = CAUCUS_EXPERIMENT_COUNT;
    for (unsigned p = 0; p < CAUCUS_PANELS; p++) {
        const caucus_panel *panel = &caucus_panels[p];
        const caucus_figure *figure = &study->figure[panel->experiment];
        if (panel->paper != paper || !figure->spec)
            continue;
        const bool has = caucus_panel_has(study, panel), aside = has && panel->aside;
        if (pair != aside) /* what is said of missing data does not stand in a pair */
            caucus_text_add(t, aside ? "<div class=\"pair\">\n" : "</div>\n");
        pair = aside;
        if (has)
            show_panel(study, p, pictures, t);
        else if (last != panel->experiment)
            missing(figure, t);
        last = panel->experiment;
    }
    if (pair)
        caucus_text_add(t, "</div>\n");
}

static void figures(const caucus_study *study, const caucus_pictures *pictures, caucus_text *t) {
    caucus_text_add(t,
                    "<section id=\"paper\">\n<h2>The paper’s figures, as the paper draws them</h2>\n<p>Its curves, its "
                    "constants, its losses where it says what they are, linear axes. Where two curves lie on each "
                    "other the wider one is seen on both sides.</p>\n");
    show_panels(study, true, pictures, t);
    caucus_text_add(t,
                    "</section>\n<section id=\"ours\">\n<h2>Ours against the paper’s, at equal guaranteed ε</h2>\n"
                    "<p>The same losses for all. The paper’s constants are asked for so much that they guarantee the "
                    "same ε as ours; they are the wide grey lines.</p>\n");
    show_panels(study, false, pictures, t);
    caucus_text_add(t, "</section>\n");
}

static void scaling(const caucus_study *study, const caucus_pictures *pictures, caucus_text *t) {
    caucus_text_add(t, "<section id=\"scaling\">\n<h2>Table 1: how regret and traffic grow</h2>\n<h3>");
    caucus_scaling_title(study, t);
    caucus_text_add(t, "</h3>\n");
    picture(&pictures->scaling,
            "Mean over trials; bars: one standard deviation, cut at a tenth of the mean. Both axes are logarithmic.",
            false, t);
    caucus_text_add(t, "<p>");
    caucus_scaling_paragraph(study, t);
    caucus_text_add(t, "</p>\n");
    caucus_page_slopes(&study->scaling, t);
    caucus_text_add(t, "<p><small><a href=\"scaling.svg\">SVG</a></small></p>\n</section>\n");
}

static void fleet(const caucus_study *study, const caucus_pictures *pictures, caucus_text *t) {
    caucus_text_add(t, "<section id=\"fleet\">\n<h2>What the paper does not have: fleets</h2>\n");
    for (unsigned p = 0; p < CAUCUS_FLEET_PANELS; p++) {
        const caucus_fleet_panel panel = (caucus_fleet_panel)p;
        caucus_text_add(t, "<h3 id=\"%s-panel\">", caucus_fleet_file(panel));
        caucus_fleet_title(study, panel, t);
        caucus_text_add(t, "</h3>\n");
        picture(
            &pictures->fleet[p],
            "Mean over trials; bars: one standard deviation, cut at a quarter of the mean. Both axes are logarithmic.",
            false, t);
        caucus_text_add(t, "<p>");
        caucus_fleet_paragraph(study, panel, t);
        caucus_text_add(t, "</p>\n");
        caucus_page_fleet(&study->fleet, panel, t);
        caucus_text_add(t, "<p><small><a href=\"%s.svg\">SVG</a></small></p>\n", caucus_fleet_file(panel));
    }
    caucus_text_add(t, "</section>\n");
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

/* Everything that was measured of one experiment. */
static void experiment(const caucus_figure *figure, const caucus_text *small, caucus_text *t) {
    caucus_text_add(t, "<h3>%s</h3>\n", figure->spec->name);
    if (figure->missing[0]) {
        caucus_text_add(t, "<p>Not run: the data is not here.</p>\n");
        return;
    }
    caucus_page_measured(figure, t);
    caucus_page_guarantees(figure, t);
    if (figure->seeds) {
        caucus_text_add(t, "<h4>The same with %u other seeds, ours</h4>\n", figure->seeds);
        picture(small,
                "Other losses and other noise; colours and dashes as above (regret per client against the round).",
                true, t);
    }
    caucus_text_add(t, "<p>Numbers: <a href=\"%s.csv\">curves</a>, <a href=\"%s-trials.csv\">every trial</a>",
                    figure->spec->file, figure->spec->file);
    if (figure->seeds)
        caucus_text_add(t, ", <a href=\"%s-seeds.csv\">other seeds</a>", figure->spec->file);
    caucus_text_add(t, ".</p>\n");
}

static void what_ran(const caucus_study *study, const caucus_pictures *pictures, caucus_text *t) {
    caucus_text_add(
        t, "<section id=\"run\">\n<h2>What was run, and how to make it again</h2>\n<p>m clients, d experts, T "
           "rounds, ε asked for. <dfn>Proven</dfn> is what a theorem guarantees with probability 95 %%, or on average "
           "where it says mean; vacuous: no less than anybody can lose. Numbers are sent by each client, "
           "over the whole run.</p>\n");
    caucus_page_ran(study, t);
    for (unsigned s = 0; s < CAUCUS_SECTION_SCALING; s++) {
        bool any = false;
        for (unsigned e = 0; e < CAUCUS_EXPERIMENT_COUNT; e++)
            if (study->figure[e].spec && (unsigned)study->figure[e].spec->section == s) {
                experiment(&study->figure[e], &pictures->small[e], t);
                any = any || !study->figure[e].missing[0];
            }
        if (any)
            again(study, (caucus_section)s, t);
    }
    if (study->scaling.count) {
        caucus_text_add(t, "<h3>Table 1</h3>\n<p>Numbers: <a href=\"scaling.csv\">every point</a>.</p>\n");
        again(study, CAUCUS_SECTION_SCALING, t);
    }
    if (study->fleet.count) {
        caucus_text_add(t, "<h3>Fleets</h3>\n<p>Numbers: <a href=\"fleet.csv\">every point</a>.</p>\n");
        again(study, CAUCUS_SECTION_FLEET, t);
    }
    caucus_text_add(t, "</section>\n");
}

static void whole_page(const caucus_study *study, const caucus_pictures *pictures, caucus_text *ret) {
    head(study, ret);
    contents(study, ret);
    if (has_panels(study, true))
        figures(study, pictures, ret);
    if (study->scaling.count)
        scaling(study, pictures, ret);
    if (study->fleet.count)
        fleet(study, pictures, ret);
    if (study->claims) {
        caucus_text_add(ret,
                        "<section id=\"holds\">\n<h2>What must hold, and whether it does</h2>\n<p>Each of these can "
                        "fail, and then the program’s exit code is 1. What was not run is not checked.</p>\n");
        caucus_page_claims(study, ret);
        caucus_text_add(ret, "</section>\n");
    }
    what_ran(study, pictures, ret);
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
