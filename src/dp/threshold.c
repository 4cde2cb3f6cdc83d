/* SPDX-License-Identifier: Apache-2.0 */
/* threshold.c: above-threshold with the epoch rule (docs/PRIVACY.md, "Lemma AT").
 * layer: dp
 *
 * The lemma needs three things, and this file is where they are true: in one epoch q is the cost of one
 * expert, q starts at 0, and theta and every check's noise are fresh. The test is strict and its noisy
 * value never leaves the function. */
#include <caucus/threshold.h>

#include "num/checked.h"

void caucus_threshold_begin(caucus_threshold *at, uint64_t epoch, uint32_t expert, int64_t threshold,
                            const caucus_noise *noise, caucus_stream *stream) {
    *at = (caucus_threshold){
        .expert = expert,
        .epoch = epoch,
        .open = true,
        .theta = caucus_add_saturating(threshold, caucus_noise_draw(stream, noise)),
    };
}

caucus_status caucus_threshold_add(caucus_threshold *at, uint64_t epoch, uint32_t expert, int64_t cost) {
    if (!at->open || at->epoch != epoch || at->expert != expert)
        return CAUCUS_E_ORDER;
    /* Saturation is never reached under a plan, which bounds m*T*G by 2^62. */
    at->q = caucus_add_saturating(at->q, cost);
    return CAUCUS_OK;
}

caucus_status caucus_threshold_check(caucus_threshold *at, const caucus_noise *noise, caucus_stream *stream,
                                     bool *ret_fired) {
    if (!at->open)
        return CAUCUS_E_ORDER;
    bool fired = caucus_add_saturating(at->q, caucus_noise_draw(stream, noise)) > at->theta;
    at->checks++;
    at->open = !fired;
    *ret_fired = fired;
    return CAUCUS_OK;
}
