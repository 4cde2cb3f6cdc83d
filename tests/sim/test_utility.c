/* SPDX-License-Identifier: Apache-2.0 */
/* test_utility.c: regret is what the theory says (docs/PRIVACY.md, "Bounds").
 *
 *  - svt: the bound printed in the plan holds in at least 1 - rho of the runs. A one-sided binomial test: with n runs,
 * K of them above the bound, it alarms if P(Binomial(n, rho) >= K) < 1e-6, which is also its false-alarm rate.
 *  - stoch, hedge: the mean stays below the bound in expectation; the mean less 5 standard errors is compared, so that
 * a true bound is refused with probability below 3e-7.
 *  - every adversary against every algorithm: a bound is withheld, or it holds in these senses; and those withheld do
 * fail.
 *  - more clients mean less regret where the theory says so, and do not where it says they cannot.
 *  - lower bounds: no private algorithm gets below them, on the sequences of their proofs.
 * Seed fixed and printed, so each outcome is the same every time. */
#include "sim/plain_trial.h"

#include "show/bound_fit.h"
#include "sim/testing_run.h"
#include "study/parts.h"
#include "testing_settings.h"

#include <inttypes.h>
#include <unistd.h>

#define SEED 5u
#define ALARM 1e-6
#define ERRORS 5.0

static caucus_run run_of(caucus_algorithm algorithm, caucus_adversary_kind kind, uint32_t m, uint32_t d,
                         uint32_t rounds, double epsilon, uint32_t trials) {
    return testing_run(algorithm, kind, m, d, rounds, epsilon, trials, SEED);
}

static caucus_run_result play(const caucus_run *run) {
    caucus_run_result result = testing_play(run);
    assert_int_equal(result.done, run->trials);
    return result;
}

static double mean_regret(const caucus_run *run, double *ret_error) {
    caucus_run_result result = play(run);
    caucus_summary s = caucus_run_regret(&result);
    if (ret_error)
        *ret_error = s.std / sqrt(result.done);
    caucus_run_result_free(&result);
    return s.mean;
}

/* P(Binomial(n, p) >= k) */
static double binomial_tail(uint32_t n, double p, uint32_t k) {
    double tail = 0;
    for (uint32_t j = k; j <= n; j++)
        tail += exp(lgamma(n + 1.0) - lgamma(j + 1.0) - lgamma(n - j + 1.0) + j * log(p) + (n - j) * log1p(-p));
    return tail;
}

static void check_probability(const char *what, const caucus_run *run) {
    caucus_run_result result = play(run);
    assert_int_equal(result.plan->bound_kind, CAUCUS_BOUND_PROBABILITY);
    assert_true(caucus_bound_holds(result.plan, &run->adversary));
    uint32_t above = 0;
    for (uint32_t i = 0; i < result.done; i++)
        above += result.trial[i].regret > result.plan->bound;
    double tail = above == 0 ? 1 : binomial_tail(result.done, result.plan->settings.rho, above);
    print_message("%-40s regret %8.2f (most %8.2f), bound %8.2f, above it %u of %u\n", what,
                  caucus_run_regret(&result).mean, caucus_run_regret(&result).max, result.plan->bound, above,
                  result.done);
    assert_true(tail >= ALARM);
    caucus_run_result_free(&result);
}

static void test_binomial_tail(void **state) {
    (void)state;
    assert_true(fabs(binomial_tail(10, 0.5, 0) - 1) < 1e-12);
    assert_true(fabs(binomial_tail(4, 0.25, 3) - (4 * 0.015625 * 0.75 + 0.00390625)) < 1e-12);
    assert_true(binomial_tail(200, 0.05, 30) < ALARM && binomial_tail(200, 0.05, 20) > ALARM); /* it can alarm */
}

