/* SPDX-License-Identifier: Apache-2.0 */
/* real.c: geometric and uniform draws by exact inversion of a uniform real number (real.h). */
#include "dp/real.h"

#include "dp/draws.h"
#include "dp/exp_quick.h"
#include "dp/exp_wide.h"
#include "num/checked.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>

#include "dp/wide_tables.inc"

void caucus_reals_open(caucus_reals *ret_reals, caucus_stream *stream) {
    ret_reals->stream = stream;
    if (!stream->seeded)
        caucus_stream_digits(&ret_reals->second, stream, 1);
}

void caucus_reals_wipe(caucus_reals *reals) {
    if (!reals->stream->seeded)
        caucus_stream_wipe(&reals->second);
}

caucus_steps caucus_steps_prepare(caucus_rational rate, bool seeded) {
    assert(rate.num >= 1 && rate.den >= 1 && rate.den <= CAUCUS_DEN_MAX);
    caucus_steps steps = {.rate = rate};
    if (seeded) {
        steps.quickly = caucus_inversion_prepare(rate);
        if (!steps.quickly.scalar)
            return steps; /* 64 bits decide nearly always; what more of them need is prepared where they do not */
    }
    steps.inverse = caucus_ratio_prepare(rate.den, rate.num);
    /* E = H*2^-120 and den/num = multiplier*2^(exponent-128): E*den/num = (H*multiplier >> 128) * 2^(exponent-120).
     * den/num is from 2^-64 to 2^56, so this is a shift to the right, by 63 or more; H is below 2^127, so 127 makes
     * 0. */
    int shift = CAUCUS_LOG_WIDE_FRACTION - steps.inverse.exponent;
    steps.shift = shift < 127 ? (unsigned)shift : 127;
    return steps;
}

/* ---- plainly ---- */

/* Is y >= k, that is, U < exp(-k*rate)? (U equal to it has probability 0.) */
static bool at_least(caucus_lazy *u, caucus_rational rate, uint64_t k) {
    return caucus_lazy_below_exp(u, (caucus_u128)k * rate.num, rate.den);
}

int64_t caucus_real_geometric_plain(const caucus_stream *stream, uint64_t place, uint64_t word, caucus_rational rate) {
    caucus_lazy u;
    caucus_lazy_begin(&u, stream, place, word);
    uint64_t low = 0, high = 1; /* y >= low is known; y < high is the aim */
    while (at_least(&u, rate, high)) {
        if (high >= (uint64_t)CAUCUS_DRAW_LIMIT)
            abort();
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (at_least(&u, rate, middle))
            low = middle;
        else
            high = middle;
    }
    return (int64_t)low;
}

/* With some digits known, U*n = top + (low + R)/2^64 in units of the last of them, and 0 <= R < n is not known: top is
 * decided unless low + n can reach 2^64. A further digit w tells R = w*n/2^64 and less than n/2^64 more. */
uint64_t caucus_real_uniform_plain(const caucus_stream *stream, uint64_t place, uint64_t word, uint64_t n) {
    assert(n >= 1);
    caucus_u128 product = (caucus_u128)word * n;
    uint64_t top = (uint64_t)(product >> 64), low = (uint64_t)product;
    for (unsigned digit = 1; low > 0 - n; digit++) {
        product = (caucus_u128)caucus_stream_digit(stream, digit, place) * n;
        uint64_t sum;
        if (__builtin_add_overflow(low, (uint64_t)(product >> 64), &sum))
            return top + 1;
        if (sum != UINT64_MAX)
            return top;
        low = (uint64_t)product;
    }
    return top;
}

/* ---- the same with work that does not depend on U ---- */

/* E*den/num lies strictly between the two: E < high and den/num < (multiplier + 1)*2^.., the product is short by less
 * than 3 and 1 more multiplier is at most 1 (E < 2^128 grains); the product of what is below is never above. */
