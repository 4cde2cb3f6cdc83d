/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.h: what to simulate, from a YAML file, from flags, or both.
 * layer: scenario
 *
 * A scenario is a set of fields. A field has the same name in a file ("front-load: true") and as a flag
 * (--front-load); flags override the file. Values are kept as text with the place they came from until
 * caucus_scenario_resolve() turns them into runs, so that every refusal can name file, line and field, or
 * the flag. A field that takes a list (`algorithm: [svt, sparse-vector]`, --algorithm svt,sparse-vector) makes one run
 * per value; several lists make every combination, the field that stands first in CAUCUS_FIELD_LIST varying slowest. */
#ifndef CAUCUS_SCENARIO_SCENARIO_H
#define CAUCUS_SCENARIO_SCENARIO_H

#include "sim/run.h"

/* X(NAME, "name", LIST, "ARGUMENT" or NULL for a yes/no, "default", "help"). LIST: many, one. */
#define CAUCUS_FIELD_LIST(X)                                                                                           \
    X(ALGORITHM, "algorithm", many, "NAME", "svt", "what is simulated")                                                \
    X(ADVERSARY, "adversary", many, "NAME", "realizable", "where the losses come from")                                \
    X(CLIENTS, "clients", many, "M", "10", "clients that learn together")                                              \
    X(EXPERTS, "experts", many, "D", "100", "experts to choose from")                                                  \
    X(NAMES, "names", one, "A,B", NULL, "what experts are called, which says how many; or @FILE with one a line")      \
    X(ROUNDS, "rounds", many, "T", "512", "rounds to play; endless: svt; stoch with longest-phase, hedge with renew")  \
    X(PLAY, "play", many, "N", NULL, "rounds to play of a run without an end; pace own: phases")                       \
    X(INTERVAL, "interval", many, "N", "1", "rounds per block: svt and hedge report at its end; hedge: or auto")       \
    X(EPSILON, "epsilon", many, "E", "1", "privacy: above 0; infinite for none (hedge, leader)")                       \
    X(DELTA, "delta", many, "D", "0", "0 is pure privacy; else below 0.1")                                             \
    X(TRUST, "trust", many, "WHOM", NULL, "who may see what (must be said)")                                           \
    X(CALIBRATION, "calibration", many, "NAME", "tight", "how noise is chosen")                                        \
    X(PROTOCOL, "protocol", many, "NAME", "two-step", "what svt sends")                                                \
    X(UNIT, "unit", many, "NAME", "event", "what one change of the data is; at own pace client-block unless given")    \
    X(SELECT, "select", many, "NAME", "auto", "how stoch selects (trust coordinator)")                                 \
    X(MESSAGE, "message", many, "NAME", "auto", "what stoch sends (trust nobody)")                                     \
    X(TREES, "trees", many, "N", "auto", "trees per phase of stoch; given with cross-entropy, losses are convex")      \
    X(FRONT_LOAD, "front-load", one, NULL, "false", "svt: spend more on the first switches")                           \
    X(PAST_PHASES, "past-phases", one, NULL, "false", "stoch: weigh in earlier phases")                                \
    X(LONGEST_PHASE, "longest-phase", many, "W", "none", "stoch: phases double up to W rounds; auto: by the bound")    \
    X(FIRST_PHASE, "first-phase", one, "F", "1", "rounds of the first phase (with longest-phase)")                     \
    X(CHANGES, "changes", one, "C", "1", "what is best changes about C times in 1,000 rounds (with longest-phase)")    \
    X(RENEW, "renew", many, "R", "none", "svt, hedge: begin again every R rounds, a multiple of interval")             \
    X(PACE, "pace", one, "WHOSE", "together", "own: every device at its own pace, phases by the clock (stoch)")        \
    X(PHASE_TIME, "phase-time", one, "TIME", "1d",                                                                     \
      "pace own: from one decision to the next, a slot of a device's clock")                                           \
    X(GRACE, "grace", one, "TIME", "auto", "pace own: from the end of a slot to its decision; auto: phase-time/16")    \
    X(MOST, "most", one, "N", "64", "pace own: losses of a slot that count, the first ones")                           \
    X(START, "start", one, "DAY", "none",                                                                              \
      "pace own, unit client: when the run begins, 2027-01-31 or 2027-01-31T06:00, UTC")                               \
    X(NOMINAL_ROUNDS, "nominal-rounds", one, "M", "4096", "svt without an end: the length it is planned for")          \
    X(EVALUATE, "evaluate", many, "K", "all", "stoch: experts that a client evaluates in a round")                     \
    X(GROWTH, "growth", many, "G", "auto", "unit client: phases end after 1, G, G*G, .. rounds; auto: by the bound")   \
    X(SHOW_LOSS, "show-loss", many, "E", "0", "stoch: part of epsilon that shows the loss of the expert in force")     \
    X(RHO, "rho", one, "P", "0.05", "probability with which a proven bound may fail")                                  \
    X(LSTAR, "lstar", one, "L", "0", "svt: public bound on the best expert's loss per client")                         \
    X(RANGE, "range", one, "LO,HI", "0,1", "public range of a loss (movielens 0,5)")                                   \
    X(SEGMENTS, "segments", many, "S", "1", "parts of the run, each with a best expert; shifting: with its own means") \
    X(MEANS, "means", one, "LO,HI", "0.3,0.7", "bernoulli, shifting, drifting: where experts' means are drawn from")   \
    X(SPREAD, "spread", many, "SD", "0", "the same three: how far a client's means are from the experts'")             \
    X(DRIFT, "drift", many, "SD", "0.001", "drifting: how far a mean walks in one round")                              \
    X(ACTIVITY, "activity", one, "MEAN,SPREAD", "64,1",                                                                \
      "pace own: losses a device sees in a slot, and how rates differ")                                                \
    X(DATA, "data", one, "DIR", "data/ml-1m, ../shared/data/ml-1m", "MovieLens, 1M or 100K (adversary movielens)")     \
    X(GENRE, "genre", one, "NAME", "Drama", "movielens: the public best genre; or from-data, which is not private")    \
    X(LOSSES, "losses", one, "FILE", NULL, "your own losses, clients x rounds x experts: NumPy or CSV")                \
    X(TRIALS, "trials", one, "N", "100", "trials per run")                                                             \
    X(SEED, "seed", one, "N", "1", "trial n depends on seed and n only")                                               \
    X(THREADS, "threads", one, "N", "all", "cores to use; results do not depend on it")                                \
    X(FORMAT, "format", one, "NAME", "table", "table, json or csv on standard output")                                 \
    X(OUT, "out", one, "DIR", NULL, "also write results.json and CSV files there")                                     \
    X(LEDGER, "ledger", one, "FILE", NULL, "record what the runs spend; made if it does not exist")                    \
    X(BUDGET, "budget", one, "E[,D]", "infinite", "total epsilon and delta of a new ledger")

