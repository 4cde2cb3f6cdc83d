/* SPDX-License-Identifier: Apache-2.0 */
/* family_stoch.c: how plans of stoch and limited-updates are told. */
#include "plan/calibrate.h"
#include "plan/pace/pace.h"
#include "plan/stoch.h"
#include "plan/stoch/evaluate.h"
#include "plan/stoch/look.h"
#include "show/family_words.h"
#include "show/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The scale that matters in a phase: of its last selections, of a vote, or of a root's noise. */
static double phase_scale(const caucus_plan *plan, const caucus_stoch_phase *phase) {
    if (caucus_evaluates_some(&plan->settings)) /* f/budget of a loss, against the evaluations of one expert */
        return (double)caucus_evaluate_factor(plan) / caucus_rational_double(phase->select_budget) *
               (plan->settings.hi - plan->settings.lo);
    if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR)
        return caucus_words_scale(plan, phase->select_rate[phase->trees]);
    if (plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL)
        return caucus_words_spread(plan, &phase->leaf_noise[phase->trees]);
    if (plan->stoch.message == CAUCUS_MESSAGE_VOTE || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST)
        return caucus_words_scale(plan, phase->vote_rate);
    return caucus_words_spread(plan, &phase->vertex_noise[0]);
}

enum { PHASES_WIDTH = 88, PHASE_CELLS = 6 }; /* columns of the table of phases, and what it says of each */

typedef struct phase_row {
    char cell[PHASE_CELLS][48]; /* rounds, losses it learns from, trees, leaves, scale, excess per round */
} phase_row;

static phase_row phase_cells(const caucus_plan *plan, const caucus_stoch_phase *phase) {
    phase_row row;
    const size_t size = sizeof row.cell[0];
    (void)snprintf(row.cell[0], size, "%" PRIu64 "-%" PRIu64, phase->first, phase->first + phase->length - 1);
    (void)snprintf(row.cell[1], size, "%.47s", caucus_words_whole(phase->samples).text);
    (void)snprintf(row.cell[2], size, "%u", phase->trees);
    (void)snprintf(row.cell[3], size, "%u", phase->trees > 0 ? ((uint32_t)2 << phase->trees) - 2 : 1);
    (void)snprintf(row.cell[4], size, "%.47s", caucus_words_number(phase_scale(plan, phase)).text);
    (void)snprintf(row.cell[5], size, "%.47s", isnan(phase->error) ? "-" : caucus_words_number(phase->error).text);
    return row;
}

static void print_wide_phases(FILE *out, const caucus_plan *plan) {
    fputs("  Phases         plays rounds   learns from   trees   leaves   scale   excess per round\n", out);
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        const phase_row row = phase_cells(plan, &plan->stoch.phase[i]);
        fprintf(out, "    %-2u  %23s  %8s each  %6s  %7s  %6s  %17s\n", i + 2, row.cell[0], row.cell[1], row.cell[2],
                row.cell[3], row.cell[4], row.cell[5]);
    }
}

/* The same where a row would not fit: its head in three lines, columns no wider than what stands in them. */
static void print_narrow_phases(FILE *out, const caucus_plan *plan, int width) {
    static const char *const head[][PHASE_CELLS] = {{"", "learns", "", "", "", "excess"},
                                                    {"plays", "from", "", "", "", "per"},
                                                    {"rounds", "each", "trees", "leaves", "scale", "round"}};
    int wide[PHASE_CELLS] = {6, 6, 5, 6, 5, 6};
    int sum = 6; /* the number of a phase */
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        const phase_row row = phase_cells(plan, &plan->stoch.phase[i]);
        for (size_t k = 0; k < PHASE_CELLS; k++)
            wide[k] = (int)strlen(row.cell[k]) > wide[k] ? (int)strlen(row.cell[k]) : wide[k];
    }
    for (size_t k = 0; k < PHASE_CELLS; k++)
        sum += wide[k];
    const int gap = sum + 2 * PHASE_CELLS <= width ? 2 : 1;
    for (size_t line = 0; line < sizeof head / sizeof *head; line++) {
        fputs(line == 0 ? "  Phases" : "        ", out);
        for (size_t k = 0; k < PHASE_CELLS; k++)
            fprintf(out, "%*s", gap + wide[k] - (k == 0 ? 2 : 0), head[line][k]);
        putc('\n', out);
    }
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        const phase_row row = phase_cells(plan, &plan->stoch.phase[i]);
        fprintf(out, "    %-2u", i + 2);
        for (size_t k = 0; k < PHASE_CELLS; k++)
            fprintf(out, "%*s", gap + wide[k], row.cell[k]);
        putc('\n', out);
    }
}

