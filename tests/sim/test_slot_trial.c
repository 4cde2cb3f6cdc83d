/* SPDX-License-Identifier: Apache-2.0 */
/* test_slot_trial.c: trials at the devices' own pace: how much devices see, and that what is played is what is counted.
 * False-alarm rate of the statistical assertions: 1e-6 (five standard errors); seeds are fixed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan.h"
#include "sim/slot/activity.h"
#include "sim/slot/slot_trial.h"
#include "testing_settings.h"

static caucus_plan *own_plan(caucus_trust trust, caucus_unit unit, uint32_t clients, uint32_t grace) {
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_STOCH, trust, clients, 5, CAUCUS_ROUNDS_ENDLESS, 5);
    caucus_plan *plan = NULL;
    s.pace = CAUCUS_PACE_OWN;
    s.unit = unit;
    s.phase_time = 1600;
    s.grace = grace;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    return plan;
}

static caucus_adversary *shifting(uint32_t clients, uint64_t slots, uint64_t segments, double mean, double spread) {
    caucus_adversary *ret = NULL;
    const caucus_adversary_settings a = {.kind = CAUCUS_ADVERSARY_SHIFTING,
                                         .seed = 11,
                                         .clients = clients,
                                         .experts = 5,
                                         .rounds = slots * CAUCUS_SLOT_ROWS,
                                         .segments = segments,
                                         .has_means = true,
                                         .mean_lo = 0.1,
                                         .mean_hi = 0.9,
                                         .activity_mean = mean,
                                         .activity_spread = spread};
    assert_int_equal(caucus_adversary_open(&a, &ret, NULL), CAUCUS_OK);
    return ret;
}

/* Unit client: decided where questions end, once each, from everything so far; what is proved holds; and the slot with
 * which it begins changes nothing. */
static void test_unit_client(void **state) {
    (void)state;
    enum { CLIENTS = 300, SLOTS = 20, TRIALS = 12 };
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CLIENTS, 5, SLOTS, 5);
    caucus_plan *plan = NULL, *later = NULL;
    s.pace = CAUCUS_PACE_OWN;
    s.unit = CAUCUS_UNIT_CLIENT;
    s.growth = 3;
    assert_int_equal(caucus_plan_new(&s, &plan, NULL), CAUCUS_OK);
    s.start = 20000;
    assert_int_equal(caucus_plan_new(&s, &later, NULL), CAUCUS_OK);
    caucus_adversary *adversary = shifting(CLIENTS, SLOTS, 1, 20, 1);
    double regret = 0, bound = 0;
    for (uint32_t n = 0; n < TRIALS; n++) {
        caucus_trial_result trial, other;
        assert_int_equal(caucus_slot_trial_play(plan, adversary, 4, n, NULL, NULL, NULL, &trial), CAUCUS_OK);
        assert_int_equal(trial.selections, 3); /* after 1, 3 and 9 slots */
        assert_int_equal(trial.scalars_up, 3 * 5 * CLIENTS);
        assert_int_equal(caucus_slot_trial_play(later, adversary, 4, n, NULL, NULL, NULL, &other), CAUCUS_OK);
        assert_true(trial.digest == other.digest && trial.regret == other.regret);
        regret += trial.regret_devices;
        bound += trial.bound;
    }
    printf("  regret %.3f, proved %.3f\n", regret / TRIALS, bound / TRIALS);
    assert_true(regret > 0 && regret < bound);
    caucus_adversary_close(adversary);
    caucus_plan_free(plan);
    caucus_plan_free(later);
}

