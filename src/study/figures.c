/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c: curves as gnuplot scripts. See parts.h.
 * layer: study
 *
 * Colours are Okabe and Ito's, told apart by most colour-blind people; every line also has its own dash type, so a
 * printer in black does as well. The paper's constants are grey. Bands are one standard deviation over trials. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/parts.h"

static const struct {
    const char *colour, *dash, *fill;
    double width;
    int point;
} strokes[CAUCUS_STROKE_COUNT] = {
    [CAUCUS_STROKE_HIDDEN] = {"#000000", "solid", "0", 0, 0},
    [CAUCUS_STROKE_FIRST] = {"#0072B2", "solid", "0.22", 2.6, 7},
    [CAUCUS_STROKE_SECOND] = {"#009E73", "(14,5)", "0.18", 2.4, 5},
    [CAUCUS_STROKE_THIRD] = {"#CC79A7", "(4,4)", "0.18", 2.4, 9},
    [CAUCUS_STROKE_RIVAL] = {"#D55E00", "(14,4,3,4)", "0.18", 2.4, 13},
    [CAUCUS_STROKE_GREY_FIRST] = {"#777777", "solid", "0", 1.5, 6},
    [CAUCUS_STROKE_GREY_SECOND] = {"#777777", "(14,5)", "0", 1.5, 4},
    [CAUCUS_STROKE_GREY_THIRD] = {"#777777", "(4,4)", "0", 1.5, 8},
    [CAUCUS_STROKE_GREY_RIVAL] = {"#777777", "(14,4,3,4)", "0", 1.5, 12},
};

/* A page is read on a phone first: text of FONT on a canvas of WIDE is 11 pixels high on a screen of 360, and the page
 * lets no figure grow to more than 1.25 times its size (page.c). */
enum { WIDE = 440, FONT = 14, SMALL_WIDE = 180, SMALL_FONT = 12, LINE = 22, PLOT = 315 };

/* Entries of a key stand in two columns where they are this short, in one and on several lines where not. */
enum { KEY_SHORT = 22, KEY_LONG = 46 };

static void preamble(caucus_text *s, int width, int height, int font) {
    caucus_text_add(s,
                    "set encoding utf8\n"
                    "set terminal svg noenhanced size %d,%d dynamic background '#ffffff' font 'sans-serif,%d' rounded "
                    "dashlength 1.0\n"
                    "set border 3 lc rgb '#444444'\nset tics nomirror out textcolor rgb '#222222'\n"
                    "set grid ytics lc rgb '#dddddd' lt 1 lw 0.6\nset style fill transparent solid 0.2 noborder\n",
                    width, height, font);
}

/* A data block: round, mean, mean - std, mean + std; on a logarithmic axis nothing below `least`. */
static void block(caucus_text *s, const char *name, uint32_t number, const caucus_series *series, double least) {
    const caucus_settings *settings = &series->run.plan->settings;
    caucus_text_add(s, "$%s%u << EOD\n", name, number);
    for (uint32_t k = 0; k < CAUCUS_CURVE_POINTS; k++) {
        caucus_summary at = caucus_run_curve(&series->run, k);
        caucus_text_add(s, "%" PRIu64 " %.6g %.6g %.6g\n", caucus_curve_round(settings->rounds, k),
                        fmax(at.mean, least), fmax(at.mean - at.std, least), fmax(at.mean + at.std, least));
    }
    caucus_text_add(s, "EOD\n");
}

static const char *paper_mark(const caucus_series_spec *spec) {
    return spec->calibration == CAUCUS_CALIBRATION_PAPER ? ", paper" : "";
}

/* The plot command for series of one panel: bands first, so that no line is covered. */
static void plot(caucus_text *s, const char *name, const caucus_series *series, uint32_t count, bool key) {
    const char *comma = "";
    caucus_text_add(s, "plot ");
    for (uint32_t i = 0; i < count; i++) {
        caucus_stroke k = series[i].spec->stroke;
        if (k != CAUCUS_STROKE_HIDDEN && strokes[k].fill[0] == '0' && strokes[k].fill[1] == '.') {
            caucus_text_add(
                s, "%s$%s%u using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid %s noborder notitle", comma,
                name, i, strokes[k].colour, strokes[k].fill);
            comma = ", \\\n  ";
        }
    }
    for (uint32_t i = count; i-- > 0;) { /* ours last: on top */
        caucus_stroke k = series[i].spec->stroke;
        if (k == CAUCUS_STROKE_HIDDEN)
            continue;
        caucus_text_add(s, "%s$%s%u using 1:2 with lines lc rgb '%s' lw %.1f dt %s notitle", comma, name, i,
                        strokes[k].colour, strokes[k].width, strokes[k].dash);
        comma = ", \\\n  ";
    }
    for (uint32_t i = 0; key && i < count; i++) { /* the key in the order of the table */
        caucus_stroke k = series[i].spec->stroke;
        if (k == CAUCUS_STROKE_HIDDEN)
            continue;
        caucus_text_add(s, ", \\\n  keyentry with lines lc rgb '%s' lw %.1f dt %s title \"%s%s\"", strokes[k].colour,
                        strokes[k].width, strokes[k].dash, series[i].spec->label, paper_mark(series[i].spec));
    }
    caucus_text_add(s, "\n");
}

