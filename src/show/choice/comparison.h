/* SPDX-License-Identifier: Apache-2.0 */
/* comparison.h: what the files behind recommend.h share: candidates, and how they did.
 * layer: show */
#ifndef CAUCUS_SHOW_CHOICE_COMPARISON_H
#define CAUCUS_SHOW_CHOICE_COMPARISON_H

#include "plan/family.h"
#include "show/choice/history.h"
#include "show/choice/quick.h"
#include "show/choice/recommend.h"

/* Losses of a device in a slot, on average, where devices at their own pace are played. */
enum { CAUCUS_SLOT_LOSSES = 64 };
enum { CAUCUS_CANDIDATES = 10 * CAUCUS_FAMILY_COUNT, CAUCUS_ADVICE = 10, CAUCUS_ADVICE_BYTES = 320 };

typedef struct caucus_candidate {
    caucus_settings asked; /* what to type; everything that this algorithm would ignore is left out */
    bool alone;            /* one client by itself, to see whether a federation helps */
    bool other;            /* another bargain (a wider unit, fewer evaluations): shown, and not taken unasked */
    bool wider;            /* and which of them: a wider unit */
    caucus_plan *plan;     /* NULL: does not fit, and why */
    caucus_error why;
    caucus_quick quick;    /* done or not */
    caucus_error unplayed; /* why it is not, if the plan of the smaller run does not fit */
} caucus_candidate;

typedef struct caucus_comparison {
    const caucus_question *question;
    caucus_settings settings; /* with the sizes of own losses */
    char *names;              /* and what their header calls the experts; NULL: it does not, or others were given */
    caucus_candidate candidate[CAUCUS_CANDIDATES];
    size_t count;
    caucus_knowledge known; /* the situation looked at; CAUCUS_KNOWLEDGE_COUNT: own losses */
    bool own;               /* own losses are compared on, and this is what they say: */
    caucus_history history;
    uint32_t own_clients; /* clients and rounds of them that can be used */
    uint64_t own_rounds;
    caucus_scale scale;
    uint64_t segments; /* above 1: simulated regret is against the best expert of each of so many parts of the rounds */
    bool by_proof; /* what is proved decides the order, since what was simulated is too far from the run asked about */
    char advice[CAUCUS_ADVICE][CAUCUS_ADVICE_BYTES];
    size_t sentences;
    size_t order[CAUCUS_CANDIDATES]; /* those that are shown, the best first (ranking.c) */
    size_t shown;
    const caucus_candidate *taken;
} caucus_comparison;

/** Whether the losses of the situation drift: then regret is against the best expert between changes. */
static inline bool caucus_comparison_drifts(const caucus_comparison *comparison) {
    return comparison->own ? comparison->history.drift == CAUCUS_HISTORY_DRIFTS
                           : comparison->known == CAUCUS_KNOWLEDGE_DRIFTING;
}

/** Fill the candidates (candidates.c). */
void caucus_candidates_add(caucus_comparison *comparison);
void caucus_candidates_free(caucus_comparison *comparison);
/** What tells this candidate from others of its algorithm: "longest phase 33", "vote", "unit client-block". */
typedef struct caucus_candidate_words {
    char text[288]; /* seven parts of at most 38 bytes */
} caucus_candidate_words;
caucus_candidate_words caucus_candidate_with(const caucus_candidate *candidate);

/** How much of the run is played, if each candidate may take so many losses (comparison_play.c). */
void caucus_comparison_scale(caucus_comparison *comparison, double losses);
/** Play the candidates of the situation. Returns: CAUCUS_OK, CAUCUS_E_MEMORY, what own losses are refused for. */
caucus_status caucus_comparison_play(caucus_comparison *comparison, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Whether the losses of the situation can be played: some come by rounds, which a device at its own pace has not.
 *  Then shifting ones are played in their place. */
bool caucus_comparison_playable(const caucus_comparison *comparison);
/** What is played, if it is not somebody's own. */
caucus_adversary_kind caucus_comparison_losses(const caucus_comparison *comparison);

/** Whether the premise of the candidate's bound may hold in this situation; of own losses: is not refuted by them. */
bool caucus_candidate_covers(const caucus_comparison *comparison, const caucus_candidate *candidate);
/** Whether its bound says something: proved for such losses; and less than that everything can be lost. */
bool caucus_candidate_proved(const caucus_comparison *comparison, const caucus_candidate *candidate);
bool caucus_candidate_useful(const caucus_comparison *comparison, const caucus_candidate *candidate);

/** Whether it lost more in the simulation than is proved for the run asked about: the simulated run is smaller, or luck
 *  was bad. */
bool caucus_candidate_above(const caucus_comparison *comparison, const caucus_candidate *candidate);

/** What is proved, per round: bounds of runs without an end are about stretches of several lengths. INFINITY: nothing
 *  is, for such losses. */
double caucus_candidate_proof(const caucus_comparison *comparison, const caucus_candidate *candidate);
/** Whether one simulated client stands for many. */
bool caucus_comparison_stands_in(const caucus_comparison *comparison);
/** Decide by what is ranked, and fill `by_proof` (ranking.c). */
void caucus_comparison_judge(caucus_comparison *comparison);
/** The best candidate under a trust, those alone or those that federate; NULL: none fits. */
const caucus_candidate *caucus_comparison_best(const caucus_comparison *comparison, caucus_trust trust, bool alone);
/** Fill `order` and `shown`, after `taken`. */
void caucus_comparison_order(caucus_comparison *comparison);
/** Whether it has a row: of those alone only the one made for such losses; of somebody's own losses each. */
bool caucus_candidate_is_shown(const caucus_comparison *comparison, const caucus_candidate *candidate);

/** Order the candidates, take one and say why (advice.c). */
void caucus_comparison_advise(caucus_comparison *comparison);
/** One more sentence of advice; beyond CAUCUS_ADVICE there are none. */
void caucus_comparison_say(caucus_comparison *comparison, const char *format, ...) CAUCUS_PRINTF(2, 3);

/** Whether a candidate fits that federates. */
bool caucus_comparison_fits(const caucus_comparison *comparison);
/** Where none does: which settings stand in the way, and what fits without them, as sentences (unfit.c).
 *  In:      covered  name those alone that are made for the losses of the situation.
 *  Returns: whether there is any. */
bool caucus_comparison_would_fit(caucus_comparison *comparison, bool covered);

/** The range that commands to type next should have: where more than CAUCUS_HISTORY_OUTSIDE of somebody's own losses
 *  are outside one that nobody has stated, one that holds them. Returns: whether there is such a one. */
bool caucus_comparison_range(const caucus_comparison *comparison, double *ret_lo, double *ret_hi);

/** What is typed to have a candidate: as asked, with that range where there is one. */
caucus_settings caucus_command_settings(const caucus_comparison *comparison, const caucus_candidate *candidate);

/** The settings of a candidate as options of a command: " --algorithm stoch --clients 500 …" (command.c). */
void caucus_command_options(FILE *out, const caucus_settings *settings);
/** The command that makes a plan of them. */
void caucus_command_plan(FILE *out, const caucus_settings *settings);
/** The commands to type next, a line each, with `before` before every one. On a screen of `width` columns (0: any) a
 *  command that is longer goes on in the next line, after a backslash, so that it can be copied as it stands. */
void caucus_command_next(FILE *out, const caucus_comparison *comparison, const char *before, int width);

#endif
