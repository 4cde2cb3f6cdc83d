/* SPDX-License-Identifier: Apache-2.0 */
/* family_hedge.c: hedge and leader in the plan: the learning rate of Fed-Hedge, its bound and its cost.
 *
 * After every block but the last one expert is drawn for all, P(y) ~ exp(-e_H*cum(y)/m). Replacing one loss moves
 * cum by at most 1, so a draw has range 2 e_H/m; the draw of the first block sees no data. With B-1 draws
 *     pure: epsilon = 2 (B-1) e_H/m;   zCDP: rho = (B-1) e_H^2/(2 m^2);
 * expected regret per client <= ln d/e_H + e_H * sum of (block length)^2 / 8, smallest at the e_H where both are equal,
 * which is used if the budget allows it and otherwise the largest e_H that it allows.
 * An interval N = auto is the one with the smallest bound at that e_H, of a run that renews itself every R rounds the
 * one of R's divisors up to R/2 with the smallest bound of a cycle: public numbers alone decide it.
 * A run that renews itself is calibrated for one cycle; cycles use different losses, so one cycle's cost is the run's.
 * A cycle's first expert is carried over instead of drawn uniformly, which costs at most N(1 - 1/d) more:
 *     regret <= sum over cycles of ln d/e_H + e_H * squares/8, + N (1 - 1/d) for each cycle but the first,
 * against the best expert of each cycle.
 * The accountant: one record enters at most B-1 draws, each of range 2*G*rate.
 * docs/PRIVACY.md, statement 23, "The accountant". */
#include "plan/account.h"
#include "plan/calibrate.h"
#include "plan/family.h"
#include "plan/zcdp.h"

#include <inttypes.h>
#include <math.h>

/* Follow the leader: the reference without privacy, and without draws. */
static bool is_leader(const caucus_settings *s) {
    return caucus_algorithm_variant(s->algorithm)->reference;
}

static double squares(const caucus_settings *s, uint64_t rounds) {
    const uint64_t full = rounds / s->interval;
    const double n = (double)s->interval, rest = (double)(rounds % s->interval);
    return (double)full * n * n + rest * rest;
}

/* Draws of a cycle: none after its last block. */
static uint64_t draws_of(const caucus_settings *s) {
    return (caucus_settings_cycle(s) - 1) / s->interval;
}

/* e_H; zcdp_rho is caucus_zcdp_rho() of the budget, which is looked for once. */
static double learning_rate(const caucus_settings *s, double zcdp_rho) {
    const double draws = (double)draws_of(s), m = s->clients;
    double most = INFINITY;
    if (isfinite(s->epsilon) && draws > 0) {
        most = m * s->epsilon / (2 * draws);
        if (s->delta > 0)
            most = fmax(most, m * sqrt(2 * zcdp_rho / draws));
    }
    return fmin(sqrt(8 * log((double)s->experts) / squares(s, caucus_settings_cycle(s))), most);
}

static double budget_rho(const caucus_settings *s) {
    return s->delta > 0 && isfinite(s->epsilon) ? caucus_zcdp_rho(s->epsilon * (1 - CALIBRATE_SLACK), s->delta) : 0;
}

/* The bound of one interval, per unit of the losses' range, before e_H is rounded to a fraction; where there are
 * cycles, of one that carries its expert over. */
static double bound_at(const caucus_settings *settings, uint64_t interval, double zcdp_rho) {
    caucus_settings s = *settings;
    s.interval = interval;
    const double e = learning_rate(&s, zcdp_rho);
    const double carried = s.renew != 0 ? (double)interval * (1 - 1.0 / s.experts) : 0;
    return log((double)s.experts) / e + e * squares(&s, caucus_settings_cycle(&s)) / 8 + carried;
}

/* Cycles have two blocks or more, all of one length. R is at most 2^30: divisors up to its root, and their partners. */
static uint64_t best_divisor(const caucus_settings *s, double zcdp_rho) {
    uint64_t best = 1;
    double least = bound_at(s, 1, zcdp_rho);
    for (uint64_t n = 2; n * n <= s->renew; n++) {
        const uint64_t pair[2] = {n, s->renew / n};
        for (size_t i = 0; i < 2 && s->renew % n == 0; i++) {
            const double here = bound_at(s, pair[i], zcdp_rho);
            best = here < least || (here == least && pair[i] < best) ? pair[i] : best;
            least = fmin(here, least);
        }
    }
    return best;
}

/* The N in 1 .. T with the smallest bound, the smallest of equals. As a function of N the bound falls and then rises,
 * but for what the rounding of T/N does to it. So: the best power of two, then the numbers around the best so far, all
 * of them where they are at most ALL, else in ever finer steps. Up to ALL rounds this looks at every N. */
#define ALL 65536u
static uint64_t best_interval(const caucus_settings *s) {
    if (is_leader(s))
        return 1; /* reports cost it nothing, and it has no bound */
    const double zcdp_rho = budget_rho(s);
    if (s->renew != 0)
        return best_divisor(s, zcdp_rho);
    uint64_t best = 1;
    double least = bound_at(s, 1, zcdp_rho);
    for (uint64_t n = 2; n <= s->rounds; n *= 2) {
        const double here = bound_at(s, n, zcdp_rho);
        best = here < least ? n : best;
        least = fmin(here, least);
    }
    for (uint64_t reach = s->rounds <= ALL ? s->rounds : best, step; reach > 0; reach = step > 1 ? step : 0) {
        const uint64_t from = best > reach ? best - reach : 1;
        const uint64_t until = best + reach < s->rounds ? best + reach : s->rounds;
        step = until - from < ALL ? 1 : (until - from) / 64;
        for (uint64_t n = from; n <= until; n += step) {
            const double here = bound_at(s, n, zcdp_rho);
            best = here < least || (here == least && n < best) ? n : best;
            least = fmin(here, least);
        }
    }
    return best;
}

