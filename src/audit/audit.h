/* SPDX-License-Identifier: Apache-2.0 */
/* audit.h: does a privacy claim hold? Measured from outside, by running the thing very often on two neighbouring
 * inputs. layer: sim
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

#include <caucus/rng.h>
#include <stdio.h>

#include "sim/ranks.h"

/* Runs drawn at once, from one stream or one key each; part of what fixes the bits. */
#define CAUCUS_AUDIT_CHUNK 1024
#define CAUCUS_AUDIT_CONFIDENCE (1 - 1e-6)

/* How runs are made. `setting` is the audit's own. */
typedef struct caucus_audit_family {
    /** Make ready. Returns: CAUCUS_OK, or why not. */
    caucus_status (*open)(const void *setting, void **ret_self, caucus_error *ret_error);
    /** The statistics of `count` runs, numbers first.. , in `world` (0 or 1). Called from several threads.
     *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY (what is in ret has no meaning then). */
    caucus_status (*draw)(const void *self, unsigned world, const caucus_key *key, uint64_t first, size_t count,
                          double *ret);
    void (*close)(void *self);
} caucus_audit_family;

typedef struct caucus_audit {
    const char *name;   /* one word */
    const char *target; /* what is audited, for people */
    double claimed;     /* epsilon */
    double delta;
    uint64_t quick; /* runs per world in the quick audit; 0: not part of it */
    uint64_t full;  /* and in the full one */
    uint32_t cells; /* the statistic is one of 0 .. cells-1; 0: any number */
    bool holds;     /* what is expected: true, or the claim is false (the paper's, or a broken twin's) */
    const caucus_audit_family *family;
    const void *setting;
} caucus_audit;

/** All audits of this product, in the order of the report. */
const caucus_audit *caucus_audit_table(size_t *ret_count);

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
    const char *name, *target; /* borrowed from the audit */
    double claimed, delta;
    bool holds;
    double lower_bound; /* on epsilon */
    uint64_t trials;    /* runs per world: half to find the event, half to count it */
    double confidence;
    bool seeded; /* false for an outside program */
    uint64_t seed;
    uint64_t hits, hits_other; /* the event, in trials/2 runs of the world where it is likelier and of the other */
    bool pass;                 /* the lower bound is on the expected side of the claim */
} caucus_audit_result;

/** Run one audit.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY, CAUCUS_E_STOPPED, or why its plan could not be made; the same in every rank. */
caucus_status caucus_audit_run(const caucus_audit *audit, const caucus_audit_options *options, caucus_audit_result *ret,
                               caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Lower bound and verdict from counts. */
void caucus_audit_judge(caucus_audit_result *result);

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
    bool fails; /* expected: the claim is false */
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *progress_user;
    const volatile int *stop;
} caucus_audit_command;

/** Run the program until it has printed enough, on both data sets, and judge.
 *  Returns: CAUCUS_OK; CAUCUS_E_PROGRAM (it cannot be run, failed, printed nothing, took too long, printed an output
 *           that is no word), CAUCUS_E_MEMORY, CAUCUS_E_STOPPED. The error says which. */
caucus_status caucus_audit_command_run(const caucus_audit_command *command, caucus_audit_result *ret,
                                       caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* Results for people and programs (audit_output.c, audit_page.c). */
void caucus_audit_table_print(FILE *out, const caucus_audit_result *result, size_t count);
void caucus_audit_json(FILE *out, const caucus_audit_result *result, size_t count);
void caucus_audit_csv(FILE *out, const caucus_audit_result *result, size_t count);
void caucus_audit_page(FILE *out, const caucus_audit_result *result, size_t count);
/** audit.html, audit.json and audit.csv, each whole or not at all. Returns: CAUCUS_OK, CAUCUS_E_IO. */
caucus_status caucus_audit_write(const char *directory, const caucus_audit_result *result, size_t count,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
