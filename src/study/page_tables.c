/* SPDX-License-Identifier: Apache-2.0 */
/* page_tables.c: the tables of the report, and its list of claims. See parts.h.
 * layer: study
 *
 * Tables to compare have few and short columns, so that they stay tables on a phone. */
#include <math.h>
#include <string.h>

#include "show/bound_fit.h"
#include "study/parts.h"

void caucus_page_say(caucus_text *ret, const char *text) {
    caucus_text_html(ret, text, strlen(text));
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

void caucus_page_ran(const caucus_study *study, caucus_text *ret) {
    caucus_text_add(ret, "<div class=\"wide\"><table class=\"compare\">\n<thead><tr><th>Experiment</th><th "
                         "class=\"number\">m</th><th class=\"number\">d</th><th class=\"number\">T</th><th "
                         "class=\"number\">ε</th><th class=\"number\">trials</th><th class=\"number\">seconds</th></tr>"
                         "</thead>\n<tbody>\n");
    for (unsigned e = 0; e < CAUCUS_EXPERIMENT_COUNT; e++) {
        const caucus_figure *f = &study->figure[e];
        if (!f->spec)
            continue;
        caucus_text_add(ret, "<tr><td>%s</td>", f->spec->name);
        if (f->missing[0])
            caucus_text_add(ret, "<td colspan=\"6\">not run: the data is not here</td></tr>\n");
        else
            caucus_text_add(ret,
                            "<td class=\"number\">%u</td><td class=\"number\">%u</td><td class=\"number\">%u</td><td "
                            "class=\"number\">%g</td><td class=\"number\">%u</td><td "
                            "class=\"number\">%.1f</td></tr>\n",
                            f->spec->clients, f->spec->experts, f->spec->rounds, f->spec->epsilon,
                            f->series[0].run.done, f->seconds);
    }
    if (study->scaling.count)
        caucus_text_add(ret,
                        "<tr><td>Table 1</td><td colspan=\"5\">%u sweeps of 4 to 6 points</td><td "
                        "class=\"number\">%.1f</td></tr>\n",
                        study->scaling.count, study->scaling.seconds);
    if (study->fleet.count)
        caucus_text_add(ret,
                        "<tr><td>Fleets</td><td colspan=\"5\">%u series of %u points</td><td "
                        "class=\"number\">%.1f</td></tr>\n",
                        study->fleet.count, study->fleet.series[0].points, study->fleet.seconds);
    caucus_text_add(ret, "</tbody></table></div>\n");
}

/* The claims of one section, below its name; CAUCUS_SECTION_COUNT: those about all figures. */
static void claims_of(const caucus_study *study, caucus_section section, caucus_text *ret) {
    bool any = false;
    for (uint32_t i = 0; i < study->claims; i++) {
        const caucus_claim *c = &study->claim[i];
        if (c->section != section)
            continue;
        if (!any)
            caucus_text_add(ret, "<h3>%s</h3>\n<ul class=\"claims\">\n",
                            section == CAUCUS_SECTION_COUNT ? "Proved bounds, in all figures"
                                                            : caucus_section_help(section));
        any = true;
        caucus_text_add(ret, "<li class=\"%s\"><b>%s</b> ", c->holds ? "holds" : "fails",
                        c->holds ? "✓ holds" : "✗ fails");
        caucus_page_say(ret, c->text);
        caucus_text_add(ret, "<span>");
        caucus_page_say(ret, c->measured);
        caucus_text_add(ret, "</span></li>\n");
    }
    if (any)
        caucus_text_add(ret, "</ul>\n");
    const char *missing = section < CAUCUS_SECTION_COUNT ? caucus_study_not_run(study, section) : NULL;
    if (missing) {
        caucus_text_add(ret, "<h3>%s</h3>\n<p class=\"remark\"><b>Not run, and so not checked.</b> ",
                        caucus_section_help(section));
        caucus_page_say(ret, missing);
        caucus_text_add(ret, "</p>\n");
    }
}

void caucus_page_claims(const caucus_study *study, caucus_text *ret) {
    for (unsigned s = 0; s <= CAUCUS_SECTION_COUNT; s++)
        claims_of(study, (caucus_section)s, ret);
}

void caucus_page_lines(const caucus_study *study, const caucus_panel *panel, caucus_text *ret) {
    caucus_text_add(ret, "<table class=\"compare\">\n<thead><tr><th>Curve</th><th class=\"number\">regret per "
                         "client</th><th class=\"number\">ε guaranteed</th></tr></thead>\n<tbody>\n");
    for (const caucus_line *line = panel->line; line->key; line++) {
        const caucus_run_result *run = &caucus_study_series(study, panel->experiment, line->key)->run;
        const caucus_summary regret = caucus_run_regret(run);
        caucus_text_add(ret, "<tr><td>%s</td>", line->label);
        number_cell(ret, regret.mean, regret.std);
        caucus_text_add(ret, "<td class=\"number\">%.3g</td></tr>\n", run->plan->guarantee.epsilon_choices);
    }
    caucus_text_add(ret, "</tbody></table>\n");
}

static void bound_cell(const caucus_figure *figure, const caucus_plan *plan, caucus_text *ret) {
    if (!caucus_bound_holds(plan, &(caucus_adversary_settings){.kind = figure->spec->adversary}))
        caucus_text_add(ret, "<td class=\"number\">nothing</td>");
    else if (plan->bound_uncapped > plan->bound)
        caucus_text_add(ret, "<td class=\"number\">vacuous</td>");
    else
        caucus_text_add(ret, "<td class=\"number\">%.*f%s</td>", plan->bound < 100 ? 1 : 0, plan->bound,
                        plan->bound_kind == CAUCUS_BOUND_EXPECTATION ? " <small>(mean)</small>" : "");
}

void caucus_page_measured(const caucus_figure *figure, caucus_text *ret) {
    caucus_text_add(ret, "<div class=\"wide\"><table class=\"compare\">\n<thead><tr><th>Algorithm</th><th "
                         "class=\"number\">regret per client</th><th class=\"number\">proven ≤</th><th "
                         "class=\"number\">switches</th><th class=\"number\">numbers sent</th></tr></thead>\n"
                         "<tbody>\n");
    for (uint32_t i = 0; i < figure->count; i++) {
        const caucus_series *s = &figure->series[i];
        const caucus_summary regret = caucus_run_regret(&s->run), switches = caucus_run_switches(&s->run);
        const caucus_summary sent =
            caucus_study_traffic(&s->run, offsetof(caucus_trial_result, scalars_up), s->run.plan->settings.clients);
        caucus_text_add(ret, "<tr><td>");
        caucus_page_say(ret, s->spec->label);
        caucus_text_add(ret, " <small>(%s)</small></td>",
                        s->spec->calibration == CAUCUS_CALIBRATION_PAPER ? "the paper’s" : "ours");
        number_cell(ret, regret.mean, regret.std);
        bound_cell(figure, s->run.plan, ret);
        caucus_text_add(ret, "<td class=\"number\">%.1f</td><td class=\"number\">", switches.mean);
        caucus_text_thousands(ret, sent.mean);
        caucus_text_add(ret, "</td></tr>\n");
    }
    caucus_text_add(ret, "</tbody></table></div>\n<p><small>%u trials each.</small></p>\n", figure->series[0].run.done);
}

static bool same_guarantee(const caucus_run_result *a, const caucus_run_result *b) {
    double off = a->plan->guarantee.epsilon_choices - b->plan->guarantee.epsilon_choices;
    return fabs(off) < 0.001 * a->plan->guarantee.epsilon_choices &&
           strcmp(a->plan->guarantee.note, b->plan->guarantee.note) == 0;
}

/* What each plan really guarantees, and to whom; plans with the same guarantee share a row. */
void caucus_page_guarantees(const caucus_figure *f, caucus_text *t) {
    caucus_text_add(t,
                    "<h4>What each really guarantees, at ε = %g asked</h4>\n<div class=\"wide\"><table "
                    "class=\"cards\">\n<thead><tr><th>Plans</th>"
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
                caucus_page_say(t, f->series[k].spec->label);
                caucus_text_add(t, f->series[k].spec->calibration == CAUCUS_CALIBRATION_PAPER ? " (paper)" : "");
                comma = "; ";
            }
        const caucus_guarantee *g = &f->series[i].run.plan->guarantee;
        caucus_text_add(t, "</td><td class=\"number\">%.3g</td>", g->epsilon_choices);
        if (isnan(g->epsilon_messages))
            caucus_text_add(t, "<td class=\"number\">trusted</td><td class=\"words\">");
        else
            caucus_text_add(t, "<td class=\"number\">%.3g</td><td class=\"words\">", g->epsilon_messages);
        caucus_page_say(t, g->note);
        caucus_text_add(t, "</td></tr>\n");
    }
    caucus_text_add(t, "</tbody></table></div>\n");
}

