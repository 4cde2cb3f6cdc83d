/* SPDX-License-Identifier: Apache-2.0 */
/* run_modes.c: the modes of docs/vectors/runs.json, in the order of the file: new ones at its end, so that a client
 * that counts on a run finds it where it was. tests/vectors/test_vector_modes.c holds that none is missing. */
#include "run_modes.h"

#include <string.h>

#define A(x) .algorithm = CAUCUS_ALGORITHM_##x
#define T(x) .trust = CAUCUS_TRUST_##x
#define M(x) .message = CAUCUS_MESSAGE_##x
#define U(x) .unit = CAUCUS_UNIT_##x
#define S(x) .select = CAUCUS_SELECT_##x
#define ENDLESS .rounds = CAUCUS_ROUNDS_ENDLESS
#define OWN ENDLESS, .pace = CAUCUS_PACE_OWN
#define QUESTIONS U(CLIENT), .pace = CAUCUS_PACE_OWN, .rounds = 3, .growth = 2 /* after one slot, and after two */
const mode run_modes[] = {
    {"svt", A(SVT), T(COORDINATOR)},
    {"svt, blocks of four rounds", A(SVT), T(COORDINATOR), .interval = 4},
    {"svt, unit client-block", A(SVT), T(COORDINATOR), U(CLIENT_BLOCK), .interval = 2},
    {"svt that begins again", A(SVT), T(COORDINATOR), .renew = 5},
    {"svt without an end", A(SVT), T(COORDINATOR), ENDLESS},
    {"sparse-vector", A(SPARSE_VECTOR), T(COORDINATOR)},
    {"hedge", A(HEDGE), T(COORDINATOR), .interval = 3},
    {"leader", A(LEADER), T(COORDINATOR), .interval = 5},
    {"stoch", A(STOCH), T(COORDINATOR)},
    {"stoch, unit client-block", A(STOCH), T(COORDINATOR), U(CLIENT_BLOCK)},
    {"stoch, unit client", A(STOCH), T(COORDINATOR), U(CLIENT), .growth = 3},
    {"stoch, few evaluations", A(STOCH), T(COORDINATOR), .evaluate = 2},
    {"stoch, few evaluations, unit client-block", A(STOCH), T(COORDINATOR), U(CLIENT_BLOCK), .evaluate = 3},
    {"stoch that shows its loss", A(STOCH), T(COORDINATOR), .show_loss = 2},
    {"stoch without an end", A(STOCH), T(COORDINATOR), ENDLESS, .longest_phase = 4},
    {"limited-updates", A(LIMITED_UPDATES), T(COORDINATOR)},
    {"stoch, vote", A(STOCH), T(NOBODY), M(VOTE)},
    {"stoch, shortlist", A(STOCH), T(NOBODY), M(SHORTLIST)},
    {"stoch, knorm", A(STOCH), T(NOBODY), M(KNORM)},
    {"stoch, laplace-d", A(STOCH), T(NOBODY), M(LAPLACE_D)},
    {"stoch, gauss", A(STOCH), T(NOBODY), M(GAUSS)},
    {"stoch, vote, unit client", A(STOCH), T(NOBODY), M(VOTE), U(CLIENT), .growth = 3},
    {"stoch, laplace-d, unit client-block", A(STOCH), T(NOBODY), M(LAPLACE_D), U(CLIENT_BLOCK)},
    {"stoch, paper-local", A(STOCH), T(PAPER_LOCAL)},
    {"own pace", A(STOCH), T(COORDINATOR), U(CLIENT_BLOCK), OWN},
    {"own pace, vote", A(STOCH), T(NOBODY), M(VOTE), U(CLIENT_BLOCK), OWN},
    {"own pace, laplace-d", A(STOCH), T(NOBODY), M(LAPLACE_D), U(CLIENT_BLOCK), OWN},
    {"convex", A(STOCH), T(COORDINATOR), .convex = true},
    {"convex, trees", A(STOCH), T(COORDINATOR), .convex = true, .trees = 1},
    {"convex, laplace-d", A(STOCH), T(NOBODY), M(LAPLACE_D), .convex = true},
    {"convex, trees, laplace-d", A(STOCH), T(NOBODY), M(LAPLACE_D), .convex = true, .trees = 1},
    {"convex, trees, knorm", A(STOCH), T(NOBODY), M(KNORM), .convex = true, .trees = 1},
    {"svt, protocol paper", A(SVT), T(COORDINATOR), .interval = 2, .protocol = CAUCUS_PROTOCOL_PAPER},
    {"hedge that begins again", A(HEDGE), T(COORDINATOR), .renew = 5},
    {"stoch, few evaluations, unit client", A(STOCH), T(COORDINATOR), U(CLIENT), .growth = 3, .evaluate = 3},
    {"own pace, unit event", A(STOCH), T(COORDINATOR), U(EVENT), OWN},
    {"own pace that shows its loss", A(STOCH), T(COORDINATOR), U(CLIENT_BLOCK), OWN, .show_loss = 4, .quiet = 2},
    {"trees", A(STOCH), T(COORDINATOR), .trees = 1, .epsilon = 1},
    {"trees, knorm", A(STOCH), T(NOBODY), M(KNORM), .trees = 1},
    {"trees, laplace-d", A(STOCH), T(NOBODY), M(LAPLACE_D), .trees = 1},
    {"trees, gauss", A(STOCH), T(NOBODY), M(GAUSS), .trees = 1},
    {"trees, paper-local", A(STOCH), T(PAPER_LOCAL), .trees = 1, .epsilon = 1},
    {"convex, vote", A(STOCH), T(NOBODY), M(VOTE), .convex = true},
    {"convex, shortlist", A(STOCH), T(NOBODY), M(SHORTLIST), .convex = true},
    {"convex, knorm", A(STOCH), T(NOBODY), M(KNORM), .convex = true},
    {"convex, gauss", A(STOCH), T(NOBODY), M(GAUSS), .convex = true},
    {"convex, trees, gauss", A(STOCH), T(NOBODY), M(GAUSS), .convex = true, .trees = 1},
    {"convex, paper-local", A(STOCH), T(PAPER_LOCAL), .convex = true},
    {"convex, trees, paper-local", A(STOCH), T(PAPER_LOCAL), .convex = true, .trees = 1},
    {"stoch, paper-local, unit client-block", A(STOCH), T(PAPER_LOCAL), U(CLIENT_BLOCK)},
    {"stoch, vote, unit client-block", A(STOCH), T(NOBODY), M(VOTE), U(CLIENT_BLOCK)},
    {"stoch, shortlist, unit client-block", A(STOCH), T(NOBODY), M(SHORTLIST), U(CLIENT_BLOCK)},
    {"stoch, knorm, unit client-block", A(STOCH), T(NOBODY), M(KNORM), U(CLIENT_BLOCK)},
    {"stoch, gauss, unit client-block", A(STOCH), T(NOBODY), M(GAUSS), U(CLIENT_BLOCK)},
    {"stoch, shortlist, unit client", A(STOCH), T(NOBODY), M(SHORTLIST), U(CLIENT), .growth = 3},
    {"stoch, knorm, unit client", A(STOCH), T(NOBODY), M(KNORM), U(CLIENT), .growth = 3},
    {"stoch, laplace-d, unit client", A(STOCH), T(NOBODY), M(LAPLACE_D), U(CLIENT), .growth = 3},
    {"stoch, gauss, unit client", A(STOCH), T(NOBODY), M(GAUSS), U(CLIENT), .growth = 3},
    {"own pace, knorm", A(STOCH), T(NOBODY), M(KNORM), U(CLIENT_BLOCK), OWN},
    {"own pace, gauss", A(STOCH), T(NOBODY), M(GAUSS), U(CLIENT_BLOCK), OWN},
    {"own pace, vote, unit event", A(STOCH), T(NOBODY), M(VOTE), U(EVENT), OWN},
    {"own pace, knorm, unit event", A(STOCH), T(NOBODY), M(KNORM), U(EVENT), OWN},
    {"own pace, laplace-d, unit event", A(STOCH), T(NOBODY), M(LAPLACE_D), U(EVENT), OWN},
    {"own pace, gauss, unit event", A(STOCH), T(NOBODY), M(GAUSS), U(EVENT), OWN},
    {"stoch, select flip", A(STOCH), T(COORDINATOR), S(FLIP), .epsilon = 2},
    {"stoch, select exponential", A(STOCH), T(COORDINATOR), S(EXPONENTIAL), .epsilon = 2},
    {"stoch, select noisy-min", A(STOCH), T(COORDINATOR), S(NOISY_MIN), .epsilon = 2},
    {"stoch, past phases", A(STOCH), T(COORDINATOR), .past_phases = true},
    {"stoch, past phases, few evaluations", A(STOCH), T(COORDINATOR), .past_phases = true, .evaluate = 2},
    {"own pace, past phases", A(STOCH), T(COORDINATOR), U(CLIENT_BLOCK), OWN, .past_phases = true},
    {"stoch, a longest phase and a first one", A(STOCH), T(COORDINATOR), .longest_phase = 4, .first_phase = 2},
    {"stoch without an end, vote", A(STOCH), T(NOBODY), M(VOTE), ENDLESS, .longest_phase = 4},
    {"stoch without an end, few evaluations", A(STOCH), T(COORDINATOR), ENDLESS, .longest_phase = 4, .evaluate = 2},
    {"stoch that shows its loss, unit client", A(STOCH), T(COORDINATOR), U(CLIENT), .growth = 3, .show_loss = 12},
    {"svt without an end that begins again", A(SVT), T(COORDINATOR), ENDLESS, .renew = 5},
    {"svt that begins again, unit client-block", A(SVT), T(COORDINATOR), U(CLIENT_BLOCK), .interval = 2, .renew = 6},
    {"hedge without an end", A(HEDGE), T(COORDINATOR), ENDLESS, .renew = 5},
    {"svt, front-load", A(SVT), T(COORDINATOR), .front_load = true},
    {"svt with a delta", A(SVT), T(COORDINATOR), .delta = 1e-6, .epsilon = 5},
    {"own pace, unit client", A(STOCH), T(COORDINATOR), QUESTIONS},
    {"own pace, vote, unit client", A(STOCH), T(NOBODY), M(VOTE), QUESTIONS},
    {"own pace, knorm, unit client", A(STOCH), T(NOBODY), M(KNORM), QUESTIONS},
    {"own pace, laplace-d, unit client", A(STOCH), T(NOBODY), M(LAPLACE_D), QUESTIONS},
    {"own pace, gauss, unit client", A(STOCH), T(NOBODY), M(GAUSS), QUESTIONS},
    {"own pace that shows its loss, unit client", A(STOCH), T(COORDINATOR), QUESTIONS, .show_loss = 12, .quiet = 1},
};
const size_t run_modes_count = sizeof run_modes / sizeof run_modes[0];

