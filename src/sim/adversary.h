/* SPDX-License-Identifier: Apache-2.0 */
/* adversary.h: where the losses of a simulation come from.
 * layer: sim
 *
 * An adversary is a function (trial, client, round) -> d losses, fixed before the run: it sees neither the
 * algorithm nor what was played (oblivious). It is random access, so any thread may ask for any rows in any
 * order and every algorithm meets the very same losses: a row depends only on the seed, the adversary and its
 * data, d, T and (trial, client, round). It does not depend on the number of clients nor on epsilon, except
 * in lower-bound-realizable, which is defined by both. Losses are simulated data, never noise of a mechanism:
 * they come from a fast statistical generator (fast_random.h), not from a cryptographic stream.
 *
 *   gaussian       per expert mean, variance ~ U(0,1), once per trial; losses N(mean, variance) clamped to [0,1]
 *   bernoulli      per expert mean ~ U(LO, HI), by default U(0.3, 0.7), once per trial; losses 0 or 1. With a spread
 *                  client i has means of its own, mean + spread*N(0,1), clamped to [0,1], the same in every round
 *   realizable     losses U[0,1); one hidden expert always has loss 0 (the paper's Fed-SVT experiment)
 *   halving        experts in a hidden random order; in each of ceil(log2 d) equal blocks the worse half of those
 *                  still good turns bad (loss 1); no loss after the last block
 *   creeping       experts in a hidden random order turn bad one by one, evenly over the rounds
 *   cross-entropy  y = softmax of Gaussians as above; expert n predicts (1-s)e_n + s/d, s = 0.1; its loss is
 *                  min(CE, C)/C, C = ln(d/s) (the paper's Fed-DP-OPE-Stoch experiment). With `convex`, a function
 *                  of the mixture x: CE(y, (1-s)x + s/d)/C, equal to the former at every vertex
 *   lower-bound-realizable  Theorem 3: no loss until the last floor(ln d/(2 epsilon)) elements in time-major
 *                  order, where all experts but a hidden one have loss 1
 *   lower-bound-oblivious   Theorem 2, non-private part: Bernoulli(1/2), the same for all clients
 *   movielens      loss of genre g for user u: max(0, r(u,g*) - r(u,g)) with r the mean rating, 0 if none;
 *                  every (client, round) is another user: client i has users (i-1)T .. iT-1 of a permutation drawn
 *                  per trial
 *   losses         a NumPy or CSV file, clients x rounds x experts, the same in every trial
 *   shifting       bernoulli with new means in each of S segments of equal length: round t, from 0, is in segment
 *                  floor(t*S/T)
 *   drifting       bernoulli whose means walk: normal steps with standard deviation `drift` a round, reflected at LO
 *                  and HI (adversary_walk.c)
 *   adaptive       the expert of the block before (of `interval` rounds) loses 1, all others nothing; nobody loses in
 *                  the first block. The one kind that is not fixed before the run: the trial tells it who was in force
 *                  (caucus_adversary_tell), so that nobody but a simulated trial can play it
 * Every kind of losses may be cut into S segments for the regret against the best expert of each; only in shifting do
 * they change the losses. */
#ifndef CAUCUS_SIM_ADVERSARY_H
#define CAUCUS_SIM_ADVERSARY_H

#include <caucus/losses.h>
#include <caucus/settings.h>
#include <stdbool.h>
#include <stdint.h>

/* X(NAME, "word", "one line for help") */
#define CAUCUS_ADVERSARY_LIST(X)                                                                                       \
    X(GAUSSIAN, "gaussian", "normal losses; each expert has its own mean and variance")                                \
    X(BERNOULLI, "bernoulli", "losses 0 or 1; each expert has its own mean (means)")                                   \
    X(REALIZABLE, "realizable", "uniform losses; one hidden expert never errs")                                        \
    X(HALVING, "halving", "again and again half of the experts still good turn bad")                                   \
    X(CREEPING, "creeping", "experts turn bad one by one in a hidden order")                                           \
    X(CROSS_ENTROPY, "cross-entropy", "experts predict a class; truths are softmaxes of normal scores")                \
    X(LOWER_BOUND_REALIZABLE, "lower-bound-realizable", "a hidden expert shows only at the very end (theorem 3)")      \
    X(LOWER_BOUND_OBLIVIOUS, "lower-bound-oblivious", "fair coins, the same for all clients (theorem 2)")              \
    X(MOVIELENS, "movielens",                                                                                          \
      "genres for users of MovieLens 1M or 100K, in data/ml-1m or the directory named as data")                        \
    X(LOSSES, "losses", "your own losses, a NumPy or CSV file: clients x rounds x experts")                            \
    X(SHIFTING, "shifting", "bernoulli with new means in every segment (segments)")                                    \
    X(DRIFTING, "drifting", "bernoulli with means that walk (drift)")                                                  \
    X(ADAPTIVE, "adaptive", "the expert of the block before loses, the others do not (simulate only)")
