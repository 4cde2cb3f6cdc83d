/* SPDX-License-Identifier: Apache-2.0 */
/* Plans whose clients add the noise: trust nobody, and the paper's local noise with what it really gives. */
#include "plan/plan_testing.h"

#include "plan/bounds_noise.h"
#include "plan/message_weight.h"

#include <stdio.h>

static caucus_settings nobody(caucus_message message) {
    caucus_settings s = plan_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY);
    s.rounds = 1 << 14;
    s.message = message;
    return s;
}

static void rates(void **state) {
    (void)state;
    const double grid = 0x1p20;
    caucus_settings s = nobody(CAUCUS_MESSAGE_VOTE);
    caucus_plan *plan = plan_made(&s);
    near(caucus_rational_double(plan->stoch.phase[5].vote_rate) * grid, 0.5, 1e-9);
    assert_int_equal(plan->bound_kind, CAUCUS_BOUND_NONE);
    assert_true(isnan(plan->stoch.phase[5].error));
    caucus_plan_free(plan);
    s.message = CAUCUS_MESSAGE_SHORTLIST;
    plan = plan_made(&s);
    near(caucus_rational_double(plan->stoch.phase[5].vote_rate) * grid, 0.25, 1e-9);
    near(caucus_rational_double(plan->stoch.phase[5].shortlist_noise.parameter) * grid, 0.5, 1e-9);
    near(plan->guarantee.epsilon_messages, 1, 1e-9);
    caucus_plan_free(plan);
    s.message = CAUCUS_MESSAGE_KNORM;
    plan = plan_made(&s);
    near(caucus_rational_double(plan->stoch.phase[5].vertex_noise[0].parameter) * grid, 1, 1e-9);
    near(plan->guarantee.epsilon_choices, 1, 1e-9);
    caucus_plan_free(plan);
    s.message = CAUCUS_MESSAGE_LAPLACE_D;
    plan = plan_made(&s);
    near(caucus_rational_double(plan->stoch.phase[5].vertex_noise[0].parameter) * grid, 0.01, 1e-9);
    caucus_plan_free(plan);
    s.message = CAUCUS_MESSAGE_GAUSS;
    s.delta = 1e-6;
    plan = plan_made(&s);
    near(caucus_rational_double(plan->stoch.phase[5].vertex_noise[0].parameter) / (grid * grid), 100 / (2 * 0.024356),
         0.1);
    near(plan->guarantee.epsilon_messages, 1, 1e-6);
    assert_true(plan->guarantee.epsilon_messages <= 1);
    caucus_plan_free(plan);
    s.epsilon = 0.1; /* the variance needs the coarse grid, or is refused if the grid is fixed */
    plan = plan_made(&s);
    assert_int_equal(plan->grid, 1 << 16);
    caucus_plan_free(plan);
    s.grid = 1 << 20;
    plan_refused(&s, CAUCUS_E_INFEASIBLE, "message");
}

static void automatic(void **state) {
    (void)state;
    caucus_settings s = nobody(CAUCUS_MESSAGE_AUTO);
    caucus_plan *plan = plan_made(&s);
    assert_int_equal(plan->stoch.message, CAUCUS_MESSAGE_VOTE);
    caucus_plan_free(plan);
    s.epsilon = 3;
    plan = plan_made(&s);
    assert_int_equal(plan->stoch.message, CAUCUS_MESSAGE_SHORTLIST);
    caucus_plan_free(plan);
    s.epsilon = 1;
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = 0.1;
    s.clients = 10000;
    plan = plan_made(&s); /* trees pay, so sums are sent */
    assert_int_equal(plan->stoch.message, CAUCUS_MESSAGE_KNORM);
    const caucus_stoch_phase *last = &plan->stoch.phase[plan->stoch.phases - 2];
    assert_true(last->trees > 0);
    for (uint32_t h = 1; h <= last->trees; h++) /* each vertex with its own sensitivity 2^(h+1) C_h */
        near(caucus_rational_double(last->vertex_noise[h].parameter) * (double)(last->clamp[h] << (h + 1)), 1, 1e-6);
    near(plan->guarantee.epsilon_messages, 1, 1e-6);
    caucus_plan_free(plan);
    s.rounds = 15;
    plan = plan_made(&s); /* too short for trees to pay: votes */
    assert_int_equal(plan->stoch.message, CAUCUS_MESSAGE_VOTE);
    caucus_plan_free(plan);
}

