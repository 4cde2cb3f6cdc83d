/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c: curves as gnuplot scripts. See parts.h.
 * layer: study
 *
 * Colours are Okabe and Ito's, told apart by most colour-blind people; every line also has its own dash type, so a
 * printer in black does as well, and its own width: wider ones are drawn first, so that no curve can hide another. The
 * paper's constants beside ours are grey. Bands are one standard deviation over trials. */
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
    [CAUCUS_STROKE_FIRST] = {"#0072B2", "solid", "0.22", 2.0, 7},
    [CAUCUS_STROKE_SECOND] = {"#009E73", "(14,5)", "0.16", 2.9, 5},
    [CAUCUS_STROKE_THIRD] = {"#CC79A7", "(4,4)", "0.16", 3.9, 9},
    [CAUCUS_STROKE_RIVAL] = {"#D55E00", "(14,4,3,4)", "0.16", 5.0, 13},
    [CAUCUS_STROKE_GREY_FIRST] = {"#9a9a9a", "solid", "0.25", 7.5, 6},
    [CAUCUS_STROKE_GREY_SECOND] = {"#6e6e6e", "(8,6)", "0", 6.2, 4},
};

/* A page is read on a phone first: text of FONT on a canvas of WIDE is 11 pixels high on a screen of 360, and the page
 * lets no figure grow to more than 1.25 times its size (page.c). */
enum { WIDE = 440, FONT = 14, SMALL_WIDE = 180, SMALL_FONT = 12, LINE = 22, PLOT = 315 };

/* A title of the key longer than this goes on in the next line. */
enum { KEY_LONG = 46 };

static void preamble(caucus_text *s, int width, int height, int font) {
    caucus_text_add(s,
                    "set encoding utf8\n"
                    "set terminal svg noenhanced size %d,%d dynamic background '#ffffff' font 'sans-serif,%d' rounded "
                    "dashlength 1.0\n"
                    "set border 3 lc rgb '#444444'\nset tics nomirror out textcolor rgb '#222222'\n"
                    "set grid ytics lc rgb '#dddddd' lt 1 lw 0.6\nset style fill transparent solid 0.2 noborder\n",
                    width, height, font);
}

/* A curve to be drawn: its series, and how. */
typedef struct curve {
    const caucus_series *series;
    const char *label;
    caucus_stroke stroke;
} curve;

/* A data block: round, mean, mean - std, mean + std. */
static void block(caucus_text *s, uint32_t number, const caucus_series *series) {
    const caucus_settings *settings = &series->run.plan->settings;
    caucus_text_add(s, "$d%u << EOD\n", number);
    for (uint32_t k = 0; k < CAUCUS_CURVE_POINTS; k++) {
        caucus_summary at = caucus_run_curve(&series->run, k);
        caucus_text_add(s, "%" PRIu64 " %.6g %.6g %.6g\n", caucus_curve_round(settings->rounds, k), at.mean,
                        at.mean - at.std, at.mean + at.std);
    }
    caucus_text_add(s, "EOD\n");
}

/* The widest curve that is narrower than `below`, or `count`. */
static uint32_t next_width(const curve *c, uint32_t count, double below) {
    uint32_t found = count;
    for (uint32_t i = 0; i < count; i++)
        if (strokes[c[i].stroke].width < below &&
            (found == count || strokes[c[i].stroke].width > strokes[c[found].stroke].width))
            found = i;
    return found;
}

/* The plot command: bands first, so that no line is covered, then lines, the widest first. */
static void plot(caucus_text *s, const curve *c, uint32_t count, bool key) {
    const char *comma = "";
    caucus_text_add(s, "plot ");
    for (uint32_t i = 0; i < count; i++) {
        const caucus_stroke k = c[i].stroke;
        if (strokes[k].fill[0] == '0' && strokes[k].fill[1] == '.') {
            caucus_text_add(s,
                            "%s$d%u using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid %s noborder notitle",
                            comma, i, strokes[k].colour, strokes[k].fill);
            comma = ", \\\n  ";
        }
    }
    double below = INFINITY;
    for (uint32_t i; (i = next_width(c, count, below)) < count; below = strokes[c[i].stroke].width) {
        const caucus_stroke k = c[i].stroke;
        caucus_text_add(s, "%s$d%u using 1:2 with lines lc rgb '%s' lw %.1f dt %s notitle", comma, i, strokes[k].colour,
                        strokes[k].width, strokes[k].dash);
        comma = ", \\\n  ";
    }
    for (uint32_t i = 0; key && i < count; i++) { /* the key in the order of the table */
        const caucus_stroke k = c[i].stroke;
        caucus_text_add(s, ", \\\n  keyentry with lines lc rgb '%s' lw %.1f dt %s title \"%s\"", strokes[k].colour,
                        strokes[k].width, strokes[k].dash, c[i].label);
    }
    caucus_text_add(s, "\n");
}