static void test_svt_bound(void **state) {
    (void)state;
    static const caucus_adversary_kind kinds[] = {CAUCUS_ADVERSARY_REALIZABLE, CAUCUS_ADVERSARY_HALVING,
                                                  CAUCUS_ADVERSARY_CREEPING, CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE};
    for (size_t k = 0; k < 4; k++)
        for (int variant = 0; variant < 5; variant++) {
            double epsilon = kinds[k] == CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE ? 0.5 : variant == 2 ? 2 : 10;
            caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, kinds[k], 10, 50, 300, epsilon, 120);
            run.settings.delta = variant == 1 ? 1e-6 : 0;
            run.settings.interval = variant >= 3 ? 10 : 1;
            run.settings.unit = variant == 4 ? CAUCUS_UNIT_CLIENT_BLOCK : CAUCUS_UNIT_EVENT;
            static const char *const names[] = {"pure", "delta", "epsilon 2", "N = 10", "N = 10, client-block"};
            char what[64];
            snprintf(what, sizeof what, "%s, %s", caucus_adversary_kind_word(kinds[k]), names[variant]);
            check_probability(what, &run);
        }
}

/* rho = 1/2: bounds are tighter, so a wrong one shows sooner. */
static void test_svt_loose_promise(void **state) {
    (void)state;
    for (int kind = CAUCUS_ADVERSARY_REALIZABLE; kind <= CAUCUS_ADVERSARY_CREEPING; kind++) {
        caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, (caucus_adversary_kind)kind, 40, 50, 300, 10, 200);
        run.settings.rho = 0.5;
        check_probability("rho = 1/2", &run);
    }
}

/* Where MovieLens-1M is; without it the test is skipped. */
static const char *movielens(void) {
    static char path[1024];
    const char *set = getenv("CAUCUS_MOVIELENS"), *source = getenv("CAUCUS_SOURCE");
    if (set)
        snprintf(path, sizeof path, "%s/ml-1m", set);
    else
        snprintf(path, sizeof path, "%s/../shared/data/ml-1m", source ? source : ".");
    if (access(path, R_OK) != 0) {
        print_message("skipped: no MovieLens data in %s (CAUCUS_MOVIELENS=directory holding ml-1m)\n", path);
        skip();
    }
    return path;
}

/* Figure "MovieLens" of the report has the paper's ten trials; the claim it makes, over a hundred. */
static void test_movielens_ratio(void **state) {
    (void)state;
    double regret[2], error[2];
    const char *path = movielens();
    for (int paper = 0; paper < 2; paper++) {
        caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_ADVERSARY_MOVIELENS, 10, 18, 604, 10, 120);
        run.settings.calibration = paper ? CAUCUS_CALIBRATION_PAPER : CAUCUS_CALIBRATION_TIGHT;
        run.settings.hi = 5;
        run.adversary.data = path;
        regret[paper] = mean_regret(&run, &error[paper]);
    }
    print_message("movielens, 120 trials: tight %.2f +- %.2f, paper %.2f +- %.2f, ratio %.1f\n", regret[0], error[0],
                  regret[1], error[1], regret[1] / regret[0]);
    assert_true(regret[1] - ERRORS * error[1] >= 4 * (regret[0] + ERRORS * error[0]));
}

static void test_movielens_bound(void **state) {
    (void)state;
    const char *path = movielens();
    caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_ADVERSARY_MOVIELENS, 10, 18, 604, 10, 100);
    run.settings.lo = 0;
    run.settings.hi = 5;
    run.adversary.data = path;
    /* The promise is for lstar at least as large as what the reference genre costs a client: nothing, its class
     * says. */
    caucus_adversary_settings a = {.kind = CAUCUS_ADVERSARY_MOVIELENS, .seed = SEED, .data = path};
    caucus_adversary *adversary = adversary_of(&a);
    caucus_adversary_trial *losses = NULL;
    assert_int_equal(caucus_adversary_trial_new(adversary, 0, &losses), CAUCUS_OK);
    uint32_t best = caucus_adversary_best_genre(adversary);
    static float rows[604 * 18];
    double cost = 0;
    for (uint32_t i = 1; i <= 10; i++) {
        caucus_adversary_fill(losses, i, 0, 604, rows);
        for (uint32_t t = 0; t < 604; t++)
            cost += (double)rows[t * 18 + best] / 10;
    }
    caucus_adversary_trial_free(losses);
    caucus_adversary_close(adversary);
    assert_true(cost == 0 && caucus_adversary_class_of(&run.adversary).faultless);
    check_probability("movielens", &run);
}

