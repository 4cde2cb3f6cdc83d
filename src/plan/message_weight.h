/* SPDX-License-Identifier: Apache-2.0 */
/* message_weight.h: how much one phase's noisy sums count when phases are averaged (trust nobody, linear losses).
 * layer: plan */
#ifndef DP_MESSAGE_WEIGHT_H
#define DP_MESSAGE_WEIGHT_H

#include "plan/plan.h"

/* The weight, 1..2^12, of the sums of `records` losses per client under `noise` in dimension k: records/(records + c),
 * c = 4*variance/grid^2 being the number of losses whose own spread equals the noise. Integers only. */
uint64_t caucus_message_weight(int64_t grid, const caucus_noise *noise, uint64_t records, uint64_t dimension);

#endif