void caucus_page_slopes(const caucus_scaling *scaling, caucus_text *ret) {
    caucus_text_add(ret, "<div class=\"wide\"><table class=\"compare\">\n<thead><tr><th>What grows, and with what</th>"
                         "<th>theory</th><th class=\"number\">slope in theory</th><th class=\"number\">slope "
                         "measured</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < scaling->count; i++) {
        const caucus_sweep *w = &scaling->sweep[i];
        caucus_text_add(ret, "<tr><td>%s, with %s: ", w->spec->value == CAUCUS_SWEEP_REGRET ? "regret" : "numbers sent",
                        caucus_sweep_variable_text(w->spec->variable));
        caucus_page_say(ret, w->spec->label);
        caucus_text_add(ret, " <small>(%g to %g)</small></td><td>%s</td>", w->x[0], w->x[w->points - 1],
                        w->spec->theory);
        if (isnan(w->spec->slope))
            caucus_text_add(ret, "<td class=\"number\">–</td>");
        else
            caucus_text_add(ret, "<td class=\"number\">%g</td>", w->spec->slope);
        caucus_text_add(ret, "<td class=\"number\">%.2f ± %.2f</td></tr>\n", w->slope, w->slope_error);
    }
    caucus_text_add(ret,
                    "</tbody></table></div>\n<p><small>Slopes: least squares of logarithms, ± one standard error of "
                    "the fit; all with <code>trust coordinator</code> and our constants. A rate of log T has no "
                    "slope of its own: near 0 for regret, and 1 in log2 of T for traffic.</small></p>\n");
}