static int64_t geometric_wide(const caucus_stream *stream, const caucus_steps *steps, uint64_t word, uint64_t second,
                              uint64_t place) {
    caucus_log_bounds e = caucus_log_wide(CAUCUS_WIDE(word, second));
    caucus_u128 least = caucus_mulhi_wide(e.low, steps->inverse.multiplier) >> steps->shift;
    caucus_u128 most = (caucus_mulhi_wide(e.high, steps->inverse.multiplier) + 4) >> steps->shift;
    if (__builtin_expect(least != most, 0))
        return caucus_real_geometric_plain(stream, place, word, steps->rate);
    if (least >= (caucus_u128)CAUCUS_DRAW_LIMIT)
        abort();
    return (int64_t)least;
}

/* The first word alone: true and the value if that decides (exponential_draw.h has the proof). */
static inline bool geometric_quickly(const caucus_steps *steps, uint64_t word, int64_t *ret) {
    if (steps->quickly.scalar || word < CAUCUS_WORD_TINY)
        return false;
    uint64_t slack, high = caucus_minus_log(word, &slack);
    uint64_t h = caucus_mulhi(high, steps->quickly.multiplier);
    *ret = (int64_t)(h >> steps->quickly.shift);
    return (h & steps->quickly.mask) > slack;
}

/* The first 64 bits do not decide. */
__attribute__((noinline, cold)) static int64_t
geometric_undecided(const caucus_stream *stream, const caucus_steps *steps, uint64_t word, uint64_t place) {
    const caucus_steps wide = caucus_steps_prepare(steps->rate, false);
    return geometric_wide(stream, &wide, word, caucus_stream_digit(stream, 1, place), place);
}

static int64_t geometric_seeded(caucus_stream *stream, const caucus_steps *steps) {
    uint64_t word = caucus_word(stream), place = caucus_stream_drawn(stream) - 1;
    int64_t value;
    if (geometric_quickly(steps, word, &value))
        return value;
    return geometric_undecided(stream, steps, word, place);
}

int64_t caucus_real_geometric(caucus_reals *reals, const caucus_steps *steps) {
    caucus_stream *stream = reals->stream;
    if (stream->seeded)
        return geometric_seeded(stream, steps);
    uint64_t word = caucus_word(stream), second = caucus_word(&reals->second);
    return geometric_wide(stream, steps, word, second, caucus_stream_drawn(stream) - 1);
}

/* P(y) = sum over k of P(k + y) P(k) = (1-p)^2 p^|y| / (1-p^2), p = e^-rate: the discrete Laplace law. */
int64_t caucus_real_laplace(caucus_reals *reals, const caucus_steps *steps) {
    int64_t first = caucus_real_geometric(reals, steps);
    return first - caucus_real_geometric(reals, steps);
}

uint64_t caucus_real_knorm_radius(caucus_reals *reals, const caucus_steps *steps, size_t n) {
    assert(n >= 1);
    for (;;) {
        uint64_t radius = 0;
        for (size_t i = 0; i <= n; i++)
            radius = (uint64_t)caucus_add_saturating((int64_t)radius, caucus_real_geometric(reals, steps));
        if (radius >= (uint64_t)CAUCUS_DRAW_LIMIT)
            abort();
        uint64_t kept = 1;
        for (size_t i = 1; i <= n; i++) /* U*2(r+i) < 2r+1, every one of them, whatever the others said */
            kept &= caucus_real_uniform(reals, 2 * (radius + i)) < 2 * radius + 1;
        if (kept)
            return radius;
    }
}

uint64_t caucus_real_uniform(caucus_reals *reals, uint64_t n) {
    assert(n >= 1);
    caucus_stream *stream = reals->stream;
    uint64_t word = caucus_word(stream);
    caucus_u128 product = (caucus_u128)word * n;
    if (stream->seeded) {
        if ((uint64_t)product <= 0 - n)
            return (uint64_t)(product >> 64);
        return caucus_real_uniform_plain(stream, caucus_stream_drawn(stream) - 1, word, n);
    }
    caucus_u128 second = (caucus_u128)caucus_word(&reals->second) * n;
    caucus_u128 middle = (caucus_u128)(uint64_t)product + (uint64_t)(second >> 64);
    uint64_t top = (uint64_t)(product >> 64) + (uint64_t)(middle >> 64);
    if (__builtin_expect(((uint64_t)middle == UINT64_MAX) & ((uint64_t)second > 0 - n), 0))
        return caucus_real_uniform_plain(stream, caucus_stream_drawn(stream) - 1, word, n);
    return top;
}
