/* SPDX-License-Identifier: Apache-2.0 */
/* One choice: its privacy, exactly, over all neighbouring tables of a small size and over sums at the edge of rounding;
 * broken twins (a sensitivity that is too small) are seen to lose more than they claim.
 * docs/PRIVACY.md, statement 7. */
#include "dp/laws.h"
#include "plan/pick.h"
#include <caucus/pick.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define D 3u
#define CLAIM 1.0

static caucus_pick pick_of(double epsilon, int64_t sensitivity) {
    caucus_pick pick = {0};
    caucus_error error = {0};
    if (caucus_pick_new(epsilon, sensitivity, &pick, &error) != CAUCUS_OK)
        fail_msg("%s: %s", error.field, error.text);
    return pick;
}

static double worst(const caucus_pick *pick, const int64_t *a, const int64_t *b) {
    long double pa[D], pb[D];
    double most = 0;
    caucus_select_flip_law(a, D, pick->rate, pa);
    caucus_select_flip_law(b, D, pick->rate, pb);
    for (uint32_t n = 0; n < D; n++)
        most = fmax(most, fabs((double)logl(pa[n] / pb[n])));
    return most;
}

/* Every row that is an edge of the range or beyond it, and every other row that may take its place; the other person's
 * row is any of them too. */
static double worst_table(const caucus_pick *pick, bool largest) {
    double most = 0;
    for (unsigned other = 0; other < 27; other++)
        for (unsigned mine = 0; mine < 27; mine++)
            for (unsigned theirs = 0; theirs < 27; theirs++) {
                static const double values[3] = {-5, 0.25, 7}; /* range 0,1 */
                int64_t a[D] = {0}, b[D] = {0};
                caucus_clips clips = {0};
                const unsigned codes[3] = {other, mine, theirs};
                double row[3][D];
                for (unsigned k = 0; k < 3; k++)
                    for (unsigned n = 0, code = codes[k]; n < D; n++, code /= 3)
                        row[k][n] = values[code % 3];
                caucus_pick_add(0, 1, largest, row[0], D, a, &clips);
                caucus_pick_add(0, 1, largest, row[0], D, b, &clips);
                caucus_pick_add(0, 1, largest, row[1], D, a, &clips);
                caucus_pick_add(0, 1, largest, row[2], D, b, &clips);
                most = fmax(most, worst(pick, a, b));
            }
    return most;
}

static void tables(void **state) {
    (void)state;
    const caucus_pick pick = pick_of(CLAIM, CAUCUS_PICK_GRID);
    assert_true(pick.epsilon <= CLAIM && pick.epsilon > CLAIM * (1 - 1e-9));
    for (int largest = 0; largest < 2; largest++) {
        const double found = worst_table(&pick, largest);
        assert_true(found <= pick.epsilon * (1 + 1e-12) && found > 0.8 * CLAIM);
    }
    const caucus_pick broken = pick_of(CLAIM, CAUCUS_PICK_GRID / 2);
    assert_true(worst_table(&broken, false) > 1.6 * CLAIM);
}

/* Sums that differ by exactly the sensitivity, from places where a double rounds badly. */
static void sums(void **state) {
    (void)state;
    static const double sensitivities[] = {1, 0.1, 3, 1e-7, 12345.678};
    static const double starts[] = {0, 1.0 / 3, 0.1, 1e6 / 7, 1e9 / 7, -2e8 / 3};
    int64_t most = 0;
    for (size_t s = 0; s < 5; s++)
        for (size_t k = 0; k < 6; k++) {
            const double from = starts[k] * sensitivities[s];
            const double sum[D] = {from, from + sensitivities[s], from - sensitivities[s]};
            int64_t score[D], other[D];
            assert_int_equal(caucus_pick_sums(sensitivities[s], false, sum, D, score), 0);
            for (uint32_t n = 1; n < D; n++)
                most = llabs(score[n] - score[0]) > most ? llabs(score[n] - score[0]) : most;
            assert_int_equal(caucus_pick_sums(sensitivities[s], true, sum, D, other), 0);
            for (uint32_t n = 0; n < D; n++)
                assert_true(other[n] == -score[n]);
        }
    assert_true(most >= CAUCUS_PICK_GRID && most <= CAUCUS_PICK_GRID + 1);
    const double far[D] = {1e300, -INFINITY, NAN};
    int64_t score[D];
    assert_int_equal(caucus_pick_sums(1, false, far, D, score), 3);
    assert_true(score[0] == INT64_C(1) << 50 && score[1] == -(INT64_C(1) << 50) && score[2] == score[0]);
}

static void worst_values(void **state) {
    (void)state;
    const double row[D] = {NAN, -3, 9};
    int64_t score[D] = {0};
    caucus_clips clips = {0};
    caucus_pick_add(0, 5, false, row, D, score, &clips);
    assert_true(score[0] == CAUCUS_PICK_GRID && score[1] == 0 && score[2] == CAUCUS_PICK_GRID);
    memset(score, 0, sizeof score);
    caucus_pick_add(0, 5, true, row, D, score, &clips); /* the larger the better: no number is still the worst */
    assert_true(score[0] == CAUCUS_PICK_GRID && score[1] == CAUCUS_PICK_GRID && score[2] == 0);
    assert_true(clips.nan == 2 && clips.low == 2 && clips.high == 2);
}

