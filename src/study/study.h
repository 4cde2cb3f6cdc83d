/* SPDX-License-Identifier: Apache-2.0 */
/* study.h: the paper's experiments, run again, judged, and written as one HTML page with figures and CSV files.
 * layer: study
 *
 *   specs.c        the experiments with curves over rounds, as data; experiments.c plays them
 *   scaling.c      Table 1 measured: slopes over small sweeps, lower-bound adversaries
 *   fleet.c        what the paper does not have: experts that change, few evaluations, devices
 *   claims.c       what must hold, with the measured figure; claims_fleet.c: of fleets
 *   panels.c       which curves are drawn together, and what they say; words.c: of the rest
 *   figures.c      curves to gnuplot scripts; gnuplot.c runs gnuplot
 *   csv.c          the numbers beside the figures
 *   page.c         the page, page_tables.c its tables, page_style.c its look; folder.c puts a finished folder in place
 *
 * In code a report is a `study`: a caucus_report is a message of a client (caucus/message.h).
 * Everything but the timings is a function of the seed and the options. */
#ifndef CAUCUS_STUDY_STUDY_H
#define CAUCUS_STUDY_STUDY_H

#include "sim/run.h"
#include "study/text_buffer.h"

/* X(NAME, "word", "one line"): the sections, numbered from 1 in this order. */
#define CAUCUS_SECTION_LIST(X)                                                                                         \
    X(STOCH, "stoch", "Figure 1: Fed-DP-OPE-Stoch against Limited Updates")                                            \
    X(SVT, "svt", "Figure 2: Fed-SVT against Sparse-Vector")                                                           \
    X(MOVIELENS, "movielens", "MovieLens-1M: Fed-SVT against Sparse-Vector")                                           \
    X(SCALING, "scaling", "Table 1: how regret and traffic grow; the lower bounds")                                    \
    X(FLEET, "fleet", "Fleets: experts that change, few evaluations, whole devices")
#define CAUCUS_ENUM_SECTION(name, word, help) CAUCUS_SECTION_##name,
CAUCUS_CHOICE_DECLARE(extern, section, SECTION, CAUCUS_SECTION_LIST)

typedef struct caucus_study_options {
    bool quick;                      /* fewer trials and seeds */
    bool only[CAUCUS_SECTION_COUNT]; /* which sections; at least one */
    bool chosen;                     /* they were asked for by name: that one cannot be run is a failure */
    uint64_t seed;
    const char *data; /* MovieLens directory; NULL = look in data/ml-1m and ../shared/data/ml-1m */
    uint32_t threads; /* 0 = all cores */
    /* Progress, from any thread but never two at once; may be NULL. `step` is what is being run. */
    void (*progress)(void *user, const char *step, uint64_t done, uint64_t total);
    void *progress_user;
    const volatile int *stop;  /* set to end early; NULL = never */
    const caucus_ranks *ranks; /* processes that run it together; each has all results; NULL: this one is alone */
} caucus_study_options;

/* The experiments with curves over rounds: those of the first three sections, in their order, then the paper's own
 * losses and units where these are not ours. */
typedef enum caucus_experiment {
    CAUCUS_EXPERIMENT_STOCH = CAUCUS_SECTION_STOCH,
    CAUCUS_EXPERIMENT_SVT = CAUCUS_SECTION_SVT,
    CAUCUS_EXPERIMENT_MOVIELENS = CAUCUS_SECTION_MOVIELENS,
    CAUCUS_EXPERIMENT_PER_EXPERT,      /* figure 1, cross-entropy of every expert by itself */
    CAUCUS_EXPERIMENT_MIXTURE,         /* figure 1, cross-entropy of the mixture of experts */
    CAUCUS_EXPERIMENT_MOVIELENS_PAPER, /* ratings that are not scaled to their range */
    CAUCUS_EXPERIMENT_COUNT
} caucus_experiment;

/* How a curve is drawn: a colour, a dash type and a width of figures.c. No two have the same width: where curves
 * coincide the wider one, drawn first, is seen on both sides of the other. */
typedef enum caucus_stroke {
    CAUCUS_STROKE_HIDDEN, /* in the tables only */
    CAUCUS_STROKE_FIRST,
    CAUCUS_STROKE_SECOND,
    CAUCUS_STROKE_THIRD,
    CAUCUS_STROKE_RIVAL,
    CAUCUS_STROKE_GREY_FIRST, /* the paper's constants beside ours */
    CAUCUS_STROKE_GREY_SECOND,
    CAUCUS_STROKE_COUNT
} caucus_stroke;

/* One algorithm of a figure. */
typedef struct caucus_series_spec {
    const char *key;   /* in CSV files */
    const char *label; /* for people */
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_calibration calibration;
    caucus_protocol protocol;
    uint32_t interval;
    caucus_stroke small; /* how it is drawn for the other seeds; HIDDEN: it is not run for them */
    bool equal; /* asked for more than the figure's epsilon, so that the figure's epsilon is what it guarantees */
} caucus_series_spec;

