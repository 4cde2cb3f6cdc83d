/* SPDX-License-Identifier: Apache-2.0 */
/* ratio.c: a public fraction as a normalised multiplier (wide.h).
 *
 * Both numbers are shifted up to 2^63 <= p', q' < 2^64, so that p'/q' lies in (1/2, 2): p/q = p'/q' * 2^(zeros of q -
 * zeros of p). Below 1, floor(2^128 p'/q') has 128 bits, by two divisions of two words by one; from 1 on, its 1 goes in
 * front and the last bit is dropped. */
#include "dp/wide.h"

#include <assert.h>

caucus_ratio caucus_ratio_prepare(uint64_t p, uint64_t q) {
    assert(q >= 1);
    if (p == 0)
        return (caucus_ratio){0, 0};
    int p_zeros = __builtin_clzll(p), q_zeros = __builtin_clzll(q);
    uint64_t rest = p << p_zeros, divisor = q << q_zeros;
    bool one = rest >= divisor;
    rest -= one ? divisor : 0;
    caucus_u128 first = ((caucus_u128)rest << 64) / divisor;
    rest = (uint64_t)(((caucus_u128)rest << 64) % divisor);
    caucus_u128 fraction = first << 64 | ((caucus_u128)rest << 64) / divisor;
    if (one)
        fraction = fraction >> 1 | (caucus_u128)1 << 127;
    return (caucus_ratio){fraction, q_zeros - p_zeros + one};
}
