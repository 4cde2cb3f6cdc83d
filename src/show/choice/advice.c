/* SPDX-License-Identifier: Apache-2.0 */
/* advice.c: what to take in a situation, and why, in sentences; ranking.c has the order. See comparison.h. */
#include "show/choice/comparison.h"
#include "show/family_words.h"
#include "show/plan_words.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void caucus_comparison_say(caucus_comparison *c, const char *format, ...) {
    va_list arguments;
    if (c->sentences == CAUCUS_ADVICE)
        return;
    va_start(arguments, format);
    (void)vsnprintf(c->advice[c->sentences++], CAUCUS_ADVICE_BYTES, format, arguments);
    va_end(arguments);
}

static void say_taken(caucus_comparison *c, const caucus_candidate *x, const char *start) {
    const bool own_pace = c->settings.pace == CAUCUS_PACE_OWN;
    char seen[160] = "", proved[160], stretch[48] = "";
    if (x->quick.done && !c->by_proof)
        (void)snprintf(seen, sizeof seen, "about %.40s lost per %s in the simulation%s, ",
                       caucus_words_about(x->quick.regret.mean).text, own_pace ? "1,000 losses" : "client",
                       caucus_candidate_above(c, x) ? ", which is above what is proved" : "");
    if (own_pace)
        (void)snprintf(stretch, sizeof stretch, " per 1,000 losses");
    if (caucus_candidate_useful(c, x) && caucus_plan_is_endless(x->plan) && c->settings.pace != CAUCUS_PACE_OWN)
        (void)snprintf(stretch, sizeof stretch, " in %.32s rounds",
                       caucus_words_whole(caucus_plan_stretch_rounds(x->plan)).text);
    if (caucus_candidate_useful(c, x))
        (void)snprintf(proved, sizeof proved, "at most %s%s proved%s", caucus_words_number(x->plan->bound).text,
                       stretch, c->own ? " if they are what it assumes" : "");
    else
        (void)snprintf(proved, sizeof proved, "nothing useful is proved %s",
                       caucus_candidate_covers(c, x) ? "at this size" : "for such losses");
    const caucus_candidate_words with = caucus_candidate_with(x);
    caucus_comparison_say(c, "%s %s%s%s%s with trust %s: %s%s.", start, caucus_algorithm_word(x->asked.algorithm),
                          with.text[0] != '\0' ? " (" : "", with.text, with.text[0] != '\0' ? ")" : "",
                          caucus_trust_word(x->asked.trust), seen, proved);
}

/* What a client alone would lose at least, by the rows that are shown; INFINITY: there is none. */
static double least_alone(const caucus_comparison *c) {
    double least = INFINITY;
    for (size_t i = 0; i < c->count; i++)
        if (c->candidate[i].alone && c->candidate[i].quick.done && caucus_candidate_is_shown(c, &c->candidate[i]))
            least = fmin(least, c->candidate[i].quick.regret.mean);
    return least;
}

static void say_federation(caucus_comparison *c, const caucus_candidate *x) {
    const double lost = least_alone(c);
    if (!isfinite(lost) || !(lost > 0) || !x->quick.done || c->settings.clients == 1 || c->by_proof)
        return;
    const double ratio = lost / fmax(x->quick.regret.mean, lost / 1000);
    if (ratio > 999)
        caucus_comparison_say(c, "One client alone would lose about %s: together next to nothing.",
                              caucus_words_about(lost).text);
    else if (ratio > 1.15)
        caucus_comparison_say(c, "One client alone would lose about %s: together each loses %s times less.",
                              caucus_words_about(lost).text, caucus_words_about(ratio).text);
    else
        caucus_comparison_say(c, "One client alone would lose about %s: here a federation helps little or nothing.",
                              caucus_words_about(lost).text);
}

/* Fed-Hedge and what no federation can change. */
static void say_any(caucus_comparison *c, const caucus_candidate *x) {
    const caucus_settings *s = &c->settings;
    const caucus_family_words *words = caucus_family_words_of(caucus_algorithm_family(x->asked.algorithm));
    if (words->free_from != NULL && isfinite(s->epsilon)) {
        const double from = words->free_from(x->plan);
        if (from <= 0)
            caucus_comparison_say(
                c, "Privacy is free here: with %s clients it allows the learning rate that would be best without it.",
                caucus_words_whole(s->clients).text);
        else
            caucus_comparison_say(
                c, "Privacy would be free from about %s clients on (or with more rounds per block: a larger interval).",
                caucus_words_whole((uint64_t)from).text);
    }
    if (c->known == CAUCUS_KNOWLEDGE_ADAPTIVE)
        caucus_comparison_say(c,
                              "An expert is announced at the start of its block: users who react to the one that they "
                              "are being served are not covered by what is proved. All reports must be counted.");
    if (s->rounds == CAUCUS_ROUNDS_ENDLESS)
        return;
    const double floor_regret = sqrt((double)s->rounds * log((double)s->experts) / 2) * (s->hi - s->lo);
    caucus_comparison_say(
        c,
        "If all clients see the same losses a federation cannot help: nobody, private or not, gets far below sqrt(T ln "
        "d/2) = %s on the worst of them (docs/PRIVACY.md, \"Lower-bound loss sequences\").",
        caucus_words_number(floor_regret).text);
}

/* Something not made for such losses did better on the simulated ones: tempting, so say what it is worth. */
static void say_tempting(caucus_comparison *c, const caucus_candidate *taken) {
    for (size_t i = 0; i < c->count && !c->by_proof; i++) {
        const caucus_candidate *x = &c->candidate[i];
        if (x->alone || x->other || x->asked.trust != taken->asked.trust || !x->quick.done || !taken->quick.done ||
            caucus_candidate_covers(c, x) || x->quick.regret.mean > 0.85 * taken->quick.regret.mean)
            continue;
        caucus_comparison_say(
            c,
            "%s lost less here (about %s), but nothing is proved for it on such losses: take it only if they are also "
            "%s.",
            caucus_algorithm_word(x->asked.algorithm), caucus_words_about(x->quick.regret.mean).text,
            caucus_knowledge_word(caucus_knowledge_of(x->asked.algorithm)));
        return;
    }
}

