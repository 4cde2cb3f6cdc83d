/* SPDX-License-Identifier: Apache-2.0 */
/* losses_are.h: what is known of the losses chooses the algorithm.
 * layer: show
 *
 * A plan has no default algorithm: the wrong one can cost hundreds of times what the right one does, and which is right
 * depends on losses that nobody but their owner knows. So the owner says what they are, or names an algorithm. */
#ifndef CAUCUS_SHOW_CHOICE_LOSSES_ARE_H
#define CAUCUS_SHOW_CHOICE_LOSSES_ARE_H

#include "scenario/scenario.h"
#include "show/plan_facts.h"

/* Public numbers for who has said none: a longest phase where no bound says which is best (measured:
 * experiments/fleet.yaml), and rounds after which an algorithm without an end begins again, as many as svt's nominal
 * ones. */
#define CAUCUS_LONGEST_MEASURED 64
#define CAUCUS_RENEW_USUAL CAUCUS_NOMINAL_ROUNDS

/** Set the fields that a kind of losses stands for, as if they had been given, unless an algorithm was: it is then
 *  taken as it is. Fields that were given keep their values.
 *      iid          stoch
 *      drifting     stoch, longest-phase auto; pace own where phase-time is given
 *      realizable   svt
 *      any          hedge, interval auto
 *      adaptive     the same
 *  Rounds without an end also need a longest phase (stoch) or a renewal (hedge): the usual ones. Where the coordinator
 *  is not trusted no bound says which longest phase is best, and it is the one that was measured.
 *  In:      said       a word of CAUCUS_KNOWLEDGE_LIST; NULL: nothing was said.
 *  Out:     ret_known  CAUCUS_KNOWLEDGE_COUNT if nothing was said.
 *  Returns: CAUCUS_OK; CAUCUS_E_RANGE (field "losses-are": no such word; or neither it nor an algorithm was given);
 *           CAUCUS_E_MEMORY. */
caucus_status caucus_losses_are_choose(caucus_scenario *scenario, const char *said, caucus_knowledge *ret_known,
                                       caucus_error *ret_error) CAUCUS_MUST_CHECK;

/** Add to a refusal of longest-phase what brought it and the way out, where nobody gave one.
 *  In:      said           the word that chose; NULL: none did.
 *           longest_given  longest-phase was given before that.
 *           settings       those that were refused. */
void caucus_losses_are_blame(const char *said, bool longest_given, const caucus_settings *settings,
                             caucus_error *error);

#endif
