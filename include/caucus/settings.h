/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h: what a person asks for. A plan (plan.h) is what calibration makes of it.
 * layer: plan
 *
 * The words are the same everywhere: flags, YAML, help, plan, ledger, audit. One X-macro per
 * choice gives the enum, the parser and the list in the error message. */
#ifndef CAUCUS_SETTINGS_H
#define CAUCUS_SETTINGS_H

#include <caucus/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is played. As all lists here: X(NAME, "word", "one line for help"). */
#define CAUCUS_ALGORITHM_LIST(X)                                                                                       \
    X(SVT, "svt", "Fed-SVT: one good expert exists; switch only when it has cost too much")                            \
    X(STOCH, "stoch", "Fed-DP-OPE-Stoch: losses drawn from one distribution; doubling phases")                         \
    X(HEDGE, "hedge", "Fed-Hedge: any losses fixed in advance; a fresh draw every block")                              \
    X(SPARSE_VECTOR, "sparse-vector", "svt for one client alone (baseline)")                                           \
    X(LIMITED_UPDATES, "limited-updates", "stoch for one client alone (baseline)")                                     \
    X(LEADER, "leader", "follow the leader: no privacy (reference)")

/* Whom the clients trust with what they send. */
#define CAUCUS_TRUST_LIST(X)                                                                                           \
    X(COORDINATOR, "coordinator", "the coordinator adds the noise and sees each client's sums")                        \
    X(NOBODY, "nobody", "each client adds noise: every message is private by itself")                                  \
    X(PAPER_LOCAL, "paper-local", "the paper's local noise, for reproduction: messages are NOT epsilon-private")

/* How noise is chosen. */
#define CAUCUS_CALIBRATION_LIST(X)                                                                                     \
    X(TIGHT, "tight", "the smallest noise we can prove")                                                               \
    X(PAPER, "paper", "the paper's constants where feasible, with what they really guarantee")

/* What svt sends. */
#define CAUCUS_PROTOCOL_LIST(X)                                                                                        \
    X(TWO_STEP, "two-step", "one number per block; vectors only when a check fires")                                   \
    X(PAPER, "paper", "a vector of d numbers every block (simulator only)")

/* What one change of the data is. */
#define CAUCUS_UNIT_LIST(X)                                                                                            \
    X(EVENT, "event", "one loss of one client")                                                                        \
    X(CLIENT_BLOCK, "client-block", "all losses one client sees in one block")                                         \
    X(CLIENT, "client", "everything one client contributes to the run (stoch)")

/* How stoch selects where the coordinator is trusted. */
#define CAUCUS_SELECT_LIST(X)                                                                                          \
    X(AUTO, "auto", "flip, or exponential where delta > 0 and its bound is smaller; calibration paper: noisy-min")     \
    X(FLIP, "flip", "permute-and-flip")                                                                                \
    X(EXPONENTIAL, "exponential", "exponential mechanism")                                                             \
    X(NOISY_MIN, "noisy-min", "smallest score after Laplace noise")

/* What stoch sends where nobody is trusted. */
#define CAUCUS_MESSAGE_LIST(X)                                                                                         \
    X(AUTO, "auto", "vote, or shortlist where epsilon >= 3 or d >= 500; knorm where trees are built")                  \
    X(VOTE, "vote", "one private vote per phase")                                                                      \
    X(SHORTLIST, "shortlist", "a vote, then noisy sums of the eight experts most voted for")                           \
    X(KNORM, "knorm", "noisy sums of all experts, l-infinity K-norm noise")                                            \
    X(LAPLACE_D, "laplace-d", "noisy sums of all experts, Laplace noise for d coordinates")                            \
    X(GAUSS, "gauss", "noisy sums of all experts, discrete Gaussian noise (needs delta > 0)")

/* How a loss depends on what is played. Only stoch knows CONVEX. */
#define CAUCUS_LOSS_SHAPE_LIST(X)                                                                                      \
    X(LINEAR, "linear", "each expert has a loss; playing a mixture costs its average")                                 \
    X(CONVEX, "convex", "a convex function of the mixture, known through its gradient")

/* Who says when a loss is seen and a phase is over. */
#define CAUCUS_PACE_LIST(X)                                                                                            \
    X(TOGETHER, "together", "all clients play the same rounds, in step")                                               \
    X(OWN, "own", "every device at its own pace; phases by the clock (stoch)")