static void print_phases(FILE *out, const caucus_plan *plan, int width) {
    const caucus_stoch_plan *stoch = &plan->stoch;
    static const char *const selects[CAUCUS_SELECT_COUNT] = {"", "permute-and-flip", "exponential mechanism",
                                                             "noisy minimum (Laplace)"};
    if (stoch->phases == 1) {
        fputs("  Noise       none is drawn: one round leaves nothing to decide\n", out);
        return;
    }
    if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR)
        fprintf(out, "  Noise       at the coordinator: selections by %s\n", selects[stoch->select]);
    else if (plan->settings.trust == CAUCUS_TRUST_PAPER_LOCAL)
        fputs("  Noise       at every client: Laplace on each coordinate, the paper's scales\n", out);
    else
        fprintf(out, "  Noise       at every client: %s (%s)\n", caucus_message_word(stoch->message),
                caucus_message_help(stoch->message));
    if (stoch->past > 1)
        fprintf(out, "              earlier phases weigh in: a phase back counts %.3g\n",
                (double)stoch->past_weights[1] / (double)stoch->past_weights[0]);
    if (plan->settings.pace == CAUCUS_PACE_OWN && !caucus_pace_by_question(&plan->settings)) {
        fprintf(out, "  Items       one of a device and slot: %s of its first %s losses; scale %s of a loss, ",
                plan->settings.unit == CAUCUS_UNIT_EVENT ? "the sums" : "the mean",
                caucus_words_whole(plan->settings.most).text,
                caucus_words_number(phase_scale(plan, &stoch->phase[0])).text);
        fprintf(out, "excess per loss %s\n",
                isnan(stoch->phase[0].error) ? "-" : caucus_words_number(stoch->phase[0].error).text);
        return;
    }
    if (width > 0 && width < PHASES_WIDTH)
        print_narrow_phases(out, plan, width);
    else
        print_wide_phases(out, plan);
    if (caucus_pace_by_question(&plan->settings))
        fprintf(out, "              a round is a slot, of which the first %s losses count; excess is per loss\n",
                caucus_words_whole(plan->settings.most).text);
    if (caucus_plan_is_endless(plan))
        fprintf(out, "              and so on, without an end: phases from %u on are alike, %s rounds each\n",
                stoch->described + 1, caucus_words_whole(plan->settings.longest_phase).text);
    else if (stoch->phases > (uint64_t)stoch->described + 1)
        fprintf(out, "              and so on: phases %u to %s are alike, %s rounds each\n", stoch->described + 1,
                caucus_words_whole(stoch->phases).text, caucus_words_whole(plan->settings.longest_phase).text);
    if (caucus_evaluates_some(&plan->settings))
        fputs("              scale: of the selections, in units of a loss, against the evaluations of one expert\n",
              out);
    else if (caucus_settings_means(&plan->settings))
        fputs(plan->settings.trust == CAUCUS_TRUST_COORDINATOR
                  ? "              scale: of the selections, in units of a loss, against sums over all clients' means\n"
                  : "              scale: of each client's noise, in units of a loss, against its own means\n",
              out);
    else
        fputs(plan->settings.trust == CAUCUS_TRUST_COORDINATOR
                  ? "              scale: of the selections, in units of a loss, against sums over all clients and "
                    "samples\n"
                  : "              scale: of each client's noise, in units of a loss, against its own sums\n",
              out);
}

/* How near a look is if everybody answers: the first phase that shows anything, and the last. */
static void print_look(FILE *out, const caucus_plan *plan) {
    const caucus_stoch_plan *stoch = &plan->stoch;
    const uint32_t m = plan->settings.clients;
    const uint32_t first = caucus_look_first(plan);
    if (first == UINT32_MAX)
        return;
    const caucus_stoch_phase *last = &stoch->phase[stoch->described - 1];
    if (plan->settings.show_loss > 0)
        fprintf(out, "  Look        the loss of the expert in force, for %g of epsilon: ", plan->settings.show_loss);
    else
        fputs("  Look        the loss of the expert in force, from what clients send anyway: ", out);
    if (plan->settings.unit == CAUCUS_UNIT_CLIENT)
        fputs("on everything so far, ", out);
    if (plan->settings.pace != CAUCUS_PACE_OWN)
        fprintf(out, "from phase %u on, ", first + 1);
    fprintf(out, "within %s at the end (95 %%)\n",
            caucus_words_number(caucus_look_half(plan, last, caucus_look_divisor(plan, last), m)).text);
}