static caucus_status calibrate(caucus_plan *plan, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    caucus_hedge_plan *hedge = &plan->hedge;
    hedge->blocks = caucus_settings_blocks(s);
    hedge->rate = (caucus_rational){0, 1};
    if (is_leader(s))
        return CAUCUS_OK;
    const double m = s->clients, rate = learning_rate(s, budget_rho(s));
    caucus_status status = caucus_calibrate_rate(rate / (m * (double)plan->grid), s->epsilon, &hedge->rate, ret_error);
    if (status == CAUCUS_OK)
        hedge->learning_rate = caucus_rational_double(hedge->rate) * m * (double)plan->grid;
    return status;
}

static caucus_status bound(caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const bool endless = caucus_plan_is_endless(plan); /* then it is the bound of a cycle */
    const double all = (double)(endless ? caucus_settings_cycle(s) : s->rounds) * (s->hi - s->lo);
    plan->bound = plan->bound_uncapped = all;
    plan->bound_kind = CAUCUS_BOUND_NONE;
    if (is_leader(s))
        return CAUCUS_OK;
    const double e = plan->hedge.learning_rate;
    plan->bound_kind = CAUCUS_BOUND_EXPECTATION;
    const uint64_t cycles = caucus_settings_cycles(s), last = s->rounds - (cycles - 1) * caucus_settings_cycle(s);
    const double carried = (double)s->interval * (1 - 1.0 / s->experts);
    const double cycle = log((double)s->experts) / e + e * squares(s, caucus_settings_cycle(s)) / 8 + carried;
    double sum = log((double)s->experts) / e + e * squares(s, last) / 8;
    if (endless)
        sum = cycle;
    else if (cycles > 1)
        sum += (double)(cycles - 1) * cycle;
    plan->bound_uncapped = sum * (s->hi - s->lo) + all / (double)plan->grid;
    plan->bound = plan->bound_uncapped < all ? plan->bound_uncapped : all;
    return CAUCUS_OK;
}

static caucus_status account(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const caucus_hedge_plan *hedge = &plan->hedge;
    if (hedge->blocks != caucus_settings_blocks(s))
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "interval", "the plan has %" PRIu64 " blocks",
                           hedge->blocks);
    const uint64_t draws = draws_of(s);
    if (draws == 0)
        return CAUCUS_OK;
    if (is_leader(s) || isinf(s->epsilon)) {
        ret->epsilon_choices = INFINITY;
        return CAUCUS_OK;
    }
    if (!account_usable(hedge->rate) || s->unit != CAUCUS_UNIT_EVENT)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "rate", "no usable rate for this unit");
    const long double one = account_cost(2, plan->grid, hedge->rate);
    account_loss loss = {.pure = account_up(one * draws),
                         .rho = account_up(account_up(account_up(one * one) * draws) / 8)};
    ret->epsilon_choices = caucus_account_epsilon(s, &loss, ret);
    return CAUCUS_OK;
}

static void walk(caucus_walker *w, caucus_plan *plan) {
    w->open(w, "hedge");
    caucus_walk_u64(w, "blocks", &plan->hedge.blocks);
    caucus_walk_rate(w, "rate", &plan->hedge.rate);
    w->close(w);
}

static uint64_t blocks(const caucus_plan *plan) {
    return plan->hedge.blocks;
}

/* One after each block but the last of each cycle. */
static uint64_t selections(const caucus_plan *plan) {
    return plan->hedge.blocks - caucus_settings_cycles(&plan->settings);
}

/* The leader is not drawn: it has no rate. */
static bool select_rate(const caucus_plan *plan, uint64_t selection, caucus_rational *ret) {
    (void)selection; /* all alike */
    if (is_leader(&plan->settings))
        return false;
    *ret = plan->hedge.rate;
    return true;
}

/* The draw after b blocks sees b*N losses of a device, each of which moves its exponent as one record does. So the B -
 * 1 draws cost N*(1 + .. + B-1) = (B-1) * N*B/2 times a draw, and N^2*(1 + .. + (B-1)^2) = (B-1) * N^2*B(2B-1)/6 under
 * zCDP. */
static caucus_device_cost device(const caucus_plan *plan) {
    const double n = (double)plan->settings.interval, b = (double)draws_of(&plan->settings) + 1;
    const double cycles = (double)caucus_settings_cycles(&plan->settings);
    const long double record = account_up(account_cost(2, plan->grid, plan->hedge.rate) * (b - 1));
    return (caucus_device_cost){
        .linear = cycles * n * b / 2, .square = cycles * n * n * b * (2 * b - 1) / 6, .record = account_double(record)};
}

const caucus_plan_ops caucus_plan_hedge = {
    .variant = {{CAUCUS_ALGORITHM_HEDGE, "Fed-Hedge", .reference = false},
                {CAUCUS_ALGORITHM_LEADER, "Follow the leader", .reference = true}},
    .options = CAUCUS_OPTION_INTERVAL | CAUCUS_OPTION_INTERVAL_AUTO | CAUCUS_OPTION_NO_PRIVACY | CAUCUS_OPTION_RENEW,
    .interval = best_interval,
    CAUCUS_FAMILY_PLAN(calibrate, bound, account),
    .select_rate = select_rate,
    .device = device,
};
