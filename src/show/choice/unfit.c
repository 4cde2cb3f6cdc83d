/* SPDX-License-Identifier: Apache-2.0 */
/* unfit.c: nothing fits what was asked for; what would. See comparison.h.
 *
 * Of the settings that were asked for some can be given up one at a time, each for the value that most algorithms take.
 * What then fits is named, so that whoever asked can choose what to give up. */
#include "show/choice/comparison.h"

#include <stdio.h>

enum { RELAXED_ROUNDS = 1000, NAMED = 4 };

typedef struct relaxation {
    const char *words;                 /* the setting as it would be instead */
    bool (*relax)(caucus_settings *s); /* whether there was something to give up */
} relaxation;

/* One step narrower; and all the way. */
static bool relax_client(caucus_settings *s) {
    const bool asked = s->unit == CAUCUS_UNIT_CLIENT;
    s->unit = CAUCUS_UNIT_CLIENT_BLOCK;
    s->growth = CAUCUS_GROWTH_AUTO;
    return asked;
}

static bool relax_unit(caucus_settings *s) {
    const bool asked = s->unit != CAUCUS_UNIT_EVENT;
    s->unit = CAUCUS_UNIT_EVENT;
    s->growth = CAUCUS_GROWTH_AUTO;
    return asked;
}

static bool relax_trust(caucus_settings *s) {
    const bool asked = s->trust == CAUCUS_TRUST_NOBODY;
    s->trust = CAUCUS_TRUST_COORDINATOR;
    s->message = CAUCUS_MESSAGE_AUTO;
    return asked;
}

static bool relax_rounds(caucus_settings *s) {
    const bool asked = s->rounds == CAUCUS_ROUNDS_ENDLESS && s->pace != CAUCUS_PACE_OWN;
    s->rounds = asked ? RELAXED_ROUNDS : s->rounds;
    return asked;
}

/* At their own pace a run has no end. */
static bool relax_end(caucus_settings *s) {
    const bool asked = s->rounds != CAUCUS_ROUNDS_ENDLESS && s->pace == CAUCUS_PACE_OWN;
    s->rounds = CAUCUS_ROUNDS_ENDLESS;
    return asked;
}

static bool relax_pace(caucus_settings *s) {
    const bool asked = s->pace == CAUCUS_PACE_OWN;
    s->pace = CAUCUS_PACE_TOGETHER;
    return asked;
}

static bool relax_evaluate(caucus_settings *s) {
    const bool asked = s->evaluate != 0;
    s->evaluate = 0;
    return asked;
}

static bool relax_look(caucus_settings *s) {
    const bool asked = s->show_loss != 0;
    s->show_loss = 0;
    return asked;
}

static const relaxation relaxations[] = {
    {"unit client-block", relax_client},  {"unit event", relax_unit},    {"trust coordinator", relax_trust},
    {"a number of rounds", relax_rounds}, {"rounds endless", relax_end}, {"pace together", relax_pace},
    {"evaluate all", relax_evaluate},     {"show-loss 0", relax_look},
};

static bool federates(const caucus_candidate *x) {
    return x->plan != NULL && !x->alone && !x->other;
}

bool caucus_comparison_fits(const caucus_comparison *c) {
    for (size_t i = 0; i < c->count; i++)
        if (federates(&c->candidate[i]))
            return true;
    return false;
}

/* "stoch (longest phase 6), svt", of those that fit. Returns: how many. */
static unsigned name_fitting(const caucus_comparison *c, bool covered, char *ret, size_t bytes) {
    size_t used = 0;
    unsigned named = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < c->count && named < NAMED; i++) {
        const caucus_candidate *x = &c->candidate[i];
        if (!federates(x) || (covered && !caucus_candidate_covers(c, x)))
            continue;
        const caucus_candidate_words with = caucus_candidate_with(x);
        const int more = snprintf(ret + used, bytes - used, "%s%s%s%.60s%s", named++ > 0 ? ", " : "",
                                  caucus_algorithm_word(x->asked.algorithm), with.text[0] != '\0' ? " (" : "",
                                  with.text, with.text[0] != '\0' ? ")" : "");
        used += more > 0 && (size_t)more < bytes - used ? (size_t)more : 0;
    }
    return named;
}

bool caucus_comparison_would_fit(caucus_comparison *c, bool covered) {
    bool any = false;
    for (size_t i = 0; i < sizeof relaxations / sizeof relaxations[0]; i++) {
        caucus_comparison other = {.question = c->question, .settings = c->settings, .known = c->known, .own = c->own};
        char names[240];
        other.history = c->history;
        if (!relaxations[i].relax(&other.settings))
            continue;
        caucus_candidates_add(&other);
        const unsigned count = name_fitting(&other, covered, names, sizeof names);
        if (count > 0)
            caucus_comparison_say(c, "With %s instead %s%s: %s.", relaxations[i].words, count > 1 ? "these" : "this",
                                  covered ? (count > 1 ? " are made for them" : " is made for them")
                                          : (count > 1 ? " fit" : " fits"),
                                  names);
        any = any || count > 0;
        caucus_candidates_free(&other);
    }
    return any;
}
