/* SPDX-License-Identifier: Apache-2.0 */
/* plan_explain.c: how a plan came about, step by step, with the numbers put in. See plan_print.h.
 *
 * The formulas are those of docs/PRIVACY.md, and are worked out here again from the plan's settings and integers, so a
 * reader can follow with a pocket calculator. Every step names its section. */
#include "show/family_words.h"
#include "show/plan_print.h"
#include "show/plan_words.h"

#include <math.h>
#include <stdarg.h>

void caucus_explain_say(caucus_explainer *e, const char *section, const char *format, ...) {
    va_list arguments;
    fprintf(e->out, "  %2u. ", ++e->step);
    va_start(arguments, format);
    (void)vfprintf(e->out, format, arguments);
    va_end(arguments);
    fprintf(e->out, "   (\"%s\")\n", section);
}

void caucus_explain_more(caucus_explainer *e, const char *format, ...) {
    va_list arguments;
    fputs("      ", e->out);
    va_start(arguments, format);
    (void)vfprintf(e->out, format, arguments);
    va_end(arguments);
    fputc('\n', e->out);
}

static void explain_promise(caucus_explainer *e) {
    const caucus_settings *s = &e->plan->settings;
    if (isinf(s->epsilon))
        caucus_explain_say(e, "The promise", "No privacy was asked for (epsilon infinite).");
    else if (s->delta > 0)
        caucus_explain_say(e, "The promise", "Asked: epsilon %.6g, delta %.6g, when %s is replaced.", s->epsilon,
                           s->delta, caucus_words_unit(s));
    else
        caucus_explain_say(e, "The promise", "Asked: epsilon %.6g, pure, when %s is replaced.", s->epsilon,
                           caucus_words_unit(s));
    caucus_explain_more(e, "Trust %s: %s.", caucus_trust_word(s->trust), caucus_trust_help(s->trust));
    caucus_explain_say(
        e, "The grid",
        "A loss in [%.6g, %.6g] becomes a whole number of steps from 0 to G = %lld, once, at the client.", s->lo, s->hi,
        (long long)e->plan->grid);
    if (s->unit == CAUCUS_UNIT_CLIENT)
        caucus_explain_more(e, "A report is the rounded mean of all that a client has seen, so a client moves a sum by "
                               "at most G, as one loss would (\"Unit client\").");
    else if (s->unit == CAUCUS_UNIT_CLIENT_BLOCK)
        caucus_explain_more(e, s->pace == CAUCUS_PACE_OWN
                                   ? "An item is the rounded mean of what the device saw, so it moves a sum by at most "
                                     "G, as one loss would (\"The unit\")."
                                   : "A block of a client is rounded to its mean, so it moves a sum by at most G, as "
                                     "one loss would (\"The "
                                     "unit\").");
    if (caucus_settings_grow(s)) /* what is added up is told where thresholds are */
        return;
    caucus_explain_more(e, "All sums stay below m*%s*G = %.4g, far from 2^62 = 4.612e+18.",
                        s->pace == CAUCUS_PACE_OWN ? "n"
                        : s->longest_phase != 0    ? "W"
                                                   : "T",
                        (double)s->clients * (double)caucus_settings_span(s) * (double)e->plan->grid);
}

void caucus_explain_account(caucus_explainer *e) {
    const caucus_guarantee *g = &e->plan->guarantee;
    if (isinf(g->epsilon_choices))
        caucus_explain_say(e, "The accountant", "Nothing is protected: the choices may reveal any loss.");
    else if (g->rho_zcdp > 0)
        caucus_explain_say(e, "Approximate privacy",
                           "From the integers, every operation rounded up: rho = %.6g, so epsilon %.10g for the "
                           "choices at delta %.6g.",
                           g->rho_zcdp, g->epsilon_choices, g->delta);
    else
        caucus_explain_say(e, "The accountant",
                           "From the integers, every operation rounded up: epsilon %.10g for the choices.",
                           g->epsilon_choices);
    if (!isnan(g->epsilon_messages))
        caucus_explain_more(e, "Epsilon %.10g for the messages%s.", g->epsilon_messages,
                            g->epsilon_messages > e->plan->settings.epsilon ? ", NOT what was asked" : "");
    if (isfinite(g->epsilon_choices) && g->epsilon_choices > 0 && e->plan->settings.unit != CAUCUS_UNIT_CLIENT) {
        if (caucus_plan_is_endless(e->plan))
            caucus_explain_say(e, "A whole device",
                               "That is for %s. Everything one client contributes to a run without an end: no bound.",
                               caucus_words_unit(&e->plan->settings));
        else
            caucus_explain_say(e, "A whole device",
                               "That is for %s. Everything one client contributes to the run: epsilon %.6g at most%s.",
                               caucus_words_unit(&e->plan->settings), caucus_plan_epsilon_device(e->plan),
                               caucus_words_delta(g->delta).text);
    }
}

void caucus_plan_explain(FILE *out, const caucus_plan *plan) {
    caucus_explainer e = {.out = out, .plan = plan};
    char weak[CAUCUS_PLAN_WEAKNESSES][CAUCUS_PLAN_WEAKNESS_BYTES];
    const size_t count = caucus_plan_weaknesses(plan, weak);
    fputs("\n  How it came about (titles of sections in docs/PRIVACY.md)\n", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "      WEAK: %s.\n", weak[i]);
    explain_promise(&e);
    caucus_family_words_of(caucus_plan_family(plan))->explain(&e);
}
