/* SPDX-License-Identifier: Apache-2.0 */
/* test_exponential_draw.c: the fast draws equal the exact ones, and every constant and bound they rest on is checked.
 *
 * caucus_exp_limbs is checked against digits computed elsewhere; with it as the judge every table entry and the
 * error bound of caucus_minus_log are verified by exact comparison; then fast answers are compared with answers that
 * use nothing but lazy_uniform.h, at random words and at the words next to every kind of boundary. */
#include "dp/draws.h"
#include "dp/exponential_draw.h"

#include "rng/testing_stream.h"
#include "scripted_digits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SEED 20240611u
#define LIMBS 4

static caucus_stream test_stream(uint32_t index) {
    return testing_stream(SEED, index, true);
}

/* A stream of numbers that begin with the first word and go on with the rest for ever. */
static caucus_stream constant_stream(uint64_t first, uint64_t rest) {
    script_all(first, rest, rest, rest);
    return script_stream(0, true);
}

/* -1, 1 as exp(-a/b) is surely below, above top/2^64 (top <= 2^64); 0 if LIMBS limbs do not tell. */
static int compare_exp(caucus_u128 a, caucus_u128 b, caucus_u128 top) {
    if (top >> 64 != 0) {
        return a == 0 ? 0 : -1;
    }
    if (a == 0) {
        return 1;
    }
    uint64_t e[LIMBS];
    caucus_exp_limbs(a, b, LIMBS, e);
    if (e[0] != (uint64_t)top) {
        bool edge = e[0] + 1 == (uint64_t)top && e[LIMBS - 1] >= UINT64_MAX - 2;
        return e[0] > (uint64_t)top ? 1 : edge ? 0 : -1;
    }
    return (e[1] | e[2]) != 0 || e[3] > 2 ? 1 : 0;
}

static const caucus_u128 ulp = (caucus_u128)1 << CAUCUS_LOG_FRACTION;

