/* SPDX-License-Identifier: Apache-2.0 */
/* audit_table_runs.c: what is audited of whole runs, and on which worst case. See audit_table.c. */
#include "audit/audit_rows.h"

/* ---- Messages ---- */

/* The paper's local noise. T = 8: phase 4 has a tree of depth 1, whose root sample is in both leaf messages. */
#define PAPER_LOCAL(d)                                                                                                 \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_PAPER_LOCAL,                                        \
        .calibration = CAUCUS_CALIBRATION_PAPER, .clients = 1, .experts = d, .rounds = 8, .trees = 1, .epsilon = 1,    \
        .losses = CAUCUS_AUDIT_ONES, .statistic = CAUCUS_AUDIT_MESSAGES                                                \
    }
static const caucus_audit_federation paper_local_16 = PAPER_LOCAL(16), paper_local_64 = PAPER_LOCAL(64);

/* Sums with noise: T = 2, one loss, all experts at 0 or all at 1. */
#define NOISY(kind, d, del)                                                                                            \
    .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_NOBODY, .message = CAUCUS_MESSAGE_##kind, .clients = 1, \
    .experts = d, .rounds = 2, .epsilon = 1, .delta = del, .losses = CAUCUS_AUDIT_ONES,                                \
    .statistic = CAUCUS_AUDIT_MESSAGES
static const caucus_audit_federation knorm = {NOISY(KNORM, 16, 0)},
                                     knorm_block = {NOISY(KNORM, 8, 0), .unit = CAUCUS_UNIT_CLIENT_BLOCK},
                                     knorm_restarts = {NOISY(KNORM, 4, 0), .restarts = true},
                                     laplace = {NOISY(LAPLACE_D, 4, 0)}, gauss = {NOISY(GAUSS, 4, 1e-3)},
                                     gauss_large = {NOISY(GAUSS, 4, 0.05)};

/* Votes: T = 4, two losses in phase 3's sums; one speaks against expert 0, the other for it or against it. With unit
 * client-block both are one record, and several others tell more than one. */
#define VOTE(kind, d)                                                                                                  \
    .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_NOBODY, .message = CAUCUS_MESSAGE_##kind, .clients = 1, \
    .experts = d, .rounds = 4, .epsilon = 1, .losses = CAUCUS_AUDIT_GAP, .statistic = CAUCUS_AUDIT_MESSAGES
static const caucus_audit_federation vote = {VOTE(VOTE, 2), .gap = 1}, shortlist = {VOTE(SHORTLIST, 2), .gap = 1},
                                     vote_block = {VOTE(VOTE, 8), .unit = CAUCUS_UNIT_CLIENT_BLOCK},
                                     shortlist_block = {VOTE(SHORTLIST, 2), .unit = CAUCUS_UNIT_CLIENT_BLOCK},
                                     vote_client = {VOTE(VOTE, 8), .unit = CAUCUS_UNIT_CLIENT, .growth = 2},
                                     vote_restarts = {VOTE(VOTE, 2), .gap = 1, .restarts = true},
                                     link_vote = {VOTE(VOTE, 2), .gap = 1, .links = true},
                                     link_shortlist = {VOTE(SHORTLIST, 2), .gap = 1, .links = true};

/* Trees under trust nobody: every vertex sends its increment once. A root's sample, and a right vertex's. */
#define TREE_MESSAGE(which)                                                                                            \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_NOBODY, .message = CAUCUS_MESSAGE_KNORM,            \
        .clients = 1, .experts = 2, .rounds = 8, .epsilon = 1, .convex = true, .trees = 1, .smoothness = 1,            \
        .losses = CAUCUS_AUDIT_##which, .statistic = CAUCUS_AUDIT_MESSAGES                                             \
    }
static const caucus_audit_federation nobody_root = TREE_MESSAGE(ONES), nobody_right = TREE_MESSAGE(TREE_RIGHT);

/* ---- Choices ---- */

#define STOCH(kind, name, T, base)                                                                                     \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_##name, .trust = CAUCUS_TRUST_COORDINATOR, .select = CAUCUS_SELECT_##kind,       \
        .clients = 1, .experts = 2, .rounds = T, .epsilon = 1, .losses = CAUCUS_AUDIT_GAP, .gap = base                 \
    }
static const caucus_audit_federation stoch_flip = STOCH(FLIP, STOCH, 4, 1),
                                     stoch_exponential = STOCH(EXPONENTIAL, STOCH, 16, 5),
                                     stoch_noisy_min = STOCH(NOISY_MIN, STOCH, 16, 7),
                                     stoch_noisy_min_near = STOCH(NOISY_MIN, STOCH, 16, 3),
                                     limited_updates = STOCH(AUTO, LIMITED_UPDATES, 4, 1);
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
/* Everything of one client in the run is one record: it is in two decisions, in which it is seen with the same mean. */
static const caucus_audit_federation stoch_client = {.algorithm = CAUCUS_ALGORITHM_STOCH,
                                                     .trust = CAUCUS_TRUST_COORDINATOR,
                                                     .unit = CAUCUS_UNIT_CLIENT,
                                                     .clients = 2,
                                                     .experts = 2,
                                                     .rounds = 9,
                                                     .growth = 3,
                                                     .epsilon = 1,
                                                     .losses = CAUCUS_AUDIT_GAP,
                                                     .gap = 1};
/* A loss of phase 3 weighs in phases 4, 5 and 6: all of them are watched. */
static const caucus_audit_federation past = {.algorithm = CAUCUS_ALGORITHM_STOCH,
                                             .trust = CAUCUS_TRUST_COORDINATOR,
                                             .past_phases = true,
                                             .clients = 4,
                                             .experts = 2,
                                             .rounds = 32,
                                             .epsilon = 4,
                                             .losses = CAUCUS_AUDIT_GAP,
                                             .gap = 1,
                                             .phase = 4};
