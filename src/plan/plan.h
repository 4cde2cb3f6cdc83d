/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h (internal): what a plan is made of. Outside this tree a plan is opaque (<caucus/plan.h>): its parts change
 * with every algorithm that is added.
 * layer: plan
 *
 * Doubles in a plan are for people (bounds, explanations); mechanisms read only integers. */
#ifndef CAUCUS_PLAN_PLAN_H
#define CAUCUS_PLAN_PLAN_H

#include <caucus/plan.h>
#include <caucus/threshold.h>

#include "num/label.h"

/* The settings of a run that are one of several words, for whoever treats them alike: X(type) for each. */
#define CAUCUS_EACH_CHOICE(X)                                                                                          \
    X(algorithm)                                                                                                       \
    X(trust)                                                                                                           \
    X(calibration)                                                                                                     \
    X(protocol)                                                                                                        \
    X(unit)                                                                                                            \
    X(select)                                                                                                          \
    X(message)

/* A static function choice_word(index) with the words of such a choice, or of any other that has words. */
#define CAUCUS_WORDS_BY_INDEX(choice)                                                                                  \
    static const char *choice##_word(unsigned i) {                                                                     \
        return caucus_##choice##_word((caucus_##choice)i);                                                             \
    }

/* Fed-SVT (docs/PRIVACY.md, "Fed-SVT"). All costs in grid units: a loss of 1 is `grid`. Where the run renews itself,
 * checks, switches, thresholds and rates are those of one cycle (caucus_settings_cycle). */
typedef struct caucus_svt_plan {
    uint64_t blocks;   /* ceil(T/N) */
    uint64_t checks;   /* M: a check after each block of a cycle but the last, where nothing is left to decide */
    uint32_t switches; /* kappa: selections allowed, 0 if checks = 0 */
    caucus_noise threshold_noise; /* once per epoch */
    caucus_noise check_noise;     /* once per check */
    int64_t *threshold;           /* [switches]: L of epoch k */
    caucus_rational *select_rate; /* [switches]: P(y) ~ e^(-rate*score), scores in grid units: eta_k/(2*grid) */
    int64_t score_floor;          /* m*Lstar: score = max(cum, floor) */
    double margin;                /* g, for people */
    double epsilon_threshold;     /* eps_AT, for people */
} caucus_svt_plan;

/* One phase p >= 2 of Fed-DP-OPE-Stoch: learn from the losses of phase p-1, then play. */
typedef struct caucus_stoch_phase {
    uint64_t first;   /* first round it plays, counted from 1: 2^(p-1) where phases only double */
    uint64_t length;  /* rounds it plays */
    uint64_t samples; /* n_p losses of the phase before, per client: 2^(p-2) where phases only double */
    uint32_t trees;   /* T1; 0 = one root-only step */
    uint64_t batch;   /* b: samples of a root; a right vertex at depth h takes b >> h */
    /* Index j: the tree, 1..trees, or 0 for the root-only step. */
    caucus_rational
        select_rate[CAUCUS_TREES_MAX + 1]; /* trust coordinator: rate on summed V (flip, exponential, noisy-min) */
    caucus_noise
        leaf_noise[CAUCUS_TREES_MAX + 1]; /* trust paper-local: added to every coordinate of a client's V at a leaf */
    /* Index h: depth of a vertex, 0 = root. */
    caucus_noise
        vertex_noise[CAUCUS_TREES_MAX + 1]; /* trust nobody (knorm, laplace-d, gauss): added to a vertex's increment */
    int64_t
        clamp[CAUCUS_TREES_MAX + 1]; /* C_h, grid units: a gradient difference is clamped to [-C_h, C_h]; [0] unused */
    caucus_rational select_budget;   /* evaluate: what one selection costs a record; its rate follows from what was
                                        counted (evaluate.h) */
    uint64_t least;                  /* evaluate: the fewest evaluations of an expert from which one is selected */
    caucus_rational vote_rate;       /* trust nobody (vote, shortlist): permute-and-flip on a client's own V */
    caucus_noise shortlist_noise;    /* trust nobody (shortlist): K-norm noise on CAUCUS_SHORTLIST sums */
    double error;                    /* B_p, excess loss per round in expectation, for people; NAN if none is proved */
} caucus_stoch_phase;

/* Phases that a choice may look back to. */
#define CAUCUS_PAST_PHASES 40

/* With a longest phase W all phases from some number on are alike: one entry of `phase` stands for them. Ask stoch.h
 * about phase p, not the array. */
typedef struct caucus_stoch_plan {
    uint64_t phases;           /* P: floor(log2 T) + 1 where phases only double; phase 1 plays a uniform expert */
    uint32_t described;        /* entries of `phase`: phases 2 .. described + 1; P - 1 without a longest phase */
    caucus_stoch_phase *phase; /* [described]; the last one also stands for all later phases */
    caucus_select select;      /* resolved: never AUTO */
    caucus_message message;    /* resolved: never AUTO */
    int64_t gradient_lo, gradient_hi; /* a quantised gradient coordinate: 0..G (linear) or -G..G (convex) */
    uint32_t past;                    /* entries of past_weights: 1 without past_phases */
    /* w_a: score of phase p = sum_a w_a * S_(p-1-a); {1} without past_phases */
    uint64_t past_weights[CAUCUS_PAST_PHASES];
    caucus_noise show_noise; /* show_loss: on the sum of the expert in force, one of every decision (look.h) */
    int64_t show_reach;      /* grid steps that it exceeds with probability 0.05 at most */
} caucus_stoch_plan;

/* Fed-Hedge and leader. */
typedef struct caucus_hedge_plan {
    uint64_t blocks;      /* ceil(T/N) */
    caucus_rational rate; /* P(y) ~ e^(-rate*cum(y)), cum in grid units: e_H/(m*grid) */
    double learning_rate; /* e_H, for people */
} caucus_hedge_plan;

