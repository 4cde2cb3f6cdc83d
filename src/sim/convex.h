/* SPDX-License-Identifier: Apache-2.0 */
/* convex.h: cross-entropy of a mixture of experts, the convex loss of the simulator.
 * layer: sim
 *
 * Truth y (a distribution over d classes), mixture x of d experts, expert n predicting class n. Prediction
 * p = (1-s)x + s/d with s = 0.1, so that a vertex does not cost infinity. With C = ln(d/s), the largest cross-entropy
 * there is,
 *      l(x) = CE(y,p)/C = -(1/C) sum_n y_n ln p_n in [0,1],        dl/dx_n = -(1-s) y_n/(C p_n).
 * At the vertex e_n this is 1 - y_n*K, K = 1 + ln(1-s+s/d)/C: the linear adversary's loss of expert n.
 *
 * Public clamps. The true Lipschitz constant (1-s)d/(s C) is reached only if y is a point mass; y_n is a softmax of
 * normals with mean and variance in (0,1), for which d*y_n, about e^g/E[e^g], is hardly ever above 14. So
 * alpha = (1-s)/s * min(d, 14)/C; at the worst x_n = 0 it clips none of 2*10^7 coordinates for d = 2 and 18, and
 * measured fractions of 2.7e-4 and 3.9e-4 for d = 100 and 1000. Gradient coordinates then lie in [-alpha, 0] and differ
 * by at most alpha; beta = alpha/2 makes the clamp of a first-level difference (mixtures up to 2 apart in l1) exactly
 * alpha. The true smoothness, max_n (1-s)^2 y_n/(C p_n^2), reaches (1-s)^2 d^2 y_n/(s^2 C): larger by a factor of order
 * d/s.
 *
 * Privacy relies on the clamps alone, so it stands. The regret bound of a convex plan does not: it assumes that alpha
 * and beta are true and that nothing is clipped, and neither is so here. No bound is shown for these losses
 * (bound_fit.h). */
#ifndef CAUCUS_SIM_CONVEX_H
#define CAUCUS_SIM_CONVEX_H

#include <stdint.h>

#define CAUCUS_CONVEX_MIXING 0.1 /* s */

/** C = ln(d/s), and K above. */
double caucus_convex_scale(uint32_t experts);
double caucus_convex_gain(uint32_t experts);
/** alpha and beta above. */
void caucus_convex_clamps(uint32_t experts, double *ret_alpha, double *ret_beta);

#endif