/* Linear, as the paper draws them. */
static void axes(caucus_text *s, const caucus_figure *figure, const char *unit) {
    const uint32_t rounds = figure->spec->rounds, step = rounds >= 4096 ? 4096 : rounds / 4 / 32 * 32;
    if (unit)
        caucus_text_add(s, "set xlabel 'round (of %u)' offset 0,0.5\nset ylabel 'regret per client (%s)'\n", rounds,
                        unit);
    caucus_text_add(s, "set xrange [0:%u]\nset xtics 0,%u\nset yrange [0:*]\n", rounds, unit ? step : 2 * step);
}

/* A canvas with a key of so many lines above the curves: below them it would meet the axis title. */
static void canvas(caucus_text *s, uint32_t lines) {
    const int key = LINE * (int)lines, height = PLOT + key;
    preamble(s, WIDE, height, FONT);
    caucus_text_add(s,
                    "set tmargin at screen %.4f\n"
                    "set key at screen 0.12,screen %.4f left top vertical Left reverse maxrows %u samplen 4 "
                    "spacing 1.05 textcolor rgb '#222222'\n",
                    1 - (double)(key + 14) / height, 1 - 2.0 / height, lines);
}

void caucus_study_draw_panel(const caucus_study *study, const caucus_panel *panel, caucus_text *ret_script) {
    const caucus_figure *figure = &study->figure[panel->experiment];
    curve c[CAUCUS_LINES_MAX];
    uint32_t count = 0;
    for (const caucus_line *line = panel->line; line->key; line++)
        c[count++] = (curve){caucus_study_series(study, panel->experiment, line->key), line->label, line->stroke};
    canvas(ret_script, count);
    axes(ret_script, figure, panel->unit);
    for (uint32_t i = 0; i < count; i++)
        block(ret_script, i, c[i].series);
    plot(ret_script, c, count, true);
}

void caucus_study_draw_small(const caucus_figure *figure, uint32_t seed, caucus_text *ret_script) {
    caucus_text *s = ret_script;
    const caucus_series *series = figure->small + (size_t)seed * figure->small_count;
    curve c[CAUCUS_LINES_MAX];
    double top = 1;
    preamble(s, SMALL_WIDE, 170, SMALL_FONT);
    axes(s, figure, NULL);
    caucus_text_add(s, "set tmargin 1.7\nset bmargin 2.3\nset title 'seed %llu' offset 0,-0.6\n",
                    (unsigned long long)series[0].seed);
    for (uint32_t i = 0; i < figure->small_count; i++) {
        const caucus_summary end = caucus_run_regret(&series[i].run);
        c[i] = (curve){&series[i], series[i].spec->label, series[i].spec->small};
        top = fmax(top, end.mean + end.std);
        block(s, i, &series[i]);
    }
    /* about three tics: a step of 1, 2 or 5 times a power of ten */
    const double power = pow(10, floor(log10(top / 3))), of = top / 3 / power;
    caucus_text_add(s, "set ytics %g\nunset key\n", power * (of < 1.5 ? 1 : of < 3.5 ? 2 : 5));
    plot(s, c, figure->small_count, false);
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
            caucus_text_add(s, ", \\\n  keyentry with linespoints lc rgb '%s' lw 2.2 dt %s pt %d ps 0.6",
                            strokes[k].colour, strokes[k].dash, strokes[k].point);
        else if (s)
            caucus_text_add(s, ", \\\n  keyentry with dots lc rgb '#ffffff'");
        if (s)
            caucus_text_add(s, " title \"%.*s\"", (int)length, at);
        at += length + (at[length] == ' ');
    }
    return lines;
}