caucus_plan *mode_plan(const mode *wanted) {
    caucus_plan *plan;
    caucus_settings s;
    caucus_error error;
    caucus_settings_init(&s);
    s.algorithm = wanted->algorithm;
    s.trust = wanted->trust;
    s.message = wanted->message;
    s.unit = wanted->unit;
    if (wanted->trust == CAUCUS_TRUST_PAPER_LOCAL)
        s.calibration = CAUCUS_CALIBRATION_PAPER;
    s.clients = CLIENTS;
    s.experts = EXPERTS;
    s.rounds = wanted->rounds ? wanted->rounds : ROUNDS;
    s.epsilon = wanted->epsilon > 0 ? wanted->epsilon : 20;
    s.delta = wanted->message == CAUCUS_MESSAGE_GAUSS ? 1e-6 : wanted->delta;
    s.lo = -0.125;
    s.hi = 1.75;
    s.grid = 1000; /* no power of two: the scale itself is rounded */
    s.interval = wanted->interval ? wanted->interval : 1;
    s.longest_phase = wanted->longest_phase;
    s.renew = wanted->renew;
    s.growth = wanted->growth;
    s.evaluate = wanted->evaluate;
    s.show_loss = wanted->show_loss;
    s.pace = wanted->pace;
    s.protocol = wanted->protocol;
    s.select = wanted->select;
    s.past_phases = wanted->past_phases;
    s.front_load = wanted->front_load;
    if (wanted->first_phase)
        s.first_phase = wanted->first_phase;
    if (wanted->trees > 0 || wanted->convex || wanted->trust == CAUCUS_TRUST_PAPER_LOCAL)
        s.trees = (int)wanted->trees;
    if (wanted->convex) {
        s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
        s.lipschitz = 1.5;
        s.smoothness = CURVATURE;
    }
    if (caucus_plan_new(&s, &plan, &error) != CAUCUS_OK) {
        (void)fprintf(stderr, "%s: %s: %s\n", wanted->name, error.field, error.text);
        exit(1);
    }
    return plan;
}