void caucus_page_fleet(const caucus_fleet *fleet, caucus_fleet_panel panel, caucus_text *ret) {
    const caucus_fleet_series *first = NULL;
    for (uint32_t i = fleet->count; i-- > 0;)
        if (fleet->series[i].spec->panel == panel)
            first = &fleet->series[i];
    if (!first)
        return;
    caucus_text_add(ret, "<div class=\"wide\"><table class=\"compare\">\n<thead><tr><th>%s</th>",
                    caucus_fleet_axis(panel));
    for (uint32_t i = 0; i < fleet->count; i++)
        if (fleet->series[i].spec->panel == panel)
            caucus_text_add(ret, "<th class=\"number\">%s</th>", fleet->series[i].spec->label);
    caucus_text_add(ret, "</tr></thead>\n<tbody>\n");
    for (uint32_t k = 0; k < first->points; k++) {
        caucus_text_add(ret, "<tr><td>%g</td>", first->x[k]);
        for (uint32_t i = 0; i < fleet->count; i++)
            if (fleet->series[i].spec->panel == panel)
                number_cell(ret, fleet->series[i].regret[k].mean, fleet->series[i].regret[k].std);
        caucus_text_add(ret, "</tr>\n");
    }
    caucus_text_add(ret, "</tbody></table></div>\n");
}