/* A point with its spread. On an axis of logarithms its lower end is cut at the mean by `most`, as the captions say
 * (page.c). */
static void regret_point(caucus_text *s, double x, const caucus_summary *regret, double most) {
    caucus_text_add(s, "%g %.6g %.6g %.6g\n", x, regret->mean, fmax(regret->mean - regret->std, regret->mean / most),
                    regret->mean + regret->std);
}

static void sweep_blocks(caucus_text *s, const caucus_scaling *scaling) {
    for (uint32_t i = 0; i < scaling->count; i++) {
        const caucus_sweep *w = &scaling->sweep[i];
        if (w->spec->stroke == CAUCUS_STROKE_HIDDEN)
            continue;
        caucus_text_add(s, "$s%u << EOD\n", i);
        for (uint32_t k = 0; k < w->points; k++)
            regret_point(s, w->x[k], &w->regret[k], 10);
        caucus_text_add(s, "EOD\n");
    }
}

void caucus_study_draw_scaling(const caucus_scaling *scaling, caucus_text *ret_script) {
    caucus_text *s = ret_script;
    uint32_t lines = 0;
    for (uint32_t i = 0; i < scaling->count; i++)
        if (scaling->sweep[i].spec->stroke != CAUCUS_STROKE_HIDDEN)
            lines += sweep_entry(NULL, &scaling->sweep[i]);
    canvas(s, lines);
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
        caucus_text_add(s, "  $s%u using 1:2 with linespoints lc rgb '%s' lw 2.2 dt %s pt %d ps 0.6 notitle", i,
                        strokes[k].colour, strokes[k].dash, strokes[k].point);
        comma = ", \\\n  ";
    }
    for (uint32_t i = 0; i < scaling->count; i++)
        if (scaling->sweep[i].spec->stroke != CAUCUS_STROKE_HIDDEN)
            (void)sweep_entry(s, &scaling->sweep[i]);
    caucus_text_add(s, "\n");
}

void caucus_study_draw_fleet(const caucus_fleet *fleet, caucus_fleet_panel panel, caucus_text *ret_script) {
    caucus_text *s = ret_script;
    uint32_t lines = 0;
    for (uint32_t i = 0; i < fleet->count; i++)
        lines += fleet->series[i].spec->panel == panel;
    canvas(s, lines);
    caucus_text_add(s,
                    "set logscale x 2\nset logscale y 10\nset format y '%%g'\nset xlabel '%s' offset 0,0.5\n"
                    "set ylabel 'regret per client (loss)'\n%s\n",
                    caucus_fleet_axis(panel),
                    panel == CAUCUS_FLEET_DEVICE ? "set xtics (100, 200, 500, 1000, 2000)\nset xrange [85:2400]"
                                                 : "set xtics (1, 2, 5, 10, 20)\nset xrange [0.85:24]");
    for (uint32_t i = 0; i < fleet->count; i++) {
        const caucus_fleet_series *f = &fleet->series[i];
        if (f->spec->panel != panel)
            continue;
        caucus_text_add(s, "$f%u << EOD\n", i);
        for (uint32_t k = 0; k < f->points; k++)
            regret_point(s, f->x[k], &f->regret[k], 4);
        caucus_text_add(s, "EOD\n");
    }
    const char *comma = "plot ";
    for (uint32_t i = 0; i < fleet->count; i++) {
        const caucus_stroke k = fleet->series[i].spec->stroke;
        if (fleet->series[i].spec->panel != panel)
            continue;
        caucus_text_add(s, "%s$f%u using 1:2:3:4 with yerrorbars lc rgb '%s' lw 1 pt %d ps 0.6 notitle, \\\n", comma, i,
                        strokes[k].colour, strokes[k].point);
        caucus_text_add(s, "  $f%u using 1:2 with linespoints lc rgb '%s' lw 2.2 dt %s pt %d ps 0.6 title \"%s\"", i,
                        strokes[k].colour, strokes[k].dash, strokes[k].point, fleet->series[i].spec->label);
        comma = ", \\\n  ";
    }
    caucus_text_add(s, "\n");
}