static void print(FILE *out, const caucus_plan *plan, int width) {
    print_phases(out, plan, width);
    print_look(out, plan);
}

static void explain_look(caucus_explainer *e) {
    const caucus_plan *plan = e->plan;
    if (!caucus_look_shows(plan))
        return;
    if (plan->settings.show_loss > 0) {
        caucus_explain_say(e, "A private look",
                           "With each decision the loss of the expert in force before it is shown, from the same "
                           "reports: one sum with noise.");
        if (plan->settings.unit == CAUCUS_UNIT_CLIENT)
            caucus_explain_more(
                e,
                "A figure is of everything so far, so that a client is in all %u of them and moves each by G at most: "
                "at rate E0/(%u G) = %.6g per step they cost %.6g.",
                caucus_look_times(plan), caucus_look_times(plan),
                caucus_rational_double(plan->stoch.show_noise.parameter), plan->settings.show_loss);
        else
            caucus_explain_more(e,
                                "A record is in one decision and moves that sum by G at most: at rate E0/G = %.6g per "
                                "step it costs %.6g.",
                                caucus_rational_double(plan->stoch.show_noise.parameter), plan->settings.show_loss);
        caucus_explain_more(e, "Selections have the other %.6g of epsilon.", caucus_look_left(&plan->settings));
    } else
        caucus_explain_say(e, "A private look",
                           "With each decision the loss of the expert in force before it is shown, from messages that "
                           "are private by themselves: it costs nothing.");
    caucus_explain_more(e, "A figure is shown where its interval is at most half of the range to either side; it is "
                           "never used to choose.");
}

static const char *why_none(const caucus_plan *plan) {
    (void)plan;
    return "votes have none that shrinks with the number of clients";
}

/* Unit client: what a decision of this phase costs a client, from its integers. */
static double cost_of(const caucus_plan *plan, const caucus_stoch_phase *phase) {
    const double width = (double)plan->grid, d = plan->settings.experts;
    if (caucus_evaluates_some(&plan->settings))
        return caucus_rational_double(phase->select_budget);
    if (plan->settings.trust == CAUCUS_TRUST_COORDINATOR)
        return 2 * width * caucus_rational_double(phase->select_rate[0]);
    switch (plan->stoch.message) {
    case CAUCUS_MESSAGE_VOTE:
        return 2 * width * caucus_rational_double(phase->vote_rate);
    case CAUCUS_MESSAGE_SHORTLIST:
        return width * (2 * caucus_rational_double(phase->vote_rate) +
                        caucus_rational_double(phase->shortlist_noise.parameter));
    case CAUCUS_MESSAGE_GAUSS: /* as zCDP */
        return d * width * width / (2 * caucus_rational_double(phase->vertex_noise[0].parameter));
    case CAUCUS_MESSAGE_LAPLACE_D:
        return d * width * caucus_rational_double(phase->vertex_noise[0].parameter);
    default:
        return width * caucus_rational_double(phase->vertex_noise[0].parameter);
    }
}

/* What each decision spends, one after the other. */
static void explain_shares(caucus_explainer *e) {
    const caucus_plan *plan = e->plan;
    const bool gauss = plan->settings.trust == CAUCUS_TRUST_NOBODY && plan->stoch.message == CAUCUS_MESSAGE_GAUSS;
    caucus_explain_more(
        e, "A client is in all of them, so what they cost adds up%s:", plan->guarantee.rho_zcdp > 0 ? ", as zCDP" : "");
    for (uint32_t i = 0; i < plan->stoch.described; i++)
        caucus_explain_more(e, "phase %u: %s %.10g, for an expert that is played %s rounds.", i + 2,
                            gauss ? "rho" : "epsilon", cost_of(plan, &plan->stoch.phase[i]),
                            caucus_words_whole(plan->stoch.phase[i].length).text);
}

