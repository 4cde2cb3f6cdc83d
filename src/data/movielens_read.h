/* SPDX-License-Identifier: Apache-2.0 */
/* movielens_read.h: the files of MovieLens, line by line. Private to movielens*.c.
 * layer: data */
#ifndef CAUCUS_DATA_MOVIELENS_READ_H
#define CAUCUS_DATA_MOVIELENS_READ_H

#include "data/movielens.h"
#include "store/mapped_file.h"

#include <stdbool.h>

#define CAUCUS_PATH_BYTES 4096u

/* Sum and number of a user's ratings in one genre. */
typedef struct caucus_rating_sum {
    uint32_t sum, count;
} caucus_rating_sum;

/* Tables under construction, indexed by the numbers in the files. */
typedef struct caucus_ratings {
    uint32_t genres;
    char name[CAUCUS_GENRES_MAX][CAUCUS_GENRE_BYTES];
    unsigned columns;                       /* u.item: flag columns, "unknown" included */
    int genre_of_column[CAUCUS_GENRES_MAX]; /* u.item: genre, or -1 for "unknown" */
    uint64_t *film;                         /* [films]: bit g = in genre g; 0 is possible (no genre) */
    bool *known;                            /* [films]: listed */
    size_t films;
    caucus_rating_sum *by_genre; /* [users][genres] */
    uint32_t *rated;             /* [users]: number of ratings */
    size_t users;
    uint64_t ratings;
} caucus_ratings;

void caucus_ratings_free(caucus_ratings *tables);

/** directory/name; false if it does not fit. */
bool caucus_path_join(const char *directory, const char *name, char ret[CAUCUS_PATH_BYTES]);

/** Each reads one file of the directory into the tables: films and genres first, then ratings.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_FORMAT ("dir/file:line: what - expected what"), CAUCUS_E_MEMORY. */
caucus_status caucus_read_movies_dat(const char *directory, caucus_ratings *tables,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_read_u_genre(const char *directory, caucus_ratings *tables,
                                  caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_read_u_item(const char *directory, caucus_ratings *tables,
                                 caucus_error *ret_error) CAUCUS_MUST_CHECK;
caucus_status caucus_read_ratings(const char *directory, const char *file, const char *separator,
                                  caucus_ratings *tables, caucus_error *ret_error) CAUCUS_MUST_CHECK;

#endif
