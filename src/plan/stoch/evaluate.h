/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.h: stoch with few evaluations: who evaluates which experts when, and what a selection may then cost.
 * layer: plan
 *
 * With `evaluate: k` a client looks at k of the d experts in a round. In round t = 0, 1, .. of phase p, global round g,
 * client i = 0 .. m-1 evaluates the experts
 *     (a_p + k (t m + pi_g(i)) + j) mod d,   j = 0 .. k-1,
 * a_p an offset from (plan hash, p), pi_g a permutation of the clients keyed by (plan hash, g). The evaluations of all
 * clients in a phase are thus n m k consecutive numbers, so that every expert has floor(n m k/d) of them or one more;
 * and who evaluates what has nothing to do with numbers of clients, which often follow sites. All of it is public and
 * depends on no loss. docs/PRIVACY.md, "Few evaluations"; docs/PROTOCOL.md, "What to report", has it in full.
 *
 * What is counted of expert y: its evaluations (unit event), or the clients that have evaluated it: in the phase (unit
 * client-block), or at all so far (unit client); each of them reports one mean. */
#ifndef CAUCUS_PLAN_EVALUATE_H
#define CAUCUS_PLAN_EVALUATE_H

#include "plan/plan.h"

/** Whether clients evaluate fewer experts than there are. */
static inline bool caucus_evaluates_some(const caucus_settings *s) {
    return s->evaluate != 0;
}
/** k: how many experts a client evaluates in a round; d where it evaluates all. */
static inline uint32_t caucus_evaluate_k(const caucus_settings *s) {
    return s->evaluate != 0 ? s->evaluate : s->experts;
}

/** The first of the k experts that client 1..m evaluates in round t (from 0) of phase p, which is round `global` of the
 *  run, from 1; the others follow it, and after the last comes expert 0. */
uint32_t caucus_evaluate_first(const caucus_plan *plan, uint64_t p, uint64_t t, uint64_t global, uint32_t client);
/** The same of `count` rounds of that phase, from t on, at a fraction of the cost. */
void caucus_evaluate_firsts(const caucus_plan *plan, uint64_t p, uint64_t t, uint64_t global, uint32_t client,
                            size_t count, uint32_t *ret);
/* As many at once as are worth it. */
#define CAUCUS_EVALUATE_BATCH 64u

/** The first of the phases whose losses the decision after phase p is made from. */
static inline uint64_t caucus_evaluate_from(const caucus_settings *s, uint64_t p) {
    return s->unit == CAUCUS_UNIT_CLIENT ? 1 : p;
}

/** How often a client evaluates each expert in n rounds from the beginning of phase p on, which begins with round
 *  `first` of the run: added to ret[d], or taken off it.
 *  Cost:    O(n k). */
void caucus_evaluate_add(const caucus_plan *plan, uint64_t p, uint64_t first, uint64_t n, uint32_t client,
                         bool take_off, uint64_t *ret);
/** Whether a client does so at all: ret[y] += 1 for each such expert. Stops as soon as it has found all of them. */
void caucus_evaluate_touched(const caucus_plan *plan, uint64_t p, uint64_t first, uint64_t n, uint32_t client,
                             uint64_t *ret);
/** How often all clients together do, in closed form. Out: ret [d]. */
void caucus_evaluate_everybody(const caucus_plan *plan, uint64_t p, uint64_t n, uint64_t *ret);

/** Scores from sums: those of the experts that were counted at all, each scaled to the largest count,
 *  floor(sum*most/count). A sum above count*G, which only a client that lies can make, is cut to it.
 *  Out:     ret_score, ret_who [d]: scores and numbers of the candidates; *ret_least, *ret_most: the smallest count of
 *           a candidate and the largest.
 *  Returns: how many candidates there are. */
uint32_t caucus_evaluate_scores(const caucus_plan *plan, const int64_t *sum, const uint64_t *count, int64_t *ret_score,
                                uint32_t *ret_who, uint64_t *ret_least, uint64_t *ret_most);

/** f: one record moves f*rate*W: 1 if it can move one score only, 2 if others may move the other way. */
uint64_t caucus_evaluate_factor(const caucus_plan *plan);
/** W: how far one record moves a score that is scaled from `least` >= 1 counted to `most`: ceil(G*most/least). */
uint64_t caucus_evaluate_width(const caucus_plan *plan, uint64_t least, uint64_t most);
/** The rate of a selection that may cost `budget`: the largest k/2^56 with f*rate*W <= budget.
 *  Returns: false where that is too small for noise that fits 62 bits. */
bool caucus_evaluate_rate(const caucus_plan *plan, caucus_rational budget, uint64_t width, caucus_rational *ret);
/** Exactly: f*rate*W <= budget. Judges what caucus_evaluate_rate() has made, or a saved state claims. */
bool caucus_evaluate_pays(const caucus_plan *plan, caucus_rational budget, uint64_t width, caucus_rational rate);

/** c, the fewest that are counted of any expert in a phase of n rounds if everybody reports; of means the fewest
 *  clients that it can be, whatever the permutations. Unit client: in the first n rounds; more may be relied on, since
 *  permutations that leave fewer have a probability of 2^-20 at most (evaluate_client.c). */
uint64_t caucus_evaluate_least(const caucus_settings *s, uint64_t n);
/** Below this the expert in force stays: an eighth of what was planned, at least 1. */
uint64_t caucus_evaluate_floor(const caucus_settings *s, uint64_t n);
/** B_p of phase p, which `phase` describes, and E[score of the chosen - best] = factor/rate. Loss units. */
double caucus_evaluate_error(const caucus_plan *plan, const caucus_stoch_phase *phase, uint64_t p, double factor);

/** Unit client: these two. evaluate_client.c. */
uint64_t caucus_evaluate_client_least(const caucus_settings *s, uint64_t n);
double caucus_evaluate_client_error(const caucus_plan *plan, const caucus_stoch_phase *phase, double factor);

#endif
