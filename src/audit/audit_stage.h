/* SPDX-License-Identifier: Apache-2.0 */
/* audit_stage.h: a plan and two neighbouring worlds of losses, on which whole runs are played.
 * layer: audit
 *
 * Opened once per audit, read by all threads. */
#ifndef CAUCUS_AUDIT_AUDIT_STAGE_H
#define CAUCUS_AUDIT_AUDIT_STAGE_H

#include "audit/audit_parts.h"

#include <caucus/client.h>
#include <caucus/coordinator.h>
#include <caucus/link.h>

typedef struct caucus_audit_stage {
    caucus_audit_federation setting;
    caucus_audit_fault fault;
    caucus_plan *plan;  /* with the fault in it, where the fault is one of integers */
    caucus_plan *quiet; /* the same without noise on checks; for a coordinator that forgets it */
    uint32_t m, d;
    uint64_t rounds, steps;    /* steps: blocks or phases */
    uint64_t replaced, window; /* first round (from 0) and rounds of the block or phase that holds the replaced loss */
    uint64_t records;          /* what can be replaced there: losses, or of means clients */
    double *loss[2];           /* [m][rounds][d], by world */

    /* What a likelihood needs (audit_ratio.c), in grid units. Blocks: [blocks + 1][d], sums over all clients up to a
     * block. Phases: [phases + 1][trees][d], the slice of each tree's root (0: the only one), summed over all clients
     * and of client 1 alone. */
    int64_t *sum[2], *own[2];
    double *choice; /* ln of P(expert) in world 1 over world 0; svt: [blocks + 1][switches][d], otherwise like sum */
    double *vote;   /* like own, of client 1's vote */
} caucus_audit_stage;

/* An audit of one machine: what it knows begins with the plan (audit_planned.c). */
typedef struct caucus_audit_planned {
    caucus_plan *plan;
} caucus_audit_planned;
/** `bytes`, zeroed, which begin with a caucus_audit_planned whose plan has these settings; and the end of it.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY, or why there is no such plan. */
caucus_status caucus_audit_open_planned(const caucus_settings *settings, size_t bytes, void **ret_self,
                                        caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_audit_close_planned(void *self);

/* Rows of sum[w] for one phase. */
#define CAUCUS_AUDIT_ROOTS ((size_t)CAUCUS_TREES_MAX + 1)

/** Phases, rather than blocks? */
bool caucus_audit_phases(const caucus_audit_stage *stage);
/** stoch: the phase that learns from the replaced loss, and its integers. */
uint64_t caucus_audit_phase(const caucus_audit_stage *stage);
const caucus_stoch_phase *caucus_audit_learner(const caucus_audit_stage *stage);

/** A plan of its own with the same numbers (audit_clone.c). Returns: NULL without memory. */
caucus_plan *caucus_audit_clone(const caucus_plan *plan);
/** A smaller plan with the same rates that runs fast enough to be run very often, or a clone of a plan that does.
 *  Out:     *ret_words: what was made smaller, for people; "" if nothing was.
 *  Returns: NULL without memory. */
caucus_plan *caucus_audit_reduced(const caucus_plan *plan, char *ret_words, size_t ret_bytes);

/** Break a plan's integers as the fault says (audit_fault.c). */
void caucus_audit_break_plan(caucus_plan *plan, const caucus_audit_fault *fault);
/** A rate, broken. */
caucus_rational caucus_audit_break_rate(caucus_rational rate, const caucus_audit_fault *fault);
/** Decide; a fault of the coordinator itself happens here. Returns as caucus_coordinator_decide. */
caucus_status caucus_audit_decide(const caucus_audit_stage *stage, caucus_coordinator *coordinator);

/** Fill loss[] (audit_worlds.c). */
void caucus_audit_worlds(caucus_audit_stage *stage);
/** Convex losses: the gradient of client `client` in `world`. */
typedef struct caucus_audit_slope {
    const caucus_audit_stage *stage;
    uint32_t client;
    unsigned world;
} caucus_audit_slope;
void caucus_audit_gradient(void *user, uint64_t round, const double *x, double *ret, uint32_t experts);

/** Fill sum, own, choice and vote. Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_audit_expect(caucus_audit_stage *stage) CAUCUS_MUST_CHECK;
/** Of its parts, for clients that evaluate some experts only (audit_some.c): where a loss lies on the grid; ret[y] = ln
 *  P(y | score[1]) / P(y | score[0]); and choice for all phases. */
int64_t caucus_audit_step_of(const caucus_audit_stage *stage, const double *loss);
void caucus_audit_law_ratio(caucus_select kind, const int64_t *const score[2], uint32_t d, caucus_rational rate,
                            long double *scratch, double *ret);
caucus_status caucus_audit_expect_some(caucus_audit_stage *stage, long double *law) CAUCUS_MUST_CHECK;
/* What was public before, zeros at first, kept between calls. */
typedef struct caucus_audit_before {
    uint64_t blocks; /* svt: before the epoch in hand */
    uint32_t expert; /* trees: in force when the tree's root was entered */
} caucus_audit_before;
/** What an announcement after `asked` adds to the log-likelihood ratio of world 1 over world 0. */
double caucus_audit_choice_ratio(const caucus_audit_stage *stage, const caucus_announcement *asked,
                                 const caucus_announcement *now, caucus_audit_before *before);
/** What the loss that was shown with it adds (docs/PRIVACY.md, "A private look"). */
double caucus_audit_look_ratio(const caucus_audit_stage *stage, const caucus_coordinator *coordinator,
                               const caucus_announcement *asked);
/** What a report of client 1 adds. */
double caucus_audit_message_ratio(const caucus_audit_stage *stage, const caucus_report *report,
                                  const caucus_announcement *asked, caucus_audit_before *before);

/* A run (audit_federation.c), and its clients as links (audit_link.c). */
typedef struct caucus_audit_seat {
    caucus_client *client;
    caucus_audit_slope slope;
    caucus_link *link;
    uint8_t *saved; /* what the link saved last */
    size_t saved_bytes;
    uint64_t cost_next, sums_next; /* counted of it when the last verdict was made */
} caucus_audit_seat;

typedef struct caucus_audit_play {
    const caucus_audit_stage *stage;
    unsigned world;
    caucus_key key;
    uint64_t keys; /* keys handed out */
    caucus_coordinator *coordinator;
    caucus_audit_seat *seat;   /* [m] */
    caucus_announcement *said; /* links: everything announced */
    size_t said_count;
    uint8_t *up, *down; /* links: bytes on their way; room for `room` */
    size_t up_bytes, room;
    int64_t *scratch; /* [d] */
    double ratio;
    caucus_audit_before before;
} caucus_audit_play;

/** A key that this run has not used yet. */
void caucus_audit_next_key(caucus_audit_play *run, caucus_key *ret);
/** One step with links: announcements down, losses in, reports up; connections break. Returns: CAUCUS_OK,
 *  CAUCUS_E_MEMORY. */
caucus_status caucus_audit_links_open(caucus_audit_play *run) CAUCUS_MUST_CHECK;
caucus_status caucus_audit_links_step(caucus_audit_play *run) CAUCUS_MUST_CHECK;
void caucus_audit_links_close(caucus_audit_play *run);

#endif
