/* SPDX-License-Identifier: Apache-2.0 */
/* adversary_trial.c: the constants of one trial.
 * layer: sim
 *
 * Every constant has its own child of the trial's key, so adding one never changes another. */
#include "sim/adversary_impl.h"

#include <math.h>
#include <stdlib.h>

/* Labels of a trial's children; clients use CLIENT + their number (adversary_fill.c). */
enum { LABEL_MEAN = 1, LABEL_VARIANCE, LABEL_HIDDEN, LABEL_ORDER };

/* d + CAUCUS_FAST_RUN entries of 4 bytes, float or uint32_t. */
static void *tile_alloc(uint32_t experts) {
    return malloc(((size_t)experts + CAUCUS_FAST_RUN) * 4);
}

/* Repeat the first d entries up to the table's end. */
static void tile_floats(float *table, uint32_t experts) {
    for (size_t k = experts; k < (size_t)experts + CAUCUS_FAST_RUN; k++)
        table[k] = table[k - experts];
}

bool caucus_adversary_draw_normals(caucus_adversary_trial *trial) {
    const uint32_t experts = trial->adversary->experts;
    trial->mean = tile_alloc(experts);
    trial->deviation = tile_alloc(experts);
    if (trial->mean == NULL || trial->deviation == NULL)
        return false;
    caucus_fast_key mean = caucus_fast_child(trial->key, LABEL_MEAN),
                    variance = caucus_fast_child(trial->key, LABEL_VARIANCE);
    for (uint32_t n = 0; n < experts; n++) {
        trial->mean[n] = (float)caucus_fast_double(mean, n);
        trial->deviation[n] = (float)sqrt(caucus_fast_double(variance, n));
    }
    tile_floats(trial->mean, experts);
    tile_floats(trial->deviation, experts);
    return true;
}

bool caucus_adversary_draw_thresholds(caucus_adversary_trial *trial, double lo, double hi) {
    const uint32_t experts = trial->adversary->experts;
    trial->threshold = tile_alloc(experts);
    if (trial->threshold == NULL)
        return false;
    caucus_fast_key mean = caucus_fast_child(trial->key, LABEL_MEAN);
    for (uint32_t n = 0; n < experts; n++)
        trial->threshold[n] = (uint32_t)((lo + (hi - lo) * caucus_fast_double(mean, n)) * 0x1p32);
    for (size_t k = experts; k < (size_t)experts + CAUCUS_FAST_RUN; k++)
        trial->threshold[k] = trial->threshold[k - experts];
    return true;
}

/* A uniform permutation is its own inverse in law: drawn directly as expert -> place. */
bool caucus_adversary_draw_order(caucus_adversary_trial *trial, uint32_t n, uint32_t **ret) {
    *ret = malloc((size_t)n * sizeof **ret);
    if (*ret == NULL)
        return false;
    caucus_fast_permutation(caucus_fast_child(trial->key, LABEL_ORDER), n, *ret);
    return true;
}

bool caucus_adversary_draw_hidden(caucus_adversary_trial *trial) {
    trial->hidden = caucus_fast_below(caucus_fast_child(trial->key, LABEL_HIDDEN), 0, trial->adversary->experts);
    return true;
}

caucus_status caucus_adversary_trial_new(const caucus_adversary *adversary, uint32_t trial,
                                         caucus_adversary_trial **ret) {
    caucus_adversary_trial *made = calloc(1, sizeof *made);
    if (made == NULL)
        return CAUCUS_E_MEMORY;
    made->adversary = adversary;
    caucus_fast_key run = caucus_fast_child(caucus_fast_seed(adversary->seed), (uint64_t)adversary->kind);
    made->key = caucus_fast_child(run, trial);
    if (adversary->ops->draw != NULL && !adversary->ops->draw(made)) {
        caucus_adversary_trial_free(made);
        return CAUCUS_E_MEMORY;
    }
    *ret = made;
    return CAUCUS_OK;
}

void caucus_adversary_trial_free(caucus_adversary_trial *trial) {
    if (trial == NULL)
        return;
    free(trial->mean);
    free(trial->deviation);
    free(trial->threshold);
    free(trial->rank);
    free(trial->user);
    free(trial);
}
