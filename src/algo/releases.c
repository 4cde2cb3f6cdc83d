/* releases.c: see releases.h. Amounts are the plan's own integers (docs/PRIVACY.md, "The accountant": pure epsilon of
 * Fed-SVT = G*max(rate_T, rate_Q) + sum_k 2*G*rate_k; a draw of Fed-Hedge 2*G*rate). */
#include "algo/releases.h"

#include <math.h>
#include <string.h>

#include "algo/schedule.h"
#include "num/int128.h"

static const caucus_rational nothing = {0, 1};

void caucus_releases_init(caucus_releases *ret, const caucus_plan *plan, caucus_ledger *ledger, uint32_t run) {
    *ret =
        (caucus_releases){.plan = plan, .ledger = ledger, .run = run, .none = isinf(plan->guarantee.epsilon_choices)};
    if (plan->guarantee.delta > 0) /* stoch needs no shares: hedge.blocks is 0 there */
        ret->shares = caucus_plan_is_svt(plan) ? (uint64_t)plan->svt.switches + 1 : plan->hedge.blocks;
    for (size_t i = 0; i < caucus_ledger_count(ledger); i++) {
        const caucus_entry *e = caucus_ledger_entry(ledger, i);
        if (e->kind != CAUCUS_ENTRY_RELEASE || e->run != run)
            continue;
        ret->taken++;
        if (strcmp(e->what, "checks") == 0)
            ret->checked = true;
        else if (strcmp(e->what, "selection") == 0)
            ret->epoch++;
        else if (strcmp(e->what, "phase") == 0)
            ret->phase++;
    }
}

static caucus_status too_large(caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_OVERFLOW, "ledger", "an amount too large to record");
}

static caucus_status whole_of(double epsilon, caucus_rational *ret, caucus_error *ret_error) {
    *ret = nothing;
    return isnan(epsilon) || caucus_rational_ceil(epsilon, 30, ret) == CAUCUS_OK ? CAUCUS_OK : too_large(ret_error);
}

/* ceil(amount * 2^48), amount = factor * rate * G: below 2^115 for every rate a plan can hold. */
static caucus_u128 fixed_amount(const caucus_releases *r, uint64_t factor, caucus_rational rate) {
    caucus_u128 top = (caucus_u128)(factor * (uint64_t)r->plan->grid) * rate.num << 48;
    return top / rate.den + (top % rate.den != 0);
}

/* The first n releases of a run together, in steps of 2^-30, rounded up once: charging differences of this, a run that
 * is taken up again any number of times pays what an undisturbed one pays. */
static caucus_u128 steps_upto(const caucus_releases *r, caucus_u128 whole, uint64_t n) {
    const caucus_plan *plan = r->plan;
    caucus_u128 sum = 0, exact;
    if (r->shares != 0)
        return whole * n / r->shares;
    if (!caucus_plan_is_svt(plan)) { /* hedge: n equal draws */
        caucus_u128 each = (caucus_u128)(2 * (uint64_t)plan->grid) * plan->hedge.rate.num;
        if (!__builtin_mul_overflow(each << 30, (caucus_u128)n, &exact))
            return exact / plan->hedge.rate.den + (exact % plan->hedge.rate.den != 0);
        sum = n * fixed_amount(r, 2, plan->hedge.rate);
    } else if (n > 0) { /* svt: the checks, then one selection after another */
        caucus_rational t = plan->svt.threshold_noise.parameter, q = plan->svt.check_noise.parameter;
        sum = fixed_amount(r, 1, caucus_rational_compare(t, q) > 0 ? t : q);
        for (uint64_t k = 0; k + 1 < n; k++)
            sum += fixed_amount(r, 2, plan->svt.select_rate[k]);
    }
    return (sum >> 18) + ((sum & (((caucus_u128)1 << 18) - 1)) != 0);
}

static caucus_status release(caucus_releases *r, uint64_t block, const char *what, caucus_error *ret_error) {
    caucus_rational total;
    caucus_status status = whole_of(r->plan->guarantee.epsilon_choices, &total, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_u128 whole = (caucus_u128)total.num * (((uint64_t)1 << 30) / total.den);
    caucus_u128 steps = steps_upto(r, whole, r->taken + 1) - steps_upto(r, whole, r->taken);
    if (steps >> 63 != 0)
        return too_large(ret_error);
    caucus_rational amount = caucus_rational_make((uint64_t)steps, (uint64_t)1 << 30);
    status = caucus_ledger_release(r->ledger, r->run, block, what, amount, nothing, ret_error);
    if (status == CAUCUS_OK)
        r->taken++;
    return status;
}

static caucus_status record_svt(caucus_releases *r, uint64_t block, uint64_t epoch, caucus_error *ret_error) {
    const caucus_svt_plan *svt = &r->plan->svt;
    if (svt->switches == 0)
        return CAUCUS_OK;
    caucus_status status = CAUCUS_OK;
    if (!r->checked) {
        status = release(r, block, "checks", ret_error);
        r->checked = status == CAUCUS_OK;
    }
    while (status == CAUCUS_OK && r->epoch < epoch && r->epoch < svt->switches) {
        status = release(r, block, "selection", ret_error);
        if (status == CAUCUS_OK)
            r->epoch++;
    }
    return status;
}

/* Phases up to `last`; the first to be learnt is phase 2. */
static caucus_status record_stoch(caucus_releases *r, uint64_t last, caucus_error *ret_error) {
    caucus_status status = CAUCUS_OK;
    while (status == CAUCUS_OK && r->phase + 2 <= last) {
        caucus_rational choices = nothing, messages = nothing;
        if (r->phase == 0) {
            status = whole_of(r->plan->guarantee.epsilon_choices, &choices, ret_error);
            if (status == CAUCUS_OK)
                status = whole_of(r->plan->guarantee.epsilon_messages, &messages, ret_error);
        }
        if (status == CAUCUS_OK)
            status = caucus_ledger_release(r->ledger, r->run, r->phase + 2, "phase", choices, messages, ret_error);
        if (status == CAUCUS_OK)
            r->phase++;
    }
    return status;
}

caucus_status caucus_releases_record(caucus_releases *r, const caucus_announcement *before,
                                     const caucus_announcement *after, caucus_error *ret_error) {
    if (r->none)
        return CAUCUS_OK;
    if (caucus_plan_is_svt(r->plan))
        return record_svt(r, before->block, after->epoch, ret_error);
    if (caucus_plan_is_stoch(r->plan))
        return record_stoch(r, before->block, ret_error);
    return release(r, before->block, "draw", ret_error);
}
