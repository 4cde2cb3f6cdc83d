/* SPDX-License-Identifier: Apache-2.0 */
/* test_real.c: draws from uniform real numbers: the version whose work is fixed, the one for seeded streams and the
 * plain one are the same map, at random numbers and at the numbers where 128 bits do not decide. */
#include "dp/real.h"

#include "rng/testing_stream.h"
#include "scripted_digits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SEED 20261116u

static caucus_stream test_stream(uint32_t index, bool seeded) {
    return testing_stream(SEED, index, seeded);
}

static const caucus_rational rates[] = {
    {3840879, (uint64_t)1 << 40},
    {1, 1},
    {43, 1},
    {300, 1},
    {UINT64_MAX, 1},
    {3, 2},
    {1, 1000},
    {1, (uint64_t)1 << 30},
    {7, ((uint64_t)1 << 56) - 5},
    {16, (uint64_t)1 << 56},
    {12345678, 1000003},
    {((uint64_t)1 << 61) - 1, (uint64_t)1 << 56},
};
#define RATES (sizeof rates / sizeof *rates)

/* The three ways, from equal streams: as scripted (first place), or further along a real one. */
static int64_t geometric_all_ways(caucus_stream live, caucus_stream seeded, const caucus_steps *steps) {
    caucus_stream look = live;
    caucus_reals a, b;
    caucus_reals_open(&a, &live);
    caucus_reals_open(&b, &seeded);
    const caucus_steps live_steps = caucus_steps_prepare(steps->rate, false);
    int64_t value = caucus_real_geometric(&a, &live_steps);
    assert_int_equal(caucus_real_geometric(&b, steps), value);
    uint64_t place = caucus_stream_drawn(&look), word = caucus_word(&look);
    assert_int_equal(caucus_real_geometric_plain(&look, place, word, steps->rate), value);
    assert_int_equal(caucus_stream_drawn(&live), place + 1); /* one place, however far it looked */
    assert_int_equal(caucus_stream_drawn(&seeded), place + 1);
    return value;
}

static void test_geometric_at_random(void **state) {
    (void)state;
    script_on = false;
    for (size_t i = 0; i < RATES; i++) {
        caucus_steps steps = caucus_steps_prepare(rates[i], true);
        caucus_stream live = test_stream((uint32_t)i, false), seeded = test_stream((uint32_t)i, true);
        for (int k = 0; k < 300; k++) {
            (void)geometric_all_ways(live, seeded, &steps);
            (void)caucus_word(&live);
            (void)caucus_word(&seeded);
        }
    }
}

static int64_t scripted_geometric(const caucus_steps *steps) {
    return geometric_all_ways(script_stream(0, false), script_stream(0, true), steps);
}

/* floor steps from y to y-1 where U = exp(-y*rate): three digits of that, and what follows decides. */
static void test_geometric_at_steps(void **state) {
    (void)state;
    caucus_stream random = test_stream(100, true);
    uint64_t undecided = 0, cases = 0;
    for (size_t i = 0; i < RATES; i++) {
        caucus_steps steps = caucus_steps_prepare(rates[i], true);
        for (int k = 0; k < 20; k++) {
            uint64_t scale = rates[i].den / rates[i].num + 1, y = 1 + caucus_uniform(&random, scale * 4), e[4];
            caucus_exp_limbs((caucus_u128)y * rates[i].num, rates[i].den, 4, e);
            if (e[0] == 0 && e[1] == 0 && e[2] == 0)
                continue;
            for (uint64_t off = 0; off < 4; off++) { /* just below is y or more, just above is less */
                script_all(e[0], e[1], e[2] - off - 2, 7);
                if (e[2] > 5) {
                    script_far_reads = 0;
                    assert_true(scripted_geometric(&steps) >= (int64_t)y);
                    undecided += script_far_reads > 0;
                }
                script_all(e[0], e[1], e[2] + off + 2, 7);
                if (e[2] < UINT64_MAX - 5)
                    assert_true(scripted_geometric(&steps) < (int64_t)y);
                script_all(e[0], e[1] - off, 0, 1);
                (void)scripted_geometric(&steps);
                script_all(e[0] - off, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1);
                (void)scripted_geometric(&steps);
                cases++;
            }
        }
    }
    printf("  %llu of %llu needed a third digit\n", (unsigned long long)undecided, (unsigned long long)cases);
    assert_true(undecided > 400);
}

/* Numbers that begin with many zeros: large draws, and for 128 zeros no upper end at all. */
static void test_geometric_of_tiny_numbers(void **state) {
    (void)state;
    for (size_t i = 0; i < RATES; i++) {
        caucus_steps steps = caucus_steps_prepare(rates[i], true);
        if (rates[i].den / rates[i].num >= (uint64_t)1 << 50)
            continue; /* beyond 2^62 */
        for (unsigned bit = 0; bit < 190; bit += 3) {
            uint64_t digit[3] = {0, 0, 0};
            digit[bit / 64] = (uint64_t)1 << (63 - bit % 64);
            script_all(digit[0], digit[1], digit[2], UINT64_MAX / 3);
            (void)scripted_geometric(&steps);
        }
        script_all(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1);
        assert_int_equal(scripted_geometric(&steps), 0);
    }
}

/* floor(U*n) of the first three digits and what follows, by long multiplication of five. */
static uint64_t long_multiplication(uint64_t n) {
    uint64_t carry = 0, digit[5] = {script[0][0], script[0][1], script[0][2], script_rest, script_rest};
    for (unsigned i = 5; i-- > 0;)
        carry = (uint64_t)((((caucus_u128)digit[i] * n) + carry) >> 64);
    return carry;
}