static void check_expectation(const char *what, const caucus_run *run) {
    caucus_run_result result = play(run);
    assert_int_equal(result.plan->bound_kind, CAUCUS_BOUND_EXPECTATION);
    assert_false(caucus_plan_is_vacuous(result.plan)); /* or nothing could fail */
    assert_true(caucus_bound_holds(result.plan, &run->adversary));
    caucus_summary s = caucus_run_regret(&result);
    double error = s.std / sqrt(result.done);
    print_message("%-40s regret %8.2f +- %.2f, bound %8.2f\n", what, s.mean, error, result.plan->bound_uncapped);
    assert_true(s.mean - ERRORS * error <= result.plan->bound_uncapped);
    caucus_run_result_free(&result);
}

/* Other ways of selecting, weighing, calibrating and adding noise. */
static void check_variants(caucus_adversary_kind kind) {
    const caucus_run plain = run_of(CAUCUS_ALGORITHM_STOCH, kind, 10, 30, 1023, 1, 60);
    caucus_run run = plain;
    run.settings.select = CAUCUS_SELECT_NOISY_MIN;
    check_expectation("stoch, noisy-min", &run);
    run = plain;
    run.settings.past_phases = true;
    run.settings.epsilon = 10;
    check_expectation("stoch, past phases", &run);
    run = plain;
    run.settings.unit = CAUCUS_UNIT_CLIENT_BLOCK;
    check_expectation("stoch, client-block", &run);
    run = plain;
    run.settings.unit = CAUCUS_UNIT_CLIENT;
    run.settings.epsilon = 10;
    check_expectation("stoch, client", &run);
    run = plain;
    run.settings.trees = 2;
    check_expectation("stoch, two trees", &run);
    run = plain;
    run.settings.calibration = CAUCUS_CALIBRATION_PAPER;
    check_expectation("stoch, paper", &run);
    run.settings.delta = 1e-6;
    check_expectation("stoch, paper, delta", &run);
    run.settings.delta = 0;
    run.settings.trust = CAUCUS_TRUST_PAPER_LOCAL;
    check_expectation("stoch, paper-local", &run);
}

static void test_expectation_bounds(void **state) {
    (void)state;
    static const caucus_adversary_kind kinds[] = {CAUCUS_ADVERSARY_GAUSSIAN, CAUCUS_ADVERSARY_BERNOULLI};
    static const caucus_message messages[] = {CAUCUS_MESSAGE_KNORM, CAUCUS_MESSAGE_LAPLACE_D};
    for (size_t k = 0; k < 2; k++) {
        caucus_run run = run_of(CAUCUS_ALGORITHM_STOCH, kinds[k], 10, 30, 1023, 1, 60);
        check_expectation("stoch", &run);
        run.settings.delta = 1e-6;
        check_expectation("stoch, delta", &run);
        run.settings.delta = 0;
        run.settings.select = CAUCUS_SELECT_EXPONENTIAL;
        check_expectation("stoch, exponential", &run);
        run.settings.select = CAUCUS_SELECT_AUTO;
        run.settings.trust = CAUCUS_TRUST_NOBODY;
        for (size_t i = 0; i < 2; i++) {
            run.settings.message = messages[i];
            check_expectation(caucus_message_word(messages[i]), &run);
        }
        run.settings.message = CAUCUS_MESSAGE_GAUSS;
        run.settings.delta = 1e-6;
        check_expectation("gauss", &run);
        check_variants(kinds[k]);
        run = run_of(CAUCUS_ALGORITHM_HEDGE, kinds[k], 10, 30, 512, INFINITY, 60);
        check_expectation("hedge, no privacy", &run);
        run.settings.epsilon = 10;
        run.settings.delta = 1e-6;
        check_expectation("hedge, epsilon 10", &run);
    }
    caucus_run run = run_of(CAUCUS_ALGORITHM_HEDGE, CAUCUS_ADVERSARY_HALVING, 10, 30, 512, 10, 60);
    check_expectation("hedge, halving", &run);
}

