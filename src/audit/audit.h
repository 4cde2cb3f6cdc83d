/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h: can a privacy claim be refuted? Measured from outside, by running the thing very often on two neighbouring
 * inputs.
 * layer: audit
 *
 * Take neighbouring data sets (worlds 0 and 1) and a statistic of what is released. (epsilon, delta)-privacy says
 * P(A) <= e^epsilon P'(A) + delta for every event A. On the first half of the runs the audit searches the event
 * that says most; on fresh runs it counts it in both worlds, and Clopper-Pearson bounds give a lower bound on epsilon
 * that is right with the stated confidence, whatever was searched (Ding et al. 2018; Bichsel et al. 2021). A bound
 * above the claim proves the claim false. A bound below it proves nothing, so each audit uses a worst case for which
 * it comes close, and has a broken twin that must be caught.
 *
 * Runs are seeded: run i of world w of an audit has the same bits for any number of threads and ranks. */
#ifndef CAUCUS_AUDIT_AUDIT_H
#define CAUCUS_AUDIT_AUDIT_H

#include <caucus/plan.h>
#include <caucus/rng.h>
#include <stdio.h>

#include "sim/ranks.h"

/* Runs drawn at once, from one stream or one key each; part of what fixes the bits. */
#define CAUCUS_AUDIT_CHUNK 1024
#define CAUCUS_AUDIT_CONFIDENCE (1 - 1e-6)
/* Experts whose sums a twin can keep. */
#define CAUCUS_AUDIT_KEPT 16

/* What is broken on purpose in a broken twin. */
typedef enum caucus_audit_fault_kind {
    CAUCUS_AUDIT_NO_FAULT = 0,
    CAUCUS_AUDIT_NOISE,       /* every rate times num/den, every standard deviation divided by it */
    CAUCUS_AUDIT_RANGE_5,     /* losses in [0, 5] on a grid of the same step: nobody rescaled them */
    CAUCUS_AUDIT_KEEP_Q,      /* q goes on where an epoch ends */
    CAUCUS_AUDIT_KEEP_THETA,  /* the noisy threshold goes on */
    CAUCUS_AUDIT_KEEP_EPOCH,  /* both of them: a coordinator that keeps its epoch */
    CAUCUS_AUDIT_MOVED_SLOT,  /* a client that takes a question for the end of its slot */
    CAUCUS_AUDIT_QUIET_LATER, /* a coordinator without noise on checks after the first epoch */
    CAUCUS_AUDIT_DRAW_AGAIN,  /* whoever is restored draws again what was drawn before */
    CAUCUS_AUDIT_EACH_WHOLE,  /* unit client: every phase spends what all of them may spend together */
    CAUCUS_AUDIT_KEEP_SUMS,   /* the sums of a cycle go on into the next */
    CAUCUS_AUDIT_GO_BACK,     /* a client that answers, after a gap, what it has answered before */
    CAUCUS_AUDIT_UNPAID,      /* selections have all of epsilon, and a look is not paid for */
    CAUCUS_AUDIT_EACH_SHOWN,  /* unit client: every figure costs what all of them may cost together */
    CAUCUS_AUDIT_OTHER        /* the setting itself is the broken one: the paper's constants, for example */
} caucus_audit_fault_kind;

typedef struct caucus_audit_fault {
    caucus_audit_fault_kind kind;
    uint32_t num, den; /* NOISE */
} caucus_audit_fault;

struct caucus_audit;

/* How runs are made. */
typedef struct caucus_audit_family {
    /** Make ready, from the audit's setting and its fault. Returns: CAUCUS_OK, or why not. */
    caucus_status (*open)(const struct caucus_audit *audit, void **ret_self, caucus_error *ret_error);
    /** The statistics of `count` runs, numbers first.. , in `world` (0 or 1). Called from several threads.
     *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY (what is in ret has no meaning then). */
    caucus_status (*draw)(const void *self, unsigned world, const caucus_key *key, uint64_t first, size_t count,
                          double *ret);
    void (*close)(void *self);
    /** Instead of `draw`, where runs have nothing in common but what was opened: one run, with a key of its own. */
    caucus_status (*play)(const void *self, unsigned world, const caucus_key *key, double *ret);
} caucus_audit_family;

typedef struct caucus_audit {
    const char *name;         /* one word */
    const char *twin_of;      /* the name of the audit that this is a broken twin of; NULL: of none */
    const char *wrong;        /* what is wrong with it, for people; NULL: nothing that we know of */
    caucus_audit_fault fault; /* NO_FAULT: it must not be refuted; any other: it must */
    const char *target;       /* what is audited, for people */
    double claimed;           /* epsilon */
    double delta;
    uint64_t quick; /* runs per world in the quick audit; 0: not part of it */
    uint64_t full;  /* and in the full one */
    uint32_t cells; /* the statistic is one of 0 .. cells-1; 0: any number */
    const caucus_audit_family *family;
    const void *setting;
} caucus_audit;

/** All audits of this product, in the order of the report: number i from 0; NULL after the last. */
const caucus_audit *caucus_audit_at(size_t i);

typedef struct caucus_audit_options {
    uint64_t seed;
    uint64_t trials; /* runs per world; 0: the audit's own number */
    bool quick;
    double confidence; /* of one audit */
    uint32_t threads;  /* 0: all cores */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *progress_user;
    const volatile int *stop;
    const caucus_ranks *ranks; /* processes that run it together, each its chunks; NULL: this one is alone */
} caucus_audit_options;

