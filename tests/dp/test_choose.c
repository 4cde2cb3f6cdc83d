/* SPDX-License-Identifier: Apache-2.0 */
/* test_choose.c: selections of fixed work: the same map from stream to expert as the plain version, live and seeded,
 * also where the first bits do not decide; and its law, bracketed by all prefixes of four bits, no statistics
 * involved. */
#include "dp/choose.h"
#include "dp/laws.h"

#include "rng/testing_stream.h"
#include "scripted_digits.h"

#include <caucus/select.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SEED 20261117u
#define D_MAX 700

static caucus_stream test_stream(uint32_t index, bool seeded) {
    return testing_stream(SEED, index, seeded);
}

static int64_t smallest_of(const int64_t *score, uint32_t d) {
    int64_t smallest = score[0];
    for (uint32_t n = 1; n < d; n++)
        smallest = score[n] < smallest ? score[n] : smallest;
    return smallest;
}

static uint32_t flip_all_ways(caucus_stream live, caucus_stream seeded, const int64_t *score, uint32_t d,
                              caucus_rational rate) {
    caucus_scores choice = {score, d, smallest_of(score, d), rate};
    caucus_stream plain = live;
    uint64_t place = caucus_stream_drawn(&live);
    uint32_t n = caucus_select_flip(&live, score, d, rate);
    assert_int_equal(caucus_select_flip(&seeded, score, d, rate), n);
    assert_int_equal(caucus_choose_flip_plain(&choice, &plain), n);
    assert_int_equal(caucus_stream_drawn(&live), place + d); /* whatever was needed to decide */
    assert_int_equal(caucus_stream_drawn(&seeded), place + d);
    return n;
}

static uint32_t exponential_all_ways(caucus_stream live, caucus_stream seeded, const int64_t *score, uint32_t d,
                                     caucus_rational rate) {
    caucus_scores choice = {score, d, smallest_of(score, d), rate};
    caucus_stream look = live;
    uint64_t place = caucus_stream_drawn(&live), word = caucus_word(&look);
    uint32_t n = caucus_select_exponential(&live, score, d, rate);
    assert_int_equal(caucus_select_exponential(&seeded, score, d, rate), n);
    assert_int_equal(caucus_choose_exponential_plain(&choice, &look, place, word), n);
    assert_int_equal(caucus_stream_drawn(&live), place + 1);
    assert_int_equal(caucus_stream_drawn(&seeded), place + 1);
    return n;
}

static void random_scores(caucus_stream *random, int kind, int64_t *score, uint32_t d) {
    for (uint32_t n = 0; n < d; n++) {
        uint64_t x = caucus_word(random);
        score[n] = kind == 0   ? 5
                   : kind == 1 ? (int64_t)(x % 1000) - 500
                   : kind == 2 ? (int64_t)(x >> 2) - ((int64_t)1 << 61)
                   : kind == 3 ? (int64_t)(x % 3)
                               : (int64_t)(x % 3) << ((x >> 58) % 62);
    }
}

static void test_the_same_map(void **state) {
    (void)state;
    script_on = false;
    static int64_t score[D_MAX];
    static const caucus_rational rates[] = {{1, 100},     {1, 1},  {0, 1},  {UINT64_MAX, 1}, {1, (uint64_t)1 << 56},
                                            {5, 1 << 21}, {63, 1}, {65, 1}, {257, 1},        {3, 7}};
    static const uint32_t sizes[] = {1, 2, 3, 10, 100, 255, 256, 257, 513, 600, D_MAX};
    caucus_stream random = test_stream(0, true);
    uint32_t index = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
            for (int kind = 0; kind < 5; kind++, index++) {
                random_scores(&random, kind, score, sizes[i]);
                caucus_stream live = test_stream(index, false), seeded = test_stream(index, true);
                for (uint32_t skip = 0; skip < index % 9; skip++)
                    (void)caucus_word(&live), (void)caucus_word(&seeded);
                flip_all_ways(live, seeded, score, sizes[i], rates[r]);
                exponential_all_ways(live, seeded, score, sizes[i], rates[r]);
            }
}

