/* SPDX-License-Identifier: Apache-2.0 */
/* family.h: one table of operations per family of algorithms, and what everybody may ask about an algorithm.
 * layer: plan
 *
 * A family is a way to learn that its algorithms share: its part of a plan, its mechanisms and its machines. What a
 * family does in a layer stands in one table of that layer: here how it is planned and accounted for, in
 * algo/machine.h how it is played, in show/family_words.h how it is told. No code compares an algorithm with a name to
 * find out what to do: it calls the table, or asks for a property of it. A new family is a line in the list below and a
 * file per layer (CONTRIBUTING.md, "How to add an algorithm"). */
#ifndef CAUCUS_PLAN_FAMILY_H
#define CAUCUS_PLAN_FAMILY_H

#include "plan/text/plan_walk.h"

/* X(NAME, name): the tables are caucus_plan_NAME (plan/family_NAME.c), caucus_machine_NAME and caucus_words_NAME. */
#define CAUCUS_FAMILY_LIST(X)                                                                                          \
    X(SVT, svt)     /* keep an expert until it has cost too much */                                                    \
    X(STOCH, stoch) /* learn from one phase, play in the next */                                                       \
    X(HEDGE, hedge) /* a fresh draw after every block */

typedef enum caucus_family {
#define CAUCUS_ENUM_FAMILY(NAME, name) CAUCUS_FAMILY_##NAME,
    CAUCUS_FAMILY_LIST(CAUCUS_ENUM_FAMILY)
#undef CAUCUS_ENUM_FAMILY
        CAUCUS_FAMILY_COUNT
} caucus_family;

/* Settings that only some families know what to do with; elsewhere they are refused. */
typedef enum caucus_plan_option {
    CAUCUS_OPTION_RHO = 1 << 0,         /* the bound holds with a probability */
    CAUCUS_OPTION_LSTAR = 1 << 1,       /* L*, a public bound on the best expert's loss */
    CAUCUS_OPTION_PROTOCOL = 1 << 2,    /* a choice between two-step and paper */
    CAUCUS_OPTION_FRONT_LOAD = 1 << 3,  /* more budget for the first selections */
    CAUCUS_OPTION_SELECT = 1 << 4,      /* a choice of the coordinator's mechanism */
    CAUCUS_OPTION_TRUST = 1 << 5,       /* clients that add noise: trust nobody and paper-local, choice of a message */
    CAUCUS_OPTION_TREES = 1 << 6,       /* trees */
    CAUCUS_OPTION_CONVEX = 1 << 7,      /* convex losses */
    CAUCUS_OPTION_PAST_PHASES = 1 << 8, /* weights on earlier phases */
    CAUCUS_OPTION_INTERVAL = 1 << 9,    /* blocks of several rounds */
    CAUCUS_OPTION_PAPER = 1 << 10,      /* the paper's calibration */
    CAUCUS_OPTION_CLIENT_BLOCK = 1 << 11,  /* unit client-block */
    CAUCUS_OPTION_NO_PRIVACY = 1 << 12,    /* an infinite epsilon */
    CAUCUS_OPTION_INTERVAL_AUTO = 1 << 13, /* an interval that follows from the other settings */
    CAUCUS_OPTION_LONGEST_PHASE = 1 << 14, /* phases that stop doubling */
    CAUCUS_OPTION_RENEW = 1 << 15,         /* beginning again after a number of rounds */
    CAUCUS_OPTION_OWN_PACE = 1 << 16,      /* devices that are not in step */
    CAUCUS_OPTION_NOMINAL = 1 << 17,       /* no end without beginning again: thresholds that grow */
    CAUCUS_OPTION_EVALUATE = 1 << 18,      /* clients that look at some experts only */
    CAUCUS_OPTION_CLIENT = 1 << 19,        /* unit client, and growth */
    CAUCUS_OPTION_SHOW_LOSS = 1 << 20      /* a private look at the loss of the expert in force */
} caucus_plan_option;

/* One algorithm of a family. */
typedef struct caucus_variant {
    caucus_algorithm algorithm;
    const char *name; /* as people write it: "Fed-SVT" */
    bool alone;       /* planned for one client, whatever was asked: a baseline */
    bool reference;   /* without privacy: nothing about privacy applies to it */
} caucus_variant;

#define CAUCUS_VARIANTS_MAX 4

/* A whole device against one record (docs/PRIVACY.md, "A whole device"): by how much more it moves the pure costs and
 * the zCDP costs of the run together; and what of a record's cost is pure where the run's guarantee is by zCDP. */
