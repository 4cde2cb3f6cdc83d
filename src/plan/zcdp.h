/* SPDX-License-Identifier: Apache-2.0 */
/* zcdp.h: from concentrated to approximate differential privacy and back.
 * layer: plan */
#ifndef DP_ZCDP_H
#define DP_ZCDP_H

/* The smallest epsilon we can show for a rho-zCDP mechanism at delta, rounded up. rho = 0 gives 0. 0 < delta < 1. */
double caucus_zcdp_epsilon(double rho, double delta);

/* The same for the adaptive composition of a rho-zCDP mechanism and a pure epsilon_pure-DP one, rounded up;
 * never more than epsilon_pure + caucus_zcdp_epsilon(rho, delta). */
double caucus_zcdp_epsilon_with_pure(double rho, double epsilon_pure, double delta);

/* The largest rho we can show to be (epsilon, delta)-DP, rounded down; 0 if there is none. */
double caucus_zcdp_rho(double epsilon, double delta);

/* The largest rho whose composition with a pure epsilon_pure-DP mechanism is (epsilon, delta)-DP, rounded down. */
double caucus_zcdp_rho_with_pure(double epsilon, double epsilon_pure, double delta);

#endif
