/* SPDX-License-Identifier: Apache-2.0 */
/* movielens.h: MovieLens ratings as losses of genres for users.
 * layer: data
 *
 * r(u,g) = mean rating of user u over films of genre g, 0 if there is none; loss(u,g) = max(0, r(u,g*) - r(u,g)), in
 * [0,5] (the paper's appendix on MovieLens-1M). g* is a public name; computing it from all users' ratings, the
 * paper's way, makes every loss depend on every user (docs/PRIVACY.md, "Loss range").
 *
 * Two layouts of a directory are read:
 *      ml-1m    ratings.dat  UserID::MovieID::Rating::Timestamp     movies.dat  MovieID::Title::Genre|Genre|...
 *      ml-100k  u.data       user, item, rating, time (tabs)        u.item      id|title|...|one 0/1 flag per genre
 *               u.genre      name|number
 * "unknown" and "(no genres listed)" are no genres. Titles are Latin-1 and never looked at. */
#ifndef CAUCUS_DATA_MOVIELENS_H
#define CAUCUS_DATA_MOVIELENS_H

#include <caucus/status.h>
#include <stddef.h>

#define CAUCUS_GENRES_MAX 64u
#define CAUCUS_GENRE_BYTES 32u

typedef struct caucus_movielens {
    uint32_t users;                                   /* users with at least one rating, in order of their numbers */
    uint32_t genres;                                  /* d */
    uint64_t ratings;                                 /* how many were read */
    char name[CAUCUS_GENRES_MAX][CAUCUS_GENRE_BYTES]; /* alphabetical (ml-1m), or as in u.genre */
    float *mean;                                      /* [users][genres]: r(u,g) */
} caucus_movielens;

/* Where MovieLens-1M is looked for when nobody says where it is, and where it comes from. */
#define CAUCUS_MOVIELENS_HERE "data/ml-1m"
#define CAUCUS_MOVIELENS_SHARED "../shared/data/ml-1m"
#define CAUCUS_MOVIELENS_ORIGIN "https://grouplens.org/datasets/movielens/1m/"
#define CAUCUS_MOVIELENS_MISSING                                                                                       \
    "no MovieLens in " CAUCUS_MOVIELENS_HERE " or " CAUCUS_MOVIELENS_SHARED                                            \
    " — get ml-1m.zip from " CAUCUS_MOVIELENS_ORIGIN " and unpack it to " CAUCUS_MOVIELENS_HERE                        \
    ", or give its directory"

/** The first of the two that holds ratings, from the working directory; NULL: neither. */
const char *caucus_movielens_find(void);

/** Read a directory.
 *  Out:     *ret  free with caucus_movielens_free; written only on success.
 *  Returns: CAUCUS_OK, CAUCUS_E_PATH, CAUCUS_E_FORMAT (file, line, what is expected), CAUCUS_E_MEMORY.
 *  Cost:    one pass over the mapped files; about 50 ms for the million ratings of ml-1m. */
caucus_status caucus_movielens_read(const char *directory, caucus_movielens **ret,
                                    caucus_error *ret_error) CAUCUS_MUST_CHECK;
void caucus_movielens_free(caucus_movielens *data);

/** The genre of a name.
 *  Returns: CAUCUS_OK, CAUCUS_E_RANGE (the error lists the names). */
caucus_status caucus_movielens_genre(const caucus_movielens *data, const char *name, uint32_t *ret,
                                     caucus_error *ret_error) CAUCUS_MUST_CHECK;
/** The genre with the largest mean of r(u,g) over all users: NOT public. The first of equals. */
uint32_t caucus_movielens_best(const caucus_movielens *data);

/** The losses of a user against g*: ret[genres]. */
void caucus_movielens_losses(const caucus_movielens *data, uint32_t best, uint32_t user, float *ret);

#endif
