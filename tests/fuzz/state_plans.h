/* SPDX-License-Identifier: Apache-2.0 */
/* state_plans.h: the plans whose states are fuzzed: every family of machines, small. */
#ifndef TESTS_FUZZ_STATE_PLANS_H
#define TESTS_FUZZ_STATE_PLANS_H

#include <stdlib.h>

#include <caucus/caucus.h>

enum { PLANS = 6, PLAN_HASH_BYTE = 0x5a };
static caucus_plan *plans[PLANS];

static inline void make_plans(void) {
    for (int i = 0; i < PLANS; i++) {
        caucus_settings s;
        caucus_settings_init(&s);
        s.trust = CAUCUS_TRUST_COORDINATOR;
        s.clients = 2;
        s.experts = 3;
        s.rounds = 70;
        s.epsilon = 5;
        s.algorithm = i == 0 ? CAUCUS_ALGORITHM_SVT : i == 1 ? CAUCUS_ALGORITHM_HEDGE : CAUCUS_ALGORITHM_STOCH;
        if (i == 3)
            s.calibration = CAUCUS_CALIBRATION_PAPER;
        if (i >= 4)
            s.trust = CAUCUS_TRUST_NOBODY;
        if (i == 4)
            s.message = CAUCUS_MESSAGE_SHORTLIST;
        if (i == 5) {
            s.message = CAUCUS_MESSAGE_KNORM;
            s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
            s.smoothness = 1;
            s.trees = 2;
        }
        if (caucus_plan_new(&s, &plans[i], NULL) != CAUCUS_OK)
            abort();
    }
}

/* Gradients for the convex one. */
static inline void flat(void *user, uint64_t round, const double *x, double *ret, uint32_t experts) {
    (void)user, (void)round;
    for (uint32_t y = 0; y < experts; y++)
        ret[y] = x[y];
}

#endif