typedef enum caucus_scenario_field {
#define CAUCUS_FIELD_ENUM(name, word, list, argument, fallback, help) CAUCUS_FIELD_##name,
    CAUCUS_FIELD_LIST(CAUCUS_FIELD_ENUM)
#undef CAUCUS_FIELD_ENUM
        CAUCUS_FIELD_COUNT
} caucus_scenario_field;

typedef struct caucus_scenario_field_info {
    const char *name;
    bool many;            /* takes a list */
    const char *argument; /* NULL: yes or no */
    const char *fallback; /* the default, as text; NULL: none */
    const char *help;
} caucus_scenario_field_info;
extern const caucus_scenario_field_info caucus_fields[CAUCUS_FIELD_COUNT];

/* The values of one field, and where they were written. */
typedef struct caucus_values {
    char **text;   /* [count] */
    size_t count;  /* 0: not given */
    unsigned line; /* in the file; 0: a flag */
} caucus_values;

typedef struct caucus_scenario {
    char *file; /* what errors call it; NULL without a file */
    caucus_values field[CAUCUS_FIELD_COUNT];
    /* Losses in memory, in the place of the field `losses`, and a plan in the place of the fields that make one. Both
     * are the caller's, who keeps them as long as what is resolved; NULL: none. */
    const caucus_loss_array *array;
    const caucus_plan *plan;
} caucus_scenario;

/* An error with its place: the one line a front end prints. */
typedef struct caucus_complaint {
    char line[768];
    bool in_file; /* the line begins with a file's name; else a front end puts its own name before it */
    /* Where it is not in a file: the field at fault, NULL if none. A front end calls it as it did when it asked for it;
     * the line goes on behind that name: " 0: must be above 0", ": given twice". */
    const char *field;
} caucus_complaint;

/* Limits: more is nobody's scenario, and bounds what a hostile file can ask for. */
#define CAUCUS_SCENARIO_BYTES ((size_t)1 << 20)
#define CAUCUS_SCENARIO_RUNS 10000
#define CAUCUS_TRIALS_MAX 1000000

