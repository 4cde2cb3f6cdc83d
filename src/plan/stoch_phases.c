/* SPDX-License-Identifier: Apache-2.0 */
/* stoch_phases.c: where the phases of stoch are. See stoch.h.
 *
 * Rounds are at most 2^40, lengths at most 2^40: nothing here can overflow for a phase that exists, and numbers of
 * phases that do not exist are refused before they come here (algo/phase_client_state.c). */
#include "plan/stoch.h"

#include "plan/stoch/look.h"

#include <math.h>

static uint64_t longest_of(const caucus_settings *s) {
    return s->longest_phase != 0 ? s->longest_phase : (uint64_t)1 << 62;
}

static uint64_t first_of(const caucus_settings *s) {
    return s->longest_phase == 0 ? 1 : s->first_phase < s->longest_phase ? s->first_phase : s->longest_phase;
}

/* Unit client: the rounds after which phase p has ended, g^(p-1). */
static uint64_t grown(const caucus_settings *s, uint64_t p) {
    uint64_t rounds = 1;
    while (p-- > 1)
        if (__builtin_mul_overflow(rounds, s->growth, &rounds) || rounds >> 62 != 0)
            return (uint64_t)1 << 62; /* no run comes to it */
    return rounds;
}

uint64_t caucus_stoch_length(const caucus_settings *s, uint64_t p) {
    if (caucus_stoch_grows(s))
        return p > 1 ? grown(s, p) - grown(s, p - 1) : 1;
    const uint64_t longest = longest_of(s), first = first_of(s);
    return p - 1 < 63 && first <= longest >> (p - 1) ? first << (p - 1) : longest;
}

/* The number of the first phase with W rounds: all before it have doubled. */
static uint64_t full_from(const caucus_settings *s) {
    uint64_t p = 1;
    while (caucus_stoch_length(s, p) < longest_of(s))
        p++;
    return p;
}

/* Phases 1 .. q that double have (2^q - 1) F rounds together. */
uint64_t caucus_stoch_first(const caucus_settings *s, uint64_t p) {
    if (caucus_stoch_grows(s))
        return p > 1 ? grown(s, p - 1) + 1 : 1;
    const uint64_t full = full_from(s), doubling = p < full ? p - 1 : full - 1;
    return 1 + (((uint64_t)1 << (doubling & 63)) - 1) * first_of(s) + (p - 1 - doubling) * longest_of(s);
}

uint64_t caucus_stoch_phases(const caucus_settings *s) {
    uint64_t p = 1;
    if (caucus_stoch_grows(s)) {
        while (grown(s, p) < s->rounds)
            p++;
        return p;
    }
    const uint64_t full = full_from(s);
    if (s->rounds == CAUCUS_ROUNDS_ENDLESS)
        return CAUCUS_ROUNDS_ENDLESS;
    while (p < full && caucus_stoch_first(s, p + 1) <= s->rounds)
        p++;
    return p < full ? p : full + (s->rounds - caucus_stoch_first(s, full)) / longest_of(s);
}

uint32_t caucus_stoch_described(const caucus_settings *s) {
    if (caucus_stoch_grows(s))
        return (uint32_t)(caucus_stoch_phases(s) - 1);
    const uint64_t phases = caucus_stoch_phases(s), alike = full_from(s) + 1;
    return (uint32_t)((phases < alike ? phases : alike) - 1);
}

/* Of W rounds, or as many as are left. */
static uint64_t cut(const caucus_settings *s, uint64_t first, uint64_t length) {
    return length < s->rounds - first + 1 ? length : s->rounds - first + 1;
}

void caucus_stoch_extent(const caucus_settings *s, uint64_t p, caucus_stoch_phase *ret) {
    ret->first = caucus_stoch_first(s, p);
    ret->length = cut(s, ret->first, caucus_stoch_length(s, p));
    ret->samples = caucus_stoch_samples(s, p, 0);
}

uint64_t caucus_stoch_samples(const caucus_settings *s, uint64_t p, uint32_t age) {
    return caucus_stoch_grows(s) ? caucus_stoch_first(s, p) - 1 : caucus_stoch_length(s, p - 1 - age);
}

uint64_t caucus_stoch_played(const caucus_plan *plan, uint64_t p) {
    const caucus_settings *s = &plan->settings;
    return cut(s, caucus_stoch_first(s, p), caucus_stoch_length(s, p));
}

uint64_t caucus_stoch_repeats(const caucus_plan *plan, uint32_t i) {
    return i + 1 < plan->stoch.described ? 1 : plan->stoch.phases - plan->stoch.described;
}

uint32_t caucus_stoch_trees(const caucus_plan *plan) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < plan->stoch.described; i++)
        if (plan->stoch.phase[i].trees > most)
            most = plan->stoch.phase[i].trees;
    return most;
}

/* H_d - 1. */
static double harmonic(uint32_t d) {
    double sum = 0;
    for (uint32_t n = d; n >= 2; n--)
        sum += 1.0 / n;
    return sum;
}

/* A phase of W rounds errs by a/sqrt(W) + b/W per round (b alone for means: a client-block is one record), and a change
 * costs up to 2W rounds; all in units of the range. The sum is convex in W, so the better neighbour of its minimum is
 * the best whole number. */
uint64_t caucus_stoch_longest(const caucus_settings *s, double *ret_bound) {
    /* Of few evaluations an expert has a part k/d; one loss of one expert moves one score only. */
    const double part = s->evaluate != 0 ? (double)s->evaluate / s->experts : 1, ways = s->evaluate == 1 ? 1 : 2;
    const double m = s->clients * part, c = s->changes / 1000, range = s->hi - s->lo;
    const double a = sqrt(log((double)s->experts) / (2 * m)),
                 b = ways * harmonic(s->experts) / (m * caucus_look_left(s));
    const bool means = caucus_settings_means(s);
    double w = 1;
    if (means)
        w = pow(a / (4 * c), 2.0 / 3);
    else
        for (int i = 0; i < 200; i++) /* a contraction: each turn takes at least half of the error in ln W */
            w = sqrt((a * sqrt(w) / 2 + b) / (2 * c));
    const double most = 0x1p30;
    double best = 0, least = INFINITY;
    for (int up = 0; up <= 1; up++) {
        const double n = fmin(fmax(floor(w) + up, 1), most);
        const double bound = a / sqrt(n) + (means ? b : b / n) + 2 * c * n;
        if (bound < least) {
            least = bound;
            best = n;
        }
    }
    *ret_bound = range * least;
    return (uint64_t)best;
}
