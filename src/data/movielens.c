/* SPDX-License-Identifier: Apache-2.0 */
/* movielens.c: from ratings per film to mean ratings per genre.
 * layer: data
 *
 * The readers (movielens_read.c) fill tables indexed by the numbers in the files; here they are closed up to the users
 * that exist, in order of their numbers, so the result does not depend on the order of lines. */
#include "data/movielens.h"
#include "data/movielens_read.h"
#include "num/hand_over.h"
#include "store/atomic_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether directory/name is there at all. */
static bool has_file(const char *directory, const char *name) {
    char path[CAUCUS_PATH_BYTES];
    struct stat info;
    return caucus_path_join(directory, name, path) && stat(path, &info) == 0;
}

const char *caucus_movielens_find(void) {
    static const char *const places[] = {CAUCUS_MOVIELENS_HERE, CAUCUS_MOVIELENS_SHARED};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (has_file(places[i], "ratings.dat"))
            return places[i];
    return NULL;
}

static caucus_status read_tables(const char *directory, caucus_ratings *tables, caucus_error *ret_error) {
    caucus_status status;
    if (has_file(directory, "ratings.dat")) {
        if ((status = caucus_read_movies_dat(directory, tables, ret_error)) != CAUCUS_OK)
            return status;
        return caucus_read_ratings(directory, "ratings.dat", "::", tables, ret_error);
    }
    if (has_file(directory, "u.data")) {
        if ((status = caucus_read_u_genre(directory, tables, ret_error)) != CAUCUS_OK)
            return status;
        if ((status = caucus_read_u_item(directory, tables, ret_error)) != CAUCUS_OK)
            return status;
        return caucus_read_ratings(directory, "u.data", "\t", tables, ret_error);
    }
    return caucus_fail(
        ret_error, CAUCUS_E_PATH, "data",
        "%s has neither ratings.dat (MovieLens 1M) nor u.data (100K) — give the directory that was unpacked",
        caucus_path_tail(directory));
}

/* Mean ratings of the users that rated anything. */
static caucus_status close_up(const caucus_ratings *tables, caucus_movielens *ret) {
    size_t genres = tables->genres;
    for (size_t user = 0; user < tables->users; user++)
        ret->users += tables->rated[user] != 0;
    ret->genres = tables->genres;
    ret->ratings = tables->ratings;
    memcpy(ret->name, tables->name, sizeof ret->name);
    ret->mean = calloc((size_t)ret->users * genres, sizeof *ret->mean);
    if (ret->mean == NULL)
        return CAUCUS_E_MEMORY;
    float *row = ret->mean;
    for (size_t user = 0; user < tables->users; user++) {
        if (tables->rated[user] == 0)
            continue;
        for (size_t g = 0; g < genres; g++) {
            caucus_rating_sum by_genre = tables->by_genre[user * genres + g];
            row[g] = by_genre.count == 0 ? 0.0f : (float)((double)by_genre.sum / (double)by_genre.count);
        }
        row += genres;
    }
    return CAUCUS_OK;
}

caucus_status caucus_movielens_read(const char *directory, caucus_movielens **ret, caucus_error *ret_error) {
    caucus_movielens *data = calloc(1, sizeof *data);
    caucus_ratings *tables = calloc(1, sizeof *tables);
    caucus_status status = CAUCUS_E_MEMORY;
    if (data != NULL && tables != NULL)
        status = read_tables(directory, tables, ret_error);
    if (status == CAUCUS_OK && tables->ratings == 0)
        status = caucus_fail(ret_error, CAUCUS_E_FORMAT, "data", "%s holds no ratings", caucus_path_tail(directory));
    if (status == CAUCUS_OK)
        status = close_up(tables, data);
    if (status == CAUCUS_E_MEMORY)
        caucus_fail(ret_error, status, "data", "out of memory while reading %s", caucus_path_tail(directory));
    caucus_ratings_free(tables);
    return CAUCUS_HAND_OVER(status, ret, data, caucus_movielens_free(data));
}

void caucus_movielens_free(caucus_movielens *data) {
    if (data == NULL)
        return;
    free(data->mean);
    free(data);
}

caucus_status caucus_movielens_genre(const caucus_movielens *data, const char *name, uint32_t *ret,
                                     caucus_error *ret_error) {
    for (uint32_t g = 0; g < data->genres; g++)
        if (strcmp(data->name[g], name) == 0) {
            *ret = g;
            return CAUCUS_OK;
        }
    char known[176] = "";
    size_t used = 0;
    for (uint32_t g = 0; g < data->genres && used < sizeof known; g++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", g == 0 ? "" : ", ", data->name[g]);
    return caucus_fail(ret_error, CAUCUS_E_RANGE, "genre", "'%.24s' (accepted: %s)", name, known);
}

uint32_t caucus_movielens_best(const caucus_movielens *data) {
    double total[CAUCUS_GENRES_MAX] = {0};
    for (size_t user = 0; user < data->users; user++)
        for (size_t g = 0; g < data->genres; g++)
            total[g] += (double)data->mean[user * data->genres + g];
    uint32_t best = 0;
    for (uint32_t g = 1; g < data->genres; g++)
        if (total[g] > total[best])
            best = g;
    return best;
}

void caucus_movielens_losses(const caucus_movielens *data, uint32_t best, uint32_t user, float *ret) {
    const float *mean = data->mean + (size_t)user * data->genres;
    for (uint32_t g = 0; g < data->genres; g++)
        ret[g] = mean[best] > mean[g] ? mean[best] - mean[g] : 0.0f;
}
