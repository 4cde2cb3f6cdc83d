/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h: what the parts of a report know of each other. See study.h.
 * layer: study */
#ifndef CAUCUS_STUDY_PARTS_H
#define CAUCUS_STUDY_PARTS_H

#include "store/atomic_folder.h"
#include "study/study.h"

/* What a sweep measures and varies. */
typedef enum caucus_sweep_value { CAUCUS_SWEEP_REGRET, CAUCUS_SWEEP_SCALARS } caucus_sweep_value;
typedef enum caucus_sweep_variable {
    CAUCUS_SWEEP_CLIENTS,
    CAUCUS_SWEEP_EPSILON,
    CAUCUS_SWEEP_ROUNDS,
    CAUCUS_SWEEP_EXPERTS,
    CAUCUS_SWEEP_INTERVAL,
    CAUCUS_SWEEP_PHASES /* T again, with log2 T on the axis: for costs that grow with log T */
} caucus_sweep_variable;

typedef struct caucus_sweep_spec {
    const char *key;    /* in CSV files */
    const char *label;  /* the algorithm, for people */
    const char *theory; /* the rate a theorem gives, in words */
    double slope;       /* the same as a slope; NAN = none is proved */
    double room;        /* regret only: what a slope may be above it, beyond 3 standard errors; NAN = not judged */
    caucus_sweep_value value;
    caucus_sweep_variable variable;
    caucus_algorithm algorithm;
    caucus_protocol protocol;
    caucus_adversary_kind adversary;
    uint32_t clients, experts, rounds, interval;
    double epsilon, delta;
    double x[CAUCUS_SWEEP_POINTS]; /* values of the variable; 0 ends them */
    uint32_t trials, quick_trials;
    caucus_stroke stroke; /* in the figure of regret against clients; HIDDEN = not in it */
} caucus_sweep_spec;

extern const caucus_figure_spec caucus_figure_specs[CAUCUS_EXPERIMENT_COUNT];

/* What is drawn of the fleets: three pictures. */
typedef enum caucus_fleet_panel {
    CAUCUS_FLEET_CHANGES,  /* x: how often the best expert changes */
    CAUCUS_FLEET_EVALUATE, /* x: experts that a client evaluates in a round */
    CAUCUS_FLEET_DEVICE,   /* x: clients */
    CAUCUS_FLEET_PANELS
} caucus_fleet_panel;

typedef struct caucus_fleet_spec {
    caucus_fleet_panel panel;
    const char *key;   /* in CSV files */
    const char *label; /* for people */
    caucus_stroke stroke;
    uint32_t clients, rounds; /* clients 0: they are x */
    caucus_unit unit;
    uint64_t longest_phase;        /* 0: phases double to the end */
    double changes;                /* what the plan is told, per 1,000 rounds; with CAUCUS_PHASE_AUTO */
    double x[CAUCUS_FLEET_POINTS]; /* 0 ends them */
    uint32_t trials, quick_trials;
} caucus_fleet_spec;

/* One curve of a panel. */
typedef struct caucus_line {
    const char *key;   /* of its series */
    const char *label; /* in the picture and in its table */
    caucus_stroke stroke;
} caucus_line;
#define CAUCUS_LINES_MAX 6

/* Curves that are drawn together, and what they say. */
typedef struct caucus_panel {
    const char *file; /* of its SVG; also its id on the page */
    caucus_experiment experiment;
    bool paper; /* as the paper draws it; else ours against it */
    bool aside; /* smaller, beside the next or the one before */
    const char *unit;
    caucus_line line[CAUCUS_LINES_MAX + 1];                         /* ends with key NULL */
    void (*title)(const caucus_study *study, caucus_text *ret);     /* what was found, plain text */
    void (*paragraph)(const caucus_study *study, caucus_text *ret); /* HTML, one paragraph; NULL: none */
} caucus_panel;
#define CAUCUS_PANELS 12
extern const caucus_panel caucus_panels[CAUCUS_PANELS];
/** Whether the runs of a panel are there. */
bool caucus_panel_has(const caucus_study *study, const caucus_panel *panel);
/** The picture in words: every curve's end. */
void caucus_panel_alternative(const caucus_study *study, const caucus_panel *panel, caucus_text *ret);