static void explain_some(caucus_explainer *e, const caucus_stoch_phase *last) {
    const caucus_plan *plan = e->plan;
    const caucus_settings *s = &plan->settings;
    caucus_explain_say(e, "Few evaluations",
                       "A client evaluates %u of %u experts in a round, chosen by the plan's hash: nothing secret, and "
                       "nothing to do with losses.",
                       s->evaluate, s->experts);
    caucus_explain_more(e,
                        "In the last phase each expert is evaluated %" PRIu64
                        " times at least%s, if everybody reports; below %" PRIu64 " no expert is selected.",
                        caucus_evaluate_least(s, last->samples),
                        s->unit == CAUCUS_UNIT_CLIENT  ? " (clients that have evaluated it so far)"
                        : s->unit == CAUCUS_UNIT_EVENT ? ""
                                                       : " (clients that evaluate it)",
                        last->least);
    if (s->unit == CAUCUS_UNIT_CLIENT) {
        caucus_explain_say(e, "Unit client",
                           "The coordinator selects by %s, at rate epsilon_k/(2W) in phase k, W from the evaluations "
                           "of those who reported.",
                           caucus_select_word(plan->stoch.select));
        explain_shares(e);
        return;
    }
    caucus_explain_more(e,
                        "The coordinator selects by %s, at the rate for which a loss costs %.10g: %.10g/(%s W), W from "
                        "the evaluations of those who reported.",
                        caucus_select_word(plan->stoch.select), caucus_rational_double(last->select_budget),
                        caucus_rational_double(last->select_budget), caucus_evaluate_factor(plan) == 1 ? "1" : "2");
    if (plan->stoch.past > 1)
        caucus_explain_more(
            e, "Earlier phases weigh in with %u weights; all uses of one sample together cost epsilon (\"Trees\").",
            plan->stoch.past);
}

static void explain_coordinator_phases(caucus_explainer *e, const caucus_stoch_phase *last) {
    const caucus_plan *plan = e->plan;
    if (plan->settings.unit == CAUCUS_UNIT_CLIENT) {
        caucus_explain_say(e, "Unit client", "The coordinator selects by %s, at rate epsilon_k/(2G) in phase k.",
                           caucus_select_word(plan->stoch.select));
        explain_shares(e);
        return;
    }
    const double width = (double)(plan->stoch.gradient_hi - plan->stoch.gradient_lo);
    const caucus_rational rate = last->select_rate[last->trees > 0 ? 1 : 0];
    caucus_explain_say(e, "Selections",
                       "The coordinator selects by %s. A changed sample moves a sum by at most W = %.0f steps;",
                       caucus_select_word(plan->stoch.select), width);
    if (last->trees == 0 && plan->stoch.past <= 1 && plan->guarantee.delta > 0)
        caucus_explain_more(e,
                            "it meets one selection, at rate %.6g per step, which by itself costs %.6g and with delta "
                            "no more than epsilon: scale %.6g of a loss.",
                            caucus_rational_double(rate), 2 * width * caucus_rational_double(rate),
                            caucus_words_scale(plan, rate));
    else if (last->trees == 0 && plan->stoch.past <= 1)
        caucus_explain_more(e, "it meets one selection, at rate %s/(2W) = %.6g per step: scale %.6g of a loss.",
                            plan->settings.show_loss > 0 ? "(epsilon - E0)" : "epsilon", caucus_rational_double(rate),
                            caucus_words_scale(plan, rate));
    else
        caucus_explain_more(e,
                            "rate of the first tree (or step) of the last phase: %.6g per step, scale %.6g of a loss.",
                            caucus_rational_double(rate), caucus_words_scale(plan, rate));
    if (plan->stoch.past > 1)
        caucus_explain_more(
            e, "Earlier phases weigh in with %u weights; all uses of one sample together cost epsilon (\"Trees\").",
            plan->stoch.past);
    for (uint32_t j = 1; j <= last->trees; j++)
        caucus_explain_more(
            e, "Tree %u of the last phase: %u leaves, rate %.6g, clamp of depth %u: %lld steps (\"Trees\").", j,
            1u << j, caucus_rational_double(last->select_rate[j]), j, (long long)last->clamp[j]);
}