/* Averaging over phases only improves on the bound without it (docs/PRIVACY.md: 326, 1071, 5408 for K-norm). */
static void bounds(void **state) {
    (void)state;
    static const double want[3][2] = {{10, 326}, {1, 1071}, {.1, 5408}};
    for (int i = 0; i < 3; i++) {
        caucus_settings s = nobody(CAUCUS_MESSAGE_KNORM);
        s.epsilon = want[i][0];
        caucus_plan *plan = plan_made(&s);
        double pseudo = 1;
        for (uint32_t k = 0; k + 1 < plan->stoch.phases; k++)
            pseudo += (double)plan->stoch.phase[k].length * fmin(1, plan->stoch.phase[k].error);
        assert_true(pseudo < want[i][1] && pseudo > 0.5 * want[i][1]);
        assert_int_equal(plan->bound_kind, CAUCUS_BOUND_EXPECTATION);
        s.message = CAUCUS_MESSAGE_LAPLACE_D;
        caucus_plan *worse = plan_made(&s);
        assert_true(worse->bound > plan->bound);
        caucus_plan_free(worse);
        caucus_plan_free(plan);
    }
}

/* The formula without averaging: privacy term per phase plus R sqrt(ln d/(2 m n)). */
static void known_knorm_bound(void **state) {
    (void)state;
    static const double want[3][2] = {{10, 326}, {1, 1071}, {.1, 5408}};
    for (int i = 0; i < 3; i++) {
        caucus_rational rate;
        assert_int_equal(caucus_rational_floor(want[i][0] / 0x1p20, 56, &rate), CAUCUS_OK);
        const caucus_noise noise = {CAUCUS_NOISE_KNORM, rate};
        const noise_term term = {&noise, 1, 10};
        const double error = caucus_bounds_noise_max(log(100), 100, &term, 1, 0) / 0x1p20;
        double pseudo = 1;
        for (int p = 2; p <= 15; p++) {
            const double n = ldexp(1, p - 2), length = p == 15 ? 1 : 2 * n;
            pseudo += length * fmin(1, sqrt(log(100) / (20 * n)) + error / (10 * n));
        }
        near(pseudo, want[i][1], 0.6);
    }
}

/* Gaussian noise: the infimum is sigma sqrt(2 ln d) exactly. Laplace, one copy: at least the maximum of d exponentials
 * / 2. */
static void noise_maximum(void **state) {
    (void)state;
    const caucus_noise gauss = {CAUCUS_NOISE_GAUSSIAN, {9, 1}}, laplace = {CAUCUS_NOISE_LAPLACE, {1, 64}};
    const noise_term one = {&gauss, 2, 5}, two = {&laplace, 1, 1};
    near(caucus_bounds_noise_max(log(100), 100, &one, 1, 0), sqrt(2 * log(100) * 4 * 5 * 9), 1e-3);
    near(caucus_bounds_noise_max(log(100), 100, &one, 1, 20), sqrt(2 * log(100) * 200), 1e-3);
    const double most = caucus_bounds_noise_max(log(100), 100, &two, 1, 0);
    assert_true(most > 64 * log(50) && most < 64 * (log(100) + 3));
    const caucus_noise coarse = {CAUCUS_NOISE_KNORM, {1, 2}};
    const noise_term three = {&coarse, 1, 1};
    assert_true(isnan(caucus_bounds_noise_max(log(100), 100, &three, 1, 0)));
}