/* The same with delta, which three exponential selections are accounted for with. */
static const caucus_audit_federation stoch_delta = {.algorithm = CAUCUS_ALGORITHM_STOCH,
                                                    .trust = CAUCUS_TRUST_COORDINATOR,
                                                    .select = CAUCUS_SELECT_EXPONENTIAL,
                                                    .past_phases = true,
                                                    .clients = 4,
                                                    .experts = 2,
                                                    .rounds = 32,
                                                    .epsilon = 1,
                                                    .delta = 0.01,
                                                    .losses = CAUCUS_AUDIT_GAP,
                                                    .gap = 1,
                                                    .phase = 4};

/* Phases of 1, 2, 2 and 2 rounds: a loss of the third enters the choice of the fourth and no other. */
static const caucus_audit_federation longest = {.algorithm = CAUCUS_ALGORITHM_STOCH,
                                                .trust = CAUCUS_TRUST_COORDINATOR,
                                                .longest_phase = 2,
                                                .clients = 1,
                                                .experts = 2,
                                                .rounds = 7,
                                                .epsilon = 1,
                                                .losses = CAUCUS_AUDIT_GAP,
                                                .gap = 1,
                                                .phase = 4};

/* Few evaluations: in phase 2 two clients evaluate one expert each in both of two rounds: each expert twice. The
 * replaced loss is that of one expert. With two of three experts and means a client's whole phase is replaced. */
#define EVALUATE(d, k, t)                                                                                              \
    .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_COORDINATOR, .clients = 2, .experts = d, .evaluate = k, \
    .rounds = t, .epsilon = 1, .losses = CAUCUS_AUDIT_GAP
static const caucus_audit_federation evaluate_one = {EVALUATE(2, 1, 4), .gap = 3},
                                     evaluate_two = {EVALUATE(3, 2, 4), .gap = 1, .unit = CAUCUS_UNIT_CLIENT_BLOCK};

/* Unit client, decisions after 1 and after 6 rounds: in the first a client has evaluated one expert of two, in the
 * second both of them. */
static const caucus_audit_federation evaluate_client = {.algorithm = CAUCUS_ALGORITHM_STOCH,
                                                        .trust = CAUCUS_TRUST_COORDINATOR,
                                                        .unit = CAUCUS_UNIT_CLIENT,
                                                        .clients = 2,
                                                        .experts = 2,
                                                        .evaluate = 1,
                                                        .rounds = 36,
                                                        .growth = 6,
                                                        .epsilon = 1,
                                                        .losses = CAUCUS_AUDIT_GAP,
                                                        .gap = 1};

/* Trees of depth 1 in phase 4 of 8 rounds. A root's sample meets both leaf selections, a right vertex's only the
 * second. */
#define TREE(m, kind, how, beta, which)                                                                                \
    {                                                                                                                  \
        .algorithm = CAUCUS_ALGORITHM_STOCH, .trust = CAUCUS_TRUST_COORDINATOR,                                        \
        .calibration = CAUCUS_CALIBRATION_##how, .select = CAUCUS_SELECT_##kind, .clients = m, .experts = 2,           \
        .rounds = 8, .epsilon = 1, .convex = true, .trees = 1, .smoothness = beta, .losses = CAUCUS_AUDIT_TREE_##which \
    }
static const caucus_audit_federation tree_root = TREE(1, FLIP, TIGHT, 0.1, ROOT),
                                     tree_right = TREE(2, FLIP, TIGHT, 1, RIGHT),
                                     tree_paper = TREE(6, NOISY_MIN, PAPER, 1, RIGHT),
                                     tree_fixed = TREE(6, NOISY_MIN, TIGHT, 1, RIGHT);

/* Two blocks, so one check and kappa = 1: the replaced loss brings the first expert's cost to the threshold and speaks
 * against it in the selection. */
#define SVT(name, m, blocks, N, eps, del, more)                                                                        \
    .algorithm = CAUCUS_ALGORITHM_##name, .trust = CAUCUS_TRUST_COORDINATOR, .clients = m, .experts = 2,               \
    .rounds = (blocks) * (N), .interval = N, .epsilon = eps, .delta = del, .losses = CAUCUS_AUDIT_EDGE, .gap = more
static const caucus_audit_federation svt = {SVT(SVT, 2, 2, 6, 2, 0, 2)}, svt_near = {SVT(SVT, 2, 2, 6, 2, 0, 1)},
                                     svt_wire = {SVT(SVT, 2, 2, 6, 2, 0, 2), .protocol = CAUCUS_PROTOCOL_PAPER},
                                     svt_restarts = {SVT(SVT, 1, 2, 12, 2, 0, 2), .restarts = true,
                                                     .statistic = CAUCUS_AUDIT_CHOICES},
                                     link_svt = {SVT(SVT, 1, 2, 12, 2, 0, 2), .links = true},
                                     link_svt_near = {SVT(SVT, 1, 2, 12, 2, 0, 1), .links = true},
                                     svt_delta = {SVT(SVT, 2, 2, 10, 1, 0.05, 2)},
                                     svt_delta_near = {SVT(SVT, 2, 2, 10, 1, 0.05, 1)},
                                     sparse_vector = {SVT(SPARSE_VECTOR, 1, 2, 12, 2, 0, 2)};
/* Three blocks, so two checks and kappa = 2. Idle: the second check sees a cost only if q went on. Second: the replaced
 * loss brings the second epoch's cost to its threshold, and a little beyond: a check without noise then tells all. */
