/* SPDX-License-Identifier: Apache-2.0 */
/* test_wide.c: the 128-bit logarithm and exponential keep the bounds that their headers prove, and every constant that
 * they rest on is what it should be. The judge is caucus_exp_limbs, itself checked in test_exponential_draw.c. */
#include "dp/exp_quick.h"
#include "dp/exp_wide.h"
#include "dp/lazy_uniform.h"
#include "dp/log_wide.h"
#include "rng/testing_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SEED 20261115u
#define LIMBS 5

static caucus_stream test_stream(uint32_t index) {
    return testing_stream(SEED, index, true);
}

static caucus_u128 random_wide(caucus_stream *stream) {
    caucus_u128 high = caucus_stream_next(stream);
    return high << 64 | caucus_stream_next(stream);
}

/* floor(p/q * 2^(128-exponent)) bit by bit. */
static void check_ratio(uint64_t p, uint64_t q) {
    caucus_ratio ratio = caucus_ratio_prepare(p, q);
    caucus_u128 rest = p, divisor = q, digits = 0;
    int exponent = 64;
    if (p == 0) {
        assert_true(ratio.multiplier == 0);
        return;
    }
    while (rest < divisor << 63 && rest >> 126 == 0) { /* find the first digit: p*2^k >= q*2^63 */
        rest <<= 1;
        exponent--;
    }
    divisor <<= 63;
    if (rest < divisor) {
        rest <<= 1;
        exponent--;
    }
    for (int i = 0; i < 128; i++) {
        digits <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            digits |= 1;
        }
        rest <<= 1;
    }
    assert_true(ratio.multiplier == digits);
    assert_int_equal(ratio.exponent, exponent);
    assert_int_equal((uint64_t)(digits >> 127), 1);
}

static void test_ratio(void **state) {
    (void)state;
    check_ratio(0, 7);
    static const uint64_t some[] = {1, 2, 3, 5, 1 << 20, 3840879, (uint64_t)1 << 56, UINT64_MAX / 2, UINT64_MAX - 1};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (size_t k = 0; k < 7; k++)
            check_ratio(some[i] >> 1 | 1, some[k]);
    caucus_stream stream = test_stream(0);
    for (int i = 0; i < 2000; i++) {
        uint64_t q = caucus_stream_next(&stream) >> (8 + caucus_uniform(&stream, 50));
        check_ratio(caucus_stream_next(&stream) >> (1 + caucus_uniform(&stream, 60)) | 1, q | 1);
    }
}

/* Against the division that it stands for. */
static void check_floor(uint64_t x, uint64_t p, uint64_t q) {
    const caucus_ratio ratio = caucus_ratio_prepare(p, q);
    assert_true(caucus_ratio_floor(x, p, q, &ratio) == (uint64_t)((caucus_u128)x * p / q));
}

static void test_ratio_floor(void **state) {
    (void)state;
    caucus_stream stream = test_stream(5);
    for (int i = 0; i < 200000; i++) {
        const uint64_t q = caucus_stream_next(&stream) >> (2 + caucus_uniform(&stream, 62)) | 1;
        const uint64_t p = caucus_stream_next(&stream) >> (2 + caucus_uniform(&stream, 62)) | 1;
        uint64_t x = caucus_stream_next(&stream) >> (2 + caucus_uniform(&stream, 62));
        while (((caucus_u128)x * p / q) >> 62 != 0)
            x /= 2;
        check_floor(x, p, q);
        const uint64_t answer = (uint64_t)((caucus_u128)x * p / q); /* and at the edges of whole numbers */
        for (uint64_t near = answer; near < answer + 2; near++) {
            const caucus_u128 edge = (caucus_u128)near * q / p;
            for (int step = -1; step <= 1; step++)
                if (edge >> 61 == 0 && edge > 0 && ((edge + 1) * p / q) >> 62 == 0)
                    check_floor((uint64_t)edge + (uint64_t)(int64_t)step, p, q);
        }
    }
    for (int64_t n = 1; n < 70; n++) {
        const caucus_ratio one = caucus_ratio_prepare(1, (uint64_t)n);
        for (int64_t sum = 0; sum < 500; sum++)
            assert_int_equal(caucus_rounded_mean(sum, n, &one), (sum + n / 2) / n);
    }
}

/* -1, 1 as e^(-a/b)*factor is below, above 1; 0 if LIMBS limbs do not tell. */
static int compare_product(caucus_u128 a, caucus_u128 b, uint64_t factor, unsigned factor_bits) {
    uint64_t e[LIMBS], carry = 0;
    caucus_exp_limbs(a, b, LIMBS, e);
    for (unsigned i = LIMBS; i-- > 0;) { /* e *= factor; what does not fit is the carry */
        caucus_u128 part = (caucus_u128)e[i] * factor + carry;
        e[i] = (uint64_t)part;
        carry = (uint64_t)(part >> 64);
    }
    /* carry.e against 2^factor_bits; the error is below 2*factor units of the last limb */
    uint64_t goal = (uint64_t)1 << factor_bits;
    if (carry != goal)
        return carry < goal ? -1 : 1;
    return (e[0] | e[1] | e[2] | e[3]) != 0 ? 1 : 0;
}

