/* SPDX-License-Identifier: Apache-2.0 */
/* audit_fault.c: how a broken twin is made: wrong integers in its own copy of a plan, or a coordinator that forgets a
 * rule. See audit_stage.h. */
#include "audit/audit_stage.h"

#include "algo/coordinator.h"
#include "plan/text/plan_walk.h"

#include <string.h>

caucus_rational caucus_audit_break_rate(caucus_rational rate, const caucus_audit_fault *fault) {
    if (fault->kind != CAUCUS_AUDIT_NOISE || rate.den == 0) /* 0/0: not used by this plan */
        return rate;
    /* Exact for small numerators; of a large one less than a thousandth is lost, downwards. */
    if (rate.num < 1u << 10)
        return caucus_rational_make(rate.num * fault->num, rate.den * fault->den);
    return caucus_rational_make(rate.num / fault->den * fault->num, rate.den);
}

static void break_noise(caucus_noise *noise, const caucus_audit_fault *fault) {
    if (noise->kind != CAUCUS_NOISE_GAUSSIAN) {
        noise->parameter = caucus_audit_break_rate(noise->parameter, fault);
        return;
    }
    const uint64_t up = (uint64_t)fault->num * fault->num, down = (uint64_t)fault->den * fault->den;
    noise->parameter = caucus_rational_make(noise->parameter.num / up * down, noise->parameter.den); /* a variance */
}

typedef struct breaker {
    caucus_walker walker;
    const caucus_audit_fault *fault;
} breaker;

static void break_value(caucus_walker *walker, const char *key, const caucus_value *value) {
    const breaker *b = (const breaker *)walker;
    (void)key;
    if (value->kind == CAUCUS_VALUE_RATIONAL)
        *value->rational = caucus_audit_break_rate(*value->rational, b->fault);
    else if (value->kind == CAUCUS_VALUE_NOISE)
        break_noise(value->noise, b->fault);
}

static void pass_open(caucus_walker *walker, const char *key) {
    (void)walker, (void)key;
}

static void pass_close(caucus_walker *walker) {
    (void)walker;
}

static void pass_list(caucus_walker *walker, const char *key, size_t count) {
    (void)walker, (void)key, (void)count;
}

static bool pass_has(caucus_walker *walker, const char *key, bool other) {
    (void)walker, (void)key;
    return other;
}

/* Unit client: every phase spends what all of them may spend together. */
static void each_whole(caucus_plan *plan) {
    double rates = 0, budgets = 0; /* one of them is 0 */
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        rates += caucus_rational_double(plan->stoch.phase[i].select_rate[0]);
        budgets += caucus_rational_double(plan->stoch.phase[i].select_budget);
    }
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        plan->stoch.phase[i].select_rate[0] = (caucus_rational){(uint64_t)(rates * 0x1p56), (uint64_t)1 << 56};
        plan->stoch.phase[i].select_budget = (caucus_rational){(uint64_t)(budgets * 0x1p32), (uint64_t)1 << 32};
    }
}

void caucus_audit_break_plan(caucus_plan *plan, const caucus_audit_fault *fault) {
    if (fault->kind == CAUCUS_AUDIT_NOISE) { /* every rate and every noise, whatever the family: the walk meets all */
        breaker b = {.walker = {.open = pass_open,
                                .close = pass_close,
                                .list = pass_list,
                                .value = break_value,
                                .has = pass_has},
                     .fault = fault};
        caucus_walk_mechanism(&b.walker, plan);
    }
    if (fault->kind == CAUCUS_AUDIT_EACH_WHOLE)
        each_whole(plan);
    if (fault->kind == CAUCUS_AUDIT_RANGE_5) {
        plan->settings.hi = plan->settings.lo + 5 * (plan->settings.hi - plan->settings.lo);
        plan->grid *= 5;
        plan->stoch.gradient_hi *= 5;
    }
}

caucus_status caucus_audit_decide(const caucus_audit_stage *stage, caucus_coordinator *coordinator) {
    const caucus_threshold before = coordinator->threshold;
    const uint64_t epoch = caucus_coordinator_epoch(coordinator);
    const caucus_audit_fault_kind kind = stage->fault.kind;
    const bool sums = kind == CAUCUS_AUDIT_KEEP_SUMS;
    int64_t cum[CAUCUS_AUDIT_KEPT];
    if (sums)
        memcpy(cum, coordinator->cum, stage->d * sizeof *cum);
    const uint64_t renewals = coordinator->renewals;
    caucus_status status = caucus_coordinator_decide(coordinator);
    if (status != CAUCUS_OK || caucus_coordinator_epoch(coordinator) == epoch)
        return status;
    /* An epoch has ended, with a selection or with its cycle. */
    const bool both = kind == CAUCUS_AUDIT_KEEP_EPOCH, open = coordinator->threshold.open;
    if (open && (both || kind == CAUCUS_AUDIT_KEEP_Q))
        coordinator->threshold.q = before.q;
    if (open && (both || kind == CAUCUS_AUDIT_KEEP_THETA))
        coordinator->threshold.theta = before.theta;
    if (sums && coordinator->renewals > renewals)
        memcpy(coordinator->cum, cum, stage->d * sizeof *cum);
    if (kind == CAUCUS_AUDIT_QUIET_LATER)
        coordinator->plan = stage->quiet;
    return CAUCUS_OK;
}
