/* SPDX-License-Identifier: Apache-2.0 */
/* advice.h: which algorithm to take instead of a plan's, in simulations of everything that fits.
 * layer: show
 *
 * In the library caucus-sim, and experimental: what is here may still change before 1.0. It is what `caucus plan
 * --recommend` prints, for a binding of another language. Simulations are seeded, and so NOT PRIVATE. */
#ifndef CAUCUS_ADVICE_H
#define CAUCUS_ADVICE_H

#include <caucus/losses.h>
#include <caucus/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What came of a comparison. */
typedef struct caucus_advice caucus_advice;

/** Compare everything that fits the settings of a plan, under its trust.
 *  In:      losses_are  iid, drifting, realizable, any or adaptive; NULL: each of them in turn.
 *           losses      NULL: simulated ones. Otherwise somebody's own, borrowed for the call: the premises of bounds
 *                       are checked on them, and what comes out is NOT PRIVATE. Of a plan for more clients or rounds
 *                       than they have, as many are played as there are.
 *  Out:     *ret  free with caucus_advice_free(); written only on success.
 *  Returns: CAUCUS_OK; CAUCUS_E_RANGE, CAUCUS_E_CONFLICT, CAUCUS_E_INFEASIBLE: the error names the field;
 *           CAUCUS_E_MEMORY.
 *  Cost:    about 10 seconds on two cores, whatever the size. */
CAUCUS_API caucus_status caucus_advice_new(const caucus_plan *plan, const char *losses_are,
                                           const caucus_loss_array *losses, caucus_advice **ret,
                                           caucus_error *ret_error) CAUCUS_MUST_CHECK;
CAUCUS_API void caucus_advice_free(caucus_advice *advice);

/** The tables and sentences for people, and the same as JSON (docs/schemas/recommend.json): *ret_size bytes, and a 0
 *  behind them. They are the advice's. */
CAUCUS_API const char *caucus_advice_text(const caucus_advice *advice, size_t *ret_size);
CAUCUS_API const char *caucus_advice_json(const caucus_advice *advice, size_t *ret_size);

#ifdef __cplusplus
}
#endif
#endif
