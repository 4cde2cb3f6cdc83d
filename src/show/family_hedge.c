/* SPDX-License-Identifier: Apache-2.0 */
/* family_hedge.c: how plans of hedge and leader are told. */
#include "show/family_words.h"
#include "show/plan_words.h"

#include <inttypes.h>
#include <math.h>

static bool is_leader(const caucus_plan *plan) {
    return caucus_algorithm_variant(plan->settings.algorithm)->reference;
}

static double free_from(const caucus_plan *plan) {
    const double rate = plan->hedge.learning_rate, best = caucus_hedge_best_rate(&plan->settings);
    return rate >= best * (1 - 1e-6) ? 0 : ceil(plan->settings.clients * best / rate);
}

static void print(FILE *out, const caucus_plan *plan, int width) {
    (void)width;
    if (is_leader(plan)) {
        fputs("  Noise       none: the best expert so far is played, which protects nobody\n", out);
        return;
    }
    const double rate = plan->hedge.learning_rate, best = caucus_hedge_best_rate(&plan->settings);
    fprintf(out, "  Draws       %s, learning rate %s: ",
            caucus_plan_is_endless(plan) ? "one a block" : caucus_words_whole(plan->hedge.blocks).text,
            caucus_words_number(rate).text);
    if (isinf(plan->guarantee.epsilon_choices))
        fputs("the best one, without privacy\n", out);
    else if (rate >= best * (1 - 1e-6))
        fputs("the best one, so privacy is free here\n", out);
    else
        fprintf(out, "what privacy allows (%s would be best, and free from %s clients on)\n",
                caucus_words_number(best).text,
                caucus_words_whole((uint64_t)ceil(plan->settings.clients * best / rate)).text);
}

static const char *why_none(const caucus_plan *plan) {
    (void)plan;
    return "a reference"; /* leader: hedge has one always */
}

static void explain(caucus_explainer *e) {
    const caucus_plan *plan = e->plan;
    const caucus_settings *s = &plan->settings;
    const uint64_t later_blocks = (caucus_settings_cycle(s) - 1) / s->interval;
    const double draws = (double)later_blocks, m = s->clients, rate = plan->hedge.learning_rate,
                 best = caucus_hedge_best_rate(s);
    if (is_leader(plan)) {
        caucus_explain_say(e, "Fed-Hedge",
                           "After each of %" PRIu64
                           " blocks the expert with the smallest sum is played; ties are drawn.",
                           plan->hedge.blocks);
        caucus_explain_account(e);
        return;
    }
    if (caucus_plan_is_endless(plan))
        caucus_explain_say(e, "Runs without an end",
                           "Cycles of %" PRIu64
                           " rounds without an end use different losses: all of them cost what the "
                           "%.0f draws of one do. What follows is about one cycle.",
                           s->renew, draws);
    else
        caucus_explain_say(e, "Fed-Hedge",
                           "B = %" PRIu64
                           " blocks; all draws but the first see data: %.0f draws, each of range 2 e_H/m.",
                           plan->hedge.blocks, draws);
    if (caucus_settings_cycles(s) > 1 && !caucus_plan_is_endless(plan))
        caucus_explain_say(e, "Renewal",
                           "%" PRIu64 " cycles of %" PRIu64
                           " rounds use different losses: all of them cost what the draws of one do.",
                           caucus_settings_cycles(s), s->renew);
    caucus_explain_say(e, "Fed-Hedge", "Without privacy e_H = sqrt(8 ln d/sum of N^2) = %.6g is best.", best);
    if (isfinite(s->epsilon) && draws > 0) {
        const double pure = m * s->epsilon / (2 * draws);
        caucus_explain_more(e, "Purely, epsilon allows e_H = m epsilon/(2 (B-1)) = %.6g%s", pure,
                            s->delta > 0 ? "; by zCDP, e_H = m sqrt(2 rho/(B-1))." : ".");
        caucus_explain_more(e, "Taken: e_H = %.6g%s.", rate,
                            rate >= best * (1 - 1e-6) ? ", the best: privacy is free" : ", the most that is allowed");
    }
    caucus_explain_account(e);
    caucus_explain_say(e, "Bounds", "Expected regret <= ln d/e_H + e_H sum of N^2/8%s = %.2f%s.",
                       caucus_plan_is_endless(plan)    ? " + N (1 - 1/d)"
                       : caucus_settings_cycles(s) > 1 ? ", over all cycles, and N (1 - 1/d) for each after the first"
                                                       : "",
                       plan->bound_uncapped, caucus_plan_is_vacuous(plan) ? ": vacuous" : "");
}

static uint64_t most_switches(const caucus_plan *plan) {
    (void)plan;
    return 0;
}

static const char *proof(const caucus_plan *plan) {
    (void)plan;
    return "Fed-Hedge";
}

static void meaning(caucus_json *j, const caucus_plan *plan) {
    if (!is_leader(plan))
        caucus_json_real(j, "learning_rate", plan->hedge.learning_rate);
}

static void traffic(const caucus_plan *plan, caucus_plan_traffic *ret) {
    const uint64_t d = plan->settings.experts;
    ret->reports = plan->hedge.blocks - 1;
    ret->scalars = ret->reports * d;
    ret->client_memory = d * 8;
    ret->coordinator_memory = d * 8 + 4 * (uint64_t)plan->settings.clients;
}

const caucus_family_words caucus_words_hedge = {
    .assumes = CAUCUS_KNOWLEDGE_ANY,
    .recommended = true,
    CAUCUS_FAMILY_WORDS,
    .meaning = meaning,
    .free_from = free_from,
};
