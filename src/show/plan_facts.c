/* SPDX-License-Identifier: Apache-2.0 */
/* plan_facts.c: traffic and memory by counting. See plan_facts.h. */
#include "num/choice.h"
#include "plan/pace/pace.h"
#include "show/family_words.h"

#include <math.h>
#include <stdio.h>

CAUCUS_CHOICE_WORDS(knowledge, CAUCUS_KNOWLEDGE_LIST)
CAUCUS_CHOICE_PARSE(knowledge, "losses-are")

/* A reference is proved nothing; independent losses are what it is usually compared on. */
caucus_knowledge caucus_knowledge_of(caucus_algorithm algorithm) {
    if (caucus_algorithm_variant(algorithm)->reference)
        return CAUCUS_KNOWLEDGE_IID;
    return caucus_family_words_of(caucus_algorithm_family(algorithm))->assumes;
}

bool caucus_knowledge_covers(const caucus_settings *s, caucus_knowledge known) {
    const caucus_knowledge assumes = caucus_family_words_of(caucus_algorithm_family(s->algorithm))->assumes;
    if (caucus_algorithm_variant(s->algorithm)->reference)
        return false;
    if (known == CAUCUS_KNOWLEDGE_DRIFTING)
        return assumes == CAUCUS_KNOWLEDGE_IID &&
               (s->longest_phase != 0 || (s->pace == CAUCUS_PACE_OWN && s->unit != CAUCUS_UNIT_CLIENT));
    return assumes == CAUCUS_KNOWLEDGE_ANY || assumes == known;
}

caucus_adversary_kind caucus_knowledge_adversary(caucus_knowledge known, bool convex) {
    if (convex)
        return CAUCUS_ADVERSARY_CROSS_ENTROPY;
    return known == CAUCUS_KNOWLEDGE_REALIZABLE ? CAUCUS_ADVERSARY_REALIZABLE
           : known == CAUCUS_KNOWLEDGE_IID      ? CAUCUS_ADVERSARY_GAUSSIAN
           : known == CAUCUS_KNOWLEDGE_DRIFTING ? CAUCUS_ADVERSARY_SHIFTING
           : known == CAUCUS_KNOWLEDGE_ADAPTIVE ? CAUCUS_ADVERSARY_ADAPTIVE
                                                : CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS;
}

/* As many changes as the plan reckons with, and at least one: that is what the question is about. */
uint64_t caucus_knowledge_segments(const caucus_settings *s, caucus_adversary_kind kind, uint64_t rounds) {
    if (kind != CAUCUS_ADVERSARY_SHIFTING)
        return 0;
    const double changes = fmin(fmax(1, floor(s->changes * (double)rounds / 1000)), CAUCUS_SEGMENTS_MAX - 1.0);
    const uint64_t segments = 1 + (uint64_t)changes, fit = CAUCUS_SEGMENT_MEANS_MAX / s->experts;
    const uint64_t most = fit < rounds ? fit : rounds;
    return segments < most ? segments : most;
}

caucus_stretch_kind caucus_plan_stretch_of(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    if (caucus_settings_grow(s))
        return CAUCUS_STRETCH_NOMINAL;
    if (caucus_plan_is_endless(plan))
        return s->renew != 0 ? CAUCUS_STRETCH_CYCLE : CAUCUS_STRETCH_ROUNDS;
    const bool cycles = caucus_settings_cycles(s) > 1 && plan->bound_kind == CAUCUS_BOUND_PROBABILITY;
    return cycles ? CAUCUS_STRETCH_CYCLE : CAUCUS_STRETCH_RUN;
}

uint64_t caucus_plan_stretch_rounds(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    const caucus_stretch_kind about = caucus_plan_stretch_of(plan);
    return about == CAUCUS_STRETCH_ROUNDS    ? 1000
           : about == CAUCUS_STRETCH_NOMINAL ? s->nominal_rounds
           : about == CAUCUS_STRETCH_CYCLE   ? caucus_settings_cycle(s)
                                             : s->rounds * (caucus_pace_by_question(s) ? s->most : 1);
}

bool caucus_plan_is_vacuous(const caucus_plan *plan) {
    const caucus_settings *s = &plan->settings;
    return plan->bound_uncapped >= (double)caucus_plan_stretch_rounds(plan) * (s->hi - s->lo);
}

double caucus_hedge_best_rate(const caucus_settings *s) {
    const uint64_t rounds = caucus_settings_cycle(s), blocks = rounds / s->interval;
    const double n = (double)s->interval, full = (double)blocks, rest = (double)(rounds % s->interval);
    return sqrt(8 * log((double)s->experts) / (full * n * n + rest * rest));
}

/* What a family counts of a run without an end: one of its cycles, its nominal rounds, or 1,000 rounds of full
 * phases. */
static caucus_plan stretch_of_endless(const caucus_plan *plan) {
    caucus_plan copy = *plan;
    const caucus_settings *s = &plan->settings;
    if (caucus_settings_grow(s)) {
        copy.settings.rounds = s->nominal_rounds;
        copy.svt.checks = s->nominal_rounds / s->interval;
        copy.svt.blocks = copy.svt.checks + 1;
    } else if (s->renew != 0) {
        copy.settings.rounds = s->renew;
        copy.svt.blocks = copy.hedge.blocks = s->renew / s->interval + 1; /* the last block of a cycle is asked, too */
        copy.svt.checks = s->renew / s->interval;
    } else {
        copy.settings.rounds = 1000;
        copy.stoch.phase += copy.stoch.described - 1;
        copy.stoch.described = 1;
        copy.stoch.phases = 1 + (999 + s->longest_phase) / s->longest_phase;
    }
    return copy;
}

caucus_plan_traffic caucus_plan_traffic_of(const caucus_plan *plan) {
    caucus_plan_traffic t = {0};
    const caucus_plan counted = caucus_plan_is_endless(plan) ? stretch_of_endless(plan) : *plan;
    caucus_family_words_of(caucus_plan_family(plan))->traffic(&counted, &t);
    t.bytes = t.scalars * 8 + t.reports * CAUCUS_REPORT_HEAD_BYTES;
    t.client_memory += 1024; /* the machine itself, its key and its last report */
    t.coordinator_memory += 1024;
    return t;
}
