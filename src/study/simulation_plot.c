/* SPDX-License-Identifier: Apache-2.0 */
/* simulation_plot.c: see simulation_plot.h.
 *
 * Colours are Okabe and Ito's; lines differ in their dashes too, strips of experts in their place in the key. */
#include "study/simulation_plot.h"

#include "study/parts.h"
#include "study/simulation_strips.h"
#include "study/simulation_sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHADES = CAUCUS_PLOT_SHADES };
enum { PLOT_RUNS = SHADES, PLOT_LINES = 2 * SHADES, WIDE = 760, PANEL = 300, KEY_LINE = 20, FONT = 13 };

const char *const caucus_plot_shade[SHADES] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                               "#E69F00", "#56B4E9", "#000000"};
static const char *const dashes[SHADES] = {"solid", "(14,5)", "(4,4)", "(14,4,3,4)", "(8,3)", "(2,4)", "(20,4)"};

static const char *colour_of(size_t line) {
    return caucus_plot_shade[line % SHADES];
}

/* Lines of one colour differ in this. */
static const char *dash_of(size_t line) {
    return dashes[(line + line / SHADES) % SHADES];
}

bool caucus_plot_kind_of(const char *path, caucus_plot_kind *ret) {
    static const char *const ends[] = {[CAUCUS_PLOT_SVG] = ".svg", [CAUCUS_PLOT_PNG] = ".png"};
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (length > strlen(ends[i]) && strcmp(path + length - strlen(ends[i]), ends[i]) == 0) {
            *ret = (caucus_plot_kind)i;
            return true;
        }
    return false;
}

/* Where a panel's texts end and its key begins: names are quoted, and no quote is in a label. */
static void put_name(caucus_text *s, const caucus_outcome *o, size_t i) {
    char name[CAUCUS_SWEEP_NAME_BYTES];
    caucus_sweep_name(o, i, name);
    caucus_text_add(s, "\"%s\"", name);
}

static uint64_t rounds_of(const caucus_outcome *o, size_t i) {
    return caucus_run_rounds(&o->run[i], &o->result[i].plan->settings);
}

static void draw_regret(caucus_text *s, const caucus_outcome *o) {
    for (size_t i = 0; i < o->count; i++) {
        caucus_text_add(s, "$r%zu << EOD\n0 0 0 0\n", i);
        for (uint32_t k = 0; k < CAUCUS_CURVE_POINTS; k++) {
            const caucus_summary at = caucus_run_curve(&o->result[i], k);
            const double spread = isnan(at.std) ? 0 : at.std;
            caucus_text_add(s, "%" PRIu64 " %.6g %.6g %.6g\n", caucus_curve_round(rounds_of(o, i), k), at.mean,
                            at.mean - spread, at.mean + spread);
        }
        caucus_text_add(s, "EOD\n");
    }
    caucus_text_add(s, "set xlabel 'round'\nset ylabel 'regret per client'\nplot ");
    for (size_t i = 0; i < o->count; i++)
        caucus_text_add(s,
                        "$r%zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid 0.18 noborder notitle, ",
                        i, colour_of(i));
    for (size_t i = 0; i < o->count; i++) {
        caucus_text_add(s, "%s$r%zu using 1:2 with lines lc rgb '%s' lw 2.2 dt %s title ", i == 0 ? "" : ", ", i,
                        colour_of(i), dash_of(i));
        put_name(s, o, i);
    }
    caucus_text_add(s, "\n");
}

/* Of several runs: how many of their trials have the best expert in hindsight in force, round by round. */
static void draw_shares(caucus_text *s, const caucus_outcome *o) {
    for (size_t i = 0; i < o->count; i++) {
        const caucus_run_result *r = &o->result[i];
        caucus_text_add(s, "$b%zu << EOD\n", i);
        for (uint32_t k = 0; k < CAUCUS_CURVE_POINTS; k++) {
            const uint64_t round = caucus_curve_round(rounds_of(o, i), k);
            uint32_t have = 0;
            for (uint32_t t = 0; t < r->done; t++)
                have += caucus_choices_at(&r->trial[t].choices, round - 1) == r->trial[t].best;
            caucus_text_add(s, "%" PRIu64 " %.6g\n", round, 100.0 * have / r->done);
        }
        caucus_text_add(s, "EOD\n");
    }
    caucus_text_add(s, "set xlabel 'round'\nset ylabel '%% with the best expert'\nset yrange [0:100]\nplot ");
    for (size_t i = 0; i < o->count; i++) {
        caucus_text_add(s, "%s$b%zu using 1:2 with steps lc rgb '%s' lw 2.2 dt %s title ", i == 0 ? "" : ", ", i,
                        colour_of(i), dash_of(i));
        put_name(s, o, i);
    }
    caucus_text_add(s, "\nset yrange [*:*]\n");
}

static void draw_sweep(caucus_text *s, const caucus_outcome *o, const caucus_sweep_found *sweep) {
    for (size_t l = 0; l < sweep->lines; l++) {
        caucus_text_add(s, "$s%zu << EOD\n", l);
        for (size_t i = 0; i < o->count; i++) {
            const caucus_summary at = caucus_run_regret(&o->result[i]);
            if (sweep->line[i] == l)
                caucus_text_add(s, "%.10g %.6g %.6g\n", sweep->x[i], at.mean, isnan(at.std) ? 0 : at.std);
        }
        caucus_text_add(s, "EOD\n");
    }
    caucus_text_add(s,
                    "set xlabel '%s'\nset ylabel 'regret per client'\n%sset offsets graph 0.03, graph 0.03, graph "
                    "0.05, graph 0\nplot ",
                    sweep->what, sweep->logarithmic ? "set logscale x\n" : "");
    for (size_t l = 0; l < sweep->lines; l++) {
        size_t first = 0;
        while (sweep->line[first] != l)
            first++;
        caucus_text_add(s, "%s$s%zu using 1:2:3 with yerrorlines lc rgb '%s' lw 2 dt %s pt %zu ps 0.7 title \"%s\"",
                        l == 0 ? "" : ", ", l, colour_of(l), dash_of(l), 5 + 2 * (l % 5), sweep->name[l]);
    }
    caucus_text_add(s, "\nunset logscale x\nset offsets 0, 0, 0, 0\n");
}

