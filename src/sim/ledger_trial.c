/* ledger_trial.c: releases of a trial. See ledger_trial.h; amounts are the plan's own integers (docs/PRIVACY.md, "The
 * accountant": pure epsilon of Fed-SVT = G*max(rate_T, rate_Q) + sum_k 2*G*rate_k; a draw of Fed-Hedge 2*G*rate). */
#include "sim/ledger_trial.h"

#include <math.h>

typedef struct recorder {
    caucus_ledger *ledger;
    uint32_t run;
    const caucus_plan *plan;
    bool checked;         /* svt: the checks have been charged */
    uint32_t phase;       /* stoch: last phase charged */
    uint32_t epoch;       /* svt: selections recorded */
    uint64_t shares, taken; /* delta > 0 */
    caucus_status status;
    caucus_error *error;
} recorder;

static const caucus_rational nothing = {0, 1};

static void release(recorder *r, uint32_t block, const char *what, caucus_rational choices, caucus_rational messages) {
    if (r->status == CAUCUS_OK)
        r->status = caucus_ledger_release(r->ledger, r->run, block, what, choices, messages, r->error);
}

/* factor * rate * G, exactly. */
static caucus_rational cost(recorder *r, uint64_t factor, caucus_rational rate) {
    caucus_rational ret = nothing, scale = {factor * (uint64_t)r->plan->grid, 1};
    if (r->status == CAUCUS_OK && caucus_rational_mul(rate, scale, &ret) != CAUCUS_OK)
        r->status = caucus_fail(r->error, CAUCUS_E_OVERFLOW, "ledger", "an amount too large to record");
    return ret;
}

static caucus_rational whole_of(recorder *r, double epsilon) {
    caucus_rational ret = nothing;
    if (!isnan(epsilon) && r->status == CAUCUS_OK && caucus_rational_ceil(epsilon, 30, &ret) != CAUCUS_OK)
        r->status = caucus_fail(r->error, CAUCUS_E_OVERFLOW, "ledger", "an amount too large to record");
    return ret;
}

/* The next of `shares` equal parts of the whole, in steps of 2^-30: they add up to it exactly. */
static caucus_rational share(recorder *r) {
    caucus_rational whole = whole_of(r, r->plan->guarantee.epsilon_choices);
    unsigned __int128 steps = (unsigned __int128)whole.num * (((uint64_t)1 << 30) / whole.den);
    uint64_t before = (uint64_t)(steps * r->taken / r->shares), after = (uint64_t)(steps * (r->taken + 1) / r->shares);
    r->taken++;
    return caucus_rational_make(after - before, (uint64_t)1 << 30);
}

static void record_svt(recorder *r, uint32_t block, const caucus_announcement *a) {
    const caucus_svt_plan *svt = &r->plan->svt;
    if (svt->switches == 0)
        return;
    if (!r->checked) {
        caucus_rational t = svt->threshold_noise.parameter, q = svt->check_noise.parameter;
        caucus_rational most = caucus_rational_compare(t, q) > 0 ? t : q;
        release(r, block, "checks", r->shares != 0 ? share(r) : cost(r, 1, most), nothing);
        r->checked = true;
    }
    for (; r->epoch < a->epoch && r->epoch < svt->switches; r->epoch++)
        release(r, block, "selection", r->shares != 0 ? share(r) : cost(r, 2, svt->select_rate[r->epoch]), nothing);
}

static void record_stoch(recorder *r, uint32_t round) {
    const caucus_stoch_plan *stoch = &r->plan->stoch;
    while (r->phase + 1 < stoch->phases && stoch->phase[r->phase].first <= round + 1) {
        const caucus_guarantee *g = &r->plan->guarantee;
        bool first = r->phase == 0;
        release(r, r->phase + 2, "phase", first ? whole_of(r, g->epsilon_choices) : nothing,
                first ? whole_of(r, g->epsilon_messages) : nothing);
        r->phase++;
    }
}

static void watch(void *user, uint32_t round, const caucus_announcement *a) {
    recorder *r = user;
    if (round == 0)
        return; /* the first expert is drawn before any loss */
    uint32_t block = (round - 1) / r->plan->settings.interval + 1;
    switch (r->plan->settings.algorithm) {
    case CAUCUS_ALGORITHM_SVT:
    case CAUCUS_ALGORITHM_SPARSE_VECTOR:
        record_svt(r, block, a);
        break;
    case CAUCUS_ALGORITHM_STOCH:
    case CAUCUS_ALGORITHM_LIMITED_UPDATES:
        record_stoch(r, round);
        break;
    default:
        if (round < r->plan->settings.rounds)
            release(r, block, "draw", r->shares != 0 ? share(r) : cost(r, 2, r->plan->hedge.rate), nothing);
        break;
    }
}

caucus_status caucus_ledger_trial(caucus_ledger *ledger, uint32_t run, const caucus_plan *plan, const caucus_adversary *adversary,
                                  uint64_t seed, const volatile int *stop, caucus_error *ret_error) {
    if (isinf(plan->guarantee.epsilon_choices))
        return CAUCUS_OK;
    recorder r = {.ledger = ledger, .run = run, .plan = plan, .error = ret_error};
    if (plan->guarantee.delta > 0) {
        bool svt = plan->settings.algorithm == CAUCUS_ALGORITHM_SVT || plan->settings.algorithm == CAUCUS_ALGORITHM_SPARSE_VECTOR;
        r.shares = svt ? (uint64_t)plan->svt.switches + 1 : plan->hedge.blocks; /* 0 for stoch, which needs none */
    }
    caucus_trial_result result;
    caucus_status status = caucus_trial_play(plan, adversary, seed, 0, stop, watch, &r, &result);
    if (status == CAUCUS_OK)
        return r.status;
    return caucus_fail(ret_error, status, "ledger", "%s", caucus_status_text(status));
}
