/* plan_explain.c: how a plan came about, step by step, with the numbers put in. See plan_print.h.
 *
 * The formulas are those of docs/PRIVACY.md, and are worked out here again from the plan's settings and integers, so a
 * reader can follow with a pocket calculator. Every step names its section. */
#include "show/plan_print.h"
#include "show/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

typedef struct explainer {
    FILE *out;
    const caucus_plan *plan;
    unsigned step;
} explainer;

/* "  3. text   ("Section")" */
static void say(explainer *e, const char *section, const char *format, ...) CAUCUS_PRINTF(3, 4);
static void say(explainer *e, const char *section, const char *format, ...) {
    va_list arguments;
    fprintf(e->out, "  %2u. ", ++e->step);
    va_start(arguments, format);
    (void)vfprintf(e->out, format, arguments);
    va_end(arguments);
    fprintf(e->out, "   (\"%s\")\n", section);
}

static void more(explainer *e, const char *format, ...) CAUCUS_PRINTF(2, 3);
static void more(explainer *e, const char *format, ...) {
    va_list arguments;
    fputs("      ", e->out);
    va_start(arguments, format);
    (void)vfprintf(e->out, format, arguments);
    va_end(arguments);
    fputc('\n', e->out);
}

static void explain_promise(explainer *e) {
    const caucus_settings *s = &e->plan->settings;
    if (isinf(s->epsilon))
        say(e, "The promise", "No privacy was asked for (epsilon infinite).");
    else if (s->delta > 0)
        say(e, "The promise", "Asked: epsilon %.6g, delta %.6g, when %s is replaced.", s->epsilon, s->delta,
            caucus_words_unit(s));
    else
        say(e, "The promise", "Asked: epsilon %.6g, pure, when %s is replaced.", s->epsilon, caucus_words_unit(s));
    more(e, "Trust %s: %s.", caucus_trust_word(s->trust), caucus_trust_help(s->trust));
    say(e, "The grid",
        "A loss in [%.6g, %.6g] becomes a whole number of steps from 0 to G = %lld, once, at the client.", s->lo, s->hi,
        (long long)e->plan->grid);
    if (s->unit == CAUCUS_UNIT_CLIENT_BLOCK)
        more(e, "A block of a client is rounded to its mean, so it moves a sum by at most G, as one loss would (\"The "
                "unit\").");
    more(e, "All sums stay below m*T*G = %.4g, far from 2^62 = 4.612e+18.",
         (double)s->clients * (double)s->rounds * (double)e->plan->grid);
}

/* The accountant's word, the same for all. */
static void explain_account(explainer *e) {
    const caucus_guarantee *g = &e->plan->guarantee;
    if (isinf(g->epsilon_choices))
        say(e, "The accountant", "Nothing is protected: the choices may reveal any loss.");
    else if (g->rho_zcdp > 0)
        say(e, "Approximate privacy",
            "From the integers, every operation rounded up: rho = %.6g, so (%.10g, %.6g)-private choices.", g->rho_zcdp,
            g->epsilon_choices, g->delta);
    else
        say(e, "The accountant", "From the integers, every operation rounded up: choices are %.10g-private.",
            g->epsilon_choices);
    if (!isnan(g->epsilon_messages))
        more(e, "Messages are %.10g-private%s.", g->epsilon_messages,
             g->epsilon_messages > e->plan->settings.epsilon ? ", NOT what was asked" : "");
}

static void explain_svt_paper(explainer *e, double m_checks) {
    const caucus_settings *s = &e->plan->settings;
    const caucus_svt_plan *svt = &e->plan->svt;
    const double eta = 2 * (double)e->plan->grid * caucus_rational_double(svt->select_rate[0]);
    say(e, "The number of switches", "The paper's constants: kappa = 3 ceil(log2 d) + 24 ln(1/rho) = %u switches.",
        svt->switches);
    say(e, "Fed-SVT",
        "Laplace noise of scale 4/epsilon = %.6g (threshold) and 8/epsilon = %.6g (checks), M = %.0f checks.",
        4 / s->epsilon, 8 / s->epsilon, m_checks);
    more(e, "By lemma AT an epoch costs the larger rate, epsilon/4, not epsilon/2 (\"Lemma AT\").");
    say(e, "Fed-SVT", "Selections with eta = %.5f; switch at L = m L* + 8 ln(2T^2/(N^2 rho))/epsilon + 4/eta = %.4f.",
        eta, (double)svt->threshold[0] / (double)e->plan->grid);
}

