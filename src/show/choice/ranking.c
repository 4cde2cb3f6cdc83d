/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.c: which candidate is ahead of which. See comparison.h.
 *
 * What was simulated decides, for those made for such losses before others. Where it says nothing about the run that is
 * asked about, what is proved decides: where one simulated client stands for many, since it has none of what they learn
 * from each other; and where fewer clients were played and one that federates lost more than is proved for its run,
 * which the run itself does not (on average). Where all clients were played a figure above what is proved is bad luck,
 * and its row alone counts as what is proved. */
#include "show/choice/comparison.h"

#include <math.h>

bool caucus_candidate_is_shown(const caucus_comparison *c, const caucus_candidate *x) {
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

/* What is proved of as much as was played, in the units of the simulated figure, where that is longer than what the
 * bound is about. */
static double proved_of_played(const caucus_comparison *c, const caucus_candidate *x) {
    if (c->settings.pace == CAUCUS_PACE_OWN) /* both are per 1,000 losses */
        return x->plan->bound;
    return x->plan->bound * fmax(1, (double)c->scale.rounds / (double)caucus_plan_stretch_rounds(x->plan));
}

bool caucus_candidate_above(const caucus_comparison *c, const caucus_candidate *x) {
    return x->plan != NULL && x->quick.done && caucus_candidate_useful(c, x) &&
           x->quick.regret.mean > proved_of_played(c, x);
}

double caucus_candidate_proof(const caucus_comparison *c, const caucus_candidate *x) {
    return caucus_candidate_proved(c, x) ? x->plan->bound_uncapped / (double)caucus_plan_stretch_rounds(x->plan)
                                         : (double)INFINITY;
}

bool caucus_comparison_stands_in(const caucus_comparison *c) {
    return c->scale.trials > 0 && c->scale.clients == 1 && c->settings.clients > 1;
}

void caucus_comparison_judge(caucus_comparison *c) {
    c->by_proof = caucus_comparison_stands_in(c);
    for (size_t i = 0; i < c->count; i++) {
        const caucus_candidate *x = &c->candidate[i];
        c->by_proof = c->by_proof || (c->scale.fewer && !x->alone && !x->other && caucus_candidate_above(c, x));
    }
}

/* What a row counts for where it was played: what was seen; of a figure above what is proved, what is proved. */
static double figure_of(const caucus_comparison *c, const caucus_candidate *x) {
    return caucus_candidate_above(c, x) ? proved_of_played(c, x) : x->quick.regret.mean;
}

/* By what is proved, if that is less than that everything can be lost; where nothing is, what was played before what
 * was not. */
static bool is_proved_ahead(const caucus_comparison *c, const caucus_candidate *a, const caucus_candidate *b) {
    const double proof_a = caucus_candidate_useful(c, a) ? caucus_candidate_proof(c, a) : (double)INFINITY,
                 proof_b = caucus_candidate_useful(c, b) ? caucus_candidate_proof(c, b) : (double)INFINITY;
    if (proof_a != proof_b)
        return proof_a < proof_b;
    return a->quick.done && (!b->quick.done || figure_of(c, a) < figure_of(c, b));
}

/* Made for such losses before not made for them; then what was seen; without that, and where it says nothing, what is
 * proved. */
static bool is_ahead(const caucus_comparison *c, const caucus_candidate *a, const caucus_candidate *b) {
    const bool covers_a = caucus_candidate_covers(c, a), covers_b = caucus_candidate_covers(c, b);
    if (covers_a != covers_b)
        return covers_a;
    if (c->by_proof)
        return is_proved_ahead(c, a, b);
    if (a->quick.done && b->quick.done)
        return figure_of(c, a) < figure_of(c, b);
    return caucus_candidate_proof(c, a) < caucus_candidate_proof(c, b);
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
    return x->plan != NULL && !x->other && caucus_candidate_is_shown(c, x) && x->alone == alone &&
           x->asked.trust == trust;
}

/* The one that is ahead; or, of those that the simulation cannot tell from it, the one with the smallest bound. */
const caucus_candidate *caucus_comparison_best(const caucus_comparison *c, caucus_trust trust, bool alone) {
    const caucus_candidate *ahead = NULL, *found = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const caucus_candidate *x = &c->candidate[i];
        if (is_one_of(c, x, trust, alone) && (ahead == NULL || is_ahead(c, x, ahead)))
            ahead = x;
    }
    found = ahead;
    for (size_t i = 0; ahead != NULL && i < c->count && !c->by_proof; i++) {
        const caucus_candidate *x = &c->candidate[i];
        if (is_one_of(c, x, trust, alone) && is_near(c, x, ahead) &&
            caucus_candidate_proof(c, x) < caucus_candidate_proof(c, found))
            found = x;
    }
    return found;
}

/* Whether a row stands before another that came earlier. What is taken is first on somebody's own losses, where what
 * they refute is behind the rest, and where what is proved decides: whoever reads the first row alone must not be
 * misled. */
static bool is_before(const caucus_comparison *c, const caucus_candidate *x, const caucus_candidate *other) {
    if ((c->own || c->by_proof) && (x == c->taken || other == c->taken))
        return x == c->taken;
    if (c->by_proof && x->plan != NULL && other->plan != NULL)
        return is_ahead(c, x, other);
    if (!x->quick.done || !other->quick.done)
        return x->quick.done;
    if (c->own && caucus_candidate_covers(c, x) != caucus_candidate_covers(c, other))
        return caucus_candidate_covers(c, x);
    return figure_of(c, x) < figure_of(c, other);
}

/* In the order of what counts; what was not played, and what does not fit, behind it as it came. */
void caucus_comparison_order(caucus_comparison *c) {
    c->shown = 0;
    for (size_t i = 0; i < c->count; i++) {
        const caucus_candidate *x = &c->candidate[i];
        if (!caucus_candidate_is_shown(c, x))
            continue;
        size_t at = c->shown++;
        for (; at > 0 && is_before(c, x, &c->candidate[c->order[at - 1]]); at--)
            c->order[at] = c->order[at - 1];
        c->order[at] = i;
    }
}
