/* SPDX-License-Identifier: Apache-2.0 */
/* movielens_read.c: hand-written readers for the four kinds of lines.
 * layer: data
 *
 * A rating line is a dozen bytes and there are a million of them: the file is mapped and walked once, nothing is
 * copied. Numbers are bounded before they index anything. A malformed line stops the reading with its file and
 * number. */
#include "data/movielens_read.h"

#include "store/atomic_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX (1u << 20) /* a user or film number; the largest data set of these formats has 6040 and 3952 */
#define RATING_MAX 5u

static const char *const no_genre[] = {"unknown", "(no genres listed)"};

/* One file and the line being read. */
typedef struct reader {
    caucus_mapped file;
    char path[CAUCUS_PATH_BYTES];
    const char *line, *stop; /* without the newline and a carriage return before it */
    const char *next;
    size_t number;
    const char *expected; /* how a line should look */
    caucus_error *error;
} reader;

bool caucus_path_join(const char *directory, const char *name, char ret[CAUCUS_PATH_BYTES]) {
    size_t length = strlen(directory);
    const char *slash = length > 0 && directory[length - 1] == '/' ? "" : "/";
    int written = snprintf(ret, CAUCUS_PATH_BYTES, "%s%s%s", directory, slash, name);
    return written > 0 && (size_t)written < CAUCUS_PATH_BYTES;
}

void caucus_ratings_free(caucus_ratings *tables) {
    if (tables == NULL)
        return;
    free(tables->film);
    free(tables->known);
    free(tables->by_genre);
    free(tables->rated);
    free(tables);
}

static caucus_status reader_open(reader *in, const char *directory, const char *name, const char *expected,
                                 caucus_error *ret_error) {
    memset(&in->file, 0, sizeof in->file);
    if (!caucus_path_join(directory, name, in->path))
        return caucus_fail(ret_error, CAUCUS_E_PATH, "data", "the path is longer than %u bytes", CAUCUS_PATH_BYTES);
    in->error = ret_error;
    in->expected = expected;
    in->number = 0;
    caucus_status status = caucus_mapped_open(in->path, &in->file, ret_error);
    if (status == CAUCUS_OK)
        in->next = (const char *)in->file.bytes;
    return status;
}

/* The next line that is not empty. */
static bool reader_line(reader *in) {
    const char *end = (const char *)in->file.bytes + in->file.size;
    while (in->next < end) {
        in->number++;
        in->line = in->next;
        const char *newline = memchr(in->line, '\n', (size_t)(end - in->line));
        in->stop = newline == NULL ? end : newline;
        in->next = newline == NULL ? end : newline + 1;
        if (in->stop > in->line && in->stop[-1] == '\r')
            in->stop--;
        if (in->stop > in->line)
            return true;
    }
    return false;
}

/* The line itself is user data: only its place is shown. */
static caucus_status malformed(const reader *in, const char *what) {
    return caucus_fail(in->error, CAUCUS_E_FORMAT, "", "%s:%zu: %s — expected %s", caucus_path_tail(in->path),
                       in->number, what, in->expected);
}

/* A number of at most NUMBER_MAX, from 1, at *at. */
static inline bool take_number(const char **at, const char *stop, uint32_t *ret) {
    const char *p = *at;
    uint32_t value = 0;
    for (; p < stop && (unsigned)(*p - '0') < 10u && value <= NUMBER_MAX; p++)
        value = value * 10 + (uint32_t)(*p - '0');
    bool good = p > *at && value >= 1 && value <= NUMBER_MAX;
    *at = p;
    *ret = value;
    return good;
}

static inline bool take_separator(const char **at, const char *stop, const char *separator, size_t length) {
    if ((size_t)(stop - *at) < length || memcmp(*at, separator, length) != 0)
        return false;
    *at += length;
    return true;
}

/* A table's new size when `number` does not fit: at least doubles, so that growing costs O(size) in total. */
static size_t grown(uint32_t number) {
    size_t size = (size_t)number * 2 + 1024;
    return size <= NUMBER_MAX ? size : NUMBER_MAX + 1u;
}

/* A table of `had` rows gets `wanted`, the new ones zero. Returns it; without memory the old one, and *ret_failed. */
static void *grow_table(void *table, size_t had, size_t wanted, size_t row_bytes, bool *ret_failed) {
    char *rows = realloc(table, wanted * row_bytes);
    *ret_failed = *ret_failed || rows == NULL;
    if (rows == NULL)
        return table;
    memset(rows + had * row_bytes, 0, (wanted - had) * row_bytes);
    return rows;
}

/* Two tables have grown to this many rows, or not both of them. */
static caucus_status have_grown(bool failed, size_t wanted, size_t *ret_rows) {
    *ret_rows = failed ? *ret_rows : wanted;
    return failed ? CAUCUS_E_MEMORY : CAUCUS_OK;
}

