/* SPDX-License-Identifier: Apache-2.0 */
/* weights.c: the Frank-Wolfe iterate as integer counts (weights.h has the formula).
 * layer: num */
#include "num/weights.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

caucus_status caucus_weights_init(caucus_weights *ret, uint32_t d) {
    assert(d >= 1);
    *ret = (caucus_weights){0};
    uint64_t *count = calloc(d, sizeof *count);
    if (count == NULL)
        return CAUCUS_E_MEMORY;
    *ret = (caucus_weights){.count = count, .d = d};
    return CAUCUS_OK;
}

void caucus_weights_free(caucus_weights *weights) {
    if (weights == NULL)
        return;
    free(weights->count);
    *weights = (caucus_weights){0};
}

void caucus_weights_reset(caucus_weights *weights) {
    memset(weights->count, 0, weights->d * sizeof *weights->count);
    weights->steps = 0;
}

void caucus_weights_push(caucus_weights *weights, uint32_t n) {
    assert(n < weights->d && weights->steps < UINT32_MAX);
    weights->count[n] += ++weights->steps;
}

uint64_t caucus_weights_mass(const caucus_weights *weights) {
    uint64_t k = weights->steps; /* below 2^32: k(k+1) fits 64 bits */
    return k * (k + 1) / 2;
}

double caucus_weights_value(const caucus_weights *weights, uint32_t n) {
    assert(weights->steps >= 1);
    return (double)weights->count[n] / (double)caucus_weights_mass(weights);
}

uint32_t caucus_weights_support(const caucus_weights *weights) {
    uint32_t support = 0;
    for (uint32_t n = 0; n < weights->d; n++)
        support += weights->count[n] != 0;
    return support;
}

uint32_t caucus_weights_at(const caucus_weights *weights, uint64_t u) {
    assert(u < caucus_weights_mass(weights));
    uint32_t n = 0;
    while (u >= weights->count[n])
        u -= weights->count[n++];
    return n;
}