#define CAUCUS_ENUM_ADVERSARY(name, word, help) CAUCUS_ADVERSARY_##name,
CAUCUS_CHOICE_DECLARE(extern, adversary_kind, ADVERSARY, CAUCUS_ADVERSARY_LIST)

/* What is true of an adversary's losses whatever the seed: what a proven bound may assume of them (bound_fit.h). */
typedef struct caucus_adversary_class {
    bool faultless;   /* some expert has loss 0 in every round at every client: realizable, L* = 0 */
    bool iid_rounds;  /* within a trial, a client's rounds are independent draws from one distribution */
    bool iid_clients; /* and those of other clients are further such draws, from the same one */
} caucus_adversary_class;

typedef struct caucus_adversary_settings caucus_adversary_settings;

/** movielens is faultless, since the reference genre falls short of itself by 0; its users are drawn without putting
 *  back, so they are not independent. Of `losses` nothing is known. With a spread, clients have laws of their own. */
caucus_adversary_class caucus_adversary_class_of(const caucus_adversary_settings *settings);

/* Genre setting: compute g* from the ratings themselves, the paper's way. Neighbouring data sets then differ in
 * every loss (docs/PRIVACY.md, "Loss range"), so a front end should warn. */
#define CAUCUS_GENRE_FROM_DATA "from-data"
#define CAUCUS_GENRE_DEFAULT "Drama"

/* More segments than this are nobody's, and bounds what shifting keeps: segments*experts means, at most so many. */
#define CAUCUS_SEGMENTS_MAX (UINT64_C(1) << 20)
#define CAUCUS_SEGMENT_MEANS_MAX (UINT64_C(1) << 24)
#define CAUCUS_MEAN_LO 0.3
#define CAUCUS_MEAN_HI 0.7

struct caucus_adversary_settings {
    caucus_adversary_kind kind;
    uint64_t seed;    /* ignored by `losses` */
    uint32_t clients; /* m, 1 .. 2^24. movielens: 0 = 10; losses: 0 = as many as the file has, fewer = its first ones */
    uint32_t experts; /* d, 2 .. 2^20. movielens, losses: 0 = as many as the data has, no other number is accepted */
    uint64_t rounds;  /* T, 1 .. 2^30. movielens: 0 = users/m, the most there can be; losses: as clients */
    double epsilon;   /* lower-bound-realizable only: above 0 */
    const char *data; /* movielens: directory in ml-1m or ml-100k format; NULL = caucus_movielens_find() */
    const char *genre;  /* movielens: public g*, NULL = "Drama"; or "from-data" */
    const char *losses; /* losses: path of the .npy or .csv file */
    const caucus_loss_array
        *array;              /* losses: or where they lie in memory, until the adversary is closed; NULL: a file */
    bool convex;             /* cross-entropy only: losses are used through value and gradient */
    uint64_t segments;       /* S, 1 .. min(T, 2^20); 0 = 1. All but convex losses, which have one */
    bool has_means;          /* bernoulli, shifting, drifting: means are drawn from the next two; else from 0.3, 0.7 */
    double mean_lo, mean_hi; /* 0 <= lo <= hi <= 1 */
    double spread;           /* bernoulli, shifting, drifting: between clients, 0 .. 1 */
    double drift;            /* drifting: of a mean in one round, 0 .. 1 */
    /* Own pace: losses a device sees in a slot, on average, and how far rates lie apart (activity.h); rounds are then
     * slots of CAUCUS_SLOT_ROWS rows. */
    double activity_mean, activity_spread;
};

/* Immutable after opening; any number of threads may use one. */
typedef struct caucus_adversary caucus_adversary;
/* The constants of one trial (means, permutation, hidden expert); immutable too. */
typedef struct caucus_adversary_trial caucus_adversary_trial;

/** Check the settings and load the data, once.
 *  In:      settings   borrowed for the call.
 *  Out:     *ret       close with caucus_adversary_close; written only on success.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE, CAUCUS_E_INFEASIBLE (lower-bound-realizable: says what is feasible),
 *           CAUCUS_E_PATH, CAUCUS_E_FORMAT (file, line and what is expected), CAUCUS_E_MEMORY. */
