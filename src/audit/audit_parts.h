/* SPDX-License-Identifier: Apache-2.0 */
/* audit_parts.h: what the table of audits is made of.
 * layer: audit */
#ifndef CAUCUS_AUDIT_AUDIT_PARTS_H
#define CAUCUS_AUDIT_AUDIT_PARTS_H

#include "audit/audit.h"

#include "plan/plan.h"

/* One selection (audit_mechanism.c). A challenger, expert 0, has one score, all others another. Statistic: 1 if the
 * challenger is chosen. */
typedef struct caucus_audit_select {
    caucus_select kind; /* flip, exponential, noisy-min */
    uint32_t experts;
    int64_t challenger[2], others[2]; /* scores, by world */
    caucus_rational rate;
} caucus_audit_select;
extern const caucus_audit_family caucus_audit_select_family;

/* Checks against a noisy threshold (audit_mechanism.c): before check i the expert in force costs cost[world][i]. A
 * check that fires opens the next epoch. Statistic: which checks fired, bit i for check i. */
#define CAUCUS_AUDIT_CHECKS 8
typedef struct caucus_audit_threshold {
    uint32_t checks;
    int64_t threshold;
    int64_t cost[2][CAUCUS_AUDIT_CHECKS];
    caucus_rational rate; /* of geometric noise on the threshold and on every check */
} caucus_audit_threshold;
extern const caucus_audit_family caucus_audit_threshold_family;

/* One client at its own pace, asked three times about one slot, or each of two questions twice (audit_slots.c).
 * Statistic: two bits a question: no item, a vote for expert 0, or for expert 1. */
typedef struct caucus_audit_slots {
    double epsilon;
    bool client; /* unit client */
} caucus_audit_slots;
#define CAUCUS_AUDIT_SLOT_CELLS 256u
extern const caucus_audit_family caucus_audit_slots_family;

/* Neighbouring losses. All losses are 0 but those said; the replaced loss is, of client 1. */
typedef enum caucus_audit_losses {
    CAUCUS_AUDIT_ONES, /* replaced: 0 or 1 for every expert */
    CAUCUS_AUDIT_GAP,  /* replaced: against or for expert 0, where `gap` other losses speak against it (below 0: for it)
                        */
    CAUCUS_AUDIT_EDGE, /* svt: the first expert's cost is just at the threshold, or one loss below it */
    CAUCUS_AUDIT_TREE_ROOT, /* convex: the replaced loss is a root's sample; the other one speaks against expert 0 */
    CAUCUS_AUDIT_TREE_RIGHT /* convex: it is a right vertex's sample; the other clients' speak against expert 0 */
} caucus_audit_losses;

/* EDGE: what the blocks around the one with the replaced loss are like. */
typedef enum caucus_audit_around {
    CAUCUS_AUDIT_AT = 0, /* later blocks: whoever is in force gets to the next threshold */
    CAUCUS_AUDIT_IDLE,   /* later blocks cost nothing: a check sees something only if q has not restarted */
    CAUCUS_AUDIT_FIRES,  /* later blocks cost so much that every check fires: as many selections as there may be */
    CAUCUS_AUDIT_SECOND  /* the replaced loss is in the second block, after a first one that fires */
} caucus_audit_around;

/* What is made of a run (audit_ratio.c). */
typedef enum caucus_audit_statistic {
    CAUCUS_AUDIT_TRANSCRIPT = 0, /* everything announced (expert 0 or another, and whether a check fired), as a cell */
    CAUCUS_AUDIT_CHOICES,        /* the log-likelihood ratio of everything announced */
    CAUCUS_AUDIT_MESSAGES        /* that of what client 1 sends about the phase that holds the replaced loss */
} caucus_audit_statistic;

/* A whole run: the real coordinator and clients on a plan of caucus_plan_new, or on one that is given
 * (audit_federation.c). */
typedef struct caucus_audit_federation {
    const caucus_plan *plan; /* not NULL: this plan, and the settings below count for nothing; borrowed */
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_calibration calibration;
    caucus_protocol protocol;
    caucus_unit unit;
    caucus_select select;
    caucus_message message;
    uint32_t clients, experts, rounds, interval;
    double epsilon, delta;
    double rho; /* 0: 0.5; utility only. Large: thresholds stay low; small: more switches */
    int trees;  /* with convex losses */
    double smoothness;
    bool convex, front_load, past_phases;
    uint32_t longest_phase; /* stoch; 0: phases only double */
    uint32_t evaluate;      /* stoch: experts that a client evaluates; 0: all */
    uint32_t growth;        /* stoch, unit client */
    uint32_t renew;         /* svt, hedge: rounds of a cycle; 0: one */
    bool endless;           /* svt: without an end, with thresholds that grow; `rounds` of it are played */

    caucus_audit_losses losses;
    double gap;     /* GAP: losses; EDGE: how much more the other expert has cost */
    double lift;    /* EDGE: how far above the threshold the larger cost is, in losses */
    uint32_t phase; /* stoch: the phase that learns from the replaced loss; 0: the last */
    caucus_audit_around around;
    caucus_audit_statistic statistic;
    bool restarts; /* every machine is saved and restored, with another key, after every report and every verdict, and
                      what was said before and what is said after are both seen */
    bool links;    /* clients are links: bytes in, bytes out; connections break after every report */
} caucus_audit_federation;
extern const caucus_audit_family caucus_audit_federation_family;
/* Cells of a transcript of a run with at most this many announcements after the first. */
#define CAUCUS_AUDIT_CELLS(announcements) ((uint32_t)4 << (2 * (announcements)))

/* A client that is asked again for a phase it has answered, in a run without an end, after a gap (audit_gaps.c). It has
 * no setting. */
extern const caucus_audit_family caucus_audit_gaps_family;

/* A coordinator that shows the loss of the expert in force (audit_look.c). */
typedef struct caucus_audit_look {
    double epsilon, show; /* of epsilon, what pays for the figures */
    bool client;          /* unit client: two decisions, of the same clients */
} caucus_audit_look;
extern const caucus_audit_family caucus_audit_look_family;

/* Audits of whole runs (audit_table_runs.c); the rest of the table is in audit_table.c. */
const caucus_audit *caucus_audit_table_runs(size_t *ret_count);

#endif
