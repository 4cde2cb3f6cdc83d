/* SPDX-License-Identifier: Apache-2.0 */
/* family_svt.c: how plans of svt and sparse-vector are told. */
#include "dp/growth.h"
#include "show/family_words.h"
#include "show/plan_words.h"

#include <inttypes.h>
#include <math.h>

/* The check about which a plan is told: of thresholds that grow the nominal one, else any. */
static uint64_t nominal_checks(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    return caucus_settings_grow(s) ? s->nominal_rounds / s->interval : plan->svt.checks;
}

static void print(FILE *out, const caucus_plan *plan, int width) {
    (void)width;
    const caucus_svt_plan *svt = &plan->svt;
    if (svt->switches == 0) {
        fputs("  Noise       none is drawn: there is nothing to decide after the only block\n", out);
        return;
    }
    const caucus_noise *t = &svt->threshold_noise, *q = &svt->check_noise;
    const double grid = (double)plan->grid;
    if (t->kind == q->kind && caucus_rational_compare(t->parameter, q->parameter) == 0)
        fprintf(out, "  Noise       threshold and checks: %s, scale %s", caucus_words_law(t->kind),
                caucus_words_number(caucus_words_spread(plan, t)).text);
    else
        fprintf(out, "  Noise       threshold: %s, scale %s     checks: scale %s", caucus_words_law(t->kind),
                caucus_words_number(caucus_words_spread(plan, t)).text,
                caucus_words_number(caucus_words_spread(plan, q)).text);
    const double first = 2 * grid * caucus_rational_double(svt->select_rate[0]),
                 last = 2 * grid * caucus_rational_double(svt->select_rate[svt->switches - 1]);
    fprintf(out, "        selections: eta %s", caucus_words_number(first).text);
    if (first > last * (1 + 1e-9))
        fprintf(out, " falling to %s", caucus_words_number(last).text);
    fprintf(out, ", at most %s\n", caucus_words_whole(svt->switches).text);
    fprintf(out, "  Switch when the expert in force has cost %s since it was chosen",
            caucus_words_number((double)caucus_svt_threshold(plan, 0, nominal_checks(plan)) * caucus_words_step(plan))
                .text);
    if (caucus_settings_grow(&plan->settings))
        fprintf(out, ", %s at first: it grows with the rounds",
                caucus_words_number((double)caucus_svt_threshold(plan, 0, 1) * caucus_words_step(plan)).text);
    if (first > last * (1 + 1e-9))
        fprintf(out, " (%s at the last switch)",
                caucus_words_number((double)svt->threshold[svt->switches - 1] * caucus_words_step(plan)).text);
    fputs(plan->settings.clients > 1 ? ", all clients together\n" : "\n", out);
}

static const char *why_none(const caucus_plan *plan) {
    return plan->settings.front_load ? "front-load has no proof, only better simulations"
                                     : "the paper's constants leave no margin";
}

static void explain_svt_paper(caucus_explainer *e, double m_checks) {
    const caucus_settings *s = &e->plan->settings;
    const caucus_svt_plan *svt = &e->plan->svt;
    const double eta = 2 * (double)e->plan->grid * caucus_rational_double(svt->select_rate[0]);
    caucus_explain_say(e, "The number of switches",
                       "The paper's constants: kappa = 3 ceil(log2 d) + 24 ln(1/rho) = %u switches.", svt->switches);
    caucus_explain_say(
        e, "Fed-SVT",
        "Laplace noise of scale 4/epsilon = %.6g (threshold) and 8/epsilon = %.6g (checks), M = %.0f checks.",
        4 / s->epsilon, 8 / s->epsilon, m_checks);
    caucus_explain_more(e, "By lemma AT an epoch costs the larger rate, epsilon/4, not epsilon/2 (\"Lemma AT\").");
    caucus_explain_say(e, "Fed-SVT",
                       "Selections with eta = %.5f; switch at L = m L* + 8 ln(2T^2/(N^2 rho))/epsilon + 4/eta = %.4f.",
                       eta, (double)svt->threshold[0] / (double)e->plan->grid);
}

