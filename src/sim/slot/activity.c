/* SPDX-License-Identifier: Apache-2.0 */
/* activity.c: see activity.h. */
#include "sim/slot/activity.h"

#include <math.h>

#include "sim/adversary_impl.h"

#define LABEL_RATE 2u /* children of a client's key; 1 is its spread */
#define LABEL_COUNT 3u
#define PIECE 32.0   /* a Poisson count is a sum of counts with at most this mean: e^-32 is far from underflow */
#define PIECES 1024u /* draws that a part of a slot may take */

bool caucus_activity_takes(caucus_adversary_kind kind) {
    return kind == CAUCUS_ADVERSARY_GAUSSIAN || kind == CAUCUS_ADVERSARY_BERNOULLI ||
           kind == CAUCUS_ADVERSARY_REALIZABLE || kind == CAUCUS_ADVERSARY_HALVING ||
           kind == CAUCUS_ADVERSARY_CREEPING || kind == CAUCUS_ADVERSARY_CROSS_ENTROPY ||
           kind == CAUCUS_ADVERSARY_SHIFTING || kind == CAUCUS_ADVERSARY_DRIFTING;
}

/* By inversion: the smallest n whose cumulative probability is above the uniform draw. */
static uint64_t poisson_piece(double mean, double uniform) {
    double p = exp(-mean), sum = p;
    uint64_t n = 0;
    while (uniform >= sum && n < 1000) { /* beyond 1000 nothing is left of a mean of 32 */
        n++;
        p *= mean / (double)n;
        sum += p;
    }
    return n;
}

static uint64_t poisson(caucus_fast_key key, uint64_t part, double mean) {
    uint64_t count = 0;
    for (uint64_t i = 0; mean > 0 && i < PIECES && count < CAUCUS_SLOT_ROWS; i++, mean -= PIECE)
        count += poisson_piece(fmin(mean, PIECE), caucus_fast_double(key, part * PIECES + i));
    return count < CAUCUS_SLOT_ROWS ? count : CAUCUS_SLOT_ROWS;
}

caucus_activity caucus_activity_of(const caucus_plan *plan, const caucus_adversary_trial *trial, uint32_t client,
                                   uint64_t slot) {
    const caucus_settings *s = &plan->settings;
    const double mean = trial->adversary->activity_mean, spread = trial->adversary->activity_spread;
    const double grace = (double)s->grace / (double)s->phase_time;
    const caucus_fast_key key = caucus_adversary_client_key(trial, client);
    const caucus_fast_key count = caucus_fast_child(key, LABEL_COUNT);
    float z = 0;
    caucus_fast_normal(caucus_fast_child(key, LABEL_RATE), 0, 1, &z);
    const double rate = mean * exp(spread * (double)z - spread * spread / 2);
    caucus_activity ret = {.early = poisson(count, 2 * slot, rate * grace),
                           .late = poisson(count, 2 * slot + 1, rate * (1 - grace))};
    if (ret.late > CAUCUS_SLOT_ROWS - ret.early)
        ret.late = CAUCUS_SLOT_ROWS - ret.early;
    return ret;
}
