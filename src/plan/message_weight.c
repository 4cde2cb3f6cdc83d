/* SPDX-License-Identifier: Apache-2.0 */
/* message_weight.c: inverse-variance weights for averaging noisy sums over phases.
 *
 * Messages are private already, so using them again is free post-processing. The variance of the mean of n losses
 * under noise of variance s2 per sum is at most (grid^2/4 + s2/n)/n, so its inverse is n/(n + c) per unit of the sum,
 * up to a constant, with c = 4*s2/grid^2. The variance of one coordinate: Laplace 2/rate^2, K-norm in dimension k
 * (k+1)(k+2)/(3 rate^2), Gaussian its parameter. The bound of a plan is computed with the same integers. */
#include "plan/message_weight.h"
#include "num/int128.h"

#define UNIT ((uint64_t)1 << 12)
#define SAMPLES_MAX ((uint64_t)1 << 50)

static uint64_t noise_records(int64_t grid, const caucus_noise *noise, uint64_t k) {
    const caucus_u128 g = (caucus_u128)(uint64_t)grid;
    const caucus_u128 num = noise->parameter.num, den = noise->parameter.den;
    if (noise->kind == CAUCUS_NOISE_NONE || num == 0)
        return 0;
    if (noise->kind == CAUCUS_NOISE_GAUSSIAN)
        return (uint64_t)(4 * num / den / g / g) + 1;
    const caucus_u128 r = (den << 10) / (num * g) + 1; /* 1/(rate*grid) in 2^-10 */
    if (r >> 40 != 0)
        return SAMPLES_MAX;
    const caucus_u128 shape = noise->kind == CAUCUS_NOISE_KNORM ? (caucus_u128)(k + 1) * (k + 2) / 3 + 1 : 2;
    const caucus_u128 records = (4 * shape * r * r >> 20) + 1; /* shape <= 2^40: no overflow */
    return records < SAMPLES_MAX ? (uint64_t)records : SAMPLES_MAX;
}

uint64_t caucus_message_weight(int64_t grid, const caucus_noise *noise, uint64_t records, uint64_t dimension) {
    const caucus_u128 c = noise_records(grid, noise, dimension);
    const uint64_t weight = (uint64_t)((caucus_u128)UNIT * records / (records + c));
    return weight ? weight : 1;
}
