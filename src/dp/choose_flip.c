/* SPDX-License-Identifier: Apache-2.0 */
/* choose_flip.c: permute-and-flip as noisy-max with exponential noise, in one pass (choose.h;
 * docs/PRIVACY.md, statement 5).
 *
 * V_n = E_n - x_n, E_n = -ln U_n from one word (exponential_draw.h: H - d < E < H in units of 2^-58, whatever the
 * word), x_n = rate*gap_n in [X, X+3), held at 2^63 (there V is far below that of the smallest score, which is above
 * 0). In units of 2^-57, halves rounded outwards:
 *     V_n < (H>>1) + 1 - (X>>1) = high_n,      V_n > (H>>1) - (d>>1) - (X>>1) - 4 = low_n.
 * The pass keeps the largest `high` with its `low`, and the second largest `high`. If that low is not below the second
 * high, its expert has won for certain. Otherwise everybody whose high is above that low may have won: the words are
 * read once more, and these are compared exactly. */
#include "dp/choose.h"

#include "dp/exponential_draw.h"
#include "dp/wide.h"
#include "num/vector.h"

#include <assert.h>

/* A value and its bounds, in units of 2^-57. */
typedef struct bounds {
    int64_t low, high;
} bounds;

/* The rate for 64 bits: rate*gap*2^58 = gap*multiplier >> right. */
typedef struct slope {
    uint64_t multiplier;
    unsigned right;
} slope;

/* rate lies in [multiplier, multiplier+1)*2^(exponent-64). A rate of 2^6 and above makes every gap but 0 beyond the
 * end, as it is at `right` = 0. */
static slope slope_of(caucus_rational rate) {
    caucus_ratio r = caucus_ratio_prepare(rate.num, rate.den);
    int right = 64 - CAUCUS_LOG_FRACTION - r.exponent;
    return (slope){(uint64_t)(r.multiplier >> 64), right > 0 ? (unsigned)right : 0};
}

/* The product is short by gap*2^-right at most, which is 2^-63 of it and so at most 2 before it is held, and is cut. */
static inline bounds bounds_of(uint64_t word, uint64_t gap, const slope *s) {
    caucus_u128 product = (caucus_u128)gap * s->multiplier >> s->right;
    uint64_t held = caucus_mask(product >> 63 != 0);
    int64_t x = (int64_t)(caucus_pick(held, (uint64_t)1 << 63, (uint64_t)product) >> 1);
    uint64_t slack, h = caucus_minus_log(word | (word == 0), &slack);
    bounds b = {(int64_t)(h >> 1) - (int64_t)(slack >> 1) - x - 4, (int64_t)(h >> 1) + 1 - x};
    b.low = (int64_t)caucus_pick(held, (uint64_t)INT64_MIN, (uint64_t)b.low);
    b.high = (int64_t)caucus_pick(caucus_mask(word == 0), (uint64_t)INT64_MAX, (uint64_t)b.high); /* any E */
    return b;
}

/* Everybody whose high is above `low`, compared exactly. The stream is at the first place. */
static uint32_t refine(const caucus_scores *choice, caucus_stream *stream, const slope *s, int64_t low) {
    caucus_lazy best, now;
    uint32_t winner = UINT32_MAX;
    uint64_t start = caucus_stream_drawn(stream);
    for (uint32_t n = 0; n < choice->d; n++) {
        uint64_t word = caucus_word(stream);
        if (bounds_of(word, caucus_scores_gap(choice, n), s).high <= low)
            continue;
        caucus_lazy_begin(&now, stream, start + n, word);
        if (winner == UINT32_MAX || caucus_choose_beats(choice, n, &now, winner, &best)) {
            winner = n;
            best = now;
        }
    }
    return winner;
}

uint32_t caucus_select_flip(caucus_stream *stream, const int64_t *score, uint32_t d, caucus_rational rate) {
    assert(d >= 1 && rate.den >= 1);
    caucus_scores choice = {score, d, caucus_vector_min_i64(score, d), rate};
    slope s = slope_of(rate);
    uint64_t start = caucus_stream_drawn(stream), winner = 0;
    uint64_t first = (uint64_t)INT64_MIN, low = (uint64_t)INT64_MIN, second = (uint64_t)INT64_MIN;
    for (uint32_t n = 0; n < d; n++) {
        bounds b = bounds_of(caucus_word(stream), caucus_scores_gap(&choice, n), &s);
        uint64_t leads = caucus_mask(b.high > (int64_t)first);
        uint64_t runner = caucus_pick(leads, first, (uint64_t)b.high);
        second = caucus_pick(caucus_mask((int64_t)runner > (int64_t)second), runner, second);
        first = caucus_pick(leads, (uint64_t)b.high, first);
        low = caucus_pick(leads, (uint64_t)b.low, low);
        winner = caucus_pick(leads, n, winner);
    }
    if (__builtin_expect((int64_t)low >= (int64_t)second, 1))
        return (uint32_t)winner;
    caucus_stream again = *stream;
    caucus_stream_go(&again, start);
    winner = refine(&choice, &again, &s, (int64_t)low);
    caucus_stream_wipe(&again);
    return (uint32_t)winner;
}