/* Only runs with a complete trial; the copies point to the caller's results. */
static caucus_status drawable(const caucus_outcome *from, caucus_outcome *ret, caucus_error *ret_error) {
    caucus_run *run = calloc(from->count + 1, sizeof *run);
    caucus_run_result *result = calloc(from->count + 1, sizeof *result);
    if (run == NULL || result == NULL) {
        free(run);
        free(result);
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "plot", "no memory for a figure");
    }
    *ret = (caucus_outcome){.run = run, .result = result};
    for (size_t i = 0; i < from->count; i++)
        if (from->result[i].done > 0) {
            run[ret->count] = from->run[i];
            result[ret->count++] = from->result[i];
        }
    return CAUCUS_OK;
}

static bool plays_experts(const caucus_outcome *o) {
    for (size_t i = 0; i < o->count; i++)
        if (o->result[i].trial[0].choices.count == 0)
            return false;
    return true;
}

/* Whether one picture has room for all: a curve for each run, or a line over the number that is swept. */
static caucus_status has_room(size_t runs, const caucus_sweep_found *sweep, caucus_error *ret_error) {
    if (runs <= PLOT_RUNS || (sweep->found && sweep->lines <= PLOT_LINES))
        return CAUCUS_OK;
    if (sweep->found)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "plot",
                           "has room for %d lines over %s, not %zu — give fewer values of what else differs, or take "
                           "the numbers with format csv",
                           PLOT_LINES, sweep->what, sweep->lines);
    return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "plot",
                       "has room for %d runs that sweep no number, not %zu — give fewer, or take the numbers with "
                       "format csv",
                       PLOT_RUNS, runs);
}

caucus_status caucus_plot_check(const caucus_run *run, caucus_plan *const *plan, size_t count,
                                caucus_error *ret_error) {
    caucus_sweep_found sweep;
    caucus_run_result *result = calloc(count + 1, sizeof *result);
    if (result == NULL)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "plot", "no memory for a figure");
    for (size_t i = 0; i < count; i++)
        result[i].plan = plan[i];
    caucus_status status =
        caucus_sweep_find(&(caucus_outcome){.run = run, .result = result, .count = count}, &sweep, ret_error);
    if (status == CAUCUS_OK) {
        status = has_room(count, &sweep, ret_error);
        caucus_sweep_free(&sweep);
    }
    free(result);
    return status == CAUCUS_OK ? caucus_gnuplot_check(ret_error) : status;
}

static caucus_status script_of(const caucus_outcome *o, caucus_plot_kind kind, caucus_text *s,
                               caucus_error *ret_error) {
    caucus_sweep_found sweep;
    caucus_status status = caucus_sweep_find(o, &sweep, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const bool curves = o->count <= PLOT_RUNS, experts = curves && plays_experts(o);
    const int panels = curves + (experts && o->count > 1) + experts + sweep.found;
    const int keys = (int)(curves && o->count > sweep.lines ? o->count : sweep.lines); /* two have room in a panel */
    const int panel = PANEL + (keys > 2 ? (keys - 2) * KEY_LINE : 0);
    caucus_text_add(s,
                    "set encoding utf8\nset terminal %s noenhanced size %d,%d background '#ffffff' font "
                    "'sans-serif,%d' rounded dashlength 1.0\n"
                    "set border 3 lc rgb '#444444'\nset tics nomirror out textcolor rgb '#222222'\n"
                    "set grid ytics lc rgb '#dddddd' lt 1 lw 0.6\nset lmargin 10\nset rmargin 3\n"
                    "set key outside top left horizontal Left reverse samplen 2.5 textcolor rgb '#222222'\n"
                    "set multiplot layout %d,1\n",
                    kind == CAUCUS_PLOT_SVG ? "svg dynamic" : "pngcairo", WIDE, panel * panels, FONT, panels);
    uint64_t most = 0;
    for (size_t i = 0; i < o->count; i++)
        most = rounds_of(o, i) > most ? rounds_of(o, i) : most;
    caucus_text_add(s, "set xrange [0:%" PRIu64 "]\n", most);
    if (curves)
        draw_regret(s, o);
    if (experts && o->count > 1)
        draw_shares(s, o);
    if (experts)
        status = caucus_plot_strips(s, o, ret_error);
    caucus_text_add(s, "set xrange [*:*] noextend\n");
    if (sweep.found)
        draw_sweep(s, o, &sweep);
    caucus_text_add(s, "unset multiplot\n");
    caucus_sweep_free(&sweep);
    return status;
}

caucus_status caucus_plot_simulation(const caucus_outcome *outcome, caucus_plot_kind kind, caucus_text *ret,
                                     caucus_error *ret_error) {
    caucus_outcome o = {0};
    caucus_text script = {0};
    caucus_status status = drawable(outcome, &o, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (o.count == 0)
        status = caucus_fail(ret_error, CAUCUS_E_CONFLICT, "plot", "no trial is complete: there is nothing to draw");
    if (status == CAUCUS_OK)
        status = script_of(&o, kind, &script, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_gnuplot_draw(&script, ret, ret_error);
    caucus_text_free(&script);
    free((void *)o.run);
    free((void *)o.result);
    return status;
}
