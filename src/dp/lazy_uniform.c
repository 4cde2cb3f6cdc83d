/* SPDX-License-Identifier: Apache-2.0 */
/* lazy_uniform.c: compare a uniform real with exp(-a/b), exactly, by computing as many bits as it takes.
 *
 * With n limbs of U known, U*2^(64n) lies in [N, N+1) for the integer N they spell. caucus_exp_limbs gives
 * e with exp(-a/b)*2^(64n) in (e-1, e+2). So N+1 <= e-1 proves U < exp(-a/b), N >= e+2 proves U > exp(-a/b),
 * and otherwise another limb is drawn: each leaves the question open with probability below 2^-61.
 *
 * exp(-x), x = a/b, in M = n+1 limbs, fractions of v = 2^(-64M); every step truncates:
 *   1. x = I + f, f to M limbs by long division: error below v. If I >= 1024 then exp(-x) < 2^-1477 is
 *      below 2^(-64n) for every n here, and e = 0 is right.
 *   2. g = x/2^j with j = 16 + bits(I), so g < 2^-16: error below v + v.
 *   3. S = g - g^2/2 + g^3/6 - ...: term k is floor(floor(term_(k-1)*g)/k). If term_(k-1) is short by at most 2v,
 *      term k is short by at most (2v*g + v)/k + v <= 2v. There are at most 64*21/16 = 84 terms until one is 0;
 *      the series alternates with falling terms, so what is left out is below the first omitted term, below 2v.
 *      Error of S below (2 + 2*84 + 2)v < 2^8 v. exp(-g) = 1 - S.
 *   4. j squarings of a value h <= 1: an error of E v becomes at most (2E + 1)v plus (E v)^2, far below v; so after j,
 *      below 2^j (2^8 + 2) v <= 2^26 * 2^9 v < 2^36 v (bits(I) <= 10; the 2 covers h = 1 - v in place of 1).
 *   5. Dropping the last limb: the top n limbs e satisfy e <= h*2^(64n) < e+1, and 2^36 v is 2^-28 of their unit.
 *      So exp(-x)*2^(64n) lies in (e - 2^-28, e + 1 + 2^-28), inside (e-1, e+2). */
#include "dp/lazy_uniform.h"

#include "dp/limbs.h"
#include "rng/words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LIMBS_MAX (CAUCUS_LAZY_LIMBS + 1)
#define REDUCTION_BITS 16u

/* ret = floor(x*y) of two fractions of m limbs, most significant first. ret may be x or y. */
static void multiply(const uint64_t *x, const uint64_t *y, unsigned m, uint64_t *ret) {
    uint64_t product[2 * LIMBS_MAX];
    caucus_limbs_multiply(x, m, y, m, product);
    memcpy(ret, product, m * sizeof *ret);
}

/* x = floor(x/k); true if nothing is left. */
static bool divide_small(uint64_t *x, unsigned m, uint64_t k) {
    uint64_t remainder = 0, any = 0;
    for (unsigned i = 0; i < m; i++) {
        caucus_u128 part = (caucus_u128)remainder << 64 | x[i];
        x[i] = (uint64_t)(part / k);
        remainder = (uint64_t)(part % k);
        any |= x[i];
    }
    return any == 0;
}

static void add(uint64_t *x, const uint64_t *y, unsigned m) {
    unsigned carry = 0;
    for (unsigned i = m; i-- > 0;) {
        caucus_u128 sum = (caucus_u128)x[i] + y[i] + carry;
        x[i] = (uint64_t)sum;
        carry = (unsigned)(sum >> 64);
    }
}

/* x -= y; true if it wrapped. */
static bool subtract(uint64_t *x, const uint64_t *y, unsigned m) {
    unsigned borrow = 0;
    for (unsigned i = m; i-- > 0;) {
        caucus_u128 difference = (caucus_u128)x[i] - y[i] - borrow;
        x[i] = (uint64_t)difference;
        borrow = (unsigned)(difference >> 127);
    }
    return borrow != 0;
}

