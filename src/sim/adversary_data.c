/* SPDX-License-Identifier: Apache-2.0 */
/* adversary_data.c: losses that are read rather than drawn: movielens, and a NumPy file of one's own.
 * layer: sim */
#include "sim/adversary_impl.h"
#include "store/atomic_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOVIELENS_CLIENTS 10u

typedef caucus_adversary_trial trial_t;

/* Every (client, round) is another user: m*T of them are needed. */
static caucus_status check_users(caucus_adversary *adversary, caucus_error *ret_error) {
    uint32_t users = adversary->movielens->users, genres = adversary->movielens->genres;
    if (adversary->clients == 0)
        adversary->clients = MOVIELENS_CLIENTS;
    if (adversary->experts == 0)
        adversary->experts = genres;
    if (adversary->rounds == 0)
        adversary->rounds = users / adversary->clients;
    if (adversary->experts != genres)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "experts", "%u (movielens has %u, its genres)",
                           adversary->experts, genres);
    if (adversary->clients > users)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "clients",
                           "%u (every round of a client is another user, movielens has %u: at most %u clients)",
                           adversary->clients, users, users);
    if ((uint64_t)adversary->clients * adversary->rounds > users)
        return caucus_fail(ret_error, CAUCUS_E_CONFLICT, "rounds",
                           "%u clients × %" PRIu64
                           " rounds need as many users, movielens has %u (accepted: at most %u rounds)",
                           adversary->clients, adversary->rounds, users, users / adversary->clients);
    return CAUCUS_OK;
}

static caucus_status open_movielens(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                                    caucus_error *ret_error) {
    const char *data = settings->data != NULL ? settings->data : caucus_movielens_find();
    if (data == NULL)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "data", "missing: " CAUCUS_MOVIELENS_MISSING);
    caucus_status status = caucus_movielens_read(data, &adversary->movielens, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const caucus_movielens *movielens = adversary->movielens;
    const char *genre = settings->genre != NULL ? settings->genre : CAUCUS_GENRE_DEFAULT;
    if (strcmp(genre, CAUCUS_GENRE_FROM_DATA) == 0)
        adversary->best = caucus_movielens_best(movielens);
    else if ((status = caucus_movielens_genre(movielens, genre, &adversary->best, ret_error)) != CAUCUS_OK)
        return status;
    if ((status = check_users(adversary, ret_error)) != CAUCUS_OK)
        return status;
    adversary->user_losses = malloc((size_t)movielens->users * movielens->genres * sizeof *adversary->user_losses);
    if (adversary->user_losses == NULL)
        return caucus_fail(ret_error, CAUCUS_E_MEMORY, "data", "out of memory");
    for (uint32_t user = 0; user < movielens->users; user++)
        caucus_movielens_losses(movielens, adversary->best, user,
                                adversary->user_losses + (size_t)user * movielens->genres);
    return CAUCUS_OK;
}

static caucus_status read_losses(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                                 caucus_error *ret_error) {
    if (settings->array != NULL) {
        adversary->npy = caucus_npy_borrow(settings->array);
        return CAUCUS_OK;
    }
    if (settings->losses == NULL)
        return caucus_fail(ret_error, CAUCUS_E_RANGE, "losses",
                           "missing (a NumPy or CSV file, clients × rounds × experts)");
    caucus_status status = caucus_npy_open(settings->losses, &adversary->npy, ret_error);
    if (status == CAUCUS_OK && (adversary->path = strdup(settings->losses)) == NULL)
        status = caucus_fail(ret_error, CAUCUS_E_MEMORY, "losses", "out of memory");
    return status;
}

static caucus_status open_losses(const caucus_adversary_settings *settings, caucus_adversary *adversary,
                                 caucus_error *ret_error) {
    caucus_status status = read_losses(settings, adversary, ret_error);
    if (status != CAUCUS_OK)
        return status;
    const caucus_npy *npy = &adversary->npy;
    const char *name = settings->array != NULL ? "losses" : caucus_path_tail(settings->losses);
    if (npy->experts < 2)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "",
                           "%s: shape (%u, %" PRIu64 ", %u) has %u expert — expected 2 or more to choose from", name,
                           npy->clients, npy->rounds, npy->experts, npy->experts);
    if (adversary->clients == 0)
        adversary->clients = npy->clients;
    if (adversary->rounds == 0)
        adversary->rounds = npy->rounds;
    if (adversary->experts == 0)
        adversary->experts = npy->experts;
    if (adversary->clients > npy->clients || adversary->rounds > npy->rounds || adversary->experts != npy->experts)
        return caucus_fail(
            ret_error, CAUCUS_E_CONFLICT, "",
            "%s: shape (%u, %" PRIu64 ", %u) — too small for %u clients, %" PRIu64 " rounds, or not %u experts", name,
            npy->clients, npy->rounds, npy->experts, adversary->clients, adversary->rounds, adversary->experts);
    return CAUCUS_OK;
}

/* A client's users stand together in the permutation, so that they stay the same when more clients come. */
static void fill_movielens(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    const caucus_adversary *adversary = trial->adversary;
    const size_t d = adversary->experts;
    for (size_t row = 0; row < count; row++) {
        uint32_t user = trial->user[(size_t)(client - 1) * adversary->rounds + first + row];
        memcpy(ret + row * d, adversary->user_losses + user * d, d * sizeof *ret);
    }
}

static bool draw_users(trial_t *trial) {
    return caucus_adversary_draw_order(trial, trial->adversary->movielens->users, &trial->user);
}

static void fill_losses(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, float *ret) {
    caucus_npy_fill(&trial->adversary->npy, client - 1, first, count, ret);
}

static void fill_losses64(const trial_t *trial, uint32_t client, uint64_t first, uint64_t count, double *ret) {
    caucus_npy_fill64(&trial->adversary->npy, client - 1, first, count, ret);
}

/* Some genre is the reference and falls short of itself by 0. Users are drawn without putting back: not independent. */
const caucus_adversary_ops caucus_adversary_MOVIELENS = {
    .class = {.faultless = true},
    .highest = 5, /* stars; 0 stands for "no rating" */
    .load = open_movielens,
    .draw = draw_users,
    .fill = fill_movielens,
};

/* Nothing is known of them. */
const caucus_adversary_ops caucus_adversary_LOSSES = {
    .highest = 1,
    .load = open_losses,
    .fill = fill_losses,
    .fill64 = fill_losses64,
};
