/* SPDX-License-Identifier: Apache-2.0 */
/* audit_table.c: what is audited, and on which worst case. See audit.h; docs/PRIVACY.md has the claims.
 *
 * Every sound entry is followed by its broken twins. Scores, costs and thresholds of single mechanisms are in steps of
 * a grid of 1024, so that W = 1024 is the most one loss can move them. The neighbours are those for which the exact
 * tests (tests/{dp,algo}/test_exact_*.c) find the largest ratio, or come close to it with an event that is not rare. */
#include "audit/audit_parts.h"

#define W 1024

/* ---- Single mechanisms ---- */

/* Permute-and-flip with two experts: P(challenger) = e^(-rate*gap)/2 for every gap >= 0, so gaps 0 and 2W reach
 * epsilon. */
#define SELECT(kind, d, low, high, num, den)                                                                           \
    {                                                                                                                  \
        CAUCUS_SELECT_##kind, d, {(low) + (W), (high)}, {W, 0}, {                                                      \
            num, den                                                                                                   \
        }                                                                                                              \
    }
static const caucus_audit_select
    flip = SELECT(FLIP, 2, 0, 2 * W, 1, 2 * W),
    flip_half = SELECT(FLIP, 2, 0, 2 * W, 1, W),
    flip_range = {CAUCUS_SELECT_FLIP, 2, {5 * W, 10 * W}, {5 * W, 0}, {1, 2 * W}},
    /* The exponential mechanism approaches epsilon as the challenger gets unlikely. */
    exponential = SELECT(EXPONENTIAL, 2, 4 * W, 6 * W, 1, 2 * W),
    exponential_half = SELECT(EXPONENTIAL, 2, 0, 2 * W, 1, W),
    exponential_100 = SELECT(EXPONENTIAL, 100, -4 * W, -2 * W, 1, 2 * W),
    flip_100 = SELECT(FLIP, 100, -4 * W, -2 * W, 1, 2 * W),
    /* Noisy-min, gaps 4W and 6W: P = e^-x (2+x)/4, x = gap*rate. The paper's rate is 1/W, the right one 1/(2W). */
    noisy_min_paper = SELECT(NOISY_MIN, 2, 4 * W, 6 * W, 1, W),
    noisy_min = SELECT(NOISY_MIN, 2, 4 * W, 6 * W, 1, 2 * W);

/* The difference of two geometric noises falls like e^(-rate*c) on either side: costs at the threshold and W off it
 * reach epsilon, above it for "keep", below it for "fired". */
static const caucus_audit_threshold
    fires = {.checks = 1, .threshold = 8 * W, .cost = {{7 * W}, {8 * W}}, .rate = {1, W}},
    fires_half = {.checks = 1, .threshold = 8 * W, .cost = {{7 * W}, {8 * W}}, .rate = {2, W}},
    silent = {.checks = 8, .threshold = 8 * W, .cost = {{8 * W}, {9 * W}}, .rate = {1, W}},
    silent_half = {.checks = 8, .threshold = 8 * W, .cost = {{8 * W}, {9 * W}}, .rate = {2, W}},
    fires_range = {.checks = 1, .threshold = 8 * W, .cost = {{3 * W}, {8 * W}}, .rate = {1, W}},
    /* Two epochs: a check that keeps, one that fires for sure, one in the next epoch with its cost at the threshold. A
     * kept threshold has to be high for the first and low for the last. */
    refresh = {.checks = 3,
               .threshold = 8 * W,
               .cost = {{8 * W, 99 * W, 8 * W}, {9 * W, 99 * W, 8 * W}},
               .rate = {1, W}},
    refresh_not = {.checks = 3,
                   .threshold = 8 * W,
                   .cost = {{8 * W, 99 * W, 8 * W}, {9 * W, 99 * W, 8 * W}},
                   .rate = {1, W},
                   .keep_theta = true},
    /* Two epochs, fired at once in both: with q kept the replaced loss pays twice. */
    restart = {.checks = 2, .threshold = 8 * W, .cost = {{7 * W, 8 * W}, {8 * W, 8 * W}}, .rate = {1, W}},
    restart_not = {.checks = 2, .threshold = 8 * W, .cost = {{7 * W, 0}, {8 * W, 0}}, .rate = {1, W}, .keep_q = true};