/** "9.5 times less", "1.2 times more"; "1,234". */
void caucus_text_times_less(caucus_text *ret, double factor);

/** Play one run of a report, with the threads, progress and stop of its options. `step` is shown as progress. */
caucus_status caucus_study_play(caucus_study *study, const char *step, const caucus_run *run,
                                const caucus_adversary *shared, caucus_run_result *ret,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_study_figure_run(caucus_study *study, caucus_experiment experiment,
                                      caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_study_scaling_run(caucus_study *study, caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_study_fleet_run(caucus_study *study, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** The slope of ln y in ln x by least squares and its standard error from the residuals (0 if they vanish, NAN for two
 *  points). */
void caucus_study_fit(const double *x, const double *y, uint32_t points, double *ret_slope, double *ret_error);

/** What any algorithm must lose on average against d fair coins in each of T rounds: its own loss is T/2 whatever it
 *  does, and the best expert's is less by the mean of the largest of d centred binomials. Exact; about
 *  sqrt(T ln d/2). */
double caucus_study_fair_coins(uint32_t rounds, uint32_t experts);

/** The sweep of a key, NULL if it was not run. */
const caucus_sweep *caucus_study_sweep(const caucus_study *study, const char *key);
/** Least and largest mean over a sweep's points, and by how many standard errors its lowest point is below `floor`
 *  (negative: above). */
typedef struct caucus_sweep_extent {
    double least, most, below;
} caucus_sweep_extent;
caucus_sweep_extent caucus_study_extent(const caucus_sweep *sweep, double floor);

/** The fleet series of a key, NULL if it was not run; and its regret at a value of what is varied, NAN if there is
 *  none. */
const caucus_fleet_series *caucus_study_fleet_series(const caucus_study *study, const char *key);
caucus_summary caucus_study_fleet_at(const caucus_fleet_series *series, double x);
const char *caucus_fleet_axis(caucus_fleet_panel panel);
/** The name of its SVG file, and its id on the page. */
const char *caucus_fleet_file(caucus_fleet_panel panel);

/** Fill study->claim from the runs. */
void caucus_study_judge(caucus_study *study);
void caucus_study_judge_fleet(caucus_study *study);
/** One more claim, whose `measured` is still empty. */
caucus_claim *caucus_study_claim(caucus_study *study, caucus_section section, bool holds, const char *text);

/** The series of a key, NULL if it was not run. */
const caucus_series *caucus_study_series(const caucus_study *study, caucus_experiment experiment, const char *key);
double caucus_study_mean(const caucus_study *study, caucus_experiment experiment, const char *key);

/** Share of runs with regret at most the plan's bound. */
double caucus_study_within(const caucus_run_result *run);

/** Run gnuplot on a script that writes SVG to its standard output.
 *  In:      id     made part of every id in the picture, so that several can stand in one page.
 *           title  the picture's text alternative, title and longer description.
 *  Out:     appended to ret: an <svg> element, ready for HTML. */
caucus_status caucus_gnuplot_svg(const caucus_text *script, const char *id, const char *title, const char *description,
                                 caucus_text *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Run gnuplot on a script that writes a picture to its standard output: appended to ret as it is. */
caucus_status caucus_gnuplot_draw(const caucus_text *script, caucus_text *ret,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Whether gnuplot can be run. */
caucus_status caucus_gnuplot_check(caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Scripts of the pictures. */
void caucus_study_draw_panel(const caucus_study *study, const caucus_panel *panel, caucus_text *ret_script);
void caucus_study_draw_fleet(const caucus_fleet *fleet, caucus_fleet_panel panel, caucus_text *ret_script);
void caucus_study_draw_small(const caucus_figure *figure, uint32_t seed, caucus_text *ret_script);
void caucus_study_draw_scaling(const caucus_scaling *scaling, caucus_text *ret_script);

/** CSV files. */
void caucus_study_csv_curves(const caucus_figure *figure, caucus_text *ret);
void caucus_study_csv_trials(const caucus_figure *figure, caucus_text *ret);
void caucus_study_csv_seeds(const caucus_figure *figure, caucus_text *ret);
void caucus_study_csv_scaling(const caucus_scaling *scaling, caucus_text *ret);
void caucus_study_csv_fleet(const caucus_fleet *fleet, caucus_text *ret);

/** The page. Its pictures are already drawn. */
typedef struct caucus_pictures {
    caucus_text panel[CAUCUS_PANELS];
    caucus_text small[CAUCUS_EXPERIMENT_COUNT]; /* all small multiples of an experiment, one after the other */
    caucus_text scaling;
    caucus_text fleet[CAUCUS_FLEET_PANELS];
} caucus_pictures;
void caucus_study_page(const caucus_study *study, const caucus_pictures *pictures, caucus_text *ret);
extern const char caucus_page_style[], caucus_page_style_narrow[]; /* the second: phones, paper */

/** Its tables. */
void caucus_page_ran(const caucus_study *study, caucus_text *ret);
void caucus_page_claims(const caucus_study *study, caucus_text *ret);
void caucus_page_lines(const caucus_study *study, const caucus_panel *panel, caucus_text *ret);
void caucus_page_measured(const caucus_figure *figure, caucus_text *ret);
void caucus_page_guarantees(const caucus_figure *figure, caucus_text *ret);
void caucus_page_slopes(const caucus_scaling *scaling, caucus_text *ret);
void caucus_page_fleet(const caucus_fleet *fleet, caucus_fleet_panel panel, caucus_text *ret);
/** Text, escaped; markup goes through caucus_text_add. */
void caucus_page_say(caucus_text *ret, const char *text);

/** Copy a page, every cell of its tables with the name of its column in data-label. */
void caucus_page_label_cells(const caucus_text *page, caucus_text *ret);

/** What Table 1's figure and those of the fleets say, from their numbers: titles, text alternatives and, in HTML, one
 *  paragraph; and the commands that make a section again, one per line (plain text). */
void caucus_scaling_title(const caucus_study *study, caucus_text *ret);
void caucus_scaling_alternative(const caucus_study *study, caucus_text *ret);
void caucus_scaling_paragraph(const caucus_study *study, caucus_text *ret);
void caucus_fleet_title(const caucus_study *study, caucus_fleet_panel panel, caucus_text *ret);
void caucus_fleet_alternative(const caucus_study *study, caucus_fleet_panel panel, caucus_text *ret);
void caucus_fleet_paragraph(const caucus_study *study, caucus_fleet_panel panel, caucus_text *ret);
void caucus_study_command(const caucus_study *study, caucus_section section, caucus_text *ret);
/** Mean and spread of a traffic field over a run, divided by `by`; field as for caucus_run_mean_u64. */
caucus_summary caucus_study_traffic(const caucus_run_result *run, size_t field_offset, double by);
const char *caucus_sweep_variable_text(caucus_sweep_variable variable);

/** The folder of a report, written beside its final place (store/atomic_folder.h). */
caucus_status caucus_folder_check(const char *path, caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_folder_begin(const char *path, caucus_atomic_folder *ret,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_folder_add(const caucus_atomic_folder *folder, const char *name, const caucus_text *text,
                                caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Put it in place, replacing what was there. After a failure, or instead: caucus_atomic_folder_drop. */
caucus_status caucus_folder_finish(const caucus_atomic_folder *folder, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* docs/PAPER.md, embedded by cmake/embed.cmake. */
extern const char caucus_paper_md[];
extern const unsigned long caucus_paper_md_length;

#endif