/* g = x/2^j as a fraction of m limbs, where x = whole + rest/b, whole < 2^(j-16). */
static void reduced_argument(uint64_t whole, caucus_u128 rest, caucus_u128 b, unsigned j, unsigned m, uint64_t *g) {
    uint64_t above = whole; /* the limb before the one in hand, whose low j bits shift into it */
    for (unsigned i = 0; i < m; i++) {
        uint64_t limb = 0;
        for (unsigned bit = 0; bit < 64; bit++) { /* rest < b < 2^119: doubling cannot overflow */
            rest *= 2;
            limb *= 2;
            if (rest >= b) {
                rest -= b;
                limb++;
            }
        }
        g[i] = above << (64 - j) | limb >> j;
        above = limb;
    }
}

/* h = exp(-g) for 0 <= g < 2^-16. */
static void exp_series(const uint64_t *g, unsigned m, uint64_t *h) {
    uint64_t term[LIMBS_MAX], sum[LIMBS_MAX];
    memcpy(term, g, m * sizeof *term);
    memcpy(sum, g, m * sizeof *sum);
    for (uint64_t k = 2;; k++) {
        multiply(term, g, m, term);
        if (divide_small(term, m, k)) {
            break;
        }
        if (k % 2 == 0) {
            subtract(sum, term, m);
        } else {
            add(sum, term, m);
        }
    }
    uint64_t any = 0;
    for (unsigned i = 0; i < m; i++) {
        any |= sum[i];
    }
    memset(h, any == 0 ? 0xff : 0, m * sizeof *h); /* 1 does not fit: 1 - v stands for it */
    if (any != 0) {
        subtract(h, sum, m); /* 0 - sum wraps to 1 - sum */
    }
}

void caucus_exp_limbs(caucus_u128 a, caucus_u128 b, unsigned n, uint64_t *ret) {
    assert(a > 0 && b >= 1 && b >> 119 == 0 && n >= 1 && n <= CAUCUS_LAZY_LIMBS);
    caucus_u128 whole = a / b;
    if (whole >= 1024) {
        memset(ret, 0, n * sizeof *ret);
        return;
    }
    unsigned j = REDUCTION_BITS;
    for (uint64_t left = (uint64_t)whole; left != 0; left >>= 1) {
        j++;
    }
    unsigned m = n + 1;
    uint64_t g[LIMBS_MAX], h[LIMBS_MAX];
    reduced_argument((uint64_t)whole, a % b, b, j, m, g);
    exp_series(g, m, h);
    for (unsigned i = 0; i < j; i++) {
        multiply(h, h, m, h);
    }
    memcpy(ret, h, n * sizeof *ret);
}

void caucus_lazy_begin(caucus_lazy *u, const caucus_stream *stream, uint64_t place, uint64_t word) {
    u->stream = stream;
    u->place = place;
    u->limbs = 1;
    u->limb[0] = word;
}

void caucus_lazy_more(caucus_lazy *u) {
    if (u->limbs == CAUCUS_LAZY_LIMBS) {
        abort();
    }
    u->limb[u->limbs] = caucus_stream_digit(u->stream, u->limbs, u->place);
    u->limbs++;
}

/* Is x - y >= 2, as integers of n limbs? */
static bool exceeds_by_two(const uint64_t *x, const uint64_t *y, unsigned n) {
    uint64_t difference[CAUCUS_LAZY_LIMBS], upper = 0;
    memcpy(difference, x, n * sizeof *x);
    if (subtract(difference, y, n)) {
        return false;
    }
    for (unsigned i = 0; i + 1 < n; i++) {
        upper |= difference[i];
    }
    return upper != 0 || difference[n - 1] >= 2;
}

bool caucus_lazy_below_exp(caucus_lazy *u, caucus_u128 a, caucus_u128 b) {
    if (a == 0) {
        return true;
    }
    for (;;) {
        uint64_t e[CAUCUS_LAZY_LIMBS];
        caucus_exp_limbs(a, b, u->limbs, e);
        if (exceeds_by_two(e, u->limb, u->limbs)) { /* N+1 <= e-1 */
            return true;
        }
        if (exceeds_by_two(u->limb, e, u->limbs)) { /* N >= e+2 */
            return false;
        }
        caucus_lazy_more(u);
    }
}
