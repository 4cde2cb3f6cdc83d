/* SPDX-License-Identifier: Apache-2.0 */
/* audit_bound.h: what k events in n runs say about a probability, and two probabilities about epsilon.
 * layer: audit
 *
 * Clopper and Pearson (1934): with X ~ Binomial(n, p), the smallest p for which X >= k still has probability `alpha` is
 * the alpha-quantile of Beta(k, n-k+1); the largest p for which X <= k has probability alpha is the (1-alpha)-quantile
 * of Beta(k+1, n-k). Both are exact, for any n and p; nothing is approximated by a normal law. */
#ifndef CAUCUS_AUDIT_AUDIT_BOUND_H
#define CAUCUS_AUDIT_AUDIT_BOUND_H

#include <stdint.h>

/** I_x(a, b), the distribution function of Beta(a, b); a, b > 0. */
double caucus_beta_cdf(double x, double a, double b);

/** p is at least (at most) this, with confidence 1 - alpha; k <= n, n >= 1, 0 < alpha < 1. */
double caucus_binomial_low(uint64_t k, uint64_t n, double alpha);
double caucus_binomial_high(uint64_t k, uint64_t n, double alpha);

/** Whoever is (epsilon, delta)-private has P(A) <= e^epsilon P'(A) + delta. A happened k of n times in one world and
 *  k_other of n times in the other: epsilon is at least the value returned, with the given confidence.
 *  Returns: ln((low(k) - delta)/high(k_other)), each side at (1-confidence)/2; 0 where that says nothing. */
double caucus_epsilon_low(uint64_t k, uint64_t k_other, uint64_t n, double delta, double confidence);

#endif
