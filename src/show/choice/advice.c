/* SPDX-License-Identifier: Apache-2.0 */
/* advice.c: which candidate to take in a situation, and why. See comparison.h. */
#include "show/choice/comparison.h"
#include "show/family_words.h"
#include "show/plan_words.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Of those alone only the one made for such losses; of somebody's own losses each, since nobody knows. */
static bool is_shown(const caucus_comparison *c, const caucus_candidate *x) {
    return !x->alone || (c->own ? x->quick.done : caucus_knowledge_of(x->asked.algorithm) == c->known);
}

bool caucus_candidate_covers(const caucus_comparison *c, const caucus_candidate *x) {
    if (x->plan == NULL)
        return false;
    const caucus_settings *s = &x->plan->settings;
    if (caucus_comparison_drifts(c))
        return caucus_knowledge_covers(s, CAUCUS_KNOWLEDGE_DRIFTING);
    return c->own ? !caucus_history_refutes(&c->history, s) : caucus_knowledge_covers(s, c->known);
}

bool caucus_candidate_proved(const caucus_comparison *c, const caucus_candidate *x) {
    return x->plan != NULL && x->plan->bound_kind != CAUCUS_BOUND_NONE && caucus_candidate_covers(c, x);
}

bool caucus_candidate_useful(const caucus_comparison *c, const caucus_candidate *x) {
    return caucus_candidate_proved(c, x) && !caucus_plan_is_vacuous(x->plan);
}

bool caucus_candidate_above(const caucus_comparison *c, const caucus_candidate *x) {
    if (!x->quick.done || !caucus_candidate_useful(c, x))
        return false;
    const bool slots = c->settings.pace == CAUCUS_PACE_OWN;
    const double played = (double)c->scale.rounds * (slots && !c->own ? CAUCUS_SLOT_LOSSES : 1);
    const double about = slots ? 1000 : (double)caucus_plan_stretch_rounds(x->plan);
    return x->quick.regret.mean > x->plan->bound * fmax(1, played / about);
}

/* What is proved, per round: bounds of runs without an end are about stretches of several lengths. */
static double proved_of(const caucus_comparison *c, const caucus_candidate *x) {
    return caucus_candidate_proved(c, x) ? x->plan->bound_uncapped / (double)caucus_plan_stretch_rounds(x->plan)
                                         : (double)INFINITY;
}

/* Made for such losses before not made for them; then what was seen; without that, what is proved. */
static bool is_ahead(const caucus_comparison *c, const caucus_candidate *a, const caucus_candidate *b) {
    const bool covers_a = caucus_candidate_covers(c, a), covers_b = caucus_candidate_covers(c, b);
    if (covers_a != covers_b)
        return covers_a;
    if (a->quick.done && b->quick.done)
        return a->quick.regret.mean < b->quick.regret.mean;
    return proved_of(c, a) < proved_of(c, b);
}

/* The square of a mean's standard error; of a single trial nothing is known, and it stands as it is. */
static double square_error(const caucus_candidate *x) {
    const double std = x->quick.regret.std;
    return isnan(std) ? 0 : std * std / x->quick.trials;
}

/* Whether a few trials cannot tell two candidates apart: their means differ by less than twice the standard error of
 * the difference. */
static bool is_near(const caucus_comparison *c, const caucus_candidate *a, const caucus_candidate *b) {
    if (!a->quick.done || !b->quick.done || caucus_candidate_covers(c, a) != caucus_candidate_covers(c, b))
        return false;
    return fabs(a->quick.regret.mean - b->quick.regret.mean) <= 2 * sqrt(square_error(a) + square_error(b));
}

static bool is_one_of(const caucus_comparison *c, const caucus_candidate *x, caucus_trust trust, bool alone) {
    return x->plan != NULL && !x->other && is_shown(c, x) && x->alone == alone && x->asked.trust == trust;
}