/* Runs against the losses of one kind, of which a plan's bound is proved or not. */
typedef struct judged {
    bool holds;     /* it is shown as proven */
    bool violated;  /* by the tests above: false alarms 1e-6 and 3e-7 */
    bool is_useful; /* it could be violated */
} judged;

static judged judge(const caucus_run *run) {
    caucus_run_result result = play(run);
    const caucus_plan *plan = result.plan;
    caucus_summary s = caucus_run_regret(&result);
    judged j = {.holds = caucus_bound_holds(plan, &run->adversary)};
    uint32_t above = 0;
    for (uint32_t i = 0; i < result.done; i++)
        above += result.trial[i].regret > plan->bound;
    if (plan->bound_kind == CAUCUS_BOUND_PROBABILITY)
        j.violated = above > 0 && binomial_tail(result.done, plan->settings.rho, above) < ALARM;
    else if (plan->bound_kind == CAUCUS_BOUND_EXPECTATION)
        j.violated = s.mean - ERRORS * s.std / sqrt(result.done) > plan->bound;
    j.is_useful = plan->bound_kind != CAUCUS_BOUND_NONE && !caucus_plan_is_vacuous(plan);
    print_message("%-16s %-24s m %2u, T %4" PRIu64 ": regret %7.2f, bound %7.2f %-10s above it %3u of %u%s\n",
                  caucus_algorithm_word(run->settings.algorithm), caucus_adversary_kind_word(run->adversary.kind),
                  plan->settings.clients, plan->settings.rounds, s.mean, plan->bound,
                  j.holds                                 ? "shown,"
                  : plan->bound_kind == CAUCUS_BOUND_NONE ? "(unproved)"
                                                          : "withheld,",
                  above, result.done, j.violated ? ": violated" : "");
    caucus_run_result_free(&result);
    return j;
}

static void test_every_bound_that_is_shown(void **state) {
    (void)state;
    uint32_t shown = 0, useful = 0;
    for (int kind = 0; kind < CAUCUS_ADVERSARY_MOVIELENS; kind++)
        for (int algorithm = 0; algorithm < CAUCUS_ALGORITHM_COUNT; algorithm++)
            for (uint32_t m = 1; m <= 10; m += 9) {
                double epsilon = kind == CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE ? 1 : 10;
                caucus_run run =
                    run_of((caucus_algorithm)algorithm, (caucus_adversary_kind)kind, m, 30, 512, epsilon, 100);
                judged j;
                if (algorithm == CAUCUS_ALGORITHM_LEADER && kind == CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE)
                    continue; /* its losses want an epsilon, and leader has none */
                j = judge(&run);
                assert_false(j.holds && j.violated);
                shown += j.holds;
                useful += j.holds && j.is_useful;
            }
    print_message("%u bounds shown, %u of them useful\n", shown, useful);
    assert_true(shown >= 48 && useful >= 40); /* withholding everything would be no way out */
    /* Own losses, fixed in advance and nothing else known: hedge alone. */
    for (int algorithm = 0; algorithm < CAUCUS_ALGORITHM_COUNT; algorithm++) {
        caucus_run run = run_of((caucus_algorithm)algorithm, CAUCUS_ADVERSARY_LOSSES, 4, 10, 64, 10, 1);
        caucus_plan *plan = plan_of(&run.settings);
        assert_int_equal(caucus_bound_holds(plan, &(caucus_adversary_settings){.kind = CAUCUS_ADVERSARY_LOSSES}),
                         algorithm == CAUCUS_ALGORITHM_HEDGE);
        caucus_plan_free(plan);
    }
}