/* Equal numbers and equal scores, and numbers that differ by what the scores differ: only further digits tell. */
static void test_flip_where_words_do_not_decide(void **state) {
    (void)state;
    static const int64_t equal[5] = {9, 9, 9, 9, 9};
    caucus_rational rate = {1, 3};
    for (uint32_t least = 0; least < 5; least++) {
        script_all(12345, 6789, 1000, 7);
        for (uint32_t n = 0; n < 5; n++)
            script[n][2] += n == least ? 0 : n + 1;
        script_far_reads = 0;
        assert_int_equal(flip_all_ways(script_stream(0, false), script_stream(0, true), equal, 5, rate), least);
        assert_true(script_far_reads > 0);
    }
    /* U_1 = U_0 * e^(-rate*gap) in three digits, a little less or more: expert 1, which is worse, wins or does not. */
    for (int64_t gap = 1; gap < 40; gap++) {
        int64_t score[2] = {0, gap};
        uint64_t e[4];
        caucus_exp_limbs((caucus_u128)gap, 3, 4, e);
        for (int off = -3; off <= 3; off += 6) {
            script_all(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX); /* U_0 is 1, nearly */
            script[1][0] = e[0];
            script[1][1] = e[1];
            script[1][2] = e[2] + (uint64_t)off;
            script_far_reads = 0;
            assert_int_equal(flip_all_ways(script_stream(0, false), script_stream(0, true), score, 2, rate), off < 0);
            assert_true(script_far_reads > 0);
        }
    }
    /* A number that begins with 64 zeros has no upper end: whoever has the smaller of two such wins. */
    script_all(UINT64_MAX / 2, 3, 3, 3);
    static const int64_t rising[4] = {0, 1, 2, 3};
    script[2][0] = script[3][0] = 0;
    script[2][1] = 77;
    script[3][1] = 7;
    assert_int_equal(flip_all_ways(script_stream(0, false), script_stream(0, true), rising, 4, rate), 3);
    script[3][1] = 76;
    assert_int_equal(flip_all_ways(script_stream(0, false), script_stream(0, true), rising, 4, rate), 2);
}

/* U at the border between experts n-1 and n of equal weight: n/d to three digits, and a little less. */
static void test_exponential_where_bits_do_not_decide(void **state) {
    (void)state;
    static const int64_t equal[D_MAX];
    static const uint32_t sizes[] = {3, 7, 100, 300, D_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t d = sizes[i];
        for (uint64_t n = 1; n < d; n += 1 + d / 12) {
            uint64_t rest = n, digit[3];
            for (unsigned j = 0; j < 3; j++) {
                digit[j] = (uint64_t)(((caucus_u128)rest << 64) / d);
                rest = (uint64_t)(((caucus_u128)rest << 64) % d);
            }
            for (uint64_t above = 0; above < 2; above++) {
                if (above == 0 && digit[2] == 0)
                    continue; /* n/d is a short fraction: a little less borrows */
                script_all(digit[0], digit[1], digit[2] - 1 + 2 * above, 7);
                script_far_reads = 0;
                assert_int_equal(exponential_all_ways(script_stream(0, false), script_stream(0, true), equal,
                                                      (uint32_t)d, (caucus_rational){1, 3}),
                                 n - 1 + above);
                assert_true(script_far_reads > 0);
            }
        }
    }
    /* Unequal weights: the border is 1/(1 + e^-(1/3)); bisection comes as near to it as 128 bits can. */
    static const int64_t two[2] = {0, 1};
    caucus_u128 low = 0, high = ~(caucus_u128)0;
    script_far_reads = 0;
    while (high - low > 1) {
        caucus_u128 middle = low + (high - low) / 2;
        script_all((uint64_t)(middle >> 64), (uint64_t)middle, 0, 7);
        caucus_rational third = {1, 3};
        bool second = exponential_all_ways(script_stream(0, false), script_stream(0, true), two, 2, third) == 1;
        *(second ? &high : &low) = middle;
    }
    assert_true(fabs(ldexp((double)(uint64_t)(low >> 64), -64) - 1 / (1 + exp(-1.0 / 3))) < 1e-14);
    assert_true(script_far_reads > 0);
}