static void refusals(void **state) {
    (void)state;
    caucus_pick pick;
    static const double bad[] = {0, -1, 1001, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(caucus_pick_new(bad[i], CAUCUS_PICK_GRID, &pick, NULL), CAUCUS_E_RANGE);
    assert_int_equal(caucus_pick_new(1e-12, CAUCUS_PICK_GRID, &pick, NULL), CAUCUS_E_INFEASIBLE);
}

/* The draw has the law that was judged: frequencies of a seeded stream, false alarm 1e-6 (chi-square, 2 degrees). */
static void law(void **state) {
    (void)state;
    enum { DRAWS = 20000 };
    const caucus_pick pick = pick_of(2, CAUCUS_PICK_GRID);
    const int64_t score[D] = {0, CAUCUS_PICK_GRID / 2, 2 * CAUCUS_PICK_GRID};
    long double p[D];
    unsigned seen[D] = {0};
    caucus_select_flip_law(score, D, pick.rate, p);
    caucus_key key;
    caucus_key_from_seed(5, &key);
    for (unsigned i = 0; i < DRAWS; i++) {
        caucus_stream stream;
        caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_SELECT, 0, i, 0);
        seen[caucus_pick_draw(&pick, &stream, score, D)]++;
    }
    double chi = 0;
    for (uint32_t n = 0; n < D; n++)
        chi += pow(seen[n] - DRAWS * (double)p[n], 2) / (DRAWS * (double)p[n]);
    print_message("seed 5, chi-square %.2f\n", chi);
    assert_true(chi < 27.7);
}

/* The public function makes the choice that its parts make. */
static void one_call(void **state) {
    (void)state;
    static const double table[3][D] = {{0.5, 0.25, 2}, {1, 0.75, (double)NAN}, {-1, 0, 0.5}};
    caucus_pick_settings settings;
    caucus_picked picked;
    caucus_key key;
    caucus_error error = {0};
    caucus_pick_settings_init(&settings);
    caucus_picked_init(&picked);
    settings.epsilon = 2;
    caucus_key_from_seed(5, &key);
    assert_int_equal(caucus_pick_choose(&settings, table[0], 3, D, &key, &picked, &error), CAUCUS_OK);
    const caucus_pick parts = pick_of(2, CAUCUS_PICK_GRID);
    int64_t score[D] = {0};
    caucus_clips clips = {0};
    for (unsigned i = 0; i < 3; i++)
        caucus_pick_add(0, 1, false, table[i], D, score, &clips);
    caucus_stream stream;
    caucus_stream_init(&stream, &key, CAUCUS_PURPOSE_SELECT, 0, 0, 0);
    assert_int_equal(picked.choice, caucus_pick_draw(&parts, &stream, score, D));
    assert_true(picked.epsilon == parts.epsilon && picked.epsilon <= 2);
    assert_int_equal(picked.clamped, 2);
    assert_int_equal(picked.nan, 1);
    settings.sensitivity = 1;
    settings.epsilon = 1000;
    static const double sums[D] = {1000, 3, 2000};
    assert_int_equal(caucus_pick_choose(&settings, sums, 1, D, NULL, &picked, &error), CAUCUS_OK);
    assert_int_equal(picked.choice, 1);
    settings.largest = true;
    assert_int_equal(caucus_pick_choose(&settings, sums, 1, D, NULL, &picked, &error), CAUCUS_OK);
    assert_int_equal(picked.choice, 2);
}

static void refused(caucus_pick_settings settings, uint64_t rows, uint32_t columns, caucus_status want,
                    const char *field) {
    static const double table[2][D];
    caucus_picked picked = {.size = sizeof picked, .choice = 77};
    caucus_error error = {0};
    assert_int_equal(caucus_pick_choose(&settings, table[0], rows, columns, NULL, &picked, &error), want);
    assert_string_equal(error.field, field);
    assert_int_equal(picked.choice, 77);
}

static void what_is_refused(void **state) {
    (void)state;
    caucus_pick_settings good, s;
    caucus_pick_settings_init(&good);
    good.epsilon = 1;
    refused((s = good, s.epsilon = 0, s), 2, D, CAUCUS_E_RANGE, "epsilon");
    refused((s = good, s.epsilon = (double)NAN, s), 2, D, CAUCUS_E_RANGE, "epsilon");
    refused((s = good, s.lo = 1, s), 2, D, CAUCUS_E_RANGE, "range");
    refused((s = good, s.hi = (double)INFINITY, s), 2, D, CAUCUS_E_RANGE, "range");
    refused((s = good, s.sensitivity = -1, s), 1, D, CAUCUS_E_RANGE, "sensitivity");
    refused((s = good, s.sensitivity = (double)NAN, s), 1, D, CAUCUS_E_RANGE, "sensitivity");
    refused((s = good, s.sensitivity = 1, s), 2, D, CAUCUS_E_FORMAT, "");
    refused((s = good, s.size = 8, s), 2, D, CAUCUS_E_RANGE, "size");
    refused(good, 2, 1, CAUCUS_E_FORMAT, "");
    refused(good, 0, D, CAUCUS_E_FORMAT, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),         cmocka_unit_test(sums), cmocka_unit_test(worst_values),
        cmocka_unit_test(refusals),       cmocka_unit_test(law),  cmocka_unit_test(one_call),
        cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
