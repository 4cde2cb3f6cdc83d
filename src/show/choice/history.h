/* SPDX-License-Identifier: Apache-2.0 */
/* history.h: what somebody's own losses say about the premises that bounds have.
 * layer: show
 *
 * Three premises are looked at: the range that was stated; L*, what the best expert loses at the client where it loses
 * most, which svt assumes to be at most `lstar`; and whether the losses drift, which stoch without a longest phase
 * assumes not to be so. Everything here reads the losses themselves and is NOT PRIVATE.
 *
 * Drift. The rounds are cut into CAUCUS_HISTORY_PARTS parts and each of those into some blocks; x_kb is an expert's
 * loss in block b of part k, averaged over clients and rounds. If rounds are drawn independently from one distribution,
 * then F = [n sum_k (x_k - x)^2/(K - 1)] / [sum_kb (x_kb - x_k)^2/(B - K)], n = B/K, has Fisher's distribution with
 * K - 1 and B - K degrees of freedom, however much clients have in common (block means are near normal). Drift is said
 * to be seen if the largest F of d experts is one that happens by chance with probability below 1/1000 in all of
 * them together. */
#ifndef CAUCUS_SHOW_CHOICE_HISTORY_H
#define CAUCUS_SHOW_CHOICE_HISTORY_H

#include "plan/plan.h"
#include "sim/adversary.h"
#include "store/json.h"

#define CAUCUS_HISTORY_PARTS 8u

typedef enum caucus_history_drift {
    CAUCUS_HISTORY_STEADY,  /* no more than chance explains */
    CAUCUS_HISTORY_DRIFTS,  /* more */
    CAUCUS_HISTORY_TOO_FEW, /* rounds, to tell */
} caucus_history_drift;

typedef struct caucus_history {
    double lo, hi;                              /* the range they are held against */
    double lstar;                               /* and L*, in loss units above lo */
    double least, most;                         /* smallest and largest loss that is a number; 0, 0 if none is */
    double outside;                             /* share of the losses that are below lo or above hi */
    double nan;                                 /* share that is not a number */
    uint32_t best;                              /* the expert with the smallest total over all clients */
    uint32_t safest;                            /* the expert that loses least at the client where it loses most */
    caucus_expert_words best_name, safest_name; /* their labels; empty without */
    double safest_loss; /* what that is: L* of the data, counted from lo, clamped to the range */
    caucus_history_drift drift;
    double gain; /* per client: how much less the best expert of each part loses than `best` */
} caucus_history;

/** Read all losses once.
 *  In:      adversary  of kind losses; clients and rounds: how many of them, at most what it has.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY, CAUCUS_E_CHANGED. *ret is written only on success.
 *  Cost:    O(clients*rounds*experts) time, O(64*experts) memory. */
caucus_status caucus_history_read(const caucus_adversary *adversary, const caucus_settings *settings, uint32_t clients,
                                  uint64_t rounds, caucus_history *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Whether svt's premise holds for these losses. */
static inline bool caucus_history_realizable(const caucus_history *history) {
    return history->safest_loss <= history->lstar;
}

/** Whether they refute what the bound of plans with these settings assumes. */
bool caucus_history_refutes(const caucus_history *history, const caucus_settings *settings);

/** A range that people would state and that holds the losses, where the stated one does not. Returns: whether it is
 *  another than that; *ret_lo and *ret_hi are written in any case. */
bool caucus_history_range(const caucus_history *history, double *ret_lo, double *ret_hi);

/* Losses outside the range, as a share, from which on a comparison is about other losses than one's own. */
#define CAUCUS_HISTORY_OUTSIDE 0.01

/* Sentences for people, one per premise. */
#define CAUCUS_HISTORY_SENTENCES 4
#define CAUCUS_HISTORY_BYTES 400

/** What to say about the range (nothing, if all is well), numbers that are none, L* and drift. Returns: how many. */
size_t caucus_history_say(const caucus_history *history, char ret[CAUCUS_HISTORY_SENTENCES][CAUCUS_HISTORY_BYTES]);

/** The member "history" of what `plan --recommend` and `simulate` say: null if nobody has looked (`history` NULL). */
void caucus_history_json(caucus_json *j, const caucus_history *history);

#endif