static void explain_svt_tight(caucus_explainer *e, double m_checks) {
    const caucus_settings *s = &e->plan->settings;
    const caucus_svt_plan *svt = &e->plan->svt;
    const double grid = (double)e->plan->grid, g = svt->margin, kappa = svt->switches, quarter = s->rho / 4;
    const bool grows = caucus_settings_grow(s);
    const double n = m_checks + 1, odds = grows ? CAUCUS_GROWTH_CONSTANT * n * log(n) * log(n) : m_checks;
    const double a1 = log(odds / (2 * quarter)), a2 = log((kappa + 1) / quarter), at = svt->epsilon_threshold;
    const double eta = 2 * grid * caucus_rational_double(svt->select_rate[0]);
    caucus_explain_say(
        e, "The number of switches",
        "Margin g = %.6g (the best of 3, 3.5, .., 8). Truncated exponentials V on [0, g/2]: the smallest k with", g);
    caucus_explain_more(
        e,
        grows ? "P(V_1 + .. + V_(k+1) <= ln d = %.5f) <= rho/2 = %.6g is kappa = %u switches, however long the run is."
              : "P(V_1 + .. + V_(k+1) <= ln d = %.5f) <= rho/2 = %.6g is kappa = %u switches (at most M = %.0f, the "
                "checks).",
        log((double)s->experts), s->rho / 2, svt->switches, m_checks);
    caucus_explain_say(
        e, "Bounds",
        "Failure is shared out: rho/2 to the switches, rho_c = rho_a = rho/4 = %.6g to false alarms and thresholds.",
        quarter);
    caucus_explain_more(e, "A = %s + ln((kappa+1)/rho_a) = %.5f + %.5f = %.5f;  B = g kappa = %.6g.",
                        grows ? "ln(2.1098 (M+1) ln^2(M+1)/(2 rho_c))" : "ln(M/(2 rho_c))", a1, a2, a1 + a2, g * kappa);
    if (e->plan->guarantee.rho_zcdp > 0) {
        caucus_explain_say(
            e, "Approximate privacy",
            "Selections compose by zCDP: kappa eta^2/8 = %.6g. The split that makes A/eps_AT + g/eta smallest:",
            kappa * eta * eta / 8);
        caucus_explain_more(e, "eps_AT = %.5f for the checks, eta = %.5f for each selection.", at, eta);
    } else {
        caucus_explain_say(
            e, "Fed-SVT",
            "The split that makes A/eps_AT + B/eps_EM smallest: eps_AT = epsilon sqrt(A)/(sqrt(A)+sqrt(B)) = %.5f,",
            at);
        caucus_explain_more(e, "eps_EM = epsilon - eps_AT = %.5f%s.", s->epsilon - at,
                            s->front_load ? ", shared among selections" : "");
        caucus_explain_more(e,
                            s->front_load ? "front-load: eta_k falls like 1/(k+3) from %.5f; the sum is eps_EM."
                                          : "eta = eps_EM/kappa = %.5f for each selection.",
                            eta);
    }
    caucus_explain_say(
        e, "Lemma AT",
        "Geometric noise of rate eps_AT/G on the threshold and on every check: scale %.5f of a loss. A changed loss "
        "moves",
        1 / at);
    caucus_explain_more(
        e, "all later checks of one epoch alike, so an epoch costs eps_AT, however many checks it has; epochs do not "
           "add up.");
    if (grows)
        caucus_explain_say(
            e, "Thresholds that grow",
            "Switch at check n when q exceeds L_n = m L* + g/eta + ln(2.1098 (n+1) ln^2(n+1)/(2 rho_c))/eps_AT;"
            " at check M %.6g + %.4f + %.4f = %.4f.",
            (double)svt->score_floor / grid, g / eta, a1 / at,
            (double)caucus_svt_threshold(e->plan, 0, (uint64_t)m_checks) / grid);
    else
        caucus_explain_say(
            e, "Fed-SVT",
            "Switch when q exceeds L = m L* + g/eta + ln(M/(2 rho_c))/eps_AT = %.6g + %.4f + %.4f = %.4f.",
            (double)svt->score_floor / grid, g / eta, a1 / at, (double)svt->threshold[0] / grid);
}

static void explain_renewal(caucus_explainer *e) {
    const caucus_settings *s = &e->plan->settings;
    if (caucus_settings_cycles(s) <= 1)
        return;
    if (caucus_plan_is_endless(e->plan))
        caucus_explain_say(e, "Runs without an end",
                           "Cycles of %" PRIu64
                           " rounds without an end use different losses: all of them cost what one "
                           "does. What follows is about one cycle.",
                           s->renew);
    else
        caucus_explain_say(
            e, "Renewal",
            "%" PRIu64 " cycles of %" PRIu64
            " rounds use different losses: all of them cost what one does. What follows is about one cycle.",
            caucus_settings_cycles(s), s->renew);
    caucus_explain_more(e, "Its first expert is carried over, not drawn: one more switch is allowed.");
}

static void explain_svt_bound(caucus_explainer *e) {
    const caucus_plan *plan = e->plan;
    const caucus_settings *s = &plan->settings;
    if (plan->bound_kind == CAUCUS_BOUND_NONE) {
        caucus_explain_say(e, "Bounds", "No bound is proved for this plan.");
        return;
    }
    const bool paper = s->calibration == CAUCUS_CALIBRATION_PAPER;
    const double unit = caucus_words_step(plan) * (double)plan->grid;
    caucus_explain_say(e, "Bounds", "Regret per client <= (kappa+1) %s = %.2f with probability %.6g %%%s.",
                       paper ? "[N + (L + tails of both noises)/m]" : "[L* + N + (g/eta + A/eps_AT)/m]",
                       plan->bound_uncapped, 100 * (1 - s->rho), caucus_plan_is_vacuous(plan) ? ": vacuous" : "");
    if (s->unit == CAUCUS_UNIT_CLIENT_BLOCK)
        caucus_explain_more(
            e, "Inside the brackets a unit is a block's mean, so N is 1 and L* is L*/N; one unit is %.6g of loss.",
            unit);
    else if (unit != 1)
        caucus_explain_more(e, "Inside the brackets a unit is the range of a loss, %.6g.", unit);
}