/* A number in the cell k/16 .. (k+1)/16, at its lower or upper end. */
static void put_cell(unsigned place, unsigned cell, bool upper) {
    script[place][0] = (uint64_t)cell << 60 | (upper ? UINT64_MAX >> 4 : 0);
    script[place][1] = script[place][2] = script[place][3] =
        upper ? UINT64_MAX : 1 + place; /* no two the same for ever */
}

/* mass[n] is the part of all cells where n wins surely: it wins with its own number at the upper end and all others at
 * the lower (a smaller number makes a larger V). The law lies between that and what the cells leave open. */
static void bracket_flip(const int64_t *score, uint32_t d, caucus_rational rate) {
    long double mass[4] = {0}, law[4], open = 1, cells = powl(16, d);
    script_all(0, 0, 0, UINT64_MAX / 5);
    for (uint32_t all = 0; all < (uint32_t)cells; all++)
        for (uint32_t n = 0; n < d; n++) {
            for (uint32_t k = 0; k < d; k++)
                put_cell(k, all >> (4 * k) & 15, k == n);
            caucus_stream stream = script_stream(0, false);
            if (caucus_select_flip(&stream, score, d, rate) == n) {
                mass[n] += 1 / cells;
                open -= 1 / cells;
            }
        }
    caucus_select_flip_law(score, d, rate, law);
    for (uint32_t n = 0; n < d; n++)
        if (mass[n] > law[n] + 1e-15L || law[n] > mass[n] + open + 1e-15L)
            fail_msg("P(%u) = %.9Lf, counted %.9Lf, open %.9Lf", n, law[n], mass[n], open);
    assert_true(open < 0.3L);
}

static void test_flip_law_by_cells(void **state) {
    (void)state;
    static const int64_t scores[][3] = {{0, 0, 0}, {0, 1, 3}, {5, 0, 0}, {2, -2, 0}, {0, 9, 40}};
    static const caucus_rational rates[] = {{1, 2}, {1, 7}, {3, 1}, {0, 1}};
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            bracket_flip(scores[i], 2, rates[r]);
            bracket_flip(scores[i], 3, rates[r]);
        }
}

/* The expert does not fall as U grows: a cell of 12 bits whose ends agree is decided. */
static void test_exponential_law_by_cells(void **state) {
    (void)state;
    static const int64_t scores[][4] = {{0, 1, 3, 3}, {0, 0, 0, 0}, {7, 0, 0, 90}, {3, 2, 1, 0}};
    static const caucus_rational rates[] = {{1, 2}, {1, 7}, {3, 1}, {0, 1}};
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            long double mass[4] = {0}, law[4], open = 0;
            uint32_t before = 0;
            for (unsigned cell = 0; cell < 4096; cell++) {
                uint32_t winner[2];
                for (int upper = 0; upper < 2; upper++) {
                    script_all(0, 0, 0, upper ? UINT64_MAX - 1 : 1);
                    script[0][0] = (uint64_t)cell << 52 | (upper ? UINT64_MAX >> 12 : 0);
                    script[0][1] = script[0][2] = upper ? UINT64_MAX : 1;
                    caucus_stream stream = script_stream(0, false);
                    winner[upper] = caucus_select_exponential(&stream, scores[i], 4, rates[r]);
                    assert_true(winner[upper] >= before);
                    before = winner[upper];
                }
                if (winner[0] == winner[1])
                    mass[winner[0]] += 1.0L / 4096;
                else
                    open += 1.0L / 4096;
            }
            caucus_select_exponential_law(scores[i], 4, rates[r], law);
            for (uint32_t n = 0; n < 4; n++)
                assert_true(mass[n] <= law[n] + 1e-15L && law[n] <= mass[n] + open + 1e-15L);
            assert_true(open <= 3.0L / 4096);
        }
}

int main(void) {
    printf("seed %u\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_map),
        cmocka_unit_test(test_flip_where_words_do_not_decide),
        cmocka_unit_test(test_exponential_where_bits_do_not_decide),
        cmocka_unit_test(test_flip_law_by_cells),
        cmocka_unit_test(test_exponential_law_by_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