/* Regrets that span two decades need a logarithmic axis; a point below this is drawn on it. */
static bool logarithmic(const caucus_figure *figure) {
    return figure->spec->section != CAUCUS_SECTION_STOCH;
}

static double least_of(const caucus_figure *figure) {
    return logarithmic(figure) ? 1 : -INFINITY;
}

static void axes(caucus_text *s, const caucus_figure *figure, bool titles) {
    const caucus_figure_spec *spec = figure->spec;
    if (titles) {
        caucus_text_add(s, "set xlabel 'round (of %u)' offset 0,0.5\nset ylabel 'regret per client (%s)'\n",
                        spec->rounds, spec->section == CAUCUS_SECTION_MOVIELENS ? "rating points" : "loss");
    }
    uint32_t step = spec->rounds >= 4096 ? 4096 : spec->rounds / 4 / 32 * 32;
    caucus_text_add(s, "set xrange [0:%u]\nset xtics 0,%u\n", spec->rounds, titles ? step : 2 * step);
    if (logarithmic(figure))
        caucus_text_add(s, "set logscale y\nset yrange [%.2g:*]\nset format y '%%g'\n", least_of(figure));
    else
        caucus_text_add(s, "set yrange [0:*]\n");
}

/* A canvas with a key of so many lines above the curves: below them it would meet the axis title. */
static void canvas(caucus_text *s, uint32_t lines, bool two_columns) {
    const int key = LINE * (int)lines, height = PLOT + key;
    preamble(s, WIDE, height, FONT);
    caucus_text_add(s,
                    "set tmargin at screen %.4f\n"
                    "set key at screen %.2f,screen %.4f left top vertical Left reverse maxrows %u width %d samplen 3 "
                    "spacing 1.05 textcolor rgb '#222222'\n",
                    1 - (double)(key + 14) / height, two_columns ? 0.05 : 0.12, 1 - 2.0 / height, lines,
                    two_columns ? -6 : 0);
}

void caucus_study_draw_figure(const caucus_figure *figure, caucus_text *ret_script) {
    caucus_text *s = ret_script;
    uint32_t entries = 0;
    size_t longest = 0;
    for (uint32_t i = 0; i < figure->count; i++) {
        const caucus_series_spec *spec = figure->series[i].spec;
        size_t length = strlen(spec->label) + strlen(paper_mark(spec));
        if (spec->stroke == CAUCUS_STROKE_HIDDEN)
            continue;
        entries++;
        longest = length > longest ? length : longest;
    }
    uint32_t lines = longest <= KEY_SHORT ? (entries + 1) / 2 : entries;
    canvas(s, lines, lines < entries);
    axes(s, figure, true);
    for (uint32_t i = 0; i < figure->count; i++)
        if (figure->series[i].spec->stroke != CAUCUS_STROKE_HIDDEN)
            block(s, "d", i, &figure->series[i], least_of(figure));
    plot(s, "d", figure->series, figure->count, true);
}

void caucus_study_draw_small(const caucus_figure *figure, uint32_t seed, caucus_text *ret_script) {
    caucus_text *s = ret_script;
    const caucus_series *series = figure->small + (size_t)seed * figure->small_count;
    preamble(s, SMALL_WIDE, 170, SMALL_FONT);
    axes(s, figure, false);
    caucus_text_add(s, "set tmargin 1.7\nset bmargin 2.3\nset title 'seed %llu' offset 0,-0.6\n",
                    (unsigned long long)series[0].seed);
    for (uint32_t i = 0; i < figure->small_count; i++)
        block(s, "d", i, &series[i], least_of(figure));
    if (!logarithmic(figure)) { /* about three tics: a step of 1, 2 or 5 times a power of ten */
        double top = 0;
        for (uint32_t i = 0; i < figure->small_count; i++) {
            caucus_summary end = caucus_run_regret(&series[i].run);
            top = fmax(top, end.mean + end.std);
        }
        double power = pow(10, floor(log10(fmax(top, 1) / 3))), of = fmax(top, 1) / 3 / power;
        caucus_text_add(s, "set ytics %g\n", power * (of < 1.5 ? 1 : of < 3.5 ? 2 : 5));
    }
    caucus_text_add(s, "unset key\n");
    plot(s, "d", series, figure->small_count, false);
}