static void explain_message_phases(caucus_explainer *e, const caucus_stoch_phase *last) {
    const caucus_plan *plan = e->plan;
    const double epsilon = plan->settings.epsilon;
    if (plan->settings.unit == CAUCUS_UNIT_CLIENT) {
        caucus_explain_say(e, "Unit client", "Each client sends by '%s': %s.", caucus_message_word(plan->stoch.message),
                           caucus_message_help(plan->stoch.message));
        explain_shares(e);
        return;
    }
    caucus_explain_say(
        e, "Message-private designs",
        "Each client sends by '%s': %s. A loss enters one message only, so each may spend all of epsilon.",
        caucus_message_word(plan->stoch.message), caucus_message_help(plan->stoch.message));
    if (plan->stoch.message == CAUCUS_MESSAGE_VOTE)
        caucus_explain_more(e, "Vote by permute-and-flip at rate epsilon/(2W) = %.6g per step.",
                            caucus_rational_double(last->vote_rate));
    else if (plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST)
        caucus_explain_more(
            e, "Vote at epsilon/2 = %.6g, then K-norm noise at epsilon/2 on %d sums, scale %.6g of a loss.",
            epsilon / 2, CAUCUS_SHORTLIST, caucus_words_spread(plan, &last->shortlist_noise));
    for (uint32_t h = 0; h <= last->trees && last->vertex_noise[h].kind != CAUCUS_NOISE_NONE; h++)
        caucus_explain_more(e, "%s noise at depth %u of the last phase: %s %.6g of a loss.",
                            caucus_words_law(last->vertex_noise[h].kind), h,
                            last->vertex_noise[h].kind == CAUCUS_NOISE_GAUSSIAN ? "standard deviation" : "scale",
                            caucus_words_spread(plan, &last->vertex_noise[h]));
}

static void explain_slots(caucus_explainer *e) {
    const caucus_settings *s = &e->plan->settings;
    caucus_explain_say(e, "At their own pace",
                       "Slots of %s of the device's clock; a decision %s after the end of each. The ledger is charged "
                       "once.",
                       caucus_words_time(s->phase_time).text, caucus_words_time(s->grace).text);
    if (e->plan->stoch.past > 1)
        caucus_explain_more(e,
                            "A slot is in at most one item of its device, an item in the sums of at most one decision, "
                            "which weigh in %u decisions: however long the run, these cost epsilon together.",
                            e->plan->stoch.past);
    else
        caucus_explain_more(e, "A slot is in at most one item of its device, an item in at most one decision: however "
                               "long the run, it costs what one decision costs.");
    caucus_explain_more(e, "An item counts at most %" PRIu64 " losses, the first ones.", s->most);
    caucus_explain_more(
        e,
        "What is best may change %.6g times in 1,000 losses (a public guess); each change costs at most "
        "%.4g phases.",
        s->changes, e->plan->stoch.past + 1 + (double)s->grace / (double)s->phase_time);
}

/* Unit client at own pace. */
static void explain_questions(caucus_explainer *e) {
    const caucus_settings *s = &e->plan->settings;
    const uint64_t questions = e->plan->stoch.phases - 1;
    caucus_explain_say(e, "Unit client at own pace",
                       "%" PRIu64 " slots of %s of the device's clock; %" PRIu64
                       " decision%s, %s after the ends of the "
                       "first 1, g, g^2, .. slots, g = %" PRIu64 ".",
                       s->rounds, caucus_words_time(s->phase_time).text, questions, questions == 1 ? "" : "s",
                       caucus_words_time(s->grace).text, s->growth);
    caucus_explain_more(e, "A device answers each question once at most, after its end by its own clock, with the mean "
                           "of all its losses so far; question numbers only rise.");
    caucus_explain_more(e, "A slot counts at most %" PRIu64 " losses, the first ones.", s->most);
}

static void explain_longest(caucus_explainer *e) {
    const caucus_plan *plan = e->plan;
    const caucus_settings *s = &plan->settings;
    if (caucus_plan_is_endless(plan))
        caucus_explain_say(e, "Runs without an end",
                           "Phases double up to W = %" PRIu64
                           " rounds and go on; phase p learns from phase p - 1. The ledger is charged once.",
                           s->longest_phase);
    else
        caucus_explain_say(e, "Phases with a longest length",
                           "%" PRIu64 " phases that double up to W = %" PRIu64
                           " rounds; phase p learns from phase p - 1.",
                           plan->stoch.phases, s->longest_phase);
    caucus_explain_more(e, "A loss is in one phase: however long the run, it costs what one phase costs.");
    caucus_explain_more(
        e,
        "What is best may change %.6g times in 1,000 rounds (a public guess); each change costs at most "
        "%u W rounds.",
        s->changes, plan->stoch.past + 1);
}

