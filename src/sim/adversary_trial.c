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

static bool draw_normals(caucus_adversary_trial *trial, uint32_t experts) {
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

/* Means lo + (hi - lo)*U, in 2^-32. */
static bool draw_thresholds(caucus_adversary_trial *trial, uint32_t experts, double lo, double hi) {
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
static bool draw_order(caucus_adversary_trial *trial, uint32_t n, uint32_t **ret) {
    *ret = malloc((size_t)n * sizeof **ret);
    if (*ret == NULL)
        return false;
    caucus_fast_permutation(caucus_fast_child(trial->key, LABEL_ORDER), n, *ret);
    return true;
}

static bool draw_constants(caucus_adversary_trial *trial) {
    const caucus_adversary *adversary = trial->adversary;
    uint32_t d = adversary->experts;
    switch (adversary->kind) {
    case CAUCUS_ADVERSARY_GAUSSIAN:
    case CAUCUS_ADVERSARY_CROSS_ENTROPY:
        return draw_normals(trial, d);
    case CAUCUS_ADVERSARY_BERNOULLI:
        return draw_thresholds(trial, d, 0.3, 0.7);
    case CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS:
        return draw_thresholds(trial, d, 0.5, 0.5);
    case CAUCUS_ADVERSARY_REALIZABLE:
    case CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE:
        trial->hidden = caucus_fast_below(caucus_fast_child(trial->key, LABEL_HIDDEN), 0, d);
        return true;
    case CAUCUS_ADVERSARY_HALVING:
    case CAUCUS_ADVERSARY_CREEPING:
        return draw_order(trial, d, &trial->rank);
    case CAUCUS_ADVERSARY_MOVIELENS:
        return draw_order(trial, adversary->movielens->users, &trial->user);
    case CAUCUS_ADVERSARY_LOSSES:
    case CAUCUS_ADVERSARY_COUNT:
        break;
    }
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
    if (!draw_constants(made)) {
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
