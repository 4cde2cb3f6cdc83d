/* SPDX-License-Identifier: Apache-2.0 */
/* laws.h: the laws of the samplers and selections, to hold their draws against.
 * layer: dp
 *
 * Each stands in the file of the draw it describes. Tests and the audit call them, no draw ever does: they use
 * floating point, and a mechanism must not. They are not part of the public interface. */
#ifndef CAUCUS_DP_LAWS_H
#define CAUCUS_DP_LAWS_H

#include <caucus/select.h>

/** ln P(y). */
double caucus_geometric_log_pmf(int64_t y, caucus_rational rate);
double caucus_laplace_log_pmf(int64_t y, caucus_rational rate);
double caucus_gaussian_log_pmf(int64_t y, caucus_rational variance);

/** K-norm: log-weight, unnormalised, of the layer r from which the vector is then drawn uniformly (z_n in -r..r):
 *  P(r) ~ (2r+1)^d e^(-rate*r). (The largest |z_n| itself has P(m) ~ ((2m+1)^d - (2m-1)^d) e^(-rate*m).) */
double caucus_knorm_log_weight(int64_t radius, caucus_rational rate, size_t d);

/** Exact laws of the selections: ret[n] = P(n), n below d. */
void caucus_select_exponential_law(const int64_t *score, uint32_t d, caucus_rational rate, long double *ret);
void caucus_select_flip_law(const int64_t *score, uint32_t d, caucus_rational rate, long double *ret);

#endif
