/* SPDX-License-Identifier: Apache-2.0 */
/* test_exact_svt.c: Fed-SVT as a whole, exactly (docs/PRIVACY.md, statement 9).
 *
 * For two experts on a grid of two steps: every sequence of block sums, every neighbour, every transcript. The
 * integers come from caucus_plan_new, so calibration, accountant and law are judged together: the largest
 * |ln(P/P')| must not exceed the plan's epsilon. Hand-made parameters with few switches show that the sum
 * eps_AT + sum eta_k is nearly reached. The law is tied to the code by running the coordinator itself
 * and comparing frequencies. */
#include "algo/exact_svt.h"
#include "plan/plan.h"

#include <caucus/coordinator.h>

typedef struct plan_case {
    const char *what;
    uint32_t clients, rounds, interval;
    double epsilon, rho, lstar;
    caucus_calibration calibration;
    caucus_unit unit;
    bool front_load;
    caucus_algorithm algorithm;
} plan_case;

static const plan_case cases[] = {
    {"tight, m=2 T=4", 2, 4, 1, 1, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false, CAUCUS_ALGORITHM_SVT},
    {"tight, m=2 T=4, epsilon 10", 2, 4, 1, 10, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false,
     CAUCUS_ALGORITHM_SVT},
    {"tight, m=2 T=4, L*=0.5", 2, 4, 1, 2, 0.5, 0.5, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false,
     CAUCUS_ALGORITHM_SVT},
    {"tight, m=1 T=5, epsilon 4", 1, 5, 1, 4, 0.05, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false,
     CAUCUS_ALGORITHM_SVT},
    {"tight, m=1 T=8 N=2", 1, 8, 2, 2, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false,
     CAUCUS_ALGORITHM_SVT},
    {"tight, m=2 T=6 N=2", 2, 6, 2, 2, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false,
     CAUCUS_ALGORITHM_SVT},
    {"front-load, m=2 T=4", 2, 4, 1, 4, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, true,
     CAUCUS_ALGORITHM_SVT},
    {"client-block, m=2 T=8 N=2", 2, 8, 2, 4, 0.5, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_CLIENT_BLOCK, false,
     CAUCUS_ALGORITHM_SVT},
    {"paper, m=2 T=4", 2, 4, 1, 4, 0.05, 0, CAUCUS_CALIBRATION_PAPER, CAUCUS_UNIT_EVENT, false, CAUCUS_ALGORITHM_SVT},
    {"sparse-vector, T=5", 1, 5, 1, 4, 0.05, 0, CAUCUS_CALIBRATION_TIGHT, CAUCUS_UNIT_EVENT, false,
     CAUCUS_ALGORITHM_SPARSE_VECTOR},
};

static caucus_plan *case_plan(const plan_case *c) {
    caucus_settings s;
    exact_settings(&s, c->algorithm, CAUCUS_TRUST_COORDINATOR, c->epsilon);
    s.clients = c->clients;
    s.rounds = c->rounds;
    s.interval = c->interval;
    s.rho = c->rho;
    s.lstar = c->lstar;
    s.calibration = c->calibration;
    s.unit = c->unit;
    s.front_load = c->front_load;
    return exact_plan(&s);
}

/* What a plan really spends here: with fewer checks than selections allowed, the rest of its budget cannot be
 * reached. */
static long double reachable(const exact_svt *svt) {
    long double at = fmaxl(exact_rate(svt->threshold_noise.parameter), exact_rate(svt->check_noise.parameter)), sum = 0;
    for (uint32_t k = 0; k < svt->switches; k++) {
        sum += 2 * exact_rate(svt->select_rate[k]);
    }
    return (at + sum) * (long double)svt->move;
}