/* Poisson counts, grace/S of them early; rates with the mean that was asked for and the spread of their logarithm. */
static void test_activity(void **state) {
    (void)state;
    enum { CLIENTS = 4000, SLOTS = 40 };
    caucus_plan *plan = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_UNIT_EVENT, CLIENTS, 400);
    for (int spread = 0; spread <= 1; spread++) {
        caucus_adversary *adversary = shifting(CLIENTS, SLOTS, 1, 90, spread);
        caucus_adversary_trial *trial = NULL;
        assert_int_equal(caucus_adversary_trial_new(adversary, 3, &trial), CAUCUS_OK);
        double early = 0, all = 0, squares = 0, logs = 0, log_squares = 0;
        for (uint32_t i = 1; i <= CLIENTS; i++) {
            double own = 0;
            for (uint64_t k = 0; k < SLOTS; k++) {
                const caucus_activity seen = caucus_activity_of(plan, trial, i, k);
                const double n = (double)(seen.early + seen.late);
                early += (double)seen.early;
                own += n;
                squares += n * n;
            }
            all += own;
            logs += log(own / SLOTS);
            log_squares += log(own / SLOTS) * log(own / SLOTS);
        }
        const double draws = (double)CLIENTS * SLOTS, mean = all / draws;
        const double deviation = sqrt(log_squares / CLIENTS - logs / CLIENTS * logs / CLIENTS);
        printf("  spread %d: mean %.3f, early %.4f, deviation of ln rate %.4f\n", spread, mean, early / all, deviation);
        assert_true(fabs(early / all - 0.25) < 0.01);
        if (spread == 0) {
            assert_true(fabs(mean - 90) < 5 * sqrt(90 / draws));
            assert_true(fabs((squares / draws - mean * mean) / mean - 1) < 5 * sqrt(2 / draws)); /* Poisson: 1 */
        } else {
            assert_true(fabs(mean - 90) < 5 * 90 * sqrt((exp(1) - 1) / CLIENTS));
            assert_true(fabs(deviation - 1) < 5 * sqrt(0.5 / CLIENTS));
        }
        caucus_adversary_trial_free(trial);
        caucus_adversary_close(adversary);
    }
    caucus_plan_free(plan);
}

static void watch(void *user, uint64_t slot, const caucus_announcement *a) {
    assert_int_equal(a->serial, slot);
    ++*(uint64_t *)user;
}

/* One decision a slot but the first, the same for the same seed, another for another; every trust and unit. */
static void test_trials(void **state) {
    (void)state;
    enum { CLIENTS = 30, SLOTS = 40 };
    caucus_adversary *adversary = shifting(CLIENTS, SLOTS, 4, 20, 1);
    for (int kind = 0; kind < 4; kind++) {
        caucus_plan *plan = own_plan(kind / 2 ? CAUCUS_TRUST_NOBODY : CAUCUS_TRUST_COORDINATOR,
                                     kind % 2 ? CAUCUS_UNIT_EVENT : CAUCUS_UNIT_CLIENT_BLOCK, CLIENTS, 100);
        caucus_trial_result one, again, other;
        uint64_t heard = 0;
        assert_int_equal(caucus_trial_play(plan, adversary, 1, 0, NULL, watch, &heard, &one), CAUCUS_OK);
        assert_int_equal(caucus_trial_play(plan, adversary, 1, 0, NULL, NULL, NULL, &again), CAUCUS_OK);
        assert_int_equal(caucus_trial_play(plan, adversary, 2, 0, NULL, NULL, NULL, &other), CAUCUS_OK);
        assert_int_equal(heard, SLOTS);
        assert_int_equal(one.selections, SLOTS - 1);
        assert_memory_equal(&one, &again, sizeof one);
        assert_true(one.digest != other.digest);
        assert_true(one.losses == other.losses && one.losses > CLIENTS * SLOTS * 10);
        assert_int_equal(one.scalars_up, (uint64_t)CLIENTS * (SLOTS - 1) * (kind / 2 ? 1 : 5));
        assert_true(one.regret_segments > 0 && one.curve[CAUCUS_CURVE_POINTS - 1] == one.regret);
        printf("  kind %d: regret of segments %.2f of %.0f losses\n", kind, one.regret_segments,
               (double)one.losses / CLIENTS);
        /* Playing at random costs about .4 a loss here; votes of 30 devices are not much better. */
        assert_true(one.regret_segments < (kind / 2 ? 0.35 : 0.15) * (double)one.losses / CLIENTS);
        caucus_plan_free(plan);
    }
    caucus_adversary_close(adversary);
}

/* A decision that comes later costs more: nearly a whole phase late against at once. */
static void test_grace_costs(void **state) {
    (void)state;
    caucus_adversary *adversary = shifting(100, 80, 8, 40, 0);
    double regret[2] = {0};
    for (int late = 0; late <= 1; late++) {
        caucus_plan *plan = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_UNIT_CLIENT_BLOCK, 100, late ? 1599 : 0);
        for (uint32_t n = 0; n < 5; n++) {
            caucus_trial_result r;
            assert_int_equal(caucus_trial_play(plan, adversary, 1, n, NULL, NULL, NULL, &r), CAUCUS_OK);
            regret[late] += r.regret_segments / 5;
        }
        caucus_plan_free(plan);
    }
    printf("  regret of segments: decided at once %.2f, a phase late %.2f\n", regret[0], regret[1]);
    assert_true(regret[1] > 1.3 * regret[0]);
    caucus_adversary_close(adversary);
}

