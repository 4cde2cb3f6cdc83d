/* SPDX-License-Identifier: Apache-2.0 */
/* wide.h: 128-bit fixed point whose work does not depend on what it computes.
 * layer: dp
 *
 * A number that must stay secret chooses no branch, no loop count, no address and no divisor here: choices are made by
 * masks, and tables are read whole. (The 64-bit logarithm of permute-and-flip, exponential_draw.h, is indexed by random
 * bits: docs/PRIVACY.md, "Side channels".) Shifts by a secret amount are taken apart into words so that no compiler
 * needs a branch for them. */
#ifndef CAUCUS_DP_WIDE_H
#define CAUCUS_DP_WIDE_H

#include "num/int128.h"

#include <stdbool.h>
#include <stdint.h>

#define CAUCUS_WIDE(high, low) ((caucus_u128)(high) << 64 | (low))

/** All ones if condition, else 0. The empty assembly hides where the mask comes from, or a compiler may turn the
 *  masking back into a branch. */
static inline uint64_t caucus_mask(bool condition) {
    uint64_t mask = (uint64_t)0 - (uint64_t)condition;
    __asm__("" : "+r"(mask));
    return mask;
}

static inline caucus_u128 caucus_mask_wide(bool condition) {
    uint64_t mask = caucus_mask(condition);
    return CAUCUS_WIDE(mask, mask);
}

/** mask is all ones: a; it is 0: b. */
static inline uint64_t caucus_pick(uint64_t mask, uint64_t a, uint64_t b) {
    return b ^ ((a ^ b) & mask);
}

/** a*b/2^128, short by less than 3: the product of the lower halves, below 1, is left out, and each of the two mixed
 *  products loses its fraction. */
static inline caucus_u128 caucus_mulhi_wide(caucus_u128 a, caucus_u128 b) {
    uint64_t ah = (uint64_t)(a >> 64), al = (uint64_t)a, bh = (uint64_t)(b >> 64), bl = (uint64_t)b;
    return (caucus_u128)ah * bh + (uint64_t)((caucus_u128)ah * bl >> 64) + (uint64_t)((caucus_u128)al * bh >> 64);
}

/** Leading zeros of n, 0 .. 127; of 0 it says 127. */
static inline unsigned caucus_clz_wide(caucus_u128 n) {
    uint64_t high = (uint64_t)(n >> 64), upper_empty = caucus_mask(high == 0);
    uint64_t word = caucus_pick(upper_empty, (uint64_t)n, high);
    return (unsigned)__builtin_clzll(word | 1) + (unsigned)(upper_empty & 64);
}

/** n << by, by 0 .. 127. */
static inline caucus_u128 caucus_shift_left(caucus_u128 n, unsigned by) {
    uint64_t high = (uint64_t)(n >> 64), low = (uint64_t)n, word = caucus_mask(by >= 64);
    unsigned bits = by & 63;
    high = caucus_pick(word, low, high);
    low &= ~word;
    return CAUCUS_WIDE(high << bits | low >> 1 >> (63 - bits), low << bits);
}

/** n >> by; 0 if by >= 128. */
static inline caucus_u128 caucus_shift_right(caucus_u128 n, unsigned by) {
    uint64_t high = (uint64_t)(n >> 64), low = (uint64_t)n, word = caucus_mask((by & 64) != 0);
    unsigned bits = by & 63;
    low = caucus_pick(word, high, low);
    high &= ~word;
    return CAUCUS_WIDE(high >> bits, low >> bits | high << 1 << (63 - bits)) & caucus_mask_wide(by < 128);
}

/* A public fraction prepared for many products: p/q lies in [multiplier, multiplier + 1) * 2^(exponent - 128), with
 * 2^127 <= multiplier < 2^128 (or 0 for 0). */
typedef struct caucus_ratio {
    caucus_u128 multiplier;
    int exponent; /* -63 .. 64 */
} caucus_ratio;

/** q >= 1. Divides: p and q are public. */
caucus_ratio caucus_ratio_prepare(uint64_t p, uint64_t q);

/** floor(x*p/q) for x below 2^62 and x*p/q below 2^62, p and q from 1 to 2^62 - 1 and `ratio` theirs. A division takes
 *  longer for some x than for others; this does not. The product with the multiplier is short of x*p/q by less than
 *  2^(exponent-64) for what is cut off and x*2^(exponent-128) for the multiplier itself, together below 1/2, so that it
 *  is the answer or one less. */
static inline uint64_t caucus_ratio_floor(uint64_t x, uint64_t p, uint64_t q, const caucus_ratio *ratio) {
    caucus_u128 scaled =
        (caucus_u128)x * (uint64_t)(ratio->multiplier >> 64) + ((caucus_u128)x * (uint64_t)ratio->multiplier >> 64);
    uint64_t near = (uint64_t)(scaled >> (64 - ratio->exponent)); /* public: 1 .. 127 */
    return near + (1 & caucus_mask((caucus_u128)(near + 1) * q <= (caucus_u128)x * p));
}

/** floor((sum + floor(n/2))/n), the rounded mean of n values, for 0 <= sum and sum + n/2 < 2^62, n from 1 on. */
static inline int64_t caucus_rounded_mean(int64_t sum, int64_t n, const caucus_ratio *one_of_n) {
    return (int64_t)caucus_ratio_floor((uint64_t)(sum + n / 2), 1, (uint64_t)n, one_of_n);
}

#endif
