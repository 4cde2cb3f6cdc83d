/* SPDX-License-Identifier: Apache-2.0 */
/* specs.c: the experiments with curves over rounds, as data. See study.h.
 * layer: study
 *
 * The paper gives m, T, d, epsilon and N, but neither rho, kappa nor how losses were drawn: its figures can be
 * reproduced in shape only. rho = 0.05 here. Losses: panels.c says for each figure what they are.
 *
 * Ratings reach 5. The paper does not scale them, so its epsilon of 10 is one of 50 for losses in [0,1]: asking for 50
 * with the range 0 to 5 is the paper's experiment, noise for noise. */
#include "study/parts.h"

#define SVT CAUCUS_ALGORITHM_SVT
#define SPARSE CAUCUS_ALGORITHM_SPARSE_VECTOR
#define STOCH CAUCUS_ALGORITHM_STOCH
#define LIMITED CAUCUS_ALGORITHM_LIMITED_UPDATES
#define COORDINATOR CAUCUS_TRUST_COORDINATOR
#define LOCAL CAUCUS_TRUST_PAPER_LOCAL
#define TIGHT CAUCUS_CALIBRATION_TIGHT
#define PAPER CAUCUS_CALIBRATION_PAPER
#define TWO_STEP CAUCUS_PROTOCOL_TWO_STEP
#define SMALL(name) CAUCUS_STROKE_##name

/* Figure 1 */
static const caucus_series_spec stoch_series[] = {
    {"stoch", "stoch, 10 clients", STOCH, COORDINATOR, TIGHT, TWO_STEP, 1, SMALL(FIRST), false},
    {"stoch-nobody", "stoch, 10 clients, trust nobody", STOCH, CAUCUS_TRUST_NOBODY, TIGHT, TWO_STEP, 1, SMALL(HIDDEN),
     false},
    {"limited-updates", "limited-updates, 1 client", LIMITED, COORDINATOR, TIGHT, TWO_STEP, 1, SMALL(RIVAL), false},
    {"stoch-paper", "stoch, 10 clients", STOCH, COORDINATOR, PAPER, TWO_STEP, 1, SMALL(HIDDEN), false},
    {"limited-updates-paper", "limited-updates, 1 client", LIMITED, COORDINATOR, PAPER, TWO_STEP, 1, SMALL(HIDDEN),
     false},
    {"stoch-paper-local", "stoch, 10 clients, trust paper-local", STOCH, LOCAL, PAPER, TWO_STEP, 1, SMALL(HIDDEN),
     false},
    {"stoch-paper-equal", "stoch, 10 clients, equal guarantee", STOCH, COORDINATOR, PAPER, TWO_STEP, 1, SMALL(HIDDEN),
     true},
    {"stoch-paper-local-equal", "stoch, paper-local, equal guarantee", STOCH, LOCAL, PAPER, TWO_STEP, 1, SMALL(HIDDEN),
     true},
    {NULL, NULL, 0, 0, 0, 0, 0, 0, false}};

/* Figure 1 with cross-entropy, in both readings */
static const caucus_series_spec entropy_series[] = {{"stoch-paper-local", "stoch, 10 clients, trust paper-local", STOCH,
                                                     LOCAL, PAPER, TWO_STEP, 1, SMALL(HIDDEN), false},
                                                    {"limited-updates-paper", "limited-updates, 1 client", LIMITED,
                                                     COORDINATOR, PAPER, TWO_STEP, 1, SMALL(HIDDEN), false},
                                                    {NULL, NULL, 0, 0, 0, 0, 0, 0, false}};