#define CAUCUS_CHOICE_ENUM(type, TYPE, LIST) CAUCUS_CHOICE_DECLARE(CAUCUS_API, type, TYPE, LIST)
/* `linkage`: CAUCUS_API, or extern for a list that is not part of the installed interface. */
#define CAUCUS_CHOICE_DECLARE(linkage, type, TYPE, LIST)                                                               \
    typedef enum caucus_##type{LIST(CAUCUS_ENUM_##TYPE) CAUCUS_##TYPE##_COUNT} caucus_##type;                          \
    /** The word of a value ("?" if out of range), and the value of a word (CAUCUS_E_RANGE lists the words). */        \
    linkage const char *caucus_##type##_word(caucus_##type value);                                                     \
    linkage const char *caucus_##type##_help(caucus_##type value);                                                     \
    linkage caucus_status caucus_##type##_parse(const char *word, caucus_##type *ret, caucus_error *ret_error)         \
        CAUCUS_MUST_CHECK;
#define CAUCUS_ENUM_ALGORITHM(name, word, help) CAUCUS_ALGORITHM_##name,
#define CAUCUS_ENUM_TRUST(name, word, help) CAUCUS_TRUST_##name,
#define CAUCUS_ENUM_CALIBRATION(name, word, help) CAUCUS_CALIBRATION_##name,
#define CAUCUS_ENUM_PROTOCOL(name, word, help) CAUCUS_PROTOCOL_##name,
#define CAUCUS_ENUM_UNIT(name, word, help) CAUCUS_UNIT_##name,
#define CAUCUS_ENUM_SELECT(name, word, help) CAUCUS_SELECT_##name,
#define CAUCUS_ENUM_MESSAGE(name, word, help) CAUCUS_MESSAGE_##name,
#define CAUCUS_ENUM_LOSS_SHAPE(name, word, help) CAUCUS_LOSS_SHAPE_##name,
#define CAUCUS_ENUM_PACE(name, word, help) CAUCUS_PACE_##name,
CAUCUS_CHOICE_ENUM(algorithm, ALGORITHM, CAUCUS_ALGORITHM_LIST)
CAUCUS_CHOICE_ENUM(trust, TRUST, CAUCUS_TRUST_LIST)
CAUCUS_CHOICE_ENUM(calibration, CALIBRATION, CAUCUS_CALIBRATION_LIST)
CAUCUS_CHOICE_ENUM(protocol, PROTOCOL, CAUCUS_PROTOCOL_LIST)
CAUCUS_CHOICE_ENUM(unit, UNIT, CAUCUS_UNIT_LIST)
CAUCUS_CHOICE_ENUM(select, SELECT, CAUCUS_SELECT_LIST)
CAUCUS_CHOICE_ENUM(message, MESSAGE, CAUCUS_MESSAGE_LIST)
CAUCUS_CHOICE_ENUM(loss_shape, LOSS_SHAPE, CAUCUS_LOSS_SHAPE_LIST)
CAUCUS_CHOICE_ENUM(pace, PACE, CAUCUS_PACE_LIST)

/** caucus_settings.interval: of hedge, the one with the smallest proved bound; a plan holds the number. */
#define CAUCUS_INTERVAL_AUTO 0
/** caucus_settings.rounds: a run that does not end. A number that no run comes to, so that what is counted in rounds,
 *  blocks and phases goes on as in any other. */
#define CAUCUS_ROUNDS_ENDLESS ((uint64_t)1 << 62)
/** caucus_settings.nominal_rounds, unless something else is said. */
#define CAUCUS_NOMINAL_ROUNDS 4096
/** caucus_settings.trees: as many as the losses need. */
#define CAUCUS_TREES_AUTO (-1)
/** The most trees of a phase. */
#define CAUCUS_TREES_MAX 7
/** caucus_settings.longest_phase: the length with the smallest bound. */
#define CAUCUS_PHASE_AUTO UINT64_MAX
/** caucus_settings.grace: a sixteenth of phase_time, a second at least where that is less than a slot. */
#define CAUCUS_GRACE_AUTO UINT32_MAX
/** caucus_settings.growth: the one with the smallest proved bound; a plan holds the number. */
#define CAUCUS_GROWTH_AUTO 0
/** The most bytes of all names together, commas included. */
#define CAUCUS_NAMES_BYTES (1u << 20)
/** The most experts on a shortlist. */
#define CAUCUS_SHORTLIST 8

/* What is asked for. Set up by caucus_settings_init(), then changed field by field: the struct grows at its end, and
 * its size says how much of it the caller knows. A library that knows more gives the rest its defaults; one that knows
 * less refuses it, since it cannot do what it does not understand. */
