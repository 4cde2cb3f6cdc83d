/* SPDX-License-Identifier: Apache-2.0 */
/* Vector kernels give the bits of their plain loops: all tails, odd offsets, extreme values, wrapping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "num/vector.h"

#define ROOM 300

static uint64_t word = 0xd1342543de82ef95u; /* seed, fixed */
static uint64_t next_word(void) {
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    return word;
}
static int64_t next_value(void) {
    const int64_t edges[] = {INT64_MIN, INT64_MAX, 0, -1, 1, (int64_t)1 << 62};
    uint64_t w = next_word();
    return w % 8 == 0 ? edges[next_word() % 6] : (int64_t)next_word() >> (w >> 8) % 64;
}

static void kernels_equal_their_references(void **state) {
    (void)state;
    int64_t x[ROOM], a[ROOM], b[ROOM];
    int rows = 0;
    for (size_t n = 0; n < ROOM - 4; n += n < 70 ? 1 : 31)
        for (size_t shift = 0; shift < 4; shift++) {
            for (int i = 0; i < ROOM; i++) {
                x[i] = next_value();
                a[i] = b[i] = next_value();
            }
            caucus_vector_add_i64(a + shift, x + 3 - shift, n);
            caucus_vector_add_i64_ref(b + shift, x + 3 - shift, n);
            assert_memory_equal(a, b, sizeof a);
            int64_t lo = next_value(), hi = next_value();
            if (lo > hi) {
                int64_t swap = lo;
                lo = hi;
                hi = swap;
            }
            caucus_vector_add_clamped_i64(a + shift, x + 3 - shift, n, lo, hi);
            caucus_vector_add_clamped_i64_ref(b + shift, x + 3 - shift, n, lo, hi);
            assert_memory_equal(a, b, sizeof a);
            if (n > 0)
                assert_true(caucus_vector_min_i64(x + shift, n) == caucus_vector_min_i64_ref(x + shift, n));
            rows++;
        }
    assert_true(rows > 250);
}

static void small_known_values(void **state) {
    (void)state;
    int64_t acc[3] = {1, 2, INT64_MAX}, x[3] = {-10, 5, 1};
    caucus_vector_add_clamped_i64(acc, x, 3, 0, 3);
    assert_true(acc[0] == 1 && acc[1] == 5 && acc[2] == INT64_MIN); /* wraps, is not undefined */
    assert_true(caucus_vector_min_i64(x, 3) == -10 && caucus_vector_min_i64(x, 1) == -10);
    caucus_vector_add_i64(acc, x, 0);
    assert_true(acc[0] == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_equal_their_references),
        cmocka_unit_test(small_known_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