/* Why: outside their premises bounds are far from true, and the tests above see it. */
static void test_bounds_that_are_withheld(void **state) {
    (void)state;
    static const struct {
        caucus_algorithm algorithm;
        caucus_adversary_kind kind;
        uint32_t rounds;
    } cases[] = {
        {CAUCUS_ALGORITHM_SVT, CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS, 4096},
        {CAUCUS_ALGORITHM_SVT, CAUCUS_ADVERSARY_BERNOULLI, 4096},
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_ADVERSARY_HALVING, 512},
        {CAUCUS_ALGORITHM_STOCH, CAUCUS_ADVERSARY_CREEPING, 512},
        {CAUCUS_ALGORITHM_LIMITED_UPDATES, CAUCUS_ADVERSARY_HALVING, 512},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        caucus_run run = run_of(cases[i].algorithm, cases[i].kind, 10, 100, cases[i].rounds, 10, 100);
        judged j = judge(&run);
        assert_true(j.violated && j.is_useful);
        assert_false(j.holds);
    }
}

/* What clients gain from each other. */
static void test_speed_up(void **state) {
    (void)state;
    double regret[2];
    for (int many = 0; many < 2; many++) {
        caucus_run run = run_of(CAUCUS_ALGORITHM_STOCH, CAUCUS_ADVERSARY_GAUSSIAN, many ? 16 : 1, 30, 1024, 1, 100);
        regret[many] = mean_regret(&run, NULL);
    }
    print_message("stoch, gaussian: 1 client %.2f, 16 clients %.2f, ratio %.3f\n", regret[0], regret[1],
                  regret[1] / regret[0]);
    assert_true(regret[1] <= 0.45 * regret[0]);
    for (int many = 0; many < 2; many++) {
        caucus_run run = run_of(CAUCUS_ALGORITHM_SVT, CAUCUS_ADVERSARY_REALIZABLE, many ? 10 : 1, 100, 512, 10, 100);
        regret[many] = mean_regret(&run, NULL);
    }
    print_message("svt, realizable: 1 client %.2f, 10 clients %.2f, ratio %.3f\n", regret[0], regret[1],
                  regret[1] / regret[0]);
    assert_true(regret[1] <= 0.25 * regret[0]);
}

/* Identical fair coins: whatever it does, every algorithm loses the same on average, which is what the best of d coins
 * is ahead of T/2 (Theorem 2). Both sides are tested, at 5 standard errors: who loses less has seen losses too
 * early. */
static void test_no_speed_up(void **state) {
    (void)state;
    static const caucus_algorithm players[] = {CAUCUS_ALGORITHM_HEDGE, CAUCUS_ALGORITHM_HEDGE, CAUCUS_ALGORITHM_STOCH,
                                               CAUCUS_ALGORITHM_SVT};
    const double must = caucus_study_fair_coins(1024, 32);
    assert_true(must > 0.75 * sqrt(1024 * log(32) / 2) && must < sqrt(1024 * log(32) / 2));
    for (size_t i = 0; i < 4; i++)
        for (uint32_t m = 1; m <= 16; m *= 16) {
            double epsilon = i == 0 ? INFINITY : 1, error;
            caucus_run run = run_of(players[i], CAUCUS_ADVERSARY_LOWER_BOUND_OBLIVIOUS, m, 32, 1024, epsilon, 150);
            double regret = mean_regret(&run, &error);
            print_message("%-5s fair coins, epsilon %g, m = %2u: %.2f +- %.2f, everybody %.2f\n",
                          caucus_algorithm_word(players[i]), epsilon, m, regret, error, must);
            assert_true(fabs(regret - must) <= ERRORS * error);
        }
}

