/* SPDX-License-Identifier: Apache-2.0 */
/* threshold.c: above-threshold with the epoch rule (docs/PRIVACY.md, statement 8).
 * layer: dp
 *
 * The lemma needs three things, and this file is where they are true: in one epoch q is the cost of one
 * expert, q starts at 0, and theta and every check's noise are fresh. The test is strict and its noisy
 * value never leaves the function. */
#include <caucus/threshold.h>

#include "num/checked.h"

void caucus_threshold_begin(caucus_threshold *above, uint64_t epoch, uint32_t expert, int64_t threshold,
                            const caucus_noise *noise, caucus_stream *stream) {
    *above = (caucus_threshold){
        .expert = expert,
        .epoch = epoch,
        .open = true,
        .theta = caucus_add_saturating(threshold, caucus_noise_draw(stream, noise)),
    };
}

caucus_status caucus_threshold_add(caucus_threshold *above, uint64_t epoch, uint32_t expert, int64_t cost) {
    if (!above->open || above->epoch != epoch || above->expert != expert)
        return CAUCUS_E_ORDER;
    /* Saturation is never reached under a plan, which bounds m*T*G by 2^62. */
    above->q = caucus_add_saturating(above->q, cost);
    return CAUCUS_OK;
}

caucus_status caucus_threshold_check(caucus_threshold *above, const caucus_noise *noise, caucus_stream *stream,
                                     bool *ret_fired) {
    return caucus_threshold_check_raised(above, 0, noise, stream, ret_fired);
}

caucus_status caucus_threshold_check_raised(caucus_threshold *above, int64_t more, const caucus_noise *noise,
                                            caucus_stream *stream, bool *ret_fired) {
    if (!above->open)
        return CAUCUS_E_ORDER;
    bool fired =
        caucus_add_saturating(above->q, caucus_noise_draw(stream, noise)) > caucus_add_saturating(above->theta, more);
    above->checks++;
    above->open = !fired;
    *ret_fired = fired;
    return CAUCUS_OK;
}