/* entry = ceil(ln(n/2^bits) * 2^120), by fourth powers, since denominators go to 2^118 here. */
static void assert_log(caucus_u128 entry, uint64_t n, unsigned bits) {
    uint64_t power = n * n * n * n;
    caucus_u128 quarter = (caucus_u128)1 << 118;
    assert_int_equal(compare_product(entry, quarter, power, 4 * bits), -1);
    assert_int_equal(compare_product(entry - 1, quarter, power, 4 * bits), 1);
}

static void test_log_tables(void **state) {
    (void)state;
    for (unsigned i = 0; i < CAUCUS_LOG_WIDE_ROWS; i++) {
        assert_int_equal(caucus_log_factors[i], (1 << 23) / (129 + i));
        if (caucus_log_factors[i] == 1 << 15)
            assert_true(caucus_log_firsts[i] == 0);
        else
            assert_log(caucus_log_firsts[i], caucus_log_factors[i], 15);
        if (i == 0)
            assert_true(caucus_log_seconds[i] == 0);
        else
            assert_log(caucus_log_seconds[i], (1 << 14) + i, 14);
    }
    assert_log(caucus_log_two_up, 2, 0);
    assert_true(caucus_log_two_down == caucus_log_two_up - 1);
}

static void test_exp_tables(void **state) {
    (void)state;
    uint64_t e[4];
    assert_true(caucus_exp_coarse[0] == ~(caucus_u128)0 && caucus_exp_fine[0] == ~(caucus_u128)0);
    assert_true(caucus_exp_quick_table[0] == UINT64_MAX);
    for (unsigned a = 1; a < CAUCUS_EXP_COARSE; a++) {
        caucus_exp_limbs(a, 16, 4, e);
        assert_true(caucus_exp_coarse[a] == CAUCUS_WIDE(e[0], e[1]));
    }
    for (unsigned b = 1; b < CAUCUS_EXP_FINE; b++) {
        caucus_exp_limbs(b, 256, 4, e);
        assert_true(caucus_exp_fine[b] == CAUCUS_WIDE(e[0], e[1]));
    }
    for (unsigned i = 1; i < CAUCUS_EXP_QUICK_ROWS; i++) {
        caucus_exp_limbs(i, 64, 4, e);
        assert_true(caucus_exp_quick_table[i] == e[0]);
    }
    caucus_u128 power = (caucus_u128)1 << 127;
    for (unsigned k = 0; k < CAUCUS_EXP_TERMS; k++) {
        power = k > 1 ? power / k : power; /* floors of floors: the same as one */
        assert_true(caucus_exp_series[k] == power);
    }
    /* inverse * ln 2 <= 1 < (inverse + 1) * ln 2, in units of 2^-182: 2^182 = 2^118 * 2^64. */
    caucus_u128 high = (caucus_log_two_up >> 64) * caucus_log_two_inverse, one = (caucus_u128)1 << 118;
    high += (caucus_u128)(uint64_t)caucus_log_two_up * caucus_log_two_inverse >> 64;
    assert_true(high < one && high + (caucus_log_two_down >> 64) >= one);
}

/* -1, 1 as e^(-grains*2^-120) is surely below, above n/2^128 (n <= 2^128 as two words and a carry). grains % 4 == 0. */
static int compare_grains(caucus_u128 grains, uint64_t carry, caucus_u128 n) {
    if (grains == 0)
        return carry == 1 ? 0 : 1;
    if (carry == 1)
        return -1;
    uint64_t e[LIMBS];
    caucus_exp_limbs(grains / 4, (caucus_u128)1 << 118, LIMBS, e);
    caucus_u128 top = CAUCUS_WIDE(e[0], e[1]);
    if (top != n)
        return top < n ? -1 : 1;
    return 1; /* what follows is not 0: never equal */
}

/* low < -ln U < high for all U in [n, n+1)/2^128, and high is above -ln(n/2^128) by less than 256 grains. */
static void check_log(caucus_u128 n) {
    caucus_log_bounds b = caucus_log_wide(n);
    caucus_log_bounds p = caucus_log_wide_public(n);
    assert_true(b.low == p.low && b.high == p.high);
    assert_true(b.low < b.high);
    caucus_u128 next = n + 1;
    assert_true(compare_grains(b.low & ~(caucus_u128)3, next == 0, next) >= 0);
    if (n == 0)
        return;
    assert_int_equal(compare_grains((b.high + 3) & ~(caucus_u128)3, 0, n), -1);
    if (b.high > 256)
        assert_int_equal(compare_grains((b.high - 256) & ~(caucus_u128)3, 0, n), 1);
}