/* What the watch hears, slot by slot. */
typedef struct heard {
    uint32_t expert[128];
} heard;

static void note(void *user, uint64_t slot, const caucus_announcement *a) {
    ((heard *)user)->expert[slot] = a->expert;
}

/* Regret of devices, computed again in the plainest way: every device's mean loss in every slot in which it saw any,
 * what was played against the best expert of each segment; and both regrets lie below what is proved of the counts. */
static void test_devices_weigh_the_same(void **state) {
    (void)state;
    enum { CLIENTS = 60, SLOTS = 24, SEGMENTS = 3, D = 5, TRIALS = 4 };
    caucus_adversary *adversary = shifting(CLIENTS, SLOTS, SEGMENTS, 3, 1.5); /* many see nothing, few a lot */
    static float rows[CAUCUS_SLOT_ROWS * D];
    for (int event = 0; event <= 1; event++) {
        caucus_plan *plan =
            own_plan(CAUCUS_TRUST_COORDINATOR, event ? CAUCUS_UNIT_EVENT : CAUCUS_UNIT_CLIENT_BLOCK, CLIENTS, 800);
        double measured = 0, proved = 0;
        for (uint32_t n = 0; n < TRIALS; n++) {
            caucus_trial_result r;
            heard h;
            caucus_adversary_trial *trial = NULL;
            assert_int_equal(caucus_trial_play(plan, adversary, 1, n, NULL, note, &h, &r), CAUCUS_OK);
            assert_int_equal(caucus_adversary_trial_new(adversary, n, &trial), CAUCUS_OK);
            double cost = 0, best = 0, pairs = 0, losses = 0;
            for (uint64_t segment = 0; segment < SEGMENTS; segment++) {
                double totals[D] = {0};
                for (uint64_t k = segment * SLOTS / SEGMENTS; k < (segment + 1) * SLOTS / SEGMENTS; k++)
                    for (uint32_t i = 1; i <= CLIENTS; i++) {
                        const caucus_activity seen = caucus_activity_of(plan, trial, i, k);
                        const uint64_t all = seen.early + seen.late;
                        if (all == 0)
                            continue;
                        caucus_adversary_fill(trial, i, k * CAUCUS_SLOT_ROWS, all, rows);
                        for (uint64_t row = 0; row < all; row++) {
                            const uint32_t played = h.expert[row < seen.early && k > 0 ? k - 1 : k];
                            cost += (double)rows[row * D + played] / (double)all;
                            for (uint32_t y = 0; y < D; y++)
                                totals[y] += (double)rows[row * D + y] / (double)all;
                        }
                        pairs++;
                        losses += (double)all;
                    }
                double least = totals[0];
                for (uint32_t y = 1; y < D; y++)
                    least = fmin(least, totals[y]);
                best += least;
            }
            assert_int_equal((uint64_t)losses, r.losses);
            const double want = (cost - best) / pairs * losses / CLIENTS;
            assert_true(fabs(r.regret_devices - want) < 1e-4 * (1 + fabs(want))); /* means are on the grid */
            measured += event ? r.regret_segments : r.regret_devices;
            proved += r.bound;
            caucus_adversary_trial_free(trial);
        }
        printf("  %s: regret %.3f, proved %.3f\n", event ? "sums" : "means", measured / TRIALS, proved / TRIALS);
        assert_true(measured > 0 && measured < proved);
        caucus_plan_free(plan);
    }
    caucus_adversary_close(adversary);
}

/* Where all devices see 64 losses or so, of one distribution, the bound is near the plan's own B. */
static void test_bound_of_what_was_played(void **state) {
    (void)state;
    enum { CLIENTS = 50, SLOTS = 64 };
    caucus_adversary *adversary = shifting(CLIENTS, SLOTS, 1, 64, 0);
    caucus_plan *plan = own_plan(CAUCUS_TRUST_COORDINATOR, CAUCUS_UNIT_CLIENT_BLOCK, CLIENTS, 0);
    caucus_trial_result r;
    assert_int_equal(caucus_trial_play(plan, adversary, 1, 0, NULL, NULL, NULL, &r), CAUCUS_OK);
    const double n = (double)r.losses / CLIENTS, d = 5;
    const double like = n / SLOTS + n * (1 - 1.0 / SLOTS) * plan->stoch.phase[0].error +
                        sqrt(n * log(d) / (2 * CLIENTS)); /* the first slot; B; against the best realised */
    printf("  bound %.3f, as of a plan %.3f\n", r.bound, like);
    assert_true(fabs(r.bound / like - 1) < 0.02);
    caucus_plan_free(plan);
    plan = own_plan(CAUCUS_TRUST_NOBODY, CAUCUS_UNIT_CLIENT_BLOCK, CLIENTS, 0);
    assert_int_equal(caucus_trial_play(plan, adversary, 1, 0, NULL, NULL, NULL, &r), CAUCUS_OK);
    assert_true(isnan(r.bound)); /* votes */
    caucus_plan_free(plan);
    caucus_adversary_close(adversary);
}