caucus_status caucus_adversary_open(const caucus_adversary_settings *settings, caucus_adversary **ret,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_adversary_close(caucus_adversary *adversary);

/** Is the data still there as it was opened? Asked after losses were used.
 *  Returns: CAUCUS_OK, CAUCUS_E_CHANGED (a file became shorter: losses were zeros that nobody put there). */
caucus_status caucus_adversary_whole(const caucus_adversary *adversary, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Clients, experts and rounds after opening (zeros resolved). Any pointer may be NULL. */
void caucus_adversary_shape(const caucus_adversary *adversary, uint32_t *ret_clients, uint32_t *ret_experts,
                            uint64_t *ret_rounds);

/** S, and the round with which segment `segment` (from 0) begins, the first that is not before segment*T/S; that of
 *  segment S is T. */
uint64_t caucus_adversary_segments(const caucus_adversary *adversary);
uint64_t caucus_adversary_segment_start(const caucus_adversary *adversary, uint64_t segment);

/** Whether losses follow what was announced: their trial has to be told. */
bool caucus_adversary_follows(const caucus_adversary *adversary);

/** Whether a kind draws its losses from means, and so takes means and a spread. */
bool caucus_adversary_kind_has_means(caucus_adversary_kind kind);

/** The public range of a loss: 0,1; movielens 0,5 (0 stands for "no rating"). For `losses`, 0,1 too: what the file
 *  really holds is for its owner to know and to state. */
void caucus_adversary_range(const caucus_adversary *adversary, double *ret_lo, double *ret_hi);

/** The name of expert n, from 0 (movielens: its genre), or NULL if experts have no names. */
const char *caucus_adversary_expert_name(const caucus_adversary *adversary, uint32_t expert);

/** Let labels and data agree. *names NULL: it becomes what the header of a CSV file of losses calls the experts, which
 *  lives as long as the adversary (and stays NULL without one). Otherwise: there is a label for each expert,
 *  and a header has them in their order.
 *  Returns: CAUCUS_OK, CAUCUS_E_CONFLICT (field "names"; both counts, or the column and the label, and what to do). */
caucus_status caucus_adversary_match_names(const caucus_adversary *adversary, const char **names,
                                           caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** movielens: g*, as an expert number from 0; UINT32_MAX for other adversaries. */
uint32_t caucus_adversary_best_genre(const caucus_adversary *adversary);

/** Whether losses are doubles at their source (a float64 file): then use fill64, or they are rounded twice. */
bool caucus_adversary_is_wide(const caucus_adversary *adversary);

/** Draw the constants of a trial.
 *  In:      trial  any number; the same number gives the same trial. adversary must outlive *ret.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY.
 *  Cost:    O(d) time and memory; movielens: O(users). */
caucus_status caucus_adversary_trial_new(const caucus_adversary *adversary, uint32_t trial,
                                         caucus_adversary_trial **ret) CAUCUS_MUST_CHECK;
void caucus_adversary_trial_free(caucus_adversary_trial *trial);

/** Of a kind that follows: `expert` was in force in the block before; rows that are asked for from now on are of the
 *  block that begins. UINT32_MAX: there was none. Not while another thread asks for rows. */
void caucus_adversary_tell(caucus_adversary_trial *trial, uint32_t expert);

/** Losses of one client in rounds first .. first+count-1.
 *  In:      client  1 .. m; first from 0, first + count <= T (assert).
 *  Out:     ret     [count][d], row-major.
 *  Cost:    O(count*d), no allocation; longer runs of rounds are cheaper per loss. Thread-safe. */
void caucus_adversary_fill(const caucus_adversary_trial *trial, uint32_t client, uint64_t first, uint64_t count,
                           float *ret);
/** The same as doubles: exact for float64 files, else the float's value. */
void caucus_adversary_fill64(const caucus_adversary_trial *trial, uint32_t client, uint64_t first, uint64_t count,
                             double *ret);

/** Convex losses (cross-entropy with `convex` set, assert): value and gradient at the mixture x.
 *  In:      round from 0; x  d weights that sum to 1.
 *  Out:     ret  d partial derivatives, before any clamp.
 *  Cost:    O(d), no allocation. Thread-safe. */
double caucus_adversary_value(const caucus_adversary_trial *trial, uint32_t client, uint64_t round, const double *x);
void caucus_adversary_gradient(const caucus_adversary_trial *trial, uint32_t client, uint64_t round, const double *x,
                               double *ret);

/** Public clamps for convex losses, for settings.lipschitz and settings.smoothness (see convex.h for the choice).
 *  Privacy never depends on their being true: gradients are clamped to them. */
void caucus_adversary_smoothness(const caucus_adversary *adversary, double *ret_alpha, double *ret_beta);

#endif