static void test_plans(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        caucus_plan *plan = case_plan(&cases[i]);
        exact_svt svt;
        exact_svt_from_plan(&svt, plan);
        exact_svt_build(&svt);
        long double measured = exact_svt_epsilon(&svt), bound = reachable(&svt);
        exact_assert(cases[i].what, measured, (long double)plan->guarantee.epsilon_choices, 0);
        assert_true(measured <= (long double)cases[i].epsilon + EXACT_SLACK);
        assert_true(bound <= (long double)plan->guarantee.epsilon_choices + EXACT_SLACK);
        exact_assert("  against what this many checks can reach", measured, bound, 0.45L);
        exact_svt_free(&svt);
        caucus_plan_free(plan);
    }
}

/* Parameters by hand: few switches and strong selections, so that every part of the sum is paid in one transcript. */
static void handmade(exact_svt *svt, uint32_t clients, uint32_t checks, uint32_t switches, caucus_noise_kind kind) {
    memset(svt, 0, sizeof *svt);
    svt->checks = checks;
    svt->switches = switches;
    svt->threshold_noise = svt->check_noise = (caucus_noise){kind, caucus_rational_make(1, 4)}; /* eps_AT = 1/2 */
    for (uint32_t k = 0; k < switches; k++) {
        svt->threshold[k] = 3 + (int64_t)k;
        svt->select_rate[k] = caucus_rational_make(1, 1 + k); /* eta = 4, 2 */
    }
    svt->top = 2 * (int64_t)clients;
    svt->move = 2;
}

static void test_sum_is_nearly_reached(void **state) {
    (void)state;
    for (uint32_t switches = 1; switches <= 2; switches++) {
        for (int laplace = 0; laplace < 2; laplace++) {
            exact_svt svt;
            handmade(&svt, 2, 3, switches, laplace ? CAUCUS_NOISE_LAPLACE : CAUCUS_NOISE_GEOMETRIC);
            exact_svt_build(&svt);
            char what[64];
            snprintf(what, sizeof what, "by hand, kappa=%u, %s", switches, laplace ? "laplace" : "geometric");
            exact_assert(what, exact_svt_epsilon(&svt), reachable(&svt), 0.93L);
            exact_svt_free(&svt);
        }
    }
}

/* The coordinator of the hand-made parameters: two clients, one loss per block and client. */
static void coordinator_plan(caucus_plan *ret, exact_svt *svt, caucus_protocol protocol) {
    memset(ret, 0, sizeof *ret);
    exact_settings(&ret->settings, CAUCUS_ALGORITHM_SVT, CAUCUS_TRUST_COORDINATOR, 1);
    ret->settings.clients = 2;
    ret->settings.rounds = svt->checks + 1;
    ret->settings.protocol = protocol;
    ret->grid = 2;
    ret->svt.blocks = svt->checks + 1;
    ret->svt.checks = svt->checks;
    ret->svt.switches = svt->switches;
    ret->svt.threshold_noise = svt->threshold_noise;
    ret->svt.check_noise = svt->check_noise;
    ret->svt.threshold = svt->threshold;
    ret->svt.select_rate = svt->select_rate;
    ret->svt.score_floor = svt->score_floor;
}

/* What client 1 or 2 saw of a block's sum: the first takes as much as one loss can be. */
static int64_t share(uint32_t client, int64_t sum) {
    int64_t first = sum > 2 ? 2 : sum;
    return client == 1 ? first : sum - first;
}

/* Answer the announcement in force for both clients; sent[i]: last block in client i's vectors. */
static void answer(caucus_coordinator *c, int64_t sum[][2], uint64_t *sent) {
    const caucus_announcement a = *caucus_coordinator_announcement(c);
    for (uint32_t client = 1; client <= 2; client++) {
        int64_t value[2] = {0, 0};
        caucus_report r = {.client = client,
                           .kind = a.ask,
                           .first = a.block,
                           .block = a.block,
                           .epoch_or_leaf = a.epoch,
                           .count = 1,
                           .value = value};
        if (a.ask == CAUCUS_ASK_COST) {
            value[0] = share(client, sum[a.block - 1][a.expert]);
        } else {
            r.first = sent[client - 1] + 1;
            r.count = 2;
            for (uint64_t block = r.first; block <= a.block; block++) {
                value[0] += share(client, sum[block - 1][0]);
                value[1] += share(client, sum[block - 1][1]);
            }
            sent[client - 1] = a.block;
        }
        assert_int_equal(caucus_coordinator_receive(c, &r), CAUCUS_OK);
    }
    assert_int_equal(caucus_coordinator_waiting(c), 0);
}

