/* SPDX-License-Identifier: Apache-2.0 */
/* rational.c: exact non-negative fractions.
 * layer: num
 *
 * Products are reduced across before they are formed and sums follow Knuth (TAOCP 4.5.1), so that a
 * result overflows only if its lowest terms do not fit 64 bits. docs/PRIVACY.md, "Budgets are rationals". */
#include <caucus/rational.h>

#include "num/checked.h"

#include <assert.h>
#include <math.h>

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* gcd of a wide and a narrow number, narrow >= 1: one wide division, then the narrow one. */
static uint64_t gcd_wide(caucus_u128 a, uint64_t b) {
    return gcd(b, (uint64_t)(a % b));
}

caucus_rational caucus_rational_make(uint64_t num, uint64_t den) {
    assert(den >= 1);
    uint64_t g = gcd(num, den); /* >= 1 since den >= 1; gcd(0, den) = den gives 0/1 */
    return (caucus_rational){num / g, den / g};
}

/* value*2^bits, exact unless it is refused. */
static caucus_status scaled(double value, unsigned bits, double *ret) {
    if (!(value >= 0) || !isfinite(value) || bits > 56)
        return CAUCUS_E_RANGE;
    double x = ldexp(value, (int)bits);
    if (!(x < 0x1p63))
        return CAUCUS_E_RANGE;
    *ret = x;
    return CAUCUS_OK;
}

caucus_status caucus_rational_floor(double value, unsigned bits, caucus_rational *ret) {
    double x;
    caucus_status status = scaled(value, bits, &x);
    if (status == CAUCUS_OK)
        *ret = caucus_rational_make((uint64_t)floor(x), (uint64_t)1 << bits);
    return status;
}

caucus_status caucus_rational_ceil(double value, unsigned bits, caucus_rational *ret) {
    double x;
    caucus_status status = scaled(value, bits, &x);
    if (status == CAUCUS_OK) /* ceil cannot reach 2^63: doubles above 2^53 are whole already */
        *ret = caucus_rational_make((uint64_t)ceil(x), (uint64_t)1 << bits);
    return status;
}

caucus_status caucus_rational_mul(caucus_rational a, caucus_rational b, caucus_rational *ret) {
    caucus_rational left = caucus_rational_make(a.num, b.den);
    caucus_rational right = caucus_rational_make(b.num, a.den);
    uint64_t num, den;
    if (!caucus_mul_u64(left.num, right.num, &num) || !caucus_mul_u64(left.den, right.den, &den))
        return CAUCUS_E_OVERFLOW;
    *ret = caucus_rational_make(num, den);
    return CAUCUS_OK;
}

caucus_status caucus_rational_add(caucus_rational a, caucus_rational b, caucus_rational *ret) {
    a = caucus_rational_make(a.num, a.den);
    b = caucus_rational_make(b.num, b.den);
    uint64_t g = gcd(a.den, b.den);
    caucus_u128 sum;
    /* A sum of 2^128 or more stays above 64 bits whatever is divided out: the common factor divides g. */
    if (!caucus_add_wide((caucus_u128)a.num * (b.den / g), (caucus_u128)b.num * (a.den / g), &sum))
        return CAUCUS_E_OVERFLOW;
    uint64_t common = gcd_wide(sum, g);
    sum /= common;
    uint64_t den;
    if (sum > UINT64_MAX || !caucus_mul_u64(a.den / g, b.den / common, &den))
        return CAUCUS_E_OVERFLOW;
    *ret = (caucus_rational){(uint64_t)sum, den};
    return CAUCUS_OK;
}

caucus_status caucus_rational_div_int(caucus_rational a, uint64_t k, caucus_rational *ret) {
    assert(k >= 1);
    return caucus_rational_mul(a, (caucus_rational){1, k}, ret);
}

int caucus_rational_compare(caucus_rational a, caucus_rational b) {
    caucus_u128 left = (caucus_u128)a.num * b.den, right = (caucus_u128)b.num * a.den;
    return (left > right) - (left < right);
}

/* The quotient to at least 63 bits with a sticky last bit, so that the one rounding, in the conversion, is correct. */
double caucus_rational_double(caucus_rational a) {
    if (a.num == 0)
        return 0;
    int shift = 64 + __builtin_clzll(a.num);
    caucus_u128 top = (caucus_u128)a.num << shift;
    caucus_u128 quotient = top / a.den;
    if (top % a.den != 0)
        quotient |= 1;
    return ldexp((double)quotient, -shift);
}