/* ---- Messages ---- */

/* The paper's local noise. T = 8: phase 4 has a tree of depth 1, whose root sample is in both leaf messages. */
#define PAPER_LOCAL(d)                                                                                                 \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_PAPER_LOCAL,                                        \
        .calibration = CAUCUS_CALIBRATION_PAPER, .clients = 1, .experts = d, .rounds = 8, .trees = 1, .epsilon = 1,    \
        .losses = CAUCUS_AUDIT_ONES, .messages = true                                                                  \
    }
static const caucus_audit_federation paper_local_16 = PAPER_LOCAL(16), paper_local_64 = PAPER_LOCAL(64);

/* Sums with noise: T = 2, one loss, all experts at 0 or all at 1. */
#define NOISY(kind, d, del, broken)                                                                                    \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_NOBODY, .message = CAUCUS_MESSAGE_##kind,           \
        .clients = 1, .experts = d, .rounds = 2, .epsilon = 1, .delta = del, .losses = CAUCUS_AUDIT_ONES,              \
        .messages = true, .fault = CAUCUS_AUDIT_##broken                                                               \
    }
static const caucus_audit_federation knorm = NOISY(KNORM, 16, 0, NO_FAULT),
                                     knorm_half = NOISY(KNORM, 16, 0, HALF_NOISE),
                                     laplace = NOISY(LAPLACE_D, 4, 0, NO_FAULT),
                                     laplace_half = NOISY(LAPLACE_D, 4, 0, HALF_NOISE),
                                     gauss = NOISY(GAUSS, 4, 1e-3, NO_FAULT),
                                     gauss_half = NOISY(GAUSS, 4, 1e-3, HALF_NOISE);

/* Votes: T = 4, two losses in phase 3's sums; one speaks against expert 0, the other for it or against it. */
#define VOTE(kind, broken)                                                                                             \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_NOBODY, .message = CAUCUS_MESSAGE_##kind,           \
        .clients = 1, .experts = 2, .rounds = 4, .epsilon = 1, .losses = CAUCUS_AUDIT_GAP, .gap = 1, .messages = true, \
        .fault = CAUCUS_AUDIT_##broken                                                                                 \
    }
static const caucus_audit_federation vote = VOTE(VOTE, NO_FAULT), vote_half = VOTE(VOTE, HALF_NOISE),
                                     shortlist = VOTE(SHORTLIST, NO_FAULT),
                                     shortlist_half = VOTE(SHORTLIST, HALF_NOISE);

/* ---- Choices ---- */

#define STOCH(kind, name, T, base, broken)                                                                             \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_##name, .trust = CAUCUS_TRUST_COORDINATOR, .select = CAUCUS_SELECT_##kind,       \
        .clients = 1, .experts = 2, .rounds = T, .epsilon = 1, .losses = CAUCUS_AUDIT_GAP, .gap = base,                \
        .fault = CAUCUS_AUDIT_##broken                                                                                 \
    }
static const caucus_audit_federation stoch_flip = STOCH(FLIP, STOCH, 4, 1, NO_FAULT),
                                     stoch_flip_half = STOCH(FLIP, STOCH, 4, 1, HALF_NOISE),
                                     stoch_flip_range = STOCH(FLIP, STOCH, 4, 1, RANGE_5),
                                     stoch_exponential = STOCH(EXPONENTIAL, STOCH, 16, 5, NO_FAULT),
                                     stoch_exponential_half = STOCH(EXPONENTIAL, STOCH, 16, 5, HALF_NOISE),
                                     stoch_noisy_min = STOCH(NOISY_MIN, STOCH, 16, 7, NO_FAULT),
                                     stoch_noisy_min_half = STOCH(NOISY_MIN, STOCH, 16, 3, HALF_NOISE),
                                     limited_updates = STOCH(AUTO, LIMITED_UPDATES, 4, 1, NO_FAULT);