static void explain_svt_tight(explainer *e, double m_checks) {
    const caucus_settings *s = &e->plan->settings;
    const caucus_svt_plan *svt = &e->plan->svt;
    const double grid = (double)e->plan->grid, g = svt->margin, kappa = svt->switches, quarter = s->rho / 4;
    const double a1 = log(m_checks / (2 * quarter)), a2 = log((kappa + 1) / quarter), at = svt->epsilon_threshold;
    const double eta = 2 * grid * caucus_rational_double(svt->select_rate[0]);
    say(e, "The number of switches",
        "Margin g = %.6g (the best of 3, 3.5, .., 8). Truncated exponentials V on [0, g/2]: the smallest k with", g);
    more(e,
         "P(V_1 + .. + V_(k+1) <= ln d = %.5f) <= rho/2 = %.6g is kappa = %u switches (at most M = %.0f, the checks).",
         log((double)s->experts), s->rho / 2, svt->switches, m_checks);
    say(e, "Bounds",
        "Failure is shared out: rho/2 to the switches, rho_c = rho_a = rho/4 = %.6g to false alarms and thresholds.",
        quarter);
    more(e, "A = ln(M/(2 rho_c)) + ln((kappa+1)/rho_a) = %.5f + %.5f = %.5f;  B = g kappa = %.6g.", a1, a2, a1 + a2,
         g * kappa);
    if (e->plan->guarantee.rho_zcdp > 0) {
        say(e, "Approximate privacy",
            "Selections compose by zCDP: kappa eta^2/8 = %.6g. The split that makes A/eps_AT + g/eta smallest:",
            kappa * eta * eta / 8);
        more(e, "eps_AT = %.5f for the checks, eta = %.5f for each selection.", at, eta);
    } else {
        say(e, "Fed-SVT",
            "The split that makes A/eps_AT + B/eps_EM smallest: eps_AT = epsilon sqrt(A)/(sqrt(A)+sqrt(B)) = %.5f,",
            at);
        more(e, "eps_EM = epsilon - eps_AT = %.5f%s.", s->epsilon - at,
             s->front_load ? ", shared among selections" : "");
        more(e,
             s->front_load ? "front-load: eta_k falls like 1/(k+3) from %.5f; the sum is eps_EM."
                           : "eta = eps_EM/kappa = %.5f for each selection.",
             eta);
    }
    say(e, "Lemma AT",
        "Geometric noise of rate eps_AT/G on the threshold and on every check: scale %.5f of a loss. A changed loss "
        "moves",
        1 / at);
    more(e, "all later checks of one epoch alike, so an epoch costs eps_AT, however many checks it has; epochs do not "
            "add up.");
    say(e, "Fed-SVT", "Switch when q exceeds L = m L* + g/eta + ln(M/(2 rho_c))/eps_AT = %.6g + %.4f + %.4f = %.4f.",
        (double)svt->score_floor / grid, g / eta, a1 / at, (double)svt->threshold[0] / grid);
}

static void explain_svt_bound(explainer *e) {
    const caucus_plan *plan = e->plan;
    const caucus_settings *s = &plan->settings;
    if (plan->bound_kind == CAUCUS_BOUND_NONE) {
        say(e, "Bounds", "No bound is proved for this plan.");
        return;
    }
    const bool paper = s->calibration == CAUCUS_CALIBRATION_PAPER;
    const double unit = caucus_words_step(plan) * (double)plan->grid;
    say(e, "Bounds", "Regret per client <= (kappa+1) %s = %.2f with probability %.6g %%%s.",
        paper ? "[N + (L + tails of both noises)/m]" : "[L* + N + (g/eta + A/eps_AT)/m]", plan->bound_uncapped,
        100 * (1 - s->rho), caucus_plan_is_vacuous(plan) ? ": vacuous" : "");
    if (s->unit == CAUCUS_UNIT_CLIENT_BLOCK)
        more(e, "Inside the brackets a unit is a block's mean, so N is 1 and L* is L*/N; one unit is %.6g of loss.",
             unit);
    else if (unit != 1)
        more(e, "Inside the brackets a unit is the range of a loss, %.6g.", unit);
}

