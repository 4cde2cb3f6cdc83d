/* SPDX-License-Identifier: Apache-2.0 */
/* rational.h: exact non-negative fractions for budgets, rates and scales.
 * layer: num
 *
 * A mechanism's parameter is a pair of integers, so that the accountant and the sampler see the
 * very same number. Rounding a real to a pair always goes towards privacy: the caller says which
 * way that is (a rate down, a scale up). docs/PRIVACY.md, "Budgets are rationals". */
#ifndef CAUCUS_RATIONAL_H
#define CAUCUS_RATIONAL_H

#include <caucus/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** num/den, den >= 1. Kept in lowest terms by every function below.
 *  Fixed: a fraction has two numbers. */
typedef struct caucus_rational {
    uint64_t num; /* numerator */
    uint64_t den; /* denominator, 1 or more */
} caucus_rational;

/** The largest denominator a mechanism accepts: leaves room for products in 128 bits. */
#define CAUCUS_DEN_MAX ((uint64_t)1 << 56)

/** num/den in lowest terms. den >= 1 (assert). */
CAUCUS_API caucus_rational caucus_rational_make(uint64_t num, uint64_t den);

/** The largest (floor) or smallest (ceil) k/2^bits not above (not below) a finite value >= 0.
 *  In:      bits  0..56.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (negative, NaN, infinite, or value*2^bits >= 2^63). */
CAUCUS_API caucus_status caucus_rational_floor(double value, unsigned bits, caucus_rational *ret) CAUCUS_MUST_CHECK;
CAUCUS_API caucus_status caucus_rational_ceil(double value, unsigned bits, caucus_rational *ret) CAUCUS_MUST_CHECK;

/** a*b and a+b exactly; a/k for an integer k >= 1.
 *  Returns: CAUCUS_OK, CAUCUS_E_OVERFLOW (the reduced result does not fit 64-bit parts). */
CAUCUS_API caucus_status caucus_rational_mul(caucus_rational a, caucus_rational b,
                                             caucus_rational *ret) CAUCUS_MUST_CHECK;
CAUCUS_API caucus_status caucus_rational_add(caucus_rational a, caucus_rational b,
                                             caucus_rational *ret) CAUCUS_MUST_CHECK;
CAUCUS_API caucus_status caucus_rational_div_int(caucus_rational a, uint64_t k, caucus_rational *ret) CAUCUS_MUST_CHECK;

/** -1, 0, 1 as a <, =, > b: exact, cannot fail. */
CAUCUS_API int caucus_rational_compare(caucus_rational a, caucus_rational b);

/** The nearest double, for printing and for bounds; never for a mechanism. */
CAUCUS_API double caucus_rational_double(caucus_rational a);

#ifdef __cplusplus
}
#endif
#endif
