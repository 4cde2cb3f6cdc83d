/* SPDX-License-Identifier: Apache-2.0 */
/* uniform.c: a uniform integer below n, and the coin a/b. Exact: no modulo bias.
 *
 * One word: multiply-shift with rejection (Lemire 2019). For a uniform word x the product x*n has a high
 * word floor(x*n/2^w), which takes each value 0..n-1 either floor(2^w/n) or one more times; dropping the
 * products whose low word is below 2^w mod n leaves exactly floor(2^w/n) for each. The division that
 * finds 2^w mod n is needed only if the low word is below n.
 * More than one word: as many bits as n-1 has, again if they are not below n (kept with p > 1/2). */
#include "dp/draws.h"
#include "dp/word.h"

#include <assert.h>

static caucus_u128 uniform_many_words(caucus_stream *stream, caucus_u128 n) {
    unsigned bits = caucus_bit_length(n - 1);
    caucus_u128 value;
    do {
        value = 0;
        for (unsigned have = 0; have < bits; have += CAUCUS_WORD_BITS) {
            unsigned take = bits - have < CAUCUS_WORD_BITS ? bits - have : CAUCUS_WORD_BITS;
            value |= (caucus_u128)(CAUCUS_DRAW(stream) >> (CAUCUS_WORD_BITS - take)) << have;
        }
    } while (value >= n);
    return value;
}

uint64_t caucus_uniform(caucus_stream *stream, uint64_t n) {
    assert(n >= 1);
    if (n == 1) {
        return 0;
    }
#if CAUCUS_WORD_BITS < 64
    if (n > CAUCUS_WORD_MASK) {
        return (uint64_t)uniform_many_words(stream, n);
    }
#endif
    caucus_u128 product = (caucus_u128)CAUCUS_DRAW(stream) * n;
    uint64_t low = (uint64_t)product & CAUCUS_WORD_MASK;
    if (low < n) {
        uint64_t biased = (uint64_t)(CAUCUS_WORD_RANGE % n);
        while (low < biased) {
            product = (caucus_u128)CAUCUS_DRAW(stream) * n;
            low = (uint64_t)product & CAUCUS_WORD_MASK;
        }
    }
    return (uint64_t)(product >> CAUCUS_WORD_BITS);
}

caucus_u128 caucus_uniform_wide(caucus_stream *stream, caucus_u128 n) {
    assert(n >= 1);
    if (n <= UINT64_MAX) {
        return caucus_uniform(stream, (uint64_t)n);
    }
    return uniform_many_words(stream, n);
}

bool caucus_bernoulli(caucus_stream *stream, uint64_t a, uint64_t b) {
    assert(b >= 1 && a <= b);
    return caucus_uniform(stream, b) < a;
}

bool caucus_bernoulli_wide(caucus_stream *stream, caucus_u128 a, caucus_u128 b) {
    assert(b >= 1 && a <= b);
    return caucus_uniform_wide(stream, b) < a;
}
