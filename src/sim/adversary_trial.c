/* SPDX-License-Identifier: Apache-2.0 */
/* adversary_trial.c: the constants of one trial.
 * layer: sim
 *
 * Every constant has its own child of the trial's key, so adding one never changes another. */
#include "sim/adversary_impl.h"

#include <math.h>
#include <stdlib.h>

#include "num/hand_over.h"

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
        trial->threshold[n] = caucus_adversary_threshold(lo + (hi - lo) * caucus_fast_double(mean, n));
    for (size_t k = experts; k < (size_t)experts + CAUCUS_FAST_RUN; k++)
        trial->threshold[k] = trial->threshold[k - experts];
    return true;
}

/* Expert n of segment s has draw number s*d + n, so the first segment's means are those of bernoulli's law. */
bool caucus_adversary_draw_means(caucus_adversary_trial *trial, uint64_t segments) {
    const caucus_adversary *adversary = trial->adversary;
    const size_t count = (size_t)segments * adversary->experts;
    trial->means = malloc(count * sizeof *trial->means);
    if (trial->means == NULL)
        return false;
    caucus_fast_key mean = caucus_fast_child(trial->key, LABEL_MEAN);
    for (size_t k = 0; k < count; k++)
        trial->means[k] = adversary->mean_lo + (adversary->mean_hi - adversary->mean_lo) * caucus_fast_double(mean, k);
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
    const bool drawn = adversary->ops->draw == NULL || adversary->ops->draw(made);
    const caucus_status status = drawn ? CAUCUS_OK : CAUCUS_E_MEMORY;
    return CAUCUS_HAND_OVER(status, ret, made, caucus_adversary_trial_free(made));
}

void caucus_adversary_trial_free(caucus_adversary_trial *trial) {
    if (trial == NULL)
        return;
    free(trial->mean);
    free(trial->deviation);
    free(trial->threshold);
    free(trial->means);
    free(trial->rank);
    free(trial->user);
    free(trial);
}