typedef struct caucus_audit_result {
    const char *name, *twin_of, *wrong, *target; /* borrowed from the audit */
    double claimed, delta;
    bool expected;      /* to be refuted */
    bool refuted;       /* it was: the lower bound is above the claim */
    double lower_bound; /* on epsilon */
    uint64_t trials;    /* runs per world: half to find the event, half to count it */
    double confidence;
    bool seeded; /* false for an outside program */
    uint64_t seed;
    uint64_t hits, hits_other; /* the event, in trials/2 runs of the world where it is likelier and of the other */
} caucus_audit_result;

/** Run one audit.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY, CAUCUS_E_STOPPED, or why its plan could not be made; the same in every rank. */
caucus_status caucus_audit_run(const caucus_audit *audit, const caucus_audit_options *options, caucus_audit_result *ret,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Lower bound and finding from counts. */
void caucus_audit_judge(caucus_audit_result *result);
/** As expected? */
static inline bool caucus_audit_pass(const caucus_audit_result *result) {
    return result->refuted == result->expected;
}

/* An event on a statistic (audit_event.c). */
typedef struct caucus_audit_event {
    uint8_t *cell;    /* [cells]: part of the event; NULL: by threshold */
    double threshold; /* statistic >= threshold, or <= */
    bool below;
    unsigned likelier; /* the world in which it is expected more often */
} caucus_audit_event;

/** The event with the largest (approximate) lower bound on the training runs. Values are sorted in place.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_audit_search_reals(double *value[2], size_t n, double delta, double confidence,
                                        caucus_audit_event *ret) CAUCUS_MUST_CHECK;
caucus_status caucus_audit_search_cells(const uint64_t *const count[2], uint32_t cells, uint64_t n, double delta,
                                        double confidence, caucus_audit_event *ret) CAUCUS_MUST_CHECK;
bool caucus_audit_happened(const caucus_audit_event *event, double statistic);
void caucus_audit_event_free(caucus_audit_event *event);

/* Audit of an outside program (audit_command.c). */
typedef struct caucus_audit_command {
    const char *command; /* the program and its first arguments, separated by spaces; no shell */
    const char *data[2]; /* paths, given as its last argument */
    double claimed, delta;
    uint64_t trials; /* outputs per data set */
    double timeout;  /* seconds without an output after which a program is given up */
    double confidence;
    bool refuted; /* what is expected */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *progress_user;
    const volatile int *stop;
} caucus_audit_command;

/** Run the program until it has printed enough, on both data sets, and judge.
 *  Returns: CAUCUS_OK; CAUCUS_E_PROGRAM (it cannot be run, failed, printed nothing, took too long, printed an output
 *           that is no word), CAUCUS_E_MEMORY, CAUCUS_E_STOPPED. The error says which. */
caucus_status caucus_audit_command_run(const caucus_audit_command *command, caucus_audit_result *ret,
                                       caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* Audit of a plan (audit_plan.c): its own integers, on neighbouring data that are searched for.
 *
 * A plan of which runs are cheap is run as it is; another one on a reduced plan with the same rates. Of a list of
 * neighbouring data sets the one is taken on which a short audit finds most; the audit proper then runs on fresh keys.
 * Two broken twins of the same plan (noise / 1.25, noise / 2) say what the audit would have noticed. */
#define CAUCUS_AUDIT_PLAN_RESULTS 3
typedef struct caucus_audit_plan_result {
    caucus_audit_result result[CAUCUS_AUDIT_PLAN_RESULTS]; /* the plan, and its twins, of which nothing is expected */
    size_t count;
    char hash[2 * CAUCUS_PLAN_HASH_BYTES + 1]; /* the plan's name */
    caucus_unit unit;                          /* the plan's */
    const char *record;                        /* what neighbouring data differ in, for people */
    uint32_t pairs;                            /* neighbouring data sets that were tried */
    char pair[160];                            /* the one that was taken, for people */
    char reduced[200];                         /* what was made smaller; "": the plan was run as it is */
    char target[96];                           /* what the results' `target` points to */
} caucus_audit_plan_result;
/** Returns: CAUCUS_OK, CAUCUS_E_INFEASIBLE (it claims nothing that could be refuted: no privacy, or nothing is ever
 *  decided), CAUCUS_E_MEMORY, CAUCUS_E_STOPPED. *ret is borrowed by its own results: do not copy it. */
caucus_status caucus_audit_plan_run(const caucus_plan *plan, const caucus_audit_options *options,
                                    caucus_audit_plan_result *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* Results for people and programs (audit_output.c, audit_page.c, audit_twins.c). */
typedef struct caucus_audit_report {
    const caucus_audit_result *result;
    size_t count;
    const caucus_audit_plan_result *plan; /* NULL: not of a plan */
    int width;                            /* columns of the screen that the table is printed on; 0: as wide as it is */
} caucus_audit_report;
void caucus_audit_print(FILE *out, const caucus_audit_report *report);
void caucus_audit_json(FILE *out, const caucus_audit_report *report);
void caucus_audit_csv(FILE *out, const caucus_audit_report *report);
/** The finding in words: "not refuted: at least 0.97 of the 1 claimed", "refuted: at least 1.6 of the 1 claimed". */
#define CAUCUS_AUDIT_WORDS_BYTES 96
void caucus_audit_words(const caucus_audit_result *result, char ret[CAUCUS_AUDIT_WORDS_BYTES]);
/** The table of broken twins, in Markdown (audit_twins.c): a row per audit, a column per fault; the bounds found, and
 *  "no power" where no twin is listed or one was not refuted. */
void caucus_audit_twins(FILE *out, const caucus_audit_report *report);
void caucus_audit_page(FILE *out, const caucus_audit_report *report);
/** audit.html, audit.json, audit.csv and twins.md, each whole or not at all. Returns: CAUCUS_OK, CAUCUS_E_IO. */
caucus_status caucus_audit_write(const char *directory, const caucus_audit_report *report,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
