/* SPDX-License-Identifier: Apache-2.0 */
/* test_borrowed_rows.c: a client that borrows its losses is the client that was handed them
 * (src/algo/borrowed_rows.h). */
#include "algo/federation.h"

#include <math.h>

#include "algo/borrowed_rows.h"
#include "num/grid.h"
#include "plan/plan.h"
#include "testing_settings.h"

#define ROUNDS 200
#define EXPERTS 19
#define CLIENTS 3

/* Losses in single precision, some outside of the range or no number: their clips must be counted once. */
static float *losses(uint32_t client) {
    float *rows = malloc(sizeof *rows * ROUNDS * EXPERTS);
    assert_non_null(rows);
    double row[EXPERTS];
    for (uint32_t t = 0; t < ROUNDS; t++) {
        hashed_losses(client, t + 1, EXPERTS, row);
        for (uint32_t y = 0; y < EXPERTS; y++)
            rows[t * EXPERTS + y] = (float)row[y];
        if (t % 7 == 0)
            rows[t * EXPERTS + t % EXPERTS] = t % 2 ? 1.5f : -0.25f;
        if (t % 31 == 0)
            rows[t * EXPERTS + (t / 31) % EXPERTS] = NAN;
    }
    return rows;
}

static void assert_same_state(const caucus_client *a, const caucus_client *b) {
    size_t bytes = caucus_client_state_bytes(a);
    assert_int_equal(bytes, caucus_client_state_bytes(b));
    uint8_t *left = malloc(bytes), *right = malloc(bytes);
    assert_true(left && right);
    assert_int_equal(caucus_client_save(a, left, bytes), CAUCUS_OK);
    assert_int_equal(caucus_client_save(b, right, bytes), CAUCUS_OK);
    assert_memory_equal(left, right, bytes);
    free(left);
    free(right);
}

/* Play `borrowing` with rows borrowed in pieces, some returned, some not next to one another, some handed over in
 * between. */
static void play(const caucus_settings *s, uint64_t seed) {
    federation handed, borrowing;
    federation_open(&handed, s, seed);
    federation_open(&borrowing, s, seed);
    float *rows[CLIENTS], *copy[CLIENTS];
    for (uint32_t i = 0; i < CLIENTS; i++) {
        rows[i] = losses(i + 1);
        copy[i] = losses(i + 1);
    }
    int64_t total[EXPERTS] = {0}, sums[EXPERTS] = {0};
    caucus_grid grid = {.lo = 0, .hi = 1, .steps = borrowing.plan->grid};
    caucus_clips clips = {0};
    bool adds_total = false;
    for (uint32_t i = 0; i < CLIENTS; i++)
        adds_total = caucus_client_add_total(borrowing.client[i], total);
    assert_int_equal(adds_total, s->algorithm != CAUCUS_ALGORITHM_STOCH && s->unit == CAUCUS_UNIT_EVENT);
    uint64_t dice = seed * 0x9e3779b97f4a7c15u + 1;
    for (uint64_t round = 0; round < ROUNDS;) {
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        uint64_t count = caucus_client_rounds_left(handed.client[0]), most = 1 + (dice >> 60);
        count = count < most ? count : most;
        assert_true(count > 0);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            caucus_client *c = borrowing.client[i];
            assert_int_equal(caucus_client_borrow_f32(c, rows[i], caucus_client_rounds_left(c) + 1), CAUCUS_E_ORDER);
            assert_int_equal(caucus_client_observe_f32(handed.client[i], rows[i] + round * EXPERTS, count), CAUCUS_OK);
            const float *from = ((dice >> 40 & 3) ? rows : copy)[i] + round * EXPERTS;
            bool asked = caucus_coordinator_announcement(borrowing.coordinator)->ask != CAUCUS_ASK_NOTHING;
            if (dice >> 50 & 3) {
                assert_int_equal(caucus_client_borrow_f32(c, from, count), CAUCUS_OK);
                for (uint32_t r = 0; asked && r < count; r++)
                    caucus_grid_add_f32_ref(&grid, sums, from + r * EXPERTS, EXPERTS, &clips);
            } else
                assert_int_equal(caucus_client_observe_f32(c, from, count), CAUCUS_OK);
            assert_int_equal(caucus_client_cost(c), caucus_client_cost(handed.client[i]));
            if ((dice >> 30 & 7) == 0) {
                caucus_client_return_rows(c);
                assert_same_state(handed.client[i], c);
            }
        }
        round += count;
        federation_talk(&handed);
        federation_talk(&borrowing);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        caucus_client_return_rows(borrowing.client[i]);
        assert_same_state(handed.client[i], borrowing.client[i]);
        uint64_t low, high, nan;
        caucus_client_clips(borrowing.client[i], &low, &high, &nan);
        assert_true(low + high + nan > 0);
        free(rows[i]);
        free(copy[i]);
    }
    if (adds_total)
        assert_memory_equal(total, sums, sizeof total);
    federation_close(&handed);
    federation_close(&borrowing);
}

static void all(caucus_algorithm algorithm, uint32_t interval, caucus_unit unit, caucus_protocol protocol) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        caucus_settings s = testing_settings(algorithm, CAUCUS_TRUST_COORDINATOR, CLIENTS, EXPERTS, ROUNDS, 5);
        s.interval = interval;
        s.unit = unit;
        s.protocol = protocol;
        play(&s, seed);
    }
}

static void svt(void **state) {
    (void)state;
    all(CAUCUS_ALGORITHM_SVT, 1, CAUCUS_UNIT_EVENT, CAUCUS_PROTOCOL_TWO_STEP);
    all(CAUCUS_ALGORITHM_SVT, 7, CAUCUS_UNIT_EVENT, CAUCUS_PROTOCOL_TWO_STEP);
    all(CAUCUS_ALGORITHM_SVT, 3, CAUCUS_UNIT_EVENT, CAUCUS_PROTOCOL_PAPER);
}

static void svt_means(void **state) {
    (void)state;
    all(CAUCUS_ALGORITHM_SVT, 5, CAUCUS_UNIT_CLIENT_BLOCK, CAUCUS_PROTOCOL_TWO_STEP);
}

static void hedge(void **state) {
    (void)state;
    all(CAUCUS_ALGORITHM_HEDGE, 10, CAUCUS_UNIT_EVENT, CAUCUS_PROTOCOL_TWO_STEP);
}

static void stoch(void **state) {
    (void)state;
    all(CAUCUS_ALGORITHM_STOCH, 1, CAUCUS_UNIT_EVENT, CAUCUS_PROTOCOL_TWO_STEP);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svt),
        cmocka_unit_test(svt_means),
        cmocka_unit_test(hedge),
        cmocka_unit_test(stoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
