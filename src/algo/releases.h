/* SPDX-License-Identifier: Apache-2.0 */
/* releases.h: what each decision of a coordinator releases, written to a ledger.
 * layer: algo
 *
 *    svt     all checks together cost eps_AT, charged at the first; each selection its eta_k
 *    hedge   each draw
 *    stoch   phases learn from different losses: the first is charged the whole, later ones nothing more (with a
 *            longest phase, of which a run has any number, later ones are not recorded); unit client: the whole is what
 *            all phases cost together
 *    svt and hedge with renewal: cycles use different losses: the first release is charged all, later ones nothing
 *  With delta > 0 composition is not a sum: svt and hedge then charge equal shares of the total. An algorithm without
 * privacy (infinite epsilon) has nothing to record. */
#ifndef CAUCUS_ALGO_RELEASES_H
#define CAUCUS_ALGO_RELEASES_H

#include <caucus/ledger.h>
#include <caucus/message.h>

#include "num/int128.h"
#include "plan/plan.h"

typedef struct caucus_releases {
    const caucus_plan *plan;
    caucus_ledger *ledger;
    uint32_t run;
    bool none;         /* not private: nothing to record */
    uint64_t taken;    /* releases recorded */
    uint64_t shares;   /* delta > 0: how many there can be; 0 = amounts add up as they are */
    caucus_u128 spent; /* what they cost together, in steps of 2^-30 */
    caucus_u128 sum;   /* the family's own running sum (machine.h) */
} caucus_releases;

/** Recorder of run `run`, which goes on after the releases that the ledger holds already. Plan and ledger are
 *  borrowed. Cost: O(those releases); what is recorded from then on costs the same each time. */
void caucus_releases_init(caucus_releases *ret, const caucus_plan *plan, caucus_ledger *ledger, uint32_t run);

/** Record what deciding the step `before` with the announcement `after` releases.
 *  Returns: CAUCUS_OK, CAUCUS_E_BUDGET (it does not fit: `after` must not be announced), CAUCUS_E_OVERFLOW,
 *           CAUCUS_E_MEMORY. */
caucus_status caucus_releases_record(caucus_releases *r, const caucus_announcement *before,
                                     const caucus_announcement *after, caucus_error *ret_error) CAUCUS_MUST_CHECK;

/* For the families' own part (machine.h). */

/** Record the next release of those whose amounts add up: what the first taken + 1 cost more than the first taken.
 *  Returns: as caucus_releases_record(). */
caucus_status caucus_releases_take(caucus_releases *r, uint64_t block, const char *what,
                                   caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** Record the whole run with its first release, and nothing after it: cycles and phases use different losses, and a
 *  ledger does not grow with their number. Returns: as caucus_releases_record(). */
caucus_status caucus_releases_once(caucus_releases *r, uint64_t block, const char *what,
                                   caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** An epsilon as an amount, rounded up; NAN is none. Returns: CAUCUS_OK, CAUCUS_E_OVERFLOW. */
caucus_status caucus_releases_whole(double epsilon, caucus_rational *ret, caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** ceil(amount * 2^48), amount = factor * rate * G: below 2^115 for every rate a plan can hold; and a sum of such
 *  amounts in steps of 2^-30, rounded up. */
caucus_u128 caucus_releases_amount(const caucus_plan *plan, uint64_t factor, caucus_rational rate);
caucus_u128 caucus_releases_steps(caucus_u128 amount);

#endif
