/* SPDX-License-Identifier: Apache-2.0 */
/* exponential_draw.c: the parts of exact inversion that are not in the inner loop (exponential_draw.h has the
 * proof). */
#include "dp/exponential_draw.h"

#include "dp/draws.h"

#include <assert.h>
#include <stdlib.h>

#include "dp/log_table.inc"

caucus_inversion caucus_inversion_prepare(caucus_rational rate) {
    assert(rate.num >= 1 && rate.den >= 1 && rate.den <= CAUCUS_DEN_MAX);
    caucus_inversion inv = {.rate = rate};
    if (rate.num >= 44 * rate.den) { /* y = 0 except with probability e^-44 */
        inv.scalar = true;
        return inv;
    }
    /* The largest k with floor(2^k*den/num) + 1 < 2^64: between 7 and 69, since 1/44 < den/num <= 2^56. With one more
     * bit than this 2^k*den/num is at least 2^64; the answer is here or one below. */
    unsigned k = 64 + caucus_bit_length(rate.num) - caucus_bit_length(rate.den);
    k = k < 69 ? k : 69;
    caucus_u128 quotient = ((caucus_u128)rate.den << k) / rate.num; /* 56 + 69 bits */
    while ((quotient + 1) >> 64 != 0) {
        quotient >>= 1; /* floor(floor(x)/2) = floor(x/2) */
        k--;
    }
    inv.multiplier = (uint64_t)quotient + 1;
    inv.shift = k - (64 - CAUCUS_LOG_FRACTION);
    inv.mask = ((uint64_t)1 << inv.shift) - 1;
    return inv;
}

/* Is y >= k, that is, U < exp(-k*rate)? (U equal to it has probability 0.) */
static bool at_least(caucus_lazy *u, caucus_rational rate, int64_t k) {
    return caucus_lazy_below_exp(u, (caucus_u128)k * rate.num, rate.den);
}

int64_t caucus_inversion_slow(const caucus_stream *stream, const caucus_inversion *inv, uint64_t word) {
    caucus_lazy u;
    caucus_lazy_begin(&u, stream, caucus_stream_drawn(stream) - 1, word); /* the word just read */
    int64_t low = 0, high = 1;                                            /* y >= low is known; y < high is the aim */
    if (word >= CAUCUS_WORD_TINY) {
        uint64_t slack, h = caucus_mulhi(caucus_minus_log(word, &slack), inv->multiplier);
        low = h > slack + 1 ? (int64_t)((h - slack - 1) >> inv->shift) : 0;
        high = (int64_t)(h >> inv->shift) + 1; /* y < high by the same proof */
    } else {
        while (at_least(&u, inv->rate, high)) {
            if (high >= CAUCUS_DRAW_LIMIT) {
                abort();
            }
            low = high;
            high *= 2;
        }
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (at_least(&u, inv->rate, middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

caucus_divisor caucus_divisor_prepare(caucus_u128 b) {
    assert(b >= 1 && b >> 119 == 0);
    caucus_divisor divisor = {.b = b, .bits = caucus_bit_length(b)};
    if (divisor.bits <= 64) { /* 2^(63+bits) fits */
        caucus_u128 direct = ((caucus_u128)1 << (63 + divisor.bits)) / b;
        divisor.inverse = direct >> 64 != 0 ? UINT64_MAX : (uint64_t)direct;
        return divisor;
    }
    /* floor(2^(63+bits)/b) by long division: the remainder stays below b < 2^119. */
    caucus_u128 quotient = 0, remainder = (caucus_u128)1 << (divisor.bits - 1);
    for (unsigned i = 0; i <= 64; i++) {
        quotient *= 2;
        if (remainder >= b) {
            remainder -= b;
            quotient++;
        }
        remainder *= 2;
    }
    divisor.inverse = quotient >> 64 != 0 ? UINT64_MAX : (uint64_t)quotient;
    return divisor;
}

/* floor and bound of a/b in ulp: a/b lies in [*ret_low, *ret_low + spread).
 * a = (A + p)*2^(n-64), 0 <= p < 1, A its first 64 of n bits; 1/b = (V + r)/2^(63+bits), 0 <= r <= 1, V the inverse.
 * (A+p)(V+r)/2^64 lies in [mulhi(A,V), mulhi(A,V) + 4): one for the truncation, one for A*r, one for p*V, and p*r. In
 * ulp the product is worth 2^(n-bits-5); when that shifts right the spread falls to at most 4/2 + 1 <= 5. */
static caucus_u128 ratio(caucus_u128 a, const caucus_divisor *divisor, caucus_u128 *ret_spread) {
    unsigned n = caucus_bit_length(a);
    uint64_t first = n > 64 ? (uint64_t)(a >> (n - 64)) : (uint64_t)a << (64 - n);
    uint64_t product = caucus_mulhi(first, divisor->inverse);
    int right = (int)divisor->bits + 5 - (int)n;
    if (right > 63) {
        right = 63; /* below 2 ulp: [0, 5) holds as well */
        product = 0;
    }
    if (right > 0) {
        *ret_spread = 5;
        return product >> right;
    }
    unsigned left = right < -60 ? 60 : (unsigned)-right; /* beyond any E: product >= 2^62 */
    *ret_spread = (caucus_u128)4 << left;
    return (caucus_u128)product << left;
}

bool caucus_exp_coin(caucus_stream *stream, caucus_u128 a, const caucus_divisor *divisor) {
    if (a == 0) {
        return true;
    }
    uint64_t word = caucus_word(stream);
    if (word >= CAUCUS_WORD_TINY) {
        uint64_t slack, high = caucus_minus_log(word, &slack);
        caucus_u128 spread, low = ratio(a, divisor, &spread);
        if (high <= low) {
            return false; /* E < high <= a/b */
        }
        if (high >= low + spread + slack) {
            return true; /* E > high - slack >= a/b */
        }
    }
    caucus_lazy u;
    caucus_lazy_begin(&u, stream, caucus_stream_drawn(stream) - 1, word); /* the word just read */
    return caucus_lazy_below_exp(&u, a, divisor->b);
}