/** Free the values: the field is not given any more. */
void caucus_values_clear(caucus_values *values);
void caucus_scenario_init(caucus_scenario *ret);
void caucus_scenario_free(caucus_scenario *scenario);

/** The field of a name, or CAUCUS_FIELD_COUNT. */
caucus_scenario_field caucus_field_find(const char *name);

/** The fields that make a plan; those from PRIVACY on say how private it is, those from MECHANISM on by what means. */
enum { CAUCUS_PLAN_FIELDS = 33, CAUCUS_PLAN_FIELDS_PRIVACY = 8, CAUCUS_PLAN_FIELDS_MECHANISM = 13 };
extern const caucus_scenario_field caucus_plan_fields[CAUCUS_PLAN_FIELDS];

/** Read a file into a scenario; fields that are set already (flags) keep their values.
 *  Returns: CAUCUS_OK, CAUCUS_E_IO, CAUCUS_E_FORMAT, CAUCUS_E_MEMORY; the complaint names file, line and field. */
caucus_status caucus_scenario_load(caucus_scenario *scenario, const char *path,
                                   caucus_complaint *ret) CAUCUS_MUST_CHECK;
/** The same from memory; `name` is what errors call it. */
caucus_status caucus_scenario_parse(caucus_scenario *scenario, const char *name, const uint8_t *bytes, size_t size,
                                    caucus_complaint *ret) CAUCUS_MUST_CHECK;

/** Set a field as a flag does: text with commas where the field takes a list. Replaces a file's value.
 *  Returns: CAUCUS_OK, CAUCUS_E_FORMAT (given twice, or an empty value), CAUCUS_E_MEMORY. */
caucus_status caucus_scenario_set(caucus_scenario *scenario, caucus_scenario_field field, const char *text,
                                  caucus_complaint *ret) CAUCUS_MUST_CHECK;

/* What a scenario comes to: runs that have been checked and calibrated once, so that none is refused half-way. */
typedef struct caucus_prepared {
    caucus_run *run;              /* [count]; the text they point to belongs to the scenario */
    caucus_plan **plan;           /* [count]; NULL where the scenario came with a plan, which is in its run */
    caucus_adversary **adversary; /* [count]; equal ones are shared */
    size_t count;
    bool genre_from_data; /* a front end should warn */
} caucus_prepared;

/** Turn the fields into runs: defaults, every combination, all checks, calibration, data opened.
 *  Returns: CAUCUS_OK or the first refusal, which the complaint explains. *ret is written only on success. */
caucus_status caucus_scenario_resolve(const caucus_scenario *scenario, caucus_prepared *ret,
                                      caucus_complaint *ret_complaint) CAUCUS_MUST_CHECK;
void caucus_prepared_free(caucus_prepared *prepared);

/** The law of an adversary's losses: segments, means, spread and drift, from values number at[field] of those fields.
 *  In:      ret->kind: what it does not use keeps its default.
 *  Returns: CAUCUS_OK or CAUCUS_E_RANGE, which the complaint explains; the adversary checks the rest when it opens. */
caucus_status caucus_scenario_law(const caucus_scenario *scenario, const size_t at[CAUCUS_FIELD_COUNT],
                                  caucus_adversary_settings *ret, caucus_complaint *ret_complaint) CAUCUS_MUST_CHECK;

/** The settings alone, for one run: no adversary, no calibration; a list with more than one value is refused.
 *  Returns: CAUCUS_OK or the first refusal, which the complaint explains. *ret is written only on success. */
caucus_status caucus_scenario_settings(const caucus_scenario *scenario, caucus_settings *ret,
                                       caucus_complaint *ret_complaint) CAUCUS_MUST_CHECK;

/** Refuse a field that was given although no run takes it: it would change nothing. caucus_scenario_resolve() does this
 *  by itself; after caucus_scenario_settings() it is for the caller, who may plan more than one run with them.
 *  In:      run  [count], count at least 1: settings and adversary.kind are read. */
caucus_status caucus_scenario_check_used(const caucus_scenario *scenario, const caucus_run *run, size_t count,
                                         caucus_complaint *ret_complaint) CAUCUS_MUST_CHECK;

/** The line for a refusal of `field` (a name of this table or of the library's settings), with its place if it was
 *  given. */
caucus_status caucus_scenario_complain(const caucus_scenario *scenario, caucus_status status, const caucus_error *error,
                                       caucus_complaint *ret);

/** Make it one line: what people wrote may hold line ends and control characters. */
void caucus_complaint_clean(caucus_complaint *complaint);

#endif