typedef struct caucus_device_cost {
    double linear, square;
    double pure;
    double record; /* what one record costs purely in all mechanisms together; 0: they are not all pure */
} caucus_device_cost;

typedef struct caucus_plan_ops {
    caucus_variant variant[CAUCUS_VARIANTS_MAX]; /* those with a name */
    unsigned options;                            /* of caucus_plan_option: those it takes */
    bool phases;                                 /* learns phase by phase; else block by block */
    bool checks; /* has a number of switches, and checks between two selections whether the next one is due */

    /* The interval that CAUCUS_INTERVAL_AUTO stands for, from settings that have been checked: public numbers alone.
     * NULL: it has none. */
    uint64_t (*interval)(const caucus_settings *settings);
    /* The integers of its plans: a struct that only the family knows, zeroed before `calibrate` and freed with the
     * plan, at plan->part. 0: none (svt, stoch and hedge have theirs by name in caucus_plan). */
    size_t part_bytes;

    /* Fill the family's part of a plan; plan->settings and plan->grid are set. Then its bound. */
    caucus_status (*calibrate)(caucus_plan *plan, caucus_error *ret_error);
    caucus_status (*bound)(caucus_plan *plan); /* CAUCUS_OK, CAUCUS_E_MEMORY */
    /* Recompute the guarantee from the integers alone. `ret` comes with epsilon_messages NAN and zeros. */
    caucus_status (*account)(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error);
    /* Sums that could leave 62 bits, beyond m*T*G; called before calibration too, with the part still empty. NULL: no
     * others. */
    caucus_status (*limits)(const caucus_plan *plan, caucus_error *ret_error);
    /* The family's section of the canonical text, its key the family's name. It is also asked for its keys alone
     * (walker->keys_only): then with an empty part, and every key is to be named, whatever it depends on. */
    void (*walk)(caucus_walker *walker, caucus_plan *plan);
    /* Free what the part points to. NULL: nothing. */
    void (*free_part)(caucus_plan *plan);

    uint64_t (*blocks)(const caucus_plan *plan);     /* blocks or phases of the run */
    uint64_t (*selections)(const caucus_plan *plan); /* the most that a run can make */
    /* The rate of the coordinator's selection number `selection`, from 0 and below the most; false where clients add
     * the noise. NULL: it makes none at a rate. */
    bool (*select_rate)(const caucus_plan *plan, uint64_t selection, caucus_rational *ret);
    /* What everything that one device contributes to the run costs more than one record.
     * NULL: a device is taken for as many records as the run has rounds, which is never too little. */
    caucus_device_cost (*device)(const caucus_plan *plan);
} caucus_plan_ops;

/* In the table of a family: the operations that every family has. Calibration, bound and accountant may have files of
 * their own; the others are static functions of that name in the family's file. */
#define CAUCUS_FAMILY_PLAN(calibrates, bounds, accounts)                                                               \
    .calibrate = calibrates, .bound = bounds, .account = accounts, .walk = walk, .blocks = blocks,                     \
    .selections = selections

/** The family of an algorithm or plan, and its table. */
caucus_family caucus_algorithm_family(caucus_algorithm algorithm);
caucus_family caucus_plan_family(const caucus_plan *plan);
const caucus_plan_ops *caucus_family_ops(caucus_family family);
const caucus_plan_ops *caucus_plan_ops_of(const caucus_plan *plan);

/** An algorithm within its family. */
const caucus_variant *caucus_algorithm_variant(caucus_algorithm algorithm);
/** Whether an algorithm takes an option. */
bool caucus_algorithm_takes(caucus_algorithm algorithm, caucus_plan_option option);

/** Where svt has thresholds: L of the epoch after `switches` selections, at check number `check` of the run, in grid
 *  units, before its noise. Only thresholds that grow depend on the check (caucus_settings_grow). */
int64_t caucus_svt_threshold(const caucus_plan *plan, uint32_t switches, uint64_t check);
/** svt without an end and renewal: its regret bound after `rounds` rounds, however many; NAN where nothing is proved
 *  (docs/PRIVACY.md, "Thresholds that grow"). */
double caucus_svt_bound_after(const caucus_plan *plan, uint64_t rounds);

/** The words of the algorithms that take an option, family by family: "svt, sparse-vector" with `last` between the last
 *  two of them (", ", " and ", " or "). */
typedef struct caucus_takers {
    char text[96];
} caucus_takers;
caucus_takers caucus_option_takers(caucus_plan_option option, const char *last);
/** The same of those that are private and play with several clients. */
caucus_takers caucus_federating(const char *last);

#endif
