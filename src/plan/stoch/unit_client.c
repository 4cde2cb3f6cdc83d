/* SPDX-License-Identifier: Apache-2.0 */
/* unit_client.c: stoch whose record is everything that one client contributes to the run (unit client): how fast phases
 * grow and what each of them may spend.
 *
 * At the end of phase p < P a client reports the rounded mean of all its losses so far, in 0..G. Whatever a client saw,
 * it moves each coordinate by at most G in each of the K = P - 1 decisions, both ways: their costs add up. Phases end
 * after 1, g, g^2, .. rounds, so K is about log_g T. The expert of phase k+1, of len rounds, errs by stat + gap, and
 * gap ~ 1/epsilon_k (or 1/sqrt(rho_k)): sum len/epsilon_k is smallest with epsilon_k ~ sqrt(len), sum len/sqrt(rho_k)
 * with rho_k ~ len^(2/3). Where the loss of a short phase is capped at R an even split may be better. g, the split,
 * pure or zCDP and the selection are those with the smallest proved bound, from public numbers alone. Votes have no
 * bound: they take what is best for K-norm noise, whose error falls in the same way with epsilon_k and with m.
 * docs/PRIVACY.md, statement 12. */
#include "plan/calibrate.h"

#include "plan/stoch.h"
#include "plan/stoch/look.h"
#include "plan/zcdp.h"

#include <math.h>
#include <stdlib.h>

#define PHASES_MOST 32 /* 2^30 rounds, growth 2 */

/* One way to calibrate. */
typedef struct way {
    uint64_t growth;
    caucus_select select;
    caucus_split split;
} way;

/* Largest first: of equal bounds the one with the fewest decisions is taken. */
static const uint64_t growths[] = {32, 24, 16, 12, 8, 6, 4, 3, 2};
enum { GROWTHS = sizeof growths / sizeof growths[0] };

static void set_extents(caucus_plan *plan, uint64_t growth) {
    plan->settings.growth = growth;
    plan->stoch.phases = caucus_stoch_phases(&plan->settings);
    plan->stoch.described = caucus_stoch_described(&plan->settings);
    for (uint32_t i = 0; i < plan->stoch.described; i++)
        caucus_stoch_extent(&plan->settings, i + 2, &plan->stoch.phase[i]);
}

/* A mechanism of pure cost e is c e^2-zCDP: c = 1/8 for the exponential mechanism, 1/2 for all others. */
void caucus_calibrate_split(const caucus_plan *plan, const caucus_split *how, double rho, caucus_spend *ret) {
    double mass = 0, weight[PHASES_MOST];
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        weight[i] = how->even ? 1 : pow((double)plan->stoch.phase[i].length, how->zcdp ? 2.0 / 3 : 0.5);
        mass += weight[i];
    }
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        const double share = weight[i] / mass;
        ret[i].rho = how->zcdp ? rho * share : 0;
        ret[i].epsilon =
            how->zcdp ? sqrt(ret[i].rho / (how->exponential ? 0.125 : 0.5)) : caucus_look_left(&plan->settings) * share;
    }
}

/* Fill the plan in this way. */
static caucus_status make(caucus_plan *plan, const way *w, double rho, caucus_error *ret_error) {
    caucus_spend spend[PHASES_MOST];
    set_extents(plan, w->growth);
    plan->stoch.select = w->select;
    caucus_calibrate_split(plan, &w->split, rho, spend);
    for (uint32_t i = 0; i < plan->stoch.described; i++)
        if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR)
            spend[i].rho = 0; /* what it comes to is in epsilon */
    return caucus_calibrate_phases(plan, spend, false, ret_error);
}

/* Try all that the settings leave open. */
static caucus_status search(caucus_plan *plan, double rho, way *ret, caucus_error *ret_error) {
    const caucus_settings settings = plan->settings;
    const bool open = settings.select == CAUCUS_SELECT_AUTO && settings.trust == CAUCUS_TRUST_COORDINATOR && rho > 0;
    const bool gauss = settings.trust == CAUCUS_TRUST_NOBODY && plan->stoch.message == CAUCUS_MESSAGE_GAUSS;
    const bool any = settings.growth == CAUCUS_GROWTH_AUTO;
    const caucus_select first = plan->stoch.select;
    caucus_status status = CAUCUS_OK, refused = CAUCUS_OK;
    double least = INFINITY;
    bool found = false;
    for (size_t g = 0; g < (any ? GROWTHS : 1); g++)
        for (unsigned kind = 0; kind < 8; kind++) {
            const caucus_select select = kind & 4 ? CAUCUS_SELECT_EXPONENTIAL : first;
            const bool exponential = settings.trust == CAUCUS_TRUST_COORDINATOR && select == CAUCUS_SELECT_EXPONENTIAL;
            const way w = {.growth = any ? growths[g] : settings.growth,
                           .select = select,
                           .split = {.zcdp = (kind & 2) != 0, .even = (kind & 1) != 0, .exponential = exponential}};
            if ((kind & 4 && !open) || (w.split.zcdp && !(rho > 0)) || (gauss && !w.split.zcdp))
                continue;
            status = make(plan, &w, rho, found ? NULL : ret_error);
            if (status != CAUCUS_OK) { /* too small a share for 62 bits: another way may have larger ones */
                refused = status;
                continue;
            }
            const double total = caucus_bounds_stoch_total(plan);
            if (!found || total < least) {
                *ret = w;
                least = isnan(total) ? INFINITY : total;
            }
            found = true;
        }
    return found ? CAUCUS_OK : refused;
}

caucus_status caucus_calibrate_client(caucus_plan *plan, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const caucus_message message = plan->stoch.message;
    const bool votes =
        s->trust == CAUCUS_TRUST_NOBODY && (message == CAUCUS_MESSAGE_VOTE || message == CAUCUS_MESSAGE_SHORTLIST);
    const double rho =
        s->delta > 0 ? caucus_zcdp_rho(caucus_look_left(s) * (1 - CALIBRATE_SLACK), s->delta) * (1 - CALIBRATE_SLACK)
                     : 0;
    plan->stoch.gradient_lo = 0;
    plan->stoch.gradient_hi = plan->grid;
    plan->stoch.phase = calloc(PHASES_MOST, sizeof *plan->stoch.phase);
    if (!plan->stoch.phase)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "", "%d phases", PHASES_MOST);
    way best = {.growth = growths[0]};
    if (votes)
        plan->stoch.message = CAUCUS_MESSAGE_KNORM;
    caucus_status status = search(plan, rho, &best, ret_error);
    plan->stoch.message = message;
    return status == CAUCUS_OK ? make(plan, &best, rho, ret_error) : status;
}