#define EPOCHS(more, up, kind)                                                                                         \
    { SVT(SVT, 2, 3, 20, 2, 0, more), .rho = 0.05, .around = CAUCUS_AUDIT_##kind, .lift = up }
static const caucus_audit_federation epochs_idle = EPOCHS(4, 0, IDLE), epochs_at = EPOCHS(4, 0, AT),
                                     epochs_second = EPOCHS(4, 0.25, SECOND), epochs_fires = EPOCHS(4, 0, FIRES);
/* The same by the likelihood of all that was announced, which uses more of a run than one cell of its transcript: what
 * a quarter too little noise takes to be seen. */
#define RATIO .statistic = CAUCUS_AUDIT_CHOICES
/* Of an idle epoch, and of the second one, only one selection is seen: a small rho, by which checks get most of
 * epsilon, leaves little to the other. */
static const caucus_audit_federation epochs_idle_ratio = {SVT(SVT, 2, 3, 52, 2, 0, 8), .rho = 1e-12,
                                                          .around = CAUCUS_AUDIT_IDLE, RATIO},
                                     epochs_second_ratio = {SVT(SVT, 2, 3, 52, 2, 0, 6), .rho = 1e-12,
                                                            .around = CAUCUS_AUDIT_SECOND, RATIO};
static const caucus_audit_federation epochs_at_ratio = {SVT(SVT, 2, 3, 20, 2, 0, 4), .rho = 0.05, RATIO},
                                     epochs_fires_ratio = {SVT(SVT, 2, 3, 20, 2, 0, 4), .rho = 0.05,
                                                           .around = CAUCUS_AUDIT_FIRES, RATIO},
                                     svt_front_ratio = {SVT(SVT, 2, 3, 20, 2, 0, 4), .front_load = true, .rho = 0.05,
                                                        .around = CAUCUS_AUDIT_FIRES, RATIO};
/* Without an end: the second check has a higher threshold than the first. One selection; or two, with the replaced loss
 * in the second epoch. */
static const caucus_audit_federation growing = {SVT(SVT, 2, 3, 8, 2, 0, 2), .endless = true},
                                     growing_second = {SVT(SVT, 2, 3, 20, 2, 0, 4), .rho = 0.3,
                                                       .around = CAUCUS_AUDIT_SECOND, .lift = 0.25, .endless = true};
/* Two cycles of two blocks: a loss of the first enters its one check and its one selection, and nothing of the second.
 * Idle: the second check sees a cost only if q went on. At the threshold: a first check that keeps speaks for a high
 * noisy threshold, a second one that fires for a low one, and where both have the same the loss pays twice; with a
 * small rho, by which checks get most of epsilon, since that event shows no selection of the first cycle. Fires: all
 * checks of the second and of a third cycle do, and their selections see the loss only if its sums went on. */
static const caucus_audit_federation svt_renewed = {SVT(SVT, 2, 4, 20, 2, 0, 2), .rho = 0.05, .renew = 40,
                                                    .around = CAUCUS_AUDIT_IDLE},
                                     svt_renewed_at = {SVT(SVT, 2, 4, 52, 2, 0, 8), .rho = 1e-12, .renew = 104,
                                                       .lift = 1},
                                     svt_renewed_fires = {SVT(SVT, 2, 6, 20, 2, 0, 0), .renew = 40,
                                                          .around = CAUCUS_AUDIT_FIRES};
#define SVT_FRONT(more)                                                                                                \
    { SVT(SVT, 2, 3, 20, 2, 0, more), .front_load = true, .rho = 0.05 }
#define SVT_BLOCK(more)                                                                                                \
    { SVT(SVT, 9, 2, 2, 2, 0, more), .unit = CAUCUS_UNIT_CLIENT_BLOCK }
static const caucus_audit_federation svt_front = SVT_FRONT(1), svt_front_near = SVT_FRONT(0), svt_block = SVT_BLOCK(2),
                                     svt_block_near = SVT_BLOCK(1),
                                     svt_paper = {SVT(SVT, 1, 2, 256, 2, 0, 0),
                                                  .calibration = CAUCUS_CALIBRATION_PAPER};

/* Hedge: one draw after a block of three losses, eight experts; or of six losses of three clients, sixteen; or five
 * draws of two experts under (epsilon, delta). */
#define HEDGE(m, d, T, N, del)                                                                                         \
    .algorithm = CAUCUS_ALGORITHM_HEDGE, .trust = CAUCUS_TRUST_COORDINATOR, .clients = m, .experts = d, .rounds = T,   \
    .interval = N, .epsilon = 1, .delta = del, .losses = CAUCUS_AUDIT_GAP
static const caucus_audit_federation hedge = {HEDGE(1, 8, 6, 3, 0)}, hedge_delta = {HEDGE(1, 2, 6, 1, 0.01)},
                                     hedge_clients = {HEDGE(3, 16, 4, 2, 0)};

/* Two cycles of two blocks: a loss of the first cycle enters its one draw, and none of the second. */
static const caucus_audit_federation renewed = {HEDGE(1, 8, 12, 3, 0), .renew = 6};

/* Every device at its own pace: a coordinator that is not honest asks often. */
static const caucus_audit_slots own_pace = {.epsilon = 1}, own_pace_client = {.epsilon = 1, .client = true};
static const caucus_audit_look a_look = {.epsilon = 1, .show = 0.25},
                               client_look = {.epsilon = 1, .show = 0.25, .client = true};

/* ---- The table ---- */

/* The row's beginning, what for, delta, runs per world (quick, full), setting. */
#define MESSAGES(which, text, del, quick, full, setting)                                                               \
    { which, "stoch, trust nobody: " text, 1, del, quick, full, 0, &caucus_audit_federation_family, &(setting) }
#define GAPS(which, quick, full)                                                                                       \
    { which, "stoch, trust nobody: asked again after a gap", 1, 0, quick, full, 0, &caucus_audit_gaps_family, NULL }
#define CHOICES(which, text, eps, del, quick, full, setting)                                                           \
    { which, text, eps, del, quick, full, CAUCUS_AUDIT_CELLS(6), &caucus_audit_federation_family, &(setting) }
#define CYCLES(which, text, eps, del, quick, full, setting)                                                            \
    { which, text, eps, del, quick, full, CAUCUS_AUDIT_CELLS(8), &caucus_audit_federation_family, &(setting) }
#define RATIOS(which, text, eps, del, quick, full, setting)                                                            \
    { which, text, eps, del, quick, full, 0, &caucus_audit_federation_family, &(setting) }

#define SLOTS(which, quick, full)                                                                                      \
    {                                                                                                                  \
        which, "own pace: votes of one slot", 1, 0, quick, full, CAUCUS_AUDIT_SLOT_CELLS, &caucus_audit_slots_family,  \
            &own_pace                                                                                                  \
    }
#define QUESTIONS(which, quick, full)                                                                                  \
    {                                                                                                                  \
        which, "own pace, unit client: two votes", 1, 0, quick, full, CAUCUS_AUDIT_SLOT_CELLS,                         \
            &caucus_audit_slots_family, &own_pace_client                                                               \
    }

#define LOOKS(which, quick, full)                                                                                      \
    { which, "stoch, a private look: choice and figure", 1, 0, quick, full, 0, &caucus_audit_look_family, &a_look }
#define CLIENT_LOOKS(which, quick, full)                                                                               \
    { which, "unit client: two choices and figures", 1, 0, quick, full, 0, &caucus_audit_look_family, &client_look }

static const caucus_audit runs[] = {
    MESSAGES(SOUND("vote"), "a private vote", 0, 200 * K, 1 * M, vote),
    MESSAGES(NOISE_125("vote"), "a private vote", 0, 50 * K, 1 * M, vote),
    MESSAGES(HALF_NOISE("vote"), "a private vote", 0, 50 * K, 400 * K, vote),
    MESSAGES(SOUND("vote-block"), "a vote, unit client-block", 0, 100 * K, 1 * M, vote_block),
    MESSAGES(NOISE_125("vote-block"), "a vote, unit client-block", 0, 50 * K, 1 * M, vote_block),
    MESSAGES(HALF_NOISE("vote-block"), "a vote, unit client-block", 0, 0, 400 * K, vote_block),
    MESSAGES(SOUND("vote-client"), "two votes, unit client", 0, 100 * K, 1 * M, vote_client),
    MESSAGES(NOISE_125("vote-client"), "two votes, unit client", 0, 0, 1 * M, vote_client),
    MESSAGES(HALF_NOISE("vote-client"), "two votes, unit client", 0, 50 * K, 400 * K, vote_client),
    MESSAGES(SOUND("vote-restarts"), "a vote, restarts", 0, 40 * K, 400 * K, vote_restarts),
    MESSAGES(NOISE_125("vote-restarts"), "a vote, restarts", 0, 0, 200 * K, vote_restarts),
    MESSAGES(WRONG("vote-restarts", "again", DRAW_AGAIN, "drawn again"), "a vote, restarts", 0, 20 * K, 100 * K,
             vote_restarts),
    MESSAGES(SOUND("shortlist"), "vote and shortlist answer", 0, 200 * K, 1 * M, shortlist),
    MESSAGES(NOISE_125("shortlist"), "vote and shortlist answer", 0, 50 * K, 1 * M, shortlist),
    MESSAGES(HALF_NOISE("shortlist"), "vote and shortlist answer", 0, 50 * K, 400 * K, shortlist),
    MESSAGES(SOUND("shortlist-block"), "shortlist, unit client-block", 0, 100 * K, 1 * M, shortlist_block),
    MESSAGES(NOISE_125("shortlist-block"), "shortlist, unit client-block", 0, 0, 1 * M, shortlist_block),
    MESSAGES(HALF_NOISE("shortlist-block"), "shortlist, unit client-block", 0, 0, 400 * K, shortlist_block),
    MESSAGES(SOUND("knorm"), "K-norm noise, 16 experts", 0, 100 * K, 1 * M, knorm),
    MESSAGES(NOISE_125("knorm"), "K-norm noise, 16 experts", 0, 50 * K, 1 * M, knorm),
    MESSAGES(HALF_NOISE("knorm"), "K-norm noise, 16 experts", 0, 50 * K, 400 * K, knorm),
    MESSAGES(SOUND("knorm-block"), "K-norm noise, unit client-block", 0, 100 * K, 1 * M, knorm_block),
    MESSAGES(NOISE_125("knorm-block"), "K-norm noise, unit client-block", 0, 0, 1 * M, knorm_block),
    MESSAGES(HALF_NOISE("knorm-block"), "K-norm noise, unit client-block", 0, 50 * K, 400 * K, knorm_block),
    MESSAGES(SOUND("knorm-restarts"), "K-norm noise, restarts", 0, 40 * K, 400 * K, knorm_restarts),
    MESSAGES(NOISE_125("knorm-restarts"), "K-norm noise, restarts", 0, 0, 200 * K, knorm_restarts),
    MESSAGES(WRONG("knorm-restarts", "again", DRAW_AGAIN, "drawn again"), "K-norm noise, restarts", 0, 20 * K, 100 * K,
             knorm_restarts),
    GAPS(SOUND("knorm-gaps"), 100 * K, 1 * M),
    GAPS(NOISE_125("knorm-gaps"), 0, 1 * M),
    GAPS(WRONG("knorm-gaps", "back", GO_BACK, "answered again"), 20 * K, 100 * K),
    MESSAGES(SOUND("laplace-d"), "Laplace noise, 4 experts", 0, 200 * K, 1 * M, laplace),
    MESSAGES(NOISE_125("laplace-d"), "Laplace noise, 4 experts", 0, 0, 1 * M, laplace),
    MESSAGES(HALF_NOISE("laplace-d"), "Laplace noise, 4 experts", 0, 50 * K, 400 * K, laplace),
    RATIOS(PAPERS("paper-local-16", "laplace-d", "d 16"), "the paper's local noise: messages, 16 experts", 1, 0,
           200 * K, 400 * K, paper_local_16),
    RATIOS(PAPERS("paper-local-64", "laplace-d", "d 64"), "the paper's local noise: messages, 64 experts", 1, 0,
           200 * K, 400 * K, paper_local_64),
    MESSAGES(SOUND("gauss"), "Gaussian noise, delta 0.001", 1e-3, 200 * K, 1 * M, gauss),
    MESSAGES(HALF_NOISE("gauss"), "Gaussian noise, delta 0.001", 1e-3, 100 * K, 400 * K, gauss),
    MESSAGES(SOUND("gauss-large"), "Gaussian noise, delta 0.05", 0.05, 0, 1 * M, gauss_large),
    MESSAGES(NOISE_150("gauss-large"), "Gaussian noise, delta 0.05", 0.05, 0, 1 * M, gauss_large),
    MESSAGES(HALF_NOISE("gauss-large"), "Gaussian noise, delta 0.05", 0.05, 0, 400 * K, gauss_large),
    MESSAGES(SOUND("trees-nobody-root"), "trees, a root's sample", 0, 100 * K, 1 * M, nobody_root),
    MESSAGES(NOISE_125("trees-nobody-root"), "trees, a root's sample", 0, 50 * K, 1 * M, nobody_root),
    MESSAGES(HALF_NOISE("trees-nobody-root"), "trees, a root's sample", 0, 0, 400 * K, nobody_root),
    MESSAGES(SOUND("trees-nobody-right"), "trees, a right vertex's", 0, 100 * K, 1 * M, nobody_right),
    MESSAGES(NOISE_125("trees-nobody-right"), "trees, a right vertex's", 0, 50 * K, 1 * M, nobody_right),
    MESSAGES(HALF_NOISE("trees-nobody-right"), "trees, a right vertex's", 0, 0, 400 * K, nobody_right),
    MESSAGES(SOUND("link-vote"), "a vote, through links", 0, 20 * K, 200 * K, link_vote),
    MESSAGES(NOISE_125("link-vote"), "a vote, through links", 0, 0, 200 * K, link_vote),
    MESSAGES(WRONG("link-vote", "again", DRAW_AGAIN, "drawn again"), "a vote, through links", 0, 10 * K, 100 * K,
             link_vote),
    MESSAGES(SOUND("link-shortlist"), "vote and shortlist, through links", 0, 10 * K, 200 * K, link_shortlist),
    MESSAGES(NOISE_125("link-shortlist"), "vote and shortlist, through links", 0, 0, 200 * K, link_shortlist),
    MESSAGES(HALF_NOISE("link-shortlist"), "vote and shortlist, through links", 0, 5 * K, 100 * K, link_shortlist),

    SLOTS(SOUND("own-pace"), 100 * K, 1 * M),
    SLOTS(NOISE_150("own-pace"), 50 * K, 400 * K),
    SLOTS(HALF_NOISE("own-pace"), 50 * K, 400 * K),
    SLOTS(WRONG("own-pace", "moved", MOVED_SLOT, "asked in the slot"), 50 * K, 400 * K),
    QUESTIONS(SOUND("own-pace-client"), 100 * K, 1 * M),
    QUESTIONS(NOISE_150("own-pace-client"), 0, 400 * K),
    QUESTIONS(HALF_NOISE("own-pace-client"), 50 * K, 400 * K),
    QUESTIONS(WRONG("own-pace-client", "again", DRAW_AGAIN, "answered again"), 50 * K, 400 * K),

    CHOICES(SOUND("stoch-flip"), "stoch, permute-and-flip: choices", 1, 0, 100 * K, 1 * M, stoch_flip),
    CHOICES(NOISE_125("stoch-flip"), "stoch, permute-and-flip: choices", 1, 0, 50 * K, 1 * M, stoch_flip),
    CHOICES(HALF_NOISE("stoch-flip"), "stoch, permute-and-flip: choices", 1, 0, 50 * K, 400 * K, stoch_flip),
    CHOICES(RANGE_5("stoch-flip"), "stoch, permute-and-flip: choices", 1, 0, 50 * K, 400 * K, stoch_flip),
    CHOICES(SOUND("stoch-exponential"), "stoch, exponential mechanism: choices", 1, 0, 200 * K, 1 * M,
            stoch_exponential),
    CHOICES(NOISE_125("stoch-exponential"), "stoch, exponential mechanism: choices", 1, 0, 0, 1 * M, stoch_exponential),
    CHOICES(NOISE_150("stoch-exponential"), "stoch, exponential mechanism: choices", 1, 0, 0, 1 * M, stoch_exponential),
    CHOICES(HALF_NOISE("stoch-exponential"), "stoch, exponential mechanism: choices", 1, 0, 100 * K, 400 * K,
            stoch_exponential),
    CHOICES(SOUND("stoch-noisy-min"), "stoch, noisy-min: choices", 1, 0, 200 * K, 1 * M, stoch_noisy_min),
    CHOICES(HALF_NOISE("stoch-noisy-min"), "stoch, noisy-min: choices", 1, 0, 100 * K, 400 * K, stoch_noisy_min_near),
    CHOICES(SOUND("stoch-delta"), "stoch with past phases, delta 0.01: choices", 1, 0.01, 100 * K, 1 * M, stoch_delta),
    CHOICES(HALF_NOISE("stoch-delta"), "stoch with past phases, delta 0.01: choices", 1, 0.01, 100 * K, 400 * K,
            stoch_delta),
    CHOICES(SOUND("limited-updates"), "limited-updates: choices", 1, 0, 100 * K, 1 * M, limited_updates),
    CHOICES(NOISE_125("limited-updates"), "limited-updates: choices", 1, 0, 0, 1 * M, limited_updates),
    CHOICES(HALF_NOISE("limited-updates"), "limited-updates: choices", 1, 0, 50 * K, 400 * K, limited_updates),
    CHOICES(SOUND("stoch-client-block"), "stoch, unit client-block: choices", 1, 0, 100 * K, 1 * M, stoch_block),
    CHOICES(NOISE_125("stoch-client-block"), "stoch, unit client-block: choices", 1, 0, 0, 1 * M, stoch_block),
    CHOICES(HALF_NOISE("stoch-client-block"), "stoch, unit client-block: choices", 1, 0, 50 * K, 400 * K, stoch_block),
    CHOICES(SOUND("stoch-client"), "stoch, unit client: two choices", 1, 0, 100 * K, 1 * M, stoch_client),
    CHOICES(NOISE_125("stoch-client"), "stoch, unit client: two choices", 1, 0, 0, 1 * M, stoch_client),
    CHOICES(HALF_NOISE("stoch-client"), "stoch, unit client: two choices", 1, 0, 50 * K, 400 * K, stoch_client),
    CHOICES(WRONG("stoch-client", "each", EACH_WHOLE, "epsilon for each"), "stoch, unit client: two choices", 1, 0,
            50 * K, 400 * K, stoch_client),
    CHOICES(SOUND("past-phases"), "stoch with past phases: three choices", 4, 0, 100 * K, 1 * M, past),
    CHOICES(NOISE_150("past-phases"), "stoch with past phases: three choices", 4, 0, 0, 1 * M, past),
    CHOICES(HALF_NOISE("past-phases"), "stoch with past phases: three choices", 4, 0, 50 * K, 400 * K, past),
    CHOICES(SOUND("stoch-longest"), "stoch, longest phase 2: choices", 1, 0, 100 * K, 1 * M, longest),
    CHOICES(NOISE_125("stoch-longest"), "stoch, longest phase 2: choices", 1, 0, 0, 1 * M, longest),
    CHOICES(HALF_NOISE("stoch-longest"), "stoch, longest phase 2: choices", 1, 0, 50 * K, 400 * K, longest),
    CHOICES(SOUND("stoch-evaluate"), "stoch, one of two experts evaluated: choices", 1, 0, 100 * K, 1 * M,
            evaluate_one),
    CHOICES(NOISE_125("stoch-evaluate"), "stoch, one of two experts evaluated: choices", 1, 0, 0, 1 * M, evaluate_one),
    CHOICES(HALF_NOISE("stoch-evaluate"), "stoch, one of two experts evaluated: choices", 1, 0, 50 * K, 400 * K,
            evaluate_one),
    CHOICES(SOUND("evaluate-block"), "stoch, two of three evaluated, client-block", 1, 0, 100 * K, 1 * M, evaluate_two),
    CHOICES(HALF_NOISE("evaluate-block"), "stoch, two of three evaluated, client-block", 1, 0, 50 * K, 400 * K,
            evaluate_two),
    CHOICES(SOUND("evaluate-client"), "stoch, one of two evaluated, unit client", 1, 0, 100 * K, 1 * M,
            evaluate_client),
    CHOICES(HALF_NOISE("evaluate-client"), "stoch, one of two evaluated, unit client", 1, 0, 50 * K, 400 * K,
            evaluate_client),
    CHOICES(WRONG("evaluate-client", "each", EACH_WHOLE, "epsilon for each"),
            "stoch, one of two evaluated, unit client", 1, 0, 50 * K, 400 * K, evaluate_client),
    LOOKS(SOUND("show-loss"), 100 * K, 1 * M),
    LOOKS(NOISE_125("show-loss"), 0, 1 * M),
    LOOKS(HALF_NOISE("show-loss"), 50 * K, 400 * K),
    LOOKS(WRONG("show-loss", "unpaid", UNPAID, "unpaid"), 100 * K, 1 * M),
    LOOKS(WRONG("show-loss", "again", DRAW_AGAIN, "again"), 100 * K, 1 * M),
    CLIENT_LOOKS(SOUND("show-loss-client"), 100 * K, 1 * M),
    CLIENT_LOOKS(HALF_NOISE("show-loss-client"), 50 * K, 400 * K),
    CLIENT_LOOKS(WRONG("show-loss-client", "each", EACH_SHOWN, "E0 for each"), 0, 1 * M),
    CHOICES(SOUND("trees-root"), "stoch, trees: choices, a root's sample", 1, 0, 100 * K, 1 * M, tree_root),
    CHOICES(NOISE_125("trees-root"), "stoch, trees: choices, a root's sample", 1, 0, 0, 1 * M, tree_root),
    CHOICES(HALF_NOISE("trees-root"), "stoch, trees: choices, a root's sample", 1, 0, 50 * K, 400 * K, tree_root),
    CHOICES(SOUND("trees-right"), "stoch, trees: choices, a right vertex's", 1, 0, 100 * K, 1 * M, tree_right),
    CHOICES(NOISE_125("trees-right"), "stoch, trees: choices, a right vertex's", 1, 0, 0, 1 * M, tree_right),
    CHOICES(HALF_NOISE("trees-right"), "stoch, trees: choices, a right vertex's", 1, 0, 50 * K, 400 * K, tree_right),
    CHOICES(SOUND("trees-noisy-min"), "stoch, trees, noisy-min at the right scale", 1, 0, 0, 1 * M, tree_fixed),
    CHOICES(PAPERS("paper-trees", "trees-noisy-min", "paper"), "the paper's trees: choices, right vertex", 1, 0, 0,
            4 * M, tree_paper),

    CHOICES(SOUND("svt"), "Fed-SVT: choices", 2, 0, 200 * K, 1 * M, svt),
    CHOICES(NOISE_125("svt"), "Fed-SVT: choices", 2, 0, 200 * K, 1 * M, svt),
    CHOICES(HALF_NOISE("svt"), "Fed-SVT: choices", 2, 0, 100 * K, 400 * K, svt_near),
    CHOICES(RANGE_5("svt"), "Fed-SVT: choices", 2, 0, 50 * K, 400 * K, svt_near),
    CHOICES(SOUND("svt-epochs"), "Fed-SVT, two epochs: an idle second one", 2, 0, 100 * K, 1 * M, epochs_idle),
    RATIOS(NOISE_125("svt-epochs"), "Fed-SVT, two epochs: an idle second one", 2, 0, 0, 1 * M, epochs_idle_ratio),
    CHOICES(HALF_NOISE("svt-epochs"), "Fed-SVT, two epochs: an idle second one", 2, 0, 0, 400 * K, epochs_idle),
    CHOICES(WRONG("svt-epochs", "kept", KEEP_EPOCH, "q and threshold kept"), "Fed-SVT, two epochs: an idle second one",
            2, 0, 100 * K, 400 * K, epochs_idle),
    CHOICES(SOUND("svt-epochs-at"), "Fed-SVT, two epochs: both at the threshold", 2, 0, 0, 1 * M, epochs_at),
    RATIOS(NOISE_125("svt-epochs-at"), "Fed-SVT, two epochs: both at the threshold", 2, 0, 0, 2 * M, epochs_at_ratio),
    CHOICES(HALF_NOISE("svt-epochs-at"), "Fed-SVT, two epochs: both at the threshold", 2, 0, 0, 400 * K, epochs_at),
    CHOICES(SOUND("svt-epochs-fires"), "Fed-SVT, two epochs: the second one fires", 2, 0, 0, 1 * M, epochs_fires),
    RATIOS(NOISE_125("svt-epochs-fires"), "Fed-SVT, two epochs: the second one fires", 2, 0, 0, 1 * M,
           epochs_fires_ratio),
    CHOICES(HALF_NOISE("svt-epochs-fires"), "Fed-SVT, two epochs: the second one fires", 2, 0, 0, 400 * K,
            epochs_fires),
    CHOICES(SOUND("svt-epochs-second"), "Fed-SVT, two epochs: the second one's loss", 2, 0, 100 * K, 1 * M,
            epochs_second),
    RATIOS(NOISE_125("svt-epochs-second"), "Fed-SVT, two epochs: the second one's loss", 2, 0, 0, 1 * M,
           epochs_second_ratio),
    CHOICES(HALF_NOISE("svt-epochs-second"), "Fed-SVT, two epochs: the second one's loss", 2, 0, 0, 400 * K,
            epochs_second),
    CHOICES(WRONG("svt-epochs-second", "quiet", QUIET_LATER, "quiet later checks"),
            "Fed-SVT, two epochs: the second one's loss", 2, 0, 50 * K, 400 * K, epochs_second),
    CHOICES(SOUND("svt-endless"), "Fed-SVT, thresholds that grow: choices", 2, 0, 100 * K, 1 * M, growing),
    CHOICES(NOISE_125("svt-endless"), "Fed-SVT, thresholds that grow: choices", 2, 0, 0, 1 * M, growing),
    CHOICES(HALF_NOISE("svt-endless"), "Fed-SVT, thresholds that grow: choices", 2, 0, 50 * K, 400 * K, growing),
    CHOICES(WRONG("svt-endless", "quiet", QUIET_LATER, "quiet later checks"), "Fed-SVT, thresholds that grow: choices",
            2, 0, 50 * K, 400 * K, growing_second),
    CHOICES(SOUND("svt-renew"), "Fed-SVT, two cycles: an idle second one", 2, 0, 100 * K, 1 * M, svt_renewed),
    CHOICES(NOISE_125("svt-renew"), "Fed-SVT, two cycles: an idle second one", 2, 0, 0, 1 * M, svt_renewed),
    CHOICES(HALF_NOISE("svt-renew"), "Fed-SVT, two cycles: an idle second one", 2, 0, 0, 400 * K, svt_renewed),
    CHOICES(WRONG("svt-renew", "kept", KEEP_Q, "q kept"), "Fed-SVT, two cycles: an idle second one", 2, 0, 100 * K,
            400 * K, svt_renewed),
    CHOICES(SOUND("svt-renew-at"), "Fed-SVT, two cycles: both at the threshold", 2, 0, 50 * K, 1 * M, svt_renewed_at),
    CHOICES(NOISE_150("svt-renew-at"), "Fed-SVT, two cycles: both at the threshold", 2, 0, 0, 1 * M, svt_renewed_at),
    CHOICES(HALF_NOISE("svt-renew-at"), "Fed-SVT, two cycles: both at the threshold", 2, 0, 0, 400 * K, svt_renewed_at),
    CHOICES(WRONG("svt-renew-at", "kept", KEEP_THETA, "threshold kept"), "Fed-SVT, two cycles: both at the threshold",
            2, 0, 50 * K, 400 * K, svt_renewed_at),
    CYCLES(SOUND("svt-renew-fires"), "Fed-SVT, three cycles: later ones fire", 2, 0, 200 * K, 1 * M, svt_renewed_fires),
    CYCLES(NOISE_150("svt-renew-fires"), "Fed-SVT, three cycles: later ones fire", 2, 0, 0, 1 * M, svt_renewed_fires),
    CYCLES(HALF_NOISE("svt-renew-fires"), "Fed-SVT, three cycles: later ones fire", 2, 0, 0, 400 * K,
           svt_renewed_fires),
    CYCLES(WRONG("svt-renew-fires", "kept", KEEP_SUMS, "sums kept"), "Fed-SVT, three cycles: later ones fire", 2, 0,
           200 * K, 1 * M, svt_renewed_fires),
    CHOICES(SOUND("svt-protocol-paper"), "Fed-SVT, protocol paper: choices", 2, 0, 100 * K, 1 * M, svt_wire),
    CHOICES(NOISE_125("svt-protocol-paper"), "Fed-SVT, protocol paper: choices", 2, 0, 0, 1 * M, svt_wire),
    CHOICES(HALF_NOISE("svt-protocol-paper"), "Fed-SVT, protocol paper: choices", 2, 0, 50 * K, 400 * K, svt_wire),
    RATIOS(SOUND("svt-restarts"), "Fed-SVT, restarts: choices", 2, 0, 40 * K, 400 * K, svt_restarts),
    RATIOS(NOISE_125("svt-restarts"), "Fed-SVT, restarts: choices", 2, 0, 0, 200 * K, svt_restarts),
    RATIOS(WRONG("svt-restarts", "again", DRAW_AGAIN, "drawn again"), "Fed-SVT, restarts: choices", 2, 0, 40 * K,
           100 * K, svt_restarts),
    CHOICES(SOUND("link-svt"), "Fed-SVT, through links: choices", 2, 0, 20 * K, 200 * K, link_svt),
    CHOICES(NOISE_125("link-svt"), "Fed-SVT, through links: choices", 2, 0, 0, 200 * K, link_svt),
    CHOICES(HALF_NOISE("link-svt"), "Fed-SVT, through links: choices", 2, 0, 20 * K, 100 * K, link_svt_near),
    CHOICES(SOUND("svt-front-load"), "Fed-SVT, front-load: choices", 2, 0, 100 * K, 1 * M, svt_front),
    RATIOS(NOISE_125("svt-front-load"), "Fed-SVT, front-load: choices", 2, 0, 0, 1 * M, svt_front_ratio),
    CHOICES(HALF_NOISE("svt-front-load"), "Fed-SVT, front-load: choices", 2, 0, 50 * K, 400 * K, svt_front_near),
    CHOICES(SOUND("svt-client-block"), "Fed-SVT, unit client-block: choices", 2, 0, 50 * K, 1 * M, svt_block),
    CHOICES(NOISE_125("svt-client-block"), "Fed-SVT, unit client-block: choices", 2, 0, 0, 1 * M, svt_block),
    CHOICES(HALF_NOISE("svt-client-block"), "Fed-SVT, unit client-block: choices", 2, 0, 50 * K, 400 * K,
            svt_block_near),
    CHOICES(SOUND("svt-delta"), "Fed-SVT, delta 0.05: choices", 1, 0.05, 100 * K, 1 * M, svt_delta),
    CHOICES(HALF_NOISE("svt-delta"), "Fed-SVT, delta 0.05: choices", 1, 0.05, 100 * K, 400 * K, svt_delta_near),
    CHOICES(SOUND("svt-paper"), "Fed-SVT at the paper's constants: choices", 2, 0, 20 * K, 1 * M, svt_paper),
    CHOICES(NOISE_16("svt-paper"), "Fed-SVT at the paper's constants: choices", 2, 0, 0, 400 * K, svt_paper),
    CHOICES(SOUND("sparse-vector"), "sparse-vector: choices", 2, 0, 100 * K, 1 * M, sparse_vector),
    CHOICES(NOISE_125("sparse-vector"), "sparse-vector: choices", 2, 0, 0, 1 * M, sparse_vector),
    CHOICES(HALF_NOISE("sparse-vector"), "sparse-vector: choices", 2, 0, 50 * K, 400 * K, sparse_vector),
    CHOICES(SOUND("hedge"), "Fed-Hedge: choices", 1, 0, 200 * K, 1 * M, hedge),
    CHOICES(NOISE_125("hedge"), "Fed-Hedge: choices", 1, 0, 0, 2 * M, hedge),
    CHOICES(HALF_NOISE("hedge"), "Fed-Hedge: choices", 1, 0, 100 * K, 400 * K, hedge),
    CHOICES(SOUND("hedge-clients"), "Fed-Hedge, three clients: choices", 1, 0, 200 * K, 1 * M, hedge_clients),
    CHOICES(NOISE_125("hedge-clients"), "Fed-Hedge, three clients: choices", 1, 0, 0, 2 * M, hedge_clients),
    CHOICES(HALF_NOISE("hedge-clients"), "Fed-Hedge, three clients: choices", 1, 0, 100 * K, 400 * K, hedge_clients),
    CHOICES(SOUND("hedge-renew"), "Fed-Hedge in two cycles: choices", 1, 0, 100 * K, 1 * M, renewed),
    CHOICES(NOISE_125("hedge-renew"), "Fed-Hedge in two cycles: choices", 1, 0, 0, 2 * M, renewed),
    CHOICES(HALF_NOISE("hedge-renew"), "Fed-Hedge in two cycles: choices", 1, 0, 100 * K, 400 * K, renewed),
    CHOICES(WRONG("hedge-renew", "kept", KEEP_SUMS, "sums kept"), "Fed-Hedge in two cycles: choices", 1, 0, 100 * K,
            400 * K, renewed),
    CHOICES(SOUND("hedge-delta"), "Fed-Hedge, delta 0.01: choices", 1, 0.01, 200 * K, 1 * M, hedge_delta),
    CHOICES(HALF_NOISE("hedge-delta"), "Fed-Hedge, delta 0.01: choices", 1, 0.01, 100 * K, 400 * K, hedge_delta),
};

const caucus_audit *caucus_audit_table_runs(size_t *ret_count) {
    *ret_count = sizeof runs / sizeof runs[0];
    return runs;
}