/* What is guaranteed, recomputed by the accountant from the integers above. */
typedef struct caucus_guarantee {
    double epsilon_choices;  /* for everything announced; INFINITY if not private */
    double epsilon_messages; /* for everything a client sends; NAN if the coordinator is trusted with it */
    double delta;            /* of both; 0 = pure */
    double rho_zcdp;         /* zCDP part, 0 if accounted purely */
    char note[320];          /* one plain sentence for people: whom it protects from what */
} caucus_guarantee;

struct caucus_plan {
    caucus_settings settings; /* as checked: grid resolved, clients = 1 for the baselines */
    int64_t grid;             /* G */
    caucus_svt_plan svt;      /* svt, sparse-vector */
    caucus_stoch_plan stoch;  /* stoch, limited-updates */
    caucus_hedge_plan hedge;  /* hedge, leader */
    void *part;               /* of any other family: a struct of its own file, `part_bytes` long (family.h) */
    caucus_guarantee guarantee;
    caucus_bound_kind bound_kind;
    double bound;                         /* regret per client, loss units, capped at T*(hi-lo); meaningless if NONE */
    double bound_uncapped;                /* the formula's value, to tell a vacuous bound */
    char *names, *federation;             /* copies, which the settings point to; NULL: none */
    char **label;                         /* [experts] of the names, in one piece of memory; NULL: none */
    uint8_t hash[CAUCUS_PLAN_HASH_BYTES]; /* of the canonical text (plan_text.h) */
    char hash_text[2 * CAUCUS_PLAN_HASH_BYTES + 1];
};

/** What should not be read past, a whole line each: an epsilon above 10, of the choices or of what clients send;
 *  trust paper-local; a delta above 1/clients. They are said first, wherever a plan is shown, and not refused.
 *  Returns: how many of ret[] are filled. */
#define CAUCUS_PLAN_WEAKNESSES 4
#define CAUCUS_PLAN_WEAKNESS_BYTES 96
#define CAUCUS_PLAN_WEAK_EPSILON 10
size_t caucus_plan_weaknesses(const caucus_plan *plan, char ret[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES]);

/** "distilled (7)", or "7" where experts have no names: how people are told of an expert. */
typedef struct caucus_expert_words {
    char text[CAUCUS_LABEL_MAX + 16];
} caucus_expert_words;
caucus_expert_words caucus_plan_expert_words(const caucus_plan *plan, uint32_t expert);
/** Label number `expert` of a list with commas, which has as many; empty if there is no list (NULL). */
caucus_expert_words caucus_names_label(const char *names, uint32_t expert);

/** Copy names and federation of checked settings into the plan, and point its settings to the copies.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY. */
caucus_status caucus_plan_take_names(caucus_plan *plan, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Check both words of settings. Returns: CAUCUS_OK, CAUCUS_E_FORMAT, CAUCUS_E_CONFLICT (as many as experts),
 *  CAUCUS_E_MEMORY. */
caucus_status caucus_settings_check_names(const caucus_settings *settings, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Check `evaluate`; all of them is 0 from then on. Returns: CAUCUS_OK, CAUCUS_E_RANGE, CAUCUS_E_INFEASIBLE. */
caucus_status caucus_settings_check_evaluate(caucus_settings *settings, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Check unit client and `growth`. Returns: CAUCUS_OK, CAUCUS_E_RANGE, CAUCUS_E_INFEASIBLE. */
caucus_status caucus_settings_check_client(const caucus_settings *settings, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Whether what a client reports are rounded means, of which one record moves each value by at most G. */
static inline bool caucus_settings_means(const caucus_settings *settings) {
    return settings->unit != CAUCUS_UNIT_EVENT;
}

/** Check `show_loss`. Returns: CAUCUS_OK, CAUCUS_E_RANGE, CAUCUS_E_INFEASIBLE. */
caucus_status caucus_settings_check_look(const caucus_settings *settings, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** The settings of a caller, whose struct may be an older and shorter one: the rest gets its defaults.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE ("size"). */
caucus_status caucus_settings_take(const caucus_settings *given, caucus_settings *ret,
                                   caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Rounds of a cycle: from one beginning of the algorithm to the next (settings.renew); the whole run without renewal.
 *  And how many cycles a run has; the last one may be shorter. */
uint64_t caucus_settings_blocks(const caucus_settings *settings); /* of svt and hedge: ceil(T/N), or endless */
uint64_t caucus_settings_cycle(const caucus_settings *settings);
uint64_t caucus_settings_cycles(const caucus_settings *settings);
/** Whether thresholds grow with the number of checks: svt without an end that does not renew itself. */
bool caucus_settings_grow(const caucus_settings *settings);
/** How many blocks of such a run can be added up: the most n with m*n*N*G below 2^62 (of means m*n*G). After them
 *  nothing more is decided and the expert stays in force. 0: not even one. */
uint64_t caucus_settings_most_blocks(const caucus_settings *settings, int64_t grid);
/** The most rounds whose losses one sum of a run holds: those of a cycle, or of the longest phase; where thresholds
 *  grow those that a plan must at least have room for; unit client at own pace all losses that count. */
uint64_t caucus_settings_span(const caucus_settings *settings);

/** Recompute the guarantee from the plan's integers alone (the accountant). A plan from caucus_plan_new always
 *  passes; a plan altered by hand or read from a file is refused here.
 *  Returns: CAUCUS_OK, CAUCUS_E_INFEASIBLE (exceeds settings.epsilon or delta, and calibration is not `paper`). */
caucus_status caucus_plan_account(const caucus_plan *plan, caucus_guarantee *ret,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