/* Where a title that is too long for one line of the key breaks: after this many bytes, at a space. */
static size_t first_line(const char *title) {
    size_t length = strlen(title), at = KEY_LONG;
    if (length <= KEY_LONG)
        return length;
    while (at > 0 && title[at] != ' ')
        at--;
    return at > 0 ? at : length;
}

/* A sweep's entry in the key, on as many lines as it takes; returns how many. Without `s` they are only counted. */
static uint32_t sweep_entry(caucus_text *s, const caucus_sweep *w) {
    caucus_stroke k = w->spec->stroke;
    char title[160];
    (void)snprintf(title, sizeof title, "%s: slope\u00a0%.2f", w->spec->label, w->slope + 0.0);
    uint32_t lines = 0;
    for (const char *at = title; *at != '\0'; lines++) {
        size_t length = first_line(at);
        if (s && lines == 0)
            caucus_text_add(s, ", \\\n  keyentry with linespoints lc rgb '%s' lw %.1f dt %s pt %d ps 0.6",
                            strokes[k].colour, strokes[k].width, strokes[k].dash, strokes[k].point);
        else if (s)
            caucus_text_add(s, ", \\\n  keyentry with dots lc rgb '#ffffff'");
        if (s)
            caucus_text_add(s, " title \"%.*s\"", (int)length, at);
        at += length + (at[length] == ' ');
    }
    return lines;
}

static void sweep_blocks(caucus_text *s, const caucus_scaling *scaling) {
    for (uint32_t i = 0; i < scaling->count; i++) {
        const caucus_sweep *w = &scaling->sweep[i];
        if (w->spec->stroke == CAUCUS_STROKE_HIDDEN)
            continue;
        caucus_text_add(s, "$s%u << EOD\n", i);
        for (uint32_t k = 0; k < w->points; k++)
            caucus_text_add(s, "%g %.6g %.6g %.6g\n", w->x[k], w->regret[k].mean,
                            fmax(w->regret[k].mean - w->regret[k].std, w->regret[k].mean / 10),
                            w->regret[k].mean + w->regret[k].std);
        caucus_text_add(s, "EOD\n");
    }
}

void caucus_study_draw_scaling(const caucus_scaling *scaling, caucus_text *ret_script) {
    caucus_text *s = ret_script;
    uint32_t lines = 0;
    for (uint32_t i = 0; i < scaling->count; i++)
        if (scaling->sweep[i].spec->stroke != CAUCUS_STROKE_HIDDEN)
            lines += sweep_entry(NULL, &scaling->sweep[i]);
    canvas(s, lines, false);
    caucus_text_add(s, "set logscale xy 2\nset xlabel 'clients m' offset 0,0.5\nset ylabel 'regret per client "
                       "(loss)'\nset logscale y 10\n"
                       "set xrange [0.85:38]\nset format y '%%g'\n");
    sweep_blocks(s, scaling);
    const char *comma = "plot ";
    for (uint32_t i = 0; i < scaling->count; i++) {
        caucus_stroke k = scaling->sweep[i].spec->stroke;
        if (k == CAUCUS_STROKE_HIDDEN)
            continue;
        caucus_text_add(s, "%s$s%u using 1:2:3:4 with yerrorbars lc rgb '%s' lw 1 pt %d ps 0.6 notitle, \\\n", comma, i,
                        strokes[k].colour, strokes[k].point);
        caucus_text_add(s, "  $s%u using 1:2 with linespoints lc rgb '%s' lw %.1f dt %s pt %d ps 0.6 notitle", i,
                        strokes[k].colour, strokes[k].width, strokes[k].dash, strokes[k].point);
        comma = ", \\\n  ";
    }
    for (uint32_t i = 0; i < scaling->count; i++)
        if (scaling->sweep[i].spec->stroke != CAUCUS_STROKE_HIDDEN)
            (void)sweep_entry(s, &scaling->sweep[i]);
    caucus_text_add(s, "\n");
}