static void explain(caucus_explainer *e) {
    const caucus_plan *plan = e->plan;
    const caucus_settings *s = &plan->settings;
    if (caucus_pace_by_question(s))
        explain_questions(e);
    else if (s->pace == CAUCUS_PACE_OWN)
        explain_slots(e);
    else if (s->longest_phase != 0)
        explain_longest(e);
    else if (s->unit == CAUCUS_UNIT_CLIENT)
        caucus_explain_say(e, "Unit client",
                           "%" PRIu64 " phases, which end after 1, g, g^2, .. rounds, g = %" PRIu64
                           "; each learns from all losses before it.",
                           plan->stoch.phases, s->growth);
    else
        caucus_explain_say(e, "Trees",
                           "P = floor(log2 T) + 1 = %" PRIu64
                           " phases of doubling length; phase p learns from the 2^(p-2) losses of the phase "
                           "before.",
                           plan->stoch.phases);
    if (plan->stoch.phases > 1) {
        const caucus_stoch_phase *last = caucus_stoch_phase_of(plan, plan->stoch.phases);
        if (last->trees > 0)
            caucus_explain_more(e,
                                "The last phase builds trees up to depth %u, with %" PRIu64
                                " samples at a root; phases with too few losses build smaller ones or none.",
                                last->trees, last->batch);
        else if (s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR)
            caucus_explain_more(
                e, "Linear losses: the gradient is the same everywhere, so one selection per phase from all samples, "
                   "no trees.");
        if (caucus_evaluates_some(s))
            explain_some(e, last);
        else if (s->trust == CAUCUS_TRUST_COORDINATOR)
            explain_coordinator_phases(e, last);
        else if (s->trust == CAUCUS_TRUST_NOBODY)
            explain_message_phases(e, last);
        else
            caucus_explain_say(
                e, "Messages",
                "Laplace noise of the paper's scale on each coordinate: %.6g of a loss in the last phase. It protects "
                "the choices,",
                caucus_words_spread(plan, &last->leaf_noise[last->trees])),
                caucus_explain_more(
                    e, "but the d coordinates of a message move together, so the message itself is far less private.");
    }
    explain_look(e);
    caucus_explain_account(e);
    if (plan->bound_kind != CAUCUS_BOUND_NONE && caucus_pace_by_question(s))
        caucus_explain_say(e, "Unit client at own pace",
                           "Expected regret <= n (R len_1 + sum over phases of length * excess, the first grace/S of "
                           "each at the excess before) + R sqrt(T n ln d/(2m)) = %.2f, n = %" PRIu64
                           " losses of each device in every slot%s.",
                           plan->bound_uncapped, s->most, caucus_plan_is_vacuous(plan) ? ": vacuous" : "");
    else if (plan->bound_kind != CAUCUS_BOUND_NONE && s->pace == CAUCUS_PACE_OWN)
        caucus_explain_say(e, "At their own pace",
                           "Expected regret <= %.4f per 1,000 losses with %" PRIu64 " of each device in every slot, of "
                           "which %.4f are for %.6g changes%s.",
                           plan->bound_uncapped, s->most, s->changes * caucus_bounds_stoch_change(plan), s->changes,
                           caucus_plan_is_vacuous(plan) ? ": vacuous" : "");
    else if (plan->bound_kind != CAUCUS_BOUND_NONE && caucus_plan_is_endless(plan))
        caucus_explain_say(e, "Runs without an end",
                           "Expected regret <= %.4f per 1,000 rounds once phases are full, of which %.4f are for %.6g "
                           "changes, %u W R each%s.",
                           plan->bound_uncapped, s->changes * caucus_bounds_stoch_change(plan), s->changes,
                           plan->stoch.past + 1, caucus_plan_is_vacuous(plan) ? ": vacuous" : "");
    else if (plan->bound_kind != CAUCUS_BOUND_NONE && s->longest_phase != 0)
        caucus_explain_say(e, "Phases with a longest length",
                           "Expected regret <= R len_1 + sum over phases of length * excess + %u W R (S - 1) + "
                           "R sqrt(S T ln d/(2m)) = %.2f%s.",
                           plan->stoch.past + 1, plan->bound_uncapped, caucus_plan_is_vacuous(plan) ? ": vacuous" : "");
    else if (plan->bound_kind == CAUCUS_BOUND_NONE)
        caucus_explain_say(e, "Bounds", "No bound is proved for votes that improves with the number of clients.");
    else
        caucus_explain_say(e, "Bounds",
                           "Expected regret <= R + sum over phases of length * excess + R sqrt(T ln d/(2m)) = %.2f%s.",
                           plan->bound_uncapped, caucus_plan_is_vacuous(plan) ? ": vacuous" : "");
}