static uint64_t scripted_uniform(uint64_t n) {
    caucus_stream live = script_stream(0, false), seeded = script_stream(0, true);
    caucus_reals a, b;
    caucus_reals_open(&a, &live);
    caucus_reals_open(&b, &seeded);
    uint64_t value = caucus_real_uniform(&a, n);
    assert_int_equal(caucus_real_uniform(&b, n), value);
    assert_int_equal(caucus_real_uniform_plain(&live, 0, script[0][0], n), value);
    assert_int_equal(live.next, 1);
    return value;
}

static void test_uniform(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 7, 100, 1000003, (uint64_t)1 << 40, UINT64_MAX / 3, UINT64_MAX};
    caucus_stream random = test_stream(101, true);
    uint64_t undecided = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int k = 0; k < 200; k++) {
            uint64_t n = sizes[i];
            script_all(caucus_word(&random), caucus_word(&random), caucus_word(&random), caucus_word(&random));
            assert_int_equal(scripted_uniform(n), long_multiplication(n));
            /* v/n to three digits, a little less and a little more: steps of the floor */
            uint64_t rest = caucus_uniform(&random, n), digit[3];
            for (unsigned j = 0; j < 3; j++) {
                digit[j] = (uint64_t)(((caucus_u128)rest << 64) / n);
                rest = (uint64_t)(((caucus_u128)rest << 64) % n);
            }
            for (int off = -1; off <= 1; off++) {
                script_all(digit[0], digit[1], digit[2] + (uint64_t)off, k % 2 == 0 ? 0 : UINT64_MAX - 1);
                script_far_reads = 0;
                assert_int_equal(scripted_uniform(n), long_multiplication(n));
                undecided += script_far_reads > 0;
            }
        }
    printf("  %llu needed a third digit\n", (unsigned long long)undecided);
    assert_true(undecided > 1000);
    script_on = false;
    for (uint32_t k = 0; k < 1000; k++) { /* a real stream: live and seeded, in step */
        caucus_stream live = test_stream(102, false), seeded = test_stream(102, true);
        caucus_stream_go(&live, k);
        caucus_stream_go(&seeded, k);
        caucus_reals a, b;
        caucus_reals_open(&a, &live);
        caucus_reals_open(&b, &seeded);
        assert_int_equal(caucus_real_uniform(&a, UINT64_MAX - 5), caucus_real_uniform(&b, UINT64_MAX - 5));
    }
}

/* Live and seeded draw the same vectors from the same words, of every kind. */
static void test_noise_live_and_seeded(void **state) {
    (void)state;
    script_on = false;
    for (size_t i = 0; i < RATES; i++) {
        caucus_steps live_steps = caucus_steps_prepare(rates[i], false), steps = caucus_steps_prepare(rates[i], true);
        if (rates[i].den < rates[i].num)
            continue; /* K-norm would try for ever: its tries grow like e^(rate*n/2) */
        caucus_stream live = test_stream(200 + (uint32_t)i, false), seeded = test_stream(200 + (uint32_t)i, true);
        caucus_reals a, b;
        caucus_reals_open(&a, &live);
        caucus_reals_open(&b, &seeded);
        for (size_t n = 1; n < 9; n++) {
            assert_int_equal(caucus_real_laplace(&a, &live_steps), caucus_real_laplace(&b, &steps));
            if (rates[i].den / rates[i].num >= (uint64_t)1 << 50)
                continue;
            uint64_t radius = caucus_real_knorm_radius(&a, &live_steps, n);
            assert_int_equal(caucus_real_knorm_radius(&b, &steps, n), radius);
            assert_int_equal(caucus_real_uniform(&a, 2 * radius + 1), caucus_real_uniform(&b, 2 * radius + 1));
            assert_int_equal(caucus_stream_drawn(&live), caucus_stream_drawn(&seeded));
        }
        caucus_reals_wipe(&a);
        caucus_reals_wipe(&b);
    }
}

/* The words and digits of a stream do not depend on how they are reached. */
static void test_digits(void **state) {
    (void)state;
    script_on = false;
    caucus_stream stream = test_stream(103, false), second, again;
    uint64_t words[300];
    caucus_stream_digits(&second, &stream, 1);
    for (unsigned i = 0; i < 300; i++) {
        words[i] = caucus_word(&stream);
        assert_int_equal(caucus_word(&second), caucus_stream_digit(&stream, 1, i));
        assert_int_not_equal(caucus_stream_digit(&stream, 1, i), words[i]);
        assert_int_not_equal(caucus_stream_digit(&stream, 1, i), caucus_stream_digit(&stream, 2, i));
    }
    again = stream;
    static const unsigned places[] = {299, 0, 8, 7, 63, 64, 65, 200, 1, 299};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        caucus_stream_go(&again, places[i]);
        assert_int_equal(caucus_stream_drawn(&again), places[i]);
        assert_int_equal(caucus_word(&again), words[places[i]]);
        caucus_stream_digits(&second, &again, 3);
        assert_int_equal(caucus_word(&second), caucus_stream_digit(&again, 3, places[i] + 1));
    }
}

int main(void) {
    printf("seed %u\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_geometric_at_random),       cmocka_unit_test(test_geometric_at_steps),
        cmocka_unit_test(test_geometric_of_tiny_numbers), cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_noise_live_and_seeded),     cmocka_unit_test(test_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