/* What another bargain would cost. */
static void say_others(caucus_comparison *c) {
    for (size_t i = 0; i < c->count; i++) {
        const caucus_candidate *x = &c->candidate[i];
        if (!x->wider || !x->quick.done || (c->by_proof && !caucus_candidate_useful(c, x)))
            continue;
        const double device = caucus_plan_epsilon_device(x->plan);
        char lost[160];
        if (c->by_proof)
            (void)snprintf(lost, sizeof lost, "at most %.40s proved", caucus_words_number(x->plan->bound).text);
        else
            (void)snprintf(lost, sizeof lost, "about %.40s lost%s%.40s%s",
                           caucus_words_about(x->quick.regret.mean).text,
                           caucus_candidate_above(c, x) ? " in the simulation, above the " : "",
                           caucus_candidate_above(c, x) ? caucus_words_number(x->plan->bound).text : "",
                           caucus_candidate_above(c, x) ? " that is proved" : "");
        caucus_comparison_say(c, "For unit %s (%s): %s, epsilon of a whole device %s.", caucus_unit_word(x->asked.unit),
                              caucus_unit_help(x->asked.unit), lost,
                              isfinite(device) ? caucus_words_number(device).text : "without a bound");
    }
}

typedef struct range_text {
    char text[96];
} range_text;

static range_text range_words(double lo, double hi) {
    range_text made;
    (void)snprintf(made.text, sizeof made.text, "%g,%g: use it if that is public knowledge, and compare again", lo, hi);
    return made;
}

/* What the order is by, where it is not by what was simulated. */
static void say_ranking(caucus_comparison *c) {
    if (!c->by_proof)
        return;
    if (caucus_comparison_stands_in(c))
        caucus_comparison_say(c,
                              "One simulated client stands for %s here and has nothing of what they learn from each "
                              "other: what is proved decides the order, not what was simulated.",
                              caucus_words_whole(c->settings.clients).text);
    else
        caucus_comparison_say(c, "A simulated figure is above what is proved for your run (*), so what was played says "
                                 "little about it: what is proved decides the order.");
}

/* Losses outside the range were compared as its ends, and would be in the run. */
static void say_range(caucus_comparison *c) {
    double lo, hi;
    if (!c->own || !(c->history.outside > CAUCUS_HISTORY_OUTSIDE))
        return;
    const bool proposed = caucus_comparison_range(c, &lo, &hi);
    caucus_comparison_say(c,
                          "%.*f %% of your losses are outside the range %g,%g and were taken for its ends in this "
                          "comparison. %s%s.",
                          c->history.outside < 0.1, 100 * c->history.outside, c->history.lo, c->history.hi,
                          proposed ? "The commands below have the range that holds them, " : "If that is not meant, ",
                          proposed ? range_words(lo, hi).text : "compare again with another range");
}

/* Few evaluations are not for every row (trim() in candidates.c): a device that can do no more is told so. */
static void say_evaluate(caucus_comparison *c) {
    const uint32_t asked = c->settings.evaluate;
    bool all = false;
    for (size_t i = 0; i < c->count && asked != 0 && asked < c->settings.experts; i++)
        all |= c->candidate[i].plan != NULL && c->candidate[i].asked.evaluate != asked;
    if (all)
        caucus_comparison_say(c,
                              "You asked for evaluate %u: in the rows that do not say so, and in commands without it, "
                              "every client evaluates all %s experts in every round.",
                              asked, caucus_words_whole(c->settings.experts).text);
}

void caucus_comparison_advise(caucus_comparison *c) {
    caucus_comparison_judge(c);
    const caucus_candidate *central = caucus_comparison_best(c, CAUCUS_TRUST_COORDINATOR, false),
                           *nobody = caucus_comparison_best(c, CAUCUS_TRUST_NOBODY, false);
    c->taken = central != NULL ? central : nobody;
    caucus_comparison_order(c);
    c->sentences = 0;
    if (c->taken == NULL) {
        caucus_comparison_say(c, "Nothing fits these settings.");
        (void)caucus_comparison_would_fit(c, false);
        return;
    }
    const bool covered = caucus_candidate_covers(c, c->taken);
    say_range(c);
    say_evaluate(c);
    say_ranking(c);
    say_taken(c, c->taken,
              covered                ? "Take"
              : c->by_proof          ? "Nothing that fits is made for such losses. What fits:"
              : c->taken->quick.done ? "Nothing that fits is made for such losses. Least was lost by"
                                     : "Nothing that fits is made for such losses. Not played, but fits:");
    if (!covered)
        (void)caucus_comparison_would_fit(c, true);
    say_federation(c, c->taken);
    say_tempting(c, c->taken);
    if (central != NULL && nobody != NULL)
        say_taken(c, nobody, "If the coordinator must not see the clients' sums:");
    if (c->known == CAUCUS_KNOWLEDGE_ANY || c->known == CAUCUS_KNOWLEDGE_ADAPTIVE)
        say_any(c, c->taken);
    else if (c->known == CAUCUS_KNOWLEDGE_REALIZABLE && caucus_knowledge_of(c->taken->asked.algorithm) == c->known &&
             !caucus_candidate_useful(c, c->taken))
        caucus_comparison_say(c, "The bound becomes useful with more clients, more rounds or a larger epsilon.");
    say_others(c);
}