/* Everything of one client in a phase is one record. */
static const caucus_audit_federation stoch_block = {.algorithm = CAUCUS_ALGORITHM_STOCH,
                                                    .trust = CAUCUS_TRUST_COORDINATOR,
                                                    .unit = CAUCUS_UNIT_CLIENT_BLOCK,
                                                    .clients = 2,
                                                    .experts = 2,
                                                    .rounds = 4,
                                                    .epsilon = 1,
                                                    .losses = CAUCUS_AUDIT_GAP,
                                                    .gap = 1};
/* A loss of phase 3 weighs in phases 4, 5 and 6: all of them are watched. */
#define PAST(broken)                                                                                                   \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_COORDINATOR, .past_phases = true, .clients = 4,     \
        .experts = 2, .rounds = 32, .epsilon = 4, .losses = CAUCUS_AUDIT_GAP, .gap = 1, .phase = 4,                    \
        .fault = CAUCUS_AUDIT_##broken                                                                                 \
    }
static const caucus_audit_federation past = PAST(NO_FAULT), past_half = PAST(HALF_NOISE);

/* Phases of 1, 2, 2 and 2 rounds: a loss of the third enters the choice of the fourth and no other. */
#define LONGEST(broken)                                                                                                \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_COORDINATOR, .longest_phase = 2, .clients = 1,      \
        .experts = 2, .rounds = 7, .epsilon = 1, .losses = CAUCUS_AUDIT_GAP, .gap = 1, .phase = 4,                     \
        .fault = CAUCUS_AUDIT_##broken                                                                                 \
    }
static const caucus_audit_federation longest = LONGEST(NO_FAULT), longest_half = LONGEST(HALF_NOISE);

/* Two links of two blocks: a loss of the first link enters its one draw, and none of the second. */
#define RENEW(broken)                                                                                                  \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_HEDGE, .trust = CAUCUS_TRUST_COORDINATOR, .clients = 1, .experts = 8,            \
        .rounds = 12, .interval = 3, .renew = 6, .epsilon = 1, .losses = CAUCUS_AUDIT_GAP, .gap = 0,                   \
        .fault = CAUCUS_AUDIT_##broken                                                                                 \
    }
static const caucus_audit_federation renewed = RENEW(NO_FAULT), renewed_half = RENEW(HALF_NOISE);

/* Trees of depth 1 in phase 4 of 8 rounds. A root's sample meets both leaf selections, a right vertex's only the
 * second. */
#define TREE(m, kind, how, beta, which, broken)                                                                        \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_COORDINATOR,                                        \
        .calibration = CAUCUS_CALIBRATION_##how, .select = CAUCUS_SELECT_##kind, .clients = m, .experts = 2,           \
        .rounds = 8, .epsilon = 1, .convex = true, .trees = 1, .smoothness = beta,                                     \
        .losses = CAUCUS_AUDIT_TREE_##which, .fault = CAUCUS_AUDIT_##broken                                            \
    }
static const caucus_audit_federation tree_root = TREE(1, FLIP, TIGHT, 0.1, ROOT, NO_FAULT),
                                     tree_root_half = TREE(1, FLIP, TIGHT, 0.1, ROOT, HALF_NOISE),
                                     tree_right = TREE(2, FLIP, TIGHT, 1, RIGHT, NO_FAULT),
                                     tree_right_half = TREE(2, FLIP, TIGHT, 1, RIGHT, HALF_NOISE),
                                     tree_paper = TREE(6, NOISY_MIN, PAPER, 1, RIGHT, NO_FAULT),
                                     tree_fixed = TREE(6, NOISY_MIN, TIGHT, 1, RIGHT, NO_FAULT);

/* Two blocks, so one check and kappa = 1 (three and 2 for front-load): the replaced loss brings the first expert's cost
 * to the threshold and speaks against it in the selection. */
#define SVT(name, m, blocks, N, eps, del, more, broken)                                                                \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_##name, .trust = CAUCUS_TRUST_COORDINATOR, .clients = m, .experts = 2,           \
        .rounds = (blocks) * (N), .interval = N, .epsilon = eps, .delta = del, .losses = CAUCUS_AUDIT_EDGE,            \
        .gap = more, .fault = CAUCUS_AUDIT_##broken                                                                    \
    }
