/* SPDX-License-Identifier: Apache-2.0 */
/* select.h: choose one of d experts from integer scores, privately.
 * layer: dp
 *
 * Lower scores are better. If replacing one record moves every score by at most W, then with
 * rate = epsilon/(2W) the exponential mechanism and permute-and-flip are epsilon-DP; noisy-min with
 * Laplace noise of that rate is epsilon-DP as well. docs/PRIVACY.md, "Selections". */
#ifndef CAUCUS_SELECT_H
#define CAUCUS_SELECT_H

#include <caucus/samplers.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Exponential mechanism: P(n) ~ e^(-rate*score[n]), by exact inversion.
 *  In:      score  d values whose spread max-min is below 2^63; d >= 1.
 *  Privacy: 2*rate*W pure; (2*rate*W)-bounded range, so (2*rate*W)^2/8-zCDP.
 *  Cost:    d exponentials, whatever the scores are (docs/PRIVACY.md, "Side channels"); no allocation. */
CAUCUS_API uint32_t caucus_select_exponential(caucus_stream *stream, const int64_t *score, uint32_t d,
                                              caucus_rational rate);

/** Permute-and-flip (McKenna and Sheldon 2020): visit experts in random order, take n with probability
 *  e^(-rate*(score[n]-min)); drawn as noisy-max with exponential noise, which has the same law.
 *  Privacy: 2*rate*W pure. Not bounded-range: under zCDP account (2*rate*W)^2/2.
 *  Cost:    d logarithms, whatever the scores are; no allocation. */
CAUCUS_API uint32_t caucus_select_flip(caucus_stream *stream, const int64_t *score, uint32_t d, caucus_rational rate);

/** Report-noisy-min: argmin(score[n] + discrete Laplace(rate)), ties to one drawn uniformly.
 *  Privacy: 2*rate*W pure (the paper counts rate*W, true only for monotone scores: docs/PAPER.md). */
CAUCUS_API uint32_t caucus_select_noisy_min(caucus_stream *stream, const int64_t *score, uint32_t d,
                                            caucus_rational rate);

/** The smallest score; ties to one drawn uniformly. No privacy. */
CAUCUS_API uint32_t caucus_select_min(caucus_stream *stream, const int64_t *score, uint32_t d);

#ifdef __cplusplus
}
#endif
#endif
