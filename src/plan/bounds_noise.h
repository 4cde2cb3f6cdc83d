/* SPDX-License-Identifier: Apache-2.0 */
/* bounds_noise.h: how large the largest of d sums of noise is on average.
 * layer: plan */
#ifndef DP_BOUNDS_NOISE_H
#define DP_BOUNDS_NOISE_H

#include <caucus/threshold.h>

/* `copies` independent draws of a noise, each multiplied by `factor`. Noise NONE counts as 0. */
typedef struct noise_term {
    const caucus_noise *noise;
    double factor;
    double copies;
} noise_term;

/* inf over u of [log_d + sum of ln E e^(u*noise) + u^2*variance/2]/u: bounds the expected maximum of d sums of these
 * noises and of a sub-Gaussian part. `dimension`: of K-norm vectors. NAN where it is not proved (K-norm on a coarse
 * grid). */
double caucus_bounds_noise_max(double log_d, double dimension, const noise_term *terms, uint32_t count,
                               double variance);

#endif