static const caucus_audit_federation svt = SVT(SVT, 2, 2, 6, 2, 0, 2, NO_FAULT),
                                     svt_half = SVT(SVT, 2, 2, 6, 2, 0, 1, HALF_NOISE),
                                     svt_range = SVT(SVT, 2, 2, 6, 2, 0, 1, RANGE_5),
                                     svt_delta = SVT(SVT, 2, 2, 10, 1, 0.05, 2, NO_FAULT),
                                     svt_delta_half = SVT(SVT, 2, 2, 10, 1, 0.05, 1, HALF_NOISE),
                                     sparse_vector = SVT(SPARSE_VECTOR, 1, 2, 12, 2, 0, 2, NO_FAULT);
#define SVT_FRONT(more, broken)                                                                                        \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_SVT, .trust = CAUCUS_TRUST_COORDINATOR, .front_load = true, .clients = 2,        \
        .experts = 2, .rounds = 60, .interval = 20, .epsilon = 2, .rho = 0.05, .losses = CAUCUS_AUDIT_EDGE,            \
        .gap = more, .fault = CAUCUS_AUDIT_##broken                                                                    \
    }
#define SVT_BLOCK(more, broken)                                                                                        \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_SVT, .trust = CAUCUS_TRUST_COORDINATOR, .unit = CAUCUS_UNIT_CLIENT_BLOCK,        \
        .clients = 9, .experts = 2, .rounds = 4, .interval = 2, .epsilon = 2, .losses = CAUCUS_AUDIT_EDGE,             \
        .gap = more, .fault = CAUCUS_AUDIT_##broken                                                                    \
    }
static const caucus_audit_federation svt_front = SVT_FRONT(1, NO_FAULT), svt_front_half = SVT_FRONT(0, HALF_NOISE),
                                     svt_block = SVT_BLOCK(2, NO_FAULT), svt_block_half = SVT_BLOCK(1, HALF_NOISE),
                                     svt_paper = {.algorithm = CAUCUS_ALGORITHM_SVT,
                                                  .trust = CAUCUS_TRUST_COORDINATOR,
                                                  .calibration = CAUCUS_CALIBRATION_PAPER,
                                                  .clients = 1,
                                                  .experts = 2,
                                                  .rounds = 128,
                                                  .interval = 64,
                                                  .epsilon = 10,
                                                  .losses = CAUCUS_AUDIT_EDGE,
                                                  .gap = 0};

/* Hedge: one draw after a block of three losses, eight experts; or five draws of two experts under (epsilon, delta). */
#define HEDGE(broken)                                                                                                  \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_HEDGE, .trust = CAUCUS_TRUST_COORDINATOR, .clients = 1, .experts = 8,            \
        .rounds = 6, .interval = 3, .epsilon = 1, .losses = CAUCUS_AUDIT_GAP, .gap = 0, .fault = CAUCUS_AUDIT_##broken \
    }
#define HEDGE_DELTA(broken)                                                                                            \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_HEDGE, .trust = CAUCUS_TRUST_COORDINATOR, .clients = 1, .experts = 2,            \
        .rounds = 6, .interval = 1, .epsilon = 1, .delta = 0.01, .losses = CAUCUS_AUDIT_GAP, .gap = 0,                 \
        .fault = CAUCUS_AUDIT_##broken                                                                                 \
    }
static const caucus_audit_federation hedge = HEDGE(NO_FAULT), hedge_half = HEDGE(HALF_NOISE),
                                     hedge_delta = HEDGE_DELTA(NO_FAULT), hedge_delta_half = HEDGE_DELTA(HALF_NOISE);

/* ---- The table ---- */

#define K 1000
#define M 1000000
#define HOLDS true
#define FAILS false
/* name, what for, claimed epsilon, delta, expectation, runs per world (quick, full), setting */
#define SELECTION_AUDIT(name, text, eps, del, expect, quick, full, setting)                                            \
    { name, text, eps, del, quick, full, 2, expect, &caucus_audit_select_family, &setting }