static void explain_svt(explainer *e) {
    const caucus_svt_plan *svt = &e->plan->svt;
    const double checks = (double)svt->checks;
    say(e, "Fed-SVT", "%" PRIu64 " block%s of %" PRIu64 " round%s: M = %" PRIu64 " checks, none after the last block.",
        svt->blocks, svt->blocks == 1 ? "" : "s", e->plan->settings.interval,
        e->plan->settings.interval == 1 ? "" : "s", svt->checks);
    if (svt->switches == 0) {
        explain_account(e);
        return;
    }
    const bool paper = e->plan->settings.calibration == CAUCUS_CALIBRATION_PAPER;
    if (paper)
        explain_svt_paper(e, checks);
    else
        explain_svt_tight(e, checks);
    if (!paper && e->plan->guarantee.rho_zcdp <= 0)
        say(e, "Fed-SVT", "Together epsilon = eps_AT + sum of eta_k = %.6g.", e->plan->guarantee.epsilon_choices);
    explain_account(e);
    explain_svt_bound(e);
}

static void explain_coordinator_phases(explainer *e, const caucus_stoch_phase *last) {
    const caucus_plan *plan = e->plan;
    const double width = (double)(plan->stoch.gradient_hi - plan->stoch.gradient_lo);
    const caucus_rational rate = last->select_rate[last->trees > 0 ? 1 : 0];
    say(e, "Selections", "The coordinator selects by %s. A changed sample moves a sum by at most W = %.0f steps;",
        caucus_select_word(plan->stoch.select), width);
    if (last->trees == 0 && plan->stoch.past <= 1)
        more(e, "it meets one selection, at rate epsilon/(2W) = %.6g per step: scale %.6g of a loss.",
             caucus_rational_double(rate), caucus_words_scale(plan, rate));
    else
        more(e, "rate of the first tree (or step) of the last phase: %.6g per step, scale %.6g of a loss.",
             caucus_rational_double(rate), caucus_words_scale(plan, rate));
    if (plan->stoch.past > 1)
        more(e, "Earlier phases weigh in with %u weights; all uses of one sample together cost epsilon (\"Trees\").",
             plan->stoch.past);
    for (uint32_t j = 1; j <= last->trees; j++)
        more(e, "Tree %u of the last phase: %u leaves, rate %.6g, clamp of depth %u: %lld steps (\"Trees\").", j,
             1u << j, caucus_rational_double(last->select_rate[j]), j, (long long)last->clamp[j]);
}

static void explain_message_phases(explainer *e, const caucus_stoch_phase *last) {
    const caucus_plan *plan = e->plan;
    const double epsilon = plan->settings.epsilon;
    say(e, "Message-private designs",
        "Each client sends by '%s': %s. A loss enters one message only, so each may spend all of epsilon.",
        caucus_message_word(plan->stoch.message), caucus_message_help(plan->stoch.message));
    if (plan->stoch.message == CAUCUS_MESSAGE_VOTE)
        more(e, "Vote by permute-and-flip at rate epsilon/(2W) = %.6g per step.",
             caucus_rational_double(last->vote_rate));
    else if (plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST)
        more(e, "Vote at epsilon/2 = %.6g, then K-norm noise at epsilon/2 on %d sums, scale %.6g of a loss.",
             epsilon / 2, CAUCUS_SHORTLIST, caucus_words_spread(plan, &last->shortlist_noise));
    for (uint32_t h = 0; h <= last->trees && last->vertex_noise[h].kind != CAUCUS_NOISE_NONE; h++)
        more(e, "%s noise at depth %u of the last phase: %s %.6g of a loss.",
             caucus_words_law(last->vertex_noise[h].kind), h,
             last->vertex_noise[h].kind == CAUCUS_NOISE_GAUSSIAN ? "standard deviation" : "scale",
             caucus_words_spread(plan, &last->vertex_noise[h]));
}