/* Figure 2 and MovieLens */
static const caucus_series_spec svt_series[] = {
    {"svt-1", "svt, N = 1", SVT, COORDINATOR, TIGHT, TWO_STEP, 1, SMALL(FIRST), false},
    {"svt-30", "svt, N = 30", SVT, COORDINATOR, TIGHT, TWO_STEP, 30, SMALL(SECOND), false},
    {"svt-50", "svt, N = 50", SVT, COORDINATOR, TIGHT, TWO_STEP, 50, SMALL(THIRD), false},
    {"sparse-vector", "sparse-vector, 1 client", SPARSE, COORDINATOR, TIGHT, TWO_STEP, 1, SMALL(RIVAL), false},
    {"svt-1-paper", "svt, N = 1", SVT, COORDINATOR, PAPER, TWO_STEP, 1, SMALL(HIDDEN), false},
    {"svt-30-paper", "svt, N = 30", SVT, COORDINATOR, PAPER, TWO_STEP, 30, SMALL(HIDDEN), false},
    {"svt-50-paper", "svt, N = 50", SVT, COORDINATOR, PAPER, TWO_STEP, 50, SMALL(HIDDEN), false},
    {"sparse-vector-paper", "sparse-vector, 1 client", SPARSE, COORDINATOR, PAPER, TWO_STEP, 1, SMALL(HIDDEN), false},
    {"svt-1-paper-protocol", "svt, N = 1, the paper's messages", SVT, COORDINATOR, TIGHT, CAUCUS_PROTOCOL_PAPER, 1,
     SMALL(HIDDEN), false},
    {"svt-1-paper-equal", "svt, N = 1, equal guarantee", SVT, COORDINATOR, PAPER, TWO_STEP, 1, SMALL(HIDDEN), true},
    {"svt-30-paper-equal", "svt, N = 30, equal guarantee", SVT, COORDINATOR, PAPER, TWO_STEP, 30, SMALL(HIDDEN), true},
    {"svt-50-paper-equal", "svt, N = 50, equal guarantee", SVT, COORDINATOR, PAPER, TWO_STEP, 50, SMALL(HIDDEN), true},
    {NULL, NULL, 0, 0, 0, 0, 0, 0, false}};

/* MovieLens in the paper's units */
static const caucus_series_spec ratings_series[] = {
    {"svt-1-paper", "svt, N = 1", SVT, COORDINATOR, PAPER, TWO_STEP, 1, SMALL(HIDDEN), false},
    {"svt-30-paper", "svt, N = 30", SVT, COORDINATOR, PAPER, TWO_STEP, 30, SMALL(HIDDEN), false},
    {"svt-50-paper", "svt, N = 50", SVT, COORDINATOR, PAPER, TWO_STEP, 50, SMALL(HIDDEN), false},
    {"sparse-vector-paper", "sparse-vector, 1 client", SPARSE, COORDINATOR, PAPER, TWO_STEP, 1, SMALL(HIDDEN), false},
    {NULL, NULL, 0, 0, 0, 0, 0, 0, false}};

/* section, name, file, adversary, convex, m, d, T, epsilon, trials, quick trials, other seeds, quick, their trials,
 * quick, series */
/* clang-format off */
const caucus_figure_spec caucus_figure_specs[CAUCUS_EXPERIMENT_COUNT] = {
    [CAUCUS_EXPERIMENT_STOCH] =
    {CAUCUS_SECTION_STOCH, "Figure 1 with normal losses, which are ours", "figure1", CAUCUS_ADVERSARY_GAUSSIAN, false,
     10, 100, 16384, 10, 100, 12, 6, 2, 8, 3, stoch_series},
    [CAUCUS_EXPERIMENT_SVT] =
    {CAUCUS_SECTION_SVT, "Figure 2", "figure2", CAUCUS_ADVERSARY_REALIZABLE, false,
     10, 100, 512, 10, 200, 100, 6, 6, 20, 10, svt_series},
    [CAUCUS_EXPERIMENT_MOVIELENS] =
    {CAUCUS_SECTION_MOVIELENS, "MovieLens-1M, scaled to its range", "movielens-ours", CAUCUS_ADVERSARY_MOVIELENS, false,
     10, 18, 604, 10, 100, 100, 0, 0, 0, 0, svt_series},
    [CAUCUS_EXPERIMENT_PER_EXPERT] =
    {CAUCUS_SECTION_STOCH, "Figure 1 with cross-entropy, per expert", "figure1-per-expert",
     CAUCUS_ADVERSARY_CROSS_ENTROPY, false, 10, 100, 16384, 10, 32, 6, 0, 0, 0, 0, entropy_series},
    [CAUCUS_EXPERIMENT_MIXTURE] =
    {CAUCUS_SECTION_STOCH, "Figure 1 with cross-entropy of the mixture", "figure1-mixture",
     CAUCUS_ADVERSARY_CROSS_ENTROPY, true, 10, 100, 16384, 10, 8, 2, 0, 0, 0, 0, entropy_series},
    [CAUCUS_EXPERIMENT_MOVIELENS_PAPER] =
    {CAUCUS_SECTION_MOVIELENS, "MovieLens-1M, not scaled (the paper’s ε = 10)", "movielens-paper",
     CAUCUS_ADVERSARY_MOVIELENS, false, 10, 18, 604, 50, 100, 100, 0, 0, 0, 0, ratings_series}};
/* clang-format on */