static void explain(caucus_explainer *e) {
    const caucus_svt_plan *svt = &e->plan->svt;
    const uint64_t nominal = nominal_checks(e->plan);
    const double checks = (double)nominal;
    if (caucus_settings_grow(&e->plan->settings)) {
        caucus_explain_say(e, "Thresholds that grow",
                           "A check after every block of %" PRIu64
                           " round%s, without an end. It is planned for M = %" PRIu64 " of them (nominal-rounds),",
                           e->plan->settings.interval, e->plan->settings.interval == 1 ? "" : "s", nominal);
        caucus_explain_more(e, "which is no limit: sums have room for %s blocks; after them the expert stays in force.",
                            caucus_words_whole(svt->checks).text);
    } else if (caucus_plan_is_endless(e->plan))
        caucus_explain_say(e, "Fed-SVT", "Blocks of %" PRIu64 " rounds: M = %" PRIu64 " checks in a cycle.",
                           e->plan->settings.interval, svt->checks);
    else
        caucus_explain_say(e, "Fed-SVT",
                           "%" PRIu64 " block%s of %" PRIu64 " round%s: M = %" PRIu64
                           " checks, none after the last block.",
                           svt->blocks, svt->blocks == 1 ? "" : "s", e->plan->settings.interval,
                           e->plan->settings.interval == 1 ? "" : "s", svt->checks);
    if (svt->switches == 0) {
        caucus_explain_account(e);
        return;
    }
    explain_renewal(e);
    const bool paper = e->plan->settings.calibration == CAUCUS_CALIBRATION_PAPER;
    if (paper)
        explain_svt_paper(e, checks);
    else
        explain_svt_tight(e, checks);
    if (!paper && e->plan->guarantee.rho_zcdp <= 0)
        caucus_explain_say(e, "Fed-SVT", "Together epsilon = eps_AT + sum of eta_k = %.6g.",
                           e->plan->guarantee.epsilon_choices);
    caucus_explain_account(e);
    explain_svt_bound(e);
}

static uint64_t most_switches(const caucus_plan *plan) {
    return caucus_settings_cycles(&plan->settings) > 1 ? 0 : plan->svt.switches; /* a cycle may make as many again */
}

static const char *proof(const caucus_plan *plan) {
    (void)plan;
    return "Fed-SVT";
}

static void meaning(caucus_json *j, const caucus_plan *plan) {
    const caucus_svt_plan *svt = &plan->svt;
    if (svt->switches == 0)
        return;
    caucus_json_real(j, "margin", svt->margin);
    caucus_json_real(j, "epsilon_threshold", svt->epsilon_threshold);
    caucus_json_real(j, "eta", 2 * (double)plan->grid * caucus_rational_double(svt->select_rate[0]));
    caucus_json_real(j, "threshold",
                     (double)caucus_svt_threshold(plan, 0, nominal_checks(plan)) * caucus_words_step(plan));
    caucus_json_real(j, "threshold_scale", caucus_words_spread(plan, &svt->threshold_noise));
    caucus_json_real(j, "check_scale", caucus_words_spread(plan, &svt->check_noise));
}

static void traffic(const caucus_plan *plan, caucus_plan_traffic *ret) {
    const caucus_settings *s = &plan->settings;
    const uint64_t d = s->experts, m = s->clients;
    const uint64_t cycles = caucus_settings_cycles(s);
    const uint64_t asked = cycles > 1 ? plan->svt.blocks - 1 : plan->svt.checks; /* the last block of a cycle, too */
    const uint64_t checks = plan->svt.switches > 0 ? asked : 0, switches = cycles * plan->svt.switches;
    const bool paper = s->protocol == CAUCUS_PROTOCOL_PAPER;
    ret->reports = paper ? checks : checks + switches;
    ret->scalars = paper ? checks * d : checks + switches * d;
    ret->paper_scalars = asked * d; /* the last block is not reported: nothing is left to decide */
    ret->client_memory = (s->unit == CAUCUS_UNIT_CLIENT_BLOCK && s->interval > 1 ? 2 : 1) * d * 8;
    ret->coordinator_memory = 2 * d * 8 + 8 * m;
}

const caucus_family_words caucus_words_svt = {
    .assumes = CAUCUS_KNOWLEDGE_REALIZABLE,
    .recommended = true,
    .means = true,
    CAUCUS_FAMILY_WORDS,
    .meaning = meaning,
};
