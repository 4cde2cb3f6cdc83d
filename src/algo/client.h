/* SPDX-License-Identifier: Apache-2.0 */
/* client.h (internal): what the client machines share.
 *
 * A simulation holds a million of these, so each holds only what its plan needs and what is its own: one vector of d
 * sums where no trees are walked, and reports point at it rather than at a copy. What was announced to all and the
 * working space of reports are in one place, which such clients share (borrowed_rows.h).
 *
 * client.c holds what is common: rounds, announcements, when a report is due. The rest is a family's own
 * (machine.h). */
#ifndef CAUCUS_ALGO_CLIENT_H
#define CAUCUS_ALGO_CLIENT_H

#include <caucus/client.h>

#include "algo/tree.h"
#include "num/grid.h"
#include "num/weights.h"
#include "plan/plan.h"

/* What the announcement before the one in force asked for. */
typedef struct caucus_asked {
    caucus_ask ask;
    uint64_t block;
    uint32_t leaf;
} caucus_asked;

/* A row of losses of either width; exactly one pointer is set. */
typedef struct caucus_rows {
    const double *f64;
    const float *f32;
    bool whole; /* rows of d losses although the client evaluates fewer, of which it takes its own (borrowed_rows.h) */
} caucus_rows;

/* Phases: what every client knows alike, and working space. */
typedef struct caucus_common {
    /* The plan has trees or convex losses: */
    caucus_weights weights; /* the mixture being built, or in force */
    int64_t *value;         /* [d]: the leaf's values (a root-only step reports its root in place; see own_value) */
    /* Convex losses: */
    uint64_t *stack_x; /* [T1 + 1][d]: counts of the mixture at each depth of the path */
    uint64_t stack_mass[CAUCUS_TREES_MAX + 1];
    double *x, *x_parent, *slope; /* [d] each: arguments and result of the gradient callback */
    int64_t *here;                /* [d]: one gradient on the grid */
    /* Means of few evaluations: */
    uint64_t *evaluated; /* [d]: how often each expert was evaluated */
} caucus_common;

struct caucus_client {
    const caucus_plan *plan;
    const struct caucus_client_ops *ops; /* of its family */
    void *own; /* what no other family's clients have: a struct of the family's file (machine.h); NULL: nothing */
    caucus_key key;
    bool costs;         /* blocks: the coordinator asks for costs (machine.h) */
    bool started;       /* heard the first announcement */
    bool made;          /* the report now due has been made: its bytes are frozen */
    bool missed;        /* what is asked goes back to what was missed: nothing is due until the next announcement */
    bool walks;         /* phases: the plan has trees or convex losses */
    bool mixed;         /* phases: more than one expert in the mixture: draw one per round */
    bool shares_common; /* `common` is another client's, who hears every announcement first */
    caucus_grid grid;
    caucus_clips clips;
    uint32_t index;
    uint32_t expert;           /* to play in the coming round */
    uint64_t round;            /* observed so far */
    caucus_announcement heard; /* in force; serial + 1 is expected next */
    uint64_t ready;            /* the round after which it can be answered (caucus_client_set_ready) */
    caucus_report report;
    int64_t scalar; /* a report of one value */
    int64_t cost;   /* of what was played, grid units */

    /* Blocks. */
    int64_t *sums;       /* [d]: losses not yet reported as a vector */
    int64_t *block_sums; /* [d]: unit client-block: losses of the current block, before the mean is rounded; none where
                            a block is one round, which is its own mean */
    uint64_t sums_first; /* first block in sums */
    int64_t block_cost;  /* cost of the expert in force in the current block (in block-mean units after its end) */
    const float *borrowed; /* [borrowed_rounds][d]: rows not yet added to sums (borrowed_rows.h) */
    uint64_t borrowed_rounds;
    int64_t *total; /* [d]: where borrowed losses are added too, or NULL (borrowed_rows.h) */

    /* Phases. */
    caucus_common *common; /* NULL where nothing of it is needed */
    int64_t *root;         /* [max(1,T1)][d]: linear losses: sum of each root's slice */
    int64_t *stack;        /* [T1][d]: convex losses, unless increments are reported: V along the path */
    int64_t *own_value;    /* [d]: convex losses with a shortlist: the sums of the vote, which are asked for a second
                              time after every other client that shares `common` has voted; unit client: what is
                              reported; else NULL */
    caucus_leaf leaf;
    uint64_t phase;      /* the phase in play */
    uint64_t play_index; /* draws from the mixture: index and lane of their stream, and how far it has been read */
    uint32_t play_lane;
    uint32_t trees; /* T1 of the plan: the most of any phase */
    uint64_t play_words;
    caucus_gradient gradient;
    void *gradient_user;
};

/* Add rows to acc[d], and the value of one cell, both on the grid and with clips counted (client.c). */
void caucus_rows_add(caucus_client *c, int64_t *acc, caucus_rows rows, uint64_t rounds);
int32_t caucus_rows_loss(caucus_client *c, caucus_rows rows, size_t cell);

/* Whether values read from a saved state are as large as a run can make them (client_state.c). NULL is allowed. */
bool caucus_sums_fit(const int64_t *value, size_t count);

/* Note when `heard` can be answered: after it was heard, or read from a saved state. */
void caucus_client_set_ready(caucus_client *c);

/* phase_client_state.c: of the operations of stoch's clients (machine.h) those about questions and saved states. */
struct caucus_pack;
bool caucus_phase_may_ask(const caucus_client *c, const caucus_announcement *a);
bool caucus_phase_may_jump(const caucus_client *c, const caucus_announcement *a);
void caucus_phase_pack(struct caucus_pack *p, caucus_client *c);
bool caucus_phase_sound(caucus_client *c);
/* Where the values of a leaf are made, NULL where the plan needs no such place (phase_space.c). */
int64_t *caucus_phase_value(const caucus_client *c);
/* phase_gradient.c: convex losses: enter the vertex of the current leaf, leave V of the leaf (or the vertex's
 * increment) in caucus_phase_value(c). */
void caucus_phase_client_convex(caucus_client *c, bool increment);

/* phase_evaluate.c: observe where some of the experts are evaluated; and means of sums of such losses, in place. */
void caucus_phase_observe_some(caucus_client *c, caucus_rows rows, uint64_t rounds);
void caucus_phase_means_of_some(caucus_client *c, int64_t *value);
/* Unit client: whether it counts evaluations, the means of all so far, and whether what was saved of both can be. */
bool caucus_phase_counts(const caucus_plan *plan);
void caucus_phase_means_so_far(const caucus_client *c, int64_t *ret);
bool caucus_phase_counts_sound(const caucus_client *c);

/* phase_space.c: rows of d numbers in c->root and in c->stack. */
size_t caucus_phase_root_rows(const caucus_plan *plan);
size_t caucus_phase_stack_rows(const caucus_plan *plan);
size_t caucus_phase_value_rows(const caucus_plan *plan); /* in c->own_value: 0 or 1 */
/* What clients have in common. new: CAUCUS_OK (NULL where the plan needs none), CAUCUS_E_MEMORY. */
caucus_status caucus_common_new(const caucus_plan *plan, caucus_common **ret);
void caucus_common_free(const caucus_plan *plan, caucus_common *common);

#endif