static void test_log_bounds(void **state) {
    (void)state;
    caucus_stream stream = test_stream(1);
    for (int i = 0; i < 20000; i++) {
        caucus_u128 n = random_wide(&stream);
        check_log(n);
        check_log(n >> caucus_uniform(&stream, 128));
        check_log(~(n >> caucus_uniform(&stream, 128))); /* near 1, where the logarithm is small */
    }
    for (unsigned c = 0; c < 128; c++) { /* the ends of octaves and of rows */
        caucus_u128 one = (caucus_u128)1 << (127 - c);
        for (unsigned i = 0; i < CAUCUS_LOG_WIDE_ROWS; i += c == 0 ? 1 : 29) {
            caucus_u128 row = one + (one >> 7) * i;
            check_log(row);
            check_log(row + 1);
            check_log(row - 1);
        }
    }
    for (unsigned n = 0; n < 300; n++)
        check_log(n);
    check_log(~(caucus_u128)0);
}

/* e^(-rate*gap) * 2^96 in (W-1, W+2); times 2^63 within the quick error. */
static void check_exp(uint64_t gap, caucus_rational rate) {
    caucus_ratio ratio = caucus_ratio_prepare(rate.num, rate.den);
    caucus_u128 w = caucus_exp_wide(gap, &ratio), truth;
    uint64_t e[4], quick = caucus_exp_quick(gap, &ratio);
    caucus_u128 a = (caucus_u128)gap * rate.num;
    if (a == 0) {
        memset(e, 0xff, sizeof e);
    } else {
        caucus_exp_limbs(a, rate.den, 4, e);
    }
    truth = (CAUCUS_WIDE(e[0], e[1]) >> 32) + (a == 0); /* floor(e^-x * 2^96) */
    assert_true(w < truth + 2 && truth < w + 2); /* truth in [floor, floor+1): W - 1 < floor + 1, floor < W + 2 */
    uint64_t plain = (e[0] >> 1) + (a == 0);
    assert_true((quick > plain ? quick - plain : plain - quick) < CAUCUS_EXP_QUICK_ERROR);
}

static void test_exp_bounds(void **state) {
    (void)state;
    caucus_stream stream = test_stream(2);
    for (int i = 0; i < 20000; i++) {
        caucus_rational rate = {caucus_stream_next(&stream) >> (1 + caucus_uniform(&stream, 62)),
                                caucus_uniform(&stream, (uint64_t)1 << (1 + caucus_uniform(&stream, 56))) + 1};
        uint64_t one = rate.num == 0 ? 1 : rate.den / rate.num + 1; /* a gap that makes about 1 */
        uint64_t gap = caucus_uniform(&stream, one < (uint64_t)1 << 56 ? one * (1 + caucus_uniform(&stream, 90)) : one);
        check_exp(gap, rate);
        check_exp(caucus_stream_next(&stream) >> caucus_uniform(&stream, 64), rate);
    }
    for (uint64_t gap = 0; gap < 3000; gap++) { /* every row and every edge of the tables, and where q steps */
        check_exp(gap, (caucus_rational){1, 256});
        check_exp(gap, (caucus_rational){1, 16});
        check_exp(gap, (caucus_rational){693147180559945309u / 100, 10000000000000000u});
    }
    check_exp(0, (caucus_rational){UINT64_MAX, 1});
    check_exp(1, (caucus_rational){UINT64_MAX, 1});
    check_exp(UINT64_MAX, (caucus_rational){UINT64_MAX, 1});
    check_exp(UINT64_MAX, (caucus_rational){0, 1});
    check_exp(UINT64_MAX, (caucus_rational){1, (uint64_t)1 << 56});
}

static void test_shifts(void **state) {
    (void)state;
    caucus_stream stream = test_stream(3);
    for (unsigned by = 0; by < 300; by++) {
        caucus_u128 n = random_wide(&stream);
        assert_true(caucus_shift_right(n, by) == (by < 128 ? n >> by : 0));
        if (by < 128) {
            assert_true(caucus_shift_left(n, by) == n << by);
            assert_int_equal(caucus_clz_wide((n | (caucus_u128)1 << 127) >> by), by);
        }
        caucus_u128 m = random_wide(&stream), low = (caucus_u128)(uint64_t)n * (uint64_t)m;
        caucus_u128 middle = (caucus_u128)(uint64_t)n * (uint64_t)(m >> 64), exact = (n >> 64) * (m >> 64);
        caucus_u128 other = (n >> 64) * (uint64_t)m, carry = (low >> 64) + (uint64_t)middle + (uint64_t)other;
        exact += (middle >> 64) + (other >> 64) + (carry >> 64);
        caucus_u128 got = caucus_mulhi_wide(n, m);
        assert_true(got <= exact && exact - got < 3);
    }
    assert_int_equal(caucus_clz_wide(0), 127);
}

int main(void) {
    printf("seed %u\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratio),      cmocka_unit_test(test_ratio_floor), cmocka_unit_test(test_log_tables),
        cmocka_unit_test(test_exp_tables), cmocka_unit_test(test_log_bounds),  cmocka_unit_test(test_exp_bounds),
        cmocka_unit_test(test_shifts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
