/* SPDX-License-Identifier: Apache-2.0 */
/* renewal.h: how often Fed-SVT has to switch at most.
 * layer: plan */
#ifndef DP_RENEWAL_H
#define DP_RENEWAL_H

#include <caucus/status.h>

/* The smallest k with P(V_1 + ... + V_{k+1} <= ln d) <= rho, V ~ Exp(1) cut to [0, margin/2].
 * d >= 2, 0 < rho < 1, margin >= RENEWAL_MARGIN_MIN. Never below the true value (rounded to be conservative).
 * Returns: CAUCUS_OK, CAUCUS_E_MEMORY. There is a coarser way that needs no memory, but which of the two is used is a
 * matter of rho alone: the same settings give the same plan or none. */
#define RENEWAL_MARGIN_MIN 0.25
caucus_status caucus_renewal_switches(uint32_t d, double rho, double margin, uint32_t *ret) CAUCUS_MUST_CHECK;

#endif