/* The one that is ahead; or, of those that the simulation cannot tell from it, the one with the smallest bound. */
static const caucus_candidate *best(const caucus_comparison *c, caucus_trust trust, bool alone) {
    const caucus_candidate *ahead = NULL, *found = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const caucus_candidate *x = &c->candidate[i];
        if (is_one_of(c, x, trust, alone) && (ahead == NULL || is_ahead(c, x, ahead)))
            ahead = x;
    }
    found = ahead;
    for (size_t i = 0; i < c->count; i++) {
        const caucus_candidate *x = &c->candidate[i];
        if (is_one_of(c, x, trust, alone) && is_near(c, x, ahead) && proved_of(c, x) < proved_of(c, found))
            found = x;
    }
    return found;
}

/* Whether a row stands before another that came earlier. On somebody's own losses what is taken is first, and what they
 * refute is behind the rest: whoever reads the first row alone must not be misled. */
static bool is_before(const caucus_comparison *c, const caucus_candidate *x, const caucus_candidate *other) {
    if (c->own && (x == c->taken || other == c->taken))
        return x == c->taken;
    if (!x->quick.done || !other->quick.done)
        return x->quick.done;
    if (c->own && caucus_candidate_covers(c, x) != caucus_candidate_covers(c, other))
        return caucus_candidate_covers(c, x);
    return x->quick.regret.mean < other->quick.regret.mean;
}

/* In the order of what was seen; what was not, and what does not fit, behind it as it came. */
static void put_in_order(caucus_comparison *c) {
    c->shown = 0;
    for (size_t i = 0; i < c->count; i++) {
        const caucus_candidate *x = &c->candidate[i];
        if (!is_shown(c, x))
            continue;
        size_t at = c->shown++;
        for (; at > 0 && is_before(c, x, &c->candidate[c->order[at - 1]]); at--)
            c->order[at] = c->order[at - 1];
        c->order[at] = i;
    }
}

void caucus_comparison_say(caucus_comparison *c, const char *format, ...) {
    va_list arguments;
    if (c->sentences == CAUCUS_ADVICE)
        return;
    va_start(arguments, format);
    (void)vsnprintf(c->advice[c->sentences++], CAUCUS_ADVICE_BYTES, format, arguments);
    va_end(arguments);
}

static void say_taken(caucus_comparison *c, const caucus_candidate *x, const char *start) {
    char seen[160] = "", proved[160], stretch[48] = "";
    if (x->quick.done)
        (void)snprintf(seen, sizeof seen, "about %.40s lost per client in the simulation%s, ",
                       caucus_words_about(x->quick.regret.mean).text,
                       caucus_candidate_above(c, x) ? ", which is above what is proved" : "");
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

static void say_federation(caucus_comparison *c, const caucus_candidate *x) {
    const caucus_candidate *alone = best(c, CAUCUS_TRUST_COORDINATOR, true);
    if (alone == NULL || !alone->quick.done || !(alone->quick.regret.mean > 0) || !x->quick.done ||
        c->settings.clients == 1)
        return;
    const double lost = alone->quick.regret.mean, ratio = lost / fmax(x->quick.regret.mean, lost / 1000);
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
    for (size_t i = 0; i < c->count; i++) {
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
        if (!x->wider || !x->quick.done)
            continue;
        const double device = caucus_plan_epsilon_device(x->plan);
        char above[96] = "";
        if (caucus_candidate_above(c, x))
            (void)snprintf(above, sizeof above, " in the simulation, above the %.40s that is proved",
                           caucus_words_number(x->plan->bound).text);
        caucus_comparison_say(c, "For unit %s (%s): about %s lost%s, epsilon of a whole device %s.",
                              caucus_unit_word(x->asked.unit), caucus_unit_help(x->asked.unit),
                              caucus_words_about(x->quick.regret.mean).text, above,
                              isfinite(device) ? caucus_words_number(device).text : "without a bound");
    }
}

void caucus_comparison_advise(caucus_comparison *c) {
    const caucus_candidate *central = best(c, CAUCUS_TRUST_COORDINATOR, false),
                           *nobody = best(c, CAUCUS_TRUST_NOBODY, false);
    c->taken = central != NULL ? central : nobody;
    put_in_order(c);
    c->sentences = 0;
    if (c->taken == NULL) {
        caucus_comparison_say(c, "Nothing fits these settings.");
        (void)caucus_comparison_would_fit(c, false);
        return;
    }
    const bool covered = caucus_candidate_covers(c, c->taken);
    say_taken(c, c->taken,
              covered                ? "Take"
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
