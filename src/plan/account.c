/* account.c: the accountant. From the integers that mechanisms will really use, what is guaranteed.
 *
 * Fed-SVT: one record changes q of one epoch and all later scores, each by at most G. An epoch is
 * max(G*rate_T, G*rate_Q)-DP (lemma AT), epochs compose in parallel, selection k costs 2*G*rate_k:
 *     pure: G*max(rate_T, rate_Q) + sum_k 2*G*rate_k;    zCDP of the selections: sum_k (2*G*rate_k)^2/8.
 * Fed-Hedge: one record enters at most blocks-1 draws, each of range 2*G*rate.
 * Everything is rounded up, operation by operation. docs/PRIVACY.md, "The accountant". */
#include "plan/account.h"

#include "plan/calibrate.h"
#include "plan/zcdp.h"

#include <string.h>

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

static bool threshold_noise(const caucus_noise *noise) {
    return (noise->kind == CAUCUS_NOISE_GEOMETRIC || noise->kind == CAUCUS_NOISE_LAPLACE) &&
           account_usable(noise->parameter);
}

caucus_status caucus_account_svt(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const caucus_svt_plan *svt = &plan->svt;
    if (svt->checks != (s->rounds - 1) / s->interval || svt->blocks != svt->checks + 1)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "interval", "the plan has %u checks, the settings %u",
                           svt->checks, (s->rounds - 1) / s->interval);
    if (svt->switches == 0)
        return CAUCUS_OK; /* nothing is ever announced but the first expert */
    if (!threshold_noise(&svt->threshold_noise) || !threshold_noise(&svt->check_noise) || !svt->select_rate ||
        !svt->threshold)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "threshold", "noise of another kind than a check may use");
    const long double at = fmaxl(account_cost(1, plan->grid, svt->threshold_noise.parameter),
                                 account_cost(1, plan->grid, svt->check_noise.parameter));
    account_loss loss = {.pure = at, .pure_part = at};
    for (uint32_t k = 0; k < svt->switches; k++) {
        if (!account_usable(svt->select_rate[k]))
            return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "select_rate", "rate %u is no rate", k);
        const long double eta = account_cost(2, plan->grid, svt->select_rate[k]);
        loss.pure = account_up(loss.pure + eta);
        loss.rho = account_up(loss.rho + account_up(eta * eta) / 8);
    }
    ret->epsilon_choices = caucus_account_epsilon(s, &loss, ret);
    return CAUCUS_OK;
}

caucus_status caucus_account_hedge(const caucus_plan *plan, caucus_guarantee *ret, caucus_error *ret_error) {
    const caucus_settings *s = &plan->settings;
    const caucus_hedge_plan *hedge = &plan->hedge;
    if (hedge->blocks != (s->rounds - 1) / s->interval + 1)
        return caucus_fail(ret_error, CAUCUS_E_INFEASIBLE, "interval", "the plan has %u blocks", hedge->blocks);
    const uint32_t draws = hedge->blocks - 1;
    if (draws == 0)
        return CAUCUS_OK;
    if (s->algorithm == CAUCUS_ALGORITHM_LEADER || isinf(s->epsilon)) {
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
    switch (plan->settings.algorithm) {
    case CAUCUS_ALGORITHM_SVT:
    case CAUCUS_ALGORITHM_SPARSE_VECTOR:
        status = caucus_account_svt(plan, &g, ret_error);
        break;
    case CAUCUS_ALGORITHM_STOCH:
    case CAUCUS_ALGORITHM_LIMITED_UPDATES:
        status = caucus_account_stoch(plan, &g, ret_error);
        break;
    default:
        status = caucus_account_hedge(plan, &g, ret_error);
        break;
    }
    if (status == CAUCUS_OK)
        status = judge(plan, &g, ret_error);
    if (status != CAUCUS_OK)
        return status;
    caucus_plan_note(plan, &g);
    *ret = g;
    return CAUCUS_OK;
}