/* Theorem 3, by elements: expected total regret of an epsilon-private algorithm is at least K/16, K = floor(ln d/(2
 * epsilon)), d >= 32. */
static void test_private_lower_bound(void **state) {
    (void)state;
    static const struct {
        const char *name;
        caucus_algorithm algorithm;
        caucus_trust trust;
        caucus_message message;
        uint32_t clients;
    } players[] = {
        {"svt", CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 4},
        {"sparse-vector", CAUCUS_ALGORITHM_SPARSE_VECTOR, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 1},
        {"hedge", CAUCUS_ALGORITHM_HEDGE, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 4},
        {"stoch", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 4},
        {"limited-updates", CAUCUS_ALGORITHM_LIMITED_UPDATES, CAUCUS_TRUST_COORDINATOR, CAUCUS_MESSAGE_AUTO, 1},
        {"stoch, vote", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_VOTE, 4},
        {"stoch, shortlist", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_SHORTLIST, 4},
        {"stoch, knorm", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_KNORM, 4},
        {"stoch, laplace-d", CAUCUS_ALGORITHM_STOCH, CAUCUS_TRUST_NOBODY, CAUCUS_MESSAGE_LAPLACE_D, 4},
    };
    const double epsilon = 0.05;
    const uint32_t d = 64;
    double elements = floor(log(d) / (2 * epsilon));
    for (size_t i = 0; i < sizeof players / sizeof players[0]; i++) {
        caucus_run run = run_of(players[i].algorithm, CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE, players[i].clients, d,
                                64, epsilon, 100);
        run.settings.trust = players[i].trust;
        run.settings.message = players[i].message;
        double error, total = mean_regret(&run, &error) * players[i].clients;
        print_message("%-40s total regret %.2f, at least %.2f of %.0f\n", players[i].name, total, elements / 16,
                      elements);
        assert_true(total >= elements / 16 && total <= elements);
    }
    /* Without privacy one loss is enough to see who is good: the bound is about privacy, not about the sequence. */
    caucus_settings s = testing_settings(CAUCUS_ALGORITHM_LEADER, CAUCUS_TRUST_COORDINATOR, 4, d, 64, 1);
    caucus_plan *plan = plan_of(&s);
    caucus_adversary_settings a = {.kind = CAUCUS_ADVERSARY_LOWER_BOUND_REALIZABLE,
                                   .seed = SEED,
                                   .clients = 4,
                                   .experts = d,
                                   .rounds = 64,
                                   .epsilon = epsilon};
    caucus_adversary *adversary = adversary_of(&a);
    double total = 0;
    for (uint32_t number = 0; number < 100; number++) {
        caucus_trial_result r;
        assert_int_equal(caucus_trial_play(plan, adversary, SEED, number, NULL, NULL, NULL, &r), CAUCUS_OK);
        total += r.regret * 4 / 100;
    }
    print_message("%-40s total regret %.2f\n", "leader, not private", total);
    assert_true(total <= 4); /* one round of all clients */
    caucus_adversary_close(adversary);
    caucus_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binomial_tail),
        cmocka_unit_test(test_svt_bound),
        cmocka_unit_test(test_svt_loose_promise),
        cmocka_unit_test(test_movielens_bound),
        cmocka_unit_test(test_movielens_ratio),
        cmocka_unit_test(test_every_bound_that_is_shown),
        cmocka_unit_test(test_bounds_that_are_withheld),
        cmocka_unit_test(test_expectation_bounds),
        cmocka_unit_test(test_speed_up),
        cmocka_unit_test(test_no_speed_up),
        cmocka_unit_test(test_private_lower_bound),
    };
    printf("seed %u, false alarm %g\n", SEED, ALARM);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