typedef struct caucus_settings {
    size_t size;                    /* of this struct, as the caller knows it; set by caucus_settings_init() */
    caucus_algorithm algorithm;     /* svt */
    caucus_trust trust;             /* mandatory: caucus_settings_init() leaves it at CAUCUS_TRUST_COUNT */
    caucus_calibration calibration; /* tight */
    caucus_protocol protocol;       /* two-step (svt only) */
    caucus_unit unit;               /* event */
    caucus_select select;           /* auto (stoch, trust coordinator) */
    caucus_message message;         /* auto (stoch, trust nobody) */
    caucus_loss_shape loss_shape;   /* linear */
    uint32_t clients;               /* m, 1 .. 2^24 (10). The single-player baselines are planned with 1 */
    uint32_t experts;               /* d, 2 .. 2^20 (100) */
    uint64_t rounds;                /* T, 1 .. 2^30, or CAUCUS_ROUNDS_ENDLESS (512) */
    uint64_t interval;              /* N, rounds per block, 1 .. 2^30 (1), or CAUCUS_INTERVAL_AUTO; svt and hedge */
    double epsilon;                 /* above 0, at most 1000, or INFINITY (hedge and leader only) (1) */
    double delta;                   /* 0 (pure) or in (0, 0.1) (0) */
    double rho;                     /* failure probability of the regret bound, (0, 0.5] (0.05); utility only */
    double lstar;      /* L*: a public bound on the best expert's total loss per client, loss units (0); svt only */
    double lo, hi;     /* public range of a loss, finite, lo < hi (0, 1) */
    int trees;         /* T1 for stoch: CAUCUS_TREES_AUTO or 0 .. 7 (auto: 0 for linear losses) */
    double lipschitz;  /* alpha: gradients are clamped to [-alpha, alpha] per coordinate (1); convex only */
    double smoothness; /* beta, in the units of the loss (0); convex only. Never trusted: enforced by clamps */
    bool front_load;   /* svt: spend more on the first switches (false) */
    bool past_phases;  /* stoch, trust coordinator, linear: weigh in earlier phases (false) */
    uint32_t grid;     /* G, steps of the loss grid: 0 (choose 2^20, or 2^16 if sums need it) or 1 .. 2^20 (0) */
    uint64_t longest_phase; /* W, rounds: phases of stoch double up to it; 0 (no longest), CAUCUS_PHASE_AUTO, or
                               1 .. 2^30 (0) */
    uint64_t first_phase;   /* rounds of the first phase, where there is a longest: 1 .. 2^30 (1) */
    double changes; /* how often per 1,000 rounds the losses may change their distribution, a public guess, where
                               there is a longest phase: above 0, at most 1000 (1) */
    uint64_t renew; /* svt and hedge: rounds after which they begin again on new losses, a multiple of interval;
                               0: never (0) */
    /* Public words for people, part of the plan and of its hash; they change nothing that is computed. Borrowed for the
     * calls that take settings; a plan's own settings point to the plan's copies. A label is 1 to 64 bytes of UTF-8
     * without control characters, commas and quotes, and without a blank at either end. */
    const char *names; /* `experts` labels, all different, separated by commas; NULL: experts have numbers (NULL) */
    const char *federation; /* a label: what the run is called; NULL: nothing (NULL) */
    /* At their own pace: stoch; rounds endless, or of unit client a number of slots. */
    caucus_pace pace;    /* together */
    uint32_t phase_time; /* seconds of a slot of a device's clock, and from one decision to the next, 1 .. 366 days
                            (86400) */
    uint32_t grace;      /* seconds from the end of a slot to the decision, below phase_time, or CAUCUS_GRACE_AUTO */
    uint64_t most;       /* losses that an item counts, the first ones, 1 .. 2^20 (64) */
    uint64_t nominal_rounds; /* svt without an end that does not renew itself: the length for which checks and
                                selections share epsilon best, and for which the bound is said; the run goes on after
                                it; a block or more, at most 2^30 (CAUCUS_NOMINAL_ROUNDS) */
    uint32_t evaluate; /* k, how many experts a client of stoch evaluates in a round, trust coordinator: 1 .. d; d is
                               the same as 0: all (0) */
    uint64_t growth;   /* g, unit client: phases of stoch end after 1, g, g^2, .. rounds: 2 .. 2^20, or
                               CAUCUS_GROWTH_AUTO (auto) */
    double show_loss;  /* E0, what of epsilon pays for a private look at the loss of the expert in force, stoch with
                               trust coordinator: 0 (nothing is shown) or above 0 and below epsilon (0) */
    uint64_t start;    /* the slot of the devices' clocks, unix time / phase_time, with which a run of unit client at
                               their own pace begins, 1 .. 2^40; 1 for slots that are counted from 1, as simulated ones
                               are (1) */
} caucus_settings;

/** The defaults above, and the size. */
CAUCUS_API void caucus_settings_init(caucus_settings *ret);

/** Check ranges and contradictions that need no calibration. Baselines get clients = 1 silently, leader epsilon =
 *  INFINITY, delta = 0, unit event, calibration tight (it has no privacy to ask about). Unchanged on failure, and never
 *  written beyond its size.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE ("size": not set up by caucus_settings_init(), or by that of a later version),
 *           CAUCUS_E_INFEASIBLE, CAUCUS_E_OVERFLOW; the error names the field. */
CAUCUS_API caucus_status caucus_settings_check(caucus_settings *settings, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