#define CHECKS_AUDIT(name, text, eps, expect, quick, full, setting)                                                    \
    { name, text, eps, 0, quick, full, 1 << CAUCUS_AUDIT_CHECKS, expect, &caucus_audit_threshold_family, &setting }
#define MESSAGES_AUDIT(name, text, eps, del, expect, quick, full, setting)                                             \
    { name, text, eps, del, quick, full, 0, expect, &caucus_audit_federation_family, &setting }
#define CHOICES_AUDIT(name, text, eps, del, expect, quick, full, setting)                                              \
    { name, text, eps, del, quick, full, CAUCUS_AUDIT_CELLS(6), expect, &caucus_audit_federation_family, &setting }

static const caucus_audit table[] = {
    MESSAGES_AUDIT("paper-local-16", "the paper's local noise: messages, 16 experts", 1, 0, FAILS, 300 * K, 4 * M,
                   paper_local_16),
    MESSAGES_AUDIT("paper-local-64", "the paper's local noise: messages, 64 experts", 1, 0, FAILS, 400 * K, 4 * M,
                   paper_local_64),
    SELECTION_AUDIT("paper-noisy-min", "the paper's noisy-min scale at a right vertex", 1, 0, FAILS, 2 * M, 40 * M,
                    noisy_min_paper),
    CHOICES_AUDIT("paper-trees", "the paper's trees: choices, right vertex", 1, 0, FAILS, 0, 4 * M, tree_paper),

    SELECTION_AUDIT("flip", "permute-and-flip, 2 experts", 1, 0, HOLDS, 400 * K, 10 * M, flip),
    SELECTION_AUDIT("flip-100", "permute-and-flip, 100 experts", 1, 0, HOLDS, 200 * K, 4 * M, flip_100),
    SELECTION_AUDIT("flip-half-noise", "broken: permute-and-flip with half the noise", 1, 0, FAILS, 200 * K, 2 * M,
                    flip_half),
    SELECTION_AUDIT("flip-range-5", "broken: losses in [0, 5], not rescaled", 1, 0, FAILS, 200 * K, 2 * M, flip_range),
    SELECTION_AUDIT("exponential", "exponential mechanism, 2 experts", 1, 0, HOLDS, 1 * M, 20 * M, exponential),
    SELECTION_AUDIT("exponential-100", "exponential mechanism, 100 experts", 1, 0, HOLDS, 200 * K, 4 * M,
                    exponential_100),
    SELECTION_AUDIT("exponential-half-noise", "broken: exponential mechanism with half the noise", 1, 0, FAILS, 200 * K,
                    2 * M, exponential_half),
    SELECTION_AUDIT("noisy-min", "noisy-min at the right scale", 1, 0, HOLDS, 1 * M, 40 * M, noisy_min),

    CHECKS_AUDIT("check-fires", "above-threshold: the last check fires", 1, HOLDS, 400 * K, 10 * M, fires),
    CHECKS_AUDIT("check-fires-half-noise", "broken: above-threshold with half the noise", 1, FAILS, 200 * K, 2 * M,
                 fires_half),
    CHECKS_AUDIT("check-silent", "above-threshold: eight checks keep", 1, HOLDS, 400 * K, 10 * M, silent),
    CHECKS_AUDIT("check-silent-half-noise", "broken: above-threshold with half the noise", 1, FAILS, 200 * K, 2 * M,
                 silent_half),
    CHECKS_AUDIT("check-range-5", "broken: costs in [0, 5], not rescaled", 1, FAILS, 200 * K, 2 * M, fires_range),
    CHECKS_AUDIT("epochs-refresh", "two epochs, a fresh threshold for each", 1, HOLDS, 400 * K, 10 * M, refresh),
    CHECKS_AUDIT("epochs-no-refresh", "broken: the noisy threshold is kept", 1, FAILS, 200 * K, 4 * M, refresh_not),
    CHECKS_AUDIT("epochs-restart", "two epochs, the cost restarts", 1, HOLDS, 400 * K, 10 * M, restart),
    CHECKS_AUDIT("epochs-no-restart", "broken: the cost does not restart", 1, FAILS, 200 * K, 4 * M, restart_not),

    MESSAGES_AUDIT("vote", "stoch, trust nobody: a private vote", 1, 0, HOLDS, 200 * K, 4 * M, vote),
    MESSAGES_AUDIT("vote-half-noise", "broken: a vote with half the noise", 1, 0, FAILS, 100 * K, 1 * M, vote_half),
    MESSAGES_AUDIT("shortlist", "stoch, trust nobody: vote and shortlist answer", 1, 0, HOLDS, 200 * K, 4 * M,
                   shortlist),
    MESSAGES_AUDIT("shortlist-half-noise", "broken: vote and shortlist with half the noise", 1, 0, FAILS, 100 * K,
                   1 * M, shortlist_half),
    MESSAGES_AUDIT("knorm", "stoch, trust nobody: K-norm noise, 16 experts", 1, 0, HOLDS, 200 * K, 4 * M, knorm),
    MESSAGES_AUDIT("knorm-half-noise", "broken: K-norm noise halved", 1, 0, FAILS, 100 * K, 1 * M, knorm_half),
    MESSAGES_AUDIT("laplace-d", "stoch, trust nobody: Laplace noise, 4 experts", 1, 0, HOLDS, 200 * K, 4 * M, laplace),
    MESSAGES_AUDIT("laplace-d-half-noise", "broken: Laplace noise halved", 1, 0, FAILS, 100 * K, 1 * M, laplace_half),
    MESSAGES_AUDIT("gauss", "stoch, trust nobody: Gaussian noise, 4 experts", 1, 1e-3, HOLDS, 200 * K, 4 * M, gauss),
    MESSAGES_AUDIT("gauss-half-noise", "broken: Gaussian noise halved", 1, 1e-3, FAILS, 200 * K, 1 * M, gauss_half),

    CHOICES_AUDIT("stoch-flip", "stoch, permute-and-flip: choices", 1, 0, HOLDS, 200 * K, 4 * M, stoch_flip),
    CHOICES_AUDIT("stoch-flip-half-noise", "broken: stoch with half the noise", 1, 0, FAILS, 100 * K, 1 * M,
                  stoch_flip_half),
    CHOICES_AUDIT("stoch-range-5", "broken: stoch, losses in [0, 5], not rescaled", 1, 0, FAILS, 100 * K, 1 * M,
                  stoch_flip_range),
    CHOICES_AUDIT("stoch-exponential", "stoch, exponential mechanism: choices", 1, 0, HOLDS, 200 * K, 4 * M,
                  stoch_exponential),
    CHOICES_AUDIT("stoch-exponential-half-noise", "broken: stoch with half the noise", 1, 0, FAILS, 100 * K, 1 * M,
                  stoch_exponential_half),
    CHOICES_AUDIT("stoch-noisy-min", "stoch, noisy-min: choices", 1, 0, HOLDS, 200 * K, 4 * M, stoch_noisy_min),
    CHOICES_AUDIT("stoch-noisy-min-half-noise", "broken: stoch with half the noise", 1, 0, FAILS, 100 * K, 1 * M,
                  stoch_noisy_min_half),
    CHOICES_AUDIT("limited-updates", "limited-updates: choices", 1, 0, HOLDS, 200 * K, 4 * M, limited_updates),
    CHOICES_AUDIT("stoch-client-block", "stoch, unit client-block: choices", 1, 0, HOLDS, 200 * K, 4 * M, stoch_block),
    CHOICES_AUDIT("past-phases", "stoch with past phases: three choices", 4, 0, HOLDS, 100 * K, 2 * M, past),
    CHOICES_AUDIT("past-phases-half-noise", "broken: past phases with half the noise", 4, 0, FAILS, 100 * K, 1 * M,
                  past_half),
    CHOICES_AUDIT("trees-root", "stoch, trees: choices, a root's sample", 1, 0, HOLDS, 100 * K, 2 * M, tree_root),
    CHOICES_AUDIT("trees-root-half-noise", "broken: trees with half the noise", 1, 0, FAILS, 100 * K, 1 * M,
                  tree_root_half),
    CHOICES_AUDIT("trees-right", "stoch, trees: choices, a right vertex's sample", 1, 0, HOLDS, 100 * K, 2 * M,
                  tree_right),
    CHOICES_AUDIT("trees-right-half-noise", "broken: trees with half the noise", 1, 0, FAILS, 100 * K, 1 * M,
                  tree_right_half),
    CHOICES_AUDIT("trees-noisy-min", "stoch, trees with noisy-min at the right scale", 1, 0, HOLDS, 0, 2 * M,
                  tree_fixed),

    CHOICES_AUDIT("svt", "Fed-SVT: choices", 2, 0, HOLDS, 400 * K, 4 * M, svt),
    CHOICES_AUDIT("svt-half-noise", "broken: Fed-SVT with half the noise", 2, 0, FAILS, 200 * K, 2 * M, svt_half),
    CHOICES_AUDIT("svt-range-5", "broken: Fed-SVT, losses in [0, 5], not rescaled", 2, 0, FAILS, 200 * K, 2 * M,
                  svt_range),
    CHOICES_AUDIT("svt-front-load", "Fed-SVT, front-load: choices", 2, 0, HOLDS, 200 * K, 4 * M, svt_front),
    CHOICES_AUDIT("svt-front-load-half-noise", "broken: front-load with half the noise", 2, 0, FAILS, 100 * K, 2 * M,
                  svt_front_half),
    CHOICES_AUDIT("svt-client-block", "Fed-SVT, unit client-block: choices", 2, 0, HOLDS, 100 * K, 2 * M, svt_block),
    CHOICES_AUDIT("svt-client-block-half-noise", "broken: client-block with half the noise", 2, 0, FAILS, 100 * K,
                  1 * M, svt_block_half),
    CHOICES_AUDIT("svt-delta", "Fed-SVT, delta 0.05: choices", 1, 0.05, HOLDS, 200 * K, 4 * M, svt_delta),
    CHOICES_AUDIT("svt-delta-half-noise", "broken: Fed-SVT, delta 0.05, with half the noise", 1, 0.05, FAILS, 100 * K,
                  2 * M, svt_delta_half),
    CHOICES_AUDIT("svt-paper", "Fed-SVT at the paper's constants: choices", 10, 0, HOLDS, 100 * K, 2 * M, svt_paper),
    CHOICES_AUDIT("sparse-vector", "sparse-vector: choices", 2, 0, HOLDS, 200 * K, 4 * M, sparse_vector),
    CHOICES_AUDIT("hedge", "Fed-Hedge: choices", 1, 0, HOLDS, 200 * K, 4 * M, hedge),
    CHOICES_AUDIT("hedge-half-noise", "broken: Fed-Hedge with half the noise", 1, 0, FAILS, 200 * K, 2 * M, hedge_half),
    CHOICES_AUDIT("hedge-delta", "Fed-Hedge, delta 0.01: choices", 1, 0.01, HOLDS, 200 * K, 4 * M, hedge_delta),
    CHOICES_AUDIT("hedge-delta-half-noise", "broken: Fed-Hedge with half the noise", 1, 0.01, FAILS, 200 * K, 2 * M,
                  hedge_delta_half),

    CHOICES_AUDIT("stoch-longest", "stoch, longest phase 2: choices", 1, 0, HOLDS, 200 * K, 4 * M, longest),
    CHOICES_AUDIT("hedge-renew", "Fed-Hedge in two links: choices", 1, 0, HOLDS, 200 * K, 4 * M, renewed),
    CHOICES_AUDIT("hedge-renew-half-noise", "broken: links with half the noise", 1, 0, FAILS, 200 * K, 2 * M,
                  renewed_half),
    CHOICES_AUDIT("stoch-longest-half-noise", "broken: longest phase with half the noise", 1, 0, FAILS, 100 * K, 1 * M,
                  longest_half),
};

const caucus_audit *caucus_audit_table(size_t *ret_count) {
    *ret_count = sizeof table / sizeof table[0];
    return table;
}
