/* SPDX-License-Identifier: Apache-2.0 */
/* plan_facts.h: what follows from a plan and people want to know before a run: what its bound assumes, traffic, memory.
 * layer: show
 *
 * Nothing here enters a mechanism. */
#ifndef CAUCUS_SHOW_PLAN_FACTS_H
#define CAUCUS_SHOW_PLAN_FACTS_H

#include "plan/plan.h"
#include "sim/run.h"

/* What is known of the losses. X(NAME, "word", "one line for help") */
#define CAUCUS_KNOWLEDGE_LIST(X)                                                                                       \
    X(IID, "iid", "losses are drawn independently from one distribution")                                              \
    X(DRIFTING, "drifting", "losses are drawn independently from a distribution that changes now and then")            \
    X(REALIZABLE, "realizable", "some expert loses at most L* in all at every client")                                 \
    X(ANY, "any", "losses are fixed in advance, and may be anything")                                                  \
    X(ADAPTIVE, "adaptive", "losses may follow what was announced in earlier blocks")
#define CAUCUS_ENUM_KNOWLEDGE(name, word, help) CAUCUS_KNOWLEDGE_##name,
CAUCUS_CHOICE_DECLARE(extern, knowledge, KNOWLEDGE, CAUCUS_KNOWLEDGE_LIST)

/** What an algorithm's bound assumes; leader has none and is taken as iid. */
caucus_knowledge caucus_knowledge_of(caucus_algorithm algorithm);
/** Whether a bound proved for plans with these settings says something about losses of which `known` is known. Where
 *  they drift it has to be about the best expert between changes, and not about the best of the whole run alone. */
bool caucus_knowledge_covers(const caucus_settings *settings, caucus_knowledge known);
/** The simulator's losses for a state of knowledge: hard ones where anything may come. */
caucus_adversary_kind caucus_knowledge_adversary(caucus_knowledge known, bool convex);
/** And their segments, where they have some: as many changes as the settings reckon with. */
uint64_t caucus_knowledge_segments(const caucus_settings *settings, caucus_adversary_kind kind, uint64_t rounds);

/** What a bound, and the traffic where there is no end, are about: the run, one of its cycles (svt; hedge without an
 *  end), 1,000 rounds of it (stoch without an end), or its nominal rounds (svt without an end and renewal). */
typedef enum caucus_stretch_kind {
    CAUCUS_STRETCH_RUN,
    CAUCUS_STRETCH_CYCLE,
    CAUCUS_STRETCH_ROUNDS,
    CAUCUS_STRETCH_NOMINAL
} caucus_stretch_kind;
caucus_stretch_kind caucus_plan_stretch_of(const caucus_plan *plan);
/** And how many rounds that are. */
uint64_t caucus_plan_stretch_rounds(const caucus_plan *plan);

/** Whether a bound says no more than that every round can be lost. */
bool caucus_plan_is_vacuous(const caucus_plan *plan);

/** Fed-Hedge: the learning rate that would be best without privacy (docs/PRIVACY.md, "Fed-Hedge"). */
double caucus_hedge_best_rate(const caucus_settings *settings);

/* Per client, without transport overhead (CAUCUS_REPORT_HEAD_BYTES a report, 8 bytes a number). */
typedef struct caucus_plan_traffic {
    uint64_t reports, scalars, bytes;           /* at most, upwards */
    uint64_t paper_scalars;                     /* what the paper's protocol would send; 0: not in the paper */
    uint64_t client_memory, coordinator_memory; /* bytes, rounded up to whole vectors */
} caucus_plan_traffic;
caucus_plan_traffic caucus_plan_traffic_of(const caucus_plan *plan);

#endif