/* drifting: a step of the walk is a slot. All rows of one have one mean, which is that of the same step in step. */
static void test_drifting(void **state) {
    (void)state;
    enum { SLOTS = 40, D = 5 };
    caucus_adversary *own = NULL, *together = NULL;
    caucus_adversary_settings a = {.kind = CAUCUS_ADVERSARY_DRIFTING,
                                   .seed = 5,
                                   .clients = 600,
                                   .experts = D,
                                   .rounds = SLOTS * CAUCUS_SLOT_ROWS,
                                   .has_means = true,
                                   .mean_lo = 0.05,
                                   .mean_hi = 0.95,
                                   .drift = 0.2,
                                   .activity_mean = 10};
    assert_int_equal(caucus_adversary_open(&a, &own, NULL), CAUCUS_OK);
    a.rounds = SLOTS, a.activity_mean = 0;
    assert_int_equal(caucus_adversary_open(&a, &together, NULL), CAUCUS_OK);
    caucus_adversary_trial *slots = NULL, *rounds = NULL;
    assert_int_equal(caucus_adversary_trial_new(own, 2, &slots), CAUCUS_OK);
    assert_int_equal(caucus_adversary_trial_new(together, 2, &rounds), CAUCUS_OK);
    static float rows[CAUCUS_SLOT_ROWS * D], one[SLOTS * D];
    double in_step[SLOTS][D] = {{0}};
    for (uint32_t i = 1; i <= a.clients; i++) {
        caucus_adversary_fill(rounds, i, 0, SLOTS, one);
        for (size_t k = 0; k < (size_t)SLOTS * D; k++)
            in_step[k / D][k % D] += (double)one[k] / a.clients;
    }
    for (uint64_t k = 0; k < SLOTS; k++) {
        double half[2][D] = {{0}};
        caucus_adversary_fill(slots, 1, k * CAUCUS_SLOT_ROWS, CAUCUS_SLOT_ROWS, rows);
        for (size_t row = 0; row < CAUCUS_SLOT_ROWS; row++)
            for (uint32_t y = 0; y < D; y++)
                half[row >= CAUCUS_SLOT_ROWS / 2][y] += 2 * (double)rows[row * D + y] / CAUCUS_SLOT_ROWS;
        for (uint32_t y = 0; y < D; y++) {
            assert_true(fabs(half[0][y] - half[1][y]) < 5 * sqrt(0.5 / CAUCUS_SLOT_ROWS));
            assert_true(fabs((half[0][y] + half[1][y]) / 2 - in_step[k][y]) < 5 * 0.5 / sqrt(a.clients) + 0.05);
        }
    }
    float piece[3 * D]; /* rows in any order, over the edge of a slot */
    caucus_adversary_fill(slots, 1, SLOTS * CAUCUS_SLOT_ROWS - 3, 3, piece);
    assert_memory_equal(piece, rows + (CAUCUS_SLOT_ROWS - 3) * D, sizeof piece);
    caucus_adversary_fill(slots, 1, (SLOTS - 1) * CAUCUS_SLOT_ROWS - 1, 3, piece);
    assert_memory_equal(piece + D, rows, 2 * D * sizeof *piece);
    caucus_adversary_trial_free(slots);
    caucus_adversary_trial_free(rounds);
    caucus_adversary_close(own);
    caucus_adversary_close(together);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unit_client),
        cmocka_unit_test(test_activity),
        cmocka_unit_test(test_trials),
        cmocka_unit_test(test_grace_costs),
        cmocka_unit_test(test_devices_weigh_the_same),
        cmocka_unit_test(test_bound_of_what_was_played),
        cmocka_unit_test(test_drifting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
