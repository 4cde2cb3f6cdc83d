/* SPDX-License-Identifier: Apache-2.0 */
/* releases.c: see releases.h. Amounts are the plan's own integers (docs/PRIVACY.md, "The accountant": pure epsilon of
 * Fed-SVT = G*max(rate_T, rate_Q) + sum_k 2*G*rate_k; a draw of Fed-Hedge 2*G*rate). */
#include "algo/releases.h"

#include <math.h>

#include "algo/machine.h"
#include "plan/ledger.h"

static const caucus_rational nothing = {0, 1};

void caucus_releases_init(caucus_releases *ret, const caucus_plan *plan, caucus_ledger *ledger, uint32_t run) {
    *ret =
        (caucus_releases){.plan = plan, .ledger = ledger, .run = run, .none = isinf(plan->guarantee.epsilon_choices)};
    const caucus_machine_ops *machine = caucus_machine_ops_of(plan);
    if (plan->guarantee.delta > 0 && machine->releases)
        ret->shares = machine->releases(plan);
    ret->taken = caucus_ledger_releases_of(ledger, run);
    if (ret->shares != 0 || !machine->spent || !machine->releases)
        return;
    const uint64_t most = machine->releases(plan);
    for (uint64_t n = 1; n <= ret->taken && n <= most; n++)
        ret->spent = machine->spent(plan, n, &ret->sum);
}

static caucus_status too_large(caucus_error *ret_error) {
    return caucus_fail(ret_error, CAUCUS_E_OVERFLOW, "ledger", "an amount too large to record");
}

caucus_status caucus_releases_whole(double epsilon, caucus_rational *ret, caucus_error *ret_error) {
    *ret = nothing;
    return isnan(epsilon) || caucus_rational_ceil(epsilon, 30, ret) == CAUCUS_OK ? CAUCUS_OK : too_large(ret_error);
}

caucus_u128 caucus_releases_amount(const caucus_plan *plan, uint64_t factor, caucus_rational rate) {
    caucus_u128 top = (caucus_u128)(factor * (uint64_t)plan->grid) * rate.num << 48;
    return top / rate.den + (top % rate.den != 0);
}

caucus_u128 caucus_releases_steps(caucus_u128 amount) {
    return (amount >> 18) + ((amount & (((caucus_u128)1 << 18) - 1)) != 0);
}

/* The first n releases of a run together: charging differences of this, a run that is taken up again any number of
 * times pays what an undisturbed one pays. */
static caucus_u128 share_of(const caucus_releases *r, caucus_u128 whole, uint64_t n) {
    return whole * n / r->shares;
}

/* 2^-30 in steps of the ledger, rounded up. Differences of these are whole steps, so that a ledger that is read back
 * has lost nothing, however often. */
static caucus_u128 ledger_steps(const caucus_releases *r, caucus_u128 sum) {
    const caucus_u128 top = sum * caucus_ledger_steps(r->ledger);
    return (top >> 30) + ((top & (((caucus_u128)1 << 30) - 1)) != 0);
}

caucus_status caucus_releases_take(caucus_releases *r, uint64_t block, const char *what, caucus_error *ret_error) {
    caucus_rational total;
    caucus_status status = caucus_releases_whole(r->plan->guarantee.epsilon_choices, &total, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_u128 whole = (caucus_u128)total.num * (((uint64_t)1 << 30) / total.den);
    const uint64_t n = r->taken + 1;
    caucus_u128 sum = r->sum;
    const caucus_u128 before = r->shares != 0 ? share_of(r, whole, r->taken) : r->spent;
    const caucus_u128 after =
        r->shares != 0 ? share_of(r, whole, n) : caucus_machine_ops_of(r->plan)->spent(r->plan, n, &sum);
    if (after >> 63 != 0)
        return too_large(ret_error);
    const caucus_u128 steps = ledger_steps(r, after) - ledger_steps(r, before);
    caucus_rational amount = caucus_rational_make((uint64_t)steps, caucus_ledger_steps(r->ledger));
    status = caucus_ledger_release(r->ledger, r->run, block, what, amount, nothing, ret_error);
    if (status != CAUCUS_OK)
        return status;
    r->taken = n;
    r->spent = after;
    r->sum = sum;
    return CAUCUS_OK;
}

caucus_status caucus_releases_once(caucus_releases *r, uint64_t block, const char *what, caucus_error *ret_error) {
    const caucus_guarantee *g = &r->plan->guarantee;
    caucus_rational choices, messages;
    if (r->taken > 0)
        return CAUCUS_OK;
    caucus_status status = caucus_releases_whole(g->epsilon_choices, &choices, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_releases_whole(g->epsilon_messages, &messages, ret_error);
    if (status == CAUCUS_OK)
        status = caucus_ledger_release(r->ledger, r->run, block, what, choices, messages, ret_error);
    if (status == CAUCUS_OK)
        r->taken++;
    return status;
}

caucus_status caucus_releases_record(caucus_releases *r, const caucus_announcement *before,
                                     const caucus_announcement *after, caucus_error *ret_error) {
    return r->none ? CAUCUS_OK : caucus_machine_ops_of(r->plan)->record(r, before, after, ret_error);
}
