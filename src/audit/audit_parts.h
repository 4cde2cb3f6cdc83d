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
 * check that fires opens the next epoch. Statistic: the verdicts, bit i for check i. */
#define CAUCUS_AUDIT_CHECKS 8
typedef struct caucus_audit_threshold {
    uint32_t checks;
    int64_t threshold;
    int64_t cost[2][CAUCUS_AUDIT_CHECKS];
    caucus_rational rate; /* of geometric noise on the threshold and on every check */
    bool keep_q;          /* broken: q goes on where an epoch ends */
    bool keep_theta;      /* broken: so does the noisy threshold */
} caucus_audit_threshold;
extern const caucus_audit_family caucus_audit_threshold_family;

/* How a broken twin is made from a plan. */
typedef enum caucus_audit_fault {
    CAUCUS_AUDIT_NO_FAULT = 0,
    CAUCUS_AUDIT_HALF_NOISE, /* every rate doubled, every standard deviation halved */
    CAUCUS_AUDIT_RANGE_5     /* losses in [0, 5] on a grid of the same step: nobody rescaled them */
} caucus_audit_fault;

/* Neighbouring losses. All losses are 0 but those said; the replaced loss is, of client 1. */
typedef enum caucus_audit_losses {
    CAUCUS_AUDIT_ONES,      /* replaced: 0 or 1 for every expert */
    CAUCUS_AUDIT_GAP,       /* replaced: against or for expert 0, where `gap` other losses speak against it */
    CAUCUS_AUDIT_EDGE,      /* svt: the first expert's cost is just at the threshold, or one loss below it */
    CAUCUS_AUDIT_TREE_ROOT, /* convex: the replaced loss is a root's sample; the other one speaks against expert 0 */
    CAUCUS_AUDIT_TREE_RIGHT /* convex: it is a right vertex's sample; the other clients' speak against expert 0 */
} caucus_audit_losses;

/* A whole run: the real coordinator and clients on a plan of caucus_plan_new (audit_federation.c). Statistic:
 * everything announced (expert 0 or another, and whether a check fired), as a number; or, for messages, the
 * log-likelihood ratio of what client 1 sends about the phase that holds the replaced loss. */
typedef struct caucus_audit_federation {
    caucus_algorithm algorithm;
    caucus_trust trust;
    caucus_calibration calibration;
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
    uint32_t renew;         /* svt, hedge: rounds of a link; 0: one */
    caucus_audit_fault fault;
    caucus_audit_losses losses;
    double gap;     /* GAP: losses; EDGE: how much more the other expert has cost */
    uint32_t phase; /* stoch: the phase that learns from the replaced loss; 0: the last */
    bool messages;
} caucus_audit_federation;
extern const caucus_audit_family caucus_audit_federation_family;
/* Cells of the statistic of a run with at most this many announcements after the first. */
#define CAUCUS_AUDIT_CELLS(announcements) ((uint32_t)4 << (2 * (announcements)))

#endif