/* One run of the coordinator's state machine on given block sums; returns the transcript's number. */
static uint32_t run_coordinator(const exact_svt *svt, const caucus_plan *plan, int64_t sum[][2],
                                const caucus_key *key) {
    caucus_coordinator *c = NULL;
    uint32_t symbol[SVT_CHECKS_MAX], before = 0;
    uint64_t sent[2] = {0, 0};
    assert_int_equal(caucus_coordinator_new(plan, key, &c), CAUCUS_OK);
    uint32_t first = caucus_coordinator_announcement(c)->expert;
    for (uint32_t n = 0; n < svt->checks; n++) {
        symbol[n] = SVT_KEEP;
    }
    while (caucus_coordinator_announcement(c)->ask != CAUCUS_ASK_NOTHING) {
        uint64_t block = caucus_coordinator_announcement(c)->block;
        answer(c, sum, sent);
        assert_int_equal(caucus_coordinator_decide(c), CAUCUS_OK);
        if (caucus_coordinator_selections(c) != before) {
            assert_int_equal(caucus_coordinator_selections(c), ++before);
            symbol[block - 1] = caucus_coordinator_announcement(c)->expert;
        }
    }
    caucus_coordinator_free(c);
    return svt_transcript_number(svt, first, symbol);
}

/* Both protocols, both noises; n = 2e5 runs each, false-alarm rate 1e-6 each, seed fixed. */
static void test_coordinator_follows_the_law(void **state) {
    (void)state;
    const uint64_t seed = 7300, n = 200000;
    caucus_key run, key;
    caucus_key_from_seed(seed, &run);
    for (uint32_t round = 0; round < 4; round++) {
        exact_svt svt;
        caucus_plan plan;
        uint64_t count[64] = {0};
        long double law[64];
        int64_t sum[SVT_CHECKS_MAX][2];
        uint32_t sequence = 7919 + 1000 * round;
        handmade(&svt, 2, 3, 2, round & 1 ? CAUCUS_NOISE_LAPLACE : CAUCUS_NOISE_GEOMETRIC);
        svt.score_floor = round == 3 ? 4 : 0;
        svt.select_rate[0] = caucus_rational_make(1, 4); /* milder, so that all transcripts are seen */
        svt.select_rate[1] = caucus_rational_make(1, 8);
        exact_svt_build(&svt);
        coordinator_plan(&plan, &svt, round & 2 ? CAUCUS_PROTOCOL_PAPER : CAUCUS_PROTOCOL_TWO_STEP);
        assert_true(svt.transcripts <= 64 && sequence < svt.sequences);
        svt_sums(&svt, sequence, sum);
        for (uint32_t t = 0; t < svt.transcripts; t++) {
            law[t] = expl(svt.law[(size_t)sequence * svt.transcripts + t]);
        }
        for (uint32_t i = 0; i < n; i++) {
            caucus_key_derive(&run, i + round * n, &key);
            count[run_coordinator(&svt, &plan, sum, &key)]++;
        }
        double p = exact_chi2(count, law, svt.transcripts, n);
        printf("  %s, %s: p = %.4f (seed %llu)\n", caucus_protocol_word(plan.settings.protocol),
               round & 1 ? "laplace" : "geometric", p, (unsigned long long)seed);
        assert_true(p > EXACT_P_VALUE);
        exact_svt_free(&svt);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_sum_is_nearly_reached),
        cmocka_unit_test(test_coordinator_follows_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