static caucus_status room_for_film(caucus_ratings *tables, uint32_t film) {
    if (film < tables->films)
        return CAUCUS_OK;
    bool failed = false;
    const size_t wanted = grown(film);
    tables->film = grow_table(tables->film, tables->films, wanted, sizeof *tables->film, &failed);
    tables->known = grow_table(tables->known, tables->films, wanted, sizeof *tables->known, &failed);
    return have_grown(failed, wanted, &tables->films);
}

static caucus_status room_for_user(caucus_ratings *tables, uint32_t user) {
    if (user < tables->users)
        return CAUCUS_OK;
    bool failed = false;
    const size_t wanted = grown(user), row_bytes = tables->genres * sizeof *tables->by_genre;
    tables->by_genre = grow_table(tables->by_genre, tables->users, wanted, row_bytes, &failed);
    tables->rated = grow_table(tables->rated, tables->users, wanted, sizeof *tables->rated, &failed);
    return have_grown(failed, wanted, &tables->users);
}

static bool is_no_genre(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof no_genre / sizeof no_genre[0]; i++)
        if (strlen(no_genre[i]) == length && memcmp(no_genre[i], text, length) == 0)
            return true;
    return false;
}

/* The genre of a name, added if new; -1 if it is not a fit name or there are too many. */
static int genre_named(caucus_ratings *tables, const char *text, size_t length) {
    if (length == 0 || length >= CAUCUS_GENRE_BYTES)
        return -1;
    for (uint32_t g = 0; g < tables->genres; g++)
        if (strlen(tables->name[g]) == length && memcmp(tables->name[g], text, length) == 0)
            return (int)g;
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return -1;
    if (tables->genres == CAUCUS_GENRES_MAX)
        return -1;
    memcpy(tables->name[tables->genres], text, length);
    tables->name[tables->genres][length] = '\0';
    return (int)tables->genres++;
}

/* Genre|Genre|... up to stop, as bits. */
static bool take_genres(caucus_ratings *tables, const char *at, const char *stop, uint64_t *ret) {
    *ret = 0;
    for (;;) {
        const char *bar = memchr(at, '|', (size_t)(stop - at));
        size_t length = (size_t)((bar == NULL ? stop : bar) - at);
        if (!is_no_genre(at, length)) {
            int genre = genre_named(tables, at, length);
            if (genre < 0)
                return false;
            *ret |= UINT64_C(1) << genre;
        }
        if (bar == NULL)
            return true;
        at = bar + 1;
    }
}

/* Genres were numbered as they came; renumber them by name, so that the order of films does not matter. */
static void sort_genres(caucus_ratings *tables) {
    unsigned rank[CAUCUS_GENRES_MAX] = {0};
    char sorted[CAUCUS_GENRES_MAX][CAUCUS_GENRE_BYTES] = {{0}};
    for (uint32_t g = 0; g < tables->genres; g++) {
        for (uint32_t h = 0; h < tables->genres; h++)
            rank[g] += strcmp(tables->name[h], tables->name[g]) < 0;
        memcpy(sorted[rank[g]], tables->name[g], CAUCUS_GENRE_BYTES);
    }
    memcpy(tables->name, sorted, sizeof sorted);
    for (size_t film = 0; film < tables->films; film++) {
        uint64_t bits = 0;
        for (uint64_t left = tables->film[film]; left != 0; left &= left - 1)
            bits |= UINT64_C(1) << rank[__builtin_ctzll(left)];
        tables->film[film] = bits;
    }
}

static caucus_status add_film(const reader *in, caucus_ratings *tables, uint32_t film, uint64_t bits) {
    if (room_for_film(tables, film) != CAUCUS_OK)
        return CAUCUS_E_MEMORY;
    if (tables->known[film])
        return malformed(in, "a film listed twice");
    tables->known[film] = true;
    tables->film[film] = bits;
    return CAUCUS_OK;
}

caucus_status caucus_read_movies_dat(const char *directory, caucus_ratings *tables, caucus_error *ret_error) {
    reader in;
    caucus_status status = reader_open(&in, directory, "movies.dat", "MovieID::Title::Genre|Genre", ret_error);
    while (status == CAUCUS_OK && reader_line(&in)) {
        const char *at = in.line;
        uint32_t film;
        uint64_t bits;
        if (!take_number(&at, in.stop, &film)) {
            status = malformed(&in, "no film number (1 to 1048576)");
            break;
        }
        /* A title may hold colons: the genres follow the last "::". */
        const char *last = in.stop - 1;
        while (last > at && !(last[0] == ':' && last[-1] == ':'))
            last--;
        if (!take_separator(&at, in.stop, "::", 2) || last <= at)
            status = malformed(&in, "fields missing");
        else if (!take_genres(tables, last + 1, in.stop, &bits))
            status = malformed(&in, "not a genre");
        else
            status = add_film(&in, tables, film, bits);
    }
    if (status == CAUCUS_OK)
        sort_genres(tables);
    caucus_mapped_close(&in.file);
    return status;
}