static void explain_stoch(explainer *e) {
    const caucus_plan *plan = e->plan;
    const caucus_settings *s = &plan->settings;
    say(e, "Trees",
        "P = floor(log2 T) + 1 = %" PRIu64
        " phases of doubling length; phase p learns from the 2^(p-2) losses of the phase "
        "before.",
        plan->stoch.phases);
    if (plan->stoch.phases > 1) {
        const caucus_stoch_phase *last = &plan->stoch.phase[plan->stoch.phases - 2];
        if (s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR && s->trees <= 0)
            more(e, "Linear losses: the gradient is the same everywhere, so one selection per phase from all samples, "
                    "no trees.");
        if (s->trust == CAUCUS_TRUST_COORDINATOR)
            explain_coordinator_phases(e, last);
        else if (s->trust == CAUCUS_TRUST_NOBODY)
            explain_message_phases(e, last);
        else
            say(e, "Messages",
                "Laplace noise of the paper's scale on each coordinate: %.6g of a loss in the last phase. It protects "
                "the choices,",
                caucus_words_spread(plan, &last->leaf_noise[last->trees])),
                more(e, "but the d coordinates of a message move together, so the message itself is far less private.");
    }
    explain_account(e);
    if (plan->bound_kind == CAUCUS_BOUND_NONE)
        say(e, "Bounds", "No bound is proved for votes that improves with the number of clients.");
    else
        say(e, "Bounds", "Expected regret <= R + sum over phases of length * excess + R sqrt(T ln d/(2m)) = %.2f%s.",
            plan->bound_uncapped, caucus_plan_is_vacuous(plan) ? ": vacuous" : "");
}

static void explain_hedge(explainer *e) {
    const caucus_plan *plan = e->plan;
    const caucus_settings *s = &plan->settings;
    const double draws = (double)plan->hedge.blocks - 1.0, m = s->clients, rate = plan->hedge.learning_rate,
                 best = caucus_hedge_best_rate(s);
    if (s->algorithm == CAUCUS_ALGORITHM_LEADER) {
        say(e, "Fed-Hedge",
            "After each of %" PRIu64 " blocks the expert with the smallest sum is played; ties are drawn.",
            plan->hedge.blocks);
        explain_account(e);
        return;
    }
    say(e, "Fed-Hedge", "B = %" PRIu64 " blocks; all draws but the first see data: %.0f draws, each of range 2 e_H/m.",
        plan->hedge.blocks, draws);
    say(e, "Fed-Hedge", "Without privacy e_H = sqrt(8 ln d/sum of N^2) = %.6g is best.", best);
    if (isfinite(s->epsilon) && draws > 0) {
        const double pure = m * s->epsilon / (2 * draws);
        more(e, "Purely, epsilon allows e_H = m epsilon/(2 (B-1)) = %.6g%s", pure,
             s->delta > 0 ? "; by zCDP, e_H = m sqrt(2 rho/(B-1))." : ".");
        more(e, "Taken: e_H = %.6g%s.", rate,
             rate >= best * (1 - 1e-6) ? ", the best: privacy is free" : ", the most that is allowed");
    }
    explain_account(e);
    say(e, "Bounds", "Expected regret <= ln d/e_H + e_H sum of N^2/8 = %.2f%s.", plan->bound_uncapped,
        caucus_plan_is_vacuous(plan) ? ": vacuous" : "");
}

void caucus_plan_explain(FILE *out, const caucus_plan *plan) {
    explainer e = {.out = out, .plan = plan};
    fputs("\n  How it came about (titles of sections in docs/PRIVACY.md)\n", out);
    explain_promise(&e);
    switch (plan->settings.algorithm) {
    case CAUCUS_ALGORITHM_SVT:
    case CAUCUS_ALGORITHM_SPARSE_VECTOR:
        explain_svt(&e);
        break;
    case CAUCUS_ALGORITHM_STOCH:
    case CAUCUS_ALGORITHM_LIMITED_UPDATES:
        explain_stoch(&e);
        break;
    default:
        explain_hedge(&e);
        break;
    }
}
