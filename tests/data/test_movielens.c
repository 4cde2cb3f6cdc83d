/* SPDX-License-Identifier: Apache-2.0 */
/* test_movielens.c: both layouts of MovieLens, made small in a temporary directory, and the real ones where present.
 *
 * The real data may not be redistributed; it is looked for in $CAUCUS_MOVIELENS, else beside the source tree. */
#include "data/movielens.h"
#include "num/error_line.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const files[] = {"ratings.dat", "movies.dat", "u.data", "u.item", "u.genre"};
static char directory[64];

static void put(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void clear(void) {
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
}

static int make_directory(void **state) {
    (void)state;
    (void)snprintf(directory, sizeof directory, "/tmp/caucus-ml-XXXXXX");
    return mkdtemp(directory) == NULL ? -1 : 0;
}

static int remove_directory(void **state) {
    (void)state;
    clear();
    return rmdir(directory);
}

#define MOVIES                                                                                                         \
    "1::Toy::Story \xe9t\xe9 (1995)::Comedy|Animation\r\n"                                                             \
    "20::Heat (1995)::Drama\r\n"                                                                                       \
    "3::Nothing (1900)::(no genres listed)\r\n"

static caucus_movielens *read_good(void) {
    caucus_movielens *data = NULL;
    caucus_error error = {0};
    caucus_status status = caucus_movielens_read(directory, &data, &error);
    if (status != CAUCUS_OK)
        print_error("%s: %s\n", error.field, error.text);
    assert_int_equal(status, CAUCUS_OK);
    return data;
}

static void test_small_1m(void **state) {
    (void)state;
    clear();
    put("movies.dat", MOVIES);
    put("ratings.dat", "7::1::4::0\n2::20::5::0\n7::20::1::978300760\n2::1::2::0\n7::1::5::0\n\n9::3::3::0");
    caucus_movielens *data = read_good();
    assert_int_equal(data->users, 3); /* 2, 7, 9 in this order */
    assert_int_equal(data->genres, 3);
    assert_int_equal(data->ratings, 6);
    assert_string_equal(data->name[0], "Animation");
    assert_string_equal(data->name[1], "Comedy");
    assert_string_equal(data->name[2], "Drama");
    const float mean[] = {2, 2, 5, 4.5f, 4.5f, 1, 0, 0, 0};
    assert_memory_equal(data->mean, mean, sizeof mean);
    float loss[3];
    caucus_movielens_losses(data, 2, 0, loss);
    assert_true(loss[0] == 3.0f && loss[1] == 3.0f && loss[2] == 0.0f);
    caucus_movielens_losses(data, 2, 1, loss);
    assert_true(loss[0] == 0.0f && loss[1] == 0.0f && loss[2] == 0.0f);
    assert_int_equal(caucus_movielens_best(data), 0); /* 6.5, 6.5, 6: the first of equals */
    uint32_t genre = 99;
    caucus_error error;
    assert_int_equal(caucus_movielens_genre(data, "Drama", &genre, &error), CAUCUS_OK);
    assert_int_equal(genre, 2);
    assert_int_equal(caucus_movielens_genre(data, "drama", &genre, &error), CAUCUS_E_RANGE);
    assert_string_equal(error.text, "'drama' (accepted: Animation, Comedy, Drama)");
    caucus_movielens_free(data);
}

static void test_small_100k(void **state) {
    (void)state;
    clear();
    put("u.genre", "unknown|0\nAction|1\nDrama|2\n\n");
    put("u.item", "1|A \xe9 (1995)|01-Jan-1995||http://x|0|1|1\n2|B|01-Jan-1995|||0|0|1\n3|C|||x|1|0|0\n");
    put("u.data", "4\t1\t5\t881250949\n4\t2\t2\t881250949\n1\t3\t1\t881250949\n");
    caucus_movielens *data = read_good();
    assert_int_equal(data->users, 2);
    assert_int_equal(data->genres, 2);
    assert_string_equal(data->name[0], "Action");
    const float mean[] = {0, 0, 5, 3.5f};
    assert_memory_equal(data->mean, mean, sizeof mean);
    caucus_movielens_free(data);
}

static void check_refused(caucus_status status, const char *ending) {
    caucus_movielens *data = NULL;
    caucus_error error = {0};
    assert_int_equal(caucus_movielens_read(directory, &data, &error), status);
    assert_null(data);
    char line[CAUCUS_ERROR_LINE_BYTES];
    caucus_error_line(&error, status, line);
    size_t length = strlen(line), tail = strlen(ending);
    if (length < tail || strcmp(line + length - tail, ending) != 0)
        print_error("got '%s', expected the ending '%s'\n", line, ending);
    assert_true(length >= tail && strcmp(line + length - tail, ending) == 0);
}

#define RATING " — expected UserID::MovieID::Rating::Timestamp"

static void test_refusals(void **state) {
    (void)state;
    clear();
    check_refused(CAUCUS_E_PATH,
                  " has neither ratings.dat (MovieLens 1M) nor u.data (100K) — give the directory that was unpacked");
    put("ratings.dat", "1::1::5::0\n");
    check_refused(CAUCUS_E_PATH, "/movies.dat: No such file or directory");
    put("movies.dat", MOVIES);
    put("ratings.dat", "1::1::5::0\n1::1::6::0\n");
    check_refused(CAUCUS_E_FORMAT, "/ratings.dat:2: rating not a whole number 1 to 5" RATING);
    put("ratings.dat", "\n\n1::1:5::0\n");
    check_refused(CAUCUS_E_FORMAT, "/ratings.dat:3: no film number (1 to 1048576)" RATING);
    put("ratings.dat", "1::1::5::0\n99999999999::1::5::0");
    check_refused(CAUCUS_E_FORMAT, "/ratings.dat:2: no user number (1 to 1048576)" RATING);
    put("ratings.dat", "1::1::5\n");
    check_refused(CAUCUS_E_FORMAT, "/ratings.dat:1: no timestamp" RATING);
    put("ratings.dat", "1::2::5::0\n");
    check_refused(CAUCUS_E_FORMAT, "/ratings.dat:1: a film that is not listed" RATING);
    put("ratings.dat", "0::1::5::0\n");
    check_refused(CAUCUS_E_FORMAT, "/ratings.dat:1: no user number (1 to 1048576)" RATING);
    put("ratings.dat", "");
    check_refused(CAUCUS_E_FORMAT, " holds no ratings");
    put("ratings.dat", "1::1::5::0\n");
    put("movies.dat", "1::A::Drama|\n");
    check_refused(CAUCUS_E_FORMAT, "/movies.dat:1: not a genre — expected MovieID::Title::Genre|Genre");
    put("movies.dat", "1::A Drama\n");
    check_refused(CAUCUS_E_FORMAT, "/movies.dat:1: fields missing — expected MovieID::Title::Genre|Genre");
    put("movies.dat", "1::A::Drama\n1::A::Comedy\n");
    check_refused(CAUCUS_E_FORMAT, "/movies.dat:2: a film listed twice — expected MovieID::Title::Genre|Genre");
    put("movies.dat", "1::A::Drama\n");
    check_refused(CAUCUS_E_FORMAT, " lists films in 1 genres — at least two are needed");
    clear();
    put("u.data", "1\t1\t5\t0\n");
    put("u.genre", "unknown|0\nDrama|2\n");
    check_refused(CAUCUS_E_FORMAT, "/u.genre:2: not the next genre — expected name|number, numbers from 0 in order");
    put("u.genre", "unknown|0\nDrama|1\nWar|2\n");
    put("u.item", "1|A|0|1\n");
    check_refused(CAUCUS_E_FORMAT,
                  "/u.item:1: genre flags missing — expected id|title|date|date|address|one 0 or 1 per genre");
}

/* Lines cut or altered at every place must be read or refused, never more (a sanitizer watches). */
static void test_hostile(void **state) {
    (void)state;
    clear();
    const char *line = "12::20::5::978300760\n";
    const char junk[] = {'\0' + 1, ':', '|', '9', '\n', '-', (char)0xff};
    put("movies.dat", MOVIES);
    for (size_t at = 0; at < strlen(line); at++)
        for (size_t j = 0; j <= sizeof junk; j++) {
            char text[64];
            (void)snprintf(text, sizeof text, "%s", line);
            text[at] = j < sizeof junk ? junk[j] : '\0';
            put("ratings.dat", text);
            caucus_movielens *data = NULL;
            caucus_status status = caucus_movielens_read(directory, &data, NULL);
            assert_true(status == CAUCUS_OK || status == CAUCUS_E_FORMAT);
            assert_int_equal(status == CAUCUS_OK, data != NULL);
            caucus_movielens_free(data);
        }
}

/* The real directory, or skip. */
static caucus_movielens *read_real(const char *name) {
    const char *set = getenv("CAUCUS_MOVIELENS"), *source = getenv("CAUCUS_SOURCE");
    char path[1024];
    if (set != NULL)
        snprintf(path, sizeof path, "%s/%s", set, name);
    else
        snprintf(path, sizeof path, "%s/../shared/data/%s", source != NULL ? source : ".", name);
    if (access(path, R_OK) != 0) {
        print_message("skipped: no %s; set CAUCUS_MOVIELENS to the directory that holds %s\n", path, name);
        skip();
    }
    caucus_movielens *data = NULL;
    caucus_error error;
    assert_int_equal(caucus_movielens_read(path, &data, &error), CAUCUS_OK);
    return data;
}

static void check_real(const caucus_movielens *data, uint32_t users, uint64_t ratings) {
    assert_int_equal(data->users, users);
    assert_int_equal(data->ratings, ratings);
    assert_int_equal(data->genres, 18);
    assert_string_equal(data->name[0], "Action");
    assert_string_equal(data->name[17], "Western");
    uint32_t drama;
    assert_int_equal(caucus_movielens_genre(data, "Drama", &drama, NULL), CAUCUS_OK);
    print_message("%u users, best genre from the data: %s\n", users, data->name[caucus_movielens_best(data)]);
    for (uint32_t user = 0; user < users; user++) {
        float loss[18];
        caucus_movielens_losses(data, drama, user, loss);
        assert_true(loss[drama] == 0.0f);
        for (int g = 0; g < 18; g++)
            assert_true(loss[g] >= 0.0f && loss[g] <= 5.0f);
    }
}

static void test_real_1m(void **state) {
    (void)state;
    caucus_movielens *data = read_real("ml-1m");
    check_real(data, 6040, 1000209);
    caucus_movielens_free(data);
}

static void test_real_100k(void **state) {
    (void)state;
    caucus_movielens *data = read_real("ml-100k");
    check_real(data, 943, 100000);
    caucus_movielens_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_1m), cmocka_unit_test(test_small_100k), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_hostile),  cmocka_unit_test(test_real_1m),    cmocka_unit_test(test_real_100k),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