caucus_status caucus_read_u_genre(const char *directory, caucus_ratings *tables, caucus_error *ret_error) {
    reader in;
    caucus_status status = reader_open(&in, directory, "u.genre", "name|number, numbers from 0 in order", ret_error);
    while (status == CAUCUS_OK && reader_line(&in)) {
        const char *bar = memchr(in.line, '|', (size_t)(in.stop - in.line));
        char number[16];
        int length = snprintf(number, sizeof number, "|%u", tables->columns);
        if (bar == NULL || in.stop - bar != length || memcmp(bar, number, (size_t)length) != 0 ||
            tables->columns == CAUCUS_GENRES_MAX) {
            status = malformed(&in, "not the next genre");
            break;
        }
        uint32_t before = tables->genres;
        int genre = -1;
        if (!is_no_genre(in.line, (size_t)(bar - in.line))) {
            genre = genre_named(tables, in.line, (size_t)(bar - in.line));
            if (genre < 0 || (uint32_t)genre != before)
                status = malformed(&in, "a name that is unfit or was there before");
        }
        tables->genre_of_column[tables->columns++] = genre;
    }
    caucus_mapped_close(&in.file);
    return status;
}

/* The flags are the last `columns` fields, one character each: "|0|1|0". */
caucus_status caucus_read_u_item(const char *directory, caucus_ratings *tables, caucus_error *ret_error) {
    reader in;
    caucus_status status =
        reader_open(&in, directory, "u.item", "id|title|date|date|address|one 0 or 1 per genre", ret_error);
    while (status == CAUCUS_OK && reader_line(&in)) {
        const char *at = in.line;
        uint32_t film;
        if (!take_number(&at, in.stop, &film)) {
            status = malformed(&in, "no film number (1 to 1048576)");
            break;
        }
        uint64_t bits = 0;
        bool good = in.stop - at > 2 * (ptrdiff_t)tables->columns;
        const char *flag = good ? in.stop - 2 * (ptrdiff_t)tables->columns : at;
        for (unsigned c = 0; good && c < tables->columns; c++, flag += 2) {
            good = flag[0] == '|' && (flag[1] == '0' || flag[1] == '1');
            if (flag[1] == '1' && tables->genre_of_column[c] >= 0)
                bits |= UINT64_C(1) << tables->genre_of_column[c];
        }
        status = good ? add_film(&in, tables, film, bits) : malformed(&in, "genre flags missing");
    }
    caucus_mapped_close(&in.file);
    return status;
}

/* One rating into the tallies of its film's genres. */
static inline caucus_status add_rating(const reader *in, caucus_ratings *tables, uint32_t user, uint32_t film,
                                       uint32_t rating) {
    if (film >= tables->films || !tables->known[film])
        return malformed(in, "a film that is not listed");
    if (room_for_user(tables, user) != CAUCUS_OK)
        return CAUCUS_E_MEMORY;
    caucus_rating_sum *by_genre = tables->by_genre + (size_t)user * tables->genres;
    for (uint64_t left = tables->film[film]; left != 0; left &= left - 1) {
        unsigned genre = (unsigned)__builtin_ctzll(left);
        by_genre[genre].sum += rating;
        by_genre[genre].count++;
    }
    tables->rated[user]++;
    tables->ratings++;
    return CAUCUS_OK;
}

caucus_status caucus_read_ratings(const char *directory, const char *file, const char *separator,
                                  caucus_ratings *tables, caucus_error *ret_error) {
    if (tables->genres < 2)
        return caucus_fail(ret_error, CAUCUS_E_FORMAT, "data", "%s lists films in %u genres — at least two are needed",
                           caucus_path_tail(directory), tables->genres);
    reader in;
    bool dat = separator[0] == ':';
    size_t length = strlen(separator);
    caucus_status status = reader_open(
        &in, directory, file, dat ? "UserID::MovieID::Rating::Timestamp" : "user, item, rating, time with tabs between",
        ret_error);
    while (status == CAUCUS_OK && reader_line(&in)) {
        const char *at = in.line;
        uint32_t user, film, rating;
        if (!take_number(&at, in.stop, &user) || !take_separator(&at, in.stop, separator, length))
            status = malformed(&in, "no user number (1 to 1048576)");
        else if (!take_number(&at, in.stop, &film) || !take_separator(&at, in.stop, separator, length))
            status = malformed(&in, "no film number (1 to 1048576)");
        else if (!take_number(&at, in.stop, &rating) || rating > RATING_MAX)
            status = malformed(&in, "rating not a whole number 1 to 5");
        else if (!take_separator(&at, in.stop, separator, length) || at == in.stop)
            status = malformed(&in, "no timestamp");
        else
            status = add_rating(&in, tables, user, film, rating);
    }
    caucus_mapped_close(&in.file);
    return status;
}
