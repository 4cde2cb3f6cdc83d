/* SPDX-License-Identifier: Apache-2.0 */
/* limbs.h: numbers of any width, as 64-bit limbs, the most significant first.
 * layer: dp */
#ifndef CAUCUS_DP_LIMBS_H
#define CAUCUS_DP_LIMBS_H

#include "num/int128.h"

#include <stdint.h>
#include <string.h>

/** ret[n + m] = x[n]*y[m]; ret is neither x nor y. */
static inline void caucus_limbs_multiply(const uint64_t *x, unsigned n, const uint64_t *y, unsigned m, uint64_t *ret) {
    memset(ret, 0, (n + m) * sizeof *ret);
    for (unsigned i = n; i-- > 0;) {
        uint64_t carry = 0;
        for (unsigned k = m; k-- > 0;) {
            caucus_u128 sum = (caucus_u128)x[i] * y[k] + ret[i + k + 1] + carry;
            ret[i + k + 1] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        ret[i] = carry;
    }
}

#endif