/* exp(-a/b) to 256 bits, by Python's decimal module with 120 digits. */
static void test_exp_digits(void **state) {
    (void)state;
    static const struct {
        caucus_u128 a, b;
        uint64_t limb[4];
    } known[] = {
        {1, 1, {0x5e2d58d8b3bcdf1au, 0xbadec7829054f90du, 0xda9805aab56c7733u, 0x3024b9d0a507daedu}},
        {1, 3, {0xb76e989179752689u, 0xc5984c9c50ebe4c9u, 0xa86a1feb960e6212u, 0x1fe12615380ce967u}},
        {4903, 70, {0x0000000000000000u, 0x0000000007b9936eu, 0x12b39a998fedc4f9u, 0x4e84af8929e61251u}},
        {1,
         (caucus_u128)1 << 110,
         {0xffffffffffffffffu, 0xfffffffffffc0000u, 0x0000000000000000u, 0x00000007ffffffffu}},
        {((caucus_u128)1 << 100) + 1,
         (caucus_u128)1 << 99,
         {0x22a555477f03973fu, 0xb6edd5c255b0803bu, 0x00fd2335abad0eddu, 0x5317cf1bcd947074u}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (unsigned n = 1; n <= 4; n++) {
            uint64_t e[4];
            caucus_exp_limbs(known[i].a, known[i].b, n, e);
            /* The truth, truncated to n limbs, is within -1 .. 2 of what is returned; in fact equal or one off. */
            for (unsigned k = 0; k + 1 < n; k++) {
                assert_int_equal(e[k], known[i].limb[k]);
            }
            assert_true(e[n - 1] - known[i].limb[n - 1] + 1 <= 2);
        }
    }
    uint64_t e[CAUCUS_LAZY_LIMBS], shorter[CAUCUS_LAZY_LIMBS]; /* all lengths agree with each other */
    caucus_exp_limbs(12345, 6789, CAUCUS_LAZY_LIMBS, e);
    for (unsigned n = 1; n < CAUCUS_LAZY_LIMBS; n++) {
        caucus_exp_limbs(12345, 6789, n, shorter);
        assert_memory_equal(e, shorter, (n - 1) * sizeof *e);
        assert_true(shorter[n - 1] - e[n - 1] + 1 <= 2);
    }
    caucus_exp_limbs(1024, 1, CAUCUS_LAZY_LIMBS, e);
    for (unsigned n = 0; n < CAUCUS_LAZY_LIMBS; n++) {
        assert_int_equal(e[n], 0);
    }
}

/* entry = ceil(-ln(top/2^64) * 2^58): e^-entry <= top < e^-(entry-1), never equal since e^rational is irrational. */
static void assert_minus_log(uint64_t entry, caucus_u128 top) {
    assert_int_equal(compare_exp(entry, ulp, top), -1);
    assert_int_equal(compare_exp(entry - 1, ulp, top), 1);
}

static void test_tables(void **state) {
    (void)state;
    for (unsigned i = 0; i < CAUCUS_LOG_ROWS; i++) {
        caucus_u128 exact = ((caucus_u128)1 << 73) / (512 + i);
        assert_true(caucus_log_table[i].reciprocal == (exact >> 64 != 0 ? UINT64_MAX : (uint64_t)exact));
        assert_minus_log(caucus_log_table[i].minus_log, (caucus_u128)(512 + i) << 54);
    }
    assert_int_equal(caucus_log_octave[0], 3);
    for (unsigned c = 1; c < 64; c++) {
        assert_minus_log(caucus_log_octave[c] - 3, (caucus_u128)1 << (64 - c));
    }
}

/* H - d < E < H for every U in [word, word+1)/2^64, and H exceeds E(word) by less than 6.01 ulp, hence less than 7. */
static void assert_bound(uint64_t word) {
    uint64_t slack, high = caucus_minus_log(word, &slack);
    assert_int_equal(compare_exp(high, ulp, word), -1);
    if (high > slack) {
        assert_int_equal(compare_exp(high - slack, ulp, (caucus_u128)word + 1), 1);
    }
    if (high > 7) {
        assert_int_equal(compare_exp(high - 7, ulp, word), 1);
    }
}

static void test_error_bound(void **state) {
    (void)state;
    caucus_stream stream = test_stream(1);
    for (int i = 0; i < 40000; i++) {
        uint64_t word = caucus_word(&stream);
        assert_bound(word >> caucus_uniform(&stream, 64) | 1);
    }
    for (unsigned c = 0; c < 64; c++) { /* the ends of octaves and of table rows, where the series is worst */
        uint64_t one = (uint64_t)1 << (63 - c);
        for (unsigned i = 0; i < CAUCUS_LOG_ROWS; i += c == 0 ? 1 : 37) {
            uint64_t row = one + (one >> CAUCUS_LOG_BITS) * i;
            assert_bound(row);
            assert_bound(row + (one >> CAUCUS_LOG_BITS) - (c < 54));
            assert_bound(row - 1 > 0 ? row - 1 : 1);
        }
    }
    assert_bound(UINT64_MAX);
}

/* floor(-ln(U)/rate) by nothing but exact comparisons, for U = word followed by `rest` for ever. */
static int64_t reference(caucus_rational rate, uint64_t word, uint64_t rest) {
    caucus_stream stream = constant_stream(word, rest);
    caucus_lazy u;
    caucus_lazy_begin(&u, &stream, 0, word);
    int64_t low = 0, high = 1;
    while (caucus_lazy_below_exp(&u, (caucus_u128)high * rate.num, rate.den)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (caucus_lazy_below_exp(&u, (caucus_u128)middle * rate.num, rate.den)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whatever follows the word, the draw is the reference; the two extreme continuations bracket all others. */
static void assert_draw(const caucus_inversion *inv, uint64_t word) {
    static const uint64_t rests[2] = {1, UINT64_MAX - 1};
    for (int i = 0; i < 2; i++) {
        caucus_stream stream = constant_stream(word, rests[i]);
        assert_int_equal(caucus_inversion_draw(&stream, inv), reference(inv->rate, word, rests[i]));
    }
}

static const caucus_rational rates[] = {
    {3840879, (uint64_t)1 << 40},
    {1, 1},
    {43, 1},
    {3, 2},
    {1, 1000},
    {1, (uint64_t)1 << 30},
    {7, ((uint64_t)1 << 56) - 5},
    {16, (uint64_t)1 << 56},
    {1, (uint64_t)1 << 56},
    {12345678, 1000003},
    {((uint64_t)1 << 61) - 1, (uint64_t)1 << 56},
};

static void test_draws_at_random_words(void **state) {
    (void)state;
    caucus_stream stream = test_stream(2);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        caucus_inversion inv = caucus_inversion_prepare(rates[i]);
        assert_false(inv.scalar);
        for (int k = 0; k < 60; k++) {
            uint64_t word = caucus_word(&stream);
            assert_draw(&inv, k % 2 == 0 ? word : word >> caucus_uniform(&stream, 64) | 1);
        }
        static const uint64_t extremes[] = {0,
                                            1,
                                            2,
                                            CAUCUS_WORD_TINY - 1,
                                            CAUCUS_WORD_TINY,
                                            CAUCUS_WORD_TINY + 1,
                                            ((uint64_t)1 << 63) - 1,
                                            (uint64_t)1 << 63,
                                            UINT64_MAX - 1,
                                            UINT64_MAX};
        for (size_t k = 0; k < sizeof extremes / sizeof *extremes; k++) {
            if (rates[i].den / rates[i].num < (uint64_t)1 << 50 || extremes[k] > 2) { /* else beyond 2^62 */
                assert_draw(&inv, extremes[k]);
            }
        }
    }
}

/* The words around exp(-y*rate)*2^64, where floor steps from y to y-1. */
static void test_draws_at_boundaries(void **state) {
    (void)state;
    caucus_stream stream = test_stream(3);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        caucus_inversion inv = caucus_inversion_prepare(rates[i]);
        for (int k = 0; k < 12; k++) {
            uint64_t slack, high = caucus_minus_log(caucus_word(&stream) | CAUCUS_WORD_TINY, &slack);
            uint64_t y = (caucus_mulhi(high, inv.multiplier) >> inv.shift) + 1, edge;
            caucus_exp_limbs((caucus_u128)y * rates[i].num, rates[i].den, 1, &edge);
            for (uint64_t word = edge - 3; word != edge + 4; word++) {
                assert_draw(&inv, word);
            }
        }
    }
}

static void assert_coin(caucus_u128 a, const caucus_divisor *divisor, uint64_t word) {
    static const uint64_t rests[2] = {1, UINT64_MAX - 1};
    for (int i = 0; i < 2; i++) {
        caucus_stream stream = constant_stream(word, rests[i]);
        caucus_lazy u;
        caucus_lazy_begin(&u, &stream, 0, word);
        assert_int_equal(caucus_exp_coin(&stream, a, divisor), caucus_lazy_below_exp(&u, a, divisor->b));
    }
}

static void test_coins(void **state) {
    (void)state;
    caucus_stream stream = test_stream(4);
    for (int i = 0; i < 3000; i++) {
        caucus_u128 b = caucus_uniform_wide(&stream, (caucus_u128)1 << (1 + caucus_uniform(&stream, 118))) + 1;
        b -= b >> 119;
        if (i % 5 == 0) { /* powers of two, where the inverse is cut to 64 bits */
            b = (caucus_u128)1 << caucus_uniform(&stream, 119);
        }
        unsigned up = (unsigned)caucus_uniform(&stream, 8);
        caucus_u128 a = i % 3 == 0 ? caucus_uniform_wide(&stream, b) : caucus_uniform_wide(&stream, b) << up;
        caucus_divisor divisor = caucus_divisor_prepare(b);
        assert_coin(a, &divisor, caucus_word(&stream));
        uint64_t edge = 0;
        if (a > 0) {
            caucus_exp_limbs(a, b, 1, &edge);
        }
        for (uint64_t word = edge - 3; word != edge + 4; word++) {
            assert_coin(a, &divisor, word);
        }
    }
    caucus_divisor one = caucus_divisor_prepare(1);
    assert_coin(~(caucus_u128)0, &one, 12345678901234567u); /* an exponent beyond everything */
}

/* However hard a draw is, it takes its places and no more: two for a Laplace, one for a geometric. */
static void test_places_of_draws(void **state) {
    (void)state;
    enum { N = 6400 };
    static int64_t draws[N];
    script_on = false;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        caucus_stream stream = test_stream(5);
        caucus_laplace_fill(&stream, rates[i], draws, N);
        assert_int_equal(caucus_stream_drawn(&stream), 2 * N);
        caucus_geometric_fill(&stream, rates[i], draws, N);
        assert_int_equal(caucus_stream_drawn(&stream), 3 * N);
    }
}

int main(void) {
    printf("seed %u\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_digits),          cmocka_unit_test(test_tables),
        cmocka_unit_test(test_error_bound),         cmocka_unit_test(test_draws_at_random_words),
        cmocka_unit_test(test_draws_at_boundaries), cmocka_unit_test(test_coins),
        cmocka_unit_test(test_places_of_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
