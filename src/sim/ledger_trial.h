/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_trial.h: what one trial of a run releases, written to a ledger.
 * layer: sim */
#ifndef CAUCUS_SIM_LEDGER_TRIAL_H
#define CAUCUS_SIM_LEDGER_TRIAL_H

#include "sim/trial.h"

#include <caucus/ledger.h>

/** Play trial 1 and record its releases against run `run` of the ledger; algo/releases.h says what is charged for what.
 *  Out:     ret_played  false if the plan releases nothing: then there is nothing to play it for.
 *           ret_result  what it came to, if played: it need not be played again.
 *  Returns: CAUCUS_OK, CAUCUS_E_MEMORY, CAUCUS_E_STOPPED, CAUCUS_E_BUDGET (beyond what the run reserved: a bug). */
caucus_status caucus_ledger_trial(caucus_ledger *ledger, uint32_t run, const caucus_plan *plan,
                                  const caucus_adversary *adversary, uint64_t seed, const volatile int *stop,
                                  bool *ret_played, caucus_trial_result *ret_result,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