/* Weights n/(n + c), c = 4*variance/grid^2: 1/2 where the losses' own spread equals the noise. */
static void weights(void **state) {
    (void)state;
    const int64_t grid = 1 << 16;
    const caucus_noise gauss = {CAUCUS_NOISE_GAUSSIAN,
                                {(uint64_t)1 << 40, 1}}; /* c = 4*2^40/2^32 = 1024, and one more */
    const caucus_noise laplace = {CAUCUS_NOISE_LAPLACE, {1, (uint64_t)1 << 20}}; /* c = 8*2^40/2^32 = 2048 */
    const caucus_noise knorm = {CAUCUS_NOISE_KNORM, {1, (uint64_t)1 << 16}};     /* c = 4*100*101/3 at k = 99 */
    assert_in_range(caucus_message_weight(grid, &gauss, 1024, 2), 2046, 2048);
    assert_in_range(caucus_message_weight(grid, &laplace, 2048, 2), 2036, 2048);
    assert_in_range(caucus_message_weight(grid, &knorm, 4 * 100 * 101 / 3, 99), 2036, 2048);
    const caucus_noise *all[] = {&gauss, &laplace, &knorm};
    for (int i = 0; i < 3; i++) {
        uint64_t last = 1;
        for (uint64_t n = 1; n < (uint64_t)1 << 31; n *= 2) {
            const uint64_t weight = caucus_message_weight(grid, all[i], n, 99);
            assert_true(weight >= last && weight <= 4096);
            last = weight;
        }
        assert_true(last > 4000);
    }
    const caucus_noise huge = {CAUCUS_NOISE_KNORM, {1, CAUCUS_DEN_MAX}}, none = {CAUCUS_NOISE_NONE, {0, 1}};
    assert_int_equal(caucus_message_weight(1, &huge, 1, 1 << 20), 1);
    assert_int_equal(caucus_message_weight(grid, &none, 1, 1), 4096);
}

static void paper_local(void **state) {
    (void)state;
    caucus_settings s = plan_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_PAPER_LOCAL);
    s.calibration = CAUCUS_CALIBRATION_PAPER;
    s.rounds = 1 << 10;
    s.experts = 64;
    caucus_plan *plan = plan_made(&s);
    near(1 / caucus_rational_double(plan->stoch.phase[6].leaf_noise[1].parameter) / 0x1p20, 8, 1e-6);
    near(plan->guarantee.epsilon_choices, 0.5, 1e-8);
    near(plan->guarantee.epsilon_messages, 16, 1e-6); /* d*epsilon/4 */
    assert_non_null(strstr(plan->guarantee.note, "messages are only private with epsilon 16: "));
    caucus_plan_free(plan);
    s.delta = 1e-6; /* what holds only with a delta is said with it */
    plan = plan_made(&s);
    assert_true(plan->guarantee.delta > 0);
    char only[80];
    (void)snprintf(only, sizeof only,
                   "messages are only private with epsilon %.4g, delta 1e-06: ", plan->guarantee.epsilon_messages);
    assert_non_null(strstr(plan->guarantee.note, only));
    caucus_plan_free(plan);
    s.delta = 0;
    s.loss_shape = CAUCUS_LOSS_SHAPE_CONVEX;
    s.smoothness = 1;
    plan = plan_made(&s);
    near(plan->guarantee.epsilon_messages, 64, 1e-6); /* d*epsilon at right vertices */
    near(plan->guarantee.epsilon_choices, 2, 1e-8);
    caucus_plan_free(plan);
}

static void too_many(void **state) {
    (void)state;
    caucus_settings s = nobody(CAUCUS_MESSAGE_LAPLACE_D);
    s.experts = 1 << 20;
    s.clients = 1 << 24;
    s.epsilon = 0.01;
    s.grid = 1 << 16;
    plan_refused(&s, CAUCUS_E_OVERFLOW, "rounds");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rates),         cmocka_unit_test(automatic),
                                       cmocka_unit_test(bounds),        cmocka_unit_test(known_knorm_bound),
                                       cmocka_unit_test(noise_maximum), cmocka_unit_test(weights),
                                       cmocka_unit_test(paper_local),   cmocka_unit_test(too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
