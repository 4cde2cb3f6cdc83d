/* SPDX-License-Identifier: Apache-2.0 */
/* adversary_fill.c: rows of losses.
 * layer: sim
 *
 * Each kind makes its own: adversary_random.c, adversary_order.c, adversary_data.c. */
#include "sim/adversary_impl.h"

#include <assert.h>
#include <string.h>

#define LABEL_CLIENT (UINT64_C(1) << 32) /* above the labels of adversary_trial.c */

typedef caucus_adversary_trial trial_t;

caucus_fast_key caucus_adversary_client_key(const trial_t *trial, uint32_t client) {
    return caucus_fast_child(trial->key, LABEL_CLIENT + client);
}

static void check(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count) {
    const caucus_adversary *adversary = trial->adversary;
    assert(client >= 1 && client <= adversary->clients);
    assert(first <= adversary->rounds && count <= adversary->rounds - first);
    (void)adversary, (void)client, (void)first, (void)count;
}

void caucus_adversary_fill(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    check(trial, client, first, count);
    trial->adversary->ops->fill(trial, client, first, count, ret);
}

/* Floats are made where they belong, at the end of the doubles' own memory, and widened from the front: the double
 * written at k ends before the float still to be read at k + 1. */
void caucus_adversary_fill64(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, double *ret) {
    check(trial, client, first, count);
    if (trial->adversary->ops->fill64 != NULL) {
        trial->adversary->ops->fill64(trial, client, first, count, ret);
        return;
    }
    size_t values = count * trial->adversary->experts;
    float *narrow = (float *)(void *)ret + values;
    caucus_adversary_fill(trial, client, first, count, narrow);
    for (size_t k = 0; k < values; k++) {
        float value;
        memcpy(&value, (const char *)(const void *)narrow + k * sizeof value, sizeof value);
        ret[k] = (double)value;
    }
}