static uint64_t most_switches(const caucus_plan *plan) {
    (void)plan;
    return 0;
}

static const char *proof(const caucus_plan *plan) {
    if (caucus_pace_by_question(&plan->settings))
        return "Unit client at own pace";
    if (plan->settings.unit == CAUCUS_UNIT_CLIENT)
        return "Unit client";
    if (plan->settings.trust != CAUCUS_TRUST_COORDINATOR && plan->settings.pace != CAUCUS_PACE_OWN)
        return "Message-private designs";
    return plan->settings.pace == CAUCUS_PACE_OWN                  ? "At their own pace"
           : plan->settings.longest_phase != 0                     ? "Phases with a longest length"
           : plan->settings.loss_shape == CAUCUS_LOSS_SHAPE_CONVEX ? "Trees"
                                                                   : "Selections";
}

static void meaning(caucus_json *j, const caucus_plan *plan) {
    if (plan->stoch.phases < 2)
        return;
    caucus_json_list_row(j, "excess_per_round");
    for (uint32_t i = 0; i < plan->stoch.described; i++)
        caucus_json_real(j, NULL, plan->stoch.phase[i].error);
    caucus_json_close(j);
    if (!caucus_look_shows(plan))
        return;
    caucus_json_list_row(j, "look_half_width"); /* if everybody answers; null: nothing is shown of this phase */
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        const caucus_stoch_phase *phase = &plan->stoch.phase[i];
        const uint64_t divisor = caucus_look_divisor(plan, phase);
        const bool shown = caucus_look_wanted(plan, phase, divisor, plan->settings.clients);
        caucus_json_real(j, NULL, shown ? caucus_look_half(plan, phase, divisor, plan->settings.clients) : (double)NAN);
    }
    caucus_json_close(j);
}

/* Leaves of all phases: one selection without trees, 2 + 4 + .. + 2^T1 with them. */
static uint64_t leaves_of(const caucus_plan *plan) {
    uint64_t leaves = 0;
    for (uint32_t i = 0; i < plan->stoch.described; i++) {
        const uint32_t trees = plan->stoch.phase[i].trees;
        leaves += caucus_stoch_repeats(plan, i) * (trees > 0 ? ((uint64_t)2 << trees) - 2 : 1);
    }
    return leaves;
}

static void traffic(const caucus_plan *plan, caucus_plan_traffic *t) {
    const caucus_settings *s = &plan->settings;
    const uint64_t d = s->experts, m = s->clients;
    const bool nobody = s->trust == CAUCUS_TRUST_NOBODY, linear = s->loss_shape == CAUCUS_LOSS_SHAPE_LINEAR;
    const uint64_t list = d < CAUCUS_SHORTLIST ? d : CAUCUS_SHORTLIST;
    const uint32_t trees = caucus_stoch_trees(plan);
    t->reports = leaves_of(plan);
    t->scalars = t->reports * d;
    t->paper_scalars = t->scalars;
    const bool votes =
        nobody && (plan->stoch.message == CAUCUS_MESSAGE_VOTE || plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST);
    if (votes) {
        t->scalars = t->reports;
        if (plan->stoch.message == CAUCUS_MESSAGE_SHORTLIST) {
            t->scalars += t->reports * list;
            t->reports *= 2;
        }
    }
    uint64_t vectors = linear ? (trees > 0 ? trees + 2 : 1) + (votes ? 1 : 0) : 2u * (trees + 1) + 5;
    vectors += s->unit != CAUCUS_UNIT_CLIENT ? 0 : caucus_evaluates_some(s) ? 2 : 1;
    t->client_memory = vectors * d * 8;
    vectors = 3 + (uint64_t)plan->stoch.past + (nobody ? trees + 6u : 0);
    vectors += caucus_evaluates_some(s) ? 3 : 0;
    t->coordinator_memory = vectors * d * 8 + 4 * m;
}

const caucus_family_words caucus_words_stoch = {
    .assumes = CAUCUS_KNOWLEDGE_IID,
    .recommended = true,
    CAUCUS_FAMILY_WORDS,
    .meaning = meaning,
};
