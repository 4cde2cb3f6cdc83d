/* SPDX-License-Identifier: Apache-2.0 */
/* account.c: the accountant. From the integers that mechanisms will really use, what is guaranteed.
 *
 * Which sums a family's mechanisms add up to is in its own file (family_svt.c, account_stoch.c, family_hedge.c); here
 * is what all of them share: how pure and zCDP parts become one epsilon, the judgement, and the sentence for people.
 * Everything is rounded up, operation by operation. docs/PRIVACY.md, statement 2. */
#include "plan/account.h"

#include "num/number_text.h"
#include "plan/calibrate.h"
#include "plan/family.h"
#include "plan/zcdp.h"

#include <stdio.h>

double caucus_account_epsilon(const caucus_settings *s, const account_loss *loss, caucus_guarantee *guarantee) {
    const double pure = account_double(loss->pure);
    if (pure <= s->epsilon || !(s->delta > 0))
        return pure;
    const double mixed =
        caucus_zcdp_epsilon_with_pure(account_double(loss->rho), account_double(loss->pure_part), s->delta);
    if (pure <= mixed)
        return pure;
    guarantee->delta = s->delta;
    guarantee->rho_zcdp = fmax(guarantee->rho_zcdp, account_double(loss->rho));
    return mixed;
}

/* Above what was asked? Reproductions of the paper are reported, not refused. */
static caucus_status judge(const caucus_plan *plan, const caucus_guarantee *g, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    if (s->calibration == CAUCUS_CALIBRATION_PAPER)
        return CAUCUS_OK;
    const double worst =
        isnan(g->epsilon_messages) ? g->epsilon_choices : fmax(g->epsilon_choices, g->epsilon_messages);
    if (!(worst <= s->epsilon))
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "epsilon", "the plan's integers give %.17g, more than %.17g",
                           worst, s->epsilon);
    if (!(g->delta <= s->delta))
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "delta", "the plan's integers give %g, more than %g",
                           g->delta, s->delta);
    return CAUCUS_OK;
}

static const char *unit_of(const caucus_settings *s) {
    if (s->unit == CAUCUS_UNIT_EVENT)
        return "loss";
    if (s->unit == CAUCUS_UNIT_CLIENT)
        return "client and the whole run";
    if (s->pace == CAUCUS_PACE_OWN)
        return "slot of a client";
    return caucus_family_ops(caucus_algorithm_family(s->algorithm))->phases ? "phase of a client" : "block of a client";
}

/* One plain sentence about a guarantee: whom it protects from what. */
static void add_note(const caucus_plan *plan, caucus_guarantee *g) {
    const caucus_settings *s = &plan->settings;
    const char *unit = unit_of(s);
    char privacy[72], messages[72], choices[CAUCUS_REAL_TEXT_BYTES] = "infinite";
    if (isfinite(g->epsilon_choices))
        caucus_real_apart(g->epsilon_choices, g->epsilon_choices > s->epsilon ? s->epsilon : g->epsilon_choices, 4,
                          choices);
    if (g->delta > 0) {
        (void)snprintf(privacy, sizeof privacy, "private with epsilon %s, delta %.3g", choices, g->delta);
        (void)snprintf(messages, sizeof messages, "private with epsilon %.4g, delta %.3g", g->epsilon_messages,
                       g->delta);
    } else {
        (void)snprintf(privacy, sizeof privacy, "private with epsilon %s (pure)", choices);
        (void)snprintf(messages, sizeof messages, "private with epsilon %.4g", g->epsilon_messages);
    }
    if (isinf(g->epsilon_choices))
        (void)snprintf(g->note, sizeof g->note, "No privacy: what is announced may reveal any loss.");
    else if (g->epsilon_choices <= 0)
        (void)snprintf(g->note, sizeof g->note,
                       "Nothing that depends on a loss is ever announced: no privacy is spent.");
    else if (s->trust == CAUCUS_TRUST_PAPER_LOCAL)
        (void)snprintf(g->note, sizeof g->note,
                       "Reproduction only: everything announced is %s for one %s, but a client's messages "
                       "are only %s: send them to nobody you do not trust.",
                       privacy, unit, messages);
    else if (s->trust == CAUCUS_TRUST_NOBODY)
        (void)snprintf(g->note, sizeof g->note,
                       "Everything a client sends is %s for one %s, so the coordinator, a relay and everybody "
                       "else learn no more than that.",
                       privacy, unit);
    else if (g->epsilon_choices > s->epsilon)
        (void)snprintf(g->note, sizeof g->note,
                       "The paper's constants do not give what was asked: everything announced is %s for one "
                       "%s, not %.4g; the coordinator sees each client's sums, a relay those of its clients.",
                       privacy, unit, s->epsilon);
    else
        (void)snprintf(g->note, sizeof g->note,
                       "Everything announced is %s for one %s; the coordinator sees each client's sums, a relay those "
                       "of its clients.",
                       privacy, unit);
}

caucus_status caucus_plan_account(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error) {
    caucus_settings checked = plan->settings;
    caucus_status status = caucus_settings_check(&checked, ret_error);
    if (status != CAUCUS_OK)
        return status;
    if (plan->grid < 1 || plan->grid > 1 << 20 || checked.clients != plan->settings.clients)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "grid", "%lld steps (accepted: 1 to 2^20)",
                           (long long)plan->grid);
    status = caucus_plan_limits(plan, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_guarantee g = {.epsilon_messages = NAN};
    status = caucus_plan_ops_of(plan)->account(plan, &g, ret_error);
    if (status == CAUCUS_OK)
        status = judge(plan, &g, ret_error);
    if (status != CAUCUS_OK)
        return status;
    add_note(plan, &g);
    *ret = g;
    return CAUCUS_OK;
}