typedef struct caucus_figure_spec {
    caucus_section section;
    const char *name; /* for people */
    const char *file; /* name of its CSV files */
    caucus_adversary_kind adversary;
    bool convex; /* losses are a function of the mixture of experts */
    uint32_t clients, experts, rounds;
    double epsilon;
    uint32_t trials, quick_trials;
    uint32_t seeds, quick_seeds; /* other seeds */
    uint32_t seed_trials, quick_seed_trials;
    const caucus_series_spec *series; /* ends with key NULL */
} caucus_figure_spec;

typedef struct caucus_series {
    const caucus_series_spec *spec;
    uint64_t seed;
    caucus_run_result run;
} caucus_series;

typedef struct caucus_figure {
    const caucus_figure_spec *spec; /* NULL if not run */
    caucus_series *series;          /* as in spec */
    uint32_t count;
    caucus_series *small; /* [seeds][small_count] */
    uint32_t seeds, small_count;
    char missing[320]; /* why it could not be run ("" = it was) */
    const char *data;  /* MovieLens: the directory its losses came from; else NULL */
    double seconds;
} caucus_figure;

/* Fleets: regret per client against something that is varied. */
#define CAUCUS_FLEET_POINTS 6
typedef struct caucus_fleet_series {
    const struct caucus_fleet_spec *spec;
    uint32_t points;
    double x[CAUCUS_FLEET_POINTS];
    caucus_summary regret[CAUCUS_FLEET_POINTS]; /* per client; against the best expert of every segment */
    uint32_t trials;
} caucus_fleet_series;

typedef struct caucus_fleet {
    caucus_fleet_series *series;
    uint32_t count;
    double seconds;
} caucus_fleet;

/* Table 1: one row is a least-squares slope of ln(value) in ln(variable). */
#define CAUCUS_SWEEP_POINTS 7
typedef struct caucus_sweep {
    const struct caucus_sweep_spec *spec;
    uint32_t points;
    double x[CAUCUS_SWEEP_POINTS];
    caucus_summary regret[CAUCUS_SWEEP_POINTS]; /* per client */
    double scalars[CAUCUS_SWEEP_POINTS];        /* sent by all clients, mean over trials */
    uint32_t trials;
    double slope, slope_error; /* of the measured quantity, one standard error of the fit */
} caucus_sweep;

typedef struct caucus_scaling {
    caucus_sweep *sweep;
    uint32_t count;
    double seconds;
} caucus_scaling;

/* One line of "what holds". */
typedef struct caucus_claim {
    caucus_section section; /* CAUCUS_SECTION_COUNT: of all figures */
    char text[160];         /* what should hold */
    char measured[160];     /* what was found, with its spread */
    bool holds;
} caucus_claim;
#define CAUCUS_CLAIMS_MAX 32

typedef struct caucus_study {
    caucus_study_options options;
    caucus_figure figure[CAUCUS_EXPERIMENT_COUNT];
    caucus_scaling scaling;
    caucus_fleet fleet;
    caucus_claim claim[CAUCUS_CLAIMS_MAX];
    uint32_t claims;
    uint32_t runs, trials; /* in all */
    double seconds;        /* wall clock */
} caucus_study;

/** Run the experiments and judge them.
 *  Out:     *ret  free with caucus_study_free, also after a failure.
 *  Returns: CAUCUS_OK, CAUCUS_E_STOPPED, and what plans, adversaries and data files say. A data set that is nowhere to
 *           be found is no failure unless its section was asked for by name (then CAUCUS_E_PATH, field "only"): its
 *           figure says how to get it. One that was named (`data`) must be there, and be MovieLens-1M, whatever is
 *           run. */
caucus_status caucus_study_run(const caucus_study_options *options, caucus_study *ret,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_study_free(caucus_study *study);

/** The name of a sweep, as in scaling.csv, and the rate a theorem gives, in words. */
const char *caucus_sweep_key(const caucus_sweep *sweep);
const char *caucus_sweep_theory(const caucus_sweep *sweep);

/** The name of a fleet series, as in fleet.csv, and what it is, for people. */
const char *caucus_fleet_key(const caucus_fleet_series *series);
const char *caucus_fleet_label(const caucus_fleet_series *series);

/** Whether a report can be written to `folder` at all: gnuplot is there, the folder is new, empty or an older report.
 *  Cheap: to be asked before hours of work.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_EXISTS, CAUCUS_E_PROGRAM (names the fix). */
caucus_status caucus_study_check(const char *folder, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Draw and write index.html, CSV files and SVG files. The folder appears, or is replaced, at once and only when
 *  complete.
 *  Returns: as caucus_study_check(), CAUCUS_E_FULL, CAUCUS_E_IO, CAUCUS_E_MEMORY. */
caucus_status caucus_study_write(const caucus_study *report, const char *folder,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Why an experiment of a section could not be run (its data is not here); NULL: all that were asked for were. */
const char *caucus_study_not_run(const caucus_study *study, caucus_section section);

#endif
